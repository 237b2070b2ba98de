"""Where variables are declared, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Type
from ptxkit.decompiler.lift.rewrite import bodies_of, statements_of

Body = tuple[n.Statement, ...]


def _names(node: n.Node) -> Iterator[str]:
    for part in node.walk():
        if isinstance(part, n.Name):
            yield part.name


_NOTHING, _SETS, _READS = 0, 1, 2


class _Counts:
    """How often names occur in statements, counted once for each."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[n.Node, Counter[str]]] = {}
        self.bodies: dict[int, tuple[Body, Counter[str]]] = {}
        self.found: dict[int, tuple[Body, dict[str, list[int]]]] = {}

    def of(self, node: n.Node) -> Counter[str]:
        """The names in a statement or expression."""
        found = self.known.get(id(node))
        if found is not None:
            return found[1]
        total: Counter[str] = Counter()
        bodies = bodies_of(node)
        if bodies:
            for part in (getattr(node, name, None) for name in _PARTS):
                if isinstance(part, n.Node):
                    total.update(_names(part))
            for body in bodies:
                total.update(self.inside(body))
        else:
            total.update(_names(node))
        self.known[id(node)] = (node, total)
        return total

    def inside(self, body: Body) -> Counter[str]:
        """The names in all statements of a body."""
        found = self.bodies.get(id(body))
        if found is None:
            total: Counter[str] = Counter()
            for statement in body:
                total.update(self.of(statement))
            found = self.bodies[id(body)] = (body, total)
        return found[1]

    def places(self, body: Body) -> dict[str, list[int]]:
        """For each name the statements of a body with it, up to one that leaves the body."""
        found = self.found.get(id(body))
        if found is None:
            where: dict[str, list[int]] = {}
            for place, statement in enumerate(body):
                for name in self.of(statement):
                    where.setdefault(name, []).append(place)
                if isinstance(statement, n.Return | n.Break | n.Continue | n.Goto):
                    break
            found = self.found[id(body)] = (body, where)
        return found[1]


_PARTS = ("condition", "value", "start", "step")


