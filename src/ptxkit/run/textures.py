"""Textures and surfaces made from numpy arrays, for the simulator and for a GPU alike.

>>> import numpy as np
>>> from ptxkit.run import Texture
>>> ramp = Texture(np.arange(4, dtype=np.float32), filter="linear", address="clamp")
>>> ramp.shape
(4, 1, 1)
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from ptxkit.errors import UsageError

#: The texels that there are, numbered as in native/sim/texture.hpp, and the driver's formats.
_TEXELS = {
    "uint8": (0, 0x01), "int8": (1, 0x08), "uint16": (2, 0x02), "int16": (3, 0x09),
    "uint32": (4, 0x03), "int32": (5, 0x0A), "float16": (6, 0x10), "float32": (7, 0x20),
}  # fmt: skip
#: Address modes, numbered as the driver does.
_ADDRESS = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}
_MAGIC = 0x7465787475726531
_DESCRIPTOR = struct.Struct("<QQQIIII7B3BB5x")


class Surface:
    """An array that kernels read and write through a surface handle.

    The axes are rows of texels as in C: ``(width,)``, ``(height, width)`` or
    ``(depth, height, width)``. ``layered`` makes the first axis one of layers, and
    ``channels`` of 2 or 4 the last one that of a texel's components. Pass it where a kernel
    takes a ``cudaSurfaceObject_t``; the array changes in place.
    """

    def __init__(
        self, array: npt.NDArray[Any], *, channels: int = 1, layered: bool = False
    ) -> None:
        if array.dtype.name not in _TEXELS:
            raise UsageError(
                f"texels of {array.dtype} are not possible; they can be {', '.join(_TEXELS)}"
            )
        if channels not in (1, 2, 4):
            raise UsageError(f"a texel has 1, 2 or 4 channels, not {channels}")
        if not array.flags.c_contiguous or array.size == 0:
            raise UsageError("a texture needs a contiguous array with elements in it")
        sizes = array.shape
        if channels > 1:
            if len(sizes) < 2 or sizes[-1] != channels:
                raise UsageError(f"the last axis must have {channels} channels, not {sizes[-1]}")
            sizes = sizes[:-1]
        self.layers = sizes[0] if layered else 1
        if layered:
            sizes = sizes[1:]
        if not 1 <= len(sizes) <= (2 if layered else 3):
            raise UsageError(f"{len(sizes)} axes of texels are not possible")
        self.array = array
        self.channels = channels
        self.layered = layered
        self.dimensions = len(sizes)
        width, height, depth = (*reversed(sizes), 1, 1)[:3]
        #: Width, height and depth in texels.
        self.shape = width, height, depth
        #: Whether it lies in plain memory.
        self.memory = False
        self._descriptor: npt.NDArray[np.uint8] | None = None

    def _flags(self) -> tuple[int, int, int, tuple[int, int, int]]:
        """Filter, normalized coordinates, reads of integers, address modes."""
        return 0, 0, 1, (1, 1, 1)

    @property
    def writable(self) -> bool:
        """Whether kernels may write to it."""
        return bool(self.array.flags.writeable)

    @property
    def handle(self) -> int:
        """What kernels on the simulator know it by: the address of its description."""
        return int(self._describe().ctypes.data)

    def buffer(self, name: str) -> tuple[int, int, bool, str, bool]:
        """Its description as a buffer of the simulator."""
        return self.handle, _DESCRIPTOR.size, False, f"the description of {name}", False

    def _describe(self) -> npt.NDArray[np.uint8]:
        if self._descriptor is None:
            linear, normalized, as_integer, address = self._flags()
            packed = _DESCRIPTOR.pack(
                _MAGIC, self.array.ctypes.data, self.array.nbytes, *self.shape, self.layers,
                _TEXELS[self.array.dtype.name][0], self.channels, self.dimensions, linear,
                normalized, as_integer, self.writable, *address, self.memory,
            )  # fmt: skip
            # Its own memory, aligned: a handle is the address.
            raw = np.zeros(_DESCRIPTOR.size + 64, np.uint8)
            start = -raw.ctypes.data % 64
            self._descriptor = raw[start : start + _DESCRIPTOR.size]
            self._descriptor[:] = np.frombuffer(packed, np.uint8)
        return self._descriptor

    @property
    def driver_format(self) -> int:
        """The format of its texels as the CUDA driver numbers it."""
        return _TEXELS[self.array.dtype.name][1]


class Texture(Surface):
    """An array that kernels sample through a texture handle.

    ``filter`` is ``"point"`` or ``"linear"``; ``address`` says what lies beyond the edges
    (``"wrap"``, ``"clamp"``, ``"mirror"``, ``"border"``; one for all axes or one for each);
    ``normalized`` coordinates go from 0 to 1; ``fractions`` reads 8- and 16-bit integers as
    numbers up to 1; ``memory`` is for ``tex1Dfetch``, which reads texels by number. Pass it where
    a kernel takes a ``cudaTextureObject_t``.

    >>> Texture(np.zeros((3, 4), np.uint8), filter="linear")
    Traceback (most recent call last):
        ...
    ptxkit.errors.UsageError: linear filtering needs floats, or 8- or 16-bit integers as fractions
    """

    def __init__(
        self,
        array: npt.NDArray[Any],
        *,
        filter: str = "point",
        address: str | tuple[str, ...] = "clamp",
        normalized: bool = False,
        fractions: bool = False,
        channels: int = 1,
        layered: bool = False,
        memory: bool = False,
    ) -> None:
        super().__init__(array, channels=channels, layered=layered)
        if memory and (self.dimensions != 1 or layered or filter != "point" or normalized):
            raise UsageError(
                "a texture in plain memory has one axis, no filter and no normalized coordinates"
            )
        self.memory = memory
        modes = (address,) * self.dimensions if isinstance(address, str) else tuple(address)
        unknown = [mode for mode in modes if mode not in _ADDRESS]
        if unknown or len(modes) != self.dimensions:
            raise UsageError(
                f"the address must be one of {', '.join(_ADDRESS)}, or one for each of "
                f"{self.dimensions} axes, not {address!r}"
            )
        if filter not in ("point", "linear"):
            raise UsageError(f"the filter must be 'point' or 'linear', not {filter!r}")
        floats = array.dtype.kind == "f"
        if fractions and (floats or array.dtype.itemsize == 4):
            raise UsageError("only 8- and 16-bit integers can be read as fractions")
        if filter == "linear" and not floats and not fractions:
            raise UsageError("linear filtering needs floats, or 8- or 16-bit integers as fractions")
        self.filter = filter
        self.address = modes
        self.normalized = normalized
        self.fractions = fractions

    def _flags(self) -> tuple[int, int, int, tuple[int, int, int]]:
        modes = [_ADDRESS[mode] for mode in self.address]
        # An axis that a texture has not is clamped: along it, every place is the one texel.
        x, y, z = (*modes, 1, 1)[:3]
        as_integer = self.array.dtype.kind != "f" and not self.fractions
        return int(self.filter == "linear"), int(self.normalized), int(as_integer), (x, y, z)

    @property
    def writable(self) -> bool:
        """Kernels cannot write to a texture."""
        return False

    @property
    def driver_flags(self) -> tuple[int, int, tuple[int, int, int]]:
        """The driver's filter mode, its flags and its address modes."""
        linear, normalized, as_integer, address = self._flags()
        return linear, as_integer | normalized << 1, address
