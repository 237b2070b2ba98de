"""Making values: constants folded, and one form for what is equal.

Every rule is an identity of bits of its width, whatever the operands hold.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ptxkit.decompiler.lift.values import Value, const, raw, signed

_FOLD: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "shl": lambda a, b, w: a << b if b < w else 0,
    "shr.u": lambda a, b, w: a >> b if b < w else 0,
}
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_COMMUTES = frozenset("add mul and or xor eq ne".split())
#: Numbers of so many bits, or fewer, are added by who writes them below others; bytes are joined.
_FEW_BITS = 7
_BYTE = 8
_UNIT = {"add": 0, "or": 0, "xor": 0, "sub": 0, "shl": 0, "shr.u": 0, "shr.s": 0, "mul": 1}
#: What holds where a comparison of integers does not.
OPPOSITE = {
    "eq": "ne", "ne": "eq", "lt.s": "ge.s", "ge.s": "lt.s", "gt.s": "le.s", "le.s": "gt.s",
    "lt.u": "ge.u", "ge.u": "lt.u", "gt.u": "le.u", "le.u": "gt.u", "feq": "fne", "fne": "feq",
}  # fmt: skip
#: A comparison with its operands the other way round.
MIRRORED = {
    "eq": "eq", "ne": "ne", "lt.s": "gt.s", "gt.s": "lt.s", "le.s": "ge.s", "ge.s": "le.s",
    "lt.u": "gt.u", "gt.u": "lt.u", "le.u": "ge.u", "ge.u": "le.u",
}  # fmt: skip


def make(op: str, width: int, *args: Value, data: Any = None) -> Value:
    """A value, simplified at its top."""
    rule = _RULES.get(op)
    if rule is not None:
        found = rule(op, width, args, data)
        if found is not None:
            return found
    return raw(op, width, args, data)


def low_zeros(value: Value) -> int:
    """How many low bits are zero because the value was moved up by so many, or multiplied.

    Compilers make an ``or`` of a sum in which no bit is in both: ``4 * i + 3``.

    >>> from ptxkit.decompiler.lift.values import const, raw
    >>> twelve = make("mul", 32, raw("anything", 32, ()), const(12, 32))
    >>> low_zeros(twelve), make("or", 32, twelve, const(3, 32)).op
    (2, 'add')
    >>> make("or", 32, twelve, const(4, 32)).op
    'or'
    """
    if value.op == "const":
        number: int = value.data
    elif value.op == "shl" and value.args[1].op == "const":
        number = 1 << value.args[1].data
    elif value.op == "mul" and value.args[1].op == "const":
        number = value.args[1].data
    else:
        return 0
    return (number & -number).bit_length() - 1 if number else 0


def _zeros_of_sum(value: Value) -> int:
    """The same, of sums of such values, too."""
    if value.op in ("add", "sub"):
        return min(_zeros_of_sum(arg) for arg in value.args)
    return low_zeros(value)


def _most_bits(value: Value, depth: int = 8) -> int:
    """How many of the low bits of a value may not be zero.

    >>> byte = raw("zext", 32, (raw("anything", 8, ()),))
    >>> _most_bits(make("or", 32, byte, make("xor", 32, byte, const(3, 32))))
    8
    """
    if value.op == "zext":
        return value.args[0].width
    if value.op in ("or", "xor") and depth:
        return max(_most_bits(part, depth - 1) for part in value.args)
    return int(value.data).bit_length() if value.op == "const" else value.width


def _plain(value: Value) -> int:
    return int(value.data)


def negated(value: Value) -> Value:
    """A condition's opposite."""
    return make("not", 1, value)


