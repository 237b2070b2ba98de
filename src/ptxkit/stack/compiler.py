"""Programs to stubs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from ptxkit import _native
from ptxkit.errors import UsageError, shown, thread_count
from ptxkit.stack.errors import StackError
from ptxkit.stack.interface import Interface, Operands
from ptxkit.stack.isa import Isa
from ptxkit.stack.program import Program, ProgramLike, encode, to_bytes

_FIELDS = "steps executed idle reused folded emitted moves registers missing limit".split()
_REPORT = np.dtype([(name, np.uint32) for name in _FIELDS])

#: What native/stack/interpreter.hpp counts its outcomes by.
_STEP_LIMIT, _NESTING_LIMIT, _MISSING_OUTPUT = 9, 10, 11
_OUTCOMES = {
    1: "it is of the kind {detail}, which does not exist",
    2: "its instruction does not exist",
    3: "its stack does not exist",
    4: "its input does not exist",
    5: "its slot does not exist; slots go from 0 to 15",
    6: "its routine does not exist",
    7: "its argument does not exist",
    8: "its constant has more bits than its stack",
    _STEP_LIMIT: "the program ran past the limit of {steps} steps",
    _NESTING_LIMIT: "blocks and routines are nested deeper than {nesting}",
}
_HINTS = {
    _STEP_LIMIT: "raise the limit with steps=..., or take strict=False to end the program there",
    _NESTING_LIMIT: "raise the limit with nesting=..., or take strict=False",
    _MISSING_OUTPUT: "take missing='zero' or missing='keep' if that is meant",
}


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a program.

    ``executed`` instructions found their operands, ``idle`` items did not and did nothing.
    Of the executed ones ``reused`` had been computed before, ``folded`` were computed here
    because their operands are constants, and ``emitted`` stand in the stub (with those that
    join the sides of an ``if``). ``missing`` outputs had no value. ``limit`` names the
    limit that ended the program, if one did.
    """

    steps: int
    executed: int
    idle: int
    reused: int
    folded: int
    emitted: int
    moves: int
    registers: int
    missing: int
    limit: Literal["", "steps", "nesting"]

    @property
    def live_fraction(self) -> float:
        """The share of the executed instructions that the stub has."""
        return self.emitted / self.executed if self.executed else 1.0

    @property
    def dropped(self) -> int:
        """Executed instructions whose results nobody uses."""
        return max(0, self.executed - self.emitted - self.folded - self.reused)


def _report(row: Sequence[int]) -> Report:
    limits: dict[int, Literal["", "steps", "nesting"]] = {
        0: "", _STEP_LIMIT: "steps", _NESTING_LIMIT: "nesting",
    }  # fmt: skip
    numbers = dict(zip(_FIELDS, (int(value) for value in row), strict=True))
    limit = limits[numbers.pop("limit")]
    return Report(**numbers, limit=limit)


def compile(
    program: ProgramLike,
    inputs: Operands | Interface = None,
    outputs: Operands = None,
    isa: Isa | str | None = None,
    **options: Any,
) -> str:
    """Compile a program to a stub: PTX in braces of its own.

    ``program`` is a text, a list of words and numbers, a :class:`Program`, or a packed
    array. ``inputs`` and ``outputs`` give names and types, ``{"x": "f32"}`` or
    ``["x:f32"]``, and registers where those are called otherwise, ``{"x": ("f32", "%f1")}``;
    an :class:`Interface` in place of ``inputs`` has all of it. ``isa`` is the instruction
    set, or the target whose default set is meant. Options are those of
    :class:`Interface`: ``missing``, ``strict``, ``steps``, ``nesting``.

    >>> stub = compile("x y add.rn.f32 0.5 mul.rn.f32", {"x": "f32", "y": "f32"}, {"z": "f32"})
    >>> print(stub.expandtabs(4), end="")
    {
        .reg .f32 %sf<1>;
        add.rn.f32 %sf0, x, y;
        mul.rn.f32 z, %sf0, 0f3F000000;
    }
    """
    interface = inputs if inputs.__class__ is Interface else _interface(
        inputs, outputs, isa, options
    )  # fmt: skip
    data = _data(program, interface)
    made = interface.native.compile(data)
    if made.__class__ is str:
        return made
    raise failure(made, interface)  # type: ignore[arg-type]


def report(
    program: ProgramLike,
    inputs: Operands | Interface = None,
    outputs: Operands = None,
    isa: Isa | str | None = None,
    **options: Any,
) -> tuple[str, Report]:
    """Compile as :func:`compile` does, and tell what became of the program.

    >>> stub, told = report("x x mul.rn.f32 x x mul.rn.f32 add.rn.f32", {"x": "f32"}, {"y": "f32"})
    >>> told.executed, told.emitted, told.reused
    (3, 2, 1)
    """
    interface = inputs if isinstance(inputs, Interface) else _interface(
        inputs, outputs, isa, options
    )  # fmt: skip
    made, row = interface.native.compile(_data(program, interface), True)
    if isinstance(made, str):
        return made, _report(row)
    raise failure(made, interface)


def _data(program: ProgramLike, interface: Interface) -> bytes:
    if program.__class__ is Program:
        if program.isa is interface.isa and program.inputs == interface.names:
            return program.data
        program = program.words()
    return encode(program, interface.isa, interface.words, interface.table)


