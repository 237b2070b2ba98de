"""Between which numbers a term lies, as far as its form tells.

A sum or a product that cannot leave the numbers of its width is the same sum or product with more
bits: ``(x >> 16) * (x >> 16)`` needs no more than 32, however a compiler computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.shape import LaunchRules
from ptxkit.syntax import Function

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

Bounds = tuple[int, int]
Row = tuple[Any, ...]

#: What every GPU keeps to.
SPECIAL = {
    "%tid.x": (0, 1023), "%tid.y": (0, 1023), "%tid.z": (0, 63),
    "%ntid.x": (1, 1024), "%ntid.y": (1, 1024), "%ntid.z": (1, 64),
    "%ctaid.x": (0, 2**31 - 2), "%ctaid.y": (0, 65534), "%ctaid.z": (0, 65534),
    "%nctaid.x": (1, 2**31 - 1), "%nctaid.y": (1, 65535), "%nctaid.z": (1, 65535),
    "%laneid": (0, 31),
}  # fmt: skip


#: Terms are looked into so far for the bits that may be set.
_DEEP = 6


def launched(function: Function) -> dict[str, Bounds]:
    """Between which numbers special registers lie in a function, by what it says of launches.

    >>> import ptxkit
    >>> found = launched(ptxkit.parse(".entry k() .maxntid 64 { ret; }")["k"])
    >>> found["%tid.x"], found["%ntid.x"], found["%tid.z"]
    ((0, 63), (1, 64), (0, 63))
    >>> launched(ptxkit.parse(".entry k() .reqntid 64 { ret; }")["k"])["%ntid.x"]
    (64, 64)
    """
    if not function.is_entry:
        return SPECIAL
    rules = LaunchRules.of(function)
    found = dict(SPECIAL)
    for place, axis in enumerate("xyz"):
        most = found[f"%ntid.{axis}"][1]
        least = 1
        if rules.required_block is not None:
            least = most = rules.required_block[place]
        elif rules.most_threads is not None:
            most = min(most, rules.most_threads)
        found[f"%ntid.{axis}"] = least, most
        found[f"%tid.{axis}"] = 0, most - 1
    return found


def whole(width: int, signed: bool) -> Bounds:
    """All numbers of a width.

    >>> whole(8, True), whole(8, False)
    ((-128, 127), (0, 255))
    """
    return (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)


def as_signed(width: int, number: int) -> int:
    """Bits as a number with a sign."""
    return number - (1 << width) if number >> width - 1 else number


def bounds(terms: Terms, term: Term, width: int, signed: bool) -> Bounds:
    """The least and the greatest that a term can be, with its bits taken as signed or not."""
    key = term, width, signed
    found = terms.bounds.get(key)
    if found is None:
        row = terms.rows[term]
        rule = _RULES.get(row[0], _unknown)
        found = whole(width, signed)
        if row[0] == "sum" and row[1] == width:
            # A multiple of a power of two is not above the greatest of them, wherever it wraps.
            parts = (row[2], *(factor for _, factor in row[3]))
            found = found[0], found[1] + 1 - min((one & -one for one in parts if one), default=1)
        # What has no sign is the same number either way.
        plain = 0, (1 << width - 1) - 1
        for one, (least, most) in ((signed, found), (not signed, plain)):
            low, high = rule(terms, row, width, one)
            if least <= low and high <= most:
                found = int(low), int(high)
                break
        terms.bounds[key] = found
    return found


def possible_bits(terms: Terms, term: Term, width: int, depth: int = _DEEP) -> int:
    """The bits that may be set in a term, as a mask.

    >>> from ptxkit.decompiler.verify.dataflow.bits import masked
    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y = (t.make("symbol", name) for name in "xy")
    >>> low = masked(t, 32, x, 1)
    >>> [hex(possible_bits(t, t.add(32, t.scale(32, y, by), low), 32)) for by in (4, 1)]
    ['0xfffffffd', '0xffffffff']
    """
    row = terms.rows[term]
    most = (1 << bounds(terms, term, width, False)[1].bit_length()) - 1
    if not depth:
        return most
    if row[0] == "sum" and row[1] == width:
        # What has no bit in common is added without a carry.
        made = row[2]
        for atom, factor in row[3]:
            part = possible_bits(terms, atom, width, depth - 1) * factor % (1 << width)
            if factor & factor - 1 or made & part:
                return most
            made |= part
        return int(made & most)
    if row[0] == "unsigned" and row[2] == width:
        return possible_bits(terms, row[3], row[1], depth - 1) & most
    if row[:2] == ("op", f"and.b{width}"):
        for one in row[3:]:
            most &= possible_bits(terms, one, width, depth - 1)
    return most


def unbounded_sum(terms: Terms, row: Row, signed: bool) -> Bounds:
    """Between which numbers a sum would lie if it had bits enough."""
    width = row[1]
    low = high = as_signed(width, row[2]) if row[3] or signed else row[2]
    for atom, factor in row[3]:
        ends = bounds(terms, atom, width, signed)
        products = [as_signed(width, factor) * end for end in ends]
        low, high = low + min(products), high + max(products)
    return low, high


def unbounded_product(terms: Terms, factors: Sequence[Term], width: int, signed: bool) -> Bounds:
    """The same for a product."""
    low = high = 1
    for factor in factors:
        ends = bounds(terms, factor, width, signed)
        products = [one * end for one in (low, high) for end in ends]
        low, high = min(products), max(products)
    return low, high


# ---- what rows say ---------------------------------------------------------------------------

_NOTHING = (-inf, inf)
Limits = tuple[float, float]


def _unknown(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    return _NOTHING


def _sum(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    if row[1] != width:
        return _NOTHING
    if not row[2] and len(row[3]) == 2 and {1, (1 << width) - 1} == {by for _, by in row[3]}:
        from ptxkit.decompiler.verify.dataflow.quotients import part_of

        (more, _), (less, _) = sorted(row[3], key=lambda part: part[1])
        if part_of(terms, width, less, more):
            return 0, bounds(terms, more, width, False)[1]
    return unbounded_sum(terms, row, signed)


def _product(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    return unbounded_product(terms, row[2:], width, signed) if row[1] == width else _NOTHING


def _special(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    return terms.special.get(row[1], _NOTHING)


def _extended(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    return bounds(terms, row[3], row[1], row[0] == "signed") if row[2] == width else _NOTHING


def _operation(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    name, _, rest = row[1].partition(".")
    values = row[3:]
    if name in ("popc", "clz"):
        return 0, 64
    if name == "abs" and rest == f"s{width}":
        most = max(map(abs, bounds(terms, values[0], width, True)))
        return _NOTHING if signed and most >> width - 1 else (0, most)
    if name == "shr" and rest == f"s{width}" and signed:
        by = terms.constant_of(values[1])
        low, high = bounds(terms, values[0], width, True)
        return _NOTHING if by is None else (low >> min(by, width), high >> min(by, width))
    if name in ("min", "max") and rest == f"{'s' if signed else 'u'}{width}":
        ends = [bounds(terms, value, width, signed) for value in values]
        choose = min if name == "min" else max
        return choose(low for low, _ in ends), choose(high for _, high in ends)
    if rest.split(".")[-1] in _REALS or rest.startswith(("rn.f32.u", "rn.f64.u")):
        return _bits_of_real(terms, row, width, signed)
    if rest not in SCALAR_TYPES or rest[0] not in "ub" or SCALAR_TYPES[rest].width != width:
        return _NOTHING
    numbers = [terms.constant_of(value) for value in values]
    if len(numbers) != 2:
        return _NOTHING
    high = bounds(terms, values[0], width, False)[1]
    if name in ("or", "xor"):
        # No bit is set that is set in neither.
        both = high | bounds(terms, values[1], width, False)[1]
        return 0, (1 << both.bit_length()) - 1
    if name == "shr":
        return 0, high >> min(numbers[1] or 0, width)  # by whatever, it becomes no more
    if name == "and":
        # No bit is set that is not set in both.
        return 0, min(high, bounds(terms, values[1], width, False)[1])
    if name == "rem" and numbers[1]:
        return 0, min(high, numbers[1] - 1)
    if name == "div" and numbers[1]:
        return 0, high // numbers[1]
    return _NOTHING


def _truncated(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    """What is cut to fewer bits, and has no more of them anyway."""
    if row[2] != width:
        return _NOTHING
    low, high = bounds(terms, row[3], row[1], signed)
    least, most = whole(width, signed)
    return (low, high) if least <= low and high <= most else _NOTHING


def _carried(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    """What a loop carries, where it is known how large it can be."""
    return (0, row[4]) if len(row) > 4 and row[3] == width else _NOTHING


def _several(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    """What is one of several."""
    found = terms.cases(row[1])
    if not found:
        return _NOTHING
    ends = [bounds(terms, one, width, signed) for one in found]
    return min(low for low, _ in ends), max(high for _, high in ends)


_REALS = {"f32": 32, "f64": 64}


def _bits_of_real(terms: Terms, row: Row, width: int, signed: bool) -> Limits:
    """The bits of a floating-point number that has no sign."""
    from ptxkit.decompiler.verify.dataflow.reals import bits_between

    sort = {bits: name for name, bits in _REALS.items()}[width] if width in (32, 64) else ""
    made = row[1].split(".")
    if sort not in made:
        return _NOTHING
    found = bits_between(terms, sort, terms.make(*row))
    return _NOTHING if found is None else found


_RULES: dict[str, Callable[[Terms, Row, int, bool], Limits]] = {
    "sum": _sum, "multiply": _product, "special": _special, "signed": _extended,
    "unsigned": _extended, "truncate": _truncated, "op": _operation, "carried": _carried,
    "cases": _several,
}  # fmt: skip
