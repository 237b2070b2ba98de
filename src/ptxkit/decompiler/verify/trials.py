"""Launches to try a kernel with: shapes of grids and blocks, and sizes.

A trial is made from its number alone, so that a result can be had again.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ptxkit.decompiler.verify.pointing import Origin
from ptxkit.decompiler.verify.usage import Usage
from ptxkit.decompiler.verify.values import KINDS
from ptxkit.run.shape import Dimensions, LaunchRules

#: More elements than 16 bits can count.
LARGE = 66_000
_DYNAMIC_SHARED = 40 << 10
#: More than that have a launch of :func:`large_trials`.
FEW_BLOCKS = 64

# Those that people use, then some that nobody does.
_LINES = (
    *((64, 1, 1), (128, 1, 1), (32, 1, 1), (256, 1, 1), (96, 1, 1), (512, 1, 1)),
    # A rest of all lengths for loops that take four, eight or sixteen at once.
    *((47, 1, 1), (33, 1, 1), (50, 1, 1), (7, 1, 1), (1, 1, 1)),
)
_PLANES = (
    *((16, 16, 1), (32, 8, 1), (8, 8, 1), (32, 4, 1), (16, 8, 1), (32, 32, 1)),
    *((5, 7, 1), (13, 3, 1), (1, 1, 1)),
)
#: Blocks of sizes that code compares with, at most.
_NEAR = 4
_CLUSTERED = ("%cluster", "%nclusterid", "%is_explicit")
#: A way to fill memory beside those of `values`: each field of a record has its own.
MIXED = "mixed"
#: And one in which numbers that are no sizes are the least or the greatest of their type.
EXTREME = "extreme"
#: Threads of a block of :func:`crowded`, and how many launches with each kind of numbers.
_CROWD, _CROWDS = 32, 4
#: Sizes of :func:`alone`, with all rests that loops of four leave.
_ODD = (5, 6, 7, 9, 14, 33, 35, 50)
_ROOMS = ((8, 4, 4), (4, 4, 4), (16, 4, 2), (1, 1, 1))


@dataclass(frozen=True, slots=True)
class Exchange:
    """A pointer that points to the memory of another one, some bytes on, or to nothing."""

    pointer: Origin
    other: Origin | None
    shift: int = 0

    def __str__(self) -> str:
        if self.other is None:
            return f"no {self.pointer}"
        return f"{self.pointer} as {self.other}" + (f"{self.shift:+}" if self.shift else "")


@dataclass(frozen=True, slots=True)
class Trial:
    """One launch, without the memory."""

    number: int
    kind: str
    grid: Dimensions
    block: Dimensions
    sizes: tuple[int, ...]
    shared: int = 0
    cluster: int = 0
    cooperative: bool = False
    ascending: bool = False
    cleared: bool = False
    """Whether memory that is only written to, or by atomics, starts as zeros."""
    instead: frozenset[Exchange] = frozenset()
    """Pointers that point elsewhere than to memory of their own, or not to its start."""
    multiple: int = 1
    """What all indices in memory are multiples of."""

    @property
    def shares(self) -> bool:
        """Whether two pointers point to the same memory."""
        return any(one.other not in (None, one.pointer) for one in self.instead)

    def __str__(self) -> str:
        sizes = f", sizes {', '.join(map(str, self.sizes))}" if self.sizes else ""
        others = "".join(sorted(f", {one}" for one in self.instead))
        numbers = "zeros" if self.kind == "zeros" else f"{self.kind} numbers"
        return f"{numbers}, grid {self.grid}, block {self.block}{sizes}{others}"


@dataclass(slots=True)
class Experience:
    """Launches of a kernel with some candidates, for others: these need not be looked for again."""

    reached: list[Trial] = field(default_factory=list)
    """Those that reached something, from a search for all that can be."""
    telling: list[Trial] = field(default_factory=list)
    """Those that showed a candidate to be wrong."""
    unreached: bool = False
    """Whether a candidate was refused for code that none of them reached."""


def trials(usage: Usage, rules: LaunchRules, count: int, first: int = 0) -> Iterator[Trial]:
    """Launches that are worth trying, the most promising first; others from another first one."""
    blocks = block_shapes(usage, rules)
    axes = 3 if "%ctaid.z" in usage.special else 2 if "%ctaid.y" in usage.special else 1
    clustered = "mapa" in usage.names or any(s.startswith(_CLUSTERED) for s in usage.special)
    cluster = 2 if clustered and rules.required_cluster is None else 0
    cooperative = any(s.startswith("%envreg") for s in usage.special)
    shared = dynamic_shared(usage, rules)
    for number in range(first, first + count):
        generator = np.random.default_rng([number, 0x507])
        block = blocks[number % len(blocks)] if number % 3 else blocks[number // 3 % len(blocks)]
        extent = (2, 3, 1, 4)[number % 4]
        grid = (extent, *(2,) * (axes - 1), *(1,) * (3 - axes))
        if cluster or rules.required_cluster:
            along = rules.required_cluster or (cluster, 1, 1)
            grid = tuple(g * c for g, c in zip(grid, along, strict=True))
        yield Trial(
            number,
            # Counted so that every kind meets every pattern of sizes.
            KINDS[(number + number // 8) % len(KINDS)],
            (grid[0], grid[1], grid[2]),
            block,
            _sizes(number, len(usage.sizes), block, usage.constants, generator),
            shared,
            cluster,
            cooperative,
            ascending=number % 2 == 0,
            cleared=number % 3 == 1,
        )


def roomier(trial: Trial) -> Iterator[Trial]:
    """The next launch after one whose threads got in each other's way: fewer, or farther apart.

    >>> one = Trial(3, "small", (4, 1, 1), (64, 1, 1), (4, 200))
    >>> two = next(roomier(one))
    >>> two.grid, next(roomier(two)).sizes, list(roomier(next(roomier(two))))
    ((1, 1, 1), (64, 200), [])
    """
    threads = math.prod(trial.block)
    # Sizes may be distances between what threads work on.
    apart = tuple(size if size <= 0 else max(size, threads) for size in trial.sizes)
    if math.prod(trial.grid) > 1:
        yield replace(trial, grid=(1, 1, 1))
    elif apart != trial.sizes:
        yield replace(trial, sizes=apart)


def crowded(rules: LaunchRules, starts: list[Trial]) -> Iterator[Trial]:
    """Launches like some that said something, with work for all of a few small blocks.

    Where the order makes a difference, any thread may come first, and find what was there before.
    """
    for start in starts:
        if start.cluster or start.cooperative or rules.required_cluster:
            continue
        block = start.block
        if rules.required_block is None and math.prod(block) > _CROWD:
            block = (_CROWD, 1, 1)
        for number in range(_CROWDS * len(KINDS)):
            grid = (3 + number % 3, *start.grid[1:])
            threads = math.prod(grid) * math.prod(block)
            sizes = tuple(size if size <= 0 else max(size, threads) for size in start.sizes)
            yield replace(
                start, number=start.number + number, kind=KINDS[number % len(KINDS)],
                grid=grid, block=block, sizes=sizes,
            )  # fmt: skip


def full(tried: Sequence[Trial]) -> Iterator[Trial]:
    """Launches with the largest blocks that said something, work for all threads, and any numbers.

    Where larger blocks are out of bounds few launches had as large ones, and of those few had work
    for their last threads: what these alone do is seen with numbers that make it matter.
    """
    large = max((math.prod(trial.block) for trial in tried), default=0)
    start = next((trial for trial in tried if math.prod(trial.block) == large), None)
    if start is None or large == 1:
        return
    for number, kind in enumerate(dict.fromkeys(KINDS)):
        blocks = 1 + number % 3 if start.grid[0] > 1 else 1
        width = blocks * start.block[0]
        sizes = tuple(size if size <= 0 else max(size, width) for size in start.sizes)
        grid = (blocks * max(1, start.cluster), *start.grid[1:])
        yield replace(start, number=start.number + number, kind=kind, grid=grid, sizes=sizes)


def single(usage: Usage, tried: Sequence[Trial]) -> Iterator[Trial]:
    """Launches that said something, with one block, where more of them do the same again.

    What the second block leaves behind may hide what the first did. Blocks that do not know which
    one they are all do the same; and so may others for sizes that leave no work.

    >>> two = Trial(0, "small", (2, 1, 1), (32, 1, 1), (7, 0))
    >>> one = replace(two, sizes=(7, 7))
    >>> [t.grid for t in single(Usage(special={"%ctaid.x"}), [two, one])]
    [(1, 1, 1)]
    """
    apart = any(name.startswith("%ctaid") for name in usage.special)
    for trial in tried:
        several = math.prod(trial.grid) > 1 and not (trial.cluster or trial.cooperative)
        if several and (not apart or min(trial.sizes, default=1) <= 0):
            yield replace(trial, grid=(1, 1, 1))


def alone(starts: list[Trial]) -> Iterator[Trial]:
    """Launches like some that said something, with one block, and numbers the other way round.

    Where several blocks do the same work, or numbers are nearly in order, it does not matter what
    the last turns of a loop do.
    """
    for start in starts:
        for size in _ODD if start.sizes and not (start.cluster or start.cooperative) else ():
            sizes = tuple(size if old > 0 else old for old in start.sizes)
            yield replace(start, kind="falling", grid=(1, 1, 1), sizes=sizes)


def lonely(rules: LaunchRules, starts: list[Trial]) -> Iterator[Trial]:
    """Launches like some that said something, with one thread, which comes before all others.

    Where the order makes a difference, numbers that are nearly the same say little; here all do.
    """
    for start in starts:
        if start.cluster or start.cooperative or rules.required_cluster or rules.required_block:
            continue
        for number in range(_CROWDS * len(KINDS)):
            yield replace(
                start, number=start.number + number, kind=KINDS[number % len(KINDS)],
                grid=(1, 1, 1), block=(1, 1, 1),
            )  # fmt: skip


def dynamic_shared(usage: Usage, rules: LaunchRules) -> int:
    """Bytes of dynamic shared memory: much where the kernel is made for one shape of blocks."""
    if not usage.dynamic_shared:
        return 0
    return _DYNAMIC_SHARED if rules.required_block is None else 4 * _DYNAMIC_SHARED


def block_shapes(usage: Usage, rules: LaunchRules) -> list[Dimensions]:
    """Blocks that a kernel may be meant for."""
    if rules.required_block is not None:
        return [rules.required_block]
    blocks: list[Dimensions] = []
    if "%tid.z" in usage.special and "%ctaid.z" in usage.special:
        blocks += _ROOMS
    if "%tid.y" in usage.special and "%ctaid.y" in usage.special:
        blocks += _PLANES
    elif "%tid.y" in usage.special:
        blocks += (*_LINES[:4], *_PLANES)
    if not blocks:
        blocks += _LINES
        if "%ntid.x" in usage.special:
            # Loops over the threads of a block change their ways around such numbers, too.
            near = sorted({c + d for c in usage.constants for d in (1, 0, 2) if 2 <= c + d <= 9})
            blocks += [(n, 1, 1) for n in near[:_NEAR] if (n, 1, 1) not in blocks]
    most = rules.most_threads or 1024
    fitting = [b for b in blocks if math.prod(b) <= most]
    if rules.most_threads is not None and not any(math.prod(b) == most for b in fitting):
        fitting.append((most, 1, 1))  # what it was compiled for
    return fitting


def _sizes(
    number: int, count: int, block: Dimensions, constants: set[int], generator: Any
) -> tuple[int, ...]:
    """Values for the numbers that bound or scale indices.

    Loops change their ways around the numbers that the code compares with.
    """
    if count == 0:
        return ()
    near = sorted({c + d for c in constants for d in (-1, 0, 1, 2) if -3 <= c + d <= 200})
    if count == 1:
        few = [100, 33, -1, block[0], 0, 2 * block[0], 1, 257, 5, block[0] + 1, 300, 64, 2, 37, -3]
        few += [16, 3, *near]
        return (few[number % len(few)],)
    most = 40 if count == 2 else 14
    few = [1, 2, 3, 4, 5, 7, 8, 9, *(v for v in near if 0 < v <= most), 13, most]
    values = [int(v) for v in generator.integers(1, most, count)]
    place = number // 8 % count
    # Where code has still not run, larger things with smaller parts are more likely to reach it.
    pattern = number % 8 if number < 40 else (6, 0, 6, 5)[number % 4]
    if pattern == 1:
        values = [values[0]] * count
    elif pattern == 2:
        values = [int(v) for v in generator.choice((1, 2, 4, 8, 16), count)]
    elif pattern == 3:
        values = [int(v) for v in generator.integers(1, 7, count)]
        values[int(generator.integers(0, count))] = int(generator.integers(60, 300))
    elif pattern == 4:
        values[place] = int(generator.integers(-3, 0))
    elif pattern == 5:
        values = [int(v) for v in generator.choice(few, count)]
    elif pattern == 6:
        # The largest first, as people write the size of a thing before that of its parts.
        values = sorted((int(v) for v in generator.integers(8, 40, count)), reverse=True)
    elif pattern == 7:
        values[place] = 0
    return tuple(values)
