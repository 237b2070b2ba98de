"""Line two sequences up: which parts of one are also in the other, in the same order.

Elements that are unique on both sides are anchors (the longest increasing run of them), and
where there are none, short sequences of elements that are. What lies between anchors goes to
`difflib.SequenceMatcher`, whose time is quadratic where elements repeat a lot. So it is given
a budget: the most repeated elements count only next to others that match.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

Run = tuple[int, int, int]
"""(start in a, start in b, length) of equal elements."""

_MAX_DEPTH = 12  # anchors inside gaps between anchors; real texts need two or three
_MAX_WIDTH = 32  # elements that make one anchor
_BUDGET_PER_ELEMENT = 8  # pairs of equal elements that difflib may look at


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    """The equal runs of two sequences, in order, as long as possible.

    >>> align("abcxyz", "abc-yz")
    [(0, 0, 3), (4, 4, 2)]
    >>> align("", "abc")
    []
    """
    pairs: list[Run] = []
    pending = [(0, len(a), 0, len(b), 0)]
    while pending:
        low_a, high_a, low_b, high_b, depth = pending.pop()
        start = low_a
        while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
            low_a, low_b = low_a + 1, low_b + 1
        if low_a > start:
            pairs.append((start, low_b - (low_a - start), low_a - start))
        end = high_a
        while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
            high_a, high_b = high_a - 1, high_b - 1
        if high_a < end:
            pairs.append((high_a, high_b, end - high_a))
        if low_a == high_a or low_b == high_b:
            continue
        part_a, part_b = a[low_a:high_a], b[low_b:high_b]
        anchors = _anchors(part_a, part_b) if depth < _MAX_DEPTH else []
        if not anchors:
            pairs += [(low_a + i, low_b + j, n) for i, j, n in _match(part_a, part_b)]
            continue
        # Each gap begins at an anchor, which the common prefix takes along.
        ends = [*anchors[1:], (high_a - low_a, high_b - low_b)]
        pending.append((low_a, low_a + anchors[0][0], low_b, low_b + anchors[0][1], depth + 1))
        for (from_a, from_b), (to_a, to_b) in zip(anchors, ends, strict=True):
            pending.append(
                (low_a + from_a, low_a + to_a, low_b + from_b, low_b + to_b, depth + 1)
            )
    return _joined(pairs)


def _joined(pairs: list[Run]) -> list[Run]:
    """The runs in order, neighbours made one."""
    found: list[Run] = []
    for i, j, n in sorted(pairs):
        if found and (last := found[-1])[0] + last[2] == i and last[1] + last[2] == j:
            found[-1] = (last[0], last[1], last[2] + n)
        else:
            found.append((i, j, n))
    return found


def _anchors(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Places of the narrowest sequences that are unique in both, in the same order in both."""
    codes: dict[Hashable, int] = {}
    wide_a = [codes.setdefault(element, len(codes)) for element in a]
    wide_b = [codes.setdefault(element, len(codes)) for element in b]
    width = 1
    while wide_a and wide_b and width <= _MAX_WIDTH:
        unique = _unique(wide_a, wide_b)
        if unique:
            return _longest_increasing(unique)
        codes = {}
        wide_a = _doubled(wide_a, width, codes)
        wide_b = _doubled(wide_b, width, codes)
        width *= 2
    return []


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


def _match(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Run]:
    counts_a, counts_b = Counter(a), Counter(b)
    work = {element: n * counts_b[element] for element, n in counts_a.items()}
    budget = _BUDGET_PER_ELEMENT * (len(a) + len(b)) + 1000
    junk: set[Hashable] = set()
    for element, cost in sorted(work.items(), key=lambda item: item[1]):
        budget -= cost
        if budget < 0:
            junk.add(element)
    if all(element in junk or not work[element] for element in work):
        return []
    matcher = SequenceMatcher(junk.__contains__ if junk else None, a, b, autojunk=False)
    return [(i, j, n) for i, j, n in matcher.get_matching_blocks() if n]
