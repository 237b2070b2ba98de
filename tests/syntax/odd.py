"""PTX that few people write and ptxas takes: everything the grammar allows.

``TAKEN`` is taken by ptxas as it stands. ``OURS`` is what tools make of PTX (byte order marks,
NUL bytes at the end, bytes that are not UTF-8, ``#`` lines) and what ptxas has forgotten.
"""

from __future__ import annotations

from syntax.snippets import HEAD, KERNEL, kernel, module

REST = ".entry last() { ret; }\n"
OLD = ".version 1.4\n.target sm_13\n"
NEWEST = ".version 9.0\n.target sm_90\n.address_size 64\n"
TEXTURES = ".version 8.0\n.target sm_90, texmode_independent\n.address_size 64\n"
DWARF = '.file 1 "k.cu"\n.section .debug_str { info: .b8 0 }\n'

TAKEN: dict[str, str] = {
    # the head
    "two targets": f".version 8.0\n.target sm_90, sm_80\n.address_size 64\n{REST}",
    "two .target lines": f".version 8.0\n.target sm_90\n.target sm_80\n.address_size 64\n{REST}",
    "all in one line": f".version 8.0 .target sm_90 .address_size 64 {REST}",
    "no .address_size": f".version 8.0\n.target sm_90\n{REST}",
    "no functions": HEAD,
    "texture mode": f"{TEXTURES}.global .samplerref s = {{filter_mode = nearest}};\n{REST}",
    "compute target": f".version 8.0\n.target compute_90\n.address_size 64\n{REST}",
    # white space and comments
    "carriage returns": (HEAD + REST).replace("\n", "\r\n"),
    "carriage returns alone": (HEAD + REST).replace("\n", "\r"),
    "tabs and form feeds": (HEAD + REST).replace(" ", "\t").replace("\n", "\f\n"),
    "no line break at the end": (HEAD + REST).rstrip("\n"),
    "no spaces": kernel("mov.b32%r1,(1);add.s32%r1,%r1,%r2;"),
    "comment between any two tokens": kernel(
        "/*a*/mov/*b*/.b32/*c*/%r1/*d*/,/*e*/(/*f*/1/*g*/)/*h*/;//i"
    ),
    "comment that looks like PTX": module("// } ret; /*\n/* .entry x() { // */"),
    "stars in a comment": module("/***/ /****/ /* ** / */"),
    "comment at the very end": HEAD + REST + "// end",
    "dot words apart": kernel("add .s32 %r1, %r2, %r3; ld\n.global\n.b32 %r1, [%rd1];"),
    "selector apart": kernel("mov.u32 %r1, %tid .x; mov.u32 %r1, %ntid\n.y;"),
    # names
    "names of all sorts": kernel(".reg .b32 _a, $b, %c, d_$1, %_, $$, __; add.s32 _a, $b, %_;"),
    "names of instructions": kernel(".reg .b32 add, ret, mov; add.s32 add, ret, mov;"),
    "labels of all sorts": kernel("$L: %L: add: _L1: bra $L;"),
    "label like a register": kernel("%r1: bra %r1;").replace(".reg .b32 %r<8>", ".reg .b32 %q<8>"),
    "function like a label": module(".func x() { x: bra x; }"),
    # registers
    "several names": kernel(".reg .b32 a, b, c<3>, d; add.s32 a, b, c2;"),
    "nothing declared": kernel(".reg .b32;"),
    "range of none": kernel(".reg .b32 a<0>;"),
    "range in hexadecimal": kernel(".reg .b32 a<0x3>, b<010>; add.s32 a2, b7, 1;"),
    "range in a range": kernel(".reg .b32 %q<20>; .reg .f32 %q1<5>; add.s32 %q12, %q12, 1;"),
    "leading zeros of a member": kernel("add.s32 %r01, %r007, 1;"),
    "shadowing": kernel("{ .reg .f32 %r1; add.f32 %r1, %r1, %r1; } add.s32 %r1, %r1, 1;"),
    "shadowed range": kernel("{ .reg .f32 %r<2>; add.f32 %r1, %r1, %r1; add.s32 %r3, %r3, 1; }"),
    "shadowed parameter": kernel("{ .reg .b32 kp; add.s32 kp, kp, 1; }"),
    "vector registers": kernel(
        ".reg .v4 .f32 v; ld.global.v4.f32 v, [%rd1]; add.f32 %f1, v.x, v.y; add.f32 %f1, v.r, v.a;"
    ),
    "aligned registers": kernel(".reg .align 8 .b64 x;"),
    "empty blocks": kernel("{}{{}}{ {} {} }"),
    "same label in two blocks": kernel("{ L: bra L; } { L: bra L; }"),
    "label of an outer block": kernel("L: { { bra L; } }"),
    # variables
    "alignment before the space": module(".align 8 .global .u32 x;"),
    "alignment after the space": module(".global .align 8 .u32 x;"),
    "two alignments": module(".global .align 8 .align 4 .u32 x;"),
    "attribute first": module(".attribute(.managed) .global .u32 x;"),
    "attribute last": module(".global .align 4 .attribute(.managed) .u32 x;"),
    "two dimensions": module(".global .u32 x[2][3] = {{1, 2, 3}, {4}};"),
    "size from the values": module(".global .u32 x[] = {1, 2, 3};"),
    "no values": module(".global .u32 x[2] = {};"),
    "vector with values": module(".global .v2 .f32 x[2] = {{1.0, 2.0}, {3.0, 4.0}};"),
    "several with values": module(".global .u32 x = 1, y, z[2] = {2, 3};"),
    "extern and defined": module(".extern .global .u32 x; .visible .global .u32 x;"),
    "extern shared array": module(".extern .shared .align 16 .b8 x[];"),
    "common, weak": module(".common .global .u32 x; .weak .global .u32 y;"),
    "address of another": module(".global .u32 y[4]; .global .u64 x[2] = {y, y+4};"),
    "generic address": module(".global .u32 y[4]; .global .u64 x = generic(y)+4;"),
    "bytes of an address": module(
        ".global .u32 y; .global .u8 x[3] = {0xFF(y), 0xFF00(generic(y)), 0xFF0000(y+4)};"
    ),
    "address of a function": module(".func f() { ret; } .global .u64 x = f;"),
    "floats in bits": module(".global .b32 x = 1.5; .global .b64 y = 0d3FF0000000000000;"),
    "values out of range": module(".global .u8 x[3] = {256, -1, 0xFFFF};"),
    "texture with fields": module(
        ".global .texref t = {width = 4, height = 2, channel_data_type = 1, filter_mode = linear};"
    ),
    "array of surfaces": module(".global .surfref s[2];"),
    "constant": module(".const .align 4 .b8 x[4] = {1, 2, 3, 4};"),
    "variables in a body": kernel(".shared .b32 a; .const .u32 b = 1; .global .u32 c = 2;"),
    "local and param in a body": kernel(".local .align 8 .b8 a[16]; .param .b32 b;"),
    # numbers
    "octal, hexadecimal, binary": kernel("mov.b32 %r1, 0x1F; mov.b32 %r1, 017; mov.b32 %r1, 0b11;"),
    "upper-case prefixes": kernel("mov.b32 %r1, 0X1f; mov.b32 %r1, 0B11; mov.f32 %f1, 0F3f800000;"),
    "unsigned": kernel("mov.b32 %r1, 12U; mov.b64 %rd1, 0xFFFFFFFFFFFFFFFFU; mov.b32 %r1, 0b1U;"),
    "largest": kernel("mov.b64 %rd1, 18446744073709551615; mov.b64 %rd1, -9223372036854775808;"),
    "decimal floats": kernel(
        "mov.f32 %f1, 1.5; mov.f32 %f1, 1.; mov.f32 %f1, .5; mov.f32 %f1, 1e3; mov.f32 %f1, .5e-2;"
    ),
    "zeros before a float": kernel("mov.f64 %d1, 09.5; mov.f64 %d1, 00.5E+1; mov.f64 %d1, 08e1;"),
    "exact floats": kernel("mov.f32 %f1, 0f7FC00000; mov.f64 %d1, 0dFFF0000000000000;"),
    "float in parentheses": kernel("mov.f32 %f1, (0f3F800000); mov.f64 %d1, -0d3FF0000000000000;"),
    "expressions": kernel("mov.b32 %r1, (1+2)*3 - -4 << 1 | ~0 & 7 ^ 3;"),
    "comparisons": kernel("mov.b32 %r1, 1 < 2 && 3 >= 2 || 1 != 1; mov.b32 %r1, 1.5 < 2.5;"),
    "choice": kernel("mov.b32 %r1, 1 ? 2 : 0 ? 3 : 4; mov.b32 %r1, 1 ? 1 ? 5 : 6 : 7;"),
    "casts": kernel("mov.b64 %rd1, (.s64)-1; mov.b64 %rd1, (.u64)(.s64)1 >> 1;"),
    "signs": kernel("mov.b32 %r1, - - + !~1;"),
    "warp size": kernel("mov.b32 %r1, WARP_SZ; mov.b32 %r1, WARP_SZ*2-1; mov.b32 %r1, -WARP_SZ;"),
    "remainder": kernel("mov.b32 %r1, 7 % 4; mov.b32 %r1, 7%(4);"),
    # operands
    "offsets": kernel(
        "ld.global.b32 %r1, [%rd1+-4]; ld.global.b32 %r1, [%rd1 + 4*(2-1)]; "
        "ld.global.b32 %r1, [%rd1+1?4:8]; ld.global.b32 %r1, [gv+WARP_SZ];"
    ),
    "element of an array": kernel("ld.global.b32 %r1, gv[1]; ld.global.b32 %r1, gv[%r1];"),
    "address with an offset": kernel("mov.u64 %rd1, gv+4; mov.u64 %rd1, gv+(4);"),
    "number as an address": kernel("ld.local.b32 %r1, [64];"),
    "unified load": kernel("ld.global.nc.b32 %r1, [%rd1].unified;"),
    "vectors with constants": kernel("mov.b64 %rd1, {1, 2+3}; mov.b64 {_, %r1}, %rd1;"),
    "vector of one": kernel("ld.global.b32 {%r1}, [%rd1];"),
    "pairs": kernel("setp.lt.s32 %p1|%p2, %r1, %r2; setp.lt.s32 _|%p2, %r1, %r2;"),
    "pair with a sink": kernel("setp.lt.s32 %p1 | _, %r1, %r2;"),
    "negated predicate": kernel("setp.lt.and.s32 %p1, %r1, %r2, !%p2; @!%p1 ret;"),
    "guard apart": kernel("@ ! %p1 ret; @\n%p1\nret;"),
    "texture coordinates": kernel("tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];"),
    # functions
    "every kernel directive": module(
        ".entry e() .reqntid 32, 1, 1 .minnctapersm 2 .maxnreg 64 .reqnctapercluster 2, 1, 1 "
        ".explicitcluster { ret; }"
    ),
    "newest kernel directives": module(
        ".entry e() .reqntid 32 .reqnctapercluster 1 .blocksareclusters .local_maxnreg 32 { ret; }",
        NEWEST,
    ),
    "cluster rank": module(".entry e() .maxclusterrank 8 .maxntid 32, 4 { ret; }"),
    "directive twice": module(".entry e() .maxntid 32 .maxntid 64 { ret; }"),
    "pragma of a kernel": module('.entry e() .pragma "a", "b"; .maxntid 1 { ret; }'),
    "pragmas": module('.pragma "nounroll"; .func f() { .pragma "x"; ret; }'),
    "kernel without parentheses": module(".entry e { ret; }"),
    "function without parentheses": module(".func f { ret; }"),
    "empty lists": module(".func () f () { ret; }"),
    "empty body": module(".func f() {}"),
    "noreturn": module(".func f() .noreturn { trap; }"),
    "preserved registers": module(
        ".func f() .abi_preserve 8 .abi_preserve_control 2 { ret; }", NEWEST
    ),
    "weak kernel": module(".weak .entry e() { ret; }"),
    "declared, then defined": module(".func f(.param .b32 x); .func f(.param .b32 y) { ret; }"),
    "extern function": module(".extern .func (.param .b32 r) f(.param .b32 x);"),
    "several results": module(".func (.reg .b32 r, .reg .f32 s) f() { ret; }"),
    "array parameters": module(".func f(.param .align 8 .b8 x[16], .param .b8 y[]) { ret; }"),
    "parameters of kernels": module(
        ".entry e(.param .u64 .ptr a, .param .u64 .ptr .global b, "
        ".param .u64 .ptr .shared .align 8 c, .param .align 16 .b8 d[32], "
        ".align 8 .param .u64 g, .param .f16 _) { ret; }"
    ),
    "texture parameter": module(".entry e(.param .texref t, .param .surfref s) { ret; }"),
    "recursion": module(".func f() { call f; ret; }"),
    "alias": module(".func f() { ret; } .func g(); .alias g, f; .func h() { call g; ret; }"),
    # calls and lists
    "calls": kernel(
        "call f0; call.uni f0, (); call (), f0, (); call (%r1), f1, (5); call (_), f1, (%f1);"
    ),
    "parameters of calls": kernel("{ .param .b32 x; st.param.b32 [x+0], 5; call f2, (x); }"),
    "indirect call": kernel("P: .callprototype (.param .b32 _) _ (.param .b32 _, .reg .f32 x);"),
    "indirect call by prototype": kernel("P: .callprototype _ (); call %rd1, (), P;"),
    "indirect call by targets": kernel("T: .calltargets f0; call %rd1, (), T;"),
    "prototype with a directive": kernel("P: .callprototype _ () .noreturn;"),
    "branch by number": kernel("T: .branchtargets A, B; brx.idx %r1, T; A: B:"),
    "labels at the end": kernel("A:\nB: C:"),
    # debugging
    "location": kernel(".loc 1 2 3").replace(HEAD, HEAD.rstrip("\n") + ' .file 1 "k.cu"\n'),
    "inlined location": (
        f"{HEAD}{DWARF}{KERNEL}{{\n.loc 1 1 1\n.loc 1 2 3, function_name info, inlined_at 1 1 1\n"
        ".loc 1 3 3, function_name info+4, inlined_at 1 1 1\nret; }\n"
    ),
    "file with time and size": module('.file 1 "a.cu", 1234, 5678\n.file 2 "b.cu", 1'),
    "line break in a string": module('.file 1 "a\nb.cu"'),
    "sections": module(
        ".section .debug_info {\n.b8 1, 0x2, 03, -4\n.b16 65535\nL:\nM: .b32 L\n.b64 .debug_str\n"
        ".b32 M-L\n.b32 .debug_line+16\n.b64 L+8\n}\n.section .debug_str { }"
    ),
    "section in one line": module(".section .x { .b8 1 .b8 2 a: .b8 3 }"),
}

