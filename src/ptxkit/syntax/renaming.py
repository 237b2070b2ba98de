"""Compare functions whatever their registers and labels are called.

Two functions are the same up to renaming where one bijection of registers and labels, which
keeps the declared types, turns every statement of one into that of the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from ptxkit.syntax.alignment import Run, align
from ptxkit.syntax.statements import Statement

_Place = tuple[int, int]
_ROUNDS = 2  # how far back along its registers the history of a statement is looked at


def equal_up_to_renaming(a: Sequence[Statement], b: Sequence[Statement]) -> bool:
    """Say whether one bijection turns ``a`` into ``b``, all statements in order."""
    if len(a) != len(b):
        return False
    renaming = _Renaming()
    return all(
        x.shape == y.shape and renaming.extend(x.symbols, y.symbols)
        for x, y in zip(a, b, strict=True)
    )


def align_up_to_renaming(a: Sequence[Statement], b: Sequence[Statement]) -> list[Run]:
    """Equal runs of two lists of statements under one renaming.

    Statements with the same shape and a similar history vote for which register of one side
    is which of the other; the renaming with most votes then decides what is equal.
    """
    votes: Counter[_Place] = Counter()
    for i, j in _similar(a, b):
        votes.update(zip(a[i].symbols, b[j].symbols, strict=True))
    renaming = _Renaming()
    for (x, y), _ in votes.most_common():
        renaming.extend((x,), (y,))
    forward, backward = dict(renaming.forward), frozenset(renaming.backward)
    keys_a = [(s.shape, tuple(forward.get(x, -1) for x in s.symbols)) for s in a]
    keys_b = [(s.shape, tuple(y if y in backward else -1 for y in s.symbols)) for s in b]
    runs: list[Run] = []
    for start_a, start_b, length in align(keys_a, keys_b):
        # Registers that got no vote find their partner here, or make a difference.
        for i, j in zip(
            range(start_a, start_a + length), range(start_b, start_b + length), strict=True
        ):
            if not renaming.extend(a[i].symbols, b[j].symbols):
                continue
            if runs and runs[-1][0] + runs[-1][2] == i and runs[-1][1] + runs[-1][2] == j:
                runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
            else:
                runs.append((i, j, 1))
    return runs


class _Renaming:
    """A bijection that grows."""

    def __init__(self) -> None:
        self.forward: dict[int, int] = {}
        self.backward: dict[int, int] = {}

    def extend(self, a: Sequence[int], b: Sequence[int]) -> bool:
        """Take the pairs in; False, and nothing changed, where one contradicts."""
        new: list[_Place] = []
        for x, y in zip(a, b, strict=True):
            if x in self.forward or y in self.backward:
                if self.forward.get(x) != y:
                    self._forget(new)
                    return False
            else:
                self.forward[x] = y
                self.backward[y] = x
                new.append((x, y))
        return True

    def _forget(self, pairs: Iterable[_Place]) -> None:
        for x, y in pairs:
            del self.forward[x], self.backward[y]


def _similar(a: Sequence[Statement], b: Sequence[Statement]) -> list[_Place]:
    """Pairs of statements that probably belong together, the most alike first."""
    codes: dict[Hashable, int] = {}
    levels_a, levels_b = _histories(a, codes), _histories(b, codes)
    gaps = [(0, len(a), 0, len(b))]
    found: list[_Place] = []
    for colours_a, colours_b in zip(levels_a, levels_b, strict=True):
        inside, gaps = gaps, []
        for low_a, high_a, low_b, high_b in inside:
            at_a, at_b = low_a, low_b
            for i, j, n in align(colours_a[low_a:high_a], colours_b[low_b:high_b]):
                found += [(low_a + i + k, low_b + j + k) for k in range(n)]
                gaps.append((at_a, low_a + i, at_b, low_b + j))
                at_a, at_b = low_a + i + n, low_b + j + n
            gaps.append((at_a, high_a, at_b, high_b))
    return found


def _histories(statements: Sequence[Statement], codes: dict[Hashable, int]) -> list[list[int]]:
    """For each statement a number for its shape and what its registers went through.

    The first list looks back the furthest; the last one at the shapes alone.
    """
    shapes = [codes.setdefault(s.shape, len(codes)) for s in statements]
    levels = [shapes]
    for _ in range(_ROUNDS):
        below = levels[0]
        last: dict[int, int] = {}
        colours: list[int] = []
        for number, statement in enumerate(statements):
            past = tuple(below[last[x]] if x in last else -1 for x in statement.symbols)
            colours.append(codes.setdefault((shapes[number], past), len(codes)))
            last.update(dict.fromkeys(statement.symbols, number))
        levels.insert(0, colours)
    return levels
