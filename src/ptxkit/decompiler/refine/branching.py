"""Other ways to write conditions and loops.

Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import takewhile

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import bottom_up, written
from ptxkit.decompiler.refine.expressions import factors
from ptxkit.decompiler.refine.moves import Body, Change

IsFloat = Callable[[n.Expression], bool]


def branched(
    body: Body, at: Container[int], is_float: IsFloat, *, outermost: bool = False
) -> Iterator[Change]:
    """Other forms of the ``if`` and the loops in a list of statements.

    ``outermost`` is whether it is all of a function that gives nothing back.
    """
    for place, statement in enumerate(body):
        if place not in at:
            continue
        for kind, made in _others(statement, is_float):
            yield kind, place, place + 1, made
        yield from _started(body, place)
        yield from _left(body, place, is_float)
        yield from _flag(body, place, is_float)
        match statement, body[place + 1 :]:
            case n.If(condition=condition, then=then, otherwise=()), (n.Return() as last,) if then:
                made = (n.If(negate(condition, is_float), (last,)), *then, last)
                yield "guard", place, place + 2, made
            case n.If(condition=condition, then=(n.Return() as leave,), otherwise=()), rest if rest:
                if leave.value is None:
                    wrapped = n.If(negate(condition, is_float), tuple(rest))
                    yield "guard", place, len(body), (wrapped,)
            case n.If(condition=condition, then=then, otherwise=()), () if outermost:
                leave = n.If(negate(condition, is_float), (n.Return(None),))
                yield "guard", place, place + 1, (leave, *then)


def _others(statement: n.Statement, is_float: IsFloat) -> Iterator[tuple[str, Body]]:
    match statement:
        case n.If(condition=n.Binary(operator="&&", left=left, right=right), otherwise=()):
            for outer, own in _parted(n.Binary("&&", left, right)):
                yield "split", (n.If(outer, (replace(statement, condition=own),)),)
        case n.If(
            then=(*setup, n.DoWhile(body=(*inner, n.Assign() as step)) as loop), otherwise=()
        ):
            rest = (n.Declare, n.Assign)
            made = n.For(None, loop.condition, step, tuple(inner), loop.unroll)
            if inner and all(isinstance(s, rest) for s in setup):
                yield "loop", (*setup, made)
                if setup:
                    yield "loop", (replace(made, body=(*setup, *inner)),)
        case n.If(condition=n.Binary(operator="||", left=left, right=right),
                  then=(n.Return() | n.Break() | n.Continue(),), otherwise=()):  # fmt: skip
            yield "split", (replace(statement, condition=left), replace(statement, condition=right))
        case n.If(condition=outer, then=(n.If(otherwise=()) as inner,), otherwise=()):
            yield "join", (replace(inner, condition=n.Binary("&&", outer, inner.condition)),)
        case n.If(condition=condition, then=then, otherwise=otherwise) if otherwise:
            yield "turn", (n.If(negate(condition, is_float), otherwise, then),)
        case n.For() | n.While() | n.DoWhile():
            for unroll in (None, 1, 2, 4, 0):
                if unroll != statement.unroll:
                    yield "unroll", (replace(statement, unroll=unroll),)
            yield from _loops(statement)


def _parted(condition: n.Expression) -> Iterator[tuple[n.Expression, n.Expression]]:
    """What is asked for first, and what inside of that: the last ones, or one of all.

    >>> from ptxkit.cuda import print_expression
    >>> asked = n.Binary("&&", n.Binary("&&", n.Name("a"), n.Name("b")), n.Name("c"))
    >>> [" ? ".join(map(print_expression, both)) for both in _parted(asked)]
    ['a && b ? c', 'b && c ? a', 'a ? b && c', 'a && c ? b', 'c ? a && b']
    """
    terms = factors("&&", condition)
    count = len(terms)
    last = [tuple(range(cut, count)) for cut in range(count - 1, 0, -1)]
    alone = [(place,) for place in range(count)]
    others = (tuple(range(count - 1)),)
    for own in dict.fromkeys((last[0], alone[0], *last, *alone, *others)):
        outer = [term for place, term in enumerate(terms) if place not in own]
        yield _all(outer), _all([terms[place] for place in own])


def _all(terms: Sequence[n.Expression]) -> n.Expression:
    return reduce(lambda left, right: n.Binary("&&", left, right), terms)


def _loops(statement: n.Statement) -> Iterator[tuple[str, Body]]:
    match statement:
        case n.For(start=start, condition=n.Node() as condition, step=step, body=body):
            steps = (step,) if step is not None else ()
            starts = (start,) if start is not None else ()
            if not any(isinstance(part, n.Continue) for s in body for part in s.walk()):
                whole = n.DoWhile((*body, *steps), condition, statement.unroll)
                yield "loop", (*starts, whole)
                yield "loop", (*starts, n.If(condition, (whole,)))
        case n.While(
            condition=n.Binary("!=", n.Name() as left, n.Literal(value=0) as zero),
            body=(*body, n.Assign(target=target, value=n.Binary(">>", halved, n.Literal() as by))),
        ) if body and target == left and left in (halved, getattr(halved, "operand", None)):
            # What is halved is above 0, which a compiler knows where that is a number with a sign.
            step = n.Assign(left, by, ">>=")
            made = n.For(None, n.Binary(">", left, zero), step, tuple(body), statement.unroll)
            yield "loop", (made,)
        case n.DoWhile(body=(*body, n.Assign() as step), condition=condition) if body:
            yield "loop", (n.For(None, condition, step, tuple(body), statement.unroll),)
            yield "loop", (n.While(condition, (*body, step), statement.unroll),)


def _started(body: Body, place: int) -> Iterator[Change]:
    """A variable that a loop counts with, in the head of the loop."""
    statement = body[place]
    if not isinstance(statement, n.Declare) or statement.space or place + 1 == len(body):
        return
    loop = body[place + 1]
    later = any(statement.name in s.names() for s in body[place + 2 :])
    if isinstance(loop, n.For) and loop.start is None and not later:
        yield "loop", place, place + 2, (replace(loop, start=statement),)


def _left(body: Body, place: int, is_float: IsFloat) -> Iterator[Change]:
    """A loop that is left in the middle of a turn, with what follows it before it is left or not.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int i))
    ...     (let int at)
    ...     (do (!= ([] x at) 0) (= at (& i 7)) (= i (+ at 1)))
    ...     (= ([] x at) i))''')
    >>> for *_, made in _left(kernel.body[1:], 0, lambda _: False):
    ...     print(print_function(replace(kernel, body=made)), end="")
    __global__ void k(int *x, int i) {
        while (true) {
            at = i & 7;
            if (x[at] == 0) {
                x[at] = i;
                break;
            }
            i = at + 1;
        }
    }
    __global__ void k(int *x, int i) {
        while (true) {
            at = i & 7;
            if (x[at] == 0) break;
            i = at + 1;
        }
    }
    """
    match body[place]:
        case n.DoWhile(body=(*turn, n.Assign() as step), condition=condition, unroll=unroll) if (
            turn
        ):
            pass
        case _:
            return
    if not condition.names().isdisjoint(written(step)):
        return
    ends = negate(condition, is_float)
    after = tuple(takewhile(lambda s: isinstance(s, n.Assign | n.Evaluate), body[place + 1 :]))
    for count in dict.fromkeys((len(after), 0)):
        leave = n.If(ends, (*after[:count], n.Break()))
        loop = n.While(n.Literal(True, BOOL), (*turn, leave, step), unroll)
        yield "leave", place, place + 1 + count, (loop,)


def _flag(body: Body, place: int, is_float: IsFloat) -> Iterator[Change]:
    """A condition that was computed before it is asked for, where it is asked for."""
    match body[place : place + 3]:
        case (
            n.Declare(value=None, name=name, space=""),
            n.If(then=(n.Assign(target=target, value=value, operator="="),), otherwise=()),
            n.If() as asked,
        ) if target == n.Name(name):

            def asks(node: n.Expression) -> n.Expression:
                match node:
                    case n.Unary(operator="!", operand=operand):
                        return negate(operand, is_float)
                return value if node == target else node

            whole = bottom_up(asked.condition, asks)
            yield "flag", place, place + 3, (replace(asked, condition=whole),)
