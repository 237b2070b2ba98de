"""A kernel on the GPU, and its launches.

The common launch never comes here: ``k[grid, block](x, y, 2.0, n)`` with arrays on the GPU
and numbers is done in native/bindings_launch.cpp. These classes prepare it once for every
shape and device, take the uncommon arguments, and word the errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ptxkit._native import GpuKernel, GpuLauncher, finished_launches
from ptxkit.isa.types import BITS, FLOAT, SCALAR_TYPES
from ptxkit.run.arguments import check_count, describe_kernel, pack_scalar
from ptxkit.run.cuda_arrays import current_stream, library_stream, memory_of, stream_handle
from ptxkit.run.cuda_copies import Copies
from ptxkit.run.cuda_driver import attribute, check, context, current, current_device
from ptxkit.run.cuda_faults import argument_text, fault, label, launch_text
from ptxkit.run.layout import Item, kernel_layout
from ptxkit.run.shape import (
    LaunchError,
    LaunchRules,
    LaunchShape,
    how_to_launch,
    launch_shape,
    require_cluster,
)
from ptxkit.run.textures import Surface
from ptxkit.syntax import Function

if TYPE_CHECKING:
    from ptxkit.run.cuda import CudaModule

_PORTABLE_CLUSTER = 8  # blocks: what every GPU with clusters can do


def _kind(item: Item) -> str:
    scalar = SCALAR_TYPES[item.type]
    if item.is_array or item.size * 8 != scalar.width:
        return "struct"
    return {FLOAT: "float", BITS: "bits"}.get(scalar.kind, "integer")


class CudaKernel(GpuKernel):
    """A kernel on the GPU. ``k[grid, block, shared_bytes, stream](*args)`` launches it."""

    def __init__(self, owner: CudaModule, function: Function) -> None:
        self.name = function.name
        self.rules = LaunchRules.of(function)
        self.parameters: list[Item]
        self.parameters, self.parameter_bytes = kernel_layout(function)
        self.owner = owner
        rows = [(one.offset, one.size, _kind(one), label(one)) for one in self.parameters]
        super().__init__(self.name, rows, self.parameter_bytes)

    def __repr__(self) -> str:
        return describe_kernel(self.name, self.parameters, "cuda")

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        """A kernel is launched with its grid and block; this says so."""
        raise how_to_launch(self.name)

    def _launcher(self, key: Any) -> CudaLauncher:
        """Make what ``k[key]`` gives; it is kept and given again for an equal key."""
        return CudaLauncher(self, launch_shape(self.name, self.rules, key))

    def time(
        self,
        grid: Any,
        block: Any,
        *arguments: Any,
        shared: int = 0,
        stream: Any = None,
        repeat: int = 20,
        warm_up: int = 3,
    ) -> float:
        """The median milliseconds of a launch, by events on the GPU.

        ``k[grid, block].time(*arguments)`` is the same.
        """
        launcher: CudaLauncher = self[grid, block, shared, stream]
        return launcher.time(*arguments, repeat=repeat, warm_up=warm_up)

    if TYPE_CHECKING:

        def __getitem__(self, key: Any) -> CudaLauncher: ...


class CudaLauncher(GpuLauncher):
    """A kernel with the shape of its launch; call it with the arguments."""

    def __init__(self, kernel: CudaKernel, shape: LaunchShape) -> None:
        self.kernel, self.shape = kernel, shape
        super().__init__(
            kernel,
            shape.grid,
            shape.block,
            shape.shared,
            shape.cluster or (0, 0, 0),
            shape.cooperative,
            stream_handle(shape.stream),
            -1 if kernel.owner.device is None else kernel.owner.device,
        )

    def __repr__(self) -> str:
        return f"<launch {self.kernel.name}{self.shape} on cuda>"

    def with_options(
        self, *, cluster: int | Sequence[int] | None = None, cooperative: bool = False
    ) -> CudaLauncher:
        """The same launch in clusters of blocks, or with all blocks running at once."""
        kernel, shape = self.kernel, self.shape
        key = (shape.grid, shape.block, shape.shared, shape.stream)
        return CudaLauncher(
            kernel,
            launch_shape(kernel.name, kernel.rules, key, cluster=cluster, cooperative=cooperative),
        )

    def _general(self, arguments: tuple[Any, ...]) -> None:
        """Launch with any arguments."""
        self._with(arguments, lambda device, stream, data: self.run_packed(device, stream, data))

    def _refuse(self, options: dict[str, Any]) -> None:
        names = ", ".join(f"{name}=" for name in options)
        raise LaunchError(f"{names} is for the simulator; a launch on the GPU takes no options")

    def _failed(self, about: tuple[int, int, tuple[Any, ...]]) -> None:
        status, device, arguments = about
        raise self._fault(status, device, arguments)

    def _fault(self, status: int, device: int, arguments: Sequence[Any]) -> Exception:
        shown = [
            argument_text(item, value)
            for item, value in zip(self.kernel.parameters, arguments, strict=True)
        ]
        return fault(status, launch_text(self.kernel.name, self.shape, shown), device)

    def time(self, *arguments: Any, repeat: int = 20, warm_up: int = 3) -> float:
        """The median milliseconds of a launch, by events on the GPU."""
        times: list[float] = []

        def measured(device: int, stream: int, data: bytes) -> int:
            with current(device) as driver:
                begin, end = (check(driver.cuEventCreate(0), "making an event") for _ in "be")
                try:
                    for _ in range(warm_up + max(repeat, 1)):
                        check(driver.cuEventRecord(begin, stream), "recording an event")
                        status = self.run_packed(device, stream, data)
                        check(driver.cuEventRecord(end, stream), "recording an event")
                        status = status or int(driver.cuEventSynchronize(end)[0])
                        if status != 0:
                            return status
                        times.append(check(driver.cuEventElapsedTime(begin, end), "timing"))
                    finished_launches(context(device), stream)
                finally:
                    driver.cuEventDestroy(begin)
                    driver.cuEventDestroy(end)
            return 0

        self._with(arguments, measured)
        return median(times[warm_up:])

    def _with(self, arguments: tuple[Any, ...], launch: Callable[[int, int, bytes], int]) -> None:
        """Pack the arguments, copying those of numpy in and out, around one launch."""
        kernel = self.kernel
        check_count(kernel.name, kernel.parameters, arguments)
        device = self._device(arguments)
        if not self.is_ready(device):
            self.prepare(device)
        with current(device) as driver:
            stream = self._stream(arguments, device)
            copies = Copies(driver, device, stream)
            try:
                status = launch(device, stream, self._pack(arguments, device, stream, copies))
                if status == 0 and copies:
                    status = copies.download()
                if status != 0:
                    raise self._fault(status, device, arguments)
            finally:
                copies.free()

    def _device(self, arguments: Sequence[Any]) -> int:
        """The GPU to launch on: that of the module or of the first array, else this thread's."""
        fixed = self.kernel.owner.device
        if fixed is not None:
            return fixed
        for item, value in zip(self.kernel.parameters, arguments, strict=True):
            if item.size == 8 and not isinstance(value, (np.ndarray, np.generic, int, float)):
                memory = memory_of(self._where(item), value, 0)
                if memory is not None and memory.device is not None:
                    return memory.device
        return current_device()

    def _stream(self, arguments: Sequence[Any], device: int) -> int:
        given = stream_handle(self.shape.stream)
        if given is not None:
            return given
        for value in arguments:
            found = library_stream(value, device)
            if found is not None:
                return found
        return current_stream(device)

    def _where(self, item: Item) -> str:
        return f"argument '{item.name}' of '{self.kernel.name}'"

    def _pack(self, arguments: Sequence[Any], device: int, stream: int, copies: Copies) -> bytes:
        """The bytes of the parameters."""
        kernel = self.kernel
        words: list[tuple[Item, bytes | np.ndarray[Any, Any]]] = []
        for item, value in zip(kernel.parameters, arguments, strict=True):
            is_number = isinstance(value, (int, float, np.generic, bytes))
            if isinstance(value, np.ndarray) and not item.is_array:
                if item.size != 8 or _kind(item) == "float":
                    raise LaunchError(
                        f"{self._where(item)} is .{item.type}, not a pointer; "
                        "an array cannot be passed there"
                    )
                copies.add(self._where(item), value)
                words.append((item, value))
            elif isinstance(value, Surface) and item.size == 8:
                words.append((item, copies.add_texture(value).to_bytes(8, "little")))
            elif value is None and item.size == 8:
                words.append((item, bytes(8)))
            elif item.size == 8 and not is_number:
                words.append((item, self._address(item, value, device, stream)))
            else:
                words.append((item, pack_scalar(kernel.name, item, value)))
        if copies:
            copies.upload()
        data = bytearray(kernel.parameter_bytes)
        for item, word in words:
            if isinstance(word, np.ndarray):
                word = copies.address(word).to_bytes(8, "little")
            data[item.offset : item.offset + item.size] = word
        return bytes(data)

    def _address(self, item: Item, value: Any, device: int, stream: int) -> bytes:
        memory = memory_of(self._where(item), value, stream)
        if memory is None:
            return pack_scalar(self.kernel.name, item, value)
        if memory.device not in (None, device):
            raise LaunchError(
                f"{self._where(item)} lies on GPU {memory.device}, and the launch is on GPU "
                f"{device}; move it there, or pass its address if that GPU can reach it"
            )
        return memory.address.to_bytes(8, "little")

    def prepare(self, device: int) -> None:
        """Check the launch against a GPU and load the kernel there. Done once for each GPU."""
        kernel, shape = self.kernel, self.shape
        require_cluster(kernel.name, kernel.rules, shape)
        with current(device) as driver:
            function = kernel.owner.function(device, kernel.name)
            self._check_threads(driver, function)
            self._allow_shared(driver, function, device)
            self._allow_cluster(driver, function, device)
            if shape.cooperative:
                self._check_resident(driver, function, device)
        self.make_ready(device, context(device), int(function))

    def _of_function(self, driver: Any, function: Any, name: str) -> int:
        wanted = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
        return int(check(driver.cuFuncGetAttribute(wanted, function), f"asking for {name}"))

    def _check_threads(self, driver: Any, function: Any) -> None:
        most = self._of_function(driver, function, "MAX_THREADS_PER_BLOCK")
        threads = math.prod(self.shape.block)
        if threads > most:
            registers = self._of_function(driver, function, "NUM_REGS")
            raise LaunchError(
                f"'{self.kernel.name}' takes {registers} registers a thread, so its block has "
                f"{most} threads at most on this GPU, not {threads}"
            )

    def _allow_shared(self, driver: Any, function: Any, device: int) -> None:
        fixed = self._of_function(driver, function, "SHARED_SIZE_BYTES")
        asked = self.shape.shared
        most = attribute(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
        if fixed + asked > most:
            raise LaunchError(
                f"a block of '{self.kernel.name}' would take {fixed + asked} bytes of shared "
                f"memory ({fixed} of its own and {asked} asked for); this GPU has {most}"
            )
        if asked > self._of_function(driver, function, "MAX_DYNAMIC_SHARED_SIZE_BYTES"):
            wanted = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            check(driver.cuFuncSetAttribute(function, wanted, asked), "asking for shared memory")

    def _allow_cluster(self, driver: Any, function: Any, device: int) -> None:
        cluster = self.shape.cluster
        if cluster is None or math.prod(cluster) == 1:
            return
        if not attribute(device, "CLUSTER_LAUNCH"):
            raise LaunchError("this GPU has no clusters of blocks; they begin with sm_90")
        if math.prod(cluster) > _PORTABLE_CLUSTER:
            wanted = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            check(driver.cuFuncSetAttribute(function, wanted, 1), "asking for a large cluster")

    def _check_resident(self, driver: Any, function: Any, device: int) -> None:
        shape = self.shape
        on_one = check(
            driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                function, math.prod(shape.block), shape.shared
            ),
            "asking how many blocks fit",
        )
        most = int(on_one) * attribute(device, "MULTIPROCESSOR_COUNT")
        blocks = math.prod(shape.grid)
        if blocks > most:
            raise LaunchError(
                f"a cooperative launch of '{self.kernel.name}' needs all {blocks} blocks running "
                f"at once; this GPU holds {most} of them"
            )
