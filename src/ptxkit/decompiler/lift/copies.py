"""Loops that the compiler wrote out: their copies, found and rolled up again.

A loop of a known number of turns is often no loop any more. Its copies stand behind one another
(`_roll_runs`), or inside one another, as the long sum that a loop adds up (`_roll_chain`). As in
`roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Type
from ptxkit.decompiler.lift.chain_copies import LEAST_TERMS, ChainCopies
from ptxkit.decompiler.lift.copy_names import CopyNames
from ptxkit.decompiler.lift.end_turns import further_turn
from ptxkit.decompiler.lift.fixed_bounds import with_fixed_bounds
from ptxkit.decompiler.lift.late_starts import with_late_starts
from ptxkit.decompiler.lift.many_turns import with_instead
from ptxkit.decompiler.lift.one_name import with_one_name
from ptxkit.decompiler.lift.rewrite import Body, bodies_of, bottom_up, has_effect, statements_of
from ptxkit.decompiler.lift.runs import LEAST, MOST_RUNS, Shapes, runs
from ptxkit.decompiler.lift.sizes import asked_for
from ptxkit.decompiler.lift.spread import spread
from ptxkit.decompiler.lift.unify import (
    DifferentError,
    Holes,
    counted_before,
    counter,
)
from ptxkit.decompiler.lift.uses import Uses

#: Where a loop does two turns at once, so many statements are worth it.
_TWO, _LEAST_OF_PAIR = 2, 4
#: Statements behind the last copy in which its value is looked for.
_NEAR = 16
#: Copies that are looked at first: most runs are none, and their first ones show it. And how often
#: the statements of a list may be looked at to find those that are.
_SAMPLE, _PATIENCE = 4, 5


class Copies:
    """Rolls up the copies in one function's body."""

    def __init__(
        self,
        types: dict[str, Type],
        fresh: Callable[[str], str],
        known: Mapping[str, Type] | None = None,
        arrays: frozenset[str] = frozenset(),
    ) -> None:
        """``fresh`` makes the name of an index, ``known`` has the types of arrays, too.

        ``arrays`` are those that are nothing but what loops look into.
        """
        self.uses = Uses(types, fresh)
        self.arrays = arrays
        self.chains = ChainCopies(self.uses, {}, known, arrays)
        self.renamed: dict[str, str] = {}
        self.shapes = Shapes()
        self.shorter = False
        """Whether a loop computes what there were variables for."""

    def run(self, body: Body) -> Body:
        """The body with its copies as loops; the same body where there are none."""
        whole, body = body, with_one_name(body, self.uses.types)
        self.uses.replace([], 0, 0, [*body])
        self.chains.values = {
            s.target.name: s.value for s in statements_of(body)
            if isinstance(s, n.Assign) and isinstance(s.target, n.Name) and s.operator == "="
            and self.uses.writes[s.target.name] == 1
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

    def _list(self, body: Body) -> Body:
        made = with_late_starts([self._inside(statement) for statement in body])
        tried: set[int] = set()
        for place in range(len(made) - 1, -1, -1):
            # What was computed before, for this alone, may be gone.
            if place >= len(made) or id(made[place]) in tried:
                continue
            if self.chains.roll_chain(made, place, tried) or self.chains.roll_part(made, place):
                self.shorter = True
        if self.shorter:
            self.chains.without_unread(made)
        self._roll_all(made)
        apart = spread(made)
        if apart is not None:
            together = [*made]
            self.uses.replace(made, 0, len(made), apart)
            if not self._roll_all(made):
                self.uses.replace(made, 0, len(made), together)
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
        self.uses.replace(made, 0, end, found[1])
        return tuple(made)

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
        shapes = [self.shapes.of(s) for s in body]
        ends = [isinstance(s, n.Evaluate) for s in body]
        done: list[tuple[int, int, list[n.Statement]]] = []
        for start, size, count in islice(runs(shapes, ends), MOST_RUNS):
            if any(start < end and at < start + size * count for at, end, _ in done):
                continue
            left -= size * _SAMPLE
            if left < 0 or not self._are_turns(body, start, size, min(count, _SAMPLE)):
                continue
            for number in range(count, max(count - 3, LEAST - 1), -1):
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
            self.uses.replace(body, start, end - start, statements)
        return left - len(body) if done else 0

    def _are_turns(self, body: list[n.Statement], start: int, size: int, count: int) -> bool:
        """Whether the first copies of a run may be turns of a loop."""
        copies = _copies(body, start, size, count)
        holes, text = _unified(copies)
        if text is None:
            return False
        fewer = counter(holes.numbers, count) is not None or counted_before(holes.numbers, count)
        return bool(fewer) and CopyNames(self.uses, holes.names, copies, text).solved()

    def _longer(
        self, body: list[n.Statement], start: int, size: int, count: int
    ) -> tuple[int, list[n.Statement]] | None:
        """As `_loop`, with one more copy that was not complete."""
        completed = self._completed(body, start, size, count)
        if completed is None:
            return None
        fresh, longer = completed
        for name in fresh:
            self.uses.reads[name] = self.uses.writes[name] = 1
        made = self._loop(longer, 0, size, count + 1)
        for name in fresh:
            self.uses.reads[name] = self.uses.writes[name] = 0
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
                self.uses.types[found] = self.uses.types[one.target.name]
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
            made[places[0]] = bottom_up(
                made[places[0]], partial(with_instead, old=value, new=n.Name(name))
            )
        return made[:furthest] if values else None

    def _ended(
        self, body: list[n.Statement], start: int, size: int, count: int
    ) -> tuple[int, tuple[int, list[n.Statement]]] | None:
        """As `_loop`, with one more turn before or behind of which less is left; and its place."""
        copies = _copies(body, start, size, count)
        holes, text = _unified(copies)
        if text is None:
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
            self.uses.replace(body, at, size + len(between), [*between, *turn])
            made = self._loop(body, first + len(between), size, count + 1)
            self.uses.replace(body, at, size + len(between), [*kept, *between])
            if made is not None and made[0] == (count + 1) * size:
                return first, (len(between) + made[0], [*between, *made[1]])
        return None

    def _loop(
        self, body: list[n.Statement], start: int, size: int, count: int
    ) -> tuple[int, list[n.Statement]] | None:
        """So many statements as a loop; fewer, where only the first copies are counted."""
        copies = _copies(body, start, size, count)
        if any(isinstance(p, n.Goto | n.Label) for s in copies[0] for p in s.walk()):
            return None
        short = size == 1 and count < LEAST_TERMS and not bodies_of(copies[0][0])
        if short and self.arrays.isdisjoint(copies[0][0].names()):
            return None
        holes, text = _unified(copies)
        if text is None:
            return None
        counted = counter(holes.numbers, count)
        if counted is None:
            fewer = counted_before(holes.numbers, count)
            return self._loop(body, start, size, fewer) if fewer >= LEAST else None
        names = CopyNames(self.uses, holes.names, copies, text)
        if not (holes.numbers or holes.names) or not names.solved():
            return None
        text = tuple(bottom_up(s, names.fill) for s in text)
        self.renamed.update(names.renamed)
        loop = counted.loop(self.uses.index(counted), text)
        loop = asked_for(replace(loop, body=with_fixed_bounds(loop.body)))
        return count * size, [*names.before, loop]


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


def _target(node: n.Statement) -> str:
    """The variable that a statement sets; nothing where it does something else."""
    match node:
        case n.Assign(n.Name(name=name), _, "="):
            return name
    return ""


def _copies(body: Sequence[n.Statement], start: int, size: int, count: int) -> list[Body]:
    """So many copies of a size, one behind the other."""
    return [tuple(body[start + k * size : start + (k + 1) * size]) for k in range(count)]


def _unified(copies: list[Body]) -> tuple[Holes, Body | None]:
    """What copies have in common, with holes; None where they are no copies of one text."""
    holes = Holes()
    try:
        return holes, holes.unify(copies)
    except DifferentError:
        return holes, None
