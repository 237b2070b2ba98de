"""Loops that the compiler wrote out: their copies, found and rolled up again.

A loop of a known number of turns is often no loop any more. Its copies stand behind one another
(`_roll_runs`), or inside one another, as the long sum that a loop adds up (`_roll_chain`). As in
`roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, Scalar, Type
from ptxkit.decompiler.lift.chains import OPERATORS, Computed, chain_of, reads_of
from ptxkit.decompiler.lift.end_turns import further_turn
from ptxkit.decompiler.lift.fixed_bounds import with_fixed_bounds
from ptxkit.decompiler.lift.grids import alike, spelled_term, window
from ptxkit.decompiler.lift.one_name import with_one_name
from ptxkit.decompiler.lift.rewrite import (
    bodies_of,
    bottom_up,
    has_effect,
    read,
    statements_of,
    written,
)
from ptxkit.decompiler.lift.sizes import asked_for
from ptxkit.decompiler.lift.spread import spread
from ptxkit.decompiler.lift.unify import (
    Counted,
    DifferentError,
    Holes,
    counted_before,
    counter,
    shape,
)

Body = tuple[n.Statement, ...]
#: A loop is worth it from so many copies on.
_LEAST = 3
_LEAST_TERMS = 4
#: And for a sum inside of something else, which is given a name for that.
_LEAST_PART = 8
#: And for whole numbers that nothing was computed of before, from the first of them on.
_LEAST_UNNAMED = 6
#: Where a loop does two turns at once, so many statements are worth it.
_TWO, _LEAST_OF_PAIR = 2, 4
#: Statements in one copy at most.
_LONGEST = 24
#: Runs of one list that are tried.
_MOST_RUNS = 200
#: Statements behind the last copy in which its value is looked for.
_NEAR = 16
#: Copies that are looked at first: most runs are none, and their first ones show it. And how often
#: the statements of a list may be looked at to find those that are.
_SAMPLE, _PATIENCE = 4, 5
_JUMPS = n.Break, n.Continue, n.Goto, n.Label


@dataclass(slots=True)
class Copies:
    """Rolls up the copies in one function's body."""

    types: dict[str, Type]
    fresh: Callable[[str], str]
    """Makes the name of an index, if it can the one that is wished for."""
    known: Mapping[str, Type] | None = None
    """The types of arrays, too."""
    reads: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    renamed: dict[str, str] = field(default_factory=dict)
    shapes: dict[int, tuple[n.Statement, int]] = field(default_factory=dict)
    keys: dict[object, int] = field(default_factory=dict)
    values: dict[str, n.Expression] = field(default_factory=dict)
    spelled: dict[tuple[str, int], n.Node] = field(default_factory=dict)
    """Of variables that are set once."""
    shorter: bool = False
    """Whether a loop computes what there were variables for."""
    facts: dict[int, tuple[n.Statement, frozenset[str] | None]] = field(default_factory=dict)

    def run(self, body: Body) -> Body:
        """The body with its copies as loops; the same body where there are none."""
        whole, body = body, with_one_name(body, self.types)
        self._replace([], 0, 0, [*body])
        self.spelled.clear()
        self.values = {
            s.target.name: s.value for s in statements_of(body)
            if isinstance(s, n.Assign) and isinstance(s.target, n.Name) and s.operator == "="
            and self.writes[s.target.name] == 1
        }  # fmt: skip
        made = self._list(body)
        if made is body:
            return whole
        if self.renamed:
            made = tuple(bottom_up(statement, self._new_name) for statement in made)
        return made

    def _new_name(self, node: n.Node) -> n.Node:
        if isinstance(node, n.Name):
            name = node.name
            while name in self.renamed:
                name = self.renamed[name]
            return n.Name(name)
        return node

    def _replace(
        self, body: list[n.Statement], start: int, count: int, made: list[n.Statement]
    ) -> None:
        for statements, sign in ((body[start : start + count], -1), (made, 1)):
            for statement in statements:
                for name in read(statement):
                    self.reads[name] += sign
                for name in written(statement):
                    self.writes[name] += sign
        body[start : start + count] = made

    def _list(self, body: Body) -> Body:
        made = _late([self._inside(statement) for statement in body])
        tried: set[int] = set()
        for place in range(len(made) - 1, -1, -1):
            # What was computed before, for this alone, may be gone.
            if place >= len(made) or id(made[place]) in tried:
                continue
            if self._roll_chain(made, place, tried) or self._roll_part(made, place):
                self.shorter = True
        if self.shorter:
            self._without_unread(made)
        self._roll_all(made)
        apart = spread(made)
        if apart is not None:
            together = [*made]
            self._replace(made, 0, len(made), apart)
            if not self._roll_all(made):
                self._replace(made, 0, len(made), together)
        same = len(made) == len(body) and all(a is b for a, b in zip(made, body, strict=True))
        return body if same else tuple(made)

    def _inside(self, node: n.Statement) -> n.Statement:
        match node:
            case n.If(condition, then, otherwise):
                inner = self._list(then), self._list(otherwise)
                same = inner[0] is then and inner[1] is otherwise
                return node if same else n.If(condition, *inner)
            case n.While(body=body) | n.DoWhile(body=body) | n.For(body=body):
                made = self._pair(self._list(body))
                return node if made is body else replace(node, body=made)
        return node

    def _pair(self, body: Body) -> Body:
        """The body of a loop that does two turns at once, as what its counter tells, rolled up."""
        end = len(body)
        while end and (_step(body[end - 1])):
            end -= 1
        steps = {_step(statement) for statement in body[end:]}
        if _TWO not in steps or end % 2 or end < _LEAST_OF_PAIR:
            return body
        made = [*body]
        found = self._loop(made, 0, end // 2, _TWO)
        if found is None or found[0] != end:
            return body
        self._replace(made, 0, end, found[1])
        return tuple(made)

    def _index(self, counted: Counted) -> str:
        return self._counter("" if counted.step[0] == "+=" else "stride")

    def _counter(self, wish: str) -> str:
        name = self.fresh(wish)
        self.types[name] = INT
        return name

    # ---- copies behind one another -----------------------------------------------------------

    def _roll_all(self, body: list[n.Statement]) -> bool:
        """Roll up all runs in a list of statements; whether there was one."""
        left = _PATIENCE * len(body)
        rolled = False
        while left > 0:
            left = self._roll_runs(body, left)
            rolled = rolled or left > 0
        return rolled

    def _roll_runs(self, body: list[n.Statement], left: int) -> int:
        """Roll up the runs of copies in a list of statements.

        ``left`` is how many statements may be looked at; what is left then, 0 if there was no run.
        """
        shapes = [self._shape(s) for s in body]
        ends = [isinstance(s, n.Evaluate) for s in body]
        done: list[tuple[int, int, list[n.Statement]]] = []
        for start, size, count in islice(_runs(shapes, ends), _MOST_RUNS):
            if any(start < end and at < start + size * count for at, end, _ in done):
                continue
            left -= size * _SAMPLE
            if left < 0 or not self._are_turns(body, start, size, min(count, _SAMPLE)):
                continue
            for number in range(count, max(count - 3, _LEAST - 1), -1):
                left -= number * size
                if left < 0:
                    break
                first = start
                made = self._longer(body, start, size, number)
                if made is None and (ended := self._ended(body, start, size, number)) is not None:
                    first, made = ended
                made = made or self._loop(body, start, size, number)
                if made is not None:
                    if not any(first < end and at < first + made[0] for at, end, _ in done):
                        done.append((first, first + made[0], made[1]))
                    break
        for start, end, statements in sorted(done, reverse=True, key=lambda run: run[0]):
            self._replace(body, start, end - start, statements)
        return left - len(body) if done else 0

    def _are_turns(self, body: list[n.Statement], start: int, size: int, count: int) -> bool:
        """Whether the first copies of a run may be turns of a loop."""
        copies = [tuple(body[start + k * size : start + (k + 1) * size]) for k in range(count)]
        holes = Holes()
        try:
            text = holes.unify(copies)
        except DifferentError:
            return False
        fewer = counter(holes.numbers, count) is not None or counted_before(holes.numbers, count)
        return bool(fewer) and _Names(self, holes.names, copies, text).solved()

    def _shape(self, statement: n.Statement) -> int:
        known = self.shapes.get(id(statement))
        if known is None:
            key = self.keys.setdefault(shape(statement, self._shape), len(self.keys))
            # The statement is kept, so that no other one is taken for it.
            known = self.shapes[id(statement)] = statement, key
        return known[1]

    def _longer(
        self, body: list[n.Statement], start: int, size: int, count: int
    ) -> tuple[int, list[n.Statement]] | None:
        """As `_loop`, with one more copy that was not complete."""
        completed = self._completed(body, start, size, count)
        if completed is None:
            return None
        fresh, longer = completed
        for name in fresh:
            self.reads[name] = self.writes[name] = 1
        made = self._loop(longer, 0, size, count + 1)
        for name in fresh:
            self.reads[name] = self.writes[name] = 0
        if made is None or made[0] != (count + 1) * size:
            return None
        return len(longer) - len(fresh), [*made[1], *longer[made[0] :]]

    def _completed(
        self, body: list[n.Statement], start: int, size: int, count: int
    ) -> tuple[list[str], list[n.Statement]] | None:
        """The statements with one more copy, whose last values are computed where they are used.

        That is what becomes of the last turn of a loop whose results are used once.
        """
        end = start + count * size
        targets = [_target(s) for s in body[end - 2 * size : end]]
        if size < 2 or "" in targets or len(targets) < 2 * size:
            return None
        # What a value is made of, one copy on.
        names = dict(zip(targets[:size], targets[size:], strict=True))

        def on(node: n.Node) -> n.Node:
            return n.Name(names.get(node.name, node.name)) if isinstance(node, n.Name) else node

        last: list[n.Statement] = []
        missing: dict[str, n.Expression] = {}
        at = end
        for one in body[end - size : end]:
            assert isinstance(one, n.Assign) and isinstance(one.target, n.Name)
            wanted = bottom_up(one.value, on)
            found = _target(body[at]) if at < len(body) else ""
            if found and (has_effect(wanted) or body[at].value == wanted):  # type: ignore[union-attr]
                last.append(body[at])
                at += 1
            elif has_effect(wanted):
                return None
            else:
                found = f"{one.target.name}_"
                self.types[found] = self.types[one.target.name]
                missing[found] = wanted
                last.append(n.Assign(n.Name(found), wanted))
            names[one.target.name] = found
        users = self._users(body, at, missing)
        if users is None:
            return None
        return [*missing], [*body[start:end], *last, *users]

    def _users(
        self, body: list[n.Statement], at: int, values: dict[str, n.Expression]
    ) -> list[n.Statement] | None:
        """Statements from a place on that use each of some values once, by a name."""
        made = body[at : at + _NEAR + 1]
        furthest = 0
        for name, value in values.items():
            places = [k for k, s in enumerate(made) for p in s.walk() if p == value]
            if len(places) != 1:
                return None
            furthest = max(furthest, places[0] + 1)
            made[places[0]] = bottom_up(made[places[0]], partial(_by_name, value, n.Name(name)))
        return made[:furthest] if values else None

    def _ended(
        self, body: list[n.Statement], start: int, size: int, count: int
    ) -> tuple[int, tuple[int, list[n.Statement]]] | None:
        """As `_loop`, with one more turn before or behind of which less is left; and its place."""
        copies = [tuple(body[start + k * size : start + (k + 1) * size]) for k in range(count)]
        holes = Holes()
        try:
            text = holes.unify(copies)
        except DifferentError:
            return None
        counted = counter(holes.numbers, count)
        if counted is None or not holes.numbers:
            return None
        plain = _plain_before(body, start) if size < start else 0
        for at, copy, value in (
            (start - size - plain, 0, counted.at(-1)),
            (start + count * size, -1, counted.at(count)),
        ):
            kept = body[at : at + size] if at >= 0 else []
            names = {hole: row[copy] for hole, row in holes.names.items()}
            if value is None or len(kept) < size:
                continue
            turn = further_turn(text, counted, value, names, kept)
            if turn is None:
                continue
            # What is computed between the first turn and the others is computed before both.
            between = body[at + size : start] if at < start else []
            first = min(start, at)
            self._replace(body, at, size + len(between), [*between, *turn])
            made = self._loop(body, first + len(between), size, count + 1)
            self._replace(body, at, size + len(between), [*kept, *between])
            if made is not None and made[0] == (count + 1) * size:
                return first, (len(between) + made[0], [*between, *made[1]])
        return None

    def _loop(
        self, body: list[n.Statement], start: int, size: int, count: int
    ) -> tuple[int, list[n.Statement]] | None:
        """So many statements as a loop; fewer, where only the first copies are counted."""
        copies = [tuple(body[start + k * size : start + (k + 1) * size]) for k in range(count)]
        if any(isinstance(p, n.Goto | n.Label) for s in copies[0] for p in s.walk()):
            return None
        if size == 1 and count < _LEAST_TERMS and not bodies_of(copies[0][0]):
            return None
        holes = Holes()
        try:
            text = holes.unify(copies)
        except DifferentError:
            return None
        counted = counter(holes.numbers, count)
        if counted is None:
            fewer = counted_before(holes.numbers, count)
            return self._loop(body, start, size, fewer) if fewer >= _LEAST else None
        names = _Names(self, holes.names, copies, text)
        if not (holes.numbers or holes.names) or not names.solved():
            return None
        text = tuple(bottom_up(s, names.fill) for s in text)
        self.renamed.update(names.renamed)
        loop = counted.loop(self._index(counted), text)
        loop = asked_for(replace(loop, body=with_fixed_bounds(loop.body)))
        return count * size, [*names.before, loop]

    # ---- one inside the other ----------------------------------------------------------------

    def _roll_chain(self, body: list[n.Statement], place: int, tried: set[int]) -> bool:
        """Roll up the sum that a statement computes, its terms written out before it or in it."""
        statement = body[place]
        if not isinstance(statement, n.Assign) or statement.operator not in ("=", "+="):
            return False
        target, value = statement.target, statement.value
        if statement.operator == "+=":
            value = n.Binary("+", target, value)
        computed = Computed.before(body, place, value, self._is_used_once, self._reads_of)
        found = chain_of(value, computed)
        if found is None or len(found.terms) < _LEAST_TERMS:
            return False
        tried.update(id(body[k]) for k in computed.used())
        type = infer(value, self.known or self.types)
        if isinstance(type, Scalar) and type.is_integer:
            found = found.from_nothing(_LEAST_TERMS) or found
        first, grid = found.first, window(found.terms, self.values, self.spelled)
        rolled = found.rolled(_LEAST_TERMS) if grid is None else None
        if rolled is None and grid is None and len(found.terms) >= _LEAST_PART:
            # What is used for something else, too, has a name.
            spelled = partial(spelled_term, values=self.values, known=self.spelled)
            if alike([spelled(term) for term in found.terms[-_LEAST:]]):
                terms = [spelled(term) for term in found.terms]
                rolled = replace(found, terms=terms).rolled(_LEAST_PART)
        if grid is not None:
            text = grid.text
        elif rolled is not None:
            first, text, counted = rolled
        else:
            return False
        # What is stored is added up in what was computed for it before.
        name = target if isinstance(target, n.Name) else found.before
        if name is None and len(found.terms) >= _LEAST_UNNAMED and first == n.integer(0):
            name = n.Name(self._counter("sum"))
            self.types[name.name] = type
        if name is None or any(part == name for part in text.walk()):
            return False
        kind = found.kind
        own = name

        def step(term: n.Expression) -> n.Assign:
            if kind in OPERATORS:
                return n.Assign(own, term, f"{kind}=")
            return n.Assign(own, n.Call(kind, (own, term)))

        made: list[n.Statement] = [] if first == name else [n.Assign(name, first)]
        if grid is not None:
            made.append(grid.loops(self._counter("dy"), self._counter("dx"), step))
        else:
            made.append(counted.loop(self._index(counted), (step(text),)))
        if name != target:
            made.append(n.Assign(target, name))
        self._replace(body, place, 1, made)
        for gone in sorted(computed.used(), reverse=True):
            self._replace(body, gone, 1, [])
        return True

    def _roll_part(self, body: list[n.Statement], place: int) -> bool:
        """Roll up a sum that is a part of what a statement computes."""
        statement = body[place]
        if not isinstance(statement, n.Assign) or not isinstance(statement.value, n.Binary):
            return False
        if statement.value.operator == "+":
            return False  # all of it is the sum
        for part in (statement.value.left, statement.value.right):
            if not isinstance(part, n.Binary) or part.operator != "+":
                continue
            computed = Computed.before(body, place, part, self._is_used_once, self._reads_of)
            found = chain_of(part, computed)
            if found is None or found.before is None or len(found.terms) < _LEAST_PART:
                continue
            name = f"{found.before.name}_"
            self.types[name] = self.types[found.before.name]
            changed = bottom_up(statement, partial(_by_name, part, n.Name(name)))
            self._replace(body, place, 1, [n.Assign(n.Name(name), part), changed])
            if self._roll_chain(body, place, set()):
                return True
            self._replace(body, place, 2, [statement])
        return False

    def _without_unread(self, body: list[n.Statement]) -> None:
        """Leave out what was computed for terms that a loop computes by itself."""
        for place in range(len(body) - 1, -1, -1):
            name = _target(body[place])
            if name and not self.reads[name] and self._reads_of(body[place]) is not None:
                self._replace(body, place, 1, [])

    def _reads_of(self, statement: n.Statement) -> frozenset[str] | None:
        known = self.facts.get(id(statement))
        if known is None:
            # The statement is kept, so that no other one is taken for it.
            known = self.facts[id(statement)] = statement, reads_of(statement)
        return known[1]

    def _is_used_once(self, name: str) -> bool:
        return self.reads[name] == 1 and self.writes[name] == 1


def _plain_before(body: list[n.Statement], start: int) -> int:
    """How many statements before a place do no more than compute, with nothing that is loaded."""
    count = 0
    while count < start and _computes(body[start - count - 1]):
        count += 1
    return count


def _computes(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), value, "="):
            return not any(isinstance(p, n.Index | n.Call | n.Unary) for p in value.walk())
    return False


