"""Stubs are checked where they will stand, and what is wrong is shown in the stub."""

from __future__ import annotations

import pytest

import ptxkit
from ptxkit.inject import StubError, Template

F = "// PTX_INJECT f in:f32:f32:x in:s32:s32:n out:f32:f32:z mod:b64:b64:p"
PTX = f""".version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 table[4];
.shared .align 8 .b8 pool[64];
.func (.param .f32 result) twice(.param .f32 value)
{{
    ret;
}}
.visible .entry k(.param .u64 k_param_0)
{{
    .reg .f32 %f<9>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    {F} @7 volatile = %f1 %rd1 %f2 %r1
    ret;
}}
.visible .entry other(.param .u64 other_param_0)
{{
    .reg .f32 %f<9>;
    .reg .b32 %r<9>;
    .reg .b16 %h<9>;
    .reg .b64 %rd<9>;
    {F} @9 volatile = %f3 %rd1 %f4 %r1
    // PTX_INJECT h in:f16:b16:x out:pred:pred:q @9 volatile = %r1 %h1
    ret;
}}
"""
H = "setp.gt.f16 %_q, %_x, %_x;"


@pytest.fixture(scope="module")
def template() -> Template:
    return Template.from_ptx(PTX, "k.ptx")


GOOD = {
    "may leave the kernel": """
        .reg .pred q;
        setp.lt.s32 q, %_n, 0;
        @q exit;
        neg.f32 %_z, %_x;""",
    "assigns and leaves": "neg.f32 %_z, %_x;\nret;",
    "plain": "neg.f32 %_z, %_x;",
    "a scope of its own": "{\n.reg .f32 t;\nneg.f32 t, %_x;\nmov.f32 %_z, t;\n}",
    "a comment at the end": "neg.f32 %_z, %_x; // done",
    "text beyond ASCII in a comment": "neg.f32 %_z, %_x; // \u00e9",
    "both branches": """
        .reg .pred q;
        setp.lt.s32 q, %_n, 0;
        @q bra LESS;
        mov.f32 %_z, 0f00000000;
        bra DONE;
    LESS:
        neg.f32 %_z, %_x;
    DONE:""",
    "both sides of a predicate": """
        .reg .pred q;
        setp.lt.s32 q, %_n, 0;
        @q neg.f32 %_z, %_x;
        @!q mov.f32 %_z, %_x;""",
    "both sides of a predicate, another of its name between": """
        .reg .pred q;
        setp.lt.s32 q, %_n, 0;
        @q neg.f32 %_z, %_x;
        { .reg .pred q; setp.lt.s32 q, %_n, 1; }
        @!q mov.f32 %_z, %_x;""",
    "read under the predicate that wrote it": """
        .reg .pred q;
        setp.lt.s32 q, %_n, 0;
        @q neg.f32 %_z, %_x;
        @q neg.f32 %_z, %_z;
        @!q mov.f32 %_z, %_x;""",
    "a way out of the kernel": """
        .reg .pred q;
        setp.lt.s32 q, %_n, 0;
        @q bra LEAVE;
        neg.f32 %_z, %_x;
        bra DONE;
    LEAVE:
        exit;
    DONE:""",
    "a loop": """
        .reg .pred q;
        mov.f32 %_z, %_x;
    AGAIN:
        add.f32 %_z, %_z, %_x;
        sub.s32 %_n, %_n, 1;
        setp.gt.s32 q, %_n, 0;
        @q bra AGAIN;""",
    "a variable of the module": "ld.global.f32 %_z, [table+4];",
    "shared memory": "st.shared.f32 [pool], %_x;\nld.shared.f32 %_z, [pool+8];",
    "a function": """{
        .param .f32 a; .param .f32 r;
        st.param.f32 [a], %_x;
        call (r), twice, (a);
        ld.param.f32 %_z, [r];
    }""",
    "special registers": ".reg .u32 t;\nmov.u32 t, %tid.x;\ncvt.rn.f32.u32 %_z, t;",
    "a vector": ".reg .f32 t;\nld.global.v2.f32 {%_z, t}, [%_p];",
    "a name declared inside again": "{ .reg .f64 %_x; mov.f64 %_x, 0d0000000000000000; }\n"
    "mov.f32 %_z, %_x;",
    "bits of any kind": "and.b32 %_z, %_x, %_n;",
}


