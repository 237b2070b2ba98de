"""What one turn of an unrolled loop leaves for the next.

The last turn of a cascade, written out by itself, leaves nothing, since no turn follows. But the
two turns before it do: ``d = a[i + 1]`` at their end is ``d = a[i]`` at the end of one.

| | |
| --- | --- |
| two turns | ``h = a[i]; a[i] = h + d; d = a[i + 1]; a[i + 1] = d + h; i += 2;`` |
| the last one | ``a[i] = a[i] + d;`` |
| any turn | ``h = a[i]; a[i] = h + d; d = h;`` |

Nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up, read, statements_of


@dataclass(frozen=True, slots=True)
class Carried:
    """One turn, as it leaves something for the next."""

    turn: list[n.Statement]
    index: str
    """What counts the turns."""
    name: str
    """What is left for the next one."""
    held: str
    """A new variable, which holds that during the turn."""


def carried(
    last: list[n.Statement], few: tuple[n.Statement, ...], fresh: Callable[[], str]
) -> Carried | None:
    """The turn that some statements and a few turns before them say; None where they do not."""
    steps = {
        s.target.name: int(s.value.value)
        for s in few
        if isinstance(s, n.Assign)
        and s.operator == "+="
        and isinstance(s.target, n.Name)
        and isinstance(s.value, n.Literal)
        and isinstance(s.value.value, int)
    }
    turn = _unwrapped(last)
    wanted = {name for s in turn for name in read(s)}
    indices = sorted(steps.keys() & wanted)
    if len(indices) != 1:
        return None
    index = indices[0]
    left = {
        s.target.name: s.value
        for s in statements_of(few)
        if isinstance(s, n.Assign)
        and s.operator == "="
        and isinstance(s.target, n.Name)
        and s.target.name in wanted
    }
    if len(left) != 1:
        return None
    (name, value), by = next(iter(left.items())), steps[index]
    first = _shifted(value, index, by - 1)
    plain = [bottom_up(s, _plain) for s in turn]
    if first is None or not any(_reads(s, first) for s in plain):
        return None
    held = fresh()
    body = [n.Assign(n.Name(held), first), *(_with(s, first, n.Name(held)) for s in plain)]
    return Carried([*body, n.Assign(n.Name(name), n.Name(held))], index, name, held)


def _unwrapped(last: list[n.Statement]) -> list[n.Statement]:
    """Statements that are done where a turn is left, without asking for that."""
    if len(last) == 1 and isinstance(last[0], n.If) and not last[0].otherwise:
        return list(last[0].then)
    return last


def _plain(part: n.Node) -> n.Node:
    """Elements by numbers as they are: C++ makes them as wide as an address."""
    match part:
        case n.Index(base, n.Cast(type=Scalar(bits=64), operand=inner)):
            return n.Index(base, inner)
        case n.Index(
            base, n.Binary("+" | "-" as how, n.Cast(type=Scalar(bits=64), operand=inner), more)
        ):
            return n.Index(base, n.Binary(how, inner, more))
    return part


def _shifted(value: n.Expression, index: str, by: int) -> n.Expression | None:
    """An element some places before, if an index says where it is."""
    match bottom_up(value, _plain):
        case n.Index(base, n.Binary("+", n.Name(name=name) as at, n.Literal(value=further))):
            if name == index and further == by:
                return n.Index(base, at)
    return None


def _reads(statement: n.Statement, value: n.Expression) -> bool:
    parts = [statement.value] if isinstance(statement, n.Assign) else [statement]
    return any(part == value for one in parts for part in one.walk())


def _with(statement: n.Statement, old: n.Expression, new: n.Expression) -> n.Statement:
    """A statement that reads something else."""
    if not isinstance(statement, n.Assign):
        return statement
    value = bottom_up(statement.value, lambda part: new if part == old else part)
    return n.Assign(statement.target, value, statement.operator)
