"""The long sum that a loop adds up, once its copies stand inside one another.

``s0 + a[0] * b[0] + a[1] * b[1] + ...``, in one statement or in many that compute a part each, is
what becomes of ``for (k ...) s += a[k] * b[k]``. The same goes for products, largest and smallest
values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, has_effect, read
from ptxkit.decompiler.lift.unify import Counted, DifferentError, Holes, counter

OPERATORS = frozenset("+*&|^")
#: What leaves something as it is, where it is 0.
_FROM_ZERO = frozenset("+|^")
_CALLS = frozenset(("min", "max", "fminf", "fmaxf", "fmin", "fmax"))
#: Statements before a sum in which its terms are looked for.
_FAR = 400
#: How often a part of a term is looked up in another one.
_DEEP = 20
#: Terms at the start that may be others than the rest.
_SKIPPED = 3


@dataclass(slots=True)
class Computed:
    """What was computed just before a statement, and for that alone."""

    parts: dict[str, n.Expression] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    """Names that have been looked up."""

    @classmethod
    def before(
        cls,
        body: Sequence[n.Statement],
        place: int,
        value: n.Expression,
        is_used_once: Callable[[str], bool],
        reads_of: Callable[[n.Statement], frozenset[str] | None],
    ) -> Computed:
        """What may be written in a value at a place as well as before it.

        ``reads_of`` are the names in what a statement sets a variable to, and does no more.
        """
        made = cls()
        changed: set[str] = set()
        wanted = {name for name in read(value) if is_used_once(name)}
        for earlier in range(place - 1, max(place - _FAR, 0) - 1, -1):
            statement = body[earlier]
            names = reads_of(statement) if wanted else None
            if names is None:
                break
            assert isinstance(statement, n.Assign) and isinstance(statement.target, n.Name)
            name = statement.target.name
            if name in wanted and not changed & names:
                made.parts[name], made.places[name] = statement.value, earlier
                wanted |= {other for other in names if is_used_once(other)}
            else:
                changed.add(name)
            wanted.discard(name)
        return made

    def used(self) -> list[int]:
        """Where the statements are that have been looked up."""
        return [self.places[name] for name in self.taken]

    def seen(self, value: n.Expression) -> n.Expression:
        """A value, looked up if it is a name."""
        return self.parts.get(value.name, value) if isinstance(value, n.Name) else value

    def take(self, value: n.Expression) -> n.Expression:
        """The same, and whoever asks will write it."""
        if isinstance(value, n.Name) and value.name in self.parts:
            self.taken.add(value.name)
            return self.parts[value.name]
        return value

    def written(self, value: n.Expression, depth: int = 0) -> n.Expression:
        """A value with what it is made of in the place of names."""

        def change(node: n.Node) -> n.Node:
            if isinstance(node, n.Name) and node.name in self.parts:
                return self.written(self.take(node), depth + 1)
            return node

        made: n.Expression = bottom_up(value, change) if depth < _DEEP and self.parts else value
        return made


@dataclass(slots=True)
class Chain:
    """What a loop begins with, what it adds in every turn, and by what operation."""

    kind: str
    first: n.Expression
    terms: list[n.Expression]
    before: n.Name | None
    """The variable that held what was added up before the last term."""

    def rolled(self, least: int) -> tuple[n.Expression, n.Expression, Counted] | None:
        """Terms as one text with holes and a counter; some at the start may be others."""
        first = self.first
        for skipped in range(min(_SKIPPED, len(self.terms) - least + 1)):
            holes = Holes()
            try:
                text = holes.unify(self.terms[skipped:])
            except DifferentError:
                text = None
            counted = counter(holes.numbers, len(self.terms) - skipped)
            if text is not None and counted is not None and holes.numbers and not holes.names:
                return first, text, counted
            first = self._joined(first, self.terms[skipped])
        return None

    def from_nothing(self, least: int) -> Chain | None:
        """The chain with its start as a term like the others, of whole numbers: it begins with 0.

        A compiler adds nothing to 0, and may read the first two in another order.
        """
        if self.kind not in _FROM_ZERO or len(self.terms) < least:
            return None
        second, *rest = self.terms
        for terms in ([self.first, second, *rest], [second, self.first, *rest]):
            whole = replace(self, first=n.integer(0), terms=terms)
            holes = Holes()
            try:
                holes.unify(terms)
            except DifferentError:
                continue
            if counter(holes.numbers, len(terms)) is not None and not holes.names:
                return whole
        return None

    def _joined(self, left: n.Expression, right: n.Expression) -> n.Expression:
        if self.kind in OPERATORS:
            return n.Binary(self.kind, left, right)
        return n.Call(self.kind, (left, right))


def reads_of(statement: n.Statement) -> frozenset[str] | None:
    """The names in what a statement sets a variable to; None where it does anything else.

    >>> sorted(reads_of(n.Assign(n.Name("a"), n.Binary("+", n.Name("b"), n.Name("c")))))
    ['b', 'c']
    """
    match statement:
        case n.Assign(n.Name(), value, "=") if not has_effect(value):
            return frozenset(read(value))
    return None


def chain_of(value: n.Expression, computed: Computed) -> Chain | None:
    """A value as a chain, if it is one.

    >>> from ptxkit.cuda import nodes as n
    >>> a, b, c = map(n.Name, "abc")
    >>> found = chain_of(n.Binary("+", n.Binary("+", a, b), c), Computed())
    >>> found.first, found.terms
    (Name(name='a'), [Name(name='b'), Name(name='c')])
    """
    kind = _kind(value)
    if kind is None:
        return None
    terms: list[n.Expression] = []
    before: n.Name | None = None
    while (pair := _pair(value, kind)) is not None:
        # The part that goes on is what was added up before.
        left, right = pair
        if _kind(computed.seen(right)) == kind and _kind(computed.seen(left)) != kind:
            left, right = right, left
        if not terms and isinstance(left, n.Name) and left.name in computed.parts:
            before = left
        terms.append(right)
        value = computed.take(left)
    terms = [computed.written(term) for term in terms]
    value = computed.written(value)
    if isinstance(terms[-1], n.Literal) and not isinstance(value, n.Literal):
        # A loop begins with a number.
        value, terms[-1] = terms[-1], value
    return Chain(kind, value, terms[::-1], before)


def _kind(value: n.Expression) -> str | None:
    match value:
        case n.Binary(operator) if operator in OPERATORS:
            return operator
        case n.Call(function, (_, _)) if function in _CALLS:
            return function
    return None


def _pair(value: n.Expression, kind: str) -> tuple[n.Expression, n.Expression] | None:
    match value:
        case n.Binary(operator, left, right) if operator == kind:
            return left, right
        case n.Call(function, (left, right)) if function == kind:
            return left, right
    return None
