"""``device="cpu"``: kernels on numpy arrays, in place, without a GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from ptxkit._native import Heap
from ptxkit.errors import UnknownNameError
from ptxkit.run.arguments import check_count, describe_kernel, describe_module, pack_scalar
from ptxkit.run.counts import Counts, Shown
from ptxkit.run.findings import Finding, SimulationError, describe_waiting
from ptxkit.run.globals import BufferRow
from ptxkit.run.guards import apart, bring_back
from ptxkit.run.layout import MAX_SHARED, MOST_PARAMETER_BYTES, Item, align
from ptxkit.run.lower import Lowering
from ptxkit.run.module_context import ModuleContext
from ptxkit.run.observe import Observable
from ptxkit.run.options import RunOptions
from ptxkit.run.places import source_place
from ptxkit.run.profile import ProfileRow
from ptxkit.run.shape import (
    LaunchError,
    LaunchRules,
    LaunchShape,
    how_to_launch,
    launch_shape,
    pick_kernel,
    require_cluster,
)
from ptxkit.run.textual import NUMPY_TYPES
from ptxkit.run.textures import Surface
from ptxkit.run.trace import Trace
from ptxkit.run.watch import Digest, Sanitize, TraceRequest
from ptxkit.syntax import Function, Instruction, Module

#: Bytes that malloc in kernels gives out at most, as on a GPU unless it is told otherwise.
DEFAULT_HEAP = 8 << 20
#: What to do about a fault, by its kind.
_HINTS = {
    "stack-overflow": "end the recursion earlier, or launch with stack_bytes=... (--stack-bytes)",
    "step-limit": "if it is to run longer, launch with a larger step_limit= (--step-limit)",
    "time-limit": "if it is to run longer, launch with a larger time_limit= (--time-limit)",
}
_NO_DYNAMIC = (
    "the kernel uses dynamic shared memory (.extern .shared), and the launch gives it none: "
    "k[grid, block, shared_bytes] (--shared BYTES)"
)
#: How the simulator's message begins where an access misses shared memory.
_MISSES_SHARED = "shared memory has "
#: Words that a cooperative launch gives to what waits for the whole grid.
_WORKSPACE = 256


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a launch did.

    ``output`` is what the kernel printed; ``counts`` the executions of every instruction, if they
    were counted; ``allocations`` what malloc gave and nobody has freed yet, in this or an earlier
    launch: the bytes, and the line of the call.
    """

    warp_instructions: int
    counts: Counts = field(default_factory=Counts)
    output: str = ""
    allocations: tuple[tuple[int, int], ...] = ()
    sides: Shown = field(default_factory=Shown)
    """Where executions were counted, for each operation that chooses or cuts something off: its
    instruction, its number, and as bits the sides that came and all that there are."""
    profile: tuple[ProfileRow, ...] = ()
    """Counts of divergence, sectors and bank conflicts, with ``profile=True``."""
    findings: tuple[Finding, ...] = ()
    """What the sanitizer found, with ``sanitize="report"``."""
    trace: Trace | None = None
    """What one thread did, where one was traced."""
    digests: tuple[Digest, ...] = ()
    """The sums at each of the ``points`` that were asked for."""
    conflicts: frozenset[int] | None = None
    """With ``conflicts=True`` the addresses of the bytes of global memory that depend on which of
    two threads comes first, though nothing puts them in an order; None where it is not known."""


def _check_array(value: Any, what: str) -> None:
    """Refuse what is no plain memory: kernels write bytes wherever an array says it lies."""
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise LaunchError(f"{what} must be a numpy array, not {type(value).__name__}")
    if value.dtype.hasobject:
        raise LaunchError(f"{what} holds Python objects; pass an array of numbers")
    if not value.flags.c_contiguous:
        raise LaunchError(f"{what} is not contiguous; pass numpy.ascontiguousarray(x)")


