"""Every block of code in the pages is run.

Python blocks are sessions, which pytest runs as doctests (see ``doctest-glob`` in pyproject.toml);
here they are only looked at. Blocks for a shell are run here, page by page.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

import ptxkit
from helpers.markdown import Block, Command, Terminal, blocks, commands

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")],
    key=lambda page: page.name,
)

#: Blocks that are not run, by their reason. A new one is a decision.
NOT_RUN = {
    "needs a GPU": 2,
    "needs a cluster": 2,
    "needs the network": 3,
    "starts a server": 1,
    "takes minutes": 9,
}

#: Languages that no test runs: text is no code, and the rest are settings of other programs.
UNTESTED = {"text": None, "lua": 1}


def all_blocks() -> list[Block]:
    return [block for page in PAGES for block in blocks(page)]


def names(page: Path) -> str:
    return str(page.relative_to(ROOT))


SHELL_PAGES = [page for page in PAGES if any(b.language == "console" for b in blocks(page))]


@pytest.mark.parametrize("page", SHELL_PAGES, ids=names)
def test_commands_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, ROOT)
    for block in blocks(page):
        if block.title is not None:
            terminal.write(block)
        elif block.language == "console" and block.reason is None:
            for command in commands(block):
                wrong = terminal.run(command)
                assert wrong is None, f"{block.place}: $ {command.text}\n{wrong}"


def test_every_block_is_of_a_kind_that_is_run() -> None:
    counted: Counter[str] = Counter()
    for block in all_blocks():
        match block.language:
            case "console":
                assert list(commands(block)), f"{block.place}: no line starts with '$ '"
            case "python" if block.title is None:
                assert ">>>" in block.text, f"{block.place}: not a session, so no test runs it"
                assert "+SKIP" not in block.text, f"{block.place}: a line that is never run"
            case "python":
                compile(block.text, block.place, "exec")
            case "ptx":
                ptxkit.parse(block.text)
            case "json":
                json.loads(block.text)
            case "toml":
                if sys.version_info >= (3, 11):
                    import tomllib

                    tomllib.loads(block.text)
            case "cuda":
                assert block.title, f"{block.place}: CUDA C++ that is no file, so nothing reads it"
            case language:
                counted[language] += 1
                assert language in UNTESTED, f"{block.place}: nothing runs a block of '{language}'"
    for language, expected in UNTESTED.items():
        assert expected is None or counted[language] == expected


def test_blocks_that_are_not_run_are_counted() -> None:
    assert dict(Counter(block.reason for block in all_blocks() if block.reason)) == NOT_RUN


def test_a_broken_example_fails(tmp_path: Path) -> None:
    """The runner itself: outputs, exit codes, files and marks."""
    page = tmp_path / "page.md"
    page.write_text(
        '```ptx title="k.ptx"\n.version 8.0\n```\n'
        "```console\n$ cat k.ptx\n.version 8...\n$ cat k.ptx\n.version 9.0\n"
        "$ ptxkit check missing.ptx   # exit code 2\n$ false\n$ echo a \\\n> b\na b\n```\n"
        "```console\n# needs a GPU: not run by the tests\n$ false\n```\n"
    )
    terminal = Terminal(tmp_path, ROOT)
    file, shell, marked = blocks(page)
    terminal.write(file)
    right, other_output, refused, failing, joined = list(commands(shell))
    assert terminal.run(right) is None
    assert ".version 8.0" in (terminal.run(other_output) or "")
    assert terminal.run(refused) is None
    assert (terminal.run(failing) or "").startswith("ended with 1, not 0")
    assert joined == Command("echo a \\\nb", "a b", 0)
    assert terminal.run(joined) is None
    assert marked.reason == "needs a GPU"
