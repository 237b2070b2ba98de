"""Pairs of half numbers: what puts them together and takes them apart, by its names."""

from __future__ import annotations

import re
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up

Body = tuple[n.Statement, ...]
#: For each kind of halves: bits as a half, a half as bits, bits as a pair, a pair as bits; then a
#: half as a number, the halves of a pair, these as numbers, a pair of halves, and of one twice.
_FP16 = ("__ushort_as_half", "__half_as_ushort", "uint_as_half2", "half2_as_uint", "__half2float",
         "__low2half", "__high2half", "__low2float", "__high2float",
         "__halves2half2", "__half2half2")  # fmt: skip
_BF16 = ("__ushort_as_bfloat16", "__bfloat16_as_ushort", "uint_as_bfloat162", "bfloat162_as_uint",
         "__bfloat162float", "__low2bfloat16", "__high2bfloat16", "__low2float", "__high2float",
         "__halves2bfloat162", "__bfloat162bfloat162")  # fmt: skip
#: Both halves of a pair compared.
_MASK = re.compile(r"__h(\w+)2_mask")
_BY_NAME = {name: words for words in (_FP16, _BF16) for name in (words[0], words[2], words[4])}


def with_half_pairs(body: Body) -> Body:
    """Halves of pairs, and pairs of halves, as people write them.

    >>> from ptxkit.cuda.printer import print_expression
    >>> from ptxkit.cuda.types import SCALARS
    >>> bits = n.Call("half2_as_uint", (n.Name("p"),))
    >>> high = n.Cast(SCALARS["ushort"], n.Binary(">>", bits, n.integer(16)))
    >>> half = n.Call("__ushort_as_half", (high,))
    >>> both = with_half_pairs((n.Evaluate(half), n.Evaluate(n.Call("__half2float", (half,)))))
    >>> [print_expression(one.expression) for one in both]
    ['__high2half(p)', '__high2float(p)']
    """
    return tuple(bottom_up(statement, _pair) for statement in body)


def _pair(node: Any) -> Any:
    match node:
        case n.Binary("==", n.Call(function=name) as call, n.Literal(value=0xFFFFFFFF | -1)) if (
            found := _MASK.fullmatch(name)
        ):
            return n.Call(f"__hb{found[1]}2", call.arguments)
        case n.Call("__half2half2", (n.Call("__float2half_rn", arguments),)):
            return n.Call("__float2half2_rn", arguments)
        case n.Call("__bfloat162bfloat162", (n.Call("__float2bfloat16_rn", arguments),)):
            return n.Call("__float2bfloat162_rn", arguments)
    if not isinstance(node, n.Call) or node.function not in _BY_NAME or len(node.arguments) != 1:
        return node
    words = _BY_NAME[node.function]
    (argument,) = node.arguments
    if node.function == words[0]:
        return _half(argument, words) or node
    if node.function == words[2]:
        return _together(argument, words) or node
    match argument:
        case n.Call(function=name, arguments=(pair,)) if name in words[5:7]:
            return n.Call(words[7 + words[5:7].index(name)], (pair,))
    return node


def _half(bits: n.Expression, words: tuple[str, ...]) -> n.Expression | None:
    """A half of a pair, of which the bits are taken."""
    match _bare(bits):
        case n.Call(function=name, arguments=(pair,)) if name == words[3]:
            return n.Call(words[5], (pair,))
        case n.Binary(">>", whole, n.Literal(value=16)):
            match _bare(whole):
                case n.Call(function=name, arguments=(pair,)) if name == words[3]:
                    return n.Call(words[6], (pair,))
    return None


def _together(bits: n.Expression, words: tuple[str, ...]) -> n.Expression | None:
    """Bits that are two halves, one moved up."""
    match _bare(bits):
        case n.Binary("|", n.Binary("<<", one, n.Literal(value=16)), two):
            high, low = _as_half(one, words), _as_half(two, words)
            if low is None or high is None or not _is_short(two):
                return None
            if low == high:
                made: n.Expression = _pair(n.Call(words[10], (low,)))
                return made
            return n.Call(words[9], (low, high))
    return None


def _as_half(bits: n.Expression, words: tuple[str, ...]) -> n.Expression | None:
    """The half number of which some bits are."""
    match _bare(bits):
        case n.Call(function=name, arguments=(half,)) if name == words[1]:
            return half
    return _half(bits, words)


def _is_short(node: n.Expression) -> bool:
    """Whether a number has no bits but the lower 16."""
    while isinstance(node, n.Cast) and isinstance(node.type, Scalar) and node.type.is_integer:
        if node.type.bits == 16 and not node.type.signed:
            return True
        node = node.operand
    return isinstance(node, n.Call) and node.function.endswith("_as_ushort")


def _bare(node: n.Expression) -> n.Expression:
    """A number without conversions that keep the 16 bits that count."""
    while isinstance(node, n.Cast) and isinstance(node.type, Scalar) and node.type.is_integer:
        if node.type.bits < 16:
            break
        node = node.operand
    return node
