"""Launches that make no sense are refused in words, whatever is passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuKernel, CpuModule, LaunchError

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z4fillPii(.param .u64 p, .param .u32 n) { ret; }
"""


@pytest.fixture(scope="module")
def module() -> CpuModule:
    return ptxkit.load(ptxkit.parse(TEXT, filename="fill.ptx"))


@pytest.fixture(scope="module")
def kernel(module: CpuModule) -> CpuKernel:
    return module["fill"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": -1}, "threads=-1: it must be a whole number from 1 to 65,535, or None"),
        ({"threads": "x"}, "threads='x': it must be a whole number"),
        ({"threads": 0}, "threads=0: it must be"),
        ({"threads": True}, "threads=True: it must be"),
        ({"threads": 2**40}, "threads=1099511627776: it must be"),
        ({"step_limit": -1}, "step_limit=-1: it must be the warp instructions"),
        ({"step_limit": 2**63}, "step_limit=9223372036854775808: it must be"),
        ({"step_limit": 1.5}, "step_limit=1.5: it must be"),
        ({"time_limit": "a"}, "time_limit='a': it must be seconds, such as 2.5; 0 for no limit"),
        ({"time_limit": -1}, "time_limit=-1: it must be"),
        ({"time_limit": float("nan")}, "time_limit=nan: it must be"),
        ({"time_limit": float("inf")}, "time_limit=inf: it must be"),
        ({"stack_bytes": 2**20}, "from 0 to 524,288"),
        ({"stack_bytes": None}, "stack_bytes=None: it must be bytes for the calls"),
        ({"memory": [1]}, r"memory\[0\] of '_Z4fillPii' must be a numpy array, not int"),
        ({"memory": 5}, "memory=5: it must be a list of numpy arrays"),
        ({"memory": np.zeros(2)}, r"it must be a list of numpy arrays, such as memory=\[x\]"),
        ({"count": "yes"}, "count='yes': it must be True or False"),
        ({"profile": 2}, "profile=2: it must be True or False"),
        ({"sanitize": "all"}, "sanitize='all': it must be False, True or 'report'"),
        ({"findings_limit": "x"}, "findings_limit='x': it must be a whole number from 1"),
        ({"trace": (0, 0, 0)}, r"write k\.trace\(thread=\(0, 0, 0\)\)\[grid, block\]"),
        ({"step_limits": 1}, "no option 'step_limits'; did you mean 'step_limit'. There are: thr"),
        ({"zzz": 1}, "no option 'zzz'; There are: threads, step_limit, time_limit, stack_bytes"),
    ],
    ids=str,
)  # fmt: skip
def test_options(kernel: CpuKernel, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        kernel[1, 1](0, 0, **options)


def test_numbers_of_numpy_are_numbers(kernel: CpuKernel) -> None:
    kernel[np.int64(1), np.array([2, 1])](
        0, 0, threads=np.int8(1), step_limit=np.uint64(99), time_limit=np.float32(9),
        count=np.bool_(True), stack_bytes=np.int32(64),
    )  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        lambda k: k(1, 2), lambda k: k[...], lambda k: k[1], lambda k: k[[]],
        lambda k: k[1, 2, 3, 4, 5],
        lambda k: k["a", "b"], lambda k: k["44", 1], lambda k: k[None, 1], lambda k: k[1.5, 1],
        lambda k: k[{1}, 1], lambda k: k[True, 1], lambda k: k[1, (1, 2, 3, 4)], lambda k: k[1, ()],
        lambda k: k[-1, 1], lambda k: k[1, 1, "x"], lambda k: k[1, 1, -4], lambda k: k[1, 1, True],
        lambda k: k[slice(1), 1], lambda k: k[2**70, 1], lambda k: k[object(), 1],
        lambda k: k.trace(thread=1.5), lambda k: k.trace(thread="x"), lambda k: k.trace(block=-1),
        lambda k: k.trace(thread=None), lambda k: k.trace(limit="a"), lambda k: k.trace(limit=0),
        lambda k: k.trace(1), lambda k: k[1, 1].with_options(cluster="x"),
        lambda k: k.trace(thread=(9, 0, 0))[1, 1](0, 0),
    ],
)  # fmt: skip
def test_shapes_and_traces(kernel: CpuKernel, wrong: Callable[[CpuKernel], Any]) -> None:
    with pytest.raises(LaunchError) as caught:
        wrong(kernel)
    assert len(str(caught.value)) > 30


def test_a_kernel_without_a_grid_says_what_to_write(kernel: CpuKernel) -> None:
    with pytest.raises(LaunchError) as caught:
        kernel(1, 2)
    assert str(caught.value) == (
        "'_Z4fillPii' needs a grid and a block: launch it as k[grid, block](...), such as "
        "k[4, 256](...)"
    )


@pytest.mark.parametrize("name", [[], None, 3, b"fill"], ids=str)
def test_names_that_are_none(module: CpuModule, name: Any) -> None:
    with pytest.raises(ptxkit.UsageError, match="indexed by a kernel's name, not"):
        module[name]


def test_parameters_without_measure() -> None:
    text = TEXT.replace(".param .u64 p", f".param .b8 p[{10**12}]")
    with pytest.raises(ptxkit.PtxkitError, match="1000000000004 bytes; 4352 are the most"):
        ptxkit.load(text)["fill"]
    with pytest.raises(LaunchError, match="1,000,000,000,004 bytes; 32,764 are the most"):
        ptxkit.load(text, check=False)["fill"]


def test_what_things_are(module: CpuModule, kernel: CpuKernel) -> None:
    assert repr(module) == "<module 'fill.ptx' on cpu: 1 kernel: _Z4fillPii>"
    assert repr(kernel) == "<kernel '_Z4fillPii' = fill(int*, int) on cpu: p .u64, n .u32>"
    assert repr(kernel[(4, 2), 32]) == "<launch _Z4fillPii[(4, 2), 32] on cpu>"


def test_the_last_blocks_and_warps_first() -> None:
    source = """.version 8.0
.target sm_80
.address_size 64
.visible .entry order(.param .u64 x, .param .u64 n) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %tid.x;
    and.b32 %r3, %r2, 31;
    setp.ne.u32 %p, %r3, 0;
    @%p ret;
    atom.global.add.u32 %r4, [%rd2], 1;
    mad.lo.u32 %r5, %r1, 64, %r2;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r5;
    ret;
}"""
    kernel = ptxkit.load(ptxkit.parse(source), device="cpu")["order"]
    orders = []
    for descending in (False, True):
        places, count = np.zeros(6, np.uint32), np.zeros(1, np.uint32)
        kernel[3, 64](places, count, threads=1, descending=descending)
        orders.append(places.tolist())
    assert orders[0] == [0, 32, 64, 96, 128, 160]
    assert orders[1] == orders[0][::-1]


def test_lanes_by_themselves() -> None:
    """What lanes of a warp write over each other's results depends on an order, too."""
    source = """.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 x) {
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    mov.u32 %r3, %laneid;
    st.global.u32 [%rd1+4], %r3;
    ret;
}"""
    kernel = ptxkit.load(ptxkit.parse(source), device="cpu")["count"]
    left = []
    for descending in (False, True):
        x = np.zeros(2, np.uint32)
        kernel[1, 32](x, descending=descending)
        left.append(x.tolist())
    assert left == [[1, 31], [32, 0]]
