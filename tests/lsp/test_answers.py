"""Hover, completion, names: the functions behind the protocol."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.isa.registry import table
from ptxkit.isa.variants import combinations, opcode_of
from ptxkit.lsp import Document, complete, definition, hover, references, rename, semantic_tokens
from ptxkit.lsp.completion import next_modifiers

_HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
_TEXT = (
    _HEAD
    + """.func (.reg .b32 out) twice(.reg .b32 x) { add.s32 out, x, x; ret; }
.entry k(.param .u64 p) {
    .reg .b32 %r<4>;
    .shared .b32 tile[32];
L:
    call (%r1), twice, (%r2);
    @!%p0 bra L;
    ld.shared.b32 %r3, [tile];
    ret;
}
"""
)


def _labels(text: str) -> list[str]:
    return [one.label for one in complete(Document(text), len(text))]


def test_every_opcode_of_the_table_can_be_completed_word_by_word() -> None:
    missing = []
    for spec in table().values():
        for form in spec.forms:
            for found in combinations(form, 40):
                name, *words = opcode_of(found).split(".")
                for at, word in enumerate(words):
                    before = tuple("." + one for one in words[:at])
                    if "." + word not in {one for one, _, _ in next_modifiers(name, before)}:
                        missing.append(".".join((name, *words)))
                        break
    assert missing == []


def test_every_instruction_has_a_hover() -> None:
    for root in table():
        found = hover(Document(f".func f() {{ {root} a; }}"), 13)
        assert found is not None and found.text.startswith(f"**{root}**"), root


def test_completion_knows_the_place() -> None:
    start = _HEAD + ".entry k() { .reg .b32 %r<3>; .reg .b64 address; "
    assert "add" in _labels(start) and ".reg" in _labels(start)
    assert {".hi", ".lo", ".wide"} <= set(_labels(start + "mad."))
    assert "%r2" in _labels(start + "mov.u32 %r")
    assert "%tid.x" in _labels(start + "mov.u32 %r1, %t")
    assert "address" in _labels(start + "ld.global.b32 %r1, [")
    assert _labels(start + "// add.") == []
    assert _labels(start + "L1: bra ")[0] == "L1"
    assert "%r1" in _labels(start + "ld.global.v2.b32 {%r")


def test_what_the_target_lacks_comes_last_and_says_so() -> None:
    text = _HEAD + ".entry k() { cvt.rn.satfinite."
    (late,) = [one for one in complete(Document(text), len(text)) if one.label == ".e4m3x2"]
    assert late.rank == 1 and "needs PTX" in late.detail


@pytest.mark.parametrize("word", ["twice,", "L;", "tile]", "%r3", "x, x"])
def test_definition_and_references_agree_with_the_names(word: str) -> None:
    document = Document(_TEXT)
    at = _TEXT.index(word)
    place = definition(document, at)
    assert place is not None
    uses = references(document, at)
    assert len(uses) >= 2
    assert any(start <= at < end for start, end in uses)
    name = word.rstrip(",;]").split(",")[0]
    assert all(name.startswith(_TEXT[start:end]) for start, end in uses)


def test_renaming_gives_what_the_module_gives() -> None:
    document = Document(_TEXT)
    at = _TEXT.index("tile]")
    edited = bytearray(_TEXT.encode())
    for start, end in reversed(rename(document, at, "buffer")):
        edited[start:end] = b"buffer"
    module = ptxkit.parse(_TEXT)
    assert edited.decode() == module.rename(module.node_at(at), "buffer").emit()


def test_renaming_one_register_of_a_range_is_refused() -> None:
    with pytest.raises(ptxkit.EditError, match="one register of the range"):
        rename(Document(_TEXT), _TEXT.index("%r3"), "%q")


def test_tokens_cover_the_words_of_a_file() -> None:
    packed = semantic_tokens(Document(_TEXT))
    lines, line, column, words = _TEXT.split("\n"), 0, 0, {}
    for at in range(0, len(packed), 5):
        down, right, length, kind, _ = packed[at : at + 5]
        line, column = line + down, right if down else column + right
        words[lines[line][column : column + length]] = kind
    assert words["ld"] == words["bra"]
    assert words["tile"] != words["L"]
    assert "%r3" in words and "twice" in words
