"""An instruction of the stack machine: what it takes, what it gives, and its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ptxkit.errors import UsageError

Effect = Literal["pure", "ordered", "kept"]
EFFECTS: dict[str, int] = {"pure": 0, "ordered": 1, "kept": 2}

_NAME = re.compile(r"[A-Za-z_%$][\w.:%$|-]*", re.ASCII)
_OPERAND = re.compile(r"\$(\d+|\$|#)")
#: The numbers of native/stack/isa.hpp for "the immediate" and "no operand".
_IMMEDIATE, _NO_OPERAND = 0xFE, 0xFF
_LARGEST = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Instruction:
    """A row of an instruction set.

    ``arguments`` and ``results`` are names of stacks; the last argument of a stack is its
    top. ``text`` is PTX in which ``$0``, ``$1`` ... stand for the results, then the
    arguments, ``$#`` for the immediate, and ``$$`` for a dollar sign. It may be several
    statements; what it declares must stand in braces of its own.

    ``effect`` is ``"pure"`` (computed once, and only if its result is used),
    ``"ordered"`` (keeps its place among those that are not pure; goes if nobody uses its
    results) or ``"kept"`` (keeps its place and always stays). A ``guardable`` one is
    executed only where the conditions around it hold; the others are executed by every
    thread, and their results are not used where the conditions fail.

    ``literals`` says for each argument up to which value a constant may stand in the
    text as it is; 0 for none. ``immediate`` is the range of ``$#``.

    >>> lerp = Instruction("lerp.f32", ("f32", "f32", "f32"), ("f32",),
    ...     "{ .reg .f32 lerp_t; sub.rn.f32 lerp_t, $2, $1; fma.rn.f32 $0, lerp_t, $3, $1; }")
    >>> lerp.separate, sorted(lerp.declared)
    (True, ['lerp_t'])
    """

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]
    text: str
    effect: Effect = "pure"
    guardable: bool = False
    commutes: bool = False
    literals: tuple[int, ...] = ()
    immediate: tuple[int, int] | None = None
    summary: str = ""
    exact: bool = False  # the simulator's bits are every GPU's

    def __post_init__(self) -> None:
        for field in ("arguments", "results"):
            names = getattr(self, field)
            if isinstance(names, str) or not all(isinstance(name, str) for name in names):
                raise UsageError(
                    f"the {field} of '{self.name}' are a tuple of stacks such as ('f32',), "
                    f"not {names!r}"
                )
            object.__setattr__(self, field, tuple(names))
        if not isinstance(self.text, str):
            raise UsageError(f"the text of '{self.name}' is PTX, not {self.text!r}")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise UsageError(f"{self.name!r} is not a name for an instruction")
        if self.effect not in EFFECTS:
            known = ", ".join(EFFECTS)
            raise UsageError(
                f"the effect of '{self.name}' can't be {self.effect!r}; there are: {known}"
            )
        if self.literals and len(self.literals) != len(self.arguments):
            raise UsageError(f"'{self.name}' has {len(self.arguments)} arguments but "
                             f"{len(self.literals)} literals")  # fmt: skip
        if self.effect == "pure" and not self.results:
            raise UsageError(f"'{self.name}' has no result; its effect must then be 'kept'")
        if not self.text.isascii() or "\0" in self.text:
            raise UsageError(f"the text of '{self.name}' must be ASCII without NUL")
        count = len(self.results) + len(self.arguments)
        if count > 10:
            raise UsageError(f"'{self.name}' has {count} operands; 10 is the most")
        used = {int(one) for one in _OPERAND.findall(self.text) if one.isdigit()}
        for number in used:
            if number >= count:
                raise UsageError(
                    f"the text of '{self.name}' names ${number}, but it has {count} operands"
                )
        for number in range(len(self.results)):
            if number not in used:
                raise UsageError(f"the text of '{self.name}' never writes its result ${number}")
        if ("$#" in self.text) != (self.immediate is not None):
            raise UsageError(f"'{self.name}' needs both '$#' in its text and an immediate's range")
        if self.immediate is not None and not 0 <= self.immediate[0] <= self.immediate[1] < 1 << 63:
            raise UsageError(f"the immediate of '{self.name}' has no range: {self.immediate}")

    @property
    def separate(self) -> bool:
        """Whether results must keep away from the arguments' registers."""
        return self.text.rstrip().rstrip(";}").count(";") > 0

    @property
    def declared(self) -> frozenset[str]:
        """Names that its text declares."""
        found = re.findall(r"\.reg\s+[.\w\s]*?\.\w+\s+([^;]*);", self.text)
        words = re.findall(r"[A-Za-z_%$][\w$]*", " ".join(found))
        return frozenset(words)

    @property
    def pieces(self) -> list[tuple[str, int]]:
        """The text as stretches, each with the number of the operand after it."""
        made: list[tuple[str, int]] = []
        text, at = "", 0
        whole = self.text if self.text.rstrip().endswith((";", "}")) else self.text + ";"
        for found in _OPERAND.finditer(whole):
            text += whole[at : found.start()]
            at = found.end()
            if found[1] == "$":
                text += "$"
                continue
            made.append((text, _IMMEDIATE if found[1] == "#" else int(found[1])))
            text = ""
        made.append((text + whole[at:], _NO_OPERAND))
        return [piece for piece in made if piece[0] or piece[1] != _NO_OPERAND]

    def written(self, operands: Sequence[str]) -> str:
        """The text with these operands, and the smallest immediate.

        >>> Instruction("twice", ("f32",), ("f32",), "add.f32 $0, $1, $1").written(["a", "b"])
        'add.f32 a, b, b;'
        """
        made = ""
        for text, number in self.pieces:
            made += text
            if number == _IMMEDIATE:
                made += str((self.immediate or (0, 0))[0])
            elif number != _NO_OPERAND:
                made += operands[number]
        return made

    def literal(self, number: int) -> int:
        """The largest constant that may stand for an argument; 0 for none."""
        return min(self.literals[number], _LARGEST) if self.literals else 0
