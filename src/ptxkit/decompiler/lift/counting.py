"""Loops that count: from pointers that move along and counters that run out to indices.

Compilers turn ``for (k = 0; k < n; k++) s += a[k] * b[k * m]`` into a counter that runs
down and pointers that are moved at the end of every turn. Where each of them has a start
and a step that does not change, they are all functions of one index again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import (
    INT,
    LONG_LONG,
    UINT,
    UNSIGNED_LONG_LONG,
    Pointer,
    Scalar,
    Type,
)
from ptxkit.decompiler.lift.loop_starts import begun_at
from ptxkit.decompiler.lift.one_counter import is_compared
from ptxkit.decompiler.lift.rewrite import (
    accesses,
    bottom_up,
    loads_from,
    read,
    statements_of,
    terms_of,
    written,
)

Body = tuple[n.Statement, ...]
_WIDE = LONG_LONG, UNSIGNED_LONG_LONG
_NUMBERS = INT, UINT, *_WIDE


def _names(node: n.Node) -> Counter[str]:
    return Counter(p.name for p in node.walk() if isinstance(p, n.Name))


@dataclass(slots=True)
class _Mover:
    """A variable with a start and a step."""

    name: str
    start: n.Expression
    step: n.Expression
    down: bool = False
    """Whether the step is taken off: numbers may, pointers are left as they are."""

    @property
    def by(self) -> int | tuple[n.Expression, bool]:
        """How far it moves: a number with its sign, where the step is one."""
        match self.step:
            case n.Literal(value=int() as value):
                return -value if self.down else value
        return self.step, self.down


@dataclass(slots=True)
class Counting:
    """Rewrites the loops of one function."""

    types: dict[str, Type]
    fresh: Callable[[], str]
    """Makes the name of an index."""
    begun: Mapping[str, int] = field(default_factory=dict)
    """Where the index began of a loop that counts down how many turns it has."""
    total: Counter[str] = field(default_factory=Counter)
    around: list[n.Statement] = field(default_factory=list)
    """What is done before a list, in the lists that it is in; a loop that it is in stands last."""

    def run(self, body: Body) -> Body:
        """The body with its loops counting up."""
        self.total = _names(n.Block(body))
        return without_unread(self._list(self._constants(body)))

    def _constants(self, body: Body) -> Body:
        """Numbers in the place of variables that are set once, to a number."""
        sets: Counter[str] = Counter()
        values: dict[str, n.Literal] = {}
        for part in statements_of(body):
            if isinstance(part, n.Assign) and isinstance(part.target, n.Name) \
                    and isinstance(part.value, n.Literal) and part.operator == "=":  # fmt: skip
                values[part.target.name] = part.value
        if values:
            sets.update(name for statement in body for name in written(statement))
        known = {k: v for k, v in values.items() if sets[k] == 1 and v.type == INT
                 and self.types.get(k) == INT}  # fmt: skip
        if not known:
            return body

        def change(node: n.Node) -> n.Node:
            if isinstance(node, n.Name) and node.name in known:
                return known[node.name]
            return folded(node)

        def walk(items: Body) -> Body:
            kept = []
            for statement in items:
                if isinstance(statement, n.Assign) and isinstance(statement.target, n.Name) \
                        and statement.target.name in known:  # fmt: skip
                    continue
                kept.append(_with_bodies(statement, walk, change))
            return tuple(kept)

        return walk(body)

    def _list(self, body: Body) -> Body:
        made: list[n.Statement] = []
        around = self.around
        for statement in body:
            loop = [] if isinstance(statement, n.If) else [statement]
            self.around = [*around, *made, *loop]
            inside = _with_bodies(statement, self._list, lambda node: node)
            self.around = around
            made.append(inside)
            self._count_up(made)
        return tuple(made)

    def _count_up(self, made: list[n.Statement]) -> None:
        """Turn the loop that was added last, if it counts down, into one that counts up."""
        last = made[-1]
        match last:
            case n.If(
                condition=n.Binary("!=", n.Name(name=count), n.Literal(value=0)),
                then=(*setup, n.DoWhile(body=body, condition=again)),
                otherwise=(),
            ) if again == last.condition:
                found = self._made(made[:-1], count, list(setup), body)
            case n.For(
                start=None,
                condition=n.Binary("!=", n.Name(name=count), n.Literal(value=0)),
                step=step,
                body=body,
            ) if step is not None:
                found = self._made(made[:-1], count, [], (*body, step))
            case _:
                return
        if found is not None:
            made[:] = found

    def _made(
        self, before: list[n.Statement], count: str, setup: list[n.Statement], body: Body
    ) -> list[n.Statement] | None:
        one = next((s for s in body if _moves(s, count, "-=")), None)
        if one is None or any(isinstance(p, n.Continue | n.Break | n.Goto)
                                  for s in body for p in s.walk()):  # fmt: skip
            return None
        place = next((k for k in range(len(before) - 1, -1, -1)
                      if count in set(written(before[k]))), None)  # fmt: skip
        if place is None:
            return None
        start = before[place]
        if not isinstance(start, n.Assign) or start.operator != "=":
            return None
        limit = start.value
        body = tuple(s for s in body if s != one)
        if any(_names(s)[count] for s in (*body, *setup, *before[place + 1 :])):
            return None
        changed = {name for s in body for name in written(s)}
        if any(name in changed for name in _names(limit)):
            # A variable may hold the number of turns before the first one, and another one later.
            earlier = _set_to(limit, [*self.around, *before[:place]])
            if earlier is None or any(name in changed for name in _names(earlier)):
                return None
            limit = earlier
        same = self._counters(before, setup, body)
        setup = [_renamed(s, same, n.Literal(0, INT)) for s in setup]
        movers, rest = self._movers(setup, body, changed)
        if setup and len(movers) != len([s for s in setup if _target(s) in changed]):
            return None
        if any(_target(s) in changed and _target(s) not in movers for s in setup):
            return None
        index = self.fresh()
        wide = self.types.get(count) in _WIDE
        self.types[index] = UNSIGNED_LONG_LONG if wide else INT
        gone = set(movers)
        rest = self._with_variables(movers, index, rest)
        new = tuple(_indexed(s, movers, index, self.types) for s in rest)
        new = tuple(_renamed(s, same, n.Name(index)) for s in new if _target(s) not in same)
        if any(_names(s)[m] for s in new for m in movers):
            return None
        kept = [s for s in setup if _target(s) not in gone]
        step = n.Assign(n.Name(index), n.Literal(1, INT), "+=")
        condition = n.Binary("<", n.Name(index), limit)
        loop = n.For(n.Assign(n.Name(index), n.Literal(0, INT)), condition, step, new)
        if count in self.begun:
            loop = begun_at(_up_to(loop, limit, before), self.begun[count])
        return [*before[:place], *before[place + 1 :], *kept, loop]

    def _with_variables(self, movers: dict[str, _Mover], index: str, body: Body) -> Body:
        """A turn that sets what is compared in it, and computes by that what moves along."""
        first: list[n.Statement] = []
        for name, mover in list(movers.items()):
            value = _number(mover, index)
            if self.types.get(name) not in _NUMBERS or not is_compared(
                body, name, value, self.types
            ):
                continue
            first.append(n.Assign(n.Name(name), value))
            del movers[name]
            for other, along in list(movers.items()):
                if along.by != mover.by:
                    continue
                match along.start:
                    case n.Binary("+", n.Name() as base, place) if place == mover.start:
                        if isinstance(self.types.get(other), Pointer):
                            body = tuple(_pointed(s, other, base, n.Name(name)) for s in body)
                            del movers[other]
                            continue
                more = _without(along.start, mover.start)
                if more is not None and self.types.get(other) in _NUMBERS:
                    beside = n.Binary("+", more, n.Name(name))
                    body = tuple(_renamed(s, {other}, beside) for s in body)
                    del movers[other]
        return (*first, *body)

    def _counters(
        self, before: list[n.Statement], setup: list[n.Statement], body: Body
    ) -> set[str]:
        """Numbers that count from 0 in steps of 1, as the index does."""
        found: set[str] = set()
        for place, statement in enumerate(body):
            name = _target(statement)
            if not _moves(statement, name, "+=") or self.types.get(name) not in (INT, *_WIDE):
                continue
            later = any(_names(s)[name] for s in body[place + 1 :])
            sets = [s for s in before if name in set(written(s))]
            inside = sum(_names(s)[name] for s in (*setup, *body))
            if later or len(sets) != 1 or not _starts_at_zero(sets[0], name):
                continue
            if inside + 1 == self.total[name]:
                found.add(name)
        return found

    def _movers(
        self, setup: list[n.Statement], body: Body, changed: set[str]
    ) -> tuple[dict[str, _Mover], Body]:
        """The variables that take a step at the end of every turn, and the rest of the body."""
        starts: dict[str, n.Expression] = {}
        for statement in setup:
            if isinstance(statement, n.Assign):
                # What moves may begin where something else does that moves.
                known = {name: value for name, value in starts.items() if name in changed}
                begin = bottom_up(statement.value, partial(_value_of, known))
                starts[_target(statement)] = begin
        movers: dict[str, _Mover] = {}
        kept: list[n.Statement] = []
        for place, statement in enumerate(body):
            name = _target(statement)
            if (
                name in starts
                and isinstance(statement, n.Assign)
                and not any(_names(s)[name] for s in body[place + 1 :])
            ):
                step = self._step(statement, name, setup)
                parts = [p for p in (step, starts[name]) if p is not None]
                fixed = not any(x in changed for part in parts for x in _names(part))
                inside = sum(_names(s)[name] for s in (*setup, *body))
                if fixed and inside == self.total[name] and step is not None:
                    movers[name] = _Mover(name, starts[name], step, statement.operator == "-=")
                    continue
            kept.append(statement)
        return movers, tuple(kept)

    def _step(
        self, statement: n.Assign, name: str, setup: list[n.Statement]
    ) -> n.Expression | None:
        type = self.types.get(name)
        if statement.operator == "+=" or (statement.operator == "-=" and type in _NUMBERS):
            return statement.value
        value = statement.value
        if not isinstance(value, n.Cast) or not isinstance(type, Pointer):
            return None
        match value.operand:
            case n.Binary("+", n.Cast(operand=n.Name(name=own)), n.Name(name=width)):
                if own != name:
                    return None
                for other in setup:
                    if _target(other) == width and isinstance(other, n.Assign):
                        return _divided(other.value, getattr(type.target, "size", 0))
        return None


def _up_to(loop: n.For, limit: n.Expression, before: list[n.Statement]) -> n.For:
    """A loop that asks for what its limit was set to, if that is a sum."""
    for statement in reversed(before):
        match statement:
            case n.Assign(target, n.Binary("+" | "-") as total, "=") if target == limit:
                index = loop.condition.left  # type: ignore[union-attr]
                return replace(loop, condition=n.Binary("<", index, total))
    return loop


def _set_to(name: n.Expression, before: list[n.Statement]) -> n.Expression | None:
    """What a variable was set to, if that is still the same: its parts were not set since."""
    later: set[str] = set()
    for statement in reversed(before):
        match statement:
            case n.Assign(n.Name() as target, n.Binary() as value, "=") if target == name:
                fixed = not accesses(value) and later.isdisjoint(_names(value))
                return value if fixed else None
        later.update(written(statement))
        if isinstance(name, n.Name) and name.name in later:
            return None
    return None


def _moves(statement: n.Statement, name: str, by: str) -> bool:
    """Whether a statement takes one step with a counter, up or down."""
    match statement:
        case n.Assign(n.Name(name=own), n.Literal(value=1), operator):
            return own == name and operator == by
    return False


def _starts_at_zero(statement: n.Statement, name: str) -> bool:
    match statement:
        case n.Assign(n.Name(name=own), n.Literal(value=0), "="):
            return own == name
    return False


def _divided(node: n.Expression, size: int) -> n.Expression | None:
    """``x * 4`` divided by 4."""
    match node:
        case n.Binary("*", n.Cast(type=Scalar(), operand=inner), n.Literal(value=value)) if size:
            if int(value) % size == 0:
                times = int(value) // size
                return inner if times == 1 else n.Binary("*", inner, n.Literal(times, INT))
    return None


def _target(node: n.Statement) -> str:
    if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
        return node.target.name
    return ""


def _with_bodies(
    node: n.Statement, walk: Callable[[Body], Body], change: Callable[[n.Node], n.Node]
) -> n.Statement:
    def expression(part: n.Expression | None) -> n.Expression | None:
        return None if part is None else bottom_up(part, change)

    match node:
        case n.If(condition=condition, then=then, otherwise=otherwise):
            return n.If(expression(condition), walk(then), walk(otherwise))  # type: ignore[arg-type]
        case n.While(condition=condition, body=body):
            return n.While(expression(condition), walk(body))  # type: ignore[arg-type]
        case n.DoWhile(body=body, condition=condition):
            return n.DoWhile(walk(body), expression(condition))  # type: ignore[arg-type]
        case n.For(start=start, condition=condition, step=step, body=body):
            first = None if start is None else bottom_up(start, change)
            last = None if step is None else bottom_up(step, change)
            return n.For(first, expression(condition), last, walk(body), node.unroll)
        case n.Switch(value=value, cases=cases):
            made = tuple(n.Case(c.values, walk(c.body), c.falls) for c in cases)
            return n.Switch(expression(value), made)  # type: ignore[arg-type]
    return bottom_up(node, change)  # type: ignore[no-any-return]


def _is_one(step: n.Expression) -> bool:
    return isinstance(step, n.Literal) and step.value == 1


def _number(mover: _Mover, index: str) -> n.Expression:
    """What a variable holds in a turn."""
    moved: n.Expression = n.Name(index)
    if not _is_one(mover.step):
        moved = n.Binary("*", moved, mover.step)
    return folded(n.Binary("-" if mover.down else "+", mover.start, moved))  # type: ignore[return-value]


def _value_of(known: dict[str, n.Expression], node: n.Node) -> n.Node:
    return known.get(node.name, node) if isinstance(node, n.Name) else node


def _without(total: n.Expression, part: n.Expression) -> n.Expression | None:
    """What is left of a sum without the terms of another; None where these are not in it."""
    left = terms_of(total)
    for term in terms_of(part):
        if term not in left:
            return None
        left.remove(term)
    return reduce(lambda one, two: n.Binary("+", one, two), left) if left else None


def _pointed(
    node: n.Statement, pointer: str, base: n.Expression, place: n.Expression
) -> n.Statement:
    """A statement with a pointer as a place behind another one."""
    whole = n.Binary("+", base, place)

    def change(part: n.Node) -> n.Node:
        match part:
            case n.Name(name=name) if name == pointer:
                return whole
            case n.Unary("*", operand) if operand == whole:
                return n.Index(base, place)
            case n.Index(operand, inner) if operand == whole:
                return n.Index(base, n.Binary("+", place, inner))
        return part

    return bottom_up(node, change)  # type: ignore[no-any-return]


def _indexed(
    node: n.Statement, movers: dict[str, _Mover], index: str, types: dict[str, Type]
) -> n.Statement:
    """A statement with its moving variables written by the index."""

    def at(mover: _Mover, extra: n.Expression | None) -> n.Expression | None:
        base, offset = mover.start, None
        match mover.start:
            case n.Binary("+", left, right):
                base, offset = left, right
            case n.Unary("&", n.Index(left, right)):
                base, offset = left, right
        moved: n.Expression = n.Name(index)
        if not _is_one(mover.step):
            moved = n.Binary("*", moved, mover.step)
        place = moved
        if offset is not None:
            first, second = (offset, moved) if _is_one(mover.step) else (moved, offset)
            place = n.Binary("+", first, second)
        if extra is not None:
            place = n.Binary("+", place, extra)
        return n.Index(base, place) if isinstance(base, n.Name) else None

    def change(part: n.Node) -> n.Node:
        match part:
            case n.Unary("*", n.Name(name=name)) if name in movers:
                return at(movers[name], None) or part
            case n.Index(n.Name(name=name), inner) if name in movers:
                return at(movers[name], inner) or part
            case n.Call(function, (n.Name(name=name),)) if loads_from(function) and name in movers:
                found = at(movers[name], None)
                return part if found is None else n.Call(function, (n.Unary("&", found),))
            case n.Name(name=name) if name in movers and types.get(name) in _NUMBERS:
                return _number(movers[name], index)
        return part

    return bottom_up(node, change)  # type: ignore[no-any-return]


_PURE = frozenset(
    "min max abs fma fmaf sqrtf rsqrtf __fmul_rn __fadd_rn __dmul_rn __dadd_rn "
    "__cvta_generic_to_shared".split()
)


def _renamed(node: n.Statement, names: set[str], value: n.Expression) -> n.Statement:
    """A statement with a value in the place of some variables."""

    def change(part: n.Node) -> n.Node:
        return value if isinstance(part, n.Name) and part.name in names else folded(part)

    return bottom_up(node, change)  # type: ignore[no-any-return]


def without_unread(body: Body) -> Body:
    """The body without assignments of variables that nobody reads."""
    while (shorter := _without_unread(body)) != body:
        body = shorter
    return body


def _without_unread(body: Body) -> Body:
    reads = Counter(name for s in body for name in _read_by_others(s))

    def walk(items: Body) -> Body:
        kept: list[n.Statement] = []
        for statement in items:
            name = _target(statement)
            if name and not reads[name] and isinstance(statement, n.Assign) and not any(
                isinstance(p, n.Call) and p.function not in _PURE for p in statement.value.walk()
            ):  # fmt: skip
                continue
            made = _with_bodies(statement, walk, lambda node: node)
            match made:
                case n.If(
                    condition=n.Binary(">=", left, n.Literal(value=1)),
                    then=(n.For(condition=n.Binary("<", n.Name(), right)) as loop,),
                    otherwise=(),
                ) if left == right and _from_zero(loop):
                    made = loop
                case n.If(condition, (n.For() as loop,), ()) if _asks_entry(condition, loop):
                    made = loop
            kept.append(made)
        return tuple(kept)

    return walk(body)


def _read_by_others(node: n.Node) -> Iterator[str]:
    """Variables that are read in a tree; what becomes something of itself is not read by that."""
    stack = [node]
    while stack:
        one = stack.pop()
        if isinstance(one, n.Assign) and isinstance(one.target, n.Name):
            yield from read(one.value)
        elif isinstance(one, n.Statement):
            stack += one.children()
        else:
            yield from read(one)


def _bare(value: n.Expression) -> n.Expression:
    """A number without a conversion to another sign."""
    return value.operand if isinstance(value, n.Cast) else value


def _asks_entry(condition: n.Expression, loop: n.For) -> bool:
    """Whether a condition asks what the loop asks before its first turn."""
    if loop.start is None:
        return condition == loop.condition
    match loop:
        case n.For(n.Assign(n.Name(name=index), first), n.Binary("<", n.Name(name=own), limit)):
            match condition:
                case n.Binary("<", one, two) | n.Binary(">", two, one):
                    same = _bare(one) == _bare(first) and _bare(two) == _bare(limit)
                    return index == own and same
    return False


def _from_zero(loop: n.For) -> bool:
    start = loop.start
    return isinstance(start, n.Assign) and start.value == n.Literal(0, INT)


def folded(node: n.Node) -> n.Node:
    """An expression without additions of 0 and multiplications by 0 or 1."""
    match node:
        case n.Binary("+", left, n.Literal(value=0)) | n.Binary("+", n.Literal(value=0), left):
            return left
        case n.Binary("-", left, n.Literal(value=0)):
            return left
        case n.Binary("*", n.Literal(value=0) as zero, _):
            return zero if zero.type.is_integer else node
        case n.Binary("*", _, n.Literal(value=0) as zero):
            return zero if zero.type.is_integer else node
    return node
