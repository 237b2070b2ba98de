"""What one run may cost, and what it leaves for other forms of a function."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import ptxkit
from ptxkit.decompiler import variants
from ptxkit.decompiler.budget import Budget
from ptxkit.decompiler.verify import Verdict
from ptxkit.decompiler.verify.outcome import Side
from ptxkit.run.watch import Point

#: No unrolling, and the same numbers only if sums and products are put together alike.
SOURCE = """extern "C" __global__ void k(float *x, int n) {
    for (int i = threadIdx.x; i < n; i += 32) x[i] = x[i + 1] * 2.0f + x[i + 2] * 3.0f;
}"""


def test_the_first_run_leaves_time_for_proofs() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    runs: list[float] = []

    def certified(*args: Any, budget: Budget, least: str, **options: Any) -> Verdict:
        if least == "E3" and not options["thorough"]:
            runs.append(budget.left)
        return Verdict(True)

    with (
        patch.object(variants, "certify", certified),
        patch.object(variants, "same_ptx", lambda *args: False),
    ):
        variants.best_form(module, "k", "sm_90", effort=0, budget=Budget(1000))
    assert runs[0] < 805 and max(runs[1:]) > 900


def test_what_is_looked_at_costs_more() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    side = Side(module, "k")
    load = next(one for one in module["k"].instructions if one.name == "ld")
    summed, kept = (Point(load, True, ((0, "%f1"),), tuples) for tuples in (False, True))
    assert side.each_run() < side.each_run([summed]) < side.each_run([kept])


def test_of_a_long_function_the_likeliest_form_is_proved_first() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90")
    proved: list[tuple[int, float]] = []

    def certified(*args: Any, share: float, **options: Any) -> Verdict:
        if options["thorough"]:
            _, candidate, _, partner = args
            proved.append((len(candidate[partner].instructions), share))
        return Verdict(True)

    with (
        patch.object(variants, "certify", certified),
        patch.object(variants, "same_ptx", lambda *args: False),
        patch.object(variants, "_HARD_TO_RUN", 0),
        patch.object(variants, "_ALIKE_LONG", -1),
    ):
        variants.best_form(module, "k", "sm_90", effort=0, budget=Budget(1000))
    length = len(module["k"].instructions)
    apart = [abs(one - length) for one, _ in proved]
    assert apart == sorted(apart) and apart[0] < apart[-1], proved
    assert proved[0][1] > proved[1][1], proved
