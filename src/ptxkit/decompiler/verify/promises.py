"""Memory that nobody changes while a kernel runs, as the original says of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.decompiler.verify.usage import Access, Usage, usage_of
from ptxkit.syntax import Function, Module

Through = tuple[int, int, tuple[int | None, ...]]
"""A pointer: the place of the parameter that it comes from, where in it, the loads on the way."""


def accesses_through(usage: Usage, parameters: list[str]) -> Iterator[tuple[Through, Access]]:
    """What is done behind each pointer, which has the same name for both sides."""
    for origin, access in usage.accesses.items():
        if origin.name in parameters:
            yield (parameters.index(origin.name), origin.offset, origin.through), access


def only_through(
    pointers: Collection[Through], usage: Usage, parameters: list[str]
) -> frozenset[int]:
    """The loads that take memory for constant through some pointers, and through no others."""
    within = [access for place, access in accesses_through(usage, parameters) if place in pointers]
    found = {start for access in within for start in access.trusting}
    others = (a for a in usage.accesses.values() if all(a is not one for one in within))
    return frozenset(found.difference(*(access.trusting for access in others)))


def constant_loads(
    modules: tuple[Module, Module], kernels: tuple[Function, Function]
) -> tuple[frozenset[int], frozenset[int]]:
    """The ``.nc`` loads of an original and of a candidate, by their starts, if all are constant.

    They are where the original says of all that it reads through a pointer that nobody changes it,
    and writes nothing through that pointer; and where neither has other loads of that kind.

    What a kernel loads so is not changed before it ends, or else what it does is not defined. So
    what such a load of the original gives is the same at any time. And the candidate loads from
    no places but those that the original touches, for which no other memory is known to be there:
    through these pointers that is what the original loads so, too.
    """
    none: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    trusting = [
        frozenset(one.span[0] for one in kernel.instructions if ".nc" in one.modifiers)
        for kernel in kernels
    ]
    if not all(trusting) or not all(kernel.is_entry for kernel in kernels):
        return none
    names = [[parameter.name for parameter in kernel.parameters] for kernel in kernels]
    ours, theirs = (usage_of(*one) for one in zip(modules, kernels, strict=True))
    always = {place for place, access in accesses_through(ours, names[0]) if access.promised}
    known = [only_through(always, *one) for one in zip((ours, theirs), names, strict=True)]
    if any(one - found for one, found in zip(trusting, known, strict=True)):
        return none
    return trusting[0], trusting[1]
