"""Variables that hold the bits of a number of floating point, as a loop around ``atomicCAS`` has.

Who compares and swaps such numbers keeps what was there as an integer, and reads a number out of it
only to compute with. The lifter sees numbers wherever most take it for one. Nothing here is
trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import DOUBLE, FLOAT, UINT, UNSIGNED_LONG_LONG, Scalar
from ptxkit.decompiler.lift.rewrite import rebuilt


@dataclass(frozen=True, slots=True)
class _Bits:
    """Functions between a number and its bits; the first one of each kind is written."""

    type: Scalar
    of_number: tuple[str, ...]
    as_number: tuple[str, ...]


_KINDS = {
    FLOAT: _Bits(
        UINT, ("__float_as_uint", "__float_as_int"), ("__uint_as_float", "__int_as_float")
    ),
    DOUBLE: _Bits(UNSIGNED_LONG_LONG, ("__double_as_longlong",), ("__longlong_as_double",)),
}


def as_bits(function: n.Function) -> Iterator[n.Function]:
    """The function with variables of which the bits are read as these bits.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param float a))
    ...     (let float v ([] x 0))
    ...     (while (> a v)
    ...         (let float w (call __uint_as_float (call atomicCAS (cast (ptr uint) x)
    ...             (call __float_as_uint v) (call __float_as_uint a))))
    ...         (let bool same (== (call __float_as_int w) (call __float_as_int v)))
    ...         (= v w)
    ...         (if same (then (break)))))''')
    >>> print(print_function(next(as_bits(kernel))), end="")
    __global__ void k(float *x, float a) {
        unsigned int v = __float_as_uint(x[0]);
        while (a > __uint_as_float(v)) {
            unsigned int w = atomicCAS((unsigned int *)x, v, __float_as_uint(a));
            bool same = w == v;
            v = w;
            if (same) break;
        }
    }
    """
    for type, bits in _KINDS.items():
        names = _read_as_bits(function, type, bits)
        if names:
            yield rebuilt(function, partial(_changed, names, bits))


def _read_as_bits(function: n.Function, type: Scalar, bits: _Bits) -> frozenset[str]:
    """What is compared with memory by its bits, and copies of it; each is only set as a whole."""
    parts = [part for statement in function.body or () for part in statement.walk()]
    names = {p.name for p in parts if isinstance(p, n.Declare) and p.type == type and not p.space}
    for part in parts:
        match part:
            case n.Assign(n.Name(name=name), _, operator) if operator != "=":
                names.discard(name)
            case n.Unary("&", n.Name(name=name)):
                names.discard(name)
    found = {name for part in parts for name in _compared(part, bits)}
    while more := {one for copy in parts for one in _copied(copy, found)} - found:
        found |= more
    return frozenset(found & names)


def _compared(part: n.Node, bits: _Bits) -> Iterator[str]:
    match part:
        case n.Call("atomicCAS", (_, n.Call(function=function, arguments=(n.Name(name=name),)), _)):
            if function in bits.of_number:
                yield name


def _copied(part: n.Node, found: set[str]) -> Iterator[str]:
    match part:
        case n.Assign(n.Name(name=to), n.Name(name=source), "="):
            pass
        case n.Declare(name=to, value=n.Name(name=source)):
            pass
        case _:
            return
    if to in found:
        yield source
    if source in found:
        yield to


def _changed(names: frozenset[str], bits: _Bits, node: Any) -> Any:
    change = partial(_changed, names, bits)

    def of(value: n.Expression) -> n.Expression:
        match value:
            case n.Call(function=function, arguments=(inner,)) if function in bits.as_number:
                return rebuilt(inner, change)
            case n.Name(name=name) if name in names:
                return value
        return n.Call(bits.of_number[0], (change(value),))

    match node:
        case n.Declare(name=name, value=value) if name in names:
            return replace(node, type=bits.type, value=None if value is None else of(value))
        case n.Assign(n.Name(name=name), value, "=") if name in names:
            return replace(node, value=of(value))
        case n.Call(function=function, arguments=(n.Name(name=name) as own,)) if (
            function in bits.of_number and name in names
        ):
            return own
        case n.Name(name=name) if name in names:
            return n.Call(bits.as_number[0], (node,))
    return rebuilt(node, change)
