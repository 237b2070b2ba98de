"""One instruction to steps: by the tables of lifters, else as inline assembly."""

from __future__ import annotations

from ptxkit.decompiler.lift import access, arithmetic, control, textures
from ptxkit.decompiler.lift.arithmetic import Lifter
from ptxkit.decompiler.lift.assembly import assembled
from ptxkit.decompiler.lift.context import Lift, NotLiftedError
from ptxkit.syntax import Instruction

LIFTERS: dict[str, Lifter] = {
    **arithmetic.LIFTERS, **access.LIFTERS, **control.LIFTERS, **textures.LIFTERS,
}  # fmt: skip


def lift_instruction(lift: Lift, node: Instruction) -> None:
    """Add the steps of an instruction; its guard is a block's matter."""
    lift.line = node.line
    before = len(lift.steps)
    lifter = LIFTERS.get(node.name)
    if lifter is not None:
        try:
            lifter(lift, node)
        except NotLiftedError:
            del lift.steps[before:]
        else:
            return
    try:
        assembled(lift, node)
    except NotLiftedError as error:
        raise error.at(lift.module.filename, node) from error
