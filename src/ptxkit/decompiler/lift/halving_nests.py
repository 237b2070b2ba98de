"""Loops over halves of a number that the compiler wrote out, though it did not know the number.

``#pragma unroll`` makes ``for (s = n / 2; s > 0; s /= 2)`` as many copies as ``n`` has bits, each
inside of the one before: ``if (n >= 2) { ...; if (n >> 2 != 0) { ...; if (n >> 3 != 0) ... } }``.
Copies are compared with each value by the statement of its copy that computed it, since compilers
keep what a turn hands on now in one variable, now in another. As in `roll` nothing is proved here:
the verifier decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, read, rebuilt, rebuilt_lists, written

Body = tuple[n.Statement, ...]
#: So many copies are a loop.
_LEAST = 4
_NOW, _NEXT = n.Name("%now"), n.Name("%next")
_JUMPS = n.Break, n.Continue, n.Goto, n.Label, n.Return, n.Asm, n.Declare


def with_halving_loops(body: Body, types: dict[str, Type], fresh: Callable[[str], str]) -> Body:
    """The body with such nests as loops.

    >>> from ptxkit.cuda import print_statements, read
    >>> nest = ""
    >>> for k in (5, 4, 3, 2):
    ...     nest = f"(if (!= (>> n {k}) 0) (then (= v (+ v (call f v (>> n {k})))) {nest}))"
    >>> nest = read(f"(if (>= n 2) (then (= v (+ v (call f v (>> n 1)))) {nest}))")
    >>> print(print_statements(with_halving_loops((nest,), {}, lambda wish: "s")), end="")
    #pragma unroll
    for (s = n / 2; s > 0; s >>= 1) v = v + f(v, s);
    """

    def changed(body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            turn = _turn_of(statement, made) if isinstance(statement, n.If) else None
            if turn is None:
                made.append(rebuilt_lists(statement, changed))
                continue
            number, own, others = turn
            name = fresh("stride")
            types[name] = INT
            loop = _loop(number, name, own)
            made.append(loop if others is None else n.If(others, (loop,)))
        return tuple(made)

    return changed(body)


def _loop(number: n.Expression, name: str, turn: Body) -> n.Statement:
    counter = n.Name(name)

    def counted(part: n.Node) -> n.Node:
        return counter if part == _NOW else part

    return n.For(
        n.Assign(counter, n.Binary("/", number, n.integer(2))),
        n.Binary(">", counter, n.integer(0)),
        n.Assign(counter, n.integer(1), ">>="),
        tuple(bottom_up(statement, counted) for statement in turn),
        unroll=0,
    )


@dataclass(slots=True)
class _Turn:
    """One copy, with names for what its statements compute that every copy has."""

    number: n.Expression
    """What is halved."""
    shift: int
    """How often it was halved in this copy."""
    values: dict[str, n.Expression]
    """What variables hold: of another copy at first, and at the end of this one."""
    made: list[n.Node] = field(default_factory=list)
    """What its statements are, by those names."""
    text: list[n.Statement] = field(default_factory=list)
    """The statements themselves, but for those that halve the number."""

    def take(self, statement: n.Statement) -> bool:
        """Add a statement; whether it is one that a turn may have."""
        match statement:
            case n.Assign(n.Name(name=name), value, operator):
                if operator != "=":
                    value = n.Binary(operator[:-1], n.Name(name), value)
                value = cast(n.Expression, self.known(value))
                if isinstance(value, n.Name):
                    self.values[name] = value
                    if value not in (_NOW, _NEXT):
                        self.text.append(statement)
                    return True
                self.values[name] = n.Name(f"%{len(self.made)}")
                self.made.append(value)
            case _:
                if any(isinstance(p, _JUMPS) for p in statement.walk()) or any(written(statement)):
                    return False
                self.made.append(self.known(statement))
        self.text.append(statement)
        return True

    def known(self, node: n.Node) -> n.Node:
        """Something with values instead of variables."""
        halves = self.halves(node)
        if halves is not None:
            return halves
        if isinstance(node, n.Name):
            return self.values.get(node.name, node)
        return rebuilt(node, self.known)

    def halves(self, node: n.Node) -> n.Name | None:
        """How far a turn goes, where that is what something is; or how far the next one goes."""
        match node:
            case n.Binary(">>", number, n.Literal(value=int() as shift)) if (
                _plain(number) == self.number
            ):
                return {self.shift: _NOW, self.shift + 1: _NEXT}.get(shift)
        return None

    def counted(self) -> Body:
        """Its statements with a name for how far it goes."""
        names = {name for name, value in self.values.items() if value == _NOW}

        def change(node: n.Node) -> n.Node:
            if (isinstance(node, n.Name) and node.name in names) or self.halves(node) == _NOW:
                return _NOW
            return rebuilt(node, change)

        return tuple(change(statement) for statement in self.text)  # type: ignore[misc]


def _turn_of(
    nest: n.If, before: list[n.Statement]
) -> tuple[n.Expression, Body, n.Expression | None] | None:
    """The number whose halves a nest goes over, one turn, and what else is asked before.

    None where it is none such. Half of the number may be in a variable that was set ``before``.
    """
    half = _half(before)
    start = None if nest.otherwise or not nest.then else _start(bottom_up(nest.condition, half))
    if start is None:
        return None
    number, others = start
    turns: list[_Turn] = []
    names = (s.target.name for s in before if isinstance(s, n.Assign)
             and isinstance(s.target, n.Name) and half(s.target) != s.target)  # fmt: skip
    values: dict[str, n.Expression] = dict.fromkeys(names, _NOW)
    inside: n.If | None = nest
    while inside is not None:
        turn = _Turn(_plain(number), len(turns) + 1, values)
        *before, last = inside.then
        deeper = isinstance(last, n.If) and not last.otherwise
        if not all(turn.take(s) for s in (before if deeper else inside.then)):
            return None
        inside = None
        if deeper and isinstance(last, n.If):
            if turn.known(last.condition) == n.Binary("!=", _NEXT, _zero(last.condition)):
                inside = last
            elif not turn.take(last):
                return None
        turns.append(turn)
        values = {name: _older(value) for name, value in turn.values.items()}
    own = turns[0]
    if len(turns) < _LEAST or number.names() & own.values.keys():
        return None
    # What a turn reads of the one before is what a variable holds at the end of each.
    asked = {p.name for value in own.made for p in value.walk() if isinstance(p, n.Name)}
    handed = {name: v for name, v in own.values.items() if name in asked and v not in (_NOW, _NEXT)}
    olds = {_older(value): n.Name(name) for name, value in handed.items()}

    def outside(node: n.Node) -> n.Node:
        return olds.get(node, node) if isinstance(node, n.Name) else node

    for turn in turns[1:]:
        if [bottom_up(value, outside) for value in turn.made] != own.made or any(
            turn.values.get(name) != value for name, value in handed.items()
        ):
            return None
    return number, _contracted(own.counted()), others


def _half(before: list[n.Statement]) -> Callable[[Any], Any]:
    """What puts the half of a number in the place of the variable that was set to it last."""
    match before[-1:]:
        case [n.Assign(n.Name() as name, n.Binary(">>", _, n.Literal(value=1)) as half, "=")]:
            return lambda node: half if node == name else node
    return lambda node: node


def _start(condition: n.Expression) -> tuple[n.Expression, n.Expression | None] | None:
    """The number of which half has to be more than 0, and what has to hold beside that."""
    match condition:
        case n.Binary(">=", number, n.Literal(value=2)) | n.Binary(">", number, n.Literal(value=1)):
            return number, None
        case n.Binary("!=" | ">", n.Binary(">>", number, n.Literal(value=1)), n.Literal(value=0)):
            return number, None
        case n.Binary("&&", left, right):
            for one, other in ((left, right), (right, left)):
                found = _start(one)
                if found is not None:
                    number, more = found
                    return number, other if more is None else n.Binary("&&", more, other)
    return None


def _contracted(turn: Body) -> Body:
    """A turn whose products may be added up at once, if it is the next one that adds to them.

    Between turns no compiler puts a product and a sum together, but for copies it could have.
    """
    made = [*turn]
    for place, statement in enumerate(turn):
        match statement:
            case n.Assign(n.Name(name=name), n.Call("__fmul_rn" | "__dmul_rn", (one, two)), "="):
                if not any(name in read(s) for s in turn[place + 1 :]):
                    made[place] = replace(statement, value=n.Binary("*", one, two))
    return tuple(made)


def _plain(number: n.Expression) -> n.Expression:
    """A number without what says whether it has a sign."""
    while isinstance(number, n.Cast):
        number = number.operand
    return number


def _zero(condition: n.Expression) -> n.Expression:
    return condition.right if isinstance(condition, n.Binary) else condition


def _older(value: n.Expression) -> n.Expression:
    """A value of one turn, in the next one."""
    if value == _NEXT:
        return _NOW
    return n.Name(f"%{value.name}") if isinstance(value, n.Name) and value.name[0] == "%" else value
