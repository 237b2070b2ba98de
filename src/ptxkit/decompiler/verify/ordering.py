"""How strongly an instruction orders memory, and for whom.

The simulator runs threads in one order, in which a fence for a block does as well as one for the
device, and a plain load as well as a volatile one. So forms are counted as they run: for each that
the original has, the candidate must run as many that are at least as strong.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ptxkit.syntax import Instruction

_SCOPES = {
    ".warp": 0, ".cta": 1, ".cluster": 2, ".gpu": 3, ".gl": 3, ".sys": 4,
}  # fmt: skip
_WORDS = ("a warp", "a block", "a cluster", "the device", "the system")
_KINDS = {
    "bar": "barriers", "barrier": "barriers", "membar": "fences", "fence": "fences",
    "atom": "atomics", "red": "atomics", "ld": "ordered loads", "st": "ordered stores",
}  # fmt: skip
_SEMANTICS = {
    ".acquire": frozenset(("acquire",)),
    ".release": frozenset(("release",)),
    ".acq_rel": frozenset(("acquire", "release")),
    ".sc": frozenset(("acquire", "release", "sc")),
}
_PLAIN: frozenset[str] = frozenset()
#: Loads and stores are of interest only as one of these.
_MARKED = frozenset((".volatile", ".relaxed", ".acquire", ".release", ".mmio", ".cv"))

#: Those of them that are for whoever else there is.
_FOR_ALL = frozenset((".volatile", ".mmio", ".cv"))


@dataclass(frozen=True, slots=True)
class Order:
    """What is ordered: by what, among whom, and how."""

    kind: str
    scope: int
    semantics: frozenset[str]

    def covers(self, other: Order) -> bool:
        """Whether this is at least as strong."""
        return (
            self.kind == other.kind
            and self.scope >= other.scope
            and self.semantics >= other.semantics
        )

    def __str__(self) -> str:
        how = f" ({', '.join(sorted(self.semantics))})" if self.semantics else ""
        return f"{self.kind} among the threads of {_WORDS[self.scope]}{how}"


def order_of(one: Instruction) -> Order | None:
    """How an instruction orders memory, if it does.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { membar.gl; fence.acq_rel.cta; ld.global.u32 a, [b]; }")
    >>> [str(order_of(i)) for i in m["f"].instructions][:1]
    ['fences among the threads of the device (acquire, release, sc)']
    >>> order_of(m["f"].instructions[0]).covers(order_of(m["f"].instructions[1]))
    True
    >>> order_of(m["f"].instructions[2]) is None
    True
    """
    kind = _KINDS.get(one.name)
    modifiers = one.modifiers
    if kind is None or (one.name in ("ld", "st") and _MARKED.isdisjoint(modifiers)):
        return None
    scope = next((_SCOPES[m] for m in modifiers if m in _SCOPES), None)
    semantics = next((_SEMANTICS[m] for m in modifiers if m in _SEMANTICS), _PLAIN)
    if one.name in ("bar", "barrier"):
        scope = 1 if scope is None else scope
        semantics = _PLAIN if ".arrive" in modifiers else _SEMANTICS[".acq_rel"]
    elif one.name == "membar":
        semantics = _SEMANTICS[".sc"]
    elif one.name == "fence" and ".sc" not in modifiers:
        semantics = semantics or _SEMANTICS[".acq_rel"]
    elif not _FOR_ALL.isdisjoint(modifiers):
        scope = 4
    scope = 3 if scope is None else scope
    if any(m in (".shared", ".shared::cta") for m in modifiers):
        scope = min(scope, 1)  # nobody else sees it
    return Order(kind, scope, semantics)


def weaker(first: Counter[Order], second: Counter[Order]) -> str:
    """What the second has too little of; empty where it orders all that the first does."""
    for order in first:
        wanted, had = (
            sum(count for one, count in counts.items() if one.covers(order))
            for counts in (first, second)
        )
        if had < wanted:
            return f"there are {had:,} {order} for {wanted:,}"
    return ""
