"""The stacks a program works on: one for each kind of register.

Integers of one width share a stack, whatever their sign: PTX gives the sign to the
instruction. Halves have stacks of their own, though their registers are bits to PTX.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ptxkit.errors import UsageError, shown
from ptxkit.isa.types import SCALAR_TYPES, SIGNED, UNSIGNED
from ptxkit.stack.errors import StackError

#: How the constants of a stack are written in PTX; the numbers are those of native/stack/isa.hpp.
INTEGER, FLOAT32, FLOAT64, PREDICATE, BITS = range(5)

#: The register types a stack may have, and the width of each.
REGISTERS = {"pred": 1, "b16": 16, "b32": 32, "b64": 64, "f32": 32, "f64": 64}
_LETTERS = {"pred": "p", "b16": "h", "b32": "r", "b64": "d", "f32": "f", "f64": "g"}


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack: its name, the type of its registers, and how its constants are read.

    ``number`` is one of ``"integer"``, ``"float"``, ``"bfloat"``, ``"packed"`` and
    ``"predicate"``.

    >>> Stack("angle", "f32", "float").width
    32
    """

    name: str
    register: str
    number: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z_]\w*", self.name, re.ASCII):
            raise UsageError(f"'{self.name}' is not a name for a stack; use letters and digits")
        if self.register not in REGISTERS:
            known = ", ".join(REGISTERS)
            raise UsageError(
                f"the registers of stack '{self.name}' can't be '{self.register}'; "
                f"there are: {known}"
            )
        if self.number not in _NUMBERS:
            known = ", ".join(_NUMBERS)
            raise UsageError(
                f"the numbers of stack '{self.name}' can't be '{self.number}'; there are: {known}"
            )

    @property
    def width(self) -> int:
        """Bits of a value."""
        return REGISTERS[self.register]

    @property
    def prefix(self) -> str:
        """The letter that begins the names of its registers."""
        return _LETTERS[self.register]

    @property
    def move(self) -> str:
        """The instruction that copies a value."""
        return f"mov.{self.register}"

    @property
    def literal(self) -> int:
        """How constants are written: one of the numbers above."""
        if self.register in ("pred", "f32", "f64"):
            return {"pred": PREDICATE, "f32": FLOAT32, "f64": FLOAT64}[self.register]
        return INTEGER if self.number == "integer" else BITS

    def bits(self, value: object, scalar: str = "") -> int:
        """The bits of a constant; an error if it does not fit the stack, or its PTX type.

        >>> hex(STACKS["f16"].bits(1.5)), hex(STACKS["b32"].bits(-1))
        ('0x3e00', '0xffffffff')
        >>> STACKS["b16"].bits(300, "s8")
        Traceback (most recent call last):
        ptxkit.stack.errors.StackError: the constant 300 does not fit in 's8': it holds -128 to 127
        """
        found = _NUMBERS[self.number][0](self, value)
        if self.number == "integer" and scalar != self.name:
            _check_range(value, scalar)
        return found

    def text(self, bits: int) -> str:
        """A constant as :meth:`bits` reads it back.

        >>> STACKS["f32"].text(0x3F800000), STACKS["b64"].text(2**63)
        ('1.0', '9223372036854775808')
        """
        return _NUMBERS[self.number][1](self, bits)


def _wrong(stack: Stack, value: object, why: str) -> StackError:
    said = shown(value)
    said = said if len(said) <= 60 else said[:57] + "..."
    return StackError(f"the constant {said} does not fit in '{stack.name}': {why}")


def _check_range(value: object, scalar: str) -> None:
    """Whether an integer, which fits its stack, is one of its signed or unsigned type too."""
    kind = SCALAR_TYPES.get(scalar)
    if kind is None or kind.kind not in (SIGNED, UNSIGNED):
        return
    number = int(value, 0) if isinstance(value, str) else int(value)  # type: ignore[call-overload]
    low = -(1 << (kind.width - 1)) if kind.kind == SIGNED else 0
    high = low + (1 << kind.width) - 1
    # Bits in another notation are as good as the number they stand for.
    is_bits = isinstance(value, str) and value[:2].lower() in ("0x", "0b", "0o")
    if not low <= number <= high and not (is_bits and 0 <= number < 1 << kind.width):
        raise StackError(
            f"the constant {number} does not fit in '{scalar}': it holds {low} to {high}"
        )


def _integer_bits(stack: Stack, value: object) -> int:
    if isinstance(value, str):
        try:
            value = int(value, 0)
        except ValueError:
            raise _wrong(stack, value, "it is not an integer") from None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        number = value.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        raise _wrong(stack, value, "it is not an integer") from None
    width = stack.width
    if not -(1 << (width - 1)) <= number < 1 << width:
        low, high = -(1 << (width - 1)), (1 << width) - 1
        raise _wrong(stack, number, f"{width} bits hold {low} to {high}")
    return int(number) & ((1 << width) - 1)


