"""PTX of one function as words, in one form: what a model reads.

Registers that only pass something on (a parameter, a constant, a special register, another
register) are replaced by what they stand for; the others keep their class and are numbered as
they appear, so that two registers are never one word. Special registers and parameters are
words that the answer may copy: ``%tid.x`` is read as ``threadIdx.x``, the third parameter as
``p2``, ``0f40000000`` as ``2.0``.

>>> words = read_function('''.visible .entry k(.param .u64 k_0, .param .u32 k_1) {
...     .reg .b32 %r<9>; .reg .b64 %rd<9>;
...     ld.param.u64 %rd1, [k_0]; ld.param.u32 %r4, [k_1];
...     mov.u32 %r7, %tid.x; add.s32 %r8, %r7, %r4;
...     cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2+4], %r8; ret; }''')
>>> " ".join(words.texts)
'add.s32 %r1 threadIdx.x p1 st.global.u32 p0 +4 %r1 ret'
>>> words.parameters
('u64', 'u32')
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, field

from ptxkit.decompiler.neural.schedule import number_word
from ptxkit.errors import PtxkitError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr\b[^,)]*?\s)?"
                        r"([\w$%]+)\s*(\[\d+\])?\s*(?=[,)])")  # fmt: skip
_SHARED = re.compile(r"(?<![\w.])\.shared\b[^;{]*?([\w$]+)(?:\[(\d*)\])?\s*;")
_WORD = re.compile(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?"
                   r"|[%$]?[A-Za-z_][\w$]*(?:\.[xyzw](?!\w))?|\d+U?|[-+]")  # fmt: skip
_STATEMENT = re.compile(r"\s*(?:(@!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
_LABEL = re.compile(r"\s*([$\w]+):(?!:)")
_REGISTER = re.compile(r"%([a-z]+)(\d+)$")
_SPECIAL = {"%tid": "threadIdx", "%ctaid": "blockIdx", "%ntid": "blockDim", "%nctaid": "gridDim"}
_PASSES_ON = re.compile(r"(mov\.\w+|cvta\.to\.\w+\.u64|ld\.param\.\w+)$")
_NO_RESULT = frozenset(
    ("st", "red", "bra", "bar", "barrier", "ret", "exit", "membar", "fence", "prefetch", "trap",
     "call", "brx", "nanosleep", "bulk")
)  # fmt: skip


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


@dataclass(slots=True)
class _Instruction:
    guard: str
    opcode: str
    operands: list[str]
    number: int


def read_function(text: str) -> PtxWords:
    """The words of a function, from its text."""
    text = _COMMENT.sub(" ", text)
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
    instructions, labels = _instructions(body)
    found = PtxWords(declared[1], tuple(t + n for t, _, n in parameters))
    _write(found, instructions, labels, names, shared)
    return found


def _body_start(text: str) -> int:
    """Where the body begins: after the brace that follows the parameters."""
    entry = re.search(r"\.(entry|func)\b", text)
    if entry is None:
        raise PtxkitError("there is no function in this text; give the text of one kernel")
    place = text.find("{", entry.start())
    return place + 1 if place >= 0 else len(text)


def _instructions(body: str) -> tuple[list[_Instruction], dict[int, list[str]]]:
    """The instructions in order, and the labels before each."""
    found: list[_Instruction] = []
    labels: dict[int, list[str]] = {}
    for piece in body.split(";"):
        piece = piece.lstrip(" \t\r\n{}")
        while match := _LABEL.match(piece):
            labels.setdefault(len(found), []).append(match[1])
            piece = piece[match.end() :].lstrip(" \t\r\n{}")
        if not piece or piece.startswith("."):
            continue
        match = _STATEMENT.match(piece)
        if match is None:
            continue
        guard, opcode, rest = match.groups()
        found.append(_Instruction(guard or "", opcode, _WORD.findall(rest), len(found)))
    return found, labels


def _results(instruction: _Instruction) -> int:
    """How many of the first operands are made here."""
    head = instruction.opcode.partition(".")[0]
    if head in _NO_RESULT:
        return 0
    if ".v2." in instruction.opcode or ".v4." in instruction.opcode:
        return int(instruction.opcode.partition(".v")[2][0])
    return 1


def _aliases(instructions: list[_Instruction], names: dict[str, str]) -> dict[str, str]:
    """Registers that stand for something else, and the instructions that say so."""
    count: dict[str, int] = {}
    for item in instructions:
        for word in item.operands[: _results(item)]:
            count[word] = count.get(word, 0) + 1
    found: dict[str, str] = {}
    for item in instructions:
        if item.guard or not _PASSES_ON.match(item.opcode):
            continue
        target, *source = item.operands or [""]
        if count.get(target) != 1 or not _REGISTER.match(target):
            continue
        if source[:1] == ["-"] and len(source) == 2:
            source = ["-" + source[1]]
        if len(source) != 1:
            continue
        word = found.get(source[0], source[0])
        if _REGISTER.match(word) and count.get(word) != 1:
            continue
        # A conversion between register classes is no copy.
        same = not _REGISTER.match(word) or _class(word) == _class(target)
        if same and not (item.opcode.startswith("ld.param") and source[0] not in names):
            found[target] = word
    return found


def _class(register: str) -> str:
    match = _REGISTER.match(register)
    return match[1] if match else ""


def _write(
    found: PtxWords,
    instructions: list[_Instruction],
    labels: dict[int, list[str]],
    names: dict[str, str],
    shared: list[tuple[str, str]],
) -> None:
    aliases = _aliases(instructions, names)
    for word in (w for n in range(len(instructions) + 1) for w in labels.get(n, [])):
        names.setdefault(word, f"L{sum(v[0] == 'L' for v in names.values())}")
    registers: dict[str, str] = {}
    counts: dict[str, int] = {}
    made: dict[str, int] = {}
    cached: set[int] = set()
    bases: dict[str, str] = {}

    def say(text: str, number: int, made_at: int = -1) -> None:
        found.texts.append(text)
        found.statements.append(number)
        found.made_at.append(made_at)

    def word_of(word: str) -> str:
        word = aliases.get(word, word)
        if word in names:
            return names[word]
        if word in registers:
            return registers[word]
        match = _REGISTER.match(word)
        if match:
            counts[match[1]] = counts.get(match[1], 0) + 1
            registers[word] = f"%{match[1]}{counts[match[1]]}"
            return registers[word]
        return constant_word(word)

    for name, size in shared:
        say(".shared", -1)
        say(name, -1)
        say(size, -1)
    for item in instructions:
        for label in labels.get(item.number, []):
            say(names[label], item.number)
        results = _results(item)
        if results == 1 and item.operands and item.operands[0] in aliases:
            continue
        if item.guard:
            mark, register = (
                ("@!", item.guard[2:]) if item.guard[1] == "!" else ("@", item.guard[1:])
            )
            say(mark, item.number)
            say(word_of(register), item.number, made.get(register, -1))
        place = len(found.texts)
        say(item.opcode, item.number)
        sign = ""
        for number, operand in enumerate(item.operands):
            if operand in "+-":
                sign = operand
                continue
            known = aliases.get(operand, operand)
            at = made.get(known, -1) if number >= results else -1
            text = word_of(operand)
            if sign == "+":
                text = text if text.startswith("-") else f"+{text}"
            elif sign == "-":
                text = f"-{text}"
            sign = ""
            say(text, item.number, at)
        for operand in item.operands[:results]:
            made[operand] = place
        _follow(item, aliases, names, bases, cached)
    for label in labels.get(len(instructions), []):
        say(names[label], len(instructions))
    found.cached = frozenset(cached)


def _follow(
    item: _Instruction, aliases: dict[str, str], names: dict[str, str], bases: dict[str, str],
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
