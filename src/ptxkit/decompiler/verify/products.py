"""Products with as many bits as an address, and those with 32.

Indices that would overflow in 32 bits are beyond all memory that there is to try them with: no
launch tells a product that was made narrower.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Instruction

WIDE, NARROW, LOWER = "wide", "narrow", "lower"
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
    found: dict[int, str] = {}
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
