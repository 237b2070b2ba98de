"""Two bodies of a kernel that may be proved to do the same."""

from __future__ import annotations

import ptxkit
from ptxkit.decompiler.verify.dataflow import same_dataflow


def bodies_proved(head: str, first: str, second: str, bounds: str, *, thorough: bool) -> bool:
    """Whether two bodies behind one head, which takes ``bounds``, are proved to be equal."""
    a, b = (ptxkit.parse(head.format(bounds=bounds) + body + "\n}") for body in (first, second))
    return same_dataflow(a, b, "k", thorough=thorough).equal
