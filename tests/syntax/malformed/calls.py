"""Calls: their syntax, and whether they fit what is called."""

from syntax.snippets import Bad, kernel, module

CALLS = (
    Bad("nothing called", kernel("«call»;"), "8:5"),
    Bad("number called", kernel("call «5»;"), "8:10"),
    Bad("undeclared function", kernel("call «missing»;"), "8:10"),
    Bad(
        "function declared later",
        module(".entry e() { call «later»; ret; }\n.func later() { ret; }"),
        "4:19",
    ),
    Bad("kernel called", kernel("call «k», (%rd1);"), "8:10"),
    Bad("variable called", kernel("call «gv»;"), "8:10"),
    Bad("arguments missing", kernel("call (%r1), «f1»;"), "8:17"),
    Bad("too many arguments", kernel("call (%r1), f1, «(%r2, %r3)»;"), "8:21"),
    Bad("no arguments in the list", kernel("call (%r1), f1, «()»;"), "8:21"),
    Bad("result missing", kernel("call «f1», (%r2);"), "8:10"),
    Bad("too many results", kernel("call «(%r1, %r3)», f1, (%r2);"), "8:10"),
    Bad("result of nothing", kernel("call «(%r1)», f0;"), "8:10"),
    Bad("register too wide", kernel("call (%r1), f1, («%rd2»);"), "8:22"),
    Bad("register too narrow", kernel("call f2, («%h1»);"), "8:15"),
    Bad("predicate passed", kernel("call f2, («%p1»);"), "8:15"),
    Bad(
        "constant for an array",
        module(".func f(.param .b8 x[4]) { ret; }\n.entry e() { call f, («5»); ret; }"),
        "5:23",
    ),
    Bad("array for a scalar", kernel("{ .param .b8 x[4]; call f2, («x»); }"), "8:34"),
    Bad("parameter too wide", kernel("{ .param .b64 x; call f2, («x»); }"), "8:32"),
    Bad(
        "parameter aligned otherwise", kernel("{ .param .align 8 .b32 x; call f2, («x»); }"), "8:41"
    ),
    Bad("own parameter passed on", kernel("call f2, («kp»);"), "8:15"),
    Bad("variable passed", kernel("call f2, («gv»);"), "8:15"),
    Bad("special register passed", kernel("call f2, («%tid.x»);"), "8:15"),
    Bad("function passed", kernel("call f2, («f0»);"), "8:15"),
    Bad("no comma after the results", kernel("call (%r1) «f1», (%r2);"), "8:16"),
    Bad("no comma before the arguments", kernel("call (%r1), f1 «(»%r2);"), "8:20"),
    Bad("open results", kernel("call (%r1, f1, («%r2»);"), "8:21"),
    Bad("open arguments", kernel("call (%r1), f1, (%r2«;»"), "8:25"),
    Bad("argument without parentheses", kernel("call (%r1), «f1», %r2;"), "8:17"),
    Bad("argument in two parentheses", kernel("call (%r1), f1, ((«%r2»));"), "8:23"),
    Bad("indirect call without a prototype", kernel("call «%rd1»;"), "8:10"),
    Bad("indirect call with an undeclared prototype", kernel("call %rd1, (), «P»;"), "8:20"),
    Bad(
        "indirect call with too few arguments",
        kernel("P: .callprototype _ (.param .b32 _); call %rd1, «()», P;"),
        "8:53",
    ),
    Bad(
        "direct call with a prototype", kernel("P: .callprototype _ (); call «f0», (), P;"), "8:34"
    ),
    Bad("unknown modifier of a call", kernel("call«.fast» f0;"), "8:9"),
)
