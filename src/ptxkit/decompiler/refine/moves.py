"""Other places for statements, and values as variables or in their places.

Nothing here is trusted: who takes a change compiles it and compares the PTX. What is looked at
is what makes most of them compile.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, UINT, Pointer, Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt, size, written

Body = tuple[n.Statement, ...]
Change = tuple[str, int, int, Body]
"""A kind, which statements from and up to, and what is there instead."""
Use = Callable[[Any], n.Expression | None]
"""What an expression becomes; None where it stays."""
_BUILTIN = frozenset("threadIdx blockIdx blockDim gridDim".split())
#: A value in more places than this stays a variable.
_OFTEN = 3
#: How far statements are moved place by place.
_NEAR = 4
#: Values with fewer nodes than this are no variables of their own.
_SHORT = 3


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a statement needs and does."""

    names: frozenset[str]
    sets: frozenset[str]
    stores: bool
    loads: bool

    @classmethod
    def of(cls, statement: n.Statement) -> _Facts:
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

    def before(self, other: _Facts) -> bool:
        """Whether it has to come before another one that it comes before."""
        if self.sets & (other.names | other.sets) or other.sets & self.names:
            return True
        return (self.stores and (other.stores or other.loads)) or (self.loads and other.stores)


def moved(body: Body, at: Container[int]) -> Iterator[Change]:
    """A statement at the other places where it may stand: far, then near."""
    facts = [_Facts.of(statement) for statement in body]
    for place, statement in enumerate(body):
        if place not in at or not isinstance(statement, n.Declare | n.Assign | n.If):
            continue
        if isinstance(statement, n.Declare) and statement.space:
            continue
        up = place
        while up > 0 and not facts[up - 1].before(facts[place]) and not _fixed(body[up - 1]):
            up -= 1
        down = place
        while down + 1 < len(body) and not facts[place].before(facts[down + 1]):
            down += 1
        near = range(max(up, place - _NEAR), min(down, place + _NEAR) + 1)
        for there in dict.fromkeys((up, down, *near)):
            if there < place - 1:  # one place up is the one before it one place down
                yield "move", there, place + 1, (statement, *body[there:place])
            elif place < there:
                yield "move", place, there + 1, (*body[place + 1 : there + 1], statement)
        if isinstance(statement, n.Declare) and down + 1 < len(body):
            yield from _sunk(body, facts, place, down + 1)
        yield from _raised(statement, place)
    yield from _early(body, at)


def _fixed(statement: n.Statement) -> bool:
    return isinstance(statement, n.Declare) and bool(statement.space)


def _sunk(body: Body, facts: list[_Facts], place: int, user: int) -> Iterator[Change]:
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
            made = replace(taker, body=(statement, *inner))
        case _:
            return
    yield "sink", place, user + 1, (*between, made)


def _raised(statement: n.Statement, place: int) -> Iterator[Change]:
    """The first variable inside of an ``if`` or a loop, in front of that."""
    match statement:
        case n.If(then=(n.Declare() as first, *rest)) if rest and first.value is not None:
            yield "raise", place, place + 1, (first, replace(statement, then=tuple(rest)))
        case (
            n.For(body=(n.Declare() as first, *rest))
            | n.DoWhile(body=(n.Declare() as first, *rest))
            | n.While(body=(n.Declare() as first, *rest))
        ) if rest and first.value is not None:
            yield "raise", place, place + 1, (first, replace(statement, body=tuple(rest)))


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
                if not any(_fixed(s) for s in body[there:place]):
                    made = (declared, *body[there:place], inside)
                    yield "early", there, place + 1, made


def _assigned(declared: n.Declare) -> Callable[[Any], Any]:
    assert declared.value is not None
    set = n.Assign(n.Name(declared.name), declared.value)
    return lambda node: set if node == declared else node


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


