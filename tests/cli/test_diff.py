"""`ptxkit diff` and `compare.diff`: what is the same, and what is not."""

import itertools
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ptxkit as toolkit
from ptxkit.errors import PtxSyntaxError, UsageError
from ptxkit.syntax.alignment import align, edits, hunks
from ptxkit.syntax.compare import diff

from .conftest import NOT_PTX, SAXPY, needs_permissions

OTHER = SAXPY.replace("fma.rn.f32", "fma.rz.f32").replace("sm_80", "sm_90")
# Every register and label has another name; the declarations are laid out another way.
RENAMED = (
    SAXPY.replace("%rd", "%wide")
    .replace("%f", "%float")
    .replace("%r1", "%index")
    .replace("$L__BB0_1", "loop")
    .replace("$L__BB0_2", "$done")
    .replace(".reg .b32 \t%r<6>;", ".reg .b32 %index;\n.reg .b32 %r<3>;")
)


def body(*lines, declarations=".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<9>;"):
    """A module with one function."""
    return ".func f() {\n" + "\n".join([declarations, *lines]) + "\n}\n"


def changed_lines(found):
    """Lines of a and of b that differ, over all functions."""
    changes = [c for f in (found.declarations, *found.functions) for c in f.differences]
    return [s.line for c in changes for s in c.a], [s.line for c in changes for s in c.b]


def test_the_same(ptxkit, folder):
    (folder / "a.ptx").write_text(SAXPY)
    (folder / "b.ptx").write_text(toolkit.format(SAXPY).replace("ret;", "ret; // done"))
    result = ptxkit("diff", "a.ptx", "b.ptx")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "a.ptx and b.ptx are the same: 1 function\n"


def test_differences_are_shown(ptxkit, folder, snapshot):
    (folder / "a.ptx").write_text(SAXPY + ".func old() { ret; ret; }\n.func both() { ret; }\n")
    (folder / "b.ptx").write_text(OTHER + ".func both() { ret; }\n.func new(.reg .b32 x);\n")
    result = ptxkit("diff", "a.ptx", "b.ptx")
    assert result.exit_code == 1
    assert result.stdout == snapshot
    assert ptxkit("diff", "a.ptx", "b.ptx", "--context", "0").stdout == snapshot
    plain = ptxkit("diff", "a.ptx", "b.ptx").stdout
    assert "\x1b[" not in plain
    assert "\x1b[31m- fma.rn" in ptxkit("diff", "a.ptx", "b.ptx", colour=True).stdout


def test_names_count_unless_told(ptxkit, folder, snapshot):
    (folder / "a.ptx").write_text(SAXPY)
    (folder / "b.ptx").write_text(RENAMED)
    assert ptxkit("diff", "a.ptx", "b.ptx").exit_code == 1
    result = ptxkit("diff", "a.ptx", "b.ptx", "--alpha")
    assert result.exit_code == 0
    assert result.stdout == (
        "a.ptx and b.ptx are the same up to the names of registers and labels: 1 function\n"
    )
    # One register for another, a dropped instruction, an inserted one.
    text = RENAMED.replace("[%wide5], %float4", "[%wide4], %float4")
    text = text.replace("add.s32 \t%index", "mov.b32 %r2, 7;\n\tadd.s32 \t%index")
    (folder / "b.ptx").write_text(text.replace("\tmov.u32 \t%index, %tid.x;\n", ""))
    result = ptxkit("diff", "a.ptx", "b.ptx", "--alpha", "--context", "1")
    assert (result.exit_code, result.stdout) == (1, snapshot)


