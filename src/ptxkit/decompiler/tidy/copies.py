"""Variables that go on with the value of another one, which nobody asks for any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Type
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists

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

    def single(body: Body) -> Body:
        made: list[n.Statement] = []
        known: dict[str, Type] = {}
        rest = [rebuilt_lists(s, single) for s in body]
        while rest:
            statement = rest.pop(0)
            match statement:
                case n.Declare(type=type, name=copy, space="", value=n.Name(name=source)) if (
                    known.get(source) == type
                    and declared[copy] == declared[source] == 1
                    and not any(source in s.names() for s in rest)
                    and take()
                ):
                    rest = [bottom_up(s, _renamed(copy, source)) for s in rest]
                    continue
                case n.Declare(type=type, name=name, space=""):
                    known[name] = type
            made.append(statement)
        return tuple(made)

    return replace(function, body=single(function.body or ()))


def _renamed(old: str, new: str) -> Callable[[Any], Any]:
    return lambda node: n.Name(new) if node == n.Name(old) else node
