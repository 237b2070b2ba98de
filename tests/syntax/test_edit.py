"""An edit changes exactly the bytes of what was edited, and the tree says so."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from helpers.ptx_strategies import identifiers, modules
from ptxkit.syntax import Instruction, Module, Node

DATA = sorted((Path(__file__).parent / "data").glob("*.ptx"))
SEEDS = st.integers(0, 2**32)
STATEMENTS = ("Instruction", "Loc", "Variable", "File", "Function", "SectionData")

TEXT = """.func f()
{
    .reg .b32 a, b; // registers
    add.s32 a, a, b;
    ret;
}
"""


def kinds(module: Module) -> list[str]:
    """The kinds of all nodes, in order."""
    return [node.kind for node in module.walk()]


def without(module: Module, node: Node, count: int) -> list[str]:
    """The kinds of all nodes but those of a node, in place of which ``count`` others stand."""
    before = kinds(module)
    at = node.index - 1
    size = 1 + len(node.walk())
    return before[:at] + ["new"] * count + before[at + size :]


def without_text(module: Module, node: Node) -> bytes:
    """The text without a statement; where it is alone on its lines, without them."""
    start, end = node.span
    before, after = module.source()[:start], module.source()[end:]
    line, (rest, newline, following) = before.rpartition(b"\n"), after.partition(b"\n")
    if not line[2].strip() and not rest.strip() and newline:
        return line[0] + line[1] + following
    return before + after


def check_replaced(module: Module, node: Node, text: str) -> Module:
    """Replace a node and compare what stands around it."""
    editor = module.edit()
    editor.replace(node, text)
    start, end = node.span
    source, result = module.source(), editor.preview()
    assert result[:start] == source[:start]
    assert result[start : start + len(text.encode())] == text.encode()
    assert result[start + len(text.encode()) :] == source[end:]
    return editor.apply()


def nodes_of(module: Module, *wanted: str) -> list[Node]:
    """All nodes of these kinds, but declared names' own declarations."""
    return [node for kind in wanted for node in module.find(kind)]


# -- generated text ---------------------------------------------------------------------------


@settings(max_examples=40)
@given(modules(), SEEDS)
def test_a_node_replaced_by_itself_changes_nothing(text: str, seed: int) -> None:
    module, chance = ptxkit.parse(text), random.Random(seed)
    nodes = list(module.walk())
    for node in chance.sample(nodes, min(8, len(nodes))):
        edited = check_replaced(module, node, node.text)
        assert edited.emit() == text
        assert kinds(edited) == kinds(module)


@settings(max_examples=40)
@given(modules(), identifiers(), SEEDS)
def test_a_name_replaced_by_another(text: str, name: str, seed: int) -> None:
    module, chance = ptxkit.parse(text), random.Random(seed)
    names = [node for node in nodes_of(module, "Name") if node.text != "WARP_SZ"]
    for node in chance.sample(names, min(4, len(names))):
        start, end = node.span
        # Next to another word the new one would grow together with it.
        around = text.encode()[start - 1 : start] + text.encode()[end : end + 1]
        if name == "WARP_SZ" or any(chr(byte).isalnum() or byte in b"_$%." for byte in around):
            continue
        edited = check_replaced(module, node, name)
        assert kinds(edited) == kinds(module)
        assert list(edited.walk())[node.index - 1].text == name


@settings(max_examples=40)
@given(modules(), SEEDS)
def test_a_statement_deleted(text: str, seed: int) -> None:
    module, chance = ptxkit.parse(text), random.Random(seed)
    statements = nodes_of(module, *STATEMENTS)
    for node in chance.sample(statements, min(4, len(statements))):
        editor = module.edit()
        editor.delete(node)
        edited = editor.apply()
        assert kinds(edited) == without(module, node, 0)
        assert edited.source() == without_text(module, node)


