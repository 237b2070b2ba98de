"""The lifter: seconds for 1,000 instructions, whether they grow, and the parts of ``decompile``.

``python -m benchmarks lift``. Kernels of several kinds (`large`), small and eight times as long:
what takes as long for an instruction of the one as of the other is linear. All times are those of
the processor, so that a busy machine says much the same as a quiet one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from time import process_time
from typing import TypeVar

from benchmarks.large import ARCH, NAME, PIECES, module
from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import interleave
from ptxkit.decompiler import decompile
from ptxkit.decompiler.engines import FORMS
from ptxkit.decompiler.lift.lifter import lift_module
from ptxkit.decompiler.verify import compiled, same_dataflow, same_execution, same_ptx
from ptxkit.syntax import Module

T = TypeVar("T")
_SMALL, _LARGE = 1000, 8000
#: The kinds that are decompiled: one that is proved, and one that has to be run.
_DECOMPILED = ("integers", "branches")


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows."""
    quick = settings.repeat == 1
    small, large = (_SMALL // 4, _SMALL // 2) if quick else (_SMALL, _LARGE)
    yield from lifting(small, large, min(settings.repeat, 3))
    for kind in _DECOMPILED:
        yield from decompiling(kind, small if quick else _LARGE // 2)


def lifting(small: int, large: int, repeat: int) -> Iterator[Row]:
    """Every kind of kernel, alone."""
    kinds: dict[str, tuple[float, float]] = {}
    for kind in PIECES:
        modules = {size: module(kind, size) for size in (small, large)}
        works = {str(size): partial(lift_module, m, FORMS[0]) for size, m in modules.items()}
        found = interleave(works, repeat=repeat, clock=process_time)
        each = [found[str(size)].minimum / _length(m) * 1000 for size, m in modules.items()]
        kinds[kind] = each[0], each[1] / each[0]
        lengths = [_length(m) for m in modules.values()]
        note = f"of {lengths[0]:,} instructions; of {lengths[1]:,} {each[1]:.3f} s"
        yield Row(
            f"lift 1,000 instructions, {kind}", each[0], "s", higher_is_better=False, note=note
        )
    yield Row(
        "lift 1,000 instructions, median of kinds", median(s for s, _ in kinds.values()), "s",
        bar=Bar(0.2, on="ours"), higher_is_better=False,
    )  # fmt: skip
    name = max(kinds, key=lambda kind: kinds[kind][1])
    yield Row(
        "time an instruction, large over small, worst kind", kinds[name][1], "times",
        bar=Bar(1.5, on="ours"), higher_is_better=False, note=name,
    )  # fmt: skip


def decompiling(kind: str, size: int) -> Iterator[Row]:
    """The parts that a function goes through in `decompile`, and the whole."""
    original = module(kind, size)
    where = f"{kind}, {_length(original):,} instructions"
    tree, seconds = _timed(partial(lift_module, original, FORMS[0]))
    yield _row("lift", where, seconds)
    made, seconds = _timed(partial(compiled, tree, ARCH))
    yield _row("compile", where, seconds, "E0" if made.module is not None else made.error)
    if made.module is not None:
        same, seconds = _timed(partial(same_ptx, original, made.module, NAME))
        yield _row("compare PTX", where, seconds, "E1" if same else "")
        proof, seconds = _timed(partial(same_dataflow, original, made.module, NAME))
        yield _row("prove", where, seconds, "E2" if proof.equal else proof.reason)
        run, seconds = _timed(partial(same_execution, original, made.module, NAME))
        yield _row("run", where, seconds, "E3" if run.equal else run.reason)
    whole, seconds = _timed(partial(decompile, original, "symbolic"))
    yield _row("decompile", where, seconds, whole.verdict.badge.strip("[]"))


def _row(part: str, where: str, seconds: float, note: str = "") -> Row:
    return Row(f"{part}, {where}", seconds, "s", higher_is_better=False, note=note)


def _length(made: Module) -> int:
    return len(made[NAME].instructions)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    begin = process_time()
    return work(), process_time() - begin