@pytest.mark.parametrize("name", GOOD)
def test_good_stubs(name: str, template: Template) -> None:
    ptx = template.render({"f": GOOD[name], "h": H})
    assert GOOD[name] in ptx
    assert ptxkit.assemble(ptx, "sm_90").data
    # The second time the stub is known, and gives the same.
    assert template.render({"f": GOOD[name], "h": H}) == ptx


BAD = {
    "leaves the kernel": "exit;",
    "returns before it": "bra OUT;\nOUT: ret;",
    "stops": "trap;",
    "never ends": "AGAIN: bra AGAIN;",
    "an undeclared register": "add.f32 %_z, %_x, t;",
    "a misspelt operand": "add.f32 %_z, %_x, %_y;",
    "a register of the compiler": "add.f32 %_z, %_x, %f1;",
    "a wrong width": "mov.f32 %_z, %_x;\nadd.f64 %_z, %_x, %_x;",
    "a wrong kind": "mov.f32 %_z, %_x;\nadd.f32 %_z, %_x, %_n;",
    "an unknown instruction": "mov.f32 %_z, %_x;\n  fmadd.f32 %_z, %_x, %_x;",
    "an instruction for a later target": "neg.f32 %_z, %_x;\nbarrier.cluster.arrive;",
    "never assigned": "add.s32 %_n, %_n, 1;",
    "nothing": "",
    "only white space": "  \n\t",
    "assigned on one path": """.reg .pred q;
setp.lt.s32 q, %_n, 0;
@q bra DONE;
neg.f32 %_z, %_x;
DONE:""",
    "assigned under a predicate": ".reg .pred q;\nsetp.lt.s32 q, %_n, 0;\n@q neg.f32 %_z, %_x;",
    "assigned under two values of a predicate": """.reg .pred q;
setp.lt.s32 q, %_n, 0;
@q neg.f32 %_z, %_x;
setp.lt.s32 q, %_n, 1;
@!q neg.f32 %_z, %_x;""",
    "assigned under two predicates of one name": """.reg .pred q;
setp.lt.f32 q, %_x, 0f7F800000;
{ .reg .pred q;
setp.gt.f32 q, %_x, 0f7F800000;
@q mov.f32 %_z, %_x; }
@!q mov.f32 %_z, %_x;""",
    "assigned under a predicate that changes after a block": """.reg .pred q;
setp.lt.s32 q, %_n, 0;
@q atom.global.add.f32 %_z, [%_p], %_x;
{ .reg .pred q; setp.lt.s32 q, %_n, 0; }
setp.lt.s32 q, %_n, 1;
@!q mov.f32 %_z, %_x;""",
    "read before": "add.f32 %_z, %_z, %_x;",
    "assigned in a scope that hides it": "{ .reg .f32 %_z; neg.f32 %_z, %_x; }",
    "an operand declared again": ".reg .f32 %_z;\nneg.f32 %_z, %_x;",
    "no semicolon": "neg.f32 %_z, %_x",
    "no semicolon in the middle": "neg.f32 %_z, %_x\nadd.f32 %_z, %_z, %_x;",
    "an open brace": "{ neg.f32 %_z, %_x;",
    "a brace too many": "neg.f32 %_z, %_x; }",
    "out of the scope and in again": "neg.f32 %_z, %_x; } {",
    "another function": "neg.f32 %_z, %_x; ret; }\n.func g() {",
    "an open comment": "neg.f32 %_z, %_x; /* and",
    "a label twice": "A: neg.f32 %_z, %_x;\nA: neg.f32 %_z, %_x;",
    "a label that is not there": "neg.f32 %_z, %_x;\nbra NOWHERE;",
    "a directive of modules": ".version 9.0\nneg.f32 %_z, %_x;",
    "a parameter of one kernel only": "neg.f32 %_z, %_x;\nld.param.u64 %_p, [k_param_0];",
    "a register declared after": "neg.f32 %_z, %_x;\nneg.f32 %_z, u;\n.reg .f32 u;",
    "a NUL byte": "neg.f32 %_z, %_x;\n // \0 ",
    "a lone surrogate": "neg.f32 %_z, %_x; // \udcff",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_stubs(name: str, template: Template, snapshot: object) -> None:
    with pytest.raises(StubError) as raised:
        template.render({"f": BAD[name], "h": H})
    assert str(raised.value) == snapshot
    lines = BAD[name].split("\n")
    for one in raised.value.diagnostics:
        assert one.line <= len(lines)
        assert one.source_line is not None
        assert one.source_line.rstrip() == lines[one.line - 1].rstrip()


def test_the_same_in_every_place_of_the_call(template: Template) -> None:
    stubs = {"f": BAD["a wrong width"], "h": H}
    with pytest.raises(StubError) as one:
        template.render(stubs)
    with pytest.raises(StubError) as many:
        template.render_many([stubs])
    with pytest.raises(StubError) as checked:
        template.check(stubs)
    assert str(one.value) == str(many.value) == str(checked.value)


def test_bytes(template: Template, snapshot: object) -> None:
    assert template.render({"f": b"neg.f32 %_z, %_x;", "h": H.encode()}) == template.render(
        {"f": "neg.f32 %_z, %_x;", "h": H}
    )
    with pytest.raises(StubError) as raised:
        template.render({"f": b"neg.f32 %_z, %_x;\n  // \xe9\xff", "h": H})
    assert str(raised.value) == snapshot


def test_a_parameter_of_the_kernel_for_that_kernel(template: Template) -> None:
    stub = "neg.f32 %_z, %_x;\nld.param.u64 %_p, [k_param_0];"
    plain = "neg.f32 %_z, %_x;"
    ptx = template.render({"f": plain, ("k", "f"): stub, "h": H})
    assert ptxkit.assemble(ptx, "sm_90").data
    with pytest.raises(StubError, match="k_param_0"):
        template.render({"f": plain, ("other", "f"): stub, "h": H})


def test_unchecked_stubs_are_left_to_the_assembler(template: Template) -> None:
    stub = "tomorrow.f32 %_z, %_x;"
    assert stub in template.render({"f": stub, "h": H}, check=False)
    assert stub in template.render_many([{"f": stub, "h": H}], check=False)[0]
    with pytest.raises(StubError):  # and do not count as checked
        template.render({"f": stub, "h": H})
    with pytest.raises(StubError, match="NUL"):
        template.render({"f": "\0", "h": H}, check=False)


WRONG = {
    "an unknown site": {"g": "", "f": ""},
    "a site that sounds like it": {"ff": "", "h": H},
    "a missing site": {"f": GOOD["plain"]},
    "no stubs": {},
    "an unknown kernel": {"f": GOOD["plain"], "h": H, ("kernel", "f"): ""},
    "a kernel without the site": {"f": GOOD["plain"], "h": H, ("k", "h"): ""},
    "a number too high": {"f": GOOD["plain"], "h": H, ("f", 2): ""},
    "a negative number": {"f": GOOD["plain"], "h": H, ("f", -1): ""},
    "a number in a kernel": {"f": GOOD["plain"], "h": H, ("k", "f", 1): ""},
    "one kernel is missing": {("k", "f"): GOOD["plain"], "h": H},
    "a key of another kind": {1: ""},
    "a stub that is no text": {"f": 5, "h": H},
    "a list": [("f", "")],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sets(name: str, template: Template, snapshot: object) -> None:
    with pytest.raises(ptxkit.PtxkitError) as raised:
        template.render(WRONG[name])  # type: ignore[arg-type]
    assert f"{type(raised.value).__name__}: {raised.value}" == snapshot
    with pytest.raises(type(raised.value)):
        template.render_many([WRONG[name]])  # type: ignore[list-item]


def test_many_sets_that_are_none(template: Template) -> None:
    for sets in (None, 3, "text", {"f": "stub"}):
        with pytest.raises(ptxkit.errors.UsageError, match="the sets of stubs are a list"):
            template.render_many(sets)  # type: ignore[arg-type]
    for threads in (0, -3, 1.5):
        with pytest.raises(ptxkit.errors.UsageError, match="threads is a number"):
            template.render_many([], threads=threads)  # type: ignore[arg-type]


def test_a_wrong_name_is_a_key_error_too(template: Template) -> None:
    with pytest.raises(KeyError, match="there are: f, h"):
        template.sites["g"]
    with pytest.raises(KeyError, match="there are: x, n, z, p"):
        template.sites["f"].args["y"]
    assert "g" not in template.sites