def test_json(ptxkit, folder):
    (folder / "a.ptx").write_text(SAXPY)
    (folder / "b.ptx").write_text(OTHER)
    result = ptxkit("diff", "a.ptx", "b.ptx", "--json")
    assert result.exit_code == 1
    data = json.loads(result.stdout)
    assert (data["a"], data["b"], data["equal"], data["alpha"]) == ("a.ptx", "b.ptx", False, False)
    assert data["declarations"]["changes"] == [
        {
            "kind": "replace",
            "a": [{"line": 5, "text": ".target sm_80"}],
            "b": [{"line": 5, "text": ".target sm_90"}],
        }
    ]
    (function,) = data["functions"]
    assert (function["name"], function["status"]) == ("saxpy", "changed")
    assert function["instructions"] == [17, 17]
    assert [change["a"][0]["line"] for change in function["changes"]] == [35]
    same = json.loads(ptxkit("diff", "a.ptx", "a.ptx", "--json").stdout)
    assert same["equal"] is True
    assert same["functions"][0]["changes"] == []


def test_functions_can_be_chosen(ptxkit, folder):
    (folder / "a.ptx").write_text(SAXPY + ".func old() { ret; }\n")
    (folder / "b.ptx").write_text(OTHER + ".func old() { ret; }\n")
    assert ptxkit("diff", "a.ptx", "b.ptx", "--functions", "o*").exit_code == 0
    result = ptxkit("diff", "a.ptx", "b.ptx", "--functions", "sa*")
    assert result.exit_code == 1
    assert "sm_80" not in result.stdout
    result = ptxkit("diff", "a.ptx", "b.ptx", "--functions", "nothing*")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no function of a.ptx or b.ptx has a name like 'nothing*'" in result.stderr


def test_debug_information_can_be_left_out(ptxkit, folder):
    text = body("add.f32 %f1, %f1, %f1;", "ret;")
    debug = text.replace("ret;", ".loc 1 2 3\nret;") + (
        '.file 1 "k.cu"\n.section .debug_str { a: .b8 1, 2\n.b8 3 }\n'
    )
    (folder / "a.ptx").write_text(text)
    (folder / "b.ptx").write_text(debug)
    result = ptxkit("diff", "a.ptx", "b.ptx")
    assert result.exit_code == 1
    assert "+ .loc 1 2 3" in result.stdout
    assert "+ .b8 1, 2" in result.stdout
    for alpha in ([], ["--alpha"]):
        assert ptxkit("diff", "a.ptx", "b.ptx", "--ignore-debug", *alpha).exit_code == 0


def test_trouble_is_not_a_difference(ptxkit, folder, snapshot):
    (folder / "a.ptx").write_text(SAXPY)
    (folder / "bad.ptx").write_text(NOT_PTX)
    (folder / "host.o").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(57))
    messages = []
    for b in ("missing.ptx", ".", "host.o", "bad.ptx"):
        for pair in (("a.ptx", b), (b, "a.ptx")):
            result = ptxkit("diff", *pair)
            assert (result.exit_code, result.stdout) == (2, "")
        messages.append(result.stderr)
    assert "".join(messages) == snapshot
    assert ptxkit("diff", "-", "-", input=SAXPY).exit_code == 2
    assert ptxkit("diff", "a.ptx").exit_code == 2
    assert ptxkit("diff", "a.ptx", "a.ptx", "--context", "-1").exit_code == 2


@needs_permissions
def test_no_permission(ptxkit, folder):
    (folder / "a.ptx").write_text(SAXPY)
    (folder / "b.ptx").touch(0)
    assert ptxkit("diff", "a.ptx", "b.ptx").exit_code == 2


