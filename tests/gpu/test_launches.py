"""Launching: arrays and streams of other libraries, clusters, cooperation, faults, times."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.gpu.compare import Record, check_both
from tests.run.kernels.case import Case, launch
from tests.run.test_kernels import SOURCE

import ptxkit
from ptxkit.run.cuda import CudaError

MORE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void cluster_sum(const int *x, int *out) {
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) mine = x[blockIdx.x];
    cluster.sync();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int rank = 0; rank < cluster.num_blocks(); ++rank)
            sum += *cluster.map_shared_rank(&mine, rank);
        out[blockIdx.x] = sum * 100 + cluster.block_rank();
    }
    cluster.sync();
}

extern "C" __global__ void grid_rounds(int *x, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; ++round) {
        int other = x[(i + 33) % n];
        grid.sync();
        x[i] += other;
        grid.sync();
    }
}

extern "C" __global__ void large_shared(int *x) {
    extern __shared__ int data[];
    for (int i = threadIdx.x; i < 50000; i += blockDim.x) data[i] = i;
    __syncthreads();
    int sum = 0;
    for (int i = threadIdx.x; i < 50000; i += blockDim.x) sum += data[49999 - i];
    atomicAdd(x, sum);
}

extern "C" __global__ void fault(int *x, int far) { x[far] = 1; }
extern "C" __global__ void wait(long long cycles) {
    long long begin = clock64();
    while (clock64() - begin < cycles) {}
}
"""


def floats(g: np.random.Generator, *shape: int) -> Any:
    return g.standard_normal(shape).astype(np.float32)


def rounds(x: Any, count: int) -> tuple[Any, ...]:
    for _ in range(count):
        x = x + np.roll(x, -33)
    return (x,)


CASES = (
    Case("saxpy", lambda g: (2.5, floats(g, 999), floats(g, 999), 999), launch("saxpy", 4, 256),
         lambda a, x, y, n: (a * x + y,), tolerance=1e-6),
    Case("recursion", lambda g: (np.zeros(64, "i4"),), launch("recursion", 1, 64),
         lambda x: (np.resize([0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89], 64),)),
    Case("total", lambda g: (g.integers(-99, 99, 9999).astype("i4"), np.zeros(1, "i4"), 9999),
         launch("total", 8, 256), lambda x, out, n: ([x.sum()],)),
    Case("histogram", lambda g: (g.integers(0, 256, 5000).astype("u1"), np.zeros(256, "u4"), 5000),
         launch("histogram", 4, 256), lambda x, bins, n: (np.bincount(x, minlength=256),)),
    Case("scan", lambda g: (g.integers(-50, 50, 256).astype("i4"),), launch("scan", 1, 256, 1024),
         lambda x: (np.cumsum(x),)),
    Case("spin", lambda g: (np.zeros(1, "i4"), np.zeros(1, "i4")), launch("spin", 2, 64),
         lambda lock, value: ([0], [128])),
    Case("doubles", lambda g: (g.standard_normal(64) * 10, np.zeros(64)), launch("doubles", 1, 64),
         lambda x, y: (np.sin(x) + np.exp(-abs(x)) + np.sqrt(abs(x)) + np.log(abs(x) + 1)
                       + abs(x) ** 0.3,), tolerance=1e-13),
    Case("softmax", lambda g: (floats(g, 4, 32), np.zeros((4, 32), "f4")), launch("softmax", 4, 32),
         lambda x, y: (np.exp(x.astype("f8")) / np.exp(x.astype("f8")).sum(axis=1, keepdims=True),),
         tolerance=1e-6, approximate=True),
    Case("matmul", lambda g: (floats(g, 64, 64), floats(g, 64, 64), np.zeros((64, 64), "f4"), 64),
         launch("matmul", (4, 4), (16, 16)), lambda a, b, c, n: (a @ b,), tolerance=1e-4),
)  # fmt: skip


@cache
def compiled() -> ptxkit.Module:
    return ptxkit.compile_cuda(SOURCE, arch="sm_80")


@cache
def loaded(device: str) -> Any:
    return ptxkit.load(compiled(), device=device)


