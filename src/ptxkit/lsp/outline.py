"""The parts of a file: symbols for the outline, regions that fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.lsp.document import Document
from ptxkit.syntax import Function, Label, Variable

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named part: ``kind`` is kernel, function, variable or label."""

    name: str
    kind: str
    detail: str
    span: Span
    name_span: Span
    children: list[Symbol] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fold:
    """Bytes that can be folded; ``kind`` is region or comment."""

    span: Span
    kind: str = "region"


def symbols(document: Document) -> list[Symbol]:
    """Functions with their labels and variables, and the module's variables.

    >>> text = ".global .b32 g; .entry k() { L: ret; }"
    >>> [(s.kind, s.name, [c.name for c in s.children]) for s in symbols(Document(text))]
    [('variable', 'g', []), ('kernel', 'k', ['L'])]
    """
    found: list[Symbol] = []
    for child in document.module.children:
        if isinstance(child, Variable):
            found += _variables(child)
        elif isinstance(child, Function):
            found.append(_function(child))
    return found


def _variables(node: Variable) -> Iterator[Symbol]:
    for one in node.declarators:
        start = one.span[0]
        name_span = (start, start + len(one.name.encode()))
        yield Symbol(one.name, "variable", f".{node.space} .{node.type}", node.span, name_span)


def _function(function: Function) -> Symbol:
    children: list[Symbol] = []
    body = function.body
    for child in () if body is None else body.children:
        if isinstance(child, Label):
            start = child.span[0]
            name_span = (start, start + len(child.name.encode()))
            children.append(Symbol(child.name, "label", "", child.span, name_span))
        elif isinstance(child, Variable) and child.space != "reg":
            children += _variables(child)
    kind = "kernel" if function.is_entry else "function"
    detail = "" if body is not None else "prototype"
    return Symbol(function.name, kind, detail, function.span, function.name_span, children)


def folds(document: Document) -> list[Fold]:
    """Bodies, blocks, sections, initialisers and comments of more than one line."""
    module = document.module
    found = [
        Fold(node.span)
        for kind in ("Block", "Section", "InitializerList", "ParameterList")
        for node in module.find(kind)
        if _several_lines(document, node)
    ]
    found += _comments(document)
    return sorted(found, key=lambda one: one.span)


def _several_lines(document: Document, node: Node) -> bool:
    start, end = node.span
    return b"\n" in document.source[start:end]


def _comments(document: Document) -> Iterator[Fold]:
    """Block comments, and runs of line comments that follow each other."""
    run: list[Span] = []
    for text, span in document.module.comments():
        if text.startswith("/*"):
            if "\n" in text:
                yield Fold(span, "comment")
            continue
        if run and document.source[run[-1][1] : span[0]].strip():
            yield from _joined(run)
            run = []
        run.append(span)
    yield from _joined(run)


def _joined(run: list[Span]) -> Iterator[Fold]:
    if len(run) > 1:
        yield Fold((run[0][0], run[-1][1]), "comment")