class CpuKernel:
    """A kernel on the simulator. ``k[grid, block](*args)`` runs it."""

    def __init__(
        self,
        context: ModuleContext,
        function: Function,
        heap: Heap,
        sanitize: Sanitize = False,
    ) -> None:
        self.module = context.module
        self.sanitize = sanitize
        self.function = function
        self.name = function.name
        context.check(function)
        self.rules = LaunchRules.of(function)
        self.parameters: list[Item]
        self.parameters, self._parameter_bytes = context.layout(function)
        if self._parameter_bytes > MOST_PARAMETER_BYTES:
            raise LaunchError(
                f"the parameters of '{self.name}' take {self._parameter_bytes:,} bytes; "
                f"{MOST_PARAMETER_BYTES:,} are the most; pass a pointer to the data"
            )
        self._memory = context.memory
        self._heap = heap
        self._context = context
        self._lowering = self._lower(padding=0)
        self._observables: dict[int, Observable] = {}
        self._counted: dict[int, tuple[tuple[Instruction, ...], Any]] = {}
        """For each lowering the instructions of its operations, and which operations have one."""

    def _lower(self, padding: int) -> Lowering:
        lowering = Lowering(self._context, padding=padding)
        lowering.lower(self.function)
        if lowering.dynamic_alignment and lowering.shared_top:
            # Dynamic arrays begin where the static ones of all called functions end.
            base = align(lowering.shared_top, lowering.dynamic_alignment)
            lowering = Lowering(self._context, base, padding)
            lowering.lower(self.function)
        return lowering

    def _observable(self, padding: int) -> Observable:
        """The kernel as observers see it, with ``padding`` bytes between shared variables."""
        if padding not in self._observables:
            lowering = self._lower(padding) if padding else self._lowering
            self._observables[padding] = Observable(lowering)
        return self._observables[padding]

    def __repr__(self) -> str:
        return describe_kernel(self.name, self.parameters, "cpu")

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        """A kernel is launched with its grid and block; this says so."""
        raise how_to_launch(self.name)

    def __getitem__(self, key: tuple[Any, ...] | Any) -> Launcher:
        shape = launch_shape(self.name, self.rules, key)
        if shape.stream is not None:
            from ptxkit.run.cuda_arrays import stream_handle

            stream_handle(shape.stream)  # nothing waits here, but a GPU would refuse it
        return Launcher(self, shape)

    def run(
        self,
        shape: LaunchShape,
        arguments: Sequence[Any],
        **given: Any,
    ) -> RunReport:
        """Run the kernel; see :class:`Launcher`."""
        options = RunOptions.of(self.name, {"sanitize": self.sanitize, **given})
        watch = options.watch
        require_cluster(self.name, self.rules, shape)
        if shape.shared > MAX_SHARED:
            raise LaunchError(f"a block has {MAX_SHARED:,} bytes of shared memory at most")
        check_count(self.name, self.parameters, arguments)
        arguments, moved = apart(arguments) if watch.sanitize else (arguments, [])
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

        for number, array in enumerate(options.memory):
            _check_array(array, f"memory[{number}] of '{self.name}'")
            writable = bool(array.flags.writeable)
            buffers.append((array.ctypes.data, array.nbytes, writable, f"memory[{number}]", False))
        if watch.trace is not None:
            watch.trace.check(grid, shape.block)
        observable = self._observable(watch.padding) if watch else None
        observation = observable.watch(watch) if observable is not None else None
        before = {address for address, _, _ in self._heap.allocations()} if watch.sanitize else None
        lowering = self._lowering if observable is None else observable.lowering
        result = lowering.program.run(
            bytes(data), buffers + self._memory.buffers, grid, shape.block, cluster, shape.shared,
            options.threads or os.cpu_count() or 1, options.step_limit, bool(options.count),
            shape.cluster is not None, workspace.ctypes.data if shape.cooperative else 0,
            self._heap, show, options.time_limit, observation, options.stack_bytes,
            bool(options.descending),
        )  # fmt: skip
        bring_back(moved)
        seen: dict[str, Any] = {}
        if observable is not None and observation is not None:
            seen = observable.read(observation, watch)
        counts, sides = Counts(), Shown()
        if options.count:
            counts = self._counts(lowering, result["counts"])
            sides = Shown(self.module.walk(), result["sides"])
        if "fault" in result:
            error = self._error(result["fault"], seen, shape)
            error.counts = counts
            error.warp_instructions = result["instructions"]
            raise error
        if before is not None and observable is not None:
            lost = [row for row in self._heap.allocations() if row[0] not in before]
            seen["findings"] += observable.leaks(lost)
        if watch.sanitize is True and any(one.severity != "note" for one in seen["findings"]):
            error = SimulationError.of(seen["findings"])
            error.trace = seen["trace"]
            raise error
        shown = "".join(output)
        return RunReport(result["instructions"], counts, shown, self._allocations(), sides, **seen)

    def trace(
        self,
        *launch: Any,
        thread: Any = 0,
        block: Any = 0,
        limit: int = 100_000,
        last: bool = False,
        **options: Any,
    ) -> Any:
        """What one thread does: ``k.trace(grid, block, *args, thread=(0, 0, 0))``.

        Without a grid it gives the kernel as something to launch the usual way:
        ``k.trace(thread=(0, 0, 0))[grid, block](*args)``. The result is a
        :class:`~ptxkit.run.trace.Trace`, a sequence of records. ``thread`` and ``block`` say
        which thread of which block; of more than ``limit`` instructions the first are kept,
        or the ``last``. A fault is raised as ever, and the error's ``trace`` has the records.
        """
        request = TraceRequest.of(thread, block, limit=limit, last=last)
        tracer = Tracer(self, request, options)
        if not launch:
            return tracer
        if len(launch) < 2:
            raise LaunchError(f"trace '{self.name}' as k.trace(grid, block, *args, thread=...)")
        return tracer[launch[0], launch[1]](*launch[2:])

    def _counts(self, lowering: Lowering, rows: Sequence[tuple[int, int, int]]) -> Counts:
        """What was counted of operations that instructions stand for."""
        key = id(lowering)  # it lives as long as the kernel
        if key not in self._counted:
            nodes = self.module.walk()
            places = [k for k, row in enumerate(rows) if nodes[row[1] - 1].kind == "Instruction"]
            instructions = tuple(nodes[rows[k][1] - 1] for k in places)
            self._counted[key] = instructions, np.array(places, np.int64)
        instructions, chosen = self._counted[key]
        executed = np.array([row[2] for row in rows], np.int64)[chosen]
        return Counts(instructions, executed)

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
            _check_array(value, f"argument '{item.name}' of '{self.name}'")
            address = value.ctypes.data
            buffers.append(
                (address, value.nbytes, value.flags.writeable, f"argument '{item.name}'", False)
            )
            keep.append(value)
            return address.to_bytes(8, "little")
        if isinstance(value, Surface) and item.size == 8:
            buffers.append(value.buffer(f"argument '{item.name}'"))
            keep.append(value)
            return value.handle.to_bytes(8, "little")
        if value is None and item.size == 8:
            return bytes(8)
        return pack_scalar(self.name, item, value)

    def _hint(self, fault: dict[str, Any], shape: LaunchShape) -> str | None:
        """What to do about a fault."""
        misses_shared = fault["message"].startswith(_MISSES_SHARED)
        if misses_shared and self._lowering.dynamic_alignment and not shape.shared:
            return _NO_DYNAMIC
        return _HINTS.get(fault["kind"])

    def _error(
        self, fault: dict[str, Any], seen: dict[str, Any], shape: LaunchShape
    ) -> SimulationError:
        nodes = self.module.walk()
        node = nodes[fault["node"] - 1] if fault["node"] else self.function
        waiting: dict[tuple[int, str], int] = {}
        for number, why, threads in fault["waiting"]:
            place = nodes[number - 1].line, why
            waiting[place] = waiting.get(place, 0) + threads
        message = f"{fault['message']}{describe_waiting(waiting)} (in '{self.name}')"
        diagnostic = self.module.diagnostic(
            "error", fault["kind"], message, node.span, self._hint(fault, shape)
        )
        error = SimulationError(
            fault["kind"],
            diagnostic,
            fault["thread"],
            fault["block"],
            fault["address"],
            source_place(self.module, node),
            seen.get("findings", ()),
        )
        error.trace = seen.get("trace")
        return error


