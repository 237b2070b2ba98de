"""Bits of integers that instructions leave out, where no launch has numbers with such bits.

A block has a number of 31 bits, and no launch has a million of them: what takes 24 bits of it, or
two bytes, gives the same in all launches that are tried. Of masks the simulator tells whether they
ever cut something off. What else leaves bits out is told here by its form: a candidate may do so
only where the original takes numbers apart as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.decode import Operand, Register, Step
from ptxkit.decompiler.verify.float_counters import counts_in_floats
from ptxkit.decompiler.verify.possible import Possible, decoded
from ptxkit.isa.types import SCALAR_TYPES

_WORD = 32
_ALL = (1 << _WORD) - 1
#: What compilers do not bring in by themselves: only where the original has it, too.
_COUNTS = "counting in floating point"
_OWN = frozenset(("mul24", "mad24", "sad", "carry", "video", _COUNTS))
#: What takes numbers apart: who does so in one way may do it in another.
_APART = frozenset("and bfe bfi prmt lop3 shf szext shift dp2a dp4a".split())
#: Of these the simulator tells.
_SEEN = frozenset(("and", "bfe", "abs"))
_CARRIES = frozenset(("addc", "subc", "madc"))
#: What reads upper bits of a number, so that it matters which were moved out of it before.
_LOOKS_UP = frozenset("shr shf brev bfe prmt".split())
#: Instructions on parts of words, which have parts of registers for operands.
_VIDEO = tuple("vadd vsub vabsdiff vmin vmax vshl vshr vmad vset".split())
#: Bits of integers that floating-point numbers have room for.
_EXACT = {"f16": 11, "f32": 24, "f64": 53}
#: The inputs of ``lop3`` as columns of its table.
_COLUMNS = 0xF0, 0xCC, 0xAA


def leaves_out(original: Coverage, candidate: Coverage, narrow: bool) -> str:
    """How a candidate leaves out bits that the original may need; nothing where it does not.

    With ``narrow`` the original is known to work on bytes or halves of words.

    >>> import ptxkit
    >>> def code(line):
    ...     head = ".reg .b32 %r<4>; .reg .b64 %d; mov.u32 %r1, %ctaid.x;"
    ...     m = ptxkit.parse(f".func f() {{ {head} {line} st.global.u32 [%d], %r2; }}")
    ...     return Coverage.of(m, m["f"])
    >>> plain = code("mov.u32 %r2, %r1;")
    >>> leaves_out(plain, code("prmt.b32 %r2, %r1, 0, 0x4410;"), False)
    'leaves out bits of an integer by prmt'
    >>> leaves_out(plain, code("prmt.b32 %r2, %r1, 0, 0x0123;"), False)
    ''
    """
    mine, theirs = (set(_ways(one)) for one in (original, candidate))
    apart = narrow or not mine.isdisjoint(_APART)
    if "abs" in mine:
        mine.add("sad")  # which is the amount of a difference
    for way in sorted(theirs - mine - _SEEN):
        if way in _OWN or not apart:
            return f"leaves out bits of an integer by {way}"
    return ""


def _ways(coverage: Coverage) -> Iterator[str]:
    """In which ways bits are left out, by the names of instructions."""
    if any(one.name.startswith(_VIDEO) for one in coverage.instructions()):
        yield "video"
    found, possible = decoded(coverage)
    steps = [possible.told(step) for _, step in found.values()]
    if counts_in_floats(steps):
        yield _COUNTS
    moved: dict[Register, bool] = {}
    rounded: set[Register] = set()
    for step in steps:
        if step.name in ("mul24", "mad24", "sad", "abs"):
            yield step.name  # whatever they are given
        elif step.name in _CARRIES:
            yield "carry"
        elif step.name in ("and", "bfe") and step.sources[1].kind == "number":
            yield step.name
        elif step.name == "shl" and step.targets[0] is not None:
            moved[step.targets[0][0]] = _moves_out(step, possible)
        elif step.name == "cvt" and step.targets[0] is not None and _rounds(step, possible):
            rounded.add(step.targets[0][0])
        if step.name in _LEFT and any(_LEFT[step.name](step, possible)):
            yield step.name
    for step in steps:
        looks = step.name in _LOOKS_UP or (step.name == "mul" and ".hi" in step.modifiers)
        if looks and any(s.kind == "register" and moved.get(s.value) for s in step.sources):
            yield "shift"
        if step.name == "cvt" and step.types[0][0] in "us" and step.sources[0].value in rounded:
            yield "a float"


def _moves_out(step: Step, possible: Possible) -> bool:
    """Whether a shift to the left moves bits out that may be set."""
    by, width = _number(step.sources[1]), SCALAR_TYPES[step.type].width
    return by is not None and possible.of(step.sources[0], width) << min(by, width) >> width > 0


def _rounds(step: Step, possible: Possible) -> bool:
    """Whether an integer becomes a floating-point number that has fewer bits."""
    if len(step.types) != 2 or step.types[0] not in _EXACT or step.types[1][0] not in "us":
        return False
    whole = possible.of(step.sources[0], SCALAR_TYPES[step.types[1]].width)
    return whole.bit_length() > _EXACT[step.types[0]]


def _permuted(step: Step, possible: Possible) -> Iterator[bool]:
    chosen = _number(step.sources[2])
    if chosen is None or step.opcode != "prmt.b32":
        return
    taken = {chosen >> 4 * place & 7 for place in range(4)}
    for number, source in enumerate(step.sources[:2]):
        bytes = [k - 4 * number for k in taken if k // 4 == number]
        kept = sum(255 << 8 * k for k in bytes)
        # One register may stand for both.
        if bytes and source != step.sources[1 - number]:
            yield _sets(source, _ALL & ~kept, possible)


def _inserted(step: Step, possible: Possible) -> Iterator[bool]:
    length, width = _number(step.sources[3]), SCALAR_TYPES[step.type].width
    if length is not None:
        yield _sets(step.sources[0], -1 << min(length & 255, width), possible, width)


def _extended(step: Step, possible: Possible) -> Iterator[bool]:
    length = _number(step.sources[1])
    if length is not None:
        yield _sets(step.sources[0], -1 << (length & 31 if ".wrap" in step.modifiers else
                                            min(length, _WORD)), possible)  # fmt: skip


def _combined(step: Step, possible: Possible) -> Iterator[bool]:
    """A function of three bits in each place, of which some are known."""
    table = _number(step.sources[3])
    numbers = [_number(one) for one in step.sources[:3]]
    if table is None or all(one is None for one in numbers):
        return
    for which, source in enumerate(step.sources[:3]):
        left_out = 0
        for bit in range(_WORD):
            known = 0xFF
            for number, column in zip(numbers, _COLUMNS, strict=True):
                if number is not None:
                    known &= column if number >> bit & 1 else ~column
            column, by = _COLUMNS[which], (4, 2, 1)[which]
            # The rows of the table in which this bit is set, beside those in which it is not.
            changed = (table & known & column) >> by ^ (table & known & ~column)
            left_out |= (numbers[which] is None and not changed & 0xFF) << bit
        if left_out not in (0, _ALL):
            yield _sets(source, left_out, possible)


def _multiplied(step: Step, possible: Possible) -> Iterator[bool]:
    """Products of bytes, or of halves with bytes, where those of one side are numbers."""
    first, second = step.sources[:2]
    size = 8 if step.name == "dp4a" else 16
    if size == 16 and _number(second) is None:
        yield _sets(second, 0xFFFF0000 if ".lo" in step.modifiers else 0xFFFF, possible)
    for source, other in ((first, second), (second, first)):
        number = _number(other)
        if number is None or (size == 16 and source is second):
            continue
        if size == 16:
            number >>= 0 if ".lo" in step.modifiers else 16
        factors = [number >> 8 * k & 255 for k in range(_WORD // size)]
        kept = sum(((1 << size) - 1) << size * k for k, one in enumerate(factors) if one)
        yield _sets(source, _ALL & ~kept, possible)


def _sets(source: Operand, bits: int, possible: Possible, width: int = _WORD) -> bool:
    """Whether some bits of what is no number may be set."""
    return _number(source) is None and possible.of(source, width) & bits > 0


def _number(source: Operand) -> int | None:
    return int(source.value) if source.kind == "number" else None


#: For each instruction, whether each of its operands may have bits that it leaves out.
_LEFT: dict[str, Callable[[Step, Possible], Iterator[bool]]] = {
    "prmt": _permuted,
    "bfi": _inserted,
    "szext": _extended,
    "lop3": _combined,
    "dp4a": _multiplied,
    "dp2a": _multiplied,
}
