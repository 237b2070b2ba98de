"""Pairs as arrays of numbers on disk, prepared once and mapped into memory by training."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit.decompiler.neural import corpus
from ptxkit.decompiler.neural.corpus import Pair
from ptxkit.decompiler.neural.vocabulary import Vocabulary
from ptxkit.errors import UsageError

MOST_SOURCE = 1024
MOST_ANSWER = 224
SPLITS = ("train", "validation", "test")
_COLUMNS = ("source_length", "answer_length", "tier", "split", "source_hash", "answer_hash")
Array = Any


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
        numbers, slots = vocabulary.encode_source(pair.source)
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
                     _hash(pair.source.texts), _hash(pair.answer)))  # fmt: skip
    return Encoded(
        np.array(source, np.uint16),
        np.array(made_at, np.int16),
        np.array(answer, np.uint16),
        np.array(rows, np.int64).reshape(-1, len(_COLUMNS)),
        refused,
    )


def _hash(words: Iterable[str]) -> int:
    digest = hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


class Tokens:
    """A folder of prepared pairs."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "info.json").exists():
            raise UsageError(
                f"'{folder}' holds no prepared pairs; make them with: ptxkit train --data {folder}"
                " --generate 10000, or give the folder of a dataset of ptxkit synth tiers"
            )
        self.folder = folder
        self.info = json.loads((folder / "info.json").read_text())
        self.vocabulary = Vocabulary.load(folder / "vocabulary.json")
        self.source, self.made_at, self.answer, self.rows = (
            np.load(folder / f"{name}.npy", mmap_mode="r")
            for name in ("source", "made_at", "answer", "rows")
        )
        lengths = np.asarray(self.rows[:, :2])
        starts = np.zeros_like(lengths)
        np.cumsum(lengths[:-1], axis=0, out=starts[1:])
        self.starts = starts

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Array:
        """One number about every pair."""
        return np.asarray(self.rows[:, _COLUMNS.index(name)])

    def where(self, split: str) -> Array:
        """The numbers of the pairs of a split."""
        return np.flatnonzero(self.column("split") == SPLITS.index(split))


def _write(folder: Path, parts: list[Encoded], vocabulary: Vocabulary, about: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.concatenate([p.rows for p in parts])
    keep, lost, ambiguous = _distinct(rows)
    starts = np.cumsum(rows[:, :2], axis=0)
    for column, name in ((0, "source"), (0, "made_at"), (1, "answer")):
        whole = np.concatenate([getattr(p, name) for p in parts])
        chosen = np.repeat(keep, rows[:, column])
        np.save(folder / f"{name}.npy", whole[chosen])
    np.save(folder / "rows.npy", rows[keep])
    assert len(starts)
    refused = sum((p.refused for p in parts), Counter())
    info = {
        **about,
        "pairs": int(keep.sum()),
        "repeated": lost,
        "sources_with_several_answers": ambiguous,
        "refused": dict(refused.most_common(12)),
        "per_tier": {int(t): int((rows[keep][:, 2] == t).sum()) for t in np.unique(rows[:, 2])},
    }
    vocabulary.save(folder / "vocabulary.json")
    # Last: a folder with this file is complete.
    (folder / "info.json").write_text(json.dumps(info, indent=1))


def _distinct(rows: Array) -> tuple[Array, int, int]:
    """Which pairs to keep: one of each PTX; no PTX of training in the other splits."""
    _, first, inverse = np.unique(rows[:, 4], return_index=True, return_inverse=True)
    keep = np.zeros(len(rows), bool)
    keep[first] = True
    lowest = np.full(len(first), np.iinfo(np.int64).max)
    highest = np.full(len(first), np.iinfo(np.int64).min)
    np.minimum.at(lowest, inverse, rows[:, 5])
    np.maximum.at(highest, inverse, rows[:, 5])
    several = lowest != highest
    # The same PTX on both sides: out of validation and test.
    trained = np.zeros(len(first), bool)
    np.logical_or.at(trained, inverse, rows[:, 3] == 0)
    keep &= ~(trained[inverse] & (rows[:, 3] != 0))
    return keep, int(len(rows) - keep.sum()), int(several.sum())


def prepare_generated(
    folder: Path,
    *,
    seed: int,
    count: int,
    tiers: tuple[int, ...],
    workers: int | None = None,
    arch: str = "sm_90",
    minutes: float | None = None,
    learn_words_from: int = 6000,
) -> Tokens:
    """Make pairs from the grammar and the compiler, as many as the count or the time allow."""
    import time

    begun = time.monotonic()
    few = min(count, learn_words_from)
    first: list[Pair] = []
    refused: Counter[str] = Counter()
    for pairs, why in corpus.generate(seed, few, tiers, arch=arch, workers=workers):
        first += pairs
        refused += why
    vocabulary = _vocabulary(first)
    parts = [encode(first, vocabulary, refused)]
    del first
    jobs = [(k, min(corpus.BATCH, count - k)) for k in range(few, count, corpus.BATCH)]
    work = partial(_encoded_job, seed, tiers, arch, vocabulary)
    for part in _until(corpus.many_pairs(jobs, work, workers), begun, minutes):
        parts.append(part)
    about = {"seed": seed, "programs": count, "tiers": list(tiers), "arch": arch,
             "seconds": round(time.monotonic() - begun, 1)}  # fmt: skip
    _write(folder, parts, vocabulary, about)
    return Tokens(folder)


def _until(results: Iterator[Any], begun: float, minutes: float | None) -> Iterator[Any]:
    import time

    for result in results:
        yield result
        if minutes is not None and time.monotonic() - begun > 60 * minutes:
            return


def _encoded_job(
    seed: int, tiers: tuple[int, ...], arch: str, vocabulary: Vocabulary, job: tuple[int, int]
) -> Encoded:
    pairs, refused = corpus.make_pairs(seed, job[0], job[1], tiers, arch)
    return encode(pairs, vocabulary, refused)


def prepare_dataset(dataset: Path, folder: Path, workers: int | None = None) -> Tokens:
    """Prepare the pairs of a dataset of `ptxkit synth tiers`."""
    files = corpus.dataset_files(dataset)
    pairs: list[Pair] = []
    refused: Counter[str] = Counter()
    for found, why in corpus.many_pairs([[f] for f in files], corpus.read_pairs, workers):
        pairs += found
        refused += why
    if not pairs:
        raise UsageError(f"'{dataset}' has no kernel that the model's grammar can say")
    vocabulary = _vocabulary(pairs)
    _write(folder, [encode(pairs, vocabulary, refused)], vocabulary, {"dataset": str(dataset)})
    return Tokens(folder)


def _vocabulary(pairs: list[Pair]) -> Vocabulary:
    """Words that are not rare: the library's constants, not those of single kernels."""
    least = max(2, len(pairs) // 500)
    training = [p for p in pairs if p.split == "train"] or pairs
    return Vocabulary.build((p.source.texts for p in training), (p.answer for p in training), least)
