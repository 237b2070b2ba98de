"""`ptxkit check` finds what is wrong, in every input, and says so in its exit code."""

import json

import pytest

from helpers import run_cli
from ptxkit.cli.check import _coloured
from ptxkit.diagnostics import Diagnostic

from .conftest import NOT_PTX, SAXPY, WRONG, needs_permissions

UNREACHABLE = WRONG.replace("    lds.f32 %f1, [0];\n    add.f32 %f1, %f1;\n", "")


def test_a_clean_file(ptxkit, folder):
    (folder / "k.ptx").write_text(SAXPY)
    result = ptxkit("check", "k.ptx")
    assert (result.exit_code, result.stdout) == (0, "1 file, 0 errors, 0 warnings\n")
    assert result.stderr == ""


def test_what_is_wrong_is_shown(ptxkit, folder, snapshot):
    (folder / "k.ptx").write_text(WRONG)
    result = ptxkit("check", "k.ptx")
    assert result.exit_code == 1
    assert result.stdout == snapshot


def test_syntax_errors_come_with_the_others(ptxkit, folder):
    (folder / "k.ptx").write_text(NOT_PTX.replace(".target sm_80\n", ""))
    result = ptxkit("check", "k.ptx")
    assert result.exit_code == 1
    assert "k.ptx:2:17: error[missing-semicolon]" in result.stdout
    assert "error[missing-target]" in result.stdout


def test_warnings_are_allowed_unless_told(ptxkit, folder):
    (folder / "k.ptx").write_text(UNREACHABLE)
    result = ptxkit("check", "k.ptx")
    assert result.exit_code == 0
    assert "warning[unreachable]" in result.stdout
    assert result.stdout.endswith("1 file, 0 errors, 1 warning\n")
    result = ptxkit("check", "k.ptx", "--warnings-as-errors")
    assert result.exit_code == 1
    assert "error[unreachable]" in result.stdout
    assert result.stdout.endswith("1 file, 1 error, 0 warnings\n")


def test_quiet_shows_errors_alone(ptxkit, folder):
    (folder / "k.ptx").write_text(UNREACHABLE)
    assert ptxkit("check", "--quiet", "k.ptx").stdout == ""
    (folder / "k.ptx").write_text(WRONG)
    result = ptxkit("check", "-q", "k.ptx")
    assert result.exit_code == 1
    assert "error[" in result.stdout
    assert "warning[" not in result.stdout
    assert "1 file" not in result.stdout


def test_notes_are_shown_on_request(ptxkit, folder):
    text = SAXPY.replace("ld.global.f32 \t%f2", "ld.f32.global \t%f2")
    (folder / "k.ptx").write_text(text)
    assert ptxkit("check", "k.ptx").stdout == "1 file, 0 errors, 0 warnings\n"
    result = ptxkit("check", "k.ptx", "--notes")
    assert "note[modifier-order]" in result.stdout
    assert result.stdout.endswith("1 file, 0 errors, 0 warnings, 1 note\n")
    assert result.exit_code == 0


def test_codes_can_be_selected_and_ignored(ptxkit, folder):
    (folder / "k.ptx").write_text(WRONG)
    codes = {row["code"] for row in json.loads(ptxkit("check", "--json", "k.ptx").stdout)}
    assert {"unknown-instruction", "operand-count"} <= codes

    def found(*options):
        rows = json.loads(ptxkit("check", "--json", "k.ptx", *options).stdout)
        return {row["code"] for row in rows}

    assert found("--select", "operand-count") == {"operand-count"}
    both = {"operand-count", "unknown-instruction"}
    assert found("--select", "operand-count, unknown-instruction") == both
    assert found("--select", "operand-count", "--select", "unknown-instruction") == both
    assert found("--ignore", "operand-count") == codes - {"operand-count"}
    assert ptxkit("check", "k.ptx", "--ignore", ",".join(codes)).exit_code == 0


def test_syntax_errors_can_not_be_ignored(ptxkit, folder):
    (folder / "k.ptx").write_text(NOT_PTX)
    assert ptxkit("check", "k.ptx", "--ignore", "syntax").exit_code == 1
    assert ptxkit("check", "k.ptx", "--select", "operand-count").exit_code == 1


def test_json_has_every_field(ptxkit, folder):
    (folder / "k.ptx").write_bytes(WRONG.encode().replace(b"[0];", b"[0]; // \xff"))
    rows = json.loads(ptxkit("check", "--json", "k.ptx").stdout)
    assert list(rows[0]) == list(Diagnostic("note", "x", "y", 1, 1).to_dict())
    assert rows[0]["filename"] == "k.ptx"
    assert rows[0]["source_line"].endswith("// \N{REPLACEMENT CHARACTER}")
    (folder / "k.ptx").write_text(SAXPY)
    assert json.loads(ptxkit("check", "--json", "k.ptx").stdout) == []


