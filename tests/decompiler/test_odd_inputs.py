"""PTX that nobody would write, but somebody has: names, declarations, attributes, mistakes."""

from __future__ import annotations

import re

import pytest

import ptxkit

_HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n"
_KERNEL = """.visible .entry {0}(.param .u64 p) {{
.reg .b64 %rd<2>;
.reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
{1}
st.global.u32 [%rd1], %r1;
ret;
}}
"""
_CALL = """ld.global.u32 %r2, [%rd1];
{{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call (y), {0}, (x);
ld.param.b32 %r1, [y]; }}"""
_FUNCTION = """.visible .func (.param .b32 r) {0}(.param .b32 a) {{
.reg .b32 %r<3>;
ld.param.u32 %r1, [a];
add.s32 %r2, %r1, 3;
st.param.b32 [r], %r2;
ret;
}}
"""
TAKEN = "float main printf threadIdx NULL operator sinf __global__ k$1".split()


def _kernel(body: str, name: str = "k", before: str = "") -> ptxkit.Module:
    return ptxkit.parse(_HEAD + before + _KERNEL.format(name, body), "odd.ptx")


@pytest.mark.parametrize("name", TAKEN)
def test_symbols_that_cpp_cannot_write(name: str) -> None:
    """A kernel, a variable and a function of such a name: renamed, said, and compared."""
    modules = (
        _kernel("mov.u32 %r1, 7;", name),
        _kernel(f"ld.global.u32 %r1, [{name}];", before=f".visible .global .u32 {name};\n"),
        _kernel(_CALL.format(name), before=_FUNCTION.format(name)),
    )
    for module in modules:
        found = ptxkit.decompile(module)
        assert found.verdict.equivalent, (found.cuda, found.notes)
        assert any(f"cannot call it '{name}'" in note for note in found.notes)


@pytest.mark.parametrize("name", TAKEN)
def test_parameters_and_arrays_of_such_names(name: str) -> None:
    body = f".shared .b32 {name}[4];\nst.shared.u32 [{name}], 5;\nld.shared.u32 %r1, [{name}];"
    for module in (
        _kernel(body),
        ptxkit.parse(_kernel("mov.u32 %r1, 7;").emit().replace("u64 p", f"u64 {name}")
                     .replace("[p]", f"[{name}]")),
    ):  # fmt: skip
        found = ptxkit.decompile(module)
        assert found.verdict.equivalent, (found.cuda, found.notes)
        assert not found.notes


ATTRIBUTES = {
    "__managed__ int x = 3;": "x",
    "__managed__ float v[10];": "v[threadIdx.x]",
    "extern __device__ float y[];": "y[threadIdx.x + 1]",
    "extern __constant__ float w[];": "w[threadIdx.x]",
    "extern __device__ int count;": "count",
}


@pytest.mark.parametrize("declaration", ATTRIBUTES)
def test_declared_as_it_was(declaration: str) -> None:
    source = f"""{declaration}
    extern "C" __global__ void k(float *out) {{ out[threadIdx.x] = {ATTRIBUTES[declaration]}; }}"""
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90", options=("-rdc=true",)))
    assert declaration in found.cuda
    assert found.verdict.same_ptx


@pytest.mark.parametrize(
    "attribute",
    ["__cluster_dims__(2, 1, 1)", "__cluster_dims__()", "__launch_bounds__(128, 2, 4)",
     "__maxnreg__(32)", "__block_size__((32, 2, 1), (2, 1, 1))"],
)  # fmt: skip
def test_launched_as_it_was(attribute: str) -> None:
    source = f'extern "C" __global__ void {attribute} k(int *x) {{ x[threadIdx.x] = 1; }}'
    found = ptxkit.decompile(ptxkit.compile_cuda(source, arch="sm_90"))
    assert attribute in found.cuda
    assert found.verdict.same_ptx


@pytest.mark.parametrize(
    ("body", "before", "said"),
    [
        ("bra NOWHERE;", "", "odd.ptx:8:5: 'NOWHERE' is not declared"),
        ("call nothing;", "", "odd.ptx:8:6: 'nothing' is not declared"),
        ("mov.u32 %r1, %r7;", "", "odd.ptx:8:14: '%r7' is not declared"),
        ("mov.u32 %r1, %tomorrow;", "", "'%tomorrow' is not declared"),
        ("ld.global.u32 %r1, [nothere];", "", "'nothere' is not declared"),
        ("ld.global.u32 %r1, [k];", ".global .u32 k;\n", "'k' is a variable and a function"),
    ],
)
def test_mistakes_are_sentences(body: str, before: str, said: str) -> None:
    with pytest.raises(ptxkit.PtxkitError, match=re.escape(said)):
        ptxkit.decompile(_kernel(body, before=before))


VIDEO = """ld.global.u32 %r1, [%rd1];
vadd.s32.u32.s32.sat %r2.b0, %r1.b1, %r1, %r1;
vadd2.s32.s32.s32.sat %r1.h10, %r1.h32, %r2.h10, %r2;"""
WIDE = """.reg .b128 %q<3>; .reg .b64 %w<3>;
ld.global.b128 %q1, [%rd1];
mov.b128 {%w1, %w2}, %q1;
add.s64 %w1, %w1, %w2;
mov.b128 %q2, {%w1, %w2};
st.global.b128 [%rd1+16], %q2;
mov.u32 %r1, 5;"""


@pytest.mark.parametrize("body", [VIDEO, WIDE])
def test_odd_registers_compile_again(body: str) -> None:
    found = ptxkit.decompile(_kernel(body), "symbolic")
    assert found.verdict.equivalent, found.notes
    assert ("--device-int128" in found.cuda) == (body is WIDE)
    vectors = 'extern "C" __global__ void k(float4 *x) { x[1] = x[0]; }'
    assert "compile with" not in ptxkit.decompile(ptxkit.compile_cuda(vectors), "symbolic").cuda


REGISTERS = """.visible .func (.reg .b32 r) add3(.reg .b32 a) {
add.s32 r, a, 3;
ret;
}
"""


def test_what_is_refused_says_where() -> None:
    module = _kernel("call (%r1), add3, (%r2);", before=REGISTERS)
    with pytest.raises(ptxkit.PtxkitError, match=r"odd\.ptx:4:35: a function with a register 'a'"):
        ptxkit.decompile(module)
    twice = _kernel("mov.u32 %r1, 1;", before=_KERNEL.format("k", "mov.u32 %r1, 2;"))
    with pytest.raises(ptxkit.PtxkitError, match=r"odd\.ptx:12:1: the function 'k' is defined at"):
        ptxkit.decompile(twice)
    with pytest.raises(ptxkit.UsageError, match=r"decompile needs a module, .* not Function"):
        ptxkit.decompile(twice.functions[0])  # type: ignore[arg-type]


def test_an_architecture_that_was_asked_for() -> None:
    with pytest.raises(ptxkit.ToolchainError, match="does not compile for sm_999"):
        ptxkit.decompile(_kernel("mov.u32 %r1, 1;"), arch="sm_999")


def test_what_no_compiler_takes_has_a_reason() -> None:
    text = ".visible .entry k(.param .b8 x[2000000000]) { .reg .b32 r; ld.param.u32 r, [x]; ret; }"
    found = ptxkit.decompile(ptxkit.parse(_HEAD + text))
    assert found.verdict.level == "none"
    assert "parameter space" in found.verdict.reasons[0]
    assert found.badge == "[not verified] symbolic"
