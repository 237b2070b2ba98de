"""Arrays of structures: fields by their types, and only where there are structures."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.values import const, raw
from ptxkit.decompiler.verify import verify

BODIES = """struct Body { float x, y; int alive; double mass; };
__global__ void fall(Body *b, const Body *old, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && old[i].alive) {
        b[i].y = old[i].y - 0.5f;
        b[i].alive += 1;
        b[i + 1].mass = old[i].mass * 2.0;
        atomicAdd(&b[0].x, old[i].x);
    }
}"""
ROWS = """__global__ void swap(%s *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { auto t = x[i %s; x[i %s = x[i %s; x[i %s = t; }
}"""


def compiled(source: str) -> ptxkit.Module:
    return ptxkit.compile_cuda(source, arch="sm_90")


def test_parameters_of_one_class_point_to_one_structure() -> None:
    module = compiled(BODIES)
    text = lifted_text(module)
    assert text.count("struct Body {") == 1
    for field in ("float field_0;", "float field_4;", "int field_8;", "double field_16;"):
        assert field in text
    assert "Body *" in text and "const Body *" in text
    assert "atomicAdd(&" in text and "as_int" not in text and "(double *)" not in text
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.equivalent and found.verdict.level in ("E1", "E2")


def test_numbers_in_rows_stay_numbers() -> None:
    plain = lifted_text(compiled(ROWS % ("float", "* 2]", "* 2]", "* 2 + 1]", "* 2 + 1]")))
    assert "struct" not in plain and "float *" in plain


def test_numbers_of_several_types_are_a_structure_without_a_name() -> None:
    source = BODIES.replace("__global__", 'extern "C" __global__')
    text = lifted_text(compiled(source))
    assert "struct Struct0 {" in text and "field_16" in text


def test_parts_of_vectors_have_their_names() -> None:
    module = compiled(ROWS % ("float4", "].x", "].x", "].w", "].w"))
    text = lifted_text(module)
    assert "float4 *" in text and "].x" in text and "].w" in text and "struct" not in text
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent


def test_a_vector_as_a_parameter() -> None:
    source = """struct Scale { float by; int from; };
__global__ void k(float *x, float3 a, Scale s) {
    x[threadIdx.x + s.from] = (a.x + a.z) * s.by; }"""
    module = compiled(source)
    text = lifted_text(module)
    assert "float3 a1" in text and "a1.x + a1.z" in text
    assert "struct Scale {" in text and "Struct0" not in text
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent


def test_an_address_that_is_more_than_accessed_is_no_structure() -> None:
    source = """struct Body { float x; int n; };
__global__ void k(Body *b, long long *out) {
    b[threadIdx.x].x = b[threadIdx.x].n; out[0] = (long long)b; }"""
    module = compiled(source)
    assert "field_" not in lifted_text(module)
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.compiles


def test_half_pairs_are_taken_apart_by_name() -> None:
    source = """#include <cuda_fp16.h>
__global__ void k(__half2 *x, __half a, float *y) {
    int i = threadIdx.x;
    __half2 v = __hmul2(x[i], __half2half2(a));
    float2 f = __half22float2(v);
    y[i] = f.x + f.y * 2.0f;
    x[i] = __hadd2(v, __halves2half2(__low2half(v), a));
}"""
    found = ptxkit.decompile(compiled(source), "symbolic", effort=0)
    assert found.verdict.same_ptx
    for name in ("__low2float", "__high2float", "__half2half2", "__halves2half2"):
        assert name in found.cuda
    assert "as_uint" not in found.cuda and "struct" not in found.cuda


@pytest.mark.parametrize("op", ["xor", "and", "or"])
@pytest.mark.parametrize("up,number", [(2, 12), (3, 4), (2, 6), (5, 0x80000020), (31, 1 << 31)])
def test_bits_with_a_factor_are_the_factor_times_bits(op: str, up: int, number: int) -> None:
    """Against plain integers; a number that is not a multiple stays what it is."""
    x = raw("opaque", 32, ())
    value = raw(op, 32, (raw("shl", 32, (x, const(up, 32))), const(number, 32)))
    total = sum_of(value)
    compute = {"xor": int.__xor__, "and": int.__and__, "or": int.__or__}[op]

    def evaluate(one: ptxkit.decompiler.lift.values.Value, given: int) -> int:
        if one is x:
            return given
        if one.op == "const":
            return int(one.data)
        arguments = [evaluate(a, given) for a in one.args]
        if one.op in ("zext", "trunc"):
            return arguments[0]
        by = {"shl": lambda a, b: a << b, "shr.u": lambda a, b: a >> b, "xor": int.__xor__,
              "and": int.__and__, "or": int.__or__, "add": int.__add__}  # fmt: skip
        return int(by[one.op](*arguments)) & 0xFFFFFFFF

    for given in (0, 1, 2, 3, 5, 0x40000001, 0xFFFFFFFF, 0x12345678):
        wanted = compute(given << up & 0xFFFFFFFF, number)
        made = sum(evaluate(t, given) * k for t, k in total.terms.items()) + total.constant
        assert made & 0xFFFFFFFF == wanted
    moved = min(up, (number & -number).bit_length() - 1)
    assert all(k % (1 << moved) == 0 for k in total.terms.values())


FORCES = """struct Particle { float x, y, z, mass; float vx, vy, vz; int id; };
__global__ void forces(const Particle *p, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = p[i].x, sum = 0.0f;
    for (int j = 0; j < n; j++) sum += (p[j].x - x) * p[j].mass + p[j].z;
    out[i] = sum;
}"""
TREE = """struct Node { float4 box; int2 children; unsigned char leaf; };
__global__ void leaves(const Node *nodes, const int *roots, int *out, int n, float x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int at = roots[i], steps = 0;
    while (!nodes[at].leaf && steps < 64) {
        at = nodes[at].children.x + (nodes[at].box.x < x ? 1 : nodes[at].children.y);
        steps++;
    }
    out[i] = at;
}"""


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_pointers_that_move_point_to_structures(arch: str) -> None:
    """A compiler moves a pointer from the middle of a structure on to the next one."""
    module = ptxkit.compile_cuda(FORCES, arch=arch)
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.equivalent, found.verdict.reasons
    assert "struct Particle {" in found.cuda and "const Particle *" in found.cuda
    assert ".field_12" in found.cuda and "* 8" not in found.cuda


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_pointers_that_are_kept_point_to_structures(arch: str) -> None:
    module = ptxkit.compile_cuda(TREE, arch=arch)
    text = lifted_text(module)
    assert "const Node *" in text and "char *" not in text
    assert ptxkit.decompile(module, "symbolic", effort=0).verdict.equivalent


def test_a_pointer_that_is_handed_on_points_to_no_structure() -> None:
    source = FORCES.replace("out[i] = sum;", "out[i] = sum; ((const void **)out)[n] = p + i;")
    text = lifted_text(compiled(source))
    assert "struct Particle" not in text


WALK = """struct Item { int weight; float price; short kind; };
__global__ void total(const Item *first, const Item *last, float *out) {
    float s = 0;
    for (const Item *p = first + threadIdx.x; p < last; p += blockDim.x)
        if (p->kind == 3) s += p->price * p->weight;
    out[threadIdx.x] = s;
}"""
NEAREST = """struct Vec3 { float x, y, z; };
struct Sphere { Vec3 c; float r; int mat; };
__global__ void nearest(const Sphere *s, int ns, const Vec3 *p, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int who = -1; float best = 1e30f;
    for (int k = 0; k < ns; k++) {
        float dx = p[i].x - s[k].c.x, dy = p[i].y - s[k].c.y, dz = p[i].z - s[k].c.z;
        float d = sqrtf(dx * dx + dy * dy + dz * dz) - s[k].r;
        if (d < best) { best = d; who = s[k].mat; }
    }
    out[i] = who;
}"""


@pytest.mark.parametrize("linkage", ["", 'extern "C" '])
def test_pointers_that_are_compared_point_to_the_same_structures(linkage: str) -> None:
    module = compiled(WALK.replace("__global__", f"{linkage}__global__"))
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.same_ptx
    name = "Struct0" if linkage else "Item"
    assert f"total(const {name} *a, const {name} *b, float *" in found.cuda
    assert "as_float" not in found.cuda and "* 3" not in found.cuda


def test_what_is_compared_with_numbers_is_none_of_structures() -> None:
    """One of the two goes on by less than a structure: neither points to any."""
    source = WALK.replace("p < last", "p < last && (const int *)p != (const int *)last - 1")
    text = lifted_text(compiled(source))
    assert "struct Item" not in text


def test_a_pointer_in_the_middle_of_a_structure_has_names_for_places_in_it() -> None:
    """And what a compiler loads before the first turn, if there is one, is loaded in the loop."""
    found = ptxkit.decompile(compiled(NEAREST), "symbolic", effort=0)
    assert found.verdict.same_ptx
    assert "const Sphere *" in found.cuda and "int field_16;" in found.cuda
    assert "as_float" not in found.cuda and found.cuda.count("for (") == 1


def test_one_place_is_no_row_of_structures() -> None:
    """However many turns a loop beside it does at once."""
    source = """extern "C" __global__ void k(int *flag, const int *x, int n) {
    int s = 0;
    for (int i = threadIdx.x; i < n; i += 4) s += x[i];
    flag[0] = s; }"""
    assert "struct" not in lifted_text(compiled(source))


INSIDE = """.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z4moveP4Bodyi(.param .u64 p, .param .u32 n) {
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .f64 %f<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %tid.x;
    mul.wide.s32 %rd3, %r2, 56;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd4, 16;
    ld.global.f64 %f1, [%rd5];
    mov.u32 %r3, 0;
LOOP:
    ld.global.f64 %f3, [%rd2+40];
    fma.rn.f64 %f1, %f3, %f3, %f1;
    add.s64 %rd2, %rd2, 56;
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p1, %r3, %r1;
    @%p1 bra LOOP;
    st.global.f64 [%rd5+-16], %f1;
    st.global.f64 [%rd5+8], %f3;
    ret;
}"""


def test_a_pointer_into_a_structure_begins_where_that_does() -> None:
    """Structures are as far apart as threads' places are, whatever lies before a pointer."""
    module = ptxkit.parse(INSIDE)
    text = lifted_text(module)
    assert "[-1]" not in text and "* 7" not in text
    assert "->field_24 =" in text and "unsigned char gap_48[8];" in text
    kept = lifted_text(module, Options(keep_loops=True))
    assert verify(module, kept).same_dataflow
