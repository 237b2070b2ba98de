"""The last look at statements: compound assignments, results returned, ``for`` loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.guards import CONTRARY
from ptxkit.decompiler.lift.rewrite import read, rebuilt, statements_of, written

Body = tuple[n.Statement, ...]
_COMPOUND = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))
_COMMUTES = frozenset(("+", "*", "&", "|", "^"))
#: How many statements back it is looked for what a variable was given last.
_BACK = 12


def _joined(first: bool, condition: n.Expression, value: n.Expression) -> n.Expression:
    """What is ``first``, or where a condition holds ``value``."""
    if not first:
        return n.Binary("&&", condition, value)
    match condition:
        case n.Unary("!", inner):
            return n.Binary("||", inner, value)
        case n.Binary(operator, left, right) if operator in _OPPOSITE:
            return n.Binary("||", n.Binary(_OPPOSITE[operator], left, right), value)
    return n.Binary("||", n.Unary("!", condition), value)


#: Calls that cost as little as a comparison.
_CHEAP = frozenset(("min", "max"))
_DIVISIONS = frozenset("/%")
#: Of comparisons that hold for numbers that are none, too.
_OPPOSITE = {"==": "!=", "!=": "=="}


class Polisher:
    """Rewrites one function's body."""

    def __init__(self, is_float: Callable[[n.Expression], bool]) -> None:
        self.is_float = is_float
        self.reads: Counter[str] = Counter()
        self.total: Counter[str] = Counter()

    def run(self, body: Body) -> Body:
        """The body as people would write it."""
        self.reads = Counter(name for statement in body for name in read(statement))
        self.total = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
        return self._loops(self._list(body))

    # ---- statements ----------------------------------------------------------------------

    def _list(self, body: Body) -> Body:
        made: list[n.Statement] = []
        for statement in body:
            one = self._statement(statement)
            previous = made[-1] if made else None
            match previous, one:
                case (
                    n.Assign(target=n.Name(name=name), value=value, operator="="),
                    n.Return(value=n.Name(name=returned)),
                ) if name == returned:
                    made[-1] = n.Return(value)
                    continue
                case (
                    n.Assign(n.Name(name=name), n.Literal(value=bool() as first), "="),
                    n.If(condition, (n.Assign(n.Name(name=again), value, "="),), ()),
                ) if name == again and name not in _names(condition) | _names(value):
                    # x = false; if (a) x = b: that is a && b.
                    made[-1] = n.Assign(n.Name(name), _joined(first, condition, value))
                    continue
            made.append(one)
        return tuple(made)

    def _statement(self, node: n.Statement) -> n.Statement:
        match node:
            case n.Assign(operator="="):
                return compound(node)
            case n.If(condition=condition, then=then, otherwise=otherwise):
                return n.If(condition, self._list(then), self._list(otherwise))
            case n.While(condition=condition, body=body):
                return n.While(condition, self._list(body))
            case n.DoWhile(body=body, condition=condition):
                return self._asked_at_the_end(self._list(body), condition)
            case n.For(body=body):
                return replace(node, body=self._list(body))
            case n.Switch(value=value, cases=cases):
                return n.Switch(
                    value, tuple(n.Case(c.values, self._list(c.body), c.falls) for c in cases)
                )
        return node

    def _asked_at_the_end(self, body: Body, condition: n.Expression) -> n.DoWhile:
        """A loop whose last statement computes what it asks for, and nobody else, asks for that."""
        name = condition.operand if isinstance(condition, n.Unary) else condition
        match name, body:
            case n.Name(name=asked), (*rest, n.Assign(n.Name(name=last), value, "=")) if (
                asked == last
                and self.reads[asked] == 1
                and not any(asked in written(one) for one in rest)
                # What is declared in the body is not known behind it.
                and not {s.name for s in rest if isinstance(s, n.Declare)} & set(read(body[-1]))
            ):
                if isinstance(condition, n.Unary):
                    value = n.Unary(condition.operator, value)
                return n.DoWhile(tuple(rest), value)
        return n.DoWhile(body, condition)

    # ---- loops ---------------------------------------------------------------------------

    def _loops(self, body: Body) -> Body:
        """``i = a; if (i < n) do { ...; i += d; } while (i < n);`` as ``for``."""
        made: list[n.Statement] = []
        for statement in body:
            made.append(self._inner(statement))
            self._fold(made)
        return tuple(made)

    def _inner(self, node: n.Statement) -> n.Statement:
        match node:
            case n.If(condition=condition, then=then, otherwise=otherwise):
                return n.If(condition, self._loops(then), self._loops(otherwise))
            case n.While(condition=condition, body=body):
                return n.While(condition, self._loops(body))
            case n.DoWhile(body=body, condition=condition):
                return n.DoWhile(self._loops(body), condition)
            case n.For(body=body):
                return replace(node, body=self._loops(body))
            case n.Switch(value=value, cases=cases):
                return n.Switch(
                    value, tuple(n.Case(c.values, self._loops(c.body), c.falls) for c in cases)
                )
        return node

    def _fold(self, made: list[n.Statement]) -> None:
        """Turn the last statement into a ``for`` with the initial value before it."""
        self._cleared(made)
        last = made[-1]
        guarded = None
        if isinstance(last, n.If) and not last.otherwise and last.then:
            # if (c) { [set-up;] do { } while (c) }
            *setup, inner = last.then
            if isinstance(inner, n.DoWhile) and all(_is_setup(s) for s in setup):
                guarded = (last.condition, setup, inner)
        if guarded is not None:
            condition, setup, inner = guarded
            found = self._counted(inner)
            if found is None:
                return
            step, body = found
            assert isinstance(step.target, n.Name)
            name = step.target.name
            start = next((s for s in setup if _sets(s, name)), None)
            before = made[-2] if len(made) > 1 else None
            first: n.Expression = n.Name(name)
            if isinstance(start, n.Assign):
                first = start.value
            inner = _until_less(inner, step, first, condition)
            entry = _with(inner.condition, name, first)
            rest = [s for s in setup if s is not start]
            if not _same(entry, condition):
                return
            # The set-up that stays must be harmless where the loop does not run at all.
            if rest and any(written_names(s) & _names(condition) for s in rest):
                return
            if not all(self._may_stand_before(s, last) for s in rest):
                return
            if rest:
                made[-1:] = [*rest, n.For(start, inner.condition, step, body)]
                return
            if start is None and before is not None and _sets(before, name):
                assert isinstance(before, n.Assign)
                made.pop()
                made.pop()
                made.append(n.For(before, inner.condition, step, body))
                return
            made.pop()
            made.append(n.For(start, inner.condition, step, body))
            return
        if isinstance(last, n.While):
            found = self._counted_while(last)
            if found is None:
                return
            step, body = found
            assert isinstance(step.target, n.Name)
            before = made[-2] if len(made) > 1 else None
            if before is not None and _sets(before, step.target.name):
                made.pop()
                made.pop()
                assert isinstance(before, n.Assign)
                made.append(n.For(before, last.condition, step, body))

    def _may_stand_before(self, setup: n.Statement, whole: n.Statement) -> bool:
        """Whether what is computed for a loop alone may be, where the loop does not run, too."""
        if not isinstance(setup, n.Assign) or not isinstance(setup.target, n.Name):
            return False
        name = setup.target.name
        dear = any(
            isinstance(p, n.Index | n.Unary)
            or (isinstance(p, n.Call) and p.function not in _CHEAP)
            or (isinstance(p, n.Binary) and p.operator in _DIVISIONS)
            for p in setup.value.walk()
        )
        inside = sum(p == n.Name(name) for p in whole.walk())
        return not dear and inside == self.total[name]

    def _cleared(self, made: list[n.Statement]) -> None:
        """Take out of ``if (c) { [set-up;] do { } while (c) }`` what is set so without it, too."""
        match made[-1]:
            case n.If(condition, (*setup, n.DoWhile() as loop), otherwise) if all(
                _is_setup(s) for s in (*setup, *otherwise)
            ):
                pass
            case _:
                return
        before = made[:-1]
        own = {s.target.name for s in setup if isinstance(s, n.Assign)}  # type: ignore[union-attr]
        if all(s in setup and _is_plain(s, own | _names(condition)) for s in otherwise):
            before += otherwise
            otherwise = ()
        rest = [s for s in setup if not _is_set(before, s)]
        asked = self._asked(before, condition)
        made[:] = [*before, n.If(asked, (*rest, loop), otherwise)]

    def _asked(self, before: list[n.Statement], condition: n.Expression) -> n.Expression:
        """A condition that was given a name as the comparison that it is."""
        negated = isinstance(condition, n.Unary) and condition.operator == "!"
        name = condition.operand if isinstance(condition, n.Unary) else condition
        if not isinstance(name, n.Name):
            return condition
        later: set[str] = {name.name}
        for statement in reversed(before):
            match statement:
                case n.Assign(target, n.Binary(operator, left, right) as value, "=") if (
                    target == name and operator in CONTRARY
                ):
                    if later & _names(value) or (negated and self.is_float(left)):
                        return condition
                    return n.Binary(CONTRARY[operator], left, right) if negated else value
            if name.name in written_names(statement) or _continues(statement):
                return condition
            later |= written_names(statement)
        return condition

    def _counted(self, node: n.DoWhile) -> tuple[n.Assign, Body] | None:
        """The step of a loop that counts, and the rest of its body."""
        return _step_of(node.body, node.condition)

    def _counted_while(self, node: n.While) -> tuple[n.Assign, Body] | None:
        return _step_of(node.body, node.condition)


