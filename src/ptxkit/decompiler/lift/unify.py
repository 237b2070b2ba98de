"""What copies of one piece of code have in common: they differ by numbers and names alone.

The copies of an unrolled loop are one text with holes. What stands in a hole, copy after copy, is
a row of numbers, which a counter makes again if they grow or halve evenly, or a row of names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import pairwise
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, LONG_LONG, UNSIGNED_LONG_LONG, Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up

#: Copies among which the end of a row is looked for.
_MOST_COPIES = 64
#: Of a number that is multiplied, at most.
_BITS = 31
_WIDE = LONG_LONG, UNSIGNED_LONG_LONG


class DifferentError(Exception):
    """Pieces of code that are no copies of one another."""


@dataclass(slots=True)
class Holes:
    """Unifies copies; collects what stands in the holes."""

    numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    known: dict[tuple[Any, ...], n.Name] = field(default_factory=dict)

    def unify(self, parts: Sequence[Any]) -> Any:
        """One text for all of the parts, with names of holes in it."""
        first = parts[0]
        if all(part == first for part in parts):
            return first
        if isinstance(first, tuple):
            if any(len(part) != len(first) for part in parts):
                raise DifferentError
            return tuple(self.unify(column) for column in zip(*parts, strict=True))
        if not all(isinstance(part, n.Node) for part in parts):
            raise DifferentError
        if all(isinstance(part, n.Name) for part in parts):
            return self._hole(self.names, "@", tuple(part.name for part in parts))
        if all(_is_number(part) for part in parts):
            return self._hole(self.numbers, "#", tuple(int(part.value) for part in parts))
        sums = [_sum(part) for part in parts]
        if len({number for _, number in sums}) > 1:
            base = self.unify(_as_wide([base for base, _ in sums]))
            return n.Binary("+", base, self._hole(self.numbers, "#", tuple(x for _, x in sums)))
        products = [_product(part) for part in parts]
        if len({factor for _, factor in products}) > 1:
            base = self.unify([base for base, _ in products])
            return n.Binary("*", base, self._hole(self.numbers, "#", tuple(x for _, x in products)))
        parts = [_element(part) for part in parts]
        if len({getattr(part, "operator", "") for part in parts}) > 1:
            parts = [_bounded(part) for part in parts]
        return self._alike([parts[0], *(_turned(part, parts[0]) for part in parts[1:])])

    def _alike(self, parts: Sequence[Any]) -> n.Node:
        kind: type = type(parts[0])
        if any(type(part) is not kind for part in parts):
            raise DifferentError
        made = []
        for name, is_branch in _fields(kind):
            values = [getattr(part, name) for part in parts]
            if not is_branch and any(value != values[0] for value in values):
                raise DifferentError
            made.append(self.unify(values) if is_branch else values[0])
        node: n.Node = kind(*made)
        return node

    def _hole(self, found: dict[str, Any], mark: str, values: tuple[Any, ...]) -> n.Name:
        key = mark, *values
        if key not in self.known:
            self.known[key] = n.Name(f"{mark}{len(found)}")
            found[self.known[key].name] = values
        return self.known[key]


@cache
def _fields(kind: type) -> list[tuple[str, bool]]:
    below = n.branches(kind)
    return [(one.name, one.name in below) for one in fields(kind)]


def _is_number(part: Any) -> bool:
    return (
        isinstance(part, n.Literal)
        and not isinstance(part.value, bool | float)
        and isinstance(part.type, Scalar)
    )


def _sum(part: Any) -> tuple[Any, int]:
    """What a number is added to, and the number: nothing is the same as adding 0."""
    match part:
        case n.Binary("+", left, n.Literal(value=int() as value)):
            return left, value
        case n.Binary("-", left, n.Literal(value=int() as value)):
            return left, -value
    return part, 0


def _product(part: Any) -> tuple[Any, int]:
    """What is taken some times, and how often: once, as it is; and ``x << 2`` is four times."""
    match part:
        case n.Binary("*", left, n.Literal(value=int() as value, type=Scalar() as type)) if (
            type.is_integer
        ):
            return left, value
        case n.Binary("<<", left, n.Literal(value=int() as bits)) if 0 <= bits < _BITS:
            return left, 1 << bits
    return part, 1


def _as_wide(bases: list[Any]) -> list[Any]:
    """What numbers are added to, all in 64 bits where some are: an index without a sum is."""
    wide = next((one for one in bases if _is_widened(one)), None)
    if wide is None:
        return bases
    return [one if _is_widened(one) else n.Cast(wide.type, one) for one in bases]


def _is_widened(part: Any) -> bool:
    return isinstance(part, n.Cast) and part.type in _WIDE


def _element(part: Any) -> Any:
    """``*p`` is ``p[0]``."""
    match part:
        case n.Unary("*", operand):
            return n.Index(operand, n.Literal(0, INT))
    return part


#: A question about nothing, as the one about how much it is: of lanes the first has the number 0.
_BOUNDS = {"==": "<", "!=": ">="}


def _bounded(part: Any) -> Any:
    """``lane == 0`` is ``lane < 1``, as the first of a row of distances has it."""
    match part:
        case n.Binary("==" | "!=" as operator, left, n.Literal(value=0, type=Scalar() as type)) if (
            type.is_integer
        ):
            return n.Binary(_BOUNDS[operator], left, n.Literal(1, type))
    return part


#: Of what may be turned round, where the copies of a text have it in two orders.
_EITHER = frozenset("+*")


def _kind(node: Any) -> tuple[str, str]:
    """What an operand is, as far as that can be seen at once."""
    core = _core(node)
    return type(core).__name__, getattr(core, "operator", "")


def _turned(part: Any, like: Any) -> Any:
    """A sum or a product with its operands in the order of another one."""
    match part, like:
        case n.Binary(operator, left, right), n.Binary(other, one, two) if (
            operator == other and operator in _EITHER
        ):
            kinds = _kind(one), _kind(two)
            if kinds[0] != kinds[1] and (_kind(right), _kind(left)) == kinds:
                return n.Binary(operator, right, left)
    return part


def shape(node: Any, inner: Callable[[n.Statement], object]) -> Any:
    """What is the same for copies of one text: a key, without numbers and names.

    ``inner`` gives the short keys of the statements inside, which have been seen before.
    """
    if isinstance(node, tuple):
        return tuple(
            inner(part) if isinstance(part, n.Statement) else shape(part, inner) for part in node
        )
    if not isinstance(node, n.Node):
        return node
    node = _bounded(_element(_core(node)))
    if isinstance(node, n.Name) or _is_number(node):
        return type(node).__name__
    if isinstance(node, n.Binary) and node.operator in _EITHER:
        first, second = sorted((node.left, node.right), key=_kind)
        return ("Binary", node.operator, shape(first, inner), shape(second, inner))
    kind: type = type(node)
    parts = (
        shape(getattr(node, name), inner) if is_branch else getattr(node, name)
        for name, is_branch in _fields(kind)
    )
    return (kind.__name__, *parts)


def _core(node: Any) -> Any:
    """What numbers are added to, and what is multiplied by them, in as many bits as it has."""
    while True:
        inner = _product(_sum(node)[0])[0]
        inner = inner.operand if _is_widened(inner) else inner
        if inner is node:
            return node
        node = inner


# ---- numbers in a row ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counted:
    """How a loop counts through the numbers of all holes."""

    start: int
    condition: tuple[str, int]
    step: tuple[str, int]
    holes: dict[str, tuple[int, int]]
    """Each hole as a multiple of the counter, and a number added to it."""

    def at(self, turn: int) -> int | None:
        """What the counter is in a turn, which may be one before the first; None where it is none.

        >>> halves = Counted(8, (">", 0), (">>=", 1), {})
        >>> halves.at(-1), halves.at(3), halves.at(4)
        (16, 1, None)
        """
        operator = self.step[0]
        if operator == "+=":
            return self.start + turn
        if (operator == "<<=") == (turn > 0):
            return self.start << abs(turn)
        value = self.start >> abs(turn)
        return value if value and value << abs(turn) == self.start else None

    def loop(self, name: str, body: tuple[n.Statement, ...]) -> n.For:
        """The loop around a text with holes."""
        index = n.Name(name)

        def fill(node: n.Node) -> n.Node:
            if isinstance(node, n.Name) and node.name in self.holes:
                return _scaled(index, *self.holes[node.name])
            return _tidied(node)

        filled = tuple(bottom_up(statement, fill) for statement in body)
        operator, limit = self.condition
        return n.For(
            n.Assign(index, n.Literal(self.start, INT)),
            n.Binary(operator, index, n.Literal(limit, INT)),
            n.Assign(index, n.Literal(self.step[1], INT), self.step[0]),
            filled,
        )


def counter(numbers: dict[str, tuple[int, ...]], count: int) -> Counted | None:
    """A counter that gives what stands in all holes; None where there is none.

    >>> counter({"#0": (0, 16, 32), "#1": (3, 4, 5)}, 3)
    Counted(start=3, condition=('<', 6), step=('+=', 1), holes={'#0': (16, -48), '#1': (1, 0)})
    >>> counter({"#0": (8, 4, 2), "#1": (7, 3, 1)}, 3)
    Counted(start=8, condition=('>=', 2), step=('>>=', 1), holes={'#0': (1, 0), '#1': (1, -1)})
    """
    return _evenly(numbers, count) or _doubling(numbers)


def counted_before(numbers: dict[str, tuple[int, ...]], count: int) -> int:
    """Of how many copies from the first on the numbers can be counted.

    >>> counted_before({"#0": (0, 1, 2, 3, 0, 1, 2, 3)}, 8)
    4
    """
    for fewer in range(min(count - 1, _MOST_COPIES), 2, -1):
        if counter({hole: row[:fewer] for hole, row in numbers.items()}, fewer) is not None:
            return fewer
    return 0


def _evenly(numbers: dict[str, tuple[int, ...]], count: int) -> Counted | None:
    steps: dict[str, int] = {}
    for hole, row in numbers.items():
        if any(b - a != row[1] - row[0] for a, b in pairwise(row)):
            return None
        steps[hole] = row[1] - row[0]
    # The counter is the number that goes up by one, if there is one.
    single = next((hole for hole, step in steps.items() if step == 1 and numbers[hole][0] >= 0), "")
    start = numbers[single][0] if single else 0
    holes = {h: (steps[h], numbers[h][0] - steps[h] * start) for h in numbers}
    return Counted(start, ("<", start + count), ("+=", 1), holes)


def _doubling(numbers: dict[str, tuple[int, ...]]) -> Counted | None:
    for row in numbers.values():
        halves = all(a == 2 * b for a, b in pairwise(row))
        doubles = all(2 * a == b for a, b in pairwise(row))
        if row[0] <= 0 or not (halves or doubles):
            continue
        holes: dict[str, tuple[int, int]] = {}
        for hole, other in numbers.items():
            times, left = divmod(other[1] - other[0], row[1] - row[0])
            added = other[0] - times * row[0]
            if left or any(b != times * a + added for a, b in zip(row, other, strict=True)):
                break
            holes[hole] = (times, added)
        else:
            last = row[-1]
            if doubles:
                return Counted(row[0], ("<", 2 * last), ("<<=", 1), holes)
            end = (">", 0) if last == 1 else (">=", last)
            return Counted(row[0], end, (">>=", 1), holes)
    return None


def _scaled(index: n.Name, times: int, added: int) -> n.Expression:
    if times == -1:
        return n.Binary("-", n.Literal(added, INT), index)
    made: n.Expression = index
    if times != 1:
        made = n.Binary("*", index, n.Literal(times, INT))
    return n.Binary("+", made, n.Literal(added, INT)) if added else made


_STRICT = {"<=": "<", ">": ">="}


def _tidied(node: n.Node) -> n.Node:
    """``a + (b + 1)`` as ``a + b + 1``; ``a <= b - 1`` as ``a < b``."""
    match node:
        case n.Binary("+", left, n.Binary("-", n.Literal(value=0), right)):
            return n.Binary("-", left, right)
        case n.Binary(
            "+", left, n.Binary("*", right, n.Literal(value=int() as times, type=type))
        ) if times < 0:
            return n.Binary("-", left, n.Binary("*", right, n.Literal(-times, type)))
        case n.Binary("+", left, n.Binary("+", middle, n.Literal() as right)):
            return n.Binary("+", n.Binary("+", left, middle), right)
        case n.Binary("<=" | ">" as operator, left, n.Binary("+", right, n.Literal(value=-1))):
            return n.Binary(_STRICT[operator], left, right)
        case n.Binary("+", left, n.Literal(value=int() as value, type=type)) if value < 0:
            return n.Binary("-", left, n.Literal(-value, type))
    return node
