"""What `sanitize` must find, each fault planted; and that the mended kernel has none."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import ptxkit
from ptxkit.run import CpuModule, Finding, SimulationError

SOURCE = r"""
#define BARRIER __syncthreads()
#define KERNEL extern "C" __global__ void

KERNEL no_barrier(int *x) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
KERNEL with_barrier(int *x) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    BARRIER;
    x[threadIdx.x] = s[63 - threadIdx.x];
}
// The second barrier of a loop is the one people forget: write after read.
KERNEL loop_without_second(int *x) {
    __shared__ int s[64];
    int v = x[threadIdx.x];
    for (int i = 0; i < 3; ++i) {
        s[threadIdx.x] = v;
        BARRIER;
        v += s[63 - threadIdx.x];
    }
    x[threadIdx.x] = v;
}
KERNEL write_write(int *x) {
    __shared__ int s[2];
    s[0] = threadIdx.x;
    BARRIER;
    x[threadIdx.x] = s[0];
}
KERNEL write_same(int *x) {
    __shared__ int s[2];
    s[0] = 0;
    BARRIER;
    if (x[threadIdx.x] >= 0) s[0] = 1;
    BARRIER;
    x[threadIdx.x] = s[0];
}
KERNEL bytes_beside(unsigned char *x) {
    __shared__ unsigned char s[64];
    s[threadIdx.x] = x[threadIdx.x];
    s[threadIdx.x] += 1;
    x[threadIdx.x] = s[threadIdx.x];
}
KERNEL byte_in_word(int *x) {
    __shared__ int s[64];
    s[threadIdx.x] = 7;
    if (threadIdx.x == 40) ((volatile unsigned char *)s)[1] = 3;
    x[threadIdx.x] = s[threadIdx.x];
}
KERNEL in_warp(int *x) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[31 - threadIdx.x];
}
KERNEL in_warp_shuffled(int *x) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    int other = __shfl_xor_sync(~0u, (int)threadIdx.x, 31);
    x[threadIdx.x] = s[other];
}
KERNEL in_warp_synced(int *x) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    x[threadIdx.x] = s[31 - threadIdx.x];
}
KERNEL half_warp_synced(int *x) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 16) __syncwarp(0x0000FFFF); else __syncwarp(0xFFFF0000);
    x[threadIdx.x] = s[threadIdx.x ^ 15];
}
KERNEL synced_in_two_places(int *x) {
    __shared__ int s[32];
    int i = threadIdx.x;
    if (i < 16) { s[i] = x[i]; __syncwarp(); x[i] = s[i + 16]; }
    else { s[i] = -x[i]; __syncwarp(); x[i] = s[i - 16] + 1; }
}
KERNEL half_warp_crossed(int *x) {
    __shared__ int s[32];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 16) __syncwarp(0x0000FFFF); else __syncwarp(0xFFFF0000);
    x[threadIdx.x] = s[threadIdx.x ^ 16];
}
// Warp 0 produces, warp 1 consumes: named barriers 1 (full) and 2 (empty).
KERNEL named(int *x) {
    __shared__ int s[32];
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i)
        if (threadIdx.x < 32) {
            if (i) asm volatile("bar.sync 2, 64;" ::: "memory");
            s[lane] = i + lane;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            x[i * 32 + lane] = s[31 - lane];
            if (i < 3) asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
}
KERNEL named_without_empty(int *x) {
    __shared__ int s[32];
    int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i)
        if (threadIdx.x < 32) {
            s[lane] = i + lane;
            asm volatile("bar.arrive %0, 64;" :: "r"(i + 1) : "memory");
        } else {
            asm volatile("bar.sync %0, 64;" :: "r"(i + 1) : "memory");
            x[i * 32 + lane] = s[31 - lane];
        }
}
KERNEL atomics(int *x) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    BARRIER;
    atomicAdd(&s, x[threadIdx.x]);
    BARRIER;
    x[threadIdx.x] = s;
}
KERNEL atomic_and_plain(int *x) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    BARRIER;
    atomicAdd(&s, 1);
    x[threadIdx.x] = s;
}
KERNEL flag_fenced(int *x) {
    __shared__ int data;
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    BARRIER;
    if (threadIdx.x == 0) {
        data = x[1];
        __threadfence_block();
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0) {}
        __threadfence_block();
        x[0] = data;
    }
}
KERNEL flag_unfenced(int *x) {
    __shared__ int data;
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    BARRIER;
    if (threadIdx.x == 0) {
        data = x[1];
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0) {}
        x[0] = data;
    }
}
KERNEL flag_release(int *x) {
    __shared__ int data;
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    BARRIER;
    unsigned place = (unsigned)__cvta_generic_to_shared(&flag);
    if (threadIdx.x == 0) {
        data = x[1];
        asm volatile("st.release.cta.shared.u32 [%0], 1;" :: "r"(place) : "memory");
    } else if (threadIdx.x == 32) {
        unsigned seen;
        do asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(place) : "memory");
        while (seen == 0);
        x[0] = data;
    }
}

