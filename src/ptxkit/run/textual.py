"""Arguments written as text, for the command line: ``f32[1024]=randn``, ``@x.npy``, ``7``."""

from __future__ import annotations

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
_ARRAY = re.compile(r"(?P<type>[fusb]\d+)\[(?P<shape>\d+(?:,\d+)*)\](?:=(?P<fill>.+))?$")


def read_argument(text: str, generator: np.random.Generator) -> Any:
    """The value an argument stands for.

    >>> import numpy as np
    >>> read_argument("s32[3]=arange", np.random.default_rng(0))
    array([0, 1, 2], dtype=int32)
    >>> read_argument("0x10", np.random.default_rng(0)), read_argument("2.5", None)
    (16, 2.5)
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
            return _array(text, found, generator)
        except MemoryError as error:
            raise UsageError(f"the array '{text}' needs more memory than there is") from error
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError as error:
        raise UsageError(
            f"the argument '{text}' is neither a number, nor an array such as f32[1024]=randn, "
            "nor a file such as @x.npy, nor null"
        ) from error


def _array(text: str, found: re.Match[str], generator: np.random.Generator) -> Any:
    scalar = NUMPY_TYPES.get(found["type"])
    if scalar is None:
        raise UsageError(f"'{found['type']}' in '{text}' is not a type; use f32, u32, s64 ...")
    shape = tuple(int(part) for part in found["shape"].split(","))
    if int(np.prod(shape, dtype=object)) > 1 << 32:
        raise UsageError(f"the array '{text}' is too large")
    fill = found["fill"] or "zeros"
    kind = np.dtype(scalar).kind
    if fill == "zeros":
        return np.zeros(shape, scalar)
    if fill == "ones":
        return np.ones(shape, scalar)
    if fill == "arange":
        return np.arange(int(np.prod(shape))).astype(scalar).reshape(shape)
    if fill == "randn":
        values = generator.standard_normal(shape)
        return values.astype(scalar) if kind == "f" else (values * 100).astype(scalar)
    if fill == "rand":
        if kind == "f":
            return generator.random(shape).astype(scalar)
        info: Any = np.iinfo(np.dtype(scalar).name)
        return generator.integers(info.min, info.max, shape, dtype=scalar, endpoint=True)
    try:
        return np.full(shape, float(fill) if kind == "f" else int(fill, 0), scalar)
    except OverflowError as error:
        raise UsageError(f"'{fill}' in '{text}' does not fit in {found['type']}") from error
    except ValueError as error:
        raise UsageError(
            f"'{fill}' in '{text}' fills nothing; use zeros, ones, arange, rand, randn or a number"
        ) from error
