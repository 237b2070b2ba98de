"""A language server for PTX: what an editor asks, answered from the tree and the table.

``ptxkit lsp`` speaks the protocol over standard input and output. The answers themselves are
plain functions over a :class:`Document`, so they can be used without an editor:

>>> from ptxkit.lsp import Document, hover
>>> document = Document(".func f() { add.s32 a, b, c; }")
>>> print(hover(document, 14).text.splitlines()[0])
**add** · Integer arithmetic
"""

from ptxkit.lsp.completion import Proposal, complete
from ptxkit.lsp.diagnose import Diagnoser, Finding
from ptxkit.lsp.document import Document
from ptxkit.lsp.highlighting import TOKEN_TYPES, semantic_tokens
from ptxkit.lsp.hovering import Hover, hover
from ptxkit.lsp.navigation import definition, references, rename
from ptxkit.lsp.outline import Fold, Symbol, folds, symbols

__all__ = [
    "TOKEN_TYPES",
    "Diagnoser",
    "Document",
    "Finding",
    "Fold",
    "Hover",
    "Proposal",
    "Symbol",
    "complete",
    "definition",
    "folds",
    "hover",
    "references",
    "rename",
    "semantic_tokens",
    "symbols",
]
