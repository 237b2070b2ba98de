"""A sum over the places of a window, written out: two loops, one in the other.

``x[n - 1] + x[n] + x[n + 1] + x[n + w - 1] + ...`` is what becomes of ``x[(y + dy) * w + x0 + dx]``
for rows and columns. The terms differ by numbers and by multiples of variables, and those go up by
columns, and again from the next row on. As in `copies` nothing is proved: the verifier decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_expression
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import bottom_up, has_effect
from ptxkit.decompiler.lift.unify import DifferentError, Holes, counter

#: Terms of a window at least, and how often a name is looked up in what another one is.
_LEAST, _DEEP = 6, 6
#: Nodes of a value that is written in the place of a name: an index, or an element.
_LONGEST = 12
#: Terms that are looked at first, and nodes of one at most.
_SAMPLE, _MOST = 3, 100
#: What is multiplied, in one order; nothing for a number alone.
Monomial = tuple[n.Expression, ...]
Polynomial = dict[Monomial, int]
#: What stands in a hole: so much more by row, by column, and at the first place.
Fit = tuple[int, int, int]
_ARITHMETIC = (n.Name, n.Literal, n.Binary)


@dataclass(frozen=True, slots=True)
class Grid:
    """What is added up at each place of a window, and how the window is counted through."""

    text: n.Expression
    """With `ROW` and `COLUMN` for the counters."""
    rows: tuple[int, int]
    columns: tuple[int, int]
    """Where each begins, and how many there are."""

    def loops(self, row: str, column: str, step: Callable[[n.Expression], n.Statement]) -> n.For:
        """The loops, around what is done with a term."""
        names = {ROW: n.Name(row), COLUMN: n.Name(column)}

        def named(node: n.Node) -> n.Node:
            return names.get(node, node) if isinstance(node, n.Name) else node

        inner = _loop(column, *self.columns, step(bottom_up(self.text, named)))
        return _loop(row, *self.rows, inner)


ROW, COLUMN = n.Name("@row"), n.Name("@column")


def window(
    terms: Sequence[n.Expression],
    values: Mapping[str, n.Expression],
    known: dict[tuple[str, int], n.Node] | None = None,
) -> Grid | None:
    """Terms as the places of a window; None where they are none.

    ``values`` are those of variables that are set once; ``known`` as for `spelled_term`.
    """
    spelled = partial(spelled_term, values=values, known=known)
    if len(terms) < _LEAST:
        return None
    found = _by_indices(terms, values)
    if found is not None:
        return found
    # What is held inside of borders is no sum any more. Most sums are of no window, and their
    # first terms show it.
    first = [spelled(term) for term in terms[:_SAMPLE]]
    if not alike(first):
        return None
    return _by_text([*first, *(spelled(term) for term in terms[_SAMPLE:])])


def alike(terms: Sequence[n.Expression]) -> bool:
    """Whether terms of some size at most differ by numbers alone."""
    if any(len([*islice(term.walk(), _MOST + 1)]) > _MOST for term in terms):
        return False
    holes = Holes()
    try:
        holes.unify(terms)
    except DifferentError:
        return False
    return not holes.names


def _by_indices(terms: Sequence[n.Expression], values: Mapping[str, n.Expression]) -> Grid | None:
    """Terms that differ by what their elements are asked for by: sums of products."""
    found = _Slots(values)
    holes = Holes()
    try:
        text = holes.unify([found.without_indices(term) for term in terms])
    except DifferentError:
        return None
    if holes.names or not found.indices or len(found.indices) % len(terms):
        return None
    slots = len(found.indices) // len(terms)
    return _fitted(text, [_coefficients(found.indices[k::slots]) for k in range(slots)], holes)


def _by_text(terms: Sequence[n.Expression]) -> Grid | None:
    """Terms that differ by numbers alone."""
    holes = Holes()
    try:
        text = holes.unify(terms)
    except DifferentError:
        return None
    return None if holes.names else _fitted(text, [], holes)


def _fitted(
    text: n.Expression, slots: list[dict[Monomial, tuple[int, ...]]], holes: Holes
) -> Grid | None:
    vary = [row for slot in slots for row in slot.values() if len(set(row)) > 1]
    vary += list(holes.numbers.values())
    if not vary:
        return None
    count = len(vary[0])
    if counter({str(k): row for k, row in enumerate(vary)}, count) is not None:
        return None  # that is one row
    for columns in range(2, count // 2 + 1):
        if count % columns:
            continue
        fits = [_fit(row, columns) for row in vary]
        if None not in fits:
            known = [fit for fit in fits if fit is not None]
            return _written(text, slots, holes, columns, count // columns, known)
    return None


def spelled_term(
    node: n.Expression,
    values: Mapping[str, n.Expression],
    depth: int = 0,
    known: dict[tuple[str, int], n.Node] | None = None,
) -> n.Expression:
    """A term with what it is made of in the place of names, but for names of threads.

    What other terms were made of, with the same ``values``, is ``known``.
    """
    known = {} if known is None else known

    def change(part: n.Node) -> n.Node:
        if not isinstance(part, n.Name) or part.name not in values or depth >= _DEEP:
            return part
        key = part.name, depth
        if key not in known:
            value = values[part.name]
            plain = _is_short(value) and not has_effect(value)
            known[key] = spelled_term(value, values, depth + 1, known) if plain else part
        return known[key]

    made: n.Expression = bottom_up(node, change)
    return made


def _is_short(value: n.Expression) -> bool:
    some = [*islice(value.walk(), _LONGEST + 1)]
    # What is read from a place is no place, however that is computed.
    threads = not isinstance(value, n.Index) and any(isinstance(p, n.Member) for p in some)
    return len(some) <= _LONGEST and not threads


def _written(
    text: n.Expression,
    slots: list[dict[Monomial, tuple[int, ...]]],
    holes: Holes,
    columns: int,
    rows: int,
    fits: list[Fit],
) -> Grid | None:
    if not any(a for a, _, _ in fits) or not any(b for _, b, _ in fits):
        return None
    middle = -(rows // 2), -(columns // 2)
    around = any(d == a * middle[0] + b * middle[1] and d < 0 for a, b, d in fits)
    other = middle if around else (0, 0)
    first_row = next((d for a, b, d in fits if (a, b) == (1, 0)), other[0])
    first_column = next((d for a, b, d in fits if (a, b) == (0, 1)), other[1])

    def counted(row: tuple[int, ...]) -> n.Expression:
        fit = _fit(row, columns)
        assert fit is not None
        return _counted(fit, first_row, first_column)

    parts = {
        f"?{k}": _index(slot, counted) for k, slot in enumerate(slots)
    } | {hole: counted(row) for hole, row in holes.numbers.items()}  # fmt: skip

    def fill(node: n.Node) -> n.Node:
        return parts.get(node.name, node) if isinstance(node, n.Name) else node

    made = bottom_up(text, fill)
    return Grid(made, (first_row, rows), (first_column, columns))


@dataclass(slots=True)
class _Slots:
    """Takes the indices out of terms, one after another."""

    values: Mapping[str, n.Expression]
    indices: list[Polynomial] = field(default_factory=list)

    def without_indices(self, term: n.Expression) -> n.Expression:
        """A term with numbered names for what elements are asked for by."""
        before = len(self.indices)

        def taken(base: n.Name, index: n.Expression) -> n.Index:
            self.indices.append(self._polynomial(index, 0))
            return n.Index(base, n.Name(f"?{len(self.indices) - before - 1}"))

        def change(node: n.Node) -> n.Node:
            match node:
                case n.Unary("*", n.Name() as base):
                    return taken(base, n.integer(0))
                case n.Index(n.Name() as base, index):
                    return taken(base, index)
            return node

        made: n.Expression = bottom_up(term, change)
        return made

    def _polynomial(self, node: n.Expression, depth: int) -> Polynomial:
        match node:
            case n.Literal(value=int() as number):
                return {(): number}
            case n.Binary("+" | "-" as operator, left, right):
                sign = 1 if operator == "+" else -1
                return _sum(self._polynomial(left, depth), self._polynomial(right, depth), sign)
            case n.Binary("*", left, right):
                return _product(self._polynomial(left, depth), self._polynomial(right, depth))
            case n.Name(name=name) if depth < _DEEP and name in self.values:
                value = self.values[name]
                # What is made of threads alone has a name that says what it is.
                if all(isinstance(p, _ARITHMETIC) for p in value.walk()) and value.names():
                    return self._polynomial(value, depth + 1)
        return {(node,): 1}


def _sum(one: Polynomial, two: Polynomial, sign: int) -> Polynomial:
    made = dict(one)
    for monomial, times in two.items():
        made[monomial] = made.get(monomial, 0) + sign * times
    return made


def _product(one: Polynomial, two: Polynomial) -> Polynomial:
    made: Polynomial = {}
    for left, times in one.items():
        for right, more in two.items():
            both = tuple(sorted((*left, *right), key=print_expression))
            made[both] = made.get(both, 0) + times * more
    return made


def _coefficients(indices: Sequence[Polynomial]) -> dict[Monomial, tuple[int, ...]]:
    """How often each product is in each of some indices."""
    every = dict.fromkeys(monomial for one in indices for monomial in one)
    return {monomial: tuple(one.get(monomial, 0) for one in indices) for monomial in every}


def _fit(row: Sequence[int], columns: int) -> Fit | None:
    """How numbers go up by rows and columns; None where they do not do so evenly.

    >>> _fit((4, 5, 6, 14, 15, 16), 3), _fit((0, 1, 2, 3, 4, 6), 3)
    ((10, 1, 4), None)
    """
    by_row, by_column, first = row[columns] - row[0], row[1] - row[0], row[0]
    wanted = (by_row * (k // columns) + by_column * (k % columns) + first for k in range(len(row)))
    return (by_row, by_column, first) if list(row) == list(wanted) else None


def _counted(fit: Fit, first_row: int, first_column: int) -> n.Expression:
    """What stands in a hole, by the counters."""
    by_row, by_column, constant = fit
    if constant == by_row * first_row + by_column * first_column:
        first_row = first_column = constant = 0
    made: n.Expression | None = None
    for by, place, first in ((by_row, ROW, first_row), (by_column, COLUMN, first_column)):
        if by == 1:
            constant -= first
        one = place if by == 1 else n.Binary("*", _plus(place, -first), n.integer(by))
        if by:
            made = one if made is None else n.Binary("+", made, one)
    return n.integer(constant) if made is None else _plus(made, constant)


def _index(
    slot: Mapping[Monomial, tuple[int, ...]], counted: Callable[[tuple[int, ...]], n.Expression]
) -> n.Expression:
    """A sum of products: a row and what is counted on from it are multiplied together."""
    left = {monomial: row for monomial, row in slot.items() if any(row)}
    parts: list[n.Expression] = []
    for monomial, row in list(left.items()):
        if not monomial or len(set(row)) == 1:
            continue
        del left[monomial]
        by = counted(row)
        for other, times in list(left.items()):
            rest = _without(other, monomial)
            if set(times) == {1} and len(rest) == 1 and len(other) == len(monomial) + 1:
                del left[other]
                by = n.Binary("+", rest[0], by)
                break
        parts.append(_times(by, monomial))
    numbers = left.pop((), None)
    for monomial, row in left.items():
        inner = _times(None, monomial)
        parts.append(inner if row[0] == 1 else n.Binary("*", inner, n.integer(row[0])))
    made = parts[0] if parts else n.integer(0)
    for part in parts[1:]:
        made = n.Binary("+", made, part)
    if numbers is None:
        return made
    if len(set(numbers)) == 1:
        return _plus(made, numbers[0])
    more = counted(numbers)
    match more:
        case n.Binary("+" | "-" as operator, inner, n.Literal() as number):
            return n.Binary(operator, n.Binary("+", made, inner), number)
    return n.Binary("+", made, more) if parts else more


def _without(monomial: Monomial, factors: Monomial) -> Monomial:
    """What is left of a product without factors, as far as they are in it."""
    rest = [*monomial]
    for factor in factors:
        if factor in rest:
            rest.remove(factor)
    return tuple(rest)


def _times(by: n.Expression | None, monomial: Monomial) -> n.Expression:
    made = by
    for factor in monomial:
        made = factor if made is None else n.Binary("*", made, factor)
    assert made is not None
    return made


def _plus(node: n.Expression, number: int) -> n.Expression:
    if not number:
        return node
    return n.Binary("+" if number > 0 else "-", node, n.integer(abs(number)))


def _loop(name: str, first: int, count: int, body: n.Statement) -> n.For:
    index = n.Name(name)
    last = n.Binary("<=", index, n.integer(first + count - 1))
    if first >= 0:
        last = n.Binary("<", index, n.integer(first + count))
    return n.For(
        n.Assign(index, n.Literal(first, INT)), last, n.Assign(index, n.integer(1), "+="), (body,)
    )
