"""Everything over the open corpus: ``make corpus`` builds it, ``make test-corpus`` runs this."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import ptxkit

CORPUS = Path(__file__).parents[2] / ".cache" / "corpus"
MANIFEST = CORPUS / "manifest.json"


def _files() -> list[Path]:
    return sorted(CORPUS.rglob("*.ptx"))


def _accepted() -> set[str]:
    if not MANIFEST.exists():
        return set()
    entries = json.loads(MANIFEST.read_text())["files"]
    return {entry["path"] for entry in entries if entry.get("ptxas") is not False}


FILES = _files()
ACCEPTED = _accepted()
IDS = [str(path.relative_to(CORPUS)) for path in FILES]


def test_the_corpus_is_there() -> None:
    assert FILES, "the corpus is empty: run 'make corpus' first"


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_round_trip(path: Path) -> None:
    data = path.read_bytes()
    module = ptxkit.parse(data, filename=path.name)
    assert module.emit_bytes() == data
    assert not len(module.find("Error"))


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_edits_change_only_their_bytes(path: Path) -> None:
    """Sampled nodes: replaced by another text of their kind, nothing else moves."""
    data = path.read_bytes()
    module = ptxkit.parse(data, filename=path.name)
    generator = random.Random(path.name)
    leaves = [
        n for kind in ("Name", "Integer", "Float", "Opcode") for n in module.find(kind)[:5000]
    ]
    kinds = [node.kind for node in module.walk()] if len(data) < 200_000 else None
    for node in generator.sample(leaves, min(len(leaves), 20 if kinds is None else 8)):
        text = {"Name": "%edited_name", "Integer": "77", "Float": "0f40490FDB"}.get(
            node.kind, "edited.u32"
        )
        if node.kind == "Name" and node.selector_length:
            continue
        if node.kind == "Opcode" and node.text.startswith("call"):
            text = "call.uni"  # only a call may have lists in parentheses
        editor = module.edit()
        editor.replace(node, text)
        start, end = node.span
        if kinds is None:
            assert editor.preview() == data[:start] + text.encode() + data[end:]
            continue
        edited = editor.apply()
        assert edited.emit_bytes() == data[:start] + text.encode() + data[end:]
        assert [one.kind for one in edited.walk()] == kinds
        assert edited.walk()[node.index - 1].text == text


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_check_finds_no_error(path: Path) -> None:
    relative = str(path.relative_to(CORPUS))
    if ACCEPTED and relative not in ACCEPTED:
        pytest.skip("ptxas does not take this file")
    found = ptxkit.check(ptxkit.parse(path.read_bytes(), filename=path.name))
    errors = [one.render() for one in found if one.severity == "error"]
    assert not errors, "\n".join(errors[:5])


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_format_keeps_tokens_and_is_idempotent(path: Path) -> None:
    module = ptxkit.parse(path.read_bytes(), filename=path.name)
    text = ptxkit.format(module)
    assert ptxkit.format(text) == text
    again = ptxkit.parse(text)
    assert [i.opcode for i in again.instructions] == [i.opcode for i in module.instructions]


LARGEST = 1 << 20
SMALL = [path for path in FILES if path.stat().st_size <= LARGEST]


@pytest.mark.parametrize("sugar", [False, True], ids=["plain", "sugar"])
@pytest.mark.parametrize("path", SMALL, ids=[str(path.relative_to(CORPUS)) for path in SMALL])
def test_python_and_back(path: Path, sugar: bool) -> None:
    """The Python of a file gives its bytes; what is larger takes too long for all."""
    from ptxkit.transpiler.verify import run_python, to_bytes

    data = path.read_bytes()
    python = ptxkit.to_python(ptxkit.parse(data, filename=path.name), sugar=sugar)
    assert to_bytes(run_python(python).ptx()) == data
