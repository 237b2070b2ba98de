"""Where commands write to is looked at before they begin."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ptxkit.cli import build_app, files

from .conftest import SAXPY


def run(*words: str | Path) -> tuple[int, str]:
    found = CliRunner().invoke(build_app(), [str(word) for word in words])
    assert "Traceback" not in found.output
    return found.exit_code, found.output


@pytest.fixture
def ptx(folder: Path) -> Path:
    path = Path("k.ptx")
    path.write_text(SAXPY)
    return path


@pytest.mark.parametrize(
    "command", ["decompile", "to-python", "assemble", "disassemble", "compile"]
)
def test_no_command_writes_over_its_input(ptx: Path, command: str) -> None:
    for other in (ptx, Path("..") / Path.cwd().name / ptx):
        code, said = run(command, ptx, "-o", other)
        assert (code, "is read here, and would be overwritten" in said) == (2, True), said
    assert ptx.read_text() == SAXPY


def test_other_names_of_the_input_are_the_input(ptx: Path) -> None:
    Path("link.ptx").symlink_to(ptx)
    Path("hard.ptx").hardlink_to(ptx)
    for name in ("link.ptx", "hard.ptx"):
        with pytest.raises(files.OutputError, match="is read here"):
            files.check_outputs([name], [ptx])


@pytest.mark.parametrize("name", ["sub/", "there", "there/"])
def test_a_folder_is_no_file(ptx: Path, name: str) -> None:
    Path("there").mkdir()
    code, said = run("decompile", ptx, "-o", name)
    assert (code, "is a folder, not a file to write" in said) == (2, True), said
    assert not Path("sub").exists()


def test_two_things_do_not_go_into_one_file(ptx: Path) -> None:
    for words in (("-o", "a.x", "--verdict", "./a.x"), ("--verdict", "-")):
        code, said = run("decompile", ptx, *words)
        assert (code, "two things would be written to" in said) == (2, True), said
    assert not Path("a.x").exists()
    files.check_outputs(["/dev/null", "/dev/null"])  # takes everything


def test_what_cannot_be_written_is_named_and_leaves_nothing(folder: Path) -> None:
    def full(path: Path) -> None:
        path.write_bytes(b"half of it")
        raise OSError(28, "No space left on device")

    with (
        pytest.raises(files.OutputError, match=r"'t.svg' cannot be written: No space left"),
        files.made("t.svg") as path,
    ):
        full(path)
    assert not list(Path().iterdir())


def test_standard_input_is_one_file() -> None:
    code, said = run("verify", "-", "-")
    assert (code, "only one of the two files" in said) == (2, True), said
