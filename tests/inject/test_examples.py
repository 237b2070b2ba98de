"""The examples of this room run, and say what they should."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("hello", [], "sqrt.rn.f32 %_x, %_x;    [1. 2. 3. 4.]"),
        ("semiring", ["--size", "16", "--device", "cpu"], "largest difference 0.0e+00"),
        ("epilogue", ["--device", "cpu"], "within 0.001: tanh.approx"),
    ],
)
def test_example(
    name: str,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = EXAMPLES / f"inject_{name}.py"
    monkeypatch.setattr(sys, "argv", [str(path), *arguments])
    runpy.run_path(str(path), run_name="__main__")
    assert said in capsys.readouterr().out


def test_hello_is_short() -> None:
    lines = (EXAMPLES / "inject_hello.py").read_text().split('"""\n', 1)[1].splitlines()
    assert len([line for line in lines if line.strip()]) <= 14
