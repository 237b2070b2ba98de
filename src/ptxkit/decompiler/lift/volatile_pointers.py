"""Pointers to what others change at any time: told once, not at each access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, rebuilt_lists, written

#: Fewer accesses than this say it themselves.
_SEVERAL = 3
#: What both sides of may change places, with the assignment that it is.
_COMPOUND = frozenset("+ * & | ^".split())


def with_volatile_pointers(function: n.Function) -> n.Function:
    """A kernel with ``volatile`` at the parameters through which all accesses are.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import INT, VOID
    >>> at = n.Binary("+", n.Name("p"), n.Name("i"))
    >>> access = n.Unary("*", n.Cast(Pointer(INT, volatile=True), at))
    >>> parameters = (n.Parameter(Pointer(INT), "p"), n.Parameter(INT, "i"))
    >>> kernel = n.Function("k", parameters, (n.Assign(access, n.Literal(0, INT)),), VOID)
    >>> print(print_function(with_volatile_pointers(kernel)), end="")
    __global__ void k(volatile int *p, int i) {
        p[i] = 0;
    }
    """
    if not function.kernel or function.body is None:
        return function
    pointers = {p.name: p.type for p in function.parameters if isinstance(p.type, Pointer)}
    names: Counter[str] = Counter()
    accessed: Counter[str] = Counter()
    for statement in function.body:
        for node in statement.walk():
            if isinstance(node, n.Name):
                names[node.name] += 1
            found = _access(node, pointers)
            if found is not None:
                accessed[found[0].name] += 1
    changed = {name for name, count in accessed.items() if count == names[name]}
    if not changed:
        return function
    chosen = {name: pointers[name] for name in changed}

    def change(node: Any) -> Any:
        found = _access(node, chosen)
        if found is None:
            return node
        base, index = found
        return n.Unary("*", base) if index is None else n.Index(base, index)

    return replace(
        function,
        parameters=tuple(
            replace(p, type=replace(chosen[p.name], volatile=True)) if p.name in chosen else p
            for p in function.parameters
        ),
        body=tuple(bottom_up(statement, change) for statement in function.body),
    )


def with_volatile_variables(function: n.Function) -> n.Function:
    """Several accesses to one array, in a list of statements, through a pointer that says it.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import INT, VOID
    >>> def at(index):
    ...     place = n.Unary("&", n.Index(n.Name("s"), index))
    ...     return n.Unary("*", n.Cast(Pointer(INT, volatile=True), place))
    >>> i, j = n.Name("i"), n.Binary("+", n.Name("i"), n.Literal(8, INT))
    >>> x, y = n.Declare(INT, "x", at(i)), n.Declare(INT, "y", at(j))
    >>> add = n.Assign(at(i), n.Binary("+", n.Name("y"), n.Name("x")))
    >>> kernel = n.Function("k", (n.Parameter(INT, "i"),), (x, y, add), VOID)
    >>> print(print_function(with_volatile_variables(kernel)), end="")
    __global__ void k(int i) {
        volatile int *ptr = s;
        ptr[i] += ptr[i + 8];
    }
    """
    if function.body is None:
        return function
    taken = {p.name for p in function.parameters}
    taken |= {p.name for s in function.body for p in s.walk() if isinstance(p, n.Declare | n.Name)}
    names = (name for k in count() if (name := f"ptr{k or ''}") not in taken)
    return replace(function, body=_told(function.body, names))


def _told(body: Body, names: Iterator[str]) -> Body:
    """A list of statements with a pointer in front of the accesses that are all in it."""
    found: dict[str, list[_Place]] = {}
    holders: dict[str, set[int]] = {}
    for number, statement in enumerate(body):
        for node in statement.walk():
            place = _place(node)
            if place is not None:
                found.setdefault(place.base.name, []).append(place)
                holders.setdefault(place.base.name, set()).add(number)
    if not found:
        return body  # nor is there any in the lists inside
    for base, places in found.items():
        inner = holders[base]
        lists = any(isinstance(body[k], n.If | n.For | n.While | n.DoWhile) for k in inner)
        if len(places) < _SEVERAL or (len(inner) == 1 and lists):
            continue  # those deeper inside are told there
        if len({place.type for place in places}) > 1:
            continue
        first = min(inner)
        changed = {name for s in body[first:] for name in written(s)}
        offset = _offset(places)
        if base in changed or (offset is not None and changed & offset.names()):
            continue
        name = n.Name(next(names))
        start: n.Expression = places[0].base
        if offset is not None:
            start = n.Binary("+", start, offset)
        made = tuple(bottom_up(s, _through(base, offset, name)) for s in body[first:])
        body = (*body[:first], n.Declare(places[0].type, name.name, start), *_added(made))
    return tuple(rebuilt_lists(s, lambda inner: _told(inner, names)) for s in body)


class _Place:
    """``*(volatile T *)(p + index)``, or ``&p[index]`` there."""

    def __init__(self, base: n.Name, index: n.Expression | None, type: Pointer) -> None:
        self.base, self.index, self.type = base, index, type


def _place(node: Any) -> _Place | None:
    match node:
        case n.Unary("*", n.Cast(type=Pointer(volatile=True) as type, operand=operand)):
            match operand:
                case n.Name() as base:
                    return _Place(base, None, type)
                case n.Binary("+", n.Name() as base, index):
                    return _Place(base, index, type)
                case n.Unary("&", n.Index(base=n.Name() as base, index=index)):
                    return _Place(base, index, type)
    return None


def _parts(index: n.Expression | None) -> tuple[n.Expression | None, n.Expression | None]:
    """What is added to a number, and that number."""
    match index:
        case n.Binary("+" | "-", left, n.Literal()):
            return left, index
        case n.Literal() | None:
            return None, index
    return index, None


def _offset(places: list[_Place]) -> n.Expression | None:
    """What all indices have in common, where it takes more than a word to say."""
    common = {_parts(place.index)[0] for place in places}
    if len(common) > 1:
        return None
    offset = common.pop()
    return offset if isinstance(offset, n.Binary) else None


def _through(base: str, offset: n.Expression | None, name: n.Name) -> Any:
    def change(node: Any) -> Any:
        place = _place(node)
        if place is None or place.base.name != base:
            return node
        index = place.index
        if offset is not None:
            match index:
                case n.Binary("+", left, right) if left == offset and index != offset:
                    index = right
                case n.Binary("-", left, n.Literal() as right) if left == offset:
                    index = n.Unary("-", right)
                case _:
                    index = None
        return n.Unary("*", name) if index is None else n.Index(name, index)

    return change


def _added(body: Body) -> Body:
    """``x = p[i]; y = p[j]; p[i] = y + x;`` as ``p[i] += p[j];``, at any depth."""
    body = tuple(rebuilt_lists(s, _added) for s in body)
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    made: list[n.Statement] = []
    for statement in body:
        match (*made[-2:], statement):
            case (
                n.Declare(name=one, value=n.Index() | n.Unary("*") as first),
                n.Declare(name=two, value=n.Index() | n.Unary("*") as second),
                n.Assign(target, n.Binary(operator, n.Name(name=a), n.Name(name=b)), "="),
            ) if (
                {a, b} == {one, two}
                and uses[one] == uses[two] == 1
                and operator in _COMPOUND
                and target in (first, second)
                and first != second
            ):
                other = second if target == first else first
                made[-2:] = [n.Assign(target, other, f"{operator}=")]
            case _:
                made.append(statement)
    return tuple(made)


def _access(node: Any, pointers: dict[str, Pointer]) -> tuple[n.Name, n.Expression | None] | None:
    """The pointer and the index of ``*(volatile T *)(p + index)``, for a pointer to T."""
    match node:
        case n.Unary("*", n.Cast(type=Pointer(volatile=True) as type, operand=operand)):
            pass
        case _:
            return None
    index: n.Expression | None = None
    match operand:
        case n.Name() as base:
            pass
        case n.Binary("+", n.Name() as base, index):
            pass
        case n.Unary("&", n.Index(base=n.Name() as base, index=index)):
            pass
        case _:
            return None
    known = pointers.get(base.name)
    return (base, index) if known is not None and known.target == type.target else None
