"""Every file comes back from its Python, byte for byte."""

import ast
import re
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from helpers.ptx_strategies import lay_out, modules
from ptxkit.dsl.line_tables import WORD
from ptxkit.transpiler.transpile import UnknownInstructionWarning
from ptxkit.transpiler.verify import run_python, to_bytes
from syntax import odd

DATA = Path(__file__).parents[1] / "syntax" / "data"
FILES = sorted(DATA.glob("*.ptx"))
ODD = {**odd.TAKEN, **odd.OURS}

SOURCE = """
struct Pair { int a; double b; };
__constant__ float table[4] = {1.5f, 2.5f, 3.5f, 1e-30f};
__device__ int counter = 7;
__device__ __noinline__ float scaled(float x, Pair p) { return x * table[p.a & 3] + p.b; }
extern "C" __global__ void one(const float *x, float *y, Pair p, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x & 63] = x[i];
    __syncthreads();
    float total = 0;
    for (int j = 0; j < n; ++j) {
        if (tile[j & 63] > 0) total += scaled(tile[j & 63], p);
        else total -= 1.0f / (j + 1);
    }
    switch (n & 7) {
        case 0: total *= 2; break;
        case 1: total *= 3; break;
        case 2: total -= 3; break;
        case 3: total = expf(total); break;
        case 4: atomicAdd(&counter, n); break;
        default: asm volatile("{ .reg .pred p; setp.lt.f32 p, %0, %1; @p mov.f32 %0, %1; }"
                              : "+f"(total) : "f"(y[i]));
    }
    y[i] = total;
}
template <typename T> __global__ void two(T *x) { x[threadIdx.x] += T(1); }
template __global__ void two<double>(double *);
template __global__ void two<long long>(long long *);
"""
MODES: dict[str, dict[str, object]] = {
    "plain": {},
    "lineinfo": {"line_info": True},
    "debug": {"debug": True},
    "rdc": {"options": ["--relocatable-device-code=true"]},
}
ARCHITECTURES = "sm_75 sm_80 sm_89 sm_90a sm_100 sm_103a sm_120f sm_121a".split()


def comes_back(data: bytes, sugar: bool = False) -> str:
    """Transpile, run in a fresh namespace, compare; gives the Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownInstructionWarning)
        python = ptxkit.to_python(ptxkit.parse(data), sugar=sugar)
    assert to_bytes(run_python(python).ptx()) == data
    return python


def to_data(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else to_bytes(text)


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("sugar", [False, True])
def test_odd_files(name, sugar):
    comes_back(to_data(ODD[name]), sugar)


def test_declarations_that_the_dsl_refuses():
    python = comes_back(
        b".version 8.0\n.target sm_80\n.global .align 3 .b8 x[4];\n.global .newtype y;"
    )
    assert 'align(lit("3"))' in python
    assert 'word("newtype")' in python
    labels = b".version 8.0\n.target sm_80\n.func f()\n{\na:\n{\na:\n}\na:\nret;\n}\n"
    for sugar in (False, True):
        assert comes_back(labels, sugar).count("again=True") == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("sugar", [False, True])
def test_files(path, sugar):
    comes_back(path.read_bytes(), sugar)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_formatted_files(path):
    text = ptxkit.format(ptxkit.parse(path.read_bytes()))
    assert 'style="ptxkit"' in comes_back(to_data(text))
    comes_back(to_data(text), sugar=True)


LONG = f""".version 8.0
.target sm_80

