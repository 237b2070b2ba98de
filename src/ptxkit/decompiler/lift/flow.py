"""A control-flow graph of finished statements: what structuring turns into if and while."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any


@dataclass(frozen=True, slots=True)
class Jump:
    """Control goes to one block."""

    target: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Control goes to ``then`` where the condition holds, else to ``otherwise``."""

    condition: Any
    """A value while the function is lifted, an expression of C++ afterwards."""
    then: int
    otherwise: int


@dataclass(frozen=True, slots=True)
class Select:
    """Control goes to the target of a number.

    Those are the numbers from 0 on, or ``numbers``; others go to ``default``, and are not defined
    where there is none.
    """

    value: Any
    targets: tuple[int, ...]
    numbers: tuple[int, ...] = ()
    default: int | None = None

    def cases(self) -> dict[int, list[int]]:
        """The numbers that go to each target."""
        found: dict[int, list[int]] = {}
        for number, target in zip(self.numbers or count(), self.targets, strict=False):
            found.setdefault(target, []).append(number)
        return found


@dataclass(frozen=True, slots=True)
class Leave:
    """Control leaves the function; the last statement says how, if anything has to be said."""


Exit = Jump | Branch | Select | Leave


@dataclass(slots=True)
class FlowBlock:
    """Statements, and where control goes after them."""

    statements: list[Any]
    exit: Exit
    line: int = 0
    """Where it begins in PTX; 0 where nobody knows."""

    def successors(self) -> tuple[int, ...]:
        """Blocks that may run next, each once."""
        match self.exit:
            case Jump(target):
                return (target,)
            case Branch(_, then, otherwise):
                return (then,) if then == otherwise else (then, otherwise)
            case Select(_, targets, _, default):
                return tuple(dict.fromkeys((*targets, *(() if default is None else (default,)))))
            case Leave():
                return ()


@dataclass(slots=True)
class Flow:
    """Blocks by number; 0 is where control comes in."""

    blocks: dict[int, FlowBlock]
    predecessors: dict[int, list[int]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    """Reachable blocks in reverse post-order."""
    place: dict[int, int] = field(default_factory=dict)
    above: dict[int, int] = field(default_factory=dict)
    """Immediate dominators; the entry has none."""
    _span: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.analyse()

    def analyse(self) -> None:
        """Compute everything that follows from the blocks; drops those control cannot reach."""
        self.order = list(self._post_order())[::-1]
        self.place = {block: number for number, block in enumerate(self.order)}
        self.blocks = {block: self.blocks[block] for block in self.order}
        self.predecessors = {block: [] for block in self.order}
        for block in self.order:
            for successor in self.blocks[block].successors():
                self.predecessors[successor].append(block)
        self._dominators()

    def _post_order(self) -> Iterator[int]:
        seen = {0}
        stack = [(0, iter(self.blocks[0].successors()))]
        while stack:
            block, rest = stack[-1]
            for following in rest:
                if following not in seen:
                    seen.add(following)
                    stack.append((following, iter(self.blocks[following].successors())))
                    break
            else:
                stack.pop()
                yield block

    def _dominators(self) -> None:
        place, above = self.place, {0: 0}
        changed = True
        while changed:
            changed = False
            for block in self.order[1:]:
                known = [p for p in self.predecessors[block] if p in above]
                nearest = known[0]
                for other in known[1:]:
                    while nearest != other:
                        while place[nearest] > place[other]:
                            nearest = above[nearest]
                        while place[other] > place[nearest]:
                            other = above[other]
                if above.get(block) != nearest:
                    above[block] = nearest
                    changed = True
        children: dict[int, list[int]] = {block: [] for block in self.order}
        for block in self.order[1:]:
            children[above[block]].append(block)
        clock = 0
        begun: dict[int, int] = {}
        stack = [(0, False)]
        self._span = {}
        while stack:
            block, done = stack.pop()
            clock += 1
            if done:
                self._span[block] = (begun[block], clock)
                continue
            begun[block] = clock
            stack.append((block, True))
            stack.extend((child, False) for child in children[block])
        del above[0]
        self.above = above

    def dominates(self, one: int, other: int) -> bool:
        """Whether every way to ``other`` goes through ``one``."""
        a, b = self._span[one], self._span[other]
        return a[0] <= b[0] and b[1] <= a[1]

    def is_back_edge(self, source: int, target: int) -> bool:
        """Whether an edge goes back to a loop's head."""
        return self.place[target] <= self.place[source]

    def loop_blocks(self, head: int) -> set[int]:
        """The blocks of the loop with this head; empty where it is none."""
        pending = [p for p in self.predecessors[head] if self.is_back_edge(p, head)]
        if not pending:
            return set()
        inside = {head}
        while pending:
            block = pending.pop()
            if block not in inside:
                inside.add(block)
                pending.extend(self.predecessors[block])
        return inside

    def is_reducible(self) -> bool:
        """Whether every loop is entered at its head alone."""
        return all(
            self.dominates(successor, block)
            for block in self.order
            for successor in self.blocks[block].successors()
            if self.is_back_edge(block, successor)
        )
