"""Work in processes that can be ended: a piece of it that takes too long stops nothing else.

>>> from math import factorial
>>> list(limited(factorial, [3, 4], workers=1, seconds=60))
[6, 24]
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

_GOES_ON = object()
#: How many times as long as it may compute a piece of work may take by the clock: other programs
#: take part in that, and one that only waits computes nothing.
_BY_THE_CLOCK = 10


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What there is instead of a result: why the work was not done."""

    reason: str
    seconds: float
    overdue: bool = False
    """Whether it took too long; otherwise its process died."""


class _Worker:
    """A process, and the piece of work that it has."""

    def __init__(self, function: Callable[[Any], Any], seconds: float | None) -> None:
        # A fork of a process that has started CUDA, as the neural engine does, cannot use it.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # A daemon: it ends with us, however we end.
        self.process = context.Process(target=_serve, args=(function, theirs, seconds), daemon=True)
        self.process.start()
        theirs.close()
        self.number = -1
        self.since = 0.0
        self.ready = False
        """Whether it has said that it is there: starting is not part of the time."""

    def give(self, number: int, work: Any) -> None:
        self.number, self.since = number, time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # noticed as an end when it is asked
            self.pipe.send(work)

    def age(self) -> float:
        return time.monotonic() - self.since

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def limited(
    function: Callable[[Any], Any],
    works: Sequence[Any],
    *,
    workers: int = 1,
    seconds: float | None = None,
) -> Iterator[Any]:
    """The results of a function, in the order of its arguments, each as soon as it may come.

    A call that computes for more seconds than that is ended with its process, and gives
    `Unfinished`; so does one that takes ten times as long by the clock, and one whose process
    died. An exception of the function is raised here.
    """
    running: list[_Worker] = []
    found: dict[int, Any] = {}
    pending = iter(enumerate(works))
    given = 0
    try:
        for place in range(len(works)):
            while place not in found:
                while len(running) < min(workers, len(works) - given + len(running)):
                    worker = _Worker(function, seconds)
                    running.append(worker)
                    worker.give(*next(pending))
                    given += 1
                for worker in _answering(running, seconds):
                    outcome = _outcome(worker, seconds)
                    if outcome is _GOES_ON:
                        continue
                    found[worker.number] = outcome
                    if isinstance(outcome, Unfinished) or given == len(works):
                        running.remove(worker)
                        worker.end()
                    else:
                        worker.give(*next(pending))
                        given += 1
            yield found.pop(place)
    finally:
        for worker in running:
            worker.end()


def _answering(running: Sequence[_Worker], seconds: float | None) -> list[_Worker]:
    """The workers that have something to say, or must be told that their time is over."""
    fence = None if seconds is None else _BY_THE_CLOCK * seconds
    left = None
    if fence is not None:
        left = max(0.0, min((fence - w.age() for w in running if w.ready), default=1.0))
    by_pipe = {worker.pipe: worker for worker in running}
    ready = [by_pipe[pipe] for pipe in wait(list(by_pipe), left)]  # type: ignore[index]
    late = [w for w in running if fence is not None and w.ready and w.age() > fence]
    return list(dict.fromkeys((*ready, *late)))


def _outcome(worker: _Worker, seconds: float | None) -> Any:
    """What became of a worker's piece of work, if it is over."""
    kind: str = "overdue"
    content: Any = None
    if worker.pipe.poll():
        try:
            kind, content = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            if worker.process.exitcode != -signal.SIGPROF:
                return Unfinished(_explain(worker.process.exitcode), worker.age())
    if kind == "overdue":
        reason = f"it took longer than {seconds:g} seconds, and was ended"
        return Unfinished(reason, worker.age(), overdue=True)
    if kind == "ready":
        worker.ready, worker.since = True, time.monotonic()
        return _GOES_ON
    if kind == "failed":
        raise content
    return content


def _explain(code: int | None) -> str:
    if code is not None and code < 0:
        return f"its process was killed ({signal.Signals(-code).name})"
    return f"its process ended with code {code}"


def _serve(function: Callable[[Any], Any], pipe: Connection, seconds: float | None) -> None:
    """A worker: calls the function with what comes in, until nothing does.

    The system ends it where a call has computed for so many seconds, wherever it is.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    with contextlib.suppress(EOFError, BrokenPipeError):
        pipe.send(("ready", None))
        while True:
            work = pipe.recv()
            signal.setitimer(signal.ITIMER_PROF, seconds or 0.0)
            try:
                answer = "done", function(work)
            except Exception as error:
                answer = "failed", error
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            pipe.send(answer)
