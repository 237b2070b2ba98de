"""Numpy arrays and textures on the GPU for the time of one launch: copied in, and back after."""

from __future__ import annotations

from typing import Any

import numpy as np

from ptxkit._native import finished_launches
from ptxkit.run.cuda_driver import check, context
from ptxkit.run.cuda_textures import DeviceTexture
from ptxkit.run.shape import LaunchError
from ptxkit.run.textures import Surface


class Copies:
    """The numpy arguments of a launch.

    Arrays that share memory share it on the GPU too: a kernel sees the same aliases there as
    on the simulator.
    """

    def __init__(self, driver: Any, device: int, stream: int) -> None:
        self._driver, self._device, self._stream = driver, device, stream
        self._arrays: list[np.ndarray[Any, Any]] = []
        self._textures: list[DeviceTexture] = []
        self._regions: list[tuple[int, int, int]] = []  # begin and end here, address there

    def __bool__(self) -> bool:
        return bool(self._arrays or self._textures)

    def add(self, where: str, array: np.ndarray[Any, Any]) -> None:
        """Note an array; `where` begins the message if it cannot be copied."""
        if not array.flags.c_contiguous:
            raise LaunchError(f"{where} is not contiguous; pass numpy.ascontiguousarray(x)")
        self._arrays.append(array)

    def add_texture(self, texture: Surface) -> int:
        """Copy a texture or surface in; gives its handle."""
        made = DeviceTexture(self._driver, check, texture)
        self._textures.append(made)
        return made.open()

    def upload(self) -> None:
        """Copy everything in, each piece of memory once."""
        driver = self._driver
        spans = sorted((a.ctypes.data, a.ctypes.data + max(a.nbytes, 1)) for a in self._arrays)
        merged: list[list[int]] = []
        for begin, end in spans:
            if merged and begin < merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([begin, end])
        for begin, end in merged:
            size = end - begin
            place = int(check(driver.cuMemAlloc(size), f"allocating {size} bytes on the GPU"))
            self._regions.append((begin, end, place))
        for array in self._arrays:
            if array.nbytes:
                copied = driver.cuMemcpyHtoDAsync(
                    self.address(array), array.ctypes.data, array.nbytes, self._stream
                )
                check(copied, "copying to the GPU")

    def address(self, array: np.ndarray[Any, Any]) -> int:
        """Where an array lies on the GPU."""
        here = array.ctypes.data
        begin, _, place = next(r for r in self._regions if r[0] <= here < r[1])
        return place + here - begin

    def download(self) -> int:
        """Wait for the launch and copy back what can be written; gives the driver's status."""
        driver = self._driver
        status = int(driver.cuStreamSynchronize(self._stream)[0])
        if status != 0:
            return status
        finished_launches(context(self._device), self._stream)
        for array in self._arrays:
            if array.flags.writeable and array.nbytes:
                copied = driver.cuMemcpyDtoH(array.ctypes.data, self.address(array), array.nbytes)
                check(copied, "copying from the GPU")
        for made in self._textures:
            made.fetch()
        return 0

    def free(self) -> None:
        """Give the memory back."""
        for _, _, place in self._regions:
            self._driver.cuMemFree(place)
        self._regions.clear()
        for made in self._textures:
            made.close()
        self._textures.clear()
