"""Every kind of node has a view, and its accessors say what stands in the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import ptxkit
from helpers.ptx_strategies import modules
from ptxkit import _native
from ptxkit.syntax import Module, Node
from syntax.odd import TAKEN

DATA = sorted((Path(__file__).parent / "data").glob("*.ptx"))


def body(text: str) -> str:
    """Statements in a function."""
    return f".func f() {{ {text} }}"


def operand(text: str) -> str:
    """An operand of an instruction."""
    return body(f"mov.b32 a, {text};")


#: Kind -> text and what the accessors of its first node of that kind give, nodes by their text.
VIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "Module": (
        ".version 9.0\n.target sm_90a, debug\n.address_size 64\n.global .u32 x;\n"
        ".extern .func f();\n.entry k() { ret; }",
        {
            "version": "9.0",
            "target": "sm_90a",
            "target_options": ("debug",),
            "address_size": 64,
            "functions": (".extern .func f();", ".entry k() { ret; }"),
            "kernels": (".entry k() { ret; }",),
            "variables": (".global .u32 x;",),
            "instructions": ("ret;",),
            "diagnostics": (),
        },
    ),
    "Version": (".version 9.0", {"value": "9.0"}),
    "Target": (".target sm_90 , /* c */ debug", {"values": ("sm_90", "debug")}),
    "AddressSize": (".address_size 0x40", {"value": 64}),
    "File": ('.file 010 "a b.cu", 1, 2', {"number": 8, "path": "a b.cu"}),
    "Section": (".section .debug_info { .b8 1 }", {"name": ".debug_info"}),
    "SectionLabel": (".section .x { L : .b8 1 }", {"name": "L"}),
    "SectionData": (
        ".section .x { .b32 1, -2, L - M, .debug_str + 4, L+8 }",
        {"type": ".b32", "items": ("1", "-2", "L-M", ".debug_str+4", "L+8")},
    ),
    "SectionName": (".section .x { .b32 .debug_str }", {"name": ".debug_str"}),
    "DwarfLine": ("@@DWARF .4byte 1, 2", {}),
    "Loc": (
        body(".loc 1 2 03, function_name L+4, inlined_at 5 6U 0x7"),
        {"place": (1, 2, 3), "function_name": "L", "inlined_at": (5, 6, 7)},
    ),
    "Pragma": ('.pragma "nounroll", "b";', {"values": ("nounroll", "b")}),
    "Alias": (".alias new, old;", {"name": "new", "aliased": "old"}),
    "Variable": (
        ".visible .global .attribute(.managed) .align 010 .v2 .f32 a[4], b;",
        {
            "linkage": ".visible",
            "space": "global",
            "alignment": 8,
            "vector": 2,
            "type": "f32",
            "declarators": ("a[4]", "b"),
            "attributes": (".attribute(.managed)",),
            "layout": ("global", 2, "f32"),
        },
    ),
    "Declarator": (
        ".global .u32 x [2] [] [0x3] = {1};",
        {
            "name": "x",
            "count": None,
            "names": ("x",),
            "dimensions": (2, None, 3),
            "initializer": "{1}",
            "variable": ".global .u32 x [2] [] [0x3] = {1};",
        },
    ),
    "Attribute": (
        ".global .attribute( .managed, .unified(1 , 2) ) .u32 x;",
        {"values": (".managed", ".unified(1,2)")},
    ),
    "InitializerList": (".global .u32 x[2] = {1, {2}};", {"elements": ("1", "{2}")}),
    "FieldInitializer": (
        ".global .texref t = {width = 4*2};",
        {"name": "width", "value": "4*2"},
    ),
    "Function": (
        ".weak .func .attribute(.unified(1, 2)) (.reg .b32 r) f(.param .b32 a, .param .b32 b)"
        " .noreturn { L: ret; { M: } }",
        {
            "name": "f",
            "is_entry": False,
            "has_body": True,
            "linkage": ".weak",
            "parameters": (".param .b32 a", ".param .b32 b"),
            "return_parameters": (".reg .b32 r",),
            "directives": (".noreturn",),
            "attributes": (".attribute(.unified(1, 2))",),
            "body": "{ L: ret; { M: } }",
            "instructions": ("ret;",),
            "labels": ("L:", "M:"),
        },
    ),
    "ParameterList": (
        ".func (.reg .b32 r) f();",
        {"is_return": True, "parameters": (".reg .b32 r",)},
    ),
    "Parameter": (
        ".entry k(.param .u64 .ptr .shared .align 16 p[2]);",
        {
            "name": "p",
            "space": "param",
            "type": "u64",
            "vector": 1,
            "alignment": 16,
            "dimensions": (2,),
            "is_pointer": True,
            "pointer_space": "shared",
            "layout": ("param", 1, "u64"),
            "details": ("p", "param", "u64", 1, 16, (2,), True, "shared"),
        },
    ),
    "FunctionDirective": (
        ".entry k() .maxntid 32, 0x2, 01 { }",
        {"name": ".maxntid", "values": (32, 2, 1)},
    ),
    "Block": (body("ret; { }"), {"statements": ("ret;", "{ }")}),
    "Label": (body("$L /* c */ : ret;"), {"name": "$L"}),
    "BranchTargets": (body("T: .branchtargets A, B;"), {"names": ("A", "B")}),
    "CallTargets": (body("T: .calltargets f, g;"), {"names": ("f", "g")}),
    "CallPrototype": (
        body("P: .callprototype (.param .b32 _) _ (.reg .f32 x, .reg .f32 y) .noreturn;"),
        {
            "parameters": (".reg .f32 x", ".reg .f32 y"),
            "return_parameters": (".param .b32 _",),
            "directives": (".noreturn",),
        },
    ),
    "Instruction": (
        body("@!p ld .global\n.v2 /* c */ .f32 {a, b}, [c+4];"),
        {
            "opcode": "ld.global.v2.f32",
            "name": "ld",
            "modifiers": (".global", ".v2", ".f32"),
            "guard": "@!p",
            "operands": ("{a, b}", "[c+4]"),
            "opcode_node": "ld .global\n.v2 /* c */ .f32",
        },
    ),
    "Guard": (body("@ ! p ret;"), {"negated": True, "predicate": "p"}),
    "Opcode": (body("ld.global.f32 a, [b];"), {"text": "ld.global.f32"}),
    "Name": (operand("%tid /* c */ .x"), {"identifier": "a", "selector": ""}),
    "Sink": (operand("_"), {"text": "_"}),
    "Integer": (operand("0x1FU"), {"value": 31}),
    "Float": (operand("0f3FC00000"), {"value": 1.5, "is_exact": True}),
    "Expression": (operand("1 + 2*(3)"), {"operators": ("+", "*"), "value": 7}),
    "Parenthesized": (operand("(1+2)"), {"operand": "1+2", "value": 3}),
    "Unary": (operand("( .s64 ) 4"), {"operator": "(.s64)", "operand": "4", "value": 4}),
    "Application": (
        ".global .u64 x = generic(y+4);",
        {"operator": "generic", "operand": "y+4"},
    ),
    "Subscript": (operand("x[3+4]"), {"base": "x", "index_operand": "3+4"}),
    "Vector": (operand("{a, 1, _}"), {"elements": ("a", "1", "_")}),
    "Pair": (operand("p | _"), {"elements": ("p", "_")}),
    "Address": (
        operand("[t+8, {x, y}] .unified"),
        {"base": "t", "offset": "8", "rest": ("{x, y}",), "suffix": ".unified"},
    ),
    "ArgumentList": (body("call (r), f, (a, 5);"), {"elements": ("r",)}),
    "Error": (body("add %;"), {"text": "add %;"}),
}


def plain(value: Any) -> Any:
    """Nodes by their text, sequences as tuples."""
    if isinstance(value, Node):
        return value.text
    if isinstance(value, (str, int, float)) or value is None:
        return value
    return tuple(plain(one) for one in value)


def first(text: str, kind: str) -> Any:
    """The first node of a kind."""
    module = ptxkit.parse(text, recover=kind == "Error")
    return module if kind == "Module" else module.find(kind)[0]


def test_every_kind_is_here() -> None:
    assert set(VIEWS) == set(_native.node_kinds)


@pytest.mark.parametrize("kind", VIEWS)
def test_the_accessors_of(kind: str) -> None:
    text, expected = VIEWS[kind]
    node = first(text, kind)
    assert type(node).__name__ == node.kind == kind
    assert {name: plain(getattr(node, name)) for name in expected} == expected


@pytest.mark.parametrize("kind", VIEWS)
def test_all_public_accessors_are_tried(kind: str) -> None:
    view = _native.kind_classes[kind]
    own = {
        name
        for base in view.__mro__
        for name, value in vars(base).items()
        if isinstance(value, property) and not name.startswith("_") and base is not Node
    }
    tried = set(VIEWS[kind][1]) | {"name_span"}
    assert own <= tried, own - tried


def test_other_values_of_the_accessors() -> None:
    name = first(operand("%tid /* c */ .x"), "Instruction").operands[1]
    assert (name.identifier, name.selector) == ("%tid", ".x")
    register_range = first(body(".reg .b32 %r<0x3>;"), "Declarator")
    assert register_range.count == 3
    assert register_range.names == ("%r0", "%r1", "%r2")
    assert first(body("ret;"), "Instruction").guard is None
    assert first(operand("[t]"), "Address").offset is None
    assert first(operand("1.5"), "Float").is_exact is False
    assert first(operand("x+4"), "Expression").value is None
    assert first(".func f();", "Function").body is None
    assert first(".entry k(.param .u32 x);", "Parameter").pointer_space == ""
    assert first(".global .u8 x = 0xFF00(y);", "Application").operator == "0xFF00"
    assert first(body(".loc 1 2 3"), "Loc").inlined_at is None
    assert first(body(".loc 1 2 3"), "Loc").function_name is None


def test_a_module_without_a_head() -> None:
    module = ptxkit.parse("")
    assert (module.version, module.target, module.target_options) == (None, None, ())
    assert (module.address_size, module.functions, module.emit()) == (32, (), "")


def test_functions_by_name() -> None:
    module = ptxkit.parse(".func f(); .func g() { ret; } .func f() { trap; }")
    assert module["f"].has_body
    assert "g" in module
    assert "h" not in module
    with pytest.raises(KeyError, match=r"no function is called 'h'; there are: f, g"):
        module["h"]
    with pytest.raises(ptxkit.UsageError, match="indexed by a function's name, not 0"):
        module[0]


def test_instructions_by_pattern() -> None:
    module = ptxkit.parse(body("ld.global.u32 a, [b]; ld.shared.u32 a, [b]; st.global.u32 [b], a;"))
    assert [i.opcode for i in module.find_instructions("*.global.*")] == [
        "ld.global.u32",
        "st.global.u32",
    ]
    assert len(list(module["f"].find_instructions("ld.*"))) == 2


def test_comments() -> None:
    text = '// a\n.pragma "// no"; /* b\n c */ # no\n'.replace("# no", "// d")
    module = ptxkit.parse(text)
    found = list(module.comments())
    assert [comment for comment, _ in found] == ["// a", "/* b\n c */", "// d"]
    assert all(text[start:end] == comment for comment, (start, end) in found)


def test_lists_of_nodes() -> None:
    instructions = ptxkit.parse(body("ret; trap; exit;"))["f"].instructions
    assert [i.text for i in instructions] == ["ret;", "trap;", "exit;"]
    assert (len(instructions), instructions[-1].text) == (3, "exit;")
    assert [i.text for i in instructions[::-1]] == ["exit;", "trap;", "ret;"]
    assert [i.text for i in instructions[1:]] == ["trap;", "exit;"]
    for index in (3, -4):
        with pytest.raises(IndexError, match="out of range"):
            instructions[index]


def test_equality_and_hashes() -> None:
    module, other = ptxkit.parse(body("ret;")), ptxkit.parse(body("ret;"))
    assert module["f"] == module["f"]
    assert hash(module["f"]) == hash(module["f"])
    assert module["f"] != other["f"]
    assert module["f"] != "f"
    assert len({module["f"], module.functions[0], other["f"]}) == 2


def test_a_node_says_what_it_is() -> None:
    assert repr(first(body("add.s32 a,\n  b, c;"), "Instruction")) == (
        "<Instruction at line 1: add.s32 a,   b, c;>"
    )


def test_wrong_arguments() -> None:
    module = ptxkit.parse(body("ret;"))
    with pytest.raises(ptxkit.UsageError, match="no node kind is called 'Statement'"):
        module.find("Statement")
    with pytest.raises(ptxkit.UsageError, match="past the end"):
        module.position(1_000)
    with pytest.raises(ptxkit.UsageError, match=r"parse needs PTX text as str or bytes, not"):
        ptxkit.parse(Path("k.ptx"))
    with pytest.raises(ptxkit.UsageError, match="check needs a Module or PTX text, not int"):
        ptxkit.check(5)


def test_columns_count_characters() -> None:
    module = ptxkit.parse("/* größer 界 */ .func f() { ret; }")
    assert (module["f"].line, module["f"].column) == (1, 16)


def check_navigation(module: Module) -> None:
    """Compare all ways to get from a node to another."""
    nodes = [module, *module.walk()]
    for node in nodes:
        children = node.children
        assert [child.parent for child in children] == [node] * len(children)
        assert [c.next_sibling for c in children] == [*children[1:], None][: len(children)]
        assert [c.previous_sibling for c in children] == [None, *children[:-1]][: len(children)]
        assert nodes[node.index] == node
        assert node.ancestors == ((node.parent, *node.parent.ancestors) if node.parent else ())
        start, end = node.span
        assert node.text == module.source()[start:end].decode("utf-8", "surrogateescape")
        assert module.position(start) == (node.line, node.column)
        deepest = module.node_at(start)
        assert deepest.span[0] <= start < deepest.span[1] or start == len(module.source())
        assert deepest == node or node in deepest.ancestors or node.span[0] == node.span[1]
    for kind in {node.kind for node in nodes[1:]}:
        assert list(module.find(kind)) == [n for n in nodes[1:] if n.kind == kind]
    tokens = module.tokens()
    assert "".join(text for _, text, _, _ in tokens) == "".join(
        text
        for _, text, _, _ in sorted(
            (token for node in nodes for token in node.tokens(own=True)), key=lambda t: t[2]
        )
    )


@settings(max_examples=25)
@given(modules())
def test_navigation_in_generated_text(text: str) -> None:
    check_navigation(ptxkit.parse(text))


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_navigation_in_odd_text(text: str) -> None:
    check_navigation(ptxkit.parse(text))


def test_navigation_in_real_text() -> None:
    check_navigation(ptxkit.parse(DATA[0].read_bytes()))
