"""Run the cases of matrices, textures and surfaces on the GPU and keep what it gives.

``python -m tests.gpu.record_matrices FOLDER [TILES]`` writes ``matrices.npz`` and
``textures.npz``, compares every result with the simulator's, on TILES tiles a case, and says
what differs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.gpu.matrix_cases import (
    MatrixCase,
    cases,
    digests,
    kept_whole,
    module_text,
    run,
    tile_count,
)
from tests.gpu.texture_cases import surface_cases, texture_cases

import ptxkit

_GROUP = 24


def _differences(name: str, gpu: Any, simulator: Any) -> Iterator[str]:
    wrong = np.argwhere(gpu != simulator)
    if len(wrong):
        place = tuple(wrong[0])
        yield (
            f"{name}: {len(wrong)} of {gpu.size} differ, first at {list(map(int, place))}: "
            f"GPU {int(gpu[place]):#x}, simulator {int(simulator[place]):#x}"
        )


def record_matrices(folder: Path, tiles: int) -> list[str]:
    """Record the matrix instructions."""
    sums: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    wrong: list[str] = []
    everything = cases()
    for start in range(0, len(everything), _GROUP):
        group: tuple[MatrixCase, ...] = everything[start : start + _GROUP]
        text = module_text(group)
        gpu, simulator = ptxkit.load(text, device="cuda"), ptxkit.load(text, device="cpu")
        for case in group:
            kept = run(case, gpu[case.name], tile_count(case))
            sums[case.text] = digests(kept)
            if kept_whole(case):
                whole[case.text] = kept.astype(np.uint32)
            count = tile_count(case) if case.memory else max(tiles, tile_count(case))
            results = [run(case, device[case.name], count) for device in (gpu, simulator)]
            wrong += _differences(case.text, *results)
    names = np.array(list(sums))
    lengths = np.array([len(value) for value in sums.values()], np.uint16)
    np.savez_compressed(
        folder / "matrices.npz",
        names=names,
        lengths=lengths,
        digests=np.concatenate(list(sums.values())),
        whole_names=np.array(list(whole)),
        **{f"whole{number}": value for number, value in enumerate(whole.values())},
    )
    print(len(sums), "matrix cases recorded,", len(wrong), "differ")
    return wrong


def record_textures(folder: Path) -> list[str]:
    """Record textures and surfaces."""
    kept: dict[str, Any] = {}
    wrong: list[str] = []
    for case in texture_cases():
        gpu = case.run("cuda")
        kept[case.name] = digests(gpu)
        wrong += _differences(case.name, gpu, case.run("cpu"))
    for surface in surface_cases():
        both = [np.concatenate([part.view(np.uint8).ravel() for part in surface.run(device)])
                for device in ("cuda", "cpu")]  # fmt: skip
        kept[surface.name] = digests(both[0].reshape(1, -1))
        wrong += _differences(surface.name, *both)
    np.savez_compressed(
        folder / "textures.npz",
        names=np.array(list(kept)),
        lengths=np.array([len(value) for value in kept.values()], np.uint16),
        digests=np.concatenate(list(kept.values())),
    )
    print(len(kept), "texture and surface cases recorded,", len(wrong), "differ")
    return wrong


def main() -> None:
    """Record both."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tiles = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for line in [*record_textures(folder), *record_matrices(folder, tiles)]:
        print(line)


if __name__ == "__main__":
    main()
