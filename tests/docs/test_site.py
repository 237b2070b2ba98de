"""The site builds without a warning, and needs nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocstrings", reason="needs pip install 'ptxkit[docs]'")
pytest.importorskip("material", reason="needs pip install 'ptxkit[docs]'")

ROOT = Path(__file__).parents[2]
_FETCHED = re.compile(
    r"""<(?:script|img|iframe)[^>]+src=["']?(https?:)?//|<link[^>]+rel=["']?stylesheet[^>]+//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site")
    # Not --quiet: it swallows the warnings that --strict counts.
    command = ["-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    ended = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


def test_it_builds_strictly(site: Path) -> None:
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")}
    assert {"index.html", "quickstart.html", "isa.html", "scale.html", "peers.html"} <= pages


def test_the_reference_holds_the_interfaces(site: Path) -> None:
    for page, name in {
        "syntax": "ptxkit.syntax.parse",
        "run": "ptxkit.run.load",
        "toolchain": "ptxkit.toolchain.compile_cuda",
        "decompiler": "ptxkit.decompiler.decompile",
        "inject": "ptxkit.inject.Template",
    }.items():
        assert f'id="{name}"' in (site / "reference" / f"{page}.html").read_text(), name


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not _FETCHED.search(page.read_text()), page.name
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", style.read_text()), style.name
