"""Numbers behind names, left out where there is nothing to tell apart any more."""

from __future__ import annotations

import re
from collections.abc import Collection

from ptxkit.cuda import nodes as n

#: What the lifter calls variables after what they are for, with a number behind it.
_NUMBERED = re.compile(r"(sum|product|largest|smallest|stride|cond|ptr)\d+")


def plain_stems(
    function: n.Function, taken: Collection[str], keep: Collection[str] = ()
) -> dict[str, str]:
    """Names without their numbers, where nothing else is called so; ``keep`` stay as they are.

    >>> from ptxkit.cuda import read
    >>> kernel = read('''(kernel k (params (param (ptr int) x))
    ...     (let int sum1 3) (let int ptr 4) (let int ptr2 5) (= ([] x sum1) (+ ptr ptr2)))''')
    >>> plain_stems(kernel, ())
    {'sum1': 'sum'}
    """
    own = {p.name for p in function.walk() if isinstance(p, n.Declare | n.Name | n.Parameter)}
    names: dict[str, str] = {}
    for node in function.walk():
        found = _NUMBERED.fullmatch(node.name) if isinstance(node, n.Declare) else None
        if found is not None and found[0] not in keep and found[1] not in {
            *own, *taken, *names.values()
        }:  # fmt: skip
            names[found[0]] = found[1]
    return names
