"""CUDA C++ to PTX: both compilers, headers, options, and errors at their places."""

import sys
import warnings
from pathlib import Path

import pytest

from ptxkit.errors import ToolchainError, UsageError
from ptxkit.toolchain import (
    CompilerError,
    CompilerWarning,
    compile_cuda,
    cuda_messages,
    process,
)
from toolchain.sources import SAXPY

BROKEN = """\
#include <cuda_fp16.h>
extern "C" __global__ void k(float *x)
{
\t  int unused;   missing(x, y);  /* é */ other();
    x[0] = 1 +;
    __half h = "text";
}
template <class T> __device__ T f(T t) { return t.z(); }
__device__ int g() { return f(3); }
"""


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_a_kernel_compiles(compiler):
    module = compile_cuda(SAXPY, "sm_80", name="dir/saxpy.cu", compiler=compiler)
    assert (module.target, module.filename) == ("sm_80", "saxpy.ptx")
    assert [kernel.name for kernel in module.kernels] == ["saxpy"]
    assert not module.emit_bytes().endswith(b"\0")
    assert any(i.opcode.startswith("fma.rn") for i in module["saxpy"].instructions)


def test_architecture_suffixes_reach_the_compiler():
    assert compile_cuda(SAXPY, "sm_90a").target == "sm_90a"
    assert compile_cuda(SAXPY, "compute_100f").target == "sm_100f"


def test_headers_are_found():
    source = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda/std/cstdint>\n"
    source += 'extern "C" __global__ void k(__half *x) { x[0] = __float2half(2.0f); }\n'
    assert "k" in compile_cuda(source)


def test_options_reach_the_compiler():
    assert ".loc" in compile_cuda(SAXPY, line_info=True).emit()
    assert ".debug_info" in compile_cuda(SAXPY, debug=True).emit()
    source = 'extern "C" __global__ void k(float *x) { x[0] = A / x[B]; }'
    text = compile_cuda(source, defines={"A": "1.0f", "B": 3}, fast_math=True).emit()
    assert "rcp.approx.ftz.f32" in text
    assert "+12]" in text
    text = compile_cuda(source, defines=["A=1.0f", "B"]).emit()
    assert "rcp.rn.f32" in text
    assert "+4]" in text
    assert "fma" not in compile_cuda(SAXPY, options=["-fmad=false"]).emit()


