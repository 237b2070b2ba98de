"""Work in processes of its own, which can be stopped at any moment.

>>> pool = Pool(spare=1)
>>> task = ("stack", {"program": "x x mul.rn.f32", "inputs": "x:f32", "outputs": "y:f32"})
>>> [pane for pane, _ in pool.stream("me", [task], seconds=60) if pane != "beat"]
['stub', 'picture', 'status']
>>> pool.close()
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

#: Pieces of work that a worker does before another takes its place.
_LIFE = 200
#: Workers that may be busy at a time.
_MOST = 6
#: Seconds between two looks at the clock, and at whether somebody wants it stopped.
_BEAT = 0.2


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """The work is not wanted any more."""

    def __init__(self, newer: bool) -> None:
        super().__init__(newer)
        self.newer = newer
        """Whether newer work took its place; otherwise somebody asked for the end."""


class _Worker:
    def __init__(self, folder: str) -> None:
        # From its own empty folder a compiler finds no files by their short names.
        path = [str(Path(one).absolute()) for one in sys.path if one]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ptxkit.app.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # compilers that it starts end with it
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "2", "PYTHONPATH": os.pathsep.join(path)},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        # These read a message at a time, and nothing of the next one: waiting on them is sound.
        self.requests = Connection(os.dup(self.process.stdin.fileno()), readable=False)
        self.answers = Connection(os.dup(self.process.stdout.fileno()), writable=False)
        self.process.stdin.close()
        self.process.stdout.close()
        self.done = 0

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.requests.close()
        self.answers.close()


class Pool:
    """Workers that wait for tasks, and what is under way for whom."""

    def __init__(self, spare: int = 3, at_once: int | None = None) -> None:
        """So many workers wait; of them ``at_once`` start now, the others with `fill`."""
        self._spare = spare
        self._folder = tempfile.TemporaryDirectory(prefix="ptxkit-app-")
        self._lock = threading.Lock()
        self._busy = threading.BoundedSemaphore(_MOST)
        self._idle: list[_Worker] = []
        self._wanted: dict[str, object] = {}  # owner -> the work that may go on
        self.fill(at_once)

    def fill(self, count: int | None = None) -> None:
        """Start workers until so many wait, as many as there are to be unless told otherwise."""
        with self._lock:
            while len(self._idle) < min(self._spare, self._spare if count is None else count):
                self._idle.append(_Worker(self._folder.name))

    def stop(self, owner: str) -> None:
        """End what is under way for somebody."""
        with self._lock:
            self._wanted.pop(owner, None)

    def stream(
        self, owner: str, tasks: Sequence[tuple[str, dict[str, Any]]], seconds: float
    ) -> Iterator[tuple[str, Any]]:
        """Do tasks at the same time; gives (pane, content) as they come.

        Earlier work of the same owner ends. The pane ``error`` says why a task gave no more;
        `Stopped` is raised where `stop` was called. Pane ``beat`` comes when nothing else does.
        A task that gives the pane ``then`` names more tasks in it, which are begun as soon as
        there is a worker for them. Waiting for one is part of the time.
        """
        token = object()
        with self._lock:
            self._wanted[owner] = token
        end = time.monotonic() + seconds
        running: dict[Any, tuple[_Worker, str]] = {}
        try:
            pending = list(tasks)
            while pending or running:
                # Who holds a worker never stands still for another: answers are read meanwhile,
                # so that the one it holds comes free.
                while pending and (worker := self._turn(0 if running else _BEAT)):
                    task, arguments = pending.pop(0)
                    running[worker.answers] = worker, task
                    with contextlib.suppress(BrokenPipeError):  # noticed below as an end
                        worker.requests.send((task, arguments))
                if self._wanted.get(owner) is not token:
                    raise Stopped(newer=owner in self._wanted)
                if time.monotonic() > end:
                    yield (
                        "error",
                        _overdue([task for _, task in running.values()], pending, seconds),
                    )
                    return
                ready = wait(list(running), _BEAT) if running else []
                if not ready:
                    yield "beat", None
                for answers in ready:
                    worker, task = running[answers]
                    try:
                        kind, content = worker.answers.recv()
                    except (EOFError, OSError):
                        kind, content = "died", None
                    if kind == "pane" and content[0] == "then":
                        pending += content[1]
                    elif kind == "pane":
                        yield content
                    elif kind != "ready":
                        del running[answers]
                        self._give_back(worker, alive=kind != "died")
                        if kind != "done":
                            yield "error", _complaint(kind, content, task)
        finally:
            for worker, _ in running.values():
                self._give_back(worker, alive=False)
            with self._lock:
                if self._wanted.get(owner) is token:
                    del self._wanted[owner]

    def _turn(self, seconds: float) -> _Worker | None:
        """A worker, where one may be busy within so many seconds."""
        if not self._busy.acquire(timeout=seconds):
            return None
        try:
            return self._take()
        except BaseException:
            self._busy.release()
            raise

    def _take(self) -> _Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop(0)
                if worker.process.poll() is None:
                    return worker
                worker.kill()
        return _Worker(self._folder.name)

    def _give_back(self, worker: _Worker, alive: bool) -> None:
        worker.done += 1
        try:
            with self._lock:
                keep = alive and worker.done < _LIFE and len(self._idle) < self._spare
                if keep:
                    self._idle.append(worker)
                elif len(self._idle) < self._spare:
                    self._idle.append(_Worker(self._folder.name))
            if not keep:
                worker.kill()
        finally:
            self._busy.release()

    def close(self) -> None:
        """End all workers."""
        with self._lock:
            self._wanted.clear()
            idle, self._idle = self._idle, []
            self._spare = 0
        for worker in idle:
            worker.kill()
        self._folder.cleanup()


def _overdue(running: list[str], pending: Sequence[tuple[str, Any]], seconds: float) -> str:
    """What is said when the time is over.

    >>> _overdue(["run"], [], 2)
    'run took longer than 2 seconds, and was ended'
    >>> _overdue([], [("explore", {})], 60)
    'explore waited longer than 60 seconds for other work, and was ended; try again later'
    """
    if running:
        return f"{' and '.join(running)} took longer than {seconds:g} seconds, and was ended"
    waiting = " and ".join(task for task, _ in pending)
    return (
        f"{waiting} waited longer than {seconds:g} seconds for other work, and was ended; "
        "try again later"
    )


def _complaint(kind: str, content: Any, task: str) -> str:
    if kind == "refused":
        return str(content)
    if kind == "died":
        return f"the process for '{task}' ended; it may have needed too much memory"
    return f"ptxkit has a fault in '{task}', please report it with the input: {content}"