def _float_of(stack: Stack, value: object) -> float:
    try:
        found = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise _wrong(stack, value, "it is too large") from None
    except (TypeError, ValueError):
        raise _wrong(stack, value, "it is not a number") from None
    if isinstance(value, str) and math.isinf(found) and "inf" not in value.lower():
        raise _wrong(stack, value, "it is too large")
    return found


def _hex(value: object, digits: int) -> int | None:
    """The bits of ``0x7FC00000``: floats may be given so."""
    if isinstance(value, str) and re.fullmatch(rf"0x[0-9a-fA-F]{{1,{digits}}}", value):
        return int(value, 16)
    return None


def _float_bits(stack: Stack, value: object) -> int:
    given = _hex(value, stack.width // 4)
    if given is not None:
        return given
    number = _float_of(stack, value)
    code = {16: "<e", 32: "<f", 64: "<d"}[stack.width]
    try:
        return int.from_bytes(struct.pack(code, number), "little")
    except OverflowError:
        raise _wrong(stack, value, "it is too large") from None


def _float_text(stack: Stack, bits: int) -> str:
    code = {16: "<e", 32: "<f", 64: "<d"}[stack.width]
    number: float = struct.unpack(code, bits.to_bytes(stack.width // 8, "little"))[0]
    if number == number:
        if stack.width == 64:
            return repr(number)
        digits = (9, 5)[stack.width == 16]
        for precision in range(1, digits + 1):  # the shortest that comes back
            text = f"{number:.{precision}g}"
            if _float_bits(stack, text) == bits:
                return text if re.search(r"[.en]", text) else text + ".0"
    return f"0x{bits:0{stack.width // 4}X}"  # which NaN it is would be lost


def _bfloat_bits(stack: Stack, value: object) -> int:
    given = _hex(value, 4)
    if given is not None:
        return given
    number = _float_of(stack, value)
    try:
        single = int.from_bytes(struct.pack("<f", number), "little")
    except OverflowError:
        raise _wrong(stack, value, "it is too large") from None
    if number != number:
        return 0x7FFF
    rounded = (single + 0x7FFF + (single >> 16 & 1)) >> 16  # to nearest, ties to even
    if rounded & 0x7FFF == 0x7F80 and single & 0x7FFFFFFF != 0x7F800000:
        raise _wrong(stack, value, "it is too large")
    return rounded


def _bfloat_text(stack: Stack, bits: int) -> str:
    number: float = struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0]
    for precision in range(1, 6):
        text = f"{number:.{precision}g}"
        if number == number and _bfloat_bits(stack, text) == bits:
            return text if re.search(r"[.en]", text) else text + ".0"
    return f"0x{bits:04X}"


def _packed_text(stack: Stack, bits: int) -> str:
    return f"0x{bits:0{stack.width // 4}X}"


def _predicate_bits(stack: Stack, value: object) -> int:
    words = {"true": 1, "false": 0, "1": 1, "0": 0}
    if isinstance(value, str) and value in words:
        return words[value]
    if value in (0, 1):
        return int(bool(value))
    raise _wrong(stack, value, "a predicate is true or false")


def _integer_text(stack: Stack, bits: int) -> str:
    return str(bits)


def _predicate_text(stack: Stack, bits: int) -> str:
    return "true" if bits else "false"


#: How constants are read and written.
_NUMBERS: dict[str, tuple[Callable[[Stack, object], int], Callable[[Stack, int], str]]] = {
    "integer": (_integer_bits, _integer_text),
    "float": (_float_bits, _float_text),
    "bfloat": (_bfloat_bits, _bfloat_text),
    "packed": (_integer_bits, _packed_text),
    "predicate": (_predicate_bits, _predicate_text),
}

#: The stacks of the ready-made instruction sets, by name.
STACKS: Mapping[str, Stack] = MappingProxyType(
    {
        stack.name: stack
        for stack in (
            Stack("pred", "pred", "predicate"),
            Stack("b16", "b16", "integer"),
            Stack("b32", "b32", "integer"),
            Stack("b64", "b64", "integer"),
            Stack("f16", "b16", "float"),
            Stack("bf16", "b16", "bfloat"),
            Stack("f16x2", "b32", "packed"),
            Stack("bf16x2", "b32", "packed"),
            Stack("f32", "f32", "float"),
            Stack("f64", "f64", "float"),
        )
    }
)


def stack_name(scalar: str) -> str:
    """The name of the stack that values of a PTX type go to; '' where there is none.

    >>> stack_name("u32"), stack_name("bf16x2"), stack_name("e4m3x2"), stack_name("b128")
    ('b32', 'bf16x2', 'b16', '')
    """
    if scalar in STACKS:
        return scalar
    found = SCALAR_TYPES.get(scalar)
    if found is None or found.width not in (8, 16, 32, 64):
        return ""
    return f"b{max(16, found.width)}"
