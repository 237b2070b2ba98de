"""Loops with one counter: what moves along with it, written by it again.

Compilers make ``for (i = a; i < n; i += 32) s += x[i * w + j]`` a loop with two counters, ``i`` and
the index, which starts at ``a * w + j`` and moves on by ``w * 32``. Where start and step of a
variable are those of the counter times one number, plus another, that is what it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, LONG_LONG, UINT, UNSIGNED_LONG_LONG, Pointer, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, loads_from, rebuilt, terms_of, written

Body = tuple[n.Statement, ...]
_NUMBERS = INT, UINT, LONG_LONG, UNSIGNED_LONG_LONG
_COMPARED = frozenset("< > <= >= / % >>".split())


def with_one_counter(body: Body, types: dict[str, Type]) -> Body:
    """A function's body whose loops have one counter each, as far as that can be."""
    names = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    sets = Counter(name for s in body for name in written(s))
    values = {p.target.name: p.value for s in body for p in s.walk()
              if isinstance(p, n.Assign) and isinstance(p.target, n.Name) and p.operator == "="
              and isinstance(p.value, n.Binary) and sets[p.target.name] == 1}  # fmt: skip
    return _Loops(types, names, values).run(body)


@dataclass(frozen=True, slots=True)
class _Counter:
    """What a loop counts with: it starts at a value, and takes a step after every turn."""

    name: str
    start: n.Expression
    step: n.Expression


@dataclass(slots=True)
class _Loops:
    types: dict[str, Type]
    names: Counter[str]
    """How often each name is in the function."""
    values: dict[str, n.Binary]
    """What variables hold that are set once."""

    def run(self, body: Body) -> Body:
        """A list of statements, and those inside of them."""
        made: list[n.Statement] = []
        for statement in body:
            made.append(self._inside(statement))
            if isinstance(made[-1], n.For):
                self._reduce(made)
            elif (counting := _counting(made[-1])) is not None:
                tried: list[n.Statement] = [*made[:-1], counting]
                self._reduce(tried)
                if tried[-1] is not counting:
                    made = [*tried[:-1], _as_it_was(made[-1], tried[-1])]
        return tuple(made)

    def _inside(self, statement: n.Statement) -> n.Statement:
        match statement:
            case n.If(then=then, otherwise=otherwise):
                return replace(statement, then=self.run(then), otherwise=self.run(otherwise))
            case n.For(body=body) | n.While(body=body) | n.DoWhile(body=body):
                return replace(statement, body=self.run(body))
        return statement

    def _reduce(self, made: list[n.Statement]) -> None:
        """Write what moves along in the last loop of a list by the loop's counter."""
        loop = made[-1]
        assert isinstance(loop, n.For)
        counter = self._counter(loop, made[:-1])
        if counter is None or any(
            isinstance(p, n.Continue | n.Goto | n.Label) for s in loop.body for p in s.walk()
        ):
            return
        for statement in loop.body:
            match statement:
                case n.Assign(n.Name(name=name), step, "+=") if name != counter.name:
                    made[:] = self._without(made, counter, name, step) or made

    def _counter(self, loop: n.For, before: list[n.Statement]) -> _Counter | None:
        match loop.step:
            case n.Assign(n.Name(name=name), step, "+="):
                start = loop.start or _last_set(name, before)
            case _:
                return None
        changed = {written_to for s in loop.body for written_to in written(s)}
        if name in changed or not changed.isdisjoint(step.names()):
            return None
        if start is None and not any(name in written(s) for s in before):
            return _Counter(name, n.Name(name), step)  # it began somewhere around
        if not isinstance(start, n.Assign) or start.target != n.Name(name) or start.operator != "=":
            return None
        return _Counter(name, start.value, step)

    def _without(
        self, made: list[n.Statement], counter: _Counter, name: str, by: n.Expression
    ) -> list[n.Statement] | None:
        """The list without a variable of its last loop; None where that cannot be."""
        loop = made[-1]
        assert isinstance(loop, n.For)
        type = self.types.get(name)
        start = _last_set(name, made[:-1])
        if start is None or not (type in _NUMBERS or isinstance(type, Pointer)):
            return None
        own = n.Assign(n.Name(name), by, "+=")
        place = loop.body.index(own)
        rest = (*loop.body[:place], *loop.body[place + 1 :])
        changed = {x for s in rest for x in written(s)} | {counter.name}
        inside = sum(p == n.Name(name) for s in rest for p in s.walk())
        later = any(name in s.names() for s in rest[place:])
        if later or name in changed or inside + 2 != self.names[name]:
            return None
        times = ratio(by, counter.step)
        if times is None:
            return None
        base, offset = split(start.value) if isinstance(type, Pointer) else (None, start.value)
        wholes = [offset]
        if isinstance(offset, n.Name) and offset.name in self.values:
            wholes.append(self.values[offset.name])
        # The counter itself is where it starts, too: it has that value still.
        begins = counter.start, n.Name(counter.name)
        left = (remainder(whole, times, begin) for whole in wholes for begin in begins)
        fixed = next((one for one in left if one is not None), None)
        if fixed is None or (isinstance(type, Pointer) and base is None):
            return None
        parts = [by, fixed, *([base] if base is not None else [])]
        if any(not changed.isdisjoint(part.names()) for part in parts):
            return None
        moved = product(n.Name(counter.name), times)
        offset, more = _apart(fixed) if base is None else (fixed, 0)
        first = next(k for k in range(len(made) - 2, -1, -1) if made[k] is start)
        kept = [s for k, s in enumerate(made[:-1]) if k != first]
        if base is None and infer(offset, self.types) == UINT and type == INT:
            # What it starts at is a number with a sign because it was a variable.
            kept.insert(first, replace(start, value=offset))
            offset = n.Name(name)
        index = moved if offset == n.integer(0) else n.Binary("+", moved, offset)
        if base is None and is_compared(rest, name, index, self.types):
            if offset == n.Name(name):
                return None
            body = (n.Assign(n.Name(name), _plus(index, more)), *rest)
            return [*kept, replace(loop, body=body)]
        if base is None:
            return [*kept, replace(loop, body=tuple(_moved(s, name, index, more) for s in rest))]
        use = element(name, base, index)
        body = tuple(bottom_up(s, use) for s in rest)
        if any(name in s.names() for s in body):
            return None
        return [*kept, replace(loop, body=body)]


