"""Tensor maps: how a tensor copy cuts boxes out of an array, as the CUDA driver encodes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.run.cuda_driver import check, current, current_device
from ptxkit.run.shape import LaunchError

_TYPES = {
    "u8": "UINT8", "s8": "UINT8", "b8": "UINT8", "e4m3": "UINT8", "e5m2": "UINT8",
    "u16": "UINT16", "s16": "UINT16", "b16": "UINT16", "u32": "UINT32", "s32": "INT32",
    "b32": "UINT32", "u64": "UINT64", "s64": "INT64", "b64": "UINT64", "f16": "FLOAT16",
    "bf16": "BFLOAT16", "f32": "FLOAT32", "f64": "FLOAT64", "tf32": "TFLOAT32",
}  # fmt: skip
_BITS = {"tf32": 32, "e4m3": 8, "e5m2": 8, "bf16": 16}
_PROMOTIONS = {0: "NONE", 64: "L2_64B", 128: "L2_128B", 256: "L2_256B"}


def tensor_map(
    address: int,
    shape: Sequence[int],
    box: Sequence[int],
    type: str,
    *,
    strides: Sequence[int] | None = None,
    swizzle: int = 0,
    promotion: int = 128,
    nan_outside: bool = False,
) -> bytes:
    """The 128 bytes that a kernel takes as a tensor map, made by the driver.

    ``shape``, ``box`` and ``strides`` (in elements, the last is 1) go from the outermost
    dimension to the innermost, as those of arrays do. Elements outside the array are zeros, or
    NaNs. ``swizzle`` is 0, 32, 64 or 128 bytes, and no less than a row of the box.
    """
    size = _size(type)
    rank = len(shape)
    if not 1 <= rank <= 5 or len(box) != rank:
        raise LaunchError(f"a tensor map has 1 to 5 dimensions, and a box as many, not {shape!r}")
    if strides is None:
        strides = [1] * rank
        for axis in range(rank - 2, -1, -1):
            strides[axis] = strides[axis + 1] * shape[axis + 1]
    if strides[-1] != 1:
        raise LaunchError("the innermost dimension of a tensor map is contiguous")
    for stride in strides[:-1]:
        if stride * size % 16:
            raise LaunchError(
                f"a row of {stride} elements takes {stride * size} bytes; tensor copies want rows "
                "that are multiples of 16 bytes"
            )
    if address % 16:
        raise LaunchError(f"the address {address:#x} of a tensor map is not a multiple of 16")
    for extent in box:
        if not 1 <= extent <= 256:
            raise LaunchError(f"a box has 1 to 256 elements in each dimension, not {extent}")
    row = box[-1] * size
    if row % 16 or (swizzle and row > swizzle):
        most = f", and no more than the swizzle of {swizzle}" if swizzle else ""
        raise LaunchError(f"a row of the box takes {row} bytes; it is a multiple of 16{most}")
    with current(current_device()) as driver:
        made = driver.cuTensorMapEncodeTiled(
            getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{_TYPES[type]}"),
            rank,
            address,
            [driver.cuuint64_t(one) for one in reversed(shape)],
            [driver.cuuint64_t(one * size) for one in reversed(strides[:-1])],
            [driver.cuuint32_t(one) for one in reversed(box)],
            [driver.cuuint32_t(1)] * rank,
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            _choice(driver.CUtensorMapSwizzle, "SWIZZLE", _SWIZZLES[swizzle]),
            _choice(driver.CUtensorMapL2promotion, "L2_PROMOTION", _PROMOTIONS[promotion]),
            _choice(
                driver.CUtensorMapFloatOOBfill,
                "FLOAT_OOB_FILL",
                "NAN_REQUEST_ZERO_FMA" if nan_outside else "NONE",
            ),
        )
        encoded = check(made, "making a tensor map")
    return b"".join(int(word).to_bytes(8, "little") for word in encoded.opaque)


_SWIZZLES = {0: "NONE", 32: "32B", 64: "64B", 128: "128B"}


def _size(type: str) -> int:
    if type not in _TYPES:
        raise LaunchError(f"a tensor map has no elements of type .{type}")
    return _BITS.get(type, int(type.lstrip("busf") or 0) if type not in _BITS else 0) // 8


def _choice(of: Any, kind: str, name: str) -> Any:
    return getattr(of, f"CU_TENSOR_MAP_{kind}_{name}")