@settings(max_examples=40)
@given(modules(), SEEDS, st.booleans())
def test_a_statement_inserted(text: str, seed: int, before: bool) -> None:
    module, chance = ptxkit.parse(text), random.Random(seed)
    instructions = nodes_of(module, "Instruction")
    for node in chance.sample(instructions, min(4, len(instructions))):
        editor = module.edit()
        new = " membar.gl; "
        (editor.insert_before if before else editor.insert_after)(node, new)
        edited = editor.apply()
        at = node.span[0] if before else node.span[1]
        assert edited.source() == module.source()[:at] + new.encode() + module.source()[at:]
        place = node.index - 1 if before else node.index + len(node.walk())
        expected = kinds(module)
        expected[place:place] = ["Instruction", "Opcode"]
        assert kinds(edited) == expected


@settings(max_examples=40)
@given(modules(), SEEDS)
def test_edits_do_not_depend_on_the_order_they_are_asked_for(text: str, seed: int) -> None:
    module, chance = ptxkit.parse(text), random.Random(seed)
    instructions = nodes_of(module, "Instruction")
    chosen = chance.sample(instructions, min(6, len(instructions)))
    results = set()
    for order in (chosen, chosen[::-1], sorted(chosen, key=lambda node: node.span)):
        editor = module.edit()
        for node in order:
            editor.replace(node, "trap;")
        results.add(editor.apply().emit())
    assert len(results) == 1
    assert sum(i.text == "trap;" for i in ptxkit.parse(results.pop()).instructions) == len(chosen)


# -- what compilers write ---------------------------------------------------------------------


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_edits_of_real_files(path: Path) -> None:
    module = ptxkit.parse(path.read_bytes(), filename=path.name)
    chance = random.Random(path.stem)
    nodes = list(module.walk())
    for node in chance.sample(nodes, 40):
        edited = check_replaced(module, node, node.text)
        assert edited.source() == module.source()
    for node in chance.sample(nodes_of(module, "Name"), 20):
        if node.parent.kind not in ("SectionData", "Loc"):
            assert kinds(check_replaced(module, node, "%other")) == kinds(module)
    for node in chance.sample(list(module.instructions), 20):
        editor = module.edit()
        editor.delete(node)
        edited = editor.apply()
        assert kinds(edited) == without(module, node, 0)
        assert edited.source() == without_text(module, node)
    everything = module.edit()
    for instruction in module.instructions:
        everything.replace(instruction, "trap;")
    trapped = everything.apply()
    assert {i.text for i in trapped.instructions} == {"trap;"}
    assert len(trapped.instructions) == len(module.instructions)


# -- the interface ----------------------------------------------------------------------------


def first(module: Module) -> Instruction:
    """The first instruction."""
    return module.instructions[0]


def test_an_edit_gives_a_new_module_and_keeps_the_name() -> None:
    module = ptxkit.parse(TEXT, filename="k.ptx")
    editor = module.edit()
    editor.replace(first(module).operands[2], "7")
    edited = editor.apply()
    assert (module.emit(), edited.filename) == (TEXT, "k.ptx")
    assert edited.emit() == TEXT.replace("a, a, b", "a, a, 7")
    assert edited is not module


def test_no_edits_give_the_same_text() -> None:
    assert ptxkit.parse(TEXT).edit().apply().emit() == TEXT


def test_a_statement_alone_takes_its_line_along() -> None:
    module = ptxkit.parse(TEXT)
    editor = module.edit()
    editor.delete(first(module))
    assert editor.apply().emit() == TEXT.replace("    add.s32 a, a, b;\n", "")


def test_a_statement_before_a_comment_leaves_the_line() -> None:
    module = ptxkit.parse(TEXT)
    editor = module.edit()
    editor.delete(next(iter(module.find("Variable"))))
    assert editor.apply().emit() == TEXT.replace(".reg .b32 a, b;", "")


