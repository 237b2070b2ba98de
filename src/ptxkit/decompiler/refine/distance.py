"""How far the PTX of two functions is from being the same, and where it differs.

A guide for a search, not a proof: what comes out as the same is compared again by `same_ptx`.

>>> a = "add.s32 %r1, %r2, %r3;"
>>> distance(Code.of([a]), Code.of(["add.s32 %r7, %r8, %r9;"])).score
0.0
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache

_REGISTER = re.compile(r"%([a-z]+)\d+\b")
_LABEL = re.compile(r"\$L\w+")
#: Names of variables and parameters; of a parameter its number stays.
_NAME = re.compile(r"(?<![.\w$%])[A-Za-z_$][\w$]*?((?:_param_\d+)?)(?![\w$])", re.ASCII)
_INDEX = re.compile(r"%(tid|ctaid|ntid|nctaid)\.([xyz])")
_INDICES = {"tid": "threadIdx", "ctaid": "blockIdx", "ntid": "blockDim", "nctaid": "gridDim"}
_GUARD = re.compile(r"^@!?%\w+ ")
#: What has no result.
_NO_RESULT = frozenset("st bra bar barrier ret red membar fence call exit trap sust brx".split())
#: What an instruction counts that is in the wrong place, and an operand that is another one.
_MISPLACED, _OPERAND = 1.0, 0.4


@dataclass(slots=True)
class Code:
    """The instructions of a function, in a form that is quick to compare."""

    shapes: list[str] = field(default_factory=list)
    """Each instruction without the numbers of its registers, or the names in it."""
    registers: list[tuple[str, ...]] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    """How many of the registers of each are results: the first ones, after a guard."""
    targets: list[str] = field(default_factory=list)
    """The label that each branches to."""
    labels: dict[str, int] = field(default_factory=dict)
    """The instruction behind each label."""
    lines: list[int] = field(default_factory=list)
    """The line of the source that each is from, where `.loc` says so."""

    @property
    def indices(self) -> list[str]:
        """Indices and sizes of blocks and of the grid, in the order in which they are read."""
        found = (_INDEX.search(shape) for shape in self.shapes)
        return [f"{_INDICES[match[1]]}.{match[2]}" for match in found if match is not None]

    @classmethod
    def of(cls, lines: Iterable[str]) -> Code:
        """The code in the lines of a function's body, one instruction to a line."""
        code = cls()
        source = 0
        for line in lines:
            text = line.strip().lstrip("{").replace(";}", ";")
            if text.startswith(".") and not text.startswith(".pragma"):
                if text.startswith(".loc"):
                    source = int(text.split()[2])
                continue
            if text.endswith(":"):
                code.labels[text[:-1]] = len(code.shapes)
                continue
            if not text.endswith(";"):
                continue
            shape, registers, results, target = _read(text)
            code.shapes.append(shape)
            code.registers.append(registers)
            code.results.append(results)
            code.targets.append(target)
            code.lines.append(source)
        return code

    @classmethod
    def in_module(cls, text: str) -> dict[str, Code]:
        """The code of every function with a body in the text of a compiler's PTX, by its name."""
        found: dict[str, Code] = {}
        name, depth = "", 0
        body: list[str] = []
        for line in text.splitlines():
            if depth:
                # Inline assembly has blocks of its own.
                depth += line.count("{") - line.count("}")
                if depth:
                    body.append(line)
                else:
                    found[name] = cls.of(body)
                continue
            head = _HEAD.match(line)
            if head is not None:
                name = head[1]
            elif line == "{":
                depth, body = 1, []
        return found


_HEAD = re.compile(r"^(?:\.\w+ )*\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")


@lru_cache(maxsize=1 << 14)
def _read(text: str) -> tuple[str, tuple[str, ...], int, str]:
    text = " ".join(text.split())
    guard = _GUARD.match(text)
    rest = text[guard.end() :] if guard is not None else text
    opcode, _, operands = rest.partition(" ")
    target = _LABEL.search(operands)
    registers = tuple(match[0] for match in _REGISTER.finditer(text))
    first = (
        operands[: operands.find("}")] if operands.startswith("{") else operands.partition(",")[0]
    )
    results = len(_REGISTER.findall(first)) if opcode.partition(".")[0] not in _NO_RESULT else 0
    kept = _NAME.sub(r"@\1", _LABEL.sub("@", operands))
    shape = f"{guard[0] if guard is not None else ''}{opcode} {kept}"
    return _REGISTER.sub(r"%\1", shape), registers, results, target[0] if target else ""


@dataclass(frozen=True, slots=True)
class Difference:
    """What is between two pieces of code."""

    score: float
    """0 where they look the same."""
    places: frozenset[int]
    """Instructions of the second that are not those of the first, or stand beside such."""


def distance(a: Code, b: Code) -> Difference:
    """The difference of two pieces of code.

    >>> one = Code.of(["ld.global.u32 %r1, [%rd1];", "neg.s32 %r2, %r1;", "ret;"])
    >>> two = Code.of(["neg.s32 %r2, %r3;", "ld.global.u32 %r1, [%rd1];", "ret;"])
    >>> distance(one, two)
    Difference(score=2.0, places=frozenset({0, 1, 2}))
    """
    blocks = _matching(a.shapes, b.shapes)
    partner: dict[int, int] = {}
    for i, j, size in blocks:
        partner.update(zip(range(i, i + size), range(j, j + size), strict=True))
    places: set[int] = set()
    taken = set(partner.values())
    places.update(j for j in range(len(b.shapes)) if j not in taken)
    last = 0
    for i in range(len(a.shapes)):
        if i in partner:
            last = partner[i]
        elif b.shapes:
            places.update((last, min(last + 1, len(b.shapes) - 1)))
    score = _MISPLACED * (len(a.shapes) + len(b.shapes) - 2 * len(partner))
    names: dict[str, str] = {}
    for i, j in partner.items():
        wrong = 0
        guards = len(a.registers[i]) and a.shapes[i].startswith("@")
        results = range(guards, guards + a.results[i])
        for place, (one, two) in enumerate(zip(a.registers[i], b.registers[j], strict=True)):
            known = names.setdefault(one, two) if place in results else names.get(one, two)
            wrong += known != two
        if a.targets[i]:
            there = partner.get(a.labels.get(a.targets[i], -1), -2)
            wrong += there != b.labels.get(b.targets[j], -1)
        if wrong:
            score += _OPERAND * wrong
            places.add(j)
    return Difference(round(score, 3), frozenset(places))


def _matching(a: list[str], b: list[str]) -> list[tuple[int, int, int]]:
    """The runs that two lists have in common; what is alike at both ends is not searched."""
    start, end = 0, 0
    most = min(len(a), len(b))
    while start < most and a[start] == b[start]:
        start += 1
    while end < most - start and a[-1 - end] == b[-1 - end]:
        end += 1
    inner = SequenceMatcher(None, a[start : len(a) - end], b[start : len(b) - end], autojunk=False)
    middle = [(i + start, j + start, size) for i, j, size in inner.get_matching_blocks()]
    return [(0, 0, start), *middle, (len(a) - end, len(b) - end, end)]
