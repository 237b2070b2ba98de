"""What is compared in one part of a question, computed before all of the question.

Behind ``&&`` and ``||`` a compiler computes only what it needs; people often compute limits and
distances first, and ask for them together. Nothing here is trusted: who takes a change compiles it
and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import Scalar, Type
from ptxkit.decompiler.lift.rewrite import Body, rebuilt_lists, size
from ptxkit.decompiler.refine.places import NewNames, nodes_in

_JOINED = frozenset(("&&", "||"))
_COMPARED = frozenset("== != < > <= >=".split())
#: Calls that are made of what is compared last, where it is asked for: a distance is named itself.
_LAST = frozenset("fabsf fabs abs __fabsf".split())
#: What has fewer nodes is compared where it is.
_SHORT = 4


def computed_first(function: n.Function) -> Iterator[n.Function]:
    """The function with names for all that is computed for such questions.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param float a) (param int i))
    ...     (if (|| (> (call fabsf (- a (* a a))) 1.0f) (> (? (> i 3) i 0) 9))
    ...         (then (= ([] x 0) a))))''')
    >>> print(print_function(next(computed_first(kernel))), end="")
    __global__ void k(float *x, float a, int i) {
        float part = a - a * a;
        int part1 = i > 3 ? i : 0;
        if (fabsf(part) > 1.0f || part1 > 9) x[0] = a;
    }
    """
    types: dict[str, Type] = {p.name: p.type for p in function.parameters}
    types |= {node.name: node.type for _, node in nodes_in(function) if isinstance(node, n.Declare)}
    names = NewNames(function)

    def listed(body: Body) -> Body:
        made: list[n.Statement] = []
        for whole in body:
            statement = rebuilt_lists(whole, listed)
            declared: list[n.Statement] = []
            match statement:
                case n.If(condition=condition):
                    asked = _named(condition, types, names, declared)
                    statement = replace(statement, condition=asked)
                case n.Declare(value=value) if value is not None:
                    statement = replace(statement, value=_named(value, types, names, declared))
            made += (*declared, statement)
        return tuple(made)

    made = listed(function.body or ())
    if made != function.body:
        yield replace(function, body=made)


def _named(
    node: n.Expression,
    types: Mapping[str, Type],
    names: NewNames,
    declared: list[n.Statement],
) -> n.Expression:
    """A question of parts with names for what they compare; those are declared."""

    def change(part: n.Expression) -> n.Expression:
        match part:
            case n.Binary(operator=operator, left=left, right=right) if operator in _JOINED:
                return n.Binary(operator, change(left), change(right))
            case n.Unary("!", operand):
                return n.Unary("!", change(operand))
            case n.Binary(operator=operator, left=left, right=right) if operator in _COMPARED:
                return n.Binary(operator, of(left), of(right))
        return part

    def of(value: n.Expression) -> n.Expression:
        match value:
            case n.Call(function=function, arguments=(inner,)) if function in _LAST:
                return n.Call(function, (of(inner),))
        type = _type(value, types) if size(value) >= _SHORT else None
        if type is None:
            return value
        name = names.take("part")
        declared.append(n.Declare(type, name, value))
        return n.Name(name)

    match node:
        case n.Binary(operator=operator) if operator in _JOINED:
            return change(node)
        case n.Conditional(condition, then, otherwise):
            return n.Conditional(_named(condition, types, names, declared), then, otherwise)
    return node


def _type(value: n.Expression, types: Mapping[str, Type]) -> Scalar | None:
    try:
        found = infer(value, types)
    except (KeyError, AttributeError, AssertionError, TypeError):
        return None
    return found if isinstance(found, Scalar) else None
