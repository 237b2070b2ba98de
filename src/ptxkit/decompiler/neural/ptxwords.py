"""PTX of one function as words, in one form: what a model reads.

Registers that only pass something on (a parameter, a constant, a special register, another
register) are replaced by what they stand for, and those that are used once by the instruction
that makes them; the others keep their class and are numbered as they appear, so that two
registers are never one word. Special registers and parameters are
words that the answer may copy: ``%tid.x`` is read as ``threadIdx.x``, the third parameter as
``p2``, ``0f40000000`` as ``2.0``.

>>> words = read_function('''.visible .entry k(.param .u64 k_0, .param .u32 k_1) {
...     .reg .b32 %r<9>; .reg .b64 %rd<9>;
...     ld.param.u64 %rd1, [k_0]; ld.param.u32 %r4, [k_1];
...     mov.u32 %r7, %tid.x; add.s32 %r8, %r7, %r4;
...     cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2+4], %r8; ret; }''')
>>> " ".join(words.texts)
'st.global.u32 p0 +4 add.s32 threadIdx.x p1 ret'
>>> words.parameters
('u64', 'u32')
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, field

from ptxkit.decompiler.neural.flow import (
    REGISTER,
    Instruction,
    aliases_of,
    nested_of,
    read_instructions,
)
from ptxkit.decompiler.neural.numbers import number_word
from ptxkit.decompiler.neural.orders import Orders
from ptxkit.errors import PtxkitError
from ptxkit.syntax.statements import without_comments

_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr\b[^,)]*?\s)?"
                        r"([\w$%]+)\s*(\[\d+\])?\s*(?=[,)])")  # fmt: skip
_SHARED = re.compile(r"(?<![\w.])\.shared\b[^;{]*?([\w$]+)(?:\[(\d*)\])?\s*;")
_WIDENS = re.compile(r"(mul\.wide|mad\.wide|cvt\.[su]64)\.[su]32$")
_NOT_UNROLLED = re.compile(r'\.pragma\s+"nounroll"')
_SPECIAL = {"%tid": "threadIdx", "%ctaid": "blockIdx", "%ntid": "blockDim", "%nctaid": "gridDim"}


@dataclass(slots=True)
class PtxWords:
    """What a function says: its words, and for each the line and where its value was made."""

    name: str
    parameters: tuple[str, ...]
    """The types of the parameters, as PTX writes them."""
    texts: list[str] = field(default_factory=list)
    made_at: list[int] = field(default_factory=list)
    """For a register that is read: the place of the instruction that made it; else -1."""
    statements: list[int] = field(default_factory=list)
    """Which instruction of the function a word belongs to."""
    cached: frozenset[int] = frozenset()
    """Parameters that are read by ``ld.global.nc``."""
    unsigned: frozenset[str] = frozenset()
    """Indices of threads in the grid that are widened without a sign, and never with one."""
    rolled: bool = False
    """Whether there are loops, and each is one that compilers were told to leave as it is."""
    orders: Orders = field(default_factory=Orders, repr=False)
    """In which order operands of sums and products stand."""


def read_function(text: str) -> PtxWords:
    """The words of a function, from its text."""
    text = without_comments(text)
    opening = _body_start(text)
    head, body = text[:opening], text[opening:]
    declared = re.search(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", head)
    if declared is None or not body:
        raise PtxkitError("there is no function in this text; give the text of one kernel")
    inputs = head[declared.end() :]
    parameters = _PARAMETER.findall(inputs)
    names: dict[str, str] = {name: f"p{k}" for k, (_, name, _) in enumerate(parameters)}
    shared: list[tuple[str, str]] = []
    for name, size in [*_SHARED.findall(head[: declared.start()]), *_SHARED.findall(body)]:
        names[name] = f"s{len(shared)}"
        shared.append((names[name], size or "0"))
    instructions, labels = read_instructions(body)
    found = PtxWords(declared[1], tuple(t + n for t, _, n in parameters))
    _write(found, instructions, labels, names, shared)
    found.rolled = _loops(instructions, labels) == len(_NOT_UNROLLED.findall(body)) > 0
    return found


def _loops(instructions: list[Instruction], labels: dict[int, list[str]]) -> int:
    """How many places are jumped back to."""
    places = {label: number for number, found in labels.items() for label in found}
    targets = {item.operands[-1]: item.number for item in instructions
               if item.head == "bra" and item.operands}  # fmt: skip
    return sum(places.get(label, number + 1) <= number for label, number in targets.items())


def _body_start(text: str) -> int:
    """Where the body begins: after the brace that follows the parameters."""
    entry = re.search(r"\.(entry|func)\b", text)
    if entry is None:
        raise PtxkitError("there is no function in this text; give the text of one kernel")
    place = text.find("{", entry.start())
    return place + 1 if place >= 0 else len(text)


def _write(
    found: PtxWords,
    instructions: list[Instruction],
    labels: dict[int, list[str]],
    names: dict[str, str],
    shared: list[tuple[str, str]],
) -> None:
    aliases = aliases_of(instructions, names)
    nested = nested_of(instructions, labels, aliases)
    for word in (w for n in range(len(instructions) + 1) for w in labels.get(n, [])):
        names.setdefault(word, f"L{sum(v[0] == 'L' for v in names.values())}")
    registers: dict[str, str] = {}
    counts: dict[str, int] = {}
    made: dict[str, int] = {}
    cached: set[int] = set()
    bases: dict[str, str] = {}
    widened: dict[str, set[str]] = {"s32": set(), "u32": set()}

    def say(text: str, number: int, made_at: int = -1) -> None:
        found.texts.append(text)
        found.statements.append(number)
        found.made_at.append(made_at)

    def word_of(word: str) -> str:
        if word in names:
            return names[word]
        if word in registers:
            return registers[word]
        match = REGISTER.match(word)
        if match:
            counts[match[1]] = counts.get(match[1], 0) + 1
            registers[word] = f"%{match[1]}{counts[match[1]]}"
            return registers[word]
        return constant_word(word)

    def say_input(text: str, number: int) -> None:
        sign = text[0] if text[0] in "+-" else ""
        word = aliases.get(text, text[len(sign) :])
        said = word_of(word)
        say(said if said.startswith("-") else sign + said, number, made.get(word, -1))

    def say_inputs(inputs: list[str], number: int) -> None:
        """What an instruction reads; instructions are said in place of registers used once."""
        waiting = [(text, number) for text in reversed(inputs)]
        while waiting:
            text, number = waiting.pop()
            inner = nested.get(aliases.get(text, text))
            if inner is None:
                say_input(text, number)
                continue
            say(inner.opcode, inner.number)
            waiting += [(text, inner.number) for text in reversed(inner.inputs)]

    for name, size in shared:
        say(".shared", -1)
        say(name, -1)
        say(size, -1)
    for item in instructions:
        for label in labels.get(item.number, []):
            say(names[label], item.number)
        _follow(item, aliases, names, bases, cached)
        if _WIDENS.match(item.opcode):
            widened[item.opcode[-3:]] |= {aliases.get(word, word) for word in item.inputs[:2]}
        found.orders.add(item, [_plain(aliases.get(w, w), names) for w in item.inputs])
        if any(word in aliases or word in nested for word in item.results):
            continue
        if item.guard:
            say("@!" if item.guard[1] == "!" else "@", item.number)
            say_inputs([item.asked], item.number)
        place = len(found.texts)
        say(item.opcode, item.number)
        for word in item.results:
            say(word_of(word), item.number)
        say_inputs(item.inputs, item.number)
        for word in item.results:
            made[word] = place
    for label in labels.get(len(instructions), []):
        say(names[label], len(instructions))
    found.cached = frozenset(cached)
    unsigned = widened["u32"] - widened["s32"]
    found.unsigned = frozenset(w for w in unsigned if w.startswith("globalIdx."))


def _plain(word: str, names: dict[str, str]) -> str:
    """A word that is read, as answers write it; a register by its own name."""
    return names.get(word) or (word if REGISTER.match(word) else constant_word(word))


def _follow(
    item: Instruction, aliases: dict[str, str], names: dict[str, str], bases: dict[str, str],
    cached: set[int],
) -> None:  # fmt: skip
    """Which parameter an address comes from, to know those read through the cache."""
    known = [aliases.get(w, w) for w in item.operands]
    sources = [names.get(w) or bases.get(w, "") for w in known[1:]]
    base = next((s for s in sources if s.startswith("p")), "")
    if item.opcode.startswith("ld.global.nc"):
        if base:
            cached.add(int(base[1:]))
    elif base and item.opcode.startswith(("add.s64", "add.u64", "mad", "cvta")):
        bases[known[0]] = base


def constant_word(word: str) -> str:
    """A number or a special register as the answer writes it.

    >>> [constant_word(w) for w in ("0f40000000", "0x10", "%ntid.y", "0d3FB999999999999A", "7")]
    ['2.0', '16', 'blockDim.y', '0.1', '7']
    """
    if word[0] == "%":
        base, dot, axis = word.partition(".")
        return _SPECIAL.get(base, base) + dot + axis
    kind = word[:2].lower()
    if kind == "0f":
        return _float_word(struct.unpack(">f", bytes.fromhex(word[2:]))[0], "f32")
    if kind == "0d":
        return _float_word(struct.unpack(">d", bytes.fromhex(word[2:]))[0], "f64")
    if kind == "0x":
        return str(int(word.rstrip("U"), 16))
    return word.rstrip("U") if word[0].isdigit() else word


def _float_word(value: float, type: str) -> str:
    return number_word(value, type) if math.isfinite(value) else str(value)
