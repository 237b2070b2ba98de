"""Loops that a compiler made two of: one for where a condition holds, one for where it does not.

A question inside of a loop whose answer stays the same is asked once, before it: the loop is
there twice then, with what follows from each answer. Where both end in the same way, they are one
loop again. As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from itertools import takewhile

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, read, rebuilt_lists, written

Body = tuple[n.Statement, ...]
_JUMPS = n.Break, n.Continue, n.Goto, n.Label


def with_one_loop(body: Body) -> Body:
    """The body with such loops put together."""
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(statement, with_one_loop)
        made += _joined(statement) or [statement]
    return tuple(made)


def _joined(statement: n.Statement) -> list[n.Statement] | None:
    match statement:
        case n.If(condition, (*setup, n.DoWhile() as one), (*other, n.DoWhile() as two)):
            pass
        case _:
            return None
    same = _Same({name for s in (*setup, one) for name in written(s)})
    if not same.equal(one.condition, two.condition):
        return None
    end = sum(1 for _ in takewhile(
        lambda pair: same.equal(*pair), zip(reversed(one.body), reversed(two.body), strict=False)
    ))  # fmt: skip
    first, second = one.body[: len(one.body) - end], two.body[: len(two.body) - end]
    changed = {name for s in (*one.body, *two.body) for name in written(s)}
    if not end or not changed.isdisjoint(read(condition)):
        return None
    if any(isinstance(p, _JUMPS) for s in (*one.body, *two.body) for p in s.walk()):
        return None
    second = tuple(same.renamed(s) for s in second)
    before = [same.renamed(s) for s in other]
    if not all(isinstance(s, n.Assign) and isinstance(s.target, n.Name) for s in (*setup, *before)):
        return None
    extra = [s for s in before if s not in setup]
    taken = {name for s in setup for name in written(s)}
    if any(not taken.isdisjoint(written(s)) for s in extra):
        return None
    if first:
        asked: Body = (n.If(condition, first, second),)
    elif second:
        asked = (n.If(n.Unary("!", condition), second),)
    else:
        asked = ()
    return [*setup, *extra, replace(one, body=(*asked, *one.body[len(first) :]))]


@dataclass(slots=True)
class _Same:
    """Compares code that differs by the names of variables that are set in it."""

    own: set[str]
    """Variables of the first that may have another name in the second."""
    names: dict[str, str] = field(default_factory=dict)
    """Names of the second, and what they are in the first."""

    def equal(self, one: n.Node, two: n.Node) -> bool:
        """Whether both are the same; what was learned about names stays where they are."""
        found = dict(self.names)
        if not self._equal(one, two, found):
            return False
        self.names = found
        return True

    def _equal(self, one: object, two: object, found: dict[str, str]) -> bool:
        if isinstance(one, n.Name) and isinstance(two, n.Name):
            if two.name in found:
                return found[two.name] == one.name
            if one.name != two.name and (one.name not in self.own or one.name in found.values()):
                return False
            found[two.name] = one.name
            return True
        if isinstance(one, tuple) and isinstance(two, tuple):
            return len(one) == len(two) and all(
                self._equal(a, b, found) for a, b in zip(one, two, strict=True)
            )
        if not isinstance(one, n.Node) or not isinstance(two, n.Node):
            return one == two
        if type(one) is not type(two):
            return False
        return all(
            self._equal(getattr(one, each.name), getattr(two, each.name), found)
            for each in fields(one)  # type: ignore[arg-type]
        )

    def renamed(self, statement: n.Statement) -> n.Statement:
        """A statement of the second with the names of the first."""

        def change(node: n.Node) -> n.Node:
            if isinstance(node, n.Name) and node.name in self.names:
                return n.Name(self.names[node.name])
            return node

        return bottom_up(statement, change)  # type: ignore[no-any-return]
