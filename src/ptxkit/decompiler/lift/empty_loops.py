"""Code that a compiler wrote twice, for a loop that has turns and for one that has none.

Whether ``for (j = -r; j <= r; j++)`` has a turn is the same in every turn of a loop around it: the
compiler asks once, and writes all that follows for either answer. The one with the loop says it
all. As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import rebuilt_lists, statements_of

Body = tuple[n.Statement, ...]
#: What asks whether there is no turn, by what asks whether there is another one.
_NONE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def without_empty_loops(body: Body) -> Body:
    """The body with such code once.

    >>> from ptxkit.cuda import print_statements, read
    >>> asked = read('''(if (> a b) (then (= ([] x 0) 0.0f))
    ...     (else (= s 0.0f) (for (= j a) (<= j b) (+= j 1) (+= s ([] y j))) (= ([] x 0) s)))''')
    >>> print(print_statements(without_empty_loops((asked,))), end="")
    s = 0.0f;
    for (j = a; j <= b; j++) s += y[j];
    x[0] = s;
    """
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(statement, without_empty_loops)
        match statement:
            case n.If(condition, then, otherwise) if otherwise and (
                _is_without(condition, then, otherwise)
            ):
                made += otherwise
            case n.If(condition, then, otherwise) if otherwise and (
                _is_with(condition, then, otherwise)
            ):
                made += then
            case _:
                made.append(statement)
    return tuple(made)


def _is_without(condition: n.Expression, none: Body, some: Body) -> bool:
    """Whether there is no turn of a loop where something is asked, and else all is the same."""
    for loop in statements_of(some):
        match loop:
            case n.For(n.Assign(index, start, "="), n.Binary(operator, asked, limit)) if (
                index == asked and operator in _NONE
            ):
                if condition == n.Binary(_NONE[operator], start, limit):
                    inside = _effects(loop.body)
                    return _effects(none) > 0 and _effects(none) + inside == _effects(some)
    return False


def _is_with(condition: n.Expression, some: Body, none: Body) -> bool:
    match condition:
        case n.Binary(operator, left, right) if operator in _NONE:
            return _is_without(n.Binary(_NONE[operator], left, right), none, some)
    return False


def _effects(body: Body) -> int:
    """How many statements do something to memory, as it is written."""
    return sum(
        isinstance(s, n.Evaluate) or (isinstance(s, n.Assign) and not isinstance(s.target, n.Name))
        for s in statements_of(body)
    )