@dataclass(frozen=True, slots=True)
class Launcher:
    """A kernel with the shape of its launch; call it with the arguments."""

    kernel: CpuKernel
    shape: LaunchShape

    def __repr__(self) -> str:
        return f"<launch {self.kernel.name}{self.shape} on cpu>"

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
        """Run. Options: ``threads``; ``step_limit`` (warp instructions of a block) and
        ``time_limit`` (seconds), 0 for none; ``stack_bytes`` (of a thread, for its calls);
        ``descending`` (the last blocks, warps and lanes first; a result that changes depends on an
        order that nobody promises); ``count``, ``profile``; ``sanitize`` (``True`` raises what was
        found, ``"report"`` gives it in the report), ``findings_limit``. ``memory`` is arrays that
        the kernel reaches through addresses inside of structs, ``array.ctypes.data`` each.
        """
        return self.kernel.run(self.shape, arguments, **options)

    def trace(self, *arguments: Any, **options: Any) -> Trace:
        """What one thread does in this launch; options as of :meth:`CpuKernel.trace`."""
        tracer: Tracer = self.kernel.trace(**options)
        return tracer.run(self, arguments)


@dataclass(frozen=True, slots=True)
class Tracer:
    """A kernel of which one thread is traced: launch it as ``[grid, block](*args)``."""

    kernel: CpuKernel
    request: TraceRequest
    options: dict[str, Any]

    def __getitem__(self, key: Any) -> Callable[..., Trace]:
        launcher = self.kernel[key]
        return lambda *arguments: self.run(launcher, arguments)

    def run(self, launcher: Launcher, arguments: tuple[Any, ...]) -> Trace:
        """The trace of a launch."""
        report = launcher(*arguments, trace=self.request, **self.options)
        assert report.trace is not None
        return report.trace


