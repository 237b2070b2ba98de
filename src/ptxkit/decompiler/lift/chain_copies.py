"""Copies of a loop's turn that stand inside one another, as the long sum that the loop adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import Scalar, Type
from ptxkit.decompiler.lift.chains import OPERATORS, Computed, chain_of, reads_of
from ptxkit.decompiler.lift.grids import alike, spelled_term, window
from ptxkit.decompiler.lift.many_turns import with_instead
from ptxkit.decompiler.lift.rewrite import bottom_up
from ptxkit.decompiler.lift.runs import LEAST
from ptxkit.decompiler.lift.uses import Uses

#: A loop is worth it from so many terms on, if none is of an array for loops.
LEAST_TERMS = 4
#: And for a sum inside of something else, which is given a name for that.
_LEAST_PART = 8
#: And for whole numbers that nothing was computed of before, from the first of them on.
_LEAST_UNNAMED = 6


@dataclass(slots=True)
class ChainCopies:
    """Rolls up the long sums of one function's body."""

    uses: Uses
    values: Mapping[str, n.Expression]
    """Of variables that are set once."""
    known: Mapping[str, Type] | None = None
    """The types of arrays, too."""
    arrays: frozenset[str] = frozenset()
    """Arrays that are nothing but what loops look into."""
    spelled: dict[tuple[str, int], n.Node] = field(default_factory=dict)
    facts: dict[int, tuple[n.Statement, frozenset[str] | None]] = field(default_factory=dict)

    def roll_chain(self, body: list[n.Statement], place: int, tried: set[int]) -> bool:
        """Roll up the sum that a statement computes, its terms written out before it or in it."""
        statement, uses = body[place], self.uses
        if not isinstance(statement, n.Assign) or statement.operator not in ("=", "+="):
            return False
        target, value = statement.target, statement.value
        if statement.operator == "+=":
            value = n.Binary("+", target, value)
        computed = Computed.before(body, place, value, uses.is_used_once, self._reads_of)
        found = chain_of(value, computed)
        least = LEAST_TERMS if self.arrays.isdisjoint(value.names()) else LEAST
        if found is None or len(found.terms) < least:
            return False
        tried.update(id(body[k]) for k in computed.used())
        type = infer(value, self.known or uses.types)
        if isinstance(type, Scalar) and type.is_integer:
            found = found.from_nothing(LEAST_TERMS) or found
        first, grid = found.first, window(found.terms, self.values, self.spelled)
        rolled = found.rolled(least) if grid is None else None
        if rolled is None and grid is None and len(found.terms) >= _LEAST_PART:
            # What is used for something else, too, has a name.
            spelled = partial(spelled_term, values=self.values, known=self.spelled)
            if alike([spelled(term) for term in found.terms[-LEAST:]]):
                terms = [spelled(term) for term in found.terms]
                rolled = replace(found, terms=terms).rolled(_LEAST_PART)
        if grid is not None:
            text = grid.text
        elif rolled is not None:
            first, text, counted = rolled
        else:
            return False
        # What is stored is added up in what was computed for it before.
        name = target if isinstance(target, n.Name) else found.before
        if name is None and len(found.terms) >= _LEAST_UNNAMED and first == n.integer(0):
            name = n.Name(uses.counter("sum"))
            uses.types[name.name] = type
        if name is None or any(part == name for part in text.walk()):
            return False
        kind = found.kind
        own = name

        def step(term: n.Expression) -> n.Assign:
            if kind in OPERATORS:
                return n.Assign(own, term, f"{kind}=")
            return n.Assign(own, n.Call(kind, (own, term)))

        made: list[n.Statement] = [] if first == name else [n.Assign(name, first)]
        if grid is not None:
            made.append(grid.loops(uses.counter("dy"), uses.counter("dx"), step))
        else:
            made.append(counted.loop(uses.index(counted), (step(text),)))
        if name != target:
            made.append(n.Assign(target, name))
        uses.replace(body, place, 1, made)
        for gone in sorted(computed.used(), reverse=True):
            uses.replace(body, gone, 1, [])
        return True

    def roll_part(self, body: list[n.Statement], place: int) -> bool:
        """Roll up a sum that is a part of what a statement computes."""
        statement, uses = body[place], self.uses
        if not isinstance(statement, n.Assign) or not isinstance(statement.value, n.Binary):
            return False
        if statement.value.operator == "+":
            return False  # all of it is the sum
        for part in (statement.value.left, statement.value.right):
            if not isinstance(part, n.Binary) or part.operator != "+":
                continue
            computed = Computed.before(body, place, part, uses.is_used_once, self._reads_of)
            found = chain_of(part, computed)
            if found is None or found.before is None or len(found.terms) < _LEAST_PART:
                continue
            name = f"{found.before.name}_"
            uses.types[name] = uses.types[found.before.name]
            changed = bottom_up(statement, partial(with_instead, old=part, new=n.Name(name)))
            uses.replace(body, place, 1, [n.Assign(n.Name(name), part), changed])
            if self.roll_chain(body, place, set()):
                return True
            uses.replace(body, place, 2, [statement])
        return False

    def without_unread(self, body: list[n.Statement]) -> None:
        """Leave out what was computed for terms that a loop computes by itself."""
        for place in range(len(body) - 1, -1, -1):
            match body[place]:
                case n.Assign(n.Name(name=name)) if not self.uses.reads[name]:
                    if self._reads_of(body[place]) is not None:
                        self.uses.replace(body, place, 1, [])

    def _reads_of(self, statement: n.Statement) -> frozenset[str] | None:
        known = self.facts.get(id(statement))
        if known is None:
            # The statement is kept, so that no other one is taken for it.
            known = self.facts[id(statement)] = statement, reads_of(statement)
        return known[1]
