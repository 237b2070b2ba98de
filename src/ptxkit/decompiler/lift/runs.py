"""Where a text may be repeated: statements in a row that look the same, but for numbers and names.

That is what becomes of a loop that a compiler wrote out. Whether they are its turns is for others
to find out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.unify import shape

#: A loop is worth it from so many copies on.
LEAST = 3
#: Runs of one list that are tried.
MOST_RUNS = 200
#: Statements in one copy at most.
_LONGEST = 24


@dataclass(slots=True)
class Shapes:
    """A short key for each statement: equal ones for those that look the same."""

    known: dict[int, tuple[n.Statement, int]] = field(default_factory=dict)
    keys: dict[object, int] = field(default_factory=dict)

    def of(self, statement: n.Statement) -> int:
        """The key of a statement."""
        known = self.known.get(id(statement))
        if known is None:
            key = self.keys.setdefault(shape(statement, self.of), len(self.keys))
            # The statement is kept, so that no other one is taken for it.
            known = self.known[id(statement)] = statement, key
        return known[1]


def runs(shapes: list[int], ends: list[bool]) -> Iterator[tuple[int, int, int]]:
    """Where something may be repeated: the start, the size of a copy, how many; most first.

    Copies of the same text begin anywhere in it; people end them with a barrier.

    >>> next(runs([7, 1, 2, 1, 2, 1, 2, 8], [False] * 8))
    (1, 2, 3)
    """
    found: list[tuple[int, int, int]] = []
    for size in range(1, min(_LONGEST, len(shapes) // LEAST) + 1):
        start = 0
        while start + LEAST * size <= len(shapes):
            end = start
            while end + size < len(shapes) and shapes[end] == shapes[end + size]:
                end += 1
            count = (end - start) // size + 1
            if count >= LEAST:
                for shift in range(min(size, end - start - (LEAST - 1) * size + 1)):
                    found.append((start + shift, size, (end - start - shift) // size + 1))
            start = max(end, start) + 1
    yield from sorted(
        found, key=lambda run: (-run[1] * run[2], run[1], not ends[run[0] + run[1] - 1], run[0])
    )
