"""Loops of a known number of turns that the compiler does some turns of at once.

``for (i = 0; i < 512; i++) s += x[i]`` becomes a loop of 16 turns with 32 copies of the text in
each. Once those are a loop of their own (`copies`), both are one loop again. As in `roll` nothing
is proved here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Pointer, Type
from ptxkit.decompiler.lift.one_counter import ratio, split
from ptxkit.decompiler.lift.rewrite import bottom_up, loads_from, read, written

Body = tuple[n.Statement, ...]
_ENDS = frozenset(("!=", "<"))
_COMMUTE = frozenset("+*&|^")
_JUMPS = n.Break, n.Continue, n.Goto, n.Label, n.Return


@dataclass(frozen=True, slots=True)
class _Turns:
    """A loop that counts from a number to a number, and what is moved on in every turn."""

    counter: str
    start: int
    step: int
    end: int
    movers: dict[str, n.Expression]
    """By how much, the counter among them; all at the end of the loop's body."""
    rest: Body
    """What else is in it."""

    @property
    def count(self) -> int:
        """How many turns it has."""
        return (self.end - self.start) // self.step


@dataclass(slots=True)
class KnownTurns:
    """Rewrites the loops of one function."""

    types: dict[str, Type]
    counters: set[str] = field(default_factory=set)
    """What loops count with that several turns of were one."""
    names: Counter[str] = field(default_factory=Counter)

    # ---- before the copies are found ---------------------------------------------------------

    def with_one_mover(self, body: Body) -> Body:
        """The body with what moves on by the same step as a counter written by that counter."""
        self.names = _names(body)
        return self._each(body, self._joined)

    def _joined(self, made: list[n.Statement]) -> None:
        loop = made[-1]
        turns = _turns(made[:-1], loop)
        if turns is None:
            return
        assert isinstance(loop, n.DoWhile)
        base = self._base(turns, made[:-1])
        changed = {name for s in turns.rest for name in written(s)} | turns.movers.keys()
        rest, gone = turns.rest, set[str]()
        for name, step in turns.movers.items():
            place = _set_at(name, made[:-1])
            inside = sum(p == n.Name(name) for s in loop.body for p in s.walk())
            if name in (base, turns.counter) or step != turns.movers[base] or place is None:
                continue
            start = made[place]
            assert isinstance(start, n.Assign)
            if not changed.isdisjoint(read(start.value)) or inside + 1 != self.names[name]:
                continue
            # What the counter begins with is in it already.
            begin = turns.start if base == turns.counter else 0
            moved: list[tuple[int, n.Expression]] = [(1, n.Name(base)), (-1, n.integer(begin))]
            new = self._moved(rest, name, start.value, moved, base)
            if new is not None:
                rest = new
                gone.add(name)
        if gone:
            left = tuple(s for s in loop.body if _target(s) not in turns.movers)
            assert len(left) == len(turns.rest)
            kept = [s for s in loop.body if _target(s) in turns.movers.keys() - gone]
            starts = {_set_at(name, made[:-1]) for name in gone}
            made[:] = [s for k, s in enumerate(made[:-1]) if k not in starts]
            made.append(replace(loop, body=(*rest, *kept)))

    def _base(self, turns: _Turns, before: list[n.Statement]) -> str:
        """What the others are written by: what starts at 0, or the counter itself."""
        for name, step in turns.movers.items():
            place = _set_at(name, before)
            if step == turns.movers[turns.counter] and place is not None:
                start = before[place]
                assert isinstance(start, n.Assign)
                if _number(start.value) == 0 and self.types.get(name) == INT:
                    return name
        return turns.counter

    def _moved(
        self,
        body: Body,
        name: str,
        start: n.Expression,
        moved: list[tuple[int, n.Expression]],
        base: str,
    ) -> Body | None:
        """Statements without a variable that is its start and how far another one has moved on."""
        first = self.types.get(base)
        if not isinstance(self.types.get(name), Pointer):
            value = _sum([*_terms(start), *moved])
            made = _simplified(tuple(bottom_up(s, _instead(n.Name(name), value)) for s in body))
            return made if first == INT else None
        pointer, offset = split(start)
        if pointer is None:
            return None

        def use(part: n.Node) -> n.Node:
            match part:
                case n.Unary("*", n.Name(name=own)) if own == name:
                    return n.Index(pointer, _sum([*_terms(offset), *moved]))
                case n.Index(n.Name(name=own), inner) if own == name:
                    return n.Index(pointer, _sum([*_terms(offset), *moved, *_terms(inner)]))
                case n.Call(function, (n.Name(name=own),)) if own == name and loads_from(function):
                    element = n.Index(pointer, _sum([*_terms(offset), *moved]))
                    return n.Call(function, (n.Unary("&", element),))
            return part

        made = tuple(bottom_up(s, use) for s in body)
        return made if not any(name in s.names() for s in made) else None

    # ---- once the copies are a loop ------------------------------------------------------------

    def with_single_turns(self, body: Body) -> Body:
        """The body with loops inside of loops, that are one, as one."""
        self.names = _names(body)
        return self._each(body, self._single)

    def _single(self, made: list[n.Statement]) -> None:
        turns = _turns(made[:-1], made[-1])
        found = self._turn(turns.rest) if turns is not None else None
        if turns is None or found is None:
            return
        index, first, count, text = found
        steps = {name: ratio(step, n.integer(count)) for name, step in turns.movers.items()}
        if None in steps.values() or not _are_even(text, index, steps):
            return
        turn = _simplified(tuple(bottom_up(s, _instead(n.Name(index), n.integer(first)))
                                 for s in text))  # fmt: skip
        counter, start, step = turns.counter, turns.start, turns.step // count
        if not any(counter in s.names() for s in turn):
            start, step = 0, 1
        own = n.Name(counter)
        limit = start + step * count * turns.count
        others = tuple(n.Assign(n.Name(name), by, "+=") for name, by in steps.items()
                       if name != counter and by is not None)  # fmt: skip
        place = _set_at(counter, made[:-1])
        assert place is not None
        made[:] = [s for k, s in enumerate(made[:-1]) if k != place]
        made.append(n.For(
            n.Assign(own, n.integer(start)), n.Binary("<", own, n.integer(limit)),
            n.Assign(own, n.integer(step), "+="), (*turn, *others),
        ))  # fmt: skip
        self.types[counter] = INT
        self.counters.add(counter)

    def _turn(self, body: Body) -> tuple[str, int, int, Body] | None:
        """The index of the copies, its first value, how many they are, and their text."""
        body = _as_one(body)
        places = [k for k, s in enumerate(body) if isinstance(s, n.For)]
        if len(places) != 1:
            return None
        loop = body[places[0]]
        match loop:
            case n.For(
                n.Assign(n.Name(name=index), n.Literal(value=int() as first)),
                n.Binary("<", n.Name(name=asked), n.Literal(value=int() as end)),
                n.Assign(n.Name(name=moved), n.Literal(value=1), "+="),
                text,
            ) if index == asked == moved:
                pass
            case _:
                return None
        before, after = list(body[: places[0]]), list(body[places[0] + 1 :])

        def copy(number: int) -> list[n.Statement]:
            use = _instead(n.Name(index), n.integer(number))
            return [_plain(s) for s in _simplified(tuple(bottom_up(s, use) for s in text))]

        size = len(text)
        while [_plain(s) for s in before[-size:]] == copy(first - 1):
            del before[-size:]
            first -= 1
        while [_plain(s) for s in after[:size]] == copy(end):
            del after[:size]
            end += 1
        if before or after:
            renamed = self._last(before, after, copy(end))
            if renamed is None:
                return None
            old, new = renamed
            text = tuple(bottom_up(s, _instead(n.Name(old), n.Name(new))) for s in text)
            end += 1
        return index, first, end - first, text

    def _last(
        self, before: list[n.Statement], after: list[n.Statement], copy: list[n.Statement]
    ) -> tuple[str, str] | None:
        """``x = y; for (...) x = x + a; y = x + a``: the names of both, if that is all."""
        match before:
            case [n.Assign(n.Name(name=inner), n.Name(name=outer), "=")] if len(after) == len(copy):
                pass
            case _:
                return None
        known = [*before, *after]
        inside = sum(p == n.Name(inner) for s in known for p in s.walk())
        name = inner
        for one, two in zip(copy, after, strict=True):
            wanted = one
            if isinstance(one, n.Assign):
                value = bottom_up(one.value, _instead(n.Name(inner), n.Name(name)))
                if _target(one) == inner:
                    name = outer
                target = bottom_up(one.target, _instead(n.Name(inner), n.Name(name)))
                wanted = n.Assign(target, value, one.operator)
            if _plain(wanted) != _plain(two):
                return None
        return (inner, outer) if name == outer and inside else None

    # ---- lists of statements -------------------------------------------------------------------

    def _each(self, body: Body, change: Callable[[list[n.Statement]], None]) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            match statement:
                case n.If(then=then, otherwise=otherwise):
                    inner = self._each(then, change), self._each(otherwise, change)
                    statement = replace(statement, then=inner[0], otherwise=inner[1])
                case n.For(body=inside) | n.While(body=inside) | n.DoWhile(body=inside):
                    statement = replace(statement, body=self._each(inside, change))
            made.append(statement)
            change(made)
        return tuple(made)