def indices_first(function: n.Function, order: Sequence[str]) -> Iterator[tuple[str, Body]]:
    """The indices of threads, all of them read at the top, as people often do.

    ``order`` is that in which PTX reads them: ``"threadIdx.x"`` and so on.
    """
    body = function.body or ()
    used = {(p.base.name, p.field) for s in body for p in s.walk()
            if isinstance(p, n.Member) and isinstance(p.base, n.Name)}  # fmt: skip
    taken = {p.name for p in function.parameters}
    taken |= {p.name for s in body for p in s.walk() if isinstance(p, n.Declare)}
    read = [tuple(one.split(".")) for one in order]
    places = [one for one in dict.fromkeys(read) if one in used]
    for type in (INT, UINT):
        for kinds in (("threadIdx", "blockIdx"), ("threadIdx",), ("blockIdx",)):
            some = [one for one in places if one[0] in kinds]
            made, declared = body, []
            for base, axis in some:
                name = f"{'t' if base == 'threadIdx' else 'b'}{axis}"
                if name in taken:
                    break
                part = n.Member(n.Name(base), axis)
                declared.append(n.Declare(type, name, part))
                use = _instead_of(part, n.Name(name))
                made = tuple(_changed(s, use) for s in made)
            else:
                if declared:
                    start = sum(1 for s in body if _fixed(s))
                    yield "indices", (*made[:start], *declared, *made[start:])


# ---- values and variables ----------------------------------------------------------------


def inlined(body: Body, at: Container[int], types: Mapping[str, Type]) -> Iterator[Change]:
    """A variable that is read a few times as its value."""
    for place, statement in enumerate(body):
        if place not in at or not isinstance(statement, n.Declare):
            continue
        if statement.value is None or statement.space:
            continue
        name, rest = statement.name, body[place + 1 :]
        count = sum(1 for s in rest for part in s.walk() if part == n.Name(name))
        if not 0 < count <= _OFTEN or any(name in written(s) for s in rest):
            continue
        value: n.Expression = statement.value
        if isinstance(statement.type, Scalar) and _type(value, types) != statement.type:
            value = n.Cast(statement.type, value)  # the variable converted
        last = max(k for k, s in enumerate(rest) if name in s.names())
        changed = tuple(_changed(s, _instead_of(n.Name(name), value)) for s in rest[: last + 1])
        yield "inline", place, place + last + 2, changed


def named(body: Body, at: Container[int], types: Mapping[str, Type]) -> Iterator[Change]:
    """A part of a value as a variable of its own: right before, or as early as can be."""
    facts = [_Facts.of(statement) for statement in body]
    for place, statement in enumerate(body):
        seen: set[n.Expression] = set()
        for part in _parts(statement) if place in at else ():
            if part in seen:
                continue
            seen.add(part)
            for declared, use in _variables(part, types):
                up = place
                own = _Facts.of(declared)
                while up > 0 and not facts[up - 1].before(own) and not _fixed(body[up - 1]):
                    up -= 1
                after = tuple(_changed(s, use) for s in body[place:])
                last = max(k for k, s in enumerate(body[place:]) if after[k] is not s)
                steps = (place - 1, place - 2) if isinstance(part, n.Member) else ()
                for there in dict.fromkeys((up, place, *(max(up, k) for k in steps))):
                    made = (declared, *body[there:place], *after[: last + 1])
                    yield _sort(part), there, place + last + 1, made


def _parts(statement: n.Statement) -> Iterator[Any]:
    """The values inside of what a statement itself computes."""
    match statement:
        case n.Declare(value=value) if value is not None:
            heads: tuple[n.Node, ...] = tuple(value.children())
        case n.Assign(target=target, value=value):
            heads = (target, value)
        case n.If(condition=condition, then=then, otherwise=otherwise):
            # Addresses are computed before what decides whether they are needed.
            for inner in (*then, *otherwise):
                yield from (p for p in _parts(inner) if isinstance(p, n.Index | n.Cast))
            heads = (condition,)
        case n.Evaluate(expression=expression):
            heads = tuple(expression.children())
        case n.DoWhile(body=body) | n.For(body=body) | n.While(body=body):
            # What does not change in a loop may stand before it.
            for inner in body:
                if isinstance(inner, n.Assign | n.Declare | n.If):
                    yield from _parts(inner)
            return
        case _:
            return
    for head in heads:
        yield from head.walk()


