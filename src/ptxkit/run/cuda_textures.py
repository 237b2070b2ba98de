"""Textures and surfaces on a GPU: CUDA arrays and the driver's handles for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.errors import UsageError
from ptxkit.run.textures import Surface, Texture

Check = Callable[[tuple[Any, ...], str], Any]

_LAYERED, _SURFACE = 1, 2


class DeviceTexture:
    """The copy of a texture or surface on the GPU, for as long as launches need it."""

    def __init__(self, driver: Any, check: Check, texture: Surface) -> None:
        self._driver, self._check, self._texture = driver, check, texture
        self._sampled = isinstance(texture, Texture)
        self.handle = 0
        self.array: Any = None
        self.memory: Any = None
        if texture.memory:
            size = texture.array.nbytes
            self.memory = check(driver.cuMemAlloc(size), f"allocating {size} bytes")
            check(
                driver.cuMemcpyHtoD(self.memory, texture.array.ctypes.data, size),
                "copying a texture",
            )
            return
        width, height, depth = texture.shape
        shape = driver.CUDA_ARRAY3D_DESCRIPTOR()
        shape.Width = width
        shape.Height = height if texture.dimensions > 1 else 0
        shape.Depth = texture.layers if texture.layered else depth if texture.dimensions > 2 else 0
        shape.Format = driver.CUarray_format(texture.driver_format)
        shape.NumChannels = texture.channels
        shape.Flags = (_LAYERED if texture.layered else 0) | (0 if self._sampled else _SURFACE)
        self.array = check(driver.cuArray3DCreate(shape), "making a CUDA array")
        self._copy(to_device=True)

    def open(self) -> int:
        """The handle that a kernel takes."""
        driver = self._driver
        resource = driver.CUDA_RESOURCE_DESC()
        if self.memory is not None:
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
            resource.res.linear.devPtr = self.memory
            resource.res.linear.format = driver.CUarray_format(self._texture.driver_format)
            resource.res.linear.numChannels = self._texture.channels
            resource.res.linear.sizeInBytes = self._texture.array.nbytes
        else:
            resource.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
            resource.res.array.hArray = self.array
        if isinstance(self._texture, Texture):
            linear, flags, address = self._texture.driver_flags
            how = driver.CUDA_TEXTURE_DESC()
            how.addressMode = [driver.CUaddress_mode(mode) for mode in address]
            how.filterMode = driver.CUfilter_mode(linear)
            how.flags = flags
            made = self._check(driver.cuTexObjectCreate(resource, how, None), "making a texture")
        else:
            made = self._check(driver.cuSurfObjectCreate(resource), "making a surface")
        self.handle = int(made)
        return self.handle

    def bind(self, module: Any, name: str) -> None:
        """Give it to a ``.texref`` or ``.surfref`` of a module."""
        driver, check = self._driver, self._check
        if self.memory is not None:
            raise UsageError("textures in plain memory are passed as handles, not bound by name")
        if not isinstance(self._texture, Texture):
            reference = check(driver.cuModuleGetSurfRef(module, name.encode()), f"finding '{name}'")
            check(driver.cuSurfRefSetArray(reference, self.array, 0), f"setting '{name}'")
            return
        linear, flags, address = self._texture.driver_flags
        reference = check(driver.cuModuleGetTexRef(module, name.encode()), f"finding '{name}'")
        check(driver.cuTexRefSetArray(reference, self.array, 1), f"setting '{name}'")
        for axis, mode in enumerate(address):
            check(
                driver.cuTexRefSetAddressMode(reference, axis, driver.CUaddress_mode(mode)),
                f"setting '{name}'",
            )
        check(
            driver.cuTexRefSetFilterMode(reference, driver.CUfilter_mode(linear)),
            f"setting '{name}'",
        )
        check(driver.cuTexRefSetFlags(reference, flags), f"setting '{name}'")

    def _copy(self, *, to_device: bool) -> None:
        driver, texture = self._driver, self._texture
        width, height, depth = texture.shape
        row = width * texture.channels * texture.array.dtype.itemsize
        copy = driver.CUDA_MEMCPY3D()
        host, array = (
            driver.CUmemorytype.CU_MEMORYTYPE_HOST,
            driver.CUmemorytype.CU_MEMORYTYPE_ARRAY,
        )
        if to_device:
            copy.srcMemoryType, copy.srcHost = host, texture.array.ctypes.data
            copy.srcPitch, copy.srcHeight = row, height
            copy.dstMemoryType, copy.dstArray = array, self.array
        else:
            copy.dstMemoryType, copy.dstHost = host, texture.array.ctypes.data
            copy.dstPitch, copy.dstHeight = row, height
            copy.srcMemoryType, copy.srcArray = array, self.array
        copy.WidthInBytes, copy.Height = row, height
        copy.Depth = texture.layers if texture.layered else depth
        self._check(driver.cuMemcpy3D(copy), "copying a texture")

    @property
    def writable(self) -> bool:
        """Whether kernels may have written to it."""
        return self._texture.writable

    def fetch(self) -> None:
        """Bring a surface's texels back into its array."""
        if self.writable:
            self._copy(to_device=False)

    def close(self) -> None:
        """Give everything back to the driver."""
        driver = self._driver
        if self.handle:
            destroy = driver.cuTexObjectDestroy if self._sampled else driver.cuSurfObjectDestroy
            destroy(self.handle)
        if self.memory is not None:
            driver.cuMemFree(self.memory)
        else:
            driver.cuArrayDestroy(self.array)
