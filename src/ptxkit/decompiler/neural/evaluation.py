"""How often answers are right: the same program in the one form, tier by tier."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ptxkit.decompiler.neural.corpus import Pair
from ptxkit.decompiler.neural.decoding import Candidate, Decoder
from ptxkit.decompiler.neural.forms import ordered_form


def is_exact(candidate: list[str], pair: Pair) -> bool:
    """Whether an answer is the program that was compiled, in the one form of both."""
    if candidate == pair.answer:
        return True
    count = len(pair.source.parameters)
    wanted = ordered_form(pair.answer, count, pair.source.cached)
    return wanted is not None and ordered_form(candidate, count, pair.source.cached) == wanted


@dataclass(slots=True)
class Score:
    """Right answers among those asked for."""

    asked: int = 0
    exact: int = 0
    among_beams: int = 0
    answered: int = 0


@dataclass(slots=True)
class Evaluation:
    """What a model can do."""

    tiers: dict[int, Score] = field(default_factory=lambda: defaultdict(Score))
    seconds: float = 0.0
    answers: list[list[Candidate]] = field(default_factory=list)

    def share(self, tiers: Iterable[int]) -> float:
        """The share of exact answers over some tiers."""
        chosen = [self.tiers[t] for t in tiers if t in self.tiers]
        return sum(s.exact for s in chosen) / max(1, sum(s.asked for s in chosen))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "seconds": self.seconds,
            "exact_tiers_1_to_7": self.share(range(1, 8)),
            "exact_all": self.share(range(1, 11)),
            "tiers": {
                tier: {"asked": s.asked, "answered": s.answered, "exact": s.exact,
                       "among_beams": s.among_beams}
                for tier, s in sorted(self.tiers.items())
            },
        }  # fmt: skip


def evaluate(decoder: Decoder, pairs: list[Pair], *, beams: int = 1) -> Evaluation:
    """Ask for every pair's PTX, and compare."""
    result = Evaluation()
    begun = time.monotonic()
    result.answers = decoder.answers([pair.source for pair in pairs], beams=beams)
    result.seconds = time.monotonic() - begun
    for pair, candidates in zip(pairs, result.answers, strict=True):
        score = result.tiers[pair.tier]
        score.asked += 1
        score.answered += bool(candidates)
        right = [is_exact(c.words, pair) for c in candidates]
        score.exact += bool(right and right[0])
        score.among_beams += any(right)
    return result
