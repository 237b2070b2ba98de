"""Registers of which only the lowest bits are ever asked for, kept as no more than those.

A flag of 8 bits lies in a register of 16. One compiler masks it whenever it is used, another one
when it is made: what is above the mask differs, and nobody asks for it. So a mask is put behind
every step that sets such a register, on both sides. That changes nothing that a function does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ptxkit.decompiler.verify.dataflow.decode import Operand, Register, Step
from ptxkit.decompiler.verify.dataflow.liveness import HasSteps, registers_in
from ptxkit.isa.types import SCALAR_TYPES

Bits = dict[Register, int]
"""For registers that are read, how many of their lowest bits are."""
#: Registers of so many bits are looked at, and masks of so many are put behind what sets them.
_WIDTH, _MASKS = 16, (8,)
_ALL = 64


def keep_lowest(blocks: Mapping[int, HasSteps]) -> None:
    """Put masks behind steps that set registers of which only the lowest bits are asked for.

    >>> import ptxkit
    >>> from ptxkit.decompiler.verify.dataflow.regions import Code, Program
    >>> m = ptxkit.parse('''.version 8.0
    ... .target sm_80
    ... .entry k(.param .u64 p, .param .u16 n) {
    ...     .reg .b16 %h<3>; .reg .b64 %d;
    ...     ld.param.u64 %d, [p];
    ...     ld.param.u16 %h1, [n];
    ...     not.b16 %h2, %h1;
    ...     st.global.u8 [%d], %h2;
    ...     ret;
    ... }''')
    >>> [step.opcode for step in Program(Code(m, m["k"], {}, lambda name: (name,))).steps()][1:4]
    ['ld.param.u16', 'and.b16', 'not.b16']
    """
    asked = _asked_for(blocks)
    for block in blocks.values():
        after = _joined(asked[one] for one in block.targets if one in asked)
        kept: list[Step] = []
        if block.last is not None:
            _go_back(after, block.last)
        for step in reversed(block.steps):
            kept += reversed([_mask(step, *one) for one in _to_mask(step, after)])
            kept.append(step)
            _go_back(after, step)
        block.steps = kept[::-1]


def _asked_for(blocks: Mapping[int, HasSteps]) -> dict[int, Bits]:
    """What is asked for where blocks begin."""
    asked: dict[int, Bits] = {index: {} for index in blocks}
    changed = any(
        SCALAR_TYPES[target[1]].width == _WIDTH
        for block in blocks.values() for step in block.steps for target in step.targets if target
    )  # fmt: skip
    while changed:
        changed = False
        for index, block in reversed(list(blocks.items())):
            found = _joined(asked[one] for one in block.targets if one in asked)
            for step in (*([block.last] if block.last else ()), *reversed(block.steps)):
                _go_back(found, step)
            if found != asked[index]:
                asked[index] = found
                changed = True
    return asked


def _joined(several: Iterator[Bits]) -> Bits:
    found: Bits = {}
    for some in several:
        for register, bits in some.items():
            found[register] = max(bits, found.get(register, 0))
    return found


def _go_back(asked: Bits, step: Step) -> None:
    """From what is asked for after a step to what is before it."""
    targets = [target[0] for target in step.targets if target is not None]
    wanted = max((asked.get(one, 0) for one in targets), default=0)
    # Of several targets, each may be made of other bits.
    single = len(step.targets) < 2 and ".cc" not in step.modifiers
    rule = _RULES.get(step.name) if single else None
    if step.guard is None:
        for one in targets:
            asked.pop(one, None)
    else:
        asked[step.guard[0]] = _ALL
    for place, source in enumerate(step.sources):
        bits = _ALL if rule is None else rule(step, place, wanted)
        for register in registers_in(source):
            asked[register] = max(bits, asked.get(register, 0))


def _to_mask(step: Step, after: Bits) -> Iterator[tuple[Register, str, int]]:
    """The registers that a step sets to more than is asked for, with their types."""
    for target in step.targets:
        if target is None or SCALAR_TYPES[target[1]].width != _WIDTH:
            continue
        bits = next((one for one in _MASKS if after.get(target[0], 0) <= one), 0)
        if bits and not _is_below(step, 1 << bits):
            yield *target, bits


def _is_below(step: Step, limit: int) -> bool:
    """Whether what a step sets a register to is small anyway."""
    if step.guard is not None:
        return False
    numbers = [one.value for one in step.sources if one.kind == "number"]
    small = [0 <= one < limit for one in numbers]
    if step.name == "selp":
        return len(small) == 2 and all(small)
    if step.name == "ld":
        return step.type in ("u8", "b8") and limit > 0xFF
    return step.name in ("and", "mov") and any(small)


def _mask(step: Step, register: Register, type: str, bits: int) -> Step:
    held = Operand("register", register, (Operand("type", type),))
    opcode = f"and.b{_WIDTH}"
    return replace(
        step, name="and", opcode=opcode, modifiers=frozenset((f".b{_WIDTH}",)),
        types=(f"b{_WIDTH}",), targets=((register, type),),
        sources=(held, Operand("number", (1 << bits) - 1)), guard=None,
    )  # fmt: skip


# ---- how many bits of an operand a step needs ------------------------------------------------

Rule = Callable[[Step, int, int], int]


def _same(step: Step, place: int, wanted: int) -> int:
    """Each bit of what it makes needs that of its operands."""
    return wanted


def _both(step: Step, place: int, wanted: int) -> int:
    masks = (int(one.value) for one in step.sources if one.kind == "number")
    return min([wanted, *(mask.bit_length() for mask in masks if mask >= 0)])


def _selected(step: Step, place: int, wanted: int) -> int:
    return wanted if place < 2 else _ALL


def _moved(step: Step, place: int, wanted: int) -> int:
    return wanted if step.sources[place].kind == "register" else _ALL


def _converted(step: Step, place: int, wanted: int) -> int:
    plain = len(step.types) == 2 and all(one[0] in "us" for one in step.types)
    if not plain or ".sat" in step.modifiers:
        return _ALL
    return min(wanted, SCALAR_TYPES[step.types[1]].width)


def _stored(step: Step, place: int, wanted: int) -> int:
    in_memory = not any(one.startswith(".param") for one in step.modifiers)
    return SCALAR_TYPES[step.type].width if place == 1 and in_memory else _ALL


_RULES: dict[str, Rule] = {
    "and": _both, "or": _same, "xor": _same, "not": _same, "selp": _selected, "mov": _moved,
    "cvt": _converted, "st": _stored,
}  # fmt: skip
