"""What compilers make of divisions by constants, undone.

A pattern is looked for through variables that are set once; its parts go when nobody else
reads them. Each is an identity for every input: the constants are checked, not guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.values import Definition, Value, const, raw, signed


@dataclass(slots=True)
class Idioms:
    """Rewrites the steps of one function."""

    program: Program
    values: dict[Definition, Value] = field(default_factory=dict)

    def run(self) -> bool:
        """Rewrite; whether anything changed."""
        changed = False
        for number in self.program.flow.order:
            for step in self.program.flow.blocks[number].statements:
                if step.kind != "set":
                    continue
                value = self._rewritten(step.args[0])
                if value is not None:
                    step.args = [value]
                    changed = True
                target = step.targets[0]
                if target.variable.definitions == 1:
                    self.values[target] = step.args[0]
        return changed

    def peek(self, value: Value) -> Value:
        """A value, through a variable that is set once to something that never changes."""
        while value.op == "var":
            inner = self.values.get(value.data)
            if inner is None or inner.op in ("load", "atomic", "collective", "function"):
                return value
            if any(a.op == "var" and a.data.variable.definitions > 1 for a in inner.args):
                return value
            value = inner
        return value

    def _rewritten(self, value: Value) -> Value | None:
        op = value.op
        if op == "shr.s":
            return self._half(value)
        if op == "add":
            return self._signed_quotient(value)
        if op == "shr.u":
            return self._unsigned_quotient(value)
        if op == "mulhi.u":
            return self._magic_unsigned(value, 0)
        if op == "sub":
            return self._remainder(value)
        return None

    # ---- powers of two -------------------------------------------------------------------

    def _half(self, value: Value) -> Value | None:
        """``(x + (x >> 31 >>> 32 - k)) >> k`` is ``x / 2^k``."""
        total, count = self.peek(value.args[0]), value.args[1]
        if count.op != "const" or total.op != "add":
            return None
        for x, bias in (total.args, total.args[::-1]):
            if self._is_bias(self.peek(bias), x, count.data):
                return raw("div.s", value.width, (x, const(1 << count.data, value.width)))
        return None

    def _is_bias(self, bias: Value, x: Value, count: int) -> bool:
        """Whether a value is ``2^count - 1`` for negative x, else 0."""
        if bias.op != "shr.u" or bias.args[1].op != "const":
            return False
        if bias.args[1].data != x.width - count:
            return False
        inner = bias.args[0]
        if count == 1 and inner is x:
            return True
        inner = self.peek(inner)
        return (
            inner.op == "shr.s"
            and inner.args[0] is x
            and inner.args[1].op == "const"
            and inner.args[1].data == x.width - 1
        )

    def _remainder(self, value: Value) -> Value | None:
        """``x - x / d * d`` and ``x - (x + bias & -2^k)`` are ``x % d``."""
        x, whole = value.args[0], self.peek(value.args[1])
        if whole.op == "and" and whole.args[1].op == "const":
            mask = -signed(whole.args[1])
            total = self.peek(whole.args[0])
            if mask > 1 and mask & (mask - 1) == 0 and total.op == "add":
                count = mask.bit_length() - 1
                for one, bias in (total.args, total.args[::-1]):
                    if one is x and self._is_bias(self.peek(bias), x, count):
                        return raw("rem.s", value.width, (x, const(mask, value.width)))
        if whole.op == "mul" and whole.args[1].op == "const":
            quotient, divisor = self.peek(whole.args[0]), whole.args[1]
        elif whole.op == "shl" and whole.args[1].op == "const":
            quotient = self.peek(whole.args[0])
            divisor = const(1 << whole.args[1].data, value.width)
        else:
            return None
        if quotient.op in ("div.s", "div.u") and quotient.args == (x, divisor):
            return raw(f"rem.{quotient.op[-1]}", value.width, (x, divisor))
        return None

    # ---- multiplication by a reciprocal --------------------------------------------------

    def _unsigned_quotient(self, value: Value) -> Value | None:
        product, count = self.peek(value.args[0]), value.args[1]
        if count.op != "const":
            return None
        if product.op == "mulhi.u":
            return self._magic_unsigned(product, count.data)
        return None

    def _magic_unsigned(self, product: Value, count: int) -> Value | None:
        x, factor = product.args
        if factor.op != "const" or not factor.data:
            return None
        width = product.width
        scale = 1 << (width + count)
        divisor = -(-scale // factor.data)
        for d in (divisor, divisor - 1):
            if d > 1 and 0 <= factor.data * d - scale <= 1 << count:
                return raw("div.u", width, (x, const(d, width)))
        return None

    def _signed_quotient(self, value: Value) -> Value | None:
        """``(hi(x * m) [+ x] >> s) + sign``."""
        for one, two in (value.args, value.args[::-1]):
            sign, moved = self.peek(one), self.peek(two)
            if sign.op != "shr.u" or sign.args[1].op != "const":
                continue
            if sign.args[1].data != value.width - 1:
                continue
            source, count = two, 0
            if moved.op == "shr.s" and moved.args[1].op == "const":
                source, count = moved.args[0], moved.args[1].data
            if sign.args[0] is not source and self.peek(sign.args[0]) is not self.peek(source):
                continue
            found = self._magic_signed(self.peek(source), count)
            if found is not None:
                return found
        return None

    def _magic_signed(self, source: Value, count: int) -> Value | None:
        width = source.width
        if source.op == "add":
            for product, x in (source.args, source.args[::-1]):
                inner = self.peek(product)
                if inner.op == "mulhi.s" and inner.args[0] is x and inner.args[1].op == "const":
                    return _quotient(x, inner.args[1].data, count, width)
            return None
        if source.op != "mulhi.s" or source.args[1].op != "const":
            return None
        factor = signed(source.args[1])
        return _quotient(source.args[0], factor, count, width) if factor > 0 else None


def _quotient(x: Value, factor: int, count: int, width: int) -> Value | None:
    """``x / d`` for the divisor whose reciprocal a factor is, if it is exactly one."""
    scale = 1 << (width + count)
    divisor = -(-scale // factor)
    for d in (divisor, divisor - 1):
        # Right for all x of the width where the error stays below 1 / 2^(width - 1).
        if d > 1 and 0 < factor * d - scale <= 1 << (count + 1):
            return make("div.s", width, x, const(d, width))
    return None
