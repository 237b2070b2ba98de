"""Half numbers, alone and in pairs, as parameters and behind pointers."""

from __future__ import annotations

import ptxkit
from ptxkit.cuda.types import BFLOAT16, HALF, SCALARS, VECTORS, Pointer, Struct
from ptxkit.decompiler.lift.lifter import Options, lift_module

SOURCE = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(__half2 *x, __half a, __half *y, __nv_bfloat16 b, __nv_bfloat16 *z) {
    int i = threadIdx.x;
    x[i] = __hmul2(x[i], x[i + 32]);
    y[i] = __hfma(y[i], a, y[i + 32]);
    z[i] = __hmul(z[i], b);
}"""
#: One that somebody takes the address of.
STRUCTURE = """#include <cuda_fp16.h>
struct S { __half h[9]; };
extern "C" __global__ void k(S s, __half *y) { y[threadIdx.x] = s.h[threadIdx.x]; }"""


def test_halves_are_halves() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    tree = lift_module(module, Options())
    (kernel,) = tree.kernels
    half2 = Pointer(VECTORS["half2"])
    wanted = (half2, HALF, Pointer(HALF), BFLOAT16, Pointer(BFLOAT16))
    assert tuple(p.type for p in kernel.parameters) == wanted
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.equivalent
    assert "struct" not in found.cuda and "_as_half2" not in found.cuda


def test_a_structure_stays_one() -> None:
    module = ptxkit.compile_cuda(STRUCTURE, arch="sm_90")
    (kernel,) = lift_module(module, Options()).kernels
    assert isinstance(kernel.parameters[0].type, Struct)
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent


def test_halves_that_are_only_copied_have_their_header() -> None:
    source = (
        "#include <%s>\n__global__ void k(const %s *a, %s *b) { b[threadIdx.x] = a[threadIdx.x]; }"
    )
    for header, type in (
        ("cuda_fp16.h", "__half"),
        ("cuda_fp16.h", "__half2"),
        ("cuda_bf16.h", "__nv_bfloat16"),
        ("cuda_bf16.h", "__nv_bfloat162"),
    ):
        module = ptxkit.compile_cuda(source % (header, type, type), arch="sm_90")
        found = ptxkit.decompile(module, "symbolic", effort=0)
        assert found.verdict.same_ptx and header in found.cuda and f"{type} *" in found.cuda


def test_what_is_only_passed_on_is_what_the_function_takes() -> None:
    source = """__noinline__ __device__ float poly(float t, int n) { return (t + n) * t; }
    extern "C" __global__ void k(float a, int n, float *y) { y[threadIdx.x] = poly(a, n); }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    float_, int_ = SCALARS["float"], SCALARS["int"]
    # Some compilers write the type of a parameter, others its bits.
    bits = module.emit().replace("param .f32", "param .b32").replace("param .u32", "param .b32")
    for text in (module.emit(), bits):
        (kernel,) = lift_module(ptxkit.parse(text), Options()).kernels
        assert [p.type for p in kernel.parameters] == [float_, int_, Pointer(float_)]
