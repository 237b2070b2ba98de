"""What is known about a candidate: certificates, from weak to strong.

| level | what it says |
| --- | --- |
| E0 | it compiles |
| E3 | it left the same bits behind in every launch that was tried; `claim` says how far that goes |
| E2 | its dataflow is equal: guards, addresses and stores, by a proof |
| E1 | it compiles to the same PTX, up to the names of registers and labels |
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from ptxkit.decompiler.verify.execution import Execution

#: From nothing to the strongest.
LEVELS = ("none", "E0", "E3", "E2", "E1")

#: What is claimed where not all code has run; {} is the share that has.
_GROUNDS = {
    "all": "everything ran",
    "same": "{} ran, the rest is the same code",
    "alike": "{} ran, the rest computes and stores the same but was not run",
    "seen": "{} ran, the rest does the same with numbers that were seen to be the same",
    "dead": "{} ran, nothing can reach the rest",
    "idle": "{} ran, and nothing does anything that anybody sees",
}

_WORDS = {
    "E0": "compiles, equality not proved",
    "E3": "equal in execution",
    "E2": "equal dataflow",
    "E1": "identical PTX",
}


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """What is known about one kernel of a candidate, or the weakest of several.

    >>> verdict = Verdict(compiles=True, same_ptx=True)
    >>> verdict.level, verdict.equivalent, verdict.badge
    ('E1', True, '[E1 identical PTX]')
    >>> Verdict.of({"a": verdict, "b": Verdict(compiles=True, same_dataflow=True)})
    <Verdict [E2 equal dataflow]; a [E1 identical PTX]; b [E2 equal dataflow]>
    """

    compiles: bool = False
    same_ptx: bool = False
    same_dataflow: bool = False
    execution: Execution | None = None
    reasons: tuple[str, ...] = ()
    """Why it is not more: one sentence for each level that was tried and not reached."""
    parts: dict[str, Verdict] = field(default_factory=dict)
    """The verdicts of each kernel, where there are several."""
    missing: bool = False
    """Whether the candidate compiles, but has no such kernel: there is nothing to compare."""
    options: tuple[str, ...] = ()
    """What the candidate has to be compiled with, for this to hold."""

    def __repr__(self) -> str:
        """The badge, and those of kernels where there are several."""
        several = self.parts.items() if len(self.parts) > 1 else ()
        words = (self.badge, *(f"{name} {part.badge}" for name, part in several))
        return f"<Verdict {'; '.join(words)}>"

    @property
    def equivalent(self) -> bool:
        """Whether it does the same, by a proof or as far as it was tried."""
        return self.level in ("E1", "E2", "E3")

    @property
    def level(self) -> str:
        """The strongest certificate: "E1", "E2", "E3", "E0" or "none"."""
        if not self.compiles or self.missing:
            return "none"
        if self.same_ptx:
            return "E1"
        if self.same_dataflow:
            return "E2"
        return "E3" if self.execution is not None and self.execution.equal else "E0"

    @property
    def rank(self) -> int:
        """The level as a number, to compare; the higher the better."""
        return LEVELS.index(self.level)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The launches on which both did the same."""
        return tuple(map(str, self.execution.tried)) if self.execution is not None else ()

    @property
    def coverage(self) -> float | None:
        """The share of the original's instructions that those launches ran; None without any."""
        return self.execution.coverage if self.execution is not None else None

    @property
    def badge(self) -> str:
        """The level in a few words.

        >>> Verdict().badge, Verdict(reasons=("E0: it does not compile",)).badge
        ('[not verified]', '[does not compile]')
        """
        if self.missing:
            return "[no such kernel]"
        if self.level == "none":
            tried = bool(self.reasons) and not any("not verified:" in r for r in self.reasons)
            return "[does not compile]" if tried else "[not verified]"
        text = f"{self.level} {_WORDS[self.level]}"
        if self.options:
            text += f" with {' '.join(self.options)}"
        if self.level == "E3":
            text += f", {self.claim}"
        return f"[{text}]"

    @property
    def claim(self) -> str:
        """How far E3 goes: the launches, and what is said about code that none of them ran."""
        run = self.execution
        if run is None or not run.equal:
            return ""
        twice = f" ({run.on_gpu} of them on a GPU too)" if run.on_gpu else ""
        parts = [f"{len(run.tried)} launches{twice}"]
        parts.append(_GROUNDS[run.ground].format(f"{math.floor(100 * run.coverage)}%"))
        if run.skip_reasons["race"]:
            parts.append(f"{run.skip_reasons['race']} others depend on the order of threads")
        if run.one_sided:
            count = len(run.one_sided)
            parts.append(f"{count} branch{'es' * (count > 1)} went one way only")
        if run.unordered:
            parts.append("in both orders of threads where their order matters")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`."""
        return {
            "level": self.level,
            "compiles": self.compiles,
            "same_ptx": self.same_ptx,
            # What is the same PTX has the same dataflow.
            "same_dataflow": self.same_ptx or self.same_dataflow,
            "equivalent": self.equivalent,
            "inputs": list(self.inputs),
            "coverage": self.coverage,
            "claim": self.claim,
            "options": list(self.options),
            "reasons": list(self.reasons),
            "kernels": {name: part.to_dict() for name, part in self.parts.items()},
        }

    @classmethod
    def of(cls, parts: dict[str, Verdict]) -> Verdict:
        """One verdict over several kernels: what holds for all of them."""
        if len(parts) == 1:
            return replace(next(iter(parts.values())), parts=parts)
        weakest = min(parts.values(), key=lambda part: part.rank, default=cls())
        return cls(
            weakest.compiles,
            weakest.same_ptx,
            weakest.same_dataflow,
            weakest.execution,
            tuple(f"{name}: {reason}" for name, part in parts.items() for reason in part.reasons
                  if not part.equivalent),
            parts,
            weakest.missing,
            tuple(o for o in weakest.options if all(o in p.options for p in parts.values())),
        )  # fmt: skip
