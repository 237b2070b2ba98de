"""Every kernel of the suite, on the simulator, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit.run import Surface
from tests.kernels import ARCHITECTURES, Kernel, suite

SUITE = suite()


def test_there_are_enough_kernels_and_each_name_is_one() -> None:
    assert len(SUITE) >= 80
    assert len({kernel.name for kernel in SUITE}) == len(SUITE)


@pytest.mark.parametrize("kernel", SUITE, ids=[f"{k.theme}-{k.name}" for k in SUITE])
def test_equals_numpy(kernel: Kernel) -> None:
    for arch in ARCHITECTURES:
        loaded = ptxkit.load(kernel.module(arch), device="cpu")
        for size in kernel.sizes:
            setup = kernel.launch(size)
            setup.run(loaded, kernel.entry(arch))
            arrays = [a.array if isinstance(a, Surface) else a for a in setup.arguments]
            arrays = [a for a in arrays if isinstance(a, np.ndarray)]
            expected = [np.asarray(e) for e in kernel.reference(*kernel.launch(size).arguments)]
            for found, truth in zip(arrays[-len(expected) :], expected, strict=True):
                where = f"{arch}, size {size}"
                if kernel.tolerance == 0:
                    np.testing.assert_array_equal(found, truth, err_msg=where)
                else:
                    np.testing.assert_allclose(
                        found, truth, rtol=kernel.tolerance, atol=kernel.tolerance, err_msg=where
                    )
