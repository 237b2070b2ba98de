"""Launch overhead: microseconds of a launch from Python, beside other libraries."""

from __future__ import annotations

import pytest
from benchmarks.launch import benchmark
from benchmarks.report import Settings, figure
from tests.gpu.compare import Record


def test_launches_cost_no_more_than_those_of_others(record_property: Record) -> None:
    rows = list(benchmark(Settings()))
    if not any(row.peer for row in rows):
        pytest.skip("neither cuda.core nor cupy is installed beside torch")
    lines = ["| launch | ours, us | peer, us | ours to peer |", "| --- | --- | --- | --- |"]
    for row in rows:
        peer = "-" if row.peer is None else figure(row.peer)
        ratio = "-" if row.peer is None else f"{row.ours / row.peer:.2f}"
        lines.append(f"| {row.measure} | {figure(row.ours)} | {peer} | {ratio} |")
    record_property("table", lines)
    assert all(row.met is not False for row in rows), lines
