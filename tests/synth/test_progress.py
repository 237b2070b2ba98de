"""What a run tells while it works."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from ptxkit.cli.progress import shown


def test_a_log_gets_a_line_at_once_and_one_at_the_end() -> None:
    text = io.StringIO()
    with shown("warp kernels", 300, Console(file=text, width=200)) as report:
        report(0, 300)
        assert text.getvalue() == "warp kernels: 0 of 300, compiling the first batch, 0 s\n"
        for done in (100, 200, 300):  # within a moment: not a line each
            report(done, 300)
    lines = text.getvalue().splitlines()
    assert lines[1:] == ["warp kernels: 300 of 300, writing the files, 0 s"]


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxkit.cli.progress._SECONDS_BETWEEN_LINES", 0.0)
    text = io.StringIO()
    with shown("kernels", 300, Console(file=text, width=200)) as report:
        report(100, 300)
        report(200, 300)
    first, second = text.getvalue().splitlines()
    assert first == "kernels: 100 of 300, compiling the next batch, 0 s"
    assert second.startswith("kernels: 200 of 300, ") and "/s" in second


def test_a_terminal_gets_a_bar_that_says_what_goes_on() -> None:
    text = io.StringIO()
    with shown("kernels", 300, Console(file=text, force_terminal=True, width=120)) as report:
        report(0, 300)
    assert "compiling the first batch" in text.getvalue() and "0/300" in text.getvalue()
