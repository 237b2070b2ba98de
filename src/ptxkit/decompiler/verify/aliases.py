"""Launches in which pointers point to the same memory, as a caller may make them do.

A load that was moved over a store to another pointer shows only there. Many threads that share
memory in such a way race for it, and what they leave says nothing: so one runs alone, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from ptxkit.decompiler.verify.pointing import Origin
from ptxkit.decompiler.verify.trials import Exchange, Trial
from ptxkit.decompiler.verify.usage import Usage
from ptxkit.run.shape import LaunchRules

#: Pairs of pointers that are brought together, at most, and launches to start from for each.
_PAIRS, _STARTS = 8, 4
#: How far on the other begins, in elements: as near as a next turn of a loop or thread gets.
_SHIFTS = (1, -1, 4)
#: How far apart accesses of one thread are, and sizes: so many of each are tried as distances, too,
#: with as many launches to start from.
_DISTANCES, _FARTHEST, _FAR_STARTS = 4, 2048, 2
#: So many distances at most at which two accesses of a thread meet, and how far these may be.
_MEETINGS, _REACH = 6, 24 << 10

Touched = tuple[Origin, int, bool]
"""An access of a thread: behind which pointer, how many bytes on, and whether it writes."""


def aliased_trials(usage: Usage, rules: LaunchRules, starts: list[Trial]) -> Iterator[Trial]:
    """The launches to start from, with memory that pointers share.

    >>> from ptxkit.decompiler.verify.usage import Access
    >>> x, y = Origin("x"), Origin("y")
    >>> usage = Usage(pointers=[x, y], accesses={x: Access(stored=True), y: Access(read=True)})
    >>> start = Trial(0, "small", (1, 1, 1), (32, 1, 1), (7,))
    >>> [str(t).rpartition(", ")[2] for t in aliased_trials(usage, LaunchRules(), [start])][:3]
    ['y as x', 'y as x', 'y as x+1']
    """
    every = _pairs(usage)
    pairs = every[:_PAIRS]
    target = every[0][1] if every else None
    together = frozenset(
        Exchange(one, target)
        for one in dict.fromkeys(pair[0] for pair in every)
        if target is not None and one != target and len(one.through) <= len(target.through)
    )
    # The later ones reached what is hard to reach.
    starts = [t for t in dict.fromkeys(reversed(starts)) if not t.instead][:_STARTS]
    for start in starts:
        if len(pairs) > 1:
            yield from _alone(replace(start, instead=together), rules)
        for one, other in pairs:
            whole = replace(start, instead=frozenset((Exchange(one, other),)))
            yield from dict.fromkeys((whole, *_alone(whole, rules)))
            width = max(usage.accesses[o].widest for o in (one, other))
            for shift in _SHIFTS:
                moved = frozenset((Exchange(one, other, shift * width),))
                yield from _alone(replace(start, instead=moved), rules)
    for start in starts[:_FAR_STARTS]:
        for one, other in pairs:
            width = max(usage.accesses[o].widest for o in (one, other))
            for distance in _distances(usage, start, width):
                moved = frozenset((Exchange(one, other, distance),))
                yield from _alone(replace(start, instead=moved), rules)


def lone_trials(rules: LaunchRules, starts: list[Trial]) -> list[Trial]:
    """The last launches of some, each with one thread, to see what memory that touches."""
    starts = [t for t in dict.fromkeys(reversed(starts)) if not t.instead][:_FAR_STARTS]
    return list(dict.fromkeys(one for start in starts for one in _alone(start, rules)))


def meeting_trials(usage: Usage, start: Trial, touched: Sequence[Touched]) -> Iterator[Trial]:
    """A launch of one thread, with arrays so far apart that two accesses of it meet.

    >>> from ptxkit.decompiler.verify.usage import Access
    >>> x, y = Origin("x"), Origin("y")
    >>> usage = Usage(pointers=[x, y], accesses={x: Access(stored=True), y: Access(read=True)})
    >>> start = Trial(0, "small", (1, 1, 1), (1, 1, 1), (7,))
    >>> touched = [(y, 56, False), (x, 0, True), (x, 28, True)]
    >>> [str(t).rpartition(", ")[2] for t in meeting_trials(usage, start, touched)]
    ['y as x-56', 'y as x-28']
    """
    for one, other in _pairs(usage)[:_PAIRS]:
        width = max(usage.accesses[o].widest for o in (one, other))
        shifts = (
            stored - place
            for origin, place, _ in touched
            if origin == one
            for target, stored, writes in touched
            if target == other and writes
        )
        fitting = (by for by in dict.fromkeys(shifts) if not by % width and abs(by) <= _REACH)
        for shift in islice(fitting, _MEETINGS):
            yield replace(start, instead=frozenset((Exchange(one, other, shift),)))


def _distances(usage: Usage, start: Trial, width: int) -> Iterator[int]:
    """Bytes after which one element of a thread may be another one of it, if there are two arrays.

    >>> start = Trial(0, "small", (1, 1, 1), (32, 1, 1), (7, 2))
    >>> list(_distances(Usage(offsets={4, 68}, shifts={-3}), start, 4))
    [-68, 68, -12, 12, -28, 28, -8, 8]
    """
    offsets = sorted(abs(by) for by in usage.offsets if width < abs(by) <= _FARTHEST)
    # What is added to an index of 32 bits, which may wrap, is no part of an address.
    shifts = sorted(abs(by) * width for by in usage.shifts if abs(by) * width <= _FARTHEST)
    sizes = (size * width for size in start.sizes[:_DISTANCES] if 1 < size <= _FARTHEST)
    near = (*offsets[:_DISTANCES], *shifts[:_DISTANCES])
    for distance in dict.fromkeys((*near, *sizes)):
        yield from (-distance, distance)


def _alone(trial: Trial, rules: LaunchRules) -> Iterator[Trial]:
    """The trial with one thread, or as few as there may be."""
    if trial.cluster or trial.cooperative or rules.required_cluster:
        yield trial
    else:
        yield replace(trial, grid=(1, 1, 1), block=rules.required_block or (1, 1, 1))


def _pairs(usage: Usage) -> list[tuple[Origin, Origin]]:
    """Pointers, and others that are written to, which may be to the same memory.

    Those to elements of one type come first: these are what callers pass twice.
    """
    known = {o: usage.accesses[o] for o in usage.pointers if o in usage.accesses and _is_one(o)}
    free = {o: access for o, access in known.items() if not access.promised}
    pairs = [
        (one, other)
        for other, access in free.items()
        if access.stored
        for one in free
        if one != other and not (free[one].stored and _place(usage, one) < _place(usage, other))
        # What is in a record is put there before arguments have their memory.
        if len(one.through) <= len(other.through)
    ]
    return sorted(pairs, key=lambda p: usage.element(p[0]) != usage.element(p[1]))


def _is_one(origin: Origin) -> bool:
    """Whether it is a pointer by itself: an argument, or in one place of what an argument is to."""
    return not origin.through or (len(origin.through) == 1 and origin.through[0] is not None)


def _place(usage: Usage, origin: Origin) -> int:
    return usage.pointers.index(origin)
