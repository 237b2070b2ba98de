"""The picture in the README shows what the commands print today."""

from __future__ import annotations

from pathlib import Path

from tests.docs.picture import ROOT, draw

PICTURE = ROOT / "docs" / "images" / "terminal.svg"


def test_the_picture_is_what_the_commands_print() -> None:
    assert PICTURE.read_text() == draw(), (
        f"draw it again: python -m tests.docs.picture {PICTURE.relative_to(ROOT)}"
    )


def test_the_picture_needs_nothing_from_elsewhere() -> None:
    text = Path(PICTURE).read_text()
    assert "url(http" not in text
    assert "@import" not in text
