"""Whole kernels as people write them, each with what numpy says it must give.

The same cases run on the simulator (``make test``) and on a GPU (``make test-gpu``), where
the simulator's memory must equal the GPU's.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tests.run.kernels.case import Case

#: The files of this folder that hold a SOURCE and its CASES.
TOPICS = tuple(
    sorted(
        path.stem
        for path in Path(__file__).parent.glob("*.py")
        if path.stem not in ("__init__", "case")
    )
)


def all_cases() -> tuple[tuple[str, Case], ...]:
    """Every case with its topic."""
    return tuple(
        (topic, case)
        for topic in TOPICS
        for case in import_module(f"tests.run.kernels.{topic}").CASES
    )


def source(topic: str) -> str:
    """The CUDA C++ of a topic."""
    text: str = import_module(f"tests.run.kernels.{topic}").SOURCE
    return text
