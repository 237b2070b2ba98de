"""Kernels with matrix instructions and textures on both devices: the same memory after."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.gpu.matrix_kernels import LAUNCHES, SOURCE, Launch, result_of

import ptxkit
from ptxkit.run import Texture


@cache
def loaded(device: str) -> Any:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device=device)


@pytest.mark.parametrize("launch", LAUNCHES, ids=[launch.name for launch in LAUNCHES])
def test_equal_on_both(launch: Launch) -> None:
    results = []
    for device in ("cpu", "cuda"):
        arguments = launch.arguments()
        loaded(device)[launch.name][launch.grid, launch.block](*arguments)
        results.append(result_of(arguments))
    np.testing.assert_array_equal(*[result.view(np.uint8) for result in results])


def test_references_are_bound_by_name() -> None:
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref image;\n"
        ".visible .entry k(.param .u64 o) { .reg .b64 %o; .reg .f32 %f<8>;\n"
        "ld.param.u64 %o, [o]; mov.f32 %f5, 0f3FC00000;\n"
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5}];\n"
        "st.global.f32 [%o], %f1; ret; }\n"
    )
    out = np.zeros(1, np.float32)
    module = ptxkit.load(text, device="cuda")
    module.bind("image", Texture(np.arange(4, dtype=np.float32) * 10))
    module["k"][1, 1](out)
    assert out[0] == 10
