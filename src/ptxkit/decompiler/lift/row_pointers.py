"""Pointers to rows: ``row = x + i * n``, and then ``row[j]``, where PTX adds in two steps.

``x[i * n + j]`` adds in 32 bits and makes the sum as wide as an address. Where each part was made
so wide, there was a pointer for the first step; where that step stays the same in a loop, it is
written as one again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Array, Pointer, Type
from ptxkit.decompiler.lift.rewrite import bodies_of, bottom_up, terms_of, written

Body = tuple[n.Statement, ...]
Steps = Mapping[n.Index, tuple[n.Expression, ...]]
_LOOPS = (n.For, n.While, n.DoWhile)
_BUILTIN = frozenset("threadIdx blockIdx blockDim gridDim warpSize".split())


def with_row_pointers(
    body: Body,
    steps: Steps,
    types: dict[str, Type],
    known: Collection[str],
    *,
    each: bool = False,
) -> Body:
    """A function's body with pointers to rows.

    ``steps`` are the elements whose addresses take several steps, ``types`` those of the
    variables, and ``known`` the names of what is there from the start. With ``each``, elements
    that are in no such row are reached step by step, too: ``*(x + i * n + j)``.
    """
    if not steps:
        return body
    rows = _Rows(dict(steps), types)
    rows.find_others(body)
    rows.survey(body)
    if rows.wanted:
        body = rows.placed(body, {*known, *_BUILTIN})
    return tuple(bottom_up(s, rows.step_by_step) for s in body) if each else body


_Row = tuple[str, tuple[n.Expression, ...]]
"""A pointer, and the steps from it."""


_Loop = tuple[set[str], bool]
"""What a loop sets, and whether it is one over an array of a thread's own."""


