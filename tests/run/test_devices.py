"""Which device a module is loaded on."""

from __future__ import annotations

import sys

import pytest

import ptxkit
from ptxkit.run import cuda_driver


def test_the_gpu_without_its_bindings_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", None)
    with pytest.raises(ptxkit.PtxkitError) as caught:
        cuda_driver.bindings()
    assert str(caught.value) == "cuda-bindings is not installed; run: pip install 'ptxkit[cuda]'"
    text = ".version 8.0\n.target sm_80\n.entry k() { ret; }"
    assert isinstance(ptxkit.load(text, device="auto"), ptxkit.run.CpuModule)


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cpu:1", "", 0])
def test_no_such_device(device: str) -> None:
    with pytest.raises(ptxkit.PtxkitError, match="the device must be"):
        ptxkit.load(".entry k() { ret; }", device=device)
