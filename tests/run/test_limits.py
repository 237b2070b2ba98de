"""Whatever a kernel does, the run can be ended, and the process lives."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.run import SimulationError
from ptxkit.run.watch import TraceRequest

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry forever()
{
LOOP:
    bra LOOP;
}
.visible .entry brief()
{
    ret;
}
.visible .entry waits()
{
    .reg .b32 %r<2>;
    .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra FIRST;
    bar.sync 1;
    ret;
FIRST:
    bar.sync 0;
    ret;
}
"""
MODES: list[dict[str, Any]] = [
    {},
    {"sanitize": True},
    {"profile": True},
    {"trace": TraceRequest(limit=10, last=True)},
]


@pytest.mark.parametrize("mode", MODES, ids=["plain", "sanitize", "profile", "trace"])
def test_limits_in_every_mode(mode: dict[str, Any]) -> None:
    kernel = ptxkit.load(PTX)["forever"]
    for limit, kind in (({"time_limit": 0.2}, "time-limit"), ({"step_limit": 5000}, "step-limit")):
        begin = time.monotonic()
        with pytest.raises(SimulationError) as caught:
            kernel[4, 64](**limit, **mode)
        assert caught.value.kind == kind
        assert caught.value.line == 7
        assert time.monotonic() - begin < 10
    if "trace" in mode:
        assert caught.value.trace is not None
        assert len(caught.value.trace) == 10


def test_a_time_limit_over_many_blocks() -> None:
    with pytest.raises(SimulationError, match="time-limit"):
        ptxkit.load(PTX)["brief"][2_000_000_000, 32](time_limit=0.2)


@pytest.mark.parametrize("mode", MODES, ids=["plain", "sanitize", "profile", "trace"])
def test_interrupts_in_every_mode(mode: dict[str, Any]) -> None:
    kernel = ptxkit.load(PTX)["forever"]
    # A test that runs in the background of a shell inherits a SIGINT that is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        kernel[4, 64](**mode, time_limit=20)
    timer.join()
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begin < 10


def test_a_deadlock_names_a_barrier() -> None:
    with pytest.raises(SimulationError) as caught:
        ptxkit.load(PTX)["waits"][1, 64]()
    assert caught.value.kind == "deadlock"
    assert PTX.splitlines()[caught.value.line - 1].strip().startswith("bar.sync")
    assert caught.value.diagnostic.message == (
        "no thread can go on: 32 wait at a barrier (line 20), 32 wait at a barrier (line 23) "
        "(in 'waits')"
    )


#: The threads of one warp compute without end, those before it wait: at a barrier, or for a word
#: that the others would have to write.
_SPINS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 flag)
{
    .reg .b32 %r<4>; .reg .pred %p<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [flag];
    mov.u32 %r1, %tid.x;
    mov.u32 %r3, 0;
    setp.lt.u32 %p1, %r1, 64;
    @!%p1 bra SPIN;
    setp.lt.u32 %p2, %r1, 32;
    @%p2 bra POLL;
    bar.sync 0;
    ret;
POLL:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra POLL;
    ret;
SPIN:
    add.u32 %r3, %r3, 1;
    bra SPIN;
}
"""


@pytest.mark.parametrize("limit", [{"time_limit": 0.3}, {"step_limit": 300_000}], ids=str)
def test_a_limit_points_at_the_thread_that_computes(limit: dict[str, Any]) -> None:
    kernel = ptxkit.load(_SPINS)["k"]
    with pytest.raises(SimulationError) as caught:
        kernel[1, 96](np.zeros(1, np.uint32), **limit)
    assert caught.value.line in (22, 23)
    assert caught.value.thread[0] >= 64
    with pytest.raises(SimulationError) as caught:
        kernel[1, 64](np.zeros(1, np.uint32), **limit)
    assert caught.value.line in (17, 18, 19)
    assert caught.value.thread[0] < 32


def test_options_that_are_none() -> None:
    kernel = ptxkit.load(PTX)["brief"]
    with pytest.raises(
        ptxkit.run.LaunchError, match="'brief' has no option 'sanitise'; did you mean"
    ):
        kernel[1, 32](sanitise=True)
    with pytest.raises(ptxkit.PtxkitError, match="findings_limit=0: it must be a whole"):
        kernel[1, 32](sanitize=True, findings_limit=0)
    with pytest.raises(ptxkit.PtxkitError, match="232,448 bytes of shared memory at most"):
        kernel[1, 32, 300_000]()


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        (".shared .b8 s[5000000000];", "the shared variables take 5,000,000,000 bytes"),
        (".local .b8 s[600000];", "the local variables take 600,000 bytes; a thread has 524,288"),
    ],
)
def test_variables_that_no_gpu_has_room_for(declaration: str, message: str) -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    use = ".reg .b64 %rd<2>; mov.u64 %rd1, s; ret;"
    with pytest.raises(ptxkit.PtxkitError, match=message):
        ptxkit.load(f"{head}.entry k() {{ {declaration} {use} }}")["k"]


def test_a_copy_of_an_odd_size_is_refused() -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    for size in (0, 3, 64, 256):
        body = (
            f".shared .b8 s[256]; .reg .b64 %a; cp.async.ca.shared.global [s], [%a], {size}; ret;"
        )
        with pytest.raises(ptxkit.PtxkitError, match="it has 4, 8 or 16"):
            ptxkit.load(f"{head}.entry k() {{ {body} }}", check=False)["k"]


def test_a_variable_larger_than_the_memory() -> None:
    with pytest.raises(
        ptxkit.PtxkitError, match="the variable 'big' takes 4,611,686,018,427,387,904"
    ):
        ptxkit.load(".version 8.0\n.target sm_80\n.global .b8 big[4611686018427387904];\n")


def fuzzer() -> Any:
    path = Path(__file__).parents[2] / "fuzz" / "simulate.py"
    spec = importlib.util.spec_from_file_location("simulate", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_mutated_kernels_end_as_they_should() -> None:
    """The first few of what `fuzz/run.sh 600 simulator` runs for minutes under sanitizers."""
    simulate = fuzzer()
    chooser = random.Random(20)
    outcomes = set()
    simulate.TIME_LIMIT = 0.3
    for number in range(60):
        text = simulate.HEADER + simulate.SEEDS[number % len(simulate.SEEDS)]
        outcomes.add(simulate.run_one(chooser, simulate.mutate(chooser, text)))
    # Enough of them load and run for this to mean something.
    assert {"ran", "refused", "out-of-bounds"} <= outcomes


def test_the_seeds_themselves_run() -> None:
    simulate = fuzzer()
    for seed in simulate.SEEDS[:2]:
        kernel = ptxkit.load(simulate.HEADER + seed)["k"]
        arrays = [np.zeros(1024, np.int32) for item in kernel.parameters if item.size == 8]
        kernel[1, 32](*arrays, *([32] if len(kernel.parameters) == 3 else []), step_limit=20_000)
