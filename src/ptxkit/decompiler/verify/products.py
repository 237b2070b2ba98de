"""Products and sums with as many bits as an address, and those with 32.

Indices that would overflow in 32 bits are beyond all memory that there is to try them with: no
launch tells a product, or a sum of unsigned numbers, that was made narrower.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Instruction

WIDE, NARROW, LOWER = "wide", "narrow", "lower"
WIDE_SUM, NARROW_SUM = "wide sum", "narrow sum"
#: What a product is still a part of.
_SUMS = frozenset(("add", "sub", "mov", "mad"))


def products(instructions: Iterable[Instruction]) -> dict[int, str]:
    """What kind of products instructions make, by where they stand.

    Those of two registers are wide or narrow. The lower half of a wide one, or of a sum with one,
    is as good as a narrow one.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 %r<4>; .reg .b64 %d<4>; mul.wide.s32 %d1, %r1, %r2;"
    ...                  "add.s64 %d2, %d1, 8; cvt.u32.u64 %r3, %d2; cvt.u32.u64 %r3, %d3; }")
    >>> list(products(m["f"].instructions).values())
    ['wide', 'lower']
    """
    instructions = list(instructions)
    found = _sums(instructions)
    users: dict[str, list[Instruction]] = defaultdict(list)
    pending: list[str] = []
    for one in instructions:
        kind = _kind(one)
        if kind:
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


def _sums(instructions: list[Instruction]) -> dict[int, str]:
    """Sums of what was 32 bits without a sign: after it got 64 of them, and before.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 %r<4>; .reg .b64 %d<4>; add.u32 %r3, %r1, %r2;"
    ...                  "cvt.u64.u32 %d1, %r3; cvt.u64.u32 %d2, %r1; add.u64 %d3, %d1, %d2; }")
    >>> list(_sums(m["f"].instructions).values())
    ['narrow sum', 'wide sum']
    """
    found: dict[int, str] = {}
    small: set[str] = set()
    extended: set[str] = set()
    for one in instructions:
        names = [operand.text for operand in one.operands if operand.kind == "Name"]
        if one.name == "add" and _bits(one) == "32" and len(names) == 3:
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