def _counting(loop: n.Statement) -> n.For | None:
    """A loop that ends with a step of what it asks for, as one that has that step in its head."""
    match loop:
        case n.While(
            condition, (*body, n.Assign(n.Name(name=name), _, "+=") as step), unroll
        ) | n.DoWhile((*body, n.Assign(n.Name(name=name), _, "+=") as step), condition, unroll) if (
            name in condition.names()
        ):
            return n.For(None, condition, step, tuple(body), unroll)
    return None


def _as_it_was(before: n.Statement, loop: n.Statement) -> n.Statement:
    """A loop with its step in its body again."""
    assert isinstance(before, n.While | n.DoWhile) and isinstance(loop, n.For) and loop.step
    return replace(before, body=(*loop.body, loop.step))


def is_compared(body: Body, name: str, value: n.Expression, types: Mapping[str, Type]) -> bool:
    """Whether a variable is compared that what it is computed by has another type than.

    What is compared has a type of its own then: that of a variable.
    """
    if infer(value, types) == types.get(name):
        return False
    return any(
        isinstance(p, n.Binary) and p.operator in _COMPARED and name in p.names()
        for s in body
        for p in s.walk()
    )


def _last_set(name: str, before: list[n.Statement]) -> n.Assign | None:
    """What sets a variable last in a list, if what it is set to stays the same until its end."""
    later: set[str] = set()
    for statement in reversed(before):
        changed = set(written(statement))
        if name in changed:
            match statement:
                case n.Assign(n.Name(name=own), value, "=") if own == name:
                    return statement if later.isdisjoint(value.names()) else None
            return None
        later |= changed
    return None


