"""Where ways come together again in both of two functions.

Behind an ``if`` conditions are of no more interest; but a proof goes on with them, and they
multiply. Cut where ways meet, each piece has few of them. Two functions that are equal need not
have the same such places: one selects where the other branches. Those that look alike are taken
for the same. That is a guess, which a proof may fail for, but not be wrong for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ptxkit.decompiler.verify.dataflow.cuts import Block
from ptxkit.decompiler.verify.dataflow.decode import Operand, Step
from ptxkit.decompiler.verify.dataflow.regions import Program

#: How much of what is around two places must be the same in both.
_ALIKE = 0.03
#: How much less two places look alike of which one is inside of more than the other.
_ELSEWHERE = 0.3
#: Blocks behind and before a place are looked at so far.
_FAR = 2
#: What compilers add and leave out as they like.
_COMMON = frozenset(("mov", "cvta", "bra", "selp"))
#: Places of each function at most: all are compared with all.
_MOST = 250

Words = Counter[tuple[object, ...]]
Weights = Mapping[tuple[object, ...], float]


def joins(blocks: Mapping[int, Block], headers: list[int]) -> dict[int, int]:
    """Where all ways come together again that part in some block, but to the headers of loops.

    Ways that end, or that go on to the next turn of a loop, do not count. With each such place
    comes how many others it is inside of: between where ways part, and come together there.
    """
    place = {index: number for number, index in enumerate(blocks)}
    after = {index: {t for t in block.targets if t in place} for index, block in blocks.items()}
    forward = {
        index: [t for t in targets if place[t] > place[index]] for index, targets in after.items()
    }
    behind: dict[int, int] = {}
    for index in reversed(list(blocks)):
        behind[index] = 1 << place[index]
        for target in forward[index]:
            behind[index] |= behind[target]
    found: dict[int, int] = {}
    nearest = _nearest_dominators(after)
    ways = Counter(target for targets in after.values() for target in targets)
    for index, parting in nearest.items():
        if parting is None or index in headers or ways[index] < 2:
            continue
        inside = _passed_by(forward, place, parting, index)
        if not inside & behind[index]:
            found[index] = inside
    return {index: sum(inside >> place[index] & 1 for inside in found.values()) for index in found}


def _passed_by(
    forward: Mapping[int, list[int]], place: Mapping[int, int], start: int, end: int
) -> int:
    """What control can come to from one block without another one."""
    met = 0
    pending = [start]
    while pending:
        for target in forward[pending.pop()]:
            if target != end and not met >> place[target] & 1:
                met |= 1 << place[target]
                pending.append(target)
    return met


def _nearest_dominators(after: Mapping[int, set[int]]) -> dict[int, int | None]:
    """For each block the last other one that control comes through in any case."""
    order = list(after)
    place = {index: number for number, index in enumerate(order)}
    before: dict[int, list[int]] = {index: [] for index in order}
    for index, targets in after.items():
        for target in targets:
            before[target].append(index)
    all_blocks = (1 << len(order)) - 1
    above = dict.fromkeys(order, all_blocks)
    above[order[0]] = 1
    changed = True
    while changed:
        changed = False
        for number, index in enumerate(order[1:], 1):
            found = all_blocks
            for one in before[index]:
                found &= above[one]
            found |= 1 << number
            changed |= found != above[index]
            above[index] = found
    nearest: dict[int, int | None] = {}
    for index in order:
        others = above[index] & ~(1 << place[index])
        # Of those that dominate it, the last dominates the fewest, and comes last in the order.
        nearest[index] = order[others.bit_length() - 1] if others else None
    return nearest


def paired(first: Program, second: Program) -> list[tuple[int, int]]:
    """The joins of two functions that look alike, in the order of control in both."""
    programs = first, second
    places = [joins(one.blocks, one.headers) for one in programs]
    if not all(places) or max(map(len, places)) > _MOST:
        return []
    around = [_Around(one.blocks) for one in programs]
    weights = {word: 1.0 / count for word, count in (around[0].total + around[1].total).items()}
    looks = [[a.of(place) for place in some] for a, some in zip(around, places, strict=True)]
    alike = [
        [
            _alike(look, other, weights) * (1.0 if depth == deep else _ELSEWHERE)
            for deep, other in zip(places[1].values(), looks[1], strict=True)
        ]
        for depth, look in zip(places[0].values(), looks[0], strict=True)
    ]
    ordered = [list(some) for some in places]
    return [(ordered[0][i], ordered[1][j]) for i, j in _aligned(alike)]


def _aligned(alike: list[list[float]]) -> Iterator[tuple[int, int]]:
    """Pairs in order, so that as much as possible is alike."""
    rows, columns = len(alike), len(alike[0])
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in reversed(range(rows)):
        for j in reversed(range(columns)):
            together = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= _ALIKE else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    i = j = 0
    while i < rows and j < columns:
        if alike[i][j] >= _ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            yield i, j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1


def _alike(first: Words, second: Words, weights: Weights) -> float:
    """How much of two sets of words is the same, from 0 to 1; rare ones say more."""
    same = sum(min(n, second[word]) * weights[word[1:]] for word, n in first.items())
    total = sum(n * weights[word[1:]] for one in (first, second) for word, n in one.items())
    return same / (total - same) if total else 0.0


class _Around:
    """What is done around blocks."""

    def __init__(self, blocks: Mapping[int, Block]) -> None:
        self.after = {
            index: [t for t in set(b.targets) if t in blocks] for index, b in blocks.items()
        }
        self.before: dict[int, list[int]] = {index: [] for index in blocks}
        for index, targets in self.after.items():
            for target in targets:
                self.before[target].append(index)
        self.own = {
            index: Counter(word for step in block.steps for word in _words(step))
            for index, block in blocks.items()
        }
        self.total: Words = Counter()
        for words in self.own.values():
            self.total += words

    def of(self, index: int) -> Words:
        """The words of a block, and of those near to it, by how far they are."""
        found: Words = Counter()
        for sign, ways in ((1, self.after), (-1, self.before)):
            near, met = {index}, {index}
            for far in range(_FAR + 1):
                if far or sign > 0:
                    for one in near:
                        found += Counter({(sign, *w): n for w, n in self.own[one].items()})
                near = {other for one in near for other in ways[one]} - met
                met |= near
        return found


def _words(step: Step) -> Iterator[tuple[object, ...]]:
    if step.name in _COMMON:
        return
    yield (step.name,)
    numbers = tuple(_numbers(step.sources))
    if numbers:
        yield step.name, *numbers


def _numbers(operands: tuple[Operand, ...]) -> Iterator[object]:
    for one in operands:
        if one.kind in ("number", "float", "special"):
            yield one.value
        elif one.kind == "symbol":
            yield str(one.value)
        elif one.kind == "address":
            yield one.value
            yield from _numbers(one.parts)
