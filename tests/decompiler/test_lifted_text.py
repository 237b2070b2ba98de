"""What lifted code looks like: idioms undone, arrays, types, loops, functions of CUDA."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.verify import same_ptx


def body(source: str, arch: str = "sm_90", **options: bool) -> str:
    """The lifted text of a kernel ``k`` without its first and last line, spaces made single."""
    text = lifted_text(ptxkit.compile_cuda(source, arch=arch), Options(**options))
    return " ".join(text[text.index("{") + 1 : text.rindex("}")].split())


@pytest.mark.parametrize("divisor", [2, 3, 5, 7, 10, 16, 60, 641, 1000, 1 << 20])
@pytest.mark.parametrize("type", ["int", "unsigned"])
def test_division_by_a_constant(type: str, divisor: int) -> None:
    source = f"""extern "C" __global__ void k(const {type} *x, {type} *y) {{
        int i = threadIdx.x; y[i] = x[i] / {divisor}; }}"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    shift = divisor & (divisor - 1) == 0 and type == "unsigned"
    assert ("/ " in text or ("unsigned" in text and shift)) and "hi(" not in text
    again = compiled_again(text, "sm_90")
    edges = [0, 1, -1, 2**31 - 1, -(2**31), divisor, divisor - 1, -divisor, divisor + 1]
    numbers = np.random.default_rng(divisor).integers(-(2**31), 2**31, 55)
    x = np.concatenate([edges, numbers]).astype(np.int64).astype(np.uint32).view(np.int32)
    x = x.view(np.uint32) if type == "unsigned" else x
    results = []
    for one in (module, again):
        y = np.zeros_like(x)
        ptxkit.load(one, device="cpu")["k"][1, 64](x, y)
        results.append(y)
    np.testing.assert_array_equal(*results)
    wide = x.astype(np.int64)
    np.testing.assert_array_equal(results[0], (np.sign(wide) * (abs(wide) // divisor)))


def test_unrolled_loop_is_rolled_up() -> None:
    source = """extern "C" __global__ void k(const float *a, const float *b, float *c, int n) {
        float s = 0; int i = threadIdx.x;
        for (int j = 0; j < n; ++j) s += a[i * n + j] * b[j];
        c[i] = s; }"""
    loop = re.search(
        r"for \(int (\w) = 0; \1 < n3; \1\+\+\) sum \+= (.*?);", body(source, roll=True)
    )
    assert loop is not None
    assert loop[2] == f"p0[tid * n3 + {loop[1]}] * p1[{loop[1]}]"
    assert "do {" in body(source)


def test_functions_of_cuda() -> None:
    source = """extern "C" __global__ void k(int *x, float *y) {
        __shared__ int s[64]; int i = threadIdx.x;
        s[i] = __shfl_xor_sync(~0u, x[i], 4); __syncthreads();
        atomicAdd(&x[s[63 - i] & 7], 1);
        y[i] = fmaxf(sqrtf(y[i]), (float)__popc(x[i])) + __ldg(&y[i]); }"""
    text = body(source)
    for part in ("s[64]", "__shfl_xor_sync(", "__syncthreads()", "atomicAdd(",
                 "fmaxf(", "sqrtf(", "__popc("):  # fmt: skip
        assert part in text
    assert "asm" not in text


def test_a_loop_that_waits_for_an_instruction_compiles() -> None:
    source = """extern "C" __global__ void k(int *x) {
        __shared__ unsigned long long bar;
        unsigned at = (unsigned)__cvta_generic_to_shared(&bar), done;
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at) : "memory");
        do {
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 1;"
                         " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
        } while (!done);
        x[threadIdx.x] = 1;
    }"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"))
    assert "try_wait" in text
    compiled_again(text, "sm_90")


def test_sums_of_products_are_not_contracted() -> None:
    source = """extern "C" __global__ void k(const float *x, float *y) { int i = threadIdx.x;
        y[i] = __fmul_rn(x[i], x[i + 1]) + x[i + 2]; y[i + 64] = x[i] * x[i + 1] + x[i + 2]; }"""
    text = body(source)
    assert "__fmul_rn(" in text
    module = ptxkit.compile_cuda(source, arch="sm_90")
    again = compiled_again(lifted_text(module), "sm_90")
    x = np.random.default_rng(1).standard_normal(70).astype(np.float32)
    results = []
    for one in (module, again):
        y = np.zeros(128, np.float32)
        ptxkit.load(one, device="cpu")["k"][1, 64](x, y)
        results.append(y)
    assert results[0].tobytes() == results[1].tobytes()
    assert (results[0][:64] != results[0][64:]).any()


def test_an_instruction_without_a_name_is_one_asm() -> None:
    source = """extern "C" __global__ void k(unsigned *x) { unsigned r;
        asm("bfe.u32 %0, %1, 3, 5;" : "=r"(r) : "r"(x[0])); x[threadIdx.x] = r + 1; }"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"))
    assert text.count("asm") == 1
    assert "bfe_u32_3_5(" in text


def test_guarded_instructions_and_undefined_ways() -> None:
    source = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;
    setp.lt.s32 %p1, %r2, %r1;
    @%p1 mov.u32 %r3, 7;
    @!%p1 add.s32 %r3, %r2, 1;
    mul.wide.u32 %rd2, %r2, 4; add.s64 %rd1, %rd1, %rd2;
    @%p1 st.global.u32 [%rd1], %r3;
    ret;
}"""
    module = ptxkit.parse(source)
    again = compiled_again(lifted_text(module), "sm_80")
    results = []
    for one in (module, again):
        x = np.full(64, 3, np.int32)
        ptxkit.load(one, device="cpu")["k"][1, 64](x, 40)
        results.append(x)
    np.testing.assert_array_equal(*results)
    assert results[0].tolist() == [7] * 40 + [3] * 24


def test_equality_of_narrow_numbers_of_different_signs() -> None:
    source = """extern "C" __global__ void k(const short *a, short *b, short *o) {
        int t = threadIdx.x;
        o[t] = (short)(a[t] != b[t] ? b[t] % 4 : 3 + b[t]); }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    again = compiled_again(lifted_text(module), "sm_90")
    results = []
    for one in (module, again):
        numbers = np.array([-4, -3, 5, -32768], np.int16)
        o = np.zeros(4, np.int16)
        ptxkit.load(one, device="cpu")["k"][1, 4](numbers, numbers.copy(), o)
        results.append(o)
    np.testing.assert_array_equal(*results)
    np.testing.assert_array_equal(results[0], np.array([-1, 0, 8, -32765], np.int16))


