"""What a launch is asked to watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ptxkit.run.arguments import coordinates
from ptxkit.run.shape import LaunchError, is_whole
from ptxkit.syntax import Instruction

Sanitize = Literal[False, True, "report"]

#: Bytes between shared variables while sanitizing: as many as the banks take, so that every
#: variable stays in the banks it was in.
_PADDING = 128


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """Which thread to trace, and how much of it to keep."""

    thread: tuple[int, int, int] = (0, 0, 0)
    block: tuple[int, int, int] = (0, 0, 0)
    limit: int = 100_000
    last: bool = False

    @classmethod
    def of(cls, thread: Any, block: Any, *, limit: int, last: bool) -> TraceRequest:
        """A request with coordinates as people write them: numbers or tuples."""
        if not is_whole(limit, 1):
            raise LaunchError(
                f"limit={limit!r}: it must be a whole number from 1: what to keep at most"
            )
        return cls(
            coordinates(thread, "thread"), coordinates(block, "block"), int(limit), bool(last)
        )

    def check(self, grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
        """Refuse a thread that a launch does not have."""
        for what, place, shape in (("thread", self.thread, block), ("block", self.block, grid)):
            if any(one >= size for one, size in zip(place, shape, strict=True)):
                raise LaunchError(f"there is no {what} {place} in a launch with {shape}")


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a kernel, and registers to sum up whenever threads come there.

    Two places of two kernels have the same sums where the same threads come there, having written
    to the same memory, with the same numbers in those registers.
    """

    instruction: Instruction
    after: bool
    """Whether it is behind the instruction, not before it."""
    registers: tuple[tuple[int, str], ...]
    """The number of the node that declares each, and its name."""
    tuples: bool = False
    """Whether to keep what they hold together, for each thread."""
    running: bool = False
    """Whether only threads count for which the guard of the instruction holds."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The sums at a :class:`Point`."""

    visits: int
    """Over all threads that came there: which, and what they had written to memory until then."""
    values: tuple[tuple[int, int], ...]
    """For each register the sum of its values, and 64 bits: the more are set, the more values."""
    tuples: frozenset[int] = frozenset()
    """A number for each thread and all that its registers held together, if that was asked for."""
    full: bool = False
    """Whether there were more of these than are kept."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The options of a launch that say what to watch; false where there is nothing.

    >>> bool(Watch()), bool(Watch(profile=True))
    (False, True)
    """

    sanitize: Sanitize = False
    findings_limit: int = 100
    profile: bool = False
    trace: TraceRequest | None = None
    points: tuple[Point, ...] = ()
    conflicts: bool = False

    def __bool__(self) -> bool:
        return bool(
            self.sanitize or self.profile or self.trace is not None or self.points or self.conflicts
        )

    @property
    def padding(self) -> int:
        """Bytes to leave after each shared variable."""
        return _PADDING if self.sanitize and not self.profile else 0
