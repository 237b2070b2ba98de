"""Names that mean nothing, two things, or the wrong thing."""

from syntax.snippets import Bad, kernel

NAMES = (
    Bad("undeclared", kernel("add.s32 %r1, %r2, «counter»;"), "8:23"),
    Bad("undeclared, nearly right", kernel(".reg .b32 count; add.s32 %r1, %r2, «coutn»;"), "8:40"),
    Bad("beyond a range", kernel("add.s32 %r1, %r2, «%r8»;"), "8:23"),
    Bad("register declared after its use", kernel("add.s32 %r1, %r1, «x»; .reg .b32 x;"), "8:23"),
    Bad("declared in a block that has ended", kernel("{ .reg .b32 x; } mov.b32 «x», 1;"), "8:30"),
    Bad("undeclared predicate", kernel("@«%q» ret;"), "8:6"),
    Bad("undeclared in an address", kernel("ld.global.b32 %r1, [«data»];"), "8:25"),
    Bad("special register, nearly right", kernel("mov.u32 %r1, «%tidx»;"), "8:18"),
    Bad("part of a special register that it has not", kernel("mov.u32 %r1, «%tid.q»;"), "8:18"),
    Bad("label missing", kernel("bra «DONE»;"), "8:9"),
    Bad("label inside a block", kernel("bra «L»; { L: }"), "8:9"),
    Bad("label that is a register", kernel("bra «%r1»;"), "8:9"),
    Bad("label that is a function", kernel("bra «f0»;"), "8:9"),
    Bad("label that is a number", kernel("bra «5»;"), "8:9"),
    Bad("branch without a label", kernel("@%p1 «bra»;"), "8:10"),
    Bad("list of labels missing", kernel("brx.idx %r1, «T»;"), "8:18"),
    Bad("label instead of a list", kernel("L: brx.idx %r1, «L»;"), "8:21"),
    Bad("label as a value", kernel("L: mov.u64 %rd1, «L»;"), "8:22"),
    Bad("register twice", kernel(".reg .b32 x; .reg .f32 «x»;"), "8:28"),
    Bad("range twice", kernel(".reg .b32 «%r»<4>;"), "8:15"),
    Bad("member of a range", kernel(".reg .b32 «%r3»;"), "8:15"),
    Bad("parameter declared again", kernel(".reg .b32 «kp»;"), "8:15"),
    Bad("label and register", kernel("x: .reg .b32 «x»;"), "8:18"),
    Bad("shared variable twice", kernel(".shared .b32 x; .shared .b32 «x»;"), "8:34"),
    Bad("variable instead of a register", kernel("add.s32 %r1, «gv», 1;"), "8:18"),
)
