"""Annotations: what they may look like, what is none, and what is wrong with bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptxkit
from ptxkit.inject import AnnotationError, Template, Type
from ptxkit.inject.annotation import MOST_OPERANDS, rewrite
from ptxkit.inject.types import TYPES
from ptxkit.toolchain import CompilerError

FUNCTION = """extern "C" __global__ void k(float *x, int n)
{{
    float a = x[n], b = 0;
    {}
    x[n] = a + b;
}}
"""


def function(annotation: str) -> str:
    return FUNCTION.format(annotation)


def statements(source: str) -> str:
    return rewrite(source, "k.cu", TYPES).text


NONE = {
    "a line comment": "// /* PTX_INJECT f in f32 x */\n",
    "a continued line comment": "// text \\\n /* PTX_INJECT f */\nint i;",
    "a string": 'const char *s = "/* PTX_INJECT f */";',
    "an escaped quote": 'const char *s = "\\"/* PTX_INJECT f */";',
    "a raw string": 'const char *s = R"x(" /* PTX_INJECT f */)x";',
    "a character": "char c = '\"'; char d = '/'; /* no PTX_INJECT f */",
    "another word": "/* PTX_INJECTED f */ /* PTX_INJECT_OLD f */",
    "in the middle": "/* see PTX_INJECT f */",
    "inside a comment": "/* a /* PTX_INJECT f */",
    "unterminated, not ours": "int i; /* PTX",
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_annotation_stays(name: str) -> None:
    assert statements(NONE[name]) == NONE[name]


@pytest.mark.parametrize(
    "before",
    [
        "int n = 1'000'000;",
        "char c = '\\'';",
        'auto s = u8R"(\')";',
        'auto PR = FOOR"x";',
        "a / b;",
    ],
)
def test_quotes_before_an_annotation(before: str) -> None:
    assert "asm volatile" in statements(f"{before} /* PTX_INJECT f */")


def test_all_that_an_annotation_may_have() -> None:
    source = "/* PTX_INJECT name memory\r\n *  in f32 x = a[i] * 2   // the input\r\n\r\n"
    source += "  out  bf16x2\ty\r\n\tmod pred p=q==r */ rest"
    made = rewrite(source, "k.cu", TYPES)
    first, second, third, fourth, last = made.text.split("\n")
    assert first == (
        'asm volatile("// PTX_INJECT name in:f32:f32:x out:bf16x2:b32:y mod:pred:pred:p @1 '
        'volatile memory = %0 %1 %2" : "=r"(reinterpret_cast<unsigned int &>'
        '(static_cast<__nv_bfloat162 &>(y))), "+r"(q==r) : "f"(a[i] * 2) : "memory");'
    )
    assert (second, third, fourth) == ("", "", "")
    assert last.index("rest") == source.split("\n")[-1].index("rest")
    (found,) = made.annotations
    assert found.signature == (("in", "f32", "x"), ("out", "bf16x2", "y"), ("mod", "pred", "p"))


def test_flags_may_stand_on_a_line_of_their_own() -> None:
    assert statements("/* PTX_INJECT f\n pure\n*/").startswith('asm("// PTX_INJECT f @1 pure =" :')


def test_an_annotation_in_a_macro() -> None:
    source = """
#define SITE(a) \\
    do { /* PTX_INJECT f
        mod f32 value = a
    */ } while (0)
