"""Casts that say nothing: to a type that holds the same number, and of what a name has without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, written
from ptxkit.decompiler.tidy.conversions import sure_types, type_of

_THREADS = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))


def plain_casts(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function without such casts.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k
    ...     (params (param (ptr float) y) (param (ptr uchar) x) (param uint m))
    ...     (let int i (. threadIdx x))
    ...     (= ([] y (cast uint i)) (cast ushort ([] x i)))
    ...     (= ([] y (+ (cast ulonglong (cast uint i)) 32)) 1.0f)
    ...     (eval (call atomicAdd y (cast int m))))''')
    >>> print(print_function(plain_casts(kernel, lambda: True)), end="")
    __global__ void k(float *y, unsigned char *x, unsigned int m) {
        int i = threadIdx.x;
        y[threadIdx.x] = x[i];
        y[threadIdx.x + 32] = 1.0f;
        atomicAdd(y, m);
    }
    """
    types = sure_types(function)
    threads = _threads(function)

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Cast(type=Scalar(kind="int") as wanted, operand=operand):
                place = _place(node, threads) or _offset(node, threads)
                if place is not None and take():
                    return place
                given = type_of(operand, types)
                if wanted.bits <= 32 and _is_held(given, wanted) and take():
                    return operand
            case n.Binary(
                "+", n.Cast(type=Scalar(bits=64), operand=place), n.Literal() as more
            ) if _is_thread(place) and take():
                return n.Binary("+", place, more)
            case n.Declare(type=Scalar(kind="int", bits=32), value=n.Cast() as value):
                bare = _bare(value, types, take)
                return node if bare is value else replace(node, value=bare)
            case n.Call(arguments=arguments):
                made = tuple(_bare(a, types, take) for a in arguments)
                return node if made == arguments else replace(node, arguments=made)
        return node

    return replace(function, body=tuple(bottom_up(s, change) for s in function.body or ()))


def _threads(function: n.Function) -> dict[str, n.Expression]:
    """The variables that are places of threads or blocks, or sizes, and stay so."""
    sets = Counter(name for s in function.body or () for name in written(s))
    return {
        s.name: s.value for s in function.walk()
        if isinstance(s, n.Declare) and sets[s.name] == 1 and s.value and _is_thread(s.value)
    }  # fmt: skip


def _is_thread(node: n.Expression) -> bool:
    return isinstance(node, n.Member) and isinstance(node.base, n.Name) and (
        node.base.name in _THREADS
    )  # fmt: skip


def _place(node: n.Expression, threads: Mapping[str, n.Expression]) -> n.Expression | None:
    """What is converted to a number without a sign, where it was one before it had a name."""
    unsigned = False
    while isinstance(node, n.Cast) and isinstance(node.type, Scalar) and node.type.bits >= 32:
        unsigned = unsigned or (node.type.bits == 32 and not node.type.signed)
        node = node.operand
    return threads.get(node.name) if unsigned and isinstance(node, n.Name) else None


def _offset(node: n.Cast, threads: Mapping[str, n.Expression]) -> n.Expression | None:
    """The same of what such a place is added to."""
    match node:
        case n.Cast(
            type=Scalar(bits=32, signed=False), operand=n.Binary("+", start, n.Name(name=name))
        ) if name in threads:
            return n.Binary("+", start, threads[name])
    return None


def _is_held(given: Type | None, wanted: Scalar) -> bool:
    """Whether a type has all numbers of another one."""
    if not isinstance(given, Scalar) or not given.is_integer:
        return False
    if given.signed == wanted.signed:
        return given.bits <= wanted.bits
    return not given.signed and given.bits < wanted.bits


def _bare(node: n.Expression, types: Mapping[str, Type], take: Callable[[], bool]) -> n.Expression:
    """An argument without another sign, which a function asks for by itself."""
    match node:
        case n.Cast(type=Scalar(kind="int", bits=32), operand=operand):
            given = type_of(operand, types)
            plain = isinstance(given, Scalar) and given.is_integer and given.bits == 32
            return operand if plain and take() else node
    return node
