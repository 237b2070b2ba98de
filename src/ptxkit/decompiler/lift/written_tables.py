"""Loops that walk through a table of the math library: written out, with the numbers in them.

Compilers before CUDA 13.4 reduce the arguments of ``sinf`` in a loop of six turns over a table, and
those since then write that out. So that both are the same to who looks for the function, such a
loop is written out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from ptxkit.syntax import BasicBlock, Function, Instruction, Module

#: What the library reduces arguments by: the first binary digits of 2/pi. It calls its table
#: ``__cudart_i2opi_f``; who renames things calls it something else.
_DIGITS = 0xA2F9836E_4E441529_FC2757D1_F534DDC0_DB629599_3C439041
_BYTES = re.compile(r"\{([\d,\s]*)\}")
_NUMBER = re.compile(r"-?\d+")
#: The bytes of a number, and of the table; and more turns than the loop has.
_SIZE, _WHOLE, _MOST = 4, 24, 8
#: The numbers that it holds.
_NUMBERS = tuple(_DIGITS >> 8 * k & 0xFFFFFFFF for k in range(0, _WHOLE, _SIZE))
#: A number, or how far into the table something points: the flag says which.
_Known = tuple[bool, int]
#: What becomes of numbers in the instructions that count turns and move pointers on.
_MOVES: dict[str, Callable[..., int]] = {
    "mov.u32": lambda a: a,
    "mov.b32": lambda a: a,
    "mov.u64": lambda a: a,
    "mov.b64": lambda a: a,
    "cvt.u32.u64": lambda a: _signed(a, 32),
    "cvt.s64.s32": lambda a: a,
    "add.s32": lambda a, b: _signed(a + b, 32),
    "add.s64": lambda a, b: _signed(a + b, 64),
    "shl.b64": lambda a, b: _signed(a << b, 64),
    "mul.wide.s32": lambda a, b: a * b,
}


def with_written_tables(module: Module) -> Module:
    """A module without such loops.

    >>> import ptxkit
    >>> m = ptxkit.parse('''.version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .global .align 4 .b8 digits[24] = {65, 144, 67, 60, 153, 149, 98, 219, 192, 221, 52, 245,
    ...     209, 87, 39, 252, 41, 21, 68, 78, 110, 131, 249, 162};
    ... .visible .entry k(.param .u64 o) {
    ...     .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>;
    ...     mov.u32 %r1, 0;
    ...     mov.u64 %rd1, digits;
    ... $again:
    ...     ld.global.nc.u32 %r2, [%rd1];
    ...     add.s64 %rd1, %rd1, 4;
    ...     add.s32 %r1, %r1, 1;
    ...     setp.ne.s32 %p1, %r1, 2;
    ...     @%p1 bra $again;
    ...     ret;
    ... }''')
    >>> [i.text for i in with_written_tables(m)["k"].instructions if i.name == "mov"][2:]
    ['mov.u32 %r2, 1011060801;', 'mov.u32 %r2, 3680671129;']
    """
    tables = _tables(module)
    if not tables:
        return module
    edit = module.edit()
    changed = False
    for function in module.functions:
        if not function.has_body or not any(name in function.text for name in tables):
            continue
        constant = _constants(function, tables)
        for block in function.cfg().blocks:
            written = _written(block, constant)
            if written is None:
                continue
            edit.replace(block.instructions[0], " ".join(written))
            for instruction in block.instructions[1:]:
                edit.delete(instruction)
            changed = True
    return edit.apply() if changed else module


def _tables(module: Module) -> dict[str, _Known]:
    """The names of the table: pointers to its beginning."""
    found: dict[str, _Known] = {}
    for variable in module.variables:
        for one in variable.declarators if variable.space == "global" else ():
            held = _BYTES.search(one.initializer.text) if one.initializer is not None else None
            # Longer ones are none of this.
            numbers = held[1].split(",") if held and len(held[1]) < _MOST * _WHOLE else []
            digits = sum(int(n) << 8 * k for k, n in enumerate(numbers))
            if len(numbers) == _WHOLE and digits == _DIGITS:
                found[one.name] = True, 0
    return found


def _constants(function: Function, tables: dict[str, _Known]) -> dict[str, _Known]:
    """What is known anywhere: the table, and registers that one instruction alone sets."""
    times = Counter(name for i in function.instructions for name in _set(i))
    known = dict(tables)
    for instruction in function.instructions:
        if not instruction.guard and all(times[name] == 1 for name in _set(instruction)):
            _follow(instruction, known)
    return known


def _written(block: BasicBlock, constant: dict[str, _Known]) -> list[str] | None:
    """All turns of a loop that is one block, reads a number of the table in each, and ends."""
    before = [one for one in block.predecessors if one != block]
    if block not in block.successors or len(before) != 1 or len(block.instructions) < _SIZE:
        return None
    *body, jump = block.instructions
    asked = (jump.guard.text if jump.guard else "").partition("@")[2]
    if jump.name != "bra" or not asked or any(i.guard for i in body):
        return None
    known = dict(constant)
    for instruction in before[0].instructions:
        _follow(instruction, known)
    written: list[str] = []
    for _turn in range(_MOST):
        reads = 0
        for instruction in body:
            place = _place(instruction, known)
            if place is None:
                written.append(instruction.text)
            elif place % _SIZE or not 0 <= place < _WHOLE:
                return None
            else:
                number = _NUMBERS[place // _SIZE]
                written.append(f"mov.u32 {instruction.operands[0].text}, {number};")
                reads += 1
            _follow(instruction, known)
        again = known.get(asked)
        if again is None or reads != 1:
            return None
        if not again[1]:
            return written
    return None


def _place(instruction: Instruction, known: dict[str, _Known]) -> int | None:
    """Where in the table an instruction reads a number."""
    if instruction.opcode != "ld.global.nc.u32":
        return None
    base, _, offset = instruction.operands[1].text.strip("[]").partition("+")
    points, place = known.get(base, (False, 0))
    return place + int(offset or "0") if points and _NUMBER.fullmatch(offset or "0") else None


def _follow(instruction: Instruction, known: dict[str, _Known]) -> None:
    """Keep what registers are known to hold."""
    values = [_value(o.text, known) for o in instruction.operands[1:]]
    found: _Known | None = None
    given = [value for value in values if value is not None]
    if not instruction.guard and len(given) == len(values):
        if instruction.opcode == "setp.ne.s32" and not any(points for points, _ in given):
            found = False, int(given[0][1] != given[1][1])
        elif instruction.opcode in _MOVES and _may_point(instruction.opcode, given):
            number = _MOVES[instruction.opcode](*(value for _, value in given))
            found = any(points for points, _ in given), number
    names = list(_set(instruction))
    for name in names:
        known.pop(name, None)
        # Of two that a comparison sets, the second is the opposite.
        if found is not None and len(names) == 1:
            known[name] = found


def _may_point(opcode: str, given: list[_Known]) -> bool:
    """Whether no pointer is among what an instruction takes, or one that it hands on."""
    pointers = sum(points for points, _ in given)
    return pointers <= int(opcode in ("mov.u64", "mov.b64", "add.s64"))


def _value(text: str, known: dict[str, _Known]) -> _Known | None:
    return (False, int(text)) if _NUMBER.fullmatch(text) else known.get(text)


def _set(instruction: Instruction) -> Iterator[str]:
    """The registers that an instruction may set: the first operand, or all in its braces."""
    for first in instruction.operands[:1] if instruction.name != "st" else ():
        yield from re.findall(r"[%$\w]+", first.text)


def _signed(number: int, bits: int) -> int:
    """A number as a register of some bits holds it."""
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
