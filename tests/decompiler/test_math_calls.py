"""Functions of the math library that were put inline are calls again, and the same PTX."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.flags import PLAIN
from ptxkit.decompiler.lift.function import lift_function
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.decompiler.lift.mathlib import miner
from ptxkit.decompiler.lift.mathlib.matcher import Library
from ptxkit.decompiler.lift.mathlib.miner import Wanted, mined
from ptxkit.decompiler.lift.mathlib.numbers import folded
from ptxkit.decompiler.lift.mathlib.terms import Terms, choose
from ptxkit.decompiler.lift.signatures import Signatures
from ptxkit.decompiler.lift.values import const, raw
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.errors import ToolchainError
from ptxkit.syntax import Scopes

FUNCTIONS = """sinf cosf tanf expf exp2f exp10f logf log2f log10f log1pf expm1f tanhf sinhf coshf
atanf asinf acosf erff erfcf cbrtf sinpif sin cos exp log tanh erf cbrt atan""".split()


def kernel(name: str, type: str, expression: str) -> str:
    """A kernel that sets ``o[i]``."""
    return (
        f'extern "C" __global__ void {name}({type} *o, const {type} *a, const {type} *b, int n) {{'
        f" int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = {expression}; }}\n"
    )


def lifted(source: str, arch: str = "sm_90", **options: bool) -> tuple[str, bool]:
    """The lifted text of a kernel ``k``, and whether it is the same PTX."""
    module = ptxkit.compile_cuda(source, arch=arch)
    text = lifted_text(module, Options(**options))
    return text, same_ptx(module, compiled_again(text, arch), "k")


@pytest.mark.parametrize("arch", ["sm_90", "sm_120"])
def test_every_function_is_a_call(arch: str) -> None:
    source = ""
    for name in FUNCTIONS:
        type = "float" if name.endswith("f") and name != "erf" else "double"
        source += kernel(f"k_{name}", type, f"{name}(a[i])").replace(f"const {type} *b, ", "")
    module = ptxkit.compile_cuda(source, arch=arch)
    text = lifted_text(module)
    again = compiled_again(text, arch)
    for name in FUNCTIONS:
        assert f"= {name}(p1[i]);" in text
        assert same_ptx(module, again, f"k_{name}"), name
    # What they called, and the tables they read, is part of the call.
    assert "__device__" not in text
    assert "asm" not in text


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("sinf(expf(a[i]))", "sinf(expf(p1[i]))"),
        ("expf(a[i]) + b[i]", "expf(p1[i]) + p2[i]"),
        ("b[i] - expf(a[i])", "p2[i] - expf(p1[i])"),
        ("-logf(a[i])", "-logf(p1[i])"),
        ("sqrtf(-2.0f * logf(a[i]))", "sqrtf(logf(p1[i]) * -2.0f)"),
        ("powf(a[i], b[i])", "powf(p1[i], p2[i])"),
        ("powf(a[i], 2.5f)", "powf(p1[i], 2.5f)"),
        ("powf(2.0f, a[i])", "powf(2.0f, p1[i])"),
        ("powf(a[i], (int)b[i])", "powf(p1[i], (int)p2[i])"),
        ("powf(a[i], 3.0f)", "powf(p1[i], 3.0f)"),
        ("fmodf(a[i], b[i])", "fmodf(p1[i], p2[i])"),
        ("fmodf(a[i], 1.78f)", "fmodf(p1[i], 1.78f)"),
        ("atan2f(1.46f, a[i])", "atan2f(1.46f, p1[i])"),
        ("hypotf(a[i], 0.69f)", "hypotf(p1[i], 0.69f)"),
        ("copysignf(0.1f, a[i])", "copysignf(0.1f, p1[i])"),
        ("__expf(a[i])", "__expf(p1[i])"),
        # Nothing is asked of a square that only numbers below zero answer.
        ("powf(a[i] * a[i] + 2.0f, b[i])", "powf(f * f + 2.0f, p2[i])"),
        ("powf(a[i] * a[i], 0.35f)", "powf(f * f, 0.35f)"),
        ("cbrtf(a[i] * a[i])", "cbrtf(f * f)"),
    ],
)
def test_calls_in_expressions(expression: str, wanted: str) -> None:
    text, same = lifted(kernel("k", "float", expression))
    assert f"p0[i] = {wanted};" in text
    assert same


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        # Where all powers are of one number, the compiler makes a function for it.
        ("pow(a[i], 2.5)", "pow(p1[i], 2.5)"),
        ("pow(3.0, a[i])", "pow(3.0, p1[i])"),
        ("sqrt(pow(a[i], 2.0) + pow(b[i], 2.0))", "sqrt(pow(p1[i], 2.0) + pow(p2[i], 2.0))"),
        ("pow(a[i], 2.0) - pow(b[i], 3.0)", "pow(p1[i], 2.0) - pow(p2[i], 3.0)"),
    ],
)
def test_powers_of_numbers(expression: str, wanted: str) -> None:
    text, same = lifted(kernel("k", "double", expression))
    assert f"p0[i] = {wanted};" in text
    assert "asm" not in text and same


@pytest.mark.parametrize(
    ("arch", "exponent"), [("sm_90", "2.0"), ("sm_90", "3.0"), ("sm_120", "2.0")]
)
def test_a_power_in_a_loop_that_was_copied_for_each_kind_of_exponent(
    arch: str, exponent: str
) -> None:
    source = """extern "C" __global__ void k(double *o, const double *a, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { double s = 0; for (int j = 0; j < m; j++) s += pow(a[i] - a[j], 2.0); o[i] = s; }
}""".replace("2.0", exponent)
    text, _ = lifted(source, arch, roll=True)
    assert text.count("pow(") == 1
    assert len(text.splitlines()) < 16


@pytest.mark.parametrize(
    "statement",
    [
        # What is asked about an argument that stays the same is asked before the loop.
        "s += powf(a[i], y);",
        "s += powf(y, a[i]);",
        "s += 1.0f / powf(a[i], y * 0.5f);",
        "o[i] = powf(a[i], y);",
    ],
)
def test_powers_in_a_loop_in_which_one_argument_stays_the_same(statement: str) -> None:
    source = """extern "C" __global__ void k(float *o, const float *a, float y, int n) {
    float s = 0;
    for (int i = 0; i < n; i++) STATEMENT
    o[n] = s;
}""".replace("STATEMENT", statement)
    text, _ = lifted(source, roll=True)
    assert text.count("powf(") == 1 and text.count("for (") == 1 and " if (" not in text, text


def test_what_was_asked_before_is_asked_first() -> None:
    first, second, other = (raw("flt", 1, (raw("leaf", 32, (), k),)) for k in range(3))
    one, two, three = (const(k, 32) for k in (1, 2, 3))
    both = raw("and", 1, (first, other))
    late = make("and", 1, make("not", 1, both), second)
    wanted = choose(both, one, choose(second, two, three))
    assert choose(late, two, choose(both, one, three)) is wanted


@pytest.mark.parametrize("width", [32, 64])
def test_numbers_are_folded_as_numpy_has_them(width: int) -> None:
    kind, word = (np.float32, np.uint32) if width == 32 else (np.float64, np.uint64)
    rng = np.random.default_rng(7)
    for _ in range(300):
        one, two = kind(rng.normal(0, 100)), kind(rng.integers(-3, 4))
        bits = [const(int(x.view(word)), width) for x in (one, two)]
        for op, made in (("fadd", one + two), ("fmul", one * two), ("fsub", one - two)):
            assert folded(op, width, *bits).data == int(kind(made).view(word))
        assert folded("feq", 1, *bits).data == (one == two)
        assert folded("feq", 1, bits[0], bits[0]).data == 1
    # What has several forms, or what some devices flush, stays.
    nan, tiny = (0x7FC00000, 1) if width == 32 else (0x7FF8 << 48, 1)
    for odd in (nan, tiny):
        assert folded("fadd", width, const(odd, width), bits[0]).op == "fadd"
        assert folded("feq", 1, const(odd, width), const(0, width)).op == "feq"


@pytest.mark.parametrize("sign", ["s", "u"])
@pytest.mark.parametrize("how", ["lt", "le", "gt", "ge"])
def test_comparisons_of_numbers(how: str, sign: str) -> None:
    wanted = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}[how]
    kind = np.int32 if sign == "s" else np.uint32
    words = np.array([0, 1, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
    for one in words:
        for two in words:
            found = make(f"{how}.{sign}", 1, const(int(one), 32), const(int(two), 32))
            assert found.data == wanted(one.view(kind), two.view(kind))
    for one in words:
        found = make("shr.s", 32, const(int(one), 32), const(40, 32))
        assert found.data == (0xFFFFFFFF if one >> 31 else 0)


def test_a_power_of_an_integer_that_is_positive() -> None:
    module = ptxkit.compile_cuda(kernel("k", "float", "i > 3 ? powf(a[i], i) : b[i]"), arch="sm_90")
    assert "= powf(p1[i], i);" in lifted_text(module)
    # The branches of the if are the other way round where that is the same PTX.
    assert ptxkit.decompile(module, "symbolic").verdict.level == "E1"


def test_sine_and_cosine_of_one_argument() -> None:
    text, same = lifted(kernel("k", "float", "sinf(a[i]) * cosf(a[i])"))
    assert "= sinf(f) * cosf(f);" in text
    assert "local" not in text
    assert same


def test_both_results_of_one_call() -> None:
    source = """extern "C" __global__ void k(float *o, float x) {
        float s, c; sincosf(x, &s, &c); o[0] = s; o[1] = c; }"""
    text, same = lifted(source)
    assert re.search(r"sincosf\(\w+, &(\w+), &(\w+)\);", text)
    assert same


def test_ways_that_meet_others() -> None:
    expression = "a[i] > 0.0f ? sinf(a[i]) : logf(b[i])"
    module = ptxkit.compile_cuda(kernel("k", "float", expression), arch="sm_90")
    text = lifted_text(module)
    assert "= sinf(f);" in text
    assert "= logf(p2[i]);" in text
    assert ptxkit.decompile(module, "symbolic").verdict.level == "E1"


def test_negated_argument_on_a_newer_architecture() -> None:
    text, _ = lifted(kernel("k", "float", "1.0f / (1.0f + expf(-a[i]))"), "sm_120")
    assert "expf(-p1[i])" in text


def test_argument_that_a_loop_changes() -> None:
    source = """extern "C" __global__ void k(float *o, int n) {
        float x = o[threadIdx.x];
        for (int j = 0; j < n; ++j) x = cosf(x) + x;
        o[threadIdx.x] = x; }"""
    text, _ = lifted(source)
    assert text.count("cosf(") == 1
    module, again = ptxkit.compile_cuda(source), compiled_again(text, "sm_90")
    results = []
    for one in (module, again):
        x = np.linspace(-3e5, 3e5, 64, dtype=np.float32)
        ptxkit.load(one, device="cpu")["k"][1, 64](x, 5)
        results.append(x)
    np.testing.assert_array_equal(*results)


def test_another_polynomial_is_no_call() -> None:
    module = ptxkit.compile_cuda(kernel("k", "float", "sinf(a[i])"), arch="sm_90")
    text = module.emit()
    changed = text.replace("0f3C0885E4", "0f3C0885E5")
    assert changed != text
    assert "sinf(" in lifted_text(module)
    assert "sinf(" not in lifted_text(ptxkit.parse(changed))


def test_own_arrays_stay() -> None:
    source = """extern "C" __global__ void k(float *o, const int *at, int n) {
        float kept[8];
        for (int j = 0; j < 8; ++j) kept[j] = sinf(o[j]);
        o[threadIdx.x] = kept[at[threadIdx.x] & 7] + sinf(kept[n & 7]); }"""
    module = ptxkit.compile_cuda(source, arch="sm_90")
    text = lifted_text(module)
    assert "sinf(" in text
    again = compiled_again(text, "sm_90")
    results = []
    for one in (module, again):
        o = np.linspace(-2e5, 3e6, 32, dtype=np.float32)
        at = np.arange(32, dtype=np.int32) * 3
        ptxkit.load(one, device="cpu")["k"][1, 8](o, at, 5)
        results.append(o)
    np.testing.assert_array_equal(*results)


def test_without_the_option_it_is_written_out() -> None:
    assert "sinf(" not in lifted(kernel("k", "float", "sinf(a[i])"), math=False)[0]


@pytest.fixture
def forgotten() -> Iterator[None]:
    """A library that has to be made anew."""
    miner.library.cache_clear()
    yield
    miner.library.cache_clear()


@pytest.mark.usefixtures("forgotten")
def test_templates_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first = miner.library("sm_90")
    miner.library.cache_clear()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(miner, "compile_cuda", refuse)
    assert miner.library("sm_90").templates == first.templates


@pytest.mark.usefixtures("forgotten")
def test_without_a_compiler_it_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ptxkit.compile_cuda(kernel("k", "float", "expf(a[i])"), arch="sm_90")

    def missing(*_: object) -> None:
        raise ToolchainError("there is no NVRTC")

    monkeypatch.setattr(miner.nvrtc, "load", missing)
    text = lifted_text(module)
    assert "expf(" not in text
    assert "ex2_approx_ftz_f32" in text


def test_powers_of_differences_of_integers() -> None:
    source = """extern "C"
