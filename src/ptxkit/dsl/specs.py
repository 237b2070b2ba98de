"""What a kernel says of its arguments, so that it can be called on arrays.

>>> from ptxkit.dsl import Size, Tile, f32
>>> Tile("M", "K", f32), Size("M")
(Tile('M', 'K', f32), Size('M'))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ptxkit.dsl.arrays import ArrayFacts
from ptxkit.dsl.errors import DslError, python_place
from ptxkit.dsl.tma import tensor_map
from ptxkit.dsl.types import Spec, Type, ptr, u32
from ptxkit.run import LaunchError

#: Types whose arrays are taken for others: what says only the width takes every type of it.
_ALSO = {"tf32": ("f32",), "u8": ("bool",), "b8": ("bool",)}


class Tile(Spec):
    """An array: names or sizes of its dimensions, and the type of its elements.

    The same name is the same size everywhere in a signature. ``out=True`` is made by the call and
    returned, ``inout=True`` is given and changed. Arrays are contiguous unless
    ``contiguous=False``, where the kernel takes :class:`Stride` parameters. ``align=16`` says that
    they begin at a multiple of 16 bytes, as loads of four words need.
    """

    def __init__(
        self,
        *parts: Any,
        out: bool = False,
        inout: bool = False,
        contiguous: bool = True,
        align: int = 1,
    ) -> None:
        *dimensions, type = parts
        if not isinstance(type, Type) or not all(
            (isinstance(one, str) and one.isidentifier()) or (one.__class__ is int and one > 0)
            for one in dimensions
        ):
            raise DslError(
                f"Tile{parts!r} is no array",
                'write the dimensions and the type: Tile("M", 64, f32)',
                place=python_place(),
            )
        self.dimensions: tuple[str | int, ...] = tuple(dimensions)
        self.type = type
        self.is_out, self.is_inout = out, inout
        self.is_contiguous = contiguous
        self.box: tuple[Any, ...] | None = None
        self.swizzle: Any = 0
        self.align = align
        self.annotation: Any = ptr[type].aligned(align)

    def mapped(self, *box: int | str, swizzle: int | str = 0) -> Tile:
        """Pass a tensor map that cuts boxes of this size; names are compile-time parameters."""
        if len(box) != len(self.dimensions):
            raise DslError(
                f"a box of {len(box)} dimensions for an array of {len(self.dimensions)}",
                place=python_place(),
            )
        made = Tile(
            *self.dimensions,
            self.type,
            out=self.is_out,
            inout=self.is_inout,
            contiguous=self.is_contiguous,
            align=self.align,
        )
        made.box, made.swizzle, made.annotation = box, swizzle, tensor_map
        return made

    def unify(self, name: str, array: ArrayFacts, sizes: dict[str, Any]) -> None:
        """Check an array, and take note of the sizes that it gives to names."""
        if not _fits(self.type.name, array.type):
            raise LaunchError(f"argument '{name}' is of {array.type}, and {self} takes {self.type}")
        if len(array.shape) != len(self.dimensions):
            raise LaunchError(
                f"argument '{name}' has the shape {_shown(array.shape)}, and {self} takes "
                f"{len(self.dimensions)} dimensions"
            )
        for axis, (wanted, size) in enumerate(zip(self.dimensions, array.shape, strict=True)):
            known = sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted
            if known != size:
                meaning = f"{wanted} = {known}" if isinstance(wanted, str) else str(known)
                raise LaunchError(
                    f"argument '{name}' has the shape {_shown(array.shape)}: its dimension {axis} "
                    f"is {size}, and {self} says {meaning}"
                )

    def check_memory(self, name: str, array: ArrayFacts) -> None:
        """Refuse gaps between elements, and places, that the kernel does not expect."""
        if self.align > 1 and array.address() % self.align:
            raise LaunchError(
                f"argument '{name}' begins at {array.address():#x}, which is not a multiple of "
                f"{self.align}; pass a copy"
            )
        if self.is_contiguous and not array.is_contiguous:
            raise LaunchError(
                f"argument '{name}' is not contiguous (strides {_shown(array.strides)}); pass a "
                "contiguous copy, or let the kernel take strides: Tile(..., contiguous=False)"
            )

    def shape(self, sizes: Mapping[str, Any], name: str) -> tuple[Any, ...]:
        """The shape of an array that is to be made."""
        try:
            return tuple(sizes[one] if isinstance(one, str) else one for one in self.dimensions)
        except KeyError as error:
            raise LaunchError(
                f"the size {error} of the result '{name}' is in no argument; pass the array "
                f"with out="
            ) from None

    def __repr__(self) -> str:
        return f"Tile({', '.join([*map(repr, self.dimensions), repr(self.type)])})"


class Size(Spec):
    """A size that the arrays give: ``n: Size("N")`` is a ``u32`` that no caller passes."""

    def __init__(self, name: str, type: Type = u32) -> None:
        self.name = name
        self.annotation = type

    def __repr__(self) -> str:
        return f"Size({self.name!r})"


class Stride(Spec):
    """How many elements further the next along a dimension of an argument lies."""

    def __init__(self, argument: str, axis: int, type: Type = u32) -> None:
        self.argument, self.axis = argument, axis
        self.annotation = type

    def __repr__(self) -> str:
        return f"Stride({self.argument!r}, {self.axis})"


def _fits(wanted: str, given: str) -> bool:
    if wanted == given or given in _ALSO.get(wanted, ()):
        return True
    return wanted.startswith("b") and wanted[1:].isdigit() and _bits(given) == int(wanted[1:])


def _bits(type: str) -> int:
    from ptxkit.isa.types import SCALAR_TYPES

    return 8 if type == "bool" else SCALAR_TYPES[type].width


def _shown(numbers: Sequence[Any]) -> str:
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"
