"""Loops that the compiler unrolled, rolled up again.

NVVM unrolls a loop of ``n`` turns into one that does some copies of the body at a time and
a second one for the rest, ``n & 3`` turns. The second is the loop as it was written: with
``n`` turns it does the work of both. That the first does the same as so many turns of the
second is not proved here: a rolled loop is a proposal, for the verifier to decide.
"""

from __future__ import annotations

from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Scalar
from ptxkit.decompiler.lift.cascade import Cascades
from ptxkit.decompiler.lift.many_turns import Rest, steps_by, target_of
from ptxkit.decompiler.lift.peeled import rests, roll_peeled
from ptxkit.decompiler.lift.rewrite import (
    accesses,
    bottom_up,
    rebuilt_lists,
    statements_of,
    written,
)
from ptxkit.decompiler.lift.strided_turns import roll_strided
from ptxkit.decompiler.lift.walks import roll_walks

Body = tuple[n.Statement, ...]
_LOOPS = (n.DoWhile, n.While, n.For)
#: What is left of a number of turns, where some are done at once.
_MASKS = (1, 3, 7, 15)
_ONE = n.Literal(1, INT)


def rolled(body: Body, cascades: Cascades, known: dict[str, Rest] | None = None) -> Body:
    """The body with its unrolled loops rolled up."""
    if known is None:
        body = _unfolded(body)
        known = rests(body)
        cascades.learn(body)
    made = [_inside(statement, cascades, known) for statement in body]
    _count_first(made)
    while True:
        while cascades.roll(made):
            pass
        index = roll_peeled(made, known, cascades.values)
        if not index:
            break
        cascades.peeled.add(index)
    while roll_walks(made, known):
        pass
    place = 0
    while place < len(made):
        if _roll_at(made, place, cascades.begun):
            place = 0
        else:
            place += 1
    while roll_strided(made, cascades.values, cascades.types):
        pass
    return tuple(made)


def _unfolded(body: Body) -> Body:
    """The body with loops that count down to 0 as compilers leave them: asked for, then done."""
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(statement, _unfolded)
        match statement:
            case n.For(
                n.Assign() as start, n.Binary("!=", n.Name(name=name), n.Literal(value=0)), step
            ) if step == n.Assign(n.Name(name), n.Literal(1, INT), "-="):
                again = statement.condition
                assert again is not None
                loop = n.DoWhile((*statement.body, step), again, statement.unroll)
                made += (start, n.If(again, (loop,)))
            case _:
                made.append(_counted_down(statement))
    return tuple(made)


def _counted_down(node: n.Statement) -> n.Statement:
    """A rest that is counted up from below 0, as one that is counted down to it."""
    match node:
        case n.If(
            n.Binary("!=", n.Name(name=rest) as left, zero),
            (*setup, n.DoWhile(body=body, condition=n.Binary("!=", n.Name() as up, other)) as loop),
            (),
        ) if zero == other:
            pass
        case _:
            return node
    start = n.Assign(up, n.Unary("-", left))
    step = n.Assign(up, n.Literal(1, INT), "+=")
    inside = [name for s in body if s != step for name in s.names()]
    if start not in setup or step not in body or {rest, up.name} & set(inside):
        return node
    down = n.Assign(left, n.Literal(1, INT), "-=")
    turned = n.DoWhile(tuple(down if s == step else s for s in body), node.condition, loop.unroll)
    return n.If(node.condition, (*(s for s in setup if s != start), turned))


def _inside(node: n.Statement, cascades: Cascades, known: dict[str, Rest]) -> n.Statement:
    match node:
        case n.If(condition=condition, then=then, otherwise=otherwise):
            return n.If(
                condition, rolled(then, cascades, known), rolled(otherwise, cascades, known)
            )
        case n.While(condition=condition, body=body):
            return n.While(condition, rolled(body, cascades, known))
        case n.DoWhile(body=body, condition=condition):
            return n.DoWhile(rolled(body, cascades, known), condition)
        case n.For(body=body):
            return n.For(
                node.start, node.condition, node.step, rolled(body, cascades, known), node.unroll
            )
    return node


def _count_first(body: list[n.Statement]) -> None:
    """Say how many turns are left before the loop that does many at once, not behind it."""
    for place in range(1, len(body)):
        at = place
        match body[at]:
            case n.Assign(n.Name(name=count), n.Binary("&", n.Name(name=turns), mask), "=") if (
                isinstance(mask, n.Literal) and mask.value in _MASKS
            ):
                while at and _is_many(body[at - 1]) and count not in _names(body[at - 1]):
                    if turns in set(written(body[at - 1])):
                        break
                    body[at - 1 : at + 1] = [body[at], body[at - 1]]
                    at -= 1


