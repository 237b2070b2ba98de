"""What kind of arithmetic a kernel does: some differences no sample of inputs will show.

Denormals that are flushed in one instruction, another rounding, the last bit of a constant, half
of a word that is stored, an index cut to 16 bits, equality on the other side of a comparison, the
other axis of a block that has only one: they change a result once in a million times, for one
number only, or for sizes that nobody tries.
A compiler has no reason to bring them in. Where a candidate has arithmetic of such a kind that
the original does not have, equal runs are not enough.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ptxkit.decompiler.verify.usage import stored_bytes
from ptxkit.isa.types import FLOAT, SCALAR_TYPES
from ptxkit.syntax import Instruction, Name, Node, evaluate
from ptxkit.syntax.scopes import Scopes

_LITERAL = re.compile(r"\b0[fFdD]([0-9a-fA-F]{8}(?:[0-9a-fA-F]{8})?)\b")
_PLACE = re.compile(r"\[(%?[\w$]+)(?:\+(-?\d+))?\]")
_AXIS = re.compile(
    r"%(?:(?:n?tid|n?ctaid)\.[xyz]|clock\w*|globaltimer\w*|n?smid|n?warpid|gridid|envreg\d+"
    r"|laneid|lanemask_\w+|(?:n?clusterid|cluster_n?ctaid)\.[xyz]|cluster_n?ctarank"
    r"|is_explicit_cluster|(?:dynamic|total|aggr)_smem_size)"
)
_INTEGER = re.compile(r"\.[us](?=\d)")
#: Conversions that never round: an integer that is extended before them gives the same.
_EXACT = re.compile(r"^(cvt\.rn\.(?:ftz\.)?f(?:32|64)\.)b16$")
_COMPARED = frozenset(("setp", "set"))
#: Roundings are written out for what rounds to nearest by default, or not.
_DEFAULT = frozenset(("add", "sub", "mul"))
_SHORT_FORMATS = frozenset((".bf16", ".bf16x2", ".f32x2"))
#: What moves numbers and does not compute with them.
_MOVES = frozenset("ld ldu st mov selp shfl atom red cvta prmt tex suld sust call".split())
_MEMORY = frozenset(("ld", "st", "atom", "red"))
#: What becomes of places outside of a surface; launches that end there say nothing.
_SURFACES, _OUTSIDE = frozenset(("suld", "sust", "sured")), (".trap", ".clamp", ".zero")
_SIGNED = frozenset(("setp", "shr", "div", "rem", "min", "max", "cvt", "ld"))
_TOGETHER = frozenset(("shfl", "vote", "match", "redux"))
_SPACES = ("global", "shared", "local", "const")
#: For which outcomes a comparison holds: less 1, greater 2, equal 4, unordered 8.
_OUTCOMES = {
    "lt": 1, "gt": 2, "eq": 4, "le": 5, "ge": 6, "ne": 3, "num": 7, "nan": 8,
    "ltu": 9, "gtu": 10, "equ": 12, "leu": 13, "geu": 14, "neu": 11,
}  # fmt: skip
#: What tells one number from all others; a difference in bits is another comparison.
_DECIDING = frozenset(("setp", "set", "xor", "min", "max", "slct"))
#: Integers from here on are drawn by chance only.
_LARGE = 1 << 16
#: Comparisons that put a number itself among the smaller ones: on the left, and on the right.
_BELOW = (frozenset(("lt", "ge", "lo", "hs")), frozenset(("gt", "le", "hi", "ls")))
#: Masks that cut integers, and the bits that they leave.
_MASKS = {"255": 8, "65535": 16}

#: Atomics that do something else where memory holds a number.
_CONDITIONAL = frozenset((".cas", ".inc", ".dec"))


#: Numbers of 16 bits, what they are added up by, and those that are so few that none wraps.
_SHORT_TYPES, _BYTES = frozenset(("u16", "s16", "b16")), frozenset(("u8", "s8", "b8"))
_ADDING = frozenset("add sub mul mad shl neg".split())
#: Integers that go through these are rounded.
_RECKONING = frozenset("add sub mul div fma mad cvt sqrt rcp rsqrt ex2 lg2".split())


@dataclass(slots=True)
class Dialect:
    """The arithmetic that occurs in some code."""

    literals: set[str] = field(default_factory=set)
    """Floating-point constants, by their bits."""
    moved: set[str] = field(default_factory=set)
    """Constants that are put into registers as integers, by their bits: they may be either."""
    conditional: set[tuple[str, ...]] = field(default_factory=set)
    """Atomics that compare, and the numbers that they do it with: few launches hold those."""
    operations: dict[str, set[str]] = field(default_factory=dict)
    """For each instruction that computes with floating-point numbers its forms."""
    widths: dict[str, set[int]] = field(default_factory=dict)
    """For each state space the sizes in bits of what is loaded and stored."""
    vectors: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    """The same of vectors: the size of an element, and of them all."""

    signs: Counter[str] = field(default_factory=Counter)
    """How often instructions occur that compare, or take integers as signed, or as unsigned."""

    comparisons: dict[str, set[int]] = field(default_factory=dict)
    """How floating-point numbers are divided, by the constant without its sign, or none."""
    cuts: set[tuple[int, int]] = field(default_factory=set)
    """To how many bits integers are cut, and of how many."""
    parts: set[tuple[int, int]] = field(default_factory=set)
    """How many bits of registers are extended, where there are more: those too."""
    members: set[str] = field(default_factory=set)
    """What computes the lanes that take part in shuffles and votes: an operation, or a number."""
    numbers: set[int] = field(default_factory=set)
    """Large integers that decide something, but for those that are about powers of two."""
    registers: set[str] = field(default_factory=set)
    """Special registers of threads and blocks that are read."""
    counts_short: bool = False
    """Whether numbers of 16 bits are added up, and then taken for larger ones: they may wrap."""

    @staticmethod
    def of(instructions: Iterable[Instruction], scopes: Scopes) -> Dialect:
        """Read instructions."""
        found = Dialect()
        made: dict[str, str] = {}
        numbers: dict[str, str] = {}
        instructions = list(instructions)
        loaded = _loaded(instructions)
        short = _short(instructions)
        halves: list[tuple[str, int]] = []
        last: tuple[Any, ...] = ()
        for one in instructions:
            text = one.text
            if one.name in _TOGETHER and ".sync" in one.modifiers:
                lanes = one.operands[-1].text
                found.members.add(made.get(lanes, lanes if lanes[0] != "%" else ""))
            elif one.operands and (".b32" in one.modifiers or ".u32" in one.modifiers):
                source = one.operands[-1].text
                made[one.operands[0].text] = (
                    made.get(source, source) if one.name == "mov" else one.name
                )
            if "0f" in text or "0d" in text or "0F" in text or "0D" in text:
                found.literals.update(bits.upper() for bits in _LITERAL.findall(text))
            types = [m[1:] for m in one.modifiers if m[1:] in SCALAR_TYPES]
            if one.name == "mov":
                numbers[one.operands[0].text] = str(evaluate(one.operands[-1]))
            elif one.name in ("atom", "red") and _CONDITIONAL.intersection(one.modifiers):
                values = [o for o in one.operands[one.name == "atom" :] if o.kind != "Address"]
                found.conditional.add(
                    (
                        *sorted(_CONDITIONAL.intersection(one.modifiers)),
                        *(numbers.get(v.text, str(evaluate(v))) for v in values),
                    )
                )
            if one.name == "mov" and types:
                number, width = evaluate(one.operands[-1]), SCALAR_TYPES[types[0]].width
                # A small one is a count: as a floating-point number it would be denormal.
                if isinstance(number, int) and width >= 32 and number % (1 << width) >> width - 9:
                    found.moved.add(f"{number % (1 << width):0{width // 4}X}")
            if one.name in _SIGNED or ".wide" in one.modifiers or ".hi" in one.modifiers:
                found.signs[f"{one.opcode if one.name in _COMPARED else one.name} {types}"] += 1
            if one.name in _MEMORY and types:
                space = next((s for s in _SPACES if f".{s}" in one.modifiers), "generic")
                if ".param" not in one.modifiers:
                    width = SCALAR_TYPES[types[-1]].width
                    whole = 8 * stored_bytes(one)
                    place = _PLACE.search(text)
                    half = (one.name, space, width, *place.groups("0")) if place else ()
                    if whole > width:
                        found.vectors.setdefault(space, set()).add((width, whole))
                        last = ()
                    elif last and half and half[:4] == last[:4] and _follows(last, half):
                        # A compiler that does not know of an alignment takes words in halves.
                        halves[-1] = space, 2 * width
                        last = ()
                    else:
                        halves.append((space, width))
                        last = half
            elif one.name in _SURFACES:
                outside = next((m for m in _OUTSIDE if m in one.modifiers), _OUTSIDE[0])
                found.operations.setdefault(one.name, set()).add(one.name + outside)
            elif one.name not in _MOVES and any(map(_is_float, types)):
                found.operations.setdefault(one.name, set()).add(_form(one))
                if one.name in _COMPARED:
                    found._compare(one)
            elif one.name == "cvt" and len(types) == 2:
                target, source = (SCALAR_TYPES[t].width for t in types)
                name = one.operands[-1].text
                if (
                    short.get(name, source) > target
                    if target < source
                    else (loaded.get(name) != types[-1])
                ):
                    found._convert(one, scopes)
            elif one.name == "mov" and types and one.operands[0].kind == "Vector":
                width = SCALAR_TYPES[types[0]].width
                found._cut(width // len(one.operands[0].children), width)
            elif one.name == "and" and types and one.operands[-1].text in _MASKS:
                found._cut(_MASKS[one.operands[-1].text], SCALAR_TYPES[types[0]].width)
            found.numbers.update(_large(one))
            found.registers.update(_AXIS.findall(text))
        for space, width in halves:
            found.widths.setdefault(space, set()).add(width)
        found.counts_short = _counts_short(instructions, loaded)
        return found

    def _compare(self, one: Instruction) -> None:
        outcomes = next((_OUTCOMES[m[1:]] for m in one.modifiers if m[1:] in _OUTCOMES), None)
        if outcomes is None:
            return
        constants = _LITERAL.findall(one.text)
        constant = constants[0].upper() if constants else ""
        if constant:
            sign = 1 << 4 * len(constant) - 1
            constant = f"{int(constant, 16) & ~sign:0{len(constant)}X}"
        self.comparisons.setdefault(constant, set()).add(_division(outcomes))

    def _convert(self, one: Instruction, scopes: Scopes) -> None:
        target, source = (SCALAR_TYPES[m[1:]].width for m in one.modifiers[-2:])
        self._cut(target, source)
        name = one.operands[-1]
        declared = scopes.resolve(name) if isinstance(name, Name) else None
        if declared is not None and declared.type in SCALAR_TYPES:
            width = SCALAR_TYPES[declared.type].width
            if source < min(width, target, 32):
                self.parts.add((source, width))
            elif one.modifiers[-1].startswith(".s"):
                # What is signed was declared so; compilers count with unsigned ones on their own.
                self._cut(source, target)

    def _cut(self, few: int, many: int) -> None:
        if few < min(many, 32):
            self.cuts.add((few, many))

    def _sizes(self, space: str) -> set[tuple[int, int]]:
        """What is loaded and stored in a space: the sizes of elements, and of all together."""
        return {(width, width) for width in self.widths.get(space, ())} | self.vectors.get(
            space, set()
        )

    def _loaded(self) -> set[int]:
        """The sizes in bits of what is loaded and stored, anywhere."""
        spaces = (*self.widths, *self.vectors)
        return {width for space in spaces for width, _ in self._sizes(space)}

    @property
    def is_narrow(self) -> bool:
        """Whether it works with bytes, or with other parts of words."""
        return bool(self.cuts or self.parts) or min(self._loaded(), default=32) < 32

    def _reckons(self) -> bool:
        """Whether it does more with floating-point numbers than to move and compare them."""
        return not _RECKONING.isdisjoint(self.operations)

    def foreign(self, other: Dialect) -> str:
        """What the other has that this one does not; empty where there is nothing."""
        for bits in sorted(other.literals - self.literals - self.moved):
            negated = f"{int(bits, 16) ^ 1 << 4 * len(bits) - 1:0{len(bits)}X}"
            if not int(bits, 16) & ~(1 << 4 * len(bits) - 1) or negated not in self.literals:
                return f"computes with 0{'f' if len(bits) == 8 else 'd'}{bits}"
        for atomic in sorted(other.conditional - self.conditional):
            return f"has an atomic {atomic[0][1:]} with {', '.join(atomic[1:])}"
        if not self._reckons() and other._reckons():
            return "reckons with floating-point numbers"
        for name, forms in other.operations.items():
            own = self.operations.get(name, forms)
            new = sorted(f for f in forms - own if _EXACT.sub(r"\1b32", f) not in own)
            if new:
                return f"has {new[0]}"
        for names in (("add", "sub"), ("mul",)):
            # One rounding is not two, but for numbers that few launches have.
            if "fma" in self.operations and not any(name in self.operations for name in names):
                found = sorted(f for name in names for f in other.operations.get(name, ()))
                if found:
                    return f"has {found[0]}"
        for space in (*other.widths, *other.vectors):
            known = self._sizes(space) | self._sizes("generic")
            elements, wholes = ({size[k] for size in known} for k in (0, 1))
            # A compiler takes vectors in elements of any size, but takes them whole.
            smaller = [
                width
                for width, whole in sorted(other._sizes(space))
                if width not in elements and width < max(elements, default=0)
                and (width == whole or whole not in wholes)
            ]  # fmt: skip
            if smaller:
                return f"loads or stores {smaller[0]} bits in {space} memory"
        # Who works with bytes may cut to bytes in any way, but only parts of what he did before:
        # those of what he cuts to as many, too, since to cut and to extend is the same.
        for few, many in sorted(
            (other.parts - self.parts - self.cuts)
            | (set() if self.is_narrow else other.cuts - self.cuts)
        ):
            return f"keeps {few} of {many} bits of an integer"
        has_short = 16 in {few for few, _ in self.cuts | self.parts} or 16 in self._loaded()
        if other.counts_short and not (self.counts_short or has_short):
            return "counts in 16 bits"
        for constant, divisions in other.comparisons.items():
            if divisions - self.comparisons.get(constant, divisions):
                what = f"0{'f' if len(constant) == 8 else 'd'}{constant}" if constant else "others"
                return f"compares numbers with {what} in a way"
        for operation in sorted(other.members - self.members - {""}):
            return f"takes lanes together by {operation}"
        for number in sorted(other.numbers - self.numbers):
            return f"compares with the integer {number}"
        for name in sorted(other.registers - self.registers):
            return f"reads {name}"
        return ""


def _loaded(instructions: Iterable[Instruction]) -> dict[str, str]:
    """Registers that only loads of one type set: to extend these again changes nothing."""
    found: dict[str, str] = {}
    for one in instructions:
        if not one.operands:
            continue
        type = one.modifiers[-1][1:] if one.name == "ld" else ""
        first = one.operands[0]
        for name in (first,) if isinstance(first, Name) else first.find("Name"):
            known = found.setdefault(name.text, type)
            found[name.text] = type if known == type else ""
    return found


def _counts_short(instructions: Iterable[Instruction], loaded: Mapping[str, str]) -> bool:
    """Whether a sum or product of 16 bits, of more than two bytes, gets more bits.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b16 %h<3>; .reg .b32 %r; add.s16 %h1, %h1, 1;"
    ...                  "mov.u16 %h2, %h1; cvt.u32.u16 %r, %h2; }")
    >>> _counts_short(m["f"].instructions, {})
    True
    >>> _counts_short(m["f"].instructions, {"%h1": "u8"})
    False
    """
    made: set[str] = set()
    before = -1
    while len(made) > before:  # numbers go round in loops
        before = len(made)
        for one in instructions:
            type = one.modifiers[-1][1:] if one.modifiers else ""
            if type not in _SHORT_TYPES or len(one.operands) < 2:
                continue
            read = [name.text for operand in one.operands[1:] for name in _names(operand)]
            adds = one.name in _ADDING and any(loaded.get(name) not in _BYTES for name in read)
            if one.name == "cvt" or ".wide" in one.modifiers:
                if made.intersection(read):
                    return True
            elif adds or (one.name == "mov" and made.intersection(read)):
                made.update(name.text for name in _names(one.operands[0]))
    return False


def _names(node: Node) -> Iterable[Name]:
    return (node,) if isinstance(node, Name) else node.find("Name")


def _short(instructions: Iterable[Instruction]) -> dict[str, int]:
    """Registers that only a shift to the right sets, as for the sign: how many bits they have."""
    found: dict[str, int] = {}
    set_before: set[str] = set()
    for one in instructions:
        if not one.operands:
            continue
        first = one.operands[0]
        for name in (first,) if isinstance(first, Name) else first.find("Name"):
            if name.text in set_before:
                found.pop(name.text, None)
            elif one.name == "shr" and one.modifiers[-1][1:] in ("u32", "u64"):
                by, width = evaluate(one.operands[-1]), int(one.modifiers[-1][2:])
                if isinstance(by, int) and 0 <= by < width:
                    found[name.text] = width - by
            set_before.add(name.text)
    return found


def _division(outcomes: int) -> int:
    """Into which two parts outcomes are divided: the same for the opposite, and from behind."""
    turned = outcomes & 12 | (outcomes & 1) << 1 | (outcomes & 2) >> 1
    return min(outcomes, 15 ^ outcomes, turned, 15 ^ turned)


def _follows(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    """Whether an access is to the half of a word behind the one of another."""
    width: int = first[2]
    start, after = int(first[4]), int(second[4])
    return width < 64 and after == start + width // 8 and start % (width // 4) == 0


def _form(one: Instruction) -> str:
    """The opcode without what makes no difference, or one that runs show."""
    words = _INTEGER.sub(".b", one.opcode).split(".")
    if one.name in _COMPARED:
        words = [words[0], *(w for w in words[1:] if w in ("ftz", "approx") or w in SCALAR_TYPES)]
    return without_default(one, ".".join(words))


def without_default(one: Instruction, opcode: str) -> str:
    """An opcode without the rounding that it has anyway."""
    # Of the short formats, those without it may be put together to one with a single rounding.
    if one.name not in _DEFAULT or _SHORT_FORMATS.intersection(one.modifiers):
        return opcode
    return opcode.replace(".rn", "", 1)


def _large(one: Instruction) -> Iterable[int]:
    """The large integers that an instruction compares with, without their signs.

    Those of sums and products are not among them: compilers make new ones of those there are.
    """
    if one.name not in _DECIDING:
        return
    for place, operand in enumerate(one.operands):
        number = evaluate(operand) if operand.kind not in ("Name", "Address") else None
        if not isinstance(number, int):
            continue
        if number >> 31 == 1:
            number -= 1 << 32
        if one.name in _COMPARED:
            # More than four is not less than five.
            number += any(m[1:] in _BELOW[place == 2] for m in one.modifiers)
        number = abs(number)
        if number >= _LARGE and all(n & (n - 1) for n in (number - 1, number, number + 1)):
            yield number


def _is_float(type: str) -> bool:
    """Whether numbers of a type are rounded; those of some live in registers of bits."""
    return SCALAR_TYPES[type].kind == FLOAT or f".{type}" in _SHORT_FORMATS
