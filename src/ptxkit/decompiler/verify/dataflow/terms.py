"""Values as terms in one form: equal terms are the same number.

Integer arithmetic is kept as sums of products with constants, modulo two to the width, so that
``a + 4 * b`` is one term however a compiler computes it. Everything else is an instruction
applied to terms.

>>> t = Terms()
>>> x, y = t.make("symbol", "x"), t.make("symbol", "y")
>>> t.add(32, t.scale(32, x, 4), y) == t.add(32, y, t.add(32, x, t.scale(32, x, 3)))
True
>>> t.add(32, x, t.constant(32, -1)) == t.add(32, x, t.constant(32, 2**32 - 1))
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.verify.dataflow.any_order import in_any_order
from ptxkit.decompiler.verify.dataflow.bits import bitwise, masked, shifted_right, shifted_with_sign
from ptxkit.decompiler.verify.dataflow.bounds import (
    SPECIAL,
    as_signed,
    bounds,
    unbounded_product,
    unbounded_sum,
    whole,
)
from ptxkit.decompiler.verify.dataflow.conversions import CONVERSIONS, converted
from ptxkit.decompiler.verify.dataflow.fields import below, low_bits, lowest, rejoined, zeros
from ptxkit.decompiler.verify.dataflow.quotients import narrow_quotient, upper_quotient
from ptxkit.decompiler.verify.dataflow.short_words import from_integer

Term = int
Argument = tuple[str, int, int]
"""Something in a parameter: its name, where it begins, how many bits it has."""
Fills = tuple[int, bool, int]
"""How what is loaded fills a register: its bits, its sign, the register's bits."""
Question = tuple[Term | None, bool]
"""What to ask, and whether the answer is to be turned round; or None and the answer."""
#: Follows the opcode of a sum of two products of which an assembler puts the first one together
#: with it, as it may: which one that is makes a difference.
IN_ORDER = " in order"
_COMMUTATIVE = frozenset(("add", "mul", "and", "or", "xor", "min", "max", "fma", "mad"))
#: What may be done to many numbers in any order, and to the same one twice.
_IN_ANY_ORDER = frozenset(
    [f"or.b{width}" for width in (16, 32, 64)]
    + [
        f"{name}.{sign}{width}"
        for name in ("min", "max")
        for sign in "su"
        for width in (16, 32, 64)
    ]
)
#: Types of floating point, and what of each is infinite.
_FLOATS = {"f32": 32, "f64": 64}
_INFINITE = {32: 0x7F800000, 64: 0x7FF0000000000000}
#: What counts the bits of a number, and of how many; powers of two have fewer than so many.
_COUNTS = {"popc.b32": 32, "popc.b64": 64}
_POWER_BITS = 2
#: Products of sums that are multiplied out.
_PRODUCTS = 12
#: Factors of a product that are told one by one.
_FACTORS = 64
#: After so many steps of a proof, less one, it is asked how much time is left.
OFTEN = (1 << 10) - 1


class GiveUpError(Exception):
    """A proof would take too long, or is about something the prover does not know."""


Method = TypeVar("Method", bound=Callable[..., Term])


def _remembered(method: Method) -> Method:
    """A method that keeps what it gave: it is asked for the same terms again and again."""
    name = method.__name__

    @wraps(method)
    def known(self: Terms, *arguments: Any) -> Term:
        key = name, *arguments
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = method(self, *arguments)
        return found

    return cast(Method, known)


def _untold(value: int) -> set[Term] | None:
    return None


