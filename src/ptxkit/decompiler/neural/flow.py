"""Instructions of a function, and which of their values need no register to be told.

What only passes something on (a parameter, a constant, another register) is an alias. A value
that is used once, in the block where it is made, is said where it is used: what is left of a
function is close to the expressions that it came from.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

_WORD = re.compile(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?"
                   r"|[%$]?[A-Za-z_][\w$]*(?:\.[xyzw](?!\w))?|\d+U?|[-+]")  # fmt: skip
_STATEMENT = re.compile(r"\s*(?:(@!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
_LABEL = re.compile(r"\s*([$\w]+):(?!:)")
REGISTER = re.compile(r"%([a-z]+)(\d+)$")
_PASSES_ON = re.compile(r"(mov\.\w+|cvta\.to\.\w+\.u64|ld\.param\.\w+)$")
_NO_RESULT = frozenset(
    ("st", "red", "bra", "bar", "barrier", "ret", "exit", "membar", "fence", "prefetch", "trap",
     "call", "brx", "nanosleep", "bulk")
)  # fmt: skip
_CHANGES_MEMORY = frozenset(("st", "red", "atom", "bar", "barrier", "membar", "fence", "call"))
_PURE = frozenset(
    ("abs", "add", "and", "bfe", "bfi", "bfind", "brev", "clz", "cnot", "copysign", "cos", "cvt",
     "cvta", "div", "dp2a", "dp4a", "ex2", "fma", "fns", "lg2", "lop3", "mad", "mad24", "max",
     "min", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "rsqrt", "sad",
     "selp", "set", "setp", "shf", "shl", "shr", "sin", "slct", "sqrt", "sub", "szext", "tanh",
     "testp", "xor")
)  # fmt: skip
"""Instructions that give the same wherever they stand, as long as their operands do."""


@dataclass(slots=True)
class Instruction:
    """One instruction; its operands are words, signs among them."""

    guard: str
    opcode: str
    operands: list[str]
    number: int

    @property
    def head(self) -> str:
        """The opcode without its modifiers."""
        return self.opcode.partition(".")[0]

    @property
    def results(self) -> list[str]:
        """The registers that are made here."""
        if self.head in _NO_RESULT:
            return []
        count = 1
        if ".v2." in self.opcode or ".v4." in self.opcode:
            count = int(self.opcode.partition(".v")[2][0])
        return self.operands[:count]

    @property
    def inputs(self) -> list[str]:
        """What is read, each with its sign."""
        found: list[str] = []
        sign = ""
        for word in self.operands[len(self.results) :]:
            if word in "+-":
                sign = word
            else:
                found.append(sign + word)
                sign = ""
        return found

    @property
    def asked(self) -> str:
        """The register of the guard."""
        return self.guard.lstrip("@!")


def read_instructions(body: str) -> tuple[list[Instruction], dict[int, list[str]]]:
    """The instructions in order, and the labels before each."""
    found: list[Instruction] = []
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
        found.append(Instruction(guard or "", opcode, _WORD.findall(rest), len(found)))
    return found, labels


def aliases_of(instructions: list[Instruction], names: dict[str, str]) -> dict[str, str]:
    """Registers that stand for something else; `names` are those of parameters and memory."""
    count = Counter(word for item in instructions for word in item.results)
    found: dict[str, str] = {}
    for item in instructions:
        target = item.operands[0] if item.operands else ""
        if item.guard or count[target] != 1 or not REGISTER.match(target):
            continue
        inputs = [found.get(word, word) for word in item.inputs]
        index = _thread_index(item, inputs)
        if index:
            found[target] = index
        if not _PASSES_ON.match(item.opcode) or len(inputs) != 1:
            continue
        word = inputs[0]
        if REGISTER.match(word) and count[word] != 1:
            continue
        # A conversion between register classes is no copy.
        same = not REGISTER.match(word) or _class(word) == _class(target)
        if same and not (item.opcode.startswith("ld.param") and item.operands[1] not in names):
            found[target] = word
    return found


def _thread_index(item: Instruction, inputs: list[str]) -> str:
    """``globalIdx.x`` for the sum of which block this is times its size and which thread."""
    if item.opcode not in ("mad.lo.s32", "mad.lo.u32") or len(inputs) != 3:
        return ""
    axis = inputs[2].partition(".")[2]
    parts = {inputs[0], inputs[1]}
    if inputs[2] != f"%tid.{axis}" or parts != {f"%ctaid.{axis}", f"%ntid.{axis}"}:
        return ""
    return f"globalIdx.{axis}"


def _class(register: str) -> str:
    match = REGISTER.match(register)
    return match[1] if match else ""


def nested_of(
    instructions: list[Instruction], labels: dict[int, list[str]], aliases: dict[str, str]
) -> dict[str, Instruction]:
    """Registers that are used once, and the instructions to be said in their place.

    Nothing is moved over what could change it: a label, a store where it is a load, a new value
    of a register that it reads.
    """
    made: dict[str, list[int]] = {}
    users: dict[str, list[int]] = {}
    for item in instructions:
        for word in item.results:
            made.setdefault(word, []).append(item.number)
        if item.results and item.results[0] in aliases:
            continue
        for word in (*item.inputs, item.asked):
            users.setdefault(aliases.get(word, word), []).append(item.number)
    numbers = range(len(instructions))
    blocks = list(accumulate(int(k in labels) for k in numbers))
    changes = list(accumulate(int(i.head in _CHANGES_MEMORY) for i in instructions))
    place = list(numbers)
    found: dict[str, Instruction] = {}
    # From the last to the first: where the user is said is known by then.
    for item in reversed(instructions):
        word = item.results[0] if len(item.results) == 1 else ""
        user = users.get(word, [])
        if item.guard or len(made.get(word, ())) != 1 or len(user) != 1 or word in aliases:
            continue
        here, there = item.number, place[user[0]]
        load = item.head == "ld" and ".volatile" not in item.opcode
        if not (load or item.head in _PURE) or user[0] <= here or blocks[here] != blocks[there]:
            continue
        constant = item.opcode.startswith(("ld.global.nc", "ld.param", "ld.const"))
        if load and not constant and changes[there - 1] != changes[here]:
            continue
        read = [made.get(aliases.get(w, w), ()) for w in item.inputs]
        if any(here < k < there for ks in read if len(ks) > 1 for k in ks):
            continue
        found[word] = item
        place[here] = there
    return found
