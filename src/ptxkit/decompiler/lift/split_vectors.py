"""Vectors that a compiler reads from shared memory where several elements were read.

Where elements of an array stand behind one another, and a loop does some turns at once, newer
compilers read them all together: ``float4 v = *(float4 *)&x[i]``. To find the turns again, each
element is read by itself. As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer, Vector
from ptxkit.decompiler.lift.rewrite import bodies_of, bottom_up, written

Body = tuple[n.Statement, ...]
_FIELDS = "xyzw"


def with_elements(body: Body, pointers: Collection[str]) -> Body:
    """The body with vectors of arrays, in loops that move through them, read by their elements.

    ``pointers`` are names of what is no array.
    """
    return tuple(_inside(statement, pointers) for statement in body)


def _inside(statement: n.Statement, pointers: Collection[str]) -> n.Statement:
    match statement:
        case n.If(then=then, otherwise=otherwise):
            made = with_elements(then, pointers), with_elements(otherwise, pointers)
            return replace(statement, then=made[0], otherwise=made[1])
        case n.For(body=body) | n.While(body=body):
            return replace(statement, body=with_elements(body, pointers))
        case n.DoWhile(body=body):
            return replace(statement, body=_split(with_elements(body, pointers), pointers))
    return statement


def _split(body: Body, pointers: Collection[str]) -> Body:
    made = list(body)
    for statement in body:
        match statement:
            case n.Assign(
                n.Name() as vector,
                n.Unary("*", n.Cast(Pointer(Vector() as type), n.Unary("&", n.Index() as first))),
                "=",
            ) if isinstance(first.base, n.Name) and first.base.name not in pointers:
                place = made.index(statement)
                parts = _parts(vector, type, first, made, place)
                if parts is not None:
                    made[place:] = parts
    return tuple(made)


def _parts(
    vector: n.Name, type: Vector, first: n.Index, body: list[n.Statement], place: int
) -> list[n.Statement] | None:
    """What follows the read of a vector with its elements instead, if it moves on by whole ones."""
    rest = body[place + 1 :]
    steps = {
        s.target.name: s.value.value for s in rest
        if isinstance(s, n.Assign) and s.operator == "+=" and isinstance(s.target, n.Name)
        and isinstance(s.value, n.Literal) and isinstance(s.value.value, int)
    }  # fmt: skip
    moving = steps.keys() & first.index.names()
    if not moving or any(steps[name] % type.count for name in moving):
        return None
    uses = [k for k, s in enumerate(rest) for p in s.walk() if p == vector]
    members = sum(isinstance(p, n.Member) and p.base == vector for s in rest for p in s.walk())
    if not uses or members != len(uses):
        return None
    reads = rest[: max(uses) + 1]
    changed = {name for s in reads for name in written(s)}
    if vector.name in changed or not changed.isdisjoint(first.names()):
        return None
    if any(bodies_of(s) for s in reads):
        return None

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Member(base, field) if base == vector:
                return n.Index(first.base, _plus(first.index, _FIELDS.index(field)))
        return node

    return [*(bottom_up(s, change) for s in reads), *rest[len(reads) :]]


def _plus(index: n.Expression, number: int) -> n.Expression:
    match index:
        case n.Binary("+" | "-" as operator, left, n.Literal(value=int() as value)):
            number += value if operator == "+" else -value
            index = left
    if not number:
        return index
    return n.Binary("+" if number > 0 else "-", index, n.integer(abs(number)))
