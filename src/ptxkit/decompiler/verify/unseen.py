"""What no launch on the simulator shows: who waits for what, and registers that never change.

The simulator copies at once what a GPU copies on the side, waits for no kernel before this one, and
has one answer to which multiprocessor this is. Runs are the same then, with or without a wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ptxkit.decompiler.verify.dataflow.fusing import open_products
from ptxkit.syntax import Function, Instruction

#: What is done on the side, what waits for it, and who lets the next kernel begin.
_ASIDE = ("cp.async", "cp.reduce.async", "griddepcontrol")
_BARRIERS = frozenset(("bar", "barrier"))
_MEMORY = frozenset(("ld", "st", "atom", "red"))
#: Memory that nobody else has a part in.
_PRIVATE = frozenset((".param", ".local", ".const", ".param::func", ".param::entry"))
_NUMBER = re.compile(r"(?<![\w.%$])\d+")
#: Registers that say the same in every launch that is tried.
_CONSTANT = re.compile(
    r"%(?:n?smid|gridid|envreg\d+|(?:dynamic|total|aggr)_smem_size|reserved_smem\w*)"
)


def hidden(original: Iterable[Instruction], candidate: Iterable[Instruction]) -> str:
    """What two programs may differ in though no launch shows it; empty where they do not.

    >>> import ptxkit
    >>> text = ".func f() {{ .reg .b32 %r<3>; {} ld.shared.u32 %r1, [%r2]; {} }}"
    >>> wait = "cp.async.wait_group {};"
    >>> def code(before, behind=""):
    ...     return list(ptxkit.parse(text.format(before, behind))["f"].instructions)
    >>> hidden(code(wait.format(0)), code(wait.format(1)))
    'it waits in other places for what is done on the side, which no launch shows'
    >>> hidden(code(wait.format(0)), code(wait.format(0)))
    ''
    >>> hidden(code("mov.u32 %r0, %smid;"), code(""))
    'it reads %smid, which says the same in all launches that were tried'
    """
    first, second = list(original), list(candidate)
    for one in (*first, *second):
        found = _CONSTANT.search(one.text)
        if found is not None:
            return f"it reads {found[0]}, which says the same in all launches that were tried"
    aside = any(map(_is_aside, (*first, *second)))
    if aside and list(_order(first)) != list(_order(second)):
        return "it waits in other places for what is done on the side, which no launch shows"
    return ""


def fused_otherwise(original: Iterable[Function], candidate: Iterable[Function]) -> str:
    """What two programs may round otherwise, as the simulator puts no product into a sum."""
    first, second = (
        {kind for function in set(functions) for kind in open_products(function)}
        for functions in (original, candidate)
    )
    if second <= first and bool(first) == bool(second):
        return ""
    return "an assembler may put other products into sums, which no launch shows"


def _is_aside(one: Instruction) -> bool:
    return one.opcode.startswith(_ASIDE)


def _order(instructions: Iterable[Instruction]) -> Iterator[str]:
    """What is done on the side or waits, in the order of the text, and memory in between."""
    before = ""
    for one in instructions:
        if _is_aside(one):
            numbers = _NUMBER.findall(one.text.partition(" ")[2]) if "wait" in one.opcode else []
            word = " ".join((one.opcode, *numbers))
        elif one.name in _BARRIERS:
            word = "barrier"
        elif one.name in _MEMORY and not _PRIVATE.intersection(one.modifiers):
            word = "load" if one.name == "ld" else "store"
            if word == before:
                continue
        else:
            continue
        before = word
        yield word
