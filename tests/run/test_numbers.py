"""Numbers at the edge of what fits, and far beyond: taken exactly, or refused in words."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ptxkit
from ptxkit.errors import UsageError
from ptxkit.run import load
from ptxkit.run.arguments import pack_scalar
from ptxkit.run.layout import Item
from ptxkit.run.shape import LaunchError
from ptxkit.run.textual import read_argument

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .f32 a, .param .u64 p) { ret; }
"""
HUGE = (10**400, -(10**400), 10**5000)


@pytest.fixture(scope="module")
def kernel() -> Any:
    return load(TEXT, device="cpu")["k"]


@pytest.mark.parametrize("kind", ["u", "s", "b"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_the_bounds_of_integers(kind: str, bits: int) -> None:
    item = Item("n", f"{kind}{bits}", 0, bits // 8, bits // 8, False)
    least, most = -(1 << (bits - 1)), (1 << bits) - 1
    for value in (least, least + 1, -1, 0, 1, -least - 1, -least, most):
        packed = pack_scalar("k", item, value)
        assert int.from_bytes(packed, "little") == value % (1 << bits)
        assert len(packed) == bits // 8
    for value in (least - 1, most + 1, -most, -most - 1, *HUGE):
        with pytest.raises(LaunchError, match="does not fit"):
            pack_scalar("k", item, value)


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_the_bounds_of_floats(bits: int) -> None:
    item = Item("x", f"f{bits}", 0, bits // 8, bits // 8, False)
    kind = {16: np.float16, 32: np.float32, 64: np.float64}[bits]
    most = float(np.finfo(kind).max)
    for value in (most, -most, int(most), float("inf"), -float("inf")):
        assert pack_scalar("k", item, value) == kind(value).tobytes()
    for value in (int(most) * 2, -int(most) * 2, *HUGE):
        with pytest.raises(LaunchError, match="does not fit"):
            pack_scalar("k", item, value)
    if bits < 64:
        with pytest.raises(LaunchError, match="does not fit"):
            pack_scalar("k", item, 1e300)


LAUNCHES: dict[str, Callable[[Any, Any, int], Any]] = {
    "an argument": lambda k, z, n: k[1, 1](n, z),
    "a pointer": lambda k, z, n: k[1, 1](1, n),
    "a grid": lambda k, z, n: k[n, 1],
    "an extent of a grid": lambda k, z, n: k[(1, n), 1],
    "a block": lambda k, z, n: k[1, n],
    "shared bytes": lambda k, z, n: k[1, 1, n],
    "a cluster": lambda k, z, n: k[1, 1].with_options(cluster=n),
    "threads": lambda k, z, n: k[1, 1](1, z, threads=n),
    "a limit of time": lambda k, z, n: k[1, 1](1, z, time_limit=n),
    "a limit of steps": lambda k, z, n: k[1, 1](1, z, step_limit=n),
}


@pytest.mark.parametrize("number", HUGE, ids=["large", "small", "endless"])
@pytest.mark.parametrize("what", LAUNCHES)
def test_huge_numbers(what: str, number: int, kernel: Any) -> None:
    with pytest.raises(LaunchError) as raised:
        LAUNCHES[what](kernel, np.zeros(4, np.float32), number)
    assert len(str(raised.value)) < 600


def test_flags_and_streams_are_what_they_say(kernel: Any) -> None:
    with pytest.raises(LaunchError, match="cooperative is True or False, not 'no'"):
        kernel[1, 1].with_options(cooperative="no")
    with pytest.raises(LaunchError, match="a str is none"):
        kernel[1, 1, 0, "foo"]
    assert kernel[1, 1, 0, 0].shape.stream == 0


@pytest.mark.parametrize(
    "text",
    ["1e999999", "-1e999", "f32=1e300", "f32[3]=-1e39", "f16=70000", "f64=1e400", "bf16=3.4e38",
     "f32=1" + "0" * 400, "u8=256", "s8=-129"],
)  # fmt: skip
def test_text_that_does_not_fit(text: str) -> None:
    with pytest.raises(UsageError, match="does not fit"):
        read_argument(text, np.random.default_rng(0))


def test_infinity_may_be_written() -> None:
    for text in ("inf", "f16=inf", "f32=Infinity", "f64=inf"):
        assert read_argument(text, np.random.default_rng(0)) == float("inf")
    assert read_argument("-inf", np.random.default_rng(0)) == -float("inf")
    assert read_argument("bf16=inf", np.random.default_rng(0)) == 0x7F80
    most = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
    assert read_argument(f"f32={most!r}", np.random.default_rng(0)) == np.float32(most)
    assert issubclass(LaunchError, ptxkit.PtxkitError)
