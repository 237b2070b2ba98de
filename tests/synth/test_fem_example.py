"""The finite-element example converges at the order theory says."""

import pytest

pytest.importorskip("warp")


@pytest.mark.parametrize(("degree", "cells", "order"), [(1, (4, 8, 16), 2.0), (2, (2, 4, 8), 3.0)])
def test_order_of_convergence(degree: int, cells: tuple[int, ...], order: float) -> None:
    import warp

    # Compiling takes the time here.
    warp.config.optimization_level = 0
    warp.config.enable_backward = False
    from examples.fem_poisson import orders, solve

    assert orders(cells, degree)[-1] == pytest.approx(order, abs=0.1)
    assert solve(cells[-1], degree) < 5e-3
