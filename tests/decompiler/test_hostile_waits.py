"""Candidates that wait for less, or read what never changes: no launch shows it, none is E3."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify import same_execution, verify

COPY = 'asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(a), "l"(p + i) : "memory");'
ALL = 'asm volatile("cp.async.wait_all;" ::: "memory");'
GROUP = 'asm volatile("cp.async.commit_group;" ::: "memory");'
WAIT = 'asm volatile("cp.async.wait_group {};" ::: "memory");'
READ = "v += s[t];"
COPIED = """extern "C" __global__ void k(int *p, int *q, int n) {
    __shared__ int s[64]; int t = threadIdx.x & 63, i = blockIdx.x * 64 + t; if (i >= n) return;
    int v = p[i]; unsigned a = (unsigned)__cvta_generic_to_shared(&s[t]);
    BODY
    q[i] = v; }"""
PLAIN = """extern "C" __global__ void k(const int *p, int *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; BODY }"""
BEFORE = 'asm volatile("griddepcontrol.wait;" ::: "memory");'
REGISTER = 'unsigned x; asm volatile("mov.u32 %0, %smid;" : "=r"(x)); '
GROUPS = """extern "C" __global__ void k(const int *p, int *q, int n) {
    __shared__ int s[128]; int t = threadIdx.x; if (t >= 128) return;
    s[t] = p[t];
    if (t < 64) { asm volatile("bar.sync 1, 64;" ::: "memory"); q[t] = s[63 - t]; }
    else { asm volatile("bar.sync BODY, 64;" ::: "memory"); q[t] = s[191 - t]; } }"""
#: A kernel, and what is written in the original and in a candidate.
PAIRS = {
    "no wait": (COPIED, COPY + ALL + READ, COPY + READ),
    "a wait behind what needs it": (COPIED, COPY + ALL + READ, COPY + READ + ALL),
    "a group more that is not waited for": (
        COPIED, COPY + GROUP + WAIT.format(0) + READ, COPY + GROUP + WAIT.format(1) + READ,
    ),
    "no group to wait for": (
        COPIED, COPY + GROUP + WAIT.format(0) + READ, COPY + WAIT.format(0) + READ,
    ),
    "what is copied, overwritten before": (
        COPIED, COPY + ALL + READ + "p[i] = 5;", COPY + "p[i] = 5;" + ALL + READ,
    ),
    "the kernel before": (
        PLAIN, BEFORE + "if (i < n) q[i] = p[i] * 3;", "if (i < n) q[i] = p[i] * 3;",
    ),
    "which multiprocessor it is": (
        PLAIN, REGISTER + "if (i < n) q[i] = p[i] + x;", "if (i < n) q[i] = p[i];",
    ),
    "twice the multiprocessor": (
        PLAIN, REGISTER + "if (i < n) q[i] = p[i] + x;",
        REGISTER + "if (i < n) q[i] = p[i] + 2 * x;",
    ),
    "another barrier": (GROUPS, "2", "1"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_what_no_launch_shows_is_not_equal_in_execution(name: str) -> None:
    text, first, second = PAIRS[name]
    original = ptxkit.compile_cuda(text.replace("BODY", first), arch="sm_90")
    assert verify(original, text.replace("BODY", second), arch="sm_90").level == "E0"


def test_who_waits_alike_may_be_equal_in_execution() -> None:
    first, second = (
        COPIED.replace("BODY", COPY + ALL + f"{READ} v = {sum};") for sum in ("v * 3", "v + v * 2")
    )
    original, candidate = (ptxkit.compile_cuda(text, arch="sm_90") for text in (first, second))
    assert same_execution(original, candidate, "k").equal


def test_a_number_of_128_bits_is_a_sentence() -> None:
    text = """.version 8.3
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 q, .param .b128 x) { .reg .b64 %d<5>; .reg .b128 %w<3>;
        ld.param.u64 %d1, [q]; ld.param.b128 %w1, [x]; mov.b128 {%d2, %d3}, %w1;
        st.global.u64 [%d1], %d2; ret; }"""
    with pytest.raises(ptxkit.PtxkitError, match="'x'"):
        ptxkit.decompile(ptxkit.parse(text), "symbolic")
