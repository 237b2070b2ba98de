"""How long work on a function may take.

One budget goes through all that is done for a function. Steps have limits of their own, which count
what they do, so that they end alike on every machine; the budget is the fence behind these. A step
asks it again and again, and ends with what it has.
"""

from __future__ import annotations

import os
import time
from math import inf

from ptxkit.toolchain import aside, process

#: Seconds of computing for one function, where nobody says otherwise.
SECONDS = 60.0
#: No more seconds of computing go by in one of a clock.
_AT_ONCE = (os.cpu_count() or 1) + 1


def _computed() -> float:
    """How long this process has computed, and compilers for it in others."""
    return time.process_time() + aside.seconds() + process.seconds()


class OverdueError(Exception):
    """The time is over; no error to a user, but for whoever has started the work."""


class Budget:
    """Seconds of computing from now on: not those of a clock, which other programs take part in.

    >>> budget = Budget(3600)
    >>> budget.over, Budget(0).over, budget.left > 3000
    (False, True, True)
    >>> Budget(0).check()
    Traceback (most recent call last):
    ptxkit.decompiler.budget.OverdueError: stopped after 0 seconds of computing
    """

    def __init__(self, seconds: float = inf) -> None:
        self.seconds = seconds
        self._said = seconds
        """The seconds that are over when these are: of the whole, or of a step."""
        self._end = _computed() + seconds
        self._sure = 0.0
        """Until then on a clock it cannot be over: to ask how long one has computed takes long."""

    def part(self, share: float) -> Budget:
        """A budget for one step: so much of the whole, and no more than is left.

        >>> Budget(60).part(0.25).seconds, round(Budget(60).part(1.5).seconds)
        (15.0, 60)
        """
        if self.seconds == inf:
            return self
        made = Budget(min(share * self.seconds, self.left))
        if made.seconds >= 0.99 * self.left:  # the whole is over then, too
            made._said = self._said
        return made

    @property
    def left(self) -> float:
        """Seconds that are left; none are less than 0."""
        return max(0.0, self._end - _computed())

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        now = time.perf_counter()
        if now < self._sure:
            return False
        left = self._end - _computed()
        self._sure = now + left / _AT_ONCE
        return left <= 0

    @property
    def reason(self) -> str:
        """What to say of work that it has ended."""
        return f"stopped after {round(self._said, 1):g} seconds of computing"

    def check(self) -> None:
        """Raise where nothing is left."""
        if self.over:
            raise OverdueError(self.reason)


#: For who may take as long as it takes.
UNLIMITED = Budget()
