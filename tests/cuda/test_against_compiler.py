"""The printer and the evaluator against NVRTC and the simulator."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from tests.cuda.programs import PROGRAMS, Program

import ptxkit
from ptxkit import cuda


def as_module(program: Program) -> cuda.CudaModule:
    found = cuda.read(program.text)
    items = found.items if isinstance(found, cuda.CudaModule) else (found,)
    return cuda.CudaModule(items, program.includes)


def compiled(program: Program) -> Any:
    module = as_module(program)
    text = cuda.print_module(module).replace("__global__ void", 'extern "C" __global__ void')
    return ptxkit.load(ptxkit.compile_cuda(text, arch="sm_80"), device="cpu")[program.name]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_evaluator_agrees_with_the_compiled_kernel(program: Program) -> None:
    module = as_module(program)
    expected, found = copy.deepcopy(program.arguments), copy.deepcopy(program.arguments)
    cuda.evaluate(module.kernels[0], grid=program.grid, block=program.block, arguments=expected,
                  module=module, dynamic_shared=program.shared)  # fmt: skip
    compiled(program)[program.grid, program.block, program.shared](*found)
    changed = False
    for before, ours, theirs in zip(program.arguments, expected, found, strict=True):
        if isinstance(before, np.ndarray):
            changed |= not np.array_equal(before, ours)
            if program.tolerance:
                np.testing.assert_allclose(ours, theirs, rtol=program.tolerance, atol=1e-6)
            else:
                np.testing.assert_array_equal(ours, theirs)
    assert changed


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_reading_and_writing_are_inverse(program: Program) -> None:
    tree = cuda.read(program.text)
    assert cuda.read(cuda.write(tree)) == tree
    assert cuda.structure_hash(tree) == cuda.structure_hash(cuda.canonical(tree))


def test_wide_evaluation_has_no_rounding() -> None:
    kernel = cuda.read(
        "(kernel k (params (param (ptr double) o)) (= ([] o 0) (- (+ 1.0f 1e-10f) 1.0f)))"
    )
    narrow, wide = np.zeros(1), np.zeros(1)
    cuda.evaluate(kernel, grid=1, block=1, arguments=(narrow,))
    cuda.evaluate(kernel, grid=1, block=1, arguments=(wide,), wide=True)
    assert narrow[0] == 0
    assert wide[0] == pytest.approx(1e-10, rel=1e-5)
