"""The server: what the protocol asks, handed to the functions of this room.

An answer is worked out from one :class:`Document` a version. Diagnostics are published for
every change, and once more from scratch when nothing has been typed for a while.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from ptxkit import __version__
from ptxkit.errors import EditError, PtxSyntaxError
from ptxkit.lsp import completion, highlighting, hovering, navigation, outline
from ptxkit.lsp.diagnose import Diagnoser, Finding
from ptxkit.lsp.document import Document
from ptxkit.syntax import format as format_module

#: Seconds without a change after which the whole file is checked again.
PAUSE = 0.6
#: Diagnostics an editor gets at most; the last one then says how many there are.
MOST_DIAGNOSTICS = 1000
#: Longer texts are not checked while they are typed.
MOST_BYTES = 64 * 1024 * 1024

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_COMPLETION_KINDS = {
    "instruction": types.CompletionItemKind.Function,
    "modifier": types.CompletionItemKind.Property,
    "register": types.CompletionItemKind.Variable,
    "special": types.CompletionItemKind.Constant,
    "variable": types.CompletionItemKind.Variable,
    "parameter": types.CompletionItemKind.Variable,
    "label": types.CompletionItemKind.Reference,
    "function": types.CompletionItemKind.Function,
    "directive": types.CompletionItemKind.Keyword,
}
_SYMBOL_KINDS = {
    "kernel": types.SymbolKind.Function,
    "function": types.SymbolKind.Method,
    "variable": types.SymbolKind.Variable,
    "label": types.SymbolKind.Key,
}
_LEGEND = types.SemanticTokensLegend(token_types=list(highlighting.TOKEN_TYPES), token_modifiers=[])


class PtxLanguageServer(LanguageServer):
    """The server with the documents it knows."""

    def __init__(self) -> None:
        super().__init__("ptxkit", __version__)
        self._documents: dict[str, tuple[int | None, Document]] = {}
        self._diagnosers: dict[str, Diagnoser] = {}
        self._pauses: dict[str, asyncio.TimerHandle] = {}

    def document(self, uri: str) -> Document:
        """The parsed text of a file, of its newest version."""
        text = self.workspace.get_text_document(uri)
        known = self._documents.get(uri)
        if known is not None and known[0] == text.version and text.version is not None:
            return known[1]
        encoding = str(self.workspace.position_encoding or "utf-16")
        try:
            source = text.source
        except OSError:
            source = ""  # an editor asked about a file that it has not opened and that is not there
        document = Document(source, text.filename or uri, _encoding(encoding))
        self._documents[uri] = (text.version, document)
        return document

    def changed(self, uri: str, *, whole: bool = False) -> None:
        """Publish what is wrong with a file, and have it looked at again after a pause."""
        document = self.document(uri)
        version = self._documents[uri][0]
        diagnoser = self._diagnosers.setdefault(uri, Diagnoser())
        if len(document.source) > MOST_BYTES:
            found = [Finding((0, 0), "note", "size", "the file is too long to be checked here")]
        else:
            found = diagnoser.check(document) if whole else diagnoser.update(document)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(
                uri=uri, version=version, diagnostics=_diagnostics(document, found)
            )
        )
        pending = self._pauses.pop(uri, None)
        if pending is not None:
            pending.cancel()
        if not whole:
            loop = asyncio.get_running_loop()
            self._pauses[uri] = loop.call_later(PAUSE, self._look_again, uri)

    def _look_again(self, uri: str) -> None:
        self._pauses.pop(uri, None)
        if uri in self._diagnosers:
            self.changed(uri, whole=True)

    def closed(self, uri: str) -> None:
        """Forget a file, and what was said about it."""
        self._documents.pop(uri, None)
        self._diagnosers.pop(uri, None)
        pending = self._pauses.pop(uri, None)
        if pending is not None:
            pending.cancel()
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=[])
        )


def _encoding(text: str) -> str:
    return text.rsplit(".", 1)[-1].lower().replace("_", "-").replace("utf8", "utf-8").replace(
        "utf16", "utf-16"
    ).replace("utf32", "utf-32")  # fmt: skip


def _range(document: Document, span: tuple[int, int]) -> types.Range:
    (line, column), (last_line, last_column) = document.place(span[0]), document.place(span[1])
    return types.Range(types.Position(line, column), types.Position(last_line, last_column))


def _offset(document: Document, position: types.Position) -> int:
    return document.offset(position.line, position.character)


def _diagnostics(document: Document, found: list[Finding]) -> list[types.Diagnostic]:
    shown = found[:MOST_DIAGNOSTICS]
    said = [
        types.Diagnostic(
            range=_range(document, one.span),
            severity=_SEVERITIES[one.severity],
            code=one.code,
            source="ptxkit",
            message=one.message + (f"\n{one.hint}" if one.hint else ""),
        )
        for one in shown
    ]
    if len(found) > len(shown):
        said.append(
            types.Diagnostic(
                range=_range(document, (0, 0)),
                severity=types.DiagnosticSeverity.Information,
                code="more",
                source="ptxkit",
                message=f"{len(found):,} findings; the first {len(shown):,} are shown",
            )
        )
    return said


def create_server() -> PtxLanguageServer:
    """A server with every feature registered; ``start_io()`` runs it."""
    server = PtxLanguageServer()
    for feature, handler, options in _FEATURES:
        server.feature(feature, options)(handler)
    return server


def _opened(server: PtxLanguageServer, params: types.DidOpenTextDocumentParams) -> None:
    server.changed(params.text_document.uri)


def _changed(server: PtxLanguageServer, params: types.DidChangeTextDocumentParams) -> None:
    server.changed(params.text_document.uri)


def _saved(server: PtxLanguageServer, params: types.DidSaveTextDocumentParams) -> None:
    server.changed(params.text_document.uri, whole=True)


def _closed(server: PtxLanguageServer, params: types.DidCloseTextDocumentParams) -> None:
    server.closed(params.text_document.uri)


def _hover(server: PtxLanguageServer, params: types.HoverParams) -> types.Hover | None:
    document = server.document(params.text_document.uri)
    found = hovering.hover(document, _offset(document, params.position))
    if found is None:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, found.text)
    return types.Hover(content, _range(document, found.span))


def _complete(server: PtxLanguageServer, params: types.CompletionParams) -> types.CompletionList:
    document = server.document(params.text_document.uri)
    found = completion.complete(document, _offset(document, params.position))
    items = [
        types.CompletionItem(
            label=one.label,
            kind=_COMPLETION_KINDS[one.kind],
            detail=one.detail,
            sort_text=f"{one.rank}{number:05}",
            text_edit=types.TextEdit(_range(document, one.span), one.label),
        )
        for number, one in enumerate(found)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


def _definition(server: PtxLanguageServer, params: types.DefinitionParams) -> types.Location | None:
    document = server.document(params.text_document.uri)
    span = navigation.definition(document, _offset(document, params.position))
    return None if span is None else types.Location(
        params.text_document.uri, _range(document, span)
    )  # fmt: skip


def _references(server: PtxLanguageServer, params: types.ReferenceParams) -> list[types.Location]:
    document = server.document(params.text_document.uri)
    offset = _offset(document, params.position)
    declared = params.context.include_declaration
    return [
        types.Location(params.text_document.uri, _range(document, span))
        for span in navigation.references(document, offset, declared=declared)
    ]


def _highlight(
    server: PtxLanguageServer, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight]:
    document = server.document(params.text_document.uri)
    spans = navigation.references(document, _offset(document, params.position))
    return [types.DocumentHighlight(_range(document, span)) for span in spans]


def _prepare_rename(
    server: PtxLanguageServer, params: types.PrepareRenameParams
) -> types.Range | None:
    document = server.document(params.text_document.uri)
    offset = _offset(document, params.position)
    for start, end in navigation.references(document, offset):
        if start <= offset <= end:
            return _range(document, (start, end))
    return None


def _rename(server: PtxLanguageServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    document = server.document(params.text_document.uri)
    try:
        spans = navigation.rename(document, _offset(document, params.position), params.new_name)
    except EditError as error:
        _tell(server, str(error))
        return None
    edits = [types.TextEdit(_range(document, span), params.new_name) for span in spans]
    return types.WorkspaceEdit(changes={params.text_document.uri: edits})


def _symbols(
    server: PtxLanguageServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol]:
    document = server.document(params.text_document.uri)
    return [_symbol(document, one) for one in outline.symbols(document)]


def _symbol(document: Document, one: outline.Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=one.name or "(unnamed)",
        kind=_SYMBOL_KINDS[one.kind],
        detail=one.detail,
        range=_range(document, one.span),
        selection_range=_range(document, one.name_span),
        children=[_symbol(document, child) for child in one.children],
    )


def _folding(
    server: PtxLanguageServer, params: types.FoldingRangeParams
) -> list[types.FoldingRange]:
    document = server.document(params.text_document.uri)
    found = []
    for one in outline.folds(document):
        first, last = document.place(one.span[0])[0], document.place(one.span[1])[0]
        if last > first:
            kind = types.FoldingRangeKind.Comment if one.kind == "comment" else None
            found.append(types.FoldingRange(first, last, kind=kind))
    return found


def _format(
    server: PtxLanguageServer, params: types.DocumentFormattingParams
) -> list[types.TextEdit] | None:
    document = server.document(params.text_document.uri)
    try:
        text = format_module(document.module)
    except PtxSyntaxError:
        _tell(server, "the file has syntax errors; mend them before formatting")
        return None
    if text.encode("utf-8", "surrogateescape") == document.source:
        return []
    return [types.TextEdit(_range(document, (0, len(document.source))), text)]


def _tokens(server: PtxLanguageServer, params: types.SemanticTokensParams) -> types.SemanticTokens:
    document = server.document(params.text_document.uri)
    return types.SemanticTokens(data=highlighting.semantic_tokens(document))


def _tokens_in_range(
    server: PtxLanguageServer, params: types.SemanticTokensRangeParams
) -> types.SemanticTokens:
    document = server.document(params.text_document.uri)
    start, end = _offset(document, params.range.start), _offset(document, params.range.end)
    return types.SemanticTokens(data=highlighting.semantic_tokens(document, start, end))


def _tell(server: PtxLanguageServer, text: str) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))


_FEATURES: tuple[tuple[str, Any, Any], ...] = (
    (types.TEXT_DOCUMENT_DID_OPEN, _opened, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _changed, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _saved, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _closed, None),
    (types.TEXT_DOCUMENT_HOVER, _hover, None),
    (
        types.TEXT_DOCUMENT_COMPLETION,
        _complete,
        types.CompletionOptions(trigger_characters=[".", "%", "$", "["]),
    ),
    (types.TEXT_DOCUMENT_DEFINITION, _definition, None),
    (types.TEXT_DOCUMENT_REFERENCES, _references, None),
    (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _highlight, None),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, _prepare_rename, None),
    (types.TEXT_DOCUMENT_RENAME, _rename, types.RenameOptions(prepare_provider=True)),
    (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _symbols, None),
    (types.TEXT_DOCUMENT_FOLDING_RANGE, _folding, None),
    (types.TEXT_DOCUMENT_FORMATTING, _format, None),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _tokens, _LEGEND),
    (types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _tokens_in_range, _LEGEND),
)
