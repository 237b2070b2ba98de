"""HTML out of data. Everything that was pasted goes through :func:`text`, which escapes it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ptxkit.app.limits import MOST_ROWS
from ptxkit.diagnostics import Diagnostic

# Characters that a browser shows as nothing, or that turn the direction of writing.
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
                  "|[\ud800-\udfff]")  # fmt: skip


def text(value: object) -> str:
    """A value as text of a page, whatever it is.

    >>> text("<script>") + text("\\0")
    '&lt;script&gt;\\u2400'
    """
    return html.escape(_ODD.sub(_shown, str(value)), quote=True)


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"


@dataclass(slots=True)
class Row:
    """A line of a pane."""

    number: int | str
    markup: str
    """HTML, made by this package."""
    ptx: Iterable[int] = ()
    """The lines of PTX that it stands for."""
    notes: list[str] = field(default_factory=list)
    """HTML under the line."""
    side: str = ""
    """HTML before the line: a count, a share."""
    kind: str = ""


def pane(
    rows: Sequence[Row],
    label: str,
    *,
    link: str = "",
    side: str = "",
    more: int = 0,
    first: int = 1,
    wrap: bool = False,
) -> str:
    """Lines with numbers in a box that scrolls, and that arrow keys walk through.

    Lines of panes with the same ``link`` are highlighted together; line ``first`` is on top.
    With ``wrap`` a long line goes on below itself, instead of out of the box.

    >>> "data-ptx='3 4'" in pane([Row(1, text("x = y;"), (4, 3))], "CUDA", link="explore")
    True
    """
    shown = rows[:MOST_ROWS]
    body = "".join(map(_row, shown))
    hidden = len(rows) - len(shown) + more
    if hidden > 0:
        body += f"<div class='pk-more'>{hidden:,} more lines are not shown</div>"
    head = f"<div class='pk-side-head'>{text(side)}</div>" if side else ""
    start = f" data-first='{first}'" if first > 2 else ""
    kinds = f"{' pk-with-side' if side else ''}{' pk-wrap' if wrap else ''}"
    return (
        f"<div class='pk-pane{kinds}' tabindex='0' role='region' "
        f"aria-label='{text(label)}' data-link='{text(link)}'{start}>{head}"
        f"<div class='pk-lines'>{body}</div></div>"
    )


def _row(row: Row) -> str:
    places = " ".join(map(str, sorted(set(row.ptx))))
    linked = f" data-ptx='{places}'" if places else ""
    kind = f" {row.kind}" if row.kind else ""
    side = f"<span class='pk-side'>{row.side}</span>"
    return (
        f"<div class='pk-row{kind}'{linked}><span class='pk-no'>{row.number}</span>{side}"
        f"<code>{row.markup or ' '}</code></div>{''.join(row.notes)}"
    )


def note(one: Diagnostic) -> str:
    """A diagnostic as it stands under its line."""
    hint = f"<br><em>hint: {text(one.hint)}</em>" if one.hint else ""
    severity = one.severity if one.severity in ("error", "warning", "note") else "note"
    return (
        f"<div class='pk-note pk-{severity}'><b>{severity}[{text(one.code)}]</b> "
        f"{text(one.message)}{hint}</div>"
    )


def by_line(found: Iterable[Diagnostic]) -> Mapping[int, list[str]]:
    """Diagnostics as HTML, by their line."""
    lines: dict[int, list[str]] = {}
    for one in found:
        lines.setdefault(one.line, []).append(note(one))
    return lines


def message(words: str, kind: str = "note") -> str:
    """A message in a box; lines and columns stay where they are."""
    role = "alert" if kind == "error" else "status"
    return f"<div class='pk-message pk-{kind}' role='{role}'><pre>{text(words)}</pre></div>"


def badge(words: str, kind: str, title: str = "") -> str:
    """A small label; kinds are good, fair, bad and plain."""
    return f"<span class='pk-badge pk-{kind}' title='{text(title)}'>{text(words)}</span>"


def table(head: Sequence[str], body: Iterable[Sequence[str]], label: str) -> str:
    """A table; cells are HTML, heads are text."""
    heads = "".join(f"<th scope='col'>{text(name)}</th>" for name in head)
    rows = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body)
    return (
        f"<div class='pk-scroll' tabindex='0' role='region' aria-label='{text(label)}'>"
        f"<table class='pk-table'><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def plain_rows(source: str, links: Mapping[int, Sequence[int]] | None = None) -> list[Row]:
    """A text as rows, with links to lines of PTX."""
    links = links or {}
    return [
        Row(number, text(line), links.get(number, ()))
        for number, line in enumerate(source.splitlines(), 1)
    ]


_WORDS = re.compile(r"\*\*(.+?)\*\*|`([^`]+)`|\*(\S[^*]*)\*")


def markdown(source: str) -> str:
    """The little Markdown that hover help is written in.

    >>> markdown("**add** of `.s32`")
    '<p><b>add</b> of <code>.s32</code></p>'
    """
    made: list[str] = []
    fenced = False
    for line in source.split("\n"):
        if line.startswith("```"):
            made.append("</pre>" if fenced else "<pre>")
            fenced = not fenced
        elif fenced:
            made.append(text(line) + "\n")
        elif line.startswith("- "):
            made.append(f"<p class='pk-item'>{_inline(line[2:])}</p>")
        elif line.strip():
            made.append(f"<p>{_inline(line)}</p>")
    return "".join(made) + ("</pre>" if fenced else "")


def _inline(line: str) -> str:
    def one(found: re.Match[str]) -> str:
        for tag, inner in zip(("b", "code", "em"), found.groups(), strict=True):
            if inner is not None:
                return f"<{tag}>{inner}</{tag}>"
        return found[0]

    return _WORDS.sub(one, text(line))
