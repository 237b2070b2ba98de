"""How far a run is: a bar where somebody watches, a line now and then in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[int, int], None]

_SECONDS_BETWEEN_LINES = 10.0
_WAITING = "compiling the {} batch"


@contextmanager
def shown(
    what: str,
    count: int | None,
    console: Any = None,
    *,
    waiting: str = _WAITING,
    stays: bool = True,
) -> Iterator[Report]:
    """Tell on standard error what a run does; gives a function of what is done and of all.

    ``waiting`` is what it does until the first (or next) piece is done. A bar ``stays`` where it is
    at the end, or not.
    """
    from rich.console import Console

    console = console or Console(stderr=True)
    way = (
        _bar(what, count, console, waiting, stays)
        if console.is_terminal
        else (_lines(what, count, console, waiting))
    )
    with way as report:
        yield report


def state(done: int, total: int, before: int, seconds: float, waiting: str = _WAITING) -> str:
    """What is going on, in a few words; `before` were done when the run began.

    >>> state(0, 100, 0, 3), state(40, 100, 40, 3), state(60, 100, 40, 4), state(100, 100, 0, 9)
    ('compiling the first batch', 'compiling the next batch', '5.0/s', 'writing the files')
    """
    if done >= total:
        return "writing the files"
    if done > before:
        return f"{(done - before) / max(seconds, 1e-9):.1f}/s"
    return waiting.format("next" if done else "first")


@contextmanager
def _bar(what: str, count: int | None, console: Any, waiting: str, stays: bool) -> Iterator[Report]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=not stays) as bar:
        task = bar.add_task(what, total=count, state="starting")
        counted = _counted(waiting)

        def report(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, state=counted(done, total))

        yield report


@contextmanager
def _lines(what: str, count: int | None, console: Any, waiting: str) -> Iterator[Report]:
    start = time.monotonic()
    last = -_SECONDS_BETWEEN_LINES
    counted = _counted(waiting)

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic() - start
        text = counted(done, total)
        if now - last < _SECONDS_BETWEEN_LINES and done < total:
            return
        last = now
        console.print(
            f"{what}: {done:,} of {total:,}, {text}, {now:.0f} s",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip

    yield report


def _counted(waiting: str) -> Callable[[int, int], str]:
    """`state` with what the first call says and when."""
    first: tuple[int, float] | None = None

    def counted(done: int, total: int) -> str:
        nonlocal first
        now = time.monotonic()
        first = first or (done, now)
        return state(done, total, first[0], now - first[1], waiting)

    return counted
