"""What datasets are made with in bulk gives what Python's and numpy's own give."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit._native import least_mixtures, philox, run_hashes

WORDS = st.lists(st.text(max_size=70), max_size=12)


@given(st.integers(0, 2**64 - 1), st.integers(0, 70))
def test_random_words_are_those_of_numpy(key: int, count: int) -> None:
    found = np.frombuffer(philox(key, count), np.uint64)
    assert found.tolist() == np.random.Philox(key=key).random_raw(count).tolist()


@given(WORDS, st.integers(1, 9))
def test_hashes_of_runs_are_those_of_hashlib(tokens: list[str], length: int) -> None:
    runs = [" ".join(tokens[at : at + length]) for at in range(max(1, len(tokens) - length + 1))]
    digests = {hashlib.blake2b(run.encode(), digest_size=8).digest() for run in runs}
    expected = sorted(int.from_bytes(digest, "little") for digest in digests)
    assert np.frombuffer(run_hashes(tokens, length), "<u8").tolist() == expected


@pytest.mark.parametrize("size", [0, 1, 127, 128, 129, 256, 1000])
def test_hashes_of_whole_and_broken_blocks(size: int) -> None:
    text = "ab" * size
    expected = hashlib.blake2b(text.encode(), digest_size=8).digest()
    assert run_hashes([text], 5) == expected


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=40))
def test_least_mixtures_are_those_of_numpy(numbers: list[int]) -> None:
    hashes = np.array(numbers, np.uint64)
    factors, offsets = hashes[::-1] | np.uint64(1), hashes + np.uint64(7)
    with np.errstate(over="ignore"):
        mixed = hashes[None, :] * factors[:, None] + offsets[:, None]
        mixed ^= mixed >> np.uint64(29)
    found = least_mixtures(hashes.tobytes(), factors.tobytes(), offsets.tobytes())
    assert np.frombuffer(found, np.uint64).tolist() == mixed.min(axis=1).tolist()
