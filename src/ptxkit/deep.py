"""Call what nests deeply: text may nest further than Python's own stack goes."""

from __future__ import annotations

import contextvars
import functools
import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: Room for the calls below; a page of it costs nothing until it is used.
_STACK_BYTES = 512 << 20
_CALLS = 200_000
_here = threading.local()
_lock = threading.Lock()
_limits: list[int] = []
"""Python's own number of calls, once for each large stack in use."""


def is_deep() -> bool:
    """Whether the stack here is a large one: there is nothing more to try."""
    return getattr(_here, "deep", False)


def deeply(function: Callable[P, R]) -> Callable[P, R]:
    """A function that is called again, on a large stack, where Python's own was too small.

    >>> def depth(n):
    ...     return n and 1 + depth(n - 1)
    >>> deeply(depth)(20_000)
    20000
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if is_deep():
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        except RecursionError:
            pass
        return _on_large_stack(functools.partial(function, *args, **kwargs))

    return call


def _on_large_stack(function: Callable[[], R]) -> R:
    results: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        _here.deep = True
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    # The size of a stack and the number of calls are of the process, not of a thread.
    with _lock:
        _limits.append(_limits[-1] if _limits else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_CALLS, _limits[-1]))
        size = threading.stack_size(_STACK_BYTES)
        try:
            thread = threading.Thread(target=contextvars.copy_context().run, args=(run,))
            thread.start()
        finally:
            threading.stack_size(size)
    try:
        thread.join()
    finally:
        with _lock:
            limit = _limits.pop()
            if not _limits:
                sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return results[0]
