"""Memory that a thread has touched before it comes to a meeting, whichever way it came.

A compiler may load inside of a loop, or behind it, what it could have loaded before: where the
original has touched that place by then, memory is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.meetings import Meeting, Way
from ptxkit.decompiler.verify.dataflow.state import Touched
from ptxkit.decompiler.verify.dataflow.timeless import Timeless

Place = tuple[Diagram, bool, str]
"""An address that is the same at any time, whether it is taken for one of global memory, and the
kind of memory that it is compared as."""
Places = dict[Place, int]
"""How many bits are touched at each."""


def touched_earlier(
    entry: Meeting,
    ways: Iterable[Way],
    target: Callable[[Way], Meeting | None],
    decisions: Decisions,
    timeless: Timeless,
) -> dict[Meeting, list[Touched]]:
    """What the first of two functions has touched, in all cases, before it came to each meeting.

    ``target`` tells where a way leads. Where a function that is called may give memory back, this
    is not to be asked.
    """
    leading: dict[Meeting, list[tuple[Meeting, Places]]] = {}
    for way in ways:
        found = target(way)
        if found is not None:
            more = _always(way, decisions, timeless)
            leading.setdefault(way.source, []).append((found, more))
    before: dict[Meeting, Places] = {entry: {}}
    pending = [entry]
    while pending:
        source = pending.pop()
        for found, more in leading.get(source, ()):
            arrived = _all(before[source], more)
            old = before.get(found)
            made = arrived if old is None else _common(old, arrived)
            if made != old:
                before[found] = made
                pending.append(found)
    return {
        meeting: [
            Touched(address, bits, decisions.true, True, in_global, space, decisions.false)
            for (address, in_global, space), bits in places.items()
        ]
        for meeting, places in before.items()
    }


def _always(way: Way, decisions: Decisions, timeless: Timeless) -> Places:
    """What is touched on a way whatever else holds, at addresses that stay the same."""
    assert way.source.regions is not None
    found: Places = {}
    for one in way.source.regions[0].touched:
        if not timeless.value(one.address):
            continue
        if decisions.both(way.condition, decisions.negate(one.condition)) == decisions.false:
            found = _all(found, {(one.address, one.in_global, one.space): one.bits})
    return found


def _all(one: Places, other: Places) -> Places:
    return one | {place: max(bits, one.get(place, 0)) for place, bits in other.items()}


def _common(one: Places, other: Places) -> Places:
    return {place: min(bits, other[place]) for place, bits in one.items() if place in other}
