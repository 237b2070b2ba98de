"""The layout that most lines of a file have, as measures of :mod:`ptxkit.dsl.layouts`.

Every gap is a vote for a measure: what stands before a statement, between opcode and operands,
after a comma. What most say becomes the module's layout, and only the others are said where
they stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ptxkit._native import Node
from ptxkit.dsl.layouts import HAND, HandStyle, hand_style
from ptxkit.syntax import Module
from ptxkit.syntax.nodes import RETURN_LIST

#: So many statements are looked at: a file's layout does not change on its way.
MOST_STATEMENTS = 2000
_INSTRUCTION = re.compile(
    r"(?P<begin>(?:@!?\s*[\w%$]+\s+)?[\w.:%$]+)(?P<gap>\s*)(?P<rest>.*);", re.S
)
_DECLARATION = re.compile(
    r"(?P<words>\.[\w:]+(?:\s*\.[\w:]+|\s+\d+(?=\s*\.))*)(?P<gap>\s*).*;", re.S
)
_WORD_GAP = re.compile(r"(?<=\w)(\s+)(?=\.)")
_COMMENT = re.compile(r"//|/\*|#")
#: Inside operands: measure -> where it shows.
_INSIDE = {
    "comma": re.compile(r",(\s*)"),
    "brackets": re.compile(r"\[(\s*)"),
    "plus": re.compile(r"(\s*)\+"),
    "braces": re.compile(r"\{(\s*)"),
}
_KINDS = {
    "Version": "version", "Target": "target", "AddressSize": "address_size", "Label": "label",
    "Block": "block", "Instruction": "instruction", "File": "file", "Pragma": "pragma",
    "Loc": "loc", "Alias": "alias",
}  # fmt: skip
_RUNS = frozenset(("instruction", "register", "declaration", "variable", "loc"))


def measured(module: Module, source: bytes) -> HandStyle:
    """The style of most of a file's lines.

    >>> from ptxkit.syntax import parse
    >>> text = ".version 8.0\\n.target sm_80\\n\\n.func f() {\\n  bar.sync\\t0;\\n  ret;\\n}\\n"
    >>> measured(parse(text), text.encode()).options()
    {'blanks': {('target', 'header'): 1}, 'opcode_gap': '\\t', 'indent': '  ', 'brace': ' '}
    """
    votes = _Votes(source)
    votes.module(module)
    return hand_style(votes.options())


class _Votes:
    def __init__(self, source: bytes) -> None:
        self._source = source
        self._words: dict[str, Counter[Any]] = {}
        self._blanks: dict[tuple[str, str], Counter[int]] = {}
        self._columns: dict[str, Counter[int]] = {}

    # -- counting ------------------------------------------------------------------------------

    def module(self, module: Module) -> None:
        """Count the gaps of a file."""
        place, previous = 0, "start"
        is_first = False
        for kind, depth, start, end, node in _statements(module):
            if is_first and kind == "instruction":
                kind, is_first = "first_instruction", False
            self._between(previous, kind, depth, self._text(place, start), place)
            if node.kind == "Function":
                if kind == "header":
                    is_first = True
                if kind != "body_close":
                    self._header(node, end)
            elif node.kind == "Instruction":
                self._instruction(self._text(start, end))
            elif node.kind == "Variable" and depth:
                self._declaration(self._text(start, end))
            place, previous = end, "instruction" if kind == "first_instruction" else kind

    def _text(self, start: int, end: int) -> str:
        return self._source[start:end].decode("utf-8", "surrogateescape")

    def _vote(self, word: str, value: Any) -> None:
        self._words.setdefault(word, Counter())[value] += 1

    def _between(self, previous: str, kind: str, depth: int, gap: str, place: int) -> None:
        comment = _COMMENT.search(gap)
        if comment is not None:
            white = gap[: comment.start()]
            if "\n" not in white and previous != "start" and gap[comment.start()] == "/":
                begin = self._source.rfind(b"\n", 0, place) + 1
                self._vote("note_gap", white)
                self._column("note_column", len(self._text(begin, place)) + len(white))
            return
        if previous == "start" or kind == "end":
            return
        if "\n" not in gap:
            self._vote("separator", gap)
            if previous == "label":
                self._vote("after_label", gap)
            return
        self._vote("separator", "")
        lines, _, indent = gap.rpartition("\n")
        if previous == "label":
            self._vote("after_label", "")
        if kind == "label":
            if depth == 1:
                self._vote("label_indent", indent)
        elif depth == 1:
            self._vote("indent", indent)
        elif depth == 2:
            self._vote("block_indent", indent)
        if previous != kind or kind not in _RUNS:
            self._blanks.setdefault((previous, kind), Counter())[lines.count("\n")] += 1

    def _column(self, word: str, column: int) -> None:
        self._columns.setdefault(word, Counter())[column] += 1

    def _instruction(self, text: str) -> None:
        found = _INSTRUCTION.fullmatch(text)
        if found is None or not found["rest"] or _COMMENT.search(text):
            return
        self._vote("opcode_gap", found["gap"])
        if found["gap"].strip(" ") == "":
            self._column("operand_column", len(found["begin"] + found["gap"]))
        for word, pattern in _INSIDE.items():
            for gap in pattern.findall(found["rest"]):
                self._vote(word, gap)

    def _declaration(self, text: str) -> None:
        found = _DECLARATION.fullmatch(text)
        if found is None or _COMMENT.search(text):
            return
        if text.startswith(".reg"):
            self._vote("name_gap", found["gap"])
            if found["gap"].strip(" ") == "":
                self._column("name_column", len(found["words"] + found["gap"]))
        for gap in _WORD_GAP.findall(found["words"]):
            self._vote("word_gap", gap)

    def _header(self, node: Node, end: int) -> None:
        place = 0
        for child in node.children:
            if child.kind == "ParameterList" and not child.flags & RETURN_LIST:
                before = self._text(node.span[0], child.span[0])
                self._vote("parenthesis", before[len(before.rstrip()) :])
                self._parameters(child)
            if child.kind != "Block":
                place = child.span[1]
        if place and self._source[end - 1 : end] == b"{":
            gap = self._text(place, end - 1)
            if gap.isspace() or not gap:
                self._vote("brace", gap)

    def _parameters(self, node: Node) -> None:
        children = node.children
        if not children:
            return
        first = self._text(node.span[0] + 1, children[0].span[0])
        last = self._text(children[-1].span[1], node.span[1] - 1)
        others = Counter(
            self._text(one.span[1], two.span[0]).lstrip(",") for one, two in pairwise(children)
        )
        other = others.most_common(1)[0][0] if others else first or " "
        gaps = (first, other, last)
        if not all(gap.isspace() or not gap for gap in gaps):
            return
        if len(children) == 1:
            self._vote("inline_parameters", int(not first and not last))
        if len(children) > 1 or first or last:
            self._vote("parameters", gaps)

    # -- deciding ------------------------------------------------------------------------------

    def options(self) -> dict[str, Any]:
        """What most votes say, where it is not what our formatter does."""
        found = {word: votes.most_common(1)[0][0] for word, votes in self._words.items()}
        indent = found.get("indent", HAND.indent_text)
        if "block_indent" in found:
            deep = found["block_indent"]
            found["block_indent"] = deep.removeprefix(indent) if deep.startswith(indent) else ""
        for word, gap in _COLUMN_OF.items():
            votes = self._columns.get(word)
            if votes is None:
                continue
            column, count = votes.most_common(1)[0]
            # One gap for all is the simpler thing to say.
            if count > 2 and count > self._words[gap].most_common(1)[0][1]:
                found[word] = column
                del found[gap]
        if found.get("separator"):
            for word in ("indent", "label_indent", "after_label"):
                found.pop(word, None)
        else:
            blanks = self._other_blanks()
            if blanks:
                found["blanks"] = blanks
        return hand_style(found).options()

    def _other_blanks(self) -> dict[tuple[str, str], int]:
        found = {}
        for (previous, kind), votes in self._blanks.items():
            lines = votes.most_common(1)[0][0]
            usual = HAND.gap(previous, kind, 1).count("\n") - 1
            if lines != usual and kind != "end":
                found[previous, kind] = lines
        return found


_COLUMN_OF = {
    "operand_column": "opcode_gap", "name_column": "name_gap", "note_column": "note_gap",
}  # fmt: skip


def _statements(module: Module) -> Iterator[tuple[str, int, int, int, Node]]:
    """Statements as the writer knows them: kind, depth, where they begin and end, the node."""
    left = MOST_STATEMENTS
    for node in module.children:
        start, end = node.span
        if node.kind != "Function":
            yield _kind(node, 0), 0, start, end, node
            left -= 1
        elif node.body is None:
            yield "prototype", 0, start, end, node
        else:
            body = node.body
            yield "header", 0, start, body.span[0] + 1, node
            for one in _body(body):
                left -= 1
                yield one
                if left < 0:
                    return
            yield "body_close", 0, end - 1, end, node
        if left < 0:
            return


def _body(body: Node) -> Iterator[tuple[str, int, int, int, Node]]:
    stack = [(body, iter(body.children))]
    while stack:
        block, children = stack[-1]
        node = next(children, None)
        depth = len(stack)
        if node is None:
            stack.pop()
            if stack:
                end = block.span[1]
                yield "block_close", depth - 1, end - 1, end, block
        elif node.kind == "Block":
            yield "block", depth, node.span[0], node.span[0] + 1, node
            stack.append((node, iter(node.children)))
        else:
            yield _kind(node, depth), depth, *node.span, node


def _kind(node: Node, depth: int) -> str:
    if node.kind != "Variable":
        return _KINDS.get(node.kind, node.kind.lower())
    if not depth:
        return "variable"
    return "register" if node.text.startswith(".reg") else "declaration"
