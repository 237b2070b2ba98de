"""Other places for statements, and values as variables or in their places.

Nothing here is trusted: who takes a change compiles it and compares the PTX. What is looked at
is what makes most of them compile.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import bottom_up, written

Body = tuple[n.Statement, ...]
Change = tuple[str, int, int, Body]
"""A kind, which statements from and up to, and what is there instead."""
#: How far statements are moved place by place.
_NEAR = 4


@dataclass(frozen=True, slots=True)
class Facts:
    """What a statement needs and does."""

    names: frozenset[str]
    sets: frozenset[str]
    stores: bool
    loads: bool

    @classmethod
    def of(cls, statement: n.Statement) -> Facts:
        stores = loads = False
        names: set[str] = set()
        for node in statement.walk():
            match node:
                case n.Name(name=name):
                    names.add(name)
                case n.Assign(target=n.Index() | n.Unary() | n.Member()) | n.Evaluate() | n.Asm():
                    stores = True
                case n.Return() | n.Break() | n.Continue() | n.Goto() | n.Label():
                    stores = True
                case n.Index() | n.Unary(operator="*"):
                    loads = True
                case n.Call(function=function) if function.startswith(("__", "atomic", "@")):
                    stores = stores or not function.startswith(("__f", "__i", "__u", "__d"))
        return cls(frozenset(names), frozenset(written(statement)), stores, loads)

    def before(self, other: Facts) -> bool:
        """Whether it has to come before another one that it comes before."""
        if self.sets & (other.names | other.sets) or other.sets & self.names:
            return True
        return (self.stores and (other.stores or other.loads)) or (self.loads and other.stores)


def moved(body: Body, at: Container[int]) -> Iterator[Change]:
    """A statement at the other places where it may stand: far, then near."""
    facts = [Facts.of(statement) for statement in body]
    for place, statement in enumerate(body):
        if place not in at or not isinstance(statement, n.Declare | n.Assign | n.If):
            continue
        if isinstance(statement, n.Declare) and statement.space:
            continue
        up = place
        while up > 0 and not facts[up - 1].before(facts[place]) and not fixed(body[up - 1]):
            up -= 1
        down = place
        while down + 1 < len(body) and not facts[place].before(facts[down + 1]):
            down += 1
        near = range(max(up, place - _NEAR), min(down, place + _NEAR) + 1)
        ends = (up, down, max(up, down - 1), min(up + 1, down))
        for there in dict.fromkeys((*ends, *near)):
            if there < place - 1:  # one place up is the one before it one place down
                yield "move", there, place + 1, (statement, *body[there:place])
            elif place < there:
                yield "move", place, there + 1, (*body[place + 1 : there + 1], statement)
        if isinstance(statement, n.Declare) and down + 1 < len(body):
            yield from _sunk(body, facts, place, down + 1)
        yield from _raised(statement, place)
    yield from _early(body, at)
    yield from asked_late(body, at)


def fixed(statement: n.Statement) -> bool:
    """Whether it is memory that is declared: that stays first."""
    return isinstance(statement, n.Declare) and bool(statement.space)


def _sunk(body: Body, facts: list[Facts], place: int, user: int) -> Iterator[Change]:
    """A variable that one ``if`` or loop alone reads, inside of that."""
    statement, taker = body[place], body[user]
    assert isinstance(statement, n.Declare)
    name = statement.name
    if any(name in facts[k].names for k in range(user + 1, len(body))):
        return
    between = body[place + 1 : user]
    match taker:
        case n.If(condition=condition, then=then, otherwise=()) if name not in condition.names():
            made: n.Statement = replace(taker, then=(statement, *then))
        case n.For(body=inner) | n.While(body=inner) | n.DoWhile(body=inner):
            if name in written(taker):
                return  # it is what the turn before left
            made = replace(taker, body=(statement, *inner))
        case _:
            return
    yield "sink", place, user + 1, (*between, made)


def _raised(statement: n.Statement, place: int) -> Iterator[Change]:
    """The first variables inside of an ``if`` or a loop, in front of that: one, or all of them."""
    match statement:
        case n.If(then=inner) | n.For(body=inner) | n.DoWhile(body=inner) | n.While(body=inner):
            first = _declared_first(inner)
            if isinstance(statement, n.If):  # people ask before they read
                reads = [Facts.of(s).loads for s in inner[:first]]
                first = reads.index(True) if True in reads else first
        case _:
            return
    for count in dict.fromkeys((1, first, first - 1)):
        if 0 < count <= first and count < len(inner):
            left = inner[count:]
            rest: n.Statement = (
                replace(statement, then=left)
                if isinstance(statement, n.If)
                else replace(statement, body=left)
            )
            yield "raise", place, place + 1, (*inner[:count], rest)


def _declared_first(body: Body) -> int:
    """How many variables a list of statements begins with."""
    kept = (isinstance(s, n.Declare) and s.value is not None and not s.space for s in body)
    return next((place for place, one in enumerate(kept) if not one), len(body))


def asked_late(body: Body, at: Container[int]) -> Iterator[Change]:
    """Variables behind ``if (...) return;`` in front of it: several that alone change nothing.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int n))
    ...     (let int i threadIdx.x) (if (>= i n) (then (return)))
    ...     (let int a (* i 2)) (let int b (+ a 1)) (= ([] x a) b))''')
    >>> for *_, made in asked_late(kernel.body, range(9)):
    ...     print(print_function(replace(kernel, body=made)), end="")
    __global__ void k(int *x, int n) {
        int a = i * 2;
        int b = a + 1;
        if (i >= n) return;
    }
    """
    for place, statement in enumerate(body):
        match statement:
            case n.If(then=(n.Return(value=None),), otherwise=()) if place in at:
                own = Facts.of(statement)
                count = _declared_first(body[place + 1 :])
                some = body[place + 1 : place + 1 + count]
                pure = [not own.before(Facts.of(one)) for one in some]
                most = pure.index(False) if False in pure else count
                for count in dict.fromkeys((most, most - 1)):
                    if count > 1:
                        yield "raise", place, place + 1 + count, (*some[:count], statement)


def _early(body: Body, at: Container[int]) -> Iterator[Change]:
    """A variable that changes, declared before others: compilers keep them in that order."""
    for place, statement in enumerate(body):
        if place not in at or not isinstance(statement, n.If | n.For | n.While | n.DoWhile):
            continue
        for node in statement.walk():
            if not isinstance(node, n.Declare) or node.value is None or node.space:
                continue
            if sum(name == node.name for name in written(statement)) < 2:
                continue
            inside = bottom_up(statement, _assigned(node))
            declared = replace(node, value=None)
            for there in dict.fromkeys((max(place - 1, 0), 0)):
                if not any(fixed(s) for s in body[there:place]):
                    made = (declared, *body[there:place], inside)
                    yield "early", there, place + 1, made


def _assigned(declared: n.Declare) -> Callable[[Any], Any]:
    assert declared.value is not None
    set = n.Assign(n.Name(declared.name), declared.value)
    return lambda node: set if node == declared else node


def in_memory(body: Body, at: Container[int]) -> Iterator[Change]:
    """``s = x[i]; for (...) s += a; x[i] = s;`` as ``for (...) x[i] += a;``."""
    for place, statement in enumerate(body):
        match statement:
            case n.Declare(name=name, value=n.Index() as kept, space="") if place in at:
                pass
            case _:
                continue
        own = n.Name(name)
        last = next(
            (k for k in range(place + 1, len(body)) if body[k] == n.Assign(kept, own)), None
        )
        if last is None or any(name in s.names() for s in body[last + 1 :]):
            continue
        made = tuple(bottom_up(s, _instead(own, kept)) for s in body[place + 1 : last])
        if any(isinstance(s, n.For | n.While | n.DoWhile) for s in made):
            yield "memory", place, last + 1, made


def _instead(old: n.Expression, new: n.Expression) -> Callable[[Any], Any]:
    return lambda node: new if node == old else node


def remainders(body: Body, at: Container[int]) -> Iterator[Change]:
    """``q = a / b; r = a - q * b;`` as ``r = a % b; q = a / b;``."""
    for place, statement in enumerate(body):
        match statement:
            case n.Declare(
                value=n.Binary(
                    operator="-",
                    left=whole,
                    right=n.Binary(operator="*", left=n.Name(name=name), right=divisor),
                )
            ) if place in at:
                value = n.Binary("%", whole, divisor)
                for before in range(place):
                    match body[before]:
                        case n.Declare(name=other) if other == name:
                            made = (replace(statement, value=value), *body[before:place])
                            yield "remainder", before, place + 1, made
