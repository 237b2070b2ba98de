"""One form for values that the compiler makes the same.

The rules are those of LLVM that change what PTX shows: constants to the right, subtraction of
a constant as addition, sums of integers collected, divisions by powers of two as products.
Floating point keeps its order of operations; only what is exact is rewritten.
"""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Callable

import numpy as np

from ptxkit.decompiler.neural.bounds import base as _base
from ptxkit.decompiler.neural.bounds import not_negative as _not_negative
from ptxkit.decompiler.neural.bounds import number as _number
from ptxkit.decompiler.neural.operators import OPERATORS
from ptxkit.decompiler.neural.values import COMMUTATIVE, Graph, Value, bits_of, is_literal, wrapped

Rule = Callable[["Simplifier", str, tuple[Value, ...]], Value | None]

_FLOAT = {"f32": np.float32, "f64": np.float64}
_COMPARES: dict[str, Callable[[float, float], bool]] = {
    "<": operators.lt, "<=": operators.le, ">": operators.gt, ">=": operators.ge,
    "==": operators.eq, "!=": operators.ne,
}  # fmt: skip
_INVERSE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def _rank(value: Value) -> int:
    """LLVM puts the more complex operand first; a constant is the least complex."""
    if is_literal(value):
        return 0
    return 1 if value.operator in ("parameter",) else 2