@pytest.mark.parametrize(("selector", "named"), [("0x5410", True), ("0x9180", False)])
def test_bytes_and_signs_are_picked(selector: str, named: bool) -> None:
    """``__byte_perm`` knows no signs; the instruction does."""
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    prmt.b32 %r2, %r1, 0, {selector};
    st.global.u32 [%rd1], %r2;
    ret;
}}
"""
    found = ptxkit.decompile(text, engine="symbolic")
    assert ("__byte_perm(" in found.cuda) is named
    assert found.verdict.equivalent


def test_objects_of_textures_have_their_types() -> None:
    source = """__global__ void blur(cudaTextureObject_t in, cudaSurfaceObject_t out, float *sums) {
        float4 v = tex2D<float4>(in, threadIdx.x, 1.0f);
        surf2Dwrite(v.x + v.y, out, threadIdx.x * 4, 0);
        sums[threadIdx.x] = tex2D<float>(in, threadIdx.x, 2.0f) * 3.0f;
    }"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"))
    assert found.verdict.same_ptx
    assert "blur(cudaTextureObject_t tex, cudaSurfaceObject_t surf, float *" in found.cuda
    assert "tex2D<float>(tex, " in found.cuda and "tex2D<float4>(tex, " in found.cuda


def test_device_functions_have_their_names() -> None:
    source = """__device__ __noinline__ float twice(float x, int n) { return x * x + n; }
    __device__ __noinline__ int halved(int x) { return x / 2; }
    __device__ __noinline__ float halved(float x) { return x / 2 + 1; }
    __global__ void k(float *x, int n) {
        x[0] = twice(x[0], n) + halved(n) + halved(x[1]);
    }"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"))
    assert found.verdict.equivalent
    assert "__device__ float twice(float" in found.cuda and "_Z5twice" not in found.cuda
    assert "_Z6halvedi" in found.cuda  # two functions of a name keep what tells them apart
    assert "(float)twice" not in found.cuda


def test_a_number_that_64_bits_are_shifted_of_has_64_bits() -> None:
    source = """extern "C" __global__ void k(unsigned long long *x, unsigned n) {
        x[threadIdx.x] ^= 1ull << n; }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert "1ll << " in lifted_text(module)


