"""The formatter: one layout, the same tokens, every comment."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from helpers.ptx_strategies import lay_out, module_tokens, modules

DATA = sorted((Path(__file__).parent / "data").glob("*.ptx"))


def tokens(text: str | bytes) -> list[str]:
    """The tokens without comments."""
    return [word for _, word, _, _ in ptxkit.parse(text).tokens()]


def comments(text: str | bytes) -> list[str]:
    """The comments and # lines, white space at their ends apart."""
    return [
        word.rstrip()
        for kind, word, _, _ in ptxkit.parse(text).tokens(trivia=True)
        if kind in ("comment", "preprocessor")
    ]


def check(text: str | bytes, width: int = 100) -> str:
    """Format, and see that nothing is lost and nothing is left to do."""
    once = ptxkit.format(text, width=width)
    assert tokens(once) == tokens(text)
    assert comments(once) == comments(text)
    assert ptxkit.format(once, width=width) == once
    kinds = [node.kind for node in ptxkit.parse(text).walk()]
    assert [node.kind for node in ptxkit.parse(once).walk()] == kinds
    assert once == "" or (once.endswith("\n") and not once.startswith("\n"))
    lines = once.split("\n")
    inside = "/*" in once  # comments keep their own white space
    assert inside or all(line == line.rstrip() for line in lines)
    assert inside or "\n\n\n" not in once
    return once


# -- properties -------------------------------------------------------------------------------


@settings(max_examples=100)
@given(modules(), st.sampled_from([20, 40, 100, 10_000]))
def test_nothing_is_lost(text: str, width: int) -> None:
    check(text, width)


@settings(max_examples=60)
@given(module_tokens(), st.integers(1, 2**32), st.integers(1, 2**32))
def test_the_layout_does_not_depend_on_white_space(words: list[str], one: int, other: int) -> None:
    def without_blank_lines(text: str) -> str:
        return "\n".join(line for line in ptxkit.format(text).split("\n") if line)

    layouts = {
        without_blank_lines(text)
        for text in (
            " ".join(words),
            "\n".join(words),
            lay_out(words, one, comments=False),
            lay_out(words, other, comments=False),
        )
    }
    assert len(layouts) == 1


@settings(max_examples=60)
@given(module_tokens(), st.integers(0, 2**32))
def test_the_text_parses_to_the_tokens_it_was_made_of(words: list[str], seed: int) -> None:
    text = lay_out(words, seed)
    assert tokens(text) == words
    assert ptxkit.parse(text).emit() == text


@settings(max_examples=40)
@given(modules(), st.sampled_from([30, 60]))
def test_lines_are_broken_at_commas(text: str, width: int) -> None:
    module = ptxkit.parse(ptxkit.format(text, width=width))
    for number in range(1, module.line_count + 1):
        line = module.line_text(number)
        if len(line) > width and "/*" not in line and "//" not in line:
            # What is too long has no comma where it could be broken.
            assert "," not in line.strip()[: width // 2].rstrip(","), line


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_real_files(path: Path) -> None:
    check(path.read_bytes())


# -- golden examples --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["nvcc_saxpy", "nvcc_function_pointers", "triton_inline_ptx", "hand_written"]
)
def test_golden(name: str, snapshot: object) -> None:
    assert check((DATA[0].parent / f"{name}.ptx").read_bytes()) == snapshot


ODD_LAYOUT = """\
# 1 "k.cu"
.version   9.0   .target sm_90 , debug
.address_size 64 // sixty-four


// about x

.global.align 8 .u32 x [ 2 ] [ 3 ]={ {1,2},{ 3 , 4 } } ,y= -1;
.extern .func(.param.b32 r)g(.param.b32 a);.global.u32 z;
.visible .entry k(.param.u64 p,.param .align 4 .b8 q [ 12 ]  )
.maxntid 32 ,1,1 .minnctapersm 2
{
/* at the top */ .reg.b32 %r < 4 >;.reg.pred p ;
@ ! p bra DONE;mov.b32 %r1,(1+2 ) *- 3<<1;
      // own line
  ld.global.v2.b32 { %r1 ,%r2},[ p + 8 ] ; // at the end
  { .reg.b32 t;   call(t) ,g,( 5 ) ;}
  a:b: setp.lt.s32 p | _,%r1 , %r2;
  T:.branchtargets a ,b;
  P: .callprototype(.param.b32 _)_(.param.b32 _).noreturn;
  tex.2d.v4.f32.s32 {%r1,%r2,%r3,%r1},[ x , { %r1,%r2 } ] ;
  st.global.b32 [ p+0 ] .unified , %tid .x ;mov.b32 %r1,x [ 2 ];
  DONE:ret;}
.section .debug_str { L: .b8 1,-2 .b32 L-L , .debug_str+4 }
@@DWARF .byte 1,2
.alias g , g;.pragma "a","b" ;
"""