class Simplifier:
    """Makes nodes of a graph, each in its one form."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.positive: set[int] = set()
        """Variables that a loop has asked to be above zero, in that state."""

    def assume(self, condition: Value) -> None:
        """What follows happens only where this is true."""
        if condition.operator in (">.s32", ">.s64"):
            variable, limit = condition.operands
            if variable.operator == "variable" and is_literal(limit) and _number(limit) >= 0:
                self.positive.add(id(variable))

    def literal(self, value: float | int, type: str) -> Value:
        """A number, rounded or wrapped to its type."""
        if type in _FLOAT:
            with np.errstate(over="ignore"):
                return self.graph.literal(float(_FLOAT[type](value)), type)
        if type in ("i32", "i64"):
            return self.graph.literal(wrapped(int(value), bits_of(type)), type)
        return self.graph.literal(float(value) if type == "f16" else int(bool(value)), type)

    def make(self, operator: str, *operands: Value) -> Value:
        """The value of an operator on operands."""
        head, _, _ = operator.partition(".")
        rule = _RULES.get(head)
        found = rule(self, operator, operands) if rule else None
        return found if found is not None else self.raw(operator, *operands)

    def raw(self, operator: str, *operands: Value) -> Value:
        """The node as it is; where it is known with its operands exchanged, that one."""
        type = OPERATORS[operator][1]
        if operator in COMMUTATIVE and not self.graph.has(operator, operands, type):
            swapped = operands[::-1]
            if self.graph.has(operator, swapped, type):
                operands = swapped
        return self.graph.node(operator, operands, type)


# ---- sums and products -------------------------------------------------------------------


def _add(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    t = a.type
    if t in ("i32", "i64"):
        return _collected(s, s.raw(operator, a, b))
    if t == "f16":
        return None
    if is_literal(a) and is_literal(b):
        return s.literal(_number(a) + _number(b), t)
    if _rank(a) < _rank(b):
        a, b = b, a
    if b.operator == f"neg.{t}":
        return s.make(f"-.{t}", a, b.operands[0])
    if a.operator == f"neg.{t}":
        return s.make(f"-.{t}", b, a.operands[0])
    if is_literal(b) and b.payload == 0 and math.copysign(1, _number(b)) < 0:
        return a
    chosen = _into_choice(s, operator, a, b)
    if chosen is not None:
        return chosen
    # a product first: the compiler fuses it with the sum either way.
    if b.operator == f"*.{t}" and a.operator != f"*.{t}":
        a, b = b, a
    return s.raw(operator, a, b)


def _subtract(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    t = a.type
    if t in ("i32", "i64"):
        return _collected(s, s.raw(operator, a, b))
    if t == "f16":
        return None
    if is_literal(b):
        return s.make(f"+.{t}", a, s.literal(-_number(b), t))
    if b.operator == f"neg.{t}":
        return s.make(f"+.{t}", a, b.operands[0])
    if is_literal(a) and a.payload == 0 and math.copysign(1, _number(a)) < 0:
        return s.make(f"neg.{t}", b)
    if b.operator in (f"*.{t}", f"/.{t}") and any(map(is_literal, b.operands)):
        # a - x * c is fused as a + x * -c.
        return s.make(f"+.{t}", a, s.make(f"neg.{t}", b))
    return _into_choice(s, operator, a, b)


def _into_choice(s: Simplifier, operator: str, a: Value, b: Value) -> Value | None:
    """A number with a choice of which one is a number: computed beforehand for that one."""
    for place, (choice, number) in enumerate(((a, b), (b, a))):
        if not is_literal(number) or not choice.operator.startswith("?."):
            continue
        condition, *arms = choice.operands
        if any(map(is_literal, arms)):
            pairs = ((arm, number) if place == 0 else (number, arm) for arm in arms)
            return s.make(choice.operator, condition, *(s.make(operator, *p) for p in pairs))
    return None


def _multiply(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    t = a.type
    if t in ("i32", "i64"):
        if a.operator == b.operator == "special":
            # People write the two in either order.
            a, b = sorted((a, b), key=lambda x: _base(x) not in ("blockIdx", "gridDim"))
        return _collected(s, s.raw(operator, a, b))
    if t == "f16":
        return None
    if is_literal(a) and is_literal(b):
        return s.literal(_number(a) * _number(b), t)
    if _rank(a) < _rank(b):
        a, b = b, a
    negative = f"neg.{t}"
    if a.operator == negative and b.operator == negative:
        return s.make(operator, a.operands[0], b.operands[0])
    if is_literal(b):
        if b.payload == 1:
            return a
        if b.payload == -1:
            return s.make(negative, a)
        if a.operator == negative:
            return s.make(operator, a.operands[0], s.literal(-_number(b), t))
        chosen = _into_choice(s, operator, a, b)
        if chosen is not None:
            return chosen
        if b.payload == 2:
            return s.raw(f"+.{t}", a, a)
    elif a.operator == negative or b.operator == negative:
        a, b = (x.operands[0] if x.operator == negative else x for x in (a, b))
        return s.make(negative, s.make(operator, a, b))
    return s.raw(operator, a, b)


def _divide(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    t = operator.partition(".")[2]
    if t in _FLOAT and is_literal(b) and b.payload:
        if is_literal(a):
            return s.literal(_FLOAT[t](_number(a)) / _FLOAT[t](_number(b)), t)
        if abs(math.frexp(_number(b))[0]) == 0.5:
            return s.make(f"*.{t}", a, s.literal(1 / _number(b), t))
    if t[0] == "u" and is_literal(b):
        power = _power(b)
        if power is not None:
            shift = s.literal(power, "i32")
            return a if power == 0 else s.make(f">>.{t}", a, shift)
    if t[0] == "s" and is_literal(b) and b.payload == 1:
        return a
    if t[0] == "s" and id(a) in s.positive and is_literal(b) and _power(b) is not None:
        return s.make(f">>.{t}", a, s.literal(_power(b) or 0, "i32"))
    if t[0] == "s" and is_literal(b) and _not_negative(a) and _number(b) > 0:
        return s.make(f"/.u{t[1:]}", a, b)
    return None


def _remainder(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    t = operator.partition(".")[2]
    if is_literal(b) and abs(_number(b)) == 1:
        return s.literal(0, a.type)
    if t[0] == "s" and is_literal(b) and _not_negative(a) and _number(b) > 0:
        return s.make(f"%.u{t[1:]}", a, b)
    if t[0] == "u" and is_literal(b) and _power(b) is not None:
        return s.make(f"&.{a.type}", a, s.literal(_number(b) - 1, a.type))
    return None


def _negate(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    (a,) = operands
    t = a.type
    if t in ("i32", "i64"):
        return _collected(s, s.raw(operator, a))
    if t == "f16":
        return None
    if is_literal(a):
        return s.literal(-_number(a), t)
    if a.operator == operator:
        return a.operands[0]
    if a.operator in (f"*.{t}", f"/.{t}") and any(map(is_literal, a.operands)):
        flipped = [s.literal(-_number(x), t) if is_literal(x) else x for x in a.operands]
        return s.make(a.operator, *flipped)
    if a.operator == f"*.{t}":
        # The opposite of a product is that of a factor which takes it in.
        for place, factor in enumerate(a.operands):
            if factor.operator in (f"*.{t}", f"/.{t}") and any(map(is_literal, factor.operands)):
                factors = [s.make(operator, x) if k == place else x
                           for k, x in enumerate(a.operands)]  # fmt: skip
                return s.make(a.operator, *factors)
    return None


def _power(value: Value) -> int | None:
    number = int(_number(value)) & ((1 << bits_of(value.type)) - 1)
    return number.bit_length() - 1 if number and number & (number - 1) == 0 else None


# ---- integers: sums of products with constants -------------------------------------------


def _terms(s: Simplifier, value: Value, factor: int, found: dict[int, list[object]]) -> int:
    """Adds the terms of a sum to those found; gives the constant."""
    t = value.type
    head = value.operator.partition(".")[0]
    if is_literal(value):
        return int(_number(value)) * factor
    if head == "+":
        return sum(_terms(s, x, factor, found) for x in value.operands)
    if head == "-":
        left, right = value.operands
        return _terms(s, left, factor, found) + _terms(s, right, -factor, found)
    if head == "neg":
        return _terms(s, value.operands[0], -factor, found)
    if head == "~":
        return _terms(s, value.operands[0], -factor, found) - factor
    if head == "*" and any(map(is_literal, value.operands)):
        one, two = value.operands
        if is_literal(one):
            one, two = two, one
        return _terms(s, one, factor * int(_number(two)), found)
    if head == "<<" and is_literal(value.operands[1]):
        shift = int(_number(value.operands[1])) & (bits_of(t) - 1)
        return _terms(s, value.operands[0], factor << shift, found)
    entry = found.setdefault(id(value), [value, 0])
    entry[1] += factor  # type: ignore[operator]
    return 0


def _collected(s: Simplifier, value: Value) -> Value:
    """A sum of integers with each term once: what is added, what is taken away, a constant."""
    t = value.type
    found: dict[int, list[object]] = {}
    constant = wrapped(_terms(s, value, 1, found), bits_of(t))
    _join_thread_index(s, found)
    added: list[Value] = []
    taken: list[Value] = []
    for term, factor in found.values():
        assert isinstance(term, Value) and isinstance(factor, int)
        factor = wrapped(factor, bits_of(t))
        if factor == 0:
            continue
        size = abs(factor)
        scaled = term if size == 1 else s.raw(f"*.{t}", term, s.literal(size, t))
        (added if factor > 0 else taken).append(scaled)
    # Products first: they are fused with what is added.
    added.sort(key=lambda x: not x.operator.startswith("*"))
    if not added and not taken:
        return s.literal(constant, t)
    if not added:
        if constant == -1 and len(taken) == 1:
            return s.raw(f"~.{t}", taken[0])
        if constant:
            result = s.literal(constant, t)
            constant = 0
        else:
            first, *taken = taken
            result = s.raw(f"neg.{t}", first)
    else:
        result, *rest = added
        for term in rest:
            result = s.raw(f"+.{t}", result, term)
    for term in taken:
        result = s.raw(f"-.{t}", result, term)
    if constant:
        result = s.raw(f"+.{t}", result, s.literal(constant, t))
    return result


def _join_thread_index(s: Simplifier, found: dict[int, list[object]]) -> None:
    """`blockIdx.x * blockDim.x + threadIdx.x` is one thing."""
    for axis in "xyz":
        block, size = (s.graph.special(f"{w}.{axis}") for w in ("blockIdx", "blockDim"))
        one = found.get(id(s.raw("*.i32", block, size)))
        two = found.get(id(s.graph.special(f"threadIdx.{axis}")))
        if one is None or two is None or one[1] == 0:
            continue
        index = s.graph.special(f"globalIdx.{axis}")
        entry = found.setdefault(id(index), [index, 0])
        entry[1] += one[1]  # type: ignore[operator]
        two[1] -= one[1]  # type: ignore[operator]
        one[1] = 0


def _shift_left(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    return _collected(s, s.raw(operator, *operands)) if is_literal(operands[1]) else None


def _bitwise(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    t = a.type
    compute: dict[str, Callable[[int, int], int]] = {
        "&": lambda x, y: x & y, "|": lambda x, y: x | y, "^": lambda x, y: x ^ y,
    }  # fmt: skip
    head = operator[0]
    if is_literal(a):
        a, b = b, a
    if is_literal(a) and is_literal(b):
        return s.literal(compute[head](int(_number(a)), int(_number(b))), t)
    if a is b:
        return a if head != "^" else s.literal(0, t)
    if is_literal(b):
        if b.payload == 0:
            return b if head == "&" else a
        if b.payload == -1:
            return {"&": a, "|": b}.get(head) or s.make(f"~.{t}", a)
        if a.operator == operator and is_literal(a.operands[1]):
            both = compute[head](int(_number(a.operands[1])), int(_number(b)))
            return s.make(operator, a.operands[0], s.literal(both, t))
    return s.raw(operator, a, b)


def _shift_right(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    if is_literal(a) and is_literal(b):
        number = int(_number(a))
        if operator.partition(".")[2][0] == "u":
            number &= (1 << bits_of(a.type)) - 1
        return s.literal(number >> (int(_number(b)) & (bits_of(a.type) - 1)), a.type)
    if is_literal(b) and b.payload == 0:
        return a
    if a.operator == operator and is_literal(b) and is_literal(a.operands[1]):
        total = int(_number(b)) + int(_number(a.operands[1]))
        if total < bits_of(a.type):
            return s.raw(operator, a.operands[0], s.literal(total, "i32"))
    if operator.partition(".")[2][0] == "s" and _not_negative(a):
        return s.make(f">>.u{operator.partition('.')[2][1:]}", a, b)
    return None


# ---- truth -------------------------------------------------------------------------------


def _compare(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    head, _, t = operator.partition(".")
    a, b = operands
    if is_literal(a) and not is_literal(b):
        return s.make(f"{_MIRROR[head]}.{t}", b, a)
    if t == "s32" and _not_negative(a) and _not_negative(b):
        return s.make(f"{head}.u32", a, b)
    if t[0] in "su" and is_literal(b) and head in (">=", "<="):
        # The compiler compares integers with constants strictly.
        edge = int(_number(b)) + (-1 if head == ">=" else 1)
        if wrapped(edge, bits_of(b.type)) == edge and (t[0] == "s" or edge > 0):
            return s.make(f"{head[0]}.{t}", a, s.literal(edge, b.type))
    if is_literal(a) and is_literal(b):
        return s.literal(_COMPARES[head](*(_ordered(x, t) for x in (a, b))), "b")
    if is_literal(b) and a.operator.startswith("?.") and any(map(is_literal, a.operands[1:])):
        # The compiler asks for each of the two, and knows the answer for the number.
        condition, *arms = a.operands
        yes, no = (s.make(operator, arm, b) for arm in arms)
        if is_literal(yes):
            pair = (condition, no) if yes.payload else (s.make("!", condition), no)
            return s.make("||" if yes.payload else "&&", *pair)
        pair = (s.make("!", condition), yes) if no.payload else (condition, yes)
        return s.make("||" if no.payload else "&&", *pair)
    if head in ("==", "!=") and is_literal(b) and b.payload == 0 and _is_truth(a):
        truth = a.operands[0]
        return truth if head == "!=" else s.make("!", truth)
    if head in ("==", "!=") and is_literal(b) and a.operator[:1] in "+-" and a.type[0] == "i":
        left, right = a.operands if len(a.operands) == 2 else (a, a)
        if is_literal(right) and a.operator[0] == "+":
            moved = s.literal(int(_number(b)) - int(_number(right)), b.type)
            return s.make(operator, left, moved)
    return None


def _ordered(value: Value, type: str) -> float | int:
    """A number as a comparison of this type sees it."""
    number = _number(value)
    return int(number) & ((1 << bits_of(value.type)) - 1) if type[0] == "u" else number


def _is_truth(value: Value) -> bool:
    """Whether it is a condition as 1 or 0."""
    if not value.operator.startswith("?.i"):
        return False
    return [o.payload for o in value.operands[1:] if is_literal(o)] == [1, 0]


def _negated(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    (a,) = operands
    head, _, t = a.operator.partition(".")
    if is_literal(a):
        return s.literal(not a.payload, "b")
    if a.operator == "!":
        return a.operands[0]
    if a.operator in ("&&", "||"):
        other = "||" if a.operator == "&&" else "&&"
        return s.make(other, *(s.make("!", x) for x in a.operands))
    if head in _INVERSE and (t[0] in "sui" or head in ("==", "!=")):
        return s.make(f"{_INVERSE[head]}.{t}", *a.operands)
    return None


def _choose(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    condition, a, b = operands
    if a is b:
        return a
    if is_literal(condition):
        return a if condition.payload else b
    if condition.operator == "!":
        return s.make(operator, condition.operands[0], b, a)
    head, _, t = condition.operator.partition(".")
    if a.type in ("i32", "i64") and head in ("<", ">") and t[0] in "su":
        x, y = condition.operands
        less = head == "<"
        if (a, b) == (x, y):
            return s.make(f"{'min' if less else 'max'}.{t}", x, y)
        if (a, b) == (y, x):
            return s.make(f"{'max' if less else 'min'}.{t}", x, y)
    if head in ("<=", ">=", "!=") and (t[0] in "sui" or head == "!="):
        # One of each pair of comparisons, with the arms in their places.
        return s.make(operator, s.make("!", condition), b, a)
    if condition.operator in ("&&", "||"):
        # The one of a condition and its opposite that says less often what is not.
        opposite = s.make("!", condition)
        more = _denials(opposite) - _denials(condition)
        if more < 0 or (more == 0 and condition.operator == "||"):
            return s.raw(operator, opposite, b, a)
    return None


def _denials(condition: Value) -> int:
    if condition.operator == "!":
        return 1
    return sum(map(_denials, condition.operands)) if condition.operator in ("&&", "||") else 0


def _logic(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    for one, other in ((a, b), (b, a)):
        if is_literal(one):
            stays = bool(one.payload) == (operator == "&&")
            return other if stays else one
    return a if a is b else None


# ---- the rest ----------------------------------------------------------------------------


def _absolute(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    (a,) = operands
    if is_literal(a):
        return s.literal(abs(_number(a)), a.type)
    if a.operator == operator:
        return a
    if a.operator.startswith("neg."):
        return s.make(operator, a.operands[0])
    return None


def _copy_sign(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    if not is_literal(b):
        return None
    size = s.make("fabsf" if a.type == "f32" else "fabs", a)
    return size if math.copysign(1, _number(b)) > 0 else s.make(f"neg.{a.type}", size)


def _extreme(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    a, b = operands
    if is_literal(a) and not is_literal(b):
        return s.make(operator, b, a)
    for one, other in ((a, b), (b, a)):
        if one.operator == operator and any(other is x for x in one.operands):
            return one
    return a if a is b else None


def _convert(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    (a,) = operands
    _, to, source = operator.split(".")
    if is_literal(a) and "f16" not in (to, source):
        number = _number(a)
        if source[0] == "u":
            number = int(number) & ((1 << int(source[1:])) - 1)
        if to in _FLOAT or abs(number) < 2**31:
            return s.literal(int(number) if to[0] != "f" else number, _value(to))
    if source == "s32" and _not_negative(a) and to[0] == "f":
        return s.raw(f"cast.{to}.u32", a) if not is_literal(a) else None
    return None


def _value(word: str) -> str:
    return "i" + word[1:] if word[0] in "su" else word


def _extend(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    (a,) = operands
    if is_literal(a):
        number = int(_number(a))
        return s.literal(number if operator == "sext" else number & 0xFFFFFFFF, "i64")
    if operator == "sext" and _not_negative(a):
        return s.raw("zext", a)
    return None


def _truncate(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    (a,) = operands
    if is_literal(a):
        return s.literal(int(_number(a)), "i32")
    if a.operator in ("sext", "zext"):
        return a.operands[0]
    return None


def _narrow(s: Simplifier, operator: str, operands: tuple[Value, ...]) -> Value | None:
    (a,) = operands
    kind = operator[4:]
    bits = int(kind[1:])
    if is_literal(a):
        number = int(_number(a)) & ((1 << bits) - 1)
        return s.literal(wrapped(number, bits) if kind[0] == "s" else number, "i32")
    inner = low_bits(s, a, bits)
    for prefix in ("ext.", "load."):
        if inner.operator == prefix + kind:
            return inner
        if inner.operator.startswith(prefix) and inner.operator[len(prefix) :] in ("u8", "s8"):
            narrower = int(inner.operator[len(prefix) + 1 :]) < bits
            if narrower and (inner.operator[len(prefix)] == "u" or kind[0] == "s"):
                return inner
    return s.raw(operator, inner)


_LOW = ("+", "-", "*", "&", "|", "^", "neg", "~")


def low_bits(s: Simplifier, value: Value, bits: int) -> Value:
    """The value without what only changes bits that nobody looks at."""
    head, _, kind = value.operator.partition(".")
    if head == "ext" and int(kind[1:]) >= bits:
        return low_bits(s, value.operands[0], bits)
    if head in _LOW and value.type == "i32":
        return s.make(value.operator, *(low_bits(s, x, bits) for x in value.operands))
    return value


_RULES: dict[str, Rule] = {
    "+": _add, "-": _subtract, "*": _multiply, "/": _divide, "%": _remainder, "neg": _negate,
    "~": _negate, "<<": _shift_left, ">>": _shift_right,
    "&": _bitwise, "|": _bitwise, "^": _bitwise,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), _compare),
    "!": _negated, "?": _choose, "&&": _logic, "||": _logic,
    "fabsf": _absolute, "fabs": _absolute, "copysignf": _copy_sign, "copysign": _copy_sign,
    **dict.fromkeys(("min", "max", "fminf", "fmaxf", "fmin", "fmax"), _extreme),
    "cast": _convert, "sext": _extend, "zext": _extend, "low32": _truncate, "ext": _narrow,
}  # fmt: skip
