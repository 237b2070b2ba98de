"""Names for what begins at the place of a thread and moves on: it is no thread any more."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import chain, count

from ptxkit.cuda import nodes as n

#: What the lifter calls places of threads and blocks, and what is added to.
_PLACES, _SUMS = re.compile(r"[tb]id(_[xyz])?\d*"), re.compile(r"sum\d*")
_BEGIN = frozenset(("threadIdx", "blockIdx"))
_COUNTERS = ("i", "j", "k")


def moving_names(
    function: n.Function, taken: Collection[str], keep: Collection[str] = ()
) -> dict[str, str]:
    """Other names for such variables; ``keep`` are names that somebody else gave.

    >>> from ptxkit.cuda import read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int n))
    ...     (let int tid (. threadIdx x)) (let int tid_y (. threadIdx y))
    ...     (do (< tid n) (+= tid_y ([] x tid)) (+= tid 32)) (= ([] x 0) tid_y))''')
    >>> moving_names(kernel, ())
    {'tid': 'i', 'tid_y': 'sum'}
    """
    own = {p.name for p in function.walk() if isinstance(p, n.Declare | n.Name | n.Parameter)}
    moves: dict[str, list[n.Assign]] = {}
    for node in function.walk():
        if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
            moves.setdefault(node.target.name, []).append(node)
    starts = {p.name: p.value for p in function.walk() if isinstance(p, n.Declare) and p.value}
    names: dict[str, str] = {}
    for name, start in starts.items():
        if name in keep or name not in moves:
            continue
        read = any(isinstance(p, n.Index) for one in moves[name] for p in one.value.walk())
        index = _SUMS.fullmatch(name) and not read and not _BEGIN.isdisjoint(start.names())
        if not index and not _PLACES.fullmatch(name):
            continue
        wishes = _numbered("sum") if read else chain(_COUNTERS, _numbered("n"))
        names[name] = next(x for x in wishes if x not in {*own, *taken, *names.values()})
    return names


def _numbered(stem: str) -> Iterator[str]:
    return (f"{stem}{number or ''}" for number in count())
