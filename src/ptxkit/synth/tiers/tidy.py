"""Take away what a compiler would: variables no result depends on, parameters nobody uses,
functions nobody calls.

A target that holds what the PTX can't show could never be learned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import get_args

from ptxkit.cuda import nodes as n
from ptxkit.synth.tiers.sample import Launch

_EXPRESSIONS = frozenset(get_args(n.Expression))


def live_names(body: Sequence[n.Statement]) -> set[str]:
    """The names that what a kernel leaves behind depends on."""
    found: set[str] = set()
    known: dict[int, set[str]] = {}
    before = -1
    while len(found) != before:  # what a live name is computed from is live, too
        before = len(found)
        for statement in reversed(body):
            _mark(statement, found, known)
    return found


def _mark(statement: n.Statement, found: set[str], known: dict[int, set[str]]) -> bool:
    """Add the names a statement needs, if it is needed itself; say whether it is."""
    match statement:
        case n.Assign(target=n.Name(name=name)) | n.Declare(name=name, space=""):
            needed = name in found
            parts: Iterable[n.Node | None] = (statement.value,)
        case n.Declare():
            needed, parts = statement.name in found, ()
        case n.If():
            both = (*statement.then, *statement.otherwise)
            inside = [_mark(one, found, known) for one in both]
            needed, parts = any(inside), (statement.condition,)
        case n.For():
            inside = [_mark(one, found, known) for one in statement.body]
            needed = any(inside)
            parts = (statement.start, statement.condition, statement.step)
        case n.While() | n.DoWhile():
            inside = [_mark(one, found, known) for one in statement.body]
            needed, parts = any(inside), (statement.condition,)
        case _:
            needed, parts = True, (statement,)
    if needed:
        for part in parts:
            if part is not None:
                names = known.get(id(part))
                if names is None:  # the tree outlives this, and with it the ids
                    names = known[id(part)] = part.names()
                found |= names
    return needed


def _without(body: tuple[n.Statement, ...], live: set[str]) -> tuple[n.Statement, ...]:
    kept: list[n.Statement] = []
    for statement in body:
        match statement:
            case n.Declare(name=name) if name not in live:
                continue
            case n.Assign(target=n.Name(name=name)) if name not in live:
                continue
            case n.If():
                then = _without(statement.then, live)
                otherwise = _without(statement.otherwise, live)
                if not then and not otherwise:
                    continue
                if not then:
                    statement = n.If(n.Unary("!", statement.condition), otherwise)
                else:
                    statement = n.If(statement.condition, then, otherwise)
            case n.For() | n.While() | n.DoWhile():
                inner = _without(statement.body, live)
                if not inner:
                    continue
                statement = replace(statement, body=inner)
        kept.append(statement)
    return tuple(kept)


def _declared(body: Sequence[n.Statement]) -> set[str]:
    """The names that statements declare, those inside of others too."""
    found: set[str] = set()
    pending: list[n.Node] = [*body]
    while pending:
        statement = pending.pop()
        if isinstance(statement, n.Declare):
            found.add(statement.name)
        else:
            pending += [one for one in statement.children() if type(one) not in _EXPRESSIONS]
    return found


def tidy_function(function: n.Function) -> n.Function:
    """The function without variables that no result depends on."""
    body = function.body or ()
    live = live_names(body)
    return function if _declared(body) <= live else replace(function, body=_without(body, live))


def tidy(function: n.Function, launch: Launch) -> tuple[n.Function, Launch]:
    """The kernel without dead variables and unused parameters, and its launch."""
    function = tidy_function(function)
    used = function.names()
    keep = [k for k, p in enumerate(function.parameters) if p.name in used]
    return (
        replace(function, parameters=tuple(function.parameters[k] for k in keep)),
        replace(launch, arguments=tuple(launch.arguments[k] for k in keep)),
    )


def called(functions: Sequence[n.Function]) -> tuple[n.Function, ...]:
    """The kernels, and the functions that they call, directly or not."""
    if all(f.kernel for f in functions):
        return tuple(functions)
    calls = {
        f.name: {c.function for s in f.body or () for c in s.walk() if isinstance(c, n.Call)}
        for f in functions
    }
    found: set[str] = set()
    pending = [f.name for f in functions if f.kernel]
    while pending:
        name = pending.pop()
        if name in calls and name not in found:
            found.add(name)
            pending += calls[name]
    return tuple(f for f in functions if f.name in found)
