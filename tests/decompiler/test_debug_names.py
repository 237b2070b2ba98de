"""Names and lines of the source, where the compiler left them in PTX."""

from __future__ import annotations

import pytest
from tests.decompiler.lifting import compiled_again, lifted_text

import ptxkit
from ptxkit.decompiler.lift.lifter import Options
from ptxkit.syntax.debug import debug_names

SOURCE = """struct Pair { float left, right; };
__device__ __noinline__ float square(float side) { float area = side * side; return area; }
extern "C" __global__ void axpy(const float *x, float *y, float alpha, Pair pair, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        float value = x[idx];
        for (int step = 0; step < n; ++step) value = square(value) + alpha * pair.right;
        y[idx] = value;
    }
}
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_names_of_parameters_and_variables(arch: str) -> None:
    module = ptxkit.compile_cuda(SOURCE, arch=arch, debug=True)
    found = debug_names(module)
    assert found["axpy"].parameters == ("x", "y", "alpha", "pair", "n")
    assert {"idx", "value", "step"} <= set(found["axpy"].registers.values())
    assert "area" in found["_Z6squaref"].registers.values()
    text = lifted_text(module, Options(roll=True))
    assert "axpy(const float *x, float *y, float alpha, Struct0 pair, int n)" in text
    assert "int idx = blockIdx.x * blockDim.x + threadIdx.x;" in text
    assert "if (idx < n)" in text
    assert "for (int step = 0; step < n; step++)" in text
    compiled_again(text, arch)


def test_without_debug_information_there_are_no_names() -> None:
    assert debug_names(ptxkit.compile_cuda(SOURCE, arch="sm_90", line_info=True)) == {}


def test_names_that_c_does_not_take_are_changed() -> None:
    source = """struct Scale { float by; __device__ __noinline__ float of(float x) const; };
__device__ float Scale::of(float x) const { return by * x; }
extern "C" __global__ void k(float *out, Scale s) { *out = s.of(*out); }
"""
    text = lifted_text(ptxkit.compile_cuda(source, arch="sm_90", debug=True))
    assert "this_" in text
    compiled_again(text, "sm_90")


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_information_that_is_cut_short_does_no_harm(cut: float) -> None:
    text = ptxkit.compile_cuda(SOURCE, arch="sm_90", debug=True).emit()
    for name in (".debug_info", ".debug_abbrev"):
        begin = text.index("{", text.index(f".section\t{name}")) + 1
        end = text.index("}", begin)
        lines = text[begin:end].splitlines(keepends=True)
        broken = text[:begin] + "".join(lines[: int(len(lines) * cut)]) + "\n" + text[end:]
        module = ptxkit.parse(broken)
        whole = ("x", "y", "alpha", "pair", "n")
        for names in debug_names(module).values():
            assert set(names.parameters) <= {*whole, "side"}
        compiled_again(lifted_text(module), "sm_90")


def test_comments_name_lines_of_the_source() -> None:
    module = ptxkit.compile_cuda(SOURCE, arch="sm_90", line_info=True, name="axpy.cu")
    text = ptxkit.decompile(module, engine="symbolic", verify=False, comments=True).cuda
    line = next(line for line in text.splitlines() if "blockIdx.x * blockDim.x" in line)
    assert "axpy.cu 4" in line
