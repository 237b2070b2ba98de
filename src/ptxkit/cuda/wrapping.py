"""Long lines of C++, broken where a reader expects it."""

from __future__ import annotations

#: Lines may be this long; what is broken continues with so many spaces.
LONGEST, _DEEPER = 120, 4
#: What there is room for at least, however far in.
_LEAST = 60
#: After which operators to break, from those that bind least on.
_LEVELS = (("||",), ("&&",), ("<", ">", "<=", ">=", "==", "!="), ("&", "|", "^"), ("<<", ">>"),
           ("+", "-"), ("*", "/", "%"))  # fmt: skip
_OPERATORS = {word: (place + 1) / 10 for place, words in enumerate(_LEVELS) for word in words}
_BEFORE = frozenset(("?", ":"))
_ASSIGNS = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="))
#: After what a statement sets: rather than deep inside, not rather than between arguments.
_AFTER_TARGET = 1.5


def wrapped(indent: str, text: str) -> list[str]:
    """A statement as one line, or as several where it is too long.

    >>> for line in wrapped(" " * 60, "x[i] = sum(" + ", ".join(["something"] * 7) + ");"):
    ...     print(line.strip())
    x[i] = sum(something, something, something, something,
    something, something, something);
    """
    lines: list[str] = []
    lead = indent
    while len(text) > (room := max(LONGEST - len(lead), _LEAST)):
        place = 0 if text.startswith(("//", "#")) else _break(text, room)
        if not place:
            break
        lines.append(lead + text[:place].rstrip())
        text = text[place:].lstrip()
        lead = indent + " " * _DEEPER
    return [*lines, lead + text]


def _break(text: str, room: int) -> int:
    """Where to break a line: the last place within the room that is inside of the least.

    Where there is none within the room, it is the first behind it.
    """
    best, least = 0, float("inf")
    depth, quoted = 0, False
    begin = 0
    for place, letter in enumerate(text):
        if letter == '"' and text[place - 1 : place] != "\\":
            quoted = not quoted
        if quoted:
            continue
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == " ":
            word, begin = text[begin:place], place + 1
            following = text[place + 1 :].partition(" ")[0]
            cost: float | None = None
            if word in _ASSIGNS:
                cost = depth + _AFTER_TARGET
            elif word.endswith((",", ";")) or following in _BEFORE:
                cost = depth
            elif word in _OPERATORS:
                cost = depth + _OPERATORS[word]
            if place > room and best:
                break
            if cost is not None and cost <= least:
                best, least = place + 1, cost
    return best
