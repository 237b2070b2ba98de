"""The comments around inline assembly as ``with ptx.asm():``, or ``ptx.asm`` before one opcode.

Where the opcode has braces of its own, as CUDA's headers write them: ``ptx.asm.braced``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeGuard

from ptxkit.dsl.inline_assembly import BRACES
from ptxkit.transpiler.tree import Entry, FunctionSuite, Line, Site, Suite, quoted

_BEGIN, _END = '"begin inline asm"', '"end inline asm"'
#: What is said of an instruction whose one comma has no space after it.
_ONE_COMMA = re.compile(r'\.spaced\(\{0: "", \d+: ""\}\)')


class InlineAssembly:
    """The pass."""

    name = "inline assembly"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Write what stands between the comments as a block, but for the nodes to skip."""
        sites: list[Site] = []
        body = _wrapped(function.body, sites, skip)
        return function.rewritten(body, sites) if sites else function


def _wrapped(body: Sequence[Entry], sites: list[Site], skip: frozenset[int]) -> list[Entry]:
    made: list[Entry] = []
    at = 0
    while at < len(body):
        entry = body[at]
        end = _end(body, at) if _is_comment(entry, _BEGIN) else 0
        node = next((one.node for one in body[at + 1 : end] if one.node is not None), None)
        if end and node is not None and node.index not in skip:
            last = max(one.node.index for one in body[at:end] if one.node is not None)
            sites.append(Site(node.index, last + 99, node.index))
            made.append(_block(body[at + 1 : end]))
            at = end + 1
            continue
        if isinstance(entry, Suite):
            entry = entry.with_body(_wrapped(entry.body, sites, skip))
        made.append(entry)
        at += 1
    return made


def _end(body: Sequence[Entry], begin: int) -> int:
    """Where the comment stands that ends what one begins; 0 where none does in this body."""
    for at in range(begin + 1, len(body)):
        if _is_comment(body[at], _BEGIN):
            return 0
        if _is_comment(body[at], _END):
            return at
    return 0


def _is_comment(entry: Entry, text: str) -> bool:
    return (
        isinstance(entry, Line)
        and entry.kind == "comment"
        and entry.arguments[0] == text
        and not entry.keywords
    )


def _block(inner: Sequence[Entry]) -> Entry:
    only = inner[0] if len(inner) == 1 else None
    if _is_instruction(only):
        return _short(only, "", only.suffixes)
    braced = _braced(inner)
    if braced is not None:
        return braced
    return Suite("asm", ["with ptx.asm():"], inner[0].node, inner)


def _is_instruction(entry: Entry | None) -> TypeGuard[Line]:
    """Whether an entry is an instruction that ``ptx.asm`` can stand before."""
    return (
        isinstance(entry, Line)
        and entry.kind == "instruction"
        and entry.call.startswith("ptx.")
        and not entry.call.startswith(("ptx.unchecked", "ptx.br"))
    )


def _short(only: Line, braces: str, suffixes: Sequence[str]) -> Line:
    call = f"ptx.asm{braces}{only.call[3:]}"
    line = Line(only.kind, call, only.arguments, only.keywords, node=only.node)
    line.suffixes, line.target = list(suffixes), only.target
    return line


def _braced(inner: Sequence[Entry]) -> Line | None:
    """An instruction in braces of its own, where its white space has a name."""
    block, *rest = inner
    if not isinstance(block, Suite) or block.kind != "block" or len(block.body) != 2:
        return None
    only, gap = block.body
    if not _is_instruction(only) or not isinstance(gap, Line) or gap.kind != "gap":
        return None
    is_apart = [one.kind for one in rest if isinstance(one, Line) and not one.arguments]
    if len(rest) != len(is_apart) or is_apart not in ([], ["blank"]):
        return None
    for name, braces in BRACES.items():
        before = f"{{0: {quoted(braces.before)}}}"
        said = [f".spaced({before})"]
        if braces.is_tight:
            # With one comma alone it is said where that stands.
            one_comma = len(only.suffixes) == 1 and _ONE_COMMA.fullmatch(only.suffixes[0])
            said = only.suffixes if one_comma else [".tight()", *said]
        if (
            only.suffixes == said
            and gap.arguments == [quoted(braces.after)]
            and bool(is_apart) == braces.is_apart
        ):
            return _short(only, f".{name}", ())
    return None
