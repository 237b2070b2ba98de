"""Whether a term is an instance of a template.

A term and a template are walked together from the result down. Most attempts end at the
first or second node; those that get further mostly succeed, so that all of it takes time
linear in the size of the function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from ptxkit.decompiler.lift.mathlib.numbers import bits_of, is_known, operation
from ptxkit.decompiler.lift.mathlib.templates import Node, Template, key_of, place_key, unsigned
from ptxkit.decompiler.lift.mathlib.terms import Terms, total
from ptxkit.decompiler.lift.values import Value, const, raw

_FREE = frozenset("add mul and or xor fadd fmul eq ne feq fne fma".split())
#: An attempt is given up after so many pairs of nodes: both orders of many sums.
_PATIENCE = 20_000
_LONG = 3
#: So many operations are looked for inside of a selection.
_DEEP = 3


def is_distributed(value: Value) -> bool:
    """Whether it is an operation on one value that is known for numbers."""
    return is_known(value) and all(a.op == "const" for a in value.args[1:])


def applied(operations: Iterable[Value], bits: int) -> int:
    """The bits of what operations make of a number, one after the other.

    >>> twice = raw("fmul", 32, (raw("leaf", 32), const(0xC0000000, 32)))
    >>> hex(applied([twice, raw("fneg", 32, (twice,))], 0x7F800000))
    '0x7f800000'
    """
    for one in operations:
        bits = bits_of(operation(one), one.width, [bits, *(a.data for a in one.args[1:])])
    return bits


@dataclass(slots=True)
class Match:
    """A term that is a call."""

    template: Template
    root: Value
    arguments: tuple[Value, ...]
    covered: tuple[Value, ...]
    """The terms that the call computes, the arguments apart."""
    added: Value | None = None
    """What is added to the call: the product that it ends with was contracted with a sum."""
    negative: bool = False
    """Whether the call is subtracted from that instead."""
    outer: tuple[Value, ...] = ()
    """What is done to the result, in this order, first arguments put aside: a compiler does it
    in advance where the result is a number."""


@dataclass
class Library:
    """Templates, by what their results look like."""

    templates: list[Template]
    helpers: frozenset[str] = frozenset()
    """Functions that are called and tables that are read, by their content."""
    _by_root: dict[tuple[str, int, object], list[Template]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.helpers = frozenset(
            n.key for t in self.templates for n in t.nodes if n.op in ("function", "table")
        )
        for template in sorted(self.templates, key=lambda t: -len(t.nodes)):
            root = template.root
            self._by_root.setdefault((root.op, root.width, root.key), []).append(template)

    @cached_property
    def long(self) -> Library:
        """The templates that have a shape of their own."""
        return Library([t for t in self.templates if t.operations >= _LONG])

    @cached_property
    def short(self) -> Library:
        """The others: a name for an instruction or two, that longer ones have in them."""
        return Library([t for t in self.templates if t.operations < _LONG])

    def find(self, terms: Terms, value: Value) -> Match | None:
        """The largest template that a term is an instance of, or that it adds something to."""
        found = self._find(terms, value)
        if found is None and value.op == "fma":
            one, two, added = value.args
            negative = one.op == "fneg"
            factors = (one.args[0] if negative else one, two)
            # A product that may be contracted is one without a rounding of its own.
            product = raw("fmul", value.width, factors, (value.data[0], False))
            found = self._find(terms, product)
            if found is not None:
                found = replace(found, root=value, added=added, negative=negative)
        if found is None and value.op == "select":
            found = self._find_inside(terms, value)
        return found

    def _find_inside(self, terms: Terms, value: Value) -> Match | None:
        """``-logf(x)`` is a selection between infinity and a product: the minus went inside."""
        condition, *arms = value.args
        for place, other in ((0, 1), (1, 0)):
            number, inner = arms[place], arms[other]
            outer: tuple[Value, ...] = ()
            while number.op == "const" and len(outer) < _DEEP and is_distributed(inner):
                outer, inner = (inner, *outer), inner.args[0]
                for template in self._by_root.get(("select", value.width, None), ()):
                    node = template.nodes[template.root.args[1 + place]]
                    if node.op != "const" or applied(outer, node.key) != number.data:
                        continue
                    inside = [const(node.key, value.width), inner]
                    if place:
                        inside.reverse()
                    whole = raw("select", value.width, (condition, *inside))
                    found = _Attempt(terms, template).run(whole)
                    if found is not None:
                        return replace(found, root=value, outer=outer)
        return None

    def _find(self, terms: Terms, value: Value) -> Match | None:
        known = self._by_root.get((value.op, value.width, key_of(value.data)))
        for template in known or ():
            if _may_be(template, value):
                found = _Attempt(terms, template).run(value)
                if found is not None:
                    return found
        return None

    def suspects(self, numbers: frozenset[tuple[int, int]]) -> list[Template]:
        """Functions of which most numbers occur: instances of them with a special argument."""
        plain = unsigned(numbers)
        return [template for template, own, least in self._typical if len(own & plain) >= least]

    @cached_property
    def calling(self) -> list[Template]:
        """Functions of two arguments that call others, which their numbers are in."""
        return [
            template
            for template in self.templates
            if len(template.takes) == 2 and any(node.op == "function" for node in template.nodes)
        ]

    @cached_property
    def _typical(self) -> list[tuple[Template, frozenset[tuple[int, int]], float]]:
        found = [(template, *template.typical) for template in self.templates]
        return [row for row in found if len(row[1]) > 1]

    def find_all(self, terms: Terms, values: Iterable[Value]) -> dict[Value, Match]:
        """What is an instance of some template among terms."""
        found: dict[Value, Match] = {}
        seen: set[Value] = set()
        for value in values:
            if value not in seen:
                seen.add(value)
                match = self.find(terms, value)
                if match is not None:
                    found[value] = match
        return found


def _may_be(template: Template, value: Value) -> bool:
    """Whether what is right below the result does not rule a template out: it mostly does."""
    wanted = template.below
    if all(op is None or op == a.op for op, a in zip(wanted, value.args, strict=False)):
        return True
    if value.op not in _FREE:
        return False
    swapped = (wanted[1], wanted[0], *wanted[2:])
    return all(op is None or op == a.op for op, a in zip(swapped, value.args, strict=False))


class _Attempt:
    """One template against one term."""

    __slots__ = ("bound", "left", "nodes", "shift", "template", "terms", "trail")

    def __init__(self, terms: Terms, template: Template) -> None:
        self.terms = terms
        self.template = template
        self.nodes = template.nodes
        self.bound: list[Value | None] = [None] * len(template.nodes)
        self.trail: list[int] = []
        self.shift: int | None = None
        self.left = _PATIENCE

    def run(self, value: Value) -> Match | None:
        if not self._unify(len(self.nodes) - 1, value):
            return None
        fixed = self.template.fixed or (None,) * len(self.template.takes)
        arguments: list[Value | None] = [None] * fixed.count(None)
        covered = []
        for node, bound in zip(self.nodes, self.bound, strict=True):
            if node.op == "hole":
                arguments[node.key] = bound
            elif bound is not None and node.op not in ("const", "any"):
                covered.append(bound)
        holes = iter(arguments)
        given = [const(f, value.width) if f is not None else next(holes) for f in fixed]
        found = tuple(a for a in given if a is not None)
        return Match(self.template, value, found, tuple(covered)) if len(found) == len(fixed) \
            else None  # fmt: skip

    def _unify(self, number: int, value: Value) -> bool:
        known = self.bound[number]
        if known is not None:
            return known is value
        node = self.nodes[number]
        op = node.op
        if node.width != value.width:
            return False
        if op == "hole" or op == "any":
            pass
        elif op != value.op or len(node.args) != len(value.args):
            return False
        elif op == "place":
            if not self._shifted(node.key, place_key(value.data)):
                return False
        elif op != "mu" and node.key != key_of(value.data):
            return False
        self.left -= 1
        if self.left < 0:
            return False
        self.bound[number] = value
        self.trail.append(number)
        if op == "mu":
            loop = self.terms.loops.get(value)
            if loop is None:
                return False
            parts = (loop.first, loop.following, loop.again)
            return all(self._unify(n, v) for n, v in zip(node.loop, parts, strict=True))
        if not node.args:
            return True
        if op in ("eq", "ne") and self._asks_difference(node, value):
            return True
        if op not in _FREE:
            return self._all(node.args, value.args)
        mark = len(self.trail)
        if self._all(node.args, value.args):
            return True
        while len(self.trail) > mark:
            self.bound[self.trail.pop()] = None
        swapped = (value.args[1], value.args[0], *value.args[2:])
        return self._all(node.args, swapped)

    def _asks_difference(self, node: Node, value: Value) -> bool:
        """Whether an argument is 0, asked as whether what it is the difference of is the same."""
        argument, number = (self.nodes[n] for n in node.args)
        one, two = value.args
        if argument.op != "hole" or number.op != "const" or number.key or (
            two.op == "const" and not two.data
        ):  # fmt: skip
            return False
        for first, second in ((one, two), (two, one)):
            difference = total("sub", one.width, first, second)
            # Nobody else may have said what the argument is: another place will.
            if self.bound[node.args[0]] in (None, difference) and difference in self.terms.places:
                self.bound[node.args[0]] = difference
                self.bound[node.args[1]] = const(0, two.width)
                self.trail += node.args
                return True
        return False

    def _shifted(self, one: tuple[str, int], other: tuple[str, int]) -> bool:
        """Whether places differ only in where the function's part of memory begins."""
        shift = other[1] - one[1]
        if self.shift is None:
            self.shift = shift
        return one[0] == other[0] and shift == self.shift

    def _all(self, numbers: tuple[int, ...], values: tuple[Value, ...]) -> bool:
        # Constants and repeated parts decide most quickly: a wrong template fails at once.
        for number, value in zip(numbers, values, strict=True):
            if self.nodes[number].op == "const" and not self._unify(number, value):
                return False
        return all(self._unify(n, v) for n, v in zip(numbers, values, strict=True))
