"""Instructions that compute the same number in other steps are told by what they make."""

from __future__ import annotations

from functools import partial

import pytest

import ptxkit
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.terms import Term, Terms
from ptxkit.decompiler.verify.openings import BEFORE, Place
from ptxkit.decompiler.verify.results import Results
from ptxkit.decompiler.verify.variables import Variables

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 o) {{
    .reg .b32 %r<9>; .reg .b64 %d<9>;
    ld.param.u64 %d1, [x]; ld.param.u64 %d2, [o]; ld.global.u64 %d3, [%d1];
    {code}
    st.global.u64 [%d2], %d4; ret;
}}"""
WORDS = (
    "cvt.u32.u64 %r1, %d3; and.b32 %r2, %r1, 4095; shr.u32 %r3, %r2, 3;"
    "and.b32 %r4, %r3, 504; cvt.u64.u32 %d4, %r4;"
)
#: The same in one step less, in 64 bits.
WIDE = "shr.u64 %d5, %d3, 3; and.b64 %d4, %d5, 504;"
OTHERS = {
    "another mask": WIDE.replace("504", "1016"),
    "another shift": WIDE.replace(", 3;", ", 4;"),
    "its bits in another place": WIDE.replace("shr.u64", "shl.b64"),
    "another number": WIDE.replace("%d3", "%d1"),
}


def result(code: str, terms: Terms, spread: int = 0xFFFF) -> Term | None:
    """What the last mask makes of a number that was seen to be what it is in other programs."""
    module = ptxkit.parse(KERNEL.format(code=code))
    coverage = Coverage.of(module, module["k"])
    coverage.ran.update(one.span[0] for one in coverage.instructions())
    found = Results(coverage, terms, partial(Variables(module, module).known, 0))
    loads = {t[0]: t[0][1] for s in found.steps[0] if s.name == "ld" for t in s.targets if t}
    for one in coverage.instructions():
        found.seen.values[one.span[0], BEFORE] = {
            register: (ord(name[-1]), spread) for register, name in loads.items()
        }
    masks = [at for at, step in enumerate(found.steps[0]) if step.name == "and"]
    return found.result(Place(0, masks[-1]))


def test_the_same_bits_are_the_same_result() -> None:
    terms = Terms()
    made = result(WORDS, terms)
    assert made is not None
    assert made == result(WIDE, terms)


@pytest.mark.parametrize("what", OTHERS)
def test_other_bits_are_not(what: str) -> None:
    terms = Terms()
    assert result(WORDS, terms) != result(OTHERS[what], terms)


def test_one_number_alone_says_nothing() -> None:
    assert result(WORDS, Terms(), spread=1) is None