@dataclass(slots=True)
class _Rows:
    """The rows of one function."""

    steps: dict[n.Index, tuple[n.Expression, ...]]
    types: dict[str, Type]
    changing: set[str] = field(default_factory=set)
    """Variables that are set more than once."""
    wanted: list[_Row] = field(default_factory=list)

    def find_others(self, body: Body) -> None:
        """Find elements that were put together, of loops that were written out: by their steps."""
        known = {(_base(part), step) for part, steps in self.steps.items() for step in steps}
        for statement in body:
            for part in statement.walk():
                match part:
                    case n.Index(n.Name(name=base), n.Binary("+") as index):
                        if part in self.steps:
                            continue
                        steps = terms_of(index)
                        if any((base, step) in known for step in steps):
                            self.steps[part] = tuple(steps)

    def survey(self, body: Body) -> None:
        """Find the rows that are worth a pointer."""
        sets: dict[str, int] = defaultdict(int)
        for statement in body:
            for name in written(statement):
                sets[name] += 1
        self.changing = {name for name, times in sets.items() if times > 1}
        nodes = [p for s in body for p in s.walk()]
        self.changing |= {p.name for p in nodes if isinstance(p, n.Declare) and p.value is None}
        # What a loop declares and counts with stays the same in a turn.
        self.changing -= {
            p.start.name for p in nodes
            if isinstance(p, n.For) and isinstance(p.start, n.Declare)
            and not any(p.start.name in set(written(s)) for s in p.body)
        }  # fmt: skip
        found: dict[_Row, None] = {}
        for part, loops in self._elements(body, ()):
            base = _base(part)
            if base in self.changing:
                continue
            # Outside of loops compilers compute one address from another, too. In the inner one of
            # two, everything but what it counts was known before.
            long = [sets for sets, is_short in loops if not is_short]
            for inside in (*long[-1:], *(sets for sets, _ in loops)):
                row = tuple(step for step in self.steps[part]
                            if self._stays(step) and inside.isdisjoint(step.names()))  # fmt: skip
                if row and len(row) < len(self.steps[part]):
                    found[base, row] = None
                    break
        # The longest first: it takes the elements of those that are a part of it.
        self.wanted = sorted(found, key=lambda row: -len(row[1]))

    def _elements(
        self, body: Body, loops: tuple[_Loop, ...]
    ) -> Iterator[tuple[n.Index, tuple[_Loop, ...]]]:
        """Elements that take several steps, and the loops around them."""
        for statement in body:
            own = loops
            if isinstance(statement, _LOOPS):
                own = (*loops, (set(written(statement)), self._is_short(statement)))
            bodies = bodies_of(statement)
            for inner in bodies:
                yield from self._elements(inner, own)
            heads: list[n.Node] = [statement]
            if bodies:
                heads = [p for p in statement.children() if not any(p in b for b in bodies)]
            for head in heads:
                for part in head.walk():
                    if isinstance(part, n.Index) and part in self.steps:
                        yield part, own

    def _is_short(self, loop: n.Statement) -> bool:
        """Whether a loop is over an array of a thread's own: compilers write it out first."""
        match loop:
            case n.For(start=n.Declare(name=counter)):
                return any(
                    isinstance(part, n.Index) and isinstance(part.base, n.Name)
                    and isinstance(self.types.get(part.base.name), Array)
                    and counter in part.index.names()
                    for part in loop.walk()
                )  # fmt: skip
        return False

    def _stays(self, step: n.Expression) -> bool:
        """Whether a step is a number that is computed from what never changes."""
        if isinstance(step, n.Literal):
            return False
        return not any(
            isinstance(part, n.Index | n.Call)
            or (isinstance(part, n.Unary) and part.operator in "*&")
            or (isinstance(part, n.Name) and part.name in self.changing)
            for part in step.walk()
        )

    def placed(self, body: Body, known: set[str]) -> Body:
        """A list of statements with the pointers that belong there, or further inside."""
        for row in list(self.wanted):
            base, steps = row
            users = [k for k, statement in enumerate(body) if self._uses(statement, row)]
            if not users:
                continue
            declared = {s.name for s in body[: users[0]] if isinstance(s, n.Declare)}
            needed = {name for step in steps for name in step.names()} | {base}
            first = body[users[0]]
            if not needed <= known | declared or (len(users) == 1 and not self._holds(first, row)):
                continue
            self.wanted.remove(row)
            name = self._fresh()
            type = self.types[base]
            assert isinstance(type, Pointer)
            type = self.types[name] = replace(type, restrict=False)
            start = n.Declare(type, name, _total((n.Name(base), *steps)))
            use = partial(self._stepped, row=row, name=name)
            made = (bottom_up(s, use) for s in body[users[0] :])
            body = (*body[: users[0]], start, *made)
        if not self.wanted:
            return body
        result: list[n.Statement] = []
        seen = set(known)
        for statement in body:
            result.append(self._inside(statement, seen))
            if isinstance(statement, n.Declare):
                seen.add(statement.name)
        return tuple(result)

    def _inside(self, statement: n.Statement, known: set[str]) -> n.Statement:
        if not bodies_of(statement):
            return statement
        start = getattr(statement, "start", None)
        own = known | ({start.name} if isinstance(start, n.Declare) else set())
        match statement:
            case n.If():
                return replace(
                    statement,
                    then=self.placed(statement.then, own),
                    otherwise=self.placed(statement.otherwise, own),
                )
            case n.For() | n.While() | n.DoWhile() | n.Block():
                return replace(statement, body=self.placed(statement.body, own))
        return statement

    def _holds(self, statement: n.Statement, row: _Row) -> bool:
        """Whether the one statement that a row is for is a loop, or has nothing to put it into."""
        return isinstance(statement, _LOOPS) or not bodies_of(statement)

    def _uses(self, statement: n.Statement, row: _Row) -> bool:
        return any(
            isinstance(part, n.Index) and self._rest(part, row) is not None
            for part in statement.walk()
        )

    def _rest(self, part: n.Index, row: _Row) -> list[n.Expression] | None:
        """The steps of an element from a row on; None where it is not of that row."""
        base, steps = row
        if part not in self.steps or _base(part) != base:
            return None
        left = list(self.steps[part])
        for step in steps:
            if step not in left:
                return None
            left.remove(step)
        return left or None

    def _stepped(self, part: n.Node, row: _Row, name: str) -> n.Node:
        rest = self._rest(part, row) if isinstance(part, n.Index) else None
        return part if rest is None else n.Index(n.Name(name), _total(rest))

    def step_by_step(self, part: n.Node) -> n.Node:
        """An element as what a sum of a pointer and its steps points to."""
        match part:
            case n.Index() if part in self.steps:
                return n.Unary("*", _total((part.base, *self.steps[part])))
            case n.Unary(operator="&", operand=n.Unary(operator="*", operand=pointer)):
                return pointer
        return part

    def _fresh(self) -> str:
        return next(wish for k in count() if (wish := f"row{k or ''}") not in self.types)


def _base(part: n.Index) -> str:
    assert isinstance(part.base, n.Name)
    return part.base.name


def _total(steps: Collection[n.Expression]) -> n.Expression:
    first, *rest = steps
    for step in rest:
        match step:
            case n.Literal(value=int() as number) if number < 0:
                first = n.Binary("-", first, n.integer(-number))
            case _:
                first = n.Binary("+", first, step)
    return first