@cache
def more() -> Any:
    return ptxkit.load(ptxkit.compile_cuda(MORE, arch="sm_90"), device="cuda")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_equal_on_both(case: Case, record_property: Record) -> None:
    check_both(case, compiled(), record_property)


def test_torch_tensors_are_passed_by_address() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(1000, device="cuda")
    y = torch.randn(1000, device="cuda")
    expected = torch.addcmul(y, x, torch.tensor(2.5, device="cuda"))
    for _ in range(2):
        z = y.clone()
        loaded("cuda")["saxpy"][4, 256](2.5, x, z, 1000)
        torch.testing.assert_close(z, expected)
    parameter = torch.nn.Parameter(x.clone())
    loaded("cuda")["saxpy"][4, 256](2.5, y, parameter, 1000)
    torch.testing.assert_close(parameter.data, x + 2.5 * y)


def test_tensors_that_cannot_be_passed() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.zeros(2, 64, device="cuda")
    kernel = loaded("cuda")["saxpy"][1, 32]
    for _ in range(2):
        with pytest.raises(ptxkit.run.LaunchError, match="a tensor on 'cpu'"):
            kernel(2.5, x.cpu(), y, 10)
        with pytest.raises(ptxkit.run.LaunchError, match="not contiguous"):
            kernel(2.5, torch.zeros(8, 8, device="cuda").t(), y, 10)
    kernel(2.5, torch.zeros(8, 8, device="cuda").t().data_ptr(), y, 10)


def test_torchs_current_stream_is_used() -> None:
    torch = pytest.importorskip("torch")
    side = torch.cuda.Stream()
    x, y = torch.ones(2, 1000, device="cuda")
    torch.cuda.synchronize()
    saxpy, wait = loaded("cuda")["saxpy"], more()["wait"]
    with torch.cuda.stream(side):
        wait[1, 1](100_000_000)
        saxpy[4, 256](2.0, x, y, 1000)
    assert not side.query()  # both wait on the side stream, not on the default one
    assert torch.cuda.default_stream().query()
    side.synchronize()
    assert y[0].item() == 3.0


def test_streams_of_other_libraries() -> None:
    torch = pytest.importorskip("torch")
    streams: list[Any] = [torch.cuda.Stream(), torch.cuda.Stream().cuda_stream]
    cupy = sys.modules.get("cupy") or _optional("cupy")
    if cupy is not None:
        streams.append(cupy.cuda.Stream())
    core = _optional("cuda.core")
    if core is not None and hasattr(core, "Device"):
        core.Device(0).set_current()
        streams.append(core.Device(0).create_stream())
    for stream in streams:
        x, y = torch.ones(2, 1000, device="cuda")
        torch.cuda.synchronize()
        loaded("cuda")["saxpy"][4, 256, 0, stream](2.0, x, y, 1000)
        torch.cuda.synchronize()
        assert y.eq(3).all()


