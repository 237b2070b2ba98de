"""The options of a launch on the simulator, checked before anything runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

import numpy as np

from ptxkit.errors import shown
from ptxkit.run.shape import LaunchError, is_whole
from ptxkit.run.watch import Point, Sanitize, TraceRequest, Watch

#: Bytes of a thread's call stack, and the most of local memory that a GPU gives to a thread.
DEFAULT_STACK, MOST_STACK = 16 << 10, 512 << 10


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What ``k[grid, block](*args, ...)`` takes by name."""

    threads: int | None = None
    step_limit: int = 0
    time_limit: float = 0
    stack_bytes: int = DEFAULT_STACK
    descending: bool = False
    count: bool = False
    memory: Sequence[np.ndarray[Any, Any]] = ()
    sanitize: Sanitize = False
    findings_limit: int = 100
    profile: bool = False
    trace: TraceRequest | None = None
    points: tuple[Point, ...] = ()
    conflicts: bool = False

    @classmethod
    def of(cls, kernel: str, options: dict[str, Any]) -> RunOptions:
        """Read the options of a launch; refuse those that are none, or make no sense.

        >>> RunOptions.of("k", {"step_limit": 5}).step_limit
        5
        >>> RunOptions.of("k", {"step_limits": 5})
        Traceback (most recent call last):
        ptxkit.run.shape.LaunchError: a launch of 'k' has no option 'step_limits'; \
did you mean 'step_limit'? There are: threads, ...
        >>> RunOptions.of("k", {"threads": -1})
        Traceback (most recent call last):
        ptxkit.run.shape.LaunchError: threads=-1: it must be a whole number from 1 to 65,535, ...
        """
        names = [field.name for field in fields(cls)]
        for name, value in options.items():
            if name not in names:
                close = get_close_matches(name, names, 1)
                meant = f"did you mean '{close[0]}'? " if close else ""
                raise LaunchError(
                    f"a launch of '{kernel}' has no option '{name}'; {meant}"
                    f"There are: {', '.join(names)}"
                )
            fits, wanted = _RULES[name]
            if not fits(value):
                raise LaunchError(f"{name}={shown(value)}: it must be {wanted}")
        return cls(
            **{
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in options.items()
            }
        )

    @property
    def watch(self) -> Watch:
        """What of it is watching."""
        return Watch(
            self.sanitize,
            self.findings_limit,
            self.profile,
            self.trace,
            self.points,
            self.conflicts,
        )


def _is_seconds(value: Any) -> bool:
    number = isinstance(value, (int, float, np.integer, np.floating))
    # Not math.isfinite: an int may be larger than any float.
    plain = value.item() if isinstance(value, np.generic) else value
    return number and not isinstance(plain, bool) and 0 <= plain <= sys.float_info.max


def _is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


#: For every option: what it may be, as a test and in words.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "threads": (
        lambda value: value is None or is_whole(value, 1, 65535),
        "a whole number from 1 to 65,535, or None for one on every core",
    ),
    "step_limit": (
        lambda value: is_whole(value, 0, 2**63 - 1),
        "the warp instructions that a block may take, a whole number; 0 for no limit",
    ),
    "time_limit": (_is_seconds, "seconds, such as 2.5; 0 for no limit"),
    "stack_bytes": (
        lambda value: is_whole(value, 0, MOST_STACK),
        f"bytes for the calls of a thread, a whole number from 0 to {MOST_STACK:,}",
    ),
    "descending": (_is_flag, "True or False"),
    "count": (_is_flag, "True or False"),
    "memory": (
        lambda value: isinstance(value, (list, tuple)),
        "a list of numpy arrays, such as memory=[x]",
    ),
    "sanitize": (
        lambda value: _is_flag(value) or (isinstance(value, str) and value == "report"),
        "False, True or 'report'",
    ),
    "findings_limit": (
        lambda value: is_whole(value, 1, 2**31 - 1),
        "a whole number from 1: the findings to keep at most",
    ),
    "profile": (_is_flag, "True or False"),
    "conflicts": (_is_flag, "True or False"),
    "points": (
        lambda value: isinstance(value, tuple) and all(isinstance(p, Point) for p in value),
        "a tuple of Point",
    ),
    "trace": (
        lambda value: value is None or isinstance(value, TraceRequest),
        "what k.trace(thread=...) makes; write k.trace(thread=(0, 0, 0))[grid, block](...)",
    ),
}
