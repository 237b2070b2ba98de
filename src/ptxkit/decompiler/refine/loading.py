"""Elements that are read where they are used, as long as nothing is stored.

People write ``x[i]`` again and again; a compiler loads it once. In which order it multiplies and
adds may depend on where it found the loads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, written


def loads_in_place(function: n.Function) -> n.Function:
    """The function with elements read in place, and once more before the first store.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param (ptr float) y))
    ...     (let float v ([] x 0))
    ...     (let float w (* v v))
    ...     (= ([] y 0) (+ w v))
    ...     (= ([] y 1) v))''')
    >>> print(print_function(loads_in_place(kernel)), end="")
    __global__ void k(float *x, float *y) {
        float w = x[0] * x[0];
        float v = x[0];
        y[0] = w + v;
        y[1] = v;
    }
    """
    body = function.body or ()
    sets = Counter(name for s in body for name in written(s))
    return replace(function, body=_list(body, sets))


def _list(body: Body, sets: Counter[str]) -> Body:
    made: list[n.Statement] = []
    known: dict[str, n.Declare] = {}
    for place, whole in enumerate(body):
        statement = rebuilt_lists(whole, lambda inner: _list(inner, sets))
        match statement:
            case n.Declare(name=name, value=n.Index() as value, space="") if sets[name] <= 1:
                if not any(sets[other] > 1 for other in value.names()):
                    known[name] = replace(statement, value=_put(value, known))
                    continue
        if known and not isinstance(statement, n.Declare):
            # What is read here or later is read before this may store something.
            read = {name for s in body[place:] for name in s.names()}
            made += [declared for name, declared in known.items() if name in read]
            known = {}
        made.append(_put(statement, known))
    return tuple(made)


def _put(node: Any, known: Mapping[str, n.Declare]) -> Any:
    def change(part: Any) -> Any:
        if isinstance(part, n.Name) and part.name in known:
            return known[part.name].value
        return part

    return bottom_up(node, change) if known else node
