"""`ptxkit fmt` rewrites white space and nothing else, completely or not at all."""

import errno
import os
import shutil
import stat
import subprocess

import pytest

import ptxkit as toolkit
from ptxkit.cli import files, fmt

from .conftest import NOT_PTX, SAXPY, needs_permissions

# A comment and a string with bytes that are not UTF-8.
RAW = SAXPY.encode().replace(b"NVIDIA NVVM", b"\xff\xfe NVVM") + b'.pragma "\xe9";'
DONE = toolkit.format(SAXPY)


def contents(folder):
    """The names in the folder: no temporary file may stay."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_rewritten_in_place(ptxkit, folder):
    (folder / "a.ptx").write_text(SAXPY)
    (folder / "b.ptx").write_text(DONE)
    result = ptxkit("fmt", "a.ptx", "b.ptx")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "reformatted a.ptx\n1 file reformatted, 1 file unchanged\n"
    assert (folder / "a.ptx").read_text() == DONE
    assert contents(folder) == ["a.ptx", "b.ptx"]
    assert ptxkit("fmt", "a.ptx").stdout == "1 file unchanged\n"


def test_check_writes_nothing(ptxkit, folder):
    (folder / "a.ptx").write_text(SAXPY)
    result = ptxkit("fmt", "--check", "a.ptx")
    assert result.exit_code == 1
    assert result.stdout == "would reformat a.ptx\n1 file would be reformatted\n"
    assert (folder / "a.ptx").read_text() == SAXPY
    (folder / "a.ptx").write_text(DONE)
    result = ptxkit("fmt", "--check", "a.ptx")
    assert (result.exit_code, result.stdout) == (0, "1 file unchanged\n")


def test_diff_writes_nothing(ptxkit, folder, snapshot):
    (folder / "a.ptx").write_text("//1\n//2\n//3\n//4\n.func  f()\n{\n    ret;\n}")
    result = ptxkit("fmt", "--diff", "a.ptx")
    assert (result.exit_code, result.stdout) == (0, snapshot)
    assert ptxkit("fmt", "--diff", "--check", "a.ptx").exit_code == 1
    assert (folder / "a.ptx").read_text().endswith("}")
    (folder / "a.ptx").write_text(DONE)
    result = ptxkit("fmt", "--diff", "--check", "a.ptx")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
@pytest.mark.parametrize("text", [SAXPY.encode(), RAW, RAW.replace(b"\n", b"\r\n"), b"\n\n//a"])
def test_the_diff_can_be_applied(ptxkit, folder, text):
    (folder / "a.ptx").write_bytes(text)
    difference = ptxkit("fmt", "--diff", "a.ptx").stdout_bytes
    subprocess.run(
        ["patch", "--binary", "-s", "-o", "b.ptx", "a.ptx"], input=difference, check=True
    )
    ptxkit("fmt", "a.ptx")
    assert (folder / "a.ptx").read_bytes() == (folder / "b.ptx").read_bytes()


def test_bytes_that_are_not_utf8_stay(ptxkit, folder):
    (folder / "a.ptx").write_bytes(RAW)
    assert ptxkit("fmt", "a.ptx").exit_code == 0
    assert (folder / "a.ptx").read_bytes() == toolkit.format(RAW).encode("utf-8", "surrogateescape")
    assert b"\xff\xfe NVVM" in (folder / "a.ptx").read_bytes()
    assert ptxkit("fmt", "-", input=RAW).stdout_bytes == (folder / "a.ptx").read_bytes()


def test_standard_input_is_filtered(ptxkit, folder):
    result = ptxkit("fmt", "-", input=SAXPY)
    assert (result.exit_code, result.stdout, result.stderr) == (0, DONE, "")
    assert ptxkit("fmt", "-", input=DONE).stdout == DONE
    assert ptxkit("fmt", "-", input="").stdout == ""
    result = ptxkit("fmt", "-", "--check", input=SAXPY)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "would reformat <stdin>")
    assert ptxkit("fmt", "-", "--diff", input=SAXPY).stdout.startswith("--- <stdin>\n")
    result = ptxkit("fmt", "-", input=NOT_PTX)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "<stdin>:3:17: error[missing-semicolon]" in result.stderr
    result = ptxkit("fmt", "-", "a.ptx", input=SAXPY)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give it alone" in result.stderr


def test_width_breaks_long_lines(ptxkit, folder):
    narrow = ptxkit("fmt", "-", "--width", "30", input=SAXPY).stdout
    assert len(narrow.splitlines()) > len(DONE.splitlines())
    for width in ("19", "10001", "wide"):
        assert ptxkit("fmt", "-", "--width", width, input=SAXPY).exit_code == 2


def test_errors_leave_the_file_and_do_the_others(ptxkit, folder, snapshot):
    (folder / "bad.ptx").write_text(NOT_PTX)
    (folder / "host.o").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(57))
    (folder / "empty.ptx").write_bytes(b"")
    (folder / "good.ptx").write_text(SAXPY)
    result = ptxkit("fmt", "bad.ptx", "missing.ptx", "host.o", "empty.ptx", "good.ptx")
    assert result.exit_code == 2
    assert result.stdout == (
        "reformatted good.ptx\n1 file reformatted, 1 file unchanged, 3 files not formatted\n"
    )
    assert result.stderr == snapshot
    assert (folder / "bad.ptx").read_text() == NOT_PTX
    assert (folder / "good.ptx").read_text() == DONE
    assert (folder / "empty.ptx").read_bytes() == b""


def test_folders_are_searched(ptxkit, folder):
    (folder / "deep").mkdir()
    (folder / "deep" / "a.ptx").write_text(SAXPY)
    (folder / "deep" / "a.txt").write_text(SAXPY)
    result = ptxkit("fmt", ".")
    assert result.stdout.splitlines()[-1] == "1 file reformatted"
    assert (folder / "deep" / "a.ptx").read_text() == DONE
    assert (folder / "deep" / "a.txt").read_text() == SAXPY


def test_mode_and_links_stay(ptxkit, folder):
    (folder / "real").mkdir()
    target = folder / "real" / "a.ptx"
    target.write_text(SAXPY)
    target.chmod(0o640)
    (folder / "link.ptx").symlink_to(target)
    assert ptxkit("fmt", "link.ptx").exit_code == 0
    assert (folder / "link.ptx").is_symlink()
    assert target.read_text() == DONE
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@needs_permissions
def test_a_read_only_file_is_not_replaced(ptxkit, folder):
    (folder / "a.ptx").write_text(SAXPY)
    (folder / "a.ptx").chmod(0o444)
    result = ptxkit("fmt", "a.ptx")
    assert result.exit_code == 2
    assert "it is read-only" in result.stderr
    assert (folder / "a.ptx").read_text() == SAXPY


@pytest.mark.parametrize("moment", ["fsync", "fchmod"])
def test_a_full_disk_leaves_the_old_file(ptxkit, folder, monkeypatch, moment):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (folder / "a.ptx").write_text(SAXPY)
    monkeypatch.setattr(os, moment, fail)
    result = ptxkit("fmt", "a.ptx")
    assert result.exit_code == 2
    assert result.stderr == ("ptxkit: error: 'a.ptx' cannot be written: No space left on device\n")
    assert (folder / "a.ptx").read_text() == SAXPY
    assert contents(folder) == ["a.ptx"]


def test_an_interrupt_leaves_the_old_file(ptxkit, folder, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    (folder / "a.ptx").write_text(SAXPY)
    monkeypatch.setattr(os, "fsync", interrupt)
    assert ptxkit("fmt", "a.ptx").exit_code == 130
    assert (folder / "a.ptx").read_text() == SAXPY
    assert contents(folder) == ["a.ptx"]


def test_a_device_can_be_written_but_not_formatted_in_place(folder):
    files.write("/dev/null", b"gone")
    with pytest.raises(files.OutputError, match="No space left"):
        files.write("/dev/full", b"too much")
    with pytest.raises(files.OutputError, match="is a folder"):
        files.write(folder, b"")
    with pytest.raises(files.OutputError, match="No such file"):
        files.write(folder / "no" / "such", b"")
    files.write(folder / "new", b"text")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((folder / "new").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("wrong", ["", ".func f() { retret; }", ".func f() { ret ret; }"])
def test_a_layout_that_changes_the_program_is_refused(ptxkit, folder, monkeypatch, wrong):
    monkeypatch.setattr("ptxkit.syntax.format", lambda module, width: wrong)
    (folder / "a.ptx").write_text(".func f() { ret; ret; }")
    result = ptxkit("fmt", "a.ptx")
    assert result.exit_code == 2
    assert "would change more than white space" in result.stderr
    assert (folder / "a.ptx").read_text() == ".func f() { ret; ret; }"


def test_ranges_are_those_of_diff():
    assert fmt._range(4, 7) == b"5,3"
    assert fmt._range(0, 0) == b"0,0"
