"""The command line ends every command the same way."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from helpers import run_cli
from ptxkit import cli
from ptxkit.cli import version as version_command
from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxSyntaxError, ToolchainError


def exit_code_when(failure, monkeypatch):
    """Run `ptxkit version` with a failure inside, and give its exit code."""

    def command():
        """Fail."""
        raise failure

    monkeypatch.setattr(version_command, "command", command)
    monkeypatch.setattr(sys, "argv", ["ptxkit", "version"])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return stopped.value.code


def test_version_is_the_installed_one():
    result = run_cli("--version")
    assert (result.returncode, result.stdout, result.stderr) == (
        0,
        f"ptxkit {version('ptxkit')}\n",
        "",
    )


def test_the_version_command_says_how_the_core_was_built():
    result = run_cli("version")
    assert result.returncode == 0
    assert f"ptxkit {version('ptxkit')}" in result.stdout
    assert "compiler: " in result.stdout


def test_help_lists_every_command():
    result = run_cli("--help")
    assert result.returncode == 0
    for name in cli.COMMANDS:
        assert name in result.stdout


def test_a_wrong_command_is_a_usage_error():
    result = run_cli("no-such-command")
    assert result.returncode == 2
    assert "no-such-command" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_expected_error_is_one_message(monkeypatch, capsys):
    assert exit_code_when(ToolchainError("ptxas was not found"), monkeypatch) == 2
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", "ptxkit: error: ptxas was not found\n")


ALL_ERRORS = "these are errors of syntax only; all errors: ptxkit check k.ptx"


def test_a_syntax_error_is_its_diagnostics(monkeypatch, capsys):
    diagnostic = Diagnostic("error", "syntax", "expected ';'", 2, 1, filename="k.ptx")
    assert exit_code_when(PtxSyntaxError([diagnostic]), monkeypatch) == 2
    said = capsys.readouterr().err
    assert said == f"{diagnostic.render()}\n{ALL_ERRORS}\n"


def test_an_interrupt_is_one_line(monkeypatch, capsys):
    assert exit_code_when(KeyboardInterrupt(), monkeypatch) == 130
    assert capsys.readouterr().err == "ptxkit: note: interrupted\n"


def test_a_bug_is_not_hidden(monkeypatch):
    def command():
        raise ZeroDivisionError

    monkeypatch.setattr(version_command, "command", command)
    monkeypatch.setattr(sys, "argv", ["ptxkit", "version"])
    with pytest.raises(ZeroDivisionError):
        cli.main()


def test_a_closed_pipe_is_quiet():
    code = (
        "import sys\n"
        "from ptxkit import cli\n"
        "from ptxkit.cli import version\n"
        "def command():\n"
        "    sys.stdin.read()\n"
        "    print('x' * 1_000_000)\n"
        "version.command = command\n"
        "sys.argv = ['ptxkit', 'version']\n"
        "cli.main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout and process.stderr
    with process:
        process.stdout.close()  # nobody reads, and only then does the command print
        process.stdin.close()
        complaint = process.stderr.read()
    assert complaint == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("words", "closed", "says"),
    [
        ("to-python k.ptx", ">&-", "standard output is closed"),
        ("decompile k.ptx --no-verify", ">&-", "standard output is closed"),
        ("fmt -", "<&-", "standard input is closed"),
        ("fmt missing.ptx", "2>&-", ""),
    ],
)
def test_streams_that_are_closed(tmp_path: Path, words: str, closed: str, says: str) -> None:
    (tmp_path / "k.ptx").write_text(".version 8.0\n.target sm_80\n.entry k() { ret; }\n")
    shell = ["bash", "-c", f"'{sys.executable}' -m ptxkit {words} {closed}"]
    done = subprocess.run(shell, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
