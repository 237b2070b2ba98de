"""Numbers that get more bits with their sign, and those that get them without.

Where no number is negative both give the same, and indices seldom are. What can have no sign, as
the number of a thread, may be taken either way. And numbers that become floating-point ones without
all of their bits: no launch has numbers as large as that takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.decode import Register, Step
from ptxkit.decompiler.verify.possible import Possible, decoded
from ptxkit.decompiler.verify.region import Place, Seen
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.watch import Point
from ptxkit.syntax import Instruction

SIGNED, UNSIGNED, CUT = "signed", "unsigned", "cut"


@dataclass(frozen=True, slots=True)
class Widening:
    """An instruction that adds bits to numbers in registers."""

    kind: str
    instruction: Instruction
    registers: tuple[Register, ...]


def widenings(coverage: Coverage) -> dict[int, Widening]:
    """Instructions that add bits to numbers which may have a sign, by where they stand.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 %r<4>; .reg .b64 %d<4>; mov.u32 %r1, %tid.x;"
    ...                  "cvt.s64.s32 %d1, %r1; ld.global.u32 %r2, [%d1]; cvt.u64.u32 %d2, %r2;"
    ...                  "mul.wide.s32 %d3, %r2, 4; }")
    >>> [one.kind for one in widenings(Coverage.of(m, m["f"])).values()]
    ['unsigned', 'signed']
    """
    steps, possible = decoded(coverage)
    found = {}
    for start, (one, step) in steps.items():
        sources = step.sources[:2] if ".wide" in step.modifiers else step.sources[:1]
        width = SCALAR_TYPES[step.type].width if step.type in SCALAR_TYPES else 0
        kind = SIGNED if step.type.startswith("s") else UNSIGNED
        if _cuts(step, possible):
            kind = CUT
        elif not _widens(step) or not any(possible.of(s, width) >> width - 1 for s in sources):
            continue
        # Of two factors, one may have no sign.
        registers = tuple(
            s.value
            for s in sources
            if s.kind == "register" and (kind == CUT or possible.of(s, width) >> width - 1)
        )
        found[start] = Widening(kind, one, registers)
    return found


class Widened:
    """What numbers were that got more bits, over some launches."""

    def __init__(self, found: Iterable[Widening]) -> None:
        self.found = list(found)
        self.seen = Seen()

    def points(self) -> list[tuple[Place, Point]]:
        """The instructions to look at, and the numbers that they read."""
        return [
            ((one.instruction.span[0], one.kind), Point(one.instruction, False, one.registers))
            for one in self.found
        ]

    def values(self, kind: str) -> set[int]:
        """All that was taken with a sign, or without; what was always the same says nothing."""
        held = [self.seen.values.get((o.instruction.span[0], kind), {}) for o in self.found]
        return {total for one in held for total, spread in one.values() if spread.bit_count() > 1}


def resigned(original: Widened, candidate: Widened) -> str:
    """What the second of two programs takes with another sign than the first."""
    for sign, other in ((SIGNED, UNSIGNED), (UNSIGNED, SIGNED)):
        if candidate.values(other) & original.values(sign) - original.values(other):
            return f"it takes numbers as {other} that the original takes as {sign}"
    return ""


def _cuts(step: Step, possible: Possible) -> bool:
    """Whether it makes a floating-point number of some of a number's bits."""
    if step.name != "cvt" or len(step.types) != 2 or step.types[1][0] not in "su":
        return False
    width = SCALAR_TYPES[step.types[1]].width
    held = max((SCALAR_TYPES[p.value].width for p in step.sources[0].parts
                if p.kind == "type" and p.value in SCALAR_TYPES), default=0)  # fmt: skip
    return (
        step.types[0][0] == "f" and held > width and possible.of(step.sources[0], held) >> width > 0
    )


def _widens(step: Step) -> bool:
    if step.type[0] not in "su":
        return False
    if step.name in ("mul", "mad"):
        return ".wide" in step.modifiers
    if step.name != "cvt" or len(step.types) != 2 or step.types[0][0] not in "su":
        return False
    return SCALAR_TYPES[step.types[0]].width > SCALAR_TYPES[step.types[1]].width