def test_another_target_can_be_asked_about(ptxkit, folder):
    (folder / "k.ptx").write_text(
        SAXPY.replace("fma.rn.f32 \t%f4, %f1, %f2, %f3", "tanh.approx.f32 %f4, %f1")
    )
    assert ptxkit("check", "k.ptx").exit_code == 0
    result = ptxkit("check", "--target", "sm_70", "k.ptx")
    assert result.exit_code == 1
    assert "error[target]" in result.stdout
    result = ptxkit("check", "--target", "volta", "k.ptx")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'volta' is not a target" in result.stderr


def test_folders_and_standard_input(ptxkit, folder):
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "one.ptx").write_text(SAXPY)
    (folder / "deep" / "two.PTX").write_text(SAXPY)
    (folder / "deep" / "notes.txt").write_text("no PTX")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "three.ptx").write_text(NOT_PTX)
    assert ptxkit("check", ".").stdout.startswith("2 files, 0 errors")
    assert ptxkit("check", ".hidden").stdout.endswith("1 file, 1 error, 0 warnings\n")
    result = ptxkit("check", "-", "deep", "deep/two.PTX", input=NOT_PTX)
    assert "<stdin>:3:17: error[missing-semicolon]" in result.stdout
    assert result.stdout.endswith("3 files, 1 error, 0 warnings\n")


def test_an_empty_file_is_no_ptx(ptxkit, folder):
    (folder / "k.ptx").write_bytes(b"")
    result = ptxkit("check", "k.ptx")
    assert result.exit_code == 1
    assert "error[missing-version]" in result.stdout


def test_what_can_not_be_read_does_not_stop_the_others(ptxkit, folder, snapshot):
    (folder / "empty").mkdir()
    (folder / "host.o").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(57))
    (folder / "k.cubin").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xbe\0" + bytes(44))
    (folder / "k.fatbin").write_bytes(b"\x50\xed\x55\xba\x01\0\x10\0")
    (folder / "wide.ptx").write_bytes(SAXPY.encode("utf-16"))
    (folder / "nul.ptx").write_bytes(b".version 8.0\n\0\x01\x02 more")
    (folder / "bad.ptx").write_text(NOT_PTX)
    (folder / "good.ptx").write_text(SAXPY)
    names = "missing.ptx empty host.o k.cubin k.fatbin wide.ptx nul.ptx bad.ptx good.ptx"
    result = ptxkit("check", *names.split())
    assert result.exit_code == 2
    assert "bad.ptx:3:17: error[missing-semicolon]" in result.stdout
    assert result.stdout.endswith("2 files, 1 error, 0 warnings, 7 not read\n")
    assert result.stderr == snapshot


def test_nul_bytes_at_the_end_are_no_binary(ptxkit, folder):
    (folder / "k.ptx").write_bytes(SAXPY.encode() + b"\0\0")
    assert ptxkit("check", "k.ptx").exit_code == 0


@needs_permissions
def test_no_permission(ptxkit, folder):
    (folder / "k.ptx").write_text(SAXPY)
    (folder / "k.ptx").chmod(0)
    result = ptxkit("check", "k.ptx")
    assert result.exit_code == 2
    assert "'k.ptx' cannot be read: Permission denied" in result.stderr


def test_a_name_that_is_not_utf8(ptxkit, folder):
    result = ptxkit("check", "k\udcff.ptx")
    assert result.exit_code == 2
    assert r"'k\xff.ptx' cannot be read" in result.stderr


def test_usage_errors(ptxkit):
    assert ptxkit("check").exit_code == 2
    assert ptxkit("check", "--no-such-option", "k.ptx").exit_code == 2


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
def test_colour_changes_no_text(severity):
    diagnostic = Diagnostic(
        severity, "demo", "bad: error[demo]: [red]", 1, 5, "try: again",
        filename="a: b.ptx", span=(4, 7), source_line="add foo;",
    )  # fmt: skip
    text = _coloured(diagnostic)
    assert text.plain == diagnostic.render()
    assert text.spans


def test_colour_is_for_terminals(ptxkit, folder):
    (folder / "k.ptx").write_text(WRONG)
    assert "\x1b[" not in ptxkit("check", "k.ptx").stdout
    assert "\x1b[1;31merror[operand-count]" in ptxkit("check", "k.ptx", colour=True).stdout


def test_the_exit_code_of_the_process(folder):
    (folder / "k.ptx").write_text(WRONG)
    result = run_cli("check", "k.ptx", "missing.ptx")
    assert result.returncode == 2
    assert result.stdout.endswith("1 file, 2 errors, 1 warning, 1 not read\n")
    assert run_cli("check", "k.ptx").returncode == 1
