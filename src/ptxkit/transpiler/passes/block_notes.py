"""Comments said with what they belong to: ``with ptx.block("callseq 0, 0"):``.

Those behind the braces of a block, and those before a declaration.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.transpiler.tree import Argument, Entry, FunctionSuite, Line, Site, Suite


class BlockNotes:
    """The pass."""

    name = "block notes"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Say comments with their blocks, but for the nodes to skip."""
        sites: list[Site] = []
        body = _noted(function.body, sites, skip)
        return function.rewritten(body, sites) if sites else function


def _noted(body: Sequence[Entry], sites: list[Site], skip: frozenset[int]) -> list[Entry]:
    made: list[Entry] = []
    at = 0
    while at < len(body):
        entry = body[at]
        at += 1
        if not isinstance(entry, Suite):
            noted = _declaration(entry, body[at] if at < len(body) else None, skip)
            if noted is not None and noted.node is not None:
                at += 1
                sites.append(Site(noted.node.index, noted.node.index + 99, noted.node.index))
            made.append(noted or entry)
            continue
        inner = _noted(entry.body, sites, skip)
        node = entry.node
        if entry.kind != "block" or node is None or node.index in skip:
            made.append(entry.with_body(inner))
            continue
        head = Line("block", "ptx.block", node=node)
        if inner and _is_note(inner[0]):
            head.arguments.append(_text(inner.pop(0)))
        if at < len(body) and _is_note(body[at]):
            head.keywords.append(("end", _text(body[at])))
            at += 1
        if head.arguments or head.keywords:
            sites.append(Site(node.index, node.index + 999, node.index))
            made.append(Suite("block", [head], node, inner))
        else:
            made.append(entry.with_body(inner))
    return made


def _declaration(comment: Line, entry: Entry | None, skip: frozenset[int]) -> Line | None:
    """A declaration with the comment before it."""
    if comment.call != "ptx.comment" or comment.keywords or comment.suffixes:
        return None
    if not isinstance(entry, Line) or entry.kind != "declaration" or entry.node is None:
        return None
    if entry.node.index in skip or not entry.arguments:
        return None
    keywords = [*entry.keywords, ("comment", comment.arguments[0])]
    made = Line(entry.kind, entry.call, entry.arguments, keywords, node=entry.node)
    made.target, made.suffixes = entry.target, entry.suffixes
    return made


def _is_note(entry: Entry) -> bool:
    return isinstance(entry, Line) and entry.call == "ptx.note" and ", " not in _rest(entry)


def _rest(line: Line) -> str:
    """What follows the text of a note; nothing where the gap before it is the style's."""
    text = str(line.arguments[0])
    return text[text.rfind('"') + 1 :] if text.count('"') == 2 else ", "


def _text(entry: Entry) -> Argument:
    assert isinstance(entry, Line)
    return entry.arguments[0]
