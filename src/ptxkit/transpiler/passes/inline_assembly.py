"""The comments around inline assembly as ``with ptx.asm():``, or ``ptx.asm`` before one opcode."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import Entry, FunctionSuite, Line, Site, Suite

_BEGIN, _END = '"begin inline asm"', '"end inline asm"'
_SAID = frozenset(("blank", "gap"))


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
    if (
        isinstance(only, Line)
        and only.kind == "instruction"
        and only.call.startswith("ptx.")
        and not only.call.startswith(("ptx.unchecked", "ptx.br"))
    ):
        line = Line(only.kind, f"ptx.asm{only.call[3:]}", only.arguments, only.keywords,
                    node=only.node)  # fmt: skip
        line.suffixes, line.target = only.suffixes, only.target
        return line
    return Suite("asm", ["with ptx.asm():"], inner[0].node, inner)
