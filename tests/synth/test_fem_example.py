"""The finite-element example converges at the order theory says."""

import pytest

pytest.importorskip("warp")


def test_order_of_convergence(monkeypatch: pytest.MonkeyPatch) -> None:
    import warp

    # Compiling takes the time here.
    monkeypatch.setattr(warp.config, "optimization_level", 0)
    monkeypatch.setattr(warp.config, "enable_backward", False)
    from examples.fem_poisson import orders, solve

    assert orders((4, 8, 16), degree=2) == pytest.approx([3.0, 3.0], abs=0.1)
    assert solve(16, degree=2) < 5e-5
