"""What may be done to many numbers in any order, and to the same one twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptxkit.decompiler.verify.dataflow.bits import as_sum, extreme

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

#: So many operands are put in order.
_CHAIN = 12


def in_any_order(terms: Terms, opcode: str, values: Sequence[Term]) -> Sequence[Term]:
    """The operands of what may be done to many numbers in any order, and twice: two of them.

    >>> from ptxkit.decompiler.verify.dataflow.terms import Terms
    >>> t = Terms()
    >>> x, y, z = (t.make("symbol", name) for name in "xyz")
    >>> def chain(opcode, *values):
    ...     made = values[0]
    ...     for one in values[1:]:
    ...         made = t.operation(opcode, 0, (made, one))
    ...     return made
    >>> [chain(op, x, y, z) == chain(op, z, x, y, x) for op in ("or.b32", "min.u64", "min.f32")]
    [True, True, False]
    """
    leaves = _leaves(terms, opcode, values)
    if not 2 < len(leaves) <= _CHAIN:
        return tuple(leaves) if 0 < len(leaves) <= 2 else values
    pending = sorted(leaves)
    found: list[Term] = []
    while pending:
        one = pending.pop()
        for other in found:
            both = _joined(terms, opcode, one, other)
            if both is not None:
                found.remove(other)
                pending.append(both)
                break
        else:
            found.append(one)
    found.sort()
    made = found[0]
    for one in found[1:-1]:
        made = terms.make("op", opcode, 0, *sorted((made, one)))
    return (made, found[-1]) if len(found) > 1 else (made,)


def _leaves(terms: Terms, opcode: str, values: Sequence[Term]) -> set[Term]:
    found: set[Term] = set()
    pending = list(values)
    while pending and len(found) <= _CHAIN:
        row = terms.rows[pending[-1]]
        one = pending.pop()
        if row[:2] == ("op", opcode):
            pending += row[3:]
        else:
            found.add(one)
    return found


def _joined(terms: Terms, opcode: str, a: Term, b: Term) -> Term | None:
    """Two operands as one, where there is an easier way to say it."""
    name, _, type = opcode.partition(".")
    if name == "or":
        return as_sum(terms, int(type[1:]), a, b)
    return extreme(terms, name == "min", type, (a, b))
