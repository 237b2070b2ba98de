"""Diagnostics render what a person needs, and the errors that carry them travel well."""

import importlib
import json
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptxkit
from ptxkit import errors
from ptxkit.diagnostics import Diagnostic


def at(column, source_line, *, length=None, **fields):
    """An error at a column of a line, with a span of `length` bytes."""
    span = None if length is None else (100, 100 + length)
    return Diagnostic(
        "error", "demo", "bad", 7, column, span=span, source_line=source_line, **fields
    )


def excerpt(diagnostic):
    """The source line and the caret line, without their common indent."""
    _, text, caret = diagnostic.render().split("\n")
    return text[4:], caret[4:]


def test_a_diagnostic_renders_in_full(snapshot):
    diagnostic = Diagnostic(
        "error",
        "syntax",
        "expected ']'",
        12,
        28,
        "close the address",
        filename="k.ptx",
        span=(310, 311),
        source_line="\tld.global.f32 %f1, [%rd1+4;\n",
    )
    assert diagnostic.render() == snapshot


def test_fields_are_positional_up_to_the_hint():
    diagnostic = Diagnostic("note", "demo", "message", 1, 2, "hint")
    assert (diagnostic.severity, diagnostic.code, diagnostic.message) == ("note", "demo", "message")
    assert (diagnostic.line, diagnostic.column, diagnostic.hint) == (1, 2, "hint")
    with pytest.raises(TypeError):
        Diagnostic("note", "demo", "message", 1, 2, "hint", "k.ptx")


@pytest.mark.parametrize("bad", [("fatal", 1, 1), ("error", 0, 1), ("error", 1, 0)])
def test_impossible_diagnostics_are_refused(bad):
    severity, line, column = bad
    with pytest.raises(ValueError, match=r"severity|count from 1"):
        Diagnostic(severity, "demo", "message", line, column)


@pytest.mark.parametrize(
    ("diagnostic", "expected"),
    [
        (at(5, "add x, y;"), ("add x, y;", "    ^")),
        (at(1, "add x, y;", length=3), ("add x, y;", "^^^")),
        (at(2, "\tret", length=3), ("    ret", "    ^^^")),
        (at(4, "a\t\tret", length=3), ("a       ret", "        ^^^")),
        (at(10, "add x, y;", length=0), ("add x, y;", "         ^")),
        (at(99, "ret"), ("ret", "   ^")),
        (at(8, "add x, y", length=500), ("add x, y", "       ^")),
        (at(4, "// é ret", length=2), ("// é ret", "   ^")),
        (at(3, "界 ret", length=3), ("界 ret", "   ^^^")),
        (at(2, "e\u0301x", length=2), ("e\u0301x", " ^")),
        (at(2, "a\x1b[2Jb", length=1), ("a\\x1b[2Jb", " ^^^^")),
        (at(3, "a\udcffret", length=3), ("a\\xffret", "     ^^^")),
        (at(1, "\udcffret", length=2), ("\\xffret", "^^^^^")),
        (at(1, "\ud800ret", length=4), ("\\ud800ret", "^^^^^^^")),
        (at(2, "\u202eret", length=3), ("\\u202eret", "      ^^^")),
        (at(1, ""), ("", "^")),
    ],
)
def test_the_caret_stands_under_the_span(diagnostic, expected):
    assert excerpt(diagnostic) == expected


@pytest.mark.parametrize("column", [1, 60, 5_000, 9_999])
def test_a_long_line_is_cut_around_the_caret(column):
    line = "".join(chr(ord("a") + i % 26) for i in range(10_000))
    text, caret = excerpt(at(column, line, length=4))
    assert len(text) <= 130
    assert text[caret.index("^") :].startswith(line[column - 1 : column + 3])
    assert text.startswith("...") == (column > 100)
    assert text.endswith("...") == (column < 9_900)


def test_a_span_longer_than_the_window_is_cut():
    text, caret = excerpt(at(11, "x" * 5_000, length=4_000))
    assert text.endswith("...")
    assert len(caret) <= len(text) <= 130


def test_nothing_reaches_the_terminal_as_a_command():
    diagnostic = Diagnostic(
        "error", "demo", "odd \x1b[2J", 1, 1, "no \x07", filename="a\nb", source_line="\x9b"
    )
    rendered = diagnostic.render()
    assert all(char == "\n" or char.isprintable() for char in rendered)
    assert rendered.count("\n") == 3


@given(
    st.text(st.characters(exclude_categories=(), exclude_characters="\r\n"), max_size=400),
    st.data(),
)
def test_any_line_renders(line, data):
    column = data.draw(st.integers(1, len(line) + 2))
    length = data.draw(st.integers(0, 500))
    text, caret = excerpt(at(column, line, length=length))
    assert caret.strip(" ").strip("^") == ""
    assert "^" in caret
    assert len(text) <= 2 * 130  # zero-width marks take no column


def test_to_dict_is_json():
    diagnostic = at(3, "a\udcff", length=1, filename="k.ptx")
    fields = json.loads(json.dumps(diagnostic.to_dict()))
    assert fields == diagnostic.to_dict()
    assert Diagnostic(**{**fields, "span": tuple(fields["span"])}) == diagnostic


def test_every_error_is_of_one_family():
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    own = [cls for cls in classes if cls.__module__ == "ptxkit.errors"]
    assert len(own) == 10
    assert all(issubclass(cls, errors.PtxkitError) for cls in own)


def test_a_syntax_error_points_at_its_first_error():
    warning = Diagnostic("warning", "old", "old syntax", 1, 1, filename="k.ptx")
    error = Diagnostic("error", "syntax", "expected ';'", 4, 9, filename="k.ptx")
    raised = errors.PtxSyntaxError([warning, error])
    assert raised.diagnostics == (warning, error)
    assert (raised.line, raised.column, raised.filename) == (4, 9, "k.ptx")
    assert str(raised) == warning.render() + "\n" + error.render()
    with pytest.raises(ValueError, match="at least one"):
        errors.PtxSyntaxError([])


@pytest.mark.parametrize(
    "error",
    [
        errors.PtxSyntaxError([at(1, "x")]),
        errors.MissingExtraError("torch", "neural"),
        errors.UsageError("no such kernel"),
    ],
)
def test_errors_survive_a_process_boundary(error):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


def test_a_missing_extra_names_the_pip_command():
    with pytest.raises(errors.MissingExtraError, match=r"pip install 'ptxkit\[app\]'"):
        errors.import_extra("no_such_package", "app")
    assert errors.import_extra("json", "app") is json


def test_a_broken_extra_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "broken_extra.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_dependency") as caught:
        errors.import_extra("broken_extra", "app")
    assert not isinstance(caught.value, errors.PtxkitError)


def test_the_page_names_errors_that_exist():
    page = (Path(__file__).parents[1] / "docs" / "index.md").read_text()
    table = page.split("| class | when |")[1].split("\n\n")[0]
    named = re.findall(r"`([\w.]+Error)`", table)
    assert len(named) > 20
    for name in named:
        room, _, last = name.rpartition(".")
        owner = importlib.import_module(f"ptxkit.{room}" if room else "ptxkit")
        # One without a room is of the package, or of the room of the one before it in its row.
        found = getattr(owner, last, None) or {one.__name__: one for one in _family()}[last]
        assert issubclass(found, ptxkit.PtxkitError), name


def _family(root=ptxkit.PtxkitError):
    """All classes of errors of the rooms that are loaded."""
    return [root, *(one for child in root.__subclasses__() for one in _family(child))]
