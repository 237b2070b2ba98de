"""Bugs in PTX that are about where and how: qualifiers, guards, labels, order, numbers as bits."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from ptxkit.syntax import Instruction

#: What a modifier may be taken for: spaces, orders, scopes, kinds of rounding and of comparison.
_QUALIFIERS = {
    ".volatile": (".weak", ""), ".relaxed": (".weak",), ".acquire": (".relaxed",),
    ".release": (".relaxed",), ".acq_rel": (".relaxed", ".acquire", ".release"),
    ".sc": (".acq_rel",), ".gl": (".cta",), ".sys": (".gpu", ".gl"), ".gpu": (".cta",),
    ".cta": (".gpu",), ".nc": ("",), ".global": (".shared", "", ".global.nc"),
    ".shared": (".global", ".local"), ".local": (".shared",), ".const": (".global",),
    ".and": (".or", ".xor"), ".or": (".and",), ".sat": ("",), ".NaN": ("",), ".relu": ("",),
    ".full": (".approx", ".rn"), ".approx": (".full", ".rn"), ".rn": (".rz", ".rm", ".approx"),
    ".hi": (".lo",), ".lo": (".hi",), ".wide": (".lo",), ".clamp": (".wrap",),
    ".wrap": (".clamp",), ".all": (".any", ".uni"), ".any": (".all", ".uni"), ".uni": (".all",),
    ".row": (".col",), ".col": (".row",), ".trap": (".clamp", ".zero"), ".x2": (".x1",),
    ".l": (".r",), ".r": (".l",), ".lt": (".ltu", ".gt"), ".gt": (".gtu", ".lt"),
    ".eq": (".equ", ".le"), ".ne": (".neu", ".lt"), ".neu": (".ne",), ".num": (".nan",),
    ".nan": (".num",), ".1d": (".2d",), ".exch": (".add",), ".cas": (".exch",),
    ".inc": (".add",), ".dec": (".inc",), ".bfly": (".idx",), ".idx": (".bfly", ".up"),
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.%$+])-?(?:0[xX][0-9a-fA-F]+|\d+)(?![\w.])")
_PREDICATE = re.compile(r"%p(\d+)\b")
_ANY = re.compile(r"%(rs|rd|fd|r|f|h|hh|p)(\d+)\b")

Change = Callable[[Instruction, random.Random], "str | None"]


def _qualifier(node: Instruction, draw: random.Random) -> str | None:
    known = [m for m in node.modifiers if m in _QUALIFIERS]
    if not known:
        return None
    old = draw.choice(known)
    new = draw.choice(_QUALIFIERS[old])
    words = re.sub(re.escape(old) + r"(?![\w])", new, node.opcode, count=1)
    return node.text.replace(node.opcode, words, 1)


def _guard_removed(node: Instruction, _: random.Random) -> str | None:
    if node.guard is None or node.name in ("bra", "ret", "exit"):
        return None
    return node.text[node.guard.span[1] - node.span[0] :].lstrip()


def _other_predicate(node: Instruction, draw: random.Random) -> str | None:
    found = list(_PREDICATE.finditer(node.text))
    if node.name == "setp":
        found = [one for one in found if one.start() > node.text.find(",")]
    if not found:
        return None
    one = draw.choice(found)
    other = max(1, int(one[1]) + draw.choice((-2, -1, 1, 2)))
    return node.text[: one.start()] + f"%p{other}" + node.text[one.end() :]


def _bits(node: Instruction, draw: random.Random) -> str | None:
    """Another number: one more or less, with the other sign, with one bit changed."""
    start = node.text.find(node.opcode) + len(node.opcode)
    found = list(_NUMBER.finditer(node.text, start))
    if not found or node.name in ("bra", "call"):
        return None
    one = draw.choice(found)
    old = int(one[0], 0)
    new = draw.choice((old + 1, old - 1, -old, old ^ 1 << draw.randrange(8), ~old))
    new = new if new != old else old + 1
    return node.text[: one.start()] + str(new) + node.text[one.end() :]


def _offset(node: Instruction, draw: random.Random) -> str | None:
    """Another place in memory: beside, or the one that the offset goes from."""
    one = re.search(r"\[([%\w$]+)(?:\+(-?\d+))?\]", node.text)
    if one is None:
        return None
    new = int(one[2] or 0) + draw.choice((-4, 4, 8, 1, -8))
    return node.text[: one.start()] + f"[{one[1]}+{new}]" + node.text[one.end() :]


def _left_out(node: Instruction, _: random.Random) -> str | None:
    return None if node.name in ("ret", "call", "exit") else ""


def _label(node: Instruction, draw: random.Random) -> str | None:
    """To another place than it goes to."""
    if node.name != "bra":
        return None
    function = node.parent
    while function is not None and function.kind != "Function":
        function = function.parent
    labels = re.findall(r"^\s*(\$?[\w$]+):", function.text, re.MULTILINE) if function else []
    others = [one for one in labels if one != node.operands[0].text]
    return node.text.replace(node.operands[0].text, draw.choice(others), 1) if others else None


def _any_register(node: Instruction, draw: random.Random) -> str | None:
    """A register for another of its class, nearby; in addresses and results as well."""
    found = list(_ANY.finditer(node.text))
    if not found or node.name == "call":
        return None
    one = draw.choice(found)
    other = max(1, int(one[2]) + draw.choice((-3, -2, -1, 1, 2)))
    return node.text[: one.start()] + f"%{one[1]}{other}" + node.text[one.end() :]


def _sources(node: Instruction, draw: random.Random) -> str | None:
    """Two operands swapped, whatever they are."""
    if len(node.operands) < 3 or node.name in ("bra", "call"):
        return None
    a, b = sorted(draw.sample(range(1, len(node.operands)), 2))
    first, second = node.operands[a], node.operands[b]
    if first.text == second.text or first.kind != second.kind:
        return None
    text, start = node.text, node.span[0]
    return (
        text[: first.span[0] - start] + second.text
        + text[first.span[1] - start : second.span[0] - start]
        + first.text + text[second.span[1] - start :]
    )  # fmt: skip


def _twice(node: Instruction, _: random.Random) -> str | None:
    """What is done once more: an update, a wait, a step."""
    if node.name in ("atom", "red", "bar", "add", "shl", "shfl") and node.guard is None:
        return f"{node.text} {node.text}"
    return None


PLACES: tuple[tuple[str, Change], ...] = (
    ("qualifier", _qualifier), ("guard removed", _guard_removed),
    ("predicate", _other_predicate), ("bits", _bits), ("offset", _offset), ("left out", _left_out),
    ("label", _label), ("any register", _any_register), ("sources", _sources), ("twice", _twice),
)  # fmt: skip
