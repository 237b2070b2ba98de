"""The step of a loop that was unrolled, as a variable before it.

``i += blockDim.x * gridDim.x`` in the head of a loop keeps NVVM from unrolling the loop: it does
not know that a step stays the same which is computed in every turn. Who named the step before the
loop gets it unrolled; so a loop that was had such a name.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Type
from ptxkit.decompiler.lift.rewrite import rebuilt_lists

Body = tuple[n.Statement, ...]


def with_strides(
    body: Body, unrolled: Container[str], types: dict[str, Type], fresh: Callable[[str], str]
) -> Body:
    """The body with names for the steps of what loops count with that were unrolled.

    >>> i, w = n.Name("i"), n.Binary("*", n.Name("a"), n.Name("b"))
    >>> loop = n.For(None, n.Binary("<", i, w), n.Assign(i, w, "+="), ())
    >>> made = with_strides((loop,), {"i"}, {}, lambda wish: wish)
    >>> made == (n.Assign(n.Name("stride"), w),
    ...          n.For(None, loop.condition, n.Assign(i, n.Name("stride"), "+="), ()))
    True
    """
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(
            statement, lambda inner: with_strides(inner, unrolled, types, fresh)
        )
        match statement:
            case n.For(step=n.Assign(n.Name(name=index) as target, n.Binary() as by, "+=")) if (
                index in unrolled
            ):
                stride = n.Name(fresh("stride"))
                types[stride.name] = INT
                made.append(n.Assign(stride, by))
                statement = replace(statement, step=n.Assign(target, stride, "+="))
        made.append(statement)
    return tuple(made)
