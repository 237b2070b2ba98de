"""The header of the macro form."""

from __future__ import annotations

from pathlib import Path


def include_dir() -> Path:
    """The folder of ``ptxkit_inject.cuh``, for ``nvcc -I``.

    >>> (include_dir() / "ptxkit_inject.cuh").is_file()
    True
    """
    return Path(__file__).parent / "include"
