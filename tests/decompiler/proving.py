"""Two bodies of a kernel that may be proved to do the same."""

from __future__ import annotations

import ptxkit
from ptxkit.decompiler.verify.dataflow import same_dataflow

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n, .param .u32 m) {
    .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r2, [m];
"""


def proved(first: str, second: str) -> bool:
    """Whether two bodies of a kernel of two numbers are proved to be equal."""
    a, b = (ptxkit.parse(HEAD + body + "\n}") for body in (first, second))
    return same_dataflow(a, b, "k").equal


def bodies_proved(head: str, first: str, second: str, bounds: str, *, thorough: bool) -> bool:
    """Whether two bodies behind one head, which takes ``bounds``, are proved to be equal."""
    a, b = (ptxkit.parse(head.format(bounds=bounds) + body + "\n}") for body in (first, second))
    return same_dataflow(a, b, "k", thorough=thorough).equal
