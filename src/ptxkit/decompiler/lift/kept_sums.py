"""Sums that are kept in memory: ``x[i] += a`` in a loop, where the compiler kept a copy.

A compiler does not read again what it wrote before: it keeps ``x[i]`` in a register through the
loops, and writes it in every turn, for others to read. That register is no variable of the source.
As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.polish import compound
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists, written

Body = tuple[n.Statement, ...]
_COMPOUND = frozenset(("+=", "-=", "*="))


def with_kept_sums(body: Body) -> Body:
    """A function's body whose sums in memory are added to there."""
    names = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    return _list(body, names)


def with_promoted_sums(body: Body) -> Body:
    """A body whose sums in memory are added to there, that a compiler wrote behind the loops only.

    ``x[i] = 0; if (n > 0) { s = 0; do s += a; while (...); x[i] = s; }``: where nothing else reads
    or writes the place, it is written once, and only where the loops run at all.
    """
    names = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    return _promoted(body, names)


def _promoted(body: Body, names: Counter[str]) -> Body:
    made = [rebuilt_lists(statement, lambda inner: _promoted(inner, names)) for statement in body]
    for place, statement in enumerate(made):
        match statement:
            case n.Assign(n.Index() as kept, n.Literal() as first, "="):
                pass
            case _:
                continue
        for later in range(place + 1, len(made)):
            match made[later]:
                case n.If(condition, (*inner, n.Assign(target, n.Name(name=total), "=")), ()) if (
                    target == kept and (start := n.Assign(n.Name(total), first)) in inner
                ):
                    inside = sum(p == n.Name(total) for p in made[later].walk())
                    if inside == names[total]:
                        rest = tuple(s for s in inner if s != start)
                        use = _Kept(kept, total)
                        made[later] = n.If(condition, tuple(bottom_up(s, use.read) for s in rest))
                    break
            changed = set(written(made[later]))
            if _writes(made[later]) or not changed.isdisjoint(kept.names()):
                break
    return tuple(made)


def _list(body: Body, names: Counter[str]) -> Body:
    made = tuple(rebuilt_lists(s, lambda inner: _list(inner, names)) for s in body)
    for place, statement in enumerate(made):
        match statement, made[place + 1 : place + 2]:
            case (
                n.Assign(n.Index() as kept, n.Literal() as first, "="),
                (n.Assign(n.Name(name=total), n.Literal() as start, "="),),
            ) if first == start:
                rest = made[place + 2 :]
                inside = sum(p == n.Name(total) for s in rest for p in s.walk())
                changed = {name for s in rest for name in written(s)}
                if inside + 1 != names[total] or not changed.isdisjoint(kept.names()):
                    continue
                found = _Kept(kept, total).run(rest)
                if found is not None:
                    return (*made[: place + 1], *found)
    return made


@dataclass(slots=True)
class _Kept:
    """A place in memory, and the variable that is a copy of it."""

    place: n.Index
    total: str
    over: bool = False
    """Whether something else was written: the copy is none any more."""

    def run(self, body: Body) -> Body | None:
        """A list of statements without the copy; None where it is more than one."""
        made: list[n.Statement] = []
        left = list(body)
        while left:
            statement = left.pop(0)
            if self.total not in statement.names():
                self.over = self.over or _writes(statement)
                made.append(statement)
                continue
            if self.over:
                return None
            match statement, left[:1]:
                case (
                    n.Assign(n.Name(name=name), value, operator),
                    [n.Assign(n.Index() as place, n.Name(name=stored), "=")],
                ) if name == stored == self.total and place == self.place:
                    if operator not in _COMPOUND or self.total in value.names():
                        return None
                    made.append(n.Assign(self.place, value, operator))
                    left.pop(0)
                case n.Assign(n.Name(name=name), value, operator), _ if (
                    name == self.total and operator in _COMPOUND and name not in value.names()
                ):
                    # Written behind the loops only, where nothing else reads it.
                    made.append(n.Assign(self.place, value, operator))
                case n.For(body=inner), _:
                    again = self.run(inner)
                    if again is None or self.over:
                        return None
                    made.append(replace(statement, body=again))
                case n.Assign(target, value, "="), _ if self.total not in target.names():
                    made.append(compound(bottom_up(statement, self.read)))
                    self.over = True
                case _:
                    return None
        return tuple(made)

    def read(self, node: n.Node) -> n.Node:
        """The place instead of its copy."""
        return self.place if node == n.Name(self.total) else node


def _writes(statement: n.Statement) -> bool:
    """Whether a statement may write memory."""
    return any(
        isinstance(p, n.Call | n.Asm)
        or (isinstance(p, n.Assign) and not isinstance(p.target, n.Name))
        for p in statement.walk()
    )
