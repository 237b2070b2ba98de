"""Sides that no launch shows are used alike, or nothing is claimed."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.decompiler.verify.execution import same_execution
from ptxkit.syntax import Module

HEAD = """extern "C" __global__ void k(
    const unsigned *x, const unsigned *y, unsigned *out, unsigned n) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x; if (t >= n) return; %s }"""
LOOP = """extern "C" __global__ void k(
    const unsigned *x, const unsigned *y, unsigned *out, int n) {
    unsigned s = 0;
    #pragma unroll 1
    for (int i = 0; i < n; i++) {
        unsigned a = x[i], b = x[n - 1 - i]; s += a * 3u ^ b;
        unsigned h = (s ^ s >> 15) * 739982445u; h ^= h >> 12; h *= 695872825u;
        %s
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s; }"""
ASM = 'unsigned r; asm("%s" : "=r"(r) : "r"(t), "r"(x[t])); '
#: What the original does, and what others do that no launch shows to be different.
PAIRS = {
    "a sum": ("out[t] = x[t] + (t >> 20);", "out[t] = x[t] - (t >> 20);"),
    "another sum": (
        "out[2*t] = x[t] + (t >> 20); out[2*t+1] = y[t];",
        "out[2*t] = x[t]; out[2*t+1] = y[t] + (t >> 20);",
    ),
    "a product": ("out[t] = x[t] + (t >> 20) * y[t];", "out[t] = x[t] + (t >> 20) * y[0];"),
    "a mask": ("out[t] = x[t & 0xfffff] + y[t];", "out[t] = x[t] + y[t & 0xfffff];"),
    "a bound": (
        "out[2*t] = min(t, 1000000u); out[2*t+1] = t;",
        "out[2*t] = t; out[2*t+1] = min(t, 1000000u);",
    ),
    "a quotient": ("out[t] = x[t] + t / 1000003u * 7u;", "out[t] = x[t] + t / 1000003u * 9u;"),
    "an upper half": (
        "out[t] = x[t] + __umulhi(t, 4096u);",
        "out[t] = x[t] ^ __umulhi(t, 4096u);",
    ),
    "bytes put elsewhere": (
        "out[t] = x[t] + __byte_perm(t, 0u, 0x4443u);",
        "out[t] = x[t] - __byte_perm(t, 0u, 0x4443u);",
    ),
    "a number of a float": (
        "out[t] = x[t] + (unsigned)(t * 1e-6f);",
        "out[t] = x[t] - (unsigned)(t * 1e-6f);",
    ),
    **{
        name: tuple(ASM % made + use for use in uses)
        for name, made, uses in (
            (
                "bits by a table",
                "lop3.b32 %0, %1, 0x7f000000, 0, 0xC0;",
                ("out[t] = x[t] + r;", "out[t] = x[t] - r;"),
            ),
            (
                "a comparison as a number",
                "set.gt.u32.u32 %0, %1, 10000000;",
                ("out[t] = x[t] + r;", "out[t] = x[t] - r;"),
            ),
            (
                "an upper half added",
                "mad.hi.u32 %0, %1, 4096, %2;",
                ("out[t] = y[t] + r;", "out[t] = y[t] + 2 * x[t] - r;"),
            ),
        )
    },
}


def _kernel(text: str) -> Module:
    return ptxkit.compile_cuda(text, arch="sm_90")


@pytest.mark.parametrize("name", PAIRS)
def test_other_uses_are_seen(name: str) -> None:
    original, other = (_kernel(HEAD % text) for text in PAIRS[name])
    found = same_execution(original, other, "k")
    assert not found.equal and not found.different
    assert "the two differ if it takes the other" in found.reason


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_uses_are_believed(name: str) -> None:
    text = HEAD % PAIRS[name][0]
    original = _kernel(text)
    again = _kernel(text.replace("if (t >= n) return; ", "if (t < n) {").replace(" }", " } }"))
    assert same_execution(original, again, "k").equal


def test_loops_that_are_unrolled_otherwise() -> None:
    """Their instructions have no partners one by one, but all together."""
    turns = (
        "unsigned s = 0; %s for (int j = 0; j < 4; j++) s += x[t + j] %s (t + j >> 20); out[t] = s;"
    )
    original, same, other = (
        _kernel(HEAD % (turns % way))
        for way in (("\n#pragma unroll 1\n", "+"), ("", "+"), ("", "-"))
    )
    assert not same_execution(original, other, "k").equal
    assert same_execution(original, same, "k").equal


def test_numbers_in_another_order_are_others() -> None:
    """A sum over all turns is the same where a loop goes through numbers from behind."""
    one, other = (_kernel(LOOP % f"s += h == 324478056u ? {name} : h;") for name in "ab")
    assert not same_execution(one, other, "k", wanted=8, most=40).equal
    assert same_execution(one, one, "k", wanted=8, most=40).equal


def test_numbers_that_were_never_equal_are() -> None:
    """The same numbers are compared in both, but in other turns of a loop."""
    ends = "h = %s; h ^= h >> 15; h *= 739982445u; h ^= h >> 12; if (h == 324478056u) break;"
    one, other = (_kernel(LOOP % (ends % name + "s ^= a << 1;")) for name in "ab")
    found = same_execution(one, other, "k", wanted=8, most=40)
    assert not found.equal and "'setp.eq.s32' in line" in found.reason
    assert same_execution(one, one, "k", wanted=8, most=40).equal


def test_code_that_never_ran_is_made_to_run() -> None:
    """A branch goes its other way in both, to what stores something else there."""
    rare = "unsigned h = x[t] * 2654435761u; h ^= h >> 15; if (h == 305419896u) out[t] = %s; "
    original, same, other = (
        _kernel(HEAD % (rare % value + "out[t + n] = y[t];")) for value in ("y[t]", "y[t]", "y[0]")
    )
    assert same_execution(original, same, "k").equal
    assert not same_execution(original, other, "k").equal
