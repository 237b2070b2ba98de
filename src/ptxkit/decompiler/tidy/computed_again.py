"""What a loop computes to know whether it ends, and the next turn reads: computed by that again.

``while (x * x + y * y < 4) { t = x * x - y * y + a; y = 2 * x * y + b; x = t; }`` computes its
products once; a compiler keeps them in variables from one turn to the next. Where such a variable
begins as what it would be computed to, it is none that anybody wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written
from ptxkit.decompiler.tidy.loops import started_loops, stepping
from ptxkit.decompiler.tidy.old_counts import without_old_counts

Body = tuple[n.Statement, ...]
_Number = int | float
_NUMBERS: dict[str, Callable[[_Number, _Number], _Number]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
}  # fmt: skip
_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b, "!=": lambda a, b: a != b, "&&": lambda a, b: a and b,
    "||": lambda a, b: a or b,
}  # fmt: skip
_JUMPS = n.Continue, n.Break, n.Goto, n.Label, n.Return


def computed_again(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function without variables that keep what a loop computes at its end for the next turn.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) n) (param float a))
    ...     (let float x 0.0f) (let float square 0.0f) (let int i 0)
    ...     (do (&& (< i 99) (< square 4.0f))
    ...         (let float t (+ square a))
    ...         (= square (* t t)) (+= i 1) (= x t))
    ...     (= ([] n 0) i))''')
    >>> print(print_function(computed_again(kernel, lambda: True)), end="")
    __global__ void k(int *n, float a) {
        float x = 0.0f;
        int i = 0;
        for (; i < 99 && x * x < 4.0f; i++) {
            float t = x * x + a;
            x = t;
        }
        n[0] = i;
    }
    """

    def changed(body: Body) -> Body:
        made: list[n.Statement] = []
        for place, statement in enumerate(body):
            made.append(rebuilt_lists(statement, changed))
            if isinstance(made[-1], n.DoWhile):
                later = {name for s in body[place + 1 :] for name in s.names()}
                _again(made, later, take)
        return tuple(made)

    plain = without_old_counts(function, lambda: True)
    made = replace(plain, body=changed(plain.body or ()))
    return function if made == plain else started_loops(made, lambda: True)


def _again(made: list[n.Statement], later: set[str], take: Callable[[], bool]) -> None:
    """Write the last loop of a list without what it keeps, if it keeps anything."""
    loop = made[-1]
    assert isinstance(loop, n.DoWhile)
    starts = _starts(made[:-1])
    kept = {
        name: value for place, s in enumerate(loop.body)
        if (found := _kept(s, place, loop)) is not None
        for name, value in [found]
        if name not in later and _begins_so(name, value, starts)
    }  # fmt: skip
    if not kept or any(isinstance(p, _JUMPS) for p in loop.walk()):
        return

    def change(node: Any) -> Any:
        return kept[node.name] if isinstance(node, n.Name) and node.name in kept else node

    left = tuple(s for s in loop.body if _target(s) not in kept)
    condition = bottom_up(loop.condition, change)
    if _value(condition, starts) is not True or not take():
        return
    whole = n.While(condition, tuple(bottom_up(s, change) for s in left), loop.unroll)
    gone = {s.name: s.value for s in made if isinstance(s, n.Declare) and s.name in kept}

    def begun(node: Any) -> Any:
        return gone[node.name] if isinstance(node, n.Name) and node.name in gone else node

    before = (s for s in made[:-1] if not (isinstance(s, n.Declare) and s.name in gone))
    counted = stepping(whole)
    first = [bottom_up(bottom_up(s, begun), begun) for s in before]
    # What counts the turns is declared last.
    counter = _target(counted.step) if isinstance(counted, n.For) and counted.step else ""
    first.sort(key=lambda s: isinstance(s, n.Declare) and s.name == counter)
    made[:] = [*first, counted]


def _kept(statement: n.Statement, place: int, loop: n.DoWhile) -> tuple[str, n.Expression] | None:
    """A variable that is set at a place of a loop, by what the next turn begins with."""
    match statement:
        case n.Assign(n.Name(name=name), value, "=") if isinstance(value, n.Binary):
            pass
        case _:
            return None
    handed = {
        s.value.name: s.target.name for s in loop.body
        if isinstance(s, n.Assign) and isinstance(s.value, n.Name)
        and isinstance(s.target, n.Name) and s.operator == "="
    }  # fmt: skip
    inside = {s.name for s in loop.body if isinstance(s, n.Declare)}

    def change(node: Any) -> Any:
        return (
            n.Name(handed[node.name]) if isinstance(node, n.Name) and node.name in handed else node
        )

    meant: n.Expression = bottom_up(value, change)
    names = meant.names()
    later = {x for s in loop.body[place + 1 :] for x in written(s)}
    plain = all(isinstance(p, n.Binary | n.Name | n.Literal) for p in meant.walk())
    if not plain or name in names or names & inside:
        return None
    # What it is computed by is what the next turn has, too.
    if any(x in later for x in value.names() & names):
        return None
    users = [k for k, s in enumerate(loop.body) if k != place and name in s.names()]
    early = {x for s in loop.body[: max(users, default=0)] for x in written(s)}
    if early & names or any(k > place for k in users):
        return None
    return name, meant


def _begins_so(name: str, value: n.Expression, starts: Mapping[str, _Number]) -> bool:
    return name in starts and _value(value, starts) == starts[name]


def _starts(before: Sequence[n.Statement]) -> dict[str, _Number]:
    """What variables are declared to be: numbers."""
    found: dict[str, _Number] = {}
    for statement in before:
        match statement:
            case n.Declare(name=name, value=n.Literal(value=int() | float() as number), space=""):
                found[name] = number
            case n.Declare(name=name, value=n.Name(name=other), space="") if other in found:
                found[name] = found[other]
            case n.Declare():
                pass
            case _:
                found = {x: number for x, number in found.items() if x not in written(statement)}
    return found


def _value(node: n.Expression, starts: Mapping[str, _Number]) -> _Number | bool | None:
    """What an expression is at the start; None where nobody knows."""
    match node:
        case n.Literal(value=value):
            return value
        case n.Name(name=name):
            return starts.get(name)
        case n.Cast(operand=inner):
            return _value(inner, starts)
        case n.Binary(operator, left, right):
            one, two = _value(left, starts), _value(right, starts)
            if one is None or two is None:
                return None
            if operator in _NUMBERS:
                return _NUMBERS[operator](one, two)
            return bool(_HOLDS[operator](one, two)) if operator in _HOLDS else None
    return None


def _target(statement: n.Statement) -> str:
    match statement:
        case n.Assign(n.Name(name=name)):
            return name
    return ""
