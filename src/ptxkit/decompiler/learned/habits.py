"""How people write, as it was learned: the weights that come with the package."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit.decompiler.learned.linear import Classifier, Ranker

LEARNED = Path(__file__).parent / "habits.npz"
"""The weights that come with the package; ``README.md`` beside them says where they are from."""


@dataclass(frozen=True, slots=True)
class Habits:
    """What chooses among equal forms."""

    names: Classifier
    """What a parameter or variable is called."""
    forms: Ranker
    """Whether a place is better written in its other form."""

    def save(self, path: Path) -> None:
        """Write the weights: a byte each, and what they belong to."""
        numbers, scale = _as_bytes(self.names.weights)
        ranked = list(self.forms.weights)
        about = {
            "labels": self.names.labels, "words": list(self.names.places), "scale": scale,
            "ranked": ranked,
        }  # fmt: skip
        np.savez_compressed(
            path,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            names=numbers,
            forms=np.array([self.forms.weights[word] for word in ranked], np.float16),
        )

    @classmethod
    def load(cls, path: Path) -> Habits:
        """Read what `save` has written."""
        with np.load(path) as data:
            about = json.loads(data["about"].tobytes())
            places = {word: place for place, word in enumerate(about["words"])}
            weights = data["names"].astype(np.float32) / np.float32(about["scale"])
            forms = dict(zip(about["ranked"], data["forms"].astype(float).tolist(), strict=True))
        return cls(Classifier(tuple(about["labels"]), places, weights), Ranker(forms))


def _as_bytes(weights: Any) -> tuple[Any, float]:
    scale = 127.0 / max(float(np.abs(weights).max(initial=0.0)), 1e-9)
    return np.round(weights * scale).astype(np.int8), scale


@lru_cache(maxsize=1)
def habits() -> Habits:
    """The weights that come with the package.

    >>> "out" in habits().names.labels
    True
    """
    return Habits.load(LEARNED)
