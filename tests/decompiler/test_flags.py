"""Code compiled with options for fast arithmetic is plain C++ again, which says the options."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import lifted_text
from tests.decompiler.test_math_calls import kernel

import ptxkit
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.lift.lifter import compile_flags
from ptxkit.decompiler.verify import verify
from ptxkit.decompiler.verify.asked import asked_options
from ptxkit.decompiler.verify.certificates import compiled
from ptxkit.decompiler.verify.identity import same_ptx

FAST = ("-use_fast_math",)
FLUSH = ("-ftz=true",)
QUICK = ("-prec-div=false", "-prec-sqrt=false")


ROWS = [
    (FAST, "sinf(a[i])", "sinf(p1[i])"),
    (FAST, "expf(a[i])", "expf(p1[i])"),
    (FAST, "powf(a[i], b[i])", "powf(p1[i], p2[i])"),
    (FAST, "powf(a[i], 2.5f)", "powf(p1[i], 2.5f)"),
    (FAST, "a[i] / b[i]", "p1[i] / p2[i]"),
    (FAST, "1.0f / (1.0f + expf(-a[i]))", "1.0f / (expf(-p1[i]) + 1.0f)"),
    (FAST, "sqrtf(a[i]) + tanhf(b[i])", "sqrtf(p1[i]) + tanhf(p2[i])"),
    (FLUSH, "sinf(a[i])", "sinf(p1[i])"),
    (FLUSH, "tanhf(a[i])", "tanhf(p1[i])"),
    (FLUSH, "powf(a[i], b[i])", "powf(p1[i], p2[i])"),
    (FLUSH, "a[i] / b[i]", "p1[i] / p2[i]"),
    (FLUSH, "rintf(a[i]) * floorf(b[i])", "rintf(p1[i]) * floorf(p2[i])"),
    (FLUSH, "__saturatef(a[i] * b[i])", "__saturatef(p1[i] * p2[i])"),
    (FLUSH, "fmaxf(a[i], b[i])", "fmaxf(p1[i], p2[i])"),
    (QUICK, "1.0f / sqrtf(a[i])", "1.0f / sqrtf(p1[i])"),
    (QUICK, "a[i] / sqrtf(b[i])", "p1[i] / sqrtf(p2[i])"),
]
# Mining takes seconds for an architecture and a set of options.
CASES = [("sm_90", *row) for row in ROWS] + [("sm_120", *row) for row in ROWS if row[0] == FAST]


@pytest.mark.parametrize(("arch", "options", "expression", "wanted"), CASES)
def test_operators_and_functions_are_plain(
    arch: str, options: tuple[str, ...], expression: str, wanted: str
) -> None:
    module = ptxkit.compile_cuda(kernel("k", "float", expression), arch=arch, options=options)
    text = lifted_text(module)
    assert f"p0[i] = {wanted};" in text
    assert text.startswith(f"// compile with: {' '.join(options)}\n")
    assert "asm" not in text
    again = compiled(text, arch).module
    assert again is not None
    assert same_ptx(module, again, "k")


def test_no_options_where_none_were_used() -> None:
    source = kernel("k", "float", "tanhf(a[i]) / b[i] + powf(a[i], b[i])")
    module = ptxkit.compile_cuda(source, arch="sm_90")
    assert compile_flags(module) == Flags()
    assert "compile with" not in lifted_text(module)


def test_what_the_options_do_not_give_keeps_its_name() -> None:
    # Of two kernels in one file the flushed one has more to say; the other one keeps `asm`.
    flushed = kernel("k", "float", "a[i] * b[i] + a[i] / b[i] - fabsf(a[i])")
    plain = kernel("other", "float", "a[i] - b[i]")
    one = ptxkit.compile_cuda(flushed, arch="sm_90", options=FLUSH).emit()
    two = ptxkit.compile_cuda(plain, arch="sm_90").emit()
    module = ptxkit.parse(one + two[two.index(".visible") :])
    text = lifted_text(module)
    assert text.startswith("// compile with: -ftz=true\n")
    assert 'asm("sub.f32 %0, %1, %2;"' in text
    assert verify(module, text, execute=False).equivalent


def test_the_verifier_compiles_with_what_a_text_asks_for() -> None:
    source = kernel("k", "float", "a[i] * b[i]")
    module = ptxkit.compile_cuda(source, arch="sm_90", options=FLUSH)
    assert verify(module, source).level == "E0"
    assert verify(module, f"// compile with: -ftz=true\n{source}").level == "E1"
    # Only what changes arithmetic, and only in the first line.
    assert asked_options("// compile with: -DX=1 -use_fast_math --include=x") == FAST
    assert asked_options("int x;\n// compile with: -ftz=true") == ()


def test_decompiled_module_says_its_options() -> None:
    source = kernel("k", "float", "expf(a[i]) / b[i]") + kernel("count", "int", "a[i] ^ b[i]")
    module = ptxkit.compile_cuda(source, arch="sm_90", fast_math=True)
    found = ptxkit.decompile(module, engine="symbolic")
    assert found.cuda.startswith("// compile with: -use_fast_math\n")
    assert found.verdict.same_ptx
    tree = ptxkit.cuda.read(ptxkit.cuda.write(found.ast))
    assert tree == found.ast


APART = """extern "C" __global__
void k(const float *x, const double *y, float *p, double *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { p[i] = x[i] - x[i + n] * x[i + 2 * n]; q[i] = y[i] * y[i + n] + 1.0; } }"""


def test_what_is_never_fused_says_so() -> None:
    """Every sum and product says `.rn` then, and plain operators make the same of them."""
    module = ptxkit.compile_cuda(APART, arch="sm_90", options=("-fmad=false",))
    found = ptxkit.decompile(module, engine="symbolic")
    assert found.verdict.level == "E1"
    assert found.cuda.startswith("// compile with: -fmad=false")
    assert "_rn(" not in found.cuda


def test_single_sums_that_are_not_fused_keep_their_names() -> None:
    source = """extern "C" __global__ void k(const float *x, float *y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x; float s = x[i] + x[i + n];
        y[i] = __fsub_rn(s, __fmul_rn(x[i], x[i + n])); }"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"), engine="symbolic")
    assert found.verdict.level == "E1"
    assert "__fmul_rn(" in found.cuda


@pytest.mark.parametrize(
    "left", ["x[i] - x[i + n] * x[i + 2 * n]", "x[i] * x[i + n] - x[i + 2 * n]"]
)
def test_launches_do_not_show_that_an_assembler_may_fuse(left: str) -> None:
    source = f"""extern "C" __global__ void k(const float *x, float *y, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = {left}; }}"""
    original = ptxkit.compile_cuda(source, arch="sm_90", options=("-fmad=false",))
    verdict = verify(original, source, arch="sm_90")
    assert not verdict.equivalent
