"""Where a name is declared and used, and renaming it."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.errors import EditError
from ptxkit.lsp.document import Document
from ptxkit.syntax import Declaration, Function
from ptxkit.syntax import rename as rename_in_module

Span = tuple[int, int]


def node_of_name(document: Document, offset: int) -> Node | None:
    """The name, declarator, label, parameter or function whose name is at an offset.

    A cursor behind the last character is still on the name.
    """
    for at in (offset, offset - 1):
        node: Node | None = document.module.node_at(at) if 0 <= at < len(document.source) else None
        if node is None:
            continue
        if node.kind == "Name":
            return node
        declaration = document.scopes.declaration(node)
        if declaration is not None:
            start, end = declaration.name_span
            if start <= offset <= end:
                return node
    return None


def _declaration(document: Document, offset: int) -> Declaration | None:
    node = node_of_name(document, offset)
    return None if node is None else document.scopes.declaration(node)


def definition(document: Document, offset: int) -> Span | None:
    """The bytes of the name where it is declared; of a function's body before its prototypes.

    >>> text = ".func f() { .reg .b32 %r<3>; mov.b32 %r2, 1; }"
    >>> start, end = definition(Document(text), text.index("%r2"))
    >>> text[start:end]
    '%r'
    """
    declaration = _declaration(document, offset)
    if declaration is None:
        return None
    if declaration.kind == "function":
        for other in document.scopes.root.names[declaration.name]:
            if isinstance(other.node, Function) and other.node.body is not None:
                declaration = other
    return declaration.name_span


def references(document: Document, offset: int, *, declared: bool = True) -> list[Span]:
    """The bytes of every use of the name at an offset, in source order.

    Of a register range only the very register is looked for when the cursor is on a use.
    """
    node = node_of_name(document, offset)
    declaration = None if node is None else document.scopes.declaration(node)
    if node is None or declaration is None:
        return []
    targets = [declaration]
    if declaration.kind == "function":
        same = document.scopes.root.names[declaration.name]
        targets = [one for one in same if one.kind == "function"]
    spans: set[Span] = set()
    for target in targets:
        if declared:
            spans.add(target.name_span)
        for use in document.scopes.references(target):
            if node.kind == "Name" and use.identifier != node.identifier:
                continue
            start = use.span[0]
            spans.add((start, start + len(use.identifier.encode())))
    return sorted(spans)


def rename(document: Document, offset: int, name: str) -> list[Span]:
    """The bytes to replace by a new name; raises :class:`ptxkit.EditError` where that is unsafe.

    >>> text = ".func f() { .reg .b32 a; mov.b32 a, a; }"
    >>> [text[start:end] for start, end in rename(Document(text), text.index("a;"), "b")]
    ['a', 'a', 'a']
    """
    node = node_of_name(document, offset)
    if node is None:
        raise EditError("there is no declared name here")
    if document.module.diagnostics_raw:
        raise EditError("the file has syntax errors; mend them before renaming")
    rename_in_module(document.module, node, name)  # proves that every name keeps its meaning
    declaration = document.scopes.declaration(node)
    assert declaration is not None
    length = len(declaration.name.encode())
    return [(start, start + length) for start, _ in references(document, offset)]
