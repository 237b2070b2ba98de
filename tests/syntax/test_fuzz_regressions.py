"""Inputs that fuzzing (``make fuzz``) found faults with, kept so that they stay mended."""

from __future__ import annotations

from time import perf_counter

import pytest

import ptxkit

# Formatting changed what these say.
MISREAD = {
    # An @@DWARF statement ends with its line, and long lines were broken at commas.
    "dwarf": "@@DWARF .4byte " + ", ".join(["0x12345678"] * 20) + "\n",
}

# The parser took these, and the formatter or a second reading did not agree.
REFUSED = {
    "double colon after the first word": (".func f{@p e::g;}", "before a label"),
    "number as modifier": (".func f{d.5E+7;}", "a modifier"),
}

# These took time by the square of their size.
SLOW = {
    "NUL bytes": b"\0" * 400_000 + b"x",
    "NUL bytes and spaces": b"\0 " * 200_000 + b"x",
    "an error a byte": b";" * 400_000,
    "comments": b"/**/\n" * 80_000,
    "comments in a statement": b".func f(){mov a,\n" + b"//c\n" * 80_000 + b"b;}",
}


@pytest.mark.parametrize("width", [20, 100])
@pytest.mark.parametrize("name", MISREAD)
def test_formatting_keeps_what_is_said(name: str, width: int) -> None:
    module = ptxkit.parse(MISREAD[name])
    text = ptxkit.format(module, width=width)
    again = ptxkit.parse(text)
    assert [node.kind for node in again.walk()] == [node.kind for node in module.walk()]
    assert ptxkit.format(again, width=width) == text


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_ptx_is_refused(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(ptxkit.PtxSyntaxError, match=message):
        ptxkit.parse(text)
    assert ptxkit.parse(text, recover=True).emit() == text


@pytest.mark.parametrize("name", SLOW)
def test_time_grows_with_size_only(name: str) -> None:
    begin = perf_counter()
    module = ptxkit.parse(SLOW[name], recover=True)
    assert module.emit_bytes() == SLOW[name]
    if not module.diagnostics_raw:
        ptxkit.format(module)
    assert perf_counter() - begin < 5  # a tenth of a second now, minutes before
