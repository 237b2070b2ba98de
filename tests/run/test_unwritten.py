"""Reads of registers that nothing was written to, as the sanitizer finds them."""

from __future__ import annotations

import numpy as np
import pytest

import ptxkit
from ptxkit.run import Finding, SimulationError

HEAD = """.version 8.0
.target sm_80
.address_size 64
"""


def findings(body: str, functions: str = "", block: int = 64) -> tuple[Finding, ...]:
    text = f"""{HEAD}{functions}
.visible .entry k(.param .u64 out)
{{
.reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<4>; .reg .f32 %f<4>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;
{body}
st.global.u32 [%rd1], %r1;
ret;
}}
"""
    out = np.zeros(block, np.uint32)
    report = ptxkit.load(text)["k"][1, block](out, sanitize="report")
    return tuple(one for one in report.findings if one.kind == "unwritten-register")


@pytest.mark.parametrize(
    ("body", "register", "thread"),
    [
        ("add.u32 %r2, %r3, 1;", "%r3", 0),
        ("@%p1 mov.u32 %r2, 1;", "%p1", 0),
        ("setp.lt.u32 %p1, %r1, 40;\n@%p1 mov.u32 %r2, 1;\nadd.u32 %r3, %r2, 1;", "%r2", 40),
        ("ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1], %r4;", "%r4", 0),
        ("mov.u32 %r2, 0;\nmov.b64 %rd2, {%r2, %r5};", "%r5", 0),
        ("shfl.sync.idx.b32 %r2, %r6, 0, 31, -1;", "%r6", 0),
    ],
)
def test_what_is_found(body: str, register: str, thread: int) -> None:
    (found,) = findings(body)
    assert found.diagnostic.message == f"'{register}' is read, and nothing has been written to it"
    assert found.severity == "warning"
    assert found.thread == (thread, 0, 0)
    assert register in ptxkit.diagnostics.Diagnostic.render(found.diagnostic)


@pytest.mark.parametrize(
    "body",
    [
        "setp.lt.u32 %p1, %r1, 9;\n@%p1 mov.u32 %r2, 1;\n@!%p1 mov.u32 %r2, 2;\nmov.u32 %r3, %r2;",
        "setp.ne.u32 %p1|%p2, %r1, 9;\nselp.u32 %r2, 1, 2, %p2;",
        "ld.global.v2.u32 {%r2, %r3}, [%rd1];\nadd.u32 %r2, %r2, %r3;",
        "mov.b64 {%r2, _}, %rd1;\nadd.u32 %r3, %r2, 1;",
        "call (%r2), give, (%r1);\nadd.u32 %r3, %r2, 1;",
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), pass, (a);\n"
        "ld.param.b32 %r2, [b]; }\nadd.u32 %r3, %r2, 1;",
        "setp.eq.u32 %p1, %r1, 0;\nbar.red.popc.u32 %r2, 0, 64, %p1;\nadd.u32 %r3, %r2, 1;",
    ],
)  # fmt: skip
def test_what_is_fine(body: str) -> None:
    functions = (
        ".func (.reg .u32 r) give(.reg .u32 a) { add.u32 r, a, 1; ret; }\n"
        ".func (.param .b32 r) pass(.param .b32 a)\n"
        "{ .reg .b32 x; ld.param.b32 x, [a]; st.param.b32 [r], x; ret; }\n"
    )
    assert findings(body, functions) == ()


def test_a_second_call_starts_anew() -> None:
    # The first call writes x, the second one reads what it has not written itself.
    function = """.func f(.reg .u32 a)
{ .reg .b32 x; .reg .pred p; setp.eq.u32 p, a, 0;
@p mov.u32 x, 1;
add.u32 x, x, 1;
ret; }
"""
    (found,) = findings("call f, (0);\ncall f, (1);", function)
    assert found.line == 7
    assert "'x' is read" in str(found)


def test_it_is_raised() -> None:
    text = f"{HEAD}.entry k() {{ .reg .b32 %r<3>;\nadd.u32 %r1, %r2, 1;\nret; }}"
    with pytest.raises(SimulationError) as caught:
        ptxkit.load(text)["k"][1, 1](sanitize=True)
    assert (caught.value.kind, caught.value.line) == ("unwritten-register", 5)