def _roll_at(body: list[n.Statement], place: int, begun: dict[str, int]) -> bool:
    """Roll up the loop whose rest is counted by the statement at a place."""
    match body[place]:
        case n.Assign(
            target=n.Name(name=count),
            value=n.Binary("&", turns, n.Literal(value=mask)),
            operator="=",
        ) if isinstance(mask, int) and mask in _MASKS:
            pass
        case _:
            return False
    rest = next((k for k in range(place + 1, len(body)) if _is_rest(body[k], count)), None)
    if rest is None:
        return False
    many = next((k for k in range(place + 1, rest) if _is_many(body[k])), None)
    if many is None or any(count in _names(body[k]) for k in range(place + 1, rest) if k != many):
        return False
    if not _copies(body[many], body[rest], int(mask) + 1):
        return False
    body[place] = n.Assign(n.Name(count), turns)
    moved = set(written(body[many]))
    starts = {_begins(s) for s in body if steps_by(body[many], target_of(s), _ONE, int(mask) + 1)}
    if len(starts := starts - {None}) == 1:
        begun[count] = next(start for start in starts if start is not None)
    del body[many]
    body[:] = _as_begun(body, moved)
    return True


def _begins(node: n.Statement) -> int | None:
    """The number that a statement sets a variable to."""
    match node:
        case n.Assign(n.Name(), n.Literal(value=int() as value, type=Scalar() as type), "="):
            return value if type.is_integer else None
    return None


def _as_begun(body: list[n.Statement], moved: set[str]) -> list[n.Statement]:
    """The statements with a number in the place of what only the loop that is gone moved on."""
    made = list(body)
    for place, statement in enumerate(body):
        match statement:
            case n.Assign(
                n.Name(name=name), n.Literal(value=int() as value, type=Scalar() as type), "="
            ) if name in moved and type.is_integer:
                if sum(name in set(written(s)) for s in body) == 1:
                    use = partial(_number_for, name, value)
                    made[place + 1 :] = [bottom_up(s, use) for s in made[place + 1 :]]
    return made


def _number_for(name: str, value: int, node: n.Node) -> n.Node:
    match node:
        case n.Binary("+", left, n.Name(name=own)) if own == name:
            return left if not value else n.Binary("+", left, n.integer(value))
        case n.Binary("+", n.Name(name=own), right) if own == name:
            return right if not value else _plus(right, value)
        case n.Binary("-", n.Name(name=own), n.Literal(value=int() as less)) if own == name:
            return n.integer(value - less)
        case n.Cast(operand=n.Name(name=own)) | n.Name(name=own) if own == name:
            return n.integer(value)
        case n.Binary("+", left, n.Literal(value=0)):
            return left
        case n.Binary("+", n.Literal(value=0), right):
            return right
    return node


def _plus(node: n.Expression, value: int) -> n.Expression:
    return n.Binary("+", node, n.integer(value))


def _is_rest(node: n.Statement, count: str) -> bool:
    """Whether a statement runs a loop as often as a variable says."""
    match node:
        case n.If(condition=condition, then=(*_, n.DoWhile(condition=again)), otherwise=()):
            return _counts(condition, count) and _counts(again, count)
        case n.For(start=None, condition=condition):
            return condition is not None and _counts(condition, count)
    return False


def _counts(condition: n.Expression, count: str) -> bool:
    match condition:
        case n.Binary(operator="!=", left=n.Name(name=name), right=n.Literal(value=0)):
            return name == count
    return False


def _is_many(node: n.Statement) -> bool:
    match node:
        case n.If(then=(*_, last), otherwise=()):
            return isinstance(last, _LOOPS)
    return isinstance(node, _LOOPS)


def _copies(many: n.Statement, one: n.Statement, times: int) -> bool:
    """Whether one loop does, by the count of its accesses, what another does some times.

    What a turn has read or stored is not read again by the next one, where a compiler sees both.
    """
    first, second = _accesses(many), times * _accesses(one)
    stores = _stores(many)
    known = stores > 0 and stores == times * _stores(one)
    return first == second or (known and second <= 2 * first < 2 * second)


def _accesses(node: n.Statement) -> int:
    loop = next((p for p in node.walk() if isinstance(p, _LOOPS)), None)
    if loop is None:
        return 0
    return sum(map(accesses, loop.body))


def _stores(node: n.Statement) -> int:
    """How many places in memory are set in a loop, as it is written."""
    loop = next((p for p in node.walk() if isinstance(p, _LOOPS)), None)
    inside = statements_of(loop.body) if loop is not None else ()
    return sum(isinstance(s, n.Assign) and not isinstance(s.target, n.Name) for s in inside)


def _names(node: n.Node) -> set[str]:
    return {p.name for p in node.walk() if isinstance(p, n.Name)}
