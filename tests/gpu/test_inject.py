"""Rendered kernels on the GPU and on the simulator: bit for bit the same memory after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from inject import test_property as generated
from inject.kernels import CASES, Case, kernel, values
from inject.test_semantics import CHAIN, MANY, TIMES
from ptxkit.inject import Template
from ptxkit.run.cuda_driver import check, start

ARCH = "sm_90"


def equal_on_both(ptx: str, name: str, arguments: list[Any], threads: int) -> list[Any]:
    results = []
    for device in ("cpu", "cuda"):
        own = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        ptxkit.load(ptx, device=device)[name][1, threads](*own)
        results.append([one for one in own if isinstance(one, np.ndarray)])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours.view(np.uint8), theirs.view(np.uint8))
    return results[1]


@pytest.mark.parametrize("macro", [False, True], ids=["comment", "macro"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type)
def test_types(case: Case, macro: bool) -> None:
    ptx = Template.from_cuda(kernel(case, macro), ARCH).render({"func": case.stub})
    x, acc = values(case, 1, 64), values(case, 2, 64)
    results = equal_on_both(ptx, "k", [x, acc, np.zeros_like(x)], 64)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(results[2], x + acc)


@settings(max_examples=60)
@given(generated.programs(), st.integers(0, 2**32))
def test_generated_stubs(program: generated.Program, seed: int) -> None:
    source = generated.kernel(program, "injected", generated.annotation(program))
    template = Template.from_cuda(source, ARCH)
    ptx = template.render({"site": generated.stub(program, template)})
    random = np.random.default_rng(seed)
    inputs = [random.integers(0, 1000, 32).astype(kind.dtype) for kind in program.kinds]
    equal_on_both(ptx, "injected", inputs, 32)


def test_loops_and_functions() -> None:
    stub = "mul.lo.u32 %_next, %_v, 3;\nadd.u32 %_w, %_w, %_v;"
    ptx = Template.from_cuda(CHAIN, ARCH).render({"step": stub})
    equal_on_both(ptx, "k", [np.arange(64, dtype=np.uint32), 5], 64)
    ptx = Template.from_cuda(MANY, ARCH).render({"inner": TIMES})
    for name in ("one", "two"):
        equal_on_both(ptx, name, [np.arange(32, dtype=np.float32)], 32)


def test_joined_variants_have_their_kernels() -> None:
    template = Template.from_cuda(MANY, ARCH)
    sets = [{"inner": f"add.f32 %_r, %_v, 0f{0x3F800000 + n:08X};"} for n in range(8)]
    made = template.assemble_many(sets, ARCH)
    assert made[0].data == made[-1].data
    ptxkit.load(template.render(sets[0]), device="cuda")  # makes a context
    driver = start()
    module = check(driver.cuModuleLoadData(made[0].data), "loading")
    for one in made:
        for symbol in one.symbols.values():
            check(driver.cuModuleGetFunction(module, symbol.encode()), symbol)
