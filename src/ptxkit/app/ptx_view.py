"""PTX as a pane: colours by meaning, help for every instruction, diagnostics under their lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptxkit.app.limits import MOST_ROWS
from ptxkit.app.markup import Row, by_line, markdown, pane, text
from ptxkit.diagnostics import Diagnostic
from ptxkit.lsp import Document, hover
from ptxkit.lsp.highlighting import tokens

#: Kinds of words that there is help for, beside instructions.
_HELPED = ("function", "macro")


class PtxView:
    """A text of PTX with what is to be known about its words."""

    def __init__(self, source: str, filename: str = "input.ptx") -> None:
        self.document = Document(source, filename)
        self.help: dict[str, int] = {}
        self._texts: list[str] = []

    @property
    def module(self) -> object:
        """The tree."""
        return self.document.module

    def rows(
        self,
        found: Iterable[Diagnostic] = (),
        side: Mapping[int, str] | None = None,
        marked: Mapping[int, str] | None = None,
    ) -> list[Row]:
        """The lines; ``side`` is HTML before them, ``marked`` gives lines a kind."""
        side, marked = side or {}, marked or {}
        notes = by_line(found)
        data = self.document.source
        starts = [0]
        while (at := data.find(b"\n", starts[-1])) >= 0:
            starts.append(at + 1)
        last = starts[MOST_ROWS] if len(starts) > MOST_ROWS else len(data)
        pieces: list[list[str]] = [[] for _ in range(min(len(starts), MOST_ROWS))]
        line, at = 0, 0
        for first, end, kind in tokens(self.document, 0, last):
            while line + 1 < len(starts) and starts[line + 1] <= first:
                self._plain(pieces[line], at, starts[line + 1])
                line, at = line + 1, starts[line + 1]
            self._plain(pieces[line], at, first)
            pieces[line].append(self._word(first, end, kind))
            at = end
        for number in range(line, len(pieces)):
            end = starts[number + 1] if number + 1 < len(starts) else len(data)
            self._plain(pieces[number], max(at, starts[number]), end)
        rows = [
            Row(number, "".join(one), (number,), notes.get(number, []), side.get(number, ""),
                marked.get(number, ""))
            for number, one in enumerate(pieces, 1)
        ]  # fmt: skip
        # A complaint about the end of a file may stand behind its last line.
        if rows:
            for number in notes:
                if number > len(rows):
                    rows[-1].notes += notes[number]
        self._hidden = len(starts) - len(pieces)
        return rows

    def _plain(self, into: list[str], start: int, end: int) -> None:
        if end > start:
            piece = self.document.source[start:end].decode("utf-8", "replace")
            into.append(text(piece.rstrip("\r\n")))

    def _word(self, start: int, end: int, kind: str) -> str:
        word = self.document.source[start:end].decode("utf-8", "replace")
        number = self._help(word, start, kind) if kind in _HELPED else None
        help = "" if number is None else f" data-help='{number}'"
        return f"<span class='pk-{kind}'{help}>{text(word)}</span>"

    def _help(self, word: str, offset: int, kind: str) -> int | None:
        # Opcodes and special registers mean the same wherever they stand.
        if word not in self.help:
            found = hover(self.document, offset)
            if found is None:
                return None
            self.help[word] = len(self._texts)
            self._texts.append(markdown(found.text))
        return self.help[word]

    def html(
        self,
        found: Iterable[Diagnostic] = (),
        *,
        label: str = "PTX",
        link: str = "explore",
        side: Mapping[int, str] | None = None,
        side_head: str = "",
        marked: Mapping[int, str] | None = None,
    ) -> str:
        """The pane, and the help beside it."""
        rows = self.rows(found, side, marked)
        shown = pane(rows, label, link=link, side=side_head, more=self._hidden)
        texts = "".join(f"<div data-text='{n}'>{one}</div>" for n, one in enumerate(self._texts))
        return f"<div class='pk-helped'>{shown}<div class='pk-texts' hidden>{texts}</div></div>"