def _until_less(
    loop: n.DoWhile, step: n.Assign, first: n.Expression, condition: n.Expression
) -> n.DoWhile:
    """A loop by ones that ends where its limit is reached, as one that goes on below that.

    Newer compilers ask whether the limit was reached, where it was asked before whether there is
    anything below it.
    """
    match loop.condition:
        case n.Binary("!=", index, limit) if step == n.Assign(index, n.Literal(1, INT), "+="):
            if condition in (n.Binary("<", first, limit), n.Binary(">", limit, first)):
                return replace(loop, condition=n.Binary("<", index, limit))
    return loop


def _is_plain(node: n.Statement, changed: set[str]) -> bool:
    """Whether something can be set before, instead of at the beginning of a branch."""
    assert isinstance(node, n.Assign) and isinstance(node.target, n.Name)
    if isinstance(node.value, n.Literal):
        return True
    return isinstance(node.value, n.Name) and node.value.name not in changed


def _is_set(before: list[n.Statement], node: n.Statement) -> bool:
    """Whether a variable has been given that number already, and no other since."""
    assert isinstance(node, n.Assign) and isinstance(node.target, n.Name)
    if not isinstance(node.value, n.Literal):
        return False
    for statement in reversed(before[-_BACK:]):
        if statement == node:
            return True
        if node.target.name in written_names(statement) or _continues(statement):
            return False
    return False


