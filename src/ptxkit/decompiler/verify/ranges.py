"""Launches with numbers that are larger than those that people try.

More elements than 16 bits count, sizes of more than 32 bits, more blocks and threads along an axis
than a byte counts, and sizes around the large numbers that the code compares with.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ptxkit.decompiler.verify.pointing import Origin
from ptxkit.decompiler.verify.trials import EXTREME, LARGE, Exchange, Trial, dynamic_shared
from ptxkit.decompiler.verify.usage import Usage
from ptxkit.decompiler.verify.values import KINDS
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.shape import Dimensions, LaunchRules

#: Numbers up to the first are tried as sizes anyway, those from the second on are none; so many
#: between them are tried, in so many places.
_SMALL, _WORD = 198, 1 << 31
_MARKED, _PLACES = 6, 3
#: Sizes of 64 bits that say something else in their lower half, or nothing.
_WIDE = ((1 << 32) + 3, (1 << 32) + 100, 1 << 32, (1 << 31) + 5, -(1 << 32) - 1)
#: Where 32 bits end with a sign and without, where twice and four times a number wraps around,
#: and where products of 24 bits, and of such a number with itself, do.
_EXTREMES = (-(1 << 31), (1 << 31) - 1, 1 << 30, (1 << 24) + 1, -(1 << 30))
#: The same of 64 bits: what 32 bits of it say something else of, and what a double rounds.
_WIDE_EXTREMES = (100 - (1 << 32), (1 << 53) + 1, -(1 << 31) - 1)
_SQUARE = 1 << 16
#: Launches in which other numbers than sizes are where their type ends: all of them, then the first
#: ones by themselves.
_ENDS = 20
#: From so many launches.
_FROM = 2
#: More than a byte counts, and what sizes are to be beside it.
_MANY, _FEW = 300, 3
#: Threads of a block, what a size is to be more than these, and what others are to be beside it:
#: multiples of what vectors have.
_THREADS, _MORE, _OTHERS = 1024, 64, 4
#: Threads along the second and the third axis: more than a warp, as many as there may be.
_DEEP: dict[int, tuple[Dimensions, ...]] = {
    1: ((2, 40, 1), (1, 300, 1)), 2: ((4, 4, 16), (2, 2, 64), (2, 1, 64)),
}  # fmt: skip
_AXES = "xyz"


def large_trials(usage: Usage, rules: LaunchRules, blocks: list[Dimensions]) -> Iterator[Trial]:
    """Launches with so many elements that a 16-bit number cannot count them."""
    shared = dynamic_shared(usage, rules)
    count = len(usage.sizes)
    block = next((b for b in blocks if math.prod(b) >= 64), blocks[0])
    wide = "%ctaid.y" in usage.special
    for place in range(min(max(count, 1), 2)):
        if wide:
            sizes = (300,) * count if count <= 2 else (300, *(3,) * (count - 1))
            grid = (-(-300 // block[0]), -(-300 // block[1]), 1)
        else:
            sizes = tuple(LARGE if k == place else 2 for k in range(count))
            grid = (-(-LARGE // block[0]), 1, 1)
        yield Trial(1000 + place, "random", grid, block, sizes, shared, cleared=True)
        if wide:
            return


def marked_trials(
    usage: Usage, rules: LaunchRules, blocks: list[Dimensions]
) -> Iterator[list[Trial]]:
    """Few threads with sizes around each large number that the code compares with."""
    shared = dynamic_shared(usage, rules)
    block = next((b for b in blocks if math.prod(b) >= 64), blocks[0])
    count = len(usage.sizes)
    marks = sorted((c for c in usage.constants if _SMALL < abs(c) < _WORD), key=abs)[:_MARKED]
    number = 2000
    for place in range(min(count, _PLACES)):
        for mark in marks:
            group = []
            for size in (mark + 1, mark, mark - 1):
                sizes = tuple(size if k == place else 2 for k in range(count))
                number += 1
                group.append(Trial(number, "random", (2, 1, 1), block, sizes, shared, cleared=True))
            yield group


def missing_trials(usage: Usage, starts: list[Trial]) -> Iterator[list[Trial]]:
    """Launches that said something, with all numbers, where a pointer is one that code asks for.

    One that may be missing is, and one that may not be aligned is not.
    """
    missing = [Exchange(one, None) for one in usage.optional[:_PLACES]]
    beside = [Exchange(one, one, _beside(usage, one)) for one in usage.aligned[:_PLACES]]
    for one in (*missing, *beside):
        for start in starts[-1:]:
            yield [replace(start, kind=kind, instead=frozenset((one,))) for kind in KINDS]


def _beside(usage: Usage, pointer: Origin) -> int:
    """The bytes of an element, after which the next one is no place for a vector."""
    return scalar_bytes(usage.element(pointer))


def wide_trials(usage: Usage, starts: list[Trial]) -> Iterator[list[Trial]]:
    """Launches that said something, with a size beyond 32 bits."""
    wide = [k for k, o in enumerate(usage.sizes) if scalar_bytes(usage.type(o)) == 8]
    for place in wide[:_PLACES]:
        for start in starts:
            for size in _WIDE:
                sizes = tuple(size if k == place else old for k, old in enumerate(start.sizes))
                yield [replace(start, sizes=sizes)]


def extreme_trials(usage: Usage, starts: list[Trial]) -> Iterator[Trial]:
    """Launches that said something, with a size where numbers of 32 bits end, or products do.

    Most go beyond any memory; those that do not tell whether code takes more than the size.
    """
    widths = [scalar_bytes(usage.type(one)) for one in usage.sizes]
    places = [k for k, width in enumerate(widths) if width == 4][:_PLACES]
    wide = [k for k, width in enumerate(widths) if width == 8][:_PLACES]
    ways = [(size, k) for size in _EXTREMES for k in places]
    ways += [(size, k) for size in _WIDE_EXTREMES for k in wide]
    for start in starts[-_FROM:]:
        for size, place in ways:
            sizes = tuple(size if k == place else old for k, old in enumerate(start.sizes))
            yield replace(start, sizes=sizes)
        if len(places) > 1:
            sizes = tuple(_SQUARE if k in places else old for k, old in enumerate(start.sizes))
            yield replace(start, sizes=sizes)


def ending_trials(usage: Usage, starts: list[Trial]) -> Iterator[Trial]:
    """Launches that said something, with numbers that are no sizes where those of their type end.

    A sum with the number of a thread overflows there and nowhere else, or does not where it is made
    with more bits.
    """
    known = {*usage.sizes, *usage.pointers, *usage.textures}
    if any(type[0] in "usb" for one, type in usage.slots.items() if one not in known):
        for start in starts[-1:]:
            for number in range(_ENDS):
                yield replace(start, number=number, kind=EXTREME)


def deep_trials(usage: Usage, rules: LaunchRules, starts: list[Trial]) -> Iterator[list[Trial]]:
    """Launches that said something, with many blocks, or threads, along one axis."""
    most = rules.most_threads or _THREADS
    if usage.special & {"%tid.x", "%tid.y"} == {"%tid.x"} and rules.required_block is None:
        for start in starts:
            # What has room for 512 threads may have none for as many as there may be.
            yield [replace(one, block=(most, 1, 1)) for one in _sized(start, most + _MORE, _OTHERS)]
    for axis in range(1, 3):
        for start in starts:
            if f"%ctaid.{_AXES[axis]}" in usage.special:
                grid = (1, _MANY, 1) if axis == 1 else (1, 1, _MANY)
                yield [replace(one, grid=grid) for one in _sized(start)]
            if f"%tid.{_AXES[axis]}" in usage.special and rules.required_block is None:
                for block in _DEEP[axis]:
                    if "%tid.y" not in usage.special:
                        # Threads that differ in nothing do the same, and race for it.
                        block = (block[0], 1, block[2])
                    if math.prod(block) <= (rules.most_threads or 1024):
                        yield [replace(one, block=block) for one in _sized(start)]


def _sized(start: Trial, many: int = _MANY, few: int = _FEW) -> Iterator[Trial]:
    """A launch, and others with one size that bounds as many threads."""
    for place in range(min(len(start.sizes), _PLACES)):
        sizes = tuple(many if k == place else few for k in range(len(start.sizes)))
        yield replace(start, sizes=sizes)
    yield start
