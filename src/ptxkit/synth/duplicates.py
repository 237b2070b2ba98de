"""How many rows repeat others: exactly, in their shape, or nearly."""

from __future__ import annotations

from typing import Any

import numpy as np

_BAND = 8  # bytes


class Duplicates:
    """Counts over a whole dataset; holds a few machine words a row, and no text.

    Bands are 64-bit hashes, eight a row: a million rows take 80 MB.
    """

    def __init__(self) -> None:
        self._contents: list[Any] = []
        self._shapes: dict[str, list[Any]] = {}
        self._bands: list[Any] = []

    def add(self, table: Any, split: str) -> None:
        """Count the rows of a table."""
        self._contents.append(_numbers(table["content_hash"]))
        self._shapes.setdefault(split, []).append(_numbers(table["shape_hash"]))
        bands = [np.frombuffer(row.as_py(), dtype="<u8") for row in table["minhash"]]
        self._bands.append(np.stack(bands))

    def report(self) -> dict[str, int]:
        """The counts."""
        contents = _joined(self._contents)
        by_split = {split: np.unique(_joined(parts)) for split, parts in self._shapes.items()}
        all_shapes = _joined(list(by_split.values()))
        shapes = len(np.unique(all_shapes))
        return {
            "rows": len(contents),
            "exact_duplicates": len(contents) - len(np.unique(contents)),
            "distinct_shapes": shapes,
            "shapes_in_two_splits": len(all_shapes) - shapes,
            "near_duplicates": self._near(),
        }

    def _near(self) -> int:
        """Rows that share a band with a row before them."""
        if not self._bands:
            return 0
        bands = np.concatenate(self._bands)
        self._bands = [bands]  # and not twice
        repeated = np.zeros(len(bands), dtype=bool)
        for column in bands.T:
            _, first = np.unique(column, return_index=True)
            again = np.ones(len(column), dtype=bool)
            again[first] = False
            repeated |= again
        return int(repeated.sum())


def _numbers(column: Any) -> Any:
    return np.array([int(text, 16) for text in column.to_pylist()], dtype=np.uint64)


def _joined(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)
