"""Names mean what ptxas says they mean, and a rename keeps all meanings."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from helpers.ptx_strategies import identifiers, modules
from ptxkit.syntax import Module, Node, Scopes

DATA = sorted((Path(__file__).parent / "data").glob("*.ptx"))


def meaning(text: str) -> list[str | None]:
    """For every name marked with «» the declaration it means, or None."""
    module = ptxkit.parse(text.replace("«", "").replace("»", ""))
    scopes = Scopes(module)
    found: list[str | None] = []
    at = 0
    for piece in text.split("«")[:-1]:
        at += len(piece.replace("»", ""))
        node = module.node_at(at)
        assert node.kind == "Name", node
        declaration = scopes.resolve(node)
        found.append(None if declaration is None else f"{declaration.node.text}")
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".func f() { .reg .b32 a; mov.b32 «a», 1; }", ["a"]),
        (".func f() { mov.b32 «a», 1; .reg .b32 a; }", [None]),
        (".func f() { .reg .b32 a, b<3>; mov.b32 «b2», «b3»; }", ["b<3>", None]),
        (".func f() { .reg .b32 a; { .reg .b64 a; mov.b64 «a», 1; } mov.b32 «a», 1; }", ["a", "a"]),
        (".func f() { { .reg .b32 a; } mov.b32 «a», 1; }", [None]),
        (".func f() { { mov.b32 «a», 1; } .reg .b32 a; }", [None]),
        (".func f(.reg .b32 a) { mov.b32 «a», 1; }", [".reg .b32 a"]),
        (".func (.reg .b32 r) f() { mov.b32 «r», 1; }", [".reg .b32 r"]),
        (".func f(.reg .b32 a) { ret; } .func g() { mov.b32 «a», 1; }", [None]),
        (".global .u32 a; .func f() { mov.u64 x, «a»; }", ["a"]),
        (".func f() { mov.u64 x, «a»; } .global .u32 a;", [None]),
        # labels are seen in the whole of their block, and inside it
        (".func f() { bra «L»; L: }", ["L:"]),
        (".func f() { { { bra «L»; } } L: }", ["L:"]),
        (".func f() { bra «L»; { L: } }", [None]),
        (".func f() { L: { bra «L»; L : } }", ["L :"]),
        (".func f() { L: ret; } .func g() { bra «L»; }", [None]),
        # functions are seen from their header on
        (".func f() { call «f»; }", [".func f() { call f; }"]),
        (".func g(); .func f() { call «g»; } .func g() { ret; }", [".func g();"]),
        (".func f() { call «g»; } .func g() { ret; }", [None]),
        (".func f() { ret; } .global .u64 x = «f»;", [".func f() { ret; }"]),
        (".global .u64 x = «y»; .global .u32 y;", [None]),
        (".global .u64 x = «x»;", ["x = x"]),
        # ranges: the shorter prefix wins, a single register comes first
        (".func f() { .reg .b32 %r<20>; .reg .f32 %r1<5>; mov.b32 «%r12», «%r1»; }",
         ["%r<20>", "%r<20>"]),
        (".func f() { .reg .f32 %r1<5>; .reg .b32 %r<20>; mov.b32 «%r12», 1; }", ["%r<20>"]),
        (".func f() { .reg .f32 %r1<5>; .reg .b32 %r<2>; mov.b32 «%r12», «%r1»; }",
         ["%r1<5>", "%r<2>"]),
        (".func f() { .reg .b32 %r<4>; mov.b32 «%r03», «%r0003»; }", ["%r<4>", "%r<4>"]),
        (".func f() { .reg .b32 %r<4>; { .reg .b64 %r2; mov.b64 «%r2», «%r3»; } }",
         ["%r2", "%r<4>"]),
        (".func f() { .reg .b32 %r<4>; { .reg .b64 %r<2>; mov.b64 «%r1», «%r3»; } }",
         ["%r<2>", "%r<4>"]),
        (".func f() { .reg .b32 %r<4>; mov.b32 «%r», «%rx»; }", [None, None]),
        (".func f() { .reg .b32 %r<0>; mov.b32 «%r0», 1; }", [None]),
        (".func f() { .reg .b32 %r<4>; mov.b32 «%r99999999999999999999999999», 1; }", [None]),
        # selectors, guards, addresses, lists
        (".func f() { .reg .v2 .b32 v; mov.b32 «v».x, [«v»+4]; }", ["v", "v"]),
        (".func f() { .reg .pred p; @!«p» ret; }", ["p"]),
        (".func f() { A: T: .branchtargets «A»; brx.idx x, «T»; }", ["A:", "T:"]),
        (".section .x { L: .b64 «L» }", ["L:"]),
        (".section .x { L: .b8 1 } .func f() { .loc 1 2 3, function_name «L», inlined_at 1 1 1 }",
         ["L:"]),
        (".func f() { ret; } .func g(); .alias «g», «f»;", [".func g();", ".func f() { ret; }"]),
        (".func f() { mov.u32 a, «%tid»; }", [None]),
    ],
)  # fmt: skip
def test_what_a_name_means(text: str, expected: list[str | None]) -> None:
    assert meaning(text) == expected


def test_references() -> None:
    module = ptxkit.parse(
        ".func f() { .reg .b32 a; add.s32 a, a, [a+4]; { .reg .b32 a; mov.b32 a, 1; } @a ret; }"
    )
    scopes = Scopes(module)
    outer, inner = (scopes.declaration(node) for node in module.find("Declarator"))
    assert outer is not None
    assert inner is not None
    assert [node.parent.kind for node in scopes.references(outer)] == [
        "Instruction",
        "Instruction",
        "Address",
        "Guard",
    ]
    assert len(scopes.references(inner)) == 1


def test_references_of_a_range() -> None:
    module = ptxkit.parse(".func f() { .reg .b32 %r<3>, %rd; add.s32 %r0, %r2, %rd; }")
    scopes = Scopes(module)
    found = scopes.declaration(module.find("Declarator")[0])
    assert found is not None
    assert [node.text for node in scopes.references(found)] == ["%r0", "%r2"]
    assert (found.kind, found.type, found.count) == ("register", "b32", 3)


# -- renaming ---------------------------------------------------------------------------------

SHADOWED = """.global .u32 a;
.func f(.param .b32 p)
{
    .reg .b32 a, %r<4>;
L:  add.s32 a, a, %r2; // a
    { .reg .b64 a; mov.b64 a, 1; bra L; L: }
    bra L;
}
.func g() { .reg .u64 x; mov.u64 x, a; call f, (x); }
"""


def find(module: Module, text: str, number: int = 0) -> Node:
    """The node that begins at an occurrence of a text."""
    at = -1
    for _ in range(number + 1):
        at = module.emit().index(text, at + 1)
    found: Node = module.node_at(at)
    return found


@pytest.mark.parametrize(
    ("where", "number", "name", "changes"),
    [
        ("a;", 0, "z", [(".u32 a", ".u32 z"), ("x, a;", "x, z;")]),
        ("a, %r", 0, "z", [("a, %r<4>", "z, %r<4>"), ("add.s32 a, a,", "add.s32 z, z,")]),
        ("a, a,", 0, "z", [("a, %r<4>", "z, %r<4>"), ("add.s32 a, a,", "add.s32 z, z,")]),
        ("a; mov", 0, "z", [(".b64 a; mov.b64 a,", ".b64 z; mov.b64 z,")]),
        ("L:  add", 0, "M", [("L:  add", "M:  add"), ("    bra L;\n", "    bra M;\n")]),
        ("L: }", 0, "M", [("bra L; L: }", "bra M; M: }")]),
        ("%r<4>", 0, "%s", [("%r<4>", "%s<4>"), ("%r2", "%s2")]),
        ("x, a;", 0, "y", [("x; mov.u64 x, a; call f, (x)", "y; mov.u64 y, a; call f, (y)")]),
        ("f, (x)", 0, "h", [(".func f(", ".func h("), ("call f", "call h")]),
        (".func f", 0, "h", [(".func f(", ".func h("), ("call f", "call h")]),
        (".param .b32 p", 0, "q", [(".b32 p", ".b32 q")]),
    ],
)
def test_rename(where: str, number: int, name: str, changes: list[tuple[str, str]]) -> None:
    module = ptxkit.parse(SHADOWED)
    expected = SHADOWED
    for old, new in changes:
        assert expected.count(old) == 1, old
        expected = expected.replace(old, new)
    assert module.rename(find(module, where, number), name).emit() == expected


def test_prototypes_are_renamed_with_their_definition() -> None:
    text = ".func f(); .func g() { call f; } .func f() { call f; } .func h(); .alias h, f;"
    module = ptxkit.parse(text)
    for node in (
        *(f for f in module.functions if f.name == "f"),
        module.instructions[0].operands[0],
    ):
        assert module.rename(node, "%new").emit() == text.replace(" f", " %new")


def test_a_declaration_of_one_name_stands_for_it() -> None:
    module = ptxkit.parse(".func f() { .reg .b32 a; mov.b32 a, 1; }")
    assert module.rename(module.find("Variable")[0], "b").emit() == (
        ".func f() { .reg .b32 b; mov.b32 b, 1; }"
    )


@pytest.mark.parametrize(
    ("text", "where", "name", "message"),
    [
        (".func f() { .reg .b32 a, b; }", "a,", "b", r"'b' is declared at line 1 already"),
        (".func f(.reg .b32 b) { .reg .b32 a; }", "a;", "b", "'b' is declared"),
        (".func f() { .reg .b32 a; b: }", "a;", "b", "'b' is declared"),
        (".func f() { .reg .b32 a, %r<4>; }", "a,", "%r3", r"'%r<4>' is declared"),
        (".func f() { .reg .b32 %q<4>, %r2; }", "%q<", "%r", "'%r2' is declared"),
        (".func f() { .reg .b32 %q<20>, %r1<4>; }", "%q<", "%r", "'%r1<4>' is declared"),
        (".func f() { ret; } .global .u32 g;", "g;", "f", "'f' is declared"),
        (".func f() { ret; } .global .u32 g;", ".func", "g", "'g' is declared"),
        # a name that would be caught by the new one
        (".global .u32 g; .func f() { .reg .b64 a; mov.u64 a, g; }", "a;", "g",
         "'g' at line 1 would change its meaning"),
        (".func f() { .reg .b32 a; { mov.b32 x, a; } } .global .u32 b;", "a;", "x",
         "would change its meaning"),
        # a declaration inside that would catch the renamed ones
        (".func f() { .reg .b32 a; { .reg .b32 b; mov.b32 b, a; } }", "a;", "b",
         "would change its meaning"),
        (".func f() { .reg .b32 a; { .reg .b32 %r<4>; mov.b32 %r1, a; } }", "a;", "%r3",
         "would change its meaning"),
        (".func f() { L: { M: bra L; } }", "L: {", "M", "would change its meaning"),
        # not a name, or not one that can be renamed
        (".func f() { .reg .b32 %r<4>; mov.b32 %r1, 2; }", "%r1", "x",
         r"'%r1' is one register of the range '%r<4>'; rename the range's declarator"),
        (".func f() { mov.u32 a, %tid.x; }", "%tid", "x", "'%tid.x' at line 1 is not a declared"),
        (".func f() { mov.u32 a, 5; }", "5", "x", "'5' at line 1 is not a declared name"),
        (".func f() { P: .callprototype _ (.param .b32 _); }", ".param .b32", "x",
         "is not a declared name"),
        (".func f() { .reg .b32 a; }", "a;", "1x", "'1x' is not a PTX identifier"),
        (".func f() { .reg .b32 a; }", "a;", "_", "'_' is not a PTX identifier"),
        (".func f() { .reg .b32 a; }", "a;", "%", "'%' is not a PTX identifier"),
        (".func f() { .reg .b32 a; }", "a;", "x y", "'x y' is not a PTX identifier"),
        (".func f() { .reg .b32 a; }", "a;", "é", "'é' is not a PTX identifier"),
        (".func f() { .reg .b32 a; }", "a;", "WARP_SZ", "'WARP_SZ' is not a PTX identifier"),
        (".func f() { .reg .b32 a; }", "a;", "", "'' is not a PTX identifier"),
    ],
)  # fmt: skip
def test_a_rename_is_refused(text: str, where: str, name: str, message: str) -> None:
    module = ptxkit.parse(text)
    with pytest.raises(ptxkit.EditError, match=message):
        module.rename(find(module, where), name)


def test_a_rename_needs_a_node_of_the_module() -> None:
    module, other = ptxkit.parse(SHADOWED), ptxkit.parse(SHADOWED)
    with pytest.raises(ptxkit.EditError, match="a node of this very module"):
        module.rename(other["f"], "h")
    with pytest.raises(ptxkit.EditError, match="a node of this very module"):
        module.rename("f", "h")


def test_a_rename_keeps_words_apart() -> None:
    module = ptxkit.parse(".func f() { .reg .b32%a; mov.b32%a,1; }")
    assert module.rename(module.find("Declarator")[0], "b").emit() == (
        ".func f() { .reg .b32 b; mov.b32 b,1; }"
    )
    assert module.rename(module.find("Declarator")[0], "%b").emit() == (
        ".func f() { .reg .b32%b; mov.b32%b,1; }"
    )


def test_a_huge_range_is_renamed_at_once() -> None:
    module = ptxkit.parse(".func f() { .reg .b32 %r<4294967295>, a; mov.b32 %r4294967294, a; }")
    renamed = module.rename(module.find("Declarator")[0], "%s")
    assert renamed.emit() == module.emit().replace("%r", "%s")


def declared(module: Module) -> list[Node]:
    """Every node that declares a name."""
    kinds = ("Declarator", "Label", "Parameter", "Function", "SectionLabel")
    nodes = [node for kind in kinds for node in module.find(kind)]
    return [node for node in nodes if node.name != "_"]  # those of prototypes have none


def check_there_and_back(module: Module, node: Node, name: str) -> None:
    """Rename a node and rename it back; where it is refused, the text says why."""
    scopes = Scopes(module)
    declaration = scopes.declaration(node)
    assert declaration is not None
    try:
        renamed = module.rename(node, name)
    except ptxkit.EditError as error:
        assert any(word in str(error) for word in ("already", "meaning", "identifier", "range"))
        return
    new = [module, *module.walk()][node.index]
    assert new == node
    there = [renamed, *renamed.walk()][node.index]
    back = renamed.rename(there, declaration.name).emit()
    # Where words stood together, ".b32%r", a space is left.
    assert back == module.emit() or (
        back.replace(" ", "") == module.emit().replace(" ", "")
        and re.search(r"[\w$][%$]", module.emit())
    )
    after = Scopes(renamed).declaration(there)
    assert after is not None
    assert len(Scopes(renamed).references(after)) == len(scopes.references(declaration))


@settings(max_examples=40)
@given(modules(), identifiers(), st.integers(0, 2**32))
def test_rename_and_rename_back(text: str, name: str, seed: int) -> None:
    module = ptxkit.parse(text)
    nodes = declared(module)
    for node in random.Random(seed).sample(nodes, min(3, len(nodes))):
        check_there_and_back(module, node, name)


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_rename_and_rename_back_in_real_files(path: Path) -> None:
    module = ptxkit.parse(path.read_bytes())
    nodes = declared(module)
    chance = random.Random(path.stem)
    for node in chance.sample(nodes, min(12, len(nodes))):
        check_there_and_back(module, node, chance.choice(["$new", "%r9", "%q", "k"]))


@settings(max_examples=40)
@given(modules())
def test_generated_names_are_declared(text: str) -> None:
    module = ptxkit.parse(text)
    scopes = Scopes(module)
    for node in module.find("Name"):
        known = scopes.resolve(node) is not None
        special = node.identifier in ("%tid", "%ctaid", "%laneid", "WARP_SZ")
        assert known or special, node
