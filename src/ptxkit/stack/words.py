"""The words of a program's text, and the sixteen bytes each becomes.

An item is a kind, a guard, a stack, an index and a payload; native/stack/items.hpp has
the same layout. Seen as a numpy array a program is rows of two 64-bit words.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

(NOTHING, INSTRUCTION, CONSTANT, INPUT, ARGUMENT, CALL, DUP, SWAP, DROP, YANK, ROTATE, REVERSE,
 REPLACE, CLEAR, TO_SLOT, FROM_SLOT, IF, ELSE, END, REPEAT, WHILE) = range(21)  # fmt: skip

GUARDED, NEGATED = 1, 2
SLOTS = 16

LAYOUT = struct.Struct("<BBHIQ")
NAME = re.compile(r"[A-Za-z_%$][\w%$.|:-]*", re.ASCII)

#: The index that stands for a word without one.
_DEFAULT = {"dup": 0, "swap": 0, "yank": 1, "rotate": 1, "replace": 0}
#: Words that take no index.
_BARE = {"drop": DROP, "reverse": REVERSE, "clear": CLEAR}
_INDEXED = {"dup": DUP, "swap": SWAP, "yank": YANK, "rotate": ROTATE, "replace": REPLACE}
_SLOTTED = {"to": TO_SLOT, "from": FROM_SLOT}
_COUNTED = {"repeat": REPEAT, "while": WHILE}
LARGEST_INDEX = (1 << 32) - 1


def item(kind: int, *, guard: int = 0, stack: int = 0, index: int = 0, payload: int = 0) -> bytes:
    """The bytes of an item.

    >>> item(CONSTANT, stack=2, payload=7).hex()
    '02000200000000000700000000000000'
    """
    return LAYOUT.pack(kind, guard, stack, index, payload)


def unpack(items: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Kind, guard, stack, index and payload of each item."""
    return LAYOUT.iter_unpack(items)


#: The words that open and close blocks and take no number.
BLOCKS = {
    "if": item(IF), "else": item(ELSE), "end": item(END), "nothing": item(NOTHING),
}  # fmt: skip


def of_stack(name: str, number: int) -> dict[str, bytes]:
    """The words that handle one stack, with small indices; others are read one by one."""
    made: dict[str, bytes] = {}
    for word, kind in _BARE.items():
        made[f"{name}.{word}"] = item(kind, stack=number)
    for word, kind in _INDEXED.items():
        made[f"{name}.{word}"] = item(kind, stack=number, index=_DEFAULT[word])
        for index in range(8):
            made[f"{name}.{word}#{index}"] = item(kind, stack=number, index=index)
    for word, kind in _SLOTTED.items():
        for index in range(SLOTS):
            made[f"{name}.{word}#{index}"] = item(kind, stack=number, index=index)
    return made


def read_indexed(word: str) -> tuple[str, int] | None:
    """Split ``f32.yank#12`` into ``f32.yank`` and 12.

    >>> read_indexed("repeat#0x10"), read_indexed("repeat")
    (('repeat', 16), None)
    """
    found = re.fullmatch(r"([^#]+)#(0[xX][0-9a-fA-F]{1,16}|\d{1,19})", word, re.ASCII)
    return (found[1], int(found[2], 0)) if found else None


def handling(word: str) -> tuple[str, int] | None:
    """The stack name and kind of a word such as ``f32.yank``."""
    stack, _, what = word.rpartition(".")
    kind = {**_INDEXED, **_SLOTTED}.get(what)
    return (stack, kind) if stack and kind is not None else None


def counted(word: str) -> int | None:
    """The kind of ``repeat`` and ``while``."""
    return _COUNTED.get(word)


def shown(kind: int, stack: str, index: int) -> str | None:
    """The word of an item that handles a stack or a block."""
    for word, one in _BARE.items():
        if one == kind:
            return f"{stack}.{word}"
    for word, one in _INDEXED.items():
        if one == kind:
            return f"{stack}.{word}" if index == _DEFAULT[word] else f"{stack}.{word}#{index}"
    for word, one in _SLOTTED.items():
        if one == kind:
            return f"{stack}.{word}#{index}"
    for word, one in _COUNTED.items():
        if one == kind:
            return f"{word}#{index}"
    return {IF: "if", ELSE: "else", END: "end", NOTHING: "nothing"}.get(kind)
