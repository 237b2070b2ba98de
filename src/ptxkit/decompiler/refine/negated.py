"""A product that is negated where something holds: ``v = x * 2; if (c) v = -v;``.

A compiler makes two products of it, ``c ? x * -2 : x * 2``, the second before it asks. Nothing here
is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar
from ptxkit.decompiler.lift.rewrite import rebuilt_lists
from ptxkit.decompiler.refine.moves import Body


def negated_where(function: n.Function) -> Iterator[n.Function]:
    """The function with a variable for each product of which the negative is taken, too.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param float a))
    ...     (let float f (? (> a 1.0f) (* a -3.0f) (* a 3.0f))) (= ([] x 0) f))''')
    >>> print(print_function(next(negated_where(kernel))), end="")
    __global__ void k(float *x, float a) {
        float f1 = a * 3.0f;
        float f = a > 1.0f ? -f1 : f1;
        x[0] = f;
    }
    """
    body = function.body or ()
    taken = {p.name for p in function.parameters}
    taken |= {p.name for s in body for p in s.walk() if isinstance(p, n.Declare)}

    def changed(statements: Body) -> Body:
        made: list[n.Statement] = []
        for statement in statements:
            statement = rebuilt_lists(statement, changed)
            match statement:
                case n.Declare(type=Scalar() as type, value=n.Conditional(condition, one, other)):
                    own = next(w for k in count(1) if (w := f"f{k}") not in taken)
                    name = n.Name(own)
                    less = n.Unary("-", name)
                    if _is_negative(one, other):
                        value, chosen = other, n.Conditional(condition, less, name)
                    elif _is_negative(other, one):
                        value, chosen = one, n.Conditional(condition, name, less)
                    else:
                        made.append(statement)
                        continue
                    taken.add(own)
                    made += n.Declare(type, own, value), replace(statement, value=chosen)
                case _:
                    made.append(statement)
        return tuple(made)

    made = changed(body)
    if made != body:
        yield replace(function, body=made)


def _is_negative(one: n.Expression, other: n.Expression) -> bool:
    """Whether it is the other product with a negated number."""
    match one, other:
        case n.Binary("*", left, right), n.Binary("*", first, second) if left == first:
            pass
        case _:
            return False
    return _number(right) is not None and _number(right) == -(_number(second) or 0.0)


def _number(node: n.Expression) -> float | None:
    match node:
        case n.Literal(value=float() as value):
            return value
        case n.Unary("-", n.Literal(value=float() as value)):
            return -value
    return None
