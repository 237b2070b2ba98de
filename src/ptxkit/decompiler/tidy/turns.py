"""Turns of a loop that stand behind it, and what the turn before leaves for the next.

A compiler that writes all turns of a loop out knows more about the last one; once the others are a
loop again, it is left over: ``for (s = 16; s > 1; s /= 2) v += f(v, s); w = v + f(v, 1);``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, terms_of, written

Body = tuple[n.Statement, ...]
#: A loop of more turns was never written out.
_MOST = 64
_STEPS: dict[str, Callable[[int, int], int]] = {
    "+=": lambda a, b: a + b, "-=": lambda a, b: a - b, "*=": lambda a, b: a * b,
    "/=": lambda a, b: a // b if b else a, "<<=": lambda a, b: a << b, ">>=": lambda a, b: a >> b,
}  # fmt: skip
_HOLDS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "!=": lambda a, b: a != b,
}  # fmt: skip
_COMMUTE = frozenset("+*&|^")
_LOOPS = (n.For, n.While, n.DoWhile)


def last_turns(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with last turns inside of the loops that they stand behind.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x))
    ...     (let float v ([] x 0))
    ...     (for (let int s 16) (>= s 2) (>>= s 1) (+= v ([] x s)))
    ...     (let float w (+ v ([] x 1)))
    ...     (= ([] x 0) w))''')
    >>> print(print_function(last_turns(kernel, lambda: True)), end="")
    __global__ void k(float *x) {
        float v = x[0];
        for (int s = 16; s > 0; s >>= 1) v += x[s];
        x[0] = v;
    }
    """

    def joined(body: Body) -> Body:
        made: list[n.Statement] = []
        rest = [rebuilt_lists(statement, joined) for statement in body]
        while rest:
            statement = rest.pop(0)
            if isinstance(statement, n.For):
                ways = [(found, first) for loop, first in _ways(statement, made)
                        if (found := _longer(loop, rest)) is not None]  # fmt: skip
                if ways and take():
                    (statement, rest), first = ways[0]
                    if first is not None:
                        made.remove(first)
            made.append(statement)
        return tuple(made)

    return replace(function, body=joined(function.body or ()))


@dataclass(frozen=True, slots=True)
class _Range:
    """The counter of a loop and the values that it has."""

    counter: n.Name
    values: tuple[int, ...]
    next: int
    """The value after the last turn."""


def _range(loop: n.For) -> _Range | None:
    match loop.start, loop.condition, loop.step:
        case (
            n.Declare(name=name, value=n.Literal(value=int() as value))
            | n.Assign(n.Name(name=name), n.Literal(value=int() as value), "="),
            n.Binary(comparison, n.Name(name=asked), n.Literal(value=int() as bound)),
            n.Assign(n.Name(name=moved), n.Literal(value=int() as by), operator),
        ) if name == asked == moved and operator in _STEPS and comparison in _HOLDS:
            values: list[int] = []
            while _HOLDS[comparison](value, bound):
                values.append(value)
                value = _STEPS[operator](value, by)
                if len(values) > _MOST or value == values[-1]:
                    return None
            return _Range(n.Name(name), tuple(values), value)
    return None


def _ways(loop: n.For, before: list[n.Statement]) -> list[tuple[n.For, n.Statement | None]]:
    """A loop as it is, and with what each turn leaves for the next computed by that.

    With the statement before it that did so for the first turn.
    """
    found: list[tuple[n.For, n.Statement | None]] = [(loop, None)]
    known = _range(loop)
    match loop.body, before[-1:]:
        case (
            (*rest, n.Assign(n.Name(name=name), value, "=")),
            [n.Declare(name=declared, space="", value=n.Node() as start) as first],
        ) if declared == name and known is not None:
            changed = {x for s in rest for x in written(s)} | {name}
            now = _a_turn_before(value, known, loop)
            if now is None or changed & value.names():
                return found
            if _alike(_at(now, known.counter, known.values[0])) != _alike(start):
                return found
            found.append((replace(loop, body=(replace(first, value=now), *rest)), first))
    return found


def _a_turn_before(value: n.Expression, known: _Range, loop: n.For) -> n.Expression | None:
    """What was computed with the counter a turn before."""
    match loop.step:
        case n.Assign(value=n.Literal(value=int() as by), operator="+="):
            pass
        case _:
            return None
    if known.counter.name not in value.names():
        return None
    before = n.Binary("-", known.counter, n.integer(by))
    made: n.Expression = _folded(
        bottom_up(value, lambda part: before if part == known.counter else part)
    )
    return made


def _longer(loop: n.For, after: Sequence[n.Statement]) -> tuple[n.For, list[n.Statement]] | None:
    """A loop with one turn more, and what then follows, if its next turn follows now."""
    known = _range(loop)
    if known is None or not known.values or any(
        isinstance(p, n.Break | n.Continue | n.Goto | n.Label | n.Return) for p in loop.walk()
    ):  # fmt: skip
        return None
    own = [s for s in loop.body[:1] if isinstance(s, n.Declare)]
    body = loop.body
    moved = own and any(own[0].name in s.names() for s in after)
    if moved:  # its value is what the turn before left
        body = body[1:]
    if len(after) < len(body) or not body:
        return None
    turn = [_alike(_at(s, known.counter, known.next)) for s in body]
    after = _with_own_names(body, after)
    if own and moved and any(own[0].name in s.names() for s in after[len(body) :]):
        return None
    if turn[:-1] != [_alike(s) for s in after[: len(body) - 1]]:
        return None
    last: list[n.Statement] | None = after[len(body) - 1 :]
    while last:
        rest = last[1:]
        if turn[-1] != _alike(last[0]):
            renamed = _renamed(turn[-1], _alike(last[0]), rest)
            if renamed is None:
                last = _without_name(last)
                continue
            rest = renamed
        return replace(loop, condition=_condition(loop, known)), rest
    return None


