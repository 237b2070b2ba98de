"""Loops that newer compilers unrolled, rolled up again.

A loop of ``n`` turns becomes one of ``n & -16`` turns, sixteen at a time, counted up to 0 from
below; then eight turns, and four, where so many are left; then the last ones, in a loop as it was
written, or a pair and a single turn. That last turn says what every turn does, and an index, or
what is computed from it before the last loop, says where it is. As in `roll` nothing is proved
here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from typing import Literal

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, UINT, Scalar, Type
from ptxkit.decompiler.lift.carried import carried
from ptxkit.decompiler.lift.rewrite import (
    accesses,
    bottom_up,
    loads_from,
    read,
    statements_of,
    written,
)

Body = tuple[n.Statement, ...]
_LOOPS = (n.DoWhile, n.While, n.For)
_ONE, _ZERO = n.Literal(1, INT), n.Literal(0, INT)
_TIMES = (2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class _Many:
    """The loop of many turns at a time: how many there are in all, and at a time."""

    turns: n.Expression
    times: int
    loop: n.DoWhile
    done: frozenset[str]
    """What is set behind the loop, as the number of turns that are done may be."""


@dataclass(frozen=True, slots=True)
class Cascades:
    """Rolls up the loops of one function."""

    types: dict[str, Type]
    """Of variables by name; an index becomes an ``int``."""
    fresh: Callable[[], str]
    """Makes the name of an index."""
    values: dict[str, n.Expression] = field(default_factory=dict)
    """What variables are set to that are set once."""
    peeled: set[str] = field(default_factory=set)
    """What loops count with that were unrolled, and have the index that they had."""
    begun: dict[str, int] = field(default_factory=dict)
    """Where the index began of a loop that counts down how many turns it has."""

    def learn(self, body: Body) -> None:
        """Look at a whole function."""
        sets = Counter(name for statement in body for name in written(statement))
        for statement in statements_of(body):
            if isinstance(statement, n.Assign) and sets[_target(statement)] == 1:
                self.values[_target(statement)] = statement.value

    def roll(self, body: list[n.Statement]) -> bool:
        """Roll up one loop of a list of statements; whether there was one."""
        for place, statement in enumerate(body):
            many = _many(statement, self.values)
            if many is None:
                continue
            before, (last, after, stepped, few) = body[:place], _last_part(body[place + 1 :])
            for one in many.loop.body:
                if _steps(one) and _steps(one) % many.times == 0:
                    stepped[_target(one)] = _steps(one) // many.times
            stepped |= dict.fromkeys(many.done - stepped.keys(), 1)
            made = self._looped(before, many, last, stepped)
            made = made or self._single(before, many, last, stepped)
            made = made or self._carrying(before, many, last, few)
            if made is not None:
                body[:] = [*made, *after]
                return True
        return False

    def _looped(
        self,
        before: list[n.Statement],
        many: _Many,
        last: list[n.Statement],
        stepped: dict[str, int],
    ) -> list[n.Statement] | None:
        """The last turns are a loop."""
        place = next((k for k, s in enumerate(last) if isinstance(s, n.DoWhile)), None)
        if place is None:
            return None
        setup, loop, after = last[:place], last[place], last[place + 1 :]
        assert isinstance(loop, n.DoWhile)
        count = _counted_by(loop, setup)
        if not count:
            return None
        if not all(isinstance(s, n.Assign) and isinstance(s.target, n.Name) for s in setup):
            return None
        turn = [s for s in loop.body if _target(s) != count]
        index = _index(stepped.keys() - {count}, [*setup, *turn]) or _counter(before, turn)
        moved = {count}
        if index:
            # What moves along with the index is computed from it in every turn.
            movers = {_target(s): s.value for s in setup
                      if isinstance(s, n.Assign) and _moves(_target(s), turn)}  # fmt: skip
            turn = [_put(s, movers) for s in turn if _target(s) not in (*movers, index)]
            moved |= movers.keys()
        else:
            index = count
            before = [*before, n.Assign(n.Name(count), _ZERO)]
        kept = [s for s in setup if _target(s) not in moved]
        by = stepped.get(index, 1)
        made = self._finished([*before, *kept], many, index, by, turn)
        return None if made is None else [*made, *after]

    def _single(
        self,
        before: list[n.Statement],
        many: _Many,
        last: list[n.Statement],
        stepped: dict[str, int],
    ) -> list[n.Statement] | None:
        """The last turn is written out."""
        if not last or any(isinstance(p, (*_LOOPS, n.Return)) for s in last for p in s.walk()):
            return None
        match last[-1]:
            case n.If(n.Binary("!=", _, n.Literal(value=1)), _, ()):
                last = last[:-1]  # one more turn, and another
        # The last turn does as much as one of many; what follows it is done once.
        turned = {name for s in many.loop.body for name in written(s)}
        ends = [
            k
            for k in range(1, len(last) + 1)
            if self._is_turn(many, last[:k])
            and not any(turned.intersection(written(s)) for s in last[k:])
        ]
        # Where all threads wait at the end of a turn, they do so in the last one, too.
        waits = [k for k in ends if many.times * _waits(last[:k]) == _waits(many.loop.body)]
        end = next(iter(waits or ends), len(last))
        turn, after = last[:end], last[end:]
        index = _index(stepped.keys(), turn)
        if not index or any(index in read(s) for s in after):
            return None
        made = self._finished(before, many, index, stepped[index], turn)
        return None if made is None else [*made, *after]

    def _carrying(
        self, before: list[n.Statement], many: _Many, last: list[n.Statement], few: Body
    ) -> list[n.Statement] | None:
        """The last turn is written out, and does not say what turns leave for the next one."""
        if any(isinstance(p, (*_LOOPS, n.Return)) for s in last for p in s.walk()):
            return None
        found = carried(last, few, self.fresh)
        if found is None or many.times * _stores(found.turn) != _stores(many.loop.body):
            return None
        self.types[found.held] = self.types[found.name]
        return self._finished(before, many, found.index, 1, found.turn, is_turn=True)

    @staticmethod
    def _is_turn(many: _Many, turn: list[n.Statement]) -> bool:
        return _accesses(many.loop.body) == many.times * _accesses(turn)

    def _finished(
        self,
        before: list[n.Statement],
        many: _Many,
        index: str,
        by: int,
        turn: list[n.Statement],
        is_turn: bool = False,
    ) -> list[n.Statement] | None:
        """The loop of an index that moves on by some number in every turn."""
        if not turn or not (is_turn or self._is_turn(many, turn)):
            return None
        at = next((k for k in range(len(before) - 1, -1, -1) if _target(before[k]) == index), None)
        start: n.Statement | None = None
        asks: Literal["<", "<="] = "<"
        if at is not None:
            start = before[at]
            before = [*before[:at], *before[at + 1 :]]
        if by == 1 and isinstance(start, n.Assign) and _is_zero(start.value):
            limit: n.Expression | None = many.turns
            index, turn = self._renamed(index, turn)
            start = n.Assign(n.Name(index), _ZERO)
        elif by == 1 and (reach := self._reach(many.turns, start)) is not None:
            index, turn = self._renamed(index, turn)
            start = n.Assign(n.Name(index), n.Unary("-", reach))
            limit, asks = reach, "<="
        elif by == 1 and is_turn and isinstance(start, n.Assign) and _is_one(start.value):
            limit, asks = many.turns, "<="
            index, turn = self._renamed(index, turn)
            start = n.Assign(n.Name(index), _ONE)
        else:
            begin = start.value if isinstance(start, n.Assign) else n.Name(index)
            limit = self._end(many.turns, index, by, begin)
            if at is not None and any(index in read(s) for s in before[at:]):
                return None
        if limit is None:
            return None
        self.types[index] = INT
        if isinstance(limit, n.Name) and self.types.get(limit.name) == UINT:
            limit = n.Cast(INT, limit)
        step = n.Assign(n.Name(index), n.Literal(by, INT), "+=")
        fixed = _invariants(before, turn)
        own = n.Cast(INT, n.Name(index))

        def plain(part: n.Node) -> n.Node:
            return n.Name(index) if part == own else _plain_index(part)

        body = tuple(bottom_up(_put(s, fixed), plain) for s in turn)
        loop = n.For(start, n.Binary(asks, n.Name(index), limit), step, body)
        return [*before, loop]

    def _end(
        self, turns: n.Expression, index: str, by: int, begin: n.Expression
    ) -> n.Expression | None:
        """Where an index ends, from the number of turns: a difference, by the step."""
        turns = self._known(turns)
        if by > 1:
            match turns:
                case n.Binary(
                    "+", n.Binary(">>", whole, n.Literal(value=bits)), n.Literal(value=1)
                ):
                    if 1 << int(bits) != by:
                        return None
                    turns = self._known(whole)
                case _:
                    return None
        match turns:
            case n.Binary("-", end, first) if first in (n.Name(index), begin) and by == 1:
                return end
            case n.Binary("+", end, n.Unary("~", _)) if by > 1:
                return end
        return None

    def _reach(self, turns: n.Expression, start: n.Statement | None) -> n.Expression | None:
        """How far a loop goes from -r to r, which has an odd number of turns: twice r, and one."""
        if not isinstance(start, n.Assign):
            return None
        match self._known(turns), self._known(start.value):
            case (
                (
                    n.Binary("<<", reach, n.Literal(value=1))
                    | n.Binary("*", reach, n.Literal(value=2))
                ),
                n.Unary("-", begin),
            ) if begin == reach:
                return reach
        return None

    def _known(self, value: n.Expression) -> n.Expression:
        return self.values.get(value.name, value) if isinstance(value, n.Name) else value

    def _renamed(self, index: str, turn: list[n.Statement]) -> tuple[str, list[n.Statement]]:
        """A loop with an index of its own."""
        name = self.fresh()
        return name, [_put(s, {index: n.Name(name)}) for s in turn]


def _many(node: n.Statement, values: dict[str, n.Expression]) -> _Many | None:
    """What a statement does many turns of, if it does."""
    if not isinstance(node, n.If) or node.otherwise:
        return None
    loop = next((s for s in node.then if isinstance(s, n.DoWhile)), None)
    starts = {_target(s): s.value for s in node.then if isinstance(s, n.Assign)}
    match loop:
        case n.DoWhile(condition=n.Binary("!=", n.Name(name=count), n.Literal(value=0))):
            start = starts.get(count)
            if isinstance(start, n.Name):
                start = values.get(start.name)
            masked = start.operand if isinstance(start, n.Unary) else None
        case n.DoWhile(condition=n.Binary("!=", masked, n.Name())):
            pass
        case _:
            return None
    match masked:
        case n.Binary("&", turns, n.Literal(value=int() as mask)):
            # All bits but the lowest, of as many as a number of turns can have.
            times = mask & -mask
            full = mask < 0 or (mask + times) & mask == 0
            behind = node.then[node.then.index(loop) + 1 :]
            done = frozenset(filter(None, map(_target, behind)))
            return _Many(turns, times, loop, done) if times in _TIMES and full else None
    return None


def _last_part(
    rest: list[n.Statement],
) -> tuple[list[n.Statement], list[n.Statement], dict[str, int], Body]:
    """What follows turns that are done a few at a time: the last turns, and what comes after all.

    And the variables that are moved on by a few turns: how much a turn is, 1 as far as is known;
    and the fewest such turns.
    """
    begin = 0
    few: Body = ()
    stepped: dict[str, int] = {}
    for place, node in enumerate(rest):
        if not isinstance(node, n.If) or node.otherwise:
            continue
        if isinstance(node.condition, n.Binary) and node.condition.operator == "||":
            # Where the loop was not left for good: some turns are left over.
            last, after, more, fewer = _last_part(list(node.then))
            return last, [*after, *rest[place + 1 :]], stepped | more, fewer or few
        found = {_target(s): 1 for s in node.then if _steps(s) > 1 and _steps(s) % 2 == 0}
        if not found:
            break
        stepped |= found
        begin, few = place + 1, node.then
    return rest[begin:], [], stepped, few


def _index(stepped: Set[str], turn: list[n.Statement]) -> str:
    """The variable that counts the turns that are done, if the last turn reads it."""
    found = sorted(stepped & {name for s in turn for name in read(s)})
    return found[0] if len(found) == 1 else ""


def _counter(before: list[n.Statement], turn: list[n.Statement]) -> str:
    """A variable that counts from 0 in every turn."""
    for statement in turn:
        name = _target(statement)
        if _steps(statement) == 1:
            first = next((s for s in reversed(before) if _target(s) == name), None)
            if isinstance(first, n.Assign) and _is_zero(first.value):
                return name
    return ""


def _counted_by(loop: n.DoWhile, setup: list[n.Statement]) -> str:
    """What the turns of a loop are counted by: up to 0 from below, or from 0."""
    match loop.condition:
        case n.Binary("!=", n.Name(name=count), n.Literal(value=0)):
            names = [count]
        case n.Binary("!=", n.Name(name=one), n.Name(name=other)):
            from_zero = {_target(s) for s in setup if isinstance(s, n.Assign) and _is_zero(s.value)}
            names = sorted(from_zero & {one, other})
        case _:
            return ""
    found = [name for name in names if n.Assign(n.Name(name), _ONE, "+=") in loop.body]
    return found[0] if len(found) == 1 else ""


def _steps(node: n.Statement) -> int:
    """By how much a statement moves a variable on; 0 for any other statement."""
    match node:
        case n.Assign(n.Name(), n.Literal(value=int() as value), "+="):
            return value
    return 0


def _moves(name: str, turn: list[n.Statement]) -> bool:
    return any(_target(s) == name and isinstance(s, n.Assign) and s.operator == "+=" for s in turn)


def _target(node: n.Statement) -> str:
    if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
        return node.target.name
    return ""


def _is_zero(value: n.Expression) -> bool:
    return isinstance(value, n.Literal) and value.type.is_integer and not value.value


def _is_one(value: n.Expression) -> bool:
    return isinstance(value, n.Literal) and value.type.is_integer and value.value == 1


def _stores(body: Body | list[n.Statement]) -> int:
    return sum(
        isinstance(s, n.Assign) and not isinstance(s.target, n.Name) for s in statements_of(body)
    )


def _put(node: n.Statement, movers: dict[str, n.Expression]) -> n.Statement:
    """A statement with values in the place of variables; what they point to as elements."""

    def change(part: n.Node) -> n.Node:
        match part:
            case n.Unary("*", n.Binary("+", n.Name() as base, offset)):
                return n.Index(base, offset)
            case n.Unary("*", n.Unary("&", n.Index() as inner)):
                return inner
            case n.Call(function, (n.Binary("+", n.Name() as base, offset),)) if loads_from(
                function
            ):
                return n.Call(function, (n.Unary("&", n.Index(base, offset)),))
            case n.Index(n.Binary("+", n.Name() as base, offset), inner):
                return n.Index(base, n.Binary("+", offset, inner))
            case n.Name(name=name) if name in movers:
                return movers[name]
        return part

    return bottom_up(node, change)  # type: ignore[no-any-return]


def _invariants(before: list[n.Statement], turn: list[n.Statement]) -> dict[str, n.Expression]:
    """Indices that a compiler took out of the loop, and what they are."""
    changed = {name for s in turn for name in written(s)}
    found: dict[str, n.Expression] = {}
    for statement in before:
        match statement:
            case n.Assign(n.Name(name=name), n.Binary("+" | "*") as value, "="):
                plain = all(isinstance(p, n.Name | n.Literal | n.Binary | n.Member)
                            for p in value.walk())  # fmt: skip
                if plain and not changed & {name, *read(value)}:
                    found[name] = value
                    continue
        gone = set(written(statement))
        found = {k: v for k, v in found.items() if not gone & {k, *read(v)}}
    return found


def _plain_index(part: n.Node) -> n.Node:
    """An element by a sum of numbers as they are: C++ makes them as wide as an address."""
    match part:
        case n.Index(
            base, n.Binary("+", n.Cast(operand=left) as one, n.Cast(operand=right) as two)
        ):
            if _is_wide(one.type) and _is_wide(two.type):
                return n.Index(base, n.Binary("+", left, right))
        case n.Index(base, n.Cast(type=type, operand=inner)) if _is_wide(type) or type == INT:
            return n.Index(base, inner)
    return part


def _is_wide(type: Type) -> bool:
    return isinstance(type, Scalar) and type.is_integer and type.bits == 64


def _waits(body: Iterable[n.Statement]) -> int:
    """How often threads wait for each other, as it is written."""
    return sum(
        isinstance(p, n.Call) and p.function.startswith("__sync") for s in body for p in s.walk()
    )


def _accesses(body: Body | list[n.Statement]) -> int:
    return sum(
        accesses(statement)
        for statement in statements_of(body)
        if not isinstance(statement, (n.If, *_LOOPS))
    )
