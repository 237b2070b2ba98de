"""Divisions of 64 bits that a compiler does in 32 where both numbers are small, undone.

It asks whether any of the high bits is set, and divides on either way. The way of 64 bits is
right for all numbers: it is taken, and the question goes.
"""

from __future__ import annotations

from ptxkit.decompiler.lift.flow import Branch, FlowBlock, Jump
from ptxkit.decompiler.lift.reading import exit_values, set_exit
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, replaced, var

_HIGH = 0xFFFFFFFF00000000
_SHORT_OPS = frozenset("trunc zext div.u rem.u mul sub var const".split())
_DIVISIONS = frozenset("div.u div.s rem.u rem.s".split())


def undo_short_divisions(blocks: dict[int, FlowBlock], pointers: dict[Value, None]) -> None:
    """Leave out the ways on which a division is done in 32 bits.

    ``pointers`` are values that are known to be addresses.
    """
    settled: dict[Variable, Definition] = {}
    before: dict[int, set[int]] = {}
    for number, block in blocks.items():
        for successor in block.successors():
            before.setdefault(successor, set()).add(number)
    for number, block in list(blocks.items()):
        exit = block.exit
        if not isinstance(exit, Branch) or not _asks_high_bits(block, exit.condition):
            continue
        for slow, fast in ((exit.then, exit.otherwise), (exit.otherwise, exit.then)):
            if slow == fast or before[slow] != {number} or before[fast] != {number}:
                continue
            one, two = blocks[slow], blocks[fast]
            if _is_long(one) and _is_short(two, one) and one.exit == two.exit:
                block.statements += one.statements
                block.exit = one.exit
                settled |= _set_once(one.statements)
                del blocks[slow], blocks[fast]
                break
    if settled:
        _settle(blocks, pointers, settled)


def _set_once(statements: list[Step]) -> dict[Variable, Definition]:
    """What is set on the longer way alone, now that the shorter one is gone: by what."""
    targets = [step.targets[0] for step in statements]
    found = {one.variable: one for one in targets if one.variable.definitions == 2}
    for variable in found:
        variable.definitions = 1
    return found


def _settle(
    blocks: dict[int, FlowBlock], pointers: dict[Value, None], settled: dict[Variable, Definition]
) -> None:
    """Read what was set, where it was one of two versions that met."""

    def lookup(value: Value) -> Value | None:
        known = settled.get(value.data.variable)
        return var(known) if known is not None else None

    for block in blocks.values():
        for step in block.statements:
            step.args = [replaced(value, lookup) for value in step.args]
        for value in exit_values(block):
            set_exit(block, replaced(value, lookup))
    known = [replaced(value, lookup) for value in pointers]
    pointers.clear()
    pointers.update(dict.fromkeys(known))


def _asks_high_bits(block: FlowBlock, condition: Value) -> bool:
    known: dict[Definition, Value] = {
        s.targets[0]: s.args[0] for s in block.statements if s.kind == "set"
    }

    def look(value: Value) -> Value:
        return known.get(value.data, value) if value.op == "var" else value

    found = look(condition)
    if found.op not in ("eq", "ne") or found.args[1].op != "const" or found.args[1].data:
        return False
    masked = look(found.args[0])
    return masked.op == "and" and masked.args[1].op == "const" and masked.args[1].data == _HIGH


def _is_long(block: FlowBlock) -> bool:
    """Whether a block does nothing but a division of 64 bits and what belongs to it."""
    if not isinstance(block.exit, Jump) or any(s.kind != "set" for s in block.statements):
        return False
    return any(s.args[0].op in _DIVISIONS and s.args[0].width == 64 for s in block.statements)


def _is_short(block: FlowBlock, other: FlowBlock) -> bool:
    """Whether a block does the same in 32 bits."""
    if any(s.kind != "set" or s.args[0].op not in _SHORT_OPS for s in block.statements):
        return False
    if not any(s.args[0].op in _DIVISIONS and s.args[0].width == 32 for s in block.statements):
        return False
    mine, theirs = (
        {s.targets[0].variable for s in b.statements if s.targets[0].variable.definitions > 1}
        for b in (block, other)
    )
    return mine == theirs
