"""Arguments written as text, for the command line: ``f32[1024]=randn``, ``@x.npy``, ``7``."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from ptxkit.errors import UsageError

#: How numpy names what PTX types hold.
NUMPY_TYPES = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "u8": np.uint8, "u16": np.uint16,
    "u32": np.uint32, "u64": np.uint64, "s8": np.int8, "s16": np.int16, "s32": np.int32,
    "s64": np.int64, "b8": np.uint8, "b16": np.uint16, "b32": np.uint32, "b64": np.uint64,
}  # fmt: skip
_NPY = b"\x93NUMPY"  # how every .npy file begins
#: A type that numpy lacks: its values are made as f32 and kept as their upper 16 bits.
BF16 = "bf16"
_TYPES = ", ".join([*NUMPY_TYPES, BF16])
_ARRAY = re.compile(r"(?P<type>[a-z]+\d+)\[(?P<shape>\d+(?:,\d+)*)\](?:=(?P<fill>.+))?$")
_SCALAR = re.compile(r"(?P<type>[a-z]+\d+)=(?P<value>.+)$")


def read_argument(text: str, generator: np.random.Generator) -> Any:
    """The value an argument stands for.

    >>> import numpy as np
    >>> read_argument("s32[3]=arange", np.random.default_rng(0))
    array([0, 1, 2], dtype=int32)
    >>> read_argument("0x10", np.random.default_rng(0)), read_argument("2.5", None)
    (16, 2.5)
    >>> read_argument("f16=1.5", None), read_argument("bf16=1.5", None)
    (np.float16(1.5), np.uint16(16320))
    """
    if text == "null":
        return None
    if text.startswith("@"):
        path = Path(text[1:])
        try:
            with path.open("rb") as file:
                if file.read(len(_NPY)) != _NPY:
                    raise UsageError(f"'{path}' is not a .npy file, as numpy.save writes it")
            array = np.load(path, allow_pickle=False)
        except OSError as error:
            raise UsageError(f"'{path}' cannot be read: {error.strerror or error}") from error
        except (ValueError, EOFError) as error:
            raise UsageError(f"the array in '{path}' cannot be read: {error}") from error
        except MemoryError as error:
            raise UsageError(f"the array in '{path}' needs more memory than there is") from error
        return np.ascontiguousarray(array)
    found = _ARRAY.fullmatch(text)
    if found is not None:
        try:
            shape = tuple(int(part) for part in found["shape"].split(","))
            return _array(text, found["type"], shape, found["fill"] or "zeros", generator)
        except MemoryError as error:
            raise UsageError(f"the array '{text}' needs more memory than there is") from error
    scalar = _SCALAR.fullmatch(text)
    if scalar is not None:
        return _array(text, scalar["type"], (), scalar["value"], generator)[()]
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return _finite(text, text, "f64")
    except ValueError as error:
        raise UsageError(
            f"the argument '{text}' is neither a number (7, 2.5, bf16=1.5), nor an array such as "
            f"f32[1024]=randn, nor a file such as @x.npy, nor null; types are {_TYPES}"
        ) from error


def readable(value: Any, text: str) -> Any:
    """The values of an array that was written as ``text``, where numpy lacks its type.

    >>> readable(np.array([0x3FC0], np.uint16), "bf16[1]")
    array([1.5], dtype=float32)
    """
    if not text.startswith(f"{BF16}[") or value.dtype != np.uint16:
        return value
    return (value.astype(np.uint32) << 16).view(np.float32)


def _finite(number: str, text: str, kind: str) -> float:
    """A number of a text; infinity only where that is what is written."""
    value = float(number)
    if math.isinf(value) and "inf" not in number.lower():
        raise UsageError(
            f"'{number}' in '{text}' does not fit in {kind}; write inf if that is meant"
        )
    return value


def _to_bf16(values: Any) -> Any:
    """The nearest bf16 of every float, the even one of two, as its bits."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)


def _array(
    text: str, name: str, shape: tuple[int, ...], fill: str, generator: np.random.Generator
) -> Any:
    if name == BF16:
        values = _array(text, "f32", shape, fill, generator)
        made = _to_bf16(values)
        if np.any(((made & 0x7FFF) == 0x7F80) & np.isfinite(values)):
            raise UsageError(f"'{fill}' in '{text}' does not fit in {name}")
        return made
    scalar = NUMPY_TYPES.get(name)
    if scalar is None:
        raise UsageError(f"'{name}' in '{text}' is not a type; types are {_TYPES}")
    if int(np.prod(shape, dtype=object)) > 1 << 32:
        raise UsageError(f"the array '{text}' is too large")
    kind = np.dtype(scalar).kind
    if fill == "zeros":
        return np.zeros(shape, scalar)
    if fill == "ones":
        return np.ones(shape, scalar)
    if fill == "arange":
        return np.arange(int(np.prod(shape))).astype(scalar).reshape(shape)
    if fill == "randn":
        values = np.asarray(generator.standard_normal(shape))
        return values.astype(scalar) if kind == "f" else (values * 100).astype(scalar)
    if fill == "rand":
        if kind == "f":
            return np.asarray(generator.random(shape)).astype(scalar)
        info: Any = np.iinfo(np.dtype(scalar).name)
        return np.asarray(
            generator.integers(info.min, info.max, shape, dtype=scalar, endpoint=True)
        )
    try:
        if kind != "f":
            return np.full(shape, int(fill, 0), scalar)
        value = _finite(fill, text, name)
        with np.errstate(over="ignore"):
            made = np.full(shape, value, scalar)
            if math.isfinite(value) and np.isinf(made).any():
                raise OverflowError
        return made
    except OverflowError as error:
        raise UsageError(f"'{fill}' in '{text}' does not fit in {name}") from error
    except ValueError as error:
        raise UsageError(
            f"'{fill}' in '{text}' fills nothing; use zeros, ones, arange, rand, randn or a number"
        ) from error
