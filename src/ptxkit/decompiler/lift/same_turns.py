"""Turns of a loop of which each does the very same, rolled up again.

What counts them is no part of what they do, so there is nothing in the copies that moves, by which
`copies` finds others. A loop of many turns is left with some at a time, ``j += 2``; one of few
turns is all written out. As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Type
from ptxkit.decompiler.lift.rewrite import Body, rebuilt_lists

_ZERO, _ONE = n.Literal(0, INT), n.Literal(1, INT)
#: Statements of one turn at most.
_LONGEST = 24
#: So many turns, with so many statements in all, are worth a loop.
_LEAST, _LEAST_STATEMENTS = 3, 6
_JUMPS = n.Break, n.Continue, n.Goto, n.Label, n.Return


class SameTurns:
    """Rolls them up in one function's body.

    >>> from ptxkit.cuda import print_statements, read
    >>> two = read('''(do (!= j 50)
    ...     (eval (call atomicAdd x 1)) (eval (call atomicSub y 1))
    ...     (eval (call atomicAdd x 1)) (eval (call atomicSub y 1)) (+= j 2))''')
    >>> print(print_statements(SameTurns({}, lambda: "k").run((two,))), end="")
    do {
        atomicAdd(x, 1);
        atomicSub(y, 1);
        j++;
    } while (j != 50);
    >>> print(print_statements(SameTurns({}, lambda: "k").run(two.body[:4] + two.body[:2])), end="")
    for (k = 0; k < 3; k++) {
        atomicAdd(x, 1);
        atomicSub(y, 1);
    }
    """

    def __init__(self, types: dict[str, Type], fresh: Callable[[], str]) -> None:
        self.types = types
        self.fresh = fresh
        self.counters: set[str] = set()
        """What counts the turns of loops that had some at a time."""

    def run(self, body: Body) -> Body:
        """A list of statements, and those inside of them."""
        made = tuple(rebuilt_lists(self._fewer(statement), self.run) for statement in body)
        numbers: dict[n.Statement, int] = {}
        keys = [numbers.setdefault(statement, len(numbers)) for statement in made]
        if len(numbers) == len(keys):
            return made
        rolled: list[n.Statement] = []
        place = 0
        while place < len(made):
            long, times = _run_at(keys, place)
            turn = made[place : place + long]
            if times and not _jumps(turn):
                rolled.append(self._loop(turn, times))
                place += long * times
            else:
                rolled.append(made[place])
                place += 1
        return tuple(rolled)

    def _loop(self, turn: Body, times: int) -> n.Statement:
        index = self.fresh()
        self.types[index] = INT
        own = n.Name(index)
        again = n.Binary("<", own, n.Literal(times, INT))
        return n.For(n.Assign(own, _ZERO), again, n.Assign(own, _ONE, "+="), turn)

    def _fewer(self, loop: n.Statement) -> n.Statement:
        """A loop that does several turns at a time, as one that does one."""
        match loop:
            case n.DoWhile(body=(*turns, n.Assign(n.Name(name=name), by, "+=" | "-=") as step)):
                pass
            case n.For(body=turns, step=n.Assign(n.Name(name=name), by, "+=" | "-=") as step):
                pass
            case _:
                return loop
        if not isinstance(by, n.Literal) or not isinstance(by.value, int):
            return loop
        if any(name in s.names() for s in turns):
            return loop
        for times in range(min(len(turns), by.value), 1, -1):
            long, left = divmod(len(turns), times)
            if left or by.value % times or _jumps(turns):
                continue
            if all(turns[k] == turns[k + long] for k in range(len(turns) - long)):
                self.counters.add(name)
                step = replace(step, value=replace(by, value=by.value // times))
                if isinstance(loop, n.For):
                    return replace(loop, body=tuple(turns[:long]), step=step)
                return replace(loop, body=(*turns[:long], step))
        return loop


def _run_at(keys: Sequence[int], place: int) -> tuple[int, int]:
    """How long a turn is that is there several times from a place on, and how often; 0 for none."""
    for long in range(1, min(_LONGEST, (len(keys) - place) // _LEAST) + 1):
        end = place + long
        while end < len(keys) and keys[end] == keys[end - long]:
            end += 1
        times = (end - place) // long
        if times >= _LEAST and times * long >= _LEAST_STATEMENTS:
            return long, times
    return 0, 0


def _jumps(turn: Sequence[n.Statement]) -> bool:
    return any(isinstance(part, _JUMPS) for statement in turn for part in statement.walk())
