"""Unrolled loops whose rest is not a loop after it: rolled up again.

With ``r = n & 3`` turns left over, NVVM either writes these out behind the loop of many turns,
``if (r != 0) { a turn; if (r != 1) { a turn; ... } }``, or does them first, written out, or in a
loop of their own from which the index goes on. Each time one turn is there as it was written. As
in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Scalar
from ptxkit.decompiler.lift.one_counter import product, ratio, remainder, split
from ptxkit.decompiler.lift.rewrite import (
    accesses,
    bottom_up,
    loads_from,
    spelled_out,
    statements_of,
    written,
)

Body = tuple[n.Statement, ...]
_LOOPS = (n.DoWhile, n.While, n.For)
_ONE, _ZERO = n.Literal(1, INT), n.Literal(0, INT)


@dataclass(frozen=True, slots=True)
class Rest:
    """A variable that holds how many turns are left over: ``turns & mask``."""

    turns: n.Expression
    mask: int


def rests(body: Body) -> dict[str, Rest]:
    """The variables that are set once, to a number of turns that are left over."""
    sets: Counter[str] = Counter()
    found: dict[str, Rest] = {}
    for statement in statements_of(body):
        match statement:
            case n.Assign(n.Name(name=name), n.Binary("&", turns, n.Literal(value=mask)), "=") if (
                mask in (1, 3, 7)
            ):
                found[name] = Rest(turns, int(mask))
    if found:
        sets.update(name for statement in body for name in written(statement))
    # A rest that is counted down is set twice.
    return {name: rest for name, rest in found.items() if sets[name] <= 2}


def roll_peeled(
    body: list[n.Statement], known: dict[str, Rest], values: Mapping[str, n.Expression]
) -> str:
    """Roll up one loop of a list of statements: what it counts with; empty if there was none.

    ``values`` is what variables are set to that are set once.
    """
    for place, statement in enumerate(body):
        match statement:
            case n.If(n.Binary("!=", n.Name(name=name), n.Literal(value=0)), then, ()):
                if name not in known:
                    continue
                if then and isinstance(then[-1], n.DoWhile):
                    made = _rest_first(body, place, name, known[name], values)
                else:
                    made = _rest_written_out(body, place, name, known[name], values)
                    made = made or _first_written_out(body, place, name, known[name], values)
                if made:
                    return made
    return ""


# ---- the rest behind, written out -----------------------------------------------------------


def _rest_written_out(
    body: list[n.Statement],
    place: int,
    name: str,
    rest: Rest,
    values: Mapping[str, n.Expression],
) -> str:
    last = body[place]
    assert isinstance(last, n.If)
    turn = last.then
    if rest.mask > 1:
        match turn[-1]:
            case n.If(n.Binary("!=", n.Name(name=again), n.Literal(value=1)), _, ()):
                if again != name:
                    return ""
            case _:
                return ""
        turn = turn[:-1]
    many = next((k for k in range(place - 1, -1, -1) if _loop_of(body[k]) is not None), None)
    if many is None or not turn or any(isinstance(p, _LOOPS) for s in turn for p in s.walk()):
        return ""
    moved, mine = set(written(body[many])), {x for s in turn for x in written(s)}
    read = {p.name for s in turn for p in s.walk() if isinstance(p, n.Name)}
    starts = {_target(body[k]): k for k in range(many) if _is_number(body[k])}
    found = [x for x in read & moved - mine if x in starts]
    if len(found) != 1:
        return ""
    index = found[0]
    start = body[starts[index]]
    place_of_start = starts[index]
    counter = _handed_on(body[many], index)
    if counter is not None:
        # What the turns count with is narrower than what the rest goes on from.
        renamed = partial(_instead, old=n.Name(index), new=n.Name(counter))
        turn = tuple(bottom_up(s, renamed) for s in turn)
        index, start = counter, n.Assign(n.Name(counter), _ZERO)
    by = next((by for p in body[many].walk() if (by := _moves(p, index))), 0) // (rest.mask + 1)
    limit = rest.turns if by <= 1 else _end(rest.turns, by, values)
    if limit is None:
        return ""
    step = n.Assign(n.Name(index), n.integer(max(by, 1)), "+=")
    condition = n.Binary("<", n.Name(index), limit)
    body[place] = n.For(start, condition, step, turn)
    for gone in sorted((many, place_of_start), reverse=True):
        del body[gone]
    return index


def _handed_on(many: n.Statement, index: str) -> str | None:
    """The variable that a loop counts from 0 with, and that another is set to behind it."""
    if not isinstance(many, n.If):
        return None
    loop = _loop_of(many)
    for statement in many.then:
        match statement:
            case n.Assign(n.Name(name=name), n.Name(name=counter), "=") if name == index:
                begins = n.Assign(n.Name(counter), _ZERO) in many.then
                steps = loop is not None and any(_moves(p, counter) for p in loop.walk())
                return counter if begins and steps else None
    return None


def _moves(node: n.Node, index: str) -> int:
    """By which number a statement moves an index on."""
    match node:
        case n.Assign(n.Name(name=name), n.Literal(value=int() as by), "+=") if name == index:
            return by
    return 0


def _end(turns: n.Expression, by: int, values: Mapping[str, n.Expression]) -> n.Expression | None:
    """Where an index ends that starts at 0, from the number of turns: ``(end - 1) / by + 1``."""

    known = partial(spelled_out, values=values)
    match known(turns):
        case n.Binary("+", quotient, n.Literal(value=1)):
            match known(quotient):
                case n.Binary(">>", before, n.Literal(value=int() as bits)) if 1 << bits == by:
                    pass
                case n.Binary("/", before, n.Literal(value=int() as size)) if size == by:
                    pass
                case _:
                    return None
            match known(before):
                case n.Binary("-", end, n.Literal(value=1)) | n.Binary(
                    "+", end, n.Literal(value=-1)
                ):
                    return end
    return None


def _loop_of(node: n.Statement) -> n.Statement | None:
    match node:
        case n.If(then=then, otherwise=()):
            last = next((s for s in reversed(then) if not _is_copy(s)), None)
            return last if isinstance(last, _LOOPS) else None
    return node if isinstance(node, _LOOPS) else None


def _target(node: n.Statement) -> str:
    if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
        return node.target.name
    return ""


def _is_copy(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), n.Name(), "="):
            return True
    return False


def _is_number(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), n.Literal(value=0, type=Scalar() as type), "="):
            return type.is_integer
    return False


# ---- the rest first, written out ------------------------------------------------------------


def _first_written_out(
    body: list[n.Statement],
    place: int,
    name: str,
    rest: Rest,
    values: Mapping[str, n.Expression],
) -> str:
    """The first turns are written out, from an index that the loop of many goes on from."""
    node = body[place]
    assert isinstance(node, n.If)
    turn = list(node.then)
    second: Body = ()
    if rest.mask > 1:
        match turn[-1:]:
            case [n.If(n.Binary("!=", n.Name(name=again), n.Literal(value=1)), second, ())]:
                turn = turn[:-1] if again == name else []
            case _:
                return ""
    many = next((k for k in range(place + 1, len(body)) if _loop_of(body[k]) is not None), None)
    if many is None or any(isinstance(p, _LOOPS) for s in turn for p in s.walk()):
        return ""
    for begun in range(place):
        match body[begun]:
            case n.Assign(n.Name(name=index), n.Name() | n.Binary() as first, "="):
                pass
            case _:
                continue
        following: list[n.Expression] = [n.Binary("+", first, _ONE)]
        number = values.get(first.name) if isinstance(first, n.Name) else first
        if isinstance(number, n.Unary) and number.operator == "-":
            following.append(n.Binary("-", _ONE, number.operand))
        names = [n.Name(x) for x, value in values.items() if value in following]
        moves = [n.Assign(n.Name(index), value) for value in (*following, *names)]
        condition = _again(body[many], index, rest.mask + 1)
        kept = [s for s in turn if s not in moves]
        strided = _strided(turn, second, index, first) if condition is None else None
        if strided is not None:
            by, text = strided
            condition = _again(body[many], index, rest.mask + 1, by)
            if condition is None or not _does(body[many], rest.mask + 1, text):
                continue
            body[place] = n.For(body[begun], condition, n.Assign(n.Name(index), by, "+="), text)
            for gone in (many, begun):
                del body[gone]
            return index
        if condition is None or len(kept) + 1 != len(turn):
            continue
        if not _does(body[many], rest.mask + 1, kept):
            continue
        step = n.Assign(n.Name(index), _ONE, "+=")
        ahead = _second_turn(second, name, index, (*following, *names), len(kept))
        if ahead and _does(body[many], rest.mask + 1, ahead):
            body[place] = n.For(body[begun], condition, step, ahead)
            for gone in (many, begun):
                del body[gone]
            return index
        loop = tuple(kept)
        for x in {p.name for s in kept for p in s.walk() if isinstance(p, n.Name)} & values.keys():
            # What was computed before, from where the index begins.
            at = _from(values[x], number, index) if number is not None else None
            if at is not None and n.Name(x) != first:
                loop = tuple(bottom_up(s, partial(_instead, old=n.Name(x), new=at)) for s in loop)
        use = partial(_instead, old=first, new=n.Name(index))
        loop = _moving_on(tuple(bottom_up(s, use) for s in loop), body[:place])
        body[place] = n.For(body[begun], condition, step, loop)
        for gone in (many, begun):
            del body[gone]
        return index
    return ""


def _moving_on(turn: Body, before: Sequence[n.Statement]) -> Body:
    """A first turn in which more than the index moves on, as every turn: ``count += 1``.

    The first one knows where that began.
    """
    begins = {_target(s): s.value for s in before if isinstance(s, n.Assign)}
    for place, statement in enumerate(turn):
        match statement:
            case n.Assign(n.Name(name=name) as moved, n.Binary("+", first, by), "=") if (
                isinstance(by, n.Literal) and begins.get(name) == first and first != moved
            ):
                use = partial(_instead, old=first, new=moved)
                early = tuple(bottom_up(s, use) for s in turn[:place])
                turn = (*early, n.Assign(moved, by, "+="), *turn[place + 1 :])
    return turn


def _second_turn(
    second: Body, rest: str, index: str, following: Sequence[n.Expression], count: int
) -> Body:
    """What the second turn does, by the index, if it says where it is; else nothing.

    Where the first turn is, may be computed in other ways: ``x - r`` for ``x + -r``.
    """
    asks = n.Binary("!=", n.Name(rest), n.Literal(2, INT))
    kept = [s for s in second if _target(s) != index
            and not (isinstance(s, n.If) and s.condition == asks)]  # fmt: skip

    def change(node: n.Node) -> n.Node:
        return n.Name(index) if node in following else node

    made = tuple(bottom_up(s, change) for s in kept)
    return made if made != tuple(kept) and len(made) == count else ()


def _strided(
    first_turn: list[n.Statement], second: Body, index: str, first: n.Expression
) -> tuple[n.Expression, Body] | None:
    """By how much an index moves on in every turn, and what the second turn does, by the index.

    The first turn knows more: what it adds up may begin at 0.
    """
    moves = [s for s in first_turn if _target(s) == index]
    match moves:
        case [n.Assign(value=n.Binary("+", start, n.Literal(value=int()) as by) as next)] if (
            start == first
        ):
            pass
        case _:
            return None
    kept = tuple(s for s in second if _target(s) != index and not isinstance(s, n.If))
    made = tuple(bottom_up(s, partial(_instead, old=next, new=n.Name(index))) for s in kept)
    if len(kept) + 1 != len(first_turn) or any(p == first for s in made for p in s.walk()):
        return None
    return by, made


def _instead(node: n.Node, old: n.Expression, new: n.Expression) -> n.Node:
    return new if node == old else node


def _does(many: n.Statement, times: int, turn: Sequence[n.Statement]) -> bool:
    """Whether a loop does, by the count of its accesses, so many turns at once."""
    return _accesses([many]) == times * _accesses(turn)


def _again(
    many: n.Statement, index: str, times: int, by: n.Expression = _ONE
) -> n.Expression | None:
    """Whether the loop of many turns goes on, asked of the index itself."""
    loop = _loop_of(many)
    match getattr(loop, "condition", None):
        case n.Binary("<", n.Name(name=asked), limit) as condition:
            last = n.Assign(n.Name(asked), n.Binary("+", n.Name(index), n.Literal(times - 1, INT)))
            if last in getattr(loop, "body", ()) and _steps_by(many, index, _ONE, times):
                return n.Binary("<=", n.Name(index), limit)
            if not _steps_by(many, asked, by, times):
                return None
            if asked == index:
                return condition
            before = n.Assign(n.Name(asked), n.Binary("-", n.Name(index), _ONE))
            if isinstance(many, n.If) and before in many.then:
                return n.Binary("<=", n.Name(index), limit)
    return None


def _accesses(body: Sequence[n.Statement]) -> int:
    inner = [s for one in body for s in (one.then if isinstance(one, n.If) else (one,))]
    loops = [loop.body for s in inner if isinstance(loop := s, n.DoWhile | n.While | n.For)]
    return sum(accesses(s) for s in (loops[0] if loops else body))


# ---- the rest first, in a loop --------------------------------------------------------------


def _rest_first(
    body: list[n.Statement],
    place: int,
    name: str,
    rest: Rest,
    known: Mapping[str, n.Expression],
) -> str:
    node = body[place]
    assert isinstance(node, n.If)
    *setup, loop = node.then
    assert isinstance(loop, n.DoWhile)
    if name not in {_target(s) for s in loop.body} or loop.condition != node.condition:
        return ""
    many = next((k for k in range(place + 1, len(body)) if _loop_of(body[k]) is not None), None)
    if many is None:
        return ""
    changed = {x for s in loop.body for x in written(s)}
    steps = {_target(s): by for s in loop.body if (by := _step(s, changed)) is not None}
    bound = _bound(body[many])
    if bound is None:
        return ""
    counter, operator, limit = bound
    index = counter
    if counter not in steps:
        index, operator, limit = _beside(body[many], counter, limit)
    if index not in steps or not _steps_by(body[many], counter, steps[index], rest.mask + 1):
        return ""
    values = {_target(s): s.value for s in (*body[:place], *setup) if isinstance(s, n.Assign)}
    first = values.get(index) or _begin(rest.turns, known)
    # What moves may begin where something else does that moves.
    moving = {x: values[x] for x in steps if x in values and x != index}
    starts = {x: _resolved(value, moving) for x, value in moving.items()}
    # A pointer begins where the index does: there by its name, or by what it is set to.
    places: dict[str, tuple[n.Expression, n.Expression]] = {}
    numbers: dict[str, n.Expression] = {}
    for x in steps:
        times = ratio(steps[x], steps[index]) if x != index else None
        if times is None:
            continue
        for begin in (first, n.Name(index)):
            at = None if begin is None else _element(starts.get(x), begin, index, times)
            if at is not None:
                places[x] = at
            elif begin is not None and x in starts:
                number = _moved_along(starts[x], begin, index, times)
                if number is not None:
                    numbers[x] = number
        if first is not None and x in starts and x not in places and x not in numbers:
            far = _far(starts[x], first, index) if times == _ONE else None
            if far is not None:
                places[x] = far
    gone = {index, name, *places, *numbers}
    turn = tuple(_at(s, places) for s in loop.body if _target(s) not in gone)
    for x, number in numbers.items():
        use = partial(_instead, old=n.Name(x), new=number)
        turn = tuple(bottom_up(s, use) for s in turn)
    used = {p.name for s in turn for p in s.walk() if isinstance(p, n.Name)}
    # What is set up before the rest, and not by a number, must be gone.
    begun = {_target(s) for s in setup if isinstance(s, n.Assign) and not _is_literal(s.value)}
    if used & (places.keys() | (begun - {index})):
        return ""
    step = n.Assign(n.Name(index), steps[index], "+=")
    condition = n.Binary(operator, n.Name(index), limit)
    start = n.Assign(n.Name(index), values[index]) if index in values else None
    body[place] = n.For(start, condition, step, turn)
    del body[many]
    body[:] = [s for s in body if _target(s) not in (index, name)]
    return index


def _far(
    start: n.Expression, first: n.Expression, index: str
) -> tuple[n.Expression, n.Expression] | None:
    """The element that a pointer is at that moves along with an index from where both begin."""
    base, offset = split(start)
    if base is None or not isinstance(first, n.Unary) or first.operator != "-":
        return None
    done = n.Binary("+", n.Name(index), first.operand)
    return base, done if offset == _ZERO else n.Binary("+", offset, done)


def _is_literal(value: n.Expression) -> bool:
    return isinstance(value, n.Literal)


def _step(node: n.Statement, changed: set[str]) -> n.Expression | None:
    """By how much a statement moves a variable on, the same in every turn."""
    match node:
        case n.Assign(n.Name(), by, "+="):
            loads = any(isinstance(p, n.Index | n.Call | n.Unary) for p in by.walk())
            return None if loads or changed & set(by.names()) else by
    return None


def _bound(many: n.Statement) -> tuple[str, str, n.Expression] | None:
    """What the loop of many turns counts with, how that is compared, and where it ends."""
    loop = _loop_of(many)
    assert isinstance(loop, _LOOPS)
    match loop.condition:
        case n.Binary("<", n.Name(name=index), limit):
            return index, "<", limit
    return None


def _resolved(value: n.Expression, moving: Mapping[str, n.Expression]) -> n.Expression:
    """What a pointer is set to, with the numbers in it that others are set to."""
    match value:
        case n.Binary("+", base, n.Name(name=name)) if name in moving:
            return n.Binary("+", base, moving[name])
    return value


def _begin(turns: n.Expression, known: Mapping[str, n.Expression]) -> n.Expression | None:
    """Where a loop begins whose turns are ``max(first, last) - first + 1``."""
    match turns:
        case n.Binary("+", n.Name(name=name), n.Literal(value=1)) if name in known:
            turns = known[name]
    match turns:
        case n.Binary("+", n.Call("max"), less):
            return n.Unary("-", less)
        case n.Binary("-", n.Call("max"), less):
            return less
    return None


def _beside(many: n.Statement, counter: str, limit: n.Expression) -> tuple[str, str, n.Expression]:
    """The index that a variable is set beside before a loop, and how it is compared with what.

    Empty if there is none. Where the last turn is that of the limit, the variable is the one
    before; compilers also like to count up to 0.
    """
    for statement in many.then if isinstance(many, n.If) else ():
        match statement:
            case n.Assign(
                n.Name(name=name),
                n.Binary("+" | "-" as sign, n.Name(name=index), n.Literal(value=int() as number)),
                "=",
            ) if name == counter:
                by = number if sign == "+" else -number
                match limit:
                    case n.Literal(value=int() as end):
                        return index, "<", n.integer(end - by)
                if by == -1:
                    return index, "<=", limit
    return "", "", limit


def _from(start: n.Expression, first: n.Expression, index: str) -> n.Expression | None:
    """A number that moves with an index, by the index."""
    start = _with_negative(start, first)
    if sum(p == first for p in start.walk()) != 1 or not _is_term(start, first):
        return None
    return bottom_up(start, lambda part: n.Name(index) if part == first else part)  # type: ignore[no-any-return]


def _with_negative(total: n.Expression, first: n.Expression) -> n.Expression:
    """A difference as a sum, where what is taken away is where an index begins."""
    match total, first:
        case n.Binary("-", left, right), n.Unary("-", operand) if right == operand:
            return n.Binary("+", left, first)
        case n.Binary("+", left, right), _:
            made = n.Binary("+", _with_negative(left, first), _with_negative(right, first))
            return made if made != total else total
        case n.Cast(operand=inner), _:
            return replace(total, operand=_with_negative(inner, first))
    return total


def _steps_by(many: n.Statement, index: str, by: n.Expression, times: int) -> bool:
    """Whether a loop moves its index on by as much as so many turns do."""
    if isinstance(by, n.Literal):
        step = n.Assign(n.Name(index), n.Literal(by.value * times, INT), "+=")
        return any(p == step for p in many.walk())
    wanted = Counter({n.Name(index): 1, by: times})
    moves = [p for p in many.walk() if isinstance(p, n.Assign) and p.target == n.Name(index)]
    return len(moves) == 1 and _terms(moves[0].value, moves[0].operator, index) == wanted


def _terms(value: n.Expression, operator: str, index: str) -> Counter[n.Expression]:
    """What is added up for the next value of an index, and how often."""
    found: Counter[n.Expression] = Counter({n.Name(index): 1} if operator == "+=" else {})
    pending = [(value, 1)]
    while pending:
        one, times = pending.pop()
        match one:
            case n.Binary("+", left, right):
                pending += [(left, times), (right, times)]
            case n.Binary("*", inner, n.Literal(value=int() as by)):
                pending.append((inner, times * by))
            case n.Binary("<<", inner, n.Literal(value=int() as bits)):
                pending.append((inner, times << bits))
            case _:
                found[one] += times
    return found


def _element(
    start: n.Expression | None, first: n.Expression, index: str, times: n.Expression
) -> tuple[n.Expression, n.Expression] | None:
    """The array that a pointer moves along, and what it points to, by the index."""
    base, offset = split(start) if start is not None else (None, n.integer(0))
    if base is None:
        return None
    if times != _ONE:
        rest = remainder(offset, times, first)
        moved = product(n.Name(index), times)
        if rest is None:
            return None
        return base, moved if rest == _ZERO else n.Binary("+", moved, rest)
    found = _from(offset, first, index)
    return None if found is None else (base, found)


def _moved_along(
    start: n.Expression, first: n.Expression, index: str, times: n.Expression
) -> n.Expression | None:
    """A number that moves on by some times as much as the index, by the index."""
    if times == _ONE:
        return _from(start, first, index)
    rest = remainder(start, times, first)
    moved = product(n.Name(index), times)
    if rest is None:
        return None
    return moved if rest == _ZERO else n.Binary("+", moved, rest)


def _is_term(total: n.Expression, term: n.Expression) -> bool:
    """Whether something is added into a sum, as it is."""
    match total:
        case n.Binary("+", left, right):
            return _is_term(left, term) or _is_term(right, term)
        case n.Cast(operand=inner):
            return _is_term(inner, term)
    return total == term


def _at(node: n.Statement, places: dict[str, tuple[n.Expression, n.Expression]]) -> n.Statement:
    """A statement with elements of arrays in the place of what pointers point to."""

    def change(part: n.Node) -> n.Node:
        match part:
            case n.Unary("*", n.Name(name=name)) if name in places:
                return n.Index(*places[name])
            case n.Index(n.Name(name=name), offset) if name in places:
                base, at = places[name]
                return n.Index(base, n.Binary("+", at, offset))
            case n.Call(function, (n.Name(name=name),)) if loads_from(function) and name in places:
                return n.Call(function, (n.Unary("&", n.Index(*places[name])),))
            case n.Call(function, (n.Name(name=name), *others)) if (
                function.startswith("atomic") and name in places
            ):
                return n.Call(function, (n.Unary("&", n.Index(*places[name])), *others))
        return part

    return bottom_up(node, change)  # type: ignore[no-any-return]
