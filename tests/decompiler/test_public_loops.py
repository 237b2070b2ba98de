"""Loops and products of public kernels: as they were written, not as compilers leave them."""

from __future__ import annotations

import re

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options

SHORT = """
extern "C" __global__ void short_products(int *x, unsigned *y, int n) {
    int i = __mul24(blockIdx.x, blockDim.x) + threadIdx.x;
    if (i < n) {
        x[i] = __mul24(x[i], n) + 1;
        y[i] = __umul24(y[i], n) * 8;
    }
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_products_of_24_bits(arch: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(SHORT, arch=arch))
    assert found.verdict.same_ptx
    assert found.cuda.count("__mul24(") == 2 and found.cuda.count("__umul24(") == 1
    assert ">> 8" not in found.cuda and "0xffffff" not in found.cuda


def test_a_product_of_less_bits_is_none_of_24() -> None:
    source = """
    __global__ void less(unsigned *x, int n) {
        x[0] = (x[0] & 0x7fffff) * (x[1] & 0xffffff) + ((n << 8) >> 7) * ((n << 8) >> 8);
        x[2] = (x[2] & 0xffffff) * x[3];
    }"""
    assert "mul24" not in lifted_text(ptxkit.compile_cuda(source, arch="sm_90"))


SKIPPED = """
extern "C" __global__ void relaxed(int *x, const int *a, const int *b, int n) {
    for (int i = 0; i < n; i++) {
        int k = a[i];
        if (k > 0) {
            if (k == threadIdx.x) {
                x[k] = i;
                continue;
            }
            if (b[k] == 0) {
                x[i] = k;
                continue;
            }
            x[k + i] = b[k];
        }
        __syncthreads();
    }
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_a_turn_that_is_over_is_left_by_continue(arch: str) -> None:
    text = lifted_text(ptxkit.compile_cuda(SKIPPED, arch=arch), Options(roll=True))
    assert text.count("continue;") == 2 and "skip" not in text


WAVES = """
extern "C" __global__ void waves(int *x, unsigned long long n) {
    for (unsigned long long wave = 0; wave <= n; ++wave) {
        x[wave * 32 + threadIdx.x] += 1;
        __syncthreads();
    }
}
"""


def test_a_number_without_a_sign_counts_from_0_to_all_of_its_limit() -> None:
    text = lifted_text(ptxkit.compile_cuda(WAVES, arch="sm_75"), Options(roll=True))
    assert re.search(r"for \(.*<= \w+; \w+\+\+\)", text)


ATOMS = """
__constant__ float4 atoms[256];
extern "C" __global__ void pairs(int count, float step, float *out) {
    float x = step * threadIdx.x, y = step * blockIdx.x, a = 0, b = 0, c = 0;
    for (int k = 0; k < count; k++) {
        float dy = y - atoms[k].y, other = dy * dy + atoms[k].z;
        float x1 = x - atoms[k].x, x2 = x1 + step, x3 = x2 + step;
        a += atoms[k].w * (1.0f / sqrtf(x1 * x1 + other));
        b += atoms[k].w * (1.0f / sqrtf(x2 * x2 + other) + 1.0f / sqrtf(x3 * x3 + other));
        c += atoms[k].w * (1.0f / sqrtf(x3 * x3 + dy) + 1.0f / sqrtf(x1 * x1 + dy));
    }
    out[threadIdx.x] += a + b + c;
}
"""


def test_pairs_of_turns_and_a_single_one_are_rolled_up() -> None:
    module = ptxkit.compile_cuda(ATOMS, arch="sm_90")
    assert module.emit().count("sqrt.rn.f32") == 15  # twice, and once more for what is left
    text = lifted_text(module, Options(roll=True))
    assert text.count("sqrtf(") == 5 and text.count("for (") == 1


STRIDED = """
extern "C" __global__ void normalized(const float *x, const float *mean, float *out, int n, int w) {
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        out[i] = x[i] - mean[i / w];
}
"""


def test_the_step_of_a_loop_that_was_unrolled_is_a_variable() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(STRIDED, arch="sm_90"))
    assert found.verdict.same_ptx
    assert found.cuda.count("for (") == 1 and found.cuda.count("out[") <= 1


TILED = """
extern "C" __global__ void coarse(const float *x, float *out, int n, int times) {
    int column = blockIdx.x * blockDim.x * times + threadIdx.x, row = blockIdx.y;
    float sum = 0.0f;
    for (int tile = 0; tile < times; tile++) {
        int at = column + blockDim.x * tile;
        sum += at < n ? x[row * n + at] : 0.0f;
    }
    out[row * gridDim.x + blockIdx.x] = sum;
}
"""


def test_what_is_compared_in_a_turn_has_its_own_type() -> None:
    text = lifted_text(ptxkit.compile_cuda(TILED, arch="sm_90"), Options(roll=True))
    found = re.search(r"int (\w+) = .*blockDim.x;\n", text)
    assert found is not None and f"if ({found[1]} < " in text and f"+ {found[1]}]" in text


