"""What E2 proves of loops: work that is done before them, and in another order of counting."""

from __future__ import annotations

from tests.decompiler.proving import proved

LOOP = """
    mov.u32 %r3, 0;
    {before}
L:  {inside}
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p1, %r3, %r2;
    @%p1 bra L;
    ret;
"""
STORE = "mul.wide.s32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r5;"


def test_what_a_loop_does_not_change_may_be_computed_before_it() -> None:
    work = "mad.lo.s32 %r5, %r1, %r1, 7;"
    inside = LOOP.format(before="", inside=work + STORE)
    before = LOOP.format(before=work, inside=STORE)
    assert proved(inside, before)
    other = LOOP.format(before=work.replace("7", "8"), inside=STORE)
    assert not proved(inside, other)


def test_a_number_that_is_held_in_a_register() -> None:
    plain = LOOP.format(before="", inside="add.s32 %r5, %r3, 9;" + STORE)
    held = LOOP.format(before="mov.u32 %r6, 9;", inside="add.s32 %r5, %r3, %r6;" + STORE)
    changed = LOOP.format(
        before="mov.u32 %r6, 9;", inside="add.s32 %r5, %r3, %r6; add.s32 %r6, %r6, %r1;" + STORE
    )
    assert proved(plain, held)
    assert not proved(plain, changed)


TWO_LOOPS = """
    mov.u32 %r3, 0;
    setp.eq.s32 %p2, %r1, 0;
    @%p2 bra M;
L:  add.s32 %r5, %r3, 1;
    mul.wide.s32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r5;
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p1, %r3, %r2;
    @%p1 bra L;
    ret;
M:  mul.wide.s32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], {value};
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p1, %r3, %r2;
    @%p1 bra M;
    ret;
"""


def test_a_question_may_be_asked_before_a_loop() -> None:
    one = LOOP.format(
        before="setp.ne.s32 %p2, %r1, 0;",
        inside="mov.u32 %r5, %r3; @%p2 add.s32 %r5, %r3, 1;" + STORE,
    )
    assert proved(one, TWO_LOOPS.format(value="%r3"))
    assert proved(TWO_LOOPS.format(value="%r3"), one)
    assert not proved(one, TWO_LOOPS.format(value="%r2"))
    assert not proved(one, TWO_LOOPS.format(value="0"))


def test_what_is_known_before_a_loop_is_known_inside() -> None:
    plain = "setp.eq.s32 %p2, %r1, 0; @%p2 bra T;" + LOOP + " T: trap;"
    again = "setp.eq.s32 %p3, %r1, 0; @%p3 bra T;"
    assert proved(
        plain.format(before="", inside=again + "mov.u32 %r5, 3;" + STORE),
        plain.format(before="", inside="mov.u32 %r5, 3;" + STORE),
    )
    # It is not known after the loop has changed it.
    change = "add.s32 %r1, %r1, 1;"
    assert not proved(
        plain.format(before="", inside=again + "mov.u32 %r5, 3;" + STORE + change),
        plain.format(before="", inside="mov.u32 %r5, 3;" + STORE + change),
    )


def test_barriers_may_not_be_doubled() -> None:
    one = LOOP.format(before="setp.eq.s32 %p2, %r1, 0;", inside="bar.sync 0;")
    two = TWO_LOOPS.split("L:")[0] + """
L:  bar.sync 0; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r2; @%p1 bra L; ret;
M:  bar.sync 0; add.s32 %r3, %r3, 1; setp.lt.s32 %p1, %r3, %r2; @%p1 bra M; ret;
"""  # fmt: skip
    assert not proved(one, two)


NESTED = """
    mov.u32 %r3, 0;
L:  mul.lo.s32 %r6, %r3, %r1;
    {before}
    mov.u32 %r4, 0;
M:  {inside}
    add.s32 %r4, %r4, 1;
    setp.lt.s32 %p1, %r4, %r2;
    @%p1 bra M;
    add.s32 %r3, %r3, 1;
    setp.lt.s32 %p2, %r3, %r2;
    @%p2 bra L;
    ret;
"""
ADDRESS = "add.s32 %r7, %r6, %r4; mul.wide.s32 %rd3, %r7, 4; add.s64 %rd4, %rd1, %rd3;"


def test_what_an_inner_loop_does_not_change_may_be_computed_before_it() -> None:
    asks = "setp.lt.s32 %p3, %r6, %r2;"
    store = ADDRESS + "@%p3 st.global.u32 [%rd4], %r4;"
    inside = NESTED.format(before="", inside=asks + store)
    assert proved(inside, NESTED.format(before=asks, inside=store))
    assert not proved(inside, NESTED.format(before=asks.replace("%r2", "%r1"), inside=store))
    # The question is asked once, and what it is about changes later.
    late = NESTED.format(before=asks, inside=store + "add.s32 %r6, %r6, 1;")
    assert not proved(NESTED.format(before="", inside=asks + store + "add.s32 %r6, %r6, 1;"), late)


def test_a_sum_of_what_an_inner_loop_does_not_change() -> None:
    inside = NESTED.format(
        before="", inside=ADDRESS + "add.s32 %r8, %r6, 5; st.global.u32 [%rd4], %r8;"
    )
    before = "add.s32 %r8, %r6, {};"
    store = ADDRESS + "st.global.u32 [%rd4], %r8;"
    assert proved(inside, NESTED.format(before=before.format(5), inside=store))
    assert not proved(inside, NESTED.format(before=before.format(6), inside=store))


DOWN = """
    mov.u32 %r3, 0; {start}
L:  {store}
    {step}
    add.s32 %r3, %r3, 1;
    setp.ne.s32 %p1, %r4, {end};
    @%p1 bra L;
    ret;
"""


def test_a_loop_that_counts_the_other_way() -> None:
    store = "mul.wide.s32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r3;"
    up = DOWN.format(start="neg.s32 %r4, %r2;", store=store, step="add.s32 %r4, %r4, 1;", end=0)
    down = DOWN.format(start="mov.u32 %r4, %r2;", store=store, step="add.s32 %r4, %r4, -1;", end=0)
    fast = DOWN.format(start="mov.u32 %r4, %r2;", store=store, step="add.s32 %r4, %r4, -2;", end=0)
    late = DOWN.format(start="mov.u32 %r4, %r2;", store=store, step="add.s32 %r4, %r4, -1;", end=1)
    assert proved(up, down)
    assert not proved(up, fast)
    assert not proved(up, late)
