"""Instructions with a meaning of their own: moves, sums and products, comparisons, selections.

Each gives True where it has executed the step; else the step is an operation like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.decompiler.verify.dataflow.bits import (
    bitwise,
    divided,
    divided_signed,
    masked,
    packed,
    part,
    shifted_right,
    shifted_signed,
)
from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.decode import Operand, Step
from ptxkit.decompiler.verify.dataflow.terms import Term
from ptxkit.isa.types import SCALAR_TYPES

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.semantics import Semantics, State

_INTEGERS = frozenset(("u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64"))
#: Conditions as an order, an equality, or the opposite of one of them.
_COMPARISONS = {
    "lt": ("lt", False, False), "gt": ("lt", True, False), "le": ("lt", True, True),
    "ge": ("lt", False, True), "lo": ("lt", False, False), "hi": ("lt", True, False),
    "ls": ("lt", True, True), "hs": ("lt", False, True), "eq": ("eq", False, False),
    "ne": ("eq", False, True),
}  # fmt: skip
#: With floats the opposite of an order is true of NaN too.
FLOAT_COMPARISONS = {
    "lt": ("lt", False, False), "gt": ("lt", True, False), "le": ("le", False, False),
    "ge": ("le", True, False), "eq": ("eq", False, False), "neu": ("eq", False, True),
    "ltu": ("le", True, True), "gtu": ("le", False, True), "leu": ("lt", True, True),
    "geu": ("lt", False, True), "ne": ("equ", False, True), "equ": ("equ", False, False),
    "num": ("num", False, False), "nan": ("num", False, True),
}  # fmt: skip


def source_types(step: Step) -> list[str]:
    """The type that each operand is read as."""
    count = len(step.sources)
    types = [step.type] * count
    if step.name in ("shl", "shr") and count == 2:
        types[1] = "b32"
    elif step.name in ("mad",) and ".wide" in step.modifiers and count == 3:
        types[2] = {"16": "b32", "32": "b64"}[step.type[1:]]
    elif step.name in ("bfe", "bfi", "shf", "prmt", "szext", "bmsk"):
        types[-2:] = ["b32"] * len(types[-2:])
        if step.name == "bfe":
            types[0] = step.type
        elif step.name == "bfi":
            types[:2] = [step.type] * 2
    elif step.name == "slct":
        types = [step.types[0], step.types[0], step.types[-1]]
    elif step.name == "lop3":
        types = ["b32"] * count
    return [
        "pred" if s.kind == "register" and s.parts[0].value == "pred" else t
        for s, t in zip(step.sources, types, strict=True)
    ]


def _number(self: Semantics, state: State, operand: Operand, type: str = "b32") -> int | None:
    """The number that an operand is, itself or in a register; None where it may be any."""
    if operand.kind == "number":
        return int(operand.value)
    term = self.decisions.term(self.value(state, operand, type))
    return None if term is None else self.terms.constant_of(term)


def _unary(
    self: Semantics, state: State, step: Step, guard: Diagram | None, key: Any, function: Any
) -> bool:
    value = self.value(state, step.sources[0], step.type)
    leaf = self.decisions.leaf
    self.write(
        state, step.targets[0], self.decisions.apply(key, lambda a: leaf(function(a)), (value,)),
        guard,
    )  # fmt: skip
    return True


def _mov(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    source = step.sources[0]
    if len(step.targets) > 1:  # apart
        width = SCALAR_TYPES[step.type].width
        whole = self.value(state, source, f"b{width}")
        count = len(step.targets)
        for number, target in enumerate(step.targets):
            value = self.decisions.apply(
                ("part", number, count, width),
                lambda a, n=number: self.decisions.leaf(part(self.terms, width, a, n, count)),
                (whole,),
            )
            self.write(state, target, value, guard)
        return True
    target = step.targets[0]
    if target is None:
        return True
    if source.kind == "vector":
        width = SCALAR_TYPES[step.type].width // len(source.parts)
        value = self.decisions.apply(
            ("packed", width),
            lambda *a: self.decisions.leaf(packed(self.terms, width, a)),
            tuple(self.value(state, p, f"b{width}") for p in source.parts),
        )
    else:
        value = self.value(state, source, "pred" if step.type == "pred" else step.type)
    self.write(state, target, value, guard)
    return True


def _arithmetic(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    """Sums and products of integers."""
    if step.type not in _INTEGERS or step.modifiers & {".cc", ".sat", ".hi"}:
        return False
    terms, leaf = self.terms, self.decisions.leaf
    width = SCALAR_TYPES[step.type].width
    wide = ".wide" in step.modifiers
    out = 2 * width if wide else width
    signed = step.type.startswith("s")
    values = [
        self.value(state, s, t) for s, t in zip(step.sources, source_types(step), strict=True)
    ]

    def compute(a: Term, b: Term, c: Term | None = None) -> Diagram:
        if step.name == "add":
            return leaf(terms.add(width, a, b))
        if step.name == "sub":
            return leaf(terms.add(width, a, b, -1))
        if wide:
            a, b = terms.extend(signed, width, out, a), terms.extend(signed, width, out, b)
        product = terms.multiply(out, a, b)
        return leaf(product if c is None else terms.add(out, product, c))

    key = "sum", step.name, width, wide, signed and wide
    self.write(state, step.targets[0], self.decisions.apply(key, compute, tuple(values)), guard)
    return True


def _shl(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    by = _number(self, state, step.sources[1])
    width = SCALAR_TYPES[step.type].width
    if by is None or not 0 <= by < width:
        return False
    factor = 1 << by
    return _unary(
        self, state, step, guard, ("scale", width, factor),
        lambda a: self.terms.scale(width, a, factor),
    )  # fmt: skip


def _negate(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type not in _INTEGERS:
        return False
    width = SCALAR_TYPES[step.type].width
    return _unary(
        self, state, step, guard, ("scale", width, -1), lambda a: self.terms.scale(width, a, -1)
    )


def _not(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type == "pred":
        value = self.decisions.negate(self.value(state, step.sources[0], "pred"))
        self.write(state, step.targets[0], value, guard)
        return True
    width = SCALAR_TYPES[step.type].width
    minus = self.terms.constant(width, -1)
    return _unary(
        self, state, step, guard, ("not", width), lambda a: self.terms.add(width, minus, a, -1)
    )


def _logic(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type != "pred":
        return _bitwise(self, state, step, guard)
    a, b = (self.value(state, s, "pred") for s in step.sources)
    d = self.decisions
    made = {"and": d.both(a, b), "or": d.either(a, b), "xor": d.choose(a, d.negate(b), b)}
    self.write(state, step.targets[0], made[step.name], guard)
    return True


def _bitwise(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type not in _INTEGERS:
        return False
    width = SCALAR_TYPES[step.type].width
    opcode = f"{step.name}.b{width}"

    def compute(a: Term, b: Term) -> Diagram:
        made = bitwise(self.terms, opcode, (a, b))
        assert made is not None
        return self.decisions.leaf(made)

    a, b = (self.value(state, s, step.type) for s in step.sources)
    value = self.decisions.apply((step.name, width), compute, (a, b))
    self.write(state, step.targets[0], value, guard)
    return True


def _shr(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    by = _number(self, state, step.sources[1])
    width = SCALAR_TYPES[step.type].width
    if by is None or not 0 <= by < width:
        return False
    shift = shifted_signed if step.type.startswith("s") else shifted_right
    return _unary(
        self, state, step, guard, (shift, width, by),
        lambda a: shift(self.terms, width, a, by),
    )  # fmt: skip


def _div(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type not in _INTEGERS:
        return False
    by = _number(self, state, step.sources[1], step.type)
    width = SCALAR_TYPES[step.type].width
    signed = step.type.startswith("s")
    if not by or (signed and (not 0 < by < 1 << width - 1 or by & by - 1)):
        return False
    quotient = divided_signed if signed else divided
    return _unary(
        self, state, step, guard, (quotient, width, by),
        lambda a: quotient(self.terms, width, a, by % (1 << width)),
    )  # fmt: skip


def _extreme(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type not in _INTEGERS or step.opcode != f"{step.name}.{step.type}":
        return False

    def compute(a: Term, b: Term) -> Diagram:
        made = bitwise(self.terms, step.opcode, (a, b))
        if made is None:
            made = self.terms.operation(step.opcode, 0, (a, b))
        return self.decisions.leaf(made)

    a, b = (self.value(state, s, step.type) for s in step.sources)
    value = self.decisions.apply(("extreme", step.opcode), compute, (a, b))
    self.write(state, step.targets[0], value, guard)
    return True


def _field(
    self: Semantics, state: State, operands: Sequence[Operand], width: int
) -> tuple[int, int] | None:
    """Where a field of bits begins and how many it has, if it lies inside of a number."""
    start, length = (_number(self, state, one) for one in operands)
    if start is None or length is None or (width == 64 and not 0 <= start | length < 256):
        return None  # of 64 bits all of these numbers counts
    place, bits = start & 255, length & 255
    return (place, bits) if bits and place + bits <= width else None


def _bfe(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    width = SCALAR_TYPES[step.type].width
    found = _field(self, state, step.sources[1:], width)
    if found is None:
        return False
    place, bits = found
    terms, signed = self.terms, step.type.startswith("s")

    def compute(a: Term) -> Term:
        if signed:
            return shifted_signed(
                terms, width, terms.scale(width, a, 1 << width - place - bits), width - bits
            )
        return masked(terms, width, shifted_right(terms, width, a, place), (1 << bits) - 1)

    return _unary(self, state, step, guard, ("bits", width, signed, place, bits), compute)


def _bfi(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    """Some bits of a number in the place of those of another one."""
    width = SCALAR_TYPES[step.type].width
    found = _field(self, state, step.sources[2:], width)
    if found is None:
        return False
    place, bits = found
    terms, mask = self.terms, (1 << bits) - 1

    def compute(a: Term, b: Term) -> Diagram:
        kept = masked(terms, width, b, ((1 << width) - 1) & ~(mask << place))
        moved = terms.scale(width, masked(terms, width, a, mask), 1 << place)
        return self.decisions.leaf(terms.add(width, kept, moved))

    values = tuple(self.value(state, s, step.type) for s in step.sources[:2])
    value = self.decisions.apply(("bfi", width, place, bits), compute, values)
    self.write(state, step.targets[0], value, guard)
    return True


def _prmt(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    """Bytes of two words."""
    chosen = _number(self, state, step.sources[2])
    if chosen is None or step.opcode != "prmt.b32":
        return False
    places = [chosen >> 4 * k & 15 for k in range(4)]
    if any(place > 7 for place in places):
        return False  # a sign
    terms = self.terms

    def compute(*words: Term) -> Diagram:
        made, k = terms.constant(32, 0), 0
        while k < 4:
            first, count = places[k], 1
            while k + count < 4 and places[k + count] == first + count != 4:
                count += 1
            moved = shifted_right(terms, 32, words[first // 4], 8 * (first % 4))
            field = masked(terms, 32, moved, (1 << 8 * count) - 1)
            made = terms.add(32, made, terms.scale(32, field, 1 << 8 * k))
            k += count
        return self.decisions.leaf(made)

    values = tuple(self.value(state, s, "b32") for s in step.sources[:2])
    value = self.decisions.apply(("prmt", tuple(places)), compute, values)
    self.write(state, step.targets[0], value, guard)
    return True


def _shf(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    """A word out of two, side by side."""
    by = _number(self, state, step.sources[2])
    if by is None or step.type != "b32" or not 0 <= by < 32:
        return False
    terms = self.terms
    up = by if ".l" in step.modifiers else 32 - by

    def compute(low: Term, high: Term) -> Diagram:
        upper = terms.scale(32, high, 1 << up)
        return self.decisions.leaf(terms.add(32, upper, shifted_right(terms, 32, low, 32 - up)))

    values = tuple(self.value(state, s, "b32") for s in step.sources[:2])
    value = self.decisions.apply(("shf", up), compute, values)
    self.write(state, step.targets[0], value, guard)
    return True


def _cvt(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if (
        len(step.types) != 2
        or not set(step.types) <= _INTEGERS | {"u8", "s8"}
        or ".sat" in step.modifiers
    ):
        return False
    target, source = (SCALAR_TYPES[t] for t in step.types)
    register = step.targets[0]
    if register is None or SCALAR_TYPES[register[1]].width != target.width:
        return False
    if target.width < source.width:
        return _unary(
            self, state, step, guard, ("truncate", source.width, target.width),
            lambda a: self.terms.truncate(source.width, target.width, a),
        )  # fmt: skip
    if target.width == source.width:
        return _unary(self, state, step, guard, "same", lambda a: a)
    signed = step.types[1].startswith("s")
    return _unary(
        self, state, step, guard, ("extend", signed, source.width, target.width),
        lambda a: self.terms.extend(signed, source.width, target.width, a),
    )  # fmt: skip


def _cvta(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    # Global addresses are the same numbers as generic ones.
    if ".global" not in step.modifiers:
        return False
    return _unary(self, state, step, guard, "same", lambda a: a)


def _equal(self: Semantics, width: int, x: Term, y: Term) -> Diagram:
    """Whether two numbers are equal: bits that are united are none where none of either is."""
    terms, decisions = self.terms, self.decisions
    asked, answer = terms.equal(width, x, y)
    if asked is None:
        return decisions.true if answer else decisions.false
    _, bits, difference = terms.rows[asked]
    row, zero = terms.rows[difference], terms.constant(bits, 0)
    if row[0] == "op" and len(row) == 5 and row[1] == f"or.b{bits}":
        return decisions.both(*(_equal(self, bits, one, zero) for one in row[3:]))
    if row[0] == "op" and len(row) == 5 and row[1] == f"xor.b{bits}":
        return _equal(self, bits, *row[3:])
    return decisions.ask(asked)


def _setp(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    words = step.opcode.split(".")
    if step.type == "f16x2":
        return False  # two comparisons, one for each target
    floats = step.type.startswith("f")
    table = FLOAT_COMPARISONS if floats else _COMPARISONS
    if (
        words[1] not in table
        or (not floats and step.type not in _INTEGERS)
        or ".ftz" in step.modifiers
    ):
        return False
    name, swapped, opposite = table[words[1]]
    signed = step.type.startswith("s") or floats
    if words[1] in ("lo", "hi", "ls", "hs"):
        signed = False
    width = SCALAR_TYPES[step.type].width
    sort = step.type if floats else f"{'s' if signed else 'u'}{width}"
    a, b = (self.value(state, s, step.type) for s in step.sources[:2])

    def compare(x: Term, y: Term) -> Diagram:
        if swapped:
            x, y = y, x
        asked: Term | None
        if floats:
            x, y = self.settled(x), self.settled(y)
            if name in ("eq", "equ", "num"):
                x, y = sorted((x, y))
            asked, turned = self.terms.make("compare", name, sort, x, y), False
        elif name == "eq":
            answer = _equal(self, width, x, y)
            return self.decisions.negate(answer) if opposite else answer
        else:
            asked, turned = self.terms.less(signed, width, x, y)
        if asked is None:
            return self.decisions.true if turned != opposite else self.decisions.false
        answer = self.decisions.ask(asked)
        return self.decisions.negate(answer) if turned != opposite else answer

    truth = self.decisions.apply(("setp", name, swapped, opposite, sort), compare, (a, b))
    other = self.decisions.negate(truth)
    if len(step.sources) == 3:
        third = self.value(state, step.sources[2], "pred")
        d = self.decisions
        mixed: dict[str, Callable[[Diagram, Diagram], Diagram]] = {
            "and": d.both,
            "or": d.either,
            "xor": lambda p, q: d.choose(p, d.negate(q), q),
        }
        mix = mixed[words[2]]
        truth, other = mix(truth, third), mix(other, third)
    for target, value in zip(step.targets, (truth, other), strict=False):
        self.write(state, target, value, guard)
    return True


def _selp(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    a, b = (self.value(state, s, step.type) for s in step.sources[:2])
    condition = self.value(state, step.sources[2], "pred")
    self.write(state, step.targets[0], self.decisions.choose(condition, a, b), guard)
    return True


SPECIAL: dict[str, Callable[[Semantics, State, Step, Diagram | None], bool]] = {
    "mov": _mov, "add": _arithmetic, "sub": _arithmetic, "mul": _arithmetic, "mad": _arithmetic,
    "shl": _shl, "shr": _shr, "div": _div, "bfe": _bfe, "bfi": _bfi, "prmt": _prmt, "shf": _shf,
    "neg": _negate, "not": _not, "and": _logic, "or": _logic, "xor": _logic, "cvt": _cvt,
    "min": _extreme, "max": _extreme, "cvta": _cvta, "setp": _setp, "selp": _selp,
}  # fmt: skip
