"""Line two sequences up: which parts of one are also in the other, in the same order.

Elements that are unique on both sides are anchors (the longest increasing run of them), and
where there are none, short sequences of elements that are. Where nothing is unique, the
longest common run is (`difflib` finds it), and both sides of it are looked at again.

The time is linear: work is paid for out of a budget per element, widest gaps first. When it
is spent, which takes texts that repeat themselves without end, what is left counts as
different. The most repeated elements count only next to others that match.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

Run = tuple[int, int, int]
"""(start in a, start in b, length) of equal elements."""
Edit = tuple[bool, int, int, int, int]
"""(equal, start in a, end in a, start in b, end in b)."""

_MAX_WIDTH = 32  # elements that make one anchor
_BUDGET = 100  # steps per element, for all gaps together
_BUDGET_OF_GAP = 8  # pairs of equal elements per element, for one gap


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    """The equal runs of two sequences, in order, as long as possible.

    >>> align("abcxyz", "abc-yz")
    [(0, 0, 3), (4, 4, 2)]
    >>> align("", "abc")
    []
    """
    runs: list[Run] = []
    budget = _BUDGET * (len(a) + len(b))
    pending = deque([(0, len(a), 0, len(b))])
    while pending:
        low_a, high_a, low_b, high_b = pending.popleft()
        start = low_a
        while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
            low_a, low_b = low_a + 1, low_b + 1
        if low_a > start:
            runs.append((start, low_b - (low_a - start), low_a - start))
        end = high_a
        while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
            high_a, high_b = high_a - 1, high_b - 1
        if high_a < end:
            runs.append((high_a, high_b, end - high_a))
        if low_a == high_a or low_b == high_b or budget < 0:
            continue
        places, steps = _places(a[low_a:high_a], b[low_b:high_b])
        budget -= steps
        # Each gap but the first begins at a place, which the common prefix takes along.
        corners = [(0, 0), *places, (high_a - low_a, high_b - low_b)] if places else []
        for (from_a, from_b), (to_a, to_b) in pairwise(corners):
            pending.append((low_a + from_a, low_a + to_a, low_b + from_b, low_b + to_b))
    return _joined(runs)


def edits(runs: Sequence[Run], length_a: int, length_b: int) -> Iterator[Edit]:
    """The runs and what lies between them, in order.

    >>> list(edits(align("abc", "axc"), 3, 3))
    [(True, 0, 1, 0, 1), (False, 1, 2, 1, 2), (True, 2, 3, 2, 3)]
    """
    at_a = at_b = 0
    for i, j, n in [*runs, (length_a, length_b, 0)]:
        if at_a < i or at_b < j:
            yield False, at_a, i, at_b, j
        if n:
            yield True, i, i + n, j, j + n
        at_a, at_b = i + n, j + n


def hunks(all_edits: Sequence[Edit], context: int) -> Iterator[list[Edit]]:
    """The differences with their context; those with little between them are one hunk.

    >>> a, b = "abcdefgh", "abXdefgY"
    >>> [hunk[1] for hunk in hunks(list(edits(align(a, b), 8, 8)), 1)]
    [(False, 2, 3, 2, 3), (False, 7, 8, 7, 8)]
    """
    hunk: list[Edit] = []
    last = len(all_edits) - 1
    for number, (equal, low_a, high_a, low_b, high_b) in enumerate(all_edits):
        if not equal:
            hunk.append((equal, low_a, high_a, low_b, high_b))
            continue
        length = high_a - low_a
        before = context if number > 0 else 0
        after = context if number < last else 0
        if length <= before + after:
            hunk.append((True, low_a, high_a, low_b, high_b))
            continue
        hunk.append((True, low_a, low_a + before, low_b, low_b + before))
        if any(not edit[0] for edit in hunk):
            yield hunk
        hunk = [(True, high_a - after, high_a, high_b - after, high_b)]
    if any(not edit[0] for edit in hunk):
        yield hunk


def _joined(runs: list[Run]) -> list[Run]:
    """The runs in order, neighbours made one."""
    found: list[Run] = []
    for i, j, n in sorted(runs):
        if found and (last := found[-1])[0] + last[2] == i and last[1] + last[2] == j:
            found[-1] = (last[0], last[1], last[2] + n)
        else:
            found.append((i, j, n))
    return found


def _places(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[list[tuple[int, int]], int]:
    """Where equal runs begin in both, in order, and the steps it took to find them."""
    codes: dict[Hashable, int] = {}
    numbers_a = [codes.setdefault(element, len(codes)) for element in a]
    numbers_b = [codes.setdefault(element, len(codes)) for element in b]
    wide_a, wide_b = numbers_a, numbers_b
    width, steps = 1, 0
    while wide_a and wide_b and width <= _MAX_WIDTH:
        steps += len(wide_a) + len(wide_b)
        unique = _unique(wide_a, wide_b)
        if unique:
            return _longest_increasing(unique), steps
        codes = {}
        wide_a = _doubled(wide_a, width, codes)
        wide_b = _doubled(wide_b, width, codes)
        width *= 2
    place, more = _longest_run(numbers_a, numbers_b)
    return place, steps + more


def _doubled(wide: list[int], width: int, codes: dict[Hashable, int]) -> list[int]:
    """A number for each sequence twice as long; the same number for the same sequence."""
    pairs = zip(wide, wide[width:], strict=False)
    return [codes.setdefault(pair, len(codes)) for pair in pairs]


def _unique(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Places in both of what each has once."""
    counts_a, counts_b = Counter(a), Counter(b)
    place_b = {element: j for j, element in enumerate(b) if counts_b[element] == 1}
    return [
        (i, place_b[element])
        for i, element in enumerate(a)
        if counts_a[element] == 1 and element in place_b
    ]


def _longest_increasing(unique: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The most of these places that are in the same order in both."""
    # Patience sorting: tails[k] is the smallest end in b of an increasing run of length k+1.
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(unique):
        k = bisect_left(tails, j)
        tails[k : k + 1] = [j]
        ends[k : k + 1] = [number]
        before.append(ends[k - 1] if k else -1)
    found: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        found.append(unique[at])
        at = before[at]
    return found[::-1]


def _longest_run(a: list[int], b: list[int]) -> tuple[list[tuple[int, int]], int]:
    """Where the longest common run begins, as a list of one or none."""
    counts_b = Counter(b)
    pairs = {element: n * counts_b[element] for element, n in Counter(a).items()}
    allowed = _BUDGET_OF_GAP * (len(a) + len(b)) + 1000
    steps = len(a) + len(b)
    junk: set[int] = set()
    for element, cost in sorted(pairs.items(), key=lambda item: item[1]):
        if steps + cost > allowed:
            junk.add(element)
        else:
            steps += cost
    matcher = SequenceMatcher(junk.__contains__ if junk else None, a, b, autojunk=False)
    found = matcher.find_longest_match(0, len(a), 0, len(b))
    return ([(found.a, found.b)] if found.size else []), steps
