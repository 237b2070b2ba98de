"""Numbers that a module begins with, and whether another has them too.

Few launches read all of a table: one that a candidate has no copy of may hold other numbers there.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from ptxkit.decompiler.verify.outcome import Side
from ptxkit.decompiler.verify.variables import names_others
from ptxkit.syntax import Instruction

#: The bytes of a number that stands in code, and the bits of those that are there for much else.
_SIZE, _COMMON = 4, 16


def missing_table(sides: Sequence[Side], used: Container[str]) -> str:
    """A table that the original uses, and that is nowhere in the candidate."""
    mine, theirs = ([*_tables(side)] for side in sides)
    known = {data for _, data in theirs}
    # A table of its own may stand for the one that is missing, and hold other numbers.
    alone = known <= {b"", *(data for _, data in mine)}
    for name, data in mine:
        there = not data or data in known
        if alone and not there:
            there = written_out(data, sides[1].coverage.instructions())
        if name in used and not there:
            return name
    return ""


def written_out(table: bytes, instructions: Iterable[Instruction]) -> bool:
    """Whether code has all numbers of a table in it, one after the other.

    Compilers do so where they unroll a loop over a table. Small numbers are in any code, and say
    nothing.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 r, s; mov.u32 r, 70000; add.s32 s, r, -70001; }")
    >>> code = m.functions[0].instructions
    >>> [written_out(t, code) for t in (bytes([112, 17, 1, 0]), bytes([112, 17, 1, 0] * 2), b"1")]
    [True, False, False]
    """
    places = range(0, len(table), _SIZE)
    numbers = [int.from_bytes(table[k : k + _SIZE], "little", signed=True) for k in places]
    if len(table) % _SIZE or any(abs(number) >> _COMMON == 0 for number in numbers):
        return False
    # Each is looked for after the one before it.
    said = iter(_said(instructions))
    return all(number & 0xFFFFFFFF in said for number in numbers)


def _said(instructions: Iterable[Instruction]) -> Iterator[int]:
    """The integers that stand in code."""
    for instruction in instructions:
        for operand in instruction.operands:
            value = getattr(operand, "value", None)
            if isinstance(value, int):
                yield value & 0xFFFFFFFF


def _tables(side: Side) -> Iterator[tuple[str, bytes]]:
    """Variables that begin with numbers, and those, without zeros at the end."""
    for variable in side.module.variables:
        for one in variable.declarators if variable.space in ("global", "const") else ():
            if one.initializer is not None and not names_others(one.initializer):
                yield one.name, side.loaded.variable(one.name).tobytes().rstrip(b"\0")