LANES = """
extern "C" __global__ void rows(const float *v, const int *from, const int *at, float *out, int n) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row < n) {
        float sum = 0.0f;
        for (int j = from[row] + lane; j < from[row + 1]; j += 32) sum += v[j] * v[at[j]];
        out[row * 32 + lane] = sum;
    }
}
"""


def test_turns_that_were_written_out_first_are_rolled_up() -> None:
    text = lifted_text(ptxkit.compile_cuda(LANES, arch="sm_90"), Options(roll=True))
    assert re.search(r"for \(.*; \w+ \+= 32\)", text) and text.count("sum +=") == 1


COUNTED = """
extern "C" __global__ void near(int *count, int *list, const float *x, int n, int most, float r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int j = i + 1; j < n; j++)
            if (x[j] - x[i] < r) list[j * most + atomicAdd(&count[j], 1)] = i;
}
"""


def test_a_product_that_moves_along_is_computed_by_the_index() -> None:
    text = lifted_text(ptxkit.compile_cuda(COUNTED, arch="sm_90"), Options(roll=True))
    assert text.count("atomicAdd(") == 1 and text.count("for (") == 1 and "do {" not in text


BLURRED = """
extern "C" __global__ void blurred(const float *x, float *out, int w, int h, int r) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    float total = 0.0f;
    for (int j = max(0, row - r); j < min(row + r + 1, h); j++)
        for (int i = max(0, column - r); i < min(column + r + 1, w); i++) total += x[j * w + i];
    out[row * w + column] = total;
}
"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_a_window_with_ends_is_two_loops(arch: str) -> None:
    text = lifted_text(ptxkit.compile_cuda(BLURRED, arch=arch), Options(roll=True))
    assert text.count("for (") == 2 and text.count("+= ") == 1 and "do {" not in text


OTHERS = """
extern "C" __global__ void forces(const float2 *at, float2 *force, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 own = at[i], sum = make_float2(0.0f, 0.0f);
    for (int j = 0; j < n; j++)
        if (j != i) {
            float x = at[j].x - own.x, y = at[j].y - own.y;
            float near = rsqrtf(x * x + y * y);
            sum.x += near * x;
            sum.y += near * y;
        }
    force[i] = sum;
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_a_loop_over_all_others_is_one_loop(arch: str) -> None:
    module = ptxkit.compile_cuda(OTHERS, arch=arch)
    assert module.emit().count("rsqrt.approx") > 5  # before, at and behind one's own place
    text = lifted_text(module, Options(roll=True))
    assert text.count("rsqrtf(") == 1 and text.count("for (") == 1
    assert re.search(r"if \((\w+) != (\w+)\)", text)


COPIED = """
extern "C" __global__ void copied(const double *from, double *out, int size, unsigned long long m) {
    extern __shared__ double kept[];
    for (int i = threadIdx.x; i < size; i += blockDim.x) kept[i] = from[i];
    __syncthreads();
    double sum = 0.0;
    for (unsigned long long k = 0; k < m; k++) sum += kept[k];
    out[blockIdx.x] = sum;
}
"""


def test_a_block_that_copies_together_is_one_loop() -> None:
    text = lifted_text(ptxkit.compile_cuda(COPIED, arch="sm_75"), Options(roll=True))
    assert text.count("kept[") == 3 and text.count("for (") == 2 and "do {" not in text


READ_ONLY = """
__global__ void product(float *__restrict__ a, float *__restrict__ x, float *__restrict__ y) {
    y[threadIdx.x] = a[threadIdx.x] * x[blockIdx.x];
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_pointers_that_nobody_else_has_need_not_be_to_constants(arch: str) -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(READ_ONLY, arch=arch))
    assert found.verdict.same_ptx
    assert "__ldg" not in found.cuda and found.cuda.count("__restrict__") == 2


GATHERED = """
extern "C" __global__ void gathered(float *out, const float *in, int width, int rows, int cols) {
    float kept[20];
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    for (int i = 0; i < rows; i++)
        for (int j = x; j < x + cols; j++) {
            kept[count] = in[i * width + j];
            count += 1;
        }
    out[x] = kept[count / 2];
}
"""


def test_a_loop_in_which_more_than_its_index_counts_is_one_loop() -> None:
    text = lifted_text(ptxkit.compile_cuda(GATHERED, arch="sm_90"), Options(roll=True))
    assert text.count("for (") == 2 and "do {" not in text
    assert re.search(r"float local\[20\];", text)
    assert len(re.findall(r"= p1\[", text)) == 1


MERGED = """
extern "C" __global__ void merged(unsigned *out, const unsigned *in, unsigned n) {
    __shared__ unsigned data[256];
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < n; i += 256) sum += in[blockIdx.x + i * 256];
    data[threadIdx.x] = sum;
    for (unsigned half = 128; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) data[threadIdx.x] += data[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = data[0];
}
"""


def test_a_tree_whose_turns_begin_with_a_barrier() -> None:
    """Behind its last turn there is none, and what is done next is behind the same question."""
    found = ptxkit.decompile(ptxkit.compile_cuda(MERGED, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx
    assert found.cuda.count("__syncthreads") == 1
    assert re.search(r"> 0; \w+ >>= 1\) \{\s+__syncthreads\(\);", found.cuda)


ODD = {
    "signed": """__global__ void k(const float *x, const float *w, float *y, int n, int r) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            float sum = 0.0f;
            for (int j = 0; j < 2 * r + 1; ++j) sum += x[i + j] * w[j];
            y[i] = sum;
        }
    }""",
    "unsigned": """
    __global__ void k(const float *x, const float *w, float *y, unsigned n, unsigned r) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {
            float sum = 0.0f;
            for (unsigned j = 0; j < 2 * r + 1; ++j) sum += x[i + j] * w[j];
            y[i] = sum;
        }
    }""",
    "window": """
    __global__ void k(const float *x, const float *w, float *y, int r, int cols, int rows) {
        int column = blockIdx.x * blockDim.x + threadIdx.x;
        int row = blockIdx.y * blockDim.y + threadIdx.y;
        float sum = 0.0f;
        for (int i = 0; i < 2 * r + 1; i++) {
            for (int j = 0; j < 2 * r + 1; j++) {
                int a = row - r + i, b = column - r + j;
                if (a >= 0 && a < rows && b >= 0 && b < cols) {
                    sum += w[i * (2 * r + 1) + j] * x[a * cols + b];
                }
            }
        }
        y[row * cols + column] = sum;
    }""",
}


@pytest.mark.parametrize("name", ODD)
def test_nobody_asks_for_what_is_left_of_an_odd_number_of_turns(name: str) -> None:
    text = lifted_text(ptxkit.compile_cuda(ODD[name], arch="sm_90"), Options(roll=True))
    assert text.count("sum +=") == 1
    assert "max(" not in text and "ptr" not in text and ">= 0)" not in text.split("|")[0]


def test_a_pointer_that_moves_with_a_number_that_is_compared_is_that_place() -> None:
    source = """
    __global__ void k(const float *x, const float *w, float *y, unsigned n, unsigned r) {
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
        float sum = 0.0f;
        for (unsigned j = 0; j < r; ++j) {
            int at = (int)i - (int)j + (int)r;
            if (at >= 0 && at < n) sum += x[at] * w[j];
        }
        y[i] = sum;
    }"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"), Options(roll=True))
    assert re.search(r"int (n\d*) = .*\n.*\bp0\[\1\]", text), text


