"""Pointers to rows, and what compilers make of quotients and indices."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options, lift_module

SHIFTED = """
extern "C" __global__ void shifted(float *out, const float *in, int n) {
    const float *x = in + blockIdx.x * n;
    float least = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) least = fminf(least, x[i]);
    float *y = out + blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] - least;
}
"""
FLAT = """
extern "C" __global__ void flat(float *out, const float *in, int n) {
    float total = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) total += in[(int)blockIdx.x * n + i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
"""
STEPS = """
extern "C" __global__ void steps(float *out, const float *in, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float *p = in + i * n + m * 3;
    out[i] = *p;
}
"""
DIVIDED = """
extern "C" __global__ void divided(float *out, const float *in, const float *by, int n, int c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / c;
    int column = i % c;
    out[i] = in[i] * by[row] + by[column + n];
}
"""
WHOLE = """
extern "C" __global__ void whole(int *out, const int *in, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i / n * n * m + i % n];
}
"""
WARPS = """
extern "C" __global__ void warps(float *x, float *y) {
    __shared__ float one[32], two[32];
    one[threadIdx.x / 32] = x[threadIdx.x];
    two[threadIdx.x / 32] = y[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = one[threadIdx.x % 32] + two[threadIdx.x % 32];
}
"""
MOVED = """
extern "C" __global__ void moved(float *out, const float *__restrict__ a,
                                 const float *__restrict__ b, int n, int m) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += a[i] * b[i * m + j];
        out[j] = sum;
    }
}
"""
WRITTEN_OUT = """
extern "C" __global__ void centred(float *out, const float *in, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float *x = in + i * m;
        float sum = 0.0f;
        for (int j = 0; j < m; j++) sum += x[j];
        float *y = out + i * m;
        for (int j = 0; j < m; j++) y[j] = x[j] - sum;
    }
}
"""
COLUMN = """
extern "C" __global__ void column(float *out, const float *in, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    #pragma unroll 1
    for (int j = threadIdx.y; j < n; j += 32) sum += in[j * m + i];
    out[i + threadIdx.y * m] = sum;
}
"""


def lifted(source: str, **options: object) -> str:
    module = ptxkit.compile_cuda(source, arch="sm_90")
    return lifted_text(module, Options(roll=True, **options))  # type: ignore[arg-type]


def test_a_step_that_stays_in_a_loop_is_a_pointer() -> None:
    text = lifted(SHIFTED)
    assert text.count("row = p1 + ") == 1
    assert text.count("row1 = p0 + ") == 1
    assert "row1[" in text


def test_a_sum_of_32_bits_is_one_index() -> None:
    assert "row" not in lifted(FLAT)


def test_one_element_is_reached_by_its_index_or_in_steps() -> None:
    assert "row" not in lifted(STEPS)
    assert "*(p1 + " in lifted(STEPS, order="line")


def test_a_row_of_a_pointer_that_changes_is_none() -> None:
    module = ptxkit.parse(ptxkit.compile_cuda(SHIFTED, arch="sm_90").emit())
    for options in (Options(careful=True), Options(careful=True, exact=True)):
        text = ptxkit.cuda.print_module(lift_module(module, options))
        assert "row" not in text


def test_a_row_of_a_loop_that_was_written_out() -> None:
    text = lifted(WRITTEN_OUT)
    assert "row = p1 + i * n3" in text
    assert "row1 = p0 + i * n3" in text


def test_a_loop_has_one_counter() -> None:
    loop = lifted(COLUMN).partition("for (")[2]
    assert loop.count("+=") == 2  # the counter, and the sum
    assert " * n3 + i]" in loop


def test_a_loop_that_is_one_stays_one() -> None:
    unrolled = COLUMN.replace("#pragma unroll 1", "")
    assert lifted(unrolled).count("+=") == 2
    for source in (WRITTEN_OUT, unrolled):
        assert "#pragma" not in lifted(source, keep_loops=True)
    assert lifted(COLUMN, keep_loops=True).count("#pragma unroll 1") == 1


def test_quotient_and_remainder_by_what_is_not_known() -> None:
    text = lifted(DIVIDED)
    assert "/ n4" in text
    assert "% n4" in text
    # What a division by 0 gives is left as it is where that is asked for.
    assert "% n4" not in lifted(DIVIDED, exact=True, careful=True)


def test_whole_parts() -> None:
    text = lifted(WHOLE)
    assert text.count("n2 * n2") == 1 or "/ n2 * n2" in text


def test_an_index_that_a_compiler_scaled() -> None:
    text = lifted(WARPS)
    assert text.count("threadIdx.x >> 5]") == 2
    assert "char" not in text


def test_a_pointer_that_moves_reads_what_its_parameter_reads() -> None:
    text = lifted(MOVED)
    assert "__ldg" not in text
    assert text.count("const float *__restrict__ p") == 2


@pytest.mark.parametrize("source", [SHIFTED, DIVIDED, WHOLE, WARPS, MOVED, WRITTEN_OUT, COLUMN])
def test_they_are_the_same_ptx(source: str) -> None:
    verdict = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic").verdict
    assert verdict.level == "E1"


MULTIPLES = """
extern "C" __global__ void fields(double *out, const double *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1.0;
    out[i + n] = in[i + n] + 2.0;
    out[i + 2 * n] = in[i + 2 * n] + 3.0;
    out[i + 3 * n] = in[i + 3 * n] + 4.0;
    out[i + 4 * n] = in[i + 4 * n] + 5.0;
}
"""


def test_an_address_that_was_computed_from_another() -> None:
    text = lifted(MULTIPLES)
    assert "n2 * 3]" in text
    assert "n2 + n2" not in text
    verdict = ptxkit.decompile(ptxkit.compile_cuda(MULTIPLES, arch="sm_90"), engine="symbolic")
    assert verdict.verdict.level == "E1"


HEADS = """
extern "C" __global__ void scores(float *out, const float *in, int steps, int width, int heads) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int h = i % heads;
    int t = (i / heads) % steps;
    int b = i / (heads * steps);
    int size = width / heads;
    const float *query = in + b * steps * width + t * width + h * size;
    float sum = 0.0f;
    for (int k = 0; k < size; k++) sum += query[k];
    out[i] = sum;
}
"""


def test_steps_to_a_row_are_taken_one_by_one() -> None:
    text = lifted(HEADS)
    row = next(line for line in text.splitlines() if "row = p1 + " in line)
    assert row.count("+") == 3
    assert "p1 + (" not in row


def test_a_remainder_that_was_asked_for_first() -> None:
    text = lifted(HEADS)
    assert text.index("% n4;") < text.index("/ n4;")


PAIRS = """extern "C" __global__ void mix(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < n; j += 2) {
        float a = cosf(x[i + j * 512]), b = sinf(x[i + (j + 1) * 512]);
        x[i + j * 512] = a * b;
        x[i + (j + 1) * 512] = a + b;
    }
}"""


def test_an_index_that_moves_from_a_place_in_the_grid() -> None:
    """The place has a sign, and the numbers that are added to it are one."""
    found = ptxkit.decompile(ptxkit.compile_cuda(PAIRS, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx, found.cuda
    assert "- 512" not in found.cuda and "1024" not in found.cuda
