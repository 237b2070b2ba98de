"""``device="cpu"``: kernels on numpy arrays, in place, without a GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxkit._native import Heap
from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxkitError, UnknownNameError
from ptxkit.run.arguments import check_count, pack_scalar
from ptxkit.run.globals import BufferRow
from ptxkit.run.layout import Item, align, kernel_layout
from ptxkit.run.lower import Lowering, ModuleContext
from ptxkit.run.shape import LaunchError, LaunchRules, LaunchShape, launch_shape, require_cluster
from ptxkit.syntax import Function, Instruction, Module

#: Bytes that malloc in kernels gives out at most, as on a GPU unless it is told otherwise.
DEFAULT_HEAP = 8 << 20
#: Words that a cooperative launch gives to what waits for the whole grid.
_WORKSPACE = 256


class SimulationError(PtxkitError):
    """A kernel did what a debugger would stop at.

    ``kind`` is such as ``"out-of-bounds"``, ``"misaligned"``, ``"deadlock"``,
    ``"step-limit"``, ``"trap"``; ``diagnostic`` has line and column of the instruction.
    """

    def __init__(
        self,
        kind: str,
        diagnostic: Diagnostic,
        thread: tuple[int, int, int],
        block: tuple[int, int, int],
        address: int,
    ) -> None:
        super().__init__(kind, diagnostic, thread, block, address)
        self.kind = kind
        self.diagnostic = diagnostic
        self.thread = thread
        self.block = block
        self.address = address
        self.line = diagnostic.line

    def __str__(self) -> str:
        return f"{self.diagnostic.render()}\nin thread {self.thread} of block {self.block}"


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a launch did.

    ``output`` is what the kernel printed; ``counts`` the executions of every instruction, if they
    were counted; ``allocations`` what malloc gave and nobody has freed yet, in this or an earlier
    launch: the bytes, and the line of the call.
    """

    warp_instructions: int
    counts: tuple[tuple[Instruction, int], ...] = ()
    output: str = ""
    allocations: tuple[tuple[int, int], ...] = ()


