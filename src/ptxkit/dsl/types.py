"""Scalar types as Python objects: ``f32(1.0)`` is a constant of that type."""

from __future__ import annotations

from typing import Any

from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import (
    Constant,
    Operand,
    float_constant,
    half_bits,
    integer_constant,
    operand,
)
from ptxkit.isa.types import FLOAT, SCALAR_TYPES

_ACCESSED = frozenset("b8 b16 b32 u8 u16 u32 s8 s16 s32 f32".split())


class Type:
    """A scalar type of PTX."""

    __slots__ = ("is_float", "is_signed", "name", "width")

    def __init__(self, name: str) -> None:
        scalar = SCALAR_TYPES[name]
        self.name = name
        self.width = scalar.width
        self.is_float = scalar.kind == FLOAT
        self.is_signed = scalar.kind == "signed"

    @property
    def access(self) -> str:
        """The type that loads and stores name it by: they know no halves.

        >>> f16.access, f32.access
        ('b16', 'f32')
        """
        return self.name if self.width > 32 or self.name in _ACCESSED else f"b{self.width}"

    def __call__(self, value: float) -> Operand:
        """A constant of the type, bit by bit for floats; those of 16 bits are spelled as integers.

        >>> f32(1.0).text, f16(1.0).text
        ('0f3F800000', '15360')
        """
        if self.name in ("f16", "bf16"):
            return integer_constant(half_bits(value, self.name))
        if self.is_float:
            if self.name not in ("f32", "f64"):
                raise DslError(f"PTX has no constants of type .{self.name}", "convert from f32")
            return float_constant(value, self.name)
        made = operand(int(value))
        assert isinstance(made, Constant)
        return made

    def __repr__(self) -> str:
        return self.name


class Pointer:
    """A pointer as a parameter: ``x: ptr``, ``x: ptr[f32]``, ``x: ptr.shared``.

    The body gets the address in its space; ``ptr.generic`` is passed as it is.
    """

    __slots__ = ("alignment", "element", "space")
    name = "u64"
    access = "u64"

    def __init__(self, space: str = "global", element: Type | None = None) -> None:
        self.space = space
        self.element = element
        self.alignment = 1 if element is None else max(1, element.width // 8)

    def __getitem__(self, element: Type) -> Pointer:
        return Pointer(self.space, element)

    def aligned(self, alignment: int) -> Pointer:
        """A pointer to a multiple of so many bytes, where that is more than the type's own."""
        made = Pointer(self.space, self.element)
        made.alignment = max(made.alignment, alignment)
        return made

    @property
    def shared(self) -> Pointer:
        """A pointer into shared memory."""
        return Pointer("shared", self.element)

    @property
    def const(self) -> Pointer:
        """A pointer into constant memory."""
        return Pointer("const", self.element)

    @property
    def generic(self) -> Pointer:
        """A pointer into any space."""
        return Pointer("", self.element)

    def __repr__(self) -> str:
        return "ptr"


class Spec:
    """A parameter that a call on arrays fills in; ``annotation`` is its type in the body."""

    annotation: Any


ptr = Pointer()
f32, f64, f16, f16x2 = Type("f32"), Type("f64"), Type("f16"), Type("f16x2")
bf16, tf32, e4m3, e5m2 = Type("bf16"), Type("tf32"), Type("e4m3"), Type("e5m2")
b8, b16, b32, b64, b128 = (Type(f"b{width}") for width in (8, 16, 32, 64, 128))
u8, u16, u32, u64 = (Type(f"u{width}") for width in (8, 16, 32, 64))
s8, s16, s32, s64 = (Type(f"s{width}") for width in (8, 16, 32, 64))
pred = Type("pred")
