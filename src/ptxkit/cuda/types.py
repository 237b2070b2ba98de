"""The types of CUDA C++ that the tree knows.

A scalar has a short word (used in S-expressions) and its C++ spelling:

>>> SCALARS["uint"].spelling, SCALARS["uint"].bits
('unsigned int', 32)
>>> Pointer(SCALARS["float"], const=True, restrict=True).spelling
'const float *__restrict__'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number, ``bool`` or ``void``."""

    word: str
    spelling: str
    kind: OneOf["float", "int", "bool", "void"]
    bits: int
    signed: bool = True
    rank: int = 0
    """Place in the order of integer conversions; a wider one has a higher rank."""

    @property
    def size(self) -> int:
        """Bytes."""
        return max(1, self.bits // 8)

    @property
    def is_integer(self) -> bool:
        """Whether arithmetic on it is integer arithmetic (``bool`` counts)."""
        return self.kind in ("int", "bool")

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point number."""
        return self.kind == "float"


@dataclass(frozen=True, slots=True)
class Vector:
    """One of CUDA's built-in vectors, such as ``float4``; fields x, y, z, w."""

    word: str
    element: Scalar
    count: int

    @property
    def spelling(self) -> str:
        """As written in C++."""
        return self.word

    @property
    def size(self) -> int:
        """Bytes."""
        return self.element.size * self.count


@dataclass(frozen=True, slots=True)
class Struct:
    """A structure by name; its fields are in the module's :class:`StructDefinition`."""

    name: str

    @property
    def spelling(self) -> str:
        """As written in C++."""
        return self.name


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer to values of a type."""

    target: Type
    const: bool = False
    volatile: bool = False
    restrict: bool = False

    size = 8

    @property
    def spelling(self) -> str:
        """As written in C++.

        >>> Pointer(FLOAT, const=True).spelling, Pointer(Pointer(FLOAT), const=True).spelling
        ('const float *', 'float *const *')
        """
        qualifiers = ("const " * self.const) + ("volatile " * self.volatile)
        if isinstance(self.target, Pointer):
            # What stands before all of it would be about what the inner pointer points to.
            words = self.target.spelling + qualifiers
        else:
            words = qualifiers + self.target.spelling
        star = "*" if words.endswith(("*", " ")) else " *"
        return words + star + ("__restrict__" if self.restrict else "")


@dataclass(frozen=True, slots=True)
class Array:
    """An array; a shape that begins with 0 has its size from elsewhere (``extern x[]``)."""

    element: Type
    shape: tuple[int, ...]

    @property
    def spelling(self) -> str:
        """As written in C++, without a name."""
        return self.element.spelling + "".join(f"[{n or ''}]" for n in self.shape)


Type = Scalar | Vector | Struct | Pointer | Array

_ROWS: tuple[tuple[str, str, OneOf["float", "int", "bool", "void"], int, bool, int], ...] = (
    ("void", "void", "void", 0, False, 0),
    ("bool", "bool", "bool", 8, False, 0),
    ("char", "char", "int", 8, True, 1),
    ("schar", "signed char", "int", 8, True, 1),
    ("uchar", "unsigned char", "int", 8, False, 1),
    ("short", "short", "int", 16, True, 2),
    ("ushort", "unsigned short", "int", 16, False, 2),
    ("int", "int", "int", 32, True, 3),
    ("uint", "unsigned int", "int", 32, False, 3),
    ("long", "long", "int", 64, True, 4),
    ("ulong", "unsigned long", "int", 64, False, 4),
    ("longlong", "long long", "int", 64, True, 5),
    ("ulonglong", "unsigned long long", "int", 64, False, 5),
    ("half", "__half", "float", 16, True, 0),
    ("bfloat16", "__nv_bfloat16", "float", 16, True, 0),
    ("float", "float", "float", 32, True, 0),
    ("double", "double", "float", 64, True, 0),
)

SCALARS: dict[str, Scalar] = {row[0]: Scalar(*row) for row in _ROWS}
"""Every scalar by its word."""

VOID, BOOL = SCALARS["void"], SCALARS["bool"]
INT, UINT = SCALARS["int"], SCALARS["uint"]
LONG_LONG, UNSIGNED_LONG_LONG = SCALARS["longlong"], SCALARS["ulonglong"]
HALF, BFLOAT16 = SCALARS["half"], SCALARS["bfloat16"]
FLOAT, DOUBLE = SCALARS["float"], SCALARS["double"]

VECTORS: dict[str, Vector] = {
    f"{word}{count}": Vector(f"{word}{count}", SCALARS[word], count)
    for word in (
        *("char", "uchar", "short", "ushort", "int", "uint"),
        *("longlong", "ulonglong", "float", "double"),
    )
    for count in (1, 2, 3, 4)
}
"""Every built-in vector by its name."""
VECTORS["half2"] = Vector("__half2", HALF, 2)
VECTORS["bfloat162"] = Vector("__nv_bfloat162", BFLOAT16, 2)

VECTOR_FIELDS = ("x", "y", "z", "w")


def promoted(scalar: Scalar) -> Scalar:
    """What integer promotion makes of it.

    >>> promoted(SCALARS["ushort"]).word
    'int'
    """
    return INT if scalar.is_integer and scalar.rank < INT.rank else scalar


def common(left: Scalar, right: Scalar) -> Scalar:
    """The usual arithmetic conversions: the type two operands are brought to.

    >>> common(INT, UINT).word, common(FLOAT, LONG_LONG).word, common(BOOL, BOOL).word
    ('uint', 'float', 'int')
    """
    if left is right:  # as most often
        return promoted(left)
    for wide in (DOUBLE, FLOAT, BFLOAT16, HALF):
        if wide in (left, right):
            return wide
    left, right = promoted(left), promoted(right)
    if left == right:
        return left
    if left.signed == right.signed:
        return left if left.rank > right.rank else right
    unsigned, signed = (right, left) if left.signed else (left, right)
    if unsigned.rank >= signed.rank:
        return unsigned
    if signed.bits > unsigned.bits:
        return signed
    return SCALARS["u" + signed.word]
