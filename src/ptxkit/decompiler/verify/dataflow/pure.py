"""Instructions with a meaning of their own: moves, sums and products, comparisons, selections.

Each gives True where it has executed the step; else the step is an operation like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.decompiler.verify.dataflow.bits import packed, part
from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.decompiler.verify.dataflow.integers import INTEGERS, KNOWN, meaning
from ptxkit.decompiler.verify.dataflow.opcodes import plain_opcode
from ptxkit.decompiler.verify.dataflow.reals import decided
from ptxkit.decompiler.verify.dataflow.terms import Term
from ptxkit.isa.types import SCALAR_TYPES

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.dataflow.semantics import Semantics
    from ptxkit.decompiler.verify.dataflow.state import State

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
#: The bits of infinity, and all but the sign.
_INFINITE = {"f32": 0x7F80_0000, "f64": 0x7FF0_0000_0000_0000}
_SIGNLESS = {"f32": 0x7FFF_FFFF, "f64": 0x7FFF_FFFF_FFFF_FFFF}
#: What cuts some bits out of a number.
_CUTS = ("cvt", "and")
#: The smaller and the greater of two integers.
_EXTREMES = frozenset(f"{name}.{type}" for name in ("min", "max")
                      for type in ("s16", "u16", "s32", "u32", "s64", "u64"))  # fmt: skip


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


class _UnknownError(Exception):
    """An instruction with these operands has no meaning of its own."""


def _integer(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    """What computes with integers."""
    if len(step.targets) != 1:
        return False
    types = source_types(step)
    values = tuple(self.value(state, s, t) for s, t in zip(step.sources, types, strict=True))
    wide = step.targets[0][1] if step.name == "cvt" and step.targets[0] is not None else ""
    key = "integer", plain_opcode(step), wide

    def compute(*terms: Term) -> Diagram:
        chosen = _all_but_one(self, step, terms)
        if chosen is not None:
            return chosen
        return self.decisions.leaf(known(*terms))

    def known(*terms: Term) -> Term:
        made = meaning(self.terms, step, terms)
        if made is None:
            raise _UnknownError
        return made

    mask = self.decisions.term(values[-1])
    mask = None if mask is None or self.terms.constant_of(mask) is None else mask
    try:
        if step.name in _CUTS and len(values) == 1:
            value = self.decisions.case_by_case(key, known, values[0])
        elif step.name in _CUTS and mask is not None:
            value = self.decisions.case_by_case((*key, mask), lambda a: known(a, mask), values[0])
        else:
            value = self.decisions.apply(key, compute, values)
    except _UnknownError:
        return False
    self.write(state, step.targets[0], value, guard)
    return True


def _all_but_one(self: Semantics, step: Step, values: tuple[Term, ...]) -> Diagram | None:
    """The smaller of a number and the greatest but one, or the greater and the least but one.

    Compilers ask whether it is the one number that becomes another.
    """
    if step.opcode not in _EXTREMES:
        return None
    width, signed = SCALAR_TYPES[step.type].width, step.type[0] == "s"
    constants = [self.terms.constant_of(one) for one in values]
    if (constants[0] is None) == (constants[1] is None):
        return None
    place = 0 if constants[0] is None else 1
    number, limit = values[place], values[1 - place]
    least = step.name == "min"
    above = self.terms.add(width, limit, self.terms.constant(width, int(least)))
    asked, turned = self.terms.less(signed, width, number, above)
    if asked is None or self.terms.rows[asked][0] != "eq":
        return None
    # The smaller of the two is the number where that is less, the greater where it is not.
    kept, other = (self.decisions.leaf(one) for one in (number, limit))
    return self.decisions.choose(
        self.decisions.ask(asked), *((kept, other) if least != turned else (other, kept))
    )


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


def _not(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type == "pred":
        value = self.decisions.negate(self.value(state, step.sources[0], "pred"))
        self.write(state, step.targets[0], value, guard)
        return True
    return _integer(self, state, step, guard)


def _logic(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    if step.type != "pred":
        return _integer(self, state, step, guard)
    a, b = (self.value(state, s, "pred") for s in step.sources)
    d = self.decisions
    made = {"and": d.both(a, b), "or": d.either(a, b), "xor": d.choose(a, d.negate(b), b)}
    self.write(state, step.targets[0], made[step.name], guard)
    return True


def _equal(self: Semantics, width: int, x: Term, y: Term) -> Diagram:
    """Whether two numbers are equal: bits that are united are none where none of either is."""
    terms, decisions = self.terms, self.decisions
    asked, turned = terms.equal(width, x, y)
    if asked is None:
        return decisions.true if turned else decisions.false
    _, bits, difference = terms.rows[asked]
    row, zero = terms.rows[difference], terms.constant(bits, 0)
    answer = decisions.ask(asked)
    if row[0] == "op" and len(row) == 5 and row[1] == f"or.b{bits}":
        answer = decisions.both(*(_equal(self, bits, one, zero) for one in row[3:]))
    elif row[0] == "op" and len(row) == 5 and row[1] == f"xor.b{bits}":
        answer = _equal(self, bits, *row[3:])
    return decisions.negate(answer) if turned else answer


def _numbers(self: Semantics, sort: str, x: Term, y: Term) -> tuple[Term, Term]:
    """Two terms that are numbers exactly where two others are: signs do not matter for that.

    A constant that is one says nothing: a compiler asks ``x == x`` or takes any.
    """
    x, y = (_without_sign(self, sort, one) for one in (x, y))
    for one, other in ((x, y), (y, x)):
        bits = self.terms.constant_of(one)
        if bits is not None and sort in _INFINITE and bits & _SIGNLESS[sort] <= _INFINITE[sort]:
            return other, other
    return x, y


def _without_sign(self: Semantics, sort: str, term: Term) -> Term:
    """What is a number exactly where another one is that differs from it in its sign at most."""
    row = self.terms.rows[term]
    while row[0] == "op" and row[1] in (f"abs.{sort}", f"neg.{sort}"):
        term = row[3]
        row = self.terms.rows[term]
    return term


def _setp(self: Semantics, state: State, step: Step, guard: Diagram | None) -> bool:
    words = step.opcode.split(".")
    if step.type == "f16x2":
        return False  # two comparisons, one for each target
    floats = step.type.startswith("f")
    table = FLOAT_COMPARISONS if floats else _COMPARISONS
    if (
        words[1] not in table
        or (not floats and step.type not in INTEGERS)
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
            if name == "num":
                x, y = _numbers(self, sort, x, y)
            if name in ("eq", "equ", "num"):
                x, y = sorted((x, y))
            known = decided(self.terms, name, sort, x, y)
            if known is not None:
                return self.decisions.true if known != opposite else self.decisions.false
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
    **dict.fromkeys(KNOWN, _integer), "mov": _mov, "not": _not, "and": _logic, "or": _logic,
    "xor": _logic, "setp": _setp, "selp": _selp,
}  # fmt: skip
