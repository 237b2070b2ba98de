"""What a stub reads and writes: registers by name, with their types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

from ptxkit import _native
from ptxkit.errors import UsageError, shown
from ptxkit.isa.types import BITS, OPAQUE, PACKED, SCALAR_TYPES, SIGNED, UNSIGNED
from ptxkit.stack import words
from ptxkit.stack.isa import Isa
from ptxkit.stack.program import input_words, refuse_block_word
from ptxkit.stack.types import Stack

Missing = Literal["error", "zero", "keep"]
MISSING = {"error": 0, "zero": 1, "keep": 2}

#: A PTX identifier.
_REGISTER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Operand:
    """A register a stub reads or writes. Programs call it ``name``.

    ``type`` is the PTX type of the register; ``stack`` the stack its values belong to, the
    one of the type unless told. An output with a ``slot`` is what that slot holds at the
    end, the others are the topmost values of their stack in the order they were pushed.

    >>> Operand("x", "u32", register="%r7").stack
    ''
    """

    name: str
    type: str
    register: str = ""
    stack: str = ""
    slot: int | None = None


Operands = Mapping[str, Any] | Iterable[Any] | None


def read_operands(given: Operands, what: str) -> tuple[Operand, ...]:
    """Operands from any of the forms `compile` takes.

    >>> [o.type for o in read_operands({"x": "f32", "n": ("u32", "%r1")}, "input")]
    ['f32', 'u32']
    >>> read_operands(["y:f32=%f3", "z:s32#2"], "output")[1].slot
    2
    """
    if given is None:
        return ()
    if isinstance(given, str):
        given = given.replace(",", " ").split()
    if isinstance(given, Mapping):
        return tuple(_from_pair(name, value, what) for name, value in given.items())
    try:
        rows = list(given)
    except TypeError:
        raise UsageError(f"the {what}s are a dict or a list, not {given!r}") from None
    return tuple(_from_row(row, what) for row in rows)


def _from_pair(name: str, value: Any, what: str) -> Operand:
    if isinstance(value, Operand):
        return Operand(name, value.type, value.register or value.name, value.stack, value.slot)
    if isinstance(value, str):
        return Operand(name, value)
    if isinstance(value, tuple) and len(value) == 2:
        return Operand(name, str(value[0]), str(value[1]))
    if hasattr(value, "type") and hasattr(value, "register"):  # what a site of inject has
        return Operand(name, str(value.type), str(value.register))
    raise UsageError(
        f"the {what} '{name}' is a type such as 'f32', or a type and a register, not {value!r}"
    )


def _from_row(row: Any, what: str) -> Operand:
    if isinstance(row, Operand):
        return row
    if isinstance(row, tuple) and len(row) in (2, 3) and all(isinstance(x, str) for x in row):
        return Operand(*row)
    if isinstance(row, str):
        found = re.fullmatch(r"([^:=#]+):([^:=#]+)(?:=([^:=#]+))?(?:#(\d+))?", row)
        if found is not None:
            slot = int(found[4]) if found[4] else None
            return Operand(found[1], found[2], found[3] or "", "", slot)
    raise UsageError(f"the {what} {row!r} can't be read; write it like 'x:f32' or 'x:f32=%f1'")


def _isa_of(given: Isa | str | None) -> Isa:
    if given is None or isinstance(given, str):
        return Isa.default(given or "sm_90")
    if not isinstance(given, Isa):
        raise UsageError(
            f"the instruction set is an Isa, or a target such as 'sm_90', not {given!r}"
        )
    return given


class Interface:
    """Inputs, outputs and rules that programs are compiled for; make it once, use it often.

    ``missing`` says what becomes of an output that the program has no value for: it is an
    ``"error"``, the output is ``"zero"``, or its register is ``"keep"``-ed as it is.
    ``strict`` makes a limit an error; otherwise the program ends there and the report
    says so.
    """

    def __init__(
        self,
        inputs: Operands = None,
        outputs: Operands = None,
        isa: Isa | str | None = None,
        *,
        missing: Missing = "error",
        strict: bool = True,
        steps: int = 65536,
        nesting: int = 64,
    ) -> None:
        self.isa = _isa_of(isa)
        self.inputs = self._checked(read_operands(inputs, "input"), "input")
        self.outputs = self._checked(read_operands(outputs, "output"), "output")
        if missing not in MISSING:
            raise UsageError(
                f"the rule for missing outputs is one of {', '.join(MISSING)}, not {missing!r}"
            )
        for name, limit, most in (("steps", steps, 1 << 31), ("nesting", nesting, 256)):
            if not isinstance(limit, int) or not 0 < limit <= most:
                raise UsageError(f"the limit of {name} goes from 1 to {most}, not {shown(limit)}")
        self.missing, self.strict, self.steps, self.nesting = missing, strict, steps, nesting
        self.names: tuple[str, ...] = tuple(one.name for one in self.inputs)
        self._check_shared_registers()
        self._table: dict[str, bytes] = {}
        self._words_seen = -1
        self._built: tuple[_native.StackTable, _native.StackInterface] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        rules = {name: getattr(self, name) for name in ("missing", "strict", "steps", "nesting")}
        return partial(Interface, **rules), (self.inputs, self.outputs, self.isa)

    def _checked(self, operands: tuple[Operand, ...], what: str) -> tuple[Operand, ...]:
        made = []
        names: set[str] = set()
        registers: set[str] = set()
        for one in operands:
            if what == "input":
                refuse_block_word(one.name, what)
            if not isinstance(one.name, str) or not words.NAME.fullmatch(one.name):
                raise UsageError(f"{one.name!r} is not a name for an {what}")
            register = one.register or one.name
            if not _REGISTER.fullmatch(register):
                raise UsageError(f"the {what} '{one.name}' can't be in the register {register!r}: "
                                 "that is not a PTX name")  # fmt: skip
            if one.type not in SCALAR_TYPES:
                raise UsageError(f"the type of the {what} '{one.name}' is '{one.type}', which is "
                                 "not a PTX type")  # fmt: skip
            if one.name in names or register in registers:
                raise UsageError(f"the {what} '{one.name}' is there twice")
            if one.slot is not None and not 0 <= one.slot < words.SLOTS:
                raise UsageError(
                    f"the {what} '{one.name}' is in slot {one.slot}; slots go from 0 to "
                    f"{words.SLOTS - 1}"
                )
            names.add(one.name)
            registers.add(register)
            stack = self.isa.stack(one.stack or one.type)
            if not _fits(stack, one.type):
                raise UsageError(f"the {what} '{one.name}' of type {one.type} does not fit the "
                                 f"stack '{stack.name}'")  # fmt: skip
            made.append(Operand(one.name, one.type, register, stack.name, one.slot))
        return tuple(made)

    def _check_shared_registers(self) -> None:
        kinds = {one.register: one for one in self.inputs}
        for one in self.outputs:
            other = kinds.get(one.register)
            if other is not None and other.type != one.type:
                raise UsageError(
                    f"the register '{one.register}' is read as {other.type} and written as "
                    f"{one.type}"
                )
        named = {one.register for one in (*self.inputs, *self.outputs)}
        for row in self.isa.instructions:
            hidden = row.declared & named if "{" in row.text else frozenset()
            if hidden:
                raise UsageError(
                    f"the instruction '{row.name}' declares '{min(hidden)}', which is also a "
                    "register of the interface"
                )

    @cached_property
    def words(self) -> dict[str, bytes]:
        """What the names of the inputs become."""
        return input_words(self.names)

    @property
    def table(self) -> dict[str, bytes]:
        """All words a program may use: those of the inputs and of the instruction set."""
        if self._words_seen != len(self.isa.words):  # an open set learns new ones
            self._table = {**self.isa.words, **self.words}
            self._words_seen = len(self.isa.words)
        return self._table

    @property
    def native(self) -> _native.StackInterface:
        """The interface as the native compiler has it."""
        table = self.isa.native
        if self._built is None or self._built[0] is not table:
            self._built = (table, self._build(table))
        return self._built[1]

    def _build(self, table: _native.StackTable) -> _native.StackInterface:
        isa = self.isa
        return _native.StackInterface(
            table,
            [(isa.stack_number(one.stack), one.register) for one in self.inputs],
            [
                (isa.stack_number(one.stack), -1 if one.slot is None else one.slot, one.register)
                for one in self.outputs
            ],
            self._prefixes(),
            MISSING[self.missing],
            self.strict,
            self.steps,
            self.nesting,
        )

    def _prefixes(self) -> list[str]:
        """Names for registers of each type that nothing around the stub is called."""
        letters = {stack.register: stack.prefix for stack in self.isa.stacks}
        taken = {one.register for one in (*self.inputs, *self.outputs)}
        for row in self.isa.instructions:
            taken |= row.declared if "{" in row.text else frozenset()
        for start in ("%s", "%st", "%stk", "%stub", "%q"):
            made = [start + letters[kind] for kind in self.isa.register_types]
            pattern = re.compile(f"(?:{'|'.join(map(re.escape, made))})\\d+")
            if not any(pattern.fullmatch(name) for name in taken):
                return made
        raise UsageError("the registers of the interface leave no name free; rename one of those "
                         "that begin with %s")  # fmt: skip


def _fits(stack: Stack, scalar: str) -> bool:
    """Whether registers of a type can hold what instructions do with the values of a stack."""
    found = SCALAR_TYPES[scalar]
    if scalar in (stack.name, stack.register):
        return True
    whole = found.kind in (SIGNED, UNSIGNED, BITS) and found.width == stack.width
    if stack.number in ("integer", "packed"):
        return whole or (found.kind in (OPAQUE, PACKED) and max(16, found.width) == stack.width)
    return whole and found.kind == BITS