OURS: dict[str, str | bytes] = {
    "byte order mark": "\ufeff" + HEAD + REST,
    "byte order mark and a # line": '\ufeff# 1 "k.cu"\n' + HEAD + REST,
    "NUL bytes at the end": HEAD + REST + "\0\0\0",
    "NUL byte and white space at the end": HEAD + REST + "\0\n \0\n",
    "NUL byte in a comment": module("// a\0b"),
    "lines of a preprocessor": '# 1 "k.cu"\n' + HEAD + "  #pragma once\n" + REST,
    "Latin-1 in a comment": module("// caf\udce9"),
    "Latin-1 in a string": module('.file 1 "caf\udce9.cu"'),
    "UTF-8 in a comment": module("// größer als 界 😀"),
    "UTF-8 in a string": module('.file 1 "größer.cu"'),
    "DWARF of PTX 1.x": OLD + "@@DWARF .section .debug_info\n@@DWARF L: .4byte 1, 0x2\n" + REST,
    "DWARF with strings": OLD + '@@dwarf .string "a", b-c+1\n@@DWARF\n' + REST,
    "constant banks of PTX 1.x": OLD + ".extern .const[2] .b32 x[];\n" + REST,
    "attribute of a function": module(".func .attribute(.unified(1, 2)) f() { ret; }"),
    "attribute of a variable": module(".global .attribute(.managed, .unified(3, 4)) .u32 x;"),
    "unknown modifiers": module(".func f() { future.op::kind.x9.async::bulk %r1, [%r2], 3; }"),
    "unknown directive of a kernel": module(".entry e() .future 1, 2 .plain { ret; }"),
    "unknown type": module(".global .u256 x;"),
    "declaration of a kernel": module(".entry e(.param .u64 p);"),
}