def test_insertions_at_one_place_keep_their_order() -> None:
    module = ptxkit.parse(TEXT)
    editor = module.edit()
    editor.insert_before(first(module), "L1: ")
    editor.insert_before(first(module), "L2: ")
    editor.insert_after(first(module), " trap;")
    editor.insert_after(first(module), " ret;")
    assert "    L1: L2: add.s32 a, a, b; trap; ret;\n" in editor.apply().emit()


def test_an_insertion_beside_a_replacement() -> None:
    module = ptxkit.parse(TEXT)
    editor = module.edit()
    editor.replace(first(module), "trap;")
    editor.insert_before(first(module), "L: ")
    editor.insert_after(first(module), " // new")
    assert "    L: trap; // new\n" in editor.apply().emit()


def test_bytes_that_are_not_utf8_are_kept() -> None:
    text = TEXT.encode().replace(b"registers", b"caf\xe9")
    module = ptxkit.parse(text)
    editor = module.edit()
    editor.replace(first(module), b"// \xff\n    trap;")
    assert editor.apply().emit_bytes() == text.replace(b"add.s32 a, a, b;", b"// \xff\n    trap;")


def test_a_span_is_replaced() -> None:
    module = ptxkit.parse(TEXT)
    editor = module.edit()
    editor.replace_span((0, 5), ".entry")
    assert editor.apply().functions[0].is_entry


# -- misuse -----------------------------------------------------------------------------------


def test_something_else_than_a_node() -> None:
    editor = ptxkit.parse(TEXT).edit()
    with pytest.raises(ptxkit.EditError, match=r"needs a node of the module, not str"):
        editor.replace("add.s32", "sub.s32")
    with pytest.raises(ptxkit.EditError, match=r"needs a node of the module, not NoneType"):
        editor.delete(None)


def test_a_node_of_another_module() -> None:
    module, other = ptxkit.parse(TEXT), ptxkit.parse(TEXT)
    editor = module.edit()
    with pytest.raises(ptxkit.EditError, match=r"line 4 belongs to another module.*new module"):
        editor.replace(first(other), "ret;")
    with pytest.raises(ptxkit.EditError, match="belongs to another module"):
        editor.insert_after(first(other), "ret;")


def test_text_of_another_type() -> None:
    module = ptxkit.parse(TEXT)
    with pytest.raises(ptxkit.EditError, match="must be str or bytes, not int"):
        module.edit().replace(first(module), 5)


def test_overlapping_edits() -> None:
    module = ptxkit.parse(TEXT)
    editor = module.edit()
    editor.replace(first(module), "ret;")
    editor.replace(first(module).operands[0], "x")
    with pytest.raises(ptxkit.EditError, match=r"overlap at line 4, column 13.*edit the new"):
        editor.apply()
    twice = module.edit()
    twice.replace(first(module), "ret;")
    twice.replace(first(module), "trap;")
    with pytest.raises(ptxkit.EditError, match="overlap at line 4, column 5"):
        twice.apply()


def test_an_insertion_inside_a_deleted_node() -> None:
    module = ptxkit.parse(TEXT)
    editor = module.edit()
    editor.delete(first(module))
    editor.insert_before(first(module).operands[1], "x, ")
    with pytest.raises(ptxkit.EditError, match="overlap"):
        editor.apply()


def test_a_span_outside_the_text() -> None:
    editor = ptxkit.parse(TEXT).edit()
    for span in ((0, 10_000), (-1, 3), (5, 3)):
        with pytest.raises(ptxkit.EditError, match="does not lie inside"):
            editor.replace_span(span, "")


def test_a_result_that_is_not_ptx() -> None:
    module = ptxkit.parse(TEXT, filename="k.ptx")
    editor = module.edit()
    editor.replace(first(module).operands[2], "")
    with pytest.raises(ptxkit.PtxSyntaxError) as raised:
        editor.apply()
    assert str(raised.value).startswith("k.ptx:4:19: error[syntax]: expected an operand")
    assert editor.preview() == TEXT.replace("a, a, b;", "a, a, ;").encode()
