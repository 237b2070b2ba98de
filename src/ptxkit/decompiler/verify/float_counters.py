"""Loops that count in floating point: right up to a number of turns that no launch has.

A counter of 32 bits stops at 16,777,216, where one more is the same number. Until then it is what
an integer is, so that nothing differs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ptxkit.decompiler.verify.dataflow.decode import Operand, Register, Step

#: Formats in which a launch may count as far as they go.
_FORMATS = frozenset(("f16", "bf16", "f16x2", "bf16x2", "f32"))
_ADDS, _GIVES_ON = frozenset(("add", "sub")), frozenset(("mov", "selp"))


def counts_in_floats(steps: Iterable[Step]) -> bool:
    """Whether a register goes on from what it was, and a number more, in floating point.

    >>> import ptxkit
    >>> from ptxkit.decompiler.verify.coverage import Coverage
    >>> from ptxkit.decompiler.verify.possible import decoded
    >>> def code(line):
    ...     head = ".reg .f32 %f<4>; .reg .pred %p; mov.f32 %f1, 0f00000000;"
    ...     m = ptxkit.parse(f".func f() {{ {head} L: {line} @%p bra L; }}")
    ...     return (step for _, step in decoded(Coverage.of(m, m["f"]))[0].values())
    >>> counts_in_floats(code("add.f32 %f2, %f1, 0f3F800000; mov.f32 %f1, %f2;"))
    True
    >>> counts_in_floats(code("add.f32 %f1, %f1, %f3;"))
    False
    """
    steps = list(steps)
    constants = _constants(steps)
    gives: defaultdict[Register, set[Register]] = defaultdict(set)
    more: list[tuple[Register, Register]] = []
    for step in steps:
        target = step.targets[0] if step.targets else None
        if target is None:
            continue
        sources = [one.value for one in step.sources if one.kind == "register"]
        if step.name in _GIVES_ON:
            for one in sources:
                gives[one].add(target[0])
        elif step.name in _ADDS and step.type in _FORMATS:
            for one, other in (step.sources, step.sources[::-1]):
                if one.kind == "register" and _is_number(other, constants):
                    gives[one.value].add(target[0])
                    more.append((target[0], one.value))
    return any(_comes_to(gives, start, end) for start, end in more)


def _constants(steps: list[Step]) -> set[Register]:
    """Registers that are set to numbers of the code alone."""
    found: set[Register] = set()
    others: set[Register] = set()
    for step in steps:
        plain = step.name == "mov" and step.sources[0].kind in ("float", "number")
        for target in step.targets:
            if target is not None:
                (found if plain else others).add(target[0])
    return found - others


def _is_number(operand: Operand, constants: set[Register]) -> bool:
    return operand.kind in ("float", "number") or (
        operand.kind == "register" and operand.value in constants
    )


def _comes_to(gives: dict[Register, set[Register]], start: Register, end: Register) -> bool:
    """Whether what is in one register may get into another one."""
    seen = {start}
    pending = [start]
    while pending:
        one = pending.pop()
        if one == end:
            return True
        fresh = gives.get(one, set()) - seen
        seen |= fresh
        pending += fresh
    return False