KERNEL unwritten_shared(int *x) {
    __shared__ int s[65];
    s[threadIdx.x] = x[threadIdx.x];
    BARRIER;
    x[threadIdx.x] = s[threadIdx.x + 1];
}
KERNEL unwritten_dynamic(int *x) {
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = x[threadIdx.x];
    BARRIER;
    x[threadIdx.x] = dynamic[threadIdx.x + 1];
}
KERNEL unwritten_local(int *x, int n) {
    int a[16];
    for (int i = 0; i < n; ++i) a[x[i] & 15] = i;
    x[threadIdx.x] = a[x[threadIdx.x] & 15];
}
struct Padded { char c; double d; int i; };
__device__ __noinline__ Padded swapped(Padded p) { p.c += 1; p.i -= 1; return p; }
KERNEL struct_padding(int *x, int k) {
    Padded a[4];
    for (int i = 0; i < 4; ++i) { a[i].c = i; a[i].d = i; a[i].i = i; }
    Padded b = swapped(a[x[0] & 3]);
    a[k & 3] = b;
    x[threadIdx.x] = a[(k + threadIdx.x) & 3].i;
}
__device__ __noinline__ int sum(const int *a, int n) {
    int total = 0;
    for (int i = 0; i < n; ++i) total += a[i];
    return total;
}
KERNEL calls(int *x, int n) {
    int a[8];
    for (int i = 0; i < n; ++i) a[i] = x[i];
    x[threadIdx.x] = sum(a, n);
}
KERNEL calls_too_far(int *x, int n) {
    int a[8];
    for (int i = 0; i < n; ++i) a[i] = x[i];
    x[threadIdx.x] = sum(a, n + 1);
}

KERNEL past_the_array(int *x) {
    __shared__ int first[32];
    __shared__ int second[32];
    second[threadIdx.x] = 5;
    BARRIER;
    first[threadIdx.x + 1] = x[threadIdx.x];
    BARRIER;
    x[threadIdx.x] = first[threadIdx.x + 1] + second[threadIdx.x];
}

KERNEL exits_early(int *x) {
    if (x[threadIdx.x] < 0) return;
    BARRIER;
    x[threadIdx.x] = 1;
}
KERNEL two_barriers(int *x) {
    if (threadIdx.x < 16) { x[threadIdx.x] = 1; BARRIER; x[threadIdx.x] += 1; }
    else { x[threadIdx.x] = 2; BARRIER; x[threadIdx.x] += 3; }
}
KERNEL part_of_warp(int *x) {
    if (threadIdx.x % 32 < 16) asm volatile("bar.sync 1, 32;");
    x[threadIdx.x] = 1;
}
KERNEL not_aligned(int *x) {
    if (threadIdx.x < 16) { x[threadIdx.x] = 1; asm volatile("barrier.sync 0;"); }
    else { x[threadIdx.x] = 2; asm volatile("barrier.sync 0;"); }
}
KERNEL diverges_and_joins(int *x) {
    __shared__ int s[64];
    int v = x[threadIdx.x];
    if (threadIdx.x % 3 == 0) { for (int i = 0; i < v % 7; ++i) v = v * 3 + 1; }
    else if (threadIdx.x % 3 == 1) v = -v;
    s[threadIdx.x] = v;
    BARRIER;
    x[threadIdx.x] = s[63 - threadIdx.x];
}

