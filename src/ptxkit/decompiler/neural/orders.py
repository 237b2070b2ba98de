"""In which order the compiler wrote the operands of sums and products.

Operands that may change places are put by the compiler into an order of its own, so the order
of the source can't be known from PTX. What PTX shows can: an answer to learn says operands in
that order. The two sides are matched by what they are made of, parameters and numbers, and where
that is not enough the order stays as it is.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache

from ptxkit.decompiler.neural.flow import Instruction
from ptxkit.decompiler.neural.numbers import number_word
from ptxkit.decompiler.neural.values import COMMUTATIVE, Value

Leaves = tuple[int, int]
"""What a value is made of: a sum over all its leaves, and which there are."""
_NOTHING: Leaves = (0, 0)
_KINDS = {"add": "+", "mul": "*", "min": "min", "max": "max", "and": "&", "or": "|", "xor": "^"}
_FUNCTIONS = {"fminf": "min", "fmin": "min", "fmaxf": "max", "fmax": "max"}
_PREDICATES = {"&": "&&", "|": "&&", "&&": "&&", "||": "&&"}


@lru_cache(maxsize=4096)
def _leaf(word: str) -> Leaves:
    """A parameter, an index of a thread or a real number; integers are in addresses, too."""
    if word[:1] in "-0123456789":
        if "." not in word:
            return _NOTHING
        word = word.lstrip("-")
    digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    # Who a thread is says little: in loops it is part of a variable.
    special = "Idx." in word or "Dim." in word
    return number >> 8, 0 if special else 1 << (number & 63)


def _both(one: Leaves, two: Leaves) -> Leaves:
    return (one[0] + two[0]) & (2**64 - 1), one[1] | two[1]


def _equality(name: str) -> bool:
    return name in ("eq", "ne", "equ", "neu")


@dataclass(slots=True)
class Orders:
    """The orders of operands that a function shows."""

    known: dict[str, Leaves] = field(default_factory=dict)
    """What registers are made of."""
    seen: set[tuple[str, int, int]] = field(default_factory=set)
    roughly: set[tuple[str, int, int]] = field(default_factory=set)
    values: dict[int, tuple[Value, Leaves]] = field(default_factory=dict)
    """What values of an answer are made of; with the value, whose identity is the key."""

    # ---- what PTX shows ------------------------------------------------------------------

    def add(self, item: Instruction, words: list[str]) -> None:
        """One more instruction; `words` are what it reads, registers by their own names."""
        parts = [self.known[w] if w in self.known else _leaf_of(w) for w in words]
        whole = _NOTHING
        for part in parts:
            whole = _both(whole, part)
        for register in item.results:
            # What has several values is a variable of the answer, or a choice.
            old = self.known.get(register)
            self.known[register] = whole if old is None else (0, old[1] | whole[1])
        if len(parts) < 2:
            return
        modifiers = item.opcode.split(".")
        if item.head in ("fma", "mad") and len(parts) == 3:
            self._see("*", parts[0], parts[1])
            self._see("+", _both(parts[0], parts[1]), parts[2])
        elif item.head == "setp" and _equality(modifiers[1]):
            self._see("==", parts[0], parts[1])
        elif item.head in _KINDS:
            kind = _KINDS[item.head]
            self._see(_PREDICATES.get(kind, kind) if modifiers[-1] == "pred" else kind, *parts[:2])

    def _see(self, kind: str, one: Leaves, two: Leaves) -> None:
        self.seen.add((kind, one[0], two[0]))
        self.roughly.add((kind, one[1], two[1]))

    # ---- what an answer says -------------------------------------------------------------

    def arranged(self, value: Value) -> tuple[Value, ...]:
        """The operands of a value in the order of the PTX, as far as it shows one."""
        if value.operator not in COMMUTATIVE or len(value.operands) != 2:
            return value.operands
        one, two = value.operands
        if _is_product(one) != _is_product(two) and value.operator.startswith("+.f"):
            # The two are fused, with the product first.
            return (one, two) if _is_product(one) else (two, one)
        head = value.operator.partition(".")[0]
        kind = _PREDICATES.get(head, head) if value.type == "b" else head
        kind = "==" if head in ("==", "!=") else _FUNCTIONS.get(kind, kind)
        a, b = self._leaves(one), self._leaves(two)
        for place, orders in enumerate((self.seen, self.roughly)):
            forward, back = (kind, a[place], b[place]), (kind, b[place], a[place])
            if forward in orders:
                return one, two
            if back in orders:
                return two, one
        return one, two

    def _leaves(self, value: Value) -> Leaves:
        for node in value.walk():
            if id(node) in self.values:
                continue
            found = _NOTHING
            if node.operator in ("parameter", "symbol", "special"):
                found = _leaf(str(node.payload))
            elif node.operator == "literal" and node.type[0] == "f":
                found = _leaf(number_word(node.payload, node.type))
            for operand in node.operands:
                found = _both(found, self.values[id(operand)][1])
            self.values[id(node)] = node, found
        return self.values[id(value)][1]


def _leaf_of(word: str) -> Leaves:
    return _NOTHING if word[:1] == "%" else _leaf(word)


def _is_product(value: Value) -> bool:
    return value.operator in ("*.f32", "*.f64")
