"""Steps in which lanes exchange several numbers at once, as the loop that they were.

A largest number and where it is, or a sum and one of squares: each step takes both from a lane half
as far away, and chooses or adds. `butterflies` has the steps with one number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, takewhile
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written
from ptxkit.decompiler.tidy.together import asked_once

Body = tuple[n.Statement, ...]
_SHUFFLE = "__shfl_"
#: How many steps make a loop, and how many statements behind them may be about the last one.
_LEAST, _NEAR = 3, 4
_STRIDE = n.Name("@stride")


def rolled_exchanges(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with loops in the place of such steps.

    >>> from ptxkit.cuda import print_function, read
    >>> steps = ""
    >>> for a, b, far in (("a", "b", 4), ("a4", "b4", 2), ("a2", "b2", 1)):
    ...     steps += f"(let int p{far} (call __shfl_xor_sync -1 {a} {far}))"
    ...     steps += f"(let int q{far} (call __shfl_xor_sync -1 {b} {far}))"
    ...     steps += f"(let int a{far} (call max {a} p{far})) (let int b{far} (+ {b} q{far}))"
    >>> kernel = read(f'''(kernel k (params (param (ptr int) x)) (let int a ([] x 0))
    ...     (let int b ([] x 1)) {steps} (= ([] x 2) a1) (= ([] x 3) b1))''')
    >>> print(print_function(rolled_exchanges(kernel, lambda: True)), end="")
    __global__ void k(int *x) {
        int a = x[0];
        int b = x[1];
        for (int stride = 4; stride > 0; stride >>= 1) {
            int p4 = __shfl_xor_sync(-1, a, stride);
            int q4 = __shfl_xor_sync(-1, b, stride);
            a = max(a, p4);
            b = b + q4;
        }
        x[2] = a;
        x[3] = b;
    }
    """
    body = function.body or ()
    sets = Counter(name for s in body for name in written(s))
    taken = set(sets) | {p.name for p in function.parameters}

    def rolled(inner: Body) -> Body:
        made = tuple(rebuilt_lists(s, rolled) for s in inner)
        place = 0
        while place < len(made):
            names = chain(["stride"], (f"stride{k}" for k in count(1)))
            index = next(name for name in names if name not in taken)
            found = _rolled(made[place:], sets, index)
            if found is not None and take():
                taken.add(index)
                made = (*made[:place], *found)
            place += 1
        return made

    return replace(function, body=rolled(body))


@dataclass(frozen=True, slots=True)
class _Steps:
    """Statements that are steps: what each exchanges, and with which distance."""

    values: Mapping[str, n.Expression]
    """What they declare."""
    states: tuple[tuple[str, ...], ...]
    distances: tuple[int, ...]

    def expanded(self, node: Any, stop: Sequence[str]) -> Any:
        """A tree with what names stand for, but for some names."""

        def change(part: Any) -> Any:
            if isinstance(part, n.Name) and part.name in self.values and part.name not in stop:
                return self.expanded(self.values[part.name], stop)
            return part

        return bottom_up(node, change)

    def step(self, place: int) -> list[n.Expression]:
        """What the numbers of the next step are, by those of one, in no step's words."""
        stop, distance = self.states[place], self.distances[place]
        return [
            _general(self.expanded(n.Name(name), stop), stop, distance)
            for name in self.states[place + 1]
        ]


def _rolled(body: Body, sets: Counter[str], index: str) -> Body | None:
    """Statements whose first ones are steps, with a loop instead of those."""
    run = tuple(takewhile(lambda s: _is_part(s, sets), body))
    if not run or not any(True for _ in _shuffles(run[0])):
        return None
    steps = _steps(run)
    if steps is None:
        return None
    turn = steps.step(0)
    if any(steps.step(place) != turn for place in range(1, len(steps.states) - 1)):
        return None
    loop = _loop(run, steps, index)
    after = _after(run, body[len(run) :], steps, turn)
    if loop is None or after is None:
        return None
    first, own = steps.states[0], steps.states[1]
    if any(set(first) & s.names() for s in after):
        return (*loop, *after)
    # Nobody asks for what the steps begin with any more: the loop changes that.
    names = dict(zip(own, map(n.Name, first), strict=True))
    return tuple(
        bottom_up(s, lambda part: names.get(part.name, part) if isinstance(part, n.Name) else part)
        for s in (loop[-1], *after)
    )


def _is_part(statement: n.Statement, sets: Counter[str]) -> bool:
    if not isinstance(statement, n.Declare) or statement.value is None or statement.space:
        return False
    calls = (p.function for p in statement.value.walk() if isinstance(p, n.Call))
    pure = all(name in BUILTINS or name.startswith(_SHUFFLE) for name in calls)
    return pure and sets[statement.name] == 1


def _shuffles(node: n.Node) -> Iterator[tuple[str, int]]:
    """What is exchanged, and how far."""
    for part in node.walk():
        match part:
            case n.Call(function=name, arguments=(_, n.Name(name=what), n.Literal(value=far))) if (
                name.startswith(_SHUFFLE) and isinstance(far, int)
            ):
                yield what, far


