"""The instruction table: every row of ``rows/``, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType

from ptxkit.isa.forms import InstructionSpec

#: The files of ``rows/``, in the order of the manual, with the title of each family.
FAMILIES: dict[str, str] = {
    "integer": "Integer arithmetic",
    "extended": "Extended-precision integer arithmetic",
    "floating": "Floating point",
    "half": "Half precision and bfloat16",
    "compare": "Comparison and selection",
    "logic": "Logic and shift",
    "convert": "Data movement and conversion",
    "convert_narrow": "Conversions to 8, 6 and 4 bits",
    "memory": "Loads, stores and addresses",
    "texture": "Texture",
    "surface": "Surface",
    "control": "Control flow",
    "synchronisation": "Synchronisation and fences",
    "atomics": "Atomics and reductions",
    "multimem": "Multimem",
    "warp": "Warp operations",
    "mbarrier": "Mbarrier",
    "async_copy": "Asynchronous copies",
    "tensor_copy": "Bulk and tensor copies",
    "tensor_map": "Tensor maps and cluster launch control",
    "wmma": "Matrix: wmma",
    "mma": "Matrix: mma",
    "mma_sparse": "Matrix: mma.sp",
    "matrix_move": "Matrix: ldmatrix, stmatrix, movmatrix",
    "wgmma": "Matrix: wgmma",
    "tcgen05": "Matrix: tcgen05",
    "tcgen05_mma": "Matrix: tcgen05.mma",
    "video": "Video",
    "stack": "Stack",
    "miscellaneous": "Miscellaneous",
}


@lru_cache(maxsize=1)
def table() -> Mapping[str, InstructionSpec]:
    """Every instruction by its fixed name (``add``, ``mul.wide``, ``cp.async.bulk``).

    >>> table()["add"].is_pure
    True
    """
    found: dict[str, InstructionSpec] = {}
    for module, title in FAMILIES.items():
        rows: list[InstructionSpec] = import_module(f"ptxkit.isa.rows.{module}").INSTRUCTIONS
        for row in rows:
            if row.root in found:
                before = found[row.root]
                row = replace(  # an instruction may have rows in several families
                    before, forms=before.forms + row.forms, effects=before.effects | row.effects
                )
                found[row.root] = row
            else:
                found[row.root] = replace(row, family=title)
    return MappingProxyType(found)


@lru_cache(maxsize=1)
def _by_name() -> Mapping[str, tuple[InstructionSpec, ...]]:
    groups: dict[str, list[InstructionSpec]] = {}
    for root, row in table().items():
        groups.setdefault(root.partition(".")[0], []).append(row)
    # Longest fixed name first: 'mul.wide' before 'mul'.
    return {
        name: tuple(sorted(rows, key=lambda row: -row.root.count(".")))
        for name, rows in groups.items()
    }


def known_names() -> frozenset[str]:
    """The first words of all opcodes: ``add``, ``ld``, ``cp`` ..."""
    return frozenset(_by_name())


def specs_of(name: str) -> tuple[InstructionSpec, ...]:
    """All instructions whose opcode begins with this word, longest fixed name first."""
    return _by_name().get(name, ())


def spec_of(name: str, modifiers: tuple[str, ...]) -> InstructionSpec | None:
    """The instruction an opcode belongs to (longest fixed name), or None."""
    return next((row for row in specs_of(name) if row.begins(modifiers)), None)


def lookup(opcode: str) -> InstructionSpec | None:
    """The instruction an opcode such as ``"ld.global.f32"`` belongs to, or None.

    >>> found = lookup("mul.wide.u32")
    >>> found is not None and found.root
    'mul.wide'
    """
    name, *words = opcode.split(".")
    return spec_of(name, tuple("." + word for word in words))