def test_include_folders_reach_the_compiler(tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 42\n")
    source = '#include "value.h"\nextern "C" __global__ void k(int *x) { x[0] = VALUE; }'
    assert "42" in compile_cuda(source, include_dirs=[tmp_path]).emit()


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_errors_are_at_their_places(compiler, snapshot):
    with pytest.raises(CompilerError) as caught:
        compile_cuda(BROKEN, name="broken.cu", compiler=compiler)
    assert str(caught.value) == snapshot
    assert caught.value.filename == "broken.cu"
    assert "detected in the compilation" in caught.value.log


def test_a_missing_header_is_named(snapshot):
    with pytest.raises(CompilerError) as caught:
        compile_cuda('\n#include "nowhere.h"\n')
    assert str(caught.value) == snapshot


@pytest.mark.parametrize(
    ("use", "instead"),
    {
        "*x = -INFINITY;": "#include <cuda/std/cmath>",
        "*x = FLT_MAX;": "#include <cuda/std/cfloat>",
        "int32_t n = INT_MAX; *x = n;": "#include <cuda/std/cstdint>",
        "*x = CUDART_PI_F;": "#include <math_constants.h>",
        "half h = 1; *x = h;": "#include <cuda_fp16.h>",
        "uint n = 3; *x = n;": "unsigned int",
    }.items(),
)
def test_a_name_of_a_header_is_told_with_what_helps(use, instead):
    source = f"__global__ void k(float *x) {{ {use} }}"
    with pytest.raises(CompilerError) as caught:
        compile_cuda(source)
    first = next(found for found in caught.value.diagnostics if found.severity == "error")
    assert f"write {instead}" in first.hint
    if not instead.startswith("#"):
        return
    others = "#include <cuda/std/climits>\n" if "INT_MAX" in use else ""
    assert compile_cuda(f"{others}{instead}\n{source}").functions


def test_an_error_at_the_end_of_the_source():
    with pytest.raises(CompilerError) as caught:
        compile_cuda("__device__ int f() {\n  return 1;\n")
    assert [(d.line, d.severity) for d in caught.value.diagnostics] == [(3, "error")]


def test_an_error_in_a_header_names_it(tmp_path):
    (tmp_path / "bad.h").write_text("\n  int f( {\n")
    with pytest.raises(CompilerError) as caught:
        compile_cuda('#include "bad.h"\n', include_dirs=[tmp_path])
    first = caught.value.diagnostics[0]
    assert (first.filename, first.line) == (str(tmp_path / "bad.h"), 2)
    assert first.source_line.strip() == "int f( {"


def test_a_warning_is_a_python_warning():
    with pytest.warns(CompilerWarning, match=r'k.cu:1:27: warning\[cuda-177\]: variable "unused"'):
        compile_cuda("__global__ void k() { int unused; }", name="k.cu")
    with pytest.warns(CompilerWarning):  # out of the cache too
        compile_cuda("__global__ void k() { int unused; }", name="k.cu")


def test_warnings_of_headers_are_not_the_callers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_cuda("#include <cuda_fp8.h>\n", "sm_90")


def test_a_header_of_the_host_gets_a_hint():
    with pytest.raises(CompilerError) as caught:
        compile_cuda("#include <cstdint>\n")
    assert "<cuda/std/cstdint>, or compile with nvcc" in caught.value.diagnostics[0].hint
    assert "k" in compile_cuda(
        '#include <cstdio>\nextern "C" __global__ void k() { printf("x"); }', compiler="nvcc"
    )


@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_an_architecture_the_compiler_lacks(compiler):
    with pytest.raises(ToolchainError) as caught:
        compile_cuda(SAXPY, "sm_30", compiler=compiler)
    assert "30" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"src": 7}, "needs CUDA C"),
        ({"src": "a\0b"}, "NUL"),
        ({"src": "", "arch": "hopper"}, "not a target"),
        ({"src": "", "options": "-G"}, "list of words"),
        ({"src": "", "compiler": "gcc"}, "compiler is one of"),
    ],
)
def test_calls_that_make_no_sense(arguments, message):
    with pytest.raises(UsageError, match=message):
        compile_cuda(**arguments)


def test_an_option_the_compiler_lacks():
    with pytest.raises(ToolchainError, match="unrecognized option"):
        compile_cuda("", options=["--no-such-option"])


def test_an_unused_header_change_is_seen(tmp_path):
    header = tmp_path / "value.h"
    source = '#include "value.h"\nextern "C" __global__ void k(int *x) { x[0] = VALUE; }'
    for value in ("41", "42"):
        header.write_text(f"#define VALUE {value}\n")
        for _ in range(2):
            assert value in compile_cuda(source, include_dirs=[tmp_path]).emit()


def test_what_the_back_end_refuses_is_an_error_of_the_source() -> None:
    found = cuda_messages.parse("k.cu(2) Error: unsupported operation\n", "one\ntwo\n", "k.cu")
    assert [(d.severity, d.line, d.message) for d in found] == [
        ("error", 2, "unsupported operation")
    ]


def test_ptx_is_no_source() -> None:
    text = "//\n// made by a compiler\n/* of * stars */\n\t.version 8.0\n.target sm_90\n"
    with pytest.raises(UsageError, match=r"'k\.ptx' is PTX already.*ptxkit assemble"):
        compile_cuda(text, name="k.ptx")


def test_the_time_of_tools_is_counted() -> None:
    before = process.seconds()
    process.run(Path(sys.executable), ["-c", "sum(range(3_000_000))"])
    assert 0.005 < process.seconds() - before < 60
