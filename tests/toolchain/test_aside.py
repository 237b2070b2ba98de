"""Options that a compiler does not forget do not touch what is compiled after them."""

from __future__ import annotations

import os
import signal
import threading

import pytest

import ptxkit
from ptxkit.decompiler.verify import certificates
from ptxkit.errors import ToolchainError
from ptxkit.toolchain import aside, nvrtc

# Laid out in another way where little is rearranged.
SOURCE = """__global__ void k(const float *x, float *o, float b, int n) {
    int t = threadIdx.x;
    o[t] = t < n ? x[t] : 0;
    o[t] += t + n < 2 * n ? x[t + n] : 0;
    if (o[t] < b) o[t] = b;
}"""


def made(*options: str) -> str:
    return ptxkit.compile_cuda(SOURCE, arch="sm_90", options=options, cache=False).emit()


def test_what_comes_after_is_the_same() -> None:
    before = made()
    others = {option: made(option) for option in ("-Ofc=mid", "--restrict", "-Ofc=min")}
    assert before not in others.values()
    assert made() == before
    # Nor does what was compiled before matter to them.
    assert {option: made(option) for option in reversed(others)} == others


def test_errors_come_through() -> None:
    with pytest.raises(ptxkit.toolchain.CompilerError, match="nothing"):
        ptxkit.compile_cuda("__global__ void k() { nothing(); }", options=["-Ofc=mid"])
    with pytest.raises(ToolchainError, match="nonsense"):
        ptxkit.compile_cuda("__global__ void k() {}", options=["-Ofc=nonsense"], cache=False)


def test_a_compiler_that_is_killed_is_started_again() -> None:
    one = aside.Aside(nvrtc.load().path)
    source, options = SOURCE.encode(), ["--gpu-architecture=compute_90", "-Ofc=mid"]
    before = one.compile(source, "k.cu", options)
    assert one.seconds > 0
    assert one._process is not None
    os.kill(one._process.pid, signal.SIGKILL)
    one._process.wait()
    assert one.compile(source, "k.cu", options) == before
    os.kill(one._process.pid, signal.SIGSTOP)
    killer = threading.Timer(0.3, os.kill, (one._process.pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(ToolchainError, match=r"NVRTC ended while it compiled 'k\.cu' with .*-Ofc"):
        one.compile(source, "k.cu", options)
    assert one.compile(source, "k.cu", options) == before
    one._stop()


def test_a_long_source_takes_no_more_time_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "\n".join(f"for (int i = 0; i < n; i++) v = v * {k}.5f + x[i];" for k in range(2000))
    source = f"__global__ void k(float *x, int n) {{ float v = x[0];\n{lines}\nx[0] = v; }}"
    assert len(source) > aside.LONG
    before = aside.seconds()
    with aside.limited(lambda: 1.0), pytest.raises(aside.UnfinishedCompilationError):
        ptxkit.compile_cuda(source, arch="sm_90", cache=False)
    # A difference of two sums is rounded.
    assert 0.999 < aside.seconds() - before < 3.0
    with aside.limited(lambda: 0.0):
        assert "not verified" in certificates.compiled(source).error
        assert certificates.compiled(SOURCE).module is not None
    monkeypatch.setattr(aside, "LONG", 10)
    plain = made()
    with aside.limited(lambda: 60.0):
        assert made() == plain


POWER = """extern "C" __global__ void k(double *o, const double *a) {
    o[threadIdx.x] = pow(a[threadIdx.x], 2.0);
}"""


def test_fast_math_is_forgotten_by_compilers_for_new_architectures() -> None:
    before = ptxkit.compile_cuda(POWER, arch="sm_120", cache=False).emit()
    ptxkit.compile_cuda(POWER, arch="sm_120", fast_math=True, cache=False)
    assert ptxkit.compile_cuda(POWER, arch="sm_120", cache=False).emit() == before
