"""Kernels of which one line was written otherwise than the lifter guesses."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.cuda import print_function
from ptxkit.cuda.nodes import Function
from ptxkit.decompiler.lift.lifter import Options, lift_module
from ptxkit.decompiler.refine.edits import edits
from ptxkit.decompiler.refine.places import applied
from ptxkit.decompiler.variants import best_form

SOURCES = {
    "the size of the grid read at the top": """
        __global__ void last_block(const float *x, unsigned *tickets, volatile float *sums, int n) {
            __shared__ int last[1];
            __shared__ float sum[1];
            unsigned blocks = gridDim.x, t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
            if (t == 0) sum[0] = 0.0f;
            __syncthreads();
            if (i < n) atomicAdd(&sum[0], x[i]);
            __syncthreads();
            if (t == 0) {
                sums[blockIdx.x] = sum[0];
                last[0] = atomicAdd(tickets, 1) == blocks - 1;
            }
            __syncthreads();
            if (last[0]) {
                if (t == 0) sum[0] = 0.0f;
                __syncthreads();
                for (int k = t; k < blocks; k += blockDim.x) atomicAdd(&sum[0], sums[k]);
                __syncthreads();
                if (t == 0) sums[0] = sum[0];
            }
        }""",
    "numbers below a multiple": """
        __global__ void field(const float *cells, float *out, int w, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) out[i] = cells[i * 12 + 3] - cells[(i - w) * 12 + 3] * cells[i * 12 + 7];
        }""",
    "a sum that is kept in memory": """
        __global__ void total(const double *x, double *out, int n) {
            __shared__ double s[256];
            int t = threadIdx.x;
            int lane = t & 31;
            double own = 0;
            for (int k = t; k < n; k += 256) own += x[k];
            s[t] = own;
            for (int d = 16; d > 0; d /= 2) {
                if (lane < d) s[t] += s[t + d];
            }
            if (!lane) out[t / 32] = x[n] - s[t];
        }""",
    "vectors that are added part by part": """
        __device__ void operator+=(float4 &a, const float4 &b) {
            a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w;
        }
        __global__ void moved(float4 *at, int n) {
            int t = threadIdx.x;
            if (t < n) {
                at[t] += at[t + n];
                if (t == n - 1) at[t] += at[2 * n];
            }
        }""",
    "a product that is negated where something holds": """
        __global__ void bend(const float *x, const float *y, float *angle, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            float turn = sqrtf(x[i]) * 4.5f;
            float side = x[i + n] * y[i + n] - x[i] * y[i];
            if (side < 0.0f) turn = -turn;
            angle[i] = turn > 9.0f ? 9.0f : turn;
        }""",
    "bits of a number that are swapped": """
        __global__ void largest(float *best, const float *x, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) {
                float v = x[i];
                int old = __float_as_int(*best);
                while (v > __int_as_float(old)) {
                    int seen = old;
                    old = atomicCAS((int *)best, seen, __float_as_int(v));
                    if (old == seen) break;
                }
            }
        }""",
    "limits computed before they are asked for": """
        __global__ void clamped(const float *in, float *out, int w, int border) {
            int x = blockIdx.x * 16 - border, last = x + 15;
            int from = x < 0 ? -x : 0, to = last > w - 1 ? 15 - (last - w + 1) : 15;
            int t = threadIdx.x;
            if (t >= from && t <= to) out[t] = in[x + t];
        }""",
    "a row of pitched memory": """
        __global__ void push(float2 *v, int dx, int dy, float f, int r, size_t pitch) {
            int x = threadIdx.x, y = threadIdx.y;
            float2 *row = (float2 *)((char *)v + (y + dy) * pitch) + x + dx;
            float2 old = *row;
            x -= r;
            y -= r;
            float s = 1.0f / (1.0f + x * x + y * y);
            *row = make_float2(old.x + s * f, old.y - s * f);
        }""",
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_ptx_is_found(name: str) -> None:
    module = ptxkit.compile_cuda(SOURCES[name], arch="sm_90")
    assert best_form(module, module.kernels[0].name, "sm_90", effort=9_000)[1].level == "E1"


def test_the_place_of_what_is_only_loaded_has_a_name() -> None:
    kernel = ptxkit.cuda.read("""(kernel k (params (param (ptr float) x) (param int i))
        (let float v ([] x (* i 4)))
        (= ([] x (+ (* i 4) 1)) v))""")
    assert isinstance(kernel, Function)
    made = [applied(kernel, edit) for edit in edits(kernel, {("body", 0)})]
    texts = [print_function(one) for one in made if one is not None]
    assert any("float *ptr = x + i * 4;" in text and "v = *ptr;" in text for text in texts)


def test_a_sum_with_a_product_keeps_their_order() -> None:
    kernel = ptxkit.cuda.read("""(kernel k (params (param (ptr double) x) (param double a))
        (= ([] x 0) (+ (* a ([] x 1)) ([] x 2))))""")
    assert isinstance(kernel, Function)
    made = [applied(kernel, edit) for edit in edits(kernel) if edit.kind == "fused"]
    texts = [print_function(one) for one in made if one is not None]
    assert len(texts) == 1 and "fma(a, x[1], x[2])" in texts[0], texts


def test_what_is_below_a_multiple_is_added() -> None:
    source = "__global__ void k(int *x, int i) { x[0] = (i - 1) * 12 | 3; x[1] = i << 16 | 3; }"
    text = ptxkit.cuda.print_module(lift_module(ptxkit.compile_cuda(source, arch="sm_90")))
    assert "n1 * 12 - 9" in text, text
    assert "<< 16) | 3" in text, text


def test_what_held_a_variable_before_is_one_itself() -> None:
    source = """
    __global__ void sums(float *y) {
        extern __shared__ float s[];
        size_t t = threadIdx.x, n = blockDim.x;
        s[t] = y[t];
        __syncthreads();
        for (size_t i = n / 2, old = n; i > 0; old = i, i /= 2) {
            if (t < i) {
                s[t] += s[t + i];
                if (t == i - 1 && old % 2 != 0) s[t] += s[old - 1];
            }
            __syncthreads();
        }
        y[t] = s[0];
    }"""
    text = ptxkit.cuda.print_module(lift_module(ptxkit.compile_cuda(source, arch="sm_90")))
    assert "s[w2 - 1] + f" in text and "__cvta" not in text, text


def test_signs_become_questions() -> None:
    source = """__global__ void k(int *x, int i, int j) {
        x[0] = i < 0 ? -i : 0;
        x[1] = j > i + 15 ? i : j - (i + 15) + 14;
    }"""
    text = ptxkit.cuda.print_module(
        lift_module(ptxkit.compile_cuda(source, arch="sm_90"), Options(order="line"))
    )
    assert "n1 < 0 ? " in text, text
    assert ">> 31" not in text and "-15" not in text, text


def test_single_variables_in_memory_are_no_arrays() -> None:
    source = SOURCES["the size of the grid read at the top"]
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx
    assert "__shared__ float sum;" in found.cuda and "atomicAdd(&sum, " in found.cuda, found.cuda
