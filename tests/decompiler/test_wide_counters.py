"""Numbers of 64 bits, rows with borders and steps with a sign: public code is full of them."""

from __future__ import annotations

import pytest

import ptxkit

#: Kernels, what they are compiled for, and what their text must say.
KERNELS = {
    "a counter of 64 bits": (
        """__global__ void rows(const float *a, const float *x, float *y, size_t n, size_t m) {
            size_t r = blockIdx.x * blockDim.x + threadIdx.x;
            if (r >= n) return;
            float s = 0.0f;
            for (size_t k = 0; k < m; k++) s += a[r * m + k] * x[k];
            y[r] = s;
        }""",
        "sm_90",
        "for (unsigned long long k = 0; k < ",
    ),
    "a counter of 32 bits up to a number of 64": (
        """__global__ void columns(const float *a, const float *x, float *y, size_t n, size_t m) {
            int c = blockIdx.x * blockDim.x + threadIdx.x;
            if (c >= m) return;
            float s = 0.0f;
            for (int k = 0; k < n; k++) s += x[k] * a[k * m + c];
            y[c] = s;
        }""",
        "sm_90",
        "for (int k = 0; k < ",
    ),
    "what is counted down by a number": (
        """__global__ void marked(int *flags, const unsigned *at, size_t rows, size_t width) {
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= rows * width) return;
            for (size_t r = 0; r < rows; r++) {
                if (i == r * width + at[r]) flags[i] = 1;
            }
        }""",
        "sm_90",
        "k * n3 + p1[k] == i",
    ),
    "rows with a border": (
        """__global__ void blurred(float *out, const float *in, int w, int h, float a) {
            int x = blockIdx.x * blockDim.x + threadIdx.x;
            int y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x < 1 || y < 1 || x > w || y > h) return;
            int here = y * (w + 2) + x;
            int below = (y + 1) * (w + 2) + x;
            int above = (y - 1) * (w + 2) + x;
            out[here] = in[here] + a * (in[below] - 4.0f * in[here] + in[above]);
        }""",
        "sm_75",
        "- 1) * n",
    ),
    "a step with a sign": (
        """__device__ int threads() { return gridDim.x * blockDim.x; }
        __global__ void largest(const float *x, float *y, int n) {
            int first = blockIdx.x * blockDim.x + threadIdx.x;
            float best = 0.0f;
            for (int i = first; i < n; i += threads()) best += x[i] * x[i];
            y[first] = best;
        }""",
        "sm_120",
        "for (",
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_same_ptx(name: str) -> None:
    source, arch, text = KERNELS[name]
    made = ptxkit.decompile(ptxkit.compile_cuda(source, arch=arch), "symbolic", names="plain")
    assert made.verdict.level == "E1", made.cuda
    assert text in made.cuda


def test_the_number_of_a_thread_has_a_name() -> None:
    source = """__global__ void k(float *x, const float *y, size_t n, size_t m) {
        size_t i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n && i >= m) x[i] = y[i - m];
    }"""
    made = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), verify=False)
    assert made.cuda.count("blockIdx.x * blockDim.x") == 1
