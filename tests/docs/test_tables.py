"""The tables of names, errors, extras and commands are complete."""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import ptxkit
from ptxkit.cli import COMMANDS
from ptxkit.errors import PtxkitError

ROOT = Path(__file__).parents[2]
INDEX = (ROOT / "docs" / "index.md").read_text()


def below(base: type) -> Iterator[type]:
    for one in base.__subclasses__():
        yield one
        yield from below(one)


def test_every_error_is_in_the_table() -> None:
    for module in pkgutil.walk_packages(ptxkit.__path__, "ptxkit."):
        if not module.name.endswith("__main__"):
            # What needs a package of an extra is looked at where that is installed.
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    ours = {one for one in below(PtxkitError) if one.__module__.startswith("ptxkit.")}
    missing = {one.__name__ for one in ours if not re.search(rf"\b{one.__name__}`", INDEX)}
    assert not missing


def test_errors_are_where_the_table_says() -> None:
    table = INDEX.partition("| class | when |")[2].partition("A `PtxSyntaxError`")[0]
    places = re.findall(r"`((?:[a-z_]+\.)+[A-Z]\w+)`", table)
    assert len(places) > 20
    for place in places:
        module, _, name = place.rpartition(".")
        assert issubclass(getattr(importlib.import_module(f"ptxkit.{module}"), name), PtxkitError)


def test_every_public_name_is_there() -> None:
    for name in ptxkit.__all__:
        if name != "__version__":
            assert re.search(rf"`(ptxkit\.)?{name}\b", INDEX), name


def test_every_extra_is_there() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = re.findall(r"^(\w+) = \[", section, re.MULTILINE)
    assert len(extras) > 8
    assert not [extra for extra in extras if f"`{extra}`" not in INDEX]


def test_every_command_is_there() -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    assert not [command for command in COMMANDS if f"| `{command}` |" not in page]


def test_every_room_has_a_page_and_a_reference() -> None:
    rooms = [path.parent.name for path in (ROOT / "src" / "ptxkit").glob("*/__init__.py")]
    pages = (ROOT / "mkdocs.yml").read_text()
    for room in rooms:
        if room not in ("cli", "app"):  # commands and a web page, no interface for Python
            assert (ROOT / "docs" / "reference" / f"{room}.md").exists(), room
            assert f"reference/{room}.md" in pages
