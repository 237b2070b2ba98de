"""The columns of a dataset, and what the engine adds to a row."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict
from typing import Any

import numpy as np

from ptxkit._native import least_mixtures, run_hashes
from ptxkit.errors import import_extra
from ptxkit.synth.source import Made, Rejected, Sample, Source

#: Raised when the meaning of a column changes.
SCHEMA_VERSION = 2
SPLITS = ("train", "validation", "test")
_TRAIN, _VALIDATION = 900, 950  # of a thousand shapes

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+\.?\d*(?:[eE][-+]?\d+)?|[^\s\w]")
_SHINGLE = 5
_BANDS, _ROWS = 8, 8


def row_schema(source: Source) -> Any:
    """The schema of the rows of a source."""
    pa = import_extra("pyarrow", extra="synth")
    target = pa.struct(
        [
            ("arch", pa.string()),
            ("ptx_forward", pa.string()),
            ("ptx_backward", pa.string()),
            ("ptx_raw", pa.string()),
            ("assembled", pa.bool_()),
            ("registers", pa.int32()),
            ("shared_bytes", pa.int32()),
            ("spill_bytes", pa.int32()),
            ("code_bytes", pa.int32()),
            ("sass", pa.string()),
        ]
    )
    verification = pa.struct(
        [
            ("verdict", pa.string()),
            ("checks", pa.list_(pa.string())),
            ("relative_tolerance", pa.float64()),
            ("absolute_tolerance", pa.float64()),
            ("input_digest", pa.string()),
            ("output_digest", pa.string()),
            ("gradient_digest", pa.string()),
        ]
    )
    return pa.schema(
        [
            ("id", pa.string()),
            ("source", pa.string()),
            ("seed", pa.int64()),
            ("index", pa.int64()),
            ("name", pa.string()),
            ("category", pa.string()),
            *((view, pa.string()) for view in source.views),
            ("targets", pa.list_(target)),
            ("launch", pa.list_(pa.int32())),
            ("features", pa.list_(pa.string())),
            ("verification", verification),
            ("shape_hash", pa.string()),
            ("content_hash", pa.string()),
            ("minhash", pa.binary()),
        ]
    )


def rejected_schema() -> Any:
    """The schema of the table of rejected samples."""
    pa = import_extra("pyarrow", extra="synth")
    words = ("id", "source", "name", "category", "text", "stage", "reason", "shape_hash")
    return pa.schema([*((word, pa.string()) for word in words), ("index", pa.int64())])


def identity(source: Source, seed: int, sample: Sample) -> str:
    """The name of a row: no two rows of all runs with one seed share it."""
    return f"{source.name}-{seed}-{sample.index}"


def row(source: Source, seed: int, sample: Sample, made: Made) -> dict[str, Any]:
    """The row of a sample."""
    return {
        "id": identity(source, seed, sample),
        "source": source.name,
        "seed": seed,
        "index": sample.index,
        "name": sample.name,
        "category": sample.category,
        **{view: made.views.get(view) for view in source.views},
        "targets": [asdict(target) for target in made.targets],
        "launch": list(made.launch),
        "features": list(made.features),
        "verification": asdict(made.verification),
        "shape_hash": shape_hash(sample.shape),
        "content_hash": short_hash(sample.text.replace(sample.name, "kernel")),
        "minhash": minhash(sample.text.replace(sample.name, "kernel")),
    }


def rejected_row(source: Source, seed: int, sample: Sample, why: Rejected) -> dict[str, Any]:
    """The row of a sample that is not in the dataset."""
    return {
        "id": identity(source, seed, sample),
        "source": source.name,
        "name": sample.name,
        "category": sample.category,
        "text": sample.text,
        "stage": why.stage,
        "reason": why.reason,
        "shape_hash": shape_hash(sample.shape),
        "index": sample.index,
    }


def short_hash(text: str) -> str:
    """A name for a text: 64 bits in hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def shape_hash(shape: str) -> str:
    """The name of a shape."""
    return short_hash(shape)


def split_of(hash: str) -> str:
    """The split of a shape: it follows from the shape alone, so no two splits share one.

    >>> split_of("0000000000000000"), split_of("00000000000003b5")
    ('train', 'validation')
    """
    place = int(hash, 16) % 1000
    return SPLITS[0] if place < _TRAIN else SPLITS[1] if place < _VALIDATION else SPLITS[2]


def tokens(text: str) -> list[str]:
    """The words and signs of a program text."""
    return _TOKEN.findall(text)


def shingles(text: str, length: int = _SHINGLE) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Hashes of every run of so many tokens, without repeats."""
    return np.frombuffer(run_hashes(tokens(text), length), np.uint64)


def _multipliers() -> tuple[bytes, bytes]:
    count = _BANDS * _ROWS
    words = np.frombuffer(
        b"".join(
            hashlib.blake2b(b"minhash", digest_size=16, salt=n.to_bytes(16, "little")).digest()
            for n in range(count)
        ),
        dtype=np.uint64,
    ).reshape(count, 2)
    return (words[:, 0] | np.uint64(1)).tobytes(), words[:, 1].tobytes()


_FACTORS, _OFFSETS = _multipliers()


def minhash(text: str) -> bytes:
    """The bands of a MinHash signature: texts that share one of the eight are near duplicates.

    Eight bands of eight permutations: two texts with four fifths of their five-token runs in
    common share a band three times out of four, with half of them one time in thirty.
    """
    signature = least_mixtures(run_hashes(tokens(text), _SHINGLE), _FACTORS, _OFFSETS)
    size = 8 * _ROWS
    return b"".join(
        hashlib.blake2b(signature[at : at + size] + bytes([at // size]), digest_size=8).digest()
        for at in range(0, len(signature), size)
    )
