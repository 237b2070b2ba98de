"""``ptxkit stack``."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ptxkit.cli import build_app

RUNNER = CliRunner()


def run(*arguments: str, text: str = "") -> tuple[int, str, str]:
    result = RUNNER.invoke(build_app(), ["stack", *arguments], input=text)
    return result.exit_code, result.stdout, result.stderr


def test_a_stub() -> None:
    code, out, _ = run("-", "-i", "x:f32=%f1", "-o", "y:f32", text="x x mul.rn.f32\n")
    assert code == 0
    assert out == "{\n\tmul.rn.f32 y, %f1, %f1;\n}\n"


def test_one_word_is_a_program() -> None:
    code, out, _ = run("x", "-i", "x:u32", "-o", "y:u32")
    assert (code, out) == (0, "{\n\tmov.b32 y, x;\n}\n")


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    file.write_text('["x", 2.5, [7, "u64"], "mul.rn.f32"]')
    code, out, _ = run(str(file), "-i", "x:f32", "-o", "y:f32", "-o", "l:u64")
    assert code == 0 and "mul.rn.f32 y, x, 0f40200000;" in out and "mov.b64 l, 7;" in out


def test_running() -> None:
    code, out, err = run(
        "-", "-i", "x:f32", "-o", "y:f32", "--run", "x=1,2.5,-3", "--report", text="x x mul.rn.f32"
    )
    assert code == 0
    assert out == "y: [1.   6.25 9.  ]\n"
    assert "1 emitted" in err


def test_the_list() -> None:
    code, out, _ = run("--list")
    assert code == 0
    assert "fma.rn.f32                   f32 f32 f32 -> f32\n" in out
    assert len(out.splitlines()) > 800


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (("-", "-i", "x:f32", "-o", "y:f32"), "x\n  ad.f32", "item 1, line 2, column 3"),
        (("-",), "[1,", "<stdin>:1:4: this is not JSON"),
        ((), "", "name a file"),
        (("-", "-i", "x"), "", "write it like 'x:f32'"),
        (("-", "-i", "x:f32", "--run", "z=1"), "", "the inputs are: x"),
        (("-", "-i", "x:f32", "-i", "z:f32", "--run", "z=1"), "", "'x' has no values"),
        (("nowhere.txt",), "", "'nowhere.txt' is neither a file, nor an input"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], text: str, message: str) -> None:
    code, _, err = run(*arguments, text=text)
    assert code == 2 and message in err
