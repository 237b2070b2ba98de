"""Unrolled loops of an odd number of turns, with the rest behind them: it is never nothing.

Of ``2 * r + 1`` turns, four at a time, one or three are left, and a compiler that knows does not
ask whether there is one: it counts what is left but one down to -1. Here that is asked again, and
the number of turns is a sum again, so that these loops look like others. As in `roll` nothing is
proved: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.many_turns import loop_of
from ptxkit.decompiler.lift.rewrite import (
    Body,
    bottom_up,
    rebuilt_lists,
    spelled_out,
    statements_of,
    written,
)

_ZERO, _ONE = n.Literal(0, INT), n.Literal(1, INT)
#: What is left of a number of turns, where some are done at once.
_MASKS = (1, 3, 7, 15)


def with_odd_counts(body: Body) -> Body:
    """The body with such loops as those of other numbers of turns.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int r))
    ...     (= turns (| (<< r 1) 1)) (= left (& turns 3))
    ...     (= down (- left 1))
    ...     (do (!= down -1) (+= x 1) (-= down 1)))''')
    >>> print(print_function(n.Function("k", (), with_odd_counts(kernel.body), kernel.returns)))
    __global__ void k() {
        turns = (r << 1) + 1;
        left = turns & 3;
        if (left != 0) {
            do {
                x++;
                left--;
            } while (left != 0);
        }
    }
    <BLANKLINE>
    """
    sets = Counter(name for statement in body for name in written(statement))
    values = _set_once(body, sets)
    odd = {name for name, value in values.items() if is_odd_rest(value, values)}
    if not odd:
        return body
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))

    def asked(statements: Body) -> Body:
        made = [rebuilt_lists(s, asked) for s in statements]
        for place, statement in enumerate(made):
            found = _counted_down(statement)
            start = next((k for k in range(place) if _target(made[k]) == found), None)
            if not found or start is None or sets[found] != 2 or uses[found] != 3:
                continue
            match made[start]:
                case n.Assign(
                    value=n.Binary("-" | "+", n.Name(name=left), n.Literal(value=1 | -1))
                ):
                    pass
                case _:
                    continue
            if left not in odd or not isinstance(statement, n.DoWhile):
                continue
            more = n.Binary("!=", n.Name(left), _ZERO)
            down = n.Assign(n.Name(left), _ONE, "-=")
            turn = tuple(down if _target(s) == found else s for s in statement.body)
            setup = tuple(s for s in made[start + 1 : place] if isinstance(s, n.Assign))
            if len(setup) != place - start - 1:
                setup = ()
            loop = n.If(more, (*setup, n.DoWhile(turn, more, statement.unroll)))
            between = () if setup else made[start + 1 : place]
            return (*made[:start], *between, loop, *made[place + 1 :])
        return _written_out(made, odd)

    made = asked(body)
    if made == body:
        return body
    made = _with_sums(made, values, frozenset())
    copies = {
        s.target.name: s.value for s in statements_of(made) if isinstance(s, n.Assign)
        and isinstance(s.target, n.Name) and isinstance(s.value, n.Name)
        and sets[s.target.name] == sets[s.value.name] == 1 and values.get(s.target.name) != s.value
    }  # fmt: skip
    return _without_copies(made, copies)


def _set_once(body: Body, sets: Counter[str]) -> dict[str, n.Expression]:
    return {
        s.target.name: s.value for s in statements_of(body)
        if isinstance(s, n.Assign) and isinstance(s.target, n.Name) and sets[s.target.name] == 1
    }  # fmt: skip


def with_odd_rests(body: Body) -> Body:
    """A body whose rests that come first are asked for, though they are never nothing.

    >>> from ptxkit.cuda import print_statements, read
    >>> rest = read("(= r (- (& (| (<< x 1) 1) 3) 1))"), read("(do (!= r -1) (+= s 2) (-= r 1))")
    >>> many = read("(do (< i x) (+= s 8) (+= i 4))")
    >>> print(print_statements(with_odd_rests((*rest, many))), end="")
    r = ((x << 1) | 1) & 3;
    if (r != 0) {
        do {
            s += 2;
            r--;
        } while (r != 0);
    }
    do {
        s += 8;
        i += 4;
    } while (i < x);
    """
    return _Asked(_set_once(body, Counter(name for s in body for name in written(s)))).run(body)


class _Asked:
    """Asks for odd rests, of which a compiler knows that they are there."""

    def __init__(self, values: Mapping[str, n.Expression]) -> None:
        self.values = values

    def run(self, body: Body) -> Body:
        """A list of statements, and those inside of them."""
        made = [rebuilt_lists(statement, self.run) for statement in body]
        for place, statement in enumerate(made):
            match statement:
                case n.DoWhile(condition=n.Binary("!=", n.Name(name=name), n.Literal(value=end))):
                    start = next((k for k in range(place) if _target(made[k]) == name), None)
                case _:
                    continue
            first = any(loop_of(later) is not None for later in made[place + 1 :])
            rest = self._rest(made[start], int(end)) if first and start is not None else None
            if rest is not None and start is not None:
                loop = _down(statement, name)
                made[start] = n.Assign(n.Name(name), rest)
                made[place] = n.If(loop.condition, (loop,))
        return tuple(made)

    def _rest(self, start: n.Statement, end: int) -> n.Expression | None:
        """The odd number of turns that a variable counts, from where it starts to an end."""
        match start, end:
            case n.Assign(value=n.Binary("-", rest, n.Literal(value=1)), operator="="), -1:
                pass
            case (
                n.Assign(value=n.Unary("~", n.Binary("-", rest, n.Literal(value=1))), operator="="),
                0,
            ):
                pass
            case n.Assign(value=rest, operator="="), 0:
                pass
            case _:
                return None
        return rest if is_odd_rest(spelled_out(rest, self.values), self.values) else None


def _down(loop: n.DoWhile, name: str) -> n.DoWhile:
    """A loop that counts down to 0."""
    up, down = (n.Assign(n.Name(name), _ONE, operator) for operator in ("+=", "-="))
    turn = tuple(down if s == up else s for s in loop.body)
    return replace(loop, body=turn, condition=n.Binary("!=", n.Name(name), _ZERO))


def _written_out(body: list[n.Statement], odd: set[str]) -> Body:
    """Statements with a rest that is written out behind the question whether there is one."""
    for place, statement in enumerate(body):
        match statement:
            case n.If(n.Binary("!=", n.Name(name=left), n.Literal(value=1)), _, ()) if left in odd:
                many = [k for k in range(place) if loop_of(body[k]) is not None]
                if many and many[-1] + 1 < place:
                    first = many[-1] + 1
                    asked = n.If(
                        n.Binary("!=", n.Name(left), _ZERO), tuple(body[first : place + 1])
                    )
                    return (*body[:first], asked, *body[place + 1 :])
    return tuple(body)


def _without_copies(body: Body, copies: Mapping[str, n.Name]) -> Body:
    """The body with what was the greater of a number and 0 as the number."""

    def changed(statements: Body) -> Body:
        kept = (s for s in statements if _target(s) not in copies)
        return tuple(rebuilt_lists(s, changed) for s in kept)

    def number(node: n.Node) -> n.Node:
        return copies.get(node.name, node) if isinstance(node, n.Name) else node

    return tuple(bottom_up(s, number) for s in changed(body)) if copies else body


def _target(node: n.Statement) -> str:
    match node:
        case n.Assign(target=n.Name(name=name)):
            return name
    return ""


def _counted_down(node: n.Statement) -> str:
    """What a loop counts down to -1 with; empty where it does not."""
    match node:
        case n.DoWhile(body=body, condition=n.Binary("!=", n.Name(name=name), last)):
            minus = last in (n.Literal(-1, INT), n.Unary("-", _ONE))
            steps = [s for s in body if _target(s) == name]
            if minus and steps == [n.Assign(n.Name(name), _ONE, "-=")]:
                return name
    return ""


def is_odd_rest(
    value: n.Expression, values: Mapping[str, n.Expression], masks: Sequence[int] = _MASKS
) -> bool:
    """Whether it is what is left of an odd number, where so many are done at once.

    >>> from ptxkit.cuda import read
    >>> is_odd_rest(read("(& turns 3)"), {"turns": read("(| (<< r 1) 1)")})
    True
    """
    match value:
        case n.Binary("&", turns, n.Literal(value=mask)) if mask in masks:
            match spelled_out(turns, values):
                case n.Binary("|" | "+", even, n.Literal(value=1)):
                    return _is_even(even, values)
    return False


def _is_even(value: n.Expression, values: Mapping[str, n.Expression]) -> bool:
    """Whether it is two times a number."""
    match spelled_out(value, values):
        case n.Binary("<<", _, n.Literal(value=int() as by)):
            return by > 0
        case n.Call(function="max", arguments=arguments):
            return all(_is_even(one, values) for one in arguments)
        case n.Literal(value=0):
            return True
    return False


def _with_sums(
    body: Body, values: Mapping[str, n.Expression], asked: frozenset[n.Expression]
) -> Body:
    """The body with odd numbers as one more than even ones, which are not negative where asked."""

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Binary("|", even, n.Literal(value=1)) if _is_even(even, values):
                return n.Binary("+", even, _ONE)
            case n.Call(function="max", arguments=(even, n.Literal(value=0))):
                match spelled_out(even, values):
                    case n.Binary("<<", half, _) if n.Binary(">=", half, _ZERO) in asked:
                        return even
        return node

    made: list[n.Statement] = []
    for statement in body:
        if isinstance(statement, n.If):
            then = _with_sums(statement.then, values, asked | {statement.condition})
            otherwise = _with_sums(statement.otherwise, values, asked)
            made.append(n.If(statement.condition, then, otherwise))
        elif isinstance(statement, n.Assign):
            made.append(bottom_up(statement, change))
        else:
            made.append(rebuilt_lists(statement, lambda inner: _with_sums(inner, values, asked)))
    return tuple(made)
