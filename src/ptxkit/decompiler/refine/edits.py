"""All small changes to a function that may bring its PTX nearer to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG_LONG,
    UINT,
    UNSIGNED_LONG_LONG,
    VOID,
    Pointer,
    Scalar,
    Type,
)
from ptxkit.decompiler.learned.forms import only, questions, rewritten
from ptxkit.decompiler.refine.branching import branched
from ptxkit.decompiler.refine.expressions import COMMUTE, factored, other_expressions
from ptxkit.decompiler.refine.moves import in_memory, moved, remainders
from ptxkit.decompiler.refine.naming import inlined, named, rebased
from ptxkit.decompiler.refine.places import (
    Edit,
    Path,
    bodies_in,
    difference,
    nodes_in,
    statement_of,
)
from ptxkit.decompiler.refine.polynomials import written_out
from ptxkit.decompiler.refine.rewritings import rewritings
from ptxkit.decompiler.refine.stored import stored

#: The other sign of a variable.
_OTHER = {
    INT: UINT,
    UINT: INT,
    LONG_LONG: UNSIGNED_LONG_LONG,
    UNSIGNED_LONG_LONG: LONG_LONG,
}
#: A type that holds the same numbers in 64 bits, or those of 32 bits that it may be made of.
_OTHER_WIDTH = {
    INT: (LONG_LONG,),
    UINT: (LONG_LONG, UNSIGNED_LONG_LONG),
    LONG_LONG: (INT,),
    UNSIGNED_LONG_LONG: (UINT, INT),
}
#: What rounds a product and a sum once, with the operands in this order.
_FUSED: dict[Type | None, str] = {FLOAT: "fmaf", DOUBLE: "fma"}
#: Questions of form that the changes of here do not ask themselves.
_ASKED = frozenset("power cast choice branch start loop".split())


class _Types(dict[str, Type]):
    """Types by name; what is not known is a number."""

    def __missing__(self, key: str) -> Type:
        return INT


def edits(
    function: n.Function, places: set[Path] | None = None, order: Sequence[str] = ()
) -> Iterator[Edit]:
    """Every change that may be tried at some statements, or at all, in no order of worth.

    ``order`` is that in which PTX reads the indices of threads.
    """
    holding = None if places is None else {p[:k] for p in places for k in range(2, len(p) + 1, 2)}
    types = _Types({p.name: p.type for p in function.parameters})
    products: dict[str, tuple[n.Expression, n.Expression]] = {}
    for _, node in nodes_in(function):
        if isinstance(node, n.Declare):
            types[node.name] = node.type
            if isinstance(node.value, n.Binary) and node.value.operator == "*":
                products[node.name] = node.value.left, node.value.right

    def is_float(node: n.Expression) -> bool:
        found = infer(node, types)
        return isinstance(found, Scalar) and found.is_float

    operators: dict[Path, str] = {}
    for path, node in nodes_in(function):
        if isinstance(node, n.Binary):
            operators[path] = node.operator
        if places is None or statement_of(path) in places:
            around = operators.get(path[:-1], "")
            for kind, expression in (*other_expressions(node, around), *factored(node, products)):
                yield Edit(kind, path, node, expression)
            yield from (Edit(kind, path, node, one) for kind, one in _written(node))
            if isinstance(node, n.Binary) and node.operator == "+" and is_float(node):
                fma = _FUSED.get(infer(node, types))
                for product, term in ((node.left, node.right), (node.right, node.left)):
                    if fma and isinstance(product, n.Binary) and product.operator == "*":
                        one = n.Call(fma, (product.left, product.right, term))
                        yield Edit("fused", path, node, one)
            if isinstance(node, n.Index) and (index := written_out(node.index)) is not None:
                yield Edit("expand", path, node, n.Index(node.base, index))
    returns_nothing = function.returns == VOID
    for path, body in bodies_in(function):
        here = frozenset(k for k in range(len(body)) if holding is None or (*path, k) in holding)
        if here:
            for changes in (
                moved(body, here),
                remainders(body, here),
                in_memory(body, here),
                stored(body, here),
                inlined(body, here, types),
                named(body, here, types),
                rebased(body, here, types),
                branched(body, here, is_float, outermost=path == ("body",) and returns_nothing),
            ):
                for kind, start, end, new in changes:
                    yield Edit(kind, path, body[start:end], new, start)
    for kind, other in rewritings(function, order):
        yield Edit(kind, (), function, other)
    for number, question in enumerate(questions(function)):
        if question.form in _ASKED:
            found = difference(question.form, function, rewritten(function, only(number)))
            if found is not None and (places is None or found.statement() in places):
                yield found


def _written(node: n.Node) -> Iterator[tuple[str, n.Node]]:
    match node:
        case n.Assign(target=target, value=value, operator=compound) if compound != "=":
            # What is added is computed before what it is added to is read.
            operator = compound[:-1]
            yield "whole", n.Assign(target, n.Binary(operator, target, value))
            if operator in COMMUTE:
                yield "whole", n.Assign(target, n.Binary(operator, value, target))
        case n.Declare(type=Scalar() as type, space="") if type in _OTHER:
            yield "sign", replace(node, type=_OTHER[type])
            for other in _OTHER_WIDTH[type]:
                yield "width", replace(node, type=other)
        case n.Parameter(type=Scalar() as type) if type in _OTHER:
            yield "sign", replace(node, type=_OTHER[type])
        case n.Parameter(type=Pointer() as type):
            yield "restrict", replace(node, type=replace(type, restrict=not type.restrict))
