"""Programs on numpy arrays, without a GPU: for tests, and for searches on a laptop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ptxkit.errors import UsageError, thread_count
from ptxkit.stack.compiler import compile, failure, packed
from ptxkit.stack.interface import Interface, Operands
from ptxkit.stack.isa import Isa
from ptxkit.stack.program import ProgramLike

Array = npt.NDArray[Any]
#: The numpy type of each PTX type; halves that numpy lacks come as their bits.
DTYPES = {
    "pred": np.bool_, "b16": np.uint16, "u16": np.uint16, "s16": np.int16, "b32": np.uint32,
    "u32": np.uint32, "s32": np.int32, "b64": np.uint64, "u64": np.uint64, "s64": np.int64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.uint16,
    "f16x2": np.uint32, "bf16x2": np.uint32,
}  # fmt: skip
_TYPES = {
    np.dtype(np.bool_): "pred", np.dtype(np.uint16): "u16", np.dtype(np.int16): "s16",
    np.dtype(np.uint32): "u32", np.dtype(np.int32): "s32", np.dtype(np.uint64): "u64",
    np.dtype(np.int64): "s64", np.dtype(np.float16): "f16", np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
}  # fmt: skip


def evaluate(
    program: ProgramLike,
    arrays: Mapping[str, Any],
    outputs: Operands | Interface = None,
    isa: Isa | str | None = None,
    *,
    types: Mapping[str, str] | None = None,
    via: Literal["nodes", "text"] = "nodes",
    **options: Any,
) -> dict[str, Array]:
    """Run a program on arrays: every element is a thread of its own.

    The arrays are the inputs by name; each has the PTX type of its dtype, or the one that
    ``types`` gives (``bf16`` values come as their bits in uint16). Shapes are broadcast.
    The outputs come back by name. ``via="text"`` compiles the stub, puts it into a kernel
    and runs that on the simulator; the shorter way through the compiled graph gives the
    same bits and is the default where it can be gone.

    >>> evaluate("x x mul.rn.f32 1.0 add.rn.f32", {"x": np.float32([1, 2, 3])}, {"y": "f32"})
    {'y': array([ 2.,  5., 10.], dtype=float32)}
    """
    interface, values, shape = _prepared(arrays, outputs, isa, types, options)
    if via == "text":
        return _shaped(interface, _by_text(program, interface, values), shape)
    data, offsets = packed([program], interface)
    size = values.shape[1]
    made, told = interface.native.evaluate_packed(data, offsets, values, size, 1)
    if told[0] == ():
        return _shaped(interface, _by_text(program, interface, values), shape)
    if told[0] is not None:
        raise failure(told[0], interface)
    words = np.frombuffer(made, np.uint64).reshape(len(interface.outputs), size)
    return _shaped(interface, words, shape)


def evaluate_many(
    programs: Any,
    arrays: Mapping[str, Any],
    outputs: Operands | Interface = None,
    isa: Isa | str | None = None,
    *,
    types: Mapping[str, str] | None = None,
    threads: int | None = None,
    **options: Any,
) -> dict[str, Array]:
    """Run many programs on the same arrays; outputs have one more dimension in front.

    >>> x = np.float32([1, 2])
    >>> evaluate_many(["x", "x x add.rn.f32"], {"x": x}, {"y": "f32"})["y"]
    array([[1., 2.],
           [2., 4.]], dtype=float32)
    """
    interface, values, shape = _prepared(arrays, outputs, isa, types, options)
    data, offsets = packed(programs, interface)
    size = values.shape[1]
    made, told = interface.native.evaluate_packed(
        data, offsets, values, size, thread_count(threads)
    )
    words = np.frombuffer(made, np.uint64).reshape(len(told), len(interface.outputs), size)
    if any(one is not None for one in told):
        words = words.copy()
        buffer = bytes(data)
        for number, one in enumerate(told):
            if one == ():
                begin, end = int(offsets[number]) * 16, int(offsets[number + 1]) * 16
                words[number] = _by_text(buffer[begin:end], interface, values)
            elif one is not None:
                raise failure(one, interface, number)
    return {
        one.name: _typed(words[:, place], one.type).reshape(len(told), *shape)
        for place, one in enumerate(interface.outputs)
    }


def _prepared(
    arrays: Mapping[str, Any],
    outputs: Operands | Interface,
    isa: Isa | str | None,
    types: Mapping[str, str] | None,
    options: dict[str, Any],
) -> tuple[Interface, npt.NDArray[np.uint64], tuple[int, ...]]:
    if not isinstance(arrays, Mapping):
        raise UsageError(f"the arrays are a dict by name, not {type(arrays).__name__}")
    found = {name: np.asarray(value) for name, value in arrays.items()}
    if isinstance(outputs, Interface):
        interface = outputs
        unknown = set(interface.names) ^ set(found)
        if unknown:
            raise UsageError(f"arrays and inputs differ: '{min(unknown)}' is not in both")
    else:
        given = {name: (types or {}).get(name) or _type_of(name, value)
                 for name, value in found.items()}  # fmt: skip
        interface = Interface(given, outputs, isa, **options)
    try:
        shape = np.broadcast_shapes(*(value.shape for value in found.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {value.shape}" for name, value in found.items())
        raise UsageError(f"the shapes of the arrays do not fit together: {shapes}") from None
    size = int(np.prod(shape, dtype=np.int64))
    words = np.zeros((len(interface.inputs), size), np.uint64)
    for place, one in enumerate(interface.inputs):
        value = np.broadcast_to(found[one.name], shape).ravel()
        words[place] = _bits(one.name, value, one.type)
    return interface, words, shape


def _type_of(name: str, value: Array) -> str:
    kind = _TYPES.get(value.dtype)
    if kind is None:
        known = ", ".join(str(one) for one in _TYPES)
        raise UsageError(
            f"the array '{name}' is of {value.dtype}, which PTX has no type for; convert it with "
            f"astype to one of: {known}"
        )
    return kind


def _bits(name: str, value: Array, kind: str) -> npt.NDArray[np.uint64]:
    wanted = np.dtype(DTYPES.get(kind, np.uint32))
    if kind == "pred":
        return value.astype(np.bool_).astype(np.uint64)
    if value.dtype.itemsize != wanted.itemsize:
        raise UsageError(
            f"the array '{name}' is of {value.dtype}, but the input is {kind}: give it as "
            f"{wanted} (value.astype('{wanted}') converts)"
        )
    return np.ascontiguousarray(value).view(f"u{wanted.itemsize}").astype(np.uint64)


def _typed(words: npt.NDArray[np.uint64], kind: str) -> Array:
    wanted = np.dtype(DTYPES.get(kind, np.uint32))
    if kind == "pred":
        return words.astype(np.bool_)
    return words.astype(f"u{wanted.itemsize}").view(wanted)


def _shaped(
    interface: Interface, words: npt.NDArray[np.uint64], shape: tuple[int, ...]
) -> dict[str, Array]:
    return {
        one.name: _typed(words[place], one.type).reshape(shape)
        for place, one in enumerate(interface.outputs)
    }


def kernel_text(stub: str, interface: Interface, name: str = "evaluate") -> str:
    """A module with a kernel that runs a stub: thread i on word i of every input.

    Its parameters are the address of the inputs, one array of 64-bit words after another,
    that of the outputs, and the number of words in each.
    """
    isa = interface.isa
    registers = {one.register: isa.stack(one.stack).register
                 for one in (*interface.inputs, *interface.outputs)}  # fmt: skip
    lines = [
        f".version {isa.version}\n.target {isa.target}\n.address_size 64",
        f".visible .entry {name}(.param .u64 inputs, .param .u64 outputs, .param .u32 size)\n{{",
        "\t.reg .b64 %eval_from, %eval_to, %eval_step, %eval_place;",
        "\t.reg .b32 %eval_thread, %eval_block, %eval_width, %eval_size, %eval_word;",
        "\t.reg .pred %eval_outside;",
        *(f"\t.reg .{kind} {register};" for register, kind in registers.items()),
        "\tld.param.u64 %eval_from, [inputs];",
        "\tld.param.u64 %eval_to, [outputs];",
        "\tld.param.u32 %eval_size, [size];",
        "\tmov.u32 %eval_thread, %tid.x;\n\tmov.u32 %eval_block, %ctaid.x;",
        "\tmov.u32 %eval_width, %ntid.x;",
        "\tmad.lo.u32 %eval_thread, %eval_block, %eval_width, %eval_thread;",
        "\tsetp.ge.u32 %eval_outside, %eval_thread, %eval_size;\n\t@%eval_outside exit;",
        "\tmul.wide.u32 %eval_step, %eval_size, 8;",
        "\tmul.wide.u32 %eval_place, %eval_thread, 8;",
        "\tadd.s64 %eval_from, %eval_from, %eval_place;",
        "\tadd.s64 %eval_to, %eval_to, %eval_place;",
    ]
    for one in interface.inputs:
        kind = registers[one.register]
        if kind == "pred":
            lines.append("\tld.global.b32 %eval_word, [%eval_from];")
            lines.append(f"\tsetp.ne.b32 {one.register}, %eval_word, 0;")
        else:
            lines.append(f"\tld.global.{kind} {one.register}, [%eval_from];")
        lines.append("\tadd.s64 %eval_from, %eval_from, %eval_step;")
    lines.append(stub.rstrip("\n"))
    for one in interface.outputs:
        kind = registers[one.register]
        if kind == "pred":
            lines.append(f"\tselp.b32 %eval_word, 1, 0, {one.register};")
            lines.append("\tst.global.b32 [%eval_to], %eval_word;")
        else:
            lines.append(f"\tst.global.{kind} [%eval_to], {one.register};")
        lines.append("\tadd.s64 %eval_to, %eval_to, %eval_step;")
    return "\n".join([*lines, "\tret;", "}\n"])


def _by_text(
    program: ProgramLike, interface: Interface, words: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Compile the stub, put it into a kernel, and run that on the simulator."""
    import ptxkit

    size = words.shape[1]
    made = np.zeros((len(interface.outputs), size), np.uint64)
    text = kernel_text(compile(program, interface), interface)
    kernel = ptxkit.load(text, device="cpu")["evaluate"]
    if size:
        kernel[-(-size // 128), 128](words, made, size)
    return made
