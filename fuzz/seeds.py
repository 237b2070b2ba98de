"""Small PTX texts that between them use every node kind of the grammar.

``python fuzz/seeds.py FOLDER`` writes each as a file, the seeds of the fuzzers. They are
our own words, not compiler output.
"""

from __future__ import annotations

import random
import struct
import sys
from pathlib import Path

_HEADER = ".version 9.0\n.target sm_90a, debug\n.address_size 64\n\n"

SEEDS: dict[str, str] = {
    "header": _HEADER,
    "kernel": _HEADER
    + """
// one element a thread
.visible .entry scale(
    .param .u64 .ptr .global .align 16 scale_x,
    .param .f32 scale_a,
    .param .align 4 .b8 scale_box[12]
)
.maxntid 256, 1, 1
.minnctapersm 2
.pragma "nounroll";
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>, %g;
    .reg .b64 %rd<5>;
    .loc 1 12 5
    ld.param.u64 %rd1, [scale_x];
    ld.param.f32 %f1, [scale_a+0];
    mov.u32 %r1, %tid.x;
    mad.lo.s32 %r2, %r1, 4, -8;
    setp.ge.s32 %p1|%p2, %r2, 0x1F;
    @%p1 bra $L_end;
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.v4.f32 {%f1, _, %f2, %f3}, [%rd2+16];
    @!%p2 mul.ftz.f32 %f2, %f2, 0f3F800000;
    st.global.f32 [%rd2+-8], %f2;
$L_end:
    ret;
}
""",
    "debug": """.version 8.3
.target sm_75, debug
.file 1 "k.cu"
.file 2 "dir/header.h", 1700000000, 4096
.entry k() {
    .loc 1 2 3
    .loc 2 4 1, function_name $info0, inlined_at 1 2 3
    .loc 2 5 1, function_name $info0+16, inlined_at 1 2 3
$tmp0:
    ret;
}
.section .debug_abbrev
{
.b8 1, 17, -1
.b8 0
}
.section .debug_info {
$begin:
.b32 $end-$begin
.b32 .debug_abbrev, .debug_loc+12
.b64 $tmp0, k+8
.b16 0x10
$end:
}
@@DWARF .section .debug_line, ""
@@DWARF .4byte 1, 0x20
""",
    "variables": """.version 8.0
.target sm_80
.extern .shared .align 16 .b8 pool[];
.visible .global .align 8 .v2 .f32 pairs[4][2] = {{1.5, -0.25}, {0f3F800000, 0d3FF0000000000000}};
.const .u32 one = 1, two = (3+4)*2 << 1, three = WARP_SZ;
.global .u64 table[3] = {generic(pairs), pairs+8, 0};
.global .u8 bytes[2] = {0xff(one), 0xff00(one+4)};
.global .attribute(.managed, .unified(19, 95)) .s32 shared_word;
.global .s64 wide = (.s64)-5 * ~0b101 + +017 - 0xFFU;
.global .u32 chosen = 1 < 2 ? 3 : 4 == 5 && 6 != 7 || 8 >= 9;
.global .texref picture;
.global .samplerref sampler = { addr_mode_0 = clamp_to_edge, filter_mode = linear };
.common .global .f64 tiny = .5;
.weak .global .u32 mask = 1 & 2 | 4 ^ 8 % 3 / 1 >> 2 <= 1;
.tex .u32 old;
.const[2] .u32 bank;
""",
    "functions": """.version 7.8
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .func (.reg .u32 out, .reg .v2 .f32 pair) twice(.reg .u32 in) .noreturn { ret; }
.weak .func plain;
.alias renamed, plain;
.func .attribute(.unified(1, 2)) tagged() .abi_preserve 8
{
    { .param .b64 p0; st.param.b64 [p0+0], 0; call.uni (r), vprintf, (p0, 1); }
    call plain;
    call plain, ();
    call (a, b), %rd1, (p0), proto;
proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;
list: .calltargets plain, tagged;
    jumps: .branchtargets A, B,
        C;
    brx.idx %r1, jumps;
A: B:
C :
    .pragma "used_bytes_mask 0xf", "other";
    exit;
}
""",
    "operands": """.func f() {
    tex.2d.v4.f32.f32 {a, b, c, d}, [picture, sampler, {x, y}];
    shfl.sync.up.b32 r|p, a, 1, 0, -1;
    vote.sync.ballot.b32 {a,b}|p, q;
    mov.b32 a, arr[3];
    mov.u64 a, arr+16;
    mov.b32 a, %tid .x;
    ld.shared::cluster.u32 a, [base+0x10+4*2];
    ld.u32 a, [1024];
    ld.u32 a, [arr].unified;
    cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4 [d], [map, {x, y}], [bar];
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d2,d3}, ad, bd, p, 1, 1, 0, 1;
    @p ld .global .u32 a , [ b ] ;
    add.s32 a, !b, (.u64)7;
    mov.f64 a, 1e-3;
    setp.lt.and.f32 p|_, a, 2.5E+7, !q;
    tcgen05.ld.sync.aligned.16x64b.x1.b32 {r}, [t];
    selp.b32 a, 1, (2 ? (3) : -4), p;
}
""",
    "trivia": """\ufeff# 1 "k.ptx"
/* block
   * comment */ .version 9.0 // rest
.target sm_90
#pragma once
.func /**/ f ( ) // header
{ // body
    add /* a */ .f32 a, // first
        b, /* b */ c; // after

    # 7 "mid"
    {
        /* alone */
    }

    ret; /* last */ }
/* end */\0\0
""",
    "long": ".func f() {\n    mov.b64 {"
    + ", ".join(f"%register{number}" for number in range(40))
    + "}, a;\n}\n",
    "crlf": ".version 9.0\r\n.func f()\r\n{\r\n    ret; // done\r\n}\r\n",
    "tight": ".func f(){L:add.f32 a,b,c;@p bra L;{{.reg .b32 %r<2>;}}}",
    "sites": _HEADER
    + """
.entry k(.param .u64 k_param_0) .maxntid 32, 1, 1
{
    .reg .f32 %f<9>;
    // PTX_INJECT f in:f32:f32:x mod:s32:s32:n out:pred:pred:q @3 volatile = %r1 %r2 %f1
    // PTX_INJECT none @4 pure =
    { // PTX_INJECT f in:f32:f32:x mod:s32:s32:n out:pred:pred:q @3 volatile memory = %r1 %r2 %f1
    }
    ret;
}
.func (.param .b64 r) g(.param .b64 p)
{
    // PTX_INJECT wide in:b128:b128:a out:f16:b16:b @70 volatile = %h1 %rq1
    ret;
}
""",
    "peer_sites": _HEADER
    + """
.entry k()
{
    // PTX_INJECT_START f
    // _x0 m f32 F32 acc
    // _x1 o f32 F32 z
    // _x2 i f32 F32 x
    // PTX_INJECT_END
    // PTX_INJECT_START f
    // _x0 m f32 F32 acc
    // _x1 o f32 F32 z
    // _x2 i f32 F32 x
    // PTX_INJECT_END
    ret;
}
""",
    "broken": """.func f() {
  add.f32 a b;
  ld.u32 a, [b-4];
  ret
}
}
.entry g( {
 "open
""",
}


def single_statements() -> dict[str, str]:
    """One text for each instruction of the seed "operands": small seeds combine well."""
    lines = [line.strip() for line in SEEDS["operands"].splitlines()[1:-1]]
    return {f"one{number}": f".func f(){{{line}}}" for number, line in enumerate(lines)}


def stack_programs() -> dict[str, bytes]:
    """Items of stack programs: kind, guard, stack, index and payload, 16 bytes each."""
    chosen = random.Random(1)
    kinds = [1, 1, 1, 1, 2, 3, 3, 3, *range(5, 21), 18]
    return {
        f"stack{number}": b"".join(
            struct.pack("<BBHIQ", chosen.choice(kinds), chosen.choice([0, 0, 0, 1, 3]),
                        chosen.randrange(5), chosen.randrange(30), chosen.randrange(1, 1 << 20))
            for _ in range(chosen.randrange(1, 120))
        )
        for number in range(100)
    }  # fmt: skip


def main(folder: str, kind: str = "ptx") -> None:
    """Write the seeds of a kind into a folder."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    texts = {name: text.encode() for name, text in {**SEEDS, **single_statements()}.items()}
    for name, data in (stack_programs() if kind == "stack" else texts).items():
        (target / f"{name}.{kind}").write_bytes(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
