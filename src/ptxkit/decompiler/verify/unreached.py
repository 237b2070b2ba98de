"""What is said about code that no launch has reached.

Running says nothing about it. A claim still needs it to be alike in both kernels, and says how:

| ground | the code that did not run |
| --- | --- |
| all | there is none |
| same | is the same in both, up to the names of registers and labels |
| own | is the candidate's alone, and computes nothing that the original does not |
| alike | computes and stores the same in both; how addresses are computed is not compared |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dialect import without_default
from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Instruction

#: The share that must have run where the rest is not the same to the letter.
ENOUGH = 0.5

_NAME = re.compile(r"(?<![\w.])[%$A-Za-z_][\w$.]*")
_SIGNED = re.compile(r"\.[us](?=\d)")
_FLOAT = re.compile(r"\.(?:b?f16|f16x2|bf16x2|f32|f64)\b")
_LITERAL = re.compile(r"0[fFdD][0-9a-fA-F]+$")
_COMMUTING = frozenset(("add", "mul", "fma", "mad", "min", "max", "and", "or", "xor"))
#: What only moves a value, what only computes addresses and conditions, what leaves no value.
_MOVES = frozenset(("mov", "cvta"))
_CONTROL = frozenset(("bra", "brx", "setp", "trap", "ret", "exit"))
_INTEGER = frozenset("add sub mul mad shl shr cvt not and or xor selp neg bfe".split())
_EFFECTS = frozenset(
    "st atom red bar barrier membar fence call sust sured cp mbarrier stmatrix".split()
)
_INSIDE = "int"


@dataclass(frozen=True, slots=True)
class Ground:
    """On what a claim about unreached code stands; no name where nothing can be claimed."""

    name: str
    reason: str = ""


def ground(original: Coverage, candidate: Coverage) -> Ground:
    """What can be said about what has not run."""
    if original.complete and candidate.complete:
        return Ground("all")
    left = [[one for _, one in c.missing()] for c in (original, candidate)]
    shapes = [Counter(map(_shape, missing)) for missing in left]
    if shapes[0] == shapes[1]:
        return Ground("same")
    if min(original.share, candidate.share) >= ENOUGH:
        works = [_works(missing) for missing in left]
        if original.complete:
            everything = _works(block.instructions for block in original.blocks)
            if works[1].keys() <= everything.keys():
                return Ground("own")
        elif works[0] == works[1]:
            return Ground("alike")
    lines = sorted({one[0].line for one in left[0]})
    where = f"; of the original from line {', '.join(map(str, lines[:4]))}" if lines else ""
    count = sum(map(len, left[0])) + sum(map(len, left[1]))
    return Ground("", f"{count} instructions of both never ran, and differ{where}")


def _shape(instructions: list[Instruction]) -> tuple[str, ...]:
    """Instructions with their registers and labels numbered in the order they appear."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        return numbers.setdefault(match[0], f"${len(numbers)}")

    shapes = []
    for one in instructions:
        guard = f"@{'!' * one.guard.negated}{one.guard.predicate.text} " if one.guard else ""
        operands = ", ".join(operand.text for operand in one.operands)
        shapes.append(_NAME.sub(number, guard) + one.opcode + " " + _NAME.sub(number, operands))
    return tuple(shapes)


def _works(blocks: Iterable[Iterable[Instruction]]) -> Counter[str]:
    """What code leaves behind: the values that it computes and does not use, as expressions.

    Integer arithmetic is one word, since compilers write the same address in many ways.
    """
    held: dict[str, str] = {}
    used: set[str] = set()
    made: list[tuple[str | None, str]] = []
    for block in blocks:
        for one in block:
            if one.name in _CONTROL:
                continue
            found = registers(one)
            used.update(name.text for name in found.used)
            value = _value(one, held)
            if one.name in _EFFECTS:
                made.append((None, value))
            for name in found.defined:
                held[name.text] = value
                made.append((name.text, value))
    return Counter(
        value
        for name, value in made
        if name is None or not (name in used or value == _INSIDE or _LITERAL.match(value))
    )


def _value(one: Instruction, held: dict[str, str]) -> str:
    operands = [o for o in one.operands if o.kind != "Address"]
    inputs = operands if one.name in _EFFECTS else operands[1:]
    parts = [_part(operand.text, held) for operand in inputs]
    if one.name in _MOVES and len(parts) == 1:
        return parts[0]
    if one.name in _INTEGER and not _FLOAT.search(one.opcode):
        return _INSIDE + "|".join(sorted({p for part in parts for p in _sources(part)}))
    if one.name in _COMMUTING:
        parts[:2] = sorted(parts[:2])
    opcode = without_default(one, one.opcode)
    words = [_SIGNED.sub(".b", opcode) if one.name in ("ld", "st") else opcode, *parts]
    text = " ".join(words)
    # Long ones by what they are, so that chains stay short.
    return f"({text})".replace("|", ",") if len(text) < 200 else f"({opcode} {hash(text):x})"


def _sources(part: str) -> list[str]:
    """What integer arithmetic was done with, however often; nothing for constants."""
    if not part.startswith(_INSIDE):
        return [part]
    return [source for source in part.removeprefix(_INSIDE).split("|") if source]


def _part(text: str, held: dict[str, str]) -> str:
    if text in held:
        return held[text]
    if text.startswith("{"):
        return "{" + " ".join(_part(t.strip(), held) for t in text[1:-1].split(",")) + "}"
    return text if _LITERAL.match(text) else _INSIDE
