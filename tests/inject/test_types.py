"""Every type, in every direction, in both forms: on the simulator against numpy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ptxkit
from inject.kernels import CASES, Case, accepted, kernel, run, values
from ptxkit.inject import TYPES, Template, Type, include_dir
from ptxkit.toolchain import locate

by_type = pytest.mark.parametrize("case", CASES, ids=lambda case: case.type)


@by_type
@pytest.mark.parametrize("macro", [False, True], ids=["comment", "macro"])
def test_values_come_in_and_go_out(case: Case, macro: bool) -> None:
    ptx = Template.from_cuda(kernel(case, macro)).render({"func": case.stub})
    x, acc = values(case, 1), values(case, 2)
    before, z = acc.copy(), np.zeros_like(x)
    run(ptx, "k", x, acc, z)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(z, x + before)
    np.testing.assert_array_equal(acc, x)
    assert accepted(ptx)


@by_type
def test_both_forms_give_the_same_marker(case: Case) -> None:
    def marker(macro: bool) -> str:
        found = re.search(r"// PTX_INJECT .*", Template.from_cuda(kernel(case, macro)).text)
        assert found is not None
        return re.sub(r"@\d+", "", found[0])

    assert marker(False) == marker(True)


def test_every_type_is_tested() -> None:
    assert {case.type for case in CASES} | {"pred", "b128"} == set(TYPES)


def test_the_header_has_the_types_of_the_table() -> None:
    text = (include_dir() / "ptxkit_inject.cuh").read_text()
    rows = re.findall(r"^#define PTXKIT_TYPE_.*$", text, re.MULTILINE)
    assert rows == [one.define() for one in TYPES.values()]


PREDICATES = """
extern "C" __global__ void k(const int *a, const int *b, int *flip, int *less)
{
    int i = threadIdx.x;
    int mine = flip[i], result;
    /* PTX_INJECT compare
        in  pred both = a[i] && b[i]
        in  s32 a = a[i]
        in  s32 b = b[i]
        mod pred flip = mine
        out pred less = result
    */
    flip[i] = mine;
    less[i] = result;
}
"""


def test_predicates_go_through_32_bits() -> None:
    template = Template.from_cuda(PREDICATES)
    assert template.sites["compare"].args["both"].register_type == "pred"
    ptx = template.render(
        {"compare": "setp.lt.s32 %_less, %_a, %_b;\nxor.pred %_flip, %_flip, %_both;"}
    )
    a = np.array([0, 1, 5, -2, 7, 0, 3, 3], np.int32)
    b = np.array([1, 0, 6, -3, 7, 0, 2, 4], np.int32)
    flip = np.array([0, 1, 0, 1, 2, -1, 0, 9], np.int32)
    expected = ((flip != 0) ^ ((a != 0) & (b != 0))).astype(np.int32)
    less = np.zeros(8, np.int32)
    run(ptx, "k", a, b, flip, less)
    np.testing.assert_array_equal(flip, expected)
    np.testing.assert_array_equal(less, a < b)
    assert accepted(ptx)


def test_128_bits() -> None:
    source = """
    extern "C" __global__ void k(unsigned __int128 *x) {
        unsigned __int128 v = x[0], w;
        /* PTX_INJECT swap
            in b128 v
            out b128 w
        */
        x[0] = w;
    }"""
    template = Template.from_cuda(source, options=["--device-int128"])
    ptx = template.render({"swap": ".reg .b64 a, b;\nmov.b128 {a, b}, %_v;\nmov.b128 %_w, {b, a};"})
    assert accepted(ptx)


USER_TYPE = """
struct Pair { int first, second; };
extern "C" __global__ void k(Pair *x)
{
    Pair in = x[threadIdx.x], out;
    %s
    x[threadIdx.x] = out;
}
"""
PAIR = Type("pair", register="b64", constraint="l", cuda="Pair")


@pytest.mark.parametrize(
    "site",
    [
        "/* PTX_INJECT swap\n in pair in\n out pair out\n*/",
        'PTX_INJECT("swap", PTX_IN(PAIR, in), PTX_OUT(PAIR, out));',
    ],
    ids=["comment", "macro"],
)
@pytest.mark.parametrize("compiler", ["nvrtc", "nvcc"])
def test_types_of_the_user(site: str, compiler: str) -> None:
    if locate.find(compiler) is None:
        pytest.skip(f"no {compiler} on this machine")
    source = "#include <ptxkit_inject.cuh>\n" + USER_TYPE % site
    template = Template.from_cuda(source, types=[PAIR], compiler=compiler)
    assert template.sites["swap"].args["in"].register_type == "b64"
    ptx = template.render(
        {"swap": ".reg .b32 a, b;\nmov.b64 {a, b}, %_in;\nmov.b64 %_out, {b, a};"}
    )
    x = np.arange(16, dtype=np.int32)
    run(ptx, "k", x)
    np.testing.assert_array_equal(x, np.arange(16).reshape(8, 2)[:, ::-1].ravel())


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (("V", "b32", "r"), "lower-case"),
        (("v", "b32", "x"), "there is no constraint 'x'"),
        (("v", "b8", "h"), "can't be .b8"),
        (("v", "b32", "l"), "not the 64 bits"),
        (("v", "pred", "h"), "goes through constraint 'r'"),
        (("v", "b32", "r", "A<b, c>"), "alias"),
    ],
)
def test_types_that_can_not_be(fields: tuple[str, ...], message: str) -> None:
    with pytest.raises(ptxkit.UsageError, match=message):
        Type(*fields)


def test_a_type_that_is_there_already() -> None:
    with pytest.raises(ptxkit.UsageError, match="there is a type 'f32' already"):
        Template.from_cuda("", types=[Type("f32", "f32", "f")])