def _step(node: n.Statement) -> int:
    """How far a statement moves a variable, if that is all that it does."""
    match node:
        case n.Assign(n.Name(), n.Literal(value=int(value)), "+="):
            return value
    return 0


def _by_name(value: n.Expression, name: n.Name, node: n.Node) -> n.Node:
    return name if node == value else node


def _target(node: n.Statement) -> str:
    """The variable that a statement sets; nothing where it does something else."""
    match node:
        case n.Assign(n.Name(name=name), _, "="):
            return name
    return ""


def _late(body: list[n.Statement]) -> list[n.Statement]:
    """Numbers that variables begin with, moved to where those are used.

    A compiler sets them all together, far from the copies that they belong to.
    """
    moved: dict[int, list[n.Statement]] = {}
    begun = [k for k, s in enumerate(body) if _begins(s)]
    if not begun:
        return body
    uses = _uses(body, {body[k].target.name for k in begun})  # type: ignore[union-attr]
    first, gone = set(begun), set[int]()
    for place in begun:
        statement = body[place]
        assert isinstance(statement, n.Assign) and isinstance(statement.target, n.Name)
        later = next((k for k in uses[statement.target.name] if k > place), None)
        if later is None or isinstance(body[later], n.For):
            continue
        between = [k for k in range(place + 1, later) if k not in first]
        if between and not any(_leaves(body[k]) for k in between):
            moved.setdefault(later, []).append(statement)
            gone.add(place)
    return [
        one
        for k, s in enumerate(body)
        for one in (*moved.get(k, ()), s)
        if k not in gone or one is not s
    ]


