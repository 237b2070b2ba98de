"""The server process, asked by a real client over its standard input and output."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("pygls", reason="needs pygls: pip install 'ptxkit[lsp]'")

from lsprotocol import types
from pygls.lsp.client import LanguageClient

URI = "file:///k.ptx"
TEXT = """\
.version 8.0
.target sm_90
.address_size 64

.global .align 4 .f32 table[4];

// Adds one.
// To everything.
.visible .entry grow(
    .param .u64 values
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 8;
    @%p1 bra $done;
    ld.param.u64 %rd1, [values];
    st.global.u32 [%rd1], %r1;
$done:
    ret;
}
"""


class Editor:
    """The side of the editor: a text, and what the server says about it."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.text = ""
        self.version = 0
        self.published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.messages: list[str] = []

    def open(self, text: str) -> None:
        self.text = text
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "ptx", 0, text))
        )

    def type(self, at: int, text: str, gone: int = 0) -> None:
        """Replace ``gone`` characters by a text, as one change."""
        place = types.Range(self.position(at), self.position(at + gone))
        self.text = self.text[:at] + text + self.text[at + gone :]
        self.version += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version=self.version, uri=URI),
                [types.TextDocumentContentChangePartial(range=place, text=text)],
            )
        )

    async def diagnostics(self) -> list[types.Diagnostic]:
        """What was published for the newest text."""
        while True:
            said = await asyncio.wait_for(self.published.get(), 20)
            if said.version == self.version:
                return list(said.diagnostics)

    def position(self, at: int) -> types.Position:
        before = self.text[:at]
        column = len(before[before.rfind("\n") + 1 :].encode("utf-16-le")) // 2
        return types.Position(before.count("\n"), column)

    def at(self, word: str, further: int = 0) -> dict[str, Any]:
        where = self.position(self.text.index(word) + further)
        return {"text_document": types.TextDocumentIdentifier(URI), "position": where}

    def covered(self, place: types.Range) -> str:
        lines = self.text.split("\n")
        assert place.start.line == place.end.line
        return lines[place.start.line][place.start.character : place.end.character]


def with_editor(use: Callable[[Editor], Awaitable[None]]) -> None:
    """Start the server, shake hands, use it, stop it; it must end by itself."""

    async def session() -> None:
        client = LanguageClient("test", "1")
        editor = Editor(client)

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: types.PublishDiagnosticsParams) -> None:
            editor.published.put_nowait(params)

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def _(params: types.ShowMessageParams) -> None:
            editor.messages.append(params.message)

        await client.start_io(sys.executable, "-m", "ptxkit", "lsp", "--stdio")
        capabilities = types.ClientCapabilities()
        await client.initialize_async(types.InitializeParams(capabilities=capabilities))
        client.initialized(types.InitializedParams())
        try:
            await use(editor)
        finally:
            await client.shutdown_async(None)
            client.exit(None)
            await asyncio.wait_for(client.stop(), 20)

    asyncio.run(session())


def test_diagnostics_follow_the_typing() -> None:
    async def use(editor: Editor) -> None:
        editor.open(TEXT)
        assert await editor.diagnostics() == []
        at = TEXT.index("setp.ge") + len("setp.ge")
        editor.type(at, "x")
        (found,) = await editor.diagnostics()
        assert found.code == "modifier"
        assert editor.covered(found.range) == ".gex"
        assert found.severity == types.DiagnosticSeverity.Error
        editor.type(at, "", gone=1)
        assert await editor.diagnostics() == []

    with_editor(use)


def test_text_beyond_ascii_keeps_columns_right() -> None:
    async def use(editor: Editor) -> None:
        editor.open(TEXT.replace("    mov.u32", "/* ü😀 */ bad.u32"))
        (found,) = await editor.diagnostics()
        line = editor.text.split("\n")[found.range.start.line]
        units = line.encode("utf-16-le")
        start, end = 2 * found.range.start.character, 2 * found.range.end.character
        assert units[start:end].decode("utf-16-le").startswith("bad")

    with_editor(use)


def test_names_meanings_and_completion() -> None:
    async def use(editor: Editor) -> None:
        client = editor.client
        editor.open(TEXT)
        await editor.diagnostics()
        said = await client.text_document_hover_async(types.HoverParams(**editor.at("setp", 1)))
        assert said is not None and "Compare" in said.contents.value
        assert editor.covered(said.range) == "setp.ge.u32"

        place = await client.text_document_definition_async(
            types.DefinitionParams(**editor.at("bra $done", 5))
        )
        assert place.range.start == editor.position(TEXT.index("$done:"))

        context = types.ReferenceContext(include_declaration=True)
        found = await client.text_document_references_async(
            types.ReferenceParams(**editor.at("[values]", 1), context=context)
        )
        assert [editor.covered(one.range) for one in found] == ["values", "values"]

        items = (
            await client.text_document_completion_async(
                types.CompletionParams(**editor.at("st.global.u32", len("st.global.")))
            )
        ).items
        assert ".v4" in [one.label for one in items]
        assert ".wide" not in [one.label for one in items]

    with_editor(use)


