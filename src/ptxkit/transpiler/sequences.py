"""Numbers as a formula of a loop's counter: ``8, 12, 16`` is ``8 + 4 * i``."""

from __future__ import annotations

from collections.abc import Sequence

#: Shorter rows are better read as they are than by quotients and remainders.
_FEWEST_NESTED = 6


def formula(values: Sequence[int], counter: str) -> tuple[int, str] | None:
    """A constant and the Python to add to it, for ``counter`` from 0 on; None: none is simple.

    >>> formula([8, 12, 16, 20], "i"), formula([0, -1, -2], "i"), formula([7, 7, 7], "i")
    ((8, '4 * i'), (0, '-i'), (7, ''))
    >>> formula([0, 0, 1, 1, 2, 2], "i"), formula([4, 5, 4, 5, 4, 5], "i")
    ((0, 'i // 2'), (4, 'i % 2'))
    >>> formula([0, 1, 8, 9, 16, 17], "i"), formula([1, 2, 4, 8], "i")
    ((0, '8 * (i // 2) + i % 2'), (0, '(1 << i)'))
    """
    first = values[0]
    step = values[1] - first if len(values) > 1 else 0
    if all(value == first + step * at for at, value in enumerate(values)):
        return first, _times(step, counter)
    if len(values) > 2 and first > 0:
        if all(value == first << at for at, value in enumerate(values)):
            return 0, f"({first} << {counter})"
        if values[-1] and all(value == first >> at for at, value in enumerate(values)):
            return 0, f"({first} >> {counter})"
    length = next(
        (at for at in range(2, len(values)) if values[at] - values[at - 1] != step), len(values)
    )
    if length * 2 > len(values) or len(values) % length or len(values) < _FEWEST_NESTED:
        return None
    jump = values[length] - first
    expected = [first + jump * (at // length) + step * (at % length) for at in range(len(values))]
    if list(values) != expected:
        return None
    quotient, remainder = f"{counter} // {length}", f"{counter} % {length}"
    return first, summed(0, _times(jump, quotient), _times(step, remainder)) if jump or step else ""


def _times(factor: int, text: str) -> str:
    if factor == 0:
        return ""
    if factor == 1:
        return text
    inner = text if text.isidentifier() else f"({text})"
    return f"-{inner}" if factor == -1 else f"{factor} * {inner}"


def summed(constant: int, *parts: str) -> str:
    """A sum as Python.

    >>> summed(4, "i", "-j"), summed(0, "2 * i"), summed(0)
    ('4 + i - j', '2 * i', '0')
    """
    found = str(constant) if constant else ""
    for part in parts:
        if part.startswith("-") and found:
            found += f" - {part[1:]}"
        elif part:
            found += f" + {part}" if found else part
    return found or "0"


def joined(first: str, second: str) -> str:
    """Two parts of a sum, either of which may be nothing."""
    return summed(0, first, second) if first or second else ""
