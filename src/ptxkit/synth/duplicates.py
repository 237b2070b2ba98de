"""How many rows repeat others: exactly, in their shape, or nearly."""

from __future__ import annotations

from typing import Any

import numpy as np

_BANDS = 8
#: The columns of rows that are looked at.
COLUMNS = ("content_hash", "shape_hash", "minhash")
#: What is counted.
COUNTS = ("rows", "exact_duplicates", "distinct_shapes", "shapes_in_two_splits", "near_duplicates")


class Duplicates:
    """Counts over a whole dataset; holds ten machine words a row, and no text."""

    def __init__(self, rows: int) -> None:
        self._rows = 0
        self._contents = np.zeros(rows, np.uint64)
        self._shapes = np.zeros(rows, np.uint64)
        self._splits = np.zeros(rows, np.uint8)
        self._names: list[str] = []
        # A band a line, so that each is sorted where it lies.
        self._bands = np.zeros((_BANDS, rows), np.uint64)

    def add(self, table: Any, split: str) -> None:
        """Count the rows of a table."""
        if split not in self._names:
            self._names.append(split)
        here = slice(self._rows, self._rows + table.num_rows)
        self._contents[here] = _numbers(table["content_hash"])
        self._shapes[here] = _numbers(table["shape_hash"])
        self._splits[here] = self._names.index(split)
        joined = b"".join(table["minhash"].to_pylist())
        self._bands[:, here] = np.frombuffer(joined, "<u8").reshape(-1, _BANDS).T
        self._rows = here.stop

    def report(self) -> dict[str, int]:
        """The counts."""
        shapes = len(np.unique(self._shapes))
        by_split = (
            len(np.unique(self._shapes[self._splits == n])) for n in range(len(self._names))
        )
        exact = self._rows - len(np.unique(self._contents))
        counts = (self._rows, exact, shapes, sum(by_split) - shapes, self._near())
        return dict(zip(COUNTS, counts, strict=True))

    def _near(self) -> int:
        """Rows that share a band with a row before them."""
        repeated = np.zeros(self._rows, dtype=bool)
        for band in self._bands:
            again = np.ones(self._rows, dtype=bool)
            again[np.unique(band, return_index=True)[1]] = False
            repeated |= again
        return int(repeated.sum())


def _numbers(column: Any) -> Any:
    return np.array([int(text, 16) for text in column.to_pylist()], dtype=np.uint64)
