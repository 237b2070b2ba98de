"""Take away what a compiler would: variables nobody reads, parameters nobody uses.

A target that holds what the PTX can't show could never be learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.synth.tiers.sample import Launch


def _reads(statements: Iterable[n.Statement]) -> Counter[str]:
    """How often each name is read; being assigned to is no read."""
    found: Counter[str] = Counter()
    for statement in statements:
        for node in statement.walk():
            if isinstance(node, n.Name):
                found[node.name] += 1
            elif isinstance(node, n.Assign) and isinstance(node.target, n.Name):
                # x += y reads x too, but only for x itself.
                found[node.target.name] -= 1
    return found


def _without(body: tuple[n.Statement, ...], dead: set[str]) -> tuple[n.Statement, ...]:
    kept: list[n.Statement] = []
    for statement in body:
        match statement:
            case n.Declare(name=name) if name in dead:
                continue
            case n.Assign(target=n.Name(name=name)) if name in dead:
                continue
            case n.If():
                then = _without(statement.then, dead)
                otherwise = _without(statement.otherwise, dead)
                if not then and not otherwise:
                    continue
                if not then:
                    condition = n.Unary("!", statement.condition)
                    statement = n.If(condition, otherwise)
                else:
                    statement = n.If(statement.condition, then, otherwise)
            case n.For() | n.While() | n.DoWhile() | n.Block():
                statement = replace(statement, body=_without(statement.body, dead))
        kept.append(statement)
    return tuple(kept)


def _declared(body: tuple[n.Statement, ...]) -> set[str]:
    """Local scalars; loop counters and shared arrays stay what they are."""
    nodes = [node for statement in body for node in statement.walk()]
    counters = {node.start.name for node in nodes
                if isinstance(node, n.For) and isinstance(node.start, n.Declare)}  # fmt: skip
    local = {node.name for node in nodes if isinstance(node, n.Declare) and not node.space}
    return local - counters


def tidy_function(function: n.Function) -> n.Function:
    """The function without variables that nothing reads."""
    body = function.body or ()
    while True:
        reads = _reads(body)
        dead = {name for name in _declared(body) if reads[name] <= 0}
        if not dead:
            return replace(function, body=body)
        body = _without(body, dead)


def tidy(function: n.Function, launch: Launch) -> tuple[n.Function, Launch]:
    """The kernel without dead variables and unused parameters, and its launch."""
    function = tidy_function(function)
    used = {node.name for s in function.body or () for node in s.walk() if isinstance(node, n.Name)}
    keep = [k for k, p in enumerate(function.parameters) if p.name in used]
    return (
        replace(function, parameters=tuple(function.parameters[k] for k in keep)),
        replace(launch, arguments=tuple(launch.arguments[k] for k in keep)),
    )