def _arithmetic(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    a, b = args
    if a.op == "const" and b.op == "const":
        return const(_FOLD[op](a.data, b.data, width), width)
    if a.op == "const" and op in _COMMUTES:
        a, b = b, a
    if b.op == "const":
        if b.data == _UNIT.get(op, -1):
            return a
        if b.data == 0 and op in ("mul", "and"):
            return b
        if op == "sub":
            return make("add", width, a, const(-b.data, width))
        if op == "add" and a.op == "add" and a.args[1].op == "const":
            return make("add", width, a.args[0], const(a.args[1].data + b.data, width))
        full = (1 << width) - 1
        known = (1 << _most_bits(a)) - 1 if op == "and" else full
        if op == "and" and b.data & known == known:
            return a
        if op == "and" and a.op == "sext" and b.data == (1 << a.args[0].width) - 1:
            return make("zext", width, a.args[0])
        if op == "and" and a.op == "and" and a.args[1].op == "const":
            return make("and", width, a.args[0], const(a.args[1].data & b.data, width))
        if op == "xor" and width == 1:
            return make("not", 1, a)
        if op == "xor" and b.data == full:
            return make("not", width, a)
        if op == "or" and b.data < 1 << _zeros_of_sum(a) <= 1 << _FEW_BITS:
            return make("add", width, a, b)
    if op == "add" and b.op == "neg":
        return make("sub", width, a, b.args[0])
    if op == "add" and a.op == "neg":
        return make("sub", width, b, a.args[0])
    return raw(op, width, (a, b), data)


def _shift(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    a, b = args
    if b.op == "const" and a.op == "const":
        if op == "shr.s":
            return const(signed(a) >> min(b.data, width - 1), width)
        return const(_FOLD[op](a.data, b.data, width), width)
    if b.op == "const":
        if b.data == 0:
            return a
        if b.data >= width and op != "shr.s":
            return const(0, width)
        if b.data >= width:
            return raw(op, width, (a, const(width - 1, b.width)), data)
    return None


def _not(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = args
    if a.op == "const":
        return const(~a.data, width)
    if a.op == "not":
        return a.args[0]
    if width == 1 and a.op in OPPOSITE:
        return raw(OPPOSITE[a.op], 1, a.args, a.data)
    return None


def _neg(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = args
    if a.op == "const":
        return const(-a.data, width)
    if a.op == "neg":
        return a.args[0]
    if a.op == "sub":
        return raw("sub", width, (a.args[1], a.args[0]))
    return None


def _extend(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = args
    if a.width == width:
        return a
    if a.op == "const":
        return const(signed(a) if op == "sext" else a.data, width)
    if a.op == op or (a.op == "zext" and a.width > a.args[0].width):
        return raw(a.op, width, a.args)
    return None


def _trunc(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = args
    if a.width == width:
        return a
    if a.op == "const":
        return const(a.data, width)
    if a.op in ("sext", "zext"):
        inner = a.args[0]
        if inner.width == width:
            return inner
        if inner.width < width:
            return raw(a.op, width, a.args)
        return make("trunc", width, inner)
    if a.op == "trunc":
        return make("trunc", width, a.args[0])
    return None


def _compare(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    a, b = args
    if a.op == "const" and b.op == "const":
        how, _, sign = op.partition(".")
        read = signed if sign == "s" else _plain
        return const(int(_COMPARE[how](read(a), read(b))), 1)
    if a.op == "const":
        return raw(MIRRORED[op], 1, (b, a), data)
    if a.width == 1 and b.op == "const" and op in ("eq", "ne"):
        return a if (b.data == 1) == (op == "eq") else make("not", 1, a)
    if b.op == "const" and b.data == 0 and op in ("eq", "ne"):
        # A condition as a number, compared with 0: the condition.
        if a.op == "zext" and a.args[0].width == 1:
            return a.args[0] if op == "ne" else make("not", 1, a.args[0])
        if a.op == "select" and a.args[1].op == "const" and a.args[2].op == "const":
            one, two = a.args[1].data != 0, a.args[2].data != 0
            if one != two:
                return a.args[0] if one == (op == "ne") else make("not", 1, a.args[0])
        if a.op == "sub":
            return raw(op, 1, a.args)
        if a.op in ("zext", "sext") and a.args[0].width == _BYTE:
            return make(op, 1, a.args[0], const(0, _BYTE))
    return None


def _select(op: str, width: int, args: tuple[Value, ...], data: Any) -> Value | None:
    condition, a, b = args
    if a is b:
        return a
    if condition.op == "not":
        return raw(op, width, (condition.args[0], b, a))
    if condition.op == "const":
        return a if condition.data else b
    if width == 1:
        if a.op == "const" and b.op == "const":
            return condition if a.data else make("not", 1, condition)
        if b.op == "const" and b.data == 0:
            return make("and", 1, condition, a)
        if a.op == "const" and a.data == 1:
            return make("or", 1, condition, b)
    return None


_RULES: dict[str, Callable[[str, int, tuple[Value, ...], Any], Value | None]] = {
    **dict.fromkeys("add sub mul and or xor".split(), _arithmetic),
    **dict.fromkeys(("shl", "shr.u", "shr.s"), _shift),
    **dict.fromkeys(MIRRORED, _compare),
    **dict.fromkeys(("sext", "zext"), _extend),
    "not": _not,
    "neg": _neg,
    "trunc": _trunc,
    "select": _select,
}
