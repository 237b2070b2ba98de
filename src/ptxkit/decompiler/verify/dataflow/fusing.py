"""Products that an assembler may put together with a sum, and what else reads them.

Whether it does so depends on more than the two: a product that somebody else reads, or of which
only one way leads to the sum, stays one. So two programs are taken for equal only where such
products are read alike in both.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from ptxkit.isa.dataflow import registers
from ptxkit.isa.types import FLOAT, SCALAR_TYPES
from ptxkit.syntax import Function, Instruction

#: What a product is put together with, and what passes one on.
_SUMS, _PASSING = frozenset(("add", "sub")), frozenset(("mov", "selp", "neg"))
_ROUNDINGS = frozenset((".rn", ".rz", ".rm", ".rp"))


def open_products(function: Function) -> Counter[tuple[str, ...]]:
    """For each product that a sum may take in, by what its register is read.

    >>> import ptxkit
    >>> text = ".func f() {{ .reg .f32 %f<9>; mul.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5; {} }}"
    >>> once, twice = (ptxkit.parse(text.format(more))["f"] for more in ("", "neg.f32 %f6, %f1;"))
    >>> open_products(once), open_products(twice)
    (Counter({('add.f32',): 1}), Counter({('add.f32', 'neg.f32'): 1}))
    >>> open_products(ptxkit.parse(text.replace("mul", "mul.rn").format(""))["f"])
    Counter()
    """
    silent = [one for one in function.instructions if _is_silent(one)]
    if not any(one.name == "mul" for one in silent) or not any(one.name in _SUMS for one in silent):
        return Counter()
    products: list[str] = []
    readers: dict[str, list[Instruction]] = defaultdict(list)
    for one in function.instructions:
        found = registers(one)
        if one.name == "mul" and _is_silent(one):
            products += [name.text for name in found.defined]
        for name in found.used:
            readers[name.text].append(one)
    read = [readers[name] for name in products]
    return Counter(
        tuple(sorted(one.opcode for one in some))
        for some in read
        if any(one.name in _PASSING or (one.name in _SUMS and _is_silent(one)) for one in some)
    )


def _is_silent(one: Instruction) -> bool:
    """Whether it is a product or a sum of numbers with a point that says nothing of rounding."""
    if one.name != "mul" and one.name not in _SUMS:
        return False
    type = one.modifiers[-1][1:] if one.modifiers else ""
    floats = type in SCALAR_TYPES and SCALAR_TYPES[type].kind == FLOAT
    return floats and not _ROUNDINGS.intersection(one.modifiers)
