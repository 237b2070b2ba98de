"""Operands of the wrong type, width, number or space."""

from syntax.snippets import Bad, kernel

TYPES = (
    Bad("too wide", kernel("add.s32 %r1, «%rd1», %r2;"), "8:18"),
    Bad("too narrow", kernel("add.s64 %rd1, %rd2, «%r1»;"), "8:25"),
    Bad("float register for an integer", kernel("add.s32 %r1, «%f1», %r2;"), "8:18"),
    Bad("integer result of a comparison", kernel("setp.lt.s32 «%r1», %r2, %r3;"), "8:17"),
    Bad("no predicate to choose by", kernel("selp.b32 %r1, %r2, %r3, «%r4»;"), "8:29"),
    Bad("constant as result", kernel("add.s32 «5», %r1, %r2;"), "8:13"),
    Bad("sink as source", kernel("mov.b32 %r1, «_»;"), "8:18"),
    Bad("special register in arithmetic", kernel("add.u32 %r1, %r2, «%tid.x»;"), "8:23"),
    Bad("integer constant for a float", kernel("add.f32 %f1, %f2, «1»;"), "8:23"),
    Bad("float constant for an integer", kernel("add.s32 %r1, %r2, «1.5»;"), "8:23"),
    Bad("one operand too few", kernel("«add.s32» %r1, %r2;"), "8:5"),
    Bad("one operand too many", kernel("«add.s32» %r1, %r2, %r3, %r4;"), "8:5"),
    Bad("no operands", kernel("«add.s32»;"), "8:5"),
    Bad("no address", kernel("ld.global.b32 %r1, «%rd1»;"), "8:24"),
    Bad(
        "address in 32 bits",
        kernel("ld.global.b32 %r1, [%r2];", ".version 8.0\n.target sm_90\n«.address_size 64»\n"),
        "3:1",
    ),
    Bad("address in a float", kernel("ld.global.b32 %r1, «[%f1]»;"), "8:24"),
    Bad("address first", kernel("ld.global.b32 «[%rd1]», %r1;"), "8:19"),
    Bad("variable of another space", kernel("ld.global.b32 %r1, «[sv]»;"), "8:24"),
    Bad("parameter in global memory", kernel("ld.global.u64 %rd1, «[kp]»;"), "8:25"),
    Bad("store to a parameter", kernel("st.param.u64 «[kp]», %rd1;"), "8:18"),
    Bad("number as global address", kernel("ld.global.b32 %r1, «[64]»;"), "8:24"),
    Bad("vector too long", kernel("ld.global.v2.b32 «{%r1, %r2, %r3}», [%rd1];"), "8:22"),
    Bad("scalar for a vector", kernel("ld.global.v2.b32 «%r1», [%rd1];"), "8:22"),
    Bad("vector for a scalar", kernel("ld.global.b32 «{%r1, %r2}», [%rd1];"), "8:19"),
    Bad("negated integer", kernel("add.s32 %r1, %r2, «!%r3»;"), "8:23"),
    Bad("minus before a register", kernel("mov.b32 %r1, «-%r2»;"), "8:18"),
    Bad("selector of a scalar", kernel("add.s32 %r1, %r2, «%r3.x»;"), "8:23"),
    Bad("vector register as a scalar", kernel(".reg .v2 .b32 v; add.s32 %r1, %r2, «v»;"), "8:40"),
)
