"""Addresses as sums: a base plus terms times numbers plus a number."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.lift.algebra import low_zeros, make
from ptxkit.decompiler.lift.ranges import largest
from ptxkit.decompiler.lift.values import Value, const, signed

_BITWISE = frozenset(("and", "or", "xor"))


@dataclass(slots=True)
class Sum:
    """Terms with their factors, and a number."""

    terms: dict[Value, int] = field(default_factory=dict)
    constant: int = 0

    def add(self, other: Sum, factor: int = 1) -> None:
        """Add another sum, times a number."""
        self.constant += other.constant * factor
        for term, times in other.terms.items():
            total = self.terms.get(term, 0) + times * factor
            if total:
                self.terms[term] = total
            else:
                self.terms.pop(term, None)

    def without(self, base: Value | None) -> Sum:
        """The rest."""
        return Sum({t: k for t, k in self.terms.items() if t is not base}, self.constant)


def sum_of(value: Value) -> Sum:
    """A value of 64 bits (or of 32, for shared memory) as a sum, exact up to wrapping.

    It is kept with the value: whoever changes it takes a copy.
    """
    total: Sum | None = value.total
    if total is None:
        total = value.total = _sum_of(value)
    return total


def _sum_of(value: Value) -> Sum:
    op = value.op
    if op == "const":
        return Sum(constant=signed(value))
    if op in ("add", "sub"):
        first = sum_of(value.args[0])
        total = Sum(dict(first.terms), first.constant)
        total.add(sum_of(value.args[1]), 1 if op == "add" else -1)
        return total
    if op == "mul" and value.args[1].op == "const":
        total = Sum()
        total.add(sum_of(value.args[0]), signed(value.args[1]))
        return total
    if op == "shl" and value.args[1].op == "const":
        total = Sum()
        total.add(sum_of(value.args[0]), 1 << value.args[1].data)
        return total
    if op == "neg":
        total = Sum()
        total.add(sum_of(value.args[0]), -1)
        return total
    if op == "and":
        masked = _masked(value)
        if masked is not None:
            return masked
    if op in _BITWISE:
        shared = _with_shared_factor(value)
        if shared is not None:
            return shared
    if op in ("generic", "specific"):
        # Between spaces addresses differ by a constant: in C++ both are the pointer.
        inner = sum_of(value.args[0])
        if sum(1 for t in inner.terms if t.op == "symbol") == 1:
            return inner
    if op == "zext" and value.width == 64 and value.args[0].width == 32:
        inner = sum_of(value.args[0])
        if any(t.op == "symbol" for t in inner.terms):
            return inner  # addresses of shared memory are small and never wrap around
    if op == "trunc" and value.width == 32:
        inner = sum_of(value.args[0])
        if any(t.op == "symbol" for t in inner.terms):
            return inner
    return Sum({value: 1})


def _with_shared_factor(value: Value) -> Sum | None:
    """``(x << 2) ^ 12`` is ``4 * (x ^ 3)``, and so it is where both sides were moved up."""
    low = min(low_zeros(arg) for arg in value.args)
    if not low:
        return None
    down = [_moved_down(arg, low) for arg in value.args]
    return Sum({_narrow(value.op, value.width, *down): 1 << low})


def _narrow(op: str, width: int, inner: Value, other: Value) -> Value:
    """Bits of an index that was made wider, changed before that: ``x[i ^ 3]``."""
    if inner.op in ("zext", "sext") and other.op == "const":
        source = inner.args[0]
        if other.data >> (source.width - (inner.op == "sext")) == 0:
            number = const(other.data, source.width)
            return make(inner.op, width, make(op, source.width, source, number))
    return make(op, width, inner, other)


def _moved_down(value: Value, count: int) -> Value:
    """What a value is that many bits above; the bits at its top may be others."""
    if value.op == "const":
        return const(value.data >> count, value.width)
    inner, bits = value.args
    if value.op == "mul":
        return make("mul", value.width, inner, const(bits.data >> count, bits.width))
    return make("shl", value.width, inner, const(bits.data - count, bits.width))


def _above(value: Value, count: int) -> Value | None:
    """What stands above so many low bits that a mask takes away, if it was moved up there.

    Where two buffers take turns, ``((i << 9) - 512) & 512`` is ``((i - 1) & 1) * 512``, and so is
    ``~(i << 9) & 512``.
    """
    if value.op == "const":
        number = signed(value)
        return None if number % (1 << count) else const(number >> count, value.width)
    if low_zeros(value) >= count:
        return _moved_down(value, count)
    if value.op in ("add", "sub", "neg", "not"):
        parts = [part for arg in value.args if (part := _above(arg, count)) is not None]
        if len(parts) == len(value.args):
            return make(value.op, value.width, *parts)
    return None


def _masked(value: Value) -> Sum | None:
    """``(x << 2) & 12`` is ``4 * (x & 3)``, and ``(x >>> 3) & 28`` is ``4 * (x >>> 5 & 7)``.

    What only loses its low bits is a multiple, too: ``x & ~15`` is ``16 * (x >>> 4)``.
    """
    inner, mask = value.args
    if mask.op != "const" or not mask.data:
        return None
    low = (mask.data & -mask.data).bit_length() - 1
    narrow = inner.args[0] if inner.op == "zext" else inner
    if not low or mask.data >> narrow.width:
        return None
    above = _above(narrow, low)
    if above is None and narrow.op != "shr.u":
        bits = (1 << largest(narrow).bit_length()) - 1
        if (bits & ~mask.data) >> low:
            return None
        kept = make("shr.u", narrow.width, narrow, const(low, narrow.width))
        return Sum({make("zext", value.width, kept): 1 << low})
    if above is not None:
        source = above
    else:
        source, count = narrow.args
        if count.op != "const":
            return None
        source = make("shr.u", narrow.width, source, const(count.data + low, count.width))
    if source.op == "not" and mask.data >> low == 1:
        source = make("add", narrow.width, source.args[0], const(1, narrow.width))
    bits = (1 << largest(source).bit_length()) - 1
    if bits & ~(mask.data >> low):
        source = make("and", narrow.width, source, const(mask.data >> low, narrow.width))
    return Sum({make("zext", value.width, source): 1 << low})
