"""What kernels of public collections do that those of the suite do not."""

from __future__ import annotations

import re

import pytest
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda.printer import print_function
from ptxkit.cuda.types import INT, LONG_LONG, UINT, UNSIGNED_LONG_LONG, VOID, Pointer
from ptxkit.decompiler.choose import Decompiled
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.lift.plain_sums import with_plain_sums
from ptxkit.decompiler.lift.volatile_pointers import with_volatile_variables
from ptxkit.decompiler.lift.wide_variables import with_wide_variables
from ptxkit.decompiler.refine.search import EFFORT
from ptxkit.decompiler.verify.dialect import Dialect
from ptxkit.decompiler.verify.execution import seen_to_differ
from ptxkit.syntax.scopes import Scopes

WIDTHS = """
extern "C" __global__ void segments(int *x, int width) {
    int v = x[threadIdx.x];
    v += __shfl_up_sync(0xffffffff, v, 1, width);
    v += __shfl_xor_sync(0xffffffff, v, 2, width);
    v += __shfl_down_sync(0xffffffff, v, 1, blockDim.x / 32);
    x[threadIdx.x] = v;
}
"""
GROUPS = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reversed(int *x) {
    __shared__ int tile[64];
    cg::thread_block block = cg::this_thread_block();
    tile[threadIdx.x & 63] = x[threadIdx.x];
    cg::sync(block);
    x[threadIdx.x] = tile[63 - (threadIdx.x & 63)];
}
"""
TABLES = """
extern "C" __global__ void scatter(const float *x, float *plain, float **table, int which, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float *out = table != nullptr ? table[which] : plain;
    if (i < n) out[i] = x[i];
}
"""
BRACES = """
extern "C" __global__ void cached(int *x) {
    int v;
    asm("ld.global.ca.u32 {%0}, [%1];" : "=r"(v) : "l"(x + threadIdx.x));
    x[threadIdx.x] = v + 1;
}
"""
PRINTS = """
__global__ void report(int *x, int n) {
    if (threadIdx.x < n) printf("block %d of %s: %5.1f%%\\n", blockIdx.x, "a \\"grid\\"", 2.5);
    else x[0] = 1;
    printf("done\\n");
}
"""
ASSERTS = """
__global__ void checked(int *x, int n) {
    if (x[threadIdx.x] > n) __assertfail("x <= n", "kernel.cu", 7, "checked", 1);
    x[threadIdx.x] = n;
}
"""
NAMES = """
__global__ void scaled(float *out, const float *in, unsigned long n, uint2 *pairs, int *unused) {
    unsigned long i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { out[i] = 2.0f * in[i]; pairs[i] = make_uint2(i, 1u); }
}
template <class T, int N> __global__ void stepped(T *out) { out[threadIdx.x * N] += T(1); }
template __global__ void stepped<float, 3>(float *);
"""
TEXTURES = """
extern "C" __global__ void layers(float *out, int layer, cudaTextureObject_t tex) {
    float u = threadIdx.x, v = threadIdx.y;
    out[threadIdx.y * blockDim.x + threadIdx.x] = tex2DLayered<float>(tex, u, v, layer)
        + tex1DLayered<float>(tex, u, layer) + texCubemap<float>(tex, u, v, 1.0f)
        + tex2DLod<float>(tex, u, v, 2.0f);
}
extern "C" __global__ void surface(const float *in, int width, cudaSurfaceObject_t image) {
    int x = threadIdx.x, y = blockIdx.x;
    surf2Dwrite(in[y * width + x] + surf2Dread<float>(image, x * 4, y), image, x * 4, y);
}
extern "C" __global__ void timed(long long *time) { time[threadIdx.x] = clock64(); }
"""
VOLATILE = """
__global__ void first(uint4 *x, float4 *unread, unsigned *out) {
    unsigned a, b, c, d;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(x + threadIdx.x));
    out[threadIdx.x] = a + b + c + d;
}
"""
SPLIT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n) {
    .reg .b16 %rs<3>;
    .reg .b32 %r<3>;
    .reg .f32 %f<2>;
    ld.param.u32 %r1, [n];
    OPCODE;
    ret;
}
"""


