"""Loading: only what a kernel reaches is lowered, and a module's names are read once."""

from __future__ import annotations

import time

import numpy as np
import pytest

import ptxkit
from ptxkit.run import UnsupportedError
from ptxkit.syntax import Scopes, scopes

_KERNEL = """
.global .u32 v{n} = {n};
.shared .align 4 .b8 s{n}[1024];
.visible .entry k{n}(.param .u64 out)
{{
.reg .b64 %rd<3>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [out];
ld.global.u32 %r1, [v{n}];
st.shared.u32 [s{n}], %r1;
ld.shared.u32 %r2, [s{n}];
st.global.u32 [%rd1], %r2;
ret;
}}
"""
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def _load_all(count: int) -> float:
    """Seconds a kernel, for loading all kernels of a module."""
    module = ptxkit.parse(HEAD + "".join(_KERNEL.format(n=n) for n in range(count)))
    best = 1e9
    for _ in range(3):
        begin = time.perf_counter()
        loaded = ptxkit.load(module, device="cpu")
        for n in range(count):
            loaded[f"k{n}"]
        best = min(best, time.perf_counter() - begin)
    out = np.zeros(1, np.uint32)
    for n in (0, count // 2, count - 1):
        loaded[f"k{n}"][1, 1](out)
        assert out[0] == n
    return best / count


def test_a_thousand_kernels_take_no_longer_each_than_a_few() -> None:
    assert _load_all(1000) < 4 * _load_all(50)


def test_scopes_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    class Counted(Scopes):
        def __init__(self, module: ptxkit.Module) -> None:
            built.append(module)
            super().__init__(module)

    monkeypatch.setattr("ptxkit.run.module_context.Scopes", Counted)
    loaded = ptxkit.load(HEAD + "".join(_KERNEL.format(n=n) for n in range(20)), device="cpu")
    for n in range(20):
        loaded[f"k{n}"]
    assert len(built) == 1
    assert scopes.Scopes is Scopes


def test_shared_memory_is_only_what_the_kernel_uses() -> None:
    # A thousand arrays of a kilobyte would not fit any block.
    loaded = ptxkit.load(HEAD + "".join(_KERNEL.format(n=n) for n in range(300)), device="cpu")
    source = """.visible .entry size(.param .u64 out)
{ .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [out];
mov.u32 %r1, s7; mov.u32 %r2, %total_smem_size; st.global.u32 [%rd1], %r2; ret; }
"""
    loaded = ptxkit.load(loaded.module.emit() + source, device="cpu")
    out = np.zeros(1, np.uint32)
    loaded["size"][1, 1](out)
    assert out[0] == 1024


def test_dynamic_shared_memory_begins_after_the_static_one() -> None:
    text = (
        HEAD
        + """
.extern .shared .align 128 .b8 dynamic[];
.shared .align 4 .b8 fixed[100];
.visible .entry k(.param .u64 out)
{ .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1, [out];
mov.u32 %r1, dynamic; mov.u32 %r2, fixed; sub.u32 %r1, %r1, %r2;
st.global.u32 [%rd1], %r1; st.shared.u32 [dynamic+252], %r1; ret; }
"""
    )
    out = np.zeros(1, np.uint32)
    kernel = ptxkit.load(text, device="cpu")["k"]
    kernel[1, 1, 256](out)
    assert out[0] == 128
    with pytest.raises(ptxkit.PtxkitError, match="shared memory has"):
        kernel[1, 1, 128](out)


def test_only_what_is_reached_is_lowered() -> None:
    text = (
        HEAD
        + """
.func bad() { wgmma.fence.sync.aligned; ret; }
.func calls_bad() { call bad; ret; }
.global .u64 table[1] = {bad};
.visible .entry good() { ret; }
.visible .entry direct() { call calls_bad; ret; }
.visible .entry by_table() { .reg .b64 %rd; mov.u64 %rd, table; ret; }
"""
    )
    loaded = ptxkit.load(text.replace("sm_80", "sm_90a"), device="cpu")
    loaded["good"][1, 1]()
    for name in ("direct", "by_table"):
        with pytest.raises(UnsupportedError, match=r"'wgmma\.fence\.sync\.aligned'") as caught:
            loaded[name]
        assert caught.value.diagnostic.line == 5
