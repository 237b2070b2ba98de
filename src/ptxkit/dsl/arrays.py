"""Arrays of numpy, torch, cupy, JAX and others: their shape, type, strides and place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit.errors import UsageError
from ptxkit.run import LaunchError

#: Types of elements by the names that libraries give them.
_TYPES = {
    "bool": "bool", "uint8": "u8", "int8": "s8", "uint16": "u16", "int16": "s16",
    "uint32": "u32", "int32": "s32", "uint64": "u64", "int64": "s64", "float16": "f16",
    "bfloat16": "bf16", "float32": "f32", "float64": "f64", "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
}  # fmt: skip
_NAMES = {type: name for name, type in _TYPES.items()}
_NAMES.update(tf32="float32", b8="uint8", b16="uint16", b32="uint32", b64="uint64")


@dataclass(frozen=True, slots=True)
class ArrayFacts:
    """What a call needs to know of an array. Strides are in elements."""

    value: Any
    library: str
    shape: tuple[Any, ...]
    strides: tuple[Any, ...]
    type: str
    place: str
    """``"cpu"`` or ``"cuda:0"``."""

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow each other in the order of the indices."""
        expected: Any = 1
        if 0 in self.shape:
            return True
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return False
            expected = expected * size
        return True

    def argument(self) -> Any:
        """What a launch takes: on the host an array of numpy over the same memory."""
        value = self.value if self.is_contiguous else self._span()
        if self.library == "torch":
            value = value.detach()
            if self.place == "cpu":
                import torch

                return value.reshape(-1).view(torch.uint8).numpy()
        elif self.library == "jax" and self.place == "cpu":
            return np.asarray(value)
        return value

    def _span(self) -> Any:
        """The memory from the first element to the last, as if it had no gaps."""
        if any(stride < 0 for stride in self.strides):
            raise LaunchError("an array with negative strides has no first element; pass a copy")
        reach = [(size - 1) * stride for size, stride in zip(self.shape, self.strides, strict=True)]
        count = 0 if 0 in self.shape else 1 + sum(reach)
        if self.library == "torch":
            return self.value.as_strided((count,), (1,))
        if self.library == "cupy":
            import cupy

            tricks = cupy.lib.stride_tricks
        elif self.library == "numpy":
            tricks = np.lib.stride_tricks
        else:
            raise LaunchError(f"arrays of {self.library} are contiguous here; pass a copy")
        return tricks.as_strided(self.value, (count,), (self.value.itemsize,))

    def address(self) -> int:
        """Where the first element lies."""
        if self.library == "torch":
            return int(self.value.data_ptr())
        if self.library == "jax":
            return int(self.value.unsafe_buffer_pointer())
        if self.library == "numpy":
            return int(self.value.ctypes.data)
        return int(self.value.__cuda_array_interface__["data"][0])


def facts(name: str, value: Any) -> ArrayFacts:
    """The facts of an argument that is to be an array."""
    if isinstance(value, np.ndarray):
        strides = _elements(value.strides, value.itemsize)
        return ArrayFacts(value, "numpy", value.shape, strides, _type(name, value.dtype), "cpu")
    library = type(value).__module__.partition(".")[0]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        kind = _type(name, str(value.dtype).removeprefix("torch."))
        place = "cpu" if value.device.type == "cpu" else str(value.device)
        if value.device.type not in ("cpu", "cuda", "meta"):
            raise LaunchError(f"argument '{name}' is on '{value.device}', where no kernel runs")
        return ArrayFacts(value, "torch", tuple(value.shape), tuple(value.stride()), kind, place)
    if library in ("jax", "jaxlib"):
        return _jax(name, value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        dtype = np.dtype(interface["typestr"])
        shape = tuple(interface["shape"])
        given = interface.get("strides")
        strides = _elements(given, dtype.itemsize) if given else _contiguous(shape)
        place = f"cuda:{getattr(getattr(value, 'device', None), 'id', 0)}"
        return ArrayFacts(value, library, shape, strides, _type(name, dtype), place)
    raise LaunchError(
        f"argument '{name}' is a {type(value).__name__}; an array of numpy, torch, cupy or JAX "
        "belongs there"
    )


def _jax(name: str, value: Any) -> ArrayFacts:
    (device,) = value.devices() if len(value.devices()) == 1 else (None,)
    if device is None:
        raise LaunchError(f"argument '{name}' is spread over several devices")
    value.block_until_ready()  # the launch is on a stream that JAX does not know
    place = "cpu" if device.platform == "cpu" else f"cuda:{device.id}"
    shape = tuple(value.shape)
    return ArrayFacts(value, "jax", shape, _contiguous(shape), _type(name, value.dtype), place)


def _elements(strides: Sequence[int], size: int) -> tuple[int, ...]:
    return tuple(stride // size if stride % size == 0 else -1 for stride in strides)


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= size
    return tuple(strides)


def _type(name: str, dtype: Any) -> str:
    found = _TYPES.get(str(getattr(dtype, "name", dtype)))
    if found is None:
        raise LaunchError(f"argument '{name}' holds elements of type {dtype}, which PTX has not")
    return found


def new_array(like: ArrayFacts | None, shape: Sequence[Any], type: str, place: str) -> Any:
    """An array for a result, of the library that the arguments are of."""
    library, name = ("numpy" if like is None else like.library), _NAMES[type]
    if library == "torch":
        import torch

        return torch.empty(tuple(shape), dtype=getattr(torch, name), device=place)
    if library == "cupy":
        import cupy

        with cupy.cuda.Device(int(place.partition(":")[2] or 0)):
            return cupy.empty(tuple(shape), dtype=name)
    if library == "jax" and place != "cpu":
        import jax

        # Zeros of its own, which nothing else refers to yet: the one place where they change.
        assert like is not None
        (device,) = like.value.devices()
        return jax.device_put(jax.numpy.zeros(tuple(shape), dtype=name), device)
    if library in ("numpy", "jax"):
        return np.empty(tuple(shape), dtype=_numpy_type(name))
    raise UsageError(f"there is no way to make an array of {library}; pass it with out=")


def _numpy_type(name: str) -> Any:
    try:
        return np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes
        except ImportError:
            raise UsageError(
                f"numpy has no {name}; pip install ml_dtypes, or pass the array with out="
            ) from None
        return np.dtype(getattr(ml_dtypes, name))


def finished(value: Any, like: ArrayFacts | None) -> Any:
    """A result as the caller wants it: JAX's on the host were computed in numpy's."""
    if like is not None and like.library == "jax" and isinstance(value, np.ndarray):
        import jax

        return jax.numpy.asarray(value)
    return value
