"""Pointers to numbers of floating point whose bits are compared and swapped.

There is no ``atomicCAS`` of such numbers: people give it the address of one as that of an integer.
Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import DOUBLE, FLOAT, Pointer, Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up

Body = tuple[n.Statement, ...]
#: What bits of a number are given to it as.
_BITS = {
    "__float_as_int": FLOAT,
    "__float_as_uint": FLOAT,
    "__double_as_longlong": DOUBLE,
}


def as_floats(function: n.Function) -> Iterator[tuple[str, n.Function]]:
    """The function with a parameter that points to integers pointing to what their bits are."""
    for place, parameter in enumerate(function.parameters):
        pointer = parameter.type
        if not isinstance(pointer, Pointer) or not isinstance(pointer.target, Scalar):
            continue
        kind = _swapped(function, parameter.name) if pointer.target.is_integer else None
        if kind is None:
            continue
        body = _by_address(function.body or (), n.Name(parameter.name), pointer)
        if body is None:
            continue
        changed = replace(parameter, type=replace(pointer, target=kind))
        parameters = (*function.parameters[:place], changed, *function.parameters[place + 1 :])
        yield "pointee", replace(function, parameters=parameters, body=body)


def _swapped(function: n.Function, name: str) -> Scalar | None:
    """The type of the numbers whose bits are swapped in at a pointer."""
    for node in function.walk():
        match node:
            case n.Call("atomicCAS", (address, _, value)) if name in address.names():
                for part in value.walk():
                    if isinstance(part, n.Call) and part.function in _BITS:
                        return _BITS[part.function]
    return None


def _by_address(body: Body, own: n.Name, pointer: Pointer) -> Body | None:
    """Statements with the address that is used as a variable, right before it is used."""
    users = [k for k, s in enumerate(body) if own.name in s.names()]
    if not users:
        return None
    match body[users[0]] if len(users) == 1 else None:
        case n.If(condition, then, ()) as outer if own.name not in condition.names():
            inner = _by_address(then, own, pointer)
            return None if inner is None else _put(body, users[0], replace(outer, then=inner))
    parts = [p for s in body for p in s.walk()]
    indices = {p.index for p in parts if isinstance(p, n.Index) and p.base == own}
    indexed = sum(isinstance(p, n.Index) and p.base == own for p in parts)
    if len(indices) > 1 or (indices and indexed != sum(p == own for p in parts)):
        return None
    bits = n.Name(f"{own.name}_bits")
    place: n.Expression = own
    for index in indices:
        place = n.Unary("&", n.Index(own, index))

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Unary("&", n.Unary("*", inner)) if inner == bits:
                return bits
            case n.Index(base) if base == bits:
                return n.Unary("*", bits)
        return bits if node == own else node

    made = tuple(bottom_up(s, change) for s in body)
    declared = n.Declare(pointer, bits.name, n.Cast(pointer, place))
    return (*made[: users[0]], declared, *made[users[0] :])


def _put(body: Body, place: int, statement: n.Statement) -> Body:
    return (*body[:place], statement, *body[place + 1 :])