def _without_name(body: list[n.Statement]) -> list[n.Statement] | None:
    """Statements without the first one, a part of the next one that has a name."""
    match body:
        case [n.Declare(name=name, space="", value=n.Node() as value), second, *rest]:
            times = sum(p == n.Name(name) for s in body[1:] for p in s.walk())
            if times == 1 and name in second.names() and not isinstance(second, _LOOPS):
                return [bottom_up(second, lambda p: value if p == n.Name(name) else p), *rest]
    return None


def _condition(loop: n.For, known: _Range) -> n.Expression:
    """What a loop asks that has one turn more."""
    assert isinstance(loop.condition, n.Binary) and isinstance(loop.condition.right, n.Literal)
    operator, bound, last = loop.condition.operator, loop.condition.right, known.next
    doubles = isinstance(loop.step, n.Assign) and loop.step.operator in ("*=", "<<=")
    assert isinstance(loop.step, n.Assign) and isinstance(loop.step.value, n.Literal)
    after = _STEPS[loop.step.operator](last, int(loop.step.value.value))
    if operator in ("<", "!="):
        end = after if operator == "!=" or doubles else last + 1
        return n.Binary(operator, known.counter, replace(bound, value=end))
    if operator == "<=":
        return n.Binary(operator, known.counter, replace(bound, value=last))
    if after == 0:
        return n.Binary(">", known.counter, replace(bound, value=0))
    return n.Binary(">=", known.counter, replace(bound, value=last))


def _renamed(
    turn: n.Statement, given: n.Statement, rest: list[n.Statement]
) -> list[n.Statement] | None:
    """What follows a turn that gives its result another name."""
    match turn:
        case n.Assign(n.Name() as own, value, "="):
            values = [value]
        case n.Assign(n.Name() as own, value, operator):
            values = [n.Binary(operator[:-1], own, value)]
            if operator[:-1] in _COMMUTE:
                values.append(n.Binary(operator[:-1], value, own))
        case _:
            return None
    match given:
        case n.Declare(type=type, name=name, space="", value=given_value) if given_value in values:
            if any(own.name in s.names() for s in rest):
                return [n.Declare(type, name, own), *rest]
            return [bottom_up(s, lambda node: own if node == n.Name(name) else node) for s in rest]
        case n.Assign(n.Name() as target, value, "=") if value in values:
            return [n.Assign(target, own), *rest]
    # Its result may be a part of what follows, and have no name.
    put = bottom_up(given, lambda node: own if node in values else node)
    asked = sum(part == own for part in put.walk())
    if put == given or asked != 1 or any(own.name in s.names() for s in rest):
        return None
    return [put, *rest]


def _with_own_names(turn: Body, after: Sequence[n.Statement]) -> list[n.Statement]:
    """What follows, with what a turn declares by the names that it has in the loop."""
    made = list(after)
    for place, statement in enumerate(turn[: len(made)]):
        match statement, made[place]:
            case n.Declare(type=type, name=name), n.Declare(type=other, name=own) if (
                type == other and name != own and not any(name in s.names() for s in made)
            ):
                use = partial(_named, old=own, new=name)
                made[place:] = [bottom_up(s, use) for s in made[place:]]
    return made


def _named(node: Any, old: str, new: str) -> Any:
    match node:
        case n.Name(name=name) if name == old:
            return n.Name(new)
        case n.Declare(name=name) if name == old:
            return replace(node, name=new)
    return node


# ---- sums ------------------------------------------------------------------------------------


def _at(node: Any, counter: n.Name, value: int) -> Any:
    return bottom_up(node, lambda part: n.integer(value) if part == counter else part)


def _split(node: n.Expression) -> tuple[list[n.Expression], int]:
    """The terms of a sum, and the number that is added to them."""
    terms: list[n.Expression] = []
    number = 0
    for term in terms_of(node):
        match term:
            case n.Literal(value=int() as value):
                number += value
            case n.Binary("-", left, n.Literal(value=int() as value)):
                inner, more = _split(left)
                terms += inner
                number += more - value
            case _:
                terms.append(term)
    return terms, number


def _sum(terms: Sequence[n.Expression], number: int) -> n.Expression:
    if not terms:
        return n.integer(number)
    made = terms[0]
    for term in terms[1:]:
        made = n.Binary("+", made, term)
    if not number:
        return made
    return n.Binary("+" if number > 0 else "-", made, n.integer(abs(number)))


def _alike(node: Any) -> Any:
    """A tree as it is compared with others: without conversions of whole numbers."""

    def bare(part: Any) -> Any:
        match part:
            case n.Cast(Scalar(kind="int", bits=32 | 64), operand):
                return operand
        return part

    return _folded(bottom_up(node, bare))


def _folded(node: Any) -> Any:
    """A tree with numbers added up and multiplied."""

    def fold(part: Any) -> Any:
        match part:
            case n.Binary("*", n.Literal(value=int() as a), n.Literal(value=int() as b)):
                return n.integer(a * b)
            case n.Binary("*", n.Binary("-" | "+" as sign, left, n.Literal(value=int() as a)),
                          n.Literal(value=int() as b) as times):  # fmt: skip
                return n.Binary(sign, n.Binary("*", left, times), n.integer(a * b))
            case n.Binary("+" | "-"):
                terms, number = _split(part)
                return _sum(terms, number)
            case n.Literal(value=int() as value) if not isinstance(value, bool):
                return n.integer(value)  # of whatever type: the compiler sees what it is
        return part

    return bottom_up(node, fold)
