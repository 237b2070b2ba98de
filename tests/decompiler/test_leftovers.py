"""What passes leave behind, and what only looks like it."""

from __future__ import annotations

import re

import pytest

import ptxkit
from ptxkit.cuda import nodes as n
from ptxkit.cuda import print_function, read
from ptxkit.decompiler.tidy.copies import without_copies
from ptxkit.decompiler.tidy.dead_stores import without_dead_stores
from ptxkit.decompiler.tidy.exchanges import rolled_exchanges
from ptxkit.decompiler.tidy.late_declarations import late_declarations
from ptxkit.decompiler.tidy.never_read import without_never_read

HEAD = "(kernel k (params (param (ptr int) x) (param int n)) %s)"


def changed(step: object, body: str) -> bool:
    kernel = read(HEAD % body)
    assert isinstance(kernel, n.Function)
    made = step(kernel, lambda: True)  # type: ignore[operator]
    return print_function(made) != print_function(kernel)


@pytest.mark.parametrize(
    ("body", "dead"),
    [
        ("(let int a 1) (= a 2) (= ([] x 0) a)", False),  # a start, not a step
        ("(let int a 1) (= ([] x 0) a) (= a 2)", True),
        ("(let int a 1) (while (< a n) (= ([] x 0) a) (+= a 1))", False),  # the next turn asks
        ("(while (< n 9) (let int a n) (= ([] x a) 0) (+= a 1) (+= n 1))", True),
        ("(let int a 1) (do (< a n) (= a 2) (if (> n 3) (then (break))) (= a 3)) "
         "(= ([] x 0) a)", False),  # seen behind the break
        ("(let int a 1) (for (let int i 0) (< i n) (+= i 1) (if (== i 3) (then (= a 2) "
         "(continue))) (= ([] x i) a))", False),  # seen in the next turn
        ("(let int a 1) (= ([] x 0) a) (= a (call atomicAdd x 1))", False),  # it does more
        ("(let int a 1) (= ([] x 0) a) (if (> n 0) (then (= a 3) (return)))", True),
    ],
)  # fmt: skip
def test_dead_stores(body: str, dead: bool) -> None:
    assert changed(without_dead_stores, body) == dead


@pytest.mark.parametrize(
    ("body", "late"),
    [
        ("(let int a) (= ([] x 0) 1) (= a 2) (= ([] x 1) a)", True),
        ("(let int a 1) (if (> n 0) (then (= a 2))) (= ([] x 1) a)", False),  # one way only
        ("(let int a 1) (while (> n 0) (= ([] x n) a) (= a 2) (-= n 1))", False),  # from before
        ("(let int a) (while (> n 0) (= a n) (= ([] x a) 1) (-= n 1))", True),
        ("(let int a) (do (> a 0) (= a ([] x 0)))", False),  # the condition asks
        ("(let int a 1) (= a (+ a 1)) (= ([] x 1) a)", False),
        ("(let int a 0) (for (= a 1) (< a n) (+= a 1) (= ([] x a) 1)) (= ([] x 0) a)", False),
    ],
)
def test_late_declarations(body: str, late: bool) -> None:
    assert changed(late_declarations, body) == late


@pytest.mark.parametrize(
    ("body", "single"),
    [
        ("(let int a n) (= ([] x a) n)", True),
        ("(let int a n) (+= n 1) (= ([] x a) n)", False),
        ("(let int a n) (+= a 1) (= ([] x a) n)", False),
        ("(let int a n) (while (> n 0) (= ([] x n) a) (-= n 1))", False),
        ("(let uint a n) (= ([] x n) (/ a 2))", False),  # it converts
        ("(while (> n 0) (let int a n) (= ([] x n) a) (if (> a 3) (then (= ([] x a) 2))))", True),
    ],
)
def test_copies(body: str, single: bool) -> None:
    assert changed(without_copies, body) == single


LARGEST = """extern "C" __global__ void largest(const float *x, int *out, int n) {
    float best = -1.0e30f;
    int at = -1;
    for (int i = threadIdx.x; i < n; i += 32)
        if (x[i] > best) {
            best = x[i];
            at = i;
        }
    for (int far = 16; far > 0; far >>= 1) {
        float other = __shfl_down_sync(0xffffffff, best, far);
        int where = __shfl_down_sync(0xffffffff, at, far);
        if (other > best || (other == best && where < at)) {
            best = other;
            at = where;
        }
    }
    if (threadIdx.x == 0) *out = at;
}"""


def test_numbers_that_are_exchanged_together() -> None:
    found = ptxkit.decompile(ptxkit.compile_cuda(LARGEST, arch="sm_90"), "symbolic")
    assert found.verdict.same_ptx
    assert found.cuda.count("__shfl_down_sync") == 2, found.cuda
    assert found.cuda.count("if (") == 3, found.cuda
    assert re.search(r"for \(int (\w) = \w+; \1 < \w+; \1 \+= 32\)", found.cuda), found.cuda


def test_steps_that_differ_are_no_loop() -> None:
    """The second step takes the other way to choose."""
    steps = ""
    for a, b, far, op in (("a", "b", 4, "max"), ("a4", "b4", 2, "min"), ("a2", "b2", 1, "max")):
        steps += f"(let int p{far} (call __shfl_xor_sync -1 {a} {far}))"
        steps += f"(let int q{far} (call __shfl_xor_sync -1 {b} {far}))"
        steps += f"(let int a{far} (call {op} {a} p{far})) (let int b{far} (+ {b} q{far}))"
    start = "(let int a ([] x 0)) (let int b ([] x 1))"
    used = "(= ([] x 2) a1) (= ([] x 3) b1)"
    assert not changed(rolled_exchanges, f"{start} {steps} {used}")
    assert changed(rolled_exchanges, f"{start} {steps.replace('min', 'max')} {used}")
    # What only the second step has is asked for.
    asked = "(= ([] x 4) a2)"
    assert not changed(rolled_exchanges, f"{start} {steps.replace('min', 'max')} {used} {asked}")


def test_what_is_never_read_goes_from_a_case_too() -> None:
    kernel = read(HEAD % "(switch n (case (1) (let int a 2) (= ([] x 0) n) (break)))")
    assert isinstance(kernel, n.Function)
    asked = 0

    def take() -> bool:
        nonlocal asked
        asked += 1
        assert asked == 1, "it was to go at once"
        return True

    assert "int a" not in print_function(without_never_read(kernel, take))
