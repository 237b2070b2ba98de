"""Parameters that only instructions without a name in C++ take for addresses."""

from __future__ import annotations

import re

import pytest

import ptxkit
from ptxkit.cuda.types import Pointer
from ptxkit.decompiler.lift.lifter import Options, lift_module

#: What is done with ``p``, ``at`` being an address of shared memory and ``i`` an index.
BODIES = {
    "cp.async": 'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(p + i));'
    'asm volatile("cp.async.wait_all;" ::: "memory");',
    "cp.async.bulk": 'asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;"'
    ' :: "l"(p + 4 * i), "r"(at) : "memory");',
    "prefetch": 'asm volatile("prefetch.global.L2 [%0];" :: "l"(p + i));',
    "red": 'asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(p + i), "r"(at));',
    "atom": 'asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(r) : "l"(p + i));',
    "ld": 'asm volatile("ld.relaxed.gpu.global.L1::no_allocate.u32 %0, [%1];" : "=r"(r) : '
    '"l"(p + i));',
}
SOURCE = """extern "C" __global__ void k(unsigned *p, unsigned *out, long long count) {
    __shared__ __align__(16) unsigned tile[64];
    unsigned at = (unsigned)__cvta_generic_to_shared(tile), i = threadIdx.x, r = 0;
    tile[i] = (unsigned)count;
    BODY
    out[i] = tile[i] + r;
}"""


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("name", BODIES)
def test_it_is_a_pointer(name: str, declared: bool) -> None:
    module = ptxkit.compile_cuda(SOURCE.replace("BODY", BODIES[name]), arch="sm_90")
    if not declared:  # as compilers wrote it that did not say what is a pointer
        module = ptxkit.parse(re.sub(r"\.ptr( \.align \d+)?", "", module.emit()))
    (kernel,) = lift_module(module, Options()).kernels
    types = [parameter.type for parameter in kernel.parameters]
    assert [isinstance(type, Pointer) for type in types] == [True, True, False]
    assert ptxkit.decompile(module, "symbolic").verdict.equivalent


VOLATILE = """extern "C" __global__ void k(volatile int *flags, int *x, int n) {
    int i = threadIdx.x;
    if (i < n) flags[i] = x[i] + flags[i + n];
    MORE
}"""


def test_volatile_is_said_once() -> None:
    for more, said in (("", True), ("*(int *)flags = 3;", False)):
        module = ptxkit.compile_cuda(VOLATILE.replace("MORE", more), arch="sm_90")
        (kernel,) = lift_module(module, Options()).kernels
        first, second, _ = (parameter.type for parameter in kernel.parameters)
        assert isinstance(first, Pointer) and first.volatile is said
        assert isinstance(second, Pointer) and not second.volatile
        found = ptxkit.decompile(module, "symbolic")
        assert found.verdict.equivalent
        assert ("(volatile int *)" in found.cuda) is not said


def test_an_index_of_64_bits_is_no_pointer() -> None:
    source = """extern "C" __global__ void k(float *p, long long at) {
        asm volatile("prefetch.global.L2 [%0];" :: "l"(p + at));
    }"""
    (kernel,) = lift_module(ptxkit.compile_cuda(source, arch="sm_90"), Options()).kernels
    types = [parameter.type for parameter in kernel.parameters]
    assert [isinstance(type, Pointer) for type in types] == [True, False]


def test_a_pointer_behind_a_pointer_is_one_every_time() -> None:
    """What is loaded is known to be an address after that which it is loaded from."""
    module = ptxkit.compile_cuda(
        """
        struct View { float *data; int dimensions; long long strides[4]; };
        extern "C" __global__ void k(const View *view, long long out, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x, rest = i;
            if (i >= n) return;
            long long place = 0;
            for (int d = 0; d < view->dimensions; ++d, rest /= 4)
                place += rest % 4 * view->strides[d];
            ((float *)out)[i] = *(const float *)((const char *)view->data + place);
        }""",
        arch="sm_90",
    )
    types = [lift_module(module, Options()).kernels[0].parameters[0].type for _ in range(12)]
    assert types == [types[0]] * 12
    assert isinstance(types[0], Pointer) and isinstance(types[0].target, Pointer)


@pytest.mark.parametrize("kind", ["int", "unsigned int"])
def test_a_pointer_goes_back_by_a_number_of_32_bits(kind: str) -> None:
    """`-m` is another number in 32 bits than in 64 where it has no sign."""
    source = f"""extern "C" __global__ void k(unsigned char *a, unsigned n, {kind} m, unsigned x) {{
        unsigned char *p = a + ((unsigned long long)n * m + x);
        #pragma unroll 1
        do {{ *p = p[-3] + n; p -= m; n--; }} while (n != 0);
    }}"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    found = ptxkit.decompile(module, engine="symbolic")
    assert found.verdict.level == "E1"
    assert "ptr -= " in found.cuda
