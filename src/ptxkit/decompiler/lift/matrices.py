"""Arrays of two dimensions: from ``tile[y * 33 + x]`` to ``tile[y][x]``.

Where every access of an array has terms that are multiples of one number, and the array is made
of rows of so many elements, it is written as rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Array, Struct
from ptxkit.decompiler.lift.rewrite import rebuilt

Body = tuple[n.Statement, ...]


@dataclass(slots=True)
class Sum:
    """An index as terms times numbers, and a number."""

    terms: list[tuple[n.Expression, int]] = field(default_factory=list)
    constant: int = 0


def with_matrices(body: Body) -> Body:
    """A function's body with its arrays as rows and columns."""
    arrays = {
        s.name: s.type for s in body
        if isinstance(s, n.Declare) and isinstance(s.type, Array) and len(s.type.shape) == 1
        and not isinstance(s.type.element, Struct | Array) and s.value is None
    }  # fmt: skip
    if not arrays:
        return body
    found: dict[str, list[Sum | None]] = {name: [] for name in arrays}
    for statement in body:
        _look(statement, found)
    widths = {name: width for name, indices in found.items()
              if (width := _width(indices, arrays[name].shape[0]))}  # fmt: skip
    if not widths:
        return body
    return tuple(_rewritten(s, widths, arrays) for s in body)


def _look(node: n.Node, found: dict[str, list[Sum | None]]) -> None:
    stack = [node]
    while stack:
        one = stack.pop()
        match one:
            case n.Index(n.Name(name=name), index) if name in found:
                found[name].append(parsed(index))
                stack.append(index)
                continue
            case n.Name(name=name) if name in found:
                found[name].append(None)  # its address is taken: it stays as it is
        stack.extend(one.children())


def parsed(node: n.Expression, times: int = 1) -> Sum:
    """An index as a sum."""
    match node:
        case n.Literal(value=value) if isinstance(value, int):
            return Sum([], value * times)
        case n.Binary("+", left, right):
            one, two = parsed(left, times), parsed(right, times)
            return Sum([*one.terms, *two.terms], one.constant + two.constant)
        case n.Binary("-", left, n.Literal(value=value)) if isinstance(value, int):
            one = parsed(left, times)
            return Sum(one.terms, one.constant - value * times)
        case n.Binary("*", left, n.Literal(value=value)) if isinstance(value, int):
            return parsed(left, times * value)
        case n.Binary("<<", left, n.Literal(value=value)) if isinstance(value, int):
            return parsed(left, times << value)
    return Sum([(node, times)])


def _width(indices: list[Sum | None], size: int) -> int:
    """The elements of a row; 0 where there are no rows."""
    if not indices or any(i is None for i in indices):
        return 0
    factors = {times for i in indices if i is not None for _, times in i.terms}
    large = sorted(f for f in factors if f > 1)
    if not large or any(f < 1 for f in factors):
        return 0
    if 1 not in factors:
        return 0  # no column is asked for but by a number: those are records
    if not size or any(i is None or i.constant < 0 for i in indices):
        return 0
    # What is less than a row goes some columns on.
    rows = (w for w in large if size % w == 0 and size != w)
    return next((w for w in rows if not any(f > w and f % w for f in large)), 0)


def _rewritten(node: n.Statement, widths: dict[str, int], arrays: dict[str, Array]) -> n.Statement:
    def change(part: n.Node) -> n.Node:
        match part:
            case n.Declare(name=name) if name in widths:
                width = widths[name]
                shape = (arrays[name].shape[0] // width, width)
                return replace(part, type=Array(arrays[name].element, shape))
            case n.Index(n.Name(name=name), index) if name in widths:
                whole, width = parsed(rebuilt(index, change)), widths[name]
                rows = [(t, k // width) for t, k in whole.terms if k % width == 0]
                columns = [(t, k) for t, k in whole.terms if k % width]
                first, second = divmod(whole.constant, width)
                return n.Index(
                    n.Index(n.Name(name), sum_of_terms(rows, first)), sum_of_terms(columns, second)
                )
        return rebuilt(part, change)

    return change(node)  # type: ignore[return-value]


def sum_of_terms(terms: list[tuple[n.Expression, int]], constant: int) -> n.Expression:
    """Terms times numbers, and a number, added up."""
    made: n.Expression | None = None
    for term, times in terms:
        one = term if times == 1 else n.Binary("*", term, n.Literal(times, INT))
        made = one if made is None else n.Binary("+", made, one)
    if made is None:
        return n.Literal(constant, INT)
    return n.Binary("+", made, n.Literal(constant, INT)) if constant else made
