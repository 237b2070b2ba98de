"""Diagnostics as one types: only what a change can have touched is checked again.

A function is checked anew when its text has changed, or anything outside the bodies of
functions has; of a long function, where only instructions have changed, just those. What
depends on the whole (a line number in a message, code that has become unreachable) is set
right by :meth:`Diagnoser.check`, which an editor asks for once the typing pauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

from ptxkit._native import Node
from ptxkit.diagnostics import Diagnostic
from ptxkit.isa.checker import Checker
from ptxkit.lsp.document import Document
from ptxkit.syntax import Block, Function, Instruction

#: From this length on (in bytes) only the changed instructions of a function are checked.
_LONG = 60_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic with the bytes it is about."""

    span: tuple[int, int]
    severity: str
    code: str
    message: str
    hint: str | None = None

    def moved(self, by: int) -> Finding:
        """The same finding some bytes further on."""
        return replace(self, span=(self.span[0] + by, self.span[1] + by))


@dataclass(slots=True)
class _Checked:
    """What was found in one function; spans count from its first byte."""

    document: Document
    start: int
    text: bytes
    found: list[Finding]


class Diagnoser:
    """The findings of one open file, kept from version to version.

    >>> diagnoser = Diagnoser()
    >>> head = ".version 8.0\\n.target sm_90\\n"
    >>> diagnoser.update(Document(head + ".entry k() { foo; ret; }"))[0].code
    'unknown-instruction'
    >>> diagnoser.update(Document(head + ".entry k() { ret; }"))
    []
    """

    def __init__(self) -> None:
        self._environment = b""
        self._functions: dict[str, _Checked] = {}
        self._head: list[Finding] = []

    def check(self, document: Document) -> list[Finding]:
        """Everything wrong with the document, from scratch."""
        self._environment = b""
        return self.update(document)

    def update(self, document: Document) -> list[Finding]:
        """Everything wrong with the document; what has not changed is not looked at again."""
        module, source = document.module, document.source
        checker = Checker(module, scopes=document.scopes)
        environment = _environment(document)
        if environment != self._environment:
            self._functions = {}
        checker.check_head()
        head = [_finding(one, document) for one in checker.take()]
        found = list(head)
        kept: dict[str, _Checked] = {}
        for function in module.functions:
            start, end = function.span
            key = _key(function, kept)
            before, text = self._functions.get(key), source[start:end]
            if before is None or before.text != text:
                before = self._check_function(document, function, text, before)
            kept[key] = before
            found += [one.moved(start) for one in before.found]
        self._environment, self._functions = environment, kept
        return sorted(dict.fromkeys(found), key=lambda one: one.span)

    def _check_function(
        self, document: Document, function: Function, text: bytes, before: _Checked | None
    ) -> _Checked:
        start = function.span[0]
        checker = Checker(document.module, scopes=document.scopes)
        changed = None
        if before is not None and len(text) > _LONG:
            changed = _changed_statements(before, document, start, text)
        if before is None or changed is None:
            checker.check_function(function)
            kept: list[Finding] = []
        else:
            checker.check_statements(function, changed.statements)
            kept = list(changed.untouched(before.found))
        found = [_finding(one, document).moved(-start) for one in checker.take()]
        return _Checked(document, start, text, kept + found)


def _environment(document: Document) -> bytes:
    """A digest of all that stands outside the bodies of functions."""
    digest = blake2b(digest_size=16)
    at = 0
    for function in document.module.functions:
        body = function.body
        if body is not None:
            digest.update(document.source[at : body.span[0]])
            digest.update(b"\0")
            at = body.span[1]
    digest.update(document.source[at:])
    return digest.digest()


def _key(function: Function, taken: dict[str, _Checked]) -> str:
    """The function's name, with a number where it is not the first of that name."""
    key, number = function.name, 1
    while key in taken:
        number += 1
        key = f"{function.name} {number}"
    return key


def _finding(one: Diagnostic, document: Document) -> Finding:
    span = one.span
    if span is None:
        at = document.module.line_start(one.line)
        span = (at, at)
    return Finding(span, one.severity, one.code, one.message, one.hint)


@dataclass(frozen=True, slots=True)
class _Change:
    """Instructions that took the place of others; offsets count from the function's first byte."""

    statements: list[Instruction]
    first: int  # where the first of them begins, in both texts
    last: int  # where the last of them ended in the old text
    grown: int  # bytes that the text has more

    def untouched(self, found: list[Finding]) -> Iterator[Finding]:
        """The findings outside of the change, those after it moved."""
        for one in found:
            if one.span[1] <= self.first:
                yield one
            elif one.span[0] >= self.last:
                yield one.moved(self.grown)


def _changed_statements(
    before: _Checked, document: Document, start: int, text: bytes
) -> _Change | None:
    """The instructions that differ; None where a change may reach further than them.

    It does not where both trees have nothing but instructions at the change, and the
    statements around it are the same: the parser then read the rest as it did before.
    """
    same, old_end, new_end = _difference(before.text, text)
    old = _statements(before.document, before.start, same, old_end)
    new = _statements(document, start, same, new_end)
    if old is None or new is None:
        return None
    grown = len(text) - len(before.text)
    first, follower = new[0].span[0] - start, new[-1].next_sibling
    old_first, old_follower = old[0].span[0] - before.start, old[-1].next_sibling
    if follower is None or old_follower is None or first != old_first:
        return None
    moved = follower.span[0] - start - (old_follower.span[0] - before.start)
    if moved != grown or len(old[0].ancestors) != len(new[0].ancestors):
        return None
    instructions = [node for node in new if isinstance(node, Instruction)]
    return _Change(instructions, first, old_follower.span[0] - before.start, grown)


def _difference(before: bytes, after: bytes) -> tuple[int, int, int]:
    """(start, end in ``before``, end in ``after``) of what differs."""
    start = _common(before, after)
    limit = min(len(before), len(after)) - start
    tail = min(limit, _common(before[::-1], after[::-1]))
    return start, len(before) - tail, len(after) - tail


def _common(one: bytes, two: bytes) -> int:
    """How many first bytes are the same, by halving: comparing slices is what bytes do fast."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _statements(document: Document, base: int, start: int, end: int) -> list[Node] | None:
    """The instructions and errors from the statement before a stretch of text to its end.

    None where there is anything else among them: a label, a declaration, a block.
    """
    at = document.source.rfind(b";", base, base + start)
    node = document.module.node_at(at) if at >= 0 else None
    while node is not None and not isinstance(node.parent, Block):
        node = node.parent
    found: list[Node] = []
    while node is not None and node.span[0] <= base + end:
        if node.kind not in ("Instruction", "Error"):
            return None
        found.append(node)
        node = node.next_sibling
    return found or None
