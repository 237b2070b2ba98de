"""Memory that nobody changes, as the original says: it is the same at any time."""

from __future__ import annotations

import ptxkit
from ptxkit.decompiler.verify import same_dataflow

_KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n) {{
    .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, 0;
    {first}
L:  mul.wide.s32 %d3, %r2, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    {loaded}
    st.global.u32 [%d5], %r3;
    {again}
    st.global.u32 [%d5+4], %r4;
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p1, %r2, %r1;
    @%p1 bra L;
    ret;
}}"""

_LOAD = "ld.global.nc.u32 %r3, [%d4];"


def _proved(first: dict[str, str], second: dict[str, str]) -> bool:
    nothing = {"first": "", "loaded": _LOAD, "again": ""}
    a, b = (ptxkit.parse(_KERNEL.format(**nothing | one)) for one in (first, second))
    return same_dataflow(a, b, "k", thorough=True).equal


def _again(kind: str = "ld.global.nc", place: str = "%d4") -> dict[str, str]:
    """What is loaded behind a store; by a kind of load, from a place."""
    return {"again": f"{kind}.u32 %r4, [{place}];"}


_KEPT = {"again": "mov.u32 %r4, %r3;"}


def test_what_nobody_changes_is_loaded_again_behind_a_store() -> None:
    assert _proved(_again(), _KEPT)
    assert _proved(_KEPT, _again())
    # In a loop that leaves the pointer alone, one load before it does.
    kept = {"first": "ld.global.nc.u32 %r3, [%d1];", "loaded": ""} | _KEPT
    assert _proved(kept | _again(place="%d1"), kept)
    # But not from another place, nor what anybody may change.
    assert not _proved(_again(place="%d4+4"), _KEPT)
    for kind in ("ld.global", "ld.global.volatile"):
        assert not _proved(_again(kind), _KEPT)
        assert not _proved(_KEPT, _again(kind))


def test_a_promise_holds_only_where_the_original_keeps_to_it() -> None:
    """A pointer through which it writes as well, or reads otherwise, promises nothing."""
    plain = {"first": "ld.global.u32 %r5, [%d1]; st.global.u32 [%d2], %r5;"}
    stores = {"first": "st.global.u32 [%d1], 7;"}
    through = _again(place="%d5")  # what it has just written
    for one in (plain, stores):
        assert _proved(_again() | one, _again() | one)
        assert not _proved(_again() | one, _KEPT | one)
    assert not _proved(through, {"again": "ld.global.nc.u32 %r4, [%d5]; mov.u32 %r4, %r3;"})
    before = {"loaded": _LOAD + "ld.global.nc.u32 %r4, [%d5];"}
    assert not _proved(through, before)
    # A candidate alone can't promise it.
    assert not _proved(
        {"loaded": _LOAD.replace(".nc", "")} | _again("ld.global"),
        {"loaded": _LOAD} | _KEPT,
    )