def _as_one(body: Body) -> Body:
    """Loops that count alike, and are all there is, as one: each is about another sum."""
    match body:
        case (n.For(start=n.Assign(n.Name(name=index))) as first, second, *_):
            pass
        case _:
            return body
    text = list(first.body)
    sets = {name for s in first.body for name in written(s)}
    for loop in (second, *body[2:]):
        match loop:
            case n.For(start=n.Assign(n.Name(name=other))):
                renamed = bottom_up(loop, _instead(n.Name(other), n.Name(index)))
            case _:
                return body
        more = {name for s in renamed.body for name in written(s)}
        if replace(renamed, body=()) != replace(first, body=()) or not sets.isdisjoint(
            name for s in renamed.body for name in (*read(s), *written(s))
        ):
            return body
        if not more.isdisjoint(name for s in text for name in read(s)):
            return body
        text += renamed.body
        sets |= more
    return (replace(first, body=tuple(text)),)


def _turns(before: list[n.Statement], loop: n.Statement) -> _Turns | None:
    """What a loop counts, if it counts from a number to a number."""
    match loop:
        case n.DoWhile(body, n.Binary(operator, n.Name(name=counter), limit)) if operator in _ENDS:
            pass
        case _:
            return None
    end = _number(limit)
    place = _set_at(counter, before)
    if end is None or place is None:
        return None
    start = _number(before[place].value)  # type: ignore[union-attr]
    movers: dict[str, n.Expression] = {}
    rest = list(body)
    changed = Counter(name for s in body for name in written(s))
    while rest:
        match rest[-1]:
            case n.Assign(n.Name(name=name), step, "+=") if (
                changed[name] == 1 and changed.keys().isdisjoint(read(step))
                and not any(p == n.Name(name) for m in movers.values() for p in m.walk())
            ):  # fmt: skip
                movers[name] = step
                rest.pop()
            case _:
                break
    by = _number(movers.get(counter))
    if start is None or not by or (end - start) % by or (end - start) // by < 2:
        return None
    if any(isinstance(p, _JUMPS) for s in rest for p in s.walk()):
        return None
    return _Turns(counter, start, by, end, movers, tuple(rest))


