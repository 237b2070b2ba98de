"""Which family of the instruction table an instruction belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from ptxkit.isa.forms import InstructionSpec
from ptxkit.isa.match import match
from ptxkit.isa.registry import FAMILIES, lookup

#: The family of opcodes that are not in the table.
UNKNOWN = "Unknown"


@lru_cache(maxsize=1)
def _family_of_form() -> Mapping[tuple[str, str], str]:
    """The family whose file has a row: an instruction such as ``add`` has rows in several."""
    found: dict[tuple[str, str], str] = {}
    for module, title in FAMILIES.items():
        rows: list[InstructionSpec] = import_module(f"ptxkit.isa.rows.{module}").INSTRUCTIONS
        for row in rows:
            for form in row.forms:
                found.setdefault((form.root, form.syntax), title)
    return found


@lru_cache(maxsize=65536)
def family_of(opcode: str) -> str:
    """The title of the family of an opcode; ``"Unknown"`` for one that is not in the table.

    >>> family_of("add.s32"), family_of("add.rn.f32"), family_of("nothing.b32")
    ('Integer arithmetic', 'Floating point', 'Unknown')
    """
    name, *words = opcode.split(".")
    for found in match(name, tuple("." + word for word in words)):
        title = _family_of_form().get((found.form.root, found.form.syntax))
        if title is not None:
            return title
    spec = lookup(opcode)  # a known name with modifiers that no row has
    return spec.family if spec is not None else UNKNOWN


def by_family(opcodes: Mapping[str, int]) -> dict[str, int]:
    """Add up counts of opcodes by family, in the order of the manual, the unknown last.

    >>> by_family({"add.f32": 3, "add.u32": 1, "mul.f32": 1, "nothing": 2})
    {'Integer arithmetic': 1, 'Floating point': 4, 'Unknown': 2}
    """
    counts: dict[str, int] = dict.fromkeys((*FAMILIES.values(), UNKNOWN), 0)
    for opcode, number in opcodes.items():
        counts[family_of(opcode)] += number
    return {title: number for title, number in counts.items() if number}