def test_raw_bytes_empty_files_and_standard_input(ptxkit, folder):
    (folder / "a.ptx").write_bytes(b"// \xff\n" + SAXPY.encode())
    (folder / "raw.ptx").write_bytes(SAXPY.encode() + b'.pragma "\xff";')
    (folder / "empty.ptx").write_bytes(b"")
    assert ptxkit("diff", "-", "a.ptx", input=SAXPY).exit_code == 0
    result = ptxkit("diff", "a.ptx", "raw.ptx")
    assert result.exit_code == 1
    assert r'+ .pragma "\xff";' in result.stdout
    assert (
        "\N{REPLACEMENT CHARACTER}"
        in json.loads(ptxkit("diff", "a.ptx", "raw.ptx", "--json").stdout)["declarations"][
            "changes"
        ][0]["b"][0]["text"]
    )
    assert ptxkit("diff", "empty.ptx", "empty.ptx").exit_code == 0
    result = ptxkit("diff", "a.ptx", "empty.ptx")
    assert result.exit_code == 1
    assert "only in a.ptx: saxpy (17 instructions)" in result.stdout


def test_the_api_takes_text_and_refuses_nonsense():
    assert diff(SAXPY, toolkit.format(SAXPY).encode()).equal
    with pytest.raises(PtxSyntaxError):
        diff(SAXPY, NOT_PTX)
    with pytest.raises(UsageError, match="number of statements"):
        diff(SAXPY, OTHER).render(context=-1)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        # two registers become one, and one two
        (["add.f32 %f1, %f2, %f3;"], ["add.f32 %f1, %f2, %f2;"]),
        (["add.f32 %f1, %f2, %f2;"], ["add.f32 %f1, %f2, %f3;"]),
        # the same instructions between other registers
        (["mov.b32 %r1, 1;", "mov.b32 %r2, %r1;"], ["mov.b32 %r1, 1;", "mov.b32 %r2, %r2;"]),
        # a branch to another place
        (["A:", "bra A;", "B:"], ["A:", "bra B;", "B:"]),
        # special registers, variables and numbers keep their names
        (["mov.u32 %r1, %tid.x;"], ["mov.u32 %r1, %tid.y;"]),
        (["mov.u32 %r1, 1;"], ["mov.u32 %r1, 2;"]),
        ([".local .b32 x;"], [".local .b32 y;"]),
        (["mov.b32 %r1, undeclared;"], ["mov.b32 %r1, %r1;"]),
    ],
)
def test_not_the_same_under_any_renaming(a, b):
    for x, y in ((a, b), (b, a)):
        found = diff(body(*x), body(*y), alpha=True)
        assert not found.equal
        assert found.functions[0].differences


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (".reg .b32 x;", ".reg .f32 x;"),
        (".reg .v2 .b32 x;", ".reg .v4 .b32 x;"),
        (".reg .v2 .b32 x;", ".reg .b32 x;"),
    ],
)
def test_types_are_kept(a, b):
    use = "mov.b32 x, x;"
    assert not diff(body(use, declarations=a), body(use, declarations=b), alpha=True).equal
    assert diff(body(declarations=a), body(declarations=b), alpha=True).equal  # never used


def test_scopes_are_respected():
    inner = "{ .reg .b32 a; mov.b32 a, 2; }"
    a = body("mov.b32 a, 1;", inner, "mov.b32 a, 3;", declarations=".reg .b32 a;")
    b = body("mov.b32 x, 1;", inner, "mov.b32 x, 3;", declarations=".reg .b32 x;")
    c = body("mov.b32 x, 1;", "{ mov.b32 x, 2; }", "mov.b32 x, 3;", declarations=".reg .b32 x;")
    assert diff(a, b, alpha=True).equal
    assert not diff(a, c, alpha=True).equal


def test_parameters_that_are_registers_are_renamed():
    a = ".func (.reg .b32 r) f(.reg .b32 x, .reg .b32 y) { sub.s32 r, x, y; ret; }"
    b = ".func (.reg .b32 o) f(.reg .b32 p, .reg .b32 q) { sub.s32 o, p, q; ret; }"
    c = ".func (.reg .b32 o) f(.reg .b32 p, .reg .b32 q) { sub.s32 o, q, p; ret; }"
    assert diff(a, b, alpha=True).equal
    assert not diff(a, c, alpha=True).equal
    assert not diff(a, b).equal