def _set_at(name: str, before: list[n.Statement]) -> int | None:
    """Where a variable is set that something right behind a list begins with."""
    for place in range(len(before) - 1, -1, -1):
        if name in set(written(before[place])):
            match before[place]:
                case n.Assign(n.Name(name=own), value, "=") if own == name:
                    later = {x for s in before[place + 1 :] for x in written(s)}
                    return place if later.isdisjoint(read(value)) else None
            return None
    return None


def _are_even(text: Body, index: str, steps: dict[str, n.Expression | None]) -> bool:
    """Whether one copy more is what one turn more is: all that counts copies moves on, too."""
    numbers = {name: _number(step) for name, step in steps.items()}
    if None in numbers.values():
        return True  # the verifier will see
    moves = {index: -1} | {name: number or 0 for name, number in numbers.items()}

    def is_even(node: n.Node) -> bool:
        match node:
            case n.Index(n.Name() as base, inner):
                terms = [*_terms(inner), (1, base)]
            case n.Binary("+" | "-" | "*") | n.Name():
                terms = _terms(node)
            case _:
                return all(map(is_even, node.children()))
        names = [(k, t) for k, t in terms if isinstance(t, n.Name)]
        rest = [part for _, t in terms if not isinstance(t, n.Name) for part in t.children()]
        return not sum(k * moves.get(t.name, 0) for k, t in names) and all(map(is_even, rest))

    return all(map(is_even, text))


