"""Products and sums with as many bits as an address, and those with 32.

Indices that would overflow in 32 bits are beyond all memory that there is to try them with: no
launch tells a product, or a sum of unsigned numbers, that was made narrower. But for those that
cannot overflow: a multiple of what the other number stays below, as that of a block and a thread.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.decompiler.verify.possible import Possible, decoded
from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Instruction

WIDE, NARROW, LOWER = "wide", "narrow", "lower"
WIDE_SUM, NARROW_SUM = "wide sum", "narrow sum"
#: What a product is still a part of.
_SUMS = frozenset(("add", "sub", "mov", "mad"))


def products(coverage: Coverage) -> dict[int, str]:
    """What kind of products and sums the instructions of a kernel make, by where they stand.

    Those of two registers are wide or narrow. The lower half of a wide one, or of a sum with one,
    is as good as a narrow one. What cannot overflow is neither.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 %r<4>; .reg .b64 %d<4>; mul.wide.s32 %d1, %r1, %r2;"
    ...                  "add.s64 %d2, %d1, 8; cvt.u32.u64 %r3, %d2; cvt.u32.u64 %r3, %d3; }")
    >>> list(products(Coverage.of(m, m["f"])).values())
    ['wide', 'lower']
    """
    instructions = list(coverage.instructions())
    steps, possible = decoded(coverage)
    fits = {start for start, (_, step) in steps.items() if _fits(step, possible)}
    found = _sums(instructions, fits)
    users: dict[str, list[Instruction]] = defaultdict(list)
    pending: list[str] = []
    for one in instructions:
        kind = _kind(one)
        if kind and not (kind == NARROW and one.span[0] in fits):
            found[one.span[0]] = kind
        if kind == WIDE:
            pending += [name.text for name in registers(one).defined]
        elif one.name == "cvt" or (one.name in _SUMS and _bits(one) == "64"):
            for name in registers(one).used:
                users[name.text].append(one)
    parts: set[str] = set()
    while pending:
        register = pending.pop()
        if register in parts:
            continue
        parts.add(register)
        for one in users[register]:
            if one.name != "cvt":
                pending += [name.text for name in registers(one).defined]
            elif tuple(m[2:] for m in one.modifiers[-2:]) == ("32", "64"):
                found[one.span[0]] = LOWER
    return found


def _fits(step: Step, possible: Possible) -> bool:
    """Whether a sum or a product of 32 bits is never more than these can say.

    >>> import ptxkit
    >>> m = ptxkit.parse(".entry k() { .reg .b32 %r<6>; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;"
    ...                  "shl.b32 %r3, %r2, 10; shl.b32 %r4, %r2, 9; add.s32 %r5, %r3, %r1;"
    ...                  "add.s32 %r5, %r4, %r1; mul.lo.s32 %r5, %r1, %r1; }")
    >>> steps, possible = decoded(Coverage.of(m, m["k"]))
    >>> [_fits(step, possible) for _, step in steps.values()][-3:]
    [True, False, True]
    """
    if step.types[-1:] not in (("s32",), ("u32",)) or len(step.targets) != 1:
        return False
    most = [possible.of(source, 32) for source in step.sources]
    if step.name == "add":
        return sum(most) < 1 << 32
    # A product may be taken with a sign, too.
    return step.name == "mul" and ".lo" in step.modifiers and prod(most) < 1 << 31


def _sums(instructions: list[Instruction], fits: set[int]) -> dict[int, str]:
    """Sums of what was 32 bits without a sign: after it got 64 of them, and before.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 %r<4>; .reg .b64 %d<4>; add.u32 %r3, %r1, %r2;"
    ...                  "cvt.u64.u32 %d1, %r3; cvt.u64.u32 %d2, %r1; add.u64 %d3, %d1, %d2; }")
    >>> list(_sums(m["f"].instructions, set()).values())
    ['narrow sum', 'wide sum']
    """
    found: dict[int, str] = {}
    small: set[str] = set()
    extended: set[str] = set()
    for one in instructions:
        names = [operand.text for operand in one.operands if operand.kind == "Name"]
        if one.name == "add" and _bits(one) == "32" and len(names) == 3:
            if one.span[0] not in fits:
                small.add(names[0])
        elif one.name == "add" and _bits(one) == "64" and extended.issuperset(names[1:]):
            if len(names) == 3:
                found[one.span[0]] = WIDE_SUM
            extended.add(names[0])
        elif one.opcode == "cvt.u64.u32" or one.opcode == "mul.wide.u32":
            if names[1] in small and len(names) == 2:
                found[one.span[0]] = NARROW_SUM
            extended.add(names[0])
        elif one.opcode == "ld.param.u32":
            extended.add(names[0])  # where the register has as many bits; else nobody adds it
    return found


def _kind(one: Instruction) -> str:
    if one.name not in ("mul", "mad") or any(o.kind != "Name" for o in one.operands[1:3]):
        return ""
    if ".wide" in one.modifiers:
        return WIDE if _bits(one) == "32" and one.modifiers[-1][1] in "su" else ""
    if ".lo" not in one.modifiers:
        return ""
    return {"32": NARROW, "64": WIDE}.get(_bits(one), "")


def _bits(one: Instruction) -> str:
    return one.modifiers[-1][2:] if one.modifiers else ""
