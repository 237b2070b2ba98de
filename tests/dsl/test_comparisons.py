"""Operators whose meaning depends on NaNs or on signs, against numpy."""

import operator

import numpy as np
import pytest

from ptxkit.dsl import DslError, addr, f32, f64, kernel, ptr, ptx, reg, s32, sreg, u32

SIGNS = ("lt", "le", "gt", "ge", "eq", "ne")
SPECIAL = [np.nan, 0.0, -0.0, 1.0, -1.5, np.inf, -np.inf]


def _comparing(number):
    type, size = (f32, 4) if number == np.float32 else (f64, 8)

    @kernel(target="sm_80")
    def compare(x: ptr[type], y: ptr[type], out: ptr[u32]):
        i = reg.u32(init=sreg.tid.x)
        wide = i.to("u64")
        load = getattr(ptx.ld.global_, f"f{8 * size}").new
        left, right = load(addr(x + wide * size)), load(addr(y + wide * size))
        bits = reg.u32(init=0)
        for place, name in enumerate(SIGNS):
            holds = getattr(operator, name)(left, right)
            bits += holds.to("u32") << place
        ptx.st.global_.u32(addr(out + wide * 4), bits)

    return compare


@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_floats_compare_as_in_numpy(number):
    x, y = (one.ravel().astype(number) for one in np.meshgrid(SPECIAL, SPECIAL))
    out = np.zeros(x.size, np.uint32)
    _comparing(number).load("cpu")[1, x.size](x, y, out)
    wanted = sum(
        getattr(operator, name)(x, y).astype(np.uint32) << place for place, name in enumerate(SIGNS)
    )
    np.testing.assert_array_equal(out, wanted)


def _said(body):
    with pytest.raises(DslError) as caught:
        kernel(target="sm_80", name="k")(body).ptx()
    return caught.value.message


def test_floats_have_no_whole_quotient():
    assert _said(lambda: (reg.f32(init=1.0) // 2.0).set(0.0)) == "'//' is for integers, not .f32"


@pytest.mark.parametrize("name", ["lt", "ge", "floordiv", "mod"])
def test_a_sign_is_not_guessed(name):
    def mixed(x: s32, y: u32):
        getattr(operator, name)(x, y)

    sign = {"lt": "<", "ge": ">=", "floordiv": "/", "mod": "%"}[name]
    assert _said(mixed) == f"'{sign}' between .s32 and .u32: with a sign or without?"


def test_numbers_of_numpy_are_numbers():
    def body(x: s32):
        x += np.int64(3)
        x.set(x * np.int32(-2))

    text = kernel(target="sm_80", name="k")(body).ptx()
    assert ", 3;" in text
    assert ", -2;" in text