def _leaves(node: n.Statement) -> bool:
    """Whether a statement may go on elsewhere, where a variable may be asked for."""
    return any(isinstance(s, _JUMPS) for s in statements_of((node,)))


def _begins(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), n.Literal(), "="):
            return True
    return False


def _uses(body: list[n.Statement], names: set[str]) -> dict[str, list[int]]:
    """The statements that have a name anywhere in them."""
    found: dict[str, list[int]] = {name: [] for name in names}
    for place, statement in enumerate(body):
        for name in {p.name for p in statement.walk() if isinstance(p, n.Name)} & names:
            found[name].append(place)
    return found


def _runs(shapes: list[int], ends: list[bool]) -> Iterator[tuple[int, int, int]]:
    """Where something may be repeated: the start, the size of a copy, how many; most first.

    Copies of the same text begin anywhere in it; people end them with a barrier.
    """
    found: list[tuple[int, int, int]] = []
    for size in range(1, min(_LONGEST, len(shapes) // _LEAST) + 1):
        start = 0
        while start + _LEAST * size <= len(shapes):
            end = start
            while end + size < len(shapes) and shapes[end] == shapes[end + size]:
                end += 1
            count = (end - start) // size + 1
            if count >= _LEAST:
                for shift in range(min(size, end - start - (_LEAST - 1) * size + 1)):
                    found.append((start + shift, size, (end - start - shift) // size + 1))
            start = max(end, start) + 1
    yield from sorted(
        found, key=lambda run: (-run[1] * run[2], run[1], not ends[run[0] + run[1] - 1], run[0])
    )


# ---- names -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Names:
    """What the variables of copies are in the loop: one for each that a copy has for itself, and
    one for each that a copy hands to the next."""

    owner: Copies
    holes: dict[str, tuple[str, ...]]
    copies: list[Body]
    text: Body
    chosen: dict[str, str] = field(default_factory=dict)
    before: list[n.Statement] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)

    def solved(self) -> bool:
        """Whether a name was found for every hole."""
        inside = [Counter(name for s in copy for name in read(s)) for copy in self.copies]
        sets = [Counter(name for s in copy for name in written(s)) for copy in self.copies]
        own = {
            hole: None for hole, row in self.holes.items()
            if all(name in done for name, done in zip(row, sets, strict=True))
        }  # fmt: skip
        givers = {self.holes[hole][:-1]: hole for hole in reversed(own)}
        handed: dict[str, str] = {}
        for hole, row in self.holes.items():
            if hole in own and len(set(row)) == len(row):
                continue
            giver = givers.get(row[1:])
            if giver is None or giver in handed.values() or not self._in_time(hole, giver):
                return False
            handed[hole] = giver
        for hole in own:
            row = self.holes[hole]
            if len(set(row)) != len(row):
                return False
            if any(
                done[name] != self.owner.writes[name] for name, done in zip(row, sets, strict=True)
            ):
                return False
            last = len(row) if hole not in handed.values() else len(row) - 1
            for place, name in enumerate(row[:last]):
                near = inside[place][name]
                if hole in handed.values():
                    near += inside[place + 1][name]
                if near != self.owner.reads[name]:
                    return False
            if hole not in handed.values():
                self.chosen[hole] = row[0]
        for hole, giver in handed.items():
            self._hand(self.holes[hole][0], self.holes[giver][-1], hole, giver, inside[0])
        return True

    def _hand(self, first: str, last: str, hole: str, giver: str, reads: Counter[str]) -> None:
        """A value that goes from copy to copy is one variable."""
        alone = self.owner.reads[first] == reads[first] and self.owner.writes[first]
        if alone and self.owner.types.get(first) == self.owner.types.get(last):
            self.chosen[hole] = self.chosen[giver] = first
            self.renamed[last] = first
        else:
            own = self.holes[giver][0]
            self.chosen[hole] = self.chosen[giver] = own
            self.renamed[last] = own
            self.before.append(n.Assign(n.Name(own), n.Name(first)))

    def _in_time(self, hole: str, giver: str) -> bool:
        """Whether the old value is needed no more when the new one is there."""
        reads = [k for k, s in enumerate(self.text) if hole in set(read(s))]
        sets = [k for k, s in enumerate(self.text) if giver in set(written(s))]
        if not reads or len(sets) != 1:
            return False
        return reads[-1] < sets[0] or (
            reads[-1] == sets[0] and isinstance(self.text[sets[0]], n.Assign)
        )

    def fill(self, node: n.Node) -> n.Node:
        """The text with names in its holes."""
        if isinstance(node, n.Name) and node.name in self.chosen:
            return n.Name(self.chosen[node.name])
        return node
