"""Waiting for an mbarrier: test it again and again until its phase is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptxkit.dsl.control import GivenLabel, opposite
from ptxkit.dsl.loops import repeat


def wait(
    test: Any,
    flag: Any,
    *operands: Any,
    top: GivenLabel = None,
    after: GivenLabel = None,
    leaves: bool = False,
    uniform: bool | None = None,
    back: bool | None = None,
    spaced: Mapping[int, str] | None = None,
) -> None:
    """Repeat an instruction that sets a predicate until it holds.

    ``ptx.wait(ptx.mbarrier.try_wait.parity.shared__cta.b64, done, addr(bar), phase)`` is
    ``top: mbarrier.try_wait ... done, [bar], phase; @!done bra top;``. With ``leaves`` the way
    out is a branch: ``@done bra after; bra top; after:``. ``uniform`` is for the guarded branch,
    ``back`` for the other, ``spaced`` for the white space of the test.
    """
    with repeat(top, after) as loop:
        statement = test(flag, *operands)
        if spaced is not None:
            statement.spaced(spaced)
        if leaves:
            loop.break_(flag, uniform)
            loop.continue_(None, back)
        else:
            loop.continue_(opposite(flag), uniform)
