"""Products that an assembler may put together with a sum.

It does so where all that reads a product are sums, be it through a choice: a product that somebody
else needs is computed anyway, and stays one. So two programs are taken for equal only where as many
products are read by sums alone, and each by as many.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from ptxkit.decompiler.verify.dataflow.opcodes import says_no_rounding
from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Function, Instruction

#: What a product is put together with, and what passes one on.
_SUMS, _PASSING = frozenset(("add", "sub")), frozenset(("mov", "selp", "neg"))


def open_products(function: Function) -> Counter[int]:
    """By how many sums products are read that nothing else reads, and how many these are.

    >>> import ptxkit
    >>> text = ".func f() {{ .reg .f32 %f<9>; mul.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5; {} }}"
    >>> once, twice = (ptxkit.parse(text.format(more))["f"] for more in ("", "rcp.f32 %f6, %f1;"))
    >>> open_products(once), open_products(twice)
    (Counter({1: 1}), Counter())
    >>> open_products(ptxkit.parse(text.replace("mul", "mul.rn").format(""))["f"])
    Counter()
    """
    silent = [one for one in function.instructions if _is_silent(one)]
    if not any(one.name == "mul" for one in silent) or not any(one.name in _SUMS for one in silent):
        return Counter()
    products: list[str] = []
    readers: dict[str, list[tuple[bool, list[str]]]] = defaultdict(list)
    for one in function.instructions:
        found = registers(one)
        results = [name.text for name in found.defined]
        if one.name == "mul" and _is_silent(one):
            products += results
        adds = one.name in _SUMS and _is_silent(one)
        for read in found.used:
            readers[read.text].append((adds, results if one.name in _PASSING else []))
    taken = _taken_in(readers)
    made: Counter[int] = Counter()
    for name in products:
        places = [adds or bool(taken.intersection(to)) for adds, to in readers[name]]
        if places and all(places):
            made[len(places)] += 1
    return made


def _taken_in(readers: dict[str, list[tuple[bool, list[str]]]]) -> set[str]:
    """The registers that a sum reads, or that are passed on to one that it does."""
    taken = {name for name, read in readers.items() if any(adds for adds, _ in read)}
    while True:
        more = {name for name, read in readers.items() if any(taken & set(to) for _, to in read)}
        if more <= taken:
            return taken
        taken |= more


def _is_silent(one: Instruction) -> bool:
    type = one.modifiers[-1][1:] if one.modifiers else ""
    return says_no_rounding(one.name, type, one.modifiers)
