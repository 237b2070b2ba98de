"""Constants as predicates: every value but zero is true, and a minus is not a negation."""

import numpy as np
import pytest

import ptxkit

_TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    .reg .pred %p<3>;
    ld.param.u64 %rd1, [x];
    mov.pred %p1, {value};
    selp.b32 %r1, 7, 9, %p1;
    st.global.b32 [%rd1], %r1;
    ret;
}}
"""


@pytest.mark.parametrize(("value", "expected"), [("-1", 7), ("1", 7), ("0", 9), ("!%p2", 7)])
def test_constant_predicate(value: str, expected: int) -> None:
    x = np.zeros(1, np.int32)
    ptxkit.load(_TEXT.format(value=value))["k"][1, 1](x)
    assert x[0] == expected
