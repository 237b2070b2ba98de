"""Launches of generated kernels: inputs, Warp's CPU backend, the simulator.

Warp passes a kernel the bounds of the launch and every array as structs by value. Their
layouts are Warp's, the same from 1.17 to 1.19.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ptxkit.run import CpuModule
from ptxkit.synth.streams import Stream
from ptxkit.synth.warp import tree
from ptxkit.synth.warp.adapter import BLOCK, Batch, Warp
from ptxkit.synth.warp.types import Type

Array = np.ndarray[Any, Any]
Values = dict[str, Any]
Place = Callable[[Array], int]
_STEPS = 2_000_000
_SHARED = 32 << 10  # more than any tile of the grammar needs
_DIMENSIONS = 4


def host_place(array: Array) -> int:
    """The address of an array in this process."""
    return int(array.ctypes.data)


def inputs(program: tree.Program, stream: Stream) -> Values:
    """Random values for every parameter: arrays, numpy numbers, dictionaries for structs."""
    structs = {item.name: item for item in program.structs}
    return {
        item.name: {part.name: _value(part, stream) for part in structs[item.struct].fields}
        if item.struct
        else _value(item, stream)
        for item in program.parameters
    }


def _value(item: tree.Parameter, stream: Stream) -> Any:
    shape = (*item.shape, *item.type.shape)
    dtype = item.type.scalar.dtype
    if item.role == "output":
        return np.zeros(shape, dtype)
    if item.role == "permutation":
        return np.asarray(stream.shuffled(range(prod(shape))), dtype=dtype)
    if item.type.is_real:
        return stream.reals(shape, item.low, item.high).astype(dtype)[()]
    return stream.integers(shape, int(item.low), int(item.high)).astype(dtype)[()]


def copied(values: Values) -> Values:
    """The values with arrays of their own."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }


def arrays_of(program: tree.Program) -> list[tree.Parameter]:
    """The parameters that are arrays."""
    return [item for item in program.parameters if item.is_array]


def differentiable(program: tree.Program) -> list[tree.Parameter]:
    """The arrays that have gradients."""
    return [item for item in arrays_of(program) if item.type.is_real]


@dataclass(slots=True)
class Result:
    """What a launch left in the arrays, and in their gradients where it was differentiated."""

    values: dict[str, Array] = field(default_factory=dict)
    gradients: dict[str, Array] = field(default_factory=dict)


def on_warp_cpu(
    warp: Warp,
    batch: Batch,
    number: int,
    program: tree.Program,
    values: Values,
    seeds: dict[str, Array] | None,
) -> Result:
    """Launch on Warp's CPU backend; with seeds, the gradients through `wp.Tape` too."""
    arguments: list[Any] = []
    arrays: dict[str, Any] = {}
    tag = program.name.rpartition("_")[2]
    for item in program.parameters:
        value = values[item.name]
        if item.is_array:
            gradient = seeds is not None and item.type.is_real
            arrays[item.name] = warp.array(value, item.type.spelled, gradient=gradient)
            arguments.append(arrays[item.name])
        elif item.struct:
            instance = batch.names[number][f"{item.struct}_{tag}"]()
            for name, part in value.items():
                setattr(instance, name, part.tolist() if isinstance(part, np.generic) else part)
            arguments.append(instance)
        else:
            arguments.append(value)
    launch = warp.launch_tiled if program.tiled else warp.launch
    if seeds is None:
        launch(batch, number, program.name, program.launch, arguments)
    else:
        with warp.wp.Tape() as tape:
            launch(batch, number, program.name, program.launch, arguments)
        for name, seed in seeds.items():
            item = next(p for p in program.parameters if p.name == name)
            arrays[name].grad.assign(warp.array(seed, item.type.spelled, gradient=False))
        tape.backward()
    result = Result({name: array.numpy().copy() for name, array in arrays.items()})
    if seeds is not None:
        for item in differentiable(program):
            result.gradients[item.name] = arrays[item.name].grad.numpy().copy()
    return result


def on_simulator(
    program: tree.Program,
    values: Values,
    forward: CpuModule,
    backward: CpuModule | None,
    seeds: dict[str, Array] | None,
) -> Result:
    """Launch the PTX of a kernel on the simulator, in blocks as Warp has them."""
    values = copied(values)
    gradients = gradients_of(program, values, seeds)
    memory = [values[item.name] for item in arrays_of(program)]
    _run(forward, program, arguments(program, values, gradients), memory)
    result = Result({item.name: values[item.name] for item in arrays_of(program)})
    if backward is not None and seeds is not None:
        both = arguments(program, values, gradients, adjoint=True)
        _run(backward, program, both, memory + list(gradients.values()))
        result.gradients = gradients
    return result


