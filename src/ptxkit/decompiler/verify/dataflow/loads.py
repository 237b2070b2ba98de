"""What a load gives: words, as they were before stores to memory of another kind."""

from __future__ import annotations

from ptxkit.decompiler.verify.dataflow.bits import packed
from ptxkit.decompiler.verify.dataflow.decode import Operand, Step
from ptxkit.decompiler.verify.dataflow.opcodes import ORDERED, plain_memory
from ptxkit.decompiler.verify.dataflow.terms import Fills, Term, Terms
from ptxkit.isa.types import SCALAR_TYPES

#: What is wider is loaded as several of these, however an instruction does it.
WORD = 32
#: Kinds of memory that have no place in common.
_KINDS = frozenset(("global", "shared", "local"))


class Load:
    """What a load gives: each of its parts is where it lies, as one word or two."""

    def __init__(self, step: Step) -> None:
        self.width = SCALAR_TYPES[step.type].width
        self.address = address_width(step.sources[0])
        words = plain_memory(step).split(".")
        self.opcode = ".".join(w for w in words[:-1] if w not in ("v2", "v4", "v8"))
        self.space = next((word for word in words[1:-1] if word in _KINDS or word == "const"), "")

    def __hash__(self) -> int:
        return hash((self.opcode, self.width, self.address))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Load) and (self.opcode, self.width, self.address) == (
            other.opcode, other.width, other.address
        )  # fmt: skip

    def value(self, terms: Terms, number: int, memory: Term, address: Term, *rest: Term) -> Term:
        """One of its parts."""
        start = number * self.width // 8
        if self.width != 2 * WORD:
            return self._word(terms, self.width, memory, address, start, rest)
        halves = [
            self._word(terms, WORD, memory, address, start + half, rest) for half in (0, WORD // 8)
        ]
        return packed(terms, WORD, halves)

    def _word(
        self, terms: Terms, width: int, memory: Term, address: Term, by: int, rest: tuple[Term, ...]
    ) -> Term:
        place = terms.add(self.address, address, terms.constant(self.address, by))
        return terms.make("ld", self.opcode, width, self._untouched(terms, memory), place, *rest)

    def _untouched(self, terms: Terms, memory: Term) -> Term:
        """Memory as it was before stores to memory of another kind."""
        if self.space == "const":
            return terms.make("constant memory")  # nobody stores there
        row = terms.rows[memory]
        while self.space and row[0] == "after" and _stored_to(row[1]) in _KINDS - {self.space}:
            memory = row[2]
            row = terms.rows[memory]
        return memory


def _stored_to(opcode: object) -> str:
    """The kind of memory that a store is to, which orders nothing; nothing for all else."""
    words = opcode.split(".") if isinstance(opcode, str) else [""]
    if words[0] != "st" or ORDERED.intersection(f".{word}" for word in words):
        return ""
    return next((word for word in words[1:] if word in _KINDS), "")


def address_width(operand: Operand) -> int:
    """The bits of an address."""
    base = operand.parts[0]
    return SCALAR_TYPES[base.parts[0].value].width if base.kind == "register" else 64


def extension_of(step: Step, register: str) -> Fills:
    """How what is loaded fills a register of some type."""
    width = SCALAR_TYPES[step.type].width
    wide = SCALAR_TYPES[register].width
    return width, wide > width and step.type.startswith("s"), wide
