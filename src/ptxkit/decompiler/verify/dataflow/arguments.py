"""What a function is called with: words of its parameters, the same however they are read.

A compiler reads the lower half of a parameter of 64 bits where no more is asked for, another one
reads all of it and takes the half. So what is read is told as a part of the widest that either of
two functions reads there.

>>> from ptxkit.decompiler.verify.dataflow.terms import Terms
>>> t = Terms(arguments=frozenset({("n", 0, 64), ("n", 4, 32)}))
>>> whole = argument(t, "n", 0, (64, False, 64))
>>> argument(t, "n", 4, (32, False, 32)) == part(t, 64, whole, 1, 2)
True
>>> argument(t, "n", 0, (16, True, 32)) == t.extend(True, 16, 32, part(t, 64, whole, 0, 4))
True
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.decompiler.verify.dataflow.bits import part
from ptxkit.decompiler.verify.dataflow.decode import Step, reads_of_parameters
from ptxkit.decompiler.verify.dataflow.terms import Argument, Fills, Term, Terms
from ptxkit.isa.types import SCALAR_TYPES

#: What is wider is no number.
_WIDEST = 64


def arguments_read(steps: Sequence[Step]) -> Iterator[Argument]:
    """What some steps read of the parameters of their function, as far as it is plain to see."""
    held = {
        step.targets[0][0]: step.sources[0].value
        for step in steps
        if step.name in ("mov", "cvta") and step.targets[0] is not None
        if step.sources[0].kind == "symbol"
    }
    for step in steps:
        if step.name != "ld" or not reads_of_parameters(step):
            continue
        place = step.sources[0]
        base = place.parts[0]
        symbol = base.value if base.kind == "symbol" else held.get(base.value, ("",))
        if symbol[0] != "parameter":
            continue
        width = SCALAR_TYPES[step.type].width
        for number in range(len(step.targets)):
            yield str(symbol), place.value + number * width // 8, width


def argument(terms: Terms, name: str, offset: int, fills: Fills) -> Term:
    """What lies at an offset in a parameter, as it fills a register."""
    bits, signed, wide = fills
    start, width = max(
        (
            (begin, size)
            for other, begin, size in terms.arguments
            if other == name
            and bits < size <= _WIDEST
            and begin <= offset
            and offset + bits // 8 <= begin + size // 8
            and not 8 * (offset - begin) % bits
        ),
        key=lambda found: (found[1], -found[0]),
        default=(offset, bits),
    )
    found = terms.make("parameter", name, start, (width, False, width))
    if width > bits:
        found = part(terms, width, found, 8 * (offset - start) // bits, width // bits)
    return terms.extend(signed, bits, wide, found) if wide > bits else found
