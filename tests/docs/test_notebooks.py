"""The notebooks run from the first cell to the last, and are stored without outputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

nbformat = pytest.importorskip("nbformat")
client = pytest.importorskip("nbclient")


def name(notebook: Path) -> str:
    return notebook.stem


def test_all_six_are_there() -> None:
    assert [notebook.stem[:2] for notebook in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name)
def test_a_notebook_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    # Keys and histories of Jupyter go nowhere else.
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    read = nbformat.read(notebook, as_version=4)
    where = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(read, timeout=240, kernel_name="python3", resources=where).execute()
    assert any(cell.get("outputs") for cell in read.cells), "it shows nothing"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=name)
def test_a_notebook_is_stored_clean(notebook: Path) -> None:
    read = nbformat.read(notebook, as_version=4)
    nbformat.validate(read)
    cells = [cell for cell in read.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)
    # A person learns from it: what is done is said.
    assert sum(cell.cell_type == "markdown" for cell in read.cells) >= len(cells) / 3