GROUP_TREE = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void total(const int *x, int *out) {
    __shared__ int part[128];
    cg::thread_block block = cg::this_thread_block();
    part[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    for (unsigned s = 64; s > 0; s >>= 1) {
        cg::sync(block);
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
"""


def test_a_tree_whose_turns_begin_where_a_group_waits() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(GROUP_TREE, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1", found.cuda
    assert found.cuda.count("part[") == 5


WARP_TOTALS = """
extern "C" __global__ void totals(const float *x, float *out) {
    extern __shared__ float part[];
    part[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < blockDim.x; i += 32) sum += part[i];
        out[blockIdx.x] = sum;
    }
}
"""


def test_an_index_in_steps_that_a_compiler_counted() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(WARP_TOTALS, arch="sm_90"), "symbolic")
    assert found.verdict.level == "E1", found.cuda
    assert re.search(r"for \(int (\w) = 0; \1 < blockDim\.x; \1 \+= 32\)", found.cuda)


LARGEST = {
    "its first place is one less than its limit": """
    int where = m - 1;
    double best = x[i * m + where];
    for (int k = 0; k < m - 1; k++) {
        if (x[i * m + k] > best) {
            best = x[i * m + k];
            where = k;
        }
    }
    out[i] = where;""",
    "it goes on from the largest of the turn before": """
    double local[21];
    for (int k = 0; k < m; k++) local[k] = x[i * m + k] + y[k];
    int where = m - 1;
    double best = local[m - 1];
    for (int k = 0; k < m - 1; k++) {
        if (local[k] > best) {
            where = k;
            best = local[k];
        }
    }
    out[i] = where;
    for (int k = 0; k < m; k++) x[k] = local[k];""",
}


@pytest.mark.parametrize("name", LARGEST)
def test_the_place_of_the_largest_is_looked_for_in_one_loop(name: str) -> None:
    head = 'extern "C" __global__ void largest(double *x, const double *y, int *out, int m) {'
    source = f"{head} int i = blockIdx.x * blockDim.x + threadIdx.x; {LARGEST[name]} }}"
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx, found.cuda
    assert found.cuda.count("for (") == LARGEST[name].count("for (") and "[k + 1]" not in found.cuda