class Terms:
    """All terms of a proof; both sides share them."""

    def __init__(
        self,
        limit: int = 200_000,
        special: Mapping[str, tuple[int, int]] = SPECIAL,
        arguments: frozenset[Argument] = frozenset(),
        budget: Budget = UNLIMITED,
    ) -> None:
        """``special`` is between which numbers special registers lie.

        ``arguments`` is what is read of parameters on either side.
        """
        self.special = special
        self.arguments = arguments
        self.budget = budget
        self._numbers: dict[tuple[Any, ...], Term] = {}
        self.rows: list[tuple[Any, ...]] = []
        self.bounds: dict[tuple[Term, int, bool], tuple[int, int]] = {}
        self.reals: dict[tuple[Term, str], tuple[float, float] | None] = {}
        self.known: dict[tuple[Any, ...], Term] = {}
        """What methods gave for their arguments."""
        self.cases: Callable[[int], set[Term] | None] = _untold
        """What a value of many cases can be, by its number, if there is telling."""
        self._limit = limit

    def make(self, *row: Any) -> Term:
        """The term of a row: a word, and what it is applied to."""
        found = self._numbers.get(row)
        if found is None:
            if len(self.rows) > self._limit:
                raise GiveUpError("too many terms")
            if not len(self.rows) & OFTEN:
                self.budget.check()
            found = self._numbers[row] = len(self.rows)
            self.rows.append(row)
        return found

    def constant(self, width: int, value: int) -> Term:
        """A number of some bits."""
        return self.make("sum", width, value & ((1 << width) - 1), ())

    def constant_of(self, term: Term) -> int | None:
        """The number that a term is, if it is one."""
        row = self.rows[term]
        return int(row[2]) if row[0] == "sum" and not row[3] else None

    def operation(self, opcode: str, number: int, values: Sequence[Term]) -> Term:
        """A result of an instruction that is a function of its operands.

        >>> t = Terms()
        >>> x, one, opposite = t.make("x"), t.constant(32, 0x3F800000), t.constant(32, 0xBF800000)
        >>> t.operation("sub.f32", 0, [x, one]) == t.operation("add.f32", 0, [opposite, x])
        True
        """
        if opcode.startswith("sub"):
            opcode, values = self._added(opcode, values)
        if opcode.startswith("cvt") and len(values) == 1:
            opcode, value = from_integer(self, opcode, values[0])
            values = (value,)
        if opcode.startswith("div.u"):
            quotient = narrow_quotient(self, opcode, values)
            if quotient is not None:
                return quotient
        if opcode.startswith("mul.hi.u"):
            quotient = upper_quotient(self, opcode, values)
            if quotient is not None:
                return quotient
        if opcode in CONVERSIONS:
            constant = self.constant_of(values[0])
            found = None if constant is None else converted(opcode, constant)
            if found is not None:
                return self.constant(*found)
        if opcode in _IN_ANY_ORDER:
            values = in_any_order(self, opcode, values)
            if len(values) == 1:
                return values[0]
        anyhow = ".cc" not in opcode and not opcode.endswith(IN_ORDER)
        if anyhow and opcode.partition(".")[0] in _COMMUTATIVE:
            values = (*sorted(values[:2]), *values[2:])
        return self.make("op", opcode, number, *values)

    def _added(self, opcode: str, values: Sequence[Term]) -> tuple[str, Sequence[Term]]:
        """A difference of numbers as a sum, where the second is a constant, but not-a-number."""
        width = _FLOATS.get(opcode.split(" ")[0].rpartition(".")[2])
        number = self.constant_of(values[1]) if width else None
        if width is None or number is None:
            return opcode, values
        sign = 1 << width - 1
        if number & (sign - 1) > _INFINITE[width]:
            return opcode, values
        return "add" + opcode[3:], (values[0], self.constant(width, number ^ sign))

    # ---- sums of products ------------------------------------------------------------------

    def parts(self, width: int, term: Term) -> tuple[int, dict[Term, int]]:
        """A term as a number, and other terms with their factors."""
        row = self.rows[term]
        if row[0] == "sum" and row[1] == width:
            return row[2], dict(row[3])
        return 0, {term: 1}

    def _sum(self, width: int, constant: int, parts: dict[Term, int]) -> Term:
        modulus = 1 << width
        left: dict[Term, int] = {}
        pending = list(parts.items())
        while pending:
            atom, factor = pending.pop()
            factor = (factor + left.pop(atom, 0)) % modulus
            shift = zeros(factor)
            # What the factor moves out of the number need not be there.
            less = low_bits(self, width, atom, width - shift) if factor and shift else None
            if less is not None:
                more, others = self.parts(width, less)
                constant += more * factor
                pending += ((other, by * factor) for other, by in others.items())
            elif factor:
                left[atom] = factor
        constant %= modulus
        if len(left) > 1:
            found = rejoined(self, width, left)
            if found is not None:
                (first, second), whole_number, factor = found
                left[first] -= factor
                del left[second]
                more, others = self.parts(width, whole_number)
                for other, by in others.items():
                    left[other] = left.get(other, 0) + by * factor
                return self._sum(width, constant + more * factor, left)
        if not constant and len(left) == 1:
            ((atom, factor),) = left.items()
            if factor == 1:
                return atom
        return self.make("sum", width, constant, tuple(sorted(left.items())))

    @_remembered
    def add(self, width: int, a: Term, b: Term, sign: int = 1) -> Term:
        """``a + b``, or ``a - b`` with ``sign=-1``."""
        constant, parts = self.parts(width, a)
        more, others = self.parts(width, b)
        for atom, factor in others.items():
            parts[atom] = parts.get(atom, 0) + sign * factor
        return self._sum(width, constant + sign * more, parts)

    @_remembered
    def scale(self, width: int, a: Term, by: int) -> Term:
        """``a * by``."""
        constant, parts = self.parts(width, a)
        return self._sum(width, constant * by, {atom: f * by for atom, f in parts.items()})

    @_remembered
    def multiply(self, width: int, a: Term, b: Term) -> Term:
        """``a * b``."""
        (first, parts), (second, others) = self.parts(width, a), self.parts(width, b)
        if len(parts) * len(others) > _PRODUCTS:
            return self.make("multiply", width, *sorted((a, b)))
        left: dict[Term, int] = {}
        for some, number in ((parts, second), (others, first)):
            for atom, factor in some.items():
                left[atom] = left.get(atom, 0) + factor * number
        for atom, factor in parts.items():
            for other, by in others.items():
                product = self._product(width, atom, other)
                left[product] = left.get(product, 0) + factor * by
        return self._sum(width, first * second, left)

    def _product(self, width: int, a: Term, b: Term) -> Term:
        factors: list[Term] = []
        for term in (a, b):
            row = self.rows[term]
            factors += row[2:] if row[0] == "multiply" and row[1] == width else (term,)
        if len(factors) > _FACTORS:  # a square of a square of a square has no end
            factors = [a, b]
        return self.make("multiply", width, *sorted(factors))

    @_remembered
    def extend(self, signed: bool, narrow: int, wide: int, a: Term) -> Term:
        """A number with more bits."""
        known = self.constant_of(a)
        if known is not None:
            return self.constant(wide, as_signed(narrow, known) if signed else known)
        row = self.rows[a]
        for sign in (True, False) if signed else (False,):
            made = self._extended_parts(sign, narrow, wide, row)
            if made is not None:
                return made
            if bounds(self, a, narrow, True)[0] < 0:
                break
        else:
            signed = False
        if not signed and row[0] == "sum" and row[1] == narrow and len(row[3]) == 1 and not row[2]:
            ((atom, factor),) = row[3]
            shift = zeros(factor)
            if factor == 1 << shift:
                # Bits that are moved up: those that are moved out are gone.
                left = masked(self, narrow, atom, (1 << narrow - shift) - 1)
                return self.scale(wide, self.extend(False, narrow, wide, left), factor)
        low = below(self, narrow, row)
        if low is not None:
            rest = self.extend(signed, narrow, wide, self.add(narrow, a, low, -1))
            return self.add(wide, rest, self.extend(False, narrow, wide, low))
        if row[0] == "truncate" and row[2] == narrow:
            # What was cut off was nothing.
            least, most = whole(narrow, signed)
            for inside in (row[3], shifted_with_sign(self, row) if signed else None):
                if inside is None:
                    continue
                low, high = bounds(self, inside, row[1], signed)
                if least <= low and high <= most:
                    if row[1] < wide:
                        return self.extend(signed, row[1], wide, inside)
                    return inside if row[1] == wide else self.truncate(row[1], wide, inside)
        inside = row[0] == "unsigned" or (row[0] == "signed" and signed)
        if inside and row[2] == narrow:
            return self.extend(row[0] == "signed", row[1], wide, row[3])
        return self.make("signed" if signed else "unsigned", narrow, wide, a)

    def _extended_parts(
        self, signed: bool, narrow: int, wide: int, row: tuple[Any, ...]
    ) -> Term | None:
        """A sum or product of numbers with more bits, where no bits are lost before."""
        least, most = whole(narrow, signed)
        if row[0] == "sum" and row[1] == narrow:
            low, high = unbounded_sum(self, row, signed)
            if least <= low and high <= most:
                made = self.constant(wide, as_signed(narrow, row[2]))
                for atom, factor in row[3]:
                    part = self.extend(signed, narrow, wide, atom)
                    scaled = self.scale(wide, part, as_signed(narrow, factor))
                    made = self.add(wide, made, scaled)
                return made
        if row[0] == "multiply" and row[1] == narrow:
            low, high = unbounded_product(self, row[2:], narrow, signed)
            if least <= low and high <= most:
                made = self.constant(wide, 1)
                for factor in row[2:]:
                    made = self.multiply(wide, made, self.extend(signed, narrow, wide, factor))
                return made
        return None

    @_remembered
    def truncate(self, wide: int, narrow: int, a: Term) -> Term:
        """The low bits of a number."""
        constant, parts = self.parts(wide, a)
        result = self.constant(narrow, constant)
        for atom, factor in parts.items():
            row = self.rows[atom]
            less = low_bits(self, wide, atom, narrow)
            if less is not None:
                small = self.truncate(wide, narrow, less)
            elif row[0] in ("signed", "unsigned") and row[2] == wide:
                small = row[3]
                if row[1] < narrow:
                    small = self.extend(row[0] == "signed", row[1], narrow, small)
                elif row[1] > narrow:
                    small = self.truncate(row[1], narrow, small)
            elif row[0] == "multiply" and row[1] == wide:
                small = self.constant(narrow, 1)
                for one in row[2:]:
                    small = self.multiply(narrow, small, self.truncate(wide, narrow, one))
            else:
                small = self._cut(wide, narrow, atom)
            result = self.add(narrow, result, self.scale(narrow, small, factor))
        return result

    def _cut(self, wide: int, narrow: int, atom: Term) -> Term:
        """The low bits of what is no sum; of a part of a larger number, that part of it."""
        row = self.rows[atom]
        if row[0] == "op" and row[1] == f"shr.u{wide}":
            by, inside = self.constant_of(row[4]), self.rows[row[3]]
            if inside[0] == "truncate" and by is not None and narrow + by <= wide:
                larger = shifted_right(self, inside[1], inside[3], by)
                return self.truncate(inside[1], narrow, larger)
        if row[0] == "truncate":
            return self.truncate(row[1], narrow, row[3])
        return self.make("truncate", wide, narrow, atom)

    # ---- comparisons -------------------------------------------------------------------------

    def equal(self, width: int, a: Term, b: Term) -> Question:
        """Whether ``a == b``, as something to ask."""
        difference = self.add(width, a, b, -1)
        known = self.constant_of(difference)
        if known is not None:
            return None, known == 0
        odd = self._odd(width, difference)
        if odd != difference:
            return self.equal(width, odd, self.constant(width, 0))
        a, b = self._apart(width, difference)
        number = self.constant_of(b)
        low, high = (0, 0) if number is None else bounds(self, a, width, False)
        if number is not None and not low <= number <= high:
            return None, False
        if number == high == low + 1:
            # What is one of two numbers is the one where it is not the other.
            asked, turned = self.equal(width, a, self.constant(width, low))
            return asked, not turned
        for signed in (False, True):
            narrow = self._narrow(signed, width, a, b)
            if narrow < width:
                return self.equal(narrow, *(self.truncate(width, narrow, one) for one in (a, b)))
        moved = self._round(width, difference)
        if moved is not None:
            return moved
        # Either side may be taken from the other.
        return self.make("eq", width, min(difference, self.scale(width, difference, -1))), False

    def _apart(self, width: int, difference: Term) -> tuple[Term, Term]:
        """Two terms of which something is the difference, the simplest ones."""
        constant, parts = self.parts(width, difference)
        plus = [atom for atom, factor in parts.items() if factor == 1]
        minus = [atom for atom, factor in parts.items() if factor == (1 << width) - 1]
        if len(parts) == 1 and (plus or minus):
            number = -constant if plus else constant
            return (plus or minus)[0], self.constant(width, number)
        if len(parts) == 2 and plus and minus and not constant:
            return plus[0], minus[0]
        return difference, self.constant(width, 0)

    def _round(self, width: int, difference: Term) -> Question | None:
        """Whether low bits of a sum are some number, told without the constant of the sum.

        ``(x + 1) % 4 == 0`` is ``x % 4 == 3``.
        """
        constant, parts = self.parts(width, difference)
        ((atom, factor),) = parts.items() if len(parts) == 1 else ((0, 0),)
        if factor not in (1, (1 << width) - 1):
            return None
        number = -constant * as_signed(width, factor) % (1 << width)
        found = lowest(self, width, atom)
        if found is None:
            return None
        of, bits = found
        room = 1 << bits
        if number >= room:
            return None, False
        begin = self.parts(width, of)[0] % room
        if not begin:
            return None
        low = masked(self, width, self.add(width, of, self.constant(width, -begin)), room - 1)
        return self.equal(width, low, self.constant(width, (number - begin) % room))

    def _odd(self, width: int, difference: Term) -> Term:
        """A number that is zero where another one is, without a power of two as a factor."""
        constant, parts = self.parts(width, difference)
        shift = min(map(zeros, filter(None, (constant, *parts.values())))) if parts else 0
        if not shift:
            return difference
        made = self.constant(width, as_signed(width, constant) >> shift)
        for atom, factor in parts.items():
            made = self.add(width, made, self.scale(width, atom, as_signed(width, factor) >> shift))
        room = 1 << width - shift
        for signed in (False, True):
            low, high = unbounded_sum(self, ("sum", width, *self._row(width, made)), signed)
            # Else a multiple of what there is room for may be zero, too.
            if -room < low and high < room:
                return made
        return difference

    def _row(self, width: int, term: Term) -> tuple[int, tuple[tuple[Term, int], ...]]:
        constant, parts = self.parts(width, term)
        return constant, tuple(parts.items())

    def less(self, signed: bool, width: int, a: Term, b: Term) -> Question:
        """Whether ``a < b``, as something to ask."""
        (low, high), (least, most) = (bounds(self, one, width, signed) for one in (a, b))
        if high < least or low >= most or a == b:
            return None, high < least
        if signed and low >= 0 and least >= 0:
            return self.less(False, width, a, b)
        narrow = self._narrow(signed, width, a, b)
        if narrow < width:
            return self.less(signed, narrow, *(self.truncate(width, narrow, one) for one in (a, b)))
        first, second = self.constant_of(a), self.constant_of(b)
        if first is not None:
            # More than four is not less than five; the greatest of all was decided above.
            asked, turned = self.less(signed, width, b, self.constant(width, first + 1))
            return asked, not turned
        bottom, top = whole(width, signed)
        if second is not None and least == bottom + 1:
            return self.equal(width, a, self.constant(width, bottom))
        if second is not None and least == top:
            asked, turned = self.equal(width, a, b)
            return asked, not turned
        if second is not None and not signed:
            return self._inside(width, a, second)
        return self.make("lt", signed, width, a, b), False

    def _inside(self, width: int, a: Term, size: int) -> Question:
        """Whether a number is one of the first so many, as the smaller of two ranges."""
        row = self.rows[a]
        if row[:2] == ("op", f"abs.s{width}") and size <= 1 << width - 1:
            moved = self.add(width, row[3], self.constant(width, size - 1))
            return self.less(False, width, moved, self.constant(width, 2 * size - 1))
        if size == _POWER_BITS and row[0] == "op" and row[1] in _COUNTS:
            # One bit at most is set: none is left without the lowest.
            bits = _COUNTS[row[1]]
            below = self.add(bits, row[3], self.constant(bits, -1))
            left = bitwise(self, f"and.b{bits}", (row[3], below))
            assert left is not None
            return self.equal(bits, left, self.constant(bits, 0))
        constant, parts = self.parts(width, a)
        if constant and parts and size > 1 << width - 1:
            # Who is not among these is among all others, which begin where these end.
            rest = self.add(width, a, self.constant(width, -size))
            return self.make("lt", False, width, rest, self.constant(width, -size)), True
        return self.make("lt", False, width, a, self.constant(width, size)), False

    def _narrow(self, signed: bool, width: int, a: Term, b: Term) -> int:
        """In how many bits two numbers compare as they do in more, for they had no more before."""
        kind = "signed" if signed else "unsigned"
        least = 0
        for term in (a, b):
            row = self.rows[term]
            if row[0] == kind and row[2] == width:
                least = max(least, row[1])
        bottom, top = whole(least, signed) if least else (0, 0)
        limits = [bounds(self, one, width, signed) for one in (a, b)]
        fits = least and all(bottom <= low and high <= top for low, high in limits)
        return least if fits else width
