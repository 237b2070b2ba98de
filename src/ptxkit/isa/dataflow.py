"""Which registers an instruction writes and reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ptxkit._native import Node
from ptxkit.isa.forms import OperandSpec
from ptxkit.isa.match import Match, match
from ptxkit.isa.operands import plan
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.syntax import Instruction, Module, Name, Scopes
from ptxkit.syntax.scopes import Scope


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers an instruction defines and uses, as nodes, in source order."""

    defined: tuple[Name, ...]
    used: tuple[Name, ...]


def registers(instruction: Instruction, scopes: Scopes | None = None) -> Registers:
    """The registers an instruction defines and uses; the guard is a use.

    Variables, parameters, labels, functions and special registers are not registers; a
    name that is not declared at all is taken for one. An instruction the table does not
    know is taken to write its first operand, as most do. Who has the ``scopes`` of the module
    gives them.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { @p ld.global.v2.u32 {a, b}, [c+4]; }")
    >>> r = ptxkit.isa.registers(m["f"].instructions[0])
    >>> [n.text for n in r.defined], [n.text for n in r.used]
    (['a', 'b'], ['p', 'c'])
    """
    known = _known(instruction.root)
    found = known.get(instruction.index)
    if found is None:
        found = known[instruction.index] = _registers(instruction, scopes)
    return found


def _registers(instruction: Instruction, scopes: Scopes | None) -> Registers:
    defined: list[Name] = []
    used: list[Name] = []
    if instruction.guard is not None:
        used.append(instruction.guard.predicate)
    operands = instruction.operands
    specs = _specs(instruction.name, instruction.modifiers, len(operands))
    for position, operand in enumerate(operands):
        spec = specs[position] if specs is not None else None
        access = spec.access if spec is not None else ("write" if position == 0 else "read")
        _collect(operand, spec, access, defined, used)
    scope = (_scopes(instruction.root) if scopes is None else scopes).scope_of(instruction)
    return Registers(
        tuple(name for name in defined if _is_register(scope, name)),
        tuple(name for name in used if _is_register(scope, name)),
    )


@lru_cache(maxsize=4)
def _known(module: Module) -> dict[int, Registers]:
    """What was found in the modules asked about last: it is asked for again and again."""
    return {}


@lru_cache(maxsize=2)
def _scopes(module: Module) -> Scopes:
    """The scopes of the modules asked about last."""
    return Scopes(module)


def _is_register(scope: Scope, name: Name) -> bool:
    declaration = scope.resolve(name.identifier, name.span[0])
    if declaration is not None:
        return declaration.kind == "register"
    return name.identifier not in SPECIAL_REGISTERS and name.text != "WARP_SZ"


@lru_cache(maxsize=4096)
def _specs(name: str, modifiers: tuple[str, ...], count: int) -> tuple[OperandSpec, ...] | None:
    found: tuple[Match, ...] = match(name, modifiers)
    for one in found:
        specs = plan(one, count)
        if specs is not None:
            return specs
    return None


def _collect(
    operand: Node,
    spec: OperandSpec | None,
    access: str,
    defined: list[Name],
    used: list[Name],
) -> None:
    if operand.kind == "Pair" and spec is not None and spec.kind == "pair":
        # Both halves of "p|q" are written where the first is.
        access = spec.parts[0].access
        for child, part in zip(operand.children, spec.parts, strict=True):
            _collect(child, part, access, defined, used)
        return
    if spec is not None and spec.kind == "pair" and operand.kind != "Pair":
        access = spec.parts[0].access
    names: list[Name] = [operand] if isinstance(operand, Name) else list(operand.find("Name"))
    # Whatever stands in an address is read, even where memory is written.
    if operand.kind in ("Address", "Subscript"):
        access = "read"
    if operand.kind == "ArgumentList":
        access = "write" if operand.previous_sibling.kind == "Opcode" else "read"
    if access in ("write", "update"):
        defined += names
    if access in ("read", "update"):
        used += names