#: What is looked for in most tests is found without a long search for identical PTX.
SHORT = 8_000


def decompiled(source: str, effort: int = SHORT) -> Decompiled:
    found = ptxkit.decompile(ptxkit.compile_cuda(source), engine="symbolic", effort=effort)
    assert found.verdict.equivalent, found.verdict.reasons
    return found


def test_a_shuffle_of_a_width_that_is_computed() -> None:
    found = decompiled(WIDTHS)
    assert "asm" not in found.cuda
    assert "__shfl_down_sync(" in found.cuda
    assert re.search(r"blockDim.x (>> 5|/ 32)", found.cuda)


def test_a_barrier_of_cooperative_groups() -> None:
    found = decompiled(GROUPS)
    assert "__barrier_sync(0" in found.cuda
    assert "asm" not in found.cuda


def test_a_table_of_pointers_that_is_only_read() -> None:
    assert "float *const *" in decompiled(TABLES).cuda


def test_the_lowest_bit() -> None:
    found = decompiled("""
extern "C" __global__ void lowest(int *out, const int *in) {
    int bits = in[threadIdx.x];
    out[threadIdx.x] = __ffs(bits) + (bits >> (__ffs(bits) - 1));
}""")
    assert "__ffs(" in found.cuda
    assert "asm" not in found.cuda


def test_one_register_in_braces() -> None:
    assert "__ldca(" in decompiled(BRACES).cuda


def test_halves_of_a_word() -> None:
    """Both halves are taken by one move, or each by an instruction that cuts."""
    kinds = []
    for opcode in ("mov.b32 {%rs1, %rs2}, %r1", "cvt.u16.u32 %rs1, %r1", "mov.u32 %r1, 7"):
        module = ptxkit.parse(SPLIT.replace("OPCODE", opcode))
        kinds.append(Dialect.of(module["k"].instructions, Scopes(module)))
    moved, cut, whole = kinds
    assert moved.foreign(cut) == ""
    assert "16 of 32" in whole.foreign(cut)


def test_bits_that_are_left_of_a_shift_are_not_cut() -> None:
    """A sign in a register of 16 bits, and an integer of 16 bits as a number, lose nothing."""
    kinds = []
    for lines in (
        "mov.u32 %r1, 7",
        "shr.u32 %r2, %r1, 31; cvt.u16.u32 %rs1, %r2",
        "shr.u32 %r2, %r1, 8; cvt.u16.u32 %rs1, %r2",
        "cvt.rn.f32.s32 %f1, %r1",
        "cvt.rn.f32.s16 %f1, %rs1",
    ):
        module = ptxkit.parse(SPLIT.replace("OPCODE", lines))
        kinds.append(Dialect.of(module["k"].instructions, Scopes(module)))
    plain, sign, cut, whole, short = kinds
    assert plain.foreign(sign) == ""
    assert "16 of 32" in plain.foreign(cut)
    assert whole.foreign(short) == ""
    assert "cvt.rn.f32.b32" in short.foreign(whole)


def test_printf_is_one_call() -> None:
    found = decompiled(PRINTS)
    assert 'printf("block %d of %s: %5.1f%%\\n", blockIdx.x, "a \\"grid\\"", 2.5)' in found.cuda
    assert "local" not in found.cuda
    assert found.verdict.level == "E1"


def test_an_assertion_has_its_texts() -> None:
    assert '__assertfail("x <= n", "kernel.cu", 7u, "checked", 1ull)' in decompiled(ASSERTS).cuda


def test_kernels_have_their_names() -> None:
    """Plain where the types of parameters give the same symbol; else with what it means."""
    found = decompiled(NAMES)
    head = r"^__global__ void scaled\(float \*\w+, const float \*\w+, unsigned long \w+, uint2 \*"
    assert re.search(head + r"\w+, int \*\w+\)", found.cuda, re.MULTILINE)
    assert "// void stepped<float, 3>(float*)\nextern" in found.cuda
    again = ptxkit.compile_cuda(found.cuda)
    assert {k.name for k in again.kernels} == {
        "_Z6scaledPfPKfmP5uint2Pi",
        "_Z7steppedIfLi3EEvPT_",
    }


