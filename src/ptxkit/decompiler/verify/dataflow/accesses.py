"""Accesses to memory of two programs in the same words, where they are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Instruction

Access = Callable[[Step], Step]
"""A step as it is compared."""

_ACCESSES = frozenset(("ld", "st", "atom", "red"))
_SPACES = ("global", "shared", "local", "const", "param")


def is_generic(step: Step | Instruction) -> bool:
    """Whether an instruction accesses memory of whatever kind its address is of."""
    return step.name in _ACCESSES and not any(
        modifier[1:].startswith(_SPACES) for modifier in step.modifiers
    )


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
    """Whether one of two programs knows of more accesses than the other that they are global."""
    first, second = (
        Counter(one.name for one in some if is_generic(one)) for some in (original, candidate)
    )
    return bool(first) and first != second


def changing(step: Step) -> Step:
    """A load that does not rely on memory that nobody changes."""
    if step.name != "ld" or ".nc" not in step.modifiers:
        return step
    opcode = ".".join(word for word in step.opcode.split(".") if word != "nc")
    return replace(step, opcode=opcode, modifiers=step.modifiers - {".nc"})


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
