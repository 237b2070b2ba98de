"""The examples do what they say, on the simulator."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import ptxkit

FOLDER = Path(__file__).parents[2] / "examples"


def run(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["vector_add", "tiled_matmul", "softmax", "mma_gemm"])
def test_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "largest error" in run(name, capsys)


def test_hopper_product_is_checked_without_a_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptxkit.run.cuda_driver.is_available", lambda: False)
    assert "needs an H100 or H200; checked: 0 findings, 168 registers" in run("hopper_gemm", capsys)


@pytest.mark.parametrize("name", ["vector_add", "softmax"])
def test_from_nvcc(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cleaned by hand, and still the compiler's PTX byte for byte."""
    monkeypatch.syspath_prepend(str(FOLDER / "from_nvcc"))
    monkeypatch.delitem(sys.modules, "compared", raising=False)
    out = run(f"from_nvcc/{name}", capsys)
    assert "the PTX that is kept, and the kernel that nvcc makes now" in out


@pytest.mark.parametrize(("name", "kernel"), [("tiled_matmul", "matmul"), ("mma_gemm", "gemm")])
def test_no_thread_is_ahead_of_its_copies(name: str, kernel: str) -> None:
    """The sanitizer finds no race between the stages."""
    made = runpy.run_path(str(FOLDER / f"{name}.py"))[kernel]
    half = name == "mma_gemm"
    side, threads = (128, 128) if half else (64, 256)
    a, b = np.ones((2, side, 96), np.float16 if half else np.float32)
    c = np.zeros((side, side), np.float32)
    shape = (1, threads, made.shared_bytes())
    loaded = ptxkit.load(made.parse(), sanitize=True)[kernel]
    assert loaded[shape](a, b if half else b.T.copy(), c, side, 96).findings == ()
    assert (c == 96).all()