def _steps(run: Sequence[n.Statement]) -> _Steps | None:
    found: dict[int, dict[str, None]] = {}
    for statement in run:
        for name, far in _shuffles(statement):
            found.setdefault(far, {})[name] = None
    distances = tuple(found)
    first = distances[0]
    halves = tuple(first >> k for k in range(len(distances)))
    states = tuple(tuple(found[far]) for far in distances)
    if distances != halves or distances[-1] != 1 or len(distances) < _LEAST:
        return None
    if len(states[0]) < 2 or any(len(names) != len(states[0]) for names in states):
        return None
    values = {s.name: s.value for s in run if isinstance(s, n.Declare) and s.value is not None}
    known = all(name in values for names in states[1:] for name in names)
    return _Steps(values, states, distances) if known else None


def _general(node: Any, states: Sequence[str], distance: int) -> Any:
    """A tree with places in the place of names, and no distance."""
    places = {name: n.Name(f"@{k}") for k, name in enumerate(states)}

    def change(part: Any) -> Any:
        if isinstance(part, n.Name):
            return places.get(part.name, part)
        return _moved(part, distance, _STRIDE)

    return bottom_up(node, change)


def _moved(part: Any, distance: int, to: n.Expression) -> Any:
    """An exchange with another distance."""
    match part:
        case n.Call(function=name, arguments=(mask, what, n.Literal(value=far))) if (
            name.startswith(_SHUFFLE) and far == distance
        ):
            return replace(part, arguments=(mask, what, to))
    return part


def _loop(run: Sequence[n.Statement], steps: _Steps, index: str) -> list[n.Statement] | None:
    """The loop, and before it the variables that it changes: those of the second step."""
    first, own = steps.states[0], steps.states[1]
    names = {old: n.Name(new) for old, new in zip(first, own, strict=True)}
    needed: set[str] = set()
    pending = list(own)
    while pending:
        name = pending.pop()
        if name in steps.values and name not in needed:
            needed.add(name)
            pending += steps.values[name].names() - set(first)

    def change(part: Any) -> Any:
        if isinstance(part, n.Name):
            return names.get(part.name, part)
        return _moved(part, steps.distances[0], n.Name(index))

    declared = {s.name: s for s in run if isinstance(s, n.Declare) and s.name in needed}
    turn: list[n.Statement] = []
    for name, statement in declared.items():
        if name not in own:
            turn.append(replace(statement, value=bottom_up(steps.values[name], change)))
    done: set[str] = set()
    sets: list[n.Statement] = []
    for name in own:
        value = bottom_up(steps.values[name], change)
        if done & value.names():
            return None
        done.add(name)
        sets.append(n.Assign(n.Name(name), value))
    if any(set(own) & steps.values[s].names() for s in needed):
        return None  # a step that is not done with what was there before it
    before = [
        replace(declared[new], value=n.Name(old)) for old, new in zip(first, own, strict=True)
    ]
    stride = n.Name(index)
    loop = n.For(
        n.Declare(INT, index, n.integer(steps.distances[0])),
        n.Binary(">", stride, n.integer(0)),
        n.Assign(stride, n.integer(1), ">>="),
        asked_once((*turn, *sets)),
    )
    return [*before, loop]


def _after(
    run: Sequence[n.Statement], rest: Body, steps: _Steps, turn: Sequence[n.Expression]
) -> list[n.Statement] | None:
    """What follows, with what the loop leaves; None where it asks for more of the steps."""
    last, own = steps.states[-1], steps.states[1]
    made: list[n.Statement] = []

    def finished(part: Any) -> Any:
        """The expression that the last step gives, as the variable of the loop."""
        general = _general(part, last, 1) if isinstance(part, n.Expression) else part
        return n.Name(own[turn.index(general)]) if general in turn else part

    gone = _of_steps(run, steps)
    results: dict[str, n.Expression] = {}
    for name in gone:
        value = finished(steps.expanded(n.Name(name), last))
        if isinstance(value, n.Name) and value.name in own:
            results[name] = value

    def named(part: Any) -> Any:
        return results.get(part.name, part) if isinstance(part, n.Name) else part

    other = [s for s in run if isinstance(s, n.Declare) and s.name not in gone]
    for statement in (*other, *rest[:_NEAR]):
        one = bottom_up(statement, named)
        if gone & one.names() - set(own):
            one = bottom_up(steps.expanded(one, last), finished)
        made.append(one)
    made += [bottom_up(statement, named) for statement in rest[_NEAR:]]
    left = (gone - set(own)) | set(last)
    return None if any(left & s.names() for s in made) else made


def _of_steps(run: Sequence[n.Statement], steps: _Steps) -> set[str]:
    """What is declared by steps: what is exchanged, and all that is computed from it."""
    found: set[str] = {name for names in steps.states[1:] for name in names}
    for statement in run:
        assert isinstance(statement, n.Declare) and statement.value is not None
        if any(True for _ in _shuffles(statement)) or found & statement.value.names():
            found.add(statement.name)
    return found
