"""Passes over a file, each kept where the compiler makes the same PTX of what it wrote.

A pass need not know whether what it does is right: what differs is taken back, first a pass at a
time, then a place at a time.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from ptxkit.cuda import CudaModule
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.budget import UNLIMITED, Budget
from ptxkit.decompiler.learned.contexts import bare_name
from ptxkit.decompiler.tidy.passes import ALL_PASSES, Pass
from ptxkit.decompiler.unchanged import changed_file, different
from ptxkit.decompiler.verify import Verdict
from ptxkit.decompiler.verify.asked import AS_WRITTEN
from ptxkit.decompiler.verify.certificates import certify, compiled, paired
from ptxkit.syntax import Module

#: Longer files (instructions) are left as they are; of others so many are compiled at most.
_MOST, _EFFORT = 3000, 30_000
#: The share of all time after which nothing else is certified.
_SHARE = 0.25


@dataclass(slots=True)
class _Places:
    """Says yes at some places, and counts them all."""

    chosen: Container[int]
    seen: int = 0

    def __call__(self) -> bool:
        self.seen += 1
        return self.seen - 1 in self.chosen


_ALL = range(1 << 30)


def tidied(
    tree: CudaModule,
    arch: str,
    *,
    separate: bool,
    original: Module,
    verdicts: Mapping[str, Verdict],
    budget: Budget = UNLIMITED,
) -> tuple[CudaModule, dict[str, Verdict]]:
    """The file with everything that passes find, as far as the PTX stays the same.

    What is not identical to the ``original`` may be other PTX, too, if that is proved to be equal.
    ``separate`` is as for `compiled`; ``verdicts`` are those on functions of the
    original, and are given back as they are then.
    """
    own = _functions(tree)
    wanted = {name: made for name, one in own.items() if (made := _passed(one)) != one}
    kept = {name for name, one in own.items() if AS_WRITTEN in one.options}
    base = compiled(tree, arch, separate=separate).module if wanted else None
    size = sum(len(f.instructions) for f in base.functions if f.has_body) if base else 0
    if base is None or size > _MOST:
        return tree, dict(verdicts)
    work = _Work(
        tree, base, arch, separate, original, dict(verdicts), budget.part(_SHARE),
        _EFFORT // max(1, size),
    )  # fmt: skip
    left = set(wanted)
    if AS_WRITTEN in tree.options:
        # What was kept from the compiler may be what it makes of loops by itself.
        left -= work.take(wanted, _freed(tree))
    elif kept:
        left -= work.take({name: _freed(wanted.get(name, own[name])) for name in kept})
    if left:
        left -= work.take({name: wanted[name] for name in left})
    for step in ALL_PASSES:
        for name in sorted(left):
            work.take_places(name, step)
    return work.tree, work.verdicts


_Part = TypeVar("_Part", CudaModule, n.Function)


def _freed(part: _Part) -> _Part:
    """A file or a function that a compiler may rearrange."""
    return replace(part, options=tuple(o for o in part.options if o != AS_WRITTEN))


def _functions(tree: CudaModule) -> dict[str, n.Function]:
    return {i.name: i for i in tree.items if isinstance(i, n.Function) and i.body}


def _passed(function: n.Function) -> n.Function:
    for step in ALL_PASSES:
        function = step(function, _Places(_ALL))
    return function


@dataclass(slots=True)
class _Work:
    """A file on its way."""

    tree: CudaModule
    base: Module
    """What the compiler makes of it."""
    arch: str
    separate: bool
    original: Module
    verdicts: dict[str, Verdict]
    budget: Budget
    left: int
    """How often something may still be compiled."""

    @property
    def over(self) -> bool:
        """Whether nothing more is tried: it would be compiled too often, or take too long."""
        return self.left <= 0 or self.budget.over

    def take(self, changed: dict[str, n.Function], tree: CudaModule | None = None) -> set[str]:
        """Write functions so from now on, if what is known about them still holds; those.

        With a ``tree`` it is the file from now on, or none of them is taken.
        """
        if self.over:
            return set()
        self.left -= 1
        made = changed_file(tree or self.tree, changed)
        other = compiled(made, self.arch, separate=self.separate).module
        if other is None:
            return set()
        wrong = different(self.base, other, changed)
        certified = self._certified(other, wrong)
        good = {name for name in changed if name not in wrong or name in certified}
        if not good:
            return good
        if len(good) < len(changed):
            return set() if tree else self.take({name: changed[name] for name in good})
        if any(name in wrong and name not in certified for name in _functions(self.tree)):
            return set()  # another one became something else
        self.tree, self.base = made, other
        self.verdicts |= dict(certified.values())
        return good

    def _certified(self, other: Module, names: Container[str]) -> dict[str, tuple[str, Verdict]]:
        """Of some functions those that are proved to be what the original is, and their verdicts.

        That they did the same in some launches is not enough: what a pass changes must hold for
        numbers that nobody tries.
        """
        found: dict[str, tuple[str, Verdict]] = {}
        if self.budget.over:
            return found
        partners = paired(self.original, other)
        for symbol, verdict in self.verdicts.items():
            partner = partners.get(symbol, symbol)
            name = next((x for x in (partner, bare_name(partner)) if x in names), "")
            if not name or partner not in other or verdict.same_ptx or not verdict.equivalent:
                continue
            new = certify(self.original, other, symbol, partner, least="E2", budget=self.budget)
            if new.same_ptx or new.same_dataflow:
                found |= dict.fromkeys((partner, bare_name(partner)), (symbol, new))
        return found

    def take_places(self, name: str, step: Pass) -> None:
        """Take what a pass does to a function, or as much of it as can be."""
        now = _functions(self.tree)[name]
        places = _Places(_ALL)
        made = step(now, places)
        if made == now or self.take({name: made}) or places.seen == 1:
            return
        chosen: set[int] = set()
        for place in range(places.seen):
            if self.over:
                break
            made = step(now, _Places(chosen | {place}))
            if made != now and self.take({name: made}):
                chosen.add(place)
