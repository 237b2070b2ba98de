"""What comparisons of whole numbers say together: nothing that some numbers contradict."""

from __future__ import annotations

import random
from itertools import product

import pytest
from tests.decompiler.proving import bodies_proved

from ptxkit.decompiler.verify.dataflow.differences import contradict
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms

WIDE, BITS = 8, 4
ALL = range(1 << BITS)


def signed(width: int, number: int) -> int:
    return number - (1 << width) if number >> width - 1 else number


class Asked:
    """Random comparisons of sums of a variable and a constant, and what they are for numbers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.terms = Terms()
        self.variables = [self.terms.make("v", place) for place in range(3)]
        self.facts: list[tuple[Term, bool]] = []
        self.meaning: list[tuple[str, bool, int, tuple[tuple[int, int, bool], ...], bool]] = []
        while len(self.facts) < 5:
            self.add()

    def add(self) -> None:
        terms, pick = self.terms, self.random
        sort, is_signed = pick.choice(("lt", "lt", "lt", "eq")), pick.random() < 0.4
        width = WIDE if pick.random() < 0.3 else BITS
        sides, meant = [], []
        for _ in range(2):
            variable = pick.randrange(-1, 3)
            constant = pick.choice((0, 0, 1, 2, 3, -1, -2, -3, 7))
            sign = pick.random() < 0.5
            side = terms.constant(width, constant)
            if variable >= 0:
                atom = self.variables[variable]
                atom = atom if width == BITS else terms.extend(sign, BITS, WIDE, atom)
                side = terms.add(width, atom, side)
            sides.append(side)
            meant.append((variable, constant, sign))
        if sort == "lt":
            asked, turned = terms.less(is_signed, width, sides[0], sides[1])
        else:
            asked, turned = terms.equal(width, sides[0], sides[1])
        if asked is not None:
            holds = pick.random() < 0.5
            self.facts.append((asked, holds != turned))
            self.meaning.append((sort, is_signed, width, tuple(meant), holds))

    def hold(self, numbers: tuple[int, ...]) -> bool:
        for sort, is_signed, width, meant, holds in self.meaning:
            values = []
            for variable, constant, sign in meant:
                value = numbers[variable] if variable >= 0 else 0
                value = signed(BITS, value) if width == WIDE and sign else value
                value = (value + constant) % (1 << width)
                values.append(signed(width, value) if is_signed else value)
            if (values[0] < values[1] if sort == "lt" else values[0] == values[1]) != holds:
                return False
        return True


def test_what_contradicts_itself_holds_for_no_numbers() -> None:
    found = missed = 0
    for seed in range(250):
        asked = Asked(seed)
        possible = any(map(asked.hold, product(ALL, repeat=3)))
        if contradict(asked.terms, asked.facts):
            assert not possible, (seed, asked.meaning)
            found += 1
        else:
            missed += not possible
    assert found > 40
    assert found > 2 * missed  # most of what is impossible is seen to be


HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 n) {bounds} {{
    .reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<19>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [n];
    ld.global.u64 %rd3, [%rd1];
    {narrow}
    add.u64 %rd5, %rd4, {known};
    setp.ge.u64 %p1, %rd5, %rd2;
    @%p1 bra E;
"""
ABOVE = "add.u64 %rd6, %rd4, {by}; setp.lt.{type} %p2, %rd6, %rd2;"
BELOW = "sub.u64 %rd6, %rd2, {by}; setp.lt.{type} %p2, %rd4, %rd6;"
STORED = "selp.b64 %rd7, 3, 4, %p2; st.global.u64 [%rd1], %rd7; E: ret;"
SMALL, LARGE = "shr.u64 %rd4, %rd3, 3;", "mov.b64 %rd4, %rd3;"


@pytest.mark.parametrize(
    ("narrow", "known", "by", "type", "equal"),
    [
        (SMALL, 4, (5, 5), "u64", True),
        (SMALL, 4, (5, 6), "u64", False),
        (SMALL, 3, (5, 5), "u64", False),  # n may be 4, and n - 5 very large
        (LARGE, 4, (5, 5), "u64", False),  # x + 5 may be very small
        (SMALL, 4, (5, 5), "s64", False),  # n - 5 may have a sign where n has none
    ],
)
def test_a_question_may_be_asked_from_either_side(
    narrow: str, known: int, by: tuple[int, int], type: str, equal: bool
) -> None:
    head = HEAD.replace("{narrow}", narrow).replace("{known}", str(known))
    first, second = ABOVE.format(by=by[0], type=type), BELOW.format(by=by[1], type="u64")
    assert bodies_proved(head, first + STORED, second + STORED, "", thorough=True) is equal


#: What is left of a number without its lowest bits, and the question whether that is one turn.
WHOLE = "ld.global.u32 %r1, [%rd1+8]; and.b32 %r2, %r1, {bits}; sub.u32 %r3, %r1, %r2;"
ASKED = "setp.eq.u32 %p2, {of}, {one};"
UPPER = "ld.global.u32 %r1, [%rd1+8]; shr.u32 %r5, %r1, {by}; shl.b32 %r3, %r5, {by};"
KEPT = "selp.b32 %r6, %r3, 9, %p2; st.global.u32 [%rd1], %r6; E: ret;"


@pytest.mark.parametrize(
    ("bits", "by", "one", "equal"),
    [(3, 2, 1, True), (7, 3, 1, True), (7, 2, 1, False), (3, 2, 2, False), (5, 2, 1, False)],
)
def test_what_is_left_without_the_lowest_bits(bits: int, by: int, one: int, equal: bool) -> None:
    head = HEAD.replace("{narrow}", SMALL).replace("{known}", "4")
    first = WHOLE.format(bits=bits) + ASKED.format(of="%r3", one=1 << by) + KEPT
    second = UPPER.format(by=by) + ASKED.format(of="%r5", one=one) + KEPT
    assert bodies_proved(head, first, second, "", thorough=True) is equal
