"""Every matrix and texture instruction of the recording: what the GPU gave, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.gpu.matrix_cases import MatrixCase, cases, digests, module_text, run
from tests.gpu.matrix_inputs import KINDS
from tests.gpu.texture_cases import surface_cases, texture_cases

import ptxkit

FOLDER = Path(__file__).parent / "gpu"
GROUP = 32


def _recorded(name: str) -> dict[str, Any]:
    """The checksums of every case."""
    with np.load(FOLDER / name) as stored:
        ends = np.cumsum(stored["lengths"].astype(np.int64))[:-1]
        return dict(zip(stored["names"].tolist(), np.split(stored["digests"], ends), strict=True))


def _groups() -> Iterator[tuple[MatrixCase, ...]]:
    recorded = _recorded("matrices.npz")
    known = [case for case in cases() if case.text in recorded]
    for start in range(0, len(known), GROUP):
        yield tuple(known[start : start + GROUP])


@pytest.mark.parametrize("part", range(4))
def test_matrix_instructions_equal_the_gpu(part: int) -> None:
    recorded = _recorded("matrices.npz")
    wrong = []
    for group in list(_groups())[part::4]:
        loaded = ptxkit.load(module_text(group), device="cpu")
        for case in group:
            expected = recorded[case.text]
            got = digests(run(case, loaded[case.name], len(expected)))
            if not np.array_equal(got, expected):
                tiles = np.flatnonzero(got != expected)
                wrong.append(f"{case.text}: tiles {tiles.tolist()}")
    assert wrong == []


def test_the_main_products_equal_the_gpu_element_by_element() -> None:
    by_text = {case.text: case for case in cases()}
    with np.load(FOLDER / "matrices.npz") as stored:
        names = stored["whole_names"].tolist()
        whole = {name: stored[f"whole{number}"] for number, name in enumerate(names)}
    assert len(whole) >= 24
    for text, expected in whole.items():
        case = by_text[text]
        kernel = ptxkit.load(module_text((case,)), device="cpu")[case.name]
        got = run(case, kernel, len(expected)).astype(np.uint32)
        where = np.argwhere(got != expected)
        assert not len(where), (
            f"{text}: {len(where)} differ, first in tile {where[0][0]} "
            f"({KINDS[where[0][0] % len(KINDS)]}): GPU {expected[tuple(where[0])]:#x}, "
            f"simulator {got[tuple(where[0])]:#x}"
        )


def test_the_matrix_recording_is_whole() -> None:
    recorded = _recorded("matrices.npz")
    assert {case.text for case in cases()} == set(recorded)
    assert sum(len(value) for value in recorded.values()) > 10000


def test_the_texture_recording_is_whole() -> None:
    names = [case.name for case in (*texture_cases(), *surface_cases())]
    assert set(names) == set(_recorded("textures.npz"))


def _rounds_its_own_way(name: str) -> bool:
    """Filtered signed bytes: the simulator is a step of 1/32767 off now and then."""
    return " i1 " in name and " linear " in name


def test_texture_fetches_equal_the_gpu() -> None:
    recorded = _recorded("textures.npz")
    wrong = []
    for case in texture_cases():
        if _rounds_its_own_way(case.name):
            continue
        bad = np.flatnonzero(digests(case.run("cpu")) != recorded[case.name])
        if len(bad):
            wrong.append(f"{case.name}: fetches {bad.tolist()[:8]}")
    assert wrong == []


def test_surface_accesses_equal_the_gpu() -> None:
    recorded = _recorded("textures.npz")
    wrong = []
    for case in surface_cases():
        after = np.concatenate([part.view(np.uint8).ravel() for part in case.run("cpu")])
        if digests(after.reshape(1, -1))[0] != recorded[case.name][0]:
            wrong.append(case.name)
    assert wrong == []


def test_filtered_signed_bytes_are_mostly_equal() -> None:
    recorded = _recorded("textures.npz")
    chosen = [case for case in texture_cases() if _rounds_its_own_way(case.name)]
    same = [digests(case.run("cpu")) == recorded[case.name] for case in chosen]
    assert chosen and np.mean(same) > 0.97
