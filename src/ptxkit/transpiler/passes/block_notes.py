"""Comments behind the braces of a block, said with it: ``with ptx.block("callseq 0, 0"):``."""

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
            made.append(entry)
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


def _is_note(entry: Entry) -> bool:
    return isinstance(entry, Line) and entry.call == "ptx.note" and ", " not in _rest(entry)


def _rest(line: Line) -> str:
    """What follows the text of a note; nothing where the gap before it is the style's."""
    text = str(line.arguments[0])
    return text[text.rfind('"') + 1 :] if text.count('"') == 2 else ", "


def _text(entry: Entry) -> Argument:
    assert isinstance(entry, Line)
    return entry.arguments[0]
