"""Answers are one form of a program: they come back, they mean the same, the compiler agrees."""

from __future__ import annotations

import re
from random import Random

import numpy as np
import pytest

import ptxkit
from ptxkit import cuda
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.neural.corpus import answer_of, kernels_of
from ptxkit.decompiler.neural.forms import ordered_form
from ptxkit.decompiler.neural.grammar import NUMBERS, PRODUCTIONS, Grammar, number_needs
from ptxkit.decompiler.neural.operators import SPECIALS
from ptxkit.decompiler.neural.program import Effect, Program
from ptxkit.decompiler.neural.ptxwords import read_function
from ptxkit.decompiler.neural.raising import check, parse, raise_function
from ptxkit.decompiler.neural.schedule import words_of
from ptxkit.decompiler.neural.statements import lower
from ptxkit.decompiler.neural.unsupported import UnsupportedError
from ptxkit.decompiler.neural.values import Graph
from ptxkit.decompiler.verify import same_ptx

from . import programs

_PTX = {"i32": "u32", "i64": "u64", "f32": "f32", "f64": "f64"}


def test_answers_are_programs_that_say_the_same_again() -> None:
    for _, _, program in programs.lowered(7, 200):
        words = words_of(program)
        check(words, [_PTX.get(word, "u64") for word in program.parameters])
        module = raise_function(parse(words, len(program.parameters)), cached=program.cached)
        assert words_of(lower(module.kernels[0])) == words


def test_the_tree_of_an_answer_computes_what_the_program_does() -> None:
    """Bit for bit on the simulator, both compiled by NVRTC."""
    chosen = programs.lowered(11, 40)
    renamed = [sample.renamed(f"o{k}_").module for k, (sample, _, _) in enumerate(chosen)]
    raised = [
        raise_function(parse(words_of(p), len(p.parameters)), f"r{k}", p.cached)
        for k, (_, _, p) in enumerate(chosen)
    ]
    first, second = (_loaded(modules) for modules in (renamed, raised))
    different = 0
    for k, (sample, kernel, _) in enumerate(chosen):
        launch = next(x for x in sample.launches if x.kernel == kernel.name)
        results = []
        for modules, name in ((first, f"o{k}_{kernel.name}"), (second, f"r{k}")):
            values = sample.arguments(launch)
            modules[k][name][launch.grid, launch.block, launch.dynamic_shared](*values)
            results.append(values)
        for one, two in zip(*results, strict=True):
            if isinstance(one, np.ndarray) and one.dtype.kind == "f":
                # A value that is used twice may be fused once: a rounding, not more.
                np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-4)
                different += not np.array_equal(one, two, equal_nan=True)
            else:
                np.testing.assert_array_equal(one, two)
    assert different <= len(chosen) // 20


def _loaded(modules: list[n.CudaModule]) -> list[ptxkit.run.Loaded]:  # type: ignore[name-defined]
    """Compiled together where they can be: arrays of unknown size can't share a file."""
    alone = [any(isinstance(x, n.Declare) and x.space == "extern shared" for x in m.walk())
             for m in modules]  # fmt: skip
    together = [m for m, single in zip(modules, alone, strict=True) if not single]
    includes = tuple(dict.fromkeys(i for m in together for i in m.includes))
    items = tuple(item for m in together for item in m.items)
    whole = _compiled(n.CudaModule(items, includes))
    return [_compiled(m) if single else whole for m, single in zip(modules, alone, strict=True)]


def _compiled(module: n.CudaModule) -> object:
    text = cuda.print_module(module)
    return ptxkit.load(ptxkit.compile_cuda(text, arch="sm_90"), device="cpu")


