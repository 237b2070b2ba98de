"""Arrays are written as rows where no column is beyond the end of its row."""

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.cuda import print_function, read
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.lift.matrices import with_matrices

OUTER = """extern "C" __global__ void outer(const float *a, const float *b, float *c, int k) {
    __shared__ float left[8][64], right[8][64];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sums[4] = {};
    for (int from = 0; from < k; from += 8) {
        left[threadIdx.x % 8][threadIdx.x / 8] = a[threadIdx.x + from];
        right[threadIdx.x / 64][threadIdx.x % 64] = b[threadIdx.x + from];
        __syncthreads();
        #pragma unroll 2
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 4; j++) sums[j] += left[i][y * 4 + j] * right[i][x * 4 + j];
        __syncthreads();
    }
    for (int j = 0; j < 4; j++) c[threadIdx.x * 4 + j] = sums[j];
}"""

PAIRS = """extern "C" __global__ void sorted(int *x) {
    __shared__ int s[1024];
    s[threadIdx.x] = x[threadIdx.x];
    s[threadIdx.x + 512] = x[threadIdx.x + 512];
    __syncthreads();
    int one = s[threadIdx.x * 2], two = s[threadIdx.x * 2 + 1];
    s[threadIdx.x * 2] = min(one, two);
    s[threadIdx.x * 2 + 1] = max(one, two);
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
    x[threadIdx.x + 512] = s[threadIdx.x + 512];
}"""

TURNS = """extern "C" __global__ void turns(const float *in, float *out, int n) {
    __shared__ float buf[2][128];
    int t = threadIdx.x;
    buf[0][t] = in[t];
    #pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) buf[(i + 1) & 1][t] = in[(i + 1) * 128 + t];
        __syncthreads();
        out[i * 128 + t] = buf[i & 1][127 - t] * 2.0f;
        __syncthreads();
    }
}"""


def test_two_buffers_take_turns() -> None:
    """``~(n << 9) & 512`` bytes on is the other row, and what counts down is a column."""
    text = lifted_text(ptxkit.compile_cuda(TURNS, arch="sm_90"), Options(roll=True))
    assert "buf[(n + 1) & 1][threadIdx.x] =" in text
    assert "= buf[n & 1][127 - threadIdx.x];" in text


def test_columns_stay_in_their_rows() -> None:
    text = lifted_text(ptxkit.compile_cuda(OUTER, arch="sm_90"), Options(roll=True))
    assert "__shared__ float left[8][64];" in text
    assert "__shared__ float right[8][64];" in text
    assert "left[j + 1][(threadIdx.x >> 4) * 4 + 3]" in text


@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_masks_are_multiples(arch: str) -> None:
    """``threadIdx.x & ~15`` bytes on are so many elements on."""
    text = lifted_text(ptxkit.compile_cuda(OUTER, arch=arch), Options(roll=True))
    assert "char *" not in text


def test_threads_are_no_columns_of_a_pair() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(PAIRS, arch="sm_90"), engine="symbolic")
    assert found.verdict.equivalent, found.verdict.reasons
    assert "__shared__ int s[1024];" in found.cuda


def _shown(body: str) -> str:
    kernel = read(f"(kernel k (params (param (ptr float) x)) {body})")
    assert kernel.body is not None
    made = with_matrices(kernel.body)
    return print_function(type(kernel)(kernel.name, kernel.parameters, made, kernel.returns))


def test_counters_of_whole_rows_count_rows() -> None:
    text = _shown(
        "(shared (array float 512) tile)"
        "(= ([] tile (+ (* threadIdx.y 64) (& threadIdx.x 63))) 0.0f)"
        "(for (let int j 0) (< j 512) (+= j 128)"
        "  (let int at (+ (& threadIdx.x 63) j))"
        "  (= ([] x 1) (+ ([] tile at) ([] tile (+ at 64)))))"
    )
    assert "for (int j = 0; j < 8; j += 2)" in text
    assert "tile[j][threadIdx.x & 63] + tile[j + 1][threadIdx.x & 63]" in text


def test_counters_that_are_used_otherwise_stay() -> None:
    text = _shown(
        "(shared (array float 512) tile)"
        "(= ([] tile (+ (* threadIdx.y 64) (& threadIdx.x 63))) 0.0f)"
        "(for (let int j 0) (< j 512) (+= j 128)"
        "  (= ([] x j) ([] tile (+ (& threadIdx.x 63) j))))"
    )
    assert "j += 128" in text and "tile[512]" in text


def test_walks_through_a_row_begin_at_a_column() -> None:
    text = _shown(
        "(shared (array float 400) tile)"
        "(let int i (+ (* threadIdx.y 20) threadIdx.x))"
        "(do (< ([] x 1) 2.0f) (= ([] tile i) 0.0f) (+= i 16))"
        "(= ([] x 0) ([] tile (+ (+ (* threadIdx.y 20) threadIdx.x) 21)))"
    )
    assert "int i = threadIdx.x;" in text
    assert "tile[threadIdx.y][i] = 0.0f;" in text
    assert "tile[threadIdx.y + 1][threadIdx.x + 1]" in text


def test_a_halo_does_not_hide_its_rows() -> None:
    """Few threads read far beside themselves: what others would read there says nothing."""
    source = """
extern "C" __global__ void k(const float *f, float *d) {
    __shared__ float tile[4][72];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.x * 256 + y * 64 + x;
    tile[y][x + 4] = f[i];
    __syncthreads();
    if (x < 4) {
        tile[y][x] = tile[y][x + 63];
        tile[y][x + 68] = tile[y][x + 5];
    }
    __syncthreads();
    d[i] = tile[y][x + 8] - tile[y][x];
}
"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"))
    assert "float tile[4][72];" in text


def test_a_thread_has_a_row_of_its_own() -> None:
    """What counts on by parts of a row says nothing about how long that is."""
    source = """extern "C" __global__ void parts(float *out, const float *in) {
    __shared__ float rows[4][96];
    for (int i = 0; i < 6; i++) rows[threadIdx.y][threadIdx.x + i * 16] = in[threadIdx.x + i * 64];
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < 6; i++) sum += rows[threadIdx.y][threadIdx.x ^ 5];
    out[threadIdx.x + threadIdx.y * 16] = sum;
}"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))
    assert "rows[4][96]" in text, text