def test_layers_cubes_levels_and_surfaces() -> None:
    found = decompiled(TEXTURES)
    assert "asm" not in found.cuda
    for name in ("tex2DLayered<", "tex1DLayered<", "texCubemap<", "tex2DLod<", "surf2Dread<"):
        assert name in found.cuda
    assert "surf2Dwrite(" in found.cuda
    assert "clock64()" in found.cuda


def test_a_volatile_vector_is_read_at_once() -> None:
    assert "__global__ void first(uint4 *" in decompiled(VOLATILE).cuda


NIBBLES = """
extern "C" __global__ void nibbles(int *out, const unsigned *w, const int *x, int n) {
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned v = w[i];
        sum = __dp4a((int)(v & 0x0f0f0f0f), x[2 * i], sum);
        sum = __dp4a((int)((v >> 4) & 0x0f0f0f0f), x[2 * i + 1], sum);
    }
    out[threadIdx.x] = sum;
}
"""


def test_an_argument_keeps_the_type_that_chooses_the_function() -> None:
    module = ptxkit.compile_cuda(NIBBLES, arch="sm_90")
    for options in (Options(roll=True), Options()):
        ptxkit.compile_cuda(lifted_text(module, options), arch="sm_90")


WARP_SUMS = """
extern "C" __global__ void sums(const float *x, float *out, int n) {
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = t < n ? x[blockIdx.x * 64 + t] : 0.0f;
    __syncthreads();
    if (t < 32) {
        volatile float *v = part;
        v[t] += v[t + 32];
        v[t] += v[t + 16];
        v[t] += v[t + 8];
    }
    if (t == 0) out[blockIdx.x] = part[0];
}
"""


def test_a_pointer_says_once_that_others_change_what_it_points_to() -> None:
    found = decompiled(WARP_SUMS)
    assert found.cuda.count("volatile") == 1
    assert len(re.findall(r"\w+\[.*\] \+= \w+\[.* \+ \d+\];", found.cuda)) == 3
    assert found.verdict.same_ptx


def test_a_pointer_that_moves_on_is_told_at_each_access() -> None:
    def at(index: int) -> n.Expression:
        place = n.Binary("+", n.Name("p"), n.integer(index))
        return n.Unary("*", n.Cast(Pointer(INT, volatile=True), place))

    step = n.Assign(n.Name("p"), n.integer(4), "+=")
    parameters = (n.Parameter(Pointer(INT), "p"), n.Parameter(INT, "i"))
    for between, told in (((), 1), ((step,), 3)):
        body = (n.Assign(at(0), at(1)), *between, n.Assign(at(2), n.Name("i")))
        made = with_volatile_variables(n.Function("k", parameters, body, VOID))
        assert print_function(made).count("volatile") == told


PLANES = """
extern "C" __global__ void planes(const float *x, float *y, size_t depth, size_t rows,
                                  size_t columns) {
    size_t z = blockIdx.z * blockDim.z + threadIdx.z;
    size_t row = blockIdx.y * blockDim.y + threadIdx.y;
    size_t column = blockIdx.x * blockDim.x + threadIdx.x;
    if (z < 1 || z >= depth - 1 || row >= rows || column >= columns) return;
    y[z * rows * columns + row * columns + column] =
        x[(z - 1) * rows * columns + row * columns + column]
        + x[(z + 1) * rows * columns + row * columns + column];
}
"""


def test_sizes_are_wide_and_planes_are_told_apart() -> None:
    found = decompiled(PLANES)
    assert found.verdict.same_ptx
    assert "(unsigned long long)" not in found.cuda


