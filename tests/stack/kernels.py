"""Stubs in kernels: inputs loaded from arrays of 32 lanes, outputs stored to others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ptxkit.stack import Interface

_LOADS = {"pred": 4, "b16": 2, "b32": 4, "b64": 8, "f32": 4, "f64": 8}


def _size(kind: str) -> int:
    return _LOADS[kind]


def kernel(
    stubs: Sequence[str], interface: Interface, name: str = "k", *, bare: bool = False
) -> str:
    """A kernel of one warp that runs the stubs one after another on fresh inputs.

    Its parameters are one array with the inputs (8 bytes a lane, 32 lanes an input, all
    inputs of a stub together) and one for the outputs in the same layout. A ``bare`` one
    loads and stores nothing: it is for ptxas to look at.
    """
    isa = interface.isa
    registers = {one.register: isa.stack(one.stack).register for one in interface.inputs}
    registers |= {one.register: isa.stack(one.stack).register for one in interface.outputs}
    lines = [
        f".visible .entry {name}(.param .u64 in, .param .u64 out)",
        "{",
        ".reg .b64 from, to, lane;",
        ".reg .b32 thread, word;",
        *(f".reg .{kind} {register};" for register, kind in registers.items()),
        "ld.param.u64 from, [in];",
        "ld.param.u64 to, [out];",
        "mov.u32 thread, %tid.x;",
        "mul.wide.u32 lane, thread, 8;",
        "add.s64 from, from, lane;",
        "add.s64 to, to, lane;",
    ]
    for number, stub in enumerate(stubs):
        base = number * len(interface.inputs) * 256
        for place, one in enumerate(() if bare else interface.inputs):
            kind = registers[one.register]
            address = f"[from+{base + place * 256}]"
            if kind == "pred":
                lines += [f"ld.global.b32 word, {address};",
                          f"setp.ne.b32 {one.register}, word, 0;"]  # fmt: skip
            else:
                lines.append(f"ld.global.{kind} {one.register}, {address};")
        lines.append(stub)
        base = number * len(interface.outputs) * 256
        for place, one in enumerate(() if bare else interface.outputs):
            kind = registers[one.register]
            address = f"[to+{base + place * 256}]"
            if kind == "pred":
                lines += [f"selp.b32 word, 1, 0, {one.register};",
                          f"st.global.b32 {address}, word;"]  # fmt: skip
            else:
                lines.append(f"st.global.{kind} {address}, {one.register};")
    return "\n".join([*lines, "ret;", "}"]) + "\n"


def header(interface: Interface) -> str:
    """The beginning of a module for such kernels."""
    isa = interface.isa
    return f".version {isa.version}\n.target {isa.target}\n.address_size 64\n"


def inputs_for(
    interface: Interface, generator: np.random.Generator, count: int
) -> npt.NDArray[np.uint64]:
    """Inputs of ``count`` stubs: (stubs, inputs, 32) words; odd values among ordinary ones."""
    made = np.zeros((count, len(interface.inputs), 32), np.uint64)
    for place, one in enumerate(interface.inputs):
        stack = interface.isa.stack(one.stack)
        shape = (count, 32)
        if stack.register == "pred":
            values = generator.integers(0, 2, shape, np.uint64)
        elif stack.number == "float":
            kind = {16: np.float16, 32: np.float32, 64: np.float64}[stack.width]
            plain = generator.normal(0, 4, shape).astype(kind)
            odd = generator.choice(np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan], kind), shape)
            values = np.where(generator.random(shape) < 0.1, odd, plain)
            values = values.astype(kind).view(f"u{stack.width // 8}").astype(np.uint64)
        elif stack.number == "bfloat":
            plain = generator.normal(0, 4, shape).astype(np.float32).view(np.uint32)
            values = (plain >> 16).astype(np.uint64)
        elif stack.number == "packed":
            halves = generator.normal(0, 4, (*shape, 2))
            if stack.name == "bf16x2":
                bits = halves.astype(np.float32).view(np.uint32) >> 16
            else:
                bits = halves.astype(np.float16).view(np.uint16).astype(np.uint32)
            values = (bits[..., 0] | bits[..., 1] << 16).astype(np.uint64)
        else:
            largest = np.uint64((1 << stack.width) - 1)
            wild = generator.integers(0, 1 << 63, shape, np.uint64) * np.uint64(2) & largest
            small = generator.integers(0, 64, shape, np.uint64)
            values = np.where(generator.random(shape) < 0.5, wild, small)
        made[:, place] = values
    return made
