"""Two linear models over words: one says which of many, one says which of two is better.

Only numpy; sums are taken in a fixed order, so that the same data give the same weights.

>>> data = [({"round", "red"}, "apple"), ({"long", "yellow"}, "banana"), ({"round"}, "apple")]
>>> model = Classifier.fit([(dict.fromkeys(words, 1), label) for words, label in data])
>>> max(zip(model.probabilities([{"yellow": 1}])[0], model.labels))[1]
'banana'
>>> ranker = Ranker.fit([({"lines": 3.0}, {"lines": 5.0}), ({"lines": 1.0}, {"lines": 2.0})])
>>> ranker.score({"lines": 1.0}) > ranker.score({"lines": 4.0})
True
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Words = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Samples as rows of few numbers, by sample and by word."""

    samples: Any
    words: Any
    values: Any
    count: int
    width: int

    @classmethod
    def of(cls, rows: Sequence[Words], places: Mapping[str, int]) -> _Rows:
        found = [
            (number, places[word], value)
            for number, row in enumerate(rows)
            for word, value in sorted(row.items())
            if word in places
        ]
        table = np.array(found, dtype=np.float64).reshape(-1, 3)
        return cls(
            table[:, 0].astype(np.int64), table[:, 1].astype(np.int64),
            table[:, 2].astype(np.float32), len(rows), len(places),
        )  # fmt: skip

    def times(self, weights: Any) -> Any:
        """Each sample's sum of weights."""
        return _sums(weights[self.words] * self.values[:, None], self.samples, self.count)

    def back(self, errors: Any) -> Any:
        """Each word's sum of errors."""
        order = np.argsort(self.words, kind="stable")
        each = errors[self.samples[order]] * self.values[order][:, None]
        return _sums(each, self.words[order], self.width)


def _sums(rows: Any, keys: Any, count: int) -> Any:
    """Rows with the same key added up; keys are in order."""
    made = np.zeros((count, rows.shape[1]), np.float32)
    if len(keys):
        starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
        made[keys[starts]] = np.add.reduceat(rows, starts, axis=0)
    return made


def _descended(
    weights: Any, gradient: Any, moments: tuple[Any, Any], step: int, rate: float
) -> tuple[Any, Any]:
    """One step of Adam, in place."""
    first, second = moments
    first += 0.1 * (gradient - first)
    second += 0.01 * (gradient**2 - second)
    weights -= rate * (first / (1 - 0.9**step)) / (
        np.sqrt(second / (1 - 0.99**step)) + np.float32(1e-8)
    )  # fmt: skip
    return first, second


@dataclass(frozen=True, slots=True)
class Classifier:
    """Probabilities of labels from the words of a sample."""

    labels: tuple[str, ...]
    places: dict[str, int]
    weights: Any
    """A row for each word, a column for each label."""

    @classmethod
    def fit(
        cls,
        data: Sequence[tuple[Words, str]],
        *,
        rare: int = 1,
        decay: float = 1e-3,
        steps: int = 150,
        rate: float = 0.05,
    ) -> Classifier:
        """Learn from samples; words that fewer than ``rare`` of them have are left out."""
        seen = Counter(word for words, _ in data for word in words)
        kept = sorted(word for word, count in seen.items() if count >= rare)
        places = {word: place for place, word in enumerate(kept)}
        labels = tuple(sorted({label for _, label in data}))
        rows = _Rows.of([words for words, _ in data], places)
        wanted = np.zeros((len(data), len(labels)), np.float32)
        wanted[np.arange(len(data)), [labels.index(label) for _, label in data]] = 1
        share = np.float32(1 / len(data))
        made = np.zeros((len(places), len(labels)), np.float32)
        moments = np.zeros_like(made), np.zeros_like(made)
        for step in range(1, steps + 1):
            errors = (_softmax(rows.times(made)) - wanted) * share
            gradient = rows.back(errors) + np.float32(decay) * made
            _descended(made, gradient, moments, step, rate)
        return cls(labels, places, made)

    def probabilities(self, rows: Sequence[Words]) -> Any:
        """For each sample the probability of every label."""
        return _softmax(_Rows.of(rows, self.places).times(self.weights))


def _softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


@dataclass(frozen=True, slots=True)
class Ranker:
    """A score: the higher, the better."""

    weights: dict[str, float]

    @classmethod
    def fit(
        cls,
        pairs: Sequence[tuple[Words, Words]],
        *,
        rare: int = 1,
        decay: float = 1e-3,
        steps: int = 300,
        rate: float = 0.02,
    ) -> Ranker:
        """Learn from pairs of which the first is the better one."""
        rows = [
            {w: d for w in {**a, **b} if (d := a.get(w, 0.0) - b.get(w, 0.0))} for a, b in pairs
        ]
        seen = Counter(word for row in rows for word in row)
        kept = sorted(word for word, count in seen.items() if count >= rare)
        matrix = _Rows.of(rows, {word: place for place, word in enumerate(kept)})
        share = np.float32(1 / max(len(rows), 1))
        made = np.zeros((len(kept), 1), np.float32)
        moments = np.zeros_like(made), np.zeros_like(made)
        for step in range(1, steps + 1):
            wrong = 1 / (1 + np.exp(np.clip(matrix.times(made), -30, 30)))
            gradient = matrix.back(-wrong * share) + np.float32(decay) * made
            _descended(made, gradient, moments, step, rate)
        return cls({word: float(weight) for word, weight in zip(kept, made[:, 0], strict=True)})

    def score(self, words: Words) -> float:
        """How good a form is; only differences mean something."""
        return sum(self.weights.get(word, 0.0) * value for word, value in words.items())