def _optional(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def test_cupy_arrays() -> None:
    cupy = pytest.importorskip("cupy")
    x, y = cupy.ones((2, 1000), cupy.float32)
    for count in (3, 5):
        loaded("cuda")["saxpy"][4, 256](2.0, x, y, 1000)
        assert (y == count).all()
    with cupy.cuda.Stream():
        loaded("cuda")["saxpy"][4, 256](2.0, x, y, 1000)
        assert (y == 7).all()
    with pytest.raises(ptxkit.run.LaunchError, match="not contiguous"):
        loaded("cuda")["saxpy"][4, 256](2.0, x[::2], y, 10)


def test_numba_arrays() -> None:
    cuda = pytest.importorskip("numba.cuda")
    x, y = cuda.to_device(np.ones(1000, "f4")), cuda.to_device(np.ones(1000, "f4"))
    loaded("cuda")["saxpy"][4, 256](2.0, x, y, 1000)
    assert (y.copy_to_host() == 3).all()


def test_dlpack_alone() -> None:
    torch = pytest.importorskip("torch")

    class Only:
        def __init__(self, tensor: Any) -> None:
            self.tensor = tensor

        def __dlpack__(self, *, stream: Any = None) -> Any:
            return self.tensor.__dlpack__(stream=stream)

        def __dlpack_device__(self) -> Any:
            return self.tensor.__dlpack_device__()

    x, y = torch.ones(2, 1000, device="cuda")
    loaded("cuda")["saxpy"][4, 256](2.0, Only(x), Only(y), 1000)
    assert y.eq(3).all()


def test_clusters() -> None:
    x, out = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    for size in (2, 4, 8, 16):
        more()["cluster_sum"][16, 32].with_options(cluster=size)(x, out)
        expected = np.repeat(x.reshape(-1, size).sum(axis=1), size) * 100 + np.arange(16) % size
        np.testing.assert_array_equal(out, expected)


def test_cooperative_launch() -> None:
    x = np.arange(512, dtype=np.int32)
    (expected,) = rounds(x, 3)
    more()["grid_rounds"][8, 64].with_options(cooperative=True)(x, 3)
    np.testing.assert_array_equal(x, expected)
    with pytest.raises(ptxkit.run.LaunchError, match="needs all 100000 blocks running at once"):
        more()["grid_rounds"][100_000, 64].with_options(cooperative=True)(x, 3)


def test_more_shared_memory_than_48_kilobytes() -> None:
    x = np.zeros(1, np.int32)
    more()["large_shared"][1, 256, 200_000](x)
    assert x[0] == 50000 * 49999 // 2
    with pytest.raises(ptxkit.run.LaunchError, match="this GPU has"):
        more()["large_shared"][1, 256, 300_000](x)


def test_time_by_events() -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.randn(2, 1 << 22, device="cuda")
    milliseconds = loaded("cuda")["saxpy"].time(1 << 14, 256, 2.5, x, y, 1 << 22)
    assert 0 < milliseconds < 10
    assert 0 < loaded("cuda")["saxpy"][1 << 14, 256].time(2.5, x, y, 1 << 22, repeat=3) < 10


def test_errors_name_the_kernel() -> None:
    with pytest.raises(ptxkit.PtxkitError, match="saxpy"):
        loaded("cuda")["saxpy"][1, 1024, 1 << 30](1.0, np.zeros(4, "f4"), np.zeros(4, "f4"), 4)
    with pytest.raises(ptxkit.UnknownNameError, match="saxpy"):
        loaded("cuda")["nothing"]


FAULT = """
import numpy as np, ptxkit
from tests.gpu.test_launches import more
kernels = more()
space = np.zeros(4, np.int32)
kernels["wait"][1, 1](1000)
kernels["fault"][1, 1](0x1000, 0)
try:
    kernels.synchronize()
except ptxkit.PtxkitError as error:
    print(error.status)
    print(error)
try:
    kernels["wait"][1, 1](1000)
except ptxkit.PtxkitError as error:
    print(error)
"""


def test_a_fault_names_the_launches_that_were_pending() -> None:
    # In a process of its own: the fault ends its context.
    done = subprocess.run(
        [sys.executable, "-c", FAULT], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CUDA_ERROR_ILLEGAL_ADDRESS\nwaiting for the GPU failed")
    assert "'fault'[1, 1](fault_param_0=4096, fault_param_1=0)" in done.stdout
    assert "'wait'[1, 1](wait_param_0=1000) failed" in done.stdout


def test_ptx_newer_than_the_driver() -> None:
    from ptxkit.run.cuda_driver import release
    from ptxkit.toolchain import process, versions

    driver, tool = versions.highest_ptx(release()), process.release("ptxas")
    newest = versions.highest_ptx(tool)
    text = ".version {}\n.target sm_90\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
    with pytest.raises(CudaError, match=f"is PTX 9.99, and the driver .* takes PTX up to {driver}"):
        ptxkit.load(text.format("9.99"), device="cuda")
    if newest == driver:
        pytest.skip(f"the assembler takes PTX {newest}, as the driver does")
    ptxkit.load(text.format(newest), device="cuda")["k"][1, 1]()


def test_what_the_driver_refuses_is_shown_at_its_place() -> None:
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    text = head + ".visible .entry k() {\n  mov.u32 %q, 1;\n}\n"
    with pytest.raises(ptxkit.ToolchainError) as caught:
        ptxkit.load(text, device="cuda")
    assert caught.value.diagnostics[0].line == 5
