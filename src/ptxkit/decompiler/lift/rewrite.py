"""Walking and rewriting trees: what the passes share."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ptxkit.cuda import nodes as n

N = TypeVar("N", bound=n.Node)
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)

Body = tuple[n.Statement, ...]


def rebuilt(node: N, change: Callable[[Any], Any]) -> N:
    """The node with each of its direct parts changed; itself if nothing did."""
    changes: dict[str, Any] = {}
    kind: type = type(node)
    for name in n.branches(kind):
        old = getattr(node, name)
        new = change(old) if isinstance(old, n.Node) else _part(old, change)
        if new is not old:
            changes[name] = new
    return replace(node, **changes) if changes else node  # type: ignore[type-var]


def _part(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, n.Node):
        return change(value)
    if isinstance(value, tuple) and value:
        parts = tuple(_part(item, change) for item in value)
        same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if same else parts
    return value


def bottom_up(node: N, change: Callable[[Any], Any]) -> Any:
    """Rewrite a tree from its leaves."""
    return change(rebuilt(node, lambda part: bottom_up(part, change)))


def bodies_of(node: n.Node) -> tuple[tuple[n.Statement, ...], ...]:
    """The lists of statements right inside of a statement."""
    match node:
        case n.If(then=then, otherwise=otherwise):
            return then, otherwise
        case n.While(body=body) | n.DoWhile(body=body) | n.For(body=body) | n.Block(body=body):
            return (body,)
        case n.Switch(cases=cases):
            return tuple(case.body for case in cases)
    return ()


def rebuilt_lists(node: n.Statement, change: Callable[[Body], Body]) -> n.Statement:
    """A statement with the lists of statements right inside of it changed."""
    match node:
        case n.If(then=then, otherwise=otherwise):
            return replace(node, then=change(then), otherwise=change(otherwise))
        case n.For(body=body) | n.While(body=body) | n.DoWhile(body=body):
            return replace(node, body=change(body))
    return node


def without_declared(node: N, names: Container[str]) -> N:
    """A function or a statement without the declarations of some names, wherever these are.

    >>> from ptxkit.cuda import print_statements, read
    >>> loop = read("(do (< i n) (let int a 1) (if (< i 2) (then (let int b 2))) (+= i 1))")
    >>> print(print_statements((without_declared(loop, {"a", "b"}),)), end="")
    do {
        if (i < 2) {
        }
        i++;
    } while (i < n);
    """

    def kept(part: Any) -> Any:
        changes: dict[str, Any] = {}
        kind: type = type(part)
        for name in n.branches(kind):
            body = getattr(part, name)
            if isinstance(body, tuple):
                left = tuple(s for s in body if not (isinstance(s, n.Declare) and s.name in names))
                if len(left) < len(body):
                    changes[name] = left
        return replace(part, **changes) if changes else part

    return bottom_up(node, kept)  # type: ignore[no-any-return]


def statements_of(body: Iterable[n.Statement]) -> Iterator[n.Statement]:
    """Statements and those inside of them, in the order of the text; no expressions."""
    stack = [*body][::-1]
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, n.For):
            stack += [s for s in (statement.step, statement.start) if s is not None]
        for inner in reversed(bodies_of(statement)):
            stack += reversed(inner)


def written(statement: n.Statement) -> Iterator[str]:
    """Variables that a statement may assign to, nested statements included."""
    for node in statement.walk():
        if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
            yield node.target.name
        elif isinstance(node, n.Asm):
            for operand in node.outputs:
                if isinstance(operand.expression, n.Name):
                    yield operand.expression.name
        elif isinstance(node, n.Declare):
            yield node.name
        elif (
            isinstance(node, n.Unary) and node.operator == "&" and isinstance(node.operand, n.Name)
        ):
            yield node.operand.name


def read(node: n.Node) -> Iterator[str]:
    """Variables that are read in a tree; those only assigned to are not."""
    stack: list[n.Node] = [node]
    while stack:
        item = stack.pop()
        match item:
            case n.Name(name=name):
                yield name
            case n.Assign(target=n.Name(), value=value, operator="="):
                stack.append(value)
            case n.Call(function=function) if "(" in function:
                # A pointer that is called stands in the text of what is called.
                yield from _WORD.findall(function)
                stack.extend(item.children())
            case n.Asm(outputs=outputs, inputs=inputs):
                stack.extend(o.expression for o in inputs)
                stack.extend(
                    o.expression
                    for o in outputs
                    if o.constraint[0] == "+" or not isinstance(o.expression, n.Name)
                )
            case _:
                stack.extend(item.children())


def is_load(node: n.Node) -> bool:
    """Whether a node reads memory."""
    return isinstance(node, n.Call) and node.function.startswith("@ld")


_EFFECTS = ("@st", "@atomic", "__sync", "__shfl", "__ballot", "__any", "__all", "__activemask",
            "__threadfence", "__reduce", "__trap", "__match")  # fmt: skip


def has_effect(node: n.Node, pure_calls: frozenset[str] = frozenset()) -> bool:
    """Whether evaluating a tree does more than give a value."""
    for part in node.walk():
        if isinstance(part, n.Asm | n.Return | n.Goto):
            return True
        if isinstance(part, n.Call) and part.function.startswith(_EFFECTS):
            return True
        if isinstance(part, n.Call) and part.function in pure_calls:
            continue
    return False


def size(node: n.Node) -> int:
    """How many nodes a tree has."""
    return sum(1 for _ in node.walk())


def terms_of(node: n.Expression) -> list[n.Expression]:
    """What is added up, from the left to the right."""
    match node:
        case n.Binary("+", left, right):
            return [*terms_of(left), *terms_of(right)]
    return [node]


def loads_from(function: str) -> bool:
    """Whether a function loads from the place that it is given."""
    return function.startswith("__ld")


def accesses(node: n.Node) -> int:
    """How often memory is accessed in a tree, as it is written.

    A function that loads from a place is one access, however the place is given; a place that is
    only taken is none.
    """
    match node:
        case n.Unary("&", n.Index(base, index)):
            return accesses(base) + accesses(index)
        case n.Call(function=name, arguments=(n.Unary("&", n.Index(base, index)),)) if loads_from(
            name
        ):
            return 1 + accesses(base) + accesses(index)
        case n.Call(function=name) if loads_from(name):
            own = 1
        case n.Index() | n.Unary(operator="*"):
            own = 1
        case _:
            own = 0
    return own + sum(map(accesses, node.children()))


def spelled_out(value: n.Expression, values: Mapping[str, n.Expression]) -> n.Expression:
    """What a name stands for, and what that one does, without conversions.

    >>> spelled_out(n.Name("a"), {"a": n.Name("b"), "b": n.integer(3)}).value
    3
    """
    while isinstance(value, n.Cast):
        value = value.operand
    inner = values.get(value.name) if isinstance(value, n.Name) else None
    return value if inner is None else spelled_out(inner, values)