.func f(
    .param .b32 {"x" * 60},
    .param .b32 {"y" * 60}
)
{{
    .reg .b32 {", ".join(f"a{number}" for number in range(60))};

    {{
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{a0, a1, a2, a3}}, {{a4, a5, a6, a7}}, {{a8, a9}}, {{a0, a1, a2, a3}};
        call.uni f, ({"x" * 60}, {"y" * 60});
    }}
    .pragma "{"p" * 50}", "{"q" * 50}";
}}
"""  # noqa: E501


@pytest.mark.parametrize("text", [LONG, LONG.replace(", ", ","), LONG.replace("    ", "\t")])
def test_long_lines(text):
    """Our formatter breaks long lines, and other people do not."""
    comes_back(text.encode())
    formatted = ptxkit.format(ptxkit.parse(text))
    python = comes_back(formatted.encode())
    assert ".spaced(" not in python
    assert "spaced=" not in python


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_compiler_output(architecture, mode):
    module = ptxkit.compile_cuda(SOURCE, arch=architecture, **MODES[mode])
    python = comes_back(module.emit_bytes())
    # A known layout says nothing about white space but in the text people write as asm.
    lines = [line for line in python.splitlines() if ".spaced(" in line or ".gap(" in line]
    assert len(lines) <= 20, lines
    sugared = comes_back(module.emit_bytes(), sugar=True)
    assert not re.findall(r"ptx\.(?:bra|brx|label)\b", sugared)
    code = [line for line in sugared.partition("with module.section")[0].splitlines() if line]
    # Seven calls, each with its parameters declared and stored, are most of it.
    assert len(code) <= 0.98 * len(module.instructions) + 4 * len(module.functions), mode


@settings(max_examples=60)
@given(modules(), st.booleans())
def test_whatever_the_grammar_allows(text, sugar):
    comes_back(to_data(text), sugar)


@st.composite
def jumps(draw):
    """The body of a function with labels and branches anywhere, some of them back."""
    count = draw(st.integers(1, 9))
    numbered = draw(st.booleans())
    names = [f"$L__BB0_{at}" if numbered else f"place_{at}" for at in range(count)]
    places = sorted(draw(st.lists(st.integers(0, 12), min_size=count, max_size=count)))
    lines = []
    for at in range(13):
        lines += [f"{name}:" for name, place in zip(names, places, strict=True) if place == at]
        for _ in range(draw(st.integers(0, 2))):
            guard = draw(st.sampled_from(["", "@%p1 ", "@!%p2 "]))
            word = draw(st.sampled_from(["bra", "bra.uni"]))
            lines.append(f"\t{guard}{word} \t{draw(st.sampled_from(names))};")
        if draw(st.booleans()):
            lines.append(f"\tadd.s32 \t%r{draw(st.integers(1, 5))}, %r1, {at};")
        if draw(st.integers(0, 5)) == 0:
            lines.append("")
    return lines


@settings(max_examples=120)
@given(jumps(), st.sampled_from(["sm_80", "sm_100"]))
def test_any_jumps(lines, target):
    """Whatever leads where: what cannot be raised keeps its label, and the bytes are the same."""
    body = "\n".join(lines)
    head = f".version 8.6\n.target {target}\n.address_size 64\n\n.func f()\n{{\n"
    registers = "\t.reg .pred \t%p<4>;\n\t.reg .b32 \t%r<6>;\n\n"
    comes_back(f"{head}{registers}{body}\n\tret;\n\n}}\n".encode(), sugar=True)


TOKENS = [
    [text for _, text, _, _ in ptxkit.parse(path.read_bytes()).tokens()]
    for path in FILES
    if path.stem in ("hand_written", "nvcc_saxpy", "triton_inline_ptx")
]


@settings(max_examples=40)
@given(st.sampled_from(TOKENS), st.integers(1, 2**32))
def test_any_white_space(tokens, seed):
    # A version, a target, a .loc end with their line for the parser, not by a token.
    text = lay_out(tokens, seed, comments=seed % 2 == 0)
    try:
        ptxkit.parse(text)
    except ptxkit.PtxSyntaxError:
        return
    comes_back(to_data(text))


@settings(max_examples=40)
@given(st.sampled_from(FILES), st.data(), st.booleans())
def test_changed_white_space(path, data, sugar):
    """White space and comments put into a real file, anywhere between two tokens."""
    source = path.read_bytes()[:6000]
    source = source[: source.rfind(b"}") + 1] if b"}" in source else source
    module = ptxkit.parse(source, recover=True)
    if module.diagnostics:
        source = path.read_bytes()
        module = ptxkit.parse(source)
    ends = [end for _, _, _, end in module.tokens()]
    places = data.draw(st.lists(st.sampled_from(ends), min_size=1, max_size=8))
    texts = data.draw(
        st.lists(
            st.sampled_from([" ", "\t", "\n", "\n\n\n", " /* c */ ", " // c\n", "\r\n"]),
            min_size=len(places),
            max_size=len(places),
        )
    )
    for place, text in sorted(zip(places, texts, strict=True), reverse=True):
        source = source[:place] + text.encode() + source[place:]
    if not ptxkit.parse(source, recover=True).diagnostics:
        comes_back(source, sugar)


def test_deep_blocks():
    depth = 60
    text = f".func f()\n{{\n{'{ ' * depth}ret;{' }' * depth}\n}}\n"
    comes_back(text.encode())


def test_line_breaks_of_another_system():
    data = (DATA / "nvcc_saxpy.ptx").read_bytes()
    plain = comes_back(data)
    python = comes_back(data.replace(b"\n", b"\r\n"))
    assert python == plain.replace('style="nvcc-7")', 'style="nvcc-7", newline="\\r\\n")')


def test_the_file_prints_its_ptx(tmp_path):
    from helpers import run_python as run

    data = (DATA / "nvcc_saxpy.ptx").read_bytes()
    file = tmp_path / "saxpy.py"
    file.write_text(ptxkit.to_python(ptxkit.parse(data), sugar=False))
    result = run(str(file))
    assert (result.returncode, result.stdout.encode(), result.stderr) == (0, data, "")


ORDER = re.compile(r"(?:\w+ )?[%\w$]+<\d+>(?: \d+(?:-\d+)?)+")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("sugar", [False, True])
def test_nothing_is_copied(path, sugar):
    """No string of the Python is a statement of the PTX, or a part of one with an operand."""
    module = ptxkit.parse(path.read_bytes())
    python = ptxkit.to_python(module, sugar=sugar)
    strings = {
        node.value
        for node in ast.walk(ast.parse(python))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    said = {text for text, _ in module.comments()}
    said |= {text.removeprefix("//").strip() for text in said}
    # White space, and what PTX itself quotes: paths and pragmas.
    said |= {text.strip('"') for kind, text, _, _ in module.tokens() if kind == "string"}
    tables = {text for text in strings if all(map(WORD.fullmatch, text.split()))}
    # A range of registers with the order they are taken in: numbers, which no PTX has.
    orders = {text for text in strings if ORDER.fullmatch(text)}
    # Versions in the comment that a compiler begins with.
    heads = {text for text in strings for comment in said if comment.endswith(f" {text}")}
    for text in strings - said - tables - orders - heads:
        assert ";" not in text, text
        # One token of PTX with its size or suffix, never two with white space between.
        assert not text.strip() or len(text.split()) == 1, text
    for instruction in module.instructions:
        assert instruction.text not in strings


FAULTY = {
    "a label that is not there": "bra L; @p bra.uni M; brx.idx i, T; bra L.x; bra 5;",
    "a register's name for a label": ".reg .b32 L; bra L;",
    "a register as opcode": ".reg .b32 %r<4>; %r1 %r2; @p %r1.x.y %r2; %r3;",
    "a thousand blocks": "{" * 1000 + "ret;" + "}" * 1000,
}


@pytest.mark.parametrize("name", FAULTY)
def test_what_makes_no_sense_comes_back(name):
    comes_back(f".version 8.0\n.target sm_80\n.func f() {{ {FAULTY[name]} }}\n".encode())


def test_a_deep_initialiser_is_refused():
    deep = "{" * 300 + "1" + "}" * 300
    with pytest.raises(ptxkit.PtxkitError, match="line 1: an initialiser is nested more than 60"):
        ptxkit.to_python(f".global .b32 x[1] = {deep};\n")
    flat = "{" * 50 + "1" + "}" * 50
    comes_back(f".global .b32 x[1] = {flat};\n".encode())