def split(start: n.Expression) -> tuple[n.Expression | None, n.Expression]:
    """A pointer and what is added to it."""
    match start:
        case n.Name():
            return start, n.integer(0)
        case n.Binary("+", n.Name() as base, offset):
            return base, offset
        case n.Unary("&", n.Index(n.Name() as base, offset)):
            return base, offset
    return None, start


def ratio(by: n.Expression, step: n.Expression) -> n.Expression | None:
    """How often one step is in another one."""
    if by == step:
        return n.integer(1)
    match by, step:
        case _, n.Literal(value=1):
            return by
        case n.Literal(value=int() as one), n.Literal(value=int() as two) if two and not one % two:
            return n.integer(one // two)
        case n.Binary("<<", x, n.Literal(value=int() as count)), n.Literal(value=int() as two) if (
            two and not (1 << count) % two
        ):
            return product(x, n.integer((1 << count) // two))
        case n.Binary("*", x, n.Literal(value=int() as one)), n.Literal(value=int() as two) if (
            two and not one % two
        ):
            return product(x, n.integer(one // two))
        case n.Binary("*", x, y), _ if y == step:
            return x
        case n.Binary("*", x, y), _ if x == step:
            return y
    return None


def product(x: n.Expression, times: n.Expression) -> n.Expression:
    return x if times == n.integer(1) else n.Binary("*", x, times)


def remainder(total: n.Expression, times: n.Expression, start: n.Expression) -> n.Expression | None:
    """What is left of a sum without a product; None where that is not in it."""
    if start == n.integer(0):
        return total
    match total, times, start:
        case n.Literal(value=int() as a), n.Literal(value=int() as b), n.Literal(value=int() as c):
            return n.integer(a - b * c)
    terms = terms_of(total)
    wanted = [product(start, times), n.Binary("*", times, start)]
    match times:
        case n.Literal(value=int() as number) if number > 1 and not number & (number - 1):
            wanted.append(n.Binary("<<", start, n.integer(number.bit_length() - 1)))
    found = next((k for k, term in enumerate(terms) if term in wanted), None)
    if found is None:
        return None
    left = terms[:found] + terms[found + 1 :]
    if not left:
        return n.integer(0)
    made = left[0]
    for term in left[1:]:
        made = n.Binary("+", made, term)
    return made


def _apart(total: n.Expression) -> tuple[n.Expression, int]:
    """A sum without the numbers in it, and the sum of those."""
    terms = terms_of(total)
    rest = [term for term in terms if _value(term) is None]
    if not rest:
        return n.integer(0), sum(_value(term) or 0 for term in terms)
    made = rest[0]
    for term in rest[1:]:
        made = n.Binary("+", made, term)
    return made, sum(_value(term) or 0 for term in terms)


def _value(term: n.Expression) -> int | None:
    match term:
        case n.Literal(value=int() as value, type=type) if type == INT:
            return value
    return None


def _plus(total: n.Expression, number: int) -> n.Expression:
    if not number:
        return total
    return n.Binary("+" if number > 0 else "-", total, n.integer(abs(number)))


def _moved(node: n.Statement, name: str, value: n.Expression, more: int) -> n.Statement:
    """A statement with a sum and a number in the place of a variable: numbers are added up."""

    def moved(part: Any) -> Any:
        match part:
            case n.Name(name=own) if own == name:
                return _plus(value, more)
            case n.Binary("+" | "-" as sign, n.Name(name=own), n.Literal(value=int() as by)) if (
                own == name
            ):
                return _plus(value, more + (by if sign == "+" else -by))
        return rebuilt(part, moved)

    return cast(n.Statement, moved(node))


def element(name: str, base: n.Expression, index: n.Expression) -> Callable[[n.Node], n.Node]:
    """What a pointer that moves along points to, as an element of what it moves through."""

    def use(part: n.Node) -> n.Node:
        match part:
            case n.Unary("*", n.Name(name=own)) if own == name:
                return n.Index(base, index)
            case n.Index(n.Name(name=own), offset) if own == name:
                return n.Index(base, n.Binary("+", index, offset))
            case n.Call(function, (n.Name(name=own),)) if own == name and loads_from(function):
                return n.Call(function, (n.Unary("&", n.Index(base, index)),))
        return part

    return use
