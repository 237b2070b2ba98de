"""Registers that are read before anything was put into them, in both of two functions.

Where a value is set on some ways only, and then chosen or thrown away, compilers leave its register
as it is on the others: it holds whatever there is. The candidate has such registers, too. For it to
be equal, whatever its own hold, those of the original may hold the same: so each is taken for one
of the original, and no two for the same one. Which belongs to which is guessed by where they are
read. A wrong guess may cost a proof, but makes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from ptxkit.decompiler.verify.dataflow.decode import Operand, Register, Step

Live = tuple[frozenset[Register], frozenset[Register]]
"""The registers of both sides that are read from one place on."""
Uses = Mapping[Register, tuple[str, int]]
"""For registers their type, and which step is the first that does something with what they hold."""
NOTHING: Mapping[Register, Register] = MappingProxyType({})


def partners(live: Iterable[Live], uses: tuple[Uses, Uses]) -> dict[Register, Register]:
    """For registers of the second function that are read unset, which of the first they are.

    ``live`` is for each place where both are at the same time, ``uses`` of what is read unset.
    Where as many of one type are read on both sides, they go together in the order of their uses:
    first where there are few.

    >>> a, b, c, d = ((1, f"%r{number}") for number in range(4))
    >>> uses = {a: ("b32", 5), b: ("b32", 9)}, {c: ("b32", 6), d: ("b32", 4)}
    >>> both, last = (frozenset((a, b)), frozenset((c, d))), (frozenset((a,)), frozenset((c,)))
    >>> partners([both], uses) == {d: a, c: b}, partners([both, last], uses) == {c: a, d: b}
    (True, True)
    """
    found: dict[Register, Register] = {}
    unset = frozenset(uses[0]), frozenset(uses[1])
    places = {(one[0] & unset[0], one[1] & unset[1]) for one in live}
    ordered = [
        tuple(_in_order(some, of) for some, of in zip(place, uses, strict=True))
        for place in places
        if all(place)
    ]
    for first, second in sorted(ordered, key=lambda place: (len(place[0] + place[1]), place)):
        known = {*found.values()}
        for type in dict.fromkeys(uses[0][one][0] for one in first):
            mine = [one for one in first if uses[0][one][0] == type and one not in known]
            theirs = [one for one in second if uses[1][one][0] == type and one not in found]
            if len(mine) == len(theirs):
                found |= dict(zip(theirs, mine, strict=True))
    return found


def _in_order(registers: Iterable[Register], uses: Uses) -> list[Register]:
    return sorted(registers, key=lambda one: (*uses[one], one))


def first_uses(steps: Iterable[Step], unset: Iterable[Register]) -> dict[Register, int]:
    """The first step that does more with what some registers hold than to copy it.

    Compilers copy what is carried from one turn of a loop to the next.
    """
    copies: dict[Register, set[Register]] = {}
    first: dict[Register, int] = {}
    for number, step in enumerate(steps):
        copied = step.sources[0] if step.name == "mov" and step.sources else None
        if copied is not None and copied.kind == "register" and len(step.targets) == 1:
            copies.setdefault(copied.value, set()).update(t[0] for t in step.targets if t)
            continue
        for one in (register for source in step.sources for register in _registers(source)):
            first.setdefault(one, number)
    found: dict[Register, int] = {}
    for one in unset:
        same, pending = {one}, [one]
        while pending:
            more = copies.get(pending.pop(), set()) - same
            same |= more
            pending += more
        found[one] = min((first[other] for other in same if other in first), default=len(first))
    return found


def _registers(operand: Operand) -> Iterator[Register]:
    if operand.kind == "register":
        yield operand.value
    else:
        for part in operand.parts:
            yield from _registers(part)
