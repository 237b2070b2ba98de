"""CUDA C++ from a stranger reads no file of the machine, however that is spelled."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ptxkit.app import inputs, limits
from ptxkit.app.limits import InputRefused, check_cuda
from ptxkit.toolchain import CompilerError, compile_cuda

KERNEL = "__global__ void k(int *x) { x[0] = 1; }\n"
FILE = '#include "/etc/passwd"\n'

#: Name -> text that would read, or ask for, a file.
TRICKS = {
    "a comment begun in a string": f'const char *s = "/*";\n/*/ // */ {FILE}',
    "a comment begun in a character": f"int c = '/*';\n/*/ // */ {FILE}",
    "a comment begun in a raw string": f'const char *s = R"(/*)";\n{FILE}// */',
    "a raw string with quotes": f'const char *s = R"x(")" /* )x";\n{FILE}// */',
    "a raw string that a splice does not end": f'auto s = R"x( )x\\\n" /* )x";\n{FILE}// */',
    "a raw string with a prefix": f'auto s = u8R"(" /* ")";\n{FILE}// */',
    "a name that ends in R": f'#define FR\nauto s = FR"(" ")/*";\n{FILE}// */',
    "an escaped quote": f'const char *s = "\\"/*";\n{FILE}// */',
    "an escaped quote over a splice": f'const char *s = "\\\\\n"/*";\n{FILE}// */',
    "digits with separators": f"int n = 1'000 /*'*/;\n{FILE}// '",
    "a comment in a comment": f"/* // */ {FILE}",
    "a line comment that a splice goes on": "// \\\n/*\n" + FILE + "// */",
    "a comment over lines": "/*\n*/ # /*\n*/ include /*\n*/ </etc/passwd>\n",
    "a directive in pieces": '#\\\ninc\\\nlu\\\nde "/etc/passwd"\n',
    "pieces with carriage returns": '#inc\\\r\nlude "/etc/passwd"\r\n',
    "pieces with spaces": '#inc\\ \nlude "/etc/passwd"\n',
    "carriage returns alone": 'int x;\r#include "/etc/passwd"\r',
    "a digraph": '%: include "/etc/passwd"\n',
    "a digraph in pieces": '%\\\n:include "/etc/passwd"\n',
    "a trigraph": '??=include "/etc/passwd"\n',
    "a trigraph as a splice": f"// ??/\n/*\n{FILE}// */",
    "a byte order mark": f"\ufeff{FILE}",
    "form feeds": '\f\v#\finclude\v"/etc/passwd"\n',
    "the next one": "#include_next <passwd>\n",
    "an import of C": '#import "/etc/passwd"\n',
    "an embedded file": 'char a[] = {\n#embed "/etc/passwd"\n};\n',
    "a module's header": 'import "/etc/passwd";\n',
    "a module's header in angles": "export import <passwd>;\n",
    "a macro": '#define F "/etc/passwd"\n#include F\n',
    "a macro with arguments": "#define S(x) #x\n#include S(/etc/passwd)\n",
    "angles made by a macro": "#define A <\n#include A/etc/passwd>\n",
    "upwards": '#include "../../../../../../etc/passwd"\n',
    "upwards from a header's folder": "#include <cuda/../../../../../../etc/passwd>\n",
    "from here": '#include "./passwd"\n',
    "a short name": '#include "passwd"\n',
    "a short name in angles": "#include <passwd>\n",
    "slashes": "#include <//etc/passwd>\n",
    "a backslash": '#include "\\/etc/passwd"\n',
    "in a group that is skipped": f"#if 0\n#else\n{FILE}#endif\n",
    "an apostrophe in a skipped group": f"#if 0\ndon't /*\n#endif\n{FILE}// */",
    "asking": '#if __has_include("/etc/passwd")\n#endif\n',
    "asking for data": '#if __has_embed("/etc/passwd")\n#endif\n',
    "asking by pasting": (
        '#define P(a, b) a##b\n#define Q P(__has_, include)\n#if Q("/etc/passwd")\n#endif\n'
    ),
    "asking by a header's macro": (
        "#include <cuda/std/type_traits>\n"
        '#if _CCCL_PP_CAT(__has_, include)("/etc/passwd")\n#endif\n'
    ),
    "asking with angles from macros": (
        "#define P(a, b) a##b\n#define L </etc\n#if P(__has_, include)(L/passwd>)\n#endif\n"
    ),
    "a line of another file": '#line 1 "/etc/passwd"\nx\n',
    "a line by a macro": '#define L 1 "/etc/passwd"\n#line L\nx\n',
    "a linemarker": '# 1 "/etc/passwd"\nx\n',
    "a pragma": '#pragma GCC dependency "/etc/passwd"\n',
    "a pragma as an operator": '_Pragma("GCC dependency \\"/etc/passwd\\"")\n',
    "a pragma by a macro": '#define D(x) _Pragma(#x)\nD(GCC dependency "/etc/passwd")\n',
    "a path that Thrust puts together": "#define unique .\n#define h /../../x\n"
    "#include <thrust/unique.h>\n",
}


#: Texts that are also given to the compiler.
ROUNDS = 250


def test_there_are_tricks_enough() -> None:
    assert len(TRICKS) >= 25


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_is_refused(name: str) -> None:
    for text in (TRICKS[name] + KERNEL, KERNEL + TRICKS[name]):
        if name == "a byte order mark" and text.startswith(KERNEL):
            text = text.replace("\ufeff", "")
        with pytest.raises(InputRefused):
            check_cuda(text)


def test_halves_of_characters_are_refused() -> None:
    with pytest.raises(InputRefused, match="line 2 has half of a character"):
        check_cuda(f"{KERNEL}// \ud800\n")


@pytest.mark.parametrize(
    "text",
    [
        "#include <cuda_fp16.h>\n",
        '#  include "cuda_fp16.h" // half\n',
        "#include <cooperative_groups.h> /* over\nlines */\n",
        "#include <cuda/std/type_traits>\n",
        "#include <cub/block/block_reduce.cuh>\n#define N 4\n",
        "#include <cstdint>\n",
        'const char *s = "#include \\"x\\" /* ";\n// don\'t\n',
        'const char *s = R"(#include "x")";\n',
        "#if 0\ndon't\n#endif\n",
        '#pragma unroll 4\n#pragma once\n#pragma nv_diag_suppress 177\n_Pragma("unroll")\n',
        "#define P(a, b) a##b\n#if defined(P) && __CUDA_ARCH__ >= 800\n#endif\n#line 7\n",
        "int import = 1, n = 1'000'000;\n#\n",
    ],
)
def test_honest_text_is_taken(text: str) -> None:
    assert check_cuda(text + KERNEL) == text + KERNEL


PIECES = [
    '"', "'", "/*", "*/", "//", "\\", "\n", "\\\n", 'R"(', ')"', 'R"x(', ')x"', '""', "''", "(",
    ")", " ", "x", "R", "u8", "L", "1'0", "\n#if 0\n", "\n#endif\n", "\n#define A ", "\\\"", "\\'",
    "#", "/", "*", "??/", "\r\n", "\f", "0x", "%:", ";", "\n#error ", '"/*"', "'/*'", "/\\\n*",
    "*\\\n/",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::ptxkit.toolchain.CompilerWarning")
def test_what_is_taken_reads_nothing_by_the_compilers_own_word(tmp_path: Path) -> None:
    """Random pieces around an include: where the check lets it pass, NVRTC must not read it."""
    secret = tmp_path / "secret.h"
    secret.write_text("#error SECRET\n")
    draw = random.Random(20)
    taken = read = 0
    for _ in range(ROUNDS):
        before = "".join(draw.choices(PIECES, k=draw.randint(1, 9)))
        between = "".join(draw.choices(PIECES, k=draw.randint(0, 3)))
        after = "".join(draw.choices(PIECES, k=draw.randint(0, 5)))
        text = f'{before}\n{between}#include "{secret}"\n{after}\n{KERNEL}'
        try:
            compile_cuda(text, name="input.cu", cache=False)
            seen = False
        except CompilerError as error:
            seen = "SECRET" in error.log
        read += seen
        try:
            check_cuda(text)
        except InputRefused:
            continue
        taken += 1
        assert not seen, text
    assert taken > ROUNDS // 20, "the pieces must also hide the directive"
    assert read > ROUNDS // 10


def test_the_compilers_words_about_other_files_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second line of defence: what if the check let it pass."""
    secret = tmp_path / "secret.txt"
    secret.write_text("root:x:0:0:hush:/root\nhush hush;\n")
    monkeypatch.setattr(inputs, "check_cuda", lambda text: text)
    given = inputs.read(f'#include "{secret}"\n{KERNEL}', "CUDA C++")
    shown = "\n".join(one.render() for one in given.diagnostics)
    assert "not shown" in shown
    assert "hush" not in shown and "root" not in shown


def test_the_compilers_words_about_the_text_are_shown() -> None:
    given = inputs.read(f"{KERNEL}__device__ int f() {{ return nothing; }}", "CUDA C++")
    shown = given.diagnostics[0].render()
    assert 'identifier "nothing" is undefined' in shown
    assert "return nothing;" in shown


def test_a_large_text_is_judged_in_linear_time() -> None:
    chain = "".join(f"#define a{n} a{n + 1}\n" for n in range(20_000))
    for text in (chain + "#define a20000 x##y\n", "/*" * 100_000, "\\\n" * 100_000, '"' * 100_000):
        check_cuda(text)
    assert limits.check_cuda is check_cuda
