"""Certificates on pairs of sources: the same, equal in other words, and almost equal."""

from __future__ import annotations

from itertools import permutations

import pytest

import ptxkit
from ptxkit.decompiler.verify import Verdict, compiled, same_dataflow, same_execution, verify
from ptxkit.decompiler.verify.values import KINDS
from ptxkit.errors import UnknownNameError, UsageError
from ptxkit.syntax import Module

ARCH = "sm_90"


def module(source: str) -> Module:
    return ptxkit.compile_cuda(source, arch=ARCH)


def judged(source: str, other: str) -> Verdict:
    return verify(module(source), other, arch=ARCH)


STRIDE = """extern "C" __global__ void k(const int *x, int *y, int n) {
    for (int j = threadIdx.x; j < n; j += %s) y[j] = x[j];
}"""
SAXPY = """extern "C" __global__ void k(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}"""
BRANCH = """extern "C" __global__ void k(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { %s }
}"""
LOOP = """extern "C" __global__ void k(const int *x, int *y, int n) {
    int i = threadIdx.x, s = 0;
    #pragma unroll 1
    for (int j = 0; j < n; ++j) s %s;
    y[i] = s;
}"""
SHARED = """extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float t[256];
    t[threadIdx.x] = x[threadIdx.x];
    %s
    y[threadIdx.x] = t[blockDim.x - 1 - threadIdx.x];
}"""

