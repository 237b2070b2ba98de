"""Pairs that differ where few launches show it: nothing may be claimed of them."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import Verdict, same_execution
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.execution import Execution
from ptxkit.decompiler.verify.unreached import ground


def compared(source: str, other: str) -> Execution:
    a, b = (ptxkit.compile_cuda(s, arch="sm_90") for s in (source, other))
    return same_execution(a, b, "k")


# No launch draws the one number that gets behind the comparison.
UNREACHED = """extern "C" __global__ void k(
    const unsigned *x, unsigned *o, unsigned a, unsigned b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i], t = 5, u = 6;
    o[i] = v + a * b;
    if (v * 2654435761u == %s) { %s }
    o[i] += t + 3 * u;
}"""
HASH = "0x12345678u"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("atomicAdd(o + i, v * 3 + 1);", "atomicAdd(o + i, v * 5 - 9);"),
        ("atomicAdd(o + i, a);", "atomicAdd(o + i, b);"),
        ("atomicAdd(o + i, a);", "atomicAdd(o + i + 1, a);"),
        ("atomicAdd(o + i, a);", "atomicSub(o + i, a);"),
        ("if (a < 77) atomicAdd(o, 1);", "if (b < 77) atomicAdd(o, 1);"),
        ("if (a < 77) atomicAdd(o, 1);", "if (a < 78) atomicAdd(o, 1);"),
        ("if (a < 77) o[i] = 1; else o[i] = 2;", "if (a < 77) o[i] = 2; else o[i] = 1;"),
        ("t = 7; __threadfence();", "u = 7; __threadfence();"),
        ("o[i] = a; o[i + 1] = b;", "o[i + 1] = b; o[i] = a;"),
        ("atomicAdd(o + i, o[i + 1]); o[i + 1] = 1;", "o[i + 1] = 1; atomicAdd(o + i, o[i + 1]);"),
    ],
)
def test_unreached_code_is_compared_by_what_it_computes(first: str, second: str) -> None:
    assert not compared(UNREACHED % (HASH, first), UNREACHED % (HASH, second)).equal


def test_condition_of_unreached_code_is_compared() -> None:
    store = "atomicAdd(o + i, a);"
    assert not compared(UNREACHED % (HASH, store), UNREACHED % ("0x12345679u", store)).equal


@pytest.mark.parametrize(
    ("first", "second", "ground"),
    [
        ("atomicAdd(o + i, a);", "atomicAdd(o + i, a);", "same"),
        ("atomicAdd(o + i, v * 3 + b);", "atomicAdd(i + o, b + v + 2 * v);", "alike"),
        (
            "unsigned c = a * 4; asm volatile(\"add.u32 %%0, %%0, 1;\" : \"+r\"(c)); o[i] = c;",
            "unsigned c = a << 2; asm volatile(\"add.s32 %%0, 1, %%0;\" : \"+r\"(c)); o[i] = c;",
            "alike",
        ),
    ],
)  # fmt: skip
def test_unreached_code_in_other_words(first: str, second: str, ground: str) -> None:
    found = compared(
        UNREACHED % (HASH, first.replace("%%", "%")), UNREACHED % (HASH, second.replace("%%", "%"))
    )
    assert found.equal, found.reason
    assert found.ground == ground


KERNEL = """extern "C" __global__ void k(const float *x, int *o, int n, int s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { %s }
}"""
WEAKER = {
    "fence": ("o[i] = 1; __threadfence(); o[n + i] = 2;", "__threadfence()", "_block()", "fences"),
    "atomic": ("atomicAdd(o + (i & 3), s);", "atomicAdd", "_block", "atomics"),
    "volatile": ("o[i] = ((volatile float *)x)[i];", "volatile", "", "ordered loads"),
    "index": ("o[i] = x[(long long)i * s];", "(long long)", "", "multiplies in 32 bits"),
    "integer": ("o[i] = i * 7654321 == 1234567;", "1234567", "1234568", "the integer 1234568"),
    "size": ("o[i] = i + (n > 70000 ? 1 : 1);", "? 1", "? 2", "sizes 70001"),
}


@pytest.mark.parametrize("name", WEAKER)
def test_what_launches_do_not_show_is_not_accepted(name: str) -> None:
    body, old, new, reason = WEAKER[name]
    if new.startswith("_"):
        new = old.removesuffix("()") + new
    found = compared(KERNEL % body, KERNEL % body.replace(old, new))
    assert not found.equal
    assert reason in found.reason


def test_stronger_order_is_accepted() -> None:
    body, old, _, _ = WEAKER["fence"]
    found = compared(KERNEL % body, KERNEL % body.replace(old, "__threadfence_system()"))
    assert found.equal, found.reason


def test_code_that_control_cannot_come_to_leads_nowhere() -> None:
    module = ptxkit.parse(
        ".version 8.0 .target sm_90 .entry k(.param .u32 n) { .reg .pred %p; .reg .b32 %r<3>; "
        "ld.param.u32 %r1, [n]; setp.eq.u32 %p, %r1, 7; @%p bra L; ret; "
        "add.u32 %r1, %r1, 1; bra L; L: add.u32 %r2, %r1, 1; st.global.u32 [1024], %r2; ret; }"
    )
    coverage = Coverage.of(module, module["k"])
    assert ground(coverage, coverage).name == "same"


def test_result_that_depends_on_the_order_of_threads_is_said_to() -> None:
    racy, plain = KERNEL % "o[0] = blockIdx.x;", KERNEL % "o[i] = blockIdx.x;"
    found = compared(racy, racy)
    assert found.equal and found.unordered
    assert "where their order matters" in Verdict(True, execution=found).claim
    assert not compared(plain, plain).unordered


def test_both_orders_are_compared() -> None:
    # In the usual order the last block wins anyway.
    last, racy = (KERNEL % f"o[0] = {what};" for what in ("gridDim.x - 1", "blockIdx.x"))
    found = compared(last.replace("i < n", "i < n || true"), racy.replace("i < n", "i < n || true"))
    assert not found.equal
    assert "the last blocks first" in found.reason


DEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 .ptr x) {{
    .reg .pred %p<5>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [x];
    ld.global.f32 %f1, [%rd1];
    setp.ge.f32 %p1, %f1, 0f40800000;
    setp.lt.f32 %p2, %f1, 0f{limit};
    and.pred %p3, %p1, %p2;
    mul.rn.f32 %f2, %f1, {factor};
    @!%p3 bra DONE;
    {dead}
DONE:
    st.global.f32 [%rd1], %f2;
    ret;
}}"""


def test_code_that_nothing_can_reach_may_be_anything() -> None:
    def compared(limit: str, dead: str, factor: str = "0f40000000") -> Execution:
        first, second = (
            ptxkit.parse(DEAD.format(limit=limit, dead=one, factor=f))
            for one, f in (("add.rn.f32 %f2, %f1, %f1;", "0f40000000"), (dead, factor))
        )
        return same_execution(first, second, "k")

    other = "sqrt.rn.f32 %f2, %f1; st.global.f32 [%rd1+4], %f2;"
    # Nothing is at least 4 and less than 1; something is less than 4.5.
    found = compared("3F800000", other)
    assert found.equal and found.ground == "dead", found.reason
    assert not compared("40900000", other).equal
    assert not compared("3F800000", other, factor="%f1").equal
