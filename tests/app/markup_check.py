"""Whether a piece of HTML has only what the workbench itself writes."""

from __future__ import annotations

from html.parser import HTMLParser

TAGS = frozenset(
    "b br code details div em g h3 i li meter p path polyline pre progress rect span summary svg "
    "table tbody td text th thead title tr ul".split()
)
ATTRIBUTES = frozenset(
    "aria-label class d data-first data-help data-link data-ptx data-text fill-opacity height "
    "hidden max min open points role rx scope style tabindex text-anchor title transform value "
    "viewbox width x y".split()
)


class _Checker(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.wrong.append(f"<{tag} {name}=...>")
            if name == "style" and not (value or "").startswith("width:"):
                self.wrong.append(f"style={value}")
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> out of place")

    def handle_comment(self, data: str) -> None:
        self.wrong.append("a comment")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append("a declaration")


def foreign_markup(html: str) -> list[str]:
    """What in it is not ours: tags and attributes of somebody else, or tags out of order.

    >>> foreign_markup("<div class='a'>x</div>"), foreign_markup("<p onclick='x'>")
    ([], ['<p onclick=...>', '<p> is never closed'])
    """
    checker = _Checker()
    checker.feed(html)
    checker.close()
    return checker.wrong + [f"<{tag}> is never closed" for tag in checker.open]
