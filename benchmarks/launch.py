"""What a launch costs: ours beside cuda.core, cupy, numba and torch's own operator, in turns.

Needs a GPU; without one it has no rows. Every way launches the same saxpy on the same two
torch tensors, as its users write it. A burst is short enough not to fill the stream, so that
the time is that of the caller and not of the GPU.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

import ptxkit
from benchmarks.report import Bar, Row, Settings

SOURCE = """
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
COUNT = 1000
GRID, BLOCK = 4, 256
BURST = 200  # a stream holds 1,024 launches

Launch = Callable[[], object]


def benchmark(settings: Settings) -> Iterator[Row]:
    """A row for every peer that is installed, and ours with other arguments."""
    from ptxkit.run.cuda import is_available

    if not is_available():
        return
    try:
        torch: Any = import_module("torch")
    except ImportError:
        return
    ways = launches(torch)
    found = measure(ways, torch.cuda.synchronize, bursts=20 * settings.repeat)
    ours = found["ptxkit"]
    peers = {name: found[name] for name in ("cuda.core", "cupy", "numba") if name in found}
    fastest = min((found[name] for name in ("cuda.core", "cupy") if name in found), default=None)
    for name, time in peers.items():
        # Within 1.2 times the faster of the two.
        bar = Bar(1 / 1.2) if time == fastest else None
        yield Row(
            f"launch with two torch tensors, against {name}", ours, "us", name, time, bar,
            higher_is_better=False,
        )  # fmt: skip
    for name in ("ptxkit, kept launcher", "ptxkit, addresses", "ptxkit, cupy arrays", "torch.add_"):
        if name in found:
            yield Row(name, found[name], "us", higher_is_better=False)


def launches(torch: Any) -> dict[str, Launch]:
    """The ways to launch, by name: those whose package is installed."""
    module = ptxkit.compile_cuda(SOURCE, arch="sm_80")
    x, y = torch.ones(2, COUNT, device="cuda")
    ways: dict[str, Launch] = {}
    kernel = ptxkit.load(module, device="cuda")["saxpy"]
    ways["ptxkit"] = lambda: kernel[GRID, BLOCK](x, y, 2.0, COUNT)
    kept = kernel[GRID, BLOCK]
    ways["ptxkit, kept launcher"] = lambda: kept(x, y, 2.0, COUNT)
    at_x, at_y = x.data_ptr(), y.data_ptr()
    ways["ptxkit, addresses"] = lambda: kept(at_x, at_y, 2.0, COUNT)
    ways["torch.add_"] = lambda: y.add_(x, alpha=2.0)
    for add in (_cuda_core, _cupy, _numba):
        try:
            ways.update(add(torch, module.emit(), kernel, x, y))
        except ImportError:
            continue
    return ways


def _cuda_core(torch: Any, text: str, _: Any, x: Any, y: Any) -> dict[str, Launch]:
    core: Any = import_module("cuda.core")
    if not hasattr(core, "launch"):
        core = import_module("cuda.core.experimental")
    import numpy as np

    core.Device(0).set_current()
    saxpy = core.ObjectCode.from_ptx(text.encode()).get_kernel("saxpy")
    config = core.LaunchConfig(grid=GRID, block=BLOCK)

    class TorchStream:
        """How cuda.core takes another library's stream."""

        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, torch.cuda.current_stream().cuda_stream

    stream = core.Device(0).create_stream(TorchStream())
    a, n = np.float32(2.0), np.int32(COUNT)
    return {
        "cuda.core": lambda: core.launch(
            stream, config, saxpy, x.data_ptr(), y.data_ptr(), a, n
        )
    }  # fmt: skip


def _cupy(torch: Any, text: str, kernel: Any, x: Any, y: Any) -> dict[str, Launch]:
    cupy: Any = import_module("cupy")
    import numpy as np

    saxpy = cupy.RawKernel(SOURCE, "saxpy")
    x, y = cupy.asarray(x), cupy.asarray(y)
    a, n = np.float32(2.0), np.int32(COUNT)
    return {
        "cupy": lambda: saxpy((GRID,), (BLOCK,), (x, y, a, n)),
        "ptxkit, cupy arrays": lambda: kernel[GRID, BLOCK](x, y, 2.0, COUNT),
    }


def _numba(torch: Any, text: str, _: Any, x: Any, y: Any) -> dict[str, Launch]:
    import numpy as np

    if not hasattr(np, "row_stack"):  # numba-cuda 0.30 asks for it, and numpy 2.5 dropped it
        np.row_stack = np.vstack
    cuda: Any = import_module("numba.cuda")

    @cuda.jit  # type: ignore[untyped-decorator]
    def saxpy(x: Any, y: Any, a: Any, n: Any) -> None:
        i = cuda.grid(1)
        if i < n:
            y[i] = a * x[i] + y[i]

    there = cuda.as_cuda_array(x), cuda.as_cuda_array(y)
    return {"numba": lambda: saxpy[GRID, BLOCK](*there, 2.0, COUNT)}


def measure(
    ways: dict[str, Launch], synchronize: Callable[[], object], *, bursts: int
) -> dict[str, float]:
    """Microseconds of a launch: the median of bursts, in turns."""
    times: dict[str, list[float]] = {}
    for name, launch in ways.items():
        for _ in range(BURST):
            launch()
        synchronize()
        times[name] = []
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(bursts):
            for name, launch in ways.items():
                synchronize()
                begin = perf_counter()
                for _ in range(BURST):
                    launch()
                times[name].append((perf_counter() - begin) / BURST * 1e6)
        synchronize()
    finally:
        if enabled:
            gc.enable()
    return {name: median(found) for name, found in times.items()}
