"""Opcodes as proofs take them: without a rounding that is there anyway, or a sign that is not."""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.isa.types import FLOAT, SCALAR_TYPES

#: What takes numbers as those that it works on.
OF_ITS_TYPE = frozenset(("st", "atom", "red", "shfl", "match", "redux"))
#: What others may see, or change, at any time; ``.cv`` is there to look again.
ORDERED = frozenset(
    (".volatile", ".relaxed", ".acquire", ".release", ".mmio", ".sc", ".weak.volatile", ".cv")
)
#: What an assembler may put together into one rounding, if none is written.
CONTRACTED = frozenset(("add", "sub", "mul"))
#: What updates memory in one step, what it does without a sign, and what is so anyway.
_UPDATES = frozenset(("atom", "red"))
_SIGNLESS = frozenset((".add", ".and", ".or", ".xor", ".exch", ".cas"))
_USUAL = frozenset(("relaxed", "gpu"))
_ROUNDINGS = frozenset((".rn", ".rz", ".rm", ".rp"))


def contracted(steps: Iterable[Step]) -> frozenset[str]:
    """The types of which there are products and sums that say nothing about rounding.

    Only these may an assembler put together; elsewhere, to say nothing is to say ``.rn``.
    """
    silent = {(step.name == "mul", step.type) for step in steps if is_silent(step)}
    return frozenset(type for product, type in silent if product and (False, type) in silent)


def may_leave_out(step: Step) -> bool:
    """Whether an instruction rounds to the nearest if it says nothing.

    Of formats that live in registers of bits, what says nothing may be contracted.
    """
    return _rounds(step.name, step.type)


def is_silent(step: Step) -> bool:
    """Whether it does say nothing."""
    return says_no_rounding(step.name, step.type, step.modifiers)


def says_no_rounding(name: str, type: str, modifiers: Iterable[str]) -> bool:
    """The same of an instruction that was not decoded.

    >>> says_no_rounding("mul", "f32", [".f32"]), says_no_rounding("mul", "f32", [".rn", ".f32"])
    (True, False)
    """
    return _rounds(name, type) and _ROUNDINGS.isdisjoint(modifiers)


def _rounds(name: str, type: str) -> bool:
    return name in CONTRACTED and type in SCALAR_TYPES and SCALAR_TYPES[type].kind == FLOAT


def plain_opcode(step: Step) -> str:
    """The opcode, with types that mean the same spelled alike."""
    if step.name in ("and", "or", "xor", "not", "add", "sub", "mul", "selp", "mov", "shl"):
        signed = step.name == "mul" and (".hi" in step.modifiers or ".wide" in step.modifiers)
        if not signed and ".sat" not in step.modifiers:
            return ".".join(_unsigned(w) for w in step.opcode.split("."))
    return step.opcode


def plain_memory(step: Step) -> str:
    """The opcode of a load or store: what is moved has no sign, whatever a load makes of it.

    That of an atomic update is the same where nobody asks for what was there before, and where it
    says what holds anyway: that it orders nothing else, for all threads of the GPU. What is added,
    exchanged or combined bit by bit has no sign.
    """
    if step.name in _UPDATES and ".async" not in step.modifiers:
        signless = not step.modifiers.isdisjoint(_SIGNLESS)
        words = (_unsigned(word) if signless else word for word in step.opcode.split(".")[1:])
        return ".".join(("atom", *sorted(word for word in words if word not in _USUAL)))
    if step.name not in ("ld", "st"):
        return step.opcode
    if step.name == "ld" and step.modifiers & ORDERED and _fills_up(step):
        return step.opcode
    return ".".join(map(_bits, step.opcode.split(".")))


def _fills_up(step: Step) -> bool:
    width = SCALAR_TYPES[step.type].width
    return any(t is not None and SCALAR_TYPES[t[1]].width > width for t in step.targets)


def _unsigned(word: str) -> str:
    return "b" + word[1:] if word[1:].isdigit() and word[0] in "us" else word


def _bits(word: str) -> str:
    return "b" + word[1:] if word[1:].isdigit() and word[0] in "usf" else word
