"""PTX as a pane: colours by meaning, help for every instruction, diagnostics under their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ptxkit.app.limits import MOST_ROWS
from ptxkit.app.markup import Row, by_line, markdown, pane, text
from ptxkit.diagnostics import Diagnostic
from ptxkit.lsp import Document, hover
from ptxkit.lsp.highlighting import tokens

#: Kinds of words that there is help for: instructions and functions, special registers.
_HELPED = ("function", "macro")
_WHOLE = re.compile(rb"[\w.:%$]+")


class PtxView:
    """A text of PTX with what is to be known about its words."""

    def __init__(self, source: str, filename: str = "input.ptx") -> None:
        self.document = Document(source, filename)
        self.help: dict[bytes, int] = {}
        self._texts: list[str] = []

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
        number: int | None = None
        for first, end, kind in self._pieces(last):
            # Modifiers follow their instruction without a gap, and share its help.
            if not (kind == "keyword" and first == at and number is not None):
                number = self._help(first) if kind in _HELPED else None
            while line + 1 < len(starts) and starts[line + 1] <= first:
                self._plain(pieces[line], at, starts[line + 1])
                line, at = line + 1, starts[line + 1]
            self._plain(pieces[line], at, first)
            pieces[line].append(self._word(first, end, kind, number))
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

    def _pieces(self, last: int) -> Iterator[tuple[int, int, str]]:
        """The tokens up to an offset; one that goes over lines, such as a string, in pieces."""
        for first, end, kind in tokens(self.document, 0, last):
            while (newline := self.document.source.find(b"\n", first, end)) >= 0:
                yield first, newline, kind
                first = newline + 1
            yield first, min(end, last), kind

    def _plain(self, into: list[str], start: int, end: int) -> None:
        if end > start:
            piece = self.document.source[start:end].decode("utf-8", "replace")
            into.append(text(piece.rstrip("\r\n")))

    def _word(self, start: int, end: int, kind: str, number: int | None) -> str:
        word = self.document.source[start:end].decode("utf-8", "replace")
        help = "" if number is None else f" data-help='{number}'"
        return f"<span class='pk-{kind}'{help}>{text(word)}</span>"

    def _help(self, offset: int) -> int | None:
        # Opcodes and special registers mean the same wherever they stand.
        whole = _WHOLE.match(self.document.source, offset)
        word = whole[0] if whole else b""
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
        bodies = [one.line for one in self.document.module.functions if one.has_body]
        first = min(marked or bodies, default=1) if marked or len(bodies) == 1 else 1
        shown = pane(rows, label, link=link, side=side_head, more=self._hidden, first=first)
        texts = "".join(f"<div data-text='{n}'>{one}</div>" for n, one in enumerate(self._texts))
        return f"<div class='pk-helped'>{shown}<div class='pk-texts' hidden>{texts}</div></div>"