EQUAL = {
    "renamed": (
        SAXPY, SAXPY.replace("int i", "int q").replace("[i]", "[q]").replace("(i <", "(q <"),
    ),
    "else for select": (
        BRANCH % "y[i] = x[i] > 3 ? x[i] * 5 : x[i] - 7;",
        BRANCH % "int v = x[i]; if (v > 3) y[i] = v * 5; else y[i] = v - 7;",
    ),
    "a loop the other way": (
        LOOP % "+= x[j] * (i + 1)",
        LOOP.replace("++j", "j++") % "= (1 + i) * x[j] + s",
    ),
    "a loop by pointer": (
        LOOP % "+= x[j]",
        LOOP.replace("int j = 0; j < n; ++j", "const int *p = x; p < x + n; ++p") % "+= *p",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EQUAL)
def test_equal_in_other_words(name: str) -> None:
    verdict = judged(*EQUAL[name])
    assert verdict.equivalent, verdict.reasons


DIFFERENT = {
    "guard": (SAXPY, SAXPY.replace("i < n", "i <= n")),
    "sign": (SAXPY, SAXPY.replace("+ y[i]", "- y[i]")),
    "index": (SAXPY, SAXPY.replace("x[i]", "x[i + 1]")),
    "signed zero": (
        SAXPY.replace("a * x[i] + y[i]", "x[i]"), SAXPY.replace("a * x[i] + y[i]", "x[i] + 0.0f"),
    ),
    "boundary": (
        BRANCH % "y[i] = x[i] > 3 ? 1 : 0;", BRANCH % "y[i] = x[i] >= 3 ? 1 : 0;",
    ),
    "narrow index": (SAXPY, SAXPY.replace("int i", "short i")),
    "one iteration less": (LOOP % "+= x[j]", LOOP.replace("j < n", "j < n - 1") % "+= x[j]"),
    "no barrier": (SHARED % "__syncthreads();", SHARED % ""),
    "dropped store": (BRANCH % "y[i] = x[i]; y[i + 1] = 3;", BRANCH % "y[i] = x[i];"),
    "unsigned division": (
        BRANCH % "y[i] = x[i] / 3;", BRANCH % "y[i] = (unsigned)x[i] / 3;",
    ),
    "float boundary": (
        SAXPY.replace("a *", "x[i] > 1.41f ? a :"), SAXPY.replace("a *", "x[i] >= 1.41f ? a :"),
    ),
    "another axis": (SAXPY, SAXPY.replace("threadIdx.x", "threadIdx.x + threadIdx.z")),
    "work done twice": (
        STRIDE % "blockDim.x", STRIDE.replace("j += ", "j += 1 + 0 * ") % "blockDim.x",
    ),
    "four threads": (
        BRANCH % "int s = 0; for (int j = 0; j < blockDim.x; ++j) s += x[j]; y[i] = s;",
        BRANCH % "int s = 0; for (int j = 0; j < blockDim.x + (blockDim.x == 4); ++j) s += x[j];"
        "y[i] = s;",
    ),
    "no fence": (
        BRANCH % "y[i] = x[i]; __threadfence(); y[n + i] = 1;",
        BRANCH % "y[i] = x[i]; y[n + i] = 1;",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_almost_equal_is_not_accepted(name: str) -> None:
    verdict = judged(*DIFFERENT[name])
    assert verdict.compiles
    assert not verdict.equivalent, name
    assert verdict.level == "E0"
    assert verdict.reasons


def test_dataflow_proves_operands_in_another_order() -> None:
    text = module(SAXPY).emit()
    other = text.replace("fma.rn.f32 \t%f4, %f2, %f1, %f3", "fma.rn.f32 \t%f4, %f1, %f2, %f3")
    proof = same_dataflow(ptxkit.parse(text), ptxkit.parse(other), "k")
    assert proof.equal, proof.reason


def test_what_nobody_has_set_is_the_same_only_as_one_that_nobody_has_set() -> None:
    text = """.version 8.0
.target sm_80
.visible .entry k(.param .u64 x) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [x];
    st.global.u32 [%rd1], %r2;
    st.global.u32 [%rd1+4], ONE;
    ret;
}"""
    two, same, number = (ptxkit.parse(text.replace("ONE", one)) for one in ("%r1", "%r2", "7"))
    for kernel in (two, same, number):
        assert same_dataflow(kernel, ptxkit.parse(kernel.emit()), "k").equal
    for one, other in permutations((two, same, number), 2):
        assert not same_dataflow(one, other, "k").equal


def test_execution_says_what_was_tried_and_covered() -> None:
    m = module(SAXPY)
    found = same_execution(m, m, "k")
    assert found.equal
    assert found.coverage == 1.0
    assert len(found.tried) >= 16
    kinds = {trial.kind for trial in found.tried}
    assert kinds == set(KINDS)
    assert any(trial.sizes == (0,) for trial in found.tried)
    assert len({trial.block for trial in found.tried}) > 4


def test_nothing_is_claimed_where_nothing_ran() -> None:
    # It spins for ever on whatever it is given.
    source = """extern "C" __global__ void k(int *x) {
        while (atomicAdd(x, 0) * 2654435761u + x[2] * 40503u != 123456789) {}
        x[1] = %d;
    }"""
    found = same_execution(module(source % 1), module(source % 2), "k")
    assert not found.equal
    assert not found.different
    assert "step-limit" in found.reason


def test_guard_zones_are_compared() -> None:
    before = BRANCH % "y[i] = x[i];"
    found = same_execution(module(before), module(BRANCH % "y[i] = x[i]; y[-1] = 577;"), "k")
    assert not found.equal
    assert "differs at byte -4" in found.reason


def test_parameters_of_another_size_are_not_run() -> None:
    wide = SAXPY.replace("int n", "long long n")
    verdict = judged(SAXPY, wide)
    assert any("parameters differ" in reason for reason in verdict.reasons)


def test_what_differs_between_launches_is_named() -> None:
    text = 'extern "C" __global__ void {} k(int *x) {{ x[threadIdx.x] = 1 + {}; }}'
    for mine, theirs, said in (
        (
            "__launch_bounds__(256)",
            "__launch_bounds__(128)",
            ".maxntid (256, 1, 1) against (128, 1, 1)",
        ),
        ("", "__launch_bounds__(128)", ".maxntid none against (128, 1, 1)"),
        (
            "__cluster_dims__(2)",
            "__cluster_dims__(4)",
            ".reqnctapercluster (2, 1, 1) against (4, 1, 1)",
        ),
    ):
        proof = same_dataflow(module(text.format(mine, 1)), module(text.format(theirs, 1)), "k")
        assert not proof.equal
        assert said in proof.reason, proof.reason
    larger = module(text.format("__launch_bounds__(256)", 1))
    assert same_dataflow(module(text.format("__launch_bounds__(128)", 1)), larger, "k").equal


def test_a_candidate_that_does_not_compile_is_a_sentence() -> None:
    made = compiled("__global__ void k() { nothing(); }")
    assert made.module is None
    assert made.error.startswith("it does not compile: candidate.cu:1:23")
    verdict = judged(SAXPY, "__global__ void k() { nothing(); }")
    assert (verdict.level, verdict.compiles, verdict.equivalent) == ("none", False, False)


def test_a_kernel_that_is_not_there() -> None:
    verdict = judged(SAXPY, "__device__ int f() { return 1; }")
    assert (verdict.level, verdict.badge, verdict.compiles) == ("none", "[no such kernel]", True)
    assert "no kernel 'k'" in verdict.reasons[0]
    assert not verdict.equivalent


def test_identical_ptx_has_the_same_dataflow() -> None:
    found = judged(SAXPY, SAXPY).to_dict()
    assert (found["level"], found["same_ptx"], found["same_dataflow"]) == ("E1", True, True)


def test_one_verdict_over_several_kernels_is_the_weakest() -> None:
    two = SAXPY + "\n" + SAXPY.replace(" k(", " other(")
    wrong = SAXPY + "\n" + SAXPY.replace(" k(", " other(").replace("i < n", "i <= n")
    verdict = judged(two, wrong)
    assert verdict.parts["k"].level == "E1"
    assert verdict.parts["other"].level == verdict.level == "E0"
    assert not verdict.equivalent


# ---- code that no launch reaches -------------------------------------------------------------

# No launch has a block with an odd number above a thousand.
HIDDEN = """extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (blockDim.x == 1023) { %s }
    y[i] = x[i];
}"""


def test_unreached_code_that_is_the_same_is_said_to_be() -> None:
    a = module(HIDDEN % "y[i + n] = x[i] * 3.0f;")
    found = same_execution(a, a, "k")
    assert found.equal
    assert found.ground == "same"
    assert found.coverage < 1.0
    claim = Verdict(True, execution=found).claim
    assert "% ran, the rest is the same code" in claim


@pytest.mark.parametrize(
    "other",
    ["y[i + n] = x[i] * 3.5f;", "y[i + n] = x[i] + 3.0f;", "", "y[i + n] = 3.0f;",
     "y[i + n] = x[i] * 3.0f; __syncthreads();", "atomicAdd(y + i + n, x[i] * 3.0f);"],
)  # fmt: skip
def test_unreached_code_that_differs_is_not_accepted(other: str) -> None:
    first = module(HIDDEN % "y[i + n] = x[i] * 3.0f;")
    found = same_execution(first, module(HIDDEN % other), "k")
    assert not found.equal
    assert "never ran, and differ" in found.reason


def test_candidate_may_not_store_what_the_original_does_not() -> None:
    # All of the original runs; what the candidate has besides is not known to be harmless.
    found = same_execution(module(HIDDEN % ""), module(HIDDEN % "y[i + n] = 7.0f;"), "k")
    assert not found.equal


def test_unreached_comparison_that_differs_is_not_accepted() -> None:
    hidden = HIDDEN % "\n#pragma unroll 1\nfor (int j = 0; j < %d; ++j) y[i + j * n] = x[j];"
    first = module(hidden % 77)
    assert same_execution(first, first, "k").equal
    found = same_execution(first, module(hidden % 78), "k")
    assert "never ran, and differ" in found.reason


def test_variable_that_a_host_can_change_may_not_be_missing() -> None:
    text = module("__device__ int scale = 2;" + BRANCH % "y[i] = x[i] * scale;").emit()
    original = ptxkit.parse(text.replace("\n.global", "\n.visible .global"))
    found = same_execution(original, module(BRANCH % "y[i] = x[i] * 2;"), "k")
    assert found.reason == "the variable 'scale' is missing"


def test_same_numbers_in_every_process() -> None:
    from ptxkit.decompiler.verify.inputs import GUARD
    from ptxkit.decompiler.verify.pair import Pair
    from ptxkit.decompiler.verify.trials import trials

    m = module(SAXPY)
    made = []
    for _ in range(3):
        pair = Pair(m, m, "k", "k")
        trial = next(iter(trials(pair.usage, pair.rules, 1)))
        arenas = pair.maker.make(trial).arenas
        assert all(arena.start == GUARD for arena in arenas)
        made.append([arena.before.tobytes() for arena in arenas])
    assert made[0] == made[1] == made[2]


def test_strings_that_have_parts_in_common_are_tried() -> None:
    from tests.kernels import suite

    kernel = next(k for k in suite() if k.name == "levenshtein")
    original = kernel.module(ARCH)
    least = [i for i in original["levenshtein"].instructions if i.name == "min"]
    assert least
    for one in least:
        edit = original.edit()
        edit.replace(one, one.text.replace("min", "max"))
        found = same_execution(original, edit.apply(), "levenshtein")
        assert found.different, one.text


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # Nothing differs where no row has an index beyond 15 bits.
        ("crc32_rows", "cvt.s64.s32", "cvt.s64.s16"),
        # One turn more of a loop over an empty range, which seldom leaves anything behind.
        ("bfs_level", "setp.ge.s32", "setp.gt.s32"),
        ("nbody", "setp.lt.u32", "setp.le.u32"),
        # Lanes that are not among those that they say take part: the simulator lets them.
        ("cg_tile_reduce", "shl.b32", "shr.u32"),
    ],
)
def test_bug_that_seldom_shows_is_not_accepted(name: str, old: str, new: str) -> None:
    from tests.kernels import suite

    kernel = next(k for k in suite() if k.name == name)
    original, entry = kernel.module(ARCH), kernel.entry(ARCH)
    found = [i for i in original[entry].instructions if i.opcode == old]
    assert found
    for one in found:
        edit = original.edit()
        edit.replace(one, one.text.replace(old, new))
        assert not same_execution(original, edit.apply(), entry).equal, one.text


def test_register_loaded_through_itself() -> None:
    text = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [x];
    ld.global.u64 %rd1, [%rd1];
    ld.global.u64 %rd1, [%rd1];
    st.global.u64 [%rd1], %rd1;
    ret;
}"""
    m = ptxkit.parse(text)
    assert same_execution(m, m, "k").coverage == 1.0


def test_unknown_device_is_a_sentence() -> None:
    m = module(SAXPY)
    with pytest.raises(UnknownNameError, match="no device is called 'tpu'"):
        same_execution(m, m, "k", device="tpu")


def test_candidate_may_take_more_launches_than_the_original() -> None:
    text = module(SAXPY).emit()
    strict = ptxkit.parse(text.replace("\n{", "\n.reqntid 64, 1, 1\n{", 1))
    assert same_execution(strict, ptxkit.parse(text), "k").equal
    assert not same_execution(ptxkit.parse(text), strict, "k").equal


def test_a_kernel_with_another_name_is_another() -> None:
    """A host asks for a kernel by its name; only mangling is no other name."""
    source = 'extern "C" __global__ void {}(float *x) {{ x[threadIdx.x] += 1.0f; }}'
    module = ptxkit.compile_cuda(source.format("add"), arch="sm_90")
    found = verify(module, source.format("other"), arch="sm_90")
    assert not found.equivalent
    assert not found.same_ptx
    mangled = "__global__ void add(float *x) { x[threadIdx.x] += 1.0f; }"
    assert verify(module, mangled, arch="sm_90").equivalent


_HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
_KERNEL = """.visible .entry k(.param .u64 p) {{
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    {}
    st.global.u32 [%rd2], %r8;
    ret;
}}
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Two halves give two answers.
        (
            "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2];"
            "setp.lt.f16x2 %p1|%p2, %r2, %r3; selp.b32 %r8, 5, 6, %p2;",
            "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2];"
            "setp.lt.f16x2 %p1|%p2, %r2, %r3; selp.b32 %r8, 6, 5, %p1;",
        ),
        # Who is active depends on the branch that was taken.
        (
            "and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0; @%p1 bra A; activemask.b32 %r8;"
            "bra B; A: activemask.b32 %r8; B:",
            "activemask.b32 %r8;",
        ),
        # Another thread may write in between.
        (
            "ld.volatile.global.u32 %r2, [%rd1]; ld.volatile.global.u32 %r3, [%rd1];"
            "add.u32 %r8, %r2, %r3;",
            "ld.volatile.global.u32 %r2, [%rd1]; add.u32 %r8, %r2, %r2;",
        ),
        # With a NaN.
        (
            "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2];"
            "setp.lt.f32 %p1, %r2, %r3; selp.b32 %r8, 5, 6, %p1;",
            "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2];"
            "setp.ltu.f32 %p1, %r2, %r3; selp.b32 %r8, 5, 6, %p1;",
        ),
    ],
    ids=["halves", "active", "volatile", "unordered"],
)
def test_what_one_thread_cannot_tell_is_no_proof(one: str, other: str) -> None:
    modules = [ptxkit.parse(_HEAD + _KERNEL.format(text)) for text in (one, other)]
    assert not same_dataflow(*modules, "k").equal
    assert same_dataflow(modules[0], modules[0], "k").equal


def test_what_is_no_candidate() -> None:
    made = module("__global__ void k(int *x) { *x = 1; }")
    with pytest.raises(UsageError, match=r"a candidate is CUDA C.. as text, or a tree .* no int"):
        verify(made, 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the original is no module but a str; parse it"):
        verify("k.ptx", "")  # type: ignore[arg-type]


def test_a_kernel_that_does_nothing() -> None:
    made = ptxkit.parse(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { }")
    assert ptxkit.decompile(made, "symbolic").verdict.equivalent
