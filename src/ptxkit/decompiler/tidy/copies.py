"""Variables that have the value of another one: one of the two is enough.

The other one may not be asked for any more, or neither of them changes from then on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Type
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]


def without_copies(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with one variable for both.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x))
    ...     (let float sum ([] x 0)) (let float f sum) (+= f ([] x 1)) (= ([] x 2) f))''')
    >>> print(print_function(without_copies(kernel, lambda: True)), end="")
    __global__ void k(float *x) {
        float sum = x[0];
        sum += x[1];
        x[2] = sum;
    }
    """
    declared = Counter(p.name for p in function.walk() if isinstance(p, n.Declare))
    declared.update(p.name for p in function.parameters)

    def single(body: Body, outer: Mapping[str, Type]) -> Body:
        made: list[n.Statement] = []
        own: dict[str, Type] = {}
        rest = list(body)
        while rest:
            statement = rest.pop(0)
            seen = {**outer, **own}
            match statement:
                case n.Declare(type=type, name=copy, space="", value=n.Name(name=source)) if (
                    seen.get(source) == type
                    and declared[copy] == declared[source] == 1
                    and (_goes_on(rest, copy, source) or (source in own and _ends(rest, source)))
                    and take()
                ):
                    rest = [bottom_up(s, _renamed(copy, source)) for s in rest]
                    continue
                case n.Declare(type=type, name=name, space=""):
                    own[name] = type
            seen = {**outer, **own}
            made.append(rebuilt_lists(statement, partial(single, outer=seen)))
        return tuple(made)

    return replace(
        function, body=single(function.body or (), {p.name: p.type for p in function.parameters})
    )


def _ends(rest: list[n.Statement], source: str) -> bool:
    """Whether nobody asks for a variable any more."""
    return not any(source in s.names() for s in rest)


def _goes_on(rest: list[n.Statement], copy: str, source: str) -> bool:
    """Whether two variables are the same from now on."""
    return not any({copy, source} & set(written(s)) for s in rest)


def _renamed(old: str, new: str) -> Callable[[Any], Any]:
    return lambda node: n.Name(new) if node == n.Name(old) else node