def test_prototypes_pair_with_prototypes():
    a = ".extern .func f(.param .b32 x);\n.func f(.param .b32 x) { ret; }"
    b = ".func f(.param .b32 x) { ret; }"
    found = diff(a, b)
    assert [one.status for one in found.functions] == ["removed", "equal"]
    assert diff(b, a).summary() == "1 function only in <b>, 1 function equal"


REGISTERS = {"b32": ["%r0", "%r1", "%r2"], "f32": ["%f0", "%f1", "%f2"]}
LABELS = ["L0", "L1", "L2"]


@st.composite
def instructions(draw):
    """An instruction in which registers stand as (type, number) and labels as a number."""
    kind = draw(st.sampled_from(["b32", "b32", "f32", "bra"]))
    if kind == "bra":
        return "bra", [("label", draw(st.integers(0, 2)))]
    opcodes = ["add.s32", "sub.s32", "xor.b32"] if kind == "b32" else ["add.f32", "mul.f32"]
    numbers = draw(st.tuples(*[st.integers(0, 2)] * 3))
    return draw(st.sampled_from(opcodes)), [(kind, number) for number in numbers]


def render(program, names, places, declarations=None):
    """The program as text, with these names, and the line of each instruction."""
    groups = {kind: ", ".join(names[kind]) for kind in ("b32", "f32")}
    lines = [".func f()", "{"]
    lines += declarations or [f".reg .{kind} {group};" for kind, group in groups.items()]
    at = []
    for number, (opcode, operands) in enumerate(program):
        lines += [
            f"{names['label'][label]}:" for label, place in enumerate(places) if place == number
        ]
        at.append(len(lines) + 1)
        lines.append(f"    {opcode} {', '.join(names[kind][n] for kind, n in operands)};")
    lines += [f"{names['label'][i]}:" for i, place in enumerate(places) if place >= len(program)]
    return "\n".join([*lines, "ret;", "}", ""]), at


NAMES = {**REGISTERS, "label": LABELS}
programs = st.lists(instructions(), max_size=12)
label_places = st.tuples(*[st.integers(0, 12)] * 3)


@given(programs, label_places, st.booleans())
def test_a_module_equals_itself(program, places, alpha):
    text, _ = render(program, NAMES, places)
    assert diff(text, text, alpha=alpha).equal
    module = toolkit.parse(text)
    spread = text.replace(" ", " /* x */\n ").replace("ret;", "ret ; // end")
    for other in (toolkit.format(module), spread):
        found = diff(module, other, alpha=alpha)
        assert found.equal, found.render()


@given(programs, label_places, st.data())
def test_a_renamed_module_is_equal_up_to_names(program, places, data):
    names = {
        kind: data.draw(st.permutations([f"{prefix}{n}" for n in range(5)]))[:3]
        for kind, prefix in (("b32", "x"), ("f32", "%y"), ("label", "$z"))
    }
    order = [f".reg .{kind} {name};" for kind in ("b32", "f32") for name in names[kind]]
    a, _ = render(program, NAMES, places)
    b, _ = render(program, names, places, declarations=data.draw(st.permutations(order)))
    found = diff(a, b, alpha=True)
    assert found.equal, found.render()
    assert not diff(a, b).equal


@given(programs.filter(len), label_places, st.booleans(), st.data())
def test_a_changed_opcode_is_found(program, places, alpha, data):
    a, lines = render(program, NAMES, places)
    at = data.draw(st.integers(0, len(program) - 1))
    changed = [*program]
    changed[at] = ("min." + program[at][0], program[at][1])
    b, _ = render(changed, NAMES, places)
    found = diff(a, b, alpha=alpha)
    assert not found.equal
    in_a, in_b = changed_lines(found)
    assert lines[at] in in_b  # the new opcode is nowhere in a
    if not alpha:  # a renaming may explain another instruction of a as well
        assert (in_a, in_b) == ([lines[at]], [lines[at]])


