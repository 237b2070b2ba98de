"""Forward jumps out of nested statements, as conditions.

Structuring leaves a ``goto`` where a block is reached both by falling and from inside an
``if`` or loop before it. What lies between the jump and its label runs only where the jump
was not taken: that is a condition, the very ones that decided where they still hold, else a
flag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import bodies_of, written

Body = tuple[n.Statement, ...]
#: Statements that a ``break`` leaves.
_LEFT = (n.While, n.DoWhile, n.For, n.Switch)
_ENDS = (n.Return, n.Break, n.Continue, n.Goto)
_SMALL = 3


def _ends(body: Body) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, n.If) and last.otherwise:
        return _ends(last.then) and _ends(last.otherwise)
    return isinstance(last, _ENDS)


@dataclass(slots=True)
class GotoRemover:
    """Rewrites one function's body."""

    is_float: Callable[[n.Expression], bool]
    fresh: Callable[[], str]
    """Makes the name of a flag."""
    total: dict[str, int] = field(default_factory=dict)
    known: dict[int, tuple[n.Node, dict[str, int]]] = field(default_factory=dict)

    def run(self, body: Body) -> Body:
        """The body without the jumps that can be written otherwise."""
        self.total = self._labels(n.Block(body))
        return self._list(body) if self.total else body

    def _labels(self, node: n.Node) -> dict[str, int]:
        """Where a statement jumps to, and how often; found out once for each."""
        known = self.known.get(id(node))
        if known is not None:
            return known[1]
        found: dict[str, int] = {node.label: 1} if isinstance(node, n.Goto) else {}
        for body in bodies_of(node):
            for statement in body:
                for label, times in self._labels(statement).items():
                    found[label] = found.get(label, 0) + times
        self.known[id(node)] = node, found
        return found

    def _jumps(self, node: n.Node, label: str) -> bool:
        return label in self._labels(node)

    def _list(self, body: Body) -> Body:
        made = [self._inside(statement) for statement in body]
        # Later labels first: jumps over more statements hold those over fewer.
        first: dict[str, int] = {}
        position = 0
        while position < len(made):
            statement = made[position]
            if isinstance(statement, n.Label) and statement.name in first:
                start = first[statement.name]
                segment = made[start:position]
                rest = self._reaching(tuple(segment), statement.name)
                if rest is not None:
                    made[start : position + 1] = rest
                    position = start + len(rest)
                    self.total.pop(statement.name)
                    for label in {name for s in segment for name in self._labels(s)}:
                        if first[label] >= start:
                            del first[label]
                    for place in range(start, position):
                        for label in self._labels(made[place]):
                            first.setdefault(label, place)
                    continue
            for label in self._labels(statement):
                first.setdefault(label, position)
            position += 1
        return tuple(made)

    def _inside(self, statement: n.Statement) -> n.Statement:
        match statement:
            case n.If(condition=condition, then=then, otherwise=otherwise):
                return n.If(condition, self._list(then), self._list(otherwise))
            case n.While(condition=condition, body=body):
                return n.While(condition, self._list(body))
            case n.DoWhile(body=body, condition=condition):
                return n.DoWhile(self._list(body), condition)
            case n.Switch(value=value, cases=cases):
                return n.Switch(
                    value, tuple(n.Case(c.values, self._list(c.body), c.falls) for c in cases)
                )
        return statement

    def _reaching(self, segment: Body, label: str) -> list[n.Statement] | None:
        """The statements up to a label from the first that jumps to it, without the jumps."""
        if sum(self._labels(s).get(label, 0) for s in segment) != self.total[label]:
            return None
        if any(isinstance(s, n.Label) and self.total.get(s.name) for s in segment):
            return None
        flags: list[n.Statement] = []
        made = self._without(segment, label, flags)
        if made is None:
            return None
        return [*flags, *made]

    def _without(self, body: Body, label: str, flags: list[n.Statement]) -> Body | None:
        """Statements that fall out of their end where they jumped before."""
        for place, statement in enumerate(body):
            if isinstance(statement, n.Goto) and statement.label == label:
                return body[:place]
            if not self._jumps(statement, label):
                continue
            rest = body[place + 1 :]
            if isinstance(statement, n.If):
                made = self._if(statement, rest, label, flags)
            elif isinstance(statement, _LEFT):
                made = self._loop(statement, rest, label, flags)
            else:
                made = None
            return None if made is None else (*body[:place], *made)
        return body

    def _if(self, node: n.If, rest: Body, label: str, flags: list[n.Statement]) -> Body | None:
        if not rest:
            then = self._without(node.then, label, flags)
            otherwise = self._without(node.otherwise, label, flags)
            if then is None or otherwise is None:
                return None
            return self._made(node.condition, then, otherwise)
        jumps = [any(self._jumps(s, label) for s in side) for side in (node.then, node.otherwise)]
        sides = (node.then, node.otherwise)
        for taken, other in ((0, 1), (1, 0)):
            if jumps[taken] and not jumps[other] and _ends(sides[taken]):
                # Whoever comes here jumps: the rest belongs to the other side.
                first = self._without(sides[taken], label, flags)
                second = self._without((*sides[other], *rest), label, flags)
                if first is None or second is None:
                    return None
                pair = (first, second) if taken == 0 else (second, first)
                return self._made(node.condition, *pair)
        found = self._by_condition(node, rest, label, flags)
        return found if found is not None else self._by_flag(node, rest, label, flags)

    def _made(self, condition: n.Expression, then: Body, otherwise: Body) -> Body:
        if then:
            return (n.If(condition, then, otherwise),)
        if otherwise:
            return (n.If(negate(condition, self.is_float), otherwise),)
        return ()

    def _by_condition(
        self, node: n.If, rest: Body, label: str, flags: list[n.Statement]
    ) -> Body | None:
        """``if (a) { x; if (b) goto L; } rest`` as ``if (a) x; if (!a || !b) rest``."""
        if node.otherwise or not node.then:
            return None
        *inner, last = node.then
        if any(self._jumps(s, label) for s in inner) or not isinstance(last, n.If):
            return None
        if last.otherwise or last.then != (n.Goto(label),):
            return None
        changed = {name for s in inner for name in written(s)}
        if not _stable(node.condition, changed) or not _stable(last.condition, set()):
            return None
        following = self._without(rest, label, flags)
        if following is None:
            return None
        a, b = negate(node.condition, self.is_float), negate(last.condition, self.is_float)
        again = n.If(n.Binary("||", a, b), following)
        return (n.If(node.condition, tuple(inner)), again) if inner else (again,)

    def _by_flag(self, node: n.Statement, rest: Body, label: str, flags: list[n.Statement]) -> Body:
        name = self.fresh()
        flags.append(n.Assign(n.Name(name), n.Literal(False, BOOL)))
        marked = self._marked(node, label, name)
        following = self._without(rest, label, flags)
        if following is None or marked is None:
            flags.pop()
            return None  # type: ignore[return-value]
        return (marked, n.If(n.Unary("!", n.Name(name)), following)) if following else (marked,)

    def _loop(
        self, node: n.Statement, rest: Body, label: str, flags: list[n.Statement]
    ) -> Body | None:
        if not rest:
            made = self._broken(node, label)
            if made is not None:
                return (made,)
        return self._by_flag(node, rest, label, flags)

    def _broken(self, node: n.Statement, label: str) -> n.Statement | None:
        """A loop or switch that is left to where it falls out anyway: by ``break``."""

        def change(body: Body) -> Body | None:
            made: list[n.Statement] = []
            for statement in body:
                if isinstance(statement, n.Goto) and statement.label == label:
                    made.append(n.Break())
                elif isinstance(statement, n.If):
                    then, otherwise = change(statement.then), change(statement.otherwise)
                    if then is None or otherwise is None:
                        return None
                    made.append(n.If(statement.condition, then, otherwise))
                elif self._jumps(statement, label):
                    return None
                else:
                    made.append(statement)
            return tuple(made)

        if isinstance(node, n.Switch):
            return _with_cases(node, change)
        assert isinstance(node, n.While | n.DoWhile | n.For)
        body = change(node.body)
        if body is None:
            return None
        if isinstance(node, n.While):
            return n.While(node.condition, body)
        return n.DoWhile(body, node.condition) if isinstance(node, n.DoWhile) else None

    def _marked(self, node: n.Statement, label: str, flag: str) -> n.Statement | None:
        """A statement that sets a flag and falls out of its end where it jumped before."""
        mark = n.Assign(n.Name(flag), n.Literal(True, BOOL))

        def change(body: Body, inside: bool) -> Body | None:
            for place, statement in enumerate(body):
                if isinstance(statement, n.Goto) and statement.label == label:
                    return (*body[:place], mark, *((n.Break(),) if inside else ()))
                if not self._jumps(statement, label):
                    continue
                rest = body[place + 1 :]
                if isinstance(statement, n.If):
                    then, otherwise = (
                        change(statement.then, inside),
                        change(statement.otherwise, inside),
                    )
                    if then is None or otherwise is None:
                        return None
                    made: n.Statement | None = n.If(statement.condition, then, otherwise)
                    following = change(rest, inside)
                    if following is None:
                        return None
                    if inside or not following:
                        return (*body[:place], made, *following)  # type: ignore[arg-type]
                    guard = n.If(n.Unary("!", n.Name(flag)), following)
                    return (*body[:place], made, guard)  # type: ignore[arg-type]
                if isinstance(statement, _LEFT):
                    made = self._marked(statement, label, flag)
                    following = change(rest, inside)
                    if made is None or following is None:
                        return None
                    if inside:
                        leave = n.If(n.Name(flag), (n.Break(),))
                        return (*body[:place], made, leave, *following)
                    if not following:
                        return (*body[:place], made)
                    guard = n.If(n.Unary("!", n.Name(flag)), following)
                    return (*body[:place], made, guard)
                return None
            return body

        if isinstance(node, n.If):
            then, otherwise = change(node.then, False), change(node.otherwise, False)
            return (
                None if then is None or otherwise is None else n.If(node.condition, then, otherwise)
            )
        if isinstance(node, n.While):
            body = change(node.body, True)
            return None if body is None else n.While(node.condition, body)
        if isinstance(node, n.DoWhile):
            body = change(node.body, True)
            return None if body is None else n.DoWhile(body, node.condition)
        if isinstance(node, n.Switch):
            return _with_cases(node, lambda body: change(body, True))
        return None


def _with_cases(node: n.Switch, change: Callable[[Body], Body | None]) -> n.Switch | None:
    """A switch with the statements of all its cases changed; None where those of one are not."""
    cases: list[n.Case] = []
    for case in node.cases:
        body = change(case.body)
        if body is None or case.falls:
            return None
        cases.append(n.Case(case.values, body))
    return n.Switch(node.value, tuple(cases))


def _stable(condition: n.Expression, changed: set[str]) -> bool:
    """Whether a condition still says the same later: no memory, nothing that changes."""
    for part in condition.walk():
        if isinstance(part, n.Call | n.Index):
            return False
        if isinstance(part, n.Unary) and part.operator == "*":
            return False
        if isinstance(part, n.Name) and part.name in changed:
            return False
    return True
