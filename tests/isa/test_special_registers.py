"""Every special register against ptxas: the types ``mov`` reads it at, and what it needs."""

from __future__ import annotations

import pytest

from ptxkit.isa.actuals import Actual
from ptxkit.isa.match import match
from ptxkit.isa.operands import check_operands
from ptxkit.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister, find_special_register
from ptxkit.isa.targets import Target, Version
from ptxkit.isa.variants import PREFIXES
from tests.isa import ptxas
from tests.isa.ptxas import verdicts

TYPES = "pred b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64".split()
PLACES = [
    ("2.0", "sm_20"), ("3.0", "sm_20"), ("3.1", "sm_30"), ("4.0", "sm_30"), ("4.0", "sm_50"),
    ("4.1", "sm_20"), ("5.0", "sm_20"), ("7.5", "sm_80"), ("7.6", "sm_75"), ("7.6", "sm_80"),
    ("7.8", "sm_89"), ("7.8", "sm_90"), ("8.0", "sm_50"), ("8.1", "sm_90"), ("9.0", "sm_100a"),
]  # fmt: skip

FOUR = Actual("vector", elements=(Actual("register", "b32"),) * 4)

needs_ptxas = pytest.mark.skipif(ptxas.find_ptxas() is None, reason="no ptxas on this machine")


def _texts(register: SpecialRegister) -> list[tuple[str, str]]:
    """The operands that name the register or an element of it, with the component."""
    if not register.is_vector:
        return [(register.name, "")]
    return [(f"{register.name}.{component}", component) for component in register.components]


@needs_ptxas
def test_mov_reads_each_register_at_the_types_we_say() -> None:
    questions = [
        (f"mov.{wanted} {PREFIXES[wanted]}1, {text};", wanted, register.actual(component))
        for register in SPECIAL_REGISTERS.values()
        for text, component in _texts(register)
        for wanted in TYPES
    ]
    answers = verdicts([text for text, _, _ in questions], "9.0", "sm_100a")
    wrong = []
    for (text, wanted, actual), theirs in zip(questions, answers, strict=True):
        destination = Actual("register", wanted)
        fitting = [
            one
            for one in match("mov", (f".{wanted}",))
            if not check_operands(one, (destination, actual))
        ]
        if bool(fitting) == bool(theirs):
            wrong.append(f"{text} ours {'yes' if fitting else 'no'}, ptxas: {theirs or 'yes'}")
    assert not wrong, "\n".join(wrong)


@needs_ptxas
def test_whole_vectors_are_read_at_once() -> None:
    names = [register.name for register in SPECIAL_REGISTERS.values() if register.is_vector]
    lines = [f"mov.v4.u32 {{r1, r2, r3, r4}}, {name};" for name in names]
    assert verdicts(lines, "9.0", "sm_100a") == [""] * len(lines)
    for name in names:
        assert any(
            not check_operands(one, (FOUR, SPECIAL_REGISTERS[name].actual()))
            for one in match("mov", (".v4", ".u32"))
        )


@needs_ptxas
@pytest.mark.parametrize(("version", "target"), PLACES)
def test_version_and_target_of_each_register(version: str, target: str) -> None:
    registers = list(SPECIAL_REGISTERS.values())
    lines = [f"mov.{r.type} {PREFIXES[r.type]}1, {_texts(r)[0][0]};" for r in registers]
    answers = verdicts(lines, version, target)
    wrong = [
        f"{register.name} at {version} {target}: we need {register.requirement}, ptxas: {theirs}"
        for register, theirs in zip(registers, answers, strict=True)
        if register.requirement.met_by(Version.parse(version), Target.parse(target)) == bool(theirs)
    ]
    assert not wrong, "\n".join(wrong)


@needs_ptxas
def test_no_neighbour_of_a_range_exists() -> None:
    names = "%pm8 %pm8_64 %envreg32 %reserved_smem_offset_2 %nsmid.x %tid.q".split()
    assert all(find_special_register(name) is None for name in names)
    assert all(verdicts([f"mov.u32 r1, {name};" for name in names], "9.0", "sm_100a"))


def test_every_register_has_a_sentence() -> None:
    for name, register in SPECIAL_REGISTERS.items():
        assert name == register.name and name.startswith("%")
        assert register.summary.endswith(".")
