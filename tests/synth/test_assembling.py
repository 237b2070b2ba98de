"""The assembler's word on rows: machine code for each, or the check alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxkit
from ptxkit.errors import UsageError
from ptxkit.synth import Made, Plan, Rejected, Settings, find, generate
from ptxkit.synth.assembling import Assembled, assembled

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
GOOD = HEAD + ".visible .entry a() { ret; }\n"
BAD = HEAD + ".visible .entry b() { mov.b32 %r1, 1; ret; }\n"
# The text is right, but no machine has so much shared memory.
HUGE = (
    HEAD
    + ".visible .entry c() { .shared .b8 x[99999999]; .reg .b32 %r; "
    + ("ld.shared.b32 %r, [x]; st.shared.b32 [x+4], %r; ret; }\n")
)


@pytest.mark.parametrize("name", ["tiers", "ptx"])
@pytest.mark.parametrize("assemble", [True, False])
def test_every_row_says_whether_it_was_assembled(name: str, assemble: bool, tmp_path: Path) -> None:
    source, settings = find(name), Settings(archs=("sm_80", "sm_90"), assemble=assemble)
    samples = [source.sample(11, index, settings) for index in range(8)]
    for row in source.make(11, samples, settings, tmp_path):
        assert isinstance(row, Made)
        word = "assembled" if assemble else "accepted by the assembler"
        for target in row.targets:
            assert target.assembled is assemble
            measured = assemble and source.measures
            assert (target.registers is not None) is (target.code_bytes is not None) is measured
            assert f"ptx {target.arch} {word}" in row.verification.checks


def test_machine_code_is_that_of_the_row_alone(tmp_path: Path) -> None:
    for name in ("tiers", "ptx"):
        source, settings = find(name), Settings(sass=True)
        samples = [source.sample(11, index, settings) for index in range(5)]
        for row in source.make(11, samples, settings, tmp_path):
            assert isinstance(row, Made)
            (target,) = row.targets
            kernels = ptxkit.parse(target.ptx_forward).kernels
            assert target.sass is not None and target.registers and target.code_bytes
            assert target.sass.count(".section\t.text.") == len(kernels)


def test_code_generation_refuses_what_reading_takes() -> None:
    for measured in (True, False):
        made = assembled([GOOD, BAD, HUGE], "sm_80", Settings(), measured=measured)
        assert [type(one) for one in made] == [Assembled, Rejected, Rejected]
        assert isinstance(made[0], Assembled) and made[0].made
        assert (made[0].needs is not None) is measured
        assert "0x5f5e0ff bytes" in str(made[2]) or "too much shared" in str(made[2])
    quick = assembled([GOOD, BAD, HUGE], "sm_80", Settings(assemble=False))
    assert isinstance(quick[0], Assembled) and not quick[0].made and quick[0].needs is None
    assert isinstance(quick[1], Rejected) and quick[1].stage == "assemble"


def test_machine_code_as_a_view_is_assembled(tmp_path: Path) -> None:
    plan = Plan("tiers", 1, 5, Settings(sass=True, assemble=False))
    with pytest.raises(UsageError, match="leave --no-assemble out"):
        generate(plan, tmp_path / "x")


def test_the_card_says_what_was_left_out(tmp_path: Path) -> None:
    for assemble, words in ((True, "made machine code of"), (False, "made no machine code")):
        folder = tmp_path / str(assemble)
        generate(Plan("ptx", 1, 5, Settings(assemble=assemble)), folder, workers=1)
        assert words in (folder / "README.md").read_text()
