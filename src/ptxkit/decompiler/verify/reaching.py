"""Which settings of registers reach a block: the last ones on the ways to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.syntax.graph import BasicBlock

NOWHERE: frozenset[int] = frozenset()


def reaching(
    blocks: Sequence[BasicBlock], setters: Mapping[Register, Collection[int]]
) -> list[dict[Register, frozenset[int]]]:
    """For each block the registers that were set before, each with the blocks that did it last.

    ``setters`` are the registers to look at, with the places of all blocks that set them.
    """
    numbers = {id(block): number for number, block in enumerate(blocks)}
    own: list[dict[Register, frozenset[int]]] = [{} for _ in blocks]
    for register, places in setters.items():
        for place in places:
            own[place][register] = frozenset((place,))
    following: dict[int, list[int]] = defaultdict(list)
    for number, block in enumerate(blocks):
        for one in filled(block):
            if id(one) in numbers:  # else control cannot come from there
                following[numbers[id(one)]].append(number)
    before: list[dict[Register, frozenset[int]]] = [{} for _ in blocks]
    pending = list(range(len(blocks)))[::-1]
    while pending:
        number = pending.pop()
        left = before[number] | own[number]
        for target in following[number]:
            held = before[target]
            grown = {
                register: held.get(register, NOWHERE) | places
                for register, places in left.items()
                if not places <= held.get(register, NOWHERE)
            }
            if grown:
                held.update(grown)
                pending.append(target)
    return before


def dominating(blocks: Sequence[BasicBlock]) -> list[int]:
    """For each block those that control has come through before, as bits of a number.

    >>> import ptxkit
    >>> from ptxkit.syntax.graph import ControlFlowGraph
    >>> m = ptxkit.parse(".func f() { .reg .pred %p; @%p bra A; add.u32 1, 1, 1; A: ret; }")
    >>> [bin(one) for one in dominating(ControlFlowGraph.of(m["f"]).reachable())]
    ['0b0', '0b1', '0b1']
    """
    numbers = {id(block): number for number, block in enumerate(blocks)}
    before = [[numbers[id(b)] for b in filled(one) if id(b) in numbers] for one in blocks]
    everything = (1 << len(blocks)) - 1
    found = [everything if sources else 0 for sources in before]
    changed = True
    while changed:
        changed = False
        for number, sources in enumerate(before):
            through = everything
            for source in sources:
                through &= found[source] | 1 << source
            if sources and through != found[number]:
                found[number], changed = through, True
    return found


def filled(block: BasicBlock) -> list[BasicBlock]:
    """The blocks with instructions from which control comes, over those without."""
    found: list[BasicBlock] = []
    pending, seen = list(block.predecessors), set()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if one.instructions:
            found.append(one)
        else:
            pending += one.predecessors
    return found