@pytest.mark.parametrize(
    ("type", "value", "written"),
    [("float", "0.5f", "0.5f"), ("int", "1065353216", "1.0f"), ("int", "77", "77"),
     ("unsigned", "0x9E3779B9u", "1640531527"), ("double", "2.5", "2.5")],
)  # fmt: skip
def test_numbers_that_are_only_stored(type: str, value: str, written: str) -> None:
    """Nothing says what they are but their bits: those of 1.0f are hardly a whole number."""
    source = f'extern "C" __global__ void k({type} *x) {{ x[threadIdx.x] = {value}; }}'
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    assert written in text
    again = compiled_again(text, "sm_90")
    assert ptxkit.decompiler.verify.same_ptx(module, again, "k")


def test_sums_of_64_bits_are_added_to_numbers_without_a_sign() -> None:
    source = """__device__ unsigned long long counter;
        extern "C" __global__ void k(int n) { if (threadIdx.x < n) atomicAdd(&counter, 1ull); }"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90"))
    assert "__device__ unsigned long long counter;" in text
    assert "atomicAdd(&counter, 1ull)" in text


def test_a_negated_reciprocal_is_one_of_minus_one() -> None:
    """A sign in front of it is one that a compiler moves to the end of a product."""
    source = """extern "C" __global__ void k(double *x) {
        double a = x[0];
        x[1] = -1.0 / (a * a) * (x[1] + 3.0); }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert [one.name for one in module["k"].instructions].count("neg") == 1
    assert "-1.0 / (" in lifted_text(module)


def test_what_has_no_digits_has_a_name() -> None:
    source = """__constant__ float edges[3] = {1.0f, -1.0f / 0.0f, 0.0f / 0.0f};
    __constant__ double wide[3] = {1.0 / 0.0, -(0.0 / 0.0), 2.0};
    extern "C" __global__ void k(const float *x, float *y, double *z, int n) {
        float least = __int_as_float(0x7f800000);
        #pragma unroll 1
        for (int i = 0; i < n; i++) least = fminf(least, x[i]);
        double most = z[n] > 0 ? __longlong_as_double(0xfff0000000000000ll) : wide[n];
        if (n == 3) y[1] = __int_as_float(0x7fc00000);
        y[0] = least + edges[n];
        z[0] = most; }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module, Options(roll=True, keep_loops=True))
    for part in ("= INFINITY", "-INFINITY", "= NAN;", "{1.0f, -(1.0f / 0.0f), 0.0f / 0.0f}",
                 "#ifndef INFINITY", "#ifndef NAN"):  # fmt: skip
        assert part in text
    assert "0x7f" not in text.partition("__constant__")[2]
    assert same_ptx(module, compiled_again(text, "sm_90"), "k")
    assert "#define" not in lifted_text(ptxkit.compile_cuda(source.replace("0x7f800000", "1")
        .replace("0xfff0", "0x3ff0").replace("0x7fc0", "0x3fc0"), arch="sm_90"))  # fmt: skip
