"""The suite must notice a broken parser: break it on purpose, and see the check fail.

The judge is ``helpers.tree_check``, which shares no code with the parser. Each mutant is
the real source with one change, compiled without optimisation and run over the seeds of
the fuzzer.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ptxkit
from helpers.mutants import MUTANTS, Mutant
from helpers.tree_check import GRAMMAR, Node, TreeError, check_tree, nodes_of, tokenize
from ptxkit import _native

ROOT = Path(__file__).parents[2]
SYNTAX = ROOT / "native" / "syntax"
DUMP = ROOT / "tests" / "helpers" / "dump_tree.cpp"
COMPILER = os.environ.get("CXX", "g++")


def compile_source(source: Path, output: Path, include: Path) -> None:
    command = [COMPILER, "-std=c++20", "-O0", f"-I{include}", "-c", str(source), "-o", str(output)]
    subprocess.run(command, check=True)


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unbroken parser, compiled once, also where several processes run the suite."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder /= "parser_objects"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            for source in [*SYNTAX.glob("*.cpp"), DUMP]:
                compile_source(source, folder / f"{source.stem}.o", ROOT / "native")
            (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Small files that use the whole grammar; all of them are PTX."""
    folder = tmp_path_factory.mktemp("seeds")
    subprocess.run([sys.executable, ROOT / "fuzz" / "seeds.py", folder], check=True)
    return sorted(path for path in folder.iterdir() if path.stem != "broken")


def read_dump(output: str) -> Iterator[tuple[Path, int, bool, list[Node]]]:
    for part in output.split("file ")[1:]:
        head, *lines = part.splitlines()
        name, diagnostics, same = head.rsplit(" ", 2)
        rows = [line.split() for line in lines]
        nodes = [Node(kind, *map(int, numbers)) for kind, *numbers in rows]
        yield Path(name), int(diagnostics), same == "1", nodes


def verdict(program: Path, seeds: list[Path]) -> str:
    """What is wrong with a parser; "" where nothing is."""
    try:
        run = subprocess.run([program, *seeds], capture_output=True, text=True, timeout=30)
    except subprocess.TimeoutExpired:
        return "it does not come to an end"
    if run.returncode != 0:
        return f"it ends with status {run.returncode}"
    for path, diagnostics, same, nodes in read_dump(run.stdout):
        text = path.read_bytes()
        if diagnostics:
            return f"it refuses {path.name}"
        try:
            check_tree(text, nodes)
        except TreeError as error:
            return f"{path.name}: {error}"
        if not same:
            return f"it does not give {path.name} back"
    return ""


def link(objects: Path, folder: Path, replaced: str = "") -> Path:
    program = folder / "dump"
    parts = [path for path in objects.glob("*.o") if path.stem != replaced]
    subprocess.run([COMPILER, "-o", program, *parts, *folder.glob("*.o")], check=True)
    return program


def test_the_parser_as_it_is_passes(objects: Path, seeds: list[Path], tmp_path: Path) -> None:
    assert verdict(link(objects, tmp_path), seeds) == ""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "-"))
def test_a_broken_parser_is_noticed(
    mutant: Mutant, objects: Path, seeds: list[Path], tmp_path: Path
) -> None:
    shutil.copytree(SYNTAX, tmp_path / "syntax")
    source = tmp_path / "syntax" / mutant.file
    text = source.read_text()
    assert mutant.before in text, "the source has changed: bring helpers/mutants.py up to date"
    source.write_text(text.replace(mutant.before, mutant.after, 1))
    compile_source(source, tmp_path / f"{source.stem}.o", tmp_path)
    found = verdict(link(objects, tmp_path, source.stem), seeds)
    print(found)
    assert found != ""


def test_the_seeds_use_every_kind(seeds: list[Path]) -> None:
    used = {view.kind for path in seeds for view in ptxkit.parse(path.read_bytes()).walk()}
    assert used | {"Module", "Error"} == set(_native.node_kinds)
    assert used | {"Module"} == set(GRAMMAR)


def test_python_views_show_the_same_tree(seeds: list[Path]) -> None:
    for path in seeds:
        text = path.read_bytes()
        check_tree(text, nodes_of(ptxkit.parse(text)))


def test_real_modules_pass() -> None:
    """A few files of each source of ``make corpus``, where that was run."""
    corpus = ROOT / ".cache" / "corpus"
    found = [path for path in sorted(corpus.rglob("*.ptx")) if path.stat().st_size < 60_000]
    if not found:
        pytest.skip("no corpus here; 'make corpus' collects one")
    for path in found[:: max(1, len(found) // 12)]:
        text = path.read_bytes()
        check_tree(text, nodes_of(ptxkit.parse(text)))


@pytest.mark.parametrize("change", ["lose", "move", "rename", "widen"])
def test_the_check_itself_notices(change: str) -> None:
    """A right tree with one wrong node is refused."""
    text = b".func f() { add.f32 a, b, 1; }"
    nodes = nodes_of(ptxkit.parse(text))
    check_tree(text, nodes)
    last = nodes[-1]
    wrong = {
        "lose": [node._replace(next=node.next - (node.next == len(nodes))) for node in nodes[:-1]],
        "move": [*nodes[:-1], last._replace(start=last.start - 1, end=last.end - 1)],
        "rename": [*nodes[:-1], last._replace(kind="Float")],
        "widen": [*nodes[:-1], last._replace(end=last.end + 1)],
    }[change]
    with pytest.raises(TreeError):
        check_tree(text, wrong)


def test_tokenizer_knows_comments_and_lines() -> None:
    text = b'# 1\n a /* ; * */ .b32 // c\n 0x1U,2.5<<"; //"\0\0\n'
    assert [token.text for token in tokenize(text)] == [
        "a", ".b32", "0x1U", ",", "2.5", "<<", '"; //"',
    ]  # fmt: skip