def _terms(node: n.Expression, times: int = 1) -> list[tuple[int, n.Expression]]:
    """What is added up, each with a number of times."""
    match node:
        case n.Binary("+", left, right):
            return [*_terms(left, times), *_terms(right, times)]
        case n.Binary("-", left, right):
            return [*_terms(left, times), *_terms(right, -times)]
        case n.Binary("*", left, n.Literal(value=int() as number)):
            return _terms(left, times * number)
    return [(times, node)]


def _sum(terms: list[tuple[int, n.Expression]]) -> n.Expression:
    """What is added up, and its numbers as one."""
    number = 0
    made: n.Expression | None = None
    for times, term in terms:
        known = _number(term)
        if known is not None:
            number += times * known
            continue
        part = term if abs(times) == 1 else n.Binary("*", term, n.integer(abs(times)))
        if made is None:
            made = part if times > 0 else n.Unary("-", part)
        else:
            made = n.Binary("+" if times > 0 else "-", made, part)
    if made is None:
        return n.integer(number)
    if not number:
        return made
    return n.Binary("+" if number > 0 else "-", made, n.integer(abs(number)))


def _simplified(body: Body) -> Body:
    """Statements whose indices have one number at most."""

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Index(base, n.Binary("+" | "-") as index):
                numbers = [t for _, t in _terms(index) if _number(t) is not None]
                if len(numbers) > 1 or any(_number(t) == 0 for t in numbers):
                    return n.Index(base, _sum(_terms(index)))
            case n.Binary("+" | "-", left, right) if _number(right) == 0:
                return left
            case n.Binary("+", left, right) if _number(left) == 0:
                return right
            case n.Binary("*", _, right) if _number(right) == 0:
                return n.integer(0)
        return node

    return tuple(bottom_up(s, change) for s in body)


def _plain(statement: n.Statement) -> n.Statement:
    """A statement as all that mean the same are written: for a comparison."""

    def order(node: n.Node) -> n.Node:
        match node:
            case n.Binary(operator, left, right) if operator in _COMMUTE:
                first, second = sorted((left, right), key=repr)
                return n.Binary(operator, first, second)
            case n.Assign(target, value, operator) if operator != "=":
                return order_assign(target, operator, value)
            case n.Unary("*", operand):
                return n.Index(operand, n.integer(0))
        return node

    def order_assign(target: n.Expression, operator: str, value: n.Expression) -> n.Assign:
        whole = n.Binary(operator[:-1], target, value)
        return n.Assign(target, order(whole))  # type: ignore[arg-type]

    return bottom_up(statement, order)  # type: ignore[no-any-return]


def _number(node: n.Node | None) -> int | None:
    match node:
        case n.Literal(value=bool()):
            return None
        case n.Literal(value=int() as value):
            return value
    return None


def _names(body: Body) -> Counter[str]:
    return Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))


def _target(node: n.Statement) -> str:
    match node:
        case n.Assign(n.Name(name=name)):
            return name
    return ""


def _instead(old: n.Expression, new: n.Expression) -> Callable[[n.Node], n.Node]:
    return lambda node: new if node == old else node
