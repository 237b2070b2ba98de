"""Whether what two runs left behind is the same; and if it is, whether that is enough.

Who writes last where several threads write, or reads before another has written, is up to the
order in which they run: what the original leaves otherwise in another order is no difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit.decompiler.verify.inputs import Inputs
from ptxkit.decompiler.verify.ordering import weaker
from ptxkit.decompiler.verify.outcome import Outcome, Side
from ptxkit.decompiler.verify.products import LOWER, NARROW, NARROW_SUM, WIDE, WIDE_SUM
from ptxkit.decompiler.verify.widening import CUT

#: Bytes that a race is taken for as a whole.
_NEAR = 64
#: Floating-point numbers, and how far sums in another order may be from each other; smaller ones
#: are integers rather.
_CLOSE, _LEAST = {"f4": 1e-3, "f8": 1e-9}, 1e-30


def difference(
    first: Outcome, second: Outcome, inputs: Inputs, held: dict[str, bytes]
) -> str | None:
    """What is not the same after two runs.

    ``held`` are the variables at the start: one that a run does not have stays so.
    """
    for arena, a, b in zip(inputs.arenas, first.memory, second.memory, strict=True):
        if a != b:
            return _where(arena, a, b)
    for name in {**first.variables, **second.variables}:
        if second.variables.get(name, held[name]) != first.variables.get(name, held[name]):
            return f"the variable '{name}' differs"
    for a, b in zip(first.surfaces, second.surfaces, strict=True):
        if a != b:
            return "a surface differs"
    if first.output != second.output:
        return f"what is printed differs: {second.output[:60]!r} for {first.output[:60]!r}"
    for what in {**first.events, **second.events}:
        if first.events[what] != second.events[what]:
            return f"there are {second.events[what]:,} {what} for {first.events[what]:,}"
    return None


def only_by_order(first: Outcome, second: Outcome, again: Outcome, held: dict[str, bytes]) -> bool:
    """Whether the second differs only where the first does so in another order, too."""
    counted = [
        (first.events[w], second.events[w], again.events[w])
        for w in {**first.events, **second.events}
    ]
    return all(a == b or a != c for a, b, c in counted) and all(
        map(_settled, _beside(first, second, again, held))
    )


def within(first: Outcome, second: Outcome, inputs: Inputs, unsettled: frozenset[int]) -> bool:
    """Whether two runs left different bytes only at some addresses."""
    if first.variables != second.variables or first.surfaces != second.surfaces:
        return False
    if first.output != second.output or first.events != second.events:
        return False
    for arena, a, b in zip(inputs.arenas, first.memory, second.memory, strict=True):
        if a != b:
            places = np.nonzero(np.frombuffer(a, np.uint8) != np.frombuffer(b, np.uint8))[0]
            if not unsettled.issuperset((places + arena.base).tolist()):
                return False
    return True


def explained(first: Outcome, second: Outcome, again: Outcome, held: dict[str, bytes]) -> bool:
    """Whether the second left what the first leaves in one order of threads or the other.

    The same words in other places, as where threads draw numbers; or floating-point numbers that
    are nearly the same, as where they are added up.
    """
    return all(map(_explained, _beside(first, second, again, held)))


def _beside(
    first: Outcome, second: Outcome, again: Outcome, held: dict[str, bytes]
) -> list[tuple[bytes, bytes, bytes]]:
    """What three runs printed and left in memory, each piece beside those of the others."""
    pieces = [(first.output.encode(), second.output.encode(), again.output.encode())]
    for what in ("memory", "surfaces"):
        pieces += list(zip(*(getattr(o, what) for o in (first, second, again)), strict=True))
    for name in {**first.variables, **second.variables}:
        before = held[name]
        a, b, c = (one.variables.get(name, before) for one in (first, second, again))
        pieces.append((a, b, c))
    return pieces


def _explained(outcomes: tuple[bytes, bytes, bytes]) -> bool:
    if outcomes[1] in (outcomes[0], outcomes[2]):
        return True
    if len(set(map(len, outcomes))) > 1:
        lines = [sorted(one.splitlines()) for one in outcomes]
        return lines[1] in (lines[0], lines[2])
    size = len(outcomes[0]) // 8 * 8
    if any(one[size:] != outcomes[0][size:] for one in outcomes):
        return False
    first, second, again = (np.frombuffer(one[:size], np.uint32) for one in outcomes)
    moved = (first != second) | (first != again)
    words = [np.sort(one[moved]) for one in (first, second, again)]
    if any(np.array_equal(words[1], other) for other in (words[0], words[2])):
        return True
    return any(_near(outcomes, size, kind, far) for kind, far in _CLOSE.items())


def _near(outcomes: tuple[bytes, bytes, bytes], size: int, kind: str, far: float) -> bool:
    """Whether all numbers of a kind are nearly those of one order or the other."""
    with np.errstate(invalid="ignore", over="ignore"):
        first, second, again = (
            np.frombuffer(one[:size], kind).astype(np.float64) for one in outcomes
        )
        near = [
            (np.abs(second - one) <= far * np.abs(one)) & (np.abs(one) > _LEAST)
            for one in (first, again)
        ]
    words = [np.frombuffer(one[:size], f"u{np.dtype(kind).itemsize}") for one in outcomes]
    same = (words[1] == words[0]) | (words[1] == words[2])
    return bool((near[0] | near[1] | same).all())


def doubt(first: Outcome, second: Outcome, sides: tuple[Side, Side]) -> str | None:
    """Why two kernels may differ though they did not in a launch."""
    less = weaker(first.orders, second.orders)
    if less:
        return less
    mine, theirs = second.products, first.products
    if mine[WIDE] < theirs[WIDE] and mine[NARROW] > theirs[NARROW] + theirs[LOWER]:
        return "it multiplies in 32 bits what the original does in 64"
    if mine[WIDE_SUM] < theirs[WIDE_SUM] and mine[NARROW_SUM] > theirs[NARROW_SUM]:
        return "it adds in 32 bits what the original does in 64"
    if second.widened[CUT] > first.widened[CUT]:
        return "it makes floating-point numbers of fewer bits than the original"
    if second.trusting > first.trusting:
        return f"it takes {second.trusting:,} bytes for constant, not {first.trusting:,}"
    if second.stored > first.stored:
        # What is written twice is the same only as long as nobody reads it in between.
        return f"it writes {second.stored:,} bytes for {first.stored:,}"
    if second.loads > first.loads and sides[0].load_sites == sides[1].load_sites:
        # As many loads are written down, but a loop takes a turn more, or a guard is gone.
        return f"it loads {second.loads:,} times for {first.loads:,}"
    return None


def _settled(outcomes: tuple[bytes, bytes, bytes]) -> bool:
    """Whether the second differs from the first only where the third does, too, or near that.

    Numbers that depend on the order are the same in two orders by chance now and then.
    """
    first, second, again = (np.frombuffer(one, np.uint8) for one in outcomes)
    if not len(first) == len(second) == len(again):
        return outcomes[0] == outcomes[1] or outcomes[0] != outcomes[2]
    wrong, unsettled = (np.unique(np.nonzero(first != o)[0] // _NEAR) for o in (second, again))
    return bool(np.isin(wrong, unsettled).all())


def _where(arena: Any, a: bytes, b: bytes) -> str:
    place = int(np.nonzero(np.frombuffer(a, np.uint8) != np.frombuffer(b, np.uint8))[0][0])
    offset = place - arena.start
    word = slice(place - place % 4, place - place % 4 + 4)
    return (
        f"the memory of '{arena.origin}' differs at byte {offset}: "
        f"{b[word][::-1].hex()} instead of {a[word][::-1].hex()}"
    )
