"""Accesses to memory of two programs in the same words, where they are the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Instruction

Access = Callable[[Step], Step]
"""A step as it is compared."""

Sort = tuple[str, frozenset[str]]
"""An instruction's name, and how it orders or caches what it does."""

_ACCESSES = frozenset(("ld", "st", "atom", "red"))
_SPACES = ("global", "shared", "local", "const", "param")


def is_generic(step: Step | Instruction) -> bool:
    """Whether an instruction accesses memory of whatever kind its address is of."""
    return step.name in _ACCESSES and not any(
        modifier[1:].startswith(_SPACES) for modifier in step.modifiers
    )


def space_of(step: Step) -> str:
    """The kind of memory that an access is compared as one of; empty for memory of any kind."""
    words = [word.partition("::")[0] for word in step.opcode.split(".")]
    return next((space for space in _SPACES if space in words), "")


def as_global(step: Step) -> Step:
    """The same access to global memory."""
    name, _, rest = step.opcode.partition(".")
    # Where the space is written: after what orders the access.
    words = rest.split(".")
    place = 1 if words[0] in _ORDERS else 0
    place += place and words[place] in _SCOPES
    opcode = ".".join((name, *words[:place], "global", *words[place:]))
    return replace(step, opcode=opcode, modifiers=step.modifiers | {".global"})


def as_generic(step: Step) -> Step:
    """An access to global memory as one to memory of any kind; its modifiers say what it was."""
    known = step.name in _ACCESSES and ".global" in step.modifiers and step.type in SCALAR_TYPES
    if not known or ".nc" in step.modifiers:
        return step
    return replace(step, opcode=".".join(w for w in step.opcode.split(".") if w != "global"))


def differ_in_kind(original: Iterable[Instruction], candidate: Iterable[Instruction]) -> bool:
    """Whether one of two programs knows of more accesses than the other that they are global.

    A compiler makes copies of code: where all accesses of one sort are of one kind in both, it does
    not matter how many there are.

    >>> import ptxkit
    >>> def accesses(*kinds):
    ...     body = " ".join(f"{kind}.u32 %r, [%d];" for kind in kinds)
    ...     text = f".func f() {{ .reg .b32 %r; .reg .b64 %d; {body} }}"
    ...     return ptxkit.parse(text)["f"].instructions
    >>> mine = accesses("ld.global", "ld.cg")
    >>> differ_in_kind(mine, accesses("ld.global", "ld.cg", "ld.cg"))
    False
    >>> differ_in_kind(mine, accesses("ld.global", "ld.global.cg"))
    True
    >>> differ_in_kind(accesses("ld.global", "ld"), accesses("ld.global", "ld", "ld"))
    True
    """
    first, second = (_kinds(some) for some in (original, candidate))
    if not any(True in kinds for kinds in first.values()):
        return False
    return any(
        first[sort].keys() != second[sort].keys()
        or (len(first[sort]) > 1 and first[sort][True] != second[sort][True])
        for sort in first.keys() & second.keys()
    )


def _kinds(instructions: Iterable[Instruction]) -> dict[Sort, Counter[bool]]:
    """For each sort of access, how many are generic, and how many are to global memory."""
    found: dict[Sort, Counter[bool]] = defaultdict(Counter)
    for one in instructions:
        generic = is_generic(one)
        if generic or (one.name in _ACCESSES and ".global" in one.modifiers):
            found[one.name, frozenset(map(_as_sort, one.modifiers)) - {""}][generic] += 1
    return found


def _as_sort(modifier: str) -> str:
    """A modifier as far as it tells sorts of accesses apart: not by kind of memory, nor by size."""
    if modifier in (".global", ".v2", ".v4", ".v8", ".nc"):
        return ""
    return "" if modifier[1:] in SCALAR_TYPES else modifier


def changing(step: Step) -> Step:
    """A load that does not rely on memory that nobody changes."""
    if step.name != "ld" or ".nc" not in step.modifiers:
        return step
    opcode = ".".join(word for word in step.opcode.split(".") if word != "nc")
    return replace(step, opcode=opcode, modifiers=step.modifiers - {".nc"})


def unchanging(step: Step) -> Step:
    """A load of memory that nobody changes as one of constant memory; modifiers say what it was."""
    name, _, rest = step.opcode.partition(".")
    return replace(step, opcode=f"{name}.const.{rest}")


_ORDERS = frozenset("weak volatile relaxed acquire release acq_rel mmio".split())
_SCOPES = frozenset("cta cluster gpu sys".split())


def as_written(step: Step) -> Step:
    """The step itself."""
    return step


def accesses(
    original: Iterable[Instruction], candidate: Iterable[Instruction]
) -> tuple[Access, Access]:
    """How the steps of two programs are compared.

    What the original does to global memory may be done to memory of any kind: it is the same there,
    as long as the original does nothing to that. And what it takes for memory that nobody changes
    may be loaded like any other.

    >>> import ptxkit
    >>> text = ".func f() {{ .reg .b32 %r; .reg .b64 %d; ld{}.u32 %r, [%d]; }}"
    >>> a, b = (ptxkit.parse(text.format(kind))["f"].instructions for kind in (".global", ""))
    >>> [accesses(one, b)[1] is as_written for one in (a, b)]
    [False, True]
    """
    generic = any(map(is_generic, original))
    constant = any(".nc" in one.modifiers for one in candidate)
    return as_written if constant else changing, as_written if generic else _global


def _global(step: Step) -> Step:
    return as_global(step) if is_generic(step) else step
