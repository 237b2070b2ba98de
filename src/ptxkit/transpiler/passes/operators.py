"""Instructions by what they mean: operators, special registers, parameters.

``ptx.add.s32.new(a, 4)`` is ``a + 4``, ``ptx.mov.u32.new(sreg.tid.x)`` is ``sreg.tid.x.new()``,
``ptx.ld.param.u32.new(addr(n))`` is ``n.load()``, and ``ptx.add.s32(i, i, 4)`` is ``i += 4``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.dsl.arithmetic import typed
from ptxkit.dsl.errors import DslError
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.syntax import Instruction
from ptxkit.transpiler.tree import (
    OPERATORS,
    Argument,
    Entry,
    FunctionSuite,
    Group,
    Line,
    Names,
    Site,
    Symbol,
    mapped,
    quoted,
    walk,
)

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_OPCODES: dict[tuple[str, str, bool], str | None] = {}


class Operators:
    """The pass."""

    name = "operators"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Say instructions by their meaning, but for the nodes to skip."""
        sites: list[Site] = []
        names = function.names
        pooled = any(line.call == "ptx.registers" for line in walk(function.body))

        def change(line: Line) -> Sequence[Entry]:
            node = line.node
            if not isinstance(node, Instruction) or node.index in skip or line.suffixes:
                return [line]
            if line.call.startswith("ptx.asm"):
                return [line]
            made = None
            if line.call.endswith(".new"):
                made = _new(line, node)  # there are pools
            elif len(line.arguments) == 3 and not line.keywords:
                made = _in_place(line, node, names, pooled)
            if made is None:
                return [line]
            made.target = line.target
            sites.append(Site(node.index, node.index + 99, node.index))
            return [made]

        body = mapped(function.body, change)
        return function.rewritten(body, sites) if sites else function


def _new(line: Line, node: Instruction) -> Line | None:
    special = _SPECIAL.get(node.name)
    return special(line, node) if special is not None else _operator(line, node)


def _operator(line: Line, node: Instruction) -> Line | None:
    """``a + b``."""
    if line.keywords or len(line.arguments) != 2:
        return None
    left, right = line.arguments
    name = node.name
    sign = OPERATORS.get(name)
    if name == "setp":
        name = node.opcode.split(".")[1].replace("neu", "ne")
        sign = _COMPARISONS.get(name)
    if sign is None or not _fits(name, node.opcode, left, right):
        return None
    return Line(line.kind, sign, [left, right], node=node)


def _in_place(line: Line, node: Instruction, names: Names, pooled: bool) -> Line | None:
    """``a += b``."""
    sign = OPERATORS.get(node.name)
    into, left, right = line.arguments
    if sign is None or into is not left or not isinstance(into, Symbol):
        return None
    # A register has a Python name of its own, or is declared under one.
    if into not in names and not into.python.isidentifier():
        return None
    if not _fits(node.name, node.opcode, left, right, pooled):
        return None
    return Line(line.kind, f"{sign}=", [left, right], node=node)


def _fits(name: str, opcode: str, left: Argument, right: Argument, pooled: bool = True) -> bool:
    """Whether the operator between two arguments is this instruction."""
    if not isinstance(left, Symbol) or left.kind != "register" or "." in left.python:
        return False
    type = left.type
    key = (name, type, pooled)
    if key not in _OPCODES:
        try:
            _OPCODES[key] = typed(name, type, pooled=pooled)
        except (DslError, KeyError):
            _OPCODES[key] = None
    if _OPCODES[key] != opcode:
        return False
    if isinstance(right, Symbol):
        return right.kind == "register" and (name == "shl" or right.type == type)
    if not isinstance(right, str):
        return False
    if type[0] == "f":
        return right.startswith(f"{type}(")
    return type != "pred" and (right.lstrip("-").isdecimal() or right.startswith("lit("))


def _move(line: Line, node: Instruction) -> Line | None:
    """``sreg.tid.x.new()``."""
    (source,) = line.arguments if len(line.arguments) == 1 else (None,)
    if not isinstance(source, Symbol) or source.kind != "special":
        return None
    if any(word not in ("to", "next") for word, _ in line.keywords):
        return None  # guarded, or of another type
    register = SPECIAL_REGISTERS.get(source.ptx.partition(".")[0])
    type = node.opcode.removeprefix("mov.")
    if register is None or "." in type:
        return None
    said = [] if type == register.type else [quoted(type)]
    return Line(line.kind, ".new", [source, *said], line.keywords, node=node)


def _load(line: Line, node: Instruction) -> Line | None:
    """``n.load()``."""
    place = line.arguments[0]
    words = node.opcode.split(".")
    if len(words) != 3 or words[1] != "param" or not isinstance(place, Group):
        return None
    if place.opening != "addr(" or place.closing != ")" or len(place.parts) > 2:
        return None
    if any(word not in ("to", "next") for word, _ in line.keywords):
        return None
    base, *offset = place.parts
    if not isinstance(base, Symbol) or base.kind != "parameter" or "." in base.python:
        return None
    said: list[Argument] = [] if words[2] == base.type and not offset else [quoted(words[2])]
    return Line(line.kind, ".load", [base, *said, *offset], line.keywords, node=node)


_SPECIAL: dict[str, Callable[[Line, Instruction], Line | None]] = {"mov": _move, "ld": _load}
