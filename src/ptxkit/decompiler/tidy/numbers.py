"""Numbers put together: ``i + (1 + k)`` is ``i + k + 1``, and ``1 * n`` is ``n``.

They are left where a value that is known took the place of a name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import INT, Pointer, Scalar, Type
from ptxkit.decompiler.lift.rewrite import bottom_up

#: What two numbers are, by what is between them.
_COMPUTED: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
}  # fmt: skip
_LARGEST = 1 << 31
_SUM = frozenset("+-")


def plain_numbers(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function without sums and products of numbers.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n) (param int i))
    ...     (let int a (+ (* 1 n) (* i (+ 1 1))))
    ...     (= ([] x (- (+ a (+ 2 i)) 1)) 0.0f))''')
    >>> print(print_function(plain_numbers(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n, int i) {
        int a = n + i * 2;
        x[a + i + 1] = 0.0f;
    }
    """
    types: dict[str, Type] = {p.name: p.type for p in function.parameters}
    body = function.body or ()
    types |= {p.name: p.type for s in body for p in s.walk() if isinstance(p, n.Declare)}

    def change(node: Any) -> Any:
        made = _together(node, types) if isinstance(node, n.Binary) else node
        return made if made is node or take() else node

    return replace(function, body=tuple(bottom_up(s, change) for s in body))


def _together(node: n.Binary, types: Mapping[str, Type]) -> n.Expression:
    one, two = _number(node.left), _number(node.right)
    if one is not None and two is not None:
        compute = _COMPUTED.get(node.operator)
        value = compute(one, two) if compute else _LARGEST
        return n.integer(value) if abs(value) < _LARGEST else node
    if node.operator == "*" and 1 in (one, two):
        other = node.right if one == 1 else node.left
        # What is shorter than an int is one in a product.
        return other if _is_whole(other, types, least=INT.bits) else node
    if node.operator not in _SUM:
        return node
    terms = _terms(node, 1)
    numbers = [k for k, (_, term) in enumerate(terms) if _number(term) is not None]
    # One number is at home at the end, or before what is taken away from it.
    if len(numbers) < 2 and not (numbers and _out_of_place(node, terms)):
        return node
    if not _is_whole(node, types):
        return node
    return _sum(terms, node)


def _out_of_place(node: n.Binary, terms: list[tuple[int, n.Expression]]) -> bool:
    inner = node.right
    beside = node.operator == "+" and isinstance(inner, n.Binary) and inner.operator in _SUM
    return beside or (_number(terms[0][1]) is not None and terms[1][0] > 0)


def _sum(terms: list[tuple[int, n.Expression]], node: n.Binary) -> n.Expression:
    """What terms and numbers among them come to; the node where they would begin with a minus."""
    constant = 0
    rest = []
    for sign, term in terms:
        number = _number(term)
        if number is None:
            rest.append((sign, term))
        else:
            constant += sign * number
    if not rest or abs(constant) >= _LARGEST:
        return node
    if rest[0][0] < 0:
        if constant <= 0:
            return node
        rest, constant = [(1, n.integer(constant)), *rest], 0
    made = rest[0][1]
    for sign, term in rest[1:]:
        made = n.Binary("+" if sign > 0 else "-", made, term)
    if constant:
        made = n.Binary("+" if constant > 0 else "-", made, n.integer(abs(constant)))
    return made


def _terms(node: n.Expression, sign: int) -> list[tuple[int, n.Expression]]:
    """What is added (1) and taken away (-1), from the left to the right."""
    if isinstance(node, n.Binary) and node.operator in _SUM:
        other = sign if node.operator == "+" else -sign
        return [*_terms(node.left, sign), *_terms(node.right, other)]
    return [(sign, node)]


def _number(node: n.Expression) -> int | None:
    match node:
        case n.Literal(value=value, type=type) if type == INT and not isinstance(value, float):
            return int(value)
    return None


def _is_whole(node: n.Expression, types: Mapping[str, Type], least: int = 0) -> bool:
    """Whether sums of it are exact, in whatever order: whole numbers, and places in memory."""
    try:
        found = infer(node, types)
    except (KeyError, TypeError, ValueError):
        return False
    if isinstance(found, Pointer):
        return not least
    return isinstance(found, Scalar) and found.is_integer and found.bits >= least