__global__ void k(float *o, const unsigned char *a, const int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = powf(a[i] - a[i + 3], 2) + powf((float)(int)b[i], 3);
}"""
    text, same = lifted(source, "sm_75")
    assert "powf(p1[i] - p1[i + 3], 2.0f) + powf(p2[i], 3.0f)" in text
    assert same


def test_functions_of_a_number_and_powers_of_one_to_an_integer() -> None:
    source = """extern "C" __global__ void k(float *s) {
    for (int i = 0; i < log2(1024.0); i++) {
        int step = powf(2, i);
        if (threadIdx.x % step == 0) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
    }
}"""
    text, _ = lifted(source, roll=True)
    assert "log2(1024.0)" in text
    assert "powf(2.0f, i)" in text
    assert "asm" not in text


@pytest.mark.parametrize(
    "type, call",
    [
        ("int", "atan2f(p2[i], p1[i])"),
        ("short", "atan2f((float)p2[i], (float)p1[i])"),
        ("int", "atan2((double)p2[i], (double)p1[i])"),
        ("int", "logf(p1[i])"),
    ],
)
def test_compilers_ask_integers_for_what_is_made_of_them(type: str, call: str) -> None:
    """Whether ``(float)x`` is less than 0 is whether ``x`` is."""
    expression = call.replace("p1", "a").replace("p2", "b")
    text, same = lifted(
        f"""__global__ void k(double *o, const {type} *a, const {type} *b, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = {expression}; }}"""
    )
    assert call in text
    assert same


def test_powers_of_doubles_to_an_integer_are_of_doubles() -> None:
    text, same = lifted(kernel("k", "double", "pow(a[i], (double)i) + pow(2.0, (double)i)"))
    assert "pow(p1[i], (double)i)" in text
    assert "pow(2.0, (double)i)" in text
    assert same


HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
#: What compilers make of a function of the library that walks through a table and puts what it
#: makes of it into memory of its own.
WALKING = """.global .align 4 .b8 {table}[16] = {{65, 4, 6, 6, 5, 4, 9, 1, 9, 2, 5, 1, 2, 3, 4, 5}};
.visible .entry {kernel}(.param .u64 {kernel}_param_0, .param .f32 {kernel}_param_1) {{
    .local .align 4 .b8 {own}[20];
    .reg .pred %p<2>;
    .reg .f32 %f<4>;
    .reg .b32 %r<9>;
    .reg .b64 %SP, %SPL, %rd<14>;
    mov.u64 %SPL, {own};
    ld.param.u64 %rd1, [{kernel}_param_0];
    ld.param.f32 %f1, [{kernel}_param_1];
    cvta.to.global.u64 %rd2, %rd1;
    {before}
    add.u64 %rd3, %SPL, 0;
    mov.b32 %r1, %f1;
    shl.b32 %r2, %r1, 8;
    or.b32 %r3, %r2, -2147483648;
    mov.u64 %rd6, 0;
    mov.u32 %r4, 0;
    mov.u64 %rd5, {table};
    mov.u64 %rd4, %rd3;
$L__BB0_1:
    ld.global.nc.u32 %r5, [%rd5];
    mad.wide.u32 %rd7, %r5, %r3, %rd6;
    shr.u64 %rd6, %rd7, 32;
    st.local.u32 [%rd4], %rd7;
    add.s64 %rd5, %rd5, 4;
    add.s64 %rd4, %rd4, 4;
    add.s32 %r4, %r4, 1;
    setp.ne.s32 %p1, %r4, 4;
    @%p1 bra $L__BB0_1;
    st.local.u32 [%rd3+16], %rd6;
    shr.u32 %r6, %r1, 30;
    mul.wide.u32 %rd8, %r6, 4;
    add.s64 %rd9, %rd3, %rd8;
    ld.local.u32 %r7, [%rd9];
    cvt.rn.f32.u32 %f2, %r7;
    st.global.f32 [%rd2], %f2;
    ret;
}}
"""


def test_a_function_that_walks_through_a_table_is_found() -> None:
    """CUDA 13.0 reduces the arguments of `sinf` so; names and what is around are others."""
    wanted = Wanted("walkf", ("f32",))
    plain = WALKING.format(kernel=wanted.kernel, own="__local_depot0", table="bits", before="")
    again = WALKING.format(
        kernel="k", own="__local_depot1", table="others",
        before="ld.global.u32 %r8, [%rd2]; st.global.u32 [%rd2+4], %r8;",
    )  # fmt: skip
    first, second, other = (
        ptxkit.parse(HEAD + text)
        for text in (plain, plain + again, plain + again.replace("65,", "66,"))
    )
    library = Library(mined(wanted, first, PLAIN))
    for module, count in ((second, 1), (other, 0)):
        program = lift_function(module, module["k"], Scopes(module), Signatures(module), PLAIN)
        terms = Terms(program).run()
        assert len(library.find_all(terms, terms.everything())) == count