tiny = st.lists(
    st.tuples(
        st.sampled_from(["add.s32", "sub.s32"]),
        st.tuples(*[st.integers(0, 2)] * 3).map(lambda ns: [("b32", n) for n in ns]),
    ),
    min_size=1,
    max_size=3,
)


@given(tiny, tiny)
def test_equality_is_the_existence_of_a_renaming(one, other):
    places = (9, 9, 9)
    a, _ = render(one, NAMES, places)
    exists = False
    for names in itertools.permutations(REGISTERS["b32"]):
        declarations = [".reg .b32 %r0, %r1, %r2;", ".reg .f32 %f0, %f1, %f2;"]
        exists |= a == render(other, {**NAMES, "b32": names}, places, declarations)[0]
    assert diff(a, render(other, NAMES, places)[0], alpha=True).equal == exists


@given(programs, programs, label_places, st.booleans())
def test_every_statement_is_accounted_for(one, other, places, alpha):
    a, b = (toolkit.parse(render(program, NAMES, places)[0]) for program in (one, other))
    (found,) = diff(a, b, alpha=alpha).functions
    if found.equal:
        return
    for side, module in (("a", a), ("b", b)):
        texts = [s.text for change in found.changes for s in getattr(change, side)]
        instructions = [" ".join(i.text.split()) for i in module["f"].instructions]
        assert [text for text in texts if text in set(instructions)] == instructions
    assert found.differences
    for change in found.changes:
        assert change.a or change.b
        if change.equal:
            assert len(change.a) == len(change.b)
            if not alpha:
                assert [s.text for s in change.a] == [s.text for s in change.b]


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)), st.integers(0, 3))
def test_runs_are_common_and_in_order(a, b, context):
    end_a = end_b = 0
    for i, j, n in align(a, b):
        assert n > 0
        assert i >= end_a
        assert j >= end_b
        assert a[i : i + n] == b[j : j + n]
        end_a, end_b = i + n, j + n
    assert align(a, a) == ([(0, 0, len(a))] if a else [])
    everything = list(edits(align(a, b), len(a), len(b)))
    assert [x for _, i, j, _, _ in everything for x in a[i:j]] == a
    assert [x for _, _, _, i, j in everything for x in b[i:j]] == b
    shown = [edit for hunk in hunks(everything, context) for edit in hunk if not edit[0]]
    assert shown == [edit for edit in everything if not edit[0]]


def big_function(shift):
    """8,400 instructions, much alike: what makes a naive comparison quadratic."""
    lines = []
    for n in range(7000):
        x, y, z = ((k * n + shift) % 499 for k in (1, 7, 11))
        lines.append(f"fma.rn.f32 %f{x}, %f{y}, %f{z}, %f{x};")
        if n % 5 == 0:
            lines.append("bar.sync 0;")
    return lines


@pytest.mark.parametrize("alpha", [False, True])
def test_a_big_function_takes_no_time(alpha):
    declarations = ".reg .f32 %f<500>;"
    lines = big_function(0)
    edited = [line for number, line in enumerate(big_function(3 if alpha else 0)) if number % 701]
    a = toolkit.parse(body(*lines, declarations=declarations))
    b = toolkit.parse(body(*edited, declarations=declarations))
    start = time.process_time()
    found = diff(a, b, alpha=alpha)
    assert time.process_time() - start < 2
    in_a, in_b = changed_lines(found)
    assert (len(in_a), len(in_b)) == (12, 0)


def test_functions_that_have_nothing_in_common_take_no_time_either():
    declarations = ".reg .f32 %f<500>;"
    a = toolkit.parse(body(*big_function(0), declarations=declarations))
    b = toolkit.parse(body(*reversed(big_function(1)), declarations=declarations))
    for alpha in (False, True):
        start = time.process_time()
        assert not diff(a, b, alpha=alpha).equal
        assert time.process_time() - start < 2