class Declarer:
    """Declares each variable in the innermost block that holds all of its uses."""

    def __init__(self, types: Mapping[str, Type], known: set[str]) -> None:
        self.types = types
        self.known = known
        """Names that are declared elsewhere: parameters, variables of the module."""
        self.counts = _Counts()

    def run(self, body: Body) -> Body:
        """The body with its declarations."""
        own = {name for s in body for name in _names(s) if name in self.types} - self.known
        already = {s.name for s in statements_of(body) if isinstance(s, n.Declare)}
        if any(isinstance(s, n.Goto) for s in statements_of(body)):
            # Nothing may jump over an initial value: all are declared before.
            first = [
                n.Declare(self.types[name], name) for name in sorted(own - already, key=_order)
            ]
            return (*first, *body)
        return self._block(body, own - already)

    def _block(self, body: Body, variables: set[str]) -> Body:
        """Declare the variables whose uses are all in here."""
        where: dict[str, list[int]] = {}
        for place, statement in enumerate(body):
            for name in self.counts.of(statement).keys() & variables:
                where.setdefault(name, []).append(place)
        inner: dict[int, set[str]] = {}
        here: dict[int, list[str]] = {}
        for name, places in where.items():
            first = body[places[0]]
            if len(places) == 1 and self._fits_inside(first, name):
                inner.setdefault(places[0], set()).add(name)
            else:
                here.setdefault(places[0], []).append(name)
        result: list[n.Statement] = []
        for place, statement in enumerate(body):
            names = sorted(here.get(place, ()), key=_order)
            match statement:
                case n.Assign(target=n.Name(name=name), value=value, operator="=") \
                        if name in names and name not in set(_names(value)):  # fmt: skip
                    names.remove(name)
                    statement = n.Declare(self.types[name], name, value)
            if isinstance(statement, n.For) and isinstance(statement.start, n.Assign):
                # for (int i = 0; ...) where nobody looks at i afterwards.
                target = statement.start.target
                if (
                    isinstance(target, n.Name)
                    and target.name in names
                    and len(where[target.name]) == 1
                    and target.name not in set(_names(statement.start.value))
                ):
                    names.remove(target.name)
                    start = n.Declare(self.types[target.name], target.name, statement.start.value)
                    statement = replace(statement, start=start)
            result += [n.Declare(self.types[name], name) for name in names]
            if place in inner:
                statement = self._inside(statement, inner[place])
            result.append(statement)
        return tuple(result)

    def _fits_inside(self, statement: n.Statement, name: str) -> bool:
        """Whether all uses are in one of a statement's bodies, and no loop carries it."""
        holding = [
            (body, count)
            for body in bodies_of(statement)
            if (count := self.counts.inside(body).get(name, 0))
        ]
        if len(holding) != 1 or holding[0][1] != self.counts.of(statement)[name]:
            return False
        if isinstance(statement, n.If | n.Switch | n.Block):
            return True
        # In a loop: the value must not come from the turn before.
        return self._look(holding[0][0], name) != _READS

    def _look(self, body: Body, name: str) -> int:
        """What happens first to a variable: it is read, set on every way, or neither."""
        for place in self.counts.places(body).get(name, ()):
            found = self._first(body[place], name)
            if found != _NOTHING:
                return found
        return _NOTHING

    def _first(self, statement: n.Statement, name: str) -> int:
        if name not in self.counts.of(statement):
            return _NOTHING
        match statement:
            case n.Assign(target=n.Name(name=target), value=value, operator="=") if target == name:
                return _READS if name in set(_names(value)) else _SETS
            case n.Asm(outputs=outputs, inputs=inputs):
                reads = {x for o in inputs for x in _names(o.expression)}
                plain = {
                    o.expression.name
                    for o in outputs
                    if isinstance(o.expression, n.Name) and o.constraint[0] == "="
                }
                return _SETS if name in plain and name not in reads else _READS
            case n.If(condition=condition, then=then, otherwise=otherwise):
                if name in set(_names(condition)):
                    return _READS
                both = self._look(then, name), self._look(otherwise, name)
                if _READS in both:
                    return _READS
                # Set on one side only: later it may be read on the way of the other.
                return _SETS if both == (_SETS, _SETS) else _NOTHING
            case n.DoWhile(body=body, condition=condition):
                found = self._look(body, name)
                if found == _NOTHING and name in set(_names(condition)):
                    return _READS
                return found if not _leaves(body) or found == _READS else _NOTHING
            case n.For(start=start, condition=condition, step=step, body=body):
                if start is not None and self._first(start, name) != _NOTHING:
                    return self._first(start, name)
                parts = [p for p in (condition, step) if p is not None]
                if any(name in set(_names(p)) for p in parts) or self._look(body, name) == _READS:
                    return _READS
                return _NOTHING
            case n.While(condition=condition, body=body):
                if name in set(_names(condition)) or self._look(body, name) == _READS:
                    return _READS
                return _NOTHING
            case n.Block(body=body):
                return self._look(body, name)
        return _READS

    def _inside(self, statement: n.Statement, names: set[str]) -> n.Statement:
        match statement:
            case n.If(condition=condition, then=then, otherwise=otherwise):
                return n.If(condition, self._chosen(then, names), self._chosen(otherwise, names))
            case n.While(condition=condition, body=body):
                return n.While(condition, self._chosen(body, names))
            case n.For(body=body):
                return replace(statement, body=self._chosen(body, names))
            case n.DoWhile(body=body, condition=condition):
                return n.DoWhile(self._chosen(body, names), condition)
            case n.Block(body=body):
                return n.Block(self._chosen(body, names))
            case n.Switch(value=value, cases=cases):
                return n.Switch(
                    value,
                    tuple(n.Case(c.values, self._chosen(c.body, names), c.falls) for c in cases),
                )
        return statement

    def _chosen(self, body: Body, names: set[str]) -> Body:
        return self._block(body, self.counts.inside(body).keys() & names)


def _leaves(body: Body) -> bool:
    """Whether control may leave a loop in its middle."""
    return any(isinstance(s, n.Break | n.Continue | n.Goto) for s in statements_of(body))


def _order(name: str) -> tuple[str, int]:
    digits = name.lstrip("abcdefghijklmnopqrstuvwxyz_")
    return name[: len(name) - len(digits)], int(digits) if digits.isdigit() else 0
