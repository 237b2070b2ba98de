"""What moves on in every turn of a loop, by the loop's counter instead.

Compilers move pointers and offsets on where people compute an index: ``x[i * 16 + t]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, without_declared, written

Body = tuple[n.Statement, ...]


def indices_by_counters(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with such indices, and pointers to one place alone as that place.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let (ptr float) p (+ x threadIdx.x))
    ...     (for (let int i 0) (< i n) (+= i 1) (= (deref p) 0.0f) (+= p 16)))''')
    >>> print(print_function(indices_by_counters(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        for (int i = 0; i < n; i++) x[threadIdx.x + i * 16] = 0.0f;
    }
    """

    def indexed(body: Body) -> Body:
        made: list[n.Statement] = []
        for place, statement in enumerate(body):
            one: Any = rebuilt_lists(statement, indexed)
            if isinstance(one, n.For):
                one = _by_counter(one, made, body[place + 1 :], take)
            made.append(one)
        return tuple(made)

    return _with_places(replace(function, body=indexed(function.body or ())), take)


def _by_counter(
    loop: n.For, before: list[n.Statement], after: Body, take: Callable[[], bool]
) -> n.For:
    match loop.start, loop.step:
        case (
            n.Declare(name=counter, value=n.Literal(value=0))
            | n.Assign(n.Name(name=counter), n.Literal(value=0), "="),
            n.Assign(n.Name(name=moved), n.Literal(value=1), "+="),
        ) if counter == moved:
            pass
        case _:
            return loop
    if any(isinstance(p, n.Continue | n.Goto | n.Label) for p in loop.walk()):
        return loop
    starts = {s.name: s for s in before if isinstance(s, n.Declare) and s.value and not s.space}
    times = Counter(name for s in loop.body for name in written(s))
    if times[counter]:
        return loop
    for step in loop.body:
        place = next((k for k, s in enumerate(loop.body) if s == step), None)
        match step:
            case n.Assign(n.Name(name=name), by, "+=") if (
                place is not None
                and name in starts
                and times[name] == 1
                and not times.keys() & by.names()
                and not (loop.condition is not None and name in loop.condition.names())
                and not any(name in s.names() for s in (*after, *loop.body[place + 1 :]))
                and take()
            ):
                use = _use(starts[name], n.Name(counter), by)
                rest = (*loop.body[:place], *loop.body[place + 1 :])
                loop = replace(loop, body=tuple(_changed(s, use) for s in rest))
    return loop


Use = Callable[[Any], Any]


def _use(start: n.Declare, counter: n.Name, by: n.Expression) -> Use:
    """How to write a place or a number that a loop moves on."""
    own = n.Name(start.name)
    far: n.Expression = counter
    if by != n.integer(1):
        far = n.Binary("*", counter, by)

    def change(node: Any) -> Any:
        match node:
            case n.Unary("*", operand) if operand == own:
                return n.Index(own, far)
            case n.Index(base, index) if base == own:
                return n.Index(own, n.Binary("+", far, index))
        return n.Binary("+", own, far) if node == own else None

    return change


def _changed(node: Any, use: Use) -> Any:
    """A tree with uses changed from above: an element before the pointer that it is of."""
    made = use(node)
    if made is None:
        return node.rebuilt(lambda part: _changed(part, use))
    if isinstance(made, n.Index) and isinstance(node, n.Index):
        assert isinstance(made.index, n.Binary)
        return n.Index(made.base, replace(made.index, right=_changed(made.index.right, use)))
    return made


# ---- pointers to one place -------------------------------------------------------------------


def _with_places(function: n.Function, take: Callable[[], bool]) -> n.Function:
    body = function.body or ()
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    sets = Counter(name for s in body for name in written(s))
    indexed = Counter(
        p.base.name for s in body for p in s.walk()
        if isinstance(p, n.Index) and isinstance(p.base, n.Name)
    )  # fmt: skip
    found: dict[str, n.Binary] = {}
    for statement in body:
        for node in statement.walk():
            match node:
                case (
                    n.Declare(
                        type=Pointer(),
                        name=name,
                        space="",
                        value=n.Binary("+", base, by),
                    ) as first
                ) if (
                    isinstance(base, n.Name | n.Member)
                    and uses[name] == indexed[name] == 1
                    and sets[name] == 1
                    and not any(sets[x] > 1 for x in by.names())
                    and not any(sets[x] for x in base.names())
                    and take()
                ):
                    assert isinstance(first.value, n.Binary)
                    found[name] = first.value
    if not found:
        return function

    def change(node: Any) -> Any:
        match node:
            case n.Index(n.Name(name=name), index) if name in found:
                return n.Index(found[name].left, n.Binary("+", found[name].right, index))
        return node

    made: n.Function = bottom_up(without_declared(function, found), change)
    return made
