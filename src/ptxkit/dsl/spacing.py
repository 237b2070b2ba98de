"""The white space inside a statement: where it departs from its style, and putting it back.

A statement's text is tokens with gaps between them; a gap is white space and comments.
The style gives every gap. What departs from it is a mapping from the number of a token to
the gap before it, and that is all a file written in Python has to say:

>>> differences("add.s32 \\t%r1, %r2, 4;", "add.s32  %r1,%r2, 4;")
{2: '  ', 4: ''}
>>> respaced("add.s32 \\t%r1, %r2, 4;", {2: "  ", 4: ""})
'add.s32  %r1,%r2, 4;'

The tokens here are finer than those of PTX (``add.s32`` is two), so that whatever can be
apart is apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_GAP_OR_TOKEN = re.compile(
    r"(?P<gap>(?:\s+|//[^\n]*|/\*.*?\*/|\#[^\n]*)*)"
    r'(?P<token>"[^"]*"|%[\w$]+|\.?[\w$]+|\S)',
    re.DOTALL,
)


#: White space and comments; a comment that ends with its line takes the line break along.
_GAP = re.compile(r"(?:[\s\ufeff\0]|(?://|\#)[^\n]*\n|/\*.*?\*/)*", re.DOTALL)


def check_gap(gap: str) -> None:
    """Refuse what would be more than white space between two tokens."""
    if not isinstance(gap, str) or _GAP.fullmatch(gap) is None:
        raise ValueError(f"{gap!r} is not white space or a comment")


def split(text: str) -> tuple[list[str], list[str]]:
    """The tokens of a statement and the gap before each."""
    pairs = _GAP_OR_TOKEN.findall(text)
    return [token for _, token in pairs], [gap for gap, _ in pairs]


def differences(predicted: str, actual: str) -> dict[int, str] | None:
    """The gaps of ``actual`` that ``predicted`` does not have; None where tokens differ."""
    tokens, gaps = split(predicted)
    actual_tokens, actual_gaps = split(actual)
    if tokens != actual_tokens:
        return None
    return {
        number: after
        for number, (before, after) in enumerate(zip(gaps, actual_gaps, strict=True))
        if before != after
    }


def respaced(text: str, gaps: Mapping[int, str]) -> str:
    """The statement with other gaps before the numbered tokens."""
    tokens, old = split(text)
    for number, gap in gaps.items():
        if not 0 < number < len(tokens):
            raise ValueError(f"the statement has tokens 0 to {len(tokens) - 1}, not {number}")
        check_gap(gap)
        old[number] = gap
    return "".join([piece for pair in zip(old, tokens, strict=True) for piece in pair])
