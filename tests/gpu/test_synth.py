"""The Warp kernels of every category on a real GPU: what numpy and `wp.Tape` say they do.

Rows come from Warp where it is installed, or from a JSON file named by PTXKIT_SYNTH_ROWS.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.synth import Made, Settings, find
from ptxkit.synth.comparing import difference
from ptxkit.synth.schema import row as make_row
from ptxkit.synth.warp import launching
from ptxkit.synth.warp.adapter import BLOCK
from ptxkit.synth.warp.grammar import CATEGORIES
from ptxkit.synth.warp.source import GRADIENT_SLACK, prepared

# Warp's compiler writes the newest version; nothing in these kernels needs more than 9.0,
# which the drivers of CUDA 13.0 take.
_VERSION = re.compile(r"\.version 9\.[1-9]")
SEED = 41
EACH = 3


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    recorded = os.environ.get("PTXKIT_SYNTH_ROWS")
    if recorded:
        return list(json.loads(Path(recorded).read_text()))
    pytest.importorskip("warp")
    warp, settings = find("warp"), Settings()
    count = EACH * len(CATEGORIES)
    samples = [warp.sample(SEED, index, settings) for index in range(count)]
    made = warp.make(SEED, samples, settings, tmp_path_factory.mktemp("warp"))
    return [
        make_row(warp, SEED, sample, one)
        for sample, one in zip(samples, made, strict=True)
        if isinstance(one, Made)
    ]


@pytest.mark.parametrize("category", CATEGORIES)
def test_kernels_do_on_a_gpu_what_they_say(rows: list[dict[str, Any]], category: str) -> None:
    own = [row for row in rows if row["category"] == category]
    assert own
    for row in own:
        sample = find("warp").sample(row["seed"], row["index"], Settings())
        target = row["targets"][0]
        values, seeds = prepared(row["seed"], sample.program, bool(target["ptx_backward"]))
        modules = [ptxkit.load(target[f"ptx_{way}"]) for way in ("forward", "backward")]
        expected = launching.on_simulator(sample.program, values, *modules, seeds)
        found = on_gpu(sample.program, values, target, seeds)
        assert difference(found.values, expected.values) is None, sample.text
        wrong = difference(found.gradients, expected.gradients, slack=GRADIENT_SLACK)
        assert wrong is None, sample.text


def on_gpu(
    program: Any, values: launching.Values, target: dict[str, Any], seeds: Any
) -> launching.Result:
    """Launch forward and backward on the GPU, with memory of torch."""
    torch = pytest.importorskip("torch")
    values = launching.copied(values)
    gradients = launching.gradients_of(program, values, seeds)
    device: dict[int, Any] = {}

    def place(array: np.ndarray[Any, Any]) -> int:
        if id(array) not in device:
            flat = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
            device[id(array)] = torch.from_numpy(flat.copy()).cuda()
        return int(device[id(array)].data_ptr())

    for way in ("forward", "backward"):
        packed = launching.arguments(
            program, values, gradients, adjoint=way == "backward", place=place
        )
        text = _VERSION.sub(".version 9.0", target[f"ptx_{way}"], count=1)
        kernel = ptxkit.load(text, device="cuda")[way]
        launch = launching.launch_of(program)
        kernel[launch.grid, BLOCK, launch.shared](*launching.fitting(kernel.parameters, packed))
    torch.cuda.synchronize()

    def back(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return device[id(array)].cpu().numpy().view(array.dtype).reshape(array.shape)

    return launching.Result(
        {item.name: back(values[item.name]) for item in launching.arrays_of(program)},
        {name: back(array) for name, array in gradients.items()},
    )
