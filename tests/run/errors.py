"""``python -m tests.run.errors``: how far the approximations are from the truth and the GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.run.approximations import (
    Approximation,
    approximations,
    content,
    elements,
    error,
    true_values,
)
from tests.run.replay import RECORDING, Replay, replays


def _show(value: float, measure: str) -> str:
    if value == 0:
        return "0"
    return f"{value:.2f} ulp" if measure == "ulp" else f"2^{np.log2(value):.1f}"


def table(recording: Path = RECORDING) -> list[str]:
    """A Markdown table, one row for every approximate opcode."""
    lines = [
        "| instruction | measure | bound | GPU | simulator | simulator to GPU | equal bits |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in replays(recording):
        lines += [_line(row, one) for row in approximations(one.opcode)]
    return lines


def _line(row: Approximation, one: Replay) -> str:
    scalar = content(one.opcode)
    true = true_values(row, one)
    gpu, simulator = elements(one.gpu[0], scalar), elements(one.simulator[0], scalar)
    inside = np.isfinite(true)  # the inputs that the row is about
    pairs = ((gpu, true), (simulator, true), (simulator, np.where(inside, gpu, np.nan)))
    worst = [
        _show(float(error(row.measure, scalar, value, reference).max()), row.measure)
        for value, reference in pairs
    ]
    equal = float((one.gpu == one.simulator).mean())
    note = f" ({row.note})" if row.note else ""
    limit = _show(row.limit, row.measure) if row.stated else "not stated"
    cells = [f"`{one.opcode}`", row.measure + note, limit, *worst, f"{equal:.0%}"]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print("\n".join(table()))
