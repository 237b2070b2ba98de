"""Functions that an older compiler reduces arguments for in a loop over a table.

``older/waves.ptx`` is what nvcc 13.0 makes of::

    for (int k = 0; k < n; k++) out[k] += sinf(x[k]) * cosf(x[k] + 1.0f);
"""

from pathlib import Path

import ptxkit
from ptxkit.decompiler.lift.written_tables import with_written_tables
from ptxkit.decompiler.verify.tables import written_out

from .lifting import lifted_text

WAVES = (Path(__file__).parent / "older" / "waves.ptx").read_text()
#: The first and the last number of the table.
FIRST, LAST = "mov.u32 %r44, 1011060801;", "mov.u32 %r44, 2734261102;"


def written(text: str) -> str:
    return " ".join(with_written_tables(ptxkit.parse(text)).text.split())


def test_both_forms_of_the_loop_are_written_out() -> None:
    """One counts turns beside a pointer, the other makes all of the number of a turn."""
    assert WAVES.count("ld.global.nc.u32") == 2
    text = written(WAVES)
    assert "ld.global.nc.u32" not in text
    assert text.index(FIRST) < text.index(LAST)
    assert text.count(", 1011060801;") == text.count(", 2734261102;") == 2


def test_a_loop_beyond_the_table_is_left_alone() -> None:
    further = WAVES.replace("setp.ne.s32 \t%p4, %r105, 6;", "setp.ne.s32 \t%p4, %r105, 7;")
    assert further != WAVES
    assert written(further).count("ld.global.nc.u32") == 1


def test_a_loop_that_begins_anywhere_is_left_alone() -> None:
    begun = WAVES.replace("mov.u32 \t%r105, 0;", "mov.u32 \t%r105, %r5;")
    assert begun != WAVES
    assert written(begun).count("ld.global.nc.u32") == 1


def test_the_second_answer_to_a_question_is_the_opposite() -> None:
    turned = WAVES.replace("setp.ne.s32 \t%p4, %r105, 6;", "setp.ne.s32 \t%p9|%p4, %r105, 1;")
    assert turned != WAVES
    assert written(turned).count("ld.global.nc.u32") == 1


def test_the_functions_are_found() -> None:
    """The compiler at hand writes these loops out, or not: both are the same function."""
    text = lifted_text(ptxkit.parse(WAVES))
    assert "sinf(" in text and "cosf(" in text
    assert "i2opi" not in text and "fmaf" not in text


def test_the_table_is_known_by_its_numbers() -> None:
    """Datasets call it by other names; other numbers are no digits of 2/pi."""
    assert "ld.global.nc.u32" not in written(WAVES.replace("__cudart_i2opi_f", "k0_global_0"))
    assert written(WAVES.replace("{65, 144,", "{65, 145,")).count("ld.global.nc.u32") == 2


def test_a_table_in_code_is_one_in_order() -> None:
    numbers = (70_000, 80_000, -90_000)
    table = b"".join(number.to_bytes(4, "little", signed=True) for number in numbers)

    def code(*said: int) -> tuple[ptxkit.syntax.Instruction, ...]:
        moves = " ".join(f"mov.b32 r, {number};" for number in said)
        return tuple(ptxkit.parse(f".func f() {{ .reg .b32 r; {moves} }}")["f"].instructions)

    assert written_out(table, code(*numbers))
    assert written_out(table, code(70_000, 5, 80_000, 0xFFFEA070, 1))
    assert not written_out(table, code(80_000, 70_000, -90_000))
    assert not written_out(table, code(70_000, 80_000, 90_000))
    assert not written_out(table, code(70_000, 80_000))
    # A few small numbers are in any code.
    assert not written_out(bytes((1, 0, 0, 0, 2, 0, 0, 0)), code(1, 2))
