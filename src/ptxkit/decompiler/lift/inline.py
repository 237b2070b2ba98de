"""Inline assembly: what an instruction becomes that C++ has no name for.

Operands are bound by constraints; predicates go in and out as integers.
"""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL, INT, Scalar
from ptxkit.decompiler.lift.context import Lift, NotLiftedError
from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Instruction, Name

_LETTERS = {16: "h", 32: "r", 64: "l"}


def _letter(type: Scalar) -> str:
    if type.is_float:
        return {32: "f", 64: "d"}[type.bits]
    return _LETTERS[type.bits]


def inline_assembly(lift: Lift, node: Instruction) -> list[n.Statement]:
    """One asm statement that is the instruction itself."""
    found = registers(node)
    written = {name.index for name in found.defined}
    used = {name.index for name in found.used}
    order: list[Name] = sorted({*found.defined, *found.used}, key=lambda name: name.span)
    guard = node.guard.predicate.index if node.guard is not None else -1
    names: dict[int, str] = {}
    outputs: list[n.AsmOperand] = []
    inputs: list[n.AsmOperand] = []
    head: list[str] = []
    tail: list[str] = []
    bound: list[tuple[Name, bool]] = [
        *((name, True) for name in order if name.index in written),
        *((name, False) for name in order if name.index in used and name.index not in written),
    ]
    for number, (name, is_output) in enumerate(b for b in bound if b[0].index != guard):
        variable, web = lift.variable(name)
        type = lift.type_of_web(web)
        update = is_output and name.index in used
        if type == BOOL:
            local = f"p{number}"
            head.append(f".reg .pred {local};")
            names[name.index] = local
            if is_output:
                tail.append(f"selp.b32 %{number}, 1, 0, {local};")
                temporary = lift.temporary(INT)
                lift.before.append(n.Declare(INT, temporary.name))
                outputs.append(n.AsmOperand("=r", temporary))
                lift.after.append(n.Assign(variable, n.Binary("!=", temporary, n.Literal(0, INT))))
            else:
                head.append(f"setp.ne.b32 {local}, %{number}, 0;")
                inputs.append(n.AsmOperand("r", n.Cast(INT, variable)))
        else:
            names[name.index] = f"%{number}"
            sign = "+" if update else "="
            if is_output:
                outputs.append(n.AsmOperand(sign + _letter(type), variable))
            else:
                inputs.append(n.AsmOperand(_letter(type), variable))
    text = _text(lift, node, names)
    whole = " ".join([*head, text, *tail])
    if head:
        whole = f"{{ {whole} }}"
    return [n.Asm(whole, tuple(outputs), tuple(inputs), ("memory",))]


def _text(lift: Lift, node: Instruction, names: dict[int, str]) -> str:
    """The instruction with its registers replaced, and without its guard."""
    source = node.root.emit_bytes()
    start, end = node.span
    if node.guard is not None:
        start = node.guard.span[1]
    pieces: list[str] = []
    at = start
    for name in node.find("Name"):
        if name.index not in names and not _is_plain(lift, name):
            raise NotLiftedError(f"'{name.text}' in inline assembly")
        first, last = name.span
        if first < start:
            continue
        pieces.append(source[at:first].decode().replace("%", "%%"))
        pieces.append(names.get(name.index) or name.text.replace("%", "%%"))
        at = last
    pieces.append(source[at:end].decode().replace("%", "%%"))
    return " ".join("".join(pieces).split())


def _is_plain(lift: Lift, name: Node) -> bool:
    """Whether a name means the same inside inline assembly: special registers do."""
    return lift.scopes.resolve(name) is None
