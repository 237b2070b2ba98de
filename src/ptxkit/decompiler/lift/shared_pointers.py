"""Addresses of shared arrays that change places: as pointers.

``float *tmp = in; in = out; out = tmp;`` are numbers of 32 bits in PTX, of which nobody can say
which array they point into. Where such a number is only copied, and what it points to is read and
written as one type, it is a pointer to that, and the arrays hold elements of it. As in `roll`
nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, SCALARS, Array, Pointer, Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up

Body = tuple[n.Statement, ...]
_TO_NUMBER, _TO_POINTER = "__cvta_generic_to_shared", "__cvta_shared_to_generic"
_CHAR = SCALARS["char"]


def with_shared_pointers(body: Body, taken: Iterable[str] = ()) -> Body:
    """Statements with pointers in the place of numbers that are addresses of shared arrays.

    They are called pointers then: by names that are not ``taken``, nor in the statements.

    >>> from ptxkit.cuda import print_statements
    >>> from ptxkit.cuda.types import INT, UINT
    >>> def number(name):
    ...     return n.Cast(UINT, n.Call("__cvta_generic_to_shared", (n.Name(name),)))
    >>> a, b, t = map(n.Name, "abt")
    >>> place = n.Binary("+", a, n.Binary("<<", n.Name("i"), n.integer(2)))
    >>> value = n.Call("__cvta_shared_to_generic", (place,))
    >>> body = (
    ...     *(n.Declare(Array(_CHAR, (64,)), x, space="shared", alignment=4) for x in "xy"),
    ...     n.Declare(INT, "a", number("x")), n.Declare(INT, "b", number("y")),
    ...     n.Declare(INT, "t", a), n.Assign(a, b), n.Assign(b, t),
    ...     n.Assign(n.Unary("*", n.Cast(Pointer(FLOAT), value)), n.Literal(1.0, FLOAT)),
    ... )
    >>> print(print_statements(with_shared_pointers(body)), end="")
    __shared__ float x[16];
    __shared__ float y[16];
    float *ptr = x;
    float *ptr1 = y;
    float *ptr2 = ptr;
    ptr = ptr1;
    ptr1 = ptr2;
    ptr[i] = 1.0f;
    """
    if not any(isinstance(p, n.Call) and p.function == _TO_NUMBER for s in body for p in s.walk()):
        return body
    pointers = _Pointers(body)
    pointers.find()
    made = pointers.rewritten() if pointers.names else body
    return body if made is body else _renamed(made, pointers.names, taken)


def _renamed(body: Body, names: set[str], taken: Iterable[str]) -> Body:
    parts = [part for s in body for part in s.walk()]
    known = {*taken, *(p.name for p in parts if isinstance(p, n.Name | n.Declare))}
    wishes = (wish for k in count() if (wish := f"ptr{k or ''}") not in known)
    declared = dict.fromkeys(p.name for p in parts if isinstance(p, n.Declare) and p.name in names)
    new = dict(zip(declared, wishes, strict=False))

    def change(node: Any) -> Any:
        if isinstance(node, n.Name | n.Declare) and node.name in new:
            return replace(node, name=new[node.name])
        return node

    return tuple(bottom_up(s, change) for s in body)


@dataclass(slots=True)
class _Pointers:
    """The numbers of some statements that are addresses of shared arrays."""

    body: Body
    arrays: dict[str, n.Declare] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    type: Scalar = FLOAT
    counted: set[str] = field(default_factory=set)
    """Variables, and arrays, of which some use is none of a pointer."""

    def find(self) -> None:
        """Find those that are nothing else; none of them where one is something else."""
        nodes = [node for s in self.body for node in s.walk()]
        self.arrays = {
            node.name: node for node in nodes
            if isinstance(node, n.Declare) and node.space == "shared"
            and isinstance(node.type, Array) and node.type.element == _CHAR
        }  # fmt: skip
        sets = [
            (node.name if isinstance(node, n.Declare) else _name(node.target), node)
            for node in nodes
            if isinstance(node, n.Declare | n.Assign)
        ]
        changed = True
        while changed:
            changed = False
            for name, one in sets:
                value = one.value
                if name and name not in self.names and value is not None and self._is_place(value):
                    self.names.add(name)
                    changed = True
        types: Counter[Scalar] = Counter()
        for node in nodes:
            match node:
                case n.Unary("*", n.Cast(type=Pointer(target=Scalar() as type), operand=inner)) if (
                    self._place_of(inner) is not None
                ):
                    types[type] += 1
        if not types or any(
            name in self.names and one.value is not None and not self._is_set(one)
            for name, one in sets
        ):
            self.names.clear()
            return
        self.type = types.most_common(1)[0][0]

    def rewritten(self) -> Body:
        """The statements with pointers; as they were where one of them is needed as a number."""
        own = self.names | {x for x in self.arrays if self._is_pointed_to(x)}
        made = tuple(bottom_up(s, self._changed) for s in self.body)
        left = [
            node for s in made for node in s.walk()
            if isinstance(node, n.Call) and node.function in (_TO_NUMBER, _TO_POINTER)
            and not own.isdisjoint(node.names())
        ]  # fmt: skip
        known = sum(self._as_such(node) for s in made for node in s.walk())
        every = sum(_name(node) in self.names for s in made for node in s.walk())
        return self.body if left or self.counted or known != every else made

    def _as_such(self, node: n.Node) -> int:
        """How often a node names one of them for what pointers are for."""
        match node:
            case n.Index(base=n.Name(name=name)) | n.Unary("*", n.Name(name=name)):
                return name in self.names
            case n.Declare(name=name, value=value):
                return name in self.names and self._is_copied(value)
            case n.Assign(n.Name(name=name), value) if name in self.names:
                return 1 + self._is_copied(value)
        return 0

    def _is_copied(self, value: n.Expression | None) -> bool:
        match value:
            case n.Name(name=name) | n.Binary("+", n.Name(name=name)):
                return name in self.names
        return False

    def _is_pointed_to(self, array: str) -> bool:
        return any(
            isinstance(p, n.Call) and p.function == _TO_NUMBER and p.arguments == (n.Name(array),)
            for s in self.body
            for p in s.walk()
        )

    def _is_place(self, value: n.Expression) -> bool:
        """Whether a value is the start of an array, or one of the numbers plus whole elements."""
        return self._start(value) is not None or self._split(value) is not None

    def _is_set(self, node: n.Declare | n.Assign) -> bool:
        plain = isinstance(node, n.Declare) or node.operator == "="
        return plain and node.value is not None and self._is_place(node.value)

    def _start(self, value: n.Expression) -> str | None:
        match _bare(value):
            case n.Call(function, (n.Name(name=name),)) if function == _TO_NUMBER:
                return name if name in self.arrays else None
        return None

    def _split(self, value: n.Expression) -> tuple[n.Name, list[tuple[bool, n.Expression]]] | None:
        """One of the numbers, and what is added to it."""
        terms = _terms(_bare(value))
        own = [t for plus, t in terms if plus and isinstance(t, n.Name) and t.name in self.names]
        if len(own) != 1:
            return None
        return own[0], [(plus, t) for plus, t in terms if t is not own[0]]

    def _place_of(self, value: n.Expression) -> n.Expression | None:
        match value:
            case n.Call(function, (place,)) if function == _TO_POINTER and self._split(place):
                return place
        return None

    def _changed(self, node: Any) -> Any:
        match node:
            case n.Declare(name=name) if name in self.names:
                return self._as_pointer(replace(node, type=Pointer(self.type)))
            case n.Declare(name=name) if name in self.arrays and self._is_pointed_to(name):
                return self._as_array(node)
            case n.Assign(n.Name(name=name)) if name in self.names:
                return self._as_pointer(node)
            case n.Assign(
                (n.Index(n.Name(name=name)) | n.Unary("*", n.Name(name=name))) as target,
                n.Literal(value=0),
            ) if name in self.names and self.type.is_float:
                return n.Assign(target, n.Literal(0.0, self.type))
            case n.Unary("*", n.Cast(type=Pointer(target=Scalar() as type), operand=inner)):
                place = self._place_of(inner)
                found = self._split(place) if place is not None else None
                if found is None or type.size != self.type.size:
                    return node
                return self._element(*found) or node
        return node

    def _element(self, base: n.Name, terms: list[tuple[bool, n.Expression]]) -> n.Expression | None:
        index = self._index(terms)
        if index is None:
            self.counted.add(base.name)
            return None
        return n.Unary("*", base) if index == n.integer(0) else n.Index(base, index)

    def _index(self, terms: list[tuple[bool, n.Expression]]) -> n.Expression | None:
        """Some bytes as a number of elements; None where they are no whole ones."""
        made: n.Expression | None = None
        for plus, term in sorted(terms, key=lambda one: not one[0]):
            part = _divided(term, self.type.size)
            if part is None:
                return None
            if made is None:
                made = part if plus else n.Unary("-", part)
            else:
                made = n.Binary("+" if plus else "-", made, part)
        return made if made is not None else n.integer(0)

    def _as_pointer(self, node: Any) -> Any:
        if node.value is None:
            return node
        start = self._start(node.value)
        if start is not None:
            return replace(node, value=n.Name(start))
        found = self._split(node.value)
        assert found is not None
        base, terms = found
        if not terms:
            return replace(node, value=base)
        index = self._index(terms)
        if index is None:
            self.counted.add(base.name)
            return node
        return replace(node, value=n.Binary("+", base, index))

    def _as_array(self, node: n.Declare) -> n.Declare:
        assert isinstance(node.type, Array)
        bytes = node.type.shape[0] if len(node.type.shape) == 1 else 1
        if bytes % self.type.size:
            self.counted.add(node.name)
            return node
        whole = Array(self.type, (bytes // self.type.size,))
        alignment = node.alignment if node.alignment > self.type.size else 0
        return replace(node, type=whole, alignment=alignment)


def _name(target: n.Node) -> str:
    return target.name if isinstance(target, n.Name) else ""


def _bare(value: n.Expression) -> n.Expression:
    """A number without conversions to another sign."""
    while isinstance(value, n.Cast) and _is_word(value.type):
        value = value.operand
    return value


def _is_word(type: Type) -> bool:
    return isinstance(type, Scalar) and type.is_integer and type.bits == 32


def _terms(node: n.Expression, plus: bool = True) -> list[tuple[bool, n.Expression]]:
    match _bare(node):
        case n.Binary("+" | "-" as operator, left, right):
            return [*_terms(left, plus), *_terms(right, plus == (operator == "+"))]
        case bare:
            return [(plus, bare)]


def _divided(node: n.Expression, size: int) -> n.Expression | None:
    """A number of bytes as one of elements."""
    match _bare(node):
        case n.Literal(value=int() as value) if value % size == 0:
            return n.integer(value // size)
        case n.Binary("<<", inner, n.Literal(value=int() as by)) if (1 << by) % size == 0:
            times = (1 << by) // size
            return inner if times == 1 else n.Binary("*", inner, n.integer(times))
        case n.Binary("*", inner, n.Literal(value=int() as times)) if times % size == 0:
            left = times // size
            return inner if left == 1 else n.Binary("*", inner, n.integer(left))
    return None
