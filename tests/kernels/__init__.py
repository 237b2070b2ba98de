"""Kernels as people write them, by theme, each with a numpy reference and several launches.

>>> len(suite()) >= 80
True
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from tests.kernels.kernel import ARCHITECTURES, Kernel, Setup

#: The files of this folder that hold KERNELS.
THEMES = tuple(
    sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in ("__init__", "__main__", "kernel") and not path.stem.startswith("test_")
    )
)


@cache
def suite() -> tuple[Kernel, ...]:
    """Every kernel, with its theme."""
    return tuple(
        replace(kernel, theme=theme)
        for theme in THEMES
        for kernel in import_module(f"tests.kernels.{theme}").KERNELS
    )


__all__ = ["ARCHITECTURES", "THEMES", "Kernel", "Setup", "suite"]