extern "C" __global__ void k(float *x) { SITE(x[0]); SITE(x[1]); }
"""
    template = Template.from_cuda(source)
    assert len(template.sites["f"].occurrences) == 2
    assert template.sites["f"].occurrences[0].source_line == 3


def test_an_annotation_is_one_statement() -> None:
    source = function("if (n > 3)\n /* PTX_INJECT f\n mod f32 a */\n else b = 2;")
    assert len(Template.from_cuda(source).sites["f"].occurrences) == 1


def test_line_ends_of_windows() -> None:
    source = function("/* PTX_INJECT f\n  mod f32 a\n  in f32 b = 2.0f\n*/")
    crlf, plain = (Template.from_cuda(text) for text in (source.replace("\n", "\r\n"), source))
    assert crlf.sites["f"].signature == plain.sites["f"].signature == "mod f32 a, in f32 b"
    assert crlf.sites["f"].occurrences == plain.sites["f"].occurrences
    ptx = Template.from_ptx(plain.text.replace("\n", "\r\n"))
    assert ptx.sites["f"].occurrences == plain.sites["f"].occurrences
    stub = "add.f32 %_a, %_a, %_b;\r\nadd.f32 %_a, %_a, %_b;\r\n"
    assert ptxkit.assemble(ptx.render({"f": stub}), "sm_90").data


BAD = {
    "no name": "/* PTX_INJECT\n  in f32 a\n*/",
    "a name that is none": "/* PTX_INJECT 2nd\n  in f32 a\n*/",
    "an unknown flag": "/* PTX_INJECT f volatil\n  in f32 a\n*/",
    "an operand on the first line": "/* PTX_INJECT f in f32 a */",
    "pure and memory": "/* PTX_INJECT f pure memory\n  in f32 a\n*/",
    "volatile and pure": "/* PTX_INJECT f volatile\n  pure\n*/",
    "unterminated": "/* PTX_INJECT f\n  in f32 a\n",
    "closed by another comment": "/* PTX_INJECT f\n  in f32 a\n b = 2; /* more */",
    "an unknown type": "/* PTX_INJECT f\n  in f23 a\n*/",
    "a type in upper case": "/* PTX_INJECT f\n  in F32 a\n*/",
    "a type like no other": "/* PTX_INJECT f\n  in quaternion a\n*/",
    "a wrong direction": "/* PTX_INJECT f\n  inout f32 a\n*/",
    "a direction in upper case": "/* PTX_INJECT f\n  IN f32 a\n*/",
    "a direction alone": "/* PTX_INJECT f\n  in\n*/",
    "no operand name": "/* PTX_INJECT f\n  in f32\n*/",
    "no operand name, an expression": "/* PTX_INJECT f\n  in f32 = a\n*/",
    "an expression for a name": "/* PTX_INJECT f\n  in f32 x[n]\n*/",
    "no expression": "/* PTX_INJECT f\n  in f32 a =\n*/",
    "an open parenthesis": "/* PTX_INJECT f\n  in f32 a = (x[n]\n*/",
    "an expression that ends the statement": "/* PTX_INJECT f\n  in f32 a = a)); exit((0\n*/",
    "two operands of one name": "/* PTX_INJECT f\n  in f32 a\n  out f32 a = b\n*/",
    "two signatures": "/* PTX_INJECT f\n  in f32 a\n*/ /* PTX_INJECT f\n  in s32 a = n\n*/",
    "too many operands": "/* PTX_INJECT f\n"
    + "".join(f"  in f32 a{number} = a\n" for number in range(MOST_OPERANDS + 1))
    + "*/",
    "text beyond ASCII": "/* \u00e9\u00e9 */ /* PTX_INJECT f\n  in \u00e9 a\n*/",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_annotations(name: str, snapshot: object) -> None:
    with pytest.raises(AnnotationError) as raised:
        Template.from_cuda(function(BAD[name]), name="k.cu")
    assert str(raised.value) == snapshot
    line = function(BAD[name]).split("\n")[raised.value.line - 1]
    assert raised.value.diagnostics[0].source_line == line


COMPILED = {
    "an unknown variable": "/* PTX_INJECT f\n  in f32 a\n  out f32 b = nothing\n*/",
    "a wrong type": "/* PTX_INJECT f\n  in f32 a = n\n*/",
    "a syntax error": "/* PTX_INJECT f\n  in f32 a = a +\n*/",
    "after an annotation": "/* PTX_INJECT f */ nothing(); /* PTX_INJECT g */ no();",
    "after a long annotation": "/* PTX_INJECT f\n  in f32 a\n  */ nothing();",
    "on another line": "/* PTX_INJECT f\n  in f32 a\n  */\n  nothing();",
}


@pytest.mark.parametrize("name", COMPILED)
def test_what_the_compiler_says_is_placed_in_the_source(name: str, snapshot: object) -> None:
    with pytest.raises(CompilerError) as raised:
        Template.from_cuda(function(COMPILED[name]), name="k.cu", cache=False)
    errors = [one for one in raised.value.diagnostics if one.severity == "error"]
    assert "\n".join(one.render() for one in errors) == snapshot
    source = function(COMPILED[name]).split("\n")
    assert all(one.source_line == source[one.line - 1] for one in errors)


def test_two_signatures_of_which_one_is_compiled() -> None:
    source = function("#if 1\n/* PTX_INJECT f\n  in f32 a */\n#else\n/* PTX_INJECT f */\n#endif\n")
    assert Template.from_cuda(source).sites["f"].signature == "in f32 a"


def test_macros_with_two_signatures(snapshot: object) -> None:
    source = "#include <ptxkit_inject.cuh>\n" + function(
        'PTX_INJECT("f", PTX_IN(F32, a)); PTX_INJECT("f", PTX_IN(F32, b));'
    )
    with pytest.raises(AnnotationError) as raised:
        Template.from_cuda(source)
    assert raised.value.diagnostics[0].code == "inject-signature"
    assert "line 5 of the source" in str(raised.value)


def test_as_many_operands_as_allowed() -> None:
    lines = "".join(f"  in f32 a{number} = a\n" for number in range(MOST_OPERANDS))
    template = Template.from_cuda(function(f"/* PTX_INJECT f\n{lines}*/"))
    assert len(template.sites["f"].args) == MOST_OPERANDS
    assert ptxkit.assemble(template.render({"f": ""}), "sm_90").data


def test_macros_with_as_many_operands_as_allowed() -> None:
    operands = ", ".join(f"PTX_IN(F32, a{number}, a)" for number in range(32))
    source = f'#include <ptxkit_inject.cuh>\n{function(f"""PTX_INJECT("f", {operands});""")}'
    assert len(Template.from_cuda(source).sites["f"].args) == 32


def test_an_annotation_in_a_header(tmp_path: Path) -> None:
    (tmp_path / "outer.cuh").write_text('#include "inner.cuh"\n')
    (tmp_path / "inner.cuh").write_text("// one\n  /* PTX_INJECT f\n*/\n")
    with pytest.raises(AnnotationError, match="not seen") as raised:
        Template.from_cuda('#include "outer.cuh"\n', include_dirs=[tmp_path])
    assert (raised.value.line, raised.value.column) == (2, 3)
    assert raised.value.filename == str(tmp_path / "inner.cuh")
    (tmp_path / "inner.cuh").write_text("// PTX_INJECT f\n")
    assert not Template.from_cuda('#include "outer.cuh"\n', include_dirs=[tmp_path]).sites


def test_a_macro_that_the_compiler_dropped() -> None:
    source = '#include <ptxkit_inject.cuh>\nstatic __device__ void f() { PTX_INJECT("gone"); }\n'
    template = Template.from_cuda(source, options=["--disable-warnings"])
    with pytest.raises(ptxkit.UnknownNameError, match="its code is never called"):
        template.render({"gone": ""})
    with pytest.raises(ptxkit.UnknownNameError, match="no injection site is called 'other'"):
        template.render({"other": ""})


def test_what_is_no_text() -> None:
    with pytest.raises(ptxkit.UsageError, match="needs CUDA C\\+\\+ as text, not int"):
        Template.from_cuda(5)  # type: ignore[arg-type]
    with pytest.raises(ptxkit.UsageError, match="needs PTX text or a Module, not int"):
        Template.from_ptx(5)  # type: ignore[arg-type]
    with pytest.raises(ptxkit.UsageError, match="types are ptxkit"):
        Template.from_cuda("", types=["f32"])  # type: ignore[list-item]
    assert Type("own", "b32", "r").width == 32


def test_a_source_without_sites() -> None:
    template = Template.from_cuda("__global__ void k() {}")
    assert len(template.sites) == 0
    assert template.render({}) == template.text
