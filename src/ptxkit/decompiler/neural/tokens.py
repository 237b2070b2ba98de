"""Pairs as arrays of numbers on disk, prepared once and mapped into memory by training.

A folder of pairs has a vocabulary and parts; each part is complete or not there, so that
training can begin while more parts are being made.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit.decompiler.neural import corpus
from ptxkit.decompiler.neural.corpus import Pair
from ptxkit.decompiler.neural.grammar import Grammar, UnknownParameterError
from ptxkit.decompiler.neural.ptxwords import PtxWords
from ptxkit.decompiler.neural.vocabulary import Vocabulary
from ptxkit.errors import UsageError

MOST_SOURCE = 1024
MOST_ANSWER = 224
SPLITS = ("train", "validation", "test", "unused")
VOCABULARY = "vocabulary.json"
INFO = "info.json"
#: Functions of which to learn which words there are.
LEARN_WORDS_FROM = 6000
_COLUMNS = ("source_length", "answer_length", "tier", "split", "source_hash", "answer_hash")
_ARRAYS = ("source", "made_at", "answer", "rows")
Array = Any


def can_be_read(function: PtxWords) -> bool:
    """Whether a network could have an answer: no torch is needed to know that it has none."""
    if not 0 < len(function.texts) <= MOST_SOURCE:
        return False
    try:
        Grammar().begin(function.parameters)
    except UnknownParameterError:
        return False
    return True


@dataclass(slots=True)
class Encoded:
    """Some pairs as arrays: words one after another, and a row about each pair."""

    source: Array
    made_at: Array
    answer: Array
    rows: Array
    refused: Counter[str]


def encode(pairs: Iterable[Pair], vocabulary: Vocabulary, refused: Counter[str]) -> Encoded:
    """Pairs as arrays, without those that are too long or need a word that is not there."""
    source: list[int] = []
    made_at: list[int] = []
    answer: list[int] = []
    rows: list[tuple[int, ...]] = []
    refused = Counter(refused)
    for pair in pairs:
        numbers, slots = vocabulary.encode_source(pair.source, _hidden(pair))
        said = vocabulary.encode_answer(pair.answer, slots)
        if said is None:
            refused["a number of the answer is not in the PTX"] += 1
            continue
        if len(numbers) > MOST_SOURCE or len(said) > MOST_ANSWER:
            refused["too long"] += 1
            continue
        source += numbers
        made_at += pair.source.made_at
        answer += said
        rows.append((len(numbers), len(said), pair.tier, SPLITS.index(pair.split),
                     words_hash(pair.source.texts), words_hash(pair.answer)))  # fmt: skip
    return Encoded(
        np.array(source, np.uint16),
        np.array(made_at, np.int16),
        np.array(answer, np.uint16),
        np.array(rows, np.int64).reshape(-1, len(_COLUMNS)),
        refused,
    )


def _hidden(pair: Pair) -> frozenset[str]:
    """Numbers to be copied from a slot, as unknown ones are: those of every fourth pair.

    Numbers of programs are more than a table can hold; this is how copying them is learned.
    """
    if pair.split != "train" or words_hash(pair.answer) % 4:
        return frozenset()
    literal = (a.startswith("literal.f") for a in pair.answer)
    return frozenset(b for is_real, b in zip(literal, pair.answer[1:], strict=False) if is_real)


def words_hash(words: Iterable[str]) -> int:
    """A number for a text, the same on every machine."""
    digest = hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


# ---- reading -----------------------------------------------------------------------------


class Tokens:
    """A folder of prepared pairs, as far as it is complete now."""

    def __init__(self, folder: Path, parts: int | None = None) -> None:
        self.folder = folder
        self.parts = complete_parts(folder)[:parts]
        if not self.parts or not (folder / VOCABULARY).exists():
            raise UsageError(
                f"'{folder}' holds no prepared pairs; make them with: ptxkit train --data {folder}"
                " --generate 10000, or give the folder of a dataset of ptxkit synth tiers"
            )
        self.vocabulary = Vocabulary.load(folder / VOCABULARY)
        self.source, self.made_at, self.answer, self.rows = (
            _joined([np.load(part / f"{name}.npy", mmap_mode="r") for part in self.parts])
            for name in _ARRAYS
        )
        lengths = np.asarray(self.rows[:, :2])
        self.starts = np.zeros_like(lengths)
        np.cumsum(lengths[:-1], axis=0, out=self.starts[1:])
        self.kept, self.repeated, self.ambiguous = _distinct(np.asarray(self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Array:
        """One number about every pair."""
        return np.asarray(self.rows[:, _COLUMNS.index(name)])

    def where(self, split: str) -> Array:
        """The numbers of the pairs of a split, each PTX once."""
        return np.flatnonzero((self.column("split") == SPLITS.index(split)) & self.kept)

    def about(self) -> dict[str, Any]:
        """What is in it, for a log or a model card."""
        stored = [json.loads((part / INFO).read_text()) for part in self.parts]
        refused: Counter[str] = Counter()
        for one in stored:
            refused.update(one["refused"])
        tiers = self.column("tier")
        return {
            "made": stored[0]["made"],
            "pairs": len(self.rows),
            "repeated": self.repeated,
            "sources_with_several_answers": self.ambiguous,
            "refused": dict(refused.most_common(12)),
            "splits": {split: len(self.where(split)) for split in SPLITS},
            "per_tier": {int(t): int((tiers == t).sum()) for t in np.unique(tiers)},
        }


def complete_parts(folder: Path) -> list[Path]:
    """The parts that are complete, in order, up to the first that is not."""
    found: list[Path] = []
    while (part := folder / f"part-{len(found):04d}") and (part / INFO).exists():
        found.append(part)
    return found


def _joined(arrays: list[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _distinct(rows: Array) -> tuple[Array, int, int]:
    """Which pairs to keep: one of each PTX; no PTX of training in the other splits."""
    _, first, inverse = np.unique(rows[:, 4], return_index=True, return_inverse=True)
    keep = np.zeros(len(rows), bool)
    keep[first] = True
    repeated = int(len(rows) - keep.sum())
    lowest = np.full(len(first), np.iinfo(np.int64).max)
    highest = np.full(len(first), np.iinfo(np.int64).min)
    np.minimum.at(lowest, inverse, rows[:, 5])
    np.maximum.at(highest, inverse, rows[:, 5])
    trained = np.zeros(len(first), bool)
    np.logical_or.at(trained, inverse, rows[:, 3] == 0)
    keep &= ~(trained[inverse] & (rows[:, 3] != 0))
    return keep, repeated, int((lowest != highest).sum())


# ---- writing -----------------------------------------------------------------------------


def _write(folder: Path, number: int, parts: list[Encoded], made: dict[str, Any]) -> None:
    part = folder / f"part-{number:04d}"
    part.mkdir(parents=True, exist_ok=True)
    for name in _ARRAYS:
        np.save(part / f"{name}.npy", np.concatenate([getattr(p, name) for p in parts]))
    refused = sum((p.refused for p in parts), Counter[str]())
    # Last: a part with this file is complete.
    (part / INFO).write_text(json.dumps({"made": made, "refused": dict(refused)}, indent=1))


def prepare_generated(
    folder: Path,
    *,
    seed: int,
    count: int,
    tiers: tuple[int, ...] = tuple(range(1, 11)),
    workers: int | None = None,
    arch: str = "sm_90",
    minutes: float | None = None,
    part_size: int = 50_000,
) -> None:
    """Make pairs from the grammar and the compiler, as many as the count or the time allow.

    A folder that has pairs gets more of them, in the words that it knows.
    """
    begun = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    made = {"seed": seed, "programs": count, "tiers": list(tiers), "arch": arch}
    few = min(count, LEARN_WORDS_FROM)
    pairs: list[Pair] = []
    refused: Counter[str] = Counter()
    for found, why in corpus.generate(seed, few, tiers, arch=arch, workers=workers):
        pairs += found
        refused += why
    if (folder / VOCABULARY).exists():
        vocabulary = Vocabulary.load(folder / VOCABULARY)
    else:
        vocabulary = vocabulary_of(pairs)
        vocabulary.save(folder / VOCABULARY)
    waiting = [encode(pairs, vocabulary, refused)]
    size, number = few, len(complete_parts(folder))
    jobs = [(k, min(corpus.BATCH, count - k)) for k in range(few, count, corpus.BATCH)]
    work = partial(_encoded_job, seed, tiers, arch, vocabulary)
    for part in corpus.on_all_cores(jobs, work, workers):
        waiting.append(part)
        size += corpus.BATCH
        late = minutes is not None and time.monotonic() - begun > 60 * minutes
        if size >= part_size or late:
            _write(folder, number, waiting, made)
            waiting, size, number = [], 0, number + 1
        if late:
            return
    if waiting:
        _write(folder, number, waiting, made)


def _encoded_job(
    seed: int, tiers: tuple[int, ...], arch: str, vocabulary: Vocabulary, job: tuple[int, int]
) -> Encoded:
    pairs, refused = corpus.make_pairs(seed, job[0], job[1], tiers, arch)
    return encode(pairs, vocabulary, refused)


def prepare_dataset(dataset: Path, folder: Path, workers: int | None = None) -> None:
    """Prepare the pairs of a dataset of `ptxkit synth tiers`."""
    files = corpus.dataset_files(dataset)
    pairs: list[Pair] = []
    refused: Counter[str] = Counter()
    for found, why in corpus.on_all_cores([[f] for f in files], corpus.read_pairs, workers):
        pairs += found
        refused += why
    if not pairs:
        raise UsageError(f"'{dataset}' has no kernel that the model's grammar can say")
    vocabulary = vocabulary_of(pairs)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary.save(folder / VOCABULARY)
    _write(folder, 0, [encode(pairs, vocabulary, refused)], {"dataset": dataset.name})


def vocabulary_of(pairs: list[Pair]) -> Vocabulary:
    """Words that are not rare: the library's constants, not those of single kernels."""
    least = max(2, len(pairs) // 500)
    training = [p for p in pairs if p.split == "train"] or pairs
    return Vocabulary.build((p.source.texts for p in training), (p.answer for p in training), least)
