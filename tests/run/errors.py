"""``python -m tests.run.errors``: how far the approximations are from the truth and the GPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.run.approximations import approximation, content, elements, error, true_values
from tests.run.replay import RECORDING, replays


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
        row = approximation(one.opcode)
        if row is None:
            continue
        scalar = content(one.opcode)
        true = true_values(row, one)
        gpu, simulator = elements(one.gpu[0], scalar), elements(one.simulator[0], scalar)
        worst = [
            _show(float(error(row.measure, scalar, value, reference).max()), row.measure)
            for value, reference in ((gpu, true), (simulator, true), (simulator, gpu))
        ]
        equal = float((one.gpu == one.simulator).mean())
        note = f" ({row.note})" if row.note else ""
        limit = _show(row.limit, row.measure)
        cells = [f"`{one.opcode}`", row.measure + note, limit, *worst, f"{equal:.0%}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
