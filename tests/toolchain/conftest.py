"""Every test has a cache of its own."""

import pytest

from ptxkit.toolchain import assembler


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A fresh folder, and nothing in memory."""
    monkeypatch.setenv("PTXKIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PTXKIT_CACHE_SIZE", raising=False)
    assembler._recent.clear()
    return tmp_path / "cache"
