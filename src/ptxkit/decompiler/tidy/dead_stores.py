"""Values that variables are given, and that nobody asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.types import Pointer, Scalar
from ptxkit.decompiler.lift.rewrite import bodies_of, read, rebuilt_lists

Body = tuple[n.Statement, ...]
Names = frozenset[str]
_NONE: Names = frozenset()
#: Loops inside of each other in which all that is named counts as read.
_DEEP = 4


def without_dead_stores(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function without such statements.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (while (> n 0) (let (ptr float) p (+ x n)) (= ([] p 0) 1.0f) (+= p 32) (-= n 1)))''')
    >>> print(print_function(without_dead_stores(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        while (n > 0) {
            float *p = x + n;
            p[0] = 1.0f;
            n--;
        }
    }
    """
    body = function.body or ()
    parts = [p for s in body for p in s.walk()]
    if any(isinstance(p, n.Goto | n.Label | n.Switch | n.Asm) for p in parts):
        return function
    plain = {p.name for p in parts if isinstance(p, n.Declare) and not p.space
             and isinstance(p.type, Scalar | Pointer)}  # fmt: skip
    plain -= {p.operand.name for p in parts if isinstance(p, n.Unary) and p.operator == "&"
              and isinstance(p.operand, n.Name)}  # fmt: skip
    return replace(function, body=_Stores(plain, take).run(body, _NONE, _NONE, _NONE))


class _Stores:
    def __init__(self, plain: set[str], take: Callable[[], bool]) -> None:
        self.plain, self.take = plain, take

    def run(self, body: Body, after: Names, left: Names, again: Names) -> Body:
        """Statements without those that set what is not in ``after``, which is read behind them.

        ``left`` and ``again`` are what is read behind the loop around them, and in its next turn.
        """
        made: list[n.Statement] = []
        wanted = [after]
        for statement in reversed(body):
            wanted.append(before(statement, wanted[-1], left, again))
        for statement, later in zip(body, reversed(wanted[:-1]), strict=True):
            match statement:
                case n.Assign(n.Name(name=name), value) if (
                    name in self.plain and name not in later and _is_pure(value) and self.take()
                ):
                    continue
            made.append(self._inside(statement, later, left, again))
        return tuple(made)

    def _inside(
        self, statement: n.Statement, after: Names, left: Names, again: Names
    ) -> n.Statement:
        if isinstance(statement, n.For | n.While | n.DoWhile):
            end = _turn_end(statement, after)
            return rebuilt_lists(statement, lambda inner: self.run(inner, end, after, end))
        return rebuilt_lists(statement, lambda inner: self.run(inner, after, left, again))


def before(
    statement: n.Statement, after: Names, left: Names = _NONE, again: Names = _NONE
) -> Names:
    """What is read from a statement on, given what is read behind it.

    >>> from ptxkit.cuda import read
    >>> sorted(before(read("(= x (+ y 1))"), frozenset(("x", "z"))))
    ['y', 'z']
    """
    match statement:
        case n.Declare(name=name, value=value):
            return (after - {name}) | _reads(value)
        case n.Assign(n.Name(name=name), value, "="):
            return (after - {name}) | _reads(value)
        case n.Return(value=value):
            return _reads(value)
        case n.Break():
            return left
        case n.Continue():
            return again
        case n.If(condition, then, otherwise):
            ways = (_through(body, after, left, again) for body in (then, otherwise))
            return _reads(condition).union(*ways)
        case n.For(start=start):
            head = _head(statement, after)
            return before(start, head) if start is not None else head
        case n.While() | n.DoWhile():
            return _head(statement, after)
        case n.Block(body=body):
            return _through(body, after, left, again)
    return after | frozenset(read(statement))


def _through(body: Body, after: Names, left: Names, again: Names) -> Names:
    for statement in reversed(body):
        after = before(statement, after, left, again)
    return after


def _head(loop: n.For | n.While | n.DoWhile, after: Names) -> Names:
    """What is read from the start of a turn on."""
    end = _turn_end(loop, after)
    inside = _through(loop.body, end, after, end)
    return inside if isinstance(loop, n.DoWhile) else inside | after | _reads(loop.condition)


def _turn_end(loop: n.For | n.While | n.DoWhile, after: Names) -> Names:
    """What is read from the end of a turn on, the step of a ``for`` included."""
    if _depth(loop) > _DEEP:
        # Every loop is walked through a few times for each time that the one around it is.
        return after | frozenset(name for part in loop.walk() for name in _named(part))
    end = after | _reads(loop.condition)
    while True:
        step = loop.step if isinstance(loop, n.For) else None
        stepped = before(step, end) if step is not None else end
        more = end | _through(loop.body, stepped, after, stepped)
        if more == end:
            return stepped
        end = more


def _depth(statement: n.Statement) -> int:
    """How many loops are inside of each other."""
    inner = max((_depth(s) for body in bodies_of(statement) for s in body), default=0)
    return inner + isinstance(statement, n.For | n.While | n.DoWhile)


def _named(part: n.Node) -> list[str]:
    return [part.name] if isinstance(part, n.Name) else []


def _reads(value: n.Expression | None) -> Names:
    return frozenset(read(value)) if value is not None else _NONE


def _is_pure(value: n.Expression) -> bool:
    return all(p.function in BUILTINS for p in value.walk() if isinstance(p, n.Call))
