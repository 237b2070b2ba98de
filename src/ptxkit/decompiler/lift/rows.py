"""Parameters that point to rows: from ``grid[i * 360000 + j * 600 + k]`` to ``grid[i][j][k]``.

The name of a function tells how long the rows were. Where every access is a sum of multiples of
their lengths, each multiple is an index of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Array, Pointer, Scalar, Type
from ptxkit.decompiler.lift.matrices import Sum, parsed, sum_of_terms
from ptxkit.decompiler.lift.rewrite import rebuilt

Body = tuple[n.Statement, ...]
Parameters = tuple[n.Parameter, ...]


def with_rows(
    body: Body,
    parameters: Parameters,
    shapes: Mapping[str, tuple[int, ...]],
    types: Mapping[str, Type],
) -> tuple[Body, Parameters]:
    """A function's body and its parameters, by the shapes of what some of these point to."""
    known = {
        p.name: shapes[p.name] for p in parameters
        if p.name in shapes and isinstance(p.type, Pointer) and not p.type.restrict
        and isinstance(p.type.target, Scalar)
    }  # fmt: skip
    for statement in body:
        _keep_plain(statement, known)
    if not known:
        return body, parameters

    def change(part: n.Node) -> n.Node:
        match part:
            case n.Index(n.Name(name=name) as base, index) if name in known:
                made: n.Expression = base
                for one in split_index(parsed(rebuilt(index, change)), known[name], types):
                    made = n.Index(made, one)
                return made
        return rebuilt(part, change)

    made = tuple(change(s) for s in body)
    return made, tuple(_declared(p, known) for p in parameters)  # type: ignore[return-value]


def _declared(parameter: n.Parameter, known: Mapping[str, tuple[int, ...]]) -> n.Parameter:
    if parameter.name not in known:
        return parameter
    assert isinstance(parameter.type, Pointer)
    return replace(parameter, type=Pointer(Array(parameter.type.target, known[parameter.name])))


def _keep_plain(node: n.Node, known: dict[str, tuple[int, ...]]) -> None:
    """Leave out what is not only accessed, element by element."""
    stack = [node]
    while stack:
        one = stack.pop()
        match one:
            case n.Index(n.Name(name=name), index) if name in known:
                if not _has_rows(parsed(index), known[name]):
                    del known[name]
                stack.append(index)
                continue
            case n.Name(name=name):
                known.pop(name, None)
        stack.extend(one.children())


def _lengths(shape: tuple[int, ...]) -> list[int]:
    """What an index is multiplied with, from the first to the last.

    >>> _lengths((600, 400))
    [240000, 400, 1]
    """
    return [prod(shape[k:]) for k in range(len(shape) + 1)]


def _has_rows(index: Sum, shape: tuple[int, ...]) -> bool:
    """Whether an access says which row it means: not a sum of everything."""
    lengths = _lengths(shape)
    return all(times % lengths[-2] == 0 or times == 1 for _, times in index.terms)


def split_index(
    index: Sum, shape: tuple[int, ...], types: Mapping[str, Type]
) -> list[n.Expression]:
    """The indices that an index of an array without rows is made of, for rows of some lengths."""
    lengths = _lengths(shape)
    parts: list[list[tuple[n.Expression, int]]] = [[] for _ in lengths]
    for term, times in index.terms:
        place = next(k for k, length in enumerate(lengths) if times % length == 0)
        parts[place].append((_narrow(term, types), times // lengths[place]))
    numbers = [0] * len(lengths)
    left = index.constant
    for place in range(len(shape), 0, -1):
        size = shape[place - 1]
        inside = left % size
        # Beside an index it is a step, to the left or to the right; else a place in the row.
        if parts[place] and inside > size // 2:
            inside -= size
        numbers[place], left = inside, (left - inside) // size
    numbers[0] = left
    return [
        _tidy(sum_of_terms(terms, number)) for terms, number in zip(parts, numbers, strict=True)
    ]


def _narrow(term: n.Expression, types: Mapping[str, Type]) -> n.Expression:
    """An index without a cast that makes it as wide as an address: an access does so, too."""
    match term:
        case n.Cast(type=Scalar(bits=64) as wide, operand=n.Cast(type=Scalar(bits=32)) as inner):
            return inner if wide.is_integer else term
        case n.Cast(type=Scalar(bits=64) as wide, operand=n.Name(name=name) as inner):
            known = types.get(name)
            whole = isinstance(known, Scalar) and known.is_integer and known.bits == 32
            return inner if whole and wide.is_integer else term
    return term


def _tidy(node: n.Expression) -> n.Expression:
    match node:
        case n.Binary("+", left, n.Literal(value=int() as number)) if number < 0:
            return n.Binary("-", left, n.Literal(-number, INT))
    return node
