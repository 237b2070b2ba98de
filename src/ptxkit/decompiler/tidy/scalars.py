"""Single variables in memory: what is no array, and answers that are kept for all threads.

The lifter has arrays in memory of every kind, since nothing is then taken for a variable of one
thread; so this comes after all that looks at variables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL, SCALARS, Array
from ptxkit.decompiler.lift.conditions import negate
from ptxkit.decompiler.lift.rewrite import bottom_up

_BYTES = SCALARS["uchar"], SCALARS["schar"]
_NONE = n.integer(0)
_COMPARISONS = frozenset("== != < > <= >= && ||".split())


def single_variables(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function with variables in the place of arrays of one element.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int n))
    ...     (shared (array uchar 1) done) (shared (array int 1) sum)
    ...     (= ([] done 0) (? (== n threadIdx.x) 1 0))
    ...     (call atomicAdd (addr ([] sum 0)) n)
    ...     (call __syncthreads)
    ...     (if (!= ([] done 0) 0) (then (= ([] x 0) ([] sum 0)))))''')
    >>> print(print_function(single_variables(kernel, lambda: True)), end="")
    __global__ void k(int *x, int n) {
        __shared__ bool done;
        __shared__ int sum;
        done = n == threadIdx.x;
        atomicAdd(&sum, n);
        __syncthreads();
        if (done) x[0] = sum;
    }
    """
    for declared in [*_single(function)]:
        if take():
            function = _plain(function, declared)
            if _holds_answers(function, declared.name):
                function = _as_answers(function, declared.name)
    return function


def _single(function: n.Function) -> Iterator[n.Declare]:
    """Arrays of one element that are only read and written at their start."""
    parts = [part for statement in function.body or () for part in statement.walk()]
    for part in parts:
        match part:
            case n.Declare(name=name, type=Array(shape=(1,)), value=None, space=space) if space:
                uses = sum(one == n.Name(name) for one in parts)
                starts = sum(one == n.Index(n.Name(name), _NONE) for one in parts)
                if uses and uses == starts:
                    yield part


def _plain(function: n.Function, declared: n.Declare) -> n.Function:
    own = n.Name(declared.name)
    assert isinstance(declared.type, Array)
    single = replace(declared, type=declared.type.element)

    def change(node: Any) -> Any:
        if node == n.Index(own, _NONE):
            return own
        return single if node == declared else node

    return _changed(function, change)


def _holds_answers(function: n.Function, name: str) -> bool:
    """Whether a byte is only set to 0 and 1, and only asked for whether it is 0."""
    own = n.Name(name)
    uses = asked = 0
    for statement in function.body or ():
        for part in statement.walk():
            uses += part == own
            match part:
                case n.Declare(name=other, type=type) if other == name and type not in _BYTES:
                    return False
                case n.Assign(target, value, "=") if target == own and _answer(value) is not None:
                    asked += 1
                case n.Binary("==" | "!=", left, right) if left == own and right == _NONE:
                    asked += 1
    return uses == asked


def _answer(value: n.Expression) -> n.Expression | None:
    match value:
        case n.Conditional(condition, n.Literal(value=1), n.Literal(value=0)):
            return condition
        case n.Conditional(condition, n.Literal(value=0), n.Literal(value=1)):
            return negate(condition, lambda _: True)
        case n.Literal(value=0 | 1 as number):
            return n.Literal(bool(number), BOOL)
        case n.Binary(operator=operator) if operator in _COMPARISONS:
            return value
    return None


def _as_answers(function: n.Function, name: str) -> n.Function:
    own = n.Name(name)

    def change(node: Any) -> Any:
        match node:
            case n.Declare(name=other) if other == name:
                return replace(node, type=BOOL)
            case n.Assign(target, value, "=") if target == own:
                return replace(node, value=_answer(value) or value)
            case n.Binary("!=", left, right) if left == own and right == _NONE:
                return own
            case n.Binary("==", left, right) if left == own and right == _NONE:
                return n.Unary("!", own)
        return node

    return _changed(function, change)


def _changed(function: n.Function, change: Callable[[Any], Any]) -> n.Function:
    return replace(function, body=tuple(bottom_up(s, change) for s in function.body or ()))
