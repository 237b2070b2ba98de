"""Other ways to write an expression: what may change the order in which it is computed.

Nothing here is trusted: who takes a change compiles it and compares the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from ptxkit.cuda import nodes as n

#: Operators whose operands may change places.
COMMUTE = frozenset("+ * & | ^ == != && ||".split())
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_SUMS = frozenset("+-")
_ASSOCIATE = frozenset("+ * & | ^ && ||".split())
#: Of sums of more than this one term alone changes its place; of more than that none does.
_MANY, _TOO_MANY = 4, 7
_Term = tuple[bool, n.Expression]
_EITHER = frozenset("min max fminf fmaxf fmin fmax umin umax __mul24 __umul24".split())
_FUSED = frozenset(("fmaf", "fma"))
#: What keeps a product or a sum out of a fused multiply-add, and how else it is written.
_ALONE = {"__fmul_rn": "*", "__dmul_rn": "*", "__fadd_rn": "+", "__dadd_rn": "+"}


def other_expressions(node: n.Node, around: str = "") -> Iterator[tuple[str, n.Expression]]:
    """Other ways to write one expression, each with the name of its kind.

    ``around`` is the operator that it is an operand of: a part of a sum is put into other orders
    together with all of it.

    >>> a, b, c = map(n.Name, "abc")
    >>> from ptxkit.cuda import print_expression
    >>> [print_expression(e) for _, e in other_expressions(n.Binary("+", n.Binary("-", a, b), c))]
    ['c + (a - b)', 'a - b + c', 'a + c - b', 'c + a - b', 'c - b + a', 'a - (b - c)']
    """
    match node:
        case n.Binary(operator=operator, left=left, right=right):
            if operator in COMMUTE:
                yield "swap", n.Binary(operator, right, left)
            elif operator in _MIRRORED:
                yield "swap", n.Binary(_MIRRORED[operator], right, left)
            if around != operator and not {around, operator} <= _SUMS:
                yield from _regrouped(operator, left, right)
            yield from _undone(operator, left, right)
        case n.Unary("*", n.Binary("+" | "-") as address):
            yield from _indexed(address)
        case n.Conditional(condition, value, n.Literal(value=0)):
            yield from _by_condition(condition, value)
        case n.Call(function=function, arguments=(one, two)) if function in _EITHER:
            yield "swap", n.Call(function, (two, one))
        case n.Call(function=function, arguments=(one, two)) if function in _ALONE:
            yield "fuse", n.Binary(_ALONE[function], one, two)
        case n.Call(function=function, arguments=(one, two, three)) if function in _FUSED:
            product = n.Binary("*", one, two)
            yield "fuse", n.Binary("+", product, three)
            yield "swap", n.Call(function, (two, one, three))


def _by_condition(
    condition: n.Expression, value: n.Expression
) -> Iterator[tuple[str, n.Expression]]:
    """What is taken or not as a product, which has both computed: ``x * (a == b)``.

    >>> from ptxkit.cuda import print_expression
    >>> a, b, x = map(n.Name, "abx")
    >>> [print_expression(e) for _, e in _by_condition(n.Binary("==", a, b), x)]
    ['x * (a == b)', '(a == b) * x']
    """
    if isinstance(value, n.Literal):
        return
    yield "factor", n.Binary("*", value, condition)
    yield "factor", n.Binary("*", condition, value)


def _indexed(address: n.Binary) -> Iterator[tuple[str, n.Expression]]:
    """``*(p + a + b - 1)`` as ``p[a + b - 1]``, and as ``p[a - 1 + b]``."""
    (_, base), *terms = _terms(address)
    if not isinstance(base, n.Name) or len(terms) < 2 or not terms[0][0]:
        return
    numbers = [term for term in terms[1:] if isinstance(term[1], n.Literal)]
    others = [term for term in terms[1:] if term not in numbers]
    for rest in dict.fromkeys((tuple(terms[1:]), (*numbers, *others))):
        index = terms[0][1]
        for plus, term in rest:
            index = n.Binary("+" if plus else "-", index, term)
        yield "indices", n.Index(base, index)


def _regrouped(
    operator: str, left: n.Expression, right: n.Expression
) -> Iterator[tuple[str, n.Expression]]:
    """A sum, or a product, of three or more in other orders."""
    if operator in _SUMS:
        terms = _terms(n.Binary(operator, left, right))
    elif operator in _ASSOCIATE:
        terms = [(True, factor) for factor in factors(operator, n.Binary(operator, left, right))]
    else:
        return
    if not 2 < len(terms) <= _TOO_MANY:
        return
    orders = permutations(terms) if len(terms) <= _MANY else _one_moved(terms)
    for first, *rest in orders:
        if first[0]:
            made = first[1]
            for plus, term in rest:
                made = n.Binary((operator if operator in _ASSOCIATE and operator != "+" else "+")
                                if plus else "-", made, term)  # fmt: skip
            yield "group", made
    *start, second, last = terms
    if len(terms) == 3 and start[0][0]:
        # The last two together.
        inner = operator if operator not in _SUMS else "+" if second[0] == last[0] else "-"
        outer = operator if operator not in _SUMS else "+" if second[0] else "-"
        yield "group", n.Binary(outer, start[0][1], n.Binary(inner, second[1], last[1]))


def _one_moved(terms: list[_Term]) -> Iterator[tuple[_Term, ...]]:
    """Orders in which one term stands elsewhere; not the first one, which may be a pointer."""
    for place, term in enumerate(terms):
        rest = [*terms[:place], *terms[place + 1 :]]
        for there in range(1, len(terms)):
            if place and there not in (place, place - 1):  # one down is the next one up
                yield (*rest[:there], term, *rest[there:])


def _terms(node: n.Expression, plus: bool = True) -> list[_Term]:
    """The terms of a sum, and which of them are added."""
    match node:
        case n.Binary(operator="+" | "-" as operator, left=left, right=right):
            return [*_terms(left, plus), *_terms(right, plus == (operator == "+"))]
    return [(plus, node)]


def factors(operator: str, node: n.Expression) -> list[n.Expression]:
    """What an operator joins, in the order in which it is written."""
    match node:
        case n.Binary(operator=inner, left=left, right=right) if inner == operator:
            return [*factors(operator, left), *factors(operator, right)]
    return [node]


def _undone(
    operator: str, left: n.Expression, right: n.Expression
) -> Iterator[tuple[str, n.Expression]]:
    """What compilers make one of: factors taken out of sums, remainders from quotients."""
    match operator, left, right:
        case "*", n.Binary(operator="+" | "-" as inner, left=a, right=b), _:
            yield "spread", n.Binary(inner, n.Binary("*", a, right), n.Binary("*", b, right))
        case "<<", n.Binary(operator="*", left=a, right=b), n.Literal(value=int() as by) if by < 31:
            # ``a * 16 * b``: the compiler puts numbers last.
            for first, second in ((a, b), (b, a)):
                some = n.Binary("*", first, n.integer(1 << by))
                yield "group", n.Binary("*", some, second)
        case "-", _, n.Binary(operator="*", left=_, right=divisor):
            yield "remainder", n.Binary("%", left, divisor)
        case "&", n.Binary(operator="<<", left=n.Literal(value=1), right=place), _:
            yield "bit", n.Binary("&", n.Binary(">>", right, place), n.integer(1))
        case "&", _, n.Binary(operator="<<", left=n.Literal(value=1), right=place):
            yield "bit", n.Binary("&", n.Binary(">>", left, place), n.integer(1))
        case "==" | "!=", n.Binary("|", x, n.Literal(value=int(bit))), n.Literal(
            value=int(sum)
        ) if bit and not bit & (bit - 1) and sum & bit:
            yield "bit", _either(operator, x, sum ^ bit, sum)
            yield "bit", _either(operator, x, sum, sum ^ bit)
        case "==" | "!=", n.Binary(operator="-", left=whole, right=part), _:
            yield "balance", n.Binary(operator, whole, n.Binary("+", part, right))
        case "==" | "!=", _, n.Binary(operator="-", left=whole, right=part):
            yield "balance", n.Binary(operator, whole, n.Binary("+", part, left))
    if operator == "+":
        yield from _one_more(n.Binary(operator, left, right))


def _either(operator: str, x: n.Expression, *numbers: int) -> n.Expression:
    """Whether something is one of two numbers, or none of them; compilers ask for both at once."""
    one, other = (n.Binary(operator, x, n.integer(number)) for number in numbers)
    return n.Binary("||" if operator == "==" else "&&", one, other)


def _one_more(node: n.Binary) -> Iterator[tuple[str, n.Expression]]:
    """``a * b + a + c`` as ``a * (b + 1) + c``."""
    terms = [term for plus, term in _terms(node) if plus]
    if len(terms) < len(_terms(node)):
        return
    for place, product in enumerate(terms):
        match product:
            case n.Binary(operator="*", left=a, right=b):
                for one, other in ((a, b), (b, a)):
                    rest = [t for k, t in enumerate(terms) if k != place]
                    if one in rest:
                        rest.remove(one)
                        made: n.Expression = n.Binary("+", other, n.integer(1))
                        made = n.Binary("*", one, made)
                        for term in rest:
                            made = n.Binary("+", made, term)
                        yield "factor", made


Products = Mapping[str, tuple[n.Expression, n.Expression]]
"""Variables that are products, and of what."""


def factored(node: n.Node, products: Products) -> Iterator[tuple[str, n.Expression]]:
    """``n - w + x``, where ``n`` is ``y * w``, as ``(y - 1) * w + x``.

    >>> from ptxkit.cuda import print_expression
    >>> y, w, x = map(n.Name, "ywx")
    >>> node = n.Binary("+", n.Binary("-", n.Name("n"), w), x)
    >>> [print_expression(made) for _, made in factored(node, {"n": (y, w)})]
    ['(y - 1) * w + x']
    """
    if not isinstance(node, n.Binary) or node.operator not in _SUMS:
        return
    terms = _terms(node)
    for place, (plus, term) in enumerate(terms):
        if not plus or not isinstance(term, n.Name) or term.name not in products:
            continue
        one, two = products[term.name]
        for other, (sign, by) in enumerate(terms):
            for row, width in ((one, two), (two, one)):
                if other == place or by != width:
                    continue
                made: n.Expression = n.Binary("+" if sign else "-", row, n.integer(1))
                made = n.Binary("*", made, width)
                for k, (added, rest) in enumerate(terms):
                    if k not in (place, other):
                        made = n.Binary("+" if added else "-", made, rest)
                yield "factor", made
