"""What is compared in one part of a question, computed before all of the question.

Behind ``&&`` and ``||`` a compiler computes only what it needs; people often compute limits and
distances first, and ask for them together. Nothing here is trusted: who takes a change compiles it
and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import Scalar, Type
from ptxkit.decompiler.lift.rewrite import Body, accesses, rebuilt_lists, size
from ptxkit.decompiler.refine.places import NewNames, nodes_in

_JOINED = frozenset(("&&", "||"))
_COMPARED = frozenset("== != < > <= >=".split())
#: Calls that are made of what is compared last, where it is asked for: a distance is named itself.
_LAST = frozenset("fabsf fabs abs __fabsf".split())
#: What has fewer nodes is compared where it is.
_SHORT = 4


def computed_first(function: n.Function) -> Iterator[n.Function]:
    """The function with names for all that is computed for such questions.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param float a) (param int i))
    ...     (if (|| (> (call fabsf (- a (* a a))) 1.0f) (> (? (> i 3) i 0) 9))
    ...         (then (= ([] x 0) a))))''')
    >>> print(print_function(next(computed_first(kernel))), end="")
    __global__ void k(float *x, float a, int i) {
        float part = a - a * a;
        int part1 = i > 3 ? i : 0;
        if (fabsf(part) > 1.0f || part1 > 9) x[0] = a;
    }

    What is loaded for a part of a question may have been loaded before, too:

    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int i))
    ...     (if (&& (> ([] x i) 3) (> ([] x 0) 5)) (then (= ([] x 1) i))))''')
    >>> print(print_function(next(computed_first(kernel))), end="")
    __global__ void k(int *x, int i) {
        int part = x[i];
        int part1 = x[0];
        if (part > 3 && part1 > 5) x[1] = i;
    }
    """
    types: dict[str, Type] = {p.name: p.type for p in function.parameters}
    types |= {node.name: node.type for _, node in nodes_in(function) if isinstance(node, n.Declare)}
    for is_named in (_is_long, accesses):
        made = _First(types, NewNames(function), is_named).statements(function.body or ())
        if made != function.body:
            yield replace(function, body=made)


def _is_long(value: n.Expression) -> bool:
    return size(value) >= _SHORT


@dataclass(frozen=True, slots=True)
class _First:
    """Names what questions of several parts are about."""

    types: Mapping[str, Type]
    names: NewNames
    is_named: Callable[[n.Expression], object]
    """Whether something gets a name."""

    def statements(self, body: Body) -> Body:
        """Statements with what their questions are about in front of them."""
        made: list[n.Statement] = []
        for whole in body:
            statement = rebuilt_lists(whole, self.statements)
            declared: list[n.Statement] = []
            match statement:
                case n.If(condition=condition):
                    asked = self._asked(condition, declared)
                    statement = replace(statement, condition=asked)
                case n.Declare(value=value) | n.Assign(value=value, operator="=") if (
                    value is not None
                ):
                    statement = replace(statement, value=self._asked(value, declared))
            made += (*declared, statement)
        return tuple(made)

    def _asked(self, node: n.Expression, declared: list[n.Statement]) -> n.Expression:
        """A question of parts with names for what they compare; those are declared."""
        match node:
            case n.Binary(operator=operator) if operator in _JOINED:
                return self._part(node, declared)
            case n.Conditional(condition, then, otherwise):
                return n.Conditional(self._asked(condition, declared), then, otherwise)
        return node

    def _part(self, part: n.Expression, declared: list[n.Statement]) -> n.Expression:
        match part:
            case n.Binary(operator=operator, left=left, right=right) if operator in _JOINED:
                first = self._part(left, declared)
                return n.Binary(operator, first, self._part(right, declared))
            case n.Unary("!", operand):
                return n.Unary("!", self._part(operand, declared))
            case n.Binary(operator=operator, left=left, right=right) if operator in _COMPARED:
                first = self._named(left, declared)
                return n.Binary(operator, first, self._named(right, declared))
        return self._named(part, declared) if accesses(part) else part

    def _named(self, value: n.Expression, declared: list[n.Statement]) -> n.Expression:
        match value:
            case n.Call(function=function, arguments=(inner,)) if function in _LAST:
                return n.Call(function, (self._named(inner, declared),))
        type = _type(value, self.types) if self.is_named(value) else None
        if type is None:
            return value
        name = self.names.take("part")
        declared.append(n.Declare(type, name, value))
        return n.Name(name)


def _type(value: n.Expression, types: Mapping[str, Type]) -> Scalar | None:
    try:
        found = infer(value, types)
    except (KeyError, AttributeError, AssertionError, TypeError):
        return None
    return found if isinstance(found, Scalar) else None
