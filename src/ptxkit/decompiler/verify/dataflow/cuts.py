"""Where two functions that are equal must come to at the same time, beside the headers of loops.

Conditions multiply: after ten branches that meet again there may be a thousand ways that memory can
look. But two functions that are equal wait at the same barriers, and do the same things to memory
in the same order. Cut there, each piece has few ways through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ptxkit.decompiler.verify.dataflow.decode import PURE, Register, Step, reads_of_parameters
from ptxkit.syntax import Module

Cuts = Callable[[Step], bool]
"""Whether to cut before a step."""

#: What depends on which threads are there with this one.
JOINT = frozenset(
    "activemask elect vote match shfl redux bar barrier mma wmma wgmma ldmatrix stmatrix"
    " movmatrix tcgen05".split()
)


@lru_cache(maxsize=8)
def joint_functions(module: Module) -> frozenset[str]:
    """The functions of a module in which threads come together, or in what they call.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { bar.sync 0; ret; } .func g() { call f; } .func h() { ret; }")
    >>> sorted(joint_functions(m))
    ['f', 'g']
    """
    found = {f.name for f in module.functions if any(i.name in JOINT for i in f.instructions)}
    calls = {
        f.name: {n.text for i in f.instructions if i.name == "call" for n in i.find("Name")}
        for f in module.functions
    }
    while more := {name for name, called in calls.items() if name not in found and called & found}:
        found |= more
    return frozenset(found)


def uncut(step: Step) -> bool:
    """No cut anywhere."""
    return False


def at_barriers(step: Step) -> bool:
    """Where the threads of a block wait for each other."""
    return step.name in ("bar", "barrier")


def at_joint(step: Step) -> bool:
    """Where threads have a part in what others do."""
    return step.name in JOINT


def at_effects(step: Step) -> bool:
    """Where anything is done that others see; what is handed to a function stays with the call."""
    if step.name == "call" or any(m.startswith(".param") for m in step.modifiers):
        return False
    return step.name not in PURE and step.name != "ld" and not reads_of_parameters(step)


#: Instructions of two names that do the same.
_SAME = {"bar": "barrier", "red": "atom"}
_WAYS = frozenset(
    ".add .min .max .and .or .xor .exch .cas .inc .dec"
    " .any .all .uni .ballot .up .down .idx .bfly".split()
)


def kind_of_effect(step: Step) -> str:
    """What a step does, in short: two steps of different kinds are never the same effect."""
    return "".join((_SAME.get(step.name, step.name), *sorted(step.modifiers & _WAYS)))


#: Where to cut, in this order: the fewer pieces there are, the more is known in each.
CUTS: tuple[Cuts, ...] = (uncut, at_barriers, at_joint, at_effects)
#: And for long functions: pieces that are too large take long, and nothing comes of it.
CUTS_OF_LONG: tuple[Cuts, ...] = (at_joint, at_effects, at_barriers, uncut)


@dataclass(slots=True)
class Block:
    """The steps of a basic block, its exits decoded."""

    steps: list[Step]
    last: Step | None
    targets: list[int]
    """Blocks: for ``bra`` the target, then where control falls to."""
    following: int | None


@dataclass(slots=True)
class Parts:
    """Takes blocks apart."""

    cuts: Cuts
    next: int
    """The number of the next part."""
    cut: set[int] = field(default_factory=set)
    """Parts that begin with a cut."""

    def of(self, index: int, block: Block) -> Iterator[tuple[int, Block]]:
        """The parts of a block, in order; the first has its number.

        What is done only where a guard holds is a part of its own, behind a branch.
        """
        steps: list[Step] = []
        for step in block.steps:
            if not self.cuts(step):
                steps.append(step)
                continue
            here = self._number()
            self.cut.add(here)
            if step.guard is None:
                yield index, Block(steps, None, [here], here)
                index, steps = here, [step]
                continue
            after = self._number()
            skips = _branch(step, (step.guard[0], not step.guard[1]))
            yield index, Block(steps, skips, [after, here], here)
            yield here, Block([replace(step, guard=None)], None, [after], after)
            index, steps = after, []
        yield index, Block(steps, block.last, block.targets, block.following)

    def _number(self) -> int:
        self.next += 1
        return self.next


def _branch(step: Step, guard: tuple[Register, bool]) -> Step:
    return Step("bra", "bra", frozenset(), (), (), (), guard, step.line)
