"""Where parameters and variables lie in memory."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Declarator, Function, Parameter, Variable

#: Bytes of shared memory that a block of any GPU so far can have, and of local memory a thread.
MAX_SHARED = 227 * 1024
MAX_LOCAL = 512 * 1024
#: Bytes that a kernel's parameters take at most, on any GPU.
MOST_PARAMETER_BYTES = 32764


@dataclass(frozen=True, slots=True)
class Item:
    """A parameter or variable: its name, type, offset and size in bytes."""

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    is_array: bool
    pointer_space: str = ""
    is_pointer: bool = False


def align(offset: int, alignment: int) -> int:
    """Round an offset up.

    >>> align(5, 4), align(8, 8)
    (8, 8)
    """
    return -(-offset // alignment) * alignment


def scalar_bytes(name: str) -> int:
    """The bytes of a scalar type; a predicate takes one."""
    return max(1, SCALAR_TYPES[name].width // 8)


def parameter_layout(parameters: tuple[Parameter, ...]) -> tuple[list[Item], int]:
    """Lay parameters out one after another, each at its alignment.

    >>> import ptxkit
    >>> k = ptxkit.parse(".entry k(.param .u32 n, .param .u64 p, .param .align 4 .b8 s[6]);")["k"]
    >>> items, size = parameter_layout(k.parameters)
    >>> [(i.name, i.offset, i.size) for i in items], size
    ([('n', 0, 4), ('p', 8, 8), ('s', 16, 6)], 22)
    """
    items: list[Item] = []
    offset = 0
    for parameter in parameters:
        one = parameter.details
        element = scalar_bytes(one.type) * one.vector
        size = element
        for extent in one.dimensions:
            size *= extent or 0
        # ".ptr ... .align N" tells of what is pointed to, not of the parameter itself.
        wanted = None if one.is_pointer else one.alignment
        alignment = max(wanted or 0, element)
        offset = align(offset, alignment)
        items.append(
            Item(
                one.name,
                one.type,
                offset,
                size,
                alignment,
                bool(one.dimensions),
                one.pointer_space,
                one.is_pointer,
            )
        )
        offset += size
    return items, offset


def kernel_layout(function: Function) -> tuple[list[Item], int]:
    """The parameters of a kernel and the bytes they take together."""
    return parameter_layout(function.parameters)


def variable_size(variable: Variable, declarator: Declarator) -> tuple[int, int]:
    """The bytes and the alignment of a declared variable; an open array has 0 bytes."""
    element = scalar_bytes(variable.type) * variable.vector
    size = element
    for extent in declarator.dimensions:
        if extent is None:
            values = declarator.initializer
            extent = len(values.children) if values is not None else 0
        size *= extent
    return size, max(variable.alignment or 0, element)
