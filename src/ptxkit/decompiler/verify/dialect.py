"""What kind of arithmetic a kernel does: some differences no sample of inputs will show.

Denormals that are flushed in one instruction, another rounding, the last bit of a constant, half
of a word that is stored: they change a result once in a million times, or for one number only.
A compiler has no reason to bring them in. Where a candidate has arithmetic of such a kind that
the original does not have, equal runs are not enough.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ptxkit.isa.types import FLOAT, SCALAR_TYPES
from ptxkit.syntax import Instruction

_LITERAL = re.compile(r"\b0[fFdD]([0-9a-fA-F]{8}(?:[0-9a-fA-F]{8})?)\b")
_INTEGER = re.compile(r"\.[us](?=\d)")
_COMPARED = frozenset(("setp", "set"))
#: Roundings are written out for what rounds to nearest by default, or not.
_DEFAULT = frozenset(("add", "sub", "mul"))
#: What moves numbers and does not compute with them.
_MOVES = frozenset("ld ldu st mov selp shfl atom red cvta prmt tex suld sust call".split())
_MEMORY = frozenset(("ld", "st", "atom", "red"))
_SIGNED = frozenset(("setp", "shr", "div", "rem", "min", "max", "cvt", "ld"))
_SPACES = ("global", "shared", "local", "const")


@dataclass(slots=True)
class Dialect:
    """The arithmetic that occurs in some code."""

    literals: set[str] = field(default_factory=set)
    """Floating-point constants, by their bits."""
    operations: dict[str, set[str]] = field(default_factory=dict)
    """For each instruction that computes with floating-point numbers its forms."""
    widths: dict[str, set[int]] = field(default_factory=dict)
    """For each state space the sizes in bits of what is loaded and stored."""

    signs: Counter[str] = field(default_factory=Counter)
    """How often instructions occur that take integers as signed, or as unsigned."""

    @staticmethod
    def of(instructions: Iterable[Instruction]) -> Dialect:
        """Read instructions."""
        found = Dialect()
        for one in instructions:
            text = one.text
            if "0f" in text or "0d" in text or "0F" in text or "0D" in text:
                found.literals.update(bits.upper() for bits in _LITERAL.findall(text))
            types = [m[1:] for m in one.modifiers if m[1:] in SCALAR_TYPES]
            if one.name in _SIGNED or ".wide" in one.modifiers or ".hi" in one.modifiers:
                found.signs[f"{one.name} {types}"] += 1
            if one.name in _MEMORY and types:
                space = next((s for s in _SPACES if f".{s}" in one.modifiers), "generic")
                if ".param" not in one.modifiers:
                    found.widths.setdefault(space, set()).add(SCALAR_TYPES[types[-1]].width)
            elif one.name not in _MOVES and any(SCALAR_TYPES[t].kind == FLOAT for t in types):
                found.operations.setdefault(one.name, set()).add(_form(one))
        return found

    def foreign(self, other: Dialect) -> str:
        """What the other has that this one does not; empty where there is nothing."""
        for bits in sorted(other.literals - self.literals):
            negated = f"{int(bits, 16) ^ 1 << 4 * len(bits) - 1:0{len(bits)}X}"
            if not int(bits, 16) & ~(1 << 4 * len(bits) - 1) or negated not in self.literals:
                return f"computes with 0{'f' if len(bits) == 8 else 'd'}{bits}"
        for name, forms in other.operations.items():
            new = sorted(forms - self.operations.get(name, forms))
            if new:
                return f"has {new[0]}"
        for space, widths in other.widths.items():
            known = set().union(self.widths.get(space, ()), self.widths.get("generic", ()))
            smaller = sorted(w for w in widths - known if known and w < max(known))
            if smaller:
                return f"loads or stores {smaller[0]} bits in {space} memory"
        return ""


def _form(one: Instruction) -> str:
    """The opcode without what makes no difference, or one that runs show."""
    words = _INTEGER.sub(".b", one.opcode).split(".")
    if one.name in _COMPARED:
        words = [words[0], *(w for w in words[1:] if w in ("ftz", "approx") or w in SCALAR_TYPES)]
    return without_default(one, ".".join(words))


def without_default(one: Instruction, opcode: str) -> str:
    """An opcode without the rounding that it has anyway."""
    return opcode.replace(".rn", "", 1) if one.name in _DEFAULT else opcode
