"""Turns that are written out one after the other, as one turn by the index.

Where a loop begins at ``-r``, a compiler that writes its first turns out adds that to what is there
already: ``x[c - r]``, ``x[c - r + 1]``. What differs from one turn to the next by a number is a
number of turns from where the index begins; that the rest is the same tells that they are turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.terms import Sum
from ptxkit.decompiler.lift.unify import DifferentError

Body = tuple[n.Statement, ...]
#: How often names are replaced by what they stand for, to see whether two numbers are beside.
_DEEP = 4


@dataclass(frozen=True, slots=True)
class Moving:
    """A variable that moves on by a number in every turn, from where it begins."""

    name: str
    start: n.Expression
    by: int


@dataclass(slots=True)
class Turns:
    """Turns one after the other, from where an index begins."""

    index: str
    first: n.Expression
    """Where the index begins."""
    values: Mapping[str, n.Expression]
    """What variables are set to that are set once."""
    moving: Sequence[Moving] = ()
    """What else moves on in every turn."""
    renamed: dict[str, str] = field(default_factory=dict)

    def turn(self, turns: Sequence[Body]) -> Body | None:
        """What every turn does, by the index; None if they are no turns of one loop.

        >>> from ptxkit.cuda import print_statements, read
        >>> texts = "(+= s ([] x (- c r)))", "(+= s ([] x (+ (- c r) 1)))"
        >>> turns = [(read(text),) for text in texts]
        >>> first = n.Unary("-", n.Name("r"))
        >>> print(print_statements(Turns("i", first, {}).turn(turns)), end="")
        s += x[c + i];
        """
        made: Body | None = None
        for number, following in enumerate(turns[1:], 1):
            self.renamed.clear()
            try:
                found: Body = self._both(turns[0], following, number)
            except DifferentError:
                return None
            if made is not None and found != made:
                return None
            made = found
        if made is None or not any(self.index in s.names() for s in made):
            return None
        # A number that is set from turn to turn counts by itself, and is no part of the place.
        return None if any(_counts(s, self.index) for s in made) else made

    def _both(self, one: Any, other: Any, number: int) -> Any:
        """One text for what stands in the first turn and in the one with a number."""
        if one == other and not self._is_renamed(one):
            return one
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            return tuple(self._both(a, b, number) for a, b in zip(one, other, strict=True))
        match one, other:
            case n.Assign(n.Name(name=name)), n.Assign(n.Name(name=again)) if name != again:
                value = self._both(one.value, other.value, number)
                if self.renamed.setdefault(again, name) != name or one.operator != other.operator:
                    raise DifferentError
                return n.Assign(one.target, value, one.operator)
            case n.Name(), n.Name() if self.renamed.get(other.name) == one.name:
                return one
            case (n.Unary("*", pointer), n.Index()) | (n.Index(), n.Unary("*", pointer)):
                zero = n.Index(pointer, n.integer(0))
                if isinstance(one, n.Unary):
                    return self._both(zero, other, number)
                return self._both(one, zero, number)
        moved = self._moved(one, other, number)
        if moved is not None:
            return moved
        match one, other:
            case n.Name(), n.Name() if one.name in self.values and other.name in self.values:
                # What does not change in other loops around this was computed before all of them.
                return self._both(self.values[one.name], self.values[other.name], number)
        if type(other) is not type(one) or not isinstance(one, n.Node):
            raise DifferentError
        kind: Any = type(one)
        branches = n.branches(kind)
        made = []
        for part in fields(kind):
            a, b = getattr(one, part.name), getattr(other, part.name)
            if part.name in branches:
                a = self._both(a, b, number)
            elif a != b:
                raise DifferentError
            made.append(a)
        return kind(*made)

    def _is_renamed(self, node: Any) -> bool:
        return isinstance(node, n.Node) and any(name in self.renamed for name in node.names())

    def _moved(self, one: Any, other: Any, number: int) -> n.Expression | None:
        """A number that moves on from turn to turn, by the index; None where it is none."""
        if not isinstance(one, n.Expression) or not isinstance(other, n.Expression):
            return None
        beside = Sum().add(other).add(one, -1)
        for _ in range(_DEEP):
            if not beside.terms:
                break
            beside = self._in_full(beside)
        if beside.terms or beside.number % number:
            return None
        by = beside.number // number
        if not by:
            return one
        found: list[Sum] = []
        starts = [self.first]
        if isinstance(self.first, n.Name) and self.first.name in self.values:
            starts.append(self.values[self.first.name])
        for start in starts:
            total = Sum().add(one).add(start, -by).add(n.Name(self.index), by)
            found += [total, self._in_full(total)]
        for one_more in self.moving:
            times, left = divmod(by, one_more.by)
            if not left:
                total = Sum().add(one).add(one_more.start, -times)
                found.append(total.add(n.Name(one_more.name), times))
        texts = [text for total in sorted(found, key=_length) if (text := total.expression())]
        return texts[0] if texts else None

    def _in_full(self, total: Sum) -> Sum:
        """A sum with what its names stand for, as far as those are sums themselves."""
        made = Sum(number=total.number)
        for node, times in total.terms.items():
            value = self.values.get(node.name) if isinstance(node, n.Name) else None
            known = isinstance(value, n.Binary | n.Unary) and value.operator in ("+", "-")
            made.add(value if known and value is not None else node, times)
        return made


def _counts(statement: n.Statement, index: str) -> bool:
    """Whether a variable is set to a sum that the index is in."""
    match statement:
        case n.Assign(n.Name(), n.Binary("+" | "-") as value, "="):
            return n.Name(index) in Sum().add(value).terms
    return False


def _length(total: Sum) -> tuple[int, int]:
    """How long a sum is as it is written, and how much of it is taken away."""
    times = total.terms.values()
    return len(times) + bool(total.number), sum(by < 0 for by in times)