def test_an_odd_layout(snapshot: object) -> None:
    assert check(ODD_LAYOUT) == snapshot


def test_long_lines(snapshot: object) -> None:
    text = ".func f(.param .b32 first, .param .b32 second) { call (a), function_with_a_long_name, "
    text += "(argument_one, argument_two, argument_three, argument_four, argument_five); }"
    text += ".global .u32 x[20] = {" + ", ".join(str(number * 111) for number in range(20)) + "};"
    assert check(text, 60) == snapshot


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n\n", ""),
        ("// only\n", "// only\n"),
        ("/* a */ /* b */", "/* a */ /* b */\n"),
        (".func f(){}", ".func f()\n{\n}\n"),
        (".func f(){{}}", ".func f()\n{\n    {\n    }\n}\n"),
        (".func f();.func g();", ".func f();\n.func g();\n"),
        (".func f(){ret;}.func g();", ".func f()\n{\n    ret;\n}\n\n.func g();\n"),
        (".func f(){a:b:ret;}", ".func f()\n{\na:\nb:\n    ret;\n}\n"),
        (".func f(){mov a,- -1;}", ".func f()\n{\n    mov a, --1;\n}\n"),
        (".func f(){mov a,1-  -1;}", ".func f()\n{\n    mov a, 1 - -1;\n}\n"),
        (".func f(){mov a,7% 4;}", ".func f()\n{\n    mov a, 7 % 4;\n}\n"),
        (".func f(){mov a,1?2:3;}", ".func f()\n{\n    mov a, 1 ? 2 : 3;\n}\n"),
        (".func f(){mov a,x+ 4;}", ".func f()\n{\n    mov a, x+4;\n}\n"),
        (".func f(){ld a,[ x+-4 ];}", ".func f()\n{\n    ld a, [x+-4];\n}\n"),
        (".func f(){mov a, .5;}", ".func f()\n{\n    mov a, .5;\n}\n"),
        (".func f(){mov a,(.s64)-1;}", ".func f()\n{\n    mov a, (.s64)-1;\n}\n"),
        (".global .u64 x=generic( y )+4;", ".global .u64 x = generic(y)+4;\n"),
        (".global .u8 x=0xff( y );", ".global .u8 x = 0xff(y);\n"),
        (".global .texref t={width=4,height=2};", ".global .texref t = {width = 4, height = 2};\n"),
        (".const[2] .b32 x;", ".const[2] .b32 x;\n"),
        (
            ".func f(){ret; // a\n/* b */ ret; /* c */ }",
            ".func f()\n{\n    ret;  // a\n    /* b */\n    ret; /* c */\n}\n",
        ),
    ],
)  # fmt: skip
def test_small_examples(text: str, expected: str) -> None:
    assert check(text) == expected


# -- the interface ----------------------------------------------------------------------------


def test_modules_and_bytes_are_taken() -> None:
    text = ".func f(){ret;}"
    assert ptxkit.format(text) == ptxkit.format(text.encode()) == ptxkit.format(ptxkit.parse(text))


def test_bytes_that_are_not_utf8_are_kept() -> None:
    text = b'// caf\xe9\n.file 1 "\xff"\n'
    assert ptxkit.format(text).encode("utf-8", "surrogateescape") == text


def test_line_breaks_become_new_lines() -> None:
    assert ptxkit.format(".func f()\r\n{\r\n    ret; // a\r\n}\r\n") == (
        ".func f()\n{\n    ret;  // a\n}\n"
    )


def test_deep_nesting_stays_linear() -> None:
    text = ".func f() " + "{" * 2_000 + "}" * 2_000
    assert max(map(len, ptxkit.format(text).split("\n"))) < 100


def test_what_is_not_ptx_is_refused() -> None:
    with pytest.raises(ptxkit.PtxSyntaxError, match="expected ';'"):
        ptxkit.format(".func f() { ret }")
    with pytest.raises(ptxkit.PtxSyntaxError, match="expected ';'"):
        ptxkit.format(ptxkit.parse(".func f() { ret }", recover=True))


@pytest.mark.parametrize("width", [0, 19, -5, 10_001])
def test_widths_that_make_no_sense(width: int) -> None:
    with pytest.raises(ptxkit.UsageError, match=f"from 20 to 10000 columns, not {width}"):
        ptxkit.format(".func f();", width=width)
