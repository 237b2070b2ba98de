"""Variables that are declared long before they hold anything that is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bodies_of, rebuilt_lists

Body = tuple[n.Statement, ...]


def late_declarations(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that declares them where they are set first.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int r))
    ...     (let int i (neg r)) (let int m)
    ...     (for (= i (neg r)) (< i r) (+= i 1) (= m (+ i 1)) (= ([] x m) m)))''')
    >>> print(print_function(late_declarations(kernel, lambda: True)), end="")
    __global__ void k(int *x, int r) {
        for (int i = -r; i < r; i++) {
            int m = i + 1;
            x[m] = m;
        }
    }
    """
    body = function.body or ()
    declared = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Declare))
    if any(isinstance(p, n.Goto | n.Label | n.Switch | n.Asm) for s in body for p in s.walk()):
        return function

    def late(body: Body) -> Body:
        made: list[n.Statement] = []
        rest = body
        while rest:
            one, *others = rest
            rest = tuple(others)
            if isinstance(one, n.Declare) and _is_plain(one) and declared[one.name] == 1:
                later = _later(rest, one)
                if later is not None and take():
                    rest = later
                    continue
            made.append(rebuilt_lists(one, late))
        return tuple(made)

    return replace(function, body=late(body))


def _is_plain(one: n.Declare) -> bool:
    """Whether nothing happens where a variable is declared."""
    calls = one.value is not None and any(isinstance(p, n.Call) for p in one.value.walk())
    return not one.space and not calls


def _later(body: Body, one: n.Declare) -> Body | None:
    """Statements that declare a variable themselves, if they set it before they ask for it."""
    name = one.name
    place = next((k for k, s in enumerate(body) if name in s.names()), None)
    if place is None:
        return None
    statement = body[place]
    alone = not any(name in s.names() for s in body[place + 1 :])
    made: n.Statement | None = None
    match statement:
        case n.Assign(n.Name(name=target), value, "=") if target == name:
            made = replace(one, value=value) if name not in value.names() else None
        case n.For(start=n.Assign(n.Name(name=target), value, "=") as start) if (
            target == name and alone and name not in value.names() and start is not None
        ):
            made = replace(statement, start=replace(one, value=value))
        case n.If() | n.For() | n.While() | n.DoWhile() if alone:
            made = _inside(statement, one)
    return None if made is None else (*body[:place], made, *body[place + 1 :])


def _inside(statement: n.Statement, one: n.Declare) -> n.Statement | None:
    """A statement that declares a variable in the one list of it that names it."""
    lists = bodies_of(statement)
    named = [body for body in lists if any(one.name in s.names() for s in body)]
    times = sum(p == n.Name(one.name) for p in statement.walk())
    inside = sum(p == n.Name(one.name) for body in named for s in body for p in s.walk())
    if len(named) != 1 or times != inside:
        return None
    later = _later(named[0], one)
    if later is None:
        return None
    return rebuilt_lists(statement, lambda body: later if body is named[0] else body)