def test_whatever_the_grammar_allows_has_a_form() -> None:
    """Beams say odd things: shifts by negative counts, numbers too large, loops in loops."""
    chance = Random(2)
    numbers = ("0", "1", "-1", "32", "-2147483648", "9223372036854775807", "0.5", "-inf", "1e+30")
    grammar, formed = Grammar(), 0
    for _ in range(1500):
        state = grammar.begin(["u64", "u32", "f32", "u64"])
        words: list[str] = []
        while not state.finished and len(words) < 300:
            need = state.stack[-1]
            found = [x for x in numbers if need in number_needs(x)] if need in NUMBERS else [
                w for w in (*PRODUCTIONS[need], *state.kinds) if w in grammar.allowed(state)
            ]  # fmt: skip
            ends = [w for w in found if w in state.kinds or w in (*SPECIALS, "end")
                    or w.startswith("literal")]  # fmt: skip
            odd = [w for w in found if w.startswith((">>", "<<", "/.", "%.", "<."))]
            # What ends a program is chosen more often the longer it is.
            if ends and chance.random() < len(words) / 50:
                found = ends
            elif odd and chance.random() < 0.3:
                found = odd
            words.append(chance.choice(found))
            grammar.advance(state, words[-1])
        if state.finished:
            formed += ordered_form(words, 4, frozenset()) is not None
    assert formed > 1000
    # Drawn like this once: a count that is no count.
    odd_count = "ptr.f32 i32 f32 ptr.f32 if <.s32 >>.s32 threadIdx.x literal.i32 -1 p1 sync end end"
    assert ordered_form(odd_count.split(), 4, frozenset()) is not None


