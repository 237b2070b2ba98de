"""Sectors, bank conflicts and divergence: the textbook's cases."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptxkit
from ptxkit._native import count_sectors, count_wavefronts
from ptxkit.run import CpuModule, ProfileRow

SOURCE = r"""
extern "C" __global__ void copy(const float *x, float *y, int stride, int offset) {
    y[threadIdx.x] = x[threadIdx.x * stride + offset];
}
extern "C" __global__ void copy4(const float4 *x, float4 *y) { y[threadIdx.x] = x[threadIdx.x]; }

template <int pitch> __device__ void transpose(const float *x, float *y) {
    __shared__ float tile[32][pitch];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void transpose32(const float *x, float *y) { transpose<32>(x, y); }
extern "C" __global__ void transpose33(const float *x, float *y) { transpose<33>(x, y); }

extern "C" __global__ void strided(float *y, int stride) {
    extern __shared__ float s[];
    s[threadIdx.x * stride] = 1;
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x * stride];
}
extern "C" __global__ void doubles(double *y) {
    __shared__ double s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    y[threadIdx.x] = s[(threadIdx.x + 1) % 32];
}
extern "C" __global__ void diverges(int *x) {
    int v = x[threadIdx.x];
    #pragma unroll 1
    for (int i = 0; i < (int)threadIdx.x % 4; ++i) v = v * 3 + i;
    x[threadIdx.x] = v;
}
extern "C" __global__ void atomics(int *x) {
    __shared__ int bins[32];
    bins[threadIdx.x] = 0;
    __syncwarp();
    atomicAdd(&bins[(threadIdx.x % 4) * 8], 1);
    __syncwarp();
    x[threadIdx.x] = bins[threadIdx.x];
}
"""


@lru_cache(maxsize=1)
def loaded() -> CpuModule:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cpu")


def array(count: int) -> np.ndarray:
    """An array that begins at an odd place; the profile must not depend on it."""
    raw = np.zeros(4 * count + 256, np.uint8)
    start = -raw.ctypes.data % 128 + 16
    return raw[start : start + 4 * count].view(np.float32)


def profile(name: str, grid: object, block: object, *arguments: object, shared: int = 0):
    return loaded()[name][grid, block, shared](*arguments, profile=True).profile


def row(rows: tuple[ProfileRow, ...], opcode: str) -> ProfileRow:
    (found,) = [one for one in rows if one.text.split()[0].startswith(opcode)]
    return found


@pytest.mark.parametrize(
    ("stride", "offset", "sectors", "ideal"),
    [
        (1, 0, 4, 4),  # coalesced
        (1, 1, 5, 4),  # a misaligned base touches one more
        (1, 8, 4, 4),  # but not if it is off by whole sectors
        (2, 0, 8, 4),
        (8, 0, 32, 4),
        (32, 0, 32, 4),
        (0, 0, 1, 1),  # all read one place
    ],
)
def test_coalescing(stride: int, offset: int, sectors: int, ideal: int) -> None:
    rows = profile("copy", 3, 32, array(2048), array(32), stride, offset)
    load = row(rows, "ld.global")
    assert load.requests == 3
    assert (load.sectors_per_request, load.ideal_sectors) == (sectors, 3 * ideal)
    store = row(rows, "st.global")
    assert (store.sectors_per_request, store.ideal_sectors) == (4, 12)


def test_wide_accesses_of_global_memory() -> None:
    rows = profile("copy4", 1, 32, array(128), array(128))
    assert row(rows, "ld.global").sectors == row(rows, "ld.global").ideal_sectors == 16


def test_a_transpose_with_and_without_padding() -> None:
    x, y = np.arange(1024, dtype=np.float32), array(1024)
    conflicted = row(profile("transpose32", 1, (32, 32), x, y), "ld.shared")
    np.testing.assert_array_equal(y.reshape(32, 32), x.reshape(32, 32).T)
    assert conflicted.shared_requests == 32
    assert (conflicted.wavefronts, conflicted.ideal_wavefronts) == (32 * 32, 32)
    assert conflicted.bank_conflicts == 31 * 32
    padded = row(profile("transpose33", 1, (32, 32), x, y), "ld.shared")
    assert padded.bank_conflicts == 0


@pytest.mark.parametrize(
    ("stride", "ways"), [(1, 1), (2, 2), (3, 1), (4, 4), (16, 16), (32, 32), (33, 1), (0, 1)]
)
def test_bank_conflicts_by_stride(stride: int, ways: int) -> None:
    rows = profile("strided", 1, 32, array(32), stride, shared=4 * 34 * 32)
    assert row(rows, "ld.shared").wavefronts == ways


def test_wide_accesses_of_shared_memory() -> None:
    load = row(profile("doubles", 1, 32, array(64)), "ld.shared")
    # Two halves of the warp, each all banks once; the last lane reads the first place.
    assert (load.wavefronts, load.ideal_wavefronts) == (2, 2)


def test_atomics_on_shared_memory() -> None:
    bins = row(profile("atomics", 1, 32, array(32)), "atom.shared")
    assert (bins.shared_requests, bins.wavefronts) == (1, 1)  # four banks, one word each


def test_divergence() -> None:
    rows = profile("diverges", 2, 32, array(32))
    body = row(rows, "mad.lo" if any("mad.lo" in r.text for r in rows) else "mul.lo")
    # Lanes run it 0, 1, 2 and 3 times: three turns with 24, 16 and 8 lanes.
    assert (body.warp_executions, body.executions) == (2 * 3, 2 * (24 + 16 + 8))
    assert body.active_lanes == pytest.approx((24 + 16 + 8) / 96)
    assert sum(one.divergent_branches for one in rows) == 2 * 3
    straight = row(rows, "st.global")
    assert (straight.warp_executions, straight.active_lanes) == (2, 1.0)


def test_executions_agree_with_count() -> None:
    x = np.arange(32, dtype=np.int32)
    counted = loaded()["diverges"][2, 32](x, count=True).counts
    by_line = {node.line: count for node, count in counted}
    rows = loaded()["diverges"][2, 32](x, profile=True).profile
    assert {one.line: one.executions for one in rows} == by_line


def test_rows_are_data() -> None:
    rows = profile("copy", 1, 32, array(32), array(32), 1, 0)
    data = row(rows, "ld.global").as_dict()
    assert data["sectors"] == 4
    assert data["bank_conflicts"] == 0
    assert data["text"].startswith("ld.global")
    assert [one.line for one in rows] == sorted(one.line for one in rows)


lanes = st.lists(st.integers(0, 4096), min_size=1, max_size=32)


@given(lanes, st.sampled_from([1, 2, 4, 8, 16]))
def test_sectors_are_those_a_set_holds(starts: list[int], size: int) -> None:
    addresses = [start * size for start in starts]
    touched = {byte for start in addresses for byte in range(start, start + size)}
    sectors, ideal = count_sectors(addresses, size)
    assert sectors == len({byte // 32 for byte in touched})
    assert ideal == -(-len(touched) // 32)


@given(lanes, st.sampled_from([1, 2, 4, 8, 16]))
def test_wavefronts_are_the_most_words_of_a_bank(starts: list[int], size: int) -> None:
    addresses = [start * size for start in starts]
    group = 32 // max(1, size // 4)
    needed = ideal = 0
    for begin in range(0, len(addresses), group):
        words = {
            word
            for start in addresses[begin : begin + group]
            for word in range(start // 4, (start + size - 1) // 4 + 1)
        }
        needed += max(sum(word % 32 == bank for word in words) for bank in range(32))
        ideal += 1
    assert count_wavefronts(addresses, size) == (needed, ideal)
