"""The words a model knows, and how words of one function become numbers.

Words of answers come first, so that the model's output is the beginning of the table. Numbers
that the table does not have are told apart by slots: the first unknown number of a function is
``<0>``, the next ``<1>``; an answer names a slot to copy the number. Registers are no entries:
their number is put together from class and index, so that no two are the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ptxkit.decompiler.neural.grammar import FIXED_WORDS, NAMES, number_need
from ptxkit.decompiler.neural.ptxwords import PtxWords

SLOTS = 64
PAD, START, UNKNOWN = 0, 1, 2
_SPECIAL = ("<pad>", "<start>", "<unknown>")
CLASSES = ("%p", "%r", "%rd", "%f", "%fd", "%rs", "%b", "%h", "%hh", "%other")
PER_CLASS = 1024
_REGISTER = re.compile(r"(%[a-z]+)(\d+)$")


@dataclass(slots=True)
class Vocabulary:
    """Words by number; `answers` of them can be said in an answer."""

    words: list[str]
    answers: int
    index: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.index = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def build(
        cls, sources: Iterable[Iterable[str]], targets: Iterable[Iterable[str]], least: int
    ) -> Vocabulary:
        """The words that at least so many functions use."""
        reads: Counter[str] = Counter()
        says: Counter[str] = Counter()
        for words in sources:
            reads.update({w for w in words if w[0] != "%"})
        for words in targets:
            says.update(set(words))
        fixed = [*_SPECIAL, *(f"<{k}>" for k in range(SLOTS)), *NAMES, *FIXED_WORDS]
        known = set(fixed)
        both = reads + says
        numbers = sorted((w for w, c in both.items() if c >= least and number_need(w)), key=_order)
        numbers = [w for w in numbers if w not in known]
        others = sorted(w for w, c in reads.items() if c >= min(least, 3) and w not in known
                        and not number_need(w))  # fmt: skip
        return cls([*fixed, *numbers, *others], len(fixed) + len(numbers))

    def __len__(self) -> int:
        return len(self.words)

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps({"answers": self.answers, "words": self.words}))

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read what `save` wrote."""
        found = json.loads(path.read_text())
        return cls(found["words"], found["answers"])

    # ---- words to numbers ----------------------------------------------------------------

    def encode_source(
        self, words: PtxWords, hidden: frozenset[str] = frozenset()
    ) -> tuple[list[int], dict[str, int]]:
        """The numbers of the words of a function, and its slots.

        Numbers that are `hidden` get a slot though the table has them.
        """
        slots: dict[str, int] = {}
        found = []
        for word in words.texts:
            number = None if word in hidden else self.index.get(word)
            if number is None:
                number = self._register(word)
            if number is None:
                kind = number_need(word)
                if kind and (word in slots or len(slots) < SLOTS):
                    number = self.index[f"<{slots.setdefault(word, len(slots))}>"]
                else:
                    number = UNKNOWN
            found.append(number)
        return found, slots

    def _register(self, word: str) -> int | None:
        match = _REGISTER.match(word)
        if match is None:
            return None
        name = match[1] if match[1] in CLASSES else "%other"
        place = min(int(match[2]), PER_CLASS - 1)
        return len(self.words) + CLASSES.index(name) * PER_CLASS + place

    def encode_answer(self, words: Iterable[str], slots: dict[str, int]) -> list[int] | None:
        """The numbers of an answer; None where it has a word that can't be said."""
        found = []
        for word in words:
            number = self.index.get(word)
            if word in slots:
                number = self.index[f"<{slots[word]}>"]
            if number is None or number >= self.answers:
                return None
            found.append(number)
        return found

    def decode_answer(self, numbers: Iterable[int], slots: dict[str, int]) -> list[str]:
        """The words of an answer."""
        back = {f"<{place}>": word for word, place in slots.items()}
        words = (self.words[number] for number in numbers)
        return [back.get(word, word) for word in words]


def _order(word: str) -> tuple[bool, float, str]:
    return "." in word, float(word), word
