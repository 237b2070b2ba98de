"""Markers in PTX that was made elsewhere: nvcc with the macros, mm-ptx, and broken ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import ptxkit
from inject.kernels import accepted, run
from ptxkit.errors import PtxSyntaxError
from ptxkit.inject import AnnotationError, Template, include_dir
from ptxkit.toolchain import locate

MACROS = """
#include <ptxkit_inject.cuh>
extern "C" __global__ void k(float *x)
{
    float z, v = x[threadIdx.x];
    PTX_INJECT("func", PTX_IN(F32, v), PTX_OUT(F32, z));
    x[threadIdx.x] = z;
}
"""


@pytest.mark.skipif(locate.find("nvcc") is None, reason="no nvcc on this machine")
@pytest.mark.parametrize("flags", [[], ["-lineinfo"], ["-G"], ["-rdc=true"]], ids=str)
def test_ptx_of_nvcc(tmp_path: Path, flags: list[str]) -> None:
    source, ptx = tmp_path / "k.cu", tmp_path / "k.ptx"
    source.write_text(MACROS)
    nvcc = locate.require("nvcc").path
    command = [nvcc, "-ptx", "-arch=sm_90", f"-I{include_dir()}", *flags, source, "-o", ptx]
    subprocess.run(command, check=True)
    template = Template.from_ptx(ptx.read_bytes(), filename="k.ptx")
    (one,) = template.sites["func"].occurrences
    assert one.function == "k"
    assert one.source_line == 6
    text = template.render({"func": "mul.f32 %_z, %_v, %_v;"})
    x = np.arange(8, dtype=np.float32)
    run(text, "k", x)
    np.testing.assert_array_equal(x, np.arange(8) ** 2)
    assert ptxkit.assemble(text, "sm_90", debug="-G" in flags).data


def test_a_module(tmp_path: Path) -> None:
    module = ptxkit.compile_cuda(MACROS, include_dirs=[include_dir()], name="own.cu")
    template = Template.from_ptx(module)
    assert repr(template) == "<Template own.ptx: func; 1 occurrence>"
    assert template.module.emit() == module.emit() == template.text
    assert str(template.sites["func"]) == "func(in f32 v, out f32 z)"


PEER = """
extern "C" __global__ void k(float *x)
{
    float z, acc = 1, v = x[threadIdx.x];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        asm("{\\n\\t.reg .f32 %%_x0;\\n\\t.reg .f32 %%_x1;\\n\\t.reg .f32 %%_x2;\\n\\t"
            "mov.f32 %%_x0, %0;\\n\\tmov.f32 %%_x2, %2;\\n\\t"
            "// PTX_INJECT_START func\\n\\t"
            "// _x0 m f32 F32 acc\\n\\t// _x1 o f32 F32 z\\n\\t// _x2 i f32 F32 v\\n\\t"
            "// PTX_INJECT_END\\n\\t"
            "mov.f32 %0, %%_x0;\\n\\tmov.f32 %1, %%_x1;\\n\\t}" : "+f"(acc), "=f"(z) : "f"(v));
        v = z;
    }
    x[threadIdx.x] = acc + v;
}
"""


def test_markers_of_mm_ptx() -> None:
    template = Template.from_ptx(ptxkit.compile_cuda(PEER))
    site = template.sites["func"]
    assert site.signature == "mod f32 acc, out f32 z, in f32 v"
    assert [one.register for one in site.args.values()] == ["%_x0", "%_x1", "%_x2"]
    assert len(site.occurrences) == 2
    text = template.render({"func": "add.f32 %_x0, %_x0, %_x2;\nmul.f32 %_x1, %_x2, %_x2;"})
    x = np.arange(4, dtype=np.float32)
    expected = 1 + x + x * x + (x * x) ** 2
    run(text, "k", x, threads=4)
    np.testing.assert_array_equal(x, expected)
    assert accepted(text)
    with pytest.raises(ptxkit.inject.StubError, match="%_x1"):
        template.render({"func": ""})


HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def body(*lines: str) -> str:
    text = "\n".join(f"    {line}" for line in lines)
    return f"{HEAD}.visible .entry k()\n{{\n    .reg .f32 %f<9>;\n{text}\n    ret;\n}}\n"


GOOD = "// PTX_INJECT f in:f32:f32:x out:f32:f32:z @3 volatile = %f2 %f1"
BAD = {
    "no name": body("// PTX_INJECT"),
    "operands and no name": body("// PTX_INJECT in:f32:f32:x @3 volatile = %f1"),
    "a bad name": body("// PTX_INJECT f! @3 volatile ="),
    "no registers": body("// PTX_INJECT f in:f32:f32:x @3 volatile"),
    "a register is missing": body("// PTX_INJECT f in:f32:f32:x out:f32:f32:z @3 volatile = %f2"),
    "a register too many": body(GOOD + " %f3"),
    "no register": body("// PTX_INJECT f in:f32:f32:x @3 volatile = [%f1]"),
    "a constant to write to": body("// PTX_INJECT f out:f32:f32:x @3 volatile = 5"),
    "an unknown word": body("// PTX_INJECT f in:f32:f32:x @3 fast = %f1"),
    "a bad line": body("// PTX_INJECT f in:f32:f32:x @3x volatile = %f1"),
    "a wrong direction": body("// PTX_INJECT f inout:f32:f32:x @3 volatile = %f1"),
    "a wrong register type": body("// PTX_INJECT f in:f32:f33:x @3 volatile = %f1"),
    "an operand without a name": body("// PTX_INJECT f in:f32:f32 @3 volatile = %f1"),
    "two operands of one name": body("// PTX_INJECT f in:f32:f32:x out:f32:f32:x @3 = %f1 %f2"),
    "two signatures": body(GOOD, GOOD.replace("out:f32", "out:own")),
    "too few operands the second time": body(GOOD, "// PTX_INJECT f @4 volatile ="),
    "a name that stubs use": body("// PTX_INJECT f in:f32:f32:x @3 volatile = %_x"),
    "outside of functions": HEAD + GOOD + "\n",
    "in an initialiser": HEAD + ".global .u32 a[2] = {1,\n" + GOOD + "\n2};\n",
    "in an instruction": body("add.f32", GOOD, "%f1, %f2, %f3;"),
    "in a vector": body(".reg .b64 %rd<2>;", "mov.b64 %rd1, {%f2,", GOOD, "%f3};"),
    "at the start of a vector": body(".reg .b64 %rd<2>;", "mov.b64 %rd1, {", GOOD, "%f2, %f3};"),
    "after a guard": body(".reg .pred q;", "@q", GOOD, "mov.f32 %f1, %f2;"),
    "before a semicolon": body("mov.f32 %f1, %f2", GOOD, ";"),
    "in a declaration": body(".reg .f32", GOOD, "t;"),
    "in a pragma": body(".pragma", GOOD, '"nounroll";'),
    "between a label and its colon": body("L", GOOD, ": mov.f32 %f1, %f2;"),
    "mm-ptx, in an instruction": body(
        "add.f32", "// PTX_INJECT_START f", "// _x0 i f32 F32 v", "// PTX_INJECT_END",
        "%f1, %f2, %f3;",
    ),
    "after a function": body(GOOD) + GOOD + "\n",
    "too many operands": body(
        "// PTX_INJECT f " + " ".join(f"in:f32:f32:x{n}" for n in range(257)) + " @3 volatile ="
    ),
    "mm-ptx, no end": body("// PTX_INJECT_START f", "// _x0 i f32 F32 v", "mov.f32 %f1, %f1;"),
    "mm-ptx, the text ends": HEAD + ".entry k() {\n// PTX_INJECT_START f",
    "mm-ptx, a wrong direction": body("// PTX_INJECT_START f", "// _x0 x f32 F32 v"),
    "mm-ptx, a bad register": body("// PTX_INJECT_START f", "// %_x0 i f32 F32 v"),
    "mm-ptx, half an operand": body("// PTX_INJECT_START f", "// _x0 i f32"),
    "mm-ptx, two signatures": body(
        "// PTX_INJECT_START f", "// _x0 i f32 F32 v", "// PTX_INJECT_END",
        "// PTX_INJECT_START f", "// _x0 i f32 F32 w", "// PTX_INJECT_END",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_markers(name: str, snapshot: object) -> None:
    with pytest.raises(AnnotationError) as raised:
        Template.from_ptx(BAD[name], "k.ptx")
    assert str(raised.value) == snapshot


@pytest.mark.parametrize(
    "line",
    [
        "// see PTX_INJECT f",
        "// PTX_INJECTED f",
        "/* PTX_INJECT f */",
        '.pragma "// PTX_INJECT f";',
        "/*\n// PTX_INJECT f\n*/",
    ],
)
def test_what_is_no_marker(line: str) -> None:
    template = Template.from_ptx(body(line))
    assert len(template.sites) == 0
    assert template.render({}) == body(line)


def test_between_any_two_statements() -> None:
    statements = ["{", "L:", "mov.f32 %f1, %f2;", "{}", '.pragma "nounroll";', ".reg .f32 t;", "}"]
    lines = [GOOD, *(line for one in statements for line in (one + " " + GOOD, GOOD))]
    template = Template.from_ptx(body(*lines))
    assert len(template.sites["f"].occurrences) == len(lines)
    assert ptxkit.parse(template.render({"f": "mov.f32 %_z, %_x;"}))


def test_functions_are_told_apart() -> None:
    text = f"""{HEAD}
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 4 .u32 .entry_like[2] = {{1, 2}};
.func plain;
.func .attribute(.unified(1, 2)) (.reg .f32 %f1, .reg .f32 %f2) first // .entry no
{{
    {{ {{ {GOOD}
    }} }}
    ret;
}}
.visible .entry second(.param .u64 p) .maxntid 32, 1, 1
{{ .reg .f32 %f<9>;
    {GOOD}
    .pragma "}} {{ // ";
    {GOOD}
}}
.func(.param .f32 r)third(.param .f32 p){{.reg .f32 %f<9>;{GOOD}
}}
"""
    template = Template.from_ptx(text.replace(".entry_like", "entry_like"))
    assert template.functions == ("first", "second", "third")
    places = [one.function for one in template.sites["f"].occurrences]
    assert places == ["first", "second", "second", "third"]
    lines = text.split("\n")
    for one in template.sites["f"].occurrences:
        assert GOOD in lines[one.line - 1]


def test_a_constant_may_come_in() -> None:
    line = "// PTX_INJECT f in:s32:s32:n in:f32:f32:x out:f32:f32:z @3 volatile = %f1 -5 0f3F800000"
    text = Template.from_ptx(body(line)).render(
        {"f": ".reg .f32 t;\ncvt.rn.f32.s32 t, %_n;\nadd.f32 %_z, %_x, t;"}
    )
    assert accepted(text)


def test_bytes_that_are_not_ascii_come_back() -> None:
    text = body("// \u00e9", GOOD).encode() + b"// \xff\n"
    rendered = Template.from_ptx(text).render({"f": "neg.f32 %_z, %_x;"})
    assert rendered.encode("utf-8", "surrogateescape").endswith(b"// \xff\n")
    assert "// \u00e9" in rendered
    assert accepted(rendered)


def test_a_text_that_ends_anywhere() -> None:
    whole = body(GOOD, "/* c */", '.pragma "x";', "{ ret; }") + HEAD
    for end in range(len(whole)):
        try:
            template = Template.from_ptx(whole[:end])
        except (AnnotationError, PtxSyntaxError):
            continue
        stubs = dict.fromkeys(template.sites, "neg.f32 %_z, %_x;")
        assert isinstance(template.render(stubs, check=False), str)


NOT_PTX = {
    "nothing": "",
    "words": "hello world",
    "a comment alone": "// nothing else",
    "a NUL byte": body(GOOD).replace("ret", "r\0t"),
    "a cut": body(GOOD).rstrip().removesuffix("}"),
    "words after it": body(GOOD) + "junk here",
    "words in a body": body(GOOD, "garbage of many words"),
}


@pytest.mark.parametrize("name", NOT_PTX)
def test_what_is_not_ptx(name: str, snapshot: object) -> None:
    with pytest.raises((AnnotationError, PtxSyntaxError)) as raised:
        Template.from_ptx(NOT_PTX[name])
    assert str(raised.value) == snapshot


REGISTERS = {
    "wider": "%f1 %rd1",
    "an output that is wider": "%rd1 %f1",
    "a predicate": "%f1 %p1",
    "not declared": "%f1 %nope",
    "past the range": "%f1 %f9999",
}


@pytest.mark.parametrize("name", REGISTERS)
def test_registers_that_do_not_fit(name: str, snapshot: object) -> None:
    line = f"// PTX_INJECT f in:f32:f32:x out:f32:f32:z @3 volatile = {REGISTERS[name]}"
    template = Template.from_ptx(body(".reg .b64 %rd<4>;", ".reg .pred %p<4>;", line))
    with pytest.raises(AnnotationError) as raised:
        template.render({"f": "neg.f32 %_z, %_x;"})
    assert str(raised.value) == snapshot


@pytest.mark.parametrize("crlf", [False, True])
@pytest.mark.parametrize("check", [False, True])
def test_lines_end_as_in_the_file(crlf: bool, check: bool) -> None:
    text = body(GOOD)
    template = Template.from_ptx(text.replace("\n", "\r\n") if crlf else text)
    plain = Template.from_ptx(text)
    for stub in ("neg.f32 %_z, %_x;\n// more", "neg.f32 %_z, %_x;\r\n// more"):
        for made in (
            template.render({"f": stub}, check=check),
            template.render({"f": stub}, check=check),
            template.render_many([{"f": stub}], check=check)[0],
        ):
            assert made.count("\r") == (made.count("\n") if crlf else 0)
            assert made.replace("\r", "") == plain.render({"f": "neg.f32 %_z, %_x;\n// more"})
