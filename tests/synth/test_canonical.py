"""Canonical PTX: the same code has the same text, and still is the same code."""

import re

import numpy as np
import pytest

import ptxkit
from ptxkit.errors import UnknownNameError
from ptxkit.synth.canonical import Library, canonical
from ptxkit.toolchain import disassemble

_KERNEL = """
extern "C" __global__ void {name}(float *x, const float *y, int n) {{
    __shared__ float cache[64];
    int i = threadIdx.x;
    cache[i] = helper(y[i], n);
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += cache[(i + k) & 63] * table[k & 3];
    if (sum > 1.0f) x[i] = sinf(sum); else x[i] = sum;
}}
"""
_COMMON = """
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int unused[1000];
__device__ __noinline__ float helper(float v, int n) { return v * n + 0.5f; }
extern "C" __global__ void other(float *x) { x[threadIdx.x] *= 2; }
"""


@pytest.fixture(scope="module")
def alone() -> Library:
    return Library(ptxkit.compile_cuda(_COMMON + _KERNEL.format(name="a"), arch="sm_90"))


@pytest.fixture(scope="module")
def among_others() -> Library:
    text = _COMMON + _KERNEL.format(name="before") + _KERNEL.format(name="b")
    return Library(ptxkit.compile_cuda(text, arch="sm_90"))


def test_place_and_name_leave_no_trace(alone: Library, among_others: Library) -> None:
    assert canonical(alone.extract("a"), "k") == canonical(among_others.extract("b"), "k")


def test_nothing_unused_is_kept(alone: Library) -> None:
    text = canonical(alone.extract("a"), "k")
    assert "unused" not in text and "other" not in text and "//" not in text
    assert text.count("\n.const ") == 1


def test_it_is_a_fixed_point(alone: Library) -> None:
    text = canonical(alone.extract("a"), "k")
    assert canonical(Library(text).extract("k"), "k") == text


def _instructions(ptx: str) -> list[str]:
    """The machine code of the kernel, without the names of functions it calls."""
    lines = disassemble(ptxkit.assemble(ptx, "sm_90"), "a").splitlines()
    return [re.sub(r"`\(.*?\)|/\*.*?\*/", "", line) for line in lines if "/*0" in line]


def test_machine_code_is_the_same(alone: Library) -> None:
    kernel = alone.extract("a")
    raw = ptxkit.assemble(kernel.raw, "sm_90").resources["a"]
    clean = ptxkit.assemble(canonical(kernel, "a"), "sm_90").resources["a"]
    assert raw == clean
    texts = [_instructions(text) for text in (kernel.raw, canonical(kernel, "a"))]
    assert texts[0] and texts[0] == texts[1]


def test_it_computes_the_same(alone: Library) -> None:
    kernel = alone.extract("a")
    y = np.linspace(-1, 1, 64, dtype=np.float32)
    results = []
    for text, name in ((kernel.raw, "a"), (canonical(kernel, "k"), "k")):
        x = np.zeros(64, np.float32)
        ptxkit.load(text)[name][1, 64](x, y, 5)
        results.append(x)
    assert results[0].any()
    np.testing.assert_array_equal(*results)


def test_an_unknown_kernel_is_named(alone: Library) -> None:
    with pytest.raises(UnknownNameError, match="no kernel is called 'c'; there are: a, other"):
        alone.extract("c")