SAME = [
    ("x[i] - 2.5f", "-2.5f + x[i]"),
    ("2.0f * x[i]", "x[i] + x[i]"),
    ("x[i] / 4.0f", "0.25f * x[i]"),
    ("-(-x[i])", "x[i] * 1.0f"),
    ("y[i] + x[i] * 3.0f", "3.0f * x[i] + y[i]"),
    ("(int)x[i] * 8 + 1 - 3", "((int)x[i] << 3) - 2"),
    ("(float)max((int)x[i], 3)", "(float)((int)x[i] > 3 ? (int)x[i] : 3)"),
    ("(float)max(max((int)x[i], 3), 3)", "(float)max((int)x[i], 3)"),
    ("copysignf(x[i], 4.0f)", "fabsf(x[i])"),
    ("-(x[i] / 0.96f * y[i])", "x[i] / -0.96f * y[i]"),
    ("y[i] - x[i] / 0.61f", "y[i] + x[i] / -0.61f"),
    ("(x[i] < y[i] ? -x[i] : 3.75f) - 1.65f", "x[i] < y[i] ? -1.65f - x[i] : 2.1f"),
    (
        "(x[i] > y[i] ? x[i] : 1.7f) >= 1.0f ? y[i] : 2.0f",
        "!(x[i] > y[i]) || x[i] >= 1.0f ? y[i] : 2.0f",
    ),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_what_the_compiler_merges_is_one_answer(one: str, two: str) -> None:
    """The compiler is asked first: the two really are the same PTX."""
    forms = []
    for number, expression in enumerate((one, two)):
        source = f"""extern "C" __global__ void k{number}(float *o, const float *x, const float *y)
        {{ int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = {expression}; }}"""
        (text,) = kernels_of(ptxkit.compile_cuda(source, arch="sm_90").emit()).values()
        forms.append(read_function(text).texts)
    assert sorted(forms[0]) == sorted(forms[1])
    answers = [_answer(expression) for expression in (one, two)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("type", ["int", "unsigned int"])
@pytest.mark.parametrize("index", ["i", "i + 1"])
def test_an_index_has_the_sign_that_ptx_gives_it(type: str, index: str) -> None:
    """Answers leave open whether the index of a thread is `int`; PTX shows it, and is the same."""
    source = f"""extern "C" __global__ void k(float *o, const float *x, {type} n) {{
        {type} i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = x[{index}]; }}"""
    ptx = ptxkit.compile_cuda(source, arch="sm_90").emit()
    words = read_function(next(iter(kernels_of(ptx).values())))
    program = lower(cuda.read(_tree(type, index)))
    module = raise_function(parse(words_of(program), 3), "k", words.cached, words.unsigned)
    again = ptxkit.compile_cuda(cuda.print_module(module), arch="sm_90")
    assert same_ptx(ptxkit.parse(ptx), again, "k"), again.emit()


def _tree(type: str, index: str) -> str:
    own = "uint" if type.startswith("u") else type
    place = "(+ i 1)" if index != "i" else "i"
    return f"""(kernel k (params (param (ptr float) o) (param (ptr float const) x) (param {own} n))
        (let {own} i (+ (* blockIdx.x blockDim.x) threadIdx.x))
        (if (< i n) (then (= ([] o i) ([] x {place})))))"""


@pytest.mark.parametrize("expression", ["x[i] - y[i] + y[i]", "(y[i] + x[i]) * (x[i] * y[i])"])
def test_operands_stand_in_the_order_of_the_ptx(expression: str) -> None:
    """The compiler is asked which operand of a sum or product comes first."""
    kernel = _kernel(_EXPRESSIONS[expression])
    module = n.CudaModule((kernel,))
    (text,) = kernels_of(ptxkit.compile_cuda(cuda.print_module(module), "sm_90").emit()).values()
    source = read_function(text)
    loads = dict(re.findall(r"(%f\d) add.s64 (p\d)", " ".join(source.texts)))
    for opcode, word in (("add.f32", "+.f32"), ("mul.f32", "*.f32")):
        words = source.texts
        shown = [loads.get(words[k + 1], words[k + 1]) for k, w in enumerate(words) if w == opcode]
        answer = answer_of(kernel, module, source)
        said = [answer[k + 2] if answer[k + 1].startswith("load") else _OPCODES[answer[k + 1]]
                for k, w in enumerate(answer) if w == word]  # fmt: skip
        assert said == shown
    plain = answer_of(kernel, module)
    assert ordered_form(answer, 3, frozenset()) == ordered_form(plain, 3, frozenset())


def _answer(expression: str) -> list[str]:
    kernel = _kernel(_EXPRESSIONS[expression])
    return answer_of(kernel, n.CudaModule((kernel,)))


def _kernel(tree: str) -> n.Function:
    found = cuda.read(
        "(kernel k (params (param (ptr float) o) (param (ptr float const) x)"
        " (param (ptr float const) y))"
        " (let int i (+ (* blockIdx.x blockDim.x) threadIdx.x))"
        f" (= ([] o i) {tree}))"
    )
    assert isinstance(found, n.Function)
    return found


_OPCODES = {"+.f32": "add.f32", "*.f32": "mul.f32", "-.f32": "sub.f32"}
_X, _Y = "([] x i)", "([] y i)"
_EXPRESSIONS = {
    "x[i] - y[i] + y[i]": f"(+ (- {_X} {_Y}) {_Y})",
    "(y[i] + x[i]) * (x[i] * y[i])": f"(* (+ {_Y} {_X}) (* {_X} {_Y}))",
    "x[i] - 2.5f": f"(- {_X} 2.5f)",
    "-2.5f + x[i]": f"(+ -2.5f {_X})",
    "2.0f * x[i]": f"(* 2.0f {_X})",
    "x[i] + x[i]": f"(+ {_X} {_X})",
    "x[i] / 4.0f": f"(/ {_X} 4.0f)",
    "0.25f * x[i]": f"(* 0.25f {_X})",
    "-(-x[i])": f"(neg (neg {_X}))",
    "x[i] * 1.0f": f"(* {_X} 1.0f)",
    "y[i] + x[i] * 3.0f": f"(+ {_Y} (* {_X} 3.0f))",
    "3.0f * x[i] + y[i]": f"(+ (* 3.0f {_X}) {_Y})",
    "(int)x[i] * 8 + 1 - 3": f"(- (+ (* (cast int {_X}) 8) 1) 3)",
    "((int)x[i] << 3) - 2": f"(- (<< (cast int {_X}) 3) 2)",
    "(float)max(max((int)x[i], 3), 3)": (f"(cast float (call max (call max (cast int {_X}) 3) 3))"),
    "copysignf(x[i], 4.0f)": f"(call copysignf {_X} 4.0f)",
    "fabsf(x[i])": f"(call fabsf {_X})",
    "-(x[i] / 0.96f * y[i])": f"(neg (* (/ {_X} 0.96f) {_Y}))",
    "x[i] / -0.96f * y[i]": f"(* (/ {_X} -0.96f) {_Y})",
    "y[i] - x[i] / 0.61f": f"(- {_Y} (/ {_X} 0.61f))",
    "y[i] + x[i] / -0.61f": f"(+ {_Y} (/ {_X} -0.61f))",
    "(x[i] < y[i] ? -x[i] : 3.75f) - 1.65f": f"(- (? (< {_X} {_Y}) (neg {_X}) 3.75f) 1.65f)",
    "x[i] < y[i] ? -1.65f - x[i] : 2.1f": f"(? (< {_X} {_Y}) (- -1.65f {_X}) 2.1f)",
    "(x[i] > y[i] ? x[i] : 1.7f) >= 1.0f ? y[i] : 2.0f": (
        f"(? (>= (? (> {_X} {_Y}) {_X} 1.7f) 1.0f) {_Y} 2.0f)"
    ),
    "!(x[i] > y[i]) || x[i] >= 1.0f ? y[i] : 2.0f": (
        f"(? (|| (! (> {_X} {_Y})) (>= {_X} 1.0f)) {_Y} 2.0f)"
    ),
    "(float)max((int)x[i], 3)": f"(cast float (call max (cast int {_X}) 3))",
    "(float)((int)x[i] > 3 ? (int)x[i] : 3)": (
        f"(cast float (? (> (cast int {_X}) 3) (cast int {_X}) 3))"
    ),
}


def test_a_sign_that_nobody_sees_is_none() -> None:
    kernel = """(kernel k (params (param (ptr {0}) o) (param (ptr {1}) x))
        (= ([] o threadIdx.x) (cast {0} ({2} ([] x threadIdx.x) 5))))"""
    plain = [["char", "char", "^"], ["uchar", "uchar", "^"], ["uchar", "char", "^"]]
    forms, texts = [], []
    for words in [*plain, ["char", "char", ">>"], ["char", "uchar", ">>"]]:
        function = cuda.read(kernel.format(*words))
        module = n.CudaModule((function,))
        forms.append(answer_of(function, module))
        texts.append(kernels_of(ptxkit.compile_cuda(cuda.print_module(module), "sm_90").emit()))
    # The compiler agrees: three times the same, then two that differ.
    assert [forms.count(form) for form in forms] == [3, 3, 3, 1, 1]
    words = [" ".join(read_function(text).texts) for (text,) in (t.values() for t in texts)]
    assert [words.count(word) for word in words] == [3, 3, 3, 1, 1]


def test_what_the_grammar_lacks_is_said() -> None:
    kernel = cuda.read("(kernel k (params (param (ptr float) o)) (goto end) (label end))")
    with pytest.raises(UnsupportedError, match="Goto"):
        lower(kernel)


def test_one_ptx_has_one_answer() -> None:
    """As far as the compiler shows it: two answers for one PTX are rare."""
    known: dict[str, list[str]] = {}
    clashes = 0
    for pair in programs.pairs():
        key = " ".join(pair.source.texts)
        clashes += known.setdefault(key, pair.answer) != pair.answer
    assert clashes <= 1


def test_a_variable_without_declaration_is_no_answer() -> None:
    """Comparing programs then says that one has no such form, and goes on."""
    graph = Graph()
    for effect in (
        Effect("set.i32", (graph.literal(2, "i32"),), name="m4"),
        Effect("let.i32", (graph.variable("m4", "i32", 0),), name="m5"),
    ):
        with pytest.raises(UnsupportedError, match="before it is declared"):
            words_of(Program([], [effect]))
