"""Which registers an instruction writes and reads."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit._native import Node
from ptxkit.isa.forms import OperandSpec
from ptxkit.isa.match import Match, match
from ptxkit.isa.operands import plan
from ptxkit.syntax import Instruction, Name


@dataclass(frozen=True, slots=True)
class Registers:
    """The names an instruction defines and uses, as nodes, in source order.

    Names of variables, labels, functions and special registers are told apart by their
    declarations (:class:`ptxkit.syntax.Scopes`), not here.
    """

    defined: tuple[Name, ...]
    used: tuple[Name, ...]


def registers(instruction: Instruction) -> Registers:
    """The registers an instruction defines and uses; the guard is a use.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { @p ld.global.v2.u32 {a, b}, [c+4]; }")
    >>> r = ptxkit.isa.registers(m["f"].instructions[0])
    >>> [n.text for n in r.defined], [n.text for n in r.used]
    (['a', 'b'], ['p', 'c'])
    """
    defined: list[Name] = []
    used: list[Name] = []
    if instruction.guard is not None:
        used.append(instruction.guard.predicate)
    operands = instruction.operands
    specs = _specs(instruction, len(operands))
    for position, operand in enumerate(operands):
        spec = specs[position] if specs is not None else None
        # An instruction the table does not know writes its first operand, as most do.
        access = spec.access if spec is not None else ("write" if position == 0 else "read")
        _collect(operand, spec, access, defined, used)
    return Registers(tuple(defined), tuple(used))


def _specs(instruction: Instruction, count: int) -> tuple[OperandSpec, ...] | None:
    found: tuple[Match, ...] = match(instruction.name, instruction.modifiers)
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
        for child, part in zip(operand.children, spec.parts, strict=True):
            _collect(child, part, part.access, defined, used)
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
