"""The process in which work is done: tasks come in through standard input, panes go out.

Started by :mod:`ptxkit.app.jobs` as ``python -m ptxkit.app.worker``. It has a limit of memory, and
whoever started it ends it when its time is over.
"""

from __future__ import annotations

import importlib
import os
import resource
import warnings
from multiprocessing.connection import Connection
from typing import Any

#: Names of tasks, and where they are: generators of (pane, content).
TASKS = {
    "unpack": "ptxkit.app.inputs:unpack",
    "explore": "ptxkit.app.explore:explore",
    "machine": "ptxkit.app.explore:machine",
    "decompiled": "ptxkit.app.explore:decompiled",
    "compare": "ptxkit.app.compare:compare",
    "decompile": "ptxkit.app.decompile:candidates",
    "prepare": "ptxkit.app.launch:prepare",
    "run": "ptxkit.app.launch:run",
    "stack": "ptxkit.app.generate:stack_program",
    "vary": "ptxkit.app.generate:vary",
    "inject": "ptxkit.app.generate:inject_stub",
    "sources": "ptxkit.app.generate:offered",
    "sample": "ptxkit.app.generate:dataset_sample",
}
#: What most tasks need: loaded before there is anything to do.
_EARLY = (
    "ptxkit.app.explore",
    "ptxkit.lsp",
    "ptxkit.transpiler",
    "ptxkit.decompiler",
    "ptxkit.toolchain.disassembler",
    "ptxkit.run.simulator",
)


def main() -> None:
    """Serve tasks until standard input ends."""
    from ptxkit.app.limits import MOST_MEMORY

    requests = Connection(os.dup(0), writable=False)
    answers = Connection(os.dup(1), readable=False)
    # What a simulated kernel prints must not get between the answers.
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    for name in _EARLY:
        importlib.import_module(name)
    answers.send(("ready", None))
    while True:
        try:
            task, arguments = requests.recv()
        except EOFError:
            return
        _perform(task, arguments, answers)


def _perform(task: str, arguments: dict[str, Any], answers: Connection) -> None:
    from ptxkit.errors import PtxkitError

    module, _, name = TASKS[task].partition(":")
    try:
        for pane, content in getattr(importlib.import_module(module), name)(**arguments):
            answers.send(("pane", (pane, content)))
    except PtxkitError as error:
        answers.send(("refused", str(error)))
    except (MemoryError, RecursionError) as error:
        what = "memory" if isinstance(error, MemoryError) else "nesting"
        answers.send(("refused", f"this needs more {what} than the page allows"))
    except Exception as error:  # reported on the page as what it is: a fault of ours
        answers.send(("failed", f"{type(error).__name__}: {error}"))
    else:
        answers.send(("done", None))


if __name__ == "__main__":
    main()
