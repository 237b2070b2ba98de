"""Loops that go on by as many elements as there are threads, as they were written."""

import re

from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.choose import Decompiled
from ptxkit.decompiler.lift.lifter import Options

STRIDED = """
extern "C" __global__ void spread(float *out, const float *in, int length, int step) {
    const float *row = in + blockIdx.x * length;
    float total = 0.0f;
    for (int i = threadIdx.x; i < length; i += step) {
        float away = row[i] - 1.5f;
        total += away * away;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}"""

BLOCKWISE = """
extern "C" __global__ void largest(float *out, const float *in, int length) {
    float most = -1e30f;
    for (int i = threadIdx.x; i < length; i += blockDim.x)
        most = fmaxf(most, in[blockIdx.x * length + i]);
    out[blockIdx.x * blockDim.x + threadIdx.x] = most;
}"""

HALVED = """
extern "C" __global__ void folded(float *out, const float *in, int threads) {
    extern __shared__ float kept[];
    int i = threadIdx.x;
    kept[i] = in[blockIdx.x * blockDim.x + i];
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (i < half) kept[i] += kept[i + half];
    }
    if (i == 0) out[blockIdx.x] = kept[0];
}"""


def decompiled(source: str) -> Decompiled:
    found = ptxkit.decompile(ptxkit.compile_cuda(source), "symbolic", effort=0)
    assert found.verdict.equivalent, found.verdict.reasons
    return found


def test_a_loop_with_a_step_that_is_a_parameter() -> None:
    text = decompiled(STRIDED).cuda
    assert len(re.findall(r"\bfor \(", text)) == 1
    assert not re.search(r"\b(do|while)\b", text)


def test_a_loop_over_the_threads_of_a_block() -> None:
    text = decompiled(BLOCKWISE).cuda
    assert re.search(r"for \(int \w+ = [\w.]+; \w+ < \w+; \w+ \+= blockDim.x\)", text)
    assert not re.search(r"\b(do|while)\b", text)


def test_a_loop_that_halves_its_index() -> None:
    text = decompiled(HALVED).cuda
    assert re.search(r"for \(int (\w+) = \w+ / 2; \1 > 0; \1 /= 2\)", text)
    assert not re.search(r"\b(do|while)\b", text)


MOVING = """
extern "C" __global__ void gathered(int *out, const int *in) {
    __shared__ int kept[128];
    int i = threadIdx.x;
    kept[i] = in[blockIdx.x * 128 + i];
    __syncthreads();
    if (i == 0) {
        for (int k = 1; k < 128; k++) kept[0] += kept[k];
        out[blockIdx.x] = kept[0];
    }
}"""


def test_an_address_of_shared_memory_that_moves() -> None:
    """It is an index of the array, not a number that is made a pointer."""
    text = decompiled(MOVING).cuda
    assert "cvta" not in text and "char" not in text
    assert re.search(r"kept\[\w+ \+ 1\]", text)


READ_ONLY = """
extern "C" __global__ void product(const float *__restrict__ rows, const float *__restrict__ with,
                                   float *__restrict__ out, int count, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        float total = 0.0f;
        for (int k = 0; k < length; k++) total += rows[i * length + k] * with[k * count];
        out[i] = total;
    }
}"""


def test_a_loop_over_memory_that_is_only_read() -> None:
    text = decompiled(READ_ONLY).cuda
    assert len(re.findall(r"\bfor \(", text)) == 1
    assert not re.search(r"\b(do|while)\b", text)


TILE = """
extern "C" __global__ void tile_sums(const float *x, double *sums, int n) {
    unsigned long long start = (unsigned long long)blockIdx.x * 1024;
    double sum = 0;
    for (int j = threadIdx.x; j < 1024; j += 256)
        if (start + j < n) sum += x[start + j];
    sums[threadIdx.x] = sum;
}
"""


def test_a_loop_that_is_counted_up_to_0_behind_its_rest_is_one_loop() -> None:
    text = lifted_text(ptxkit.compile_cuda(TILE, arch="sm_90"), Options(roll=True))
    assert re.search(r"(\w+) < 1024; \1 \+= 256\)", text)
    assert "do {" not in text


BYTES = """
__global__ void spaces(const char *text, int *found, int n) {
    int many = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        if (text[i] == 32) many++;
    atomicAdd(found, many);
}
"""


def test_a_loop_over_bytes_goes_on_by_its_step() -> None:
    made = decompiled(BYTES)
    assert re.search(r"for \(int (\w+) = [^;]*; \1 < n; \1 \+= 32\)", made.cuda), made.cuda
    assert made.verdict.same_ptx