KERNEL not_in_mask(int *x) { x[threadIdx.x] = __shfl_sync(0xFFFF, x[threadIdx.x], 0); }
KERNEL different_masks(int *x) {
    unsigned mask = threadIdx.x < 16 ? 0xFFFFu : 0xFFFFFFFFu;
    x[threadIdx.x] = __ballot_sync(mask, x[threadIdx.x]);
}
KERNEL from_nowhere(int *x) {
    x[threadIdx.x] += __shfl_down_sync(~0u, x[threadIdx.x], 16);
}
"""

HEAP = r"""
extern "C" __global__ void freed(int *x) {
    int *p = (int *)malloc(8);
    *p = x[threadIdx.x];
    free(p);
    x[threadIdx.x] = 1;
}
extern "C" __global__ void used_after_free(int *x) {
    volatile int *p = (int *)malloc(8);
    *p = 1;
    free((void *)p);
    x[threadIdx.x] = *p;
}
extern "C" __global__ void past_the_end(int *x) {
    volatile int *p = (int *)malloc(8);
    x[threadIdx.x] = p[2];
}
extern "C" __global__ void leaks(long long *x) {
    int *p = (int *)malloc(12);
    *p = 1;
    x[threadIdx.x] = (long long)p;
}
"""


@lru_cache(maxsize=1)
def heap() -> CpuModule:
    return ptxkit.load(ptxkit.compile_cuda(HEAP, arch="sm_80"), device="cpu")


def test_the_heap() -> None:
    x = np.zeros(8, np.int64)
    assert heap()["freed"][1, 4](x, sanitize="report").findings == ()
    for name, kind in (("used_after_free", "use-after-free"), ("past_the_end", "out-of-bounds")):
        with pytest.raises(SimulationError) as caught:
            heap()[name][1, 1](x, sanitize=True)
        assert caught.value.kind == kind
    # Memory that is kept may be meant for a later kernel: it is told of, and no error.
    (one,) = heap()["leaks"][1, 4](x, sanitize=True).findings
    assert (one.kind, one.severity, one.count) == ("leak", "note", 4)
    assert "48 bytes of malloc" in one.diagnostic.message
    assert "call" in heap().module.emit().splitlines()[one.line - 1]


@lru_cache(maxsize=1)
def loaded() -> CpuModule:
    return ptxkit.load(ptxkit.compile_cuda(SOURCE, arch="sm_80"), device="cpu")


def findings(name: str, block: int = 64, *extra: int, shared: int = 0) -> tuple[Finding, ...]:
    x = np.arange(512, dtype=np.uint8 if name == "bytes_beside" else np.int32)
    kernel = loaded()[name]
    return kernel[2, block, shared](x, *extra, sanitize="report").findings


RACES = {
    # kernel: threads, what the two accesses are, severity
    "no_barrier": (64, {("read", "write"), ("write", "read")}, "error"),
    "loop_without_second": (64, {("write", "read"), ("read", "write")}, "error"),
    "write_write": (64, {("write", "write")}, "error"),
    "byte_in_word": (64, {("write", "write"), ("write", "read")}, "error"),
    "in_warp": (32, {("read", "write")}, "warning"),
    "in_warp_shuffled": (32, {("read", "write")}, "warning"),
    "half_warp_crossed": (32, {("read", "write"), ("write", "read")}, "warning"),
    "named_without_empty": (64, {("write", "read"), ("read", "write")}, "error"),
    "atomic_and_plain": (64, {("read", "write"), ("write", "read")}, "error"),
    "flag_unfenced": (64, {("read", "write")}, "error"),
}


@pytest.mark.parametrize("name", RACES)
def test_races(name: str) -> None:
    block, kinds, severity = RACES[name]
    found = findings(name, block)
    assert found
    assert {one.kind for one in found} == {"race"}
    assert severity in {one.severity for one in found}
    for one in found:
        assert one.other is not None
        assert one.other.thread != one.thread
        assert one.space == "shared"
        assert one.variable is not None
        first = one.diagnostic.message.split()[1]
        second = "write" if "a write" in one.diagnostic.message else "read"
        assert (first, second) in kinds, one


CLEAN = {
    "with_barrier": (64,), "write_same": (64,), "bytes_beside": (64,), "in_warp_synced": (32,),
    "half_warp_synced": (32,), "synced_in_two_places": (32,), "named": (64,), "atomics": (64,),
    "flag_fenced": (64,), "flag_release": (64,), "struct_padding": (64, 3), "calls": (64, 8),
    "not_aligned": (32,), "diverges_and_joins": (64,),
}  # fmt: skip


@pytest.mark.parametrize("name", CLEAN)
def test_clean_kernels_have_no_findings(name: str) -> None:
    assert findings(name, *CLEAN[name]) == ()


def test_a_race_names_both_sides() -> None:
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(SimulationError) as caught:
        loaded()["no_barrier"][1, 64](x, sanitize=True)
    error = caught.value
    assert error.kind == "race"
    assert error.other is not None
    assert error.line != error.other.line
    text = loaded().module.emit().splitlines()
    assert {text[error.line - 1].split()[0], text[error.other.line - 1].split()[0]} == {
        "ld.shared.b32" if "ld.shared.b32" in text[error.line - 1] + text[error.other.line - 1]
        else "ld.shared.u32",
        "st.shared.b32" if "st.shared.b32" in text[error.line - 1] + text[error.other.line - 1]
        else "st.shared.u32",
    }  # fmt: skip
    x_sum = error.thread[0] + error.other.thread[0]
    assert x_sum == 63  # thread i reads what thread 63 - i writes
    assert error.address in (4 * error.thread[0], 4 * error.other.thread[0])


@pytest.mark.parametrize(
    ("name", "extra", "space", "thread"),
    [
        ("unwritten_shared", (), "shared", 63),
        ("unwritten_local", (3,), "local", None),
        ("calls_too_far", (7,), "local", 0),
    ],
)
def test_reads_of_what_nobody_wrote(
    name: str, extra: tuple[int, ...], space: str, thread: int | None
) -> None:
    (one,) = findings(name, 64, *extra)
    assert (one.kind, one.space) == ("uninitialized", space)
    if thread is not None:
        assert one.thread == (thread, 0, 0)
    if name == "unwritten_shared":
        assert one.address == 4 * 64
        assert one.variable is not None
        assert one.variable.startswith("byte 256 of ")


def test_dynamic_shared_memory_is_not_written_either() -> None:
    (one,) = findings("unwritten_dynamic", 64, shared=65 * 4)
    assert one.kind == "uninitialized"
    assert one.variable == "byte 256 of 'dynamic'"


def test_past_the_end_of_a_shared_array_into_the_next() -> None:
    found = findings("past_the_array", 32)
    assert {one.kind for one in found} == {"out-of-bounds"}
    for one in found:
        assert one.thread == (31, 0, 0)
        assert one.variable is not None
        assert one.variable.startswith("0 bytes past the end of ")
    # Without the sanitizer the layout is the plain one, where it goes unnoticed.
    x = np.arange(32, dtype=np.int32)
    loaded()["past_the_array"][1, 32](x)


def test_threads_that_exit_before_a_barrier() -> None:
    x = np.where(np.arange(64) % 40 == 39, -1, 0).astype(np.int32)
    (one,) = loaded()["exits_early"][1, 64](x, sanitize="report").findings
    assert one.kind == "divergent-barrier"
    assert "1 thread of the block exited" in one.diagnostic.message
    assert "(39, 0, 0)" in one.diagnostic.message
    x[:] = 0
    assert loaded()["exits_early"][1, 64](x, sanitize="report").findings == ()


def test_lanes_at_different_barriers() -> None:
    found = findings("two_barriers", 32)
    assert [one.kind for one in found] == ["divergent-barrier"]
    assert found[0].other is not None
    assert {found[0].thread, found[0].other.thread} == {(0, 0, 0), (16, 0, 0)}
    assert found[0].line != found[0].other.line


@pytest.mark.parametrize(
    ("name", "block", "kind", "thread"),
    [
        ("not_in_mask", 32, "invalid-mask", (16, 0, 0)),
        ("different_masks", 32, "invalid-mask", (16, 0, 0)),
        ("from_nowhere", 16, "inactive-lane", (0, 0, 0)),
    ],
)
def test_masks(name: str, block: int, kind: str, thread: tuple[int, int, int]) -> None:
    found = findings(name, block)
    assert [one.kind for one in found] == [kind]
    assert found[0].thread == thread


def test_a_warp_that_comes_in_part_to_a_counted_barrier() -> None:
    found = findings("part_of_warp", 64)
    assert {one.kind for one in found} == {"divergent-barrier"}
    assert "16 threads of the warp did not come" in found[0].diagnostic.message


def test_loading_with_sanitize() -> None:
    module = ptxkit.load(loaded().module, sanitize=True)
    x = np.arange(64, dtype=np.int32)
    with pytest.raises(SimulationError):
        module["no_barrier"][1, 64](x)
    module["no_barrier"][1, 64](x, sanitize=False)
    module["with_barrier"][1, 64](x)
    with pytest.raises(ptxkit.PtxkitError, match="only the simulator sanitizes"):
        ptxkit.load(loaded().module, device="cuda", sanitize=True)
    with pytest.raises(ptxkit.PtxkitError, match="it must be False, True or 'report'"):
        module["with_barrier"][1, 64](x, sanitize="yes")


def test_findings_are_bounded_and_counted() -> None:
    x = np.arange(64, dtype=np.int32)
    report = loaded()["no_barrier"][5, 64](x, sanitize="report", findings_limit=1)
    assert len(report.findings) == 1
    full = loaded()["no_barrier"][5, 64](x, sanitize="report").findings
    assert len(full) == 2
    assert full[0].as_dict()["count"] == full[0].count > 5


def test_past_the_end_of_an_array_into_the_next() -> None:
    both = np.arange(128, dtype=np.int32).reshape(2, 64)
    kernel = ptxkit.load(ptxkit.compile_cuda(
        """extern "C" __global__ void shift(int *x, int *y) {
            y[threadIdx.x] = x[threadIdx.x + 1];
        }""", arch="sm_80"))["shift"]  # fmt: skip
    kernel[1, 64](both[0], both[1])  # reads y's first element, and nobody notices
    with pytest.raises(SimulationError) as caught:
        kernel[1, 64](both[0], both[1], sanitize=True)
    assert (caught.value.kind, caught.value.thread) == ("out-of-bounds", (63, 0, 0))
    assert "0 bytes past the end of argument" in str(caught.value)
    both[:] = np.arange(128).reshape(2, 64)
    kernel[1, 63](both[0], both[1], sanitize=True)
    np.testing.assert_array_equal(both[1, :63], np.arange(1, 64))
    kernel[1, 63](both[0], both[0], sanitize=True)  # one array twice stays one array
    assert both[0, 0] == 1


def test_results_are_the_same_while_sanitizing() -> None:
    plain, watched = (np.arange(64, dtype=np.int32) for _ in range(2))
    loaded()["with_barrier"][1, 64](plain)
    loaded()["with_barrier"][1, 64](watched, sanitize=True)
    np.testing.assert_array_equal(plain, watched)
