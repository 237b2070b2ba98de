"""A verdict as badges: what was proved, in words that need no table."""

from __future__ import annotations

from ptxkit.app.markup import badge
from ptxkit.decompiler import Verdict

_LEVELS = {
    "E1": "the same PTX comes out again, up to names",
    "E2": "guards, addresses and stores are equal by a proof",
    "E3": "the same bits in every launch that was tried",
    "E0": "it compiles; equality is not proved",
    "none": "it was not compiled",
}
_OTHER = "its PTX has another text, as is usual for a program that does the same"


def badges(verdict: Verdict, engine: str = "") -> str:
    """The three questions, the level, and who proposed it."""
    tried = verdict.compiles or verdict.reasons
    parts = [
        _yes(verdict.compiles, "compiles", "does not compile" if tried else "not compiled"),
        _yes(verdict.equivalent, "equivalent", "equality not proved", fair=verdict.compiles),
        # Equivalent programs seldom compile to the same text: nothing to be warned of.
        badge("other PTX", "plain", _OTHER)
        if verdict.equivalent and not verdict.same_ptx
        else _yes(verdict.same_ptx, "same PTX", "other PTX"),
        badge(verdict.level, "plain", _LEVELS[verdict.level]),
    ]
    if verdict.level == "E3" and verdict.execution is not None:
        launches = f"{len(verdict.execution.tried)} launches, {verdict.coverage or 0:.0%} covered"
        parts.append(badge(launches, "plain"))
    if engine:
        parts.append(badge(engine, "plain", "the engine that proposed it"))
    return f"<span class='pk-badges'>{''.join(parts)}</span>"


def _yes(holds: bool, good: str, bad: str, fair: bool = False) -> str:
    if holds:
        return badge(f"✓ {good}", "good")
    return badge(f"~ {bad}", "fair") if fair else badge(f"✗ {bad}", "bad")