def _step_of(body: Body, condition: n.Expression) -> tuple[n.Assign, Body] | None:
    if not body or any(_continues(s) for s in body):
        return None
    names = _names(condition)
    for place in range(len(body) - 1, -1, -1):
        statement = body[place]
        match statement:
            case n.Assign(target=n.Name(name=name), operator=operator) if name in names:
                if operator == "=":
                    return None
                later = body[place + 1 :]
                inputs = _names(statement.value) | {name}
                if any(inputs & (written_names(s) | _names(s)) for s in later):
                    return None
                if any(name in written_names(s) for s in body[:place]):
                    return None
                return statement, (*body[:place], *later)
        if written_names(statement) & names or isinstance(statement, n.If | n.While | n.DoWhile):
            return None
    return None


def _continues(node: n.Statement) -> bool:
    return any(isinstance(s, n.Continue | n.Goto | n.Label) for s in statements_of((node,)))


def _is_setup(node: n.Statement) -> bool:
    return isinstance(node, n.Assign) and isinstance(node.target, n.Name) and node.operator == "="


def _sets(node: n.Statement, name: str) -> bool:
    return (
        isinstance(node, n.Assign)
        and node.operator == "="
        and node.target == n.Name(name)
        and name not in _names(node.value)
    )


def written_names(node: n.Statement) -> set[str]:
    """Variables that a statement may change."""
    return set(written(node))


def _names(node: n.Node) -> set[str]:
    return {p.name for p in node.walk() if isinstance(p, n.Name)}


def _with(node: n.Expression, name: str, value: n.Expression) -> n.Expression:
    """An expression with a variable replaced."""

    def change(part: n.Node) -> n.Node:
        if part == n.Name(name):
            return value
        return rebuilt(part, change)

    return change(node)  # type: ignore[return-value]


_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def _same(one: n.Expression, two: n.Expression) -> bool:
    """Whether two conditions say the same, as far as their form shows."""
    if one == two:
        return True
    match one, two:
        case (n.Binary(operator=a, left=x, right=y), n.Binary(operator=b, left=u, right=v)):
            if _MIRROR.get(a) == b and (x, y) == (v, u):
                return True
            return _bound(a, x, y) is not None and _bound(a, x, y) == _bound(b, u, v)
    return False


def _bound(
    operator: str, left: n.Expression, right: n.Expression
) -> tuple[n.Expression, int] | None:
    """A comparison of a variable with a number as "at least": ``0 < n``, ``n >= 1``."""
    if isinstance(left, n.Literal):
        left, right, operator = right, left, _MIRROR.get(operator, operator)
    if not isinstance(right, n.Literal) or isinstance(right.value, float):
        return None
    number = int(right.value)
    if operator == ">=":
        return left, number
    return (left, number + 1) if operator == ">" else None


def compound(node: n.Assign) -> n.Assign:
    """``x = x + y`` as ``x += y``."""
    value = node.value
    if not isinstance(value, n.Binary) or value.operator not in _COMPOUND:
        return node
    if value.left == node.target:
        return n.Assign(node.target, value.right, value.operator + "=")
    if value.operator in _COMMUTES and value.right == node.target:
        return n.Assign(node.target, value.left, value.operator + "=")
    return node
