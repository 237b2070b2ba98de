"""Variables that are only read as numbers of 64 bits: these, not each use, say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import UINT, UNSIGNED_LONG_LONG, Pointer, Scalar, Type
from ptxkit.decompiler.lift.rewrite import Body, bottom_up, written

_ORDERED = frozenset("< > <= >= == !=".split())
_COUNTED = frozenset("+ - *".split())


def with_wide_variables(body: Body, types: Mapping[str, Type]) -> Body:
    """``unsigned int i = ...; if ((unsigned long long)i < n)`` with a wide ``i`` and no cast.

    >>> from ptxkit.cuda.printer import print_function
    >>> from ptxkit.cuda.types import VOID
    >>> i, size = n.Name("i"), n.Name("size")
    >>> asked = n.Binary("<", n.Cast(UNSIGNED_LONG_LONG, i), size)
    >>> store = n.Assign(n.Index(n.Name("p"), i), i)
    >>> first = n.Declare(UINT, "i", n.Member(n.Name("threadIdx"), "x"))
    >>> types = {"i": UINT, "size": UNSIGNED_LONG_LONG, "p": Pointer(UNSIGNED_LONG_LONG)}
    >>> body = with_wide_variables((first, n.If(asked, (store,))), types)
    >>> print(print_function(n.Function("k", (), body, VOID)), end="")
    __global__ void k() {
        unsigned long long i = threadIdx.x;
        if (i < size) p[i] = i;
    }
    """
    changed = Counter(name for statement in body for name in written(statement))
    # What is cut to 32 bits, or has a sign, would be another number in 64.
    declared = {
        s.name for statement in body for s in statement.walk()
        if isinstance(s, n.Declare) and s.type == UINT and s.value is not None and not s.space
        and changed[s.name] == 1 and type_of(s.value, types) == UINT
    }  # fmt: skip
    if not declared:
        return body
    uses = _Uses(declared, types)
    for statement in body:
        uses.see(statement)
    wide = {name for name in declared if uses.cast[name] and not uses.narrow[name]}
    if not wide:
        return body

    def change(node: Any) -> Any:
        match node:
            case n.Declare(name=name) if name in wide:
                return replace(node, type=UNSIGNED_LONG_LONG)
            case n.Cast(type=type, operand=n.Name(name=name)) if (
                name in wide and type == UNSIGNED_LONG_LONG
            ):
                return node.operand
        return node

    return tuple(bottom_up(statement, change) for statement in body)


class _Uses:
    """How often variables are converted to 64 bits, and how often read as what they are."""

    def __init__(self, names: set[str], types: Mapping[str, Type]) -> None:
        self.names, self.types = names, types
        self.cast: Counter[str] = Counter()
        self.narrow: Counter[str] = Counter()

    def see(self, node: n.Node) -> None:
        match node:
            case n.Cast(type=type, operand=n.Name(name=name)) if name in self.names:
                self.cast[name] += type == UNSIGNED_LONG_LONG
                wide = isinstance(type, Scalar) and type.is_integer and type.bits == 64
                self.narrow[name] += not wide
                return
            case n.Index(base=base, index=n.Name()) if isinstance(
                type_of(base, self.types), Pointer
            ):
                self.see(base)
                return
            case n.Binary(operator=operator, left=left, right=right):
                for one, other in ((left, right), (right, left)):
                    if not isinstance(one, n.Name) or not self._wide(operator, other):
                        self.see(one)
                return
            case n.Assign(target=target, value=n.Name()) if (
                type_of(target, self.types) == UNSIGNED_LONG_LONG
            ):
                self.see(target)
                return
            case n.Name(name=name) if name in self.names:
                self.narrow[name] += 1
        for part in node.children():
            self.see(part)

    def _wide(self, operator: str, other: n.Expression) -> bool:
        """Whether what stands beside a variable makes it one of 64 bits, or does not mind it."""
        if operator in _ORDERED and isinstance(other, n.Literal):
            return True
        found = type_of(other, self.types)
        known = isinstance(found, Scalar) and found.is_integer and found.bits == 64
        return known and operator in _ORDERED | _COUNTED


def type_of(node: n.Expression, types: Mapping[str, Type]) -> Type | None:
    """The type of an expression; None where it is not known."""
    try:
        return infer(node, types)
    except (KeyError, AttributeError, AssertionError, TypeError):
        return None
