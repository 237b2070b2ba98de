"""Conversions of the Blackwell generation against a list of all values of each format."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxkit

#: Bits of exponent and fraction.
FORMATS = {"e2m3": (2, 3), "e3m2": (3, 2), "e2m1": (2, 1)}
BITS = {"e2m3": 8, "e3m2": 8, "e2m1": 4}


def values(name: str) -> Any:
    """The value of every code without its sign."""
    exponents, fractions = FORMATS[name]
    bias = (1 << (exponents - 1)) - 1
    codes = np.arange(1 << (exponents + fractions))
    exponent, fraction = codes >> fractions, (codes & ((1 << fractions) - 1)) / (1 << fractions)
    return np.where(
        exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias)
    )


def nearest(name: str, x: Any) -> Any:
    """The code of the nearest value, the even one of two; what is too large becomes the largest."""
    table = values(name)
    distance = np.abs(np.minimum(np.abs(x), table[-1])[:, None] - table[None, :])
    best = distance.min(1)
    codes = np.arange(table.size)
    candidates = np.where(distance == best[:, None], codes % 2 * 1000 + codes, 10**6).min(1) % 1000
    sign = np.signbit(x).astype(int) << sum(FORMATS[name])
    return np.where(np.isnan(x), table.size - 1, candidates | sign)


def convert(opcode: str, sources: list[Any], registers: str, result: str) -> Any:
    """What an instruction gives for arrays of sources, in registers of these types."""
    names = [f"%s{number}" for number in range(len(sources))]
    types = (registers.split() * len(sources))[: len(sources)]
    loads = "".join(
        f".reg .{scalar} {name};\nadd.u64 %at, %in, {8 * 256 * n};\nmad.wide.u32 %at, %t, 8, %at;\n"
        f"ld.global.{scalar} {name}, [%at];\n"
        for n, (name, scalar) in enumerate(zip(names, types, strict=True))
    )
    text = f""".version 9.2
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b64 %in, %out, %at; .reg .b32 %t; .reg .b32 %w;
.reg .{result} %d;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
{loads}
{opcode} %d, {", ".join(names)};
mad.wide.u32 %at, %t, 8, %out;
st.global.{result} [%at], %d;
ret;
}}
"""
    data = np.zeros((len(sources), 256), np.uint64)
    for row, source in zip(data, sources, strict=True):
        row[: len(source)] = source
    out = np.zeros(256, np.uint64)
    ptxkit.load(text, device="cpu")["k"][1, 256](data, out)
    return out


SAMPLES = np.concatenate([
    np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 1e30, 0.25, 0.75, 1.25, -2.5, 5, 6.5, 30]),
    np.random.default_rng(0).standard_normal(121) * 4, np.arange(-60, 61) / 8.0,
]).astype(np.float32)  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_single_precision_to_narrow(name: str) -> None:
    bits = SAMPLES.view(np.uint32).astype(np.uint64)
    packed = "b8" if name == "e2m1" else "b16"
    got = convert(f"cvt.rn.satfinite.{name}x2.f32", [bits, bits[::-1]], "b32", packed)
    expected = nearest(name, SAMPLES) << BITS[name] | nearest(name, SAMPLES[::-1])
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("wide", ["f16x2", "bf16x2"])
def test_narrow_to_wide_and_back(name: str, wide: str) -> None:
    count = 2 * values(name).size
    codes = np.arange(count)
    pairs = codes | codes[::-1] << BITS[name]
    packed = "b8" if name == "e2m1" else "b16"
    got = convert(f"cvt.rn.{wide}.{name}x2", [pairs], packed, "b32")[:count]
    signed = np.concatenate([values(name), -values(name)])
    single = signed.astype(np.float32)
    halves = (
        single.astype(np.float16).view(np.uint16).astype(np.uint64)
        if wide == "f16x2"
        else single.view(np.uint32).astype(np.uint64) >> 16
    )
    assert np.array_equal(got, halves | halves[::-1] << 16)
    back = convert(f"cvt.rn.satfinite.{name}x2.{wide}", [got], "b32", packed)[:count]
    assert np.array_equal(back, pairs)


def test_scales_multiply() -> None:
    codes = np.arange(16) | np.arange(16)[::-1] << 4
    scales = (127 + np.arange(16) - 8) | 128 << 8
    got = convert("cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2", [codes, scales], "b8 b16", "b32")[:16]
    signed = np.concatenate([values("e2m1"), -values("e2m1")])
    low = (signed * 2.0 ** (np.arange(16) - 8)).astype(np.float32).view(np.uint32) >> 16
    high = (signed[::-1] * 2).astype(np.float32).view(np.uint32) >> 16
    assert np.array_equal(got, low.astype(np.uint64) | high.astype(np.uint64) << 16)


@pytest.mark.parametrize(("rounding", "finite"), [("rz", False), ("rp", False), ("rp", True)])
def test_powers_of_two(rounding: str, finite: bool) -> None:
    x = np.array([1, -1, 1.5, 3, 4, 0.7, 1e-40, 0, 3e38, np.inf, np.nan, 2.0**-127], np.float32)
    bits = x.view(np.uint32).astype(np.uint64)
    word = ".satfinite" if finite else ""
    got = convert(f"cvt.{rounding}{word}.ue8m0x2.f32", [bits, bits], "b32", "b16")[: x.size] & 255
    up = rounding == "rp"
    large = 254 if finite else 255
    expected = [
        127, 127, 128 if up else 127, 129 if up else 128, 129, 127 if up else 126, 0, 0,
        large if up else 254, large, 255, 0,
    ]  # fmt: skip
    assert got.tolist() == expected


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_bfloats_and_bytes(name: str) -> None:
    codes = np.arange(256, dtype=np.uint64)
    bf16 = convert(f"cvt.rn.bf16x2.{name}x2", [codes | codes << 8], "b16", "b32") & 0xFFFF
    f16 = convert(f"cvt.rn.f16x2.{name}x2", [codes | codes << 8], "b16", "b32") & 0xFFFF
    one = (bf16.astype(np.uint32) << 16).view(np.float32)
    two = f16.astype(np.uint16).view(np.float16).astype(np.float32)
    assert np.array_equal(one, two, equal_nan=True)