def _variables(part: n.Expression, types: Mapping[str, Type]) -> Iterator[tuple[n.Declare, Use]]:
    """The variables that a value may become, each with what replaces expressions by it."""
    match part:
        case n.Member(base=n.Name(name=base)) if base in _BUILTIN:
            name = _fresh(UINT, types)
            yield n.Declare(UINT, name, part), _instead_of(part, n.Name(name))
        case n.Index(base=n.Name(name=base), index=index) if isinstance(types.get(base), Pointer):
            pointer = types[base]
            name = _fresh(pointer, types)
            declared = n.Declare(pointer, name, n.Binary("+", part.base, _narrow(index)))
            yield declared, _offset(part.base, index, n.Name(name))
            if isinstance(index, n.Binary) and index.operator == "+":
                for offset in (index.left, index.right):
                    declared = n.Declare(pointer, name, n.Binary("+", part.base, _narrow(offset)))
                    yield declared, _offset(part.base, offset, n.Name(name))
        case n.Unary(operator="*", operand=n.Cast(type=Pointer() as type) as address):
            name = _fresh(type, types)
            yield n.Declare(type, name, address), _instead_of(address, n.Name(name))
        case n.Cast(type=Scalar() as type) if type.is_integer and type.bits == 64:
            name = _fresh(type, types)
            yield n.Declare(type, name, part.operand), _instead_of(part, n.Name(name))
        case n.Binary() | n.Unary() | n.Conditional() | n.Call() if size(part) >= _SHORT:
            found = _type(part, types)
            if isinstance(found, Scalar):
                name = _fresh(found, types)
                yield n.Declare(found, name, part), _instead_of(part, n.Name(name))


def _sort(part: n.Expression) -> str:
    """What kind of change it is to name a value."""
    match part:
        case n.Member():
            return "index"
        case n.Index() | n.Cast() | n.Unary(operator="*"):
            return "address"
    return "name"


def _type(node: n.Expression, types: Mapping[str, Type]) -> Type | None:
    try:
        return infer(node, types)
    except (KeyError, AttributeError, AssertionError, TypeError):
        return None


def _fresh(type: Type, types: Mapping[str, Type]) -> str:
    """A name for a variable of a type, as the lifter gives them."""
    match type:
        case Scalar(kind="float"):
            name = "f"
        case Scalar(bits=64):
            name = "w"
        case Scalar():
            name = "n"
        case _:
            name = "ptr"
    return next(wish for k in count() if (wish := f"{name}{k or ''}") not in types)


def _narrow(index: n.Expression) -> n.Expression:
    """An index without its conversion to 64 bits, which an address makes by itself."""
    match index:
        case n.Cast(type=Scalar(kind="int", bits=64), operand=n.Name() | n.Binary() as operand):
            return operand
    return index


def _instead_of(old: n.Expression, new: n.Expression) -> Use:
    return lambda node: new if node == old else None


def _offset(base: n.Expression, offset: n.Expression, name: n.Name) -> Use:
    """``p[a]`` and ``p[a + b]`` as ``*q`` and ``q[b]``, where ``q`` is ``p + a``."""
    wanted = _narrow(offset)

    def use(node: Any) -> n.Expression | None:
        if not isinstance(node, n.Index) or node.base != base:
            return None
        if _narrow(node.index) == wanted:
            return n.Unary("*", name)
        match node.index:
            case n.Binary(operator="+", left=left, right=right) if _narrow(left) == wanted:
                return n.Index(name, _narrow(right))
            case n.Binary(operator="+", left=left, right=right) if _narrow(right) == wanted:
                return n.Index(name, _narrow(left))
        return None

    return use


def _changed(node: Any, use: Use) -> Any:
    """The tree with expressions replaced; itself where there are none of them."""
    made = use(node)
    return made if made is not None else rebuilt(node, lambda part: _changed(part, use))
