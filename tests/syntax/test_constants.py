"""Constant expressions, against an evaluator of trees and against ptxas itself."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxkit
from helpers.ptx_strategies import constant_expressions, lay_out
from isa.ptxas import find_ptxas
from ptxkit.syntax import evaluate
from ptxkit.syntax.constants import float_value, integer_value, why_no_value
from syntax.snippets import HEAD

WIDTH = 1 << 64


def operand(text: str) -> Any:
    """A constant as the operand of an instruction."""
    return ptxkit.parse(f".func f() {{ mov.b64 a, {text}; }}")["f"].instructions[0].operands[1]


def value(text: str) -> int | float | None:
    """What a constant evaluates to."""
    return evaluate(operand(text))


# -- literals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("12", 12),
        ("12U", 12),
        ("0x1f", 31),
        ("0X1FU", 31),
        ("017", 15),
        ("017U", 15),
        ("00", 0),
        ("0b101", 5),
        ("0B11U", 3),
        ("18446744073709551615", WIDTH - 1),
        ("0xFFFFFFFFFFFFFFFF", WIDTH - 1),
    ],
)
def test_integers(text: str, expected: int) -> None:
    assert integer_value(text) == value(text) == operand(text).value == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        (".5e-1", 0.05),
        ("09.5E+1", 95.0),
        ("0f3FC00000", 1.5),
        ("0F80000000", -0.0),
        ("0f7F800000", float("inf")),
        ("0dBFF8000000000000", -1.5),
        ("0D0000000000000001", 5e-324),
    ],
)
def test_floats(text: str, expected: float) -> None:
    found = operand(text)
    assert struct.pack("d", float_value(text)) == struct.pack("d", expected)
    assert struct.pack("d", found.value) == struct.pack("d", expected)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_bits_of_floats(single: int, double: int) -> None:
    exact = struct.unpack(">f", single.to_bytes(4, "big"))[0]
    assert str(float_value(f"0f{single:08X}")) == str(exact)
    exact = struct.unpack(">d", double.to_bytes(8, "big"))[0]
    assert str(float_value(f"0d{double:016x}")) == str(exact)


# -- expressions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1+2*3", 7),
        ("(1+2)*3", 9),
        ("10-3-2", 5),
        ("100/7/2", 7),
        ("-7/2", -3),
        ("7/-2", -3),
        ("-7/2U", (WIDTH - 7) // 2),
        ("-7 % 2", 1),  # ptxas takes the remainder of unsigned numbers
        ("7 % 4", 3),
        ("1 << 2+3", 32),
        ("1 << 64", 1),  # a shift counts modulo 64
        ("1 << -1", -(1 << 63)),
        ("-1 >> 1", -1),
        ("0xFFFFFFFFFFFFFFFF >> 1", WIDTH // 2 - 1),
        ("~0", WIDTH - 1),
        ("~0 < 0", 0),
        ("(.s64)~0 < 0", 1),
        ("(-1 | 0) < 0", 1),
        ("-1 < 0U", 0),
        ("-1 == 0xFFFFFFFFFFFFFFFF", 1),
        ("!5 + !0", 1),
        ("1 ? 2 : 0 ? 3 : 4", 2),
        ("0 ? 2 : 0 ? 3 : 4", 4),
        ("1 ? 1 ? 5 : 6 : 7", 5),
        ("(1 ? -1 : 0U) < 0", 1),
        ("9223372036854775807 + 1", -(1 << 63)),
        ("-9223372036854775808 / -1", 0),
        ("1 || 0 && 0", 1),
        ("1 | 2 == 2", 1),
        ("6 & 3 ^ 1 | 8", 11),
        ("WARP_SZ*2 - 1", 63),
        ("- - 3", 3),
        ("1.5 + 2.5*2.0", 6.5),
        ("1.0 / 4.0", 0.25),
        ("1.5 < 2.5", 1),
        ("-(1.5)", -1.5),
        ("-0d3FF0000000000000", -1.0),
    ],
)
def test_expressions(text: str, expected: int | float) -> None:
    assert value(text) == expected
    assert type(value(text)) is type(expected)
    assert why_no_value(operand(text)) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1/0", "it divides by zero"),
        ("1 % (2-2)", "it divides by zero"),
        ("1 ? 2 : 1/0", "it divides by zero"),  # ptxas looks at both sides
        ("0 && 1/0", "it divides by zero"),
        ("1.0/0.0", "it divides by zero"),
        ("1.5 + 1", "'+' stands between an integer and a float"),
        ("1 < 1.5", "'<' stands between an integer and a float"),
        ("1.5 << 1.5", "'<<' works on integers only"),
        ("1.5 && 1.5", "'&&' works on integers only"),
        ("!1.5", "'!' works on integers only"),
        ("~1.5", "'~' works on integers only"),
        ("(.u64)1.5", "'(.u64)' works on integers only"),
        ("1.5 ? 1 : 2", "'?' and ':' work on integers only"),
        ("1 ? 1.5 : 2.5", "'?' and ':' work on integers only"),
    ],
)
def test_expressions_without_a_value(text: str, reason: str) -> None:
    assert value(text) is None
    assert why_no_value(operand(text)) == reason


@pytest.mark.parametrize("text", ["x", "x+4", "!p", "-r", "{1, 2}", "[x+4]", "x[2]", "_"])
def test_what_names_a_symbol_has_no_value_and_no_reason(text: str) -> None:
    assert value(text) is None
    assert why_no_value(operand(text)) is None


def test_depth_and_length_have_no_limit() -> None:
    assert value("(" * 390 + "1" + ")" * 390) == 1
    assert value("(1+" * 390 + "1" + ")" * 390) == 391
    assert value("-" * 390 + "1") == 1
    assert value("1 ? " * 5_000 + "7" + " : 0" * 5_000) == 7


# -- trees ------------------------------------------------------------------------------------
# A tree is (operator, *operands) or a literal's text. It is evaluated by walking it, with the
# signedness of every value beside it, and printed with as few parentheses as C needs.

PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
UNARY = ("-", "+", "~", "!", "(.s64)", "(.u64)")

LITERALS = st.sampled_from(
    "0 1 2 3 7 63 64 65 100 017 0b101 5U 0U 1U 0xFFFFFFFFFFFFFFFF 0x8000000000000000 "
    "9223372036854775807 4294967296 WARP_SZ".split()
)
TREES: st.SearchStrategy[Any] = st.recursive(
    LITERALS,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(sorted(PRECEDENCE)), inner, inner),
        st.tuples(st.sampled_from(UNARY), inner),
        st.tuples(st.just("?"), inner, inner, inner),
    ),
    max_leaves=10,
)


def signed(bits: int) -> int:
    """64 bits as a signed number."""
    return bits - WIDTH if bits >= WIDTH // 2 else bits


def compute(tree: Any) -> tuple[int, bool]:
    """Bits and whether they are unsigned."""
    if isinstance(tree, str):
        if tree == "WARP_SZ":
            return 32, False
        bits = integer_value(tree)
        return bits, tree.endswith("U") or bits >= WIDTH // 2
    name, *operands = tree
    if name == "?":
        condition, yes, no = (compute(one) for one in operands)
        return yes if condition[0] else no
    if len(operands) == 1:
        bits, unsigned = compute(operands[0])
        if name == "!":
            return int(bits == 0), False
        if name in ("(.s64)", "(.u64)"):
            return bits, name == "(.u64)"
        if name == "~":
            return bits ^ (WIDTH - 1), True
        return ((WIDTH - bits) % WIDTH if name == "-" else bits), unsigned
    (a, a_unsigned), (b, b_unsigned) = compute(operands[0]), compute(operands[1])
    unsigned = a_unsigned or b_unsigned
    if name in ("<<", ">>"):
        count = b % 64
        left = a if a_unsigned else signed(a)
        return (left << count if name == "<<" else left >> count) % WIDTH, a_unsigned
    x, y = (a, b) if unsigned else (signed(a), signed(b))
    if name in ("+", "-", "*"):
        return {"+": x + y, "-": x - y, "*": x * y}[name] % WIDTH, unsigned
    if name in ("&", "|", "^"):
        return {"&": a & b, "|": a | b, "^": a ^ b}[name], unsigned
    if name == "/":
        quotient = abs(x) // abs(y)
        return (quotient if x * y >= 0 else -quotient) % WIDTH, unsigned
    if name == "%":
        return a % b, True
    compared = {
        "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": a == b, "!=": a != b,
        "&&": bool(a and b), "||": bool(a or b),
    }  # fmt: skip
    return int(compared[name]), False


def show(tree: Any, least: int = 0) -> str:
    """The tree as text; in parentheses where it binds less than ``least``."""
    if isinstance(tree, str):
        return tree
    name, *operands = tree
    if name == "?":
        condition, yes, no = operands
        text, binds = f"{show(condition, 1)} ? {show(yes)} : {show(no)}", 0
    elif len(operands) == 1:
        text, binds = f"{name} {show(operands[0], 11)}", 11
    else:
        binds = PRECEDENCE[name]
        text = f"{show(operands[0], binds)} {name} {show(operands[1], binds + 1)}"
    return text if binds >= least else f"({text})"


@settings(max_examples=400)
@given(TREES)
def test_text_evaluates_as_its_tree(tree: Any) -> None:
    try:
        bits, unsigned = compute(tree)
    except ZeroDivisionError:
        assert why_no_value(operand(show(tree))) == "it divides by zero"
        return
    assert value(show(tree)) == (bits if unsigned else signed(bits))


@settings(max_examples=60)
@given(constant_expressions(), st.integers(0, 2**32))
def test_trivia_does_not_matter(tokens: list[str], seed: int) -> None:
    assert value(lay_out(tokens, seed) + "\n") == value(" ".join(tokens))


# -- ptxas ------------------------------------------------------------------------------------


def assembled(texts: list[str], folder: Path) -> list[int]:
    """What ptxas makes of the expressions: the initial values of an array, read from the cubin."""
    source, cubin = folder / "k.ptx", folder / "k.cubin"
    values = ",\n".join(texts)
    source.write_text(
        f"{HEAD}.visible .global .align 8 .u64 x[{len(texts)}] = {{\n{values}}};\n"
        ".visible .entry k() { ret; }\n"
    )
    ptxas = find_ptxas()
    assert ptxas is not None
    subprocess.run([ptxas, "-arch", "sm_90", str(source), "-o", str(cubin)], check=True)
    return list(struct.unpack(f"<{len(texts)}Q", section(cubin.read_bytes(), b".nv.global.init")))


def section(elf: bytes, name: bytes) -> bytes:
    """The contents of a section of an ELF file."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    rows = [struct.unpack_from("<IIQQQQIIQQ", elf, table + n * size) for n in range(count)]
    for row in rows:
        start = rows[names][4] + row[0]
        if elf[start : elf.index(b"\0", start)] == name:
            return elf[row[4] : row[4] + row[5]]
    raise AssertionError(f"no section {name!r}")


@pytest.mark.skipif(find_ptxas() is None, reason="no ptxas on this machine")
def test_ptxas_computes_the_same(tmp_path: Path) -> None:
    found: dict[str, int] = {}

    @settings(max_examples=400)
    @given(TREES)
    def collect(tree: Any) -> None:
        number = value(show(tree))
        # ptxas crashes on the quotient that does not fit.
        if isinstance(number, int) and "/" not in show(tree):
            found[show(tree)] = number % WIDTH

    collect()
    texts = ["-7/2", "7/-2", "-7/2U", "100/7/2", "-9223372036854775808 / -1", *found]
    numbers = [number % WIDTH for number in map(value, texts) if isinstance(number, int)]
    assert len(texts) > 200
    assert assembled(texts, tmp_path) == numbers
