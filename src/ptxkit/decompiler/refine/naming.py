"""Values as variables, and variables as their values.

Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, pairwise
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import (
    INT,
    LONG_LONG,
    UINT,
    UNSIGNED_LONG_LONG,
    Pointer,
    Scalar,
    Type,
)
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt, rebuilt_lists, size, written
from ptxkit.decompiler.refine.expressions import COMMUTE
from ptxkit.decompiler.refine.moves import Body, Change, Facts, fixed

Use = Callable[[Any], n.Expression | None]
"""What an expression becomes; None where it stays."""
_Variable = tuple[n.Declare, Use]
_COMPARISONS = frozenset("== != < > <= >=".split())
_LOOPS = n.For, n.While, n.DoWhile
#: What variables are called that hold these.
_BUILTIN = {"threadIdx": "t", "blockIdx": "b", "blockDim": "d", "gridDim": "g"}
#: Which of them are read together at the top of a function.
_READ_FIRST = (
    ("threadIdx", "blockIdx"), ("threadIdx",), ("blockIdx",), ("gridDim",),
    ("blockDim", "gridDim"), tuple(_BUILTIN),
)  # fmt: skip
#: A value in more places than this stays a variable.
_OFTEN = 3
#: Values with fewer nodes than this are no variables of their own.
_SHORT = 3
#: So many pointers are moved on together.
_SEVERAL = 2


def indices_first(function: n.Function, order: Sequence[str]) -> Iterator[tuple[str, Body]]:
    """The indices of threads, all of them read at the top, as people often do; and sizes.

    ``order`` is that in which PTX reads them: ``"threadIdx.x"`` and so on.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x))
    ...     (if (== ([] x 0) 0) (then (= ([] x 1) gridDim.x))))''')
    >>> for _, body in indices_first(kernel, ["blockDim.x", "gridDim.x"]):
    ...     print(print_function(replace(kernel, body=body)), end="")
    __global__ void k(int *x) {
        int gx = gridDim.x;
        if (x[0] == 0) x[1] = gx;
    }
    __global__ void k(int *x) {
        unsigned int gx = gridDim.x;
        if (x[0] == 0) x[1] = gx;
    }
    """
    body = function.body or ()
    used = {(p.base.name, p.field) for s in body for p in s.walk()
            if isinstance(p, n.Member) and isinstance(p.base, n.Name)}  # fmt: skip
    taken = {p.name for p in function.parameters}
    taken |= {p.name for s in body for p in s.walk() if isinstance(p, n.Declare)}
    read = [tuple(one.split(".")) for one in order]
    places = [one for one in dict.fromkeys(read) if one in used]
    for type in (INT, UINT):
        several = (tuple(one for one in places if one[0] in kinds) for kinds in _READ_FIRST)
        for some in dict.fromkeys(several):
            made, declared = body, []
            for base, axis in some:
                name = f"{_BUILTIN[base]}{axis}"
                if name in taken:
                    break
                part = n.Member(n.Name(base), axis)
                declared.append(n.Declare(type, name, part))
                use = _instead_of(part, n.Name(name))
                made = tuple(_changed(s, use) for s in made)
            else:
                if declared:
                    start = sum(1 for s in body if fixed(s))
                    yield "indices", (*made[:start], *declared, *made[start:])


def cached(function: n.Function) -> Iterator[tuple[str, Body]]:
    """What is read through a pointer to constants that nobody else writes, read by ``__ldg``."""
    body = function.body or ()
    pointers = [p.name for p in function.parameters
                if isinstance(p.type, Pointer) and p.type.const and p.type.restrict]  # fmt: skip
    for names in dict.fromkeys((tuple(pointers), *((name,) for name in pointers))):
        made = tuple(_changed(s, _by_ldg(frozenset(names))) for s in body)
        if made != body:
            yield "ldg", made


def in_parts(function: n.Function) -> Iterator[tuple[str, Body]]:
    """All vectors read part by part; and loops left to compilers, which then count more in them."""
    body = function.body or ()
    made = _in_parts(body)
    if made != body:
        yield "members", made
        freed = tuple(bottom_up(s, _unroll_as_it_will) for s in made)
        if freed != made:
            yield "members", freed


def _in_parts(body: Body) -> Body:
    body = tuple(rebuilt_lists(s, _in_parts) for s in body)
    for place, statement in enumerate(body):
        if isinstance(statement, n.Declare):
            for _, start, end, new in _members(statement, place, body[place + 1 :]):
                return _in_parts((*body[:start], *new, *body[end:]))
    return body


def _unroll_as_it_will(node: Any) -> Any:
    if isinstance(node, n.For | n.While | n.DoWhile) and node.unroll == 1:
        return replace(node, unroll=None)
    return node


def _by_ldg(names: frozenset[str]) -> Use:
    def use(node: Any) -> n.Expression | None:
        match node:
            case n.Unary("&", n.Index(n.Name(name=name))) if name in names:
                return node
            case n.Index(n.Name(name=name) as base, index) if name in names:
                inner = _changed(index, use)
                return n.Call("__ldg", (n.Unary("&", n.Index(base, inner)),))
            case n.Unary("*", n.Name(name=name) as base) if name in names:
                return n.Call("__ldg", (base,))
        return None

    return use


def inlined(body: Body, at: Container[int], types: Mapping[str, Type]) -> Iterator[Change]:
    """A variable that is read a few times as its value."""
    for place, statement in enumerate(body):
        if place not in at or not isinstance(statement, n.Declare):
            continue
        if statement.value is None or statement.space:
            continue
        name, rest = statement.name, body[place + 1 :]
        yield from _members(statement, place, rest)
        yield from _read_again(statement, place, rest)
        count = sum(1 for s in rest for part in s.walk() if part == n.Name(name))
        often = count > _OFTEN and not _is_builtin(statement.value)
        if not count or often or any(name in written(s) for s in rest):
            continue
        value: n.Expression = statement.value
        if isinstance(statement.type, Scalar) and _type(value, types) != statement.type:
            value = n.Cast(statement.type, value)  # the variable converted
        last = max(k for k, s in enumerate(rest) if name in s.names())
        changed = tuple(_changed(s, _instead_of(n.Name(name), value)) for s in rest[: last + 1])
        if isinstance(statement.type, Pointer):
            changed = tuple(bottom_up(s, _from_the_start) for s in changed)
        yield "inline", place, place + last + 2, changed
        if count == 1:
            # Where it is written first, it is computed first: a name is no computation.
            other = _changed(rest[last], _on_the_other_side(n.Name(name), value))
            if other is not rest[last]:
                yield "inline", place, place + last + 2, (*changed[:-1], other)
            yield from _partly(statement, place, rest[: last + 1], types)


def _is_builtin(value: n.Expression) -> bool:
    """Whether it is an index of a thread or block, which people write wherever they need it."""
    return (
        isinstance(value, n.Member)
        and isinstance(value.base, n.Name)
        and value.base.name in _BUILTIN
    )


def _partly(
    statement: n.Declare, place: int, rest: Body, types: Mapping[str, Type]
) -> Iterator[Change]:
    """A sum where it is read, but for a part of it that is computed where the whole was."""
    match statement.value:
        case n.Binary("+" | "-" as operator, left, right) if statement.type in (INT, UINT):
            for part in (left, right):
                if not isinstance(part, n.Binary) or _type(part, types) != statement.type:
                    continue
                kept = n.Name(statement.name)
                whole = n.Binary(operator, *(kept if s is part else s for s in (left, right)))
                use = _instead_of(kept, whole)
                made = (replace(statement, value=part), *(_changed(s, use) for s in rest))
                yield "inline", place, place + len(rest) + 1, made


def _on_the_other_side(old: n.Expression, new: n.Expression) -> Use:
    def use(node: Any) -> n.Expression | None:
        match node:
            case n.Binary(operator=operator, left=left, right=right) if operator in COMMUTE:
                if old == left:
                    return n.Binary(operator, right, new)
                if old == right:
                    return n.Binary(operator, new, left)
        return None

    return use


def _is_computed(declared: n.Declare) -> bool:
    """Whether it is a number of floating point that is not read from memory."""
    type = declared.type
    return isinstance(type, Scalar) and type.is_float and not isinstance(declared.value, n.Index)


def _read_again(statement: n.Declare, place: int, rest: Body) -> Iterator[Change]:
    """What is read from memory for one statement, and once more for those behind it."""
    own = n.Name(statement.name)
    if not isinstance(statement.value, n.Index) or any(own.name in written(s) for s in rest):
        return
    users = [k for k, s in enumerate(rest) if own.name in s.names()]
    for first, following in pairwise(users):
        if any(Facts.of(s).stores for s in rest[:following]):
            return
        use = _instead_of(own, statement.value)
        early = tuple(_changed(s, use) for s in rest[: first + 1])
        between = rest[first + 1 : following]
        yield "load", place, place + following + 1, (*early, *between, statement)


def _from_the_start(node: Any) -> Any:
    """``(p + i)[j]`` as ``p[i + j]``."""
    match node:
        case n.Index(base=n.Binary(operator="+", left=n.Name() as base, right=offset), index=index):
            return n.Index(base, n.Binary("+", offset, index))
    return node


def _members(statement: n.Declare, place: int, rest: Body) -> Iterator[Change]:
    """A vector whose parts are read, read part by part where they are: ``tile[j].x``."""
    if not isinstance(statement.value, n.Index):
        return
    own, whole = n.Name(statement.name), statement.value
    parts = [p for s in rest for p in s.walk() if isinstance(p, n.Member) and p.base == own]
    uses = sum(1 for s in rest for p in s.walk() if p == own)
    if parts and len(parts) == uses and not any(own.name in written(s) for s in rest):
        last = max(k for k, s in enumerate(rest) if own.name in s.names())
        changed = tuple(_changed(s, _instead_of(own, whole)) for s in rest[: last + 1])
        yield "members", place, place + last + 2, changed


def named(body: Body, at: Container[int], types: Mapping[str, Type]) -> Iterator[Change]:
    """A part of a value as a variable of its own: right before, or as early as can be.

    That may be behind an ``if``, too, in which many leave a kernel before they compute anything.
    """
    facts = [Facts.of(statement) for statement in body]
    for place, statement in enumerate(body):
        seen: set[n.Expression] = set()
        inside = _own_names(statement) if place in at else frozenset()
        wide = _read_wide(statement, types) if place in at else set()
        for part in _parts(statement) if place in at else ():
            if part in seen or not inside.isdisjoint(part.names()):
                continue
            seen.add(part)
            loaded = _loaded(part, body[place:], types) if not _is_value(statement, part) else ()
            some = (*_variables(part, types), *loaded)
            for declared, use in (*some, *_widened(part, wide, types)):
                up = place
                own = Facts.of(declared)
                if own.stores and isinstance(statement, _LOOPS):
                    continue  # what changes memory in every turn
                while up > 0 and not facts[up - 1].before(own) and not fixed(body[up - 1]):
                    up -= 1
                after = tuple(_changed(s, use) for s in body[place:])
                last = max(k for k, s in enumerate(body[place:]) if after[k] is not s)
                steps = (place - 1, place - 2) if _is_short(part) else ()
                asked = next((k for k in range(place, up, -1) if isinstance(body[k - 1], n.If)), up)
                for there in dict.fromkeys((up, place, asked, *(max(up, k) for k in steps))):
                    made = (declared, *body[there:place], *after[: last + 1])
                    yield _sort(part, declared), there, place + last + 1, made
                if last == 0 and _is_computed(declared):
                    side = _on_the_other_side(part, n.Name(declared.name))
                    other = _changed(statement, side)
                    if other is not statement:
                        yield "name", place, place + 1, (declared, other)


def rebased(body: Body, at: Container[int], types: Mapping[str, Type]) -> Iterator[Change]:
    """All pointers that one number is added to, moved on by that number: ``p += n``."""
    users: dict[n.Expression, dict[str, n.Expression]] = {}
    for place, statement in enumerate(body):
        for part in statement.walk() if place in at else ():
            match part:
                case n.Index(base=n.Name(name=name) as base, index=index) if isinstance(
                    types.get(name), Pointer
                ):
                    offsets = [index]
                    if isinstance(index, n.Binary) and index.operator == "+":
                        offsets += [index.left, index.right]
                    for one in offsets:
                        if not isinstance(_narrow(one), n.Literal):
                            users.setdefault(_narrow(one), {})[name] = base
    facts = [Facts.of(statement) for statement in body]
    for offset, pointers in users.items():
        if len(pointers) < _SEVERAL:
            continue
        for names in dict.fromkeys((tuple(pointers), tuple(sorted(pointers)))):
            known = dict(types)
            declared: list[n.Statement] = []
            made = body
            for name in names:
                fresh = _fresh(types[name], known)
                known[fresh] = types[name]
                value = n.Binary("+", pointers[name], offset)
                declared.append(n.Declare(types[name], fresh, value))
                use = _offset(pointers[name], offset, n.Name(fresh))
                made = tuple(_changed(s, use) for s in made)
            first = next(k for k, s in enumerate(body) if made[k] is not s)
            own = Facts.of(declared[0])
            while first > 0 and not facts[first - 1].before(own) and not fixed(body[first - 1]):
                first -= 1
            yield "rebase", first, len(body), (*declared, *made[first:])


def _parts(statement: n.Statement) -> Iterator[Any]:
    """The values inside of what a statement itself computes."""
    match statement:
        case n.Declare(value=value) if value is not None:
            # Of what is only loaded, the place may be computed earlier.
            whole = isinstance(value, n.Index)
            heads: tuple[n.Node, ...] = (value,) if whole else tuple(value.children())
        case n.Assign(target=target, value=value):
            heads = (target, value)
        case n.If(condition=condition, then=then, otherwise=otherwise):
            # Addresses are computed before what decides whether they are needed.
            for inner in (*then, *otherwise):
                for p in _parts(inner):
                    if isinstance(p, n.Index | n.Cast) or _is_of_threads(p):
                        yield p
            heads = (condition,)
        case n.Evaluate(expression=expression):
            heads = tuple(expression.children())
        case n.DoWhile(body=body) | n.For(body=body) | n.While(body=body):
            # What does not change in a loop may stand before it.
            for inner in body:
                if isinstance(inner, n.Assign | n.Declare | n.If):
                    yield from _parts(inner)
            if isinstance(statement, n.For) and isinstance(statement.step, n.Assign):
                yield from statement.step.value.walk()
            return
        case _:
            return
    for head in heads:
        yield from head.walk()


def _is_value(statement: n.Statement, part: n.Expression) -> bool:
    return isinstance(statement, n.Declare) and statement.value is part


def _own_names(statement: n.Statement) -> frozenset[str]:
    """The variables that are others before a statement, or none: those that it declares.

    Of a loop all that it sets.
    """
    if isinstance(statement, _LOOPS):
        return frozenset(written(statement))
    if isinstance(statement, n.If):
        return frozenset(p.name for p in statement.walk() if isinstance(p, n.Declare))
    return frozenset()


def _is_of_threads(part: Any) -> bool:
    """Whether it is the number of a warp, or of a thread in one, and the like."""
    match part:
        case n.Binary(">>" | "/" | "%" | "&", n.Member(n.Name(name=base)), n.Literal()):
            return base in _BUILTIN
    return False


def _variables(part: n.Expression, types: Mapping[str, Type]) -> Iterator[_Variable]:
    """The variables that a value may become, each with what replaces expressions by it."""
    match part:
        case n.Member() if _is_builtin(part):
            name = _fresh(UINT, types)
            yield n.Declare(UINT, name, part), _instead_of(part, n.Name(name))
        case n.Index(base=base, index=index) if (pointer := _pointer(base, types)) is not None:
            name = _fresh(pointer, types)
            offsets = [index]
            if isinstance(index, n.Binary) and index.operator == "+":
                offsets += [index.left, index.right]
            for offset in offsets:
                declared = n.Declare(pointer, name, n.Binary("+", base, _narrow(offset)))
                yield declared, _offset(base, offset, n.Name(name))
            if isinstance(base, n.Cast):
                yield n.Declare(pointer, name, base), _instead_of(base, n.Name(name))
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


def _pointer(base: n.Expression, types: Mapping[str, Type]) -> Pointer | None:
    """The type of a pointer that has a name, or begins so many bytes behind one."""
    match base:
        case n.Name(name=name):
            found = types.get(name)
        case n.Cast(type=found):
            pass
        case _:
            return None
    return found if isinstance(found, Pointer) else None


def _read_wide(statement: n.Statement, types: Mapping[str, Type]) -> set[n.Expression]:
    """Sums and products of 32 bits that are read in 64."""
    found: set[n.Expression] = set()
    for part in statement.walk():
        match part:
            case n.Binary("+" | "-" | "*", left, right) if _bits(part, types) == 64:
                found |= {one for one in (left, right) if _bits(one, types) == 32}
            case n.Assign(target, value, "+=" | "-=") if _bits(target, types) == 64:
                found |= {value} if _bits(value, types) == 32 else set()
    return {one for one in found if isinstance(one, n.Binary)}


def _bits(node: n.Expression, types: Mapping[str, Type]) -> int:
    found = _type(node, types)
    return found.bits if isinstance(found, Scalar) and found.is_integer else 0


def _widened(
    part: n.Expression, wide: set[n.Expression], types: Mapping[str, Type]
) -> Iterator[_Variable]:
    """The variable of 64 bits that a number may be kept in which is read so: ``size_t row``."""
    if part in wide:
        type = UNSIGNED_LONG_LONG if _type(part, types) == UINT else LONG_LONG
        name = _fresh(type, types)
        yield n.Declare(type, name, part), _instead_of(part, n.Name(name))


def _loaded(part: n.Expression, rest: Body, types: Mapping[str, Type]) -> Iterator[_Variable]:
    """The variable that an element of an array may be read into."""
    if not isinstance(part, n.Index) or not isinstance(part.base, n.Name):
        return
    found = _type(part, types)
    if not isinstance(found, Scalar) or any(
        isinstance(node, n.Assign) and node.target == part for s in rest for node in s.walk()
    ):
        return
    name = _fresh(found, types)
    yield n.Declare(found, name, part), _instead_of(part, n.Name(name))


def _is_short(part: n.Expression) -> bool:
    """Whether it is so little that it may stand anywhere: an index, a comparison."""
    return isinstance(part, n.Member) or (
        isinstance(part, n.Binary) and part.operator in _COMPARISONS
    )


def _sort(part: n.Expression, declared: n.Declare) -> str:
    """What kind of change it is to name a value."""
    match part:
        case n.Index() if declared.value == part:
            return "load"
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
