"""Which parts of a body a structured program would have: labels and branches as nested regions.

A body is a list of statements; a label stands at a place, and branches lead to it from other
places. A branch backwards makes a *loop* that begins at the label and reaches to the branch; a
branch forwards makes a *block* that ends at the label and begins at the branch or before. Loops
are made longer and blocks begin earlier until all of them nest. What cannot nest is a branch
into a loop from outside.

Nothing is moved: the statements of a region are those between its two places.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence


class Region:
    """The statements from ``start`` up to ``end``, and the label they begin or end with."""

    __slots__ = ("end", "is_loop", "label", "start")

    def __init__(self, label: str, start: int, end: int, is_loop: bool) -> None:
        self.label = label
        self.start = start
        self.end = end
        self.is_loop = is_loop

    def __repr__(self) -> str:
        return f"<{'loop' if self.is_loop else 'block'} {self.label} {self.start}:{self.end}>"


def find_regions(labels: Mapping[str, int], branches: Mapping[str, Sequence[int]]) -> list[Region]:
    """The regions of a body, outer ones before those inside them.

    ``labels`` gives the place of each label, ``branches`` the places that lead to it. A label
    without any region is one that cannot be raised.

    >>> find_regions({"head": 1, "after": 6}, {"head": [5], "after": [0, 3]})
    [<block after 0:6>, <loop head 1:6>]
    >>> find_regions({"middle": 3, "head": 1}, {"middle": [0], "head": [5]})
    [<loop head 1:6>]
    """
    loops = _loops(labels, branches)
    found = list(loops)
    tops: dict[int, int] = {}  # where regions end -> where the outermost of them begins
    for loop in loops:
        tops[loop.end] = min(loop.start, tops.get(loop.end, loop.start))
    ends = sorted(tops)
    around = _innermost_loops(loops, sorted(labels.values()))
    for place, label in sorted((place, label) for label, place in labels.items()):
        sources = [source for source in branches.get(label, ()) if source < place]
        if not sources:
            continue
        start = _start(min(sources), place, tops, ends)
        loop_around = around[place]
        if loop_around is not None and start <= loop_around.start:
            continue  # a way into the middle of a loop
        found.append(Region(label, start, place, is_loop=False))
        if place not in tops:
            insort(ends, place)
        tops[place] = min(start, tops.get(place, start))
    # A block around a loop of the same extent is where the loop is left to.
    found.sort(key=lambda region: (region.start, -region.end, region.is_loop))
    return found


def _start(first: int, place: int, tops: Mapping[int, int], ends: Sequence[int]) -> int:
    """Where a block that ends at a place begins: at its first branch, or at what holds that."""
    while True:
        at = bisect_right(ends, place) - 1
        if at < 0 or ends[at] <= first:
            return first
        top = tops[ends[at]]
        if top <= first:
            return top
        place = top


def _loops(labels: Mapping[str, int], branches: Mapping[str, Sequence[int]]) -> list[Region]:
    """The loops, from the first to the last; those that overlap are made to nest."""
    loops = []
    for label, place in labels.items():
        last = max(branches.get(label, ()), default=-1)
        if last >= place:
            loops.append(Region(label, place, last + 1, is_loop=True))
    loops.sort(key=lambda loop: loop.start)
    for number in range(len(loops) - 1, -1, -1):
        loop = loops[number]
        for inner in loops[number + 1 :]:
            if inner.start >= loop.end:
                break
            loop.end = max(loop.end, inner.end)
    return loops


def _innermost_loops(loops: Sequence[Region], places: Sequence[int]) -> dict[int, Region | None]:
    """For each place the innermost loop that it lies in, not counting one that begins there."""
    found: dict[int, Region | None] = {}
    open_loops: list[Region] = []
    at = 0
    for place in places:
        while at < len(loops) and loops[at].start < place:
            open_loops.append(loops[at])
            at += 1
        while open_loops and open_loops[-1].end <= place:
            open_loops.pop()
        found[place] = open_loops[-1] if open_loops else None
    return found
