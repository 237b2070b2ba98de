"""Inputs for matrix instructions: tiles of registers that show how the hardware adds.

Only numpy, and only the raw bits of its counter-based generator, so that the same tiles
come out on every machine.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

LANES = 32
#: Bytes of memory a tile has.
MEMORY = 2048

Words = npt.NDArray[np.uint64]

#: Exponent bits, fraction bits, bits of the container of each float.
FORMATS = {
    "f16": (5, 10, 16), "bf16": (8, 7, 16), "tf32": (8, 10, 32), "f32": (8, 23, 32),
    "f64": (11, 52, 64), "e4m3": (4, 3, 8), "e5m2": (5, 2, 8),
}  # fmt: skip
_INTEGER_BITS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32}

#: What the elements of a tile look like; tile t is of the kind t modulo their number.
KINDS = (
    "near one", "narrow", "wide", "any bits", "finite", "powers of two", "sparse", "tiny",
    "huge", "specials", "cancelling", "zeros", "one product", "same sign", "vanishing",
)  # fmt: skip

#: Two of four: pairs of positions, as the metadata of a sparse matrix writes them.
_ORDERED = np.array([4, 8, 12, 9, 13, 14], np.uint64)
_UNORDERED = np.array([4, 8, 12, 9, 13, 14, 1, 2, 3, 6, 7, 11], np.uint64)
_ONE_OF_TWO = np.array([4, 14], np.uint64)


def _uniform(q: Words, low: int, high: int) -> npt.NDArray[np.int64]:
    """An integer from low to high, from the upper bits of q."""
    return (low + ((q >> np.uint64(20)) % np.uint64(high - low + 1)).astype(np.int64)).astype(
        np.int64
    )


def _trailing(q: Words) -> npt.NDArray[np.int64]:
    """How many of the lowest ten bits of q are zero before the first one."""
    low = (q & np.uint64(1023)) | np.uint64(1024)
    return np.log2((low & (~low + np.uint64(1))).astype(np.float64)).astype(np.int64)


def _floats(r: Words, q: Words, kind: str, name: str, role: str) -> Words:
    exponent_bits, fraction_bits, container = FORMATS[name]
    bias = (1 << (exponent_bits - 1)) - 1
    top = (1 << exponent_bits) - (1 if name == "e4m3" else 2)  # the largest finite exponent
    wide = exponent_bits >= 8
    adds = role == "c"
    sign = r & np.uint64(1)
    fraction = (r >> np.uint64(11)) & np.uint64((1 << fraction_bits) - 1)
    chance = (q >> np.uint64(12)) & np.uint64(15)
    zero = np.zeros(q.shape, bool)
    if kind in ("near one", "specials"):
        e = bias + (1 if adds else 0) - _trailing(q)
    elif kind == "narrow":
        e = bias + (_uniform(q, -6, 6) if adds else _uniform(q, -3, 3))
    elif kind == "wide":
        e = bias + (_uniform(q, -24, 24) if adds else _uniform(q, -12, 12))
    elif kind == "any bits":
        return (r >> np.uint64(8)) & np.uint64((1 << container) - 1)
    elif kind == "finite":
        e = _uniform(q, 0, top)
    elif kind == "powers of two":
        e = bias - (_uniform(q, 0, 31) if adds else _uniform(q, 0, 15))
        fraction = np.zeros_like(fraction)
    elif kind == "sparse":
        zero = chance < 4 if adds else chance < 12
        e = bias + (_uniform(q, -20, 20) if adds else _uniform(q, -6, 6))
    elif kind == "tiny":
        if adds:
            e = _uniform(q, 0, 50) if wide and role == "c" else _uniform(q, 0, 8)
            e = np.where(chance < 8, e, bias - 28 + _uniform(q, -24, 8))
        elif wide and role == "b":
            e = bias + _uniform(q, -10, 30)
        else:
            e = _uniform(q, 0, 2)
    elif kind == "huge":
        if adds:
            e = np.where(chance < 8, top - _uniform(q, 0, 3), bias + _uniform(q, 20, 34))
        elif role == "a" or not wide:
            e = top - _uniform(q, 0, 3)
        else:
            e = bias + _uniform(q, -3, 2)
    elif kind == "cancelling":
        if adds:
            e = bias + _uniform(q, -30, 5)
        else:
            e = bias + _uniform(q, 0, 1)
            fraction &= np.uint64(1 << (fraction_bits - 1))
    elif kind == "zeros":
        zero = np.full(q.shape, role == "a")
        e = _uniform(q, 0, top)
    elif kind == "vanishing":  # about the least number of the sums
        below = {4: 3, 5: 12, 8: 24, 11: 52}[exponent_bits]
        zero = chance < 12 if adds else zero
        if role == "b":
            e = bias - below + _uniform(q, -4, 4)
        else:
            e = np.zeros(q.shape, np.int64) if adds else _uniform(q, 0, 3)
    elif kind == "one product":
        zero = chance > 0 if role == "a" else zero
        e = bias + (_uniform(q, -40, 40) if adds else _uniform(q, -10, 10))
    else:
        sign = np.zeros_like(sign)
        fraction = np.where(chance < 8, np.uint64((1 << fraction_bits) - 1), fraction)
        e = bias + (_uniform(q, 0, 6) if adds else -_uniform(q, 0, 2))
    e = np.clip(e, 0, top).astype(np.uint64)
    bits = (e << np.uint64(fraction_bits)) | fraction
    if name == "e4m3":
        bits = np.where(bits == 0x7F, np.uint64(0x7E), bits)
    bits = np.where(zero, np.uint64(0), bits)
    width = 1 + exponent_bits + fraction_bits
    if kind == "specials":
        infinite = np.uint64(((1 << exponent_bits) - 1) << fraction_bits)
        largest = (np.uint64(top) << np.uint64(fraction_bits)) | np.uint64((1 << fraction_bits) - 1)
        special = np.array(
            [infinite, infinite, infinite | np.uint64(1), infinite | fraction.flat[0], 0, 1,
             largest, np.uint64(1 << fraction_bits)], np.uint64,
        )[((q >> np.uint64(40)) & np.uint64(7)).astype(np.int64)]  # fmt: skip
        rare = ((q >> np.uint64(50)) & np.uint64(63)) == 0
        bits = np.where(rare, special, bits)
    bits |= sign << np.uint64(width - 1)
    if container > width:  # tf32: what lies below is not looked at
        low = np.uint64((1 << (container - width)) - 1)
        bits = (bits << np.uint64(container - width)) | ((q >> np.uint64(3)) & low)
    return np.asarray(bits, np.uint64)


def _integers(r: Words, name: str, kind: int) -> Words:
    bits = _INTEGER_BITS[name]
    mask = np.uint64((1 << bits) - 1)
    value = (r >> np.uint64(8)) & mask
    if bits == 1 or kind % 3 == 0:
        return value
    half = np.uint64(1 << (bits - 1))
    if name == "s32":
        near = np.array([half, half - np.uint64(1)], np.uint64)[(r & np.uint64(1)).astype(int)]
        small = (r >> np.uint64(40)) & np.uint64(0xFFFF)
        return (near + small - np.uint64(0x8000)) & mask if kind % 3 == 1 else small
    ends = np.array([half, half - np.uint64(1), mask, 0], np.uint64)
    return ends[(r & np.uint64(3)).astype(int)] if kind % 3 == 1 else value


def _metadata(r: Words, name: str, ordered: bool, kind: int) -> Words:
    """A word of eight nibbles, each a choice of positions."""
    choices = _ONE_OF_TWO if name == "tf32" else _ORDERED
    if not ordered and name != "tf32" and kind % 2:
        choices = _UNORDERED
    word = np.zeros_like(r)
    for at in range(8):
        pick = ((r >> np.uint64(7 * at)) & np.uint64(127)) % np.uint64(len(choices))
        word |= choices[pick.astype(np.int64)] << np.uint64(4 * at)
    return word


def register(content: str, role: str, width: int, r: list[Words], tile: int) -> Words:
    """One register of a tile, for every lane: elements of a type from raw random words."""
    if content in FORMATS:
        bits = FORMATS[content][2]
    elif content.startswith("meta"):
        _, name, order = content.split(":")
        return _metadata(r[0], name, order == "ordered", tile // len(KINDS))
    elif content == "any":
        return (r[0] >> np.uint64(8)) & np.uint64((1 << width) - 1)
    else:
        bits = _INTEGER_BITS[content]
    word = np.zeros(r[0].shape, np.uint64)
    kind = KINDS[tile % len(KINDS)]
    for at in range(width // bits):
        if bits <= 4:  # whole words: the generator is not the point here
            step = 8 // bits
            if at % step:
                continue
            one = (r[2 * (at // step) % len(r)] >> np.uint64(8)) & np.uint64(255)
            word |= one << np.uint64(bits * at)
            continue
        first, second = r[2 * at % len(r)], r[(2 * at + 1) % len(r)]
        if content in FORMATS:
            one = _floats(first, second, kind, content, role)
        else:
            one = _integers(first, content, tile)
        word |= one << np.uint64(bits * at)
    return word


def inputs(text: str, leaves: list[list[Any]], tiles: int) -> Words:
    """The registers of every tile: (leaves, tiles, lanes).

    A leaf is its name, the bits of its register, what it holds and its role.
    """
    result = np.zeros((len(leaves), tiles, LANES), np.uint64)
    seed = zlib.crc32(text.encode())
    for tile in range(tiles):
        raw = np.random.Philox(key=[seed, tile]).random_raw(len(leaves) * 8 * LANES)
        words = raw.reshape(len(leaves), 8, LANES).astype(np.uint64)
        for number, (_, width, content, role) in enumerate(leaves):
            result[number, tile] = register(content, role, width, list(words[number]), tile)
    return result


def memory(text: str, tiles: int) -> npt.NDArray[np.uint8]:
    """The memory of every tile: (tiles, MEMORY) random bytes."""
    seed = zlib.crc32(text.encode()) ^ 0x5A5A
    raw = np.random.Philox(key=[seed, 0]).random_raw(tiles * MEMORY // 8)
    return raw.astype(np.uint64).view(np.uint8).reshape(tiles, MEMORY).copy()


def row_offsets(text: str, tiles: int, step: int = 16) -> Words:
    """An offset for each lane: rows of ``step`` bytes in random order, (tiles, lanes)."""
    seed = zlib.crc32(text.encode()) ^ 0xA5A5
    raw = np.random.Philox(key=[seed, 0]).random_raw(tiles * LANES).reshape(tiles, LANES)
    return (np.argsort(raw, axis=1) * step).astype(np.uint64)
