"""What nobody would write: conversions that C++ makes by itself, counters declared before loops.

Both mean the same without; the PTX is compared all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ptxkit.cuda import CudaModule
from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, UINT, Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt_lists
from ptxkit.decompiler.verify.certificates import compiled
from ptxkit.decompiler.verify.identity import same_ptx

Body = tuple[n.Statement, ...]
_CONVERTING = frozenset("+ - * / % & | ^ < > <= >= == !=".split())
#: Longer files are left as they are.
_MOST = 3000


def tidied(tree: CudaModule, arch: str, *, separate: bool) -> CudaModule:
    """The file without such things, if the compiler makes the same PTX of it."""
    items = tuple(tidy(i) if isinstance(i, n.Function) and i.body else i for i in tree.items)
    if items == tree.items:
        return tree
    one = compiled(tree, arch, separate=separate).module
    if one is None or sum(len(f.instructions) for f in one.functions if f.has_body) > _MOST:
        return tree
    made = replace(tree, items=items)
    two = compiled(made, arch, separate=separate).module
    own = [f.name for f in one.functions if f.has_body]
    if two is None or own != [f.name for f in two.functions if f.has_body]:
        return tree
    return made if all(same_ptx(one, two, name) for name in own) else tree


def tidy(function: n.Function) -> n.Function:
    """One function without them.

    >>> from ptxkit.cuda import print_function
    >>> from ptxkit.cuda.types import LONG_LONG, VOID, Pointer
    >>> i, m, x = map(n.Name, ("i", "m", "x"))
    >>> loop = n.For(None, n.Binary("<", i, n.Cast(LONG_LONG, m)), n.Assign(i, n.integer(1), "+="),
    ...              (n.Assign(n.Index(x, i), n.integer(0)),))
    >>> body = n.Declare(LONG_LONG, "i", n.integer(0)), loop
    >>> parameters = n.Parameter(Pointer(INT), "x"), n.Parameter(INT, "m")
    >>> print(print_function(tidy(n.Function("k", parameters, body, VOID, True))).strip())
    __global__ void k(int *x, int m) {
        for (long long i = 0; i < m; i++) x[i] = 0;
    }
    """
    types: dict[str, Type | None] = {p.name: p.type for p in function.parameters}
    for node in function.walk():
        if isinstance(node, n.Declare):
            known = types.get(node.name, node.type)
            types[node.name] = node.type if known == node.type else None
    sure = {name: type for name, type in types.items() if type is not None}
    body = tuple(bottom_up(s, lambda node: _implicit(node, sure)) for s in function.body or ())
    return replace(function, body=_started(body))


def _implicit(node: n.Node, types: Mapping[str, Type]) -> n.Node:
    """An operation on numbers of 64 bits without conversions to that."""
    match node:
        case n.Binary(operator, left, right) if operator in _CONVERTING:
            if _is_widened(right, types) and _type(left, types) == _cast(right):
                return n.Binary(operator, left, right.operand)  # type: ignore[union-attr]
            if _is_widened(left, types) and _type(right, types) == _cast(left):
                return n.Binary(operator, left.operand, right)  # type: ignore[union-attr]
    return node


def _is_widened(node: n.Expression, types: Mapping[str, Type]) -> bool:
    """Whether it is a number of 32 bits, converted to one of 64."""
    match node:
        case n.Cast(type=Scalar(kind="int", bits=64), operand=operand):
            return _type(operand, types) in (INT, UINT)
    return False


def _cast(node: n.Expression) -> Type | None:
    return node.type if isinstance(node, n.Cast) else None


def _type(node: n.Expression, types: Mapping[str, Type]) -> Type | None:
    try:
        return infer(node, types)
    except (KeyError, AttributeError, AssertionError, TypeError):
        return None  # a name that is not of here


def _started(body: Body) -> Body:
    """``int i = a; for (; ...)`` as ``for (int i = a; ...)`` where nobody needs it afterwards."""
    made: list[n.Statement] = []
    for place, statement in enumerate(body):
        one = rebuilt_lists(statement, _started)
        match made[-1:], one:
            case [n.Declare(name=name, space="", value=n.Node()) as first], n.For(start=None):
                asked = one.condition.names() if one.condition is not None else ()
                if name in asked and not any(name in s.names() for s in body[place + 1 :]):
                    made[-1] = replace(one, start=first)
                    continue
        made.append(one)
    return tuple(made)
