"""Functions that only what became a call did call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ptxkit.cuda import nodes as n
from ptxkit.syntax import Function


def named(items: Iterable[n.Node]) -> set[str]:
    """All names in trees: of functions that are called, of variables."""
    found: set[str] = set()
    for item in items:
        for part in item.walk():
            if isinstance(part, n.Call):
                found.add(part.function)
            elif isinstance(part, n.Name):
                found.add(part.name)
    return found


def still_used(
    made: Sequence[n.Function], functions: Sequence[Function]
) -> tuple[list[n.Function], set[str]]:
    """The functions without those that are called no more; and what only these did name.

    ``functions`` are the ones they were lifted from, in the same order. One that nobody else
    called in the first place stays, and so does one that other modules may call.
    """
    called = {
        operand.text
        for function in functions
        for instruction in function.instructions
        if instruction.name == "call"
        for operand in instruction.operands
        if operand.text != function.name
    }
    spare = [f.name in called and f.text.startswith(".func") for f in functions]
    if not any(spare):
        return list(made), set()
    kept = [(f, named(f.body or ()), s) for f, s in zip(made, spare, strict=True)]
    while True:
        users = Counter(name for _, names, _ in kept for name in names)
        left = [one for one in kept if not one[2] or users[one[0].name] > (one[0].name in one[1])]
        if len(left) == len(kept):
            break
        kept = left
    remaining = [function for function, _, _ in kept]
    known = set(map(id, remaining))
    gone = [function for function in made if id(function) not in known]
    return remaining, named(gone) - named(remaining)
