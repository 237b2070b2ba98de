"""Products that an assembler may still put together with a sum that they become part of.

``mul.f32`` says nothing of rounding, so that ``mul`` and ``add`` may become one ``fma``: a sum of
what may be such a product is not the same as a sum of what is none.
"""

from __future__ import annotations

from typing import Any

from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

#: Follows the opcode of what may still be put together with another.
OPEN = " or fma"
#: Stands before what a loop carries that is no product on any way to it.
_NONE = "no product"
#: Leaves of a diagram that are looked at.
_LEAVES = 16


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


def may_be_product(terms: Terms, term: Term) -> bool:
    """Whether a term may be a product that is still to be put together with a sum."""
    row = terms.rows[term]
    match row[0]:
        case "carried":
            return not (isinstance(row[2], tuple) and row[2][0] == _NONE)
        case "cases":
            several = terms.cases(row[1])
            return several is None or any(may_be_product(terms, one) for one in several)
        case "nothing":
            return True
    negated = row[0] == "op" and row[1].startswith("neg")
    return negated or settled(terms, term) != term


def no_product(what: Any) -> tuple[str, Any]:
    """The name of what a loop carries, where that is never a product."""
    return _NONE, what


def none_is_product(decisions: Decisions, value: Diagram) -> bool:
    """Whether no case of a value may be a product.

    >>> t = Terms()
    >>> d = Decisions(t)
    >>> none_is_product(d, d.leaf(t.make("x"))), none_is_product(d, d.leaf(t.make("nothing")))
    (True, False)
    """
    found = decisions.leaves(value, _LEAVES)
    return found is not None and not any(may_be_product(decisions.terms, one) for one in found)
