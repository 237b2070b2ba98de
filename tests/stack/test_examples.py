"""The examples do what they say."""

from __future__ import annotations

import runpy
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / f"{name}.py"))


def test_hello(capsys: pytest.CaptureFixture[str]) -> None:
    example("stack_hello")
    assert "array([ 5., 13.], dtype=float32)" in capsys.readouterr().out


def test_hello_with_inject(capsys: pytest.CaptureFixture[str]) -> None:
    example("stack_inject_hello")
    assert "[ 1.  2.  5. 10.]" in capsys.readouterr().out


def test_regression_gets_better() -> None:
    main = example("stack_regression")["main"]
    start = main(["--generations", "1", "--population", "300"])
    assert main(["--generations", "12", "--population", "300"]) < start / 2


def test_colours(tmp_path: Path) -> None:
    paths = example("stack_colours")["main"](
        ["--out", str(tmp_path), "--count", "2", "--size", "32"]
    )
    for path in paths:
        data = path.read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", data[16:24]) == (32, 32)


def test_complex_operations_are_right() -> None:
    found = example("stack_colours")
    isa = found["instruction_set"]()
    stack = found["stack"]
    z = np.array([1 + 2j, -0.5 + 0.25j, 3j], np.complex64)
    words = {"square": z * z, "inv.c": 1 / z, "exp.c": np.exp(z)}
    for word, wanted in words.items():
        interface = stack.Interface([stack.Operand("z", "b64", stack="c")], ["re:f32", "im:f32"],
                                    isa)  # fmt: skip
        made = stack.evaluate(["z", word, "parts"], {"z": z.view(np.uint64)}, interface)
        np.testing.assert_allclose(made["re"] + 1j * made["im"], wanted, rtol=1e-5, atol=1e-5)


def test_semirings() -> None:
    errors = example("stack_semiring")["main"](device="cpu")
    assert len(errors) == 4 and max(errors.values()) < 1e-5


def test_epilogue() -> None:
    assert example("stack_epilogue")["main"](device="cpu") == "tanh"
