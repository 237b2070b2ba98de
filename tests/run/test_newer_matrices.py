"""Matrix instructions that no GPU at hand has, against numpy: exact sums show the layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxkit

HEAD = ".version 8.8\n.target sm_120a\n.address_size 64\n"
LANE = np.arange(32)
GROUP, QUAD = LANE // 4, LANE % 4
RANDOM = np.random.default_rng(3)

#: Exponent bits, fraction bits, where the element lies in its byte.
FORMATS = {"e4m3": (4, 3, 0), "e5m2": (5, 2, 0), "e3m2": (3, 2, 0), "e2m3": (2, 3, 0),
           "e2m1": (2, 1, 2)}  # fmt: skip


def _value(name: str, bits: Any) -> Any:
    exponent_bits, fraction_bits, _ = FORMATS[name]
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    size = np.where(
        exponent == 0,
        np.ldexp(fraction.astype(float), 1 - bias - fraction_bits),
        np.ldexp((fraction | 1 << fraction_bits).astype(float), exponent - bias - fraction_bits),
    )
    return np.where(bits >> (exponent_bits + fraction_bits) & 1, -size, size)


def _elements(name: str, *shape: int) -> Any:
    """Bits of numbers near one, so that sums are exact."""
    exponent_bits, fraction_bits, _ = FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = RANDOM.integers(max(0, bias - 2), bias + 1, shape)
    sign = RANDOM.integers(0, 2, shape)
    fraction = RANDOM.integers(0, 1 << fraction_bits, shape)
    return sign << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction


def _words(matrix: Any, per_word: int) -> Any:
    """Rows of elements as 32-bit words."""
    width = 32 // per_word
    shifts = np.arange(per_word) * width
    return (matrix.reshape(len(matrix), -1, per_word) << shifts).sum(-1).astype(np.uint32)


def _left(words: Any) -> list[Any]:
    count = words.shape[1] // 4 * 2
    return [words[GROUP + 8 * (r & 1), QUAD + 4 * (r >> 1)] for r in range(count)]


def _right(words: Any) -> list[Any]:
    return [words[GROUP, QUAD + 4 * r] for r in range(words.shape[1] // 4)]


def _launch(opcode: str, groups: list[list[Any]], results: int, tail: str = "") -> Any:
    """Run one instruction on the registers of a warp."""
    flat = [register for group in groups for register in group]
    names = [f"%s{n}" for n in range(len(flat))]
    texts, at = [], 0
    for group in groups:
        part = names[at : at + len(group)]
        texts.append("{" + ", ".join(part) + "}" if len(group) > 1 else part[0])
        at += len(group)
    out = ", ".join(f"%d{n}" for n in range(results))
    text = (
        f"{HEAD}.visible .entry k(.param .u64 in, .param .u64 out) {{\n"
        ".reg .b64 %p, %q, %x; .reg .b32 %l; .reg .b32 %s<32>; .reg .f32 %d<8>;\n"
        "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %l, %laneid;\n"
        "mul.wide.u32 %x, %l, 4; add.u64 %p, %p, %x; add.u64 %q, %q, %x;\n"
        + "".join(f"ld.global.b32 {name}, [%p+{128 * n}];\n" for n, name in enumerate(names))
        + f"{opcode} {{{out}}}, {', '.join(texts)}{tail};\n"
        + "".join(f"st.global.b32 [%q+{128 * n}], %d{n};\n" for n in range(results))
        + "ret; }\n"
    )
    data = np.ascontiguousarray(np.stack(flat).astype(np.uint32))
    result = np.zeros((results, 32), np.float32)
    ptxkit.load(text, device="cpu")["k"][1, 32](data, result)
    return result


def _sums(registers: Any) -> Any:
    out = np.zeros((16, 8))
    for n in range(4):
        out[GROUP + 8 * (n >> 1), 2 * QUAD + (n & 1)] = registers[n]
    return out


ZERO = [np.zeros(32, np.uint32)] * 4


@pytest.mark.parametrize("a", FORMATS)
@pytest.mark.parametrize("b", ["e5m2", "e2m1"])
def test_narrow_floats(a: str, b: str) -> None:
    left, right = _elements(a, 16, 32), _elements(b, 8, 32)
    words = [_words(m << FORMATS[name][2], 4) for m, name in ((left, a), (right, b))]
    opcode = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{a}.{b}.f32"
    got = _launch(opcode, [_left(words[0]), _right(words[1]), ZERO], 4)
    np.testing.assert_array_equal(_sums(got), _value(a, left) @ _value(b, right).T)


def _scales(kind: str, rows: int, count: int) -> tuple[Any, Any]:
    """Bits and values of the scales of every row."""
    if kind == "ue8m0":
        bits = RANDOM.integers(125, 130, (rows, count))
        return bits, np.ldexp(1.0, bits - 127)
    bits = RANDOM.integers(0x30, 0x40, (rows, count))
    return bits, _value("e4m3", bits)


@pytest.mark.parametrize(
    ("kind", "count", "scale"),
    [("mxf4", 2, "ue8m0"), ("mxf4nvf4", 2, "ue8m0"), ("mxf4nvf4", 4, "ue4m3")],
)
def test_scaled_blocks_of_four_bits(kind: str, count: int, scale: str) -> None:
    left, right = _elements("e2m1", 16, 64), _elements("e2m1", 8, 64)
    bits_a, scale_a = _scales(scale, 16, count)
    bits_b, scale_b = _scales(scale, 8, count)
    byte, thread_a, thread_b = 2 if count == 2 else 0, 1, 2
    shifts = 8 * (np.arange(count) + byte)
    words_a = np.zeros(32, np.uint32)
    for half in range(2):  # rows g and g+8 come from a pair of lanes
        chosen = 2 * thread_a + half == QUAD
        words_a[chosen] = (bits_a[GROUP + 8 * half] << shifts).sum(-1)[chosen]
    words_b = np.where(thread_b == QUAD, (bits_b[GROUP] << shifts).sum(-1), 0)
    opcode = f"mma.sync.aligned.m16n8k64.row.col.kind::{kind}.block_scale.scale_vec::{count}X"
    tail = f", %s10, {{{byte}, {thread_a}}}, %s11, {{{byte}, {thread_b}}}"
    groups = [_left(_words(left, 8)), _right(_words(right, 8)), ZERO]
    text = f"{opcode}.f32.e2m1.e2m1.f32.{scale}"
    got = _launch_scaled(text, groups, words_a, words_b, tail)
    block = 64 // count
    full_a = _value("e2m1", left) * np.repeat(scale_a, block, axis=1)
    full_b = _value("e2m1", right) * np.repeat(scale_b, block, axis=1)
    np.testing.assert_array_equal(_sums(got), full_a @ full_b.T)


def _launch_scaled(opcode: str, groups: list[list[Any]], a: Any, b: Any, tail: str) -> Any:
    """The scales are loaded like operands, and named in the tail."""
    count = sum(len(group) for group in groups)
    tail = tail.replace("%s10", f"%s{count}").replace("%s11", f"%s{count + 1}")
    flat = [register for group in groups for register in group] + [a, b]
    body = []
    at = 0
    for group in groups:
        body.append("{" + ", ".join(f"%s{at + n}" for n in range(len(group))) + "}")
        at += len(group)
    loads = "".join(f"ld.global.b32 %s{n}, [%p+{128 * n}];\n" for n in range(len(flat)))
    stores = "".join(f"st.global.b32 [%q+{128 * n}], %d{n};\n" for n in range(4))
    text = (
        f"{HEAD}.visible .entry k(.param .u64 in, .param .u64 out) {{\n"
        ".reg .b64 %p, %q, %x; .reg .b32 %l; .reg .b32 %s<32>; .reg .f32 %d<4>; .reg .b16 %c<4>;\n"
        "mov.b16 %c0, 0; mov.b16 %c1, 1; mov.b16 %c3, 3;\n"
        "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %l, %laneid;\n"
        "mul.wide.u32 %x, %l, 4; add.u64 %p, %p, %x; add.u64 %q, %q, %x;\n"
        f"{loads}{opcode} {{%d0, %d1, %d2, %d3}}, {', '.join(body)}{tail};\n{stores}ret; }}\n"
    )
    data = np.ascontiguousarray(np.stack(flat).astype(np.uint32))
    result = np.zeros((4, 32), np.float32)
    ptxkit.load(text, device="cpu")["k"][1, 32](data, result)
    return result


@pytest.mark.parametrize(
    "tail",
    [", %s10, {3, 0}, %s11, {1, 3}", ", %s10, {%c3, %c0}, %s11, {%c1, %c3}"],
    ids=["constants", "registers"],
)
def test_scaled_bytes(tail: str) -> None:
    left, right = _elements("e4m3", 16, 32), _elements("e5m2", 8, 32)
    bits_a, scale_a = _scales("ue8m0", 16, 1)
    bits_b, scale_b = _scales("ue8m0", 8, 1)
    words_a = np.zeros(32, np.uint32)
    for half in range(2):
        words_a[half == QUAD] = (bits_a[GROUP + 8 * half, 0] << 24)[half == QUAD]
    words_b = np.where(QUAD == 3, bits_b[GROUP, 0] << 8, 0)
    got = _launch_scaled(
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e5m2.f32.ue8m0",
        [_left(_words(left, 4)), _right(_words(right, 4)), ZERO],
        words_a, words_b, tail,
    )  # fmt: skip
    expected = (_value("e4m3", left) * scale_a) @ (_value("e5m2", right) * scale_b).T
    np.testing.assert_array_equal(_sums(got), expected)


def _matrix_load(opcode: str, memory: Any, count: int) -> Any:
    """What ldmatrix gives for 32 rows of 16 bytes; lane n has the address of row n."""
    out = ", ".join(f"%d{n}" for n in range(count))
    text = (
        f"{HEAD}.visible .entry k(.param .u64 in, .param .u64 out) {{\n"
        ".shared .align 16 .b8 tile[512];\n"
        ".reg .b64 %p, %q, %x; .reg .b32 %l, %a, %w<4>; .reg .b32 %d<4>;\n"
        "ld.param.u64 %p, [in]; ld.param.u64 %q, [out]; mov.u32 %l, %laneid;\n"
        "mul.wide.u32 %x, %l, 16; add.u64 %p, %p, %x; mul.wide.u32 %x, %l, 4;\n"
        "add.u64 %q, %q, %x; mov.u32 %a, tile; mad.lo.u32 %a, %l, 16, %a;\n"
        "ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%p];\n"
        "st.shared.v4.b32 [%a], {%w0, %w1, %w2, %w3}; bar.warp.sync -1;\n"
        f"{opcode} {{{out}}}, [%a];\n"
        + "".join(f"st.global.b32 [%q+{128 * n}], %d{n};\n" for n in range(count))
        + "ret; }\n"
    )
    result = np.zeros((count, 32), np.uint32)
    ptxkit.load(text, device="cpu")["k"][1, 32](memory, result)
    return result


@pytest.mark.parametrize(("source", "bits"), [("b6x16_p32", 6), ("b4x16_p64", 4)])
def test_loads_that_widen(source: str, bits: int) -> None:
    elements = RANDOM.integers(0, 1 << bits, (32, 16))
    memory = np.zeros((32, 16), np.uint8)
    for row in range(32):
        packed = sum(int(value) << bits * n for n, value in enumerate(elements[row]))
        memory[row] = np.frombuffer(packed.to_bytes(16, "little"), np.uint8)
    opcode = f"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.{source}"
    got = _matrix_load(opcode, memory, 4)
    words = _words(elements, 4)
    expected = np.stack([words[8 * n + GROUP, QUAD] for n in range(4)])
    np.testing.assert_array_equal(got, expected)


def test_turned_loads_of_bytes() -> None:
    memory = RANDOM.integers(0, 256, (32, 16), dtype=np.uint8)
    got = _matrix_load("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", memory, 4)
    bytes_ = got.view(np.uint8).reshape(4, 32, 4)
    for register in range(4):
        for n in range(4):
            row = 16 * (register // 2) + 4 * QUAD + 2 * (register % 2) + n % 2
            np.testing.assert_array_equal(bytes_[register, :, n], memory[row, GROUP + 8 * (n // 2)])
