"""What is not PTX is refused: at the right place, in plain words, without a crash."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ptxkit
from isa.ptxas import find_ptxas
from syntax.malformed import ALL
from syntax.snippets import HEAD, Bad, kernel, module, ptxas_accepts

by_name = pytest.mark.parametrize("case", ALL, ids=lambda case: case.name.replace(" ", "-"))


def as_bytes(text: str) -> bytes:
    """The bytes of a text; surrogates stand for bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def errors(text: str | bytes) -> list[ptxkit.Diagnostic]:
    """The errors that check finds, in source order."""
    return [found for found in ptxkit.check(text) if found.severity == "error"]


def test_the_table_is_large_and_each_case_has_its_own_text() -> None:
    assert len(ALL) >= 80
    assert len({case.text for case in ALL}) == len(ALL)
    assert len({case.name for case in ALL}) == len(ALL)


@by_name
def test_the_first_error_is_where_the_table_says(case: Bad) -> None:
    first = errors(case.text)[0]
    assert f"{first.line}:{first.column}" == case.at
    assert first.span == case.span
    _, source, caret, *_ = first.render().split("\n")
    start, end = case.span
    under = as_bytes(case.text)[start:end].decode("utf-8", "backslashreplace")
    if under.isascii() and under.isprintable():
        left = caret.index("^")
        assert source[left : left + len(under)] == under
        assert caret.count("^") == max(1, len(under))


@by_name
def test_the_diagnostics_read_well(case: Bad, snapshot: object) -> None:
    found = ptxkit.check(case.text)
    assert "\n".join(one.render() for one in found) == snapshot
    assert sum(one.severity == "error" for one in found) <= 2, "one mistake, a cascade of errors"
    for one in found:
        assert not one.message[0].isupper() or one.message.startswith("PTX")
        assert not one.message.endswith(".")
        assert one.hint is None or not one.hint.endswith(".") or one.hint.endswith("...")


@by_name
def test_parse_raises_what_check_says_and_loses_nothing(case: Bad) -> None:
    recovered = ptxkit.parse(case.text, recover=True)
    assert recovered.emit_bytes() == as_bytes(case.text)
    if not recovered.diagnostics:
        assert ptxkit.parse(case.text).emit_bytes() == as_bytes(case.text)
        return
    with pytest.raises(ptxkit.PtxSyntaxError) as raised:
        ptxkit.parse(case.text)
    error, found = raised.value, ptxkit.check(case.text)
    assert error.diagnostics == recovered.diagnostics
    assert all(one in found for one in error.diagnostics)
    assert str(error) == "\n".join(one.render() for one in error.diagnostics)
    assert (error.line, error.column) == (error.diagnostics[0].line, error.diagnostics[0].column)


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on this machine")
def test_ptxas_refuses_every_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        accepted = pool.map(lambda case: ptxas_accepts(as_bytes(case.text), tmp_path), ALL)
        assert [case.name for case, good in zip(ALL, accepted, strict=True) if good] == []


# -- files that end too early -----------------------------------------------------------------

WHOLE = f"""{HEAD}.file 1 "k.cu"
.global .align 4 .u32 table[2] = {{1, 2}};
.func (.reg .b32 r) add(.reg .b32 a, .reg .b32 b)
{{
    add.s32 r, a, b; // a comment
    ret;
}}
.visible .entry k(.param .u64 p)
.maxntid 32, 1, 1
{{
    .reg .pred %p;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    .loc 1 2 3
    ld.param.u64 %rd1, [p+0];
    mov.b32 %r1, (1 + 2) * 3; /* another */
    setp.lt.s32 %p, %r1, 10;
    @!%p bra DONE;
    call (%r2), add, (%r1, 5);
    {{ .reg .b32 x; st.global.v2.b32 [%rd1], {{%r2, %r1}}; }}
DONE:
    ret;
}}
.section .debug_str
{{
info:
    .b8 1, 2
    .b64 info
}}
"""


def test_the_whole_file_is_good() -> None:
    assert errors(WHOLE) == []


def test_a_file_cut_anywhere_is_refused_near_its_end() -> None:
    for end in range(len(WHOLE)):
        cut = WHOLE[:end]
        parsed = ptxkit.parse(cut, recover=True)
        assert parsed.emit() == cut
        assert len(parsed.diagnostics) <= 2, cut[-60:]
        for one in parsed.diagnostics:
            assert one.span is not None
            assert one.line <= cut.count("\n") + 1
            opened = one.code in ("unbalanced", "open-comment", "open-string")
            # What was opened and not closed is shown where it was opened.
            assert opened or one.span[1] >= len(cut.rstrip()) - 40, (cut[-60:], one.render())
        ptxkit.check(cut)


def test_a_file_without_its_beginning_does_not_crash() -> None:
    for start in range(0, len(WHOLE), 7):
        rest = WHOLE[start:]
        assert ptxkit.parse(rest, recover=True).emit() == rest
        assert start == 0 or errors(rest) != []


# -- size and depth --------------------------------------------------------------------------

DEEP = 100_000


def test_deep_blocks_parse() -> None:
    text = module(f".func f() {'{' * DEEP}{'}' * DEEP}")
    assert errors(text) == []
    assert ptxkit.parse(text).emit() == text
    assert ptxkit.format(text).count("{") == DEEP + 1


@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("(", "1", ")"),
        ("-", "1", ""),
        ("(.s64)", "1", ""),
        ("[%rd1, ", "1", "]"),
        ("[", "1", "]"),
        ("{", "1", "}"),
        ("(1+", "1", ")"),
    ],
)
def test_deep_operands_are_refused(opening: str, inner: str, closing: str) -> None:
    text = kernel(f"mov.b32 %r1, {opening * DEEP}{inner}{closing * DEEP};")
    found = errors(text)
    assert len(found) == 1
    assert found[0].line == 8
    assert len(found[0].render()) < 1000


def test_deep_initialisers_are_refused() -> None:
    for opening, closing in (("{", "}"), ("generic(", ")"), ("0xFF(", ")")):
        text = module(f".global .u32 x[1] = {opening * DEEP}1{closing * DEEP};")
        found = errors(text)
        assert [one.code for one in found] == ["nesting"], found[:3]


def test_long_expressions_are_evaluated() -> None:
    text = kernel(f"mov.b64 %rd1, {'1+' * 20_000}1; mov.b64 %rd2, {'0?2:' * 20_000}7;")
    assert errors(text) == []
    values = [i.operands[1].value for i in ptxkit.parse(text)["k"].instructions[:2]]
    assert values == [20_001, 7]


@pytest.mark.parametrize("piece", ["a", "1", "%r", "$", "_", ".b", "0x1", '"', "/*", "@", "é"])
def test_long_tokens_and_many_of_them_are_refused_shortly(piece: str) -> None:
    text = kernel(f"mov.b32 %r1, {piece * 50_000};")
    found = errors(text)
    assert 1 <= len(found) <= 3
    assert all(len(one.render()) < 1_500 for one in found)


def test_errors_are_counted_to_a_thousand() -> None:
    found = errors(kernel("add %;\n" * 3_000))
    assert len(found) == 1_000
    assert found[-1].message == "more than 1000 errors; the rest is not shown"
