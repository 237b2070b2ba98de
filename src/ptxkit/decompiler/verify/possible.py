"""Which bits of registers can be set at all, as far as the instructions that set them tell.

A mask that never cuts anything off is no riddle where nothing above it can be set: a byte that was
loaded, a truth that is kept as 0 or 1, the number of a thread. What is not known here can be
anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.bounds import SPECIAL, launched
from ptxkit.decompiler.verify.dataflow.decode import Decoder, Operand, Register, Step
from ptxkit.decompiler.verify.dataflow.liveness import registers_in
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Instruction, Module
from ptxkit.syntax.scopes import Scopes

_Sources = list[int]
#: How often a register's bits may grow before those between them are taken for possible, too.
_EXACTLY = 4


def _ones(number: int) -> int:
    """All bits up to the highest of a number.

    >>> bin(_ones(0b1001))
    '0b1111'
    """
    return (1 << number.bit_length()) - 1


def _from(number: int, low: int) -> int:
    """All bits up to the highest of a number, but for so many at the lower end.

    >>> bin(_from(0b1001100, 2))
    '0b1111100'
    """
    return _ones(number) >> low << low


def _zeros(number: int, width: int) -> int:
    """How many of the lowest bits cannot be set."""
    return (number & -number).bit_length() - 1 if number else width


def _sum(step: Step, sources: _Sources, width: int) -> int:
    if not sources[0] & sources[1]:
        return sources[0] | sources[1]  # nothing is carried
    return _from(sum(sources), min(_zeros(one, width) for one in sources))


def _shifted_left(step: Step, sources: _Sources, width: int) -> int:
    by = _distance(step.sources[1], width)
    return ~0 if by is None else sources[0] << by


def _shifted_right(step: Step, sources: _Sources, width: int) -> int:
    by = _distance(step.sources[1], width)
    if step.type.startswith("s") and sources[0] >> width - 1:
        return ~0
    return _ones(sources[0]) if by is None else sources[0] >> by


def _extracted(step: Step, sources: _Sources, width: int) -> int:
    length = _number(step.sources[2])
    if length is None or step.type.startswith("s") or not 0 <= length < width:
        return ~0
    return (1 << length) - 1


def _permuted(step: Step, sources: _Sources, width: int) -> int:
    select = _number(step.sources[2])
    if select is None or step.opcode != "prmt.b32":
        return ~0
    both = sources[0] | sources[1] << 32
    made = 0
    for place in range(4):
        chosen = select >> 4 * place & 15
        byte = both >> 8 * (chosen & 7) & 255
        if chosen & 8:
            byte = 255 if byte & 128 else 0
        made |= byte << 8 * place
    return made


def _product(step: Step, sources: _Sources, width: int) -> int:
    signed = step.type.startswith("s") and (sources[0] | sources[1]) >> width - 1
    if ".hi" in step.modifiers or (".wide" in step.modifiers and (signed or step.name == "mad")):
        return ~0
    low = _zeros(sources[0], width) + _zeros(sources[1], width)
    if step.name != "mad":
        return _from(sources[0] * sources[1], low)
    low = min(low, _zeros(sources[2], width))
    return _from(sources[0] * sources[1] + sources[2], low)


def _remainder(step: Step, sources: _Sources, width: int) -> int:
    by = _number(step.sources[1])
    signed = step.type.startswith("s") and sources[0] >> width - 1
    return ~0 if not by or by < 0 or signed else _ones(min(sources[0], by - 1))


def _converted(step: Step, sources: _Sources, width: int) -> int:
    if len(step.types) != 2:
        return ~0
    to, taken = (SCALAR_TYPES[one].width for one in step.types)
    kept = sources[0] & ((1 << taken) - 1)
    if step.types[1].startswith("s") and kept >> taken - 1:
        return (1 << to) - 1 if not step.types[0].startswith("s") else ~0
    kept &= (1 << to) - 1
    # A register that is wider than the type takes its sign.
    return ~0 if step.types[0].startswith("s") and kept >> to - 1 else kept


def _loaded(step: Step) -> int:
    signed = step.type.startswith("s")
    return ~0 if signed or step.type[0] not in "ub" else (1 << SCALAR_TYPES[step.type].width) - 1


#: For each instruction the bits that may be set in its result, by those of its sources.
_RULES: dict[str, Callable[[Step, _Sources, int], int]] = {
    "mov": lambda step, sources, width: sources[0] if len(sources) == 1 else ~0,
    "selp": lambda step, sources, width: sources[0] | sources[1],
    "and": lambda step, sources, width: sources[0] & sources[1],
    "or": lambda step, sources, width: sources[0] | sources[1],
    "xor": lambda step, sources, width: sources[0] | sources[1],
    "add": _sum,
    "mul": _product,
    "mad": _product,
    "shl": _shifted_left,
    "shr": _shifted_right,
    "bfe": _extracted,
    "prmt": _permuted,
    "rem": _remainder,
    "cvt": _converted,
    "popc": lambda step, sources, width: 127,
    "clz": lambda step, sources, width: 127,
}  # fmt: skip
#: With these they do something else.
_OTHERWISE = frozenset((".sat", ".cc"))
#: What of an instruction's sides cannot come: bits as the simulator gives them.
_CUT, _KEPT, _ALIGNED = 1, 2, 8


class Possible:
    """The bits that may be set in the registers of a program."""

    def __init__(
        self, steps: Iterable[Step], special: Mapping[str, tuple[int, int]] = SPECIAL
    ) -> None:
        """``special`` is between which numbers special registers lie."""
        self._special = special
        setters: dict[Register, list[Step]] = defaultdict(list)
        readers: dict[Register, list[Step]] = defaultdict(list)
        self._types: dict[Register, str] = {}
        steps = list(steps)
        numbers = _numbers(steps)
        self._steps = {id(step): _with_numbers(step, numbers) for step in steps}
        for step in self._steps.values():
            for target in step.targets:
                if target is not None:
                    setters[target[0]].append(step)
                    self._types[target[0]] = target[1]
            for source in step.sources:
                for register in registers_in(source):
                    readers[register].append(step)
        self.bits: dict[Register, int] = dict.fromkeys(setters, 0)
        grew: Counter[Register] = Counter()
        # From nothing upwards: what may be set in one register may be in those made of it.
        pending = [step for found in setters.values() for step in found]
        while pending:
            step = pending.pop()
            made = self._made(step)
            for target in step.targets:
                if target is None:
                    continue
                width = _width(target[1])
                grown = self.bits[target[0]] | made & ((1 << width) - 1)
                if grown != self.bits[target[0]]:
                    grew[target[0]] += 1
                    if grew[target[0]] > _EXACTLY:
                        # In whole steps upwards, so that a counter is soon known to be anything.
                        grown = _from(grown, _zeros(grown, width))
                    self.bits[target[0]] = grown
                    pending += readers[target[0]]

    def _made(self, step: Step) -> int:
        if _is_float(step):
            return ~0
        if step.name == "ld":
            return _loaded(step)
        rule = _RULES.get(step.name)
        if rule is None or len(step.targets) != 1 or step.modifiers & _OTHERWISE:
            return ~0
        width = _width(step.type)
        return rule(step, [self.of(one, width) for one in step.sources], width)

    def of(self, source: Operand, width: int) -> int:
        """The bits that may be set in an operand of some width."""
        whole = (1 << width) - 1
        if source.kind == "number":
            return int(source.value) & whole
        if source.kind == "register":
            return self.bits.get(source.value, whole) & whole
        if source.kind == "special" and source.value in self._special:
            return _ones(self._special[source.value][1]) & whole
        return whole

    def told(self, step: Step) -> Step:
        """A step with numbers in the place of registers that never hold another one."""
        return self._steps[id(step)]

    def impossible(self, step: Step) -> int:
        """Sides of an instruction that can never come, as bits."""
        step = self.told(step)
        if step.type[0] not in "usb" or len(step.sources) < 2:
            return 0
        width = _width(step.type)
        first, second = (self.of(one, width) for one in step.sources[:2])
        number = _number(step.sources[1])
        negative = first >> width - 1
        signed = step.type.startswith("s")
        if step.name == "and" and number is not None:
            below = (second & -second) - 1
            return (
                (0 if first & ~second & ~below else _CUT)
                | (0 if first & second else _KEPT)
                | (0 if first & below else _ALIGNED)
            )
        if step.name == "shr" and number is not None:
            return 0 if first >> (_distance(step.sources[1], width) or 0) else 1
        if step.name in ("div", "rem") and number is not None and number > 0 and not negative:
            return 1 if first < number else 0
        if step.name in ("min", "max") and not (signed and (negative or second >> width - 1)):
            known = number is not None and first <= number
            return 2 if known else 0
        return 0


Decoded = dict[int, tuple[Instruction, Step]]
"""Instructions, each with what it says, by where they stand."""


def decoded(coverage: Coverage) -> tuple[Decoded, Possible]:
    """All instructions that a kernel may come to, and the bits that their registers may have.

    None where one of them cannot be read.
    """
    found: Decoded = {}
    if not coverage.functions:
        return found, Possible([])
    module = coverage.functions[0].root
    assert isinstance(module, Module)
    scopes = Scopes(module)
    try:
        for block, function in zip(coverage.blocks, coverage.functions, strict=True):
            decoder = Decoder(function, scopes, {}, lambda name: (name,))
            found |= {one.span[0]: (one, decoder.step(one)) for one in block.instructions}
    except GiveUpError:
        return {}, Possible([])
    return found, Possible([step for _, step in found.values()], launched(coverage.functions[0]))


def _numbers(steps: Iterable[Step]) -> dict[Register, Operand]:
    """Registers that are given one number and never another."""
    found: dict[Register, list[Operand | None]] = defaultdict(list)
    for step in steps:
        for target in step.targets:
            if target is not None:
                known = step.name == "mov" and step.guard is None and len(step.sources) == 1
                number = known and step.sources[0].kind == "number"
                found[target[0]].append(step.sources[0] if number else None)
    return {one: made[0] for one, made in found.items() if len(made) == 1 and made[0] is not None}


def _with_numbers(step: Step, numbers: dict[Register, Operand]) -> Step:
    sources = tuple(
        numbers.get(one.value, one) if one.kind == "register" else one for one in step.sources
    )
    return step if sources == step.sources else replace(step, sources=sources)


def _number(source: Operand) -> int | None:
    return int(source.value) if source.kind == "number" else None


def _distance(source: Operand, width: int) -> int | None:
    """By how many bits to shift, all of them at most: a number without a sign."""
    by = _number(source)
    return None if by is None else min(by % (1 << 32), width)


def _width(type: str) -> int:
    return SCALAR_TYPES[type].width if type in SCALAR_TYPES else 64


def _is_float(step: Step) -> bool:
    return any(one[0] not in "usb" for one in step.types) or step.type == "pred"
