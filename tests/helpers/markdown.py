"""Code blocks of Markdown pages, and how those for a shell are run.

A block of ``console`` is what one sees in a terminal: a line that starts with ``$`` is a
command (``>`` goes on with it), the lines after it are its output, with ``...`` for what may
differ; without such lines any output will do. The command must end with 0, or with what it says
in a comment: ``# exit code 1``. A block with a ``title`` is a file of that name. All blocks of a
page share a folder.

A block that cannot be run everywhere says so where readers see it, in its first line:
``# needs a GPU: not run by the tests``.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(`{3,})([\w+-]*) *(.*)$")
_TITLE = re.compile(r'title="([^"]+)"')
_MARK = re.compile(r"^# (.+): not run by the tests$")
_EXIT = re.compile(r"# exit code (\d+)")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block."""

    page: Path
    line: int
    """Of its fence."""
    language: str
    title: str | None
    text: str

    @property
    def reason(self) -> str | None:
        """Why it is not run, where it says so."""
        found = _MARK.match(self.text.partition("\n")[0])
        return found[1] if found else None

    @property
    def place(self) -> str:
        """For messages."""
        return f"{self.page.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class Command:
    """A line of a terminal, and what comes out of it."""

    text: str
    output: str
    """Empty where the page does not show it."""
    status: int


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    found: list[Block] = []
    begun: tuple[int, str, str, str] | None = None
    body: list[str] = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fence = _FENCE.match(line)
        if begun is None and fence:
            begun, body = (number, fence[1], fence[2], fence[3]), []
        elif begun is not None and line.rstrip() == begun[1]:
            title = _TITLE.search(begun[3])
            text = "".join(f"{one}\n" for one in body)
            found.append(Block(page, begun[0], begun[2], title[1] if title else None, text))
            begun = None
        elif begun is not None:
            body.append(line)
    if begun is not None:
        raise ValueError(f"{page.name}:{begun[0]}: the block has no end")
    return found


def commands(block: Block) -> Iterator[Command]:
    """What a block of ``console`` types, and what it shows."""
    typed: list[str] = []
    shown: list[str] = []
    for line in [*block.text.splitlines(), "$ "]:
        if line.startswith("$ "):
            if typed:
                text = "\n".join(typed)
                status = _EXIT.search(text)
                yield Command(text, "\n".join(shown), int(status[1]) if status else 0)
            typed, shown = [line[2:]], []
        elif line.startswith("> ") and not shown:
            typed.append(line[2:])
        elif typed:
            shown.append(line)
        elif line and not line.startswith("#"):
            raise ValueError(f"{block.place}: '{line}' is neither a command ($ ...) nor its output")


class Terminal:
    """A folder and the programs of this Python, for the commands of a page."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder = folder / "work"
        programs = folder / "bin"
        for place in (self.folder, programs):
            place.mkdir()
        for name, arguments in {"ptxkit": "-m ptxkit", "python": "", "python3": ""}.items():
            script = programs / name
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
            script.chmod(0o755)
        for name in ("examples", "benchmarks", "tests", "notebooks"):
            (self.folder / name).symlink_to(root / name)
        paths = [str(programs), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        self._environment = os.environ | {
            "PATH": os.pathsep.join(paths),
            "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "PYTHONWARNINGS": "ignore",
        }

    def write(self, block: Block) -> None:
        """Make the file that a titled block is."""
        assert block.title is not None
        place = self.folder / block.title
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(block.text)

    def output(self, command: Command) -> tuple[int, str, str]:
        """How it ends, what it says, and what it says about itself: progress, errors, badges."""
        ended = subprocess.run(
            ["bash", "-c", command.text],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        return ended.returncode, ended.stdout, ended.stderr

    def run(self, command: Command) -> str | None:
        """Run it; what is wrong, or None. A page shows one stream, or both one after the other."""
        status, out, err = self.output(command)
        if status != command.status:
            return f"ended with {status}, not {command.status}:\n{out}{err}"
        if not command.output or any(same(command.output, one) for one in (out, err, out + err)):
            return None
        return f"shows\n{out}{err}\nwhere the page has\n{command.output}"


def same(wanted: str, found: str) -> bool:
    """Whether an output is what a page shows."""
    return doctest.OutputChecker().check_output(wanted + "\n", found.rstrip() + "\n", _FLAGS)
