"""What would reach outside of the simulator's memory is refused before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.run import load

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
STORE = (
    HEADER
    + """.visible .entry k(.param .u64 p) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
)


@pytest.mark.parametrize(
    "instruction",
    ["add.u32 %r1, %r2;", "fma.rn.f32 %f1, %f2, %f3;", "shf.l.wrap.b32 %r1, %r2, %r3;",
     "bfe.u32 %r1, %r2, %r3;", "max.u32 %r1, %r2;", "add.u32 %r1, %r2, %r3, %r4;"],
)  # fmt: skip
def test_a_wrong_number_of_operands(instruction: str) -> None:
    text = f"{HEADER}.visible .entry k() {{ .reg .b32 %r<5>; .reg .f32 %f<5>; {instruction} ret; }}"
    with pytest.raises(ptxkit.PtxkitError, match="operands, which no form of it takes"):
        load(text, device="cpu", check=False)["k"]
    with pytest.raises(ptxkit.errors.CheckError, match=r"takes . operands, not ."):
        load(text, device="cpu")["k"]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([1, 2], dtype=object), "holds Python objects"),
        (np.ma.masked_array([1, 2]), "must be a numpy array, not MaskedArray"),
        (np.zeros(8, np.int32)[::2], "is not contiguous"),
    ],
    ids=["objects", "masked", "strided"],
)
def test_arrays_that_are_no_plain_memory(array: Any, message: str) -> None:
    kernel = load(STORE, device="cpu")["k"]
    with pytest.raises(ptxkit.PtxkitError, match=message):
        kernel[1, 1](array)
    with pytest.raises(ptxkit.PtxkitError, match=message):
        kernel[1, 1](0, memory=[array])


@pytest.mark.parametrize(("byte", "thread"), [(7, 0), (1, 0), (0, 2)])
def test_selectors_of_scales_that_no_word_has(byte: int, thread: int) -> None:
    text = f"""{HEADER.replace("8.0", "8.8").replace("sm_80", "sm_120a")}
.entry k() {{ .reg .b32 %r<9>;
mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3
{{%r1, %r2, %r3, %r4}}, {{%r1, %r2, %r3, %r4}}, {{%r5, %r6}}, {{%r1, %r2, %r3, %r4}},
%r7, {{{byte}, {thread}}}, %r8, {{0, 0}};
ret; }}"""
    with pytest.raises(ptxkit.run.UnsupportedError, match="must be one of 0"):
        load(text, check=False)["k"]
    with pytest.raises(ptxkit.CheckError, match="must be from 0 to"):
        load(text)["k"]
