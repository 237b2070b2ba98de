"""Numbers that get more bits with their sign, and those that get them without.

Where no number is negative both give the same, and indices seldom are. What can have no sign, as
the number of a thread, may be taken either way. And numbers that become floating-point ones without
all of their bits: no launch has numbers as large as that takes.
"""

from __future__ import annotations

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.decode import Decoder, Step
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError
from ptxkit.decompiler.verify.possible import Possible
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Module
from ptxkit.syntax.scopes import Scopes

SIGNED, UNSIGNED, CUT = "signed", "unsigned", "cut"


def widenings(coverage: Coverage) -> dict[int, str]:
    """How instructions that add bits to a number do so, by where they stand.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 %r<4>; .reg .b64 %d<4>; mov.u32 %r1, %tid.x;"
    ...                  "cvt.s64.s32 %d1, %r1; ld.global.u32 %r2, [%d1]; cvt.u64.u32 %d2, %r2;"
    ...                  "mul.wide.s32 %d3, %r2, 4; }")
    >>> list(widenings(Coverage.of(m, m["f"])).values())
    ['unsigned', 'signed']
    """
    module = coverage.functions[0].root
    assert isinstance(module, Module)
    scopes = Scopes(module)
    steps: dict[int, Step] = {}
    try:
        for block, function in zip(coverage.blocks, coverage.functions, strict=True):
            decoder = Decoder(function, scopes, {}, lambda name: (name,))
            steps |= {one.span[0]: decoder.step(one) for one in block.instructions}
    except GiveUpError:
        return {}
    possible = Possible(steps.values())
    found = {}
    for start, step in steps.items():
        sources = step.sources[:2] if ".wide" in step.modifiers else step.sources[:1]
        width = SCALAR_TYPES[step.type].width if step.type in SCALAR_TYPES else 0
        if _cuts(step, possible):
            found[start] = CUT
        elif _widens(step) and any(possible.of(one, width) >> width - 1 for one in sources):
            found[start] = SIGNED if step.type.startswith("s") else UNSIGNED
    return found


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
