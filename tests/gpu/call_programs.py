"""Programs of calls and of the stack."""

from __future__ import annotations

from tests.gpu.thread_program import ThreadProgram, put


def programs() -> list[ThreadProgram]:
    """All of them."""
    outside = """\
.func (.reg .u32 r) twice_NAME(.reg .u32 a, .reg .u32 b) { add.u32 r, a, a; add.u32 r, r, b; ret; }
.func (.param .b32 r) plus_NAME(.param .b32 a, .param .b32 b) {
.reg .b32 x, y; ld.param.u32 x, [a]; ld.param.u32 y, [b]; add.u32 x, x, y;
st.param.u32 [r], x; ret; }
.func (.param .b32 r) minus_NAME(.param .b32 a, .param .b32 b) {
.reg .b32 x, y; ld.param.u32 x, [a]; ld.param.u32 y, [b]; sub.u32 x, x, y;
st.param.u32 [r], x; ret; }
.func (.param .b32 r) times_NAME(.param .b32 a, .param .b32 b) {
.reg .b32 x, y; ld.param.u32 x, [a]; ld.param.u32 y, [b]; mul.lo.u32 x, x, y;
st.param.u32 [r], x; ret; }
.global .u64 table_NAME[3] = {plus_NAME, minus_NAME, times_NAME};
"""
    body = (
        "ld.global.u32 %w1, [%near];\nld.global.u32 %w2, [%near+4];\n"
        "{ .reg .u32 u, v, w; mov.u32 u, %w1; mov.u32 v, %w2;\n"
        "call (w), twice_NAME, (u, v); mov.u32 %w3, w; }\n" + put(0, "%w3", 32)
        + "{ .param .b32 p, q, s; st.param.b32 [p], %w1; st.param.b32 [q], %w2;\n"
        "call (s), minus_NAME, (p, q); ld.param.b32 %w3, [s]; }\n" + put(1, "%w3", 32)
        + "rem.u32 %w4, %lane, 3;\nmul.wide.u32 %x1, %w4, 8;\nmov.u64 %x2, table_NAME;\n"
        "add.u64 %x2, %x2, %x1;\nld.global.u64 %x3, [%x2];\n"
        "{ .param .b32 p, q, s; st.param.b32 [p], %w1; st.param.b32 [q], %w2;\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
        "call (s), %x3, (p, q), proto; ld.param.b32 %w3, [s]; }\n" + put(2, "%w3", 32)
    )  # fmt: skip
    frames = (
        "stacksave.u64 %x1;\nalloca.u64 %x2, 64;\nalloca.u64 %x3, 32, 64;\n"
        "st.local.u32 [%x2], %t;\nst.local.u32 [%x3], %lane;\nst.local.u32 [%x2+60], %cta;\n"
        "ld.local.u32 %w1, [%x2];\n" + put(0, "%w1", 32)
        + "ld.local.u32 %w1, [%x3];\n" + put(1, "%w1", 32)
        + "and.b64 %x4, %x3, 63;\n" + put(2, "%x4", 32, 64)
        + "stackrestore.u64 %x1;\nalloca.u64 %x5, 64;\nsub.u64 %x5, %x5, %x2;\n"
        + put(3, "%x5", 32, 64)
    )  # fmt: skip
    return [
        ThreadProgram("calls", body, rows=3, outside=outside),
        ThreadProgram("alloca", frames, rows=4),
    ]
