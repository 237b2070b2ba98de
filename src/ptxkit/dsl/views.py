"""Arrays in memory: addresses of elements, and loads and stores of one or several of them.

>>> from ptxkit.dsl import f32, kernel, ptr, ptx, reg, sreg, u32, view
>>> @kernel(target="sm_80")
... def double(x: ptr[f32], n: u32):
...     rows = view(x, f32, strides=(n, 1))
...     i = reg.u32(init=sreg.tid.x)
...     values = rows.load(i, 4, count=4)
...     rows.store(i, 4, value=[one + one for one in values])
...     ptx.ret()
>>> "ld.global.v4.f32" in double.ptx(), "st.global.v4.f32" in double.ptx()
(True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.dsl.arithmetic import emit, fresh
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import Operand, addr
from ptxkit.dsl.registers import Register, Variable
from ptxkit.dsl.types import Type
from ptxkit.isa.types import REGISTER_TYPES, SCALAR_TYPES

#: The most bytes that one load or store moves.
_MOST_BYTES = 16


def plus(left: Any, right: Any) -> Any:
    """A sum of ints and registers; what is known while tracing makes no instruction.

    >>> plus(3, 4)
    7
    """
    if isinstance(left, int):
        left, right = right, left
    return left if isinstance(right, int) and right == 0 else left + right


def times(left: Any, right: Any) -> Any:
    """A product of ints and registers; factors of 0 and 1 make no instruction.

    >>> times(3, 4)
    12
    """
    if isinstance(left, int):
        left, right = right, left
    if isinstance(right, int) and not isinstance(left, int):
        if right == 1:
            return left
        if right == 0:
            return 0
        if right > 0 and right & (right - 1) == 0:
            return left << (right.bit_length() - 1)
    return left * right


def widened(value: Any, type: str) -> Any:
    """An index in the type of an address; ints as they are."""
    if isinstance(value, int) or SCALAR_TYPES[value.type].width == SCALAR_TYPES[type].width:
        return value
    if value.type.startswith("b"):
        value = value.to(f"u{SCALAR_TYPES[value.type].width}")
    return value.to("s64" if value.type.startswith("s") else "u64").to(type)


class View:
    """An array in memory: where it begins, what its elements are, and how far apart.

    ``strides`` are in elements, ints or registers. Indices are ints or registers too: what is
    an int ends in the offset of the address and costs no instruction.
    """

    def __init__(
        self,
        base: Any,
        type: Type,
        strides: Sequence[Any] = (1,),
        space: str = "global",
        offset: int = 0,
    ) -> None:
        self.base: Register = _as_register(base, space)
        self.type = type
        self.strides = tuple(strides)
        self.space = space
        self.offset = offset
        if type.width % 8:
            raise DslError(f"elements of type .{type.name} have no address of their own")

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return self.type.width // 8

    def place(self, *indices: Any) -> tuple[Register, int]:
        """Where an element lies: a register and a number of bytes to add to it."""
        if len(indices) != len(self.strides):
            raise DslError(f"{len(indices)} indices for an array of {len(self.strides)} dimensions")
        known, parts = self.offset, []
        for index, stride in zip(indices, self.strides, strict=True):
            if isinstance(index, int) and isinstance(stride, int):
                known += index * stride * self.size
            else:
                parts.append(self._scaled(index, stride))
        place = self.base
        for part in parts:
            place = plus(place, part)
        return place, known

    def _scaled(self, index: Any, stride: Any) -> Any:
        """``index * stride`` elements in bytes, as wide as an address."""
        wide = SCALAR_TYPES[self.base.type].width == 64
        if isinstance(stride, int) or isinstance(index, int):
            number = stride if isinstance(stride, int) else index
            register = index if isinstance(stride, int) else stride
            if wide and register.type in ("u32", "s32", "b32") and number * self.size < 1 << 31:
                made = fresh("u64" if register.type != "s32" else "s64")
                sign = "s32" if register.type == "s32" else "u32"
                emit(f"mul.wide.{sign}", made, register, number * self.size)
                return made if made.type == self.base.type else made.to(self.base.type)
            return times(widened(register, self.base.type), number * self.size)
        if wide and index.type == stride.type and index.type in ("u32", "s32"):
            made = fresh(f"{index.type[0]}64")
            emit(f"mul.wide.{index.type}", made, index, stride)
            return times(made.to(self.base.type), self.size)
        product = times(widened(index, self.base.type), widened(stride, self.base.type))
        return times(product, self.size)

    def at(self, *indices: Any) -> Operand:
        """The address of an element, as an operand: ``ptx.ld.global_.f32(v, x.at(i, j))``."""
        register, known = self.place(*indices)
        return addr(register, known or None)

    def __getitem__(self, indices: Any) -> Operand:
        return self.at(*(indices if isinstance(indices, tuple) else (indices,)))

    def address(self, *indices: Any) -> Register:
        """The address of an element in a register."""
        register, known = self.place(*indices)
        return register if known == 0 else register + known

    def moved(self, *indices: Any) -> View:
        """The same array from another element on."""
        register, known = self.place(*indices)
        return View(register, self.type, self.strides, self.space, known)

    # -- loads and stores --------------------------------------------------------------------

    def load(self, *indices: Any, count: int = 1, modifiers: str = "", when: Any = None) -> Any:
        """Load an element, or ``count`` of them that follow each other: a list of registers.

        Several elements narrower than 32 bits come packed, in registers of type ``b32``.
        ``modifiers`` stand before the space's: ``load(i, modifiers="nc")`` is ``ld.global.nc``.
        """
        words, register, number = self._access(count)
        made = [fresh(register) for _ in range(number or 1)]
        operand = made if number else made[0]
        emit(_opcode("ld", self.space, modifiers, words), operand, self.at(*indices), when=when)
        return made if count > 1 else made[0]

    def store(self, *indices: Any, value: Any, modifiers: str = "", when: Any = None) -> None:
        """Store an element, or as many as ``value`` is a list of; narrow ones packed, as loaded."""
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        count = len(values)
        if isinstance(value, (list, tuple)) and self.type.width < 32:  # packed
            bits = [SCALAR_TYPES[one.type].width for one in values if isinstance(one, Register)]
            count = sum(bits) // self.type.width
        words, _, number = self._access(count)
        if number and number != len(values):
            raise DslError(f"{len(values)} registers for {count} elements of .{self.type.name}")
        operand = values if number else values[0]
        emit(_opcode("st", self.space, modifiers, words), self.at(*indices), operand, when=when)

    def _access(self, count: int) -> tuple[str, str, int]:
        """The words of a load of so many elements, the type of its registers, their number."""
        bits = count * self.type.width
        if count < 1 or bits > 8 * _MOST_BYTES or bits & (bits - 1):
            raise DslError(
                f"{count} elements of .{self.type.name} cannot be moved at once",
                f"one access moves up to {_MOST_BYTES} bytes, a power of two",
            )
        if count == 1:
            return self.type.access, register_type(self.type), 0
        if self.type.width >= 32:
            return f"v{count}.{self.type.access}", register_type(self.type), count
        if bits < 32:
            return f"b{bits}", f"b{bits}", 0
        number = bits // 32
        return (f"v{number}.b32", "b32", number) if number > 1 else ("b32", "b32", 0)


def _opcode(name: str, space: str, modifiers: str, words: str) -> str:
    return ".".join(part for part in (name, space, modifiers, words) if part)


def register_type(type: Type) -> str:
    """The type of the register that holds an element: formats without one are bits.

    >>> from ptxkit.dsl import bf16, f16, u8
    >>> register_type(bf16), register_type(f16), register_type(u8)
    ('b16', 'f16', 'u32')
    """
    if type.width == 8:
        return f"{type.name[0]}32" if type.name in ("u8", "s8", "b8") else "b32"
    return type.name if type.name in REGISTER_TYPES else f"b{type.width}"


def _as_register(base: Any, space: str) -> Register:
    if isinstance(base, Register):
        return base
    if isinstance(base, Variable):
        made = fresh("u32" if base.space.startswith("shared") else "u64")
        return made.set(base)
    raise DslError(f"{base!r} is no place in memory", "an array begins at a register or a variable")


def view(base: Any, type: Type, strides: Sequence[Any] = (1,), space: str | None = None) -> View:
    """An array that begins at a pointer or a variable; ``strides`` in elements."""
    chosen = space
    if chosen is None:
        chosen = base.space if isinstance(base, Variable) else "global"
    return View(base, type, strides, chosen)
