"""Types of operands: how CUDA hands a value to inline PTX, and which register a stub sees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ptxkit.errors import UsageError
from ptxkit.isa.types import SCALAR_TYPES

#: The constraint letters of inline PTX: the C++ type they carry, and its bits.
CARRIERS = {
    "h": ("unsigned short", 16),
    "r": ("unsigned int", 32),
    "l": ("unsigned long long", 64),
    "f": ("float", 32),
    "d": ("double", 64),
    "q": ("unsigned __int128", 128),
}
#: Types that the registers of a stub may have.
REGISTER_TYPES = tuple("pred b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64 b128".split())
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Type:
    """A type that operands of a site may have.

    >>> Type("vec", register="b64", constraint="l", cuda="float2").macro
    'VEC'
    >>> Type("vec", register="b32", constraint="l")
    Traceback (most recent call last):
    ptxkit.errors.UsageError: type 'vec': a .b32 register is not the 64 bits of constraint 'l'
    """

    name: str
    """As annotations write it, in lower case; macros write it in upper case."""
    register: str
    """The PTX type of the register that a stub uses, such as ``"f32"``."""
    constraint: str
    """The letter of the asm constraint: h, r, l, f, d or q."""
    cuda: str | None = None
    """The CUDA type, where the constraint does not take it as it is: its bits are passed."""

    def __post_init__(self) -> None:
        if _NAME.fullmatch(self.name) is None:
            raise UsageError(
                f"type {self.name!r}: a type's name is lower-case letters, digits and '_'"
            )
        if self.constraint not in CARRIERS:
            letters = ", ".join(CARRIERS)
            raise UsageError(
                f"type '{self.name}': there is no constraint {self.constraint!r}; "
                f"there are {letters}"
            )
        if self.register not in REGISTER_TYPES:
            raise UsageError(
                f"type '{self.name}': an operand's register can't be .{self.register}; "
                f"there are {', '.join(REGISTER_TYPES)}"
            )
        width = CARRIERS[self.constraint][1]
        if self.width != (1 if self.register == "pred" else width):
            raise UsageError(
                f"type '{self.name}': a .{self.register} register is not the {width} bits of "
                f"constraint '{self.constraint}'"
            )
        if self.register == "pred" and self.constraint != "r":
            raise UsageError(f"type '{self.name}': a predicate goes through constraint 'r'")
        if self.cuda is not None and (set(self.cuda) & set(",\n\r") or not self.cuda.strip()):
            raise UsageError(
                f"type '{self.name}': {self.cuda!r} can't be used as a CUDA type's name; "
                "give it an alias without a comma ('using name = ...;')"
            )

    @property
    def width(self) -> int:
        """Bits of the register."""
        return SCALAR_TYPES[self.register].width

    @property
    def macro(self) -> str:
        """The name in the macro form."""
        return self.name.upper()

    def operand(self, expression: str, direction: str) -> str:
        """The C++ operand of the asm statement for a value of this type."""
        carrier = CARRIERS[self.constraint][0]
        if self.register == "pred" and direction == "in":
            return f"static_cast<unsigned int>(static_cast<bool>({expression}))"
        if self.cuda is None:
            return expression
        const = "const " if direction == "in" else ""
        return (
            f"reinterpret_cast<{const}{carrier} &>(static_cast<{const}{self.cuda} &>({expression}))"
        )

    def define(self) -> str:
        """The line that makes the type known to ``ptxkit_inject.cuh``.

        >>> Type("vec", register="b64", constraint="l", cuda="float2").define()
        '#define PTXKIT_TYPE_VEC vec, b64, l, PTXKIT_BITS, unsigned long long, float2'
        """
        carrier = CARRIERS[self.constraint][0]
        way = "PTXKIT_PLAIN" if self.cuda is None else "PTXKIT_BITS"
        if self.register == "pred":
            way = "PTXKIT_PREDICATE"
        row = f"{self.name}, {self.register}, {self.constraint}, {way}, {carrier}"
        return f"#define PTXKIT_TYPE_{self.macro} {row}, {self.cuda or carrier}"


_INTEGERS = [
    Type(f"{kind}{width}", f"{kind}{width}", letter)
    for width, letter in ((16, "h"), (32, "r"), (64, "l"))
    for kind in "usb"
]
# Half precision is passed as its bits, in registers that every instruction takes: there is
# no .bf16 register, and a .b16 one may stand where .f16 is asked for.
_FLOATS = [
    Type("f16", "b16", "h", "__half"),
    Type("bf16", "b16", "h", "__nv_bfloat16"),
    Type("f16x2", "b32", "r", "__half2"),
    Type("bf16x2", "b32", "r", "__nv_bfloat162"),
    Type("f32", "f32", "f"),
    Type("f64", "f64", "d"),
]
_OTHERS = [Type("b128", "b128", "q"), Type("pred", "pred", "r")]
#: The types that are always there, by name.
TYPES: Mapping[str, Type] = MappingProxyType(
    {one.name: one for one in (*_INTEGERS, *_FLOATS, *_OTHERS)}
)


def with_defaults(types: Iterable[Type]) -> dict[str, Type]:
    """The types that are always there and those given."""
    known = dict(TYPES)
    for one in types:
        if not isinstance(one, Type):
            raise UsageError(f"types are ptxkit.inject.Type objects, not {type(one).__name__}")
        if one.name in known:
            raise UsageError(f"there is a type '{one.name}' already; give yours another name")
        known[one.name] = one
    return known