def test_a_number_with_a_sign_stays_as_wide_as_it_is() -> None:
    types = {"i": UINT, "a": INT, "size": UNSIGNED_LONG_LONG}
    asked = n.Binary("<", n.Cast(UNSIGNED_LONG_LONG, n.Name("i")), n.Name("size"))
    for value in (n.Name("a"), n.Name("size")):
        body = (n.Declare(UINT, "i", value), n.If(asked, (n.Return(),)))
        assert with_wide_variables(body, types) == body


PAIRS = """
extern "C" __global__ void nearest(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 1e30f;
    for (int j = 0; j < n; j++) {
        if (i == j) continue;
        float d = x[2 * j] - x[2 * i] + x[2 * j + 1];
        if (d < best) best = d;
    }
    out[i] = best;
}
"""


def test_an_index_is_compared_with_another_one() -> None:
    """A compiler counts the difference of both beside what it unrolled."""
    module = ptxkit.compile_cuda(PAIRS, arch="sm_90")
    text = lifted_text(module, Options(roll=True))
    assert re.search(r"if \(\w+ [!=]= \w+\)", text)
    assert not re.search(r"\b0 (-|\+|<<) ", text)
    assert not seen_to_differ(module, compiled_again(text, "sm_90"), "nearest")


def test_a_sum_with_a_wider_name_is_not_compared_by_that() -> None:
    types = {"a": INT, "b": INT, "k": INT}
    whole = n.Binary("+", n.Name("a"), n.Name("b"))
    asked = n.If(n.Binary("==", n.Name("k"), whole), (n.Return(),))
    for type, same in ((INT, False), (LONG_LONG, True)):
        body = (n.Declare(type, "c", whole), asked)
        assert (with_plain_sums(body, {**types, "c": type}) == body) is same


ROWS = """
extern "C" __global__ void swept(float *x, const float *a, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n)
        for (int i = 1; i < n; i++)
            x[row * 256 + i] = x[row * 256 + i] - x[row * 256 + i - 1] * a[row * 256 + i];
}
"""


def test_a_loop_begins_where_the_source_began() -> None:
    found = decompiled(ROWS, EFFORT)
    assert found.verdict.same_ptx
    assert re.search(r"for \(int (\w+) = 1; \1 < \w+; \1\+\+\)", found.cuda)


WINDOW = """
extern "C" __global__ void window(const float *x, float *out, int n, int r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int d = -r; d <= r; d++) {
        int k = i + d;
        if (k >= 0 && k < n) sum += x[k];
    }
    out[i] = sum;
}
"""


def test_a_loop_to_its_limit_is_rolled_up() -> None:
    found = decompiled(WINDOW, EFFORT)
    assert found.verdict.same_ptx
    assert re.search(r"for \(.*<= \w+; \w+\+\+\)", found.cuda) and found.cuda.count("sum +=") == 1


BOX = """
extern "C" __global__ void box(const float *x, float *out, int width, int height, int r) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int a = column + dx, b = row + dy;
            if (a >= 0 && a < width && b >= 0 && b < height) sum += x[b * width + a];
        }
    out[row * width + column] = sum;
}
"""


def test_a_window_of_rows_and_columns_is_two_loops() -> None:
    text = lifted_text(ptxkit.compile_cuda(BOX, arch="sm_90"), Options(roll=True))
    assert len(re.findall(r"for \(.*<= \w+; \w+\+\+\)", text)) == 2
    assert text.count("sum +=") == 1 and "do {" not in text


BESIDE = """extern "C" __global__ void k(const int *x, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int squares[8];
    for (int j = 0; j < 8; j++) squares[j] = i + j * j;
    if (i >= n) return;
    int sum = squares[x[i] & %s] + squares[x[i + n] & 7];
    out[i] = sum;
    if (sum < 0) printf("%%d at %%d\\n", sum, i);
}"""


@pytest.mark.parametrize(("mask", "plain"), [("7", True), ("15", False)])
def test_printf_beside_an_array(mask: str, plain: bool) -> None:
    """What is printed stands in the same memory; an index that may get there keeps it there."""
    text = lifted_text(ptxkit.compile_cuda(BESIDE % mask, arch="sm_90"))
    assert (" printf(" in text) is plain and ("vprintf(" in text) is not plain