def test_rename_format_and_structure() -> None:
    async def use(editor: Editor) -> None:
        client = editor.client
        document = types.TextDocumentIdentifier(URI)
        editor.open(TEXT)
        await editor.diagnostics()
        edit = await client.text_document_rename_async(
            types.RenameParams(**editor.at("$done", 1), new_name="$end")
        )
        assert [editor.covered(one.range) for one in edit.changes[URI]] == ["$done", "$done"]

        edit = await client.text_document_rename_async(
            types.RenameParams(**editor.at("$done", 1), new_name="no name")
        )
        assert edit is None
        assert "not a PTX identifier" in editor.messages[0]

        (variable, kernel) = await client.text_document_document_symbol_async(
            types.DocumentSymbolParams(document)
        )
        assert (variable.name, kernel.name) == ("table", "grow")
        assert [child.name for child in kernel.children] == ["$done"]

        folds = await client.text_document_folding_range_async(types.FoldingRangeParams(document))
        kinds = {(fold.start_line, fold.kind) for fold in folds}
        assert (6, types.FoldingRangeKind.Comment) in kinds
        assert any(fold.start_line == 11 for fold in folds)

        options = types.FormattingOptions(tab_size=4, insert_spaces=True)
        edits = await client.text_document_formatting_async(
            types.DocumentFormattingParams(document, options)
        )
        import ptxkit

        assert edits[0].new_text == ptxkit.format(ptxkit.parse(TEXT))

        tokens = await client.text_document_semantic_tokens_full_async(
            types.SemanticTokensParams(document)
        )
        assert len(tokens.data) % 5 == 0 and len(tokens.data) > 200

    with_editor(use)


@pytest.mark.parametrize(
    "text",
    ["", "\0\0\0", "{" * 5000, "\n" * 1000, ".entry k(", "x" * 1_000_000, "\ufeff", "}" * 100],
    ids=["empty", "nul", "braces", "lines", "cut", "long", "mark", "closing"],
)
def test_hostile_texts_are_answered(text: str) -> None:
    async def use(editor: Editor) -> None:
        client = editor.client
        document = types.TextDocumentIdentifier(URI)
        editor.open(text)
        await editor.diagnostics()
        place = types.Position(99999, 99999)
        for ask, params in (
            (client.text_document_hover_async, types.HoverParams(document, place)),
            (client.text_document_completion_async, types.CompletionParams(document, place)),
            (client.text_document_definition_async, types.DefinitionParams(document, place)),
            (
                client.text_document_document_symbol_async,
                types.DocumentSymbolParams(document),
            ),
            (client.text_document_folding_range_async, types.FoldingRangeParams(document)),
            (
                client.text_document_semantic_tokens_full_async,
                types.SemanticTokensParams(document),
            ),
        ):
            await asyncio.wait_for(ask(params), 20)

    with_editor(use)


def test_a_key_stroke_in_a_megabyte_costs_little() -> None:
    """The bar is 100 ms on an idle machine; a loaded one gets some more."""
    body = "\n".join(f"    add.s32 %r1, %r2, {number};" for number in range(36_000))
    head, tail = TEXT.split("    mov.u32 %r1, %tid.x;\n")

    async def use(editor: Editor) -> None:
        editor.open(head + body + "\n" + tail)
        assert len(editor.text) > 1_000_000
        assert await editor.diagnostics() == []
        at = editor.text.index("add.s32 %r1, %r2, 12500") + len("add.s32")
        took = []
        for key in "abc":
            started = time.perf_counter()
            editor.type(at, key)
            (found,) = await editor.diagnostics()
            took.append(time.perf_counter() - started)
            assert found.code == "modifier"
        assert min(took) < 0.3

    with_editor(use)


def test_a_file_that_is_not_open_and_not_there() -> None:
    async def use(editor: Editor) -> None:
        missing = types.TextDocumentIdentifier("file:///nowhere/missing.ptx")
        asked = types.HoverParams(missing, types.Position(0, 0))
        assert await editor.client.text_document_hover_async(asked) is None

    with_editor(use)
