"""Programs that run on a GPU and on the simulator: what memory and other threads make of them.

A program reads an array of 64-bit words and writes another; ``record.py`` keeps what the GPU
wrote, ``tests/run/test_programs.py`` compares the simulator with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from tests.gpu import (
    call_programs,
    cluster_programs,
    copy_programs,
    memory,
    thread_program,
    warp_programs,
)

from ptxkit.isa.targets import Target, Version

TARGET, VERSION = "sm_90a", "8.8"


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel of two parameters, ``source`` and ``result``, and how it is launched."""

    name: str
    key: str  # what it is recorded under
    text: str
    source: npt.NDArray[np.uint64]
    words: int  # of the result
    grid: int = 1
    block: int = 32
    cluster: int = 1


@lru_cache(maxsize=1)
def programs() -> tuple[Program, ...]:
    """All programs."""
    found: list[Program] = []
    version, target = Version.parse(VERSION), Target.parse(TARGET)
    for case in memory.cases(version, target):
        name = f"m{len(found)}"
        text = memory.kernel(name, case)
        words = memory.result_words(case)
        found.append(Program(name, case.text, text, memory.source(case), words, 1, case.count))
    threads = (
        *warp_programs.programs(), *copy_programs.programs(), *cluster_programs.programs(),
        *call_programs.programs(),
    )  # fmt: skip
    for one in threads:
        name = f"t{len(found)}"
        text = thread_program.kernel(name, one)
        found.append(
            Program(
                name, one.key, text, thread_program.source(one), one.words, one.grid, one.block,
                one.cluster,
            )
        )  # fmt: skip
    return tuple(found)


def module_text(group: tuple[Program, ...]) -> str:
    """A module with the kernels of several programs."""
    head = f".version {VERSION}\n.target {TARGET}\n.address_size 64\n"
    return head + "".join(one.text for one in group)