class CpuKernel:
    """A kernel on the simulator. ``k[grid, block](*args)`` runs it."""

    def __init__(self, context: ModuleContext, function: Function, heap: Heap) -> None:
        self.module = context.module
        self.function = function
        self.name = function.name
        self.rules = LaunchRules.of(function)
        self.parameters: list[Item]
        self.parameters, self._parameter_bytes = kernel_layout(function)
        self._memory = context.memory
        self._heap = heap
        lowering = Lowering(context)
        lowering.lower(function)
        if lowering.dynamic_alignment and lowering.shared_top:
            # Dynamic arrays begin where the static ones of all called functions end.
            lowering = Lowering(context, align(lowering.shared_top, lowering.dynamic_alignment))
            lowering.lower(function)
        self._program = lowering.program

    def __getitem__(self, key: tuple[Any, ...] | Any) -> Launcher:
        return Launcher(self, launch_shape(self.name, self.rules, key))

    def run(
        self,
        shape: LaunchShape,
        arguments: Sequence[Any],
        *,
        threads: int | None = None,
        step_limit: int = 0,
        count: bool = False,
    ) -> RunReport:
        """Run the kernel; see :class:`Launcher`."""
        require_cluster(self.name, self.rules, shape)
        check_count(self.name, self.parameters, arguments)
        data = bytearray(max(self._parameter_bytes, 1))
        buffers: list[BufferRow] = []
        keep: list[Any] = []
        for item, value in zip(self.parameters, arguments, strict=True):
            packed = self._pack(item, value, buffers, keep)
            data[item.offset : item.offset + len(packed)] = packed
        cluster = shape.cluster or (1, 1, 1)
        grid = shape.grid
        if self.rules.blocks_are_clusters:
            x, y, z = (blocks * size for blocks, size in zip(grid, cluster, strict=True))
            grid = x, y, z
        workspace = np.zeros(_WORKSPACE, np.uint32)
        if shape.cooperative:
            workspace[0] = workspace.nbytes
            place = workspace.ctypes.data
            buffers.append((place, workspace.nbytes, True, "the workspace of the grid", False))
        output: list[str] = []

        def show(text: bytes) -> None:
            output.append(text.decode("utf-8", "replace"))
            sys.stdout.write(output[-1])

        result = self._program.run(
            bytes(data), buffers + self._memory.buffers, grid, shape.block, cluster, shape.shared,
            threads or os.cpu_count() or 1, step_limit, count, shape.cluster is not None,
            workspace.ctypes.data if shape.cooperative else 0, self._heap, show,
        )  # fmt: skip
        if "fault" in result:
            raise self._error(result["fault"])
        counts: tuple[tuple[Instruction, int], ...] = ()
        if count:
            nodes = self.module.walk()
            counts = tuple(
                (nodes[node - 1], executed)
                for _, node, executed in result["counts"]
                if nodes[node - 1].kind == "Instruction"
            )
        return RunReport(result["instructions"], counts, "".join(output), self._allocations())

    def _allocations(self) -> tuple[tuple[int, int], ...]:
        found = self._heap.allocations()
        if not found:
            return ()
        nodes = self.module.walk()
        return tuple((size, nodes[node - 1].line) for _, size, node in found)

    def _pack(self, item: Item, value: Any, buffers: list[BufferRow], keep: list[Any]) -> bytes:
        if isinstance(value, np.ndarray) and not item.is_array:
            if item.size != 8:
                raise LaunchError(
                    f"argument '{item.name}' of '{self.name}' is .{item.type}, not a pointer; "
                    "an array cannot be passed there"
                )
            if not value.flags.c_contiguous:
                raise LaunchError(
                    f"argument '{item.name}' of '{self.name}' is not contiguous; pass "
                    "numpy.ascontiguousarray(x)"
                )
            address = value.ctypes.data
            buffers.append(
                (address, value.nbytes, value.flags.writeable, f"argument '{item.name}'", False)
            )
            keep.append(value)
            return address.to_bytes(8, "little")
        if value is None and item.size == 8:
            return bytes(8)
        return pack_scalar(self.name, item, value)

    def _error(self, fault: dict[str, Any]) -> SimulationError:
        node = self.module.walk()[fault["node"] - 1] if fault["node"] else self.function
        diagnostic = self.module.diagnostic(
            "error", fault["kind"], f"{fault['message']} (in '{self.name}')", node.span
        )
        return SimulationError(
            fault["kind"], diagnostic, fault["thread"], fault["block"], fault["address"]
        )


@dataclass(frozen=True, slots=True)
class Launcher:
    """A kernel with the shape of its launch; call it with the arguments."""

    kernel: CpuKernel
    shape: LaunchShape

    def with_options(
        self, *, cluster: int | Sequence[int] | None = None, cooperative: bool = False
    ) -> Launcher:
        """The same launch in clusters of blocks, or with all blocks running at once."""
        shape = self.shape
        key = (shape.grid, shape.block, shape.shared, shape.stream)
        kernel = self.kernel
        return Launcher(
            kernel,
            launch_shape(kernel.name, kernel.rules, key, cluster=cluster, cooperative=cooperative),
        )

    def __call__(self, *arguments: Any, **options: Any) -> RunReport:
        """Run. Options: ``threads``, ``step_limit``, ``count``."""
        return self.kernel.run(self.shape, arguments, **options)


class CpuModule:
    """A module loaded on the simulator."""

    def __init__(self, module: Module, *, heap_bytes: int = DEFAULT_HEAP) -> None:
        self.module = module
        self._context = ModuleContext(module)
        self._memory = self._context.memory
        self._heap = Heap(heap_bytes)
        self._kernels: dict[str, CpuKernel] = {}

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(function.name for function in self.module.kernels)

    def __getitem__(self, name: str) -> CpuKernel:
        if name not in self._kernels:
            if name not in self.module or not self.module[name].is_entry:
                raise UnknownNameError("kernel", name, self.kernels)
            self._kernels[name] = CpuKernel(self._context, self.module[name], self._heap)
        return self._kernels[name]

    def variable(self, name: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes of a module variable, as the kernels see them."""
        if name not in self._memory.arrays:
            raise UnknownNameError("variable", name, self._memory.arrays)
        return self._memory.arrays[name]
