"""Loops that try to change memory until nobody else did, as the CUDA manual writes them.

What a turn began with is ``assumed``, and what it found is ``old``: no flag is needed to remember
whether they were the same, and bits that are compared are whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import UINT, UNSIGNED_LONG_LONG, Pointer, Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists

Body = tuple[n.Statement, ...]
_OLD, _ADDRESS = "old", "address"
#: For bits of floating point: the type of them, to bits, and back.
_BITS: dict[int, tuple[Type, str, str]] = {
    32: (UINT, "__float_as_uint", "__uint_as_float"),
    64: (UNSIGNED_LONG_LONG, "__double_as_longlong", "__longlong_as_double"),
}
_TO_BITS = frozenset("__float_as_uint __float_as_int __double_as_longlong".split())
_FROM_BITS = frozenset("__uint_as_float __int_as_float __longlong_as_double".split())


def swapping_loops(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function whose loops compare what they assumed with what was there.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x))
    ...     (let int a ([] x 0)) (let bool more)
    ...     (do more (let int b (call atomicCAS x a (* a 3)))
    ...         (= more (!= a b)) (= a b)))''')
    >>> print(print_function(swapping_loops(kernel, lambda: True)), end="")
    __global__ void k(int *x) {
        int old = x[0];
        int assumed;
        do {
            assumed = old;
            old = atomicCAS(x, assumed, assumed * 3);
        } while (assumed != old);
    }
    """
    taken = {p.name for p in function.parameters} | {
        p.name for s in function.body or () for p in s.walk() if isinstance(p, n.Declare | n.Name)
    }

    def swapped(body: Body) -> Body:
        made = [rebuilt_lists(statement, swapped) for statement in body]
        for place in range(len(made) - 1, 0, -1):
            name = next(x for k in count() if (x := f"assumed{k or ''}") not in taken)
            found = _swapped(made, place, name, taken)
            if found is not None and take():
                taken.update((name, _OLD, _ADDRESS))
                made = found
        return tuple(made)

    return replace(function, body=swapped(function.body or ()))


def _swapped(
    body: list[n.Statement], place: int, name: str, taken: set[str]
) -> list[n.Statement] | None:
    """The statements with the loop at a place in the other form; None where it is none such."""
    match body[place]:
        case (
            n.DoWhile(
                body=(
                    *before,
                    n.Declare(name=found, value=n.Node() as value, space=""),
                    n.Assign(n.Name(name=flag), n.Binary("!=") as asked, "="),
                    n.Assign(n.Name(name=old), n.Name(name=last), "="),
                ),
                condition=n.Name(name=condition),
            ) as loop
        ) if flag == condition and last == found:
            pass
        case _:
            return None
    declared = {s.name: k for k, s in enumerate(body[:place]) if isinstance(s, n.Declare)}
    if old not in declared or flag not in declared or declared[old] > declared[flag]:
        return None
    first = body[declared[old]]
    alone = not any(flag in s.names() for k, s in enumerate(body) if k != place)
    untouched = not any(old in s.names() for s in body[declared[old] + 1 : place])
    swaps = any(isinstance(p, n.Call) and p.function == "atomicCAS" for p in value.walk())
    if not (isinstance(first, n.Declare) and first.value and alone and untouched and swaps):
        return None
    type, start = first.type, first.value
    own: n.Expression = n.Name(name)
    later = body[place + 1 :]
    if isinstance(type, Scalar) and type.is_float:
        if type.bits not in _BITS:
            return None
        type, to_bits, from_bits = _BITS[type.bits]
        start = n.Call(to_bits, (start,))
        own = n.Call(from_bits, (own,))
        whole = n.Call(from_bits, (n.Name(old),))
        later = [bottom_up(s, _instead(old, whole)) for s in later]
        value = _bare(n.Call(to_bits, (value,)))
        asked = n.Binary("!=", _without_bits(asked.left), _without_bits(asked.right))
    use = _instead(old, own)
    compared = {old: n.Name(name), found: n.Name(old)}
    turn = (
        n.Assign(n.Name(name), n.Name(old)),
        *(_bare(bottom_up(s, use)) for s in before),
        n.Assign(n.Name(old), _bare(bottom_up(value, use))),
    )
    asks = bottom_up(asked, lambda p: compared.get(p.name, p) if isinstance(p, n.Name) else p)
    seen = _bare(start)
    address = _address(seen, turn[-1])
    pointed: list[n.Statement] = []
    if address is not None and _ADDRESS not in taken:
        pointer = n.Name(_ADDRESS)
        pointed = [address]
        seen = n.Unary("*", pointer)
        turn = tuple(bottom_up(s, lambda p: pointer if p == address.value else p) for s in turn)
    made = [
        *pointed,
        replace(first, type=type, value=seen),
        *body[declared[old] + 1 : declared[flag]],
        n.Declare(type, name, None),
        *body[declared[flag] + 1 : place],
        replace(loop, body=turn, condition=asks),
        *later,
    ]
    if _OLD not in taken and not any(old in s.names() for s in body[: declared[old]]):
        made = [bottom_up(s, _renamed(old, _OLD)) for s in made]
    return [*body[: declared[old]], *made]


def _address(start: n.Expression, last: n.Statement) -> n.Declare | None:
    """A pointer to the bits that are swapped, if that is where they were read.

    Who reads bits takes an address for one of bits once.
    """
    while isinstance(start, n.Cast):
        start = start.operand
    match start:
        case n.Call(function=function, arguments=(read,)) if function in _TO_BITS:
            pass
        case _:
            return None
    for part in last.walk():
        match part:
            case n.Call(function="atomicCAS", arguments=(address, *_)):
                match address:
                    case n.Cast(type=Pointer() as type, operand=there):
                        cells = [n.Unary("*", there), n.Index(there, n.integer(0)), _cell(there)]
                    case n.Unary(
                        "&", n.Index(n.Cast(type=Pointer() as type, operand=there), index)
                    ):
                        cells = [n.Index(there, index)]
                    case _:
                        continue
                if read in cells:
                    return n.Declare(type, _ADDRESS, address)
    return None


def _cell(address: n.Expression) -> n.Expression | None:
    match address:
        case n.Unary("&", operand):
            return operand
        case n.Binary("+", left, right):
            return n.Index(left, right)
    return None


def _renamed(old: str, new: str) -> Callable[[Any], Any]:
    def renamed(node: Any) -> Any:
        named = isinstance(node, n.Name | n.Declare) and node.name == old
        return replace(node, name=new) if named else node

    return renamed


def _instead(name: str, new: n.Expression) -> Callable[[Any], Any]:
    return lambda node: new if node == n.Name(name) else node


def _without_bits(node: n.Expression) -> n.Expression:
    match node:
        case n.Call(function=function, arguments=(inner,)) if function in _TO_BITS:
            return inner
    return node


def _bare(node: Any) -> Any:
    """A tree without bits that are taken for numbers, and at once for bits again."""

    def bare(part: Any) -> Any:
        match part:
            case n.Call(function=outer, arguments=(n.Call(function=inner, arguments=(own,)),)):
                if outer in _TO_BITS and inner in _FROM_BITS:
                    return own
        return part

    return bottom_up(node, bare)
