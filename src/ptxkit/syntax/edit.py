"""Edits: text replacements on nodes that give a new module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit._native import Node
from ptxkit.errors import EditError

if TYPE_CHECKING:
    from ptxkit.syntax.module import Module


class Editor:
    """Collects edits of one module; :meth:`apply` parses the result.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() {\\n    add.f32 a, b, c;\\n    ret;\\n}\\n")
    >>> i = m["f"].instructions[0]
    >>> e = m.edit()
    >>> e.replace(i.operands[2], "0f3F800000")
    >>> e.insert_after(i, "\\n    mul.f32 a, a, a;")
    >>> print(e.apply().emit(), end="")
    .func f() {
        add.f32 a, b, 0f3F800000;
        mul.f32 a, a, a;
        ret;
    }
    """

    def __init__(self, module: Module) -> None:
        self._module = module
        # (start, end, order, text, what it was called on)
        self._edits: list[tuple[int, int, int, bytes, Node]] = []

    def replace(self, node: Node, text: str | bytes) -> None:
        """Put ``text`` in the node's place."""
        start, end = self._span(node)
        self._add(start, end, text, node)

    def insert_before(self, node: Node, text: str | bytes) -> None:
        """Put ``text`` right before the node."""
        start, _ = self._span(node)
        self._add(start, start, text, node)

    def insert_after(self, node: Node, text: str | bytes) -> None:
        """Put ``text`` right after the node."""
        _, end = self._span(node)
        self._add(end, end, text, node)

    def delete(self, node: Node) -> None:
        """Take the node out; a statement alone on its lines takes its line breaks along."""
        start, end = self._span(node)
        source = self._module.source()
        line_begin = source.rfind(b"\n", 0, start) + 1
        line_end = source.find(b"\n", end)
        alone = not source[line_begin:start].strip() and line_end >= 0
        if node.kind in _STATEMENTS and alone and not source[end:line_end].strip():
            start, end = line_begin, line_end + 1
        self._add(start, end, b"", node)

    def replace_span(self, span: tuple[int, int], text: str | bytes) -> None:
        """Put ``text`` in place of the bytes ``span[0]`` to ``span[1]``."""
        start, end = span
        if not 0 <= start <= end <= len(self._module.source()):
            raise EditError(f"the span {span} does not lie inside the module")
        self._add(start, end, text, self._module)

    def _span(self, node: Node) -> tuple[int, int]:
        if not isinstance(node, Node):
            raise EditError(
                f"an edit needs a node of the module, not {type(node).__name__}; "
                "take one from module.functions, function.instructions ..."
            )
        if not node.same_tree(self._module):
            raise EditError(
                f"the node at line {node.line} belongs to another module; after apply() "
                "take nodes from the new module"
            )
        return node.span

    def _add(self, start: int, end: int, text: str | bytes, node: Node) -> None:
        if not isinstance(text, (str, bytes)):
            raise EditError(f"the new text must be str or bytes, not {type(text).__name__}")
        from ptxkit.syntax.module import to_bytes

        data = to_bytes(text) if isinstance(text, str) else text
        self._edits.append((start, end, len(self._edits), data, node))

    def apply(self, *, recover: bool = False) -> Module:
        """The edited module. Raises where edits overlap or, without ``recover``, the result
        is not PTX."""
        from ptxkit.syntax.module import parse

        return parse(self.preview(), filename=self._module.filename, recover=recover)

    def preview(self) -> bytes:
        """The edited text, not parsed."""
        source = self._module.source()
        pieces: list[bytes] = []
        written = 0
        # Insertions at one place keep the order they were asked for in.
        for start, end, _, text, node in sorted(self._edits, key=lambda e: (e[0], e[1], e[2])):
            if start < written:
                raise EditError(
                    f"edits overlap at line {node.line}, column {node.column}; apply the first "
                    "ones, then edit the new module"
                )
            pieces += (source[written:start], text)
            written = end
        pieces.append(source[written:])
        return b"".join(pieces)


_STATEMENTS = frozenset(
    "Version Target AddressSize File Section SectionLabel SectionData DwarfLine Loc Pragma Alias "
    "Variable Function Label BranchTargets CallTargets CallPrototype Instruction".split()
)