def test_printf_beside_an_array_is_proved() -> None:
    module = ptxkit.compile_cuda(BESIDE % "7", arch="sm_90")
    found = ptxkit.decompile(module, "symbolic", effort=0)
    assert found.verdict.equivalent, found.verdict.reasons
    assert "vprintf" not in found.cuda


PARTNERS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry partners(.param .u64 x) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [x];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    xor.b64 %rd5, %rd3, 8;
    add.s64 %rd6, %rd2, %rd5;
    ld.global.u32 %r3, [%rd6];
    st.global.u32 [%rd4], %r3;
    st.global.u32 [%rd6], %r2;
    ret;
}
"""


def test_an_index_with_bits_turned_around_is_one() -> None:
    text = lifted_text(ptxkit.parse(PARTNERS), Options())
    assert text.count("x[threadIdx.x ^ 2]") == 2
    assert "(char *)" not in text and "long long" not in text


def test_questions_stay_together_as_they_were_asked() -> None:
    """``a && b && (c && d)`` is other PTX than the same without parentheses."""
    module = ptxkit.compile_cuda(
        """extern "C" __global__ void k(const float *x, float *y, int rows, int cols, int n) {
        int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
        if ((i > 0 && i < rows - 1) && (j > 0 && j < cols - 1)) {
            float sum = 0.0f;
            for (int k = 0; k < n; ++k) sum += x[k * cols + j];
            y[i * cols + j] = sum;
        }
    }""",
        arch="sm_90",
    )
    assert "< n2 - 1 && (" in lifted_text(module, Options(roll=True))


def test_what_is_an_integer_too_is_not_declared_wide() -> None:
    asked = n.Binary("<", n.Cast(UNSIGNED_LONG_LONG, n.Name("i")), n.Name("size"))
    store = n.Assign(n.Index(n.Name("p"), n.Cast(INT, n.Name("i"))), n.integer(0))
    first = n.Declare(UINT, "i", n.Member(n.Name("threadIdx"), "x"))
    types = {"i": UINT, "size": UNSIGNED_LONG_LONG, "p": Pointer(INT)}
    body = (first, n.If(asked, (store,)))
    assert with_wide_variables(body, types) == body


def test_a_place_in_a_grid_has_a_column_and_a_row() -> None:
    source = """extern "C" __global__ void k(float *x, int n) {
        int x1 = threadIdx.x + blockIdx.x * blockDim.x;
        int y1 = threadIdx.y + blockIdx.y * blockDim.y;
        int at = x1 + y1 * blockDim.x * gridDim.x;
        if (at < n) x[at] *= 2;
    }"""
    made = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), "symbolic", names="plain")
    assert made.verdict.level == "E1"
    assert "y * gridDim.x * blockDim.x" in made.cuda


def test_two_numbers_are_asked_for_one_by_one() -> None:
    source = """extern "C" __global__ void k(float *x, int n) {
        if (threadIdx.x == 0 && blockIdx.x == 0) x[n] = 1.0f;
    }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert "threadIdx.x | blockIdx.x" in lifted_text(module)
    made = ptxkit.decompile(module, "symbolic")
    assert made.verdict.level == "E1"
    assert "threadIdx.x == 0 && blockIdx.x == 0" in made.cuda


def test_infinite_doubles_are_given_to_functions_as_doubles() -> None:
    source = """
    extern "C" __global__ void ends(double *x, int n) {
        double most = -__longlong_as_double(0x7ff0000000000000ll), least = -most;
        for (int i = threadIdx.x; i < n; i += 32) {
            most = fmax(most, x[i]);
            least = fmin(x[i], least);
        }
        x[threadIdx.x] = fma(most, __longlong_as_double(0x7ff0000000000000ll), least);
        x[threadIdx.x + 32] = fmax(x[threadIdx.x], -__longlong_as_double(0x7ff0000000000000ll));
    }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    assert "INFINITY" in text
    assert compiled_again(text, "sm_90")