def gradients_of(
    program: tree.Program, values: Values, seeds: dict[str, Array] | None
) -> dict[str, Array]:
    """The gradients before a backward launch: seeds for outputs, zeros for the rest."""
    if seeds is None:
        return {}
    return {
        item.name: seeds.get(item.name, np.zeros_like(values[item.name])).copy()
        for item in differentiable(program)
    }


def arguments(
    program: tree.Program,
    values: Values,
    gradients: dict[str, Array],
    *,
    adjoint: bool = False,
    place: Place = host_place,
) -> list[Any]:
    """The arguments of the forward or the backward kernel; `place` says where an array lies."""
    packed: list[Any] = [launch_of(program).bounds]
    for item in program.parameters:
        packed.append(_pack(program, item, values, gradients, place))
    for item in program.parameters if adjoint else ():
        packed.append(_pack_adjoint(program, item, gradients, place))
    return packed


@dataclass(frozen=True, slots=True)
class Launch:
    """How a kernel is launched on a GPU or the simulator."""

    bounds: bytes
    grid: int
    shared: int


def launch_of(program: tree.Program) -> Launch:
    """The launch of a program; its blocks have `BLOCK` threads."""
    count = prod(program.launch)
    threads = count * BLOCK if program.tiled else count
    bounds = _bounds(program.launch, threads, BLOCK if program.tiled else 1)
    return Launch(bounds, (threads + BLOCK - 1) // BLOCK, _SHARED if program.tiled else 0)


def fitting(parameters: list[Any], values: list[Any]) -> list[Any]:
    """Numbers as their bytes where the parameter is a struct, as half precision is."""
    return [
        value.tobytes() if item.is_array and isinstance(value, np.generic) else value
        for item, value in zip(parameters, values, strict=True)
    ]


def _run(module: CpuModule, program: tree.Program, values: list[Any], memory: list[Array]) -> None:
    kernel = module[module.kernels[0]]
    launch = launch_of(program)
    # One thread of the host, so that sums in atomics have one order.
    kernel[launch.grid, BLOCK, launch.shared](
        *fitting(kernel.parameters, values), memory=memory, threads=1, step_limit=_STEPS
    )


def _bounds(shape: tuple[int, ...], size: int, shared_by: int) -> bytes:
    """``launch_bounds_t``: the shape, the threads, and how many share a place in the shape."""
    head = struct.pack(f"<{len(shape)}I", *shape)
    return head + bytes(-len(head) % 8) + struct.pack("<QQ", size, shared_by)


def _pack(
    program: tree.Program,
    item: tree.Parameter,
    values: Values,
    gradients: dict[str, Array],
    place: Place,
) -> Any:
    value = values[item.name]
    if item.is_array:
        return _array(value, gradients.get(item.name), item, place)
    if item.struct:
        return _struct(program, item.struct, value)
    return _scalar(item.type, value)


def _pack_adjoint(
    program: tree.Program, item: tree.Parameter, gradients: dict[str, Array], place: Place
) -> Any:
    if item.is_array:
        gradient = gradients.get(item.name)
        return _array(gradient, None, item, place) if gradient is not None else bytes(56)
    if item.struct:
        return bytes(len(_struct(program, item.struct, None)))
    return _scalar(item.type, np.zeros(item.type.shape, item.type.scalar.dtype)[()])


def _array(value: Array, gradient: Array | None, item: tree.Parameter, place: Place) -> bytes:
    """``array_t``: where data and gradient are, sizes, strides in bytes, dimensions."""
    rank = len(item.shape)
    padding = [0] * (_DIMENSIONS - rank)
    return struct.pack(
        "<QQ4i4iHHxxxx",
        place(value),
        place(gradient) if gradient is not None else 0,
        *value.shape[:rank], *padding,
        *value.strides[:rank], *padding,
        rank, 0,
    )  # fmt: skip


def _scalar(type: Type, value: Any) -> Any:
    number = np.asarray(value, dtype=type.scalar.dtype)
    return number.tobytes() if type.shape else number[()]


def _struct(program: tree.Program, name: str, value: dict[str, Any] | None) -> bytes:
    """The fields one after another, each at a multiple of its number's size, as in C."""
    fields = next(item.fields for item in program.structs if item.name == name)
    data = b""
    for part in fields:
        size = part.type.scalar.size
        data += bytes(-len(data) % size)
        zero = np.zeros(part.type.shape, part.type.scalar.dtype)
        number = zero if value is None else np.asarray(value[part.name], part.type.scalar.dtype)
        data += number.tobytes()
    return data + bytes(-len(data) % max(part.type.scalar.size for part in fields))
