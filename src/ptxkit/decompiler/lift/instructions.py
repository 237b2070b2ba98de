"""One instruction to statements: by the tables of lifters, else as inline assembly."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift import access, arithmetic, control
from ptxkit.decompiler.lift.arithmetic import Lifter
from ptxkit.decompiler.lift.context import Lift, NotLiftedError
from ptxkit.decompiler.lift.inline import inline_assembly
from ptxkit.syntax import Instruction

LIFTERS: dict[str, Lifter] = {**arithmetic.LIFTERS, **access.LIFTERS, **control.LIFTERS}


def lift_instruction(lift: Lift, node: Instruction) -> list[n.Statement]:
    """The statements of an instruction, its guard included."""
    lift.before, lift.after = [], []
    try:
        lifter = LIFTERS.get(node.name)
        if lifter is None:
            raise NotLiftedError(node.opcode)
        made = lifter(lift, node)
    except NotLiftedError:
        lift.before, lift.after = [], []
        made = inline_assembly(lift, node)
    made = [*lift.before, *made, *lift.after]
    if node.guard is None:
        return made
    condition = lift.read(node.guard.predicate, "pred")
    if node.guard.negated:
        condition = n.Unary("!", condition)
    # Declarations made on the way stay visible to nobody else.
    return [n.If(condition, tuple(made))]
