"""Every instruction of the ready-made sets, with registers and with literals, before ptxas."""

from __future__ import annotations

import pytest

from ptxkit import stack
from ptxkit.stack import Interface, Isa
from tests.stack.soak import refused

INPUTS = {f"{name}_{n}": name for name in stack.STACKS for n in range(5)}


def stubs_of(isa: Isa) -> tuple[Interface, list[str]]:
    """Stubs with one instruction each, and how they end in outputs."""
    outputs = {f"{name}_out{n}": name for name in stack.STACKS for n in range(2)}
    interface = Interface(INPUTS, outputs, isa, missing="keep")
    made = []
    for row in isa.instructions:
        inputs = [f"{one}_{n}" for n, one in enumerate(row.arguments)]
        made.append(stack.compile([*inputs, row.name], interface))
        for place, name in enumerate(row.arguments):
            kind = isa.stack(name)
            values = (0, 1) if name == "pred" else (0, 1, (1 << kind.width) - 1,
                                                    1 << (kind.width - 1), 300)  # fmt: skip
            for bits in values:
                words = [*inputs[:place], (_value(kind, bits), name), *inputs[place + 1 :]]
                made.append(stack.compile([*words, row.name], interface))
    return interface, made


def _value(kind: stack.Stack, bits: int) -> object:
    return f"0x{bits:X}" if kind.number in ("float", "bfloat") else bits


@pytest.mark.parametrize(("target", "memory"), [("sm_90", True), ("sm_80", False),
                                                ("sm_120", False)])  # fmt: skip
def test_every_instruction_is_taken_by_ptxas(target: str, memory: bool) -> None:
    interface, stubs = stubs_of(Isa.default(target, memory=memory))
    assert len(stubs) > 2000
    assert refused(interface, stubs) == []


def test_the_simulator_knows_nearly_all_instructions() -> None:
    isa = Isa.default()
    _ = isa.native
    unknown = [
        row.name
        for row in isa.instructions
        if row.arguments and row.immediate is None and row.name not in isa.folded
    ]
    assert unknown == []


def test_any_opcode_of_the_table_can_be_used() -> None:
    stub = stack.compile(["x", "y", "add.rz.ftz.sat.f32"], {"x": "f32", "y": "f32"}, {"z": "f32"})
    assert "add.rz.ftz.sat.f32 z, x, y;" in stub


def test_memory_must_be_allowed() -> None:
    with pytest.raises(stack.StackError, match="memory"):
        stack.compile(["a", "ld.global.f32"], {"a": "u64"}, {"z": "f32"})
    allowed = Isa.default(memory=True)
    stub = stack.compile(["a", "ld.global.f32"], {"a": "u64"}, {"z": "f32"}, allowed)
    assert "ld.global.f32 z, [a];" in stub
    atomic = stack.compile(["a", "i", "atom.global.add.u32"], {"a": "u64", "i": "u32"},
                           {"z": "u32"}, allowed)  # fmt: skip
    assert "atom.global.add.u32 z, [a], i;" in atomic
