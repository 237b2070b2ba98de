"""What compilers make of divisions, undone.

A pattern is looked for through variables that are set once; its parts go when nobody else
reads them. Each is an identity for every input: the constants are checked, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.context import Intrinsic
from ptxkit.decompiler.lift.flow import Branch, FlowBlock
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.short_products import short_product
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, const, raw, signed, var

_SUMS = frozenset(("add", "mul"))
#: Elements of arrays have up to 2 to the power of this many bytes.
_LARGEST = 4
#: The bits of indices that no block has more threads for: newer compilers ask for no others.
_INDEX_BITS = {"threadIdx.x": 10, "threadIdx.y": 10, "threadIdx.z": 6}


@dataclass(slots=True)
class Idioms:
    """Rewrites the steps of one function."""

    program: Program
    exact: bool = False
    """Whether a division by 0 has to give what it gives in PTX."""
    values: dict[Definition, Value] = field(default_factory=dict)
    fresh: set[Definition] = field(default_factory=set)
    """What was set in the block at hand, from variables that still hold the same."""
    computed: dict[tuple[str, int, frozenset[Value]], tuple[Definition, int]] = field(
        default_factory=dict
    )
    """Sums and products, where they were computed last."""
    summed: set[Definition] = field(default_factory=set)
    """What goes into a sum, which would be put together with a product."""
    takers: dict[Variable, list[Definition]] = field(default_factory=dict)
    """What was set in the block at hand, by the variables that it was set from."""

    def run(self) -> bool:
        """Rewrite; whether anything changed."""
        changed = False
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                self.summed |= {d for value in step.args for d in _summed(value)}
                if step.kind == "set" and step.args[0].op == "fadd":
                    changed |= self._twice(step)
        for number in self.program.flow.order:
            self.fresh, self.takers = set(), {}
            for step in self.program.flow.blocks[number].statements:
                for place, value in enumerate(step.args):
                    made = self._rewritten(value)
                    if made is not None:
                        step.args[place] = made
                        changed = True
                for target in step.targets:
                    if target.variable.definitions > 1:
                        self._forget(target.variable)
                if step.kind == "set" and step.targets[0].variable.definitions == 1:
                    changed |= self._reuse(step, number)
                    self.values[step.targets[0]] = step.args[0]
                    self.fresh.add(step.targets[0])
                    for argument in step.args[0].args:
                        if argument.op == "var":
                            self.takers.setdefault(argument.data.variable, []).append(
                                step.targets[0]
                            )
            changed |= self._halving(self.program.flow.blocks[number])
        return changed

    def _reuse(self, step: Step, block: int) -> bool:
        """Take what was computed before: a compiler that moves loops about computes it again."""
        value = step.args[0]
        if value.op not in _SUMS:
            return False
        parts = frozenset(self._product(a) for a in value.args)
        if any(p.op == "var" and p.data.variable.definitions != 1
               for part in parts for p in part.walk()):  # fmt: skip
            return False
        key = value.op, value.width, parts
        known = self.computed.get(key)
        if known is not None and known[1] != block and self.program.flow.dominates(known[1], block):
            step.args[0] = var(known[0])
            return True
        self.computed[key] = step.targets[0], block
        return False

    def _product(self, value: Value) -> Value:
        """A variable that holds a product as that product."""
        inner = self.values.get(value.data, value) if value.op == "var" else value
        return inner if inner.op == "mul" else value

    def _forget(self, variable: Variable) -> None:
        """A variable changes: what was computed from it says nothing about it any more."""
        pending = [variable]
        while pending:
            for definition in self.takers.pop(pending.pop(), ()):
                if definition in self.fresh:
                    self.fresh.remove(definition)
                    pending.append(definition.variable)

    def peek(self, value: Value) -> Value:
        """A value, through a variable that is set once to something that never changes."""
        while value.op == "var":
            inner = self.values.get(value.data)
            if inner is None or inner.op in ("load", "atomic", "collective", "function"):
                return value
            moves = any(a.op == "var" and a.data.variable.definitions > 1 for a in inner.args)
            if moves and value.data not in self.fresh:
                return value
            value = inner
        return value

    def _halving(self, block: FlowBlock) -> bool:
        """``x > 1`` at the end of a turn, where ``x`` was halved, is ``x / 2 > 0``."""
        exit = block.exit
        if not isinstance(exit, Branch):
            return False
        condition = exit.condition
        if condition.op == "var":
            condition = self.values.get(condition.data, condition)
        if condition.op not in _HALVED or condition.args[1].op != "const":
            return False
        source = condition.args[0]
        inner = self.values.get(source.data, source) if source.op == "var" else source
        for step in reversed(block.statements):
            if step.kind != "set" or step.targets[0].variable.definitions == 1:
                continue
            half = self.values.get(step.args[0].data) if step.args[0].op == "var" else step.args[0]
            if half is None or half.op not in ("div.s", "shr.s", "shr.u"):
                continue
            made = _halved(condition, source, inner, half, var(step.targets[0]))
            if made is not None:
                block.exit = Branch(made, exit.then, exit.otherwise)
                return True
        return False

    def _rewritten(self, value: Value) -> Value | None:
        op = value.op
        if op == "shr.s":
            return self._half(value)
        if op == "mul":
            return short_product(value, self.peek)
        if op == "add":
            ways = self._signed_quotient, self._multiple, self._short_term, self._less
            return next((found for way in ways if (found := way(value)) is not None), None)
        if op == "shr.u":
            return self._unsigned_quotient(value)
        if op == "mulhi.u" and value.args[1].op == "const":
            return _unsigned(value.args[0], value.args[1].data, 0, value.width)
        if op == "trunc":
            return self._from_wide(value)
        if op == "sub":
            return self._remainder(value)
        if op == "and":
            return self._scaled(value) or self._if_negative(value)
        if op == "call":
            return self._first_bit(value)
        if op in ("eq", "ne"):
            return self._chosen_condition(value)
        return None

    def _twice(self, step: Step) -> bool:
        """``x + x``, which a compiler makes of ``2.0f * x`` that is not part of a sum."""
        value = step.args[0]
        first, second = value.args
        if self.exact or first != second or first.op != "var" or step.targets[0] in self.summed:
            return False
        step.args[0] = raw("ftwice", value.width, (first,), value.data)
        return True

    def _short_term(self, value: Value) -> Value | None:
        """A sum with the product of short numbers."""
        for product, term in (value.args, value.args[::-1]):
            found = short_product(product, self.peek)
            if found is not None:
                return make("add", value.width, found, term)
        return None

    def _less(self, value: Value) -> Value | None:
        """``y + (-15 - x)`` is ``y - (x + 15)``."""
        for less, whole in (value.args, value.args[::-1]):
            found = self.peek(less)
            number = self.peek(found.args[0]) if found.op == "sub" else found
            if number.op == "const" and found is not number and signed(number) < 0:
                width, more = value.width, const(-number.data, value.width)
                return make("sub", width, whole, make("add", width, found.args[1], more))
        return None

    # ---- the lowest bit ------------------------------------------------------------------

    def _chosen_condition(self, value: Value) -> Value | None:
        """``((c ? -(a < b) : -(a > b)) & 1) == 1``, which is ``c ? a < b : a > b``."""
        whole, number = value.args
        masked = self.peek(whole)
        if number.op != "const" or number.data not in (0, 1) or masked.op != "and":
            return None
        chosen, mask = self.peek(masked.args[0]), masked.args[1]
        if mask.op != "const" or mask.data != 1 or chosen.op != "select":
            return None
        found = self._lowest_bit(chosen)
        if found is None:
            return None
        return found if (value.op == "eq") == (number.data == 1) else make("not", 1, found)

    def _lowest_bit(self, value: Value) -> Value | None:
        """The condition that is the lowest bit of a number; None where it is no condition."""
        value = self.peek(value)
        if value.op == "const":
            return const(value.data & 1, 1)
        if value.op in ("sext", "zext") and value.args[0].width == 1:
            return value.args[0]
        if value.op != "select":
            return None
        one, two = (self._lowest_bit(part) for part in value.args[1:])
        if one is None or two is None:
            return None
        return make("select", 1, value.args[0], one, two)

    def _first_bit(self, value: Value) -> Value | None:
        """The number of leading zeros of bits in reverse, or -1: ``__ffs(x) - 1``."""
        if value.data.assembly != "bfind.shiftamt.u32 %0, %1;":
            return None
        turned = self.peek(value.args[0])
        if turned.op != "call" or turned.data.name != "__brev":
            return None
        found = raw("call", 32, turned.args, Intrinsic("__ffs", ("s32",), "s32"))
        return make("add", 32, found, const(-1, 32))

    def _if_negative(self, value: Value) -> Value | None:
        """``a & (x >> 31)`` is ``x < 0 ? a : 0``."""
        for bits, other in (value.args, value.args[::-1]):
            sign = self.peek(bits)
            if sign.op != "shr.s" or other.op == "const" or sign.args[1].op != "const":
                continue
            if sign.args[1].data == value.width - 1:
                none = const(0, value.width)
                negative = make("lt.s", 1, sign.args[0], none)
                return make("select", value.width, negative, other, none)
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

    def _scaled(self, value: Value) -> Value | None:
        """``(x >>> 3) & 0x1ffffffc`` is ``(x >>> 5) << 2``: an index times a size."""
        inner, mask = self.peek(value.args[0]), value.args[1]
        if mask.op != "const" or inner.op != "shr.u" or inner.args[1].op != "const":
            return None
        source, count = inner.args
        low = (mask.data & -mask.data).bit_length() - 1
        bits = min(_bits(self.peek(source)), value.width)
        if not 0 < low <= _LARGEST or mask.data >> low != (1 << bits - count.data - low) - 1:
            return None
        index = make("shr.u", value.width, source, const(count.data + low, count.width))
        return make("shl", value.width, index, const(low, count.width))

    def _remainder(self, value: Value) -> Value | None:
        """``x - x / d * d`` and ``x - (x + bias & -2^k)`` are ``x % d``."""
        x, whole = value.args[0], self.peek(value.args[1])
        if whole.op in ("rem.s", "rem.u") and not self.exact:
            # A compiler's `x / d * d`.
            divisor = whole.args[1]
            if whole.args[0] is x and divisor.op != "const":
                quotient = raw(f"div.{whole.op[-1]}", value.width, (x, divisor))
                return raw("mul", value.width, (quotient, divisor))
        if whole.op == "and" and whole.args[1].op == "const":
            mask = -signed(whole.args[1])
            total = self.peek(whole.args[0])
            if mask > 1 and mask & (mask - 1) == 0 and total.op == "add":
                count = mask.bit_length() - 1
                for one, bias in (total.args, total.args[::-1]):
                    if one is x and self._is_bias(self.peek(bias), x, count):
                        return raw("rem.s", value.width, (x, const(mask, value.width)))
        if whole.op == "mul":
            if self.exact and whole.args[1].op != "const":
                return None  # what divides may be 0
            factors = [whole.args, whole.args[::-1]]
        elif whole.op == "shl" and whole.args[1].op == "const":
            factors = [(whole.args[0], const(1 << whole.args[1].data, value.width))]
        else:
            return None
        for factor, divisor in factors:
            quotient = self.peek(factor)
            if quotient.op in ("div.s", "div.u") and quotient.args == (x, divisor):
                return raw(f"rem.{quotient.op[-1]}", value.width, (x, divisor))
        return None

    # ---- sums ----------------------------------------------------------------------------

    def _multiple(self, value: Value) -> Value | None:
        """``x + y + y`` is ``x + y * 2``: compilers compute one address from another."""
        for total, term in (value.args, value.args[::-1]):
            if term.op == "const":
                continue
            times = 1
            rest: Value | None = total
            while rest is not None and (found := self._without(rest, term)) is not None:
                times, rest = times + found[0], found[1]
            if times > 1:
                product = make("mul", value.width, term, const(times, value.width))
                return product if rest is None else make("add", value.width, rest, product)
        return None

    def _without(self, total: Value, term: Value) -> tuple[int, Value | None] | None:
        """How often a term is in a sum, at least, and what is left then; None if it is not."""
        if times := _times(total, term):
            return times, None
        inner = self.peek(total)
        if times := _times(inner, term):
            return times, None
        if inner.op == "add":
            for one, two in (inner.args, inner.args[::-1]):
                if times := _times(self.peek(two), term) or _times(two, term):
                    return times, one
        return None

    # ---- multiplication by a reciprocal --------------------------------------------------

    def _unsigned_quotient(self, value: Value) -> Value | None:
        """``hi(x * m) >>> s``, or with a factor of one bit more: ``((x - t >>> 1) + t) >>> s``."""
        inner, count = self.peek(value.args[0]), value.args[1]
        if count.op != "const":
            return None
        found = self._high(inner)
        if found is not None:
            return _unsigned(*found, count.data, value.width)
        if inner.op != "add":
            return None
        for half, t in (inner.args, inner.args[::-1]):
            moved, found = self.peek(half), self._high(self.peek(t))
            if found is None or moved.op != "shr.u" or moved.args[1] is not const(1, 32):
                continue
            rest = self.peek(moved.args[0])
            if rest.op == "sub" and rest.args == (found[0], t):
                factor = found[1] + (1 << value.width)
                return _unsigned(found[0], factor, count.data + 1, value.width)
        return None

    def _high(self, value: Value) -> tuple[Value, int] | None:
        """The high half of a product with a number: x and the number."""
        if value.op == "mulhi.u" and value.args[1].op == "const":
            return value.args[0], value.args[1].data
        if value.op == "trunc":
            moved = self.peek(value.args[0])
            if moved.op == "shr.u" and moved.args[1].op == "const" and moved.args[1].data == 32:
                return self._wide_product(moved.args[0])
        return None

    def _wide_product(self, value: Value) -> tuple[Value, int] | None:
        product = self.peek(value)
        if product.op != "mul" or product.width != 64 or product.args[1].op != "const":
            return None
        x, factor = self.peek(product.args[0]), product.args[1].data
        if x.op != "zext" or x.args[0].width != 32 or factor >> 32:
            return None
        return x.args[0], factor

    def _from_wide(self, value: Value) -> Value | None:
        """``(x * m as 64 bits) >>> 32 + s``."""
        moved = self.peek(value.args[0])
        if value.width != 32 or moved.op != "shr.u" or moved.args[1].op != "const":
            return None
        count = moved.args[1].data - 32
        found = self._wide_product(moved.args[0])
        return None if found is None or count < 0 else _unsigned(*found, count, 32)

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


def _bits(value: Value) -> int:
    """How many bits of a value may be set."""
    return _INDEX_BITS.get(value.data, value.width) if value.op == "builtin" else value.width


def _times(value: Value, term: Value) -> int:
    """How often a term is in a product with a number."""
    if value is term:
        return 1
    if value.op not in ("mul", "shl") or value.args[0] is not term or value.args[1].op != "const":
        return 0
    return signed(value.args[1]) if value.op == "mul" else 1 << value.args[1].data


#: Comparisons with a number as: the sign, what to add for "more than", whether it is the opposite.
_HALVED = {f"{op}.{sign}": (sign, more, opposite) for sign in "su"
           for op, more, opposite in (("gt", 0, False), ("ge", -1, False), ("lt", -1, True),
                                      ("le", 0, True))}  # fmt: skip


def _summed(value: Value) -> Iterator[Definition]:
    """What a value adds to something, or takes something from."""
    for part in value.walk():
        count = {"fadd": 2, "fsub": 1}.get(part.op, 0)
        yield from (a.data for a in part.args[:count] if a.op == "var")


def _halved(
    condition: Value, source: Value, inner: Value, half: Value, result: Value
) -> Value | None:
    """A comparison of a number as one of its half, which a variable holds now."""
    sign, more, opposite = _HALVED[condition.op]
    limit = (signed(condition.args[1]) if sign == "s" else condition.args[1].data) + more
    count = half.args[1]
    if count.op != "const":
        return None
    divisor = count.data if half.op == "div.s" else 1 << count.data
    if divisor < 2 or divisor & (divisor - 1):
        return None
    width, x = half.width, half.args[0]
    zero = const(0, width)
    if half.op == "div.s" and sign == "u":
        # x + 1 > 2 without a sign: x is neither -1, 0 nor 1.
        one = inner.op == "add" and inner.args[0] is x and inner.args[1] is const(1, width)
        if divisor == 2 and one and limit == 2:
            return make("eq" if opposite else "ne", 1, result, zero)
        return None
    if source is not x or (half.op[-1] == "u") != (sign == "u"):
        return None
    if limit < 0 or (limit + 1) % divisor:
        return None
    least = (limit + 1) // divisor - 1
    if sign == "u" and least == 0:
        return make("eq" if opposite else "ne", 1, result, zero)
    op = "le" if opposite else "gt"
    return make(f"{op}.{sign}", 1, result, const(least, width))


def _unsigned(x: Value, factor: int, count: int, width: int) -> Value | None:
    """``x / d`` for the divisor whose reciprocal a factor is, if it is exactly one."""
    if not factor:
        return None
    scale = 1 << (width + count)
    divisor = -(-scale // factor)
    for d in (divisor, divisor - 1):
        if d > 1 and 0 <= factor * d - scale <= 1 << count:
            return raw("div.u", width, (x, const(d, width)))
    return None


def _quotient(x: Value, factor: int, count: int, width: int) -> Value | None:
    """``x / d`` for the divisor whose reciprocal a factor is, if it is exactly one."""
    scale = 1 << (width + count)
    divisor = -(-scale // factor)
    for d in (divisor, divisor - 1):
        # Right for all x of the width where the error stays below 1 / 2^(width - 1).
        if d > 1 and 0 < factor * d - scale <= 1 << (count + 1):
            return make("div.s", width, x, const(d, width))
    return None
