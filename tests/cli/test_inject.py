"""`ptxkit inject` compiles, renders and lists."""

import json

import numpy as np
import pytest

import ptxkit as toolkit

CUDA = """\
extern "C" __global__ void k(float *x)
{
    float v = x[threadIdx.x], z;
    /* PTX_INJECT func
        in  f32 v
        out f32 z
    */
    x[threadIdx.x] = z;
}
extern "C" __global__ void other(float *x)
{
    float v = x[threadIdx.x], z;
    /* PTX_INJECT func
        in  f32 v
        out f32 z
    */
    x[threadIdx.x] = z;
}
"""
DOUBLE, SQUARE = "add.f32 %_z, %_v, %_v;\n", "mul.f32 %_z, %_v, %_v;\n"


@pytest.fixture
def sources(folder):
    (folder / "k.cu").write_text(CUDA)
    (folder / "double.ptx").write_text(DOUBLE)
    (folder / "square.ptx").write_text(SQUARE)
    (folder / "wrong.ptx").write_text("mov.f32 %_z, %_v;\nadd.f32 %_z, %_q, %_v;\n")
    return folder


def results(path):
    module = toolkit.load(path.read_text(), device="cpu")
    found = []
    for name in ("k", "other"):
        x = np.array([3], np.float32)
        module[name][1, 1](x)
        found.append(float(x[0]))
    return found


def test_a_stub_goes_into_a_kernel(ptxkit, sources):
    done = ptxkit("inject", "k.cu", "--stub", "func=double.ptx", "-o", "out.ptx")
    assert (done.exit_code, done.output) == (0, "")
    assert results(sources / "out.ptx") == [6.0, 6.0]


@pytest.mark.parametrize("key", ["other:func", "func#1", "other:func#0"])
def test_another_for_one_kernel(ptxkit, sources, key):
    stubs = ("--stub", "func=double.ptx", "--stub", f"{key}=square.ptx")
    assert ptxkit("inject", "k.cu", *stubs, "-o", "out.ptx").exit_code == 0
    assert results(sources / "out.ptx") == [6.0, 9.0]


def test_ptx_with_markers_and_standard_streams(ptxkit, sources):
    text = toolkit.inject.Template.from_cuda(CUDA).text
    (sources / "k.ptx").write_text(text)
    first = ptxkit("inject", "k.ptx", "--stub", "func=double.ptx")
    second = ptxkit("inject", "-", "--stub", "func=double.ptx", input=text)
    third = ptxkit("inject", "-", "--arch", "sm_90", "--stub", "func=double.ptx", input=CUDA)
    assert first.exit_code == second.exit_code == third.exit_code == 0
    assert first.stdout == second.stdout == third.stdout
    assert DOUBLE in first.stdout


def test_the_list(ptxkit, sources, snapshot):
    shown = ptxkit("inject", "k.cu", "--list")
    assert shown.exit_code == 0
    assert shown.stdout == snapshot
    (site,) = json.loads(ptxkit("inject", "k.cu", "--json").stdout)
    assert [one["register"] for one in site["operands"]] == ["%_v", "%_z"]
    assert [one["function"] for one in site["occurrences"]] == ["k", "other"]
    assert site["occurrences"][1]["source_line"] == 13


def test_no_sites(ptxkit, folder):
    (folder / "k.cu").write_text("__global__ void k() {}")
    assert ptxkit("inject", "k.cu", "--list").stdout == "no injection sites\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--stub", "func=wrong.ptx"],
        ["--stub", "func"],
        ["--stub", "fun=double.ptx"],
        ["--stub", "func=none.ptx"],
        ["--stub", "func=double.ptx", "--stub", "func=square.ptx"],
        ["--stub", "func=double.ptx", "--list"],
        [],
    ],
    ids=" ".join,
)
def test_what_is_wrong_is_said(ptxkit, sources, arguments, snapshot):
    done = ptxkit("inject", "k.cu", *arguments)
    assert done.exit_code == 2
    assert done.stderr == snapshot
    assert done.stdout == ""


def test_unchecked(ptxkit, sources):
    done = ptxkit("inject", "k.cu", "--stub", "func=wrong.ptx", "--no-check")
    assert done.exit_code == 0
    assert "%_q" in done.stdout
