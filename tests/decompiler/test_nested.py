"""Statements that nest far deeper than Python's stack: written, compiled, in linear time."""

from __future__ import annotations

import cProfile
import pstats

import pytest
from tests.decompiler.lifting import compiled_again

import ptxkit
from ptxkit import cuda
from ptxkit.decompiler.engines import FORMS
from ptxkit.decompiler.lift.lifter import lift_module
from ptxkit.deep import deeply, is_deep

_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
.reg .pred %p<2>;
.reg .b32 %r<2>;
.reg .b64 %rd<3>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd2, %rd1;
ld.param.u32 %r1, [n];
"""
IN_ORDER = next(form for form in FORMS if form.order == "block")
_TEST = "setp.lt.s32 %p1, %r1, {0};\n@%p1 bra {1};\n"
_STORE = "st.global.u32 [%rd2+{0}], {1};\n"


def inside(depth: int) -> ptxkit.Module:
    """``if`` in ``if``, with something after each."""
    down = "".join(_STORE.format(8 * k, "%r1") + _TEST.format(3 * k, f"E{k}") for k in range(depth))
    up = "".join(f"E{k}:\n" + _STORE.format(8 * k + 4, k) for k in reversed(range(depth)))
    inmost = _STORE.format(0, 7)
    return ptxkit.parse(_HEAD + down + inmost + up + "ret;\n}\n")


def otherwise(depth: int) -> ptxkit.Module:
    """``else if`` after ``else if``."""
    rows = (
        _TEST.format(3 * k, f"N{k}") + _STORE.format(4 * k, "%r1") + f"bra E;\nN{k}:\n"
        for k in range(depth)
    )
    return ptxkit.parse(_HEAD + "".join(rows) + "E:\nret;\n}\n")


def _calls(module: ptxkit.Module, options: object) -> int:
    profile = cProfile.Profile()

    def lift() -> None:
        profile.enable()
        lift_module(module, options)  # type: ignore[arg-type]
        profile.disable()

    lift()
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("shape", [inside, otherwise])
@pytest.mark.parametrize("form", [FORMS[0], IN_ORDER], ids=["rolled", "in order"])
def test_nested_deeply_is_written(shape: object, form: object) -> None:
    text = cuda.print_module(lift_module(shape(1100), form))  # type: ignore[operator, arg-type]
    assert text.count("if (") == 1100
    assert "goto" not in text
    assert len(text) < 4400 * 260  # indents do not grow for ever


def test_nested_deeply_compiles() -> None:
    text = cuda.print_module(lift_module(inside(1000)))
    assert compiled_again(text, "sm_80")["k"].is_entry


@pytest.mark.parametrize("shape", [inside, otherwise])
def test_work_does_not_grow_with_depth(shape: object) -> None:
    lift_module(shape(20), FORMS[0])  # type: ignore[operator]
    few, many = (_calls(shape(depth), FORMS[0]) for depth in (40, 120))  # type: ignore[operator]
    assert many < 3 * 1.3 * few


def test_errors_come_through_a_large_stack() -> None:
    def fail(depth: int) -> None:
        if depth:
            fail(depth - 1)
        else:
            raise ValueError("at the bottom" if is_deep() else "")

    with pytest.raises(ValueError, match="at the bottom"):
        deeply(fail)(5000)
