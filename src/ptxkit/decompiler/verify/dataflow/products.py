"""Products that an assembler may still put together with a sum that they become part of.

``mul.f32`` says nothing of rounding, so that ``mul`` and ``add`` may become one ``fma``: a sum of
what may be such a product is not the same as a sum of what is none. An assembler sees through what
changes no number, or its sign alone: the negative of a product, the product times one, the larger
of it and itself, what was in local memory or came from another lane. So it is said here what is no
product for certain; all else may be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms
from ptxkit.isa.types import FLOAT, SCALAR_TYPES

#: Follows the opcode of what may still be put together with another.
OPEN = " or fma"
#: Stands before what a loop carries that is no product on any way to it.
_NONE = "no product"
#: Leaves of a diagram that are looked at, and how far a term is looked through.
_LEAVES, _DEEP = 16, 12
#: What gives a number of its own, which has been rounded.
_ROUNDED = frozenset(
    "add sub fma mad div sqrt rcp rsqrt ex2 lg2 sin cos tanh abs copysign testp".split()
)
#: What gives one of its operands.
_CHOSEN = frozenset(("min", "max"))
#: One, without its sign, as numbers of all formats that there are.
_ONES = frozenset((0x3F80, 0x3C00, 0x3F800000, 0x3C003C00, 0x3F803F80, 0x3FF0000000000000))
#: Memory in which an assembler leaves what was put there; that of a thread alone may be none.
_KINDS = frozenset(("global", "shared", "const", "param"))
#: Rows that are no products, and those of which some parts are terms: from which on.
_NEVER = frozenset("special symbol float compare truth eq lt parameter".split())
_PARTS = {
    "op": 3, "part": 3, "multiply": 2, "signed": 3, "unsigned": 3, "truncate": 3, "tuple": 1,
    "slot": 2,
}  # fmt: skip


def settled(terms: Terms, term: Term) -> Term:
    """A product in the eyes of what is no sum.

    >>> t = Terms()
    >>> x, y = t.make("x"), t.make("y")
    >>> product = t.operation("mul.f32" + OPEN, 0, [x, y])
    >>> t.rows[settled(t, product)][1], settled(t, x) == x
    ('mul.f32', True)
    """
    row = terms.rows[term]
    if row[0] != "op" or not row[1].endswith(OPEN) or not row[1].startswith("mul"):
        return term
    return terms.make("op", row[1].removesuffix(OPEN), *row[2:])


def takes_rounded(terms: Terms, opcode: str, values: Sequence[Term]) -> bool:
    """Whether an operation gives what no assembler takes for one of its operands.

    >>> t = Terms()
    >>> x, one = t.make("x"), t.constant(32, 0x3F800000)
    >>> takes_rounded(t, "sqrt.rn.f32", [x]), takes_rounded(t, "neg.f32", [x])
    (True, False)
    >>> takes_rounded(t, "mul.f32", [x, x]), takes_rounded(t, "mul.f32", [x, one])
    (True, False)
    """
    words = opcode.removesuffix(OPEN).split(".")
    if words[0] == "mul":
        return not any(_is_one(terms, value) for value in values)
    if words[0] == "cvt":
        return words[-1] != words[-2]
    if words[0] in _CHOSEN:
        return len(set(values)) > 1
    return words[0] in _ROUNDED


def _is_one(terms: Terms, value: Term) -> bool:
    """Whether a term is one, or less than nothing by one."""
    number = terms.constant_of(value)
    if number is None:
        return False
    return any(number in (one, one | 1 << bits - 1) for one in _ONES for bits in (16, 32, 64)
               if one < 1 << bits)  # fmt: skip


def may_be_product(terms: Terms, term: Term, depth: int = _DEEP) -> bool:
    """Whether a term may be a product that is still to be put together with a sum.

    >>> t = Terms()
    >>> x, y = t.make("special", "x"), t.make("special", "y")
    >>> product = t.operation("mul.f32" + OPEN, 0, [x, y])
    >>> opposite = t.operation("neg.f32", 0, [product])
    >>> [may_be_product(t, one) for one in (x, product, opposite)]
    [False, True, True]
    """
    known = terms.known.get(("may be product", term))
    if known is None:
        row = terms.rows[term]
        if row[0] == "cases":  # what these are is found out as a proof goes on
            return _is_open(terms, row, depth)
        known = terms.known["may be product", term] = _is_open(terms, row, depth)
    return bool(known)


def _is_open(terms: Terms, row: tuple[Any, ...], depth: int) -> bool:
    if row[0] in _NEVER or (row[0] == "sum" and not row[3]):
        return False
    if not depth:
        return True
    match row[0]:
        case "carried":
            return not (isinstance(row[2], tuple) and row[2][0] == _NONE)
        case "cases":
            several = terms.cases(row[1])
            return several is None or any(may_be_product(terms, x, depth - 1) for x in several)
        case "ld":
            return _KINDS.isdisjoint(row[1].split("."))
        case "result":
            lanes = row[1].startswith("shfl")
            return lanes and any(may_be_product(terms, one, depth - 1) for one in row[4:])
        case "op" if row[1].startswith("mul") and row[1].endswith(OPEN):
            return True
        case "op" if takes_rounded(terms, row[1], row[3:]) or _from_integer(row[1]):
            return False
        case "sum":
            return any(may_be_product(terms, one, depth - 1) for one, _ in row[3])
    first = _PARTS.get(row[0])
    if first is None:
        return True
    return any(may_be_product(terms, one, depth - 1) for one in row[first:])


def _from_integer(opcode: str) -> bool:
    """Whether an operation makes a number of an integer."""
    words = opcode.split(".")
    if words[0] != "cvt" or words[-1] not in SCALAR_TYPES:
        return False
    return SCALAR_TYPES[words[-1]].kind != FLOAT


def keeps_open(opcode: str) -> bool:
    """Whether an effect gives on what it takes so that an assembler may see through it.

    >>> keeps_open("shfl.sync.idx.b32"), keeps_open("st.local.b32"), keeps_open("st.global.b32")
    (True, True, False)
    """
    words = opcode.split(".")
    return words[0] == "shfl" or (words[0] == "st" and _KINDS.isdisjoint(words))


def no_product(what: Any) -> tuple[str, Any]:
    """The name of what a loop carries, where that is never a product."""
    return _NONE, what


def none_is_product(decisions: Decisions, value: Diagram) -> bool:
    """Whether no case of a value may be a product.

    >>> t = Terms()
    >>> d = Decisions(t)
    >>> special, nothing = d.leaf(t.make("special", "x")), d.leaf(t.make("nothing"))
    >>> none_is_product(d, special), none_is_product(d, nothing)
    (True, False)
    """
    found = decisions.leaves(value, _LEAVES)
    return found is not None and not any(may_be_product(decisions.terms, one) for one in found)