class CpuModule:
    """A module loaded on the simulator."""

    def __init__(
        self,
        module: Module,
        *,
        heap_bytes: int = DEFAULT_HEAP,
        sanitize: Sanitize = False,
        check: bool = True,
    ) -> None:
        self.module = module
        self.sanitize = sanitize
        self._context = ModuleContext(module, check=check)
        self._memory = self._context.memory
        self._heap = Heap(heap_bytes)
        self._kernels: dict[str, CpuKernel] = {}

    def __repr__(self) -> str:
        return describe_module(self.module, "cpu")

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(function.name for function in self.module.kernels)

    def __getitem__(self, name: str) -> CpuKernel:
        """The kernel of that name, as it stands in the PTX or in C++."""
        found = self._kernels.get(name) if isinstance(name, str) else None
        if found is None:
            function = pick_kernel(self.module, name)
            found = self._kernels.get(function.name)
            if found is None:
                found = CpuKernel(self._context, function, self._heap, self.sanitize)
            self._kernels[name] = self._kernels[function.name] = found
        return found

    def bind(self, name: str, texture: Surface) -> None:
        """Give a texture or surface to a ``.texref`` or ``.surfref`` of the module."""
        self._memory.bind(name, texture)

    def variable(self, name: str) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The bytes of a module variable, as the kernels see them."""
        if name not in self._memory.arrays:
            raise UnknownNameError("variable", name, self._memory.arrays)
        return self._memory.arrays[name]

    @property
    def addresses(self) -> dict[str, tuple[int, int]]:
        """Where variables and functions lie, as kernels see it: the first byte, and how many.

        >>> import ptxkit
        >>> text = ".version 8.0 .target sm_80 .global .u32 a[3]; .global .u64 p = generic(a);"
        >>> m = ptxkit.parse(text)
        >>> loaded = ptxkit.load(m)
        >>> loaded.variable_array("p").item() == loaded.addresses["a"][0]
        True
        """
        memory = self._memory
        found = {name: (address, 1) for name, address in memory.functions.items()}
        found |= {name: (at, memory.arrays[name].nbytes) for name, at in memory.addresses.items()}
        return found

    def variable_array(self, name: str) -> np.ndarray[Any, Any]:
        """A module variable as an array of its type and shape; writing to it sets it.

        >>> import ptxkit
        >>> m = ptxkit.parse(".version 8.0\\n.target sm_80\\n.global .s32 n[3] = {1, -2, 3};")
        >>> ptxkit.load(m).variable_array("n")
        array([ 1, -2,  3], dtype=int32)
        """
        data = self.variable(name)
        for variable in self.module.variables:
            for one in variable.declarators:
                if one.name == name:
                    shape = [-1, *(extent or 0 for extent in one.dimensions[1:])]
                    if variable.vector > 1:
                        shape = [*(one.dimensions and shape), variable.vector]
                    values = data.view(NUMPY_TYPES.get(variable.type, np.uint8))
                    return values.reshape(shape if one.dimensions or variable.vector > 1 else ())
        return data
