"""Sums taken apart: what is added up, and how often.

What counts as a sum depends on who asks: to one a product with a number is a term many times, to
another it is a term like any other. So each kind of sum is a rule, and who asks names those that
are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, UINT

Term = tuple[n.Expression, int]
"""Something that is added up, and how often."""
Rule = Callable[[n.Expression], tuple[Term, ...]]
"""What an expression is the sum of; nothing where it is none of the kind."""

_NUMBERS = INT, UINT


def taken_apart(
    node: n.Expression, rules: Sequence[Rule], times: int = 1
) -> Iterator[tuple[n.Expression, int]]:
    """What is added up in an expression, from the left to the right; numbers are terms, too.

    >>> a, b, two = n.Name("a"), n.Name("b"), n.integer(2)
    >>> total = n.Binary("-", n.Binary("*", a, two), b)
    >>> [times for _, times in taken_apart(total, (sums, differences, multiples))]
    [2, -1]
    >>> [times for _, times in taken_apart(total, (sums, multiples))]
    [1]
    """
    stack = [(node, times)]
    while stack:
        one, by = stack.pop()
        parts = next((found for rule in rules if (found := rule(one))), ())
        if not parts:
            yield one, by
        stack += [(part, by * often) for part, often in reversed(parts)]


def sums(node: n.Expression) -> tuple[Term, ...]:
    """``a + b``."""
    match node:
        case n.Binary("+", left, right):
            return (left, 1), (right, 1)
    return ()


def differences(node: n.Expression) -> tuple[Term, ...]:
    """``a - b``."""
    match node:
        case n.Binary("-", left, right):
            return (left, 1), (right, -1)
    return ()


def without_numbers(node: n.Expression) -> tuple[Term, ...]:
    """``a - 3``, but not ``a - b``."""
    match node:
        case n.Binary("-", _, n.Literal(value=int())):
            return differences(node)
    return ()


def negations(node: n.Expression) -> tuple[Term, ...]:
    """``-a``."""
    match node:
        case n.Unary("-", operand):
            return ((operand, -1),)
    return ()


def multiples(node: n.Expression) -> tuple[Term, ...]:
    """``a * 3`` and ``a << 2``."""
    match node:
        case n.Binary("*", left, n.Literal(value=int() as by)):
            return ((left, by),)
        case n.Binary("<<", left, n.Literal(value=int() as bits)):
            return ((left, 1 << bits),)
    return ()


def conversions(node: n.Expression) -> tuple[Term, ...]:
    """``(unsigned)a``: a number of 32 bits, as which it may be added up, too."""
    match node:
        case n.Cast(type=type, operand=operand) if type in _NUMBERS:
            return ((operand, 1),)
    return ()


def multiple(term: n.Expression, times: int) -> n.Expression:
    """A term that is added so many times."""
    return term if times == 1 else n.Binary("*", term, n.integer(times))


@dataclass(slots=True)
class Sum:
    """A sum: how often each of its terms is added, and a number."""

    terms: dict[n.Expression, int] = field(default_factory=dict)
    number: int = 0

    def add(self, node: n.Expression, times: int = 1) -> Sum:
        """Add an expression some times: conversions between numbers of 32 bits are left out."""
        for term, by in taken_apart(node, (sums, differences, negations, conversions), times):
            match term:
                case n.Literal(value=int() as value):
                    self.number += by * value
                case _:
                    total = self.terms.get(term, 0) + by
                    self.terms[term] = total
                    if not total:
                        del self.terms[term]
        return self

    def expression(self) -> n.Expression | None:
        """The sum as it is written; None where nothing is added to what others are taken from."""
        plus = [(node, times) for node, times in self.terms.items() if times > 0]
        minus = [(node, -times) for node, times in self.terms.items() if times < 0]
        if not plus:
            match minus, self.number:
                case [(node, 1)], 0:
                    return n.Unary("-", node)
            return None
        made: n.Expression | None = None
        for operator, some in (("+", plus), ("-", minus)):
            for node, times in some:
                term = multiple(node, times)
                made = term if made is None else n.Binary(operator, made, term)
        assert made is not None
        if self.number:
            operator = "+" if self.number > 0 else "-"
            made = n.Binary(operator, made, n.integer(abs(self.number)))
        return made
