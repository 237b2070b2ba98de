"""Structures by value: their fields from how they are accessed."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import SCALARS, VECTORS, Array, Pointer, Scalar, Struct, Type, Vector


def _size(type: Type) -> int:
    if isinstance(type, Pointer):
        return 8
    return type.size if isinstance(type, Scalar | Vector) else 0


def plain(type: Type) -> Type:
    """A type without what it promises about what it points to."""
    return Pointer(type.target) if isinstance(type, Pointer) else type


def alike(one: Type, two: Type) -> bool:
    """Whether two types are the same bits, whatever they are called.

    >>> alike(SCALARS["char"], SCALARS["schar"]), alike(SCALARS["char"], SCALARS["uchar"])
    (True, False)
    """
    if isinstance(one, Scalar) and isinstance(two, Scalar):
        return (one.kind, one.bits, one.signed) == (two.kind, two.bits, two.signed)
    return plain(one) == plain(two)


def vector_of(size: int, alignment: int, fields: dict[int, Type]) -> Vector | None:
    """The vector that a structure of fields of one type is, if it begins where only those must.

    >>> vector_of(16, 16, {0: SCALARS["float"], 12: SCALARS["float"]}).spelling
    'float4'
    >>> vector_of(16, 4, {0: SCALARS["float"], 12: SCALARS["float"]})
    """
    first = next(iter(fields.values()), None)
    if not isinstance(first, Scalar) or not first.size < alignment == size:
        return None
    word = {"schar": "char"}.get(first.word, first.word)
    vector = VECTORS.get(f"{word}{size // first.size}")
    whole = all(alike(type, first) and at % first.size == 0 for at, type in fields.items())
    return vector if whole else None


def united(one: dict[int, Type], two: dict[int, Type]) -> dict[int, Type] | None:
    """The fields of a structure that is used in two ways; None where these do not go together.

    What one way only reads, and the other writes, is written.

    >>> united({0: Pointer(SCALARS["int"], const=True)}, {0: Pointer(SCALARS["int"])})[0].const
    False
    """
    made = {**one, **two}
    for offset in one.keys() & two.keys():
        types = one[offset], two[offset]
        if plain(types[0]) != plain(types[1]):
            return None
        made[offset] = next((t for t in types if not getattr(t, "const", False)), types[0])
    return made


@dataclass(slots=True)
class Layout:
    """A structure of some bytes: fields by offset, or one array of bytes."""

    name: str
    size: int
    alignment: int
    fields: dict[int, tuple[str, Type]] = field(default_factory=dict)
    type: Struct | Vector = field(init=False)
    """Its type."""

    def __post_init__(self) -> None:
        self.type = Struct(self.name)

    def give_fields(self, wanted: dict[int, Type]) -> None:
        """Make fields of accesses, if they do not overlap."""
        at = 0
        for offset, type in sorted(wanted.items()):
            if offset < at or offset % _size(type) or offset + _size(type) > self.size:
                self.fields = {}
                return
            at = offset + _size(type)
        names: dict[int, tuple[str, Type]] = {}
        for offset, type in sorted(wanted.items()):
            names[offset] = (f"field_{offset}", type)
        self.fields = names

    def give_parts(self, vector: Vector) -> None:
        """Make fields of the parts of a vector."""
        element = vector.element
        self.fields = {
            number * element.size: ("xyzw"[number], element) for number in range(vector.count)
        }
        self.type = vector

    def field_at(self, offset: int, type: Type) -> str | None:
        """The field that an access is of."""
        found = self.fields.get(offset)
        return found[0] if found is not None and alike(found[1], type) else None

    def definition(self) -> n.StructDefinition:
        """Its definition, gaps filled with bytes."""
        made: list[n.Parameter] = []
        at = 0
        byte = SCALARS["uchar"]
        for offset, (name, type) in sorted(self.fields.items()):
            if offset > at and _natural(at, type) != offset:
                made.append(n.Parameter(Array(byte, (offset - at,)), f"gap_{at}"))
            made.append(n.Parameter(type, name))
            at = offset + _size(type)
        largest = max((_size(t) for _, t in self.fields.values()), default=1)
        end = -(-at // largest) * largest
        if self.size > end:
            made.append(n.Parameter(Array(byte, (self.size - at,)), f"gap_{at}"))
        align = self.alignment if self.alignment != largest else 0
        return n.StructDefinition(self.name, tuple(made), align)


def _natural(at: int, type: Type) -> int:
    """Where a field comes by itself."""
    size = _size(type)
    return -(-at // size) * size
