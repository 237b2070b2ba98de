"""Other ways to write the same: variables for elements that are read again, arrays with rows.

Each function gives a body in the other form, or the same one where there is none. Whether the
other form is wanted is decided in `style.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Array, Pointer, Scalar

Body = tuple[n.Statement, ...]


def mapped(node: Any, change: Callable[[Any], Any]) -> Any:
    """A tree with every node changed, from the leaves up."""
    updates: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, n.Node):
            updates[field.name] = mapped(value, change)
        elif isinstance(value, tuple) and any(isinstance(x, n.Node) for x in value):
            updates[field.name] = tuple(mapped(x, change) if isinstance(x, n.Node) else x
                                        for x in value)  # fmt: skip
    return change(replace(node, **updates) if updates else node)


def with_rolled_loops(module: n.CudaModule) -> n.CudaModule:
    """All loops as ones that the compiler leaves as they are, which answers leave open."""
    loops = (n.For, n.While, n.DoWhile)
    changed: n.CudaModule = mapped(
        module, lambda x: replace(x, unroll=1) if isinstance(x, loops) else x
    )
    return changed


# ---- elements that are read again --------------------------------------------------------


def read_again(statement: n.Statement) -> Counter[n.Index]:
    """Elements that a statement reads more than once, at least once whatever happens."""
    if not isinstance(statement, n.Assign | n.Declare) or statement.value is None:
        return Counter()
    every = Counter(x for x in statement.value.walk() if isinstance(x, n.Index))
    always = set(_always(statement.value))
    return Counter({x: k for x, k in every.items() if k > 1 and x in always and _plain(x)})


def _plain(node: n.Index) -> bool:
    return isinstance(node.base, n.Name) and not any(
        isinstance(x, n.Index | n.Call) for x in node.index.walk()
    )


def _always(node: n.Expression) -> list[n.Index]:
    """Elements that are read whenever an expression is evaluated."""
    found = [node] if isinstance(node, n.Index) else []
    parts: list[n.Node | None] = [
        value
        for value in (getattr(node, f.name) for f in fields(node))
        if isinstance(value, n.Node)
    ]
    if isinstance(node, n.Conditional):
        parts = [node.condition]
    elif isinstance(node, n.Binary) and node.operator in ("&&", "||"):
        parts = [node.left]
    elif isinstance(node, n.Call):
        parts = list(node.arguments)
    for part in parts:
        found += _always(part)  # type: ignore[arg-type]
    return found


def with_temporaries(function: n.Function, wanted: Callable[[int], bool]) -> n.Function:
    """Elements that a statement reads so many times as variables before it."""
    types = {p.name: p.type.target for p in function.parameters if isinstance(p.type, Pointer)}
    count = 0

    def body(statements: Body) -> Body:
        nonlocal count
        found: list[n.Statement] = []
        for statement in statements:
            statement = _inside(statement, body)
            for element, times in read_again(statement).items():
                assert isinstance(element.base, n.Name)
                type = types.get(element.base.name)
                if not isinstance(type, Scalar) or not wanted(times):
                    continue
                name = n.Name(f"element{count}")
                count += 1
                found.append(n.Declare(type, name.name, element))
                statement = _reading(statement, element, name)
            found.append(statement)
        return tuple(found)

    return replace(function, body=body(function.body or ()))


def _reading(statement: Any, element: n.Index, name: n.Name) -> n.Statement:
    value = mapped(statement.value, lambda x: name if x == element else x)
    changed: n.Statement = replace(statement, value=value)
    return changed


def _inside(statement: Any, change: Callable[[Body], Body]) -> Any:
    """A statement with the blocks in it changed."""
    if isinstance(statement, n.If):
        return replace(
            statement, then=change(statement.then), otherwise=change(statement.otherwise)
        )
    if isinstance(statement, n.For | n.While | n.DoWhile):
        return replace(statement, body=change(statement.body))
    return statement


# ---- arrays with rows --------------------------------------------------------------------


def with_rows(function: n.Function) -> n.Function:
    """Shared arrays whose every index is ``row * width + column`` with two dimensions."""
    for declared in [x for s in function.body or () for x in s.walk()]:
        if isinstance(declared, n.Declare) and isinstance(declared.type, Array):
            function = _split(function, declared, declared.type)
    return function


def _split(function: n.Function, declared: n.Declare, type: Array) -> n.Function:
    nodes = [x for s in function.body or () for x in s.walk()]
    used = [x for x in nodes if isinstance(x, n.Index) and x.base == n.Name(declared.name)]
    places = [_row_and_column(x.index) for x in used]
    widths = {place[1] for place in places if place is not None}
    names = sum(isinstance(x, n.Name) and x.name == declared.name for x in nodes)
    if len(type.shape) != 1 or None in places or len(widths) != 1 or names != len(used):
        return function
    width = widths.pop()
    if width < 2 or type.shape[0] % width or type.shape[0] == width:
        return function

    def change(node: Any) -> Any:
        if isinstance(node, n.Index) and node.base == n.Name(declared.name):
            place = _row_and_column(node.index)
            assert place is not None
            return n.Index(n.Index(node.base, place[0]), place[2])
        if node == declared:
            return replace(node, type=Array(type.element, (type.shape[0] // width, width)))
        return node

    body = tuple(mapped(s, change) for s in function.body or ())
    return replace(function, body=body)


def _row_and_column(index: n.Expression) -> tuple[n.Expression, int, n.Expression] | None:
    """Row, width and column of an index."""
    if not isinstance(index, n.Binary) or index.operator != "+":
        return None
    for product, column in ((index.left, index.right), (index.right, index.left)):
        if isinstance(product, n.Binary) and product.operator == "*":
            for row, width in ((product.left, product.right), (product.right, product.left)):
                if isinstance(width, n.Literal) and isinstance(width.value, int):
                    return row, width.value, column
    return None