def _interface(
    inputs: Any, outputs: Any, isa: Isa | str | None, options: dict[str, Any]
) -> Interface:
    if isinstance(inputs, Interface):
        return inputs
    try:
        # Searches call with the same few dicts again and again.
        return _cached(
            tuple(inputs.items()) if inputs.__class__ is dict else inputs,
            inputs.__class__ is dict,
            tuple(outputs.items()) if outputs.__class__ is dict else outputs,
            outputs.__class__ is dict,
            isa,
            tuple(options.items()) if options else (),
        )
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        return Interface(inputs, outputs, isa, **options)


@lru_cache(maxsize=256)
def _cached(
    inputs: Any, inputs_named: bool, outputs: Any, outputs_named: bool, isa: Isa | str | None,
    options: tuple[tuple[str, Any], ...],
) -> Interface:  # fmt: skip
    return Interface(
        dict(inputs) if inputs_named else inputs,
        dict(outputs) if outputs_named else outputs,
        isa,
        **dict(options),
    )


def failure(
    outcome: tuple[int, int, int | None, int], interface: Interface, program: int | None = None
) -> StackError:
    """The error that an outcome of the native compiler stands for."""
    status, item, routine, detail = outcome
    hint = _HINTS.get(status, "")
    if status == _MISSING_OUTPUT:
        output = interface.outputs[detail]
        place = f"slot {output.slot}" if output.slot is not None else "the stack"
        return StackError(
            f"the output '{output.name}' has no value: {place} of {output.stack} has none left",
            program=program,
            hint=hint,
        )
    message = _OUTCOMES[status].format(
        detail=detail, steps=interface.steps, nesting=interface.nesting
    )
    name = interface.isa.routines[routine].name if routine is not None else ""
    return StackError(message, item=item, routine=name, program=program, hint=hint)


class Stubs(Sequence[str]):
    """The stubs of many programs, in their order; the texts are made when they are asked for.

    ``errors`` has the :class:`StackError` of each program that could not be compiled, by its
    number; asking for such a stub raises it.
    """

    def __init__(self, native: _native.StackStubs, interface: Interface) -> None:
        self._native = native
        self._interface = interface
        self.errors: dict[int, StackError] = {
            n: failure(native[n], interface, n)  # type: ignore[arg-type]
            for n in native.failures()
        }

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[n] for n in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if number in self.errors:
            raise self.errors[number]
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} stubs, none at {index}")
        return self._native[number]  # type: ignore[return-value]

    def __iter__(self) -> Iterator[str]:
        return (self[n] for n in range(len(self)))

    @property
    def columns(self) -> npt.NDArray[Any]:
        """The reports as a structured array: a row a program, a field for each number."""
        return np.frombuffer(self._native.reports(), _REPORT)

    @property
    def reports(self) -> list[Report]:
        """What became of each program."""
        return [_report(row) for row in self.columns.tolist()]


def compile_many(
    programs: Any,
    inputs: Operands | Interface = None,
    outputs: Operands = None,
    isa: Isa | str | None = None,
    *,
    threads: int | None = None,
    errors: Literal["raise", "return"] = "raise",
    **options: Any,
) -> Stubs:
    """Compile many programs at once, on all processors unless ``threads`` says otherwise.

    ``programs`` is a list of what :func:`compile` takes, or one packed array with the
    shape (programs, items, 2). The GIL is released. With ``errors="return"`` faulty
    programs do not raise; see :class:`Stubs`.

    >>> stubs = compile_many(["x", "x x add.rn.f32"], {"x": "f32"}, {"y": "f32"})
    >>> len(stubs), stubs[0].split()[1:-1]
    (2, ['mov.f32', 'y,', 'x;'])
    """
    interface = inputs if isinstance(inputs, Interface) else _interface(
        inputs, outputs, isa, options
    )  # fmt: skip
    if errors not in ("raise", "return"):
        raise UsageError(f"errors is 'raise' or 'return', not {errors!r}")
    data, offsets = packed(programs, interface)
    made = interface.native.compile_packed(data, offsets, thread_count(threads))
    stubs = Stubs(made, interface)
    if stubs.errors and errors == "raise":
        raise next(iter(stubs.errors.values()))
    return stubs


def packed(programs: Any, interface: Interface) -> tuple[Any, npt.NDArray[np.uint64]]:
    """Programs of any form as one buffer, and where each begins there."""
    if isinstance(programs, np.ndarray):
        if programs.dtype != np.uint64 or programs.ndim != 3 or programs.shape[2] != 2:
            raise UsageError(
                "packed programs are an array of uint64 with the shape (programs, items, 2), "
                f"not of {programs.dtype} with the shape {programs.shape}"
            )
        count, size, _ = programs.shape
        return np.ascontiguousarray(programs), np.arange(count + 1, dtype=np.uint64) * np.uint64(
            size
        )
    if isinstance(programs, str | bytes) or not isinstance(programs, Iterable):
        raise UsageError(f"the programs are a list or an array, not {shown(programs)}")
    parts = []
    for number, program in enumerate(programs):
        try:
            parts.append(to_bytes(program) if isinstance(program, bytes)
                         else _data(program, interface))  # fmt: skip
        except StackError as error:
            raise error.within(program=number) from None
    sizes = np.fromiter((len(part) // 16 for part in parts), np.uint64, len(parts))
    offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(sizes, dtype=np.uint64)])
    return b"".join(parts), offsets
