"""Shards in processes of this machine, each process with a bounded life."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import multiprocessing
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from ptxkit.errors import PtxkitError
from ptxkit.synth import shards, storage
from ptxkit.synth.plan import SHARDS, Plan
from ptxkit.synth.source import find

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


class WorkerError(PtxkitError):
    """A worker process ended without finishing its shard."""


def run(
    plan: Plan, folder: Path, missing: list[int], workers: int, done: Callable[[int], None]
) -> None:
    """Make the missing shards; calls `done` with the number of each one."""
    context = multiprocessing.get_context("spawn")
    life = find(plan.source).life // plan.shard_size
    lists = _portions(missing, max(1, min(life, -(-len(missing) // workers))))
    workspace = _workspace(folder)
    running: dict[Any, tuple[Any, Connection]] = {}
    try:
        while True:
            while len(running) < workers:
                portion = next(lists, None)
                if portion is None:
                    break
                ours, theirs = context.Pipe(duplex=False)
                # A daemon: it ends with us, however we end.
                process = context.Process(
                    target=_work,
                    args=(plan, folder, portion, workspace, theirs, os.getpid()),
                    daemon=True,
                )
                process.start()
                theirs.close()
                running[ours] = (process, ours)
            if not running:
                return
            for ready in wait(list(running)):
                process, pipe = running[ready]
                try:
                    message = pipe.recv()
                except EOFError:
                    process.join()
                    del running[ready]
                    if process.exitcode:
                        raise WorkerError(_explain(process.exitcode)) from None
                    continue
                if isinstance(message, BaseException):
                    raise message
                done(message)
    finally:
        for process, _ in running.values():
            process.terminate()
            process.join()
        shutil.rmtree(workspace, ignore_errors=True)


def _workspace(folder: Path) -> Path:
    """A folder for what compilers write on the way; those of runs that were killed go."""
    for old in (folder / SHARDS).glob(".work-*"):
        shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=".work-", dir=folder / SHARDS))


def _end_with(parent: int) -> None:
    """Be killed when the parent ends, however it does: its folder may be another run's then."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def _portions(numbers: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


def _explain(code: int) -> str:
    how = f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with code {code}"
    return f"a worker process {how}; complete shards are kept: run the same command again to go on"


def _work(
    plan: Plan,
    folder: Path,
    portion: list[int],
    workspace: Path,
    pipe: Connection,
    parent: int,
) -> None:
    """A worker: makes its shards one after another."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    _end_with(parent)
    storage.keep_temporary_files_in(workspace)
    try:
        for number in portion:
            shards.commit(folder, number, shards.build(plan, number, workspace))
            pipe.send(number)
            if number == portion[0]:
                # Everything is loaded by now, and stays: the collector need not walk it again.
                gc.collect()
                gc.freeze()
    except storage.StorageError as error:
        pipe.send(error)
    except PtxkitError as error:
        pipe.send(WorkerError(str(error)))
    except BrokenPipeError:
        return  # the parent was killed; what is complete counts when it comes back
    finally:
        pipe.close()
