"""Instructions of which no launch has shown a side, and what to look at to tell them.

A ``selp`` that always took its first value, a ``min`` whose bound was never met, a mask that never
cut anything off: such an instruction ran, but nobody saw all that it does. A candidate without it,
or with another number on the side that never came, leaves the same behind.

A comparison that never came near to where it turns round is one of them: other numbers than those
that were compared may have given the same. And what keeps little of what it is given (an atomic
that compares, a vote, a match, a lane to read from, a level of a texture) never shows enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.accesses import Access, as_written
from ptxkit.decompiler.verify.dataflow.bounds import launched
from ptxkit.decompiler.verify.dataflow.decode import PURE, Known, Register, Step
from ptxkit.decompiler.verify.dataflow.liveness import registers_in
from ptxkit.decompiler.verify.dataflow.terms import Terms
from ptxkit.decompiler.verify.expressions import Expressions
from ptxkit.decompiler.verify.possible import Possible
from ptxkit.decompiler.verify.region import Seen
from ptxkit.run.watch import Point
from ptxkit.syntax import Instruction

#: Steps from an instruction back to what held many numbers.
DEPTH = 6
#: Who asks for a predicate tells of the comparison, too.
_ASKS = frozenset(("selp", "bra", "and", "or", "xor", "not", "mov"))
_LOGIC = frozenset(("and", "or", "xor"))
#: Sides of a comparison: it held, and did not, for two numbers that are next to each other.
NEAR = 12
#: What keeps so little of its operands that runs never tell enough.
_LOSSY = frozenset(("vote", "match", "redux", "shfl"))
_LOSSY_ATOMICS = frozenset((".cas", ".inc", ".dec", ".min", ".max"))
#: What chooses among smaller copies of a texture: those of launches have one.
_LEVELS = frozenset((".level", ".grad"))
#: What moves an address, and the types of registers that hold one.
_MOVING = frozenset(("add", "sub", "mov", "cvta", "mad", "selp"))
_ADDRESSES = frozenset(("b64", "u64", "s64"))
#: What nobody sees, and blocks without anything else that are passed.
_UNSEEN, _FURTHER = PURE | {"ld", "bra"}, 8
BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction, by its block and its place there."""

    block: int
    at: int
    operand: int | None = None
    """Of predicates that are put together the one that never decided alone."""


class Openings(Expressions):
    """The instructions of a program of which a side never came, and what to look at."""

    def __init__(
        self, coverage: Coverage, terms: Terms, known: Known, access: Access = as_written
    ) -> None:
        super().__init__(coverage, terms, known, access)
        self.seen = Seen()
        self.coverage = coverage
        self.made_at: dict[Register, list[Place]] = {}
        """Where registers are set."""
        self.asked: dict[Register, set[str]] = {}
        """By what instructions they are read, or as a guard."""
        for place, step in self.all():
            for target in step.targets:
                if target is not None:
                    self.made_at.setdefault(target[0], []).append(place)
            for source in step.sources:
                for register in registers_in(source):
                    self.asked.setdefault(register, set()).add(step.name)
        self._possible = Possible([step for _, step in self.all()], launched(coverage.functions[0]))
        self._hiding = coverage.hiding()
        branches = {one.span[0] for one in coverage.one_sided()}
        places = self._places()
        self.open: list[Place] = []
        self.offered: list[Place] = []
        """Others that those of another program may be the same as."""
        for place, step in self.all():
            hidden = self.hidden(place)
            if step.name == "setp" and self._compares_places(step, places):
                hidden &= ~NEAR  # addresses are whole elements from each other
            if step.name == "bra":
                self.open += [place] * (self._key(place) in branches)
            elif is_logic(step):
                # Where one alone was never true, it never made a sum true, nor the other one a
                # product false.
                missing = {n ^ (step.name == "and") for n in (0, 1) if hidden >> n & 1}
                self.open += [
                    replace(place, operand=n) for n in sorted(missing) if self._varies(step, n)
                ]
            elif self._key(place) not in coverage.ran:
                continue
            elif is_lossy(step) or self._tells(step, hidden):
                self.open.append(place)
            elif step.name == "setp":
                self.offered.append(place)
        self.never = self._never()
        """Branches that never went where code is that never ran."""

    def all(self) -> Iterator[tuple[Place, Step]]:
        """All instructions, and where they stand."""
        for number, steps in enumerate(self.steps):
            for at, step in enumerate(steps):
                yield Place(number, at), step

    def instruction(self, place: Place) -> Instruction:
        """The node of an instruction."""
        return self.blocks[place.block].instructions[place.at]

    def step(self, place: Place) -> Step:
        """What an instruction does."""
        return self.steps[place.block][place.at]

    def hidden(self, place: Place) -> int:
        """The sides of it that never came."""
        return self._hiding.get(self._key(place), 0)

    def ran(self, place: Place) -> bool:
        """Whether an instruction was reached."""
        return self._key(place) in self.coverage.ran

    def leads_nowhere(self, place: Place) -> bool:
        """Whether a branch has a way that nothing can go: its condition contradicts others."""
        after = self.blocks[place.block].successors
        return any(self.numbers.get(id(block)) in self.coverage.dead for block in after)

    def _never(self) -> list[Place]:
        unreached = {id(block) for block, _ in self.coverage.missing()}
        return [
            place
            for place, step in self.all()
            if step.name == "bra"
            and step.guard is not None
            and len(self.coverage.sides.get(self._key(place), ())) == 1
            and any(id(one) in unreached for one in self.blocks[place.block].successors)
        ]

    def _places(self) -> set[Register]:
        """Registers that addresses are made of, in as many bits."""
        found: set[Register] = set()
        pending = [
            part.value
            for _, step in self.all()
            for source in step.sources
            if source.kind == "address"
            for part in source.parts[:1]
            if part.kind == "register"
        ]
        while pending:
            register = pending.pop()
            if register in found or self._type(register) not in _ADDRESSES:
                continue
            found.add(register)
            for place in self.made_at.get(register, ()):
                if self.step(place).name in _MOVING:
                    pending += self._reads(self.step(place))
        return found

    def _compares_places(self, step: Step, places: set[Register]) -> bool:
        """Whether an address is compared with where it ends, not an index with a number."""
        return not places.isdisjoint(self._reads(step)) and all(
            source.kind == "register" for source in step.sources
        )

    def _tells(self, step: Step, hidden: int) -> bool:
        """Whether a side may come that did not, and nobody else tells of it."""
        if not hidden & ~self._possible.impossible(step):
            return False
        if step.name != "setp" or step.guard is not None or hidden & NEAR:
            return True
        targets = [target[0] for target in step.targets if target is not None]
        return any(self.asked.get(one, set()) - _ASKS for one in targets)

    def _varies(self, step: Step, number: int) -> bool:
        """Whether one of two predicates may be true or false, and the other one too."""
        for source in step.sources:
            makers = [self.step(one) for one in self.made_at.get(source.value, ())]
            if (
                len(makers) == 1
                and makers[0].name == "mov"
                and makers[0].sources[0].kind == "number"
            ):
                return False
        return step.sources[number].kind == "register"

    # ---- what to look at -------------------------------------------------------------------

    def points(self) -> list[tuple[tuple[int, str], Point]]:
        """The instructions to look at in a run, and the numbers that they read."""
        wanted: dict[Place, int] = {}
        marks = [self._mark(place) for place in self.open]
        pending = [(one, DEPTH) for one in (*self.open, *self.never, *self.offered, *marks) if one]
        while pending:
            place, depth = pending.pop()
            if wanted.get(place, -1) >= depth:
                continue
            wanted[place] = depth
            for register in self._reads(self.step(place)):
                makers = self.made_at.get(register, [])
                if depth and (len(makers) == 1 or self._type(register) == "pred"):
                    pending += [(maker, depth - 1) for maker in makers]
        found = []
        for place in wanted:
            numbers = [r for r in self._reads(self.step(place)) if self._type(r) != "pred"]
            if numbers and self.instruction(place).span[0] in self.coverage.ran:
                point = self.point(place, tuple(sorted(set(numbers))))
                found.append(((self._key(place), BEFORE), point))
        return found

    def point(self, place: Place, read: tuple[Register, ...], *, together: bool = False) -> Point:
        """Where to look at what an instruction reads: as those threads do it that do."""
        node = self.instruction(place)
        return Point(node, False, read, together, running=self._is_guarded(place))

    def _is_guarded(self, place: Place) -> bool:
        """Whether some threads do it and others not, as behind a branch that went both ways."""
        step = self.step(place)
        return step.guard is not None and is_lossy(step) and self.both_ways(place)

    def _key(self, place: Place) -> int:
        return self.instruction(place).span[0]

    def _reads(self, step: Step) -> list[Register]:
        found = [register for source in step.sources for register in registers_in(source)]
        return found + ([step.guard[0]] if step.guard else [])

    def _type(self, register: Register) -> str:
        for place in self.made_at.get(register, ()):
            for target in self.step(place).targets:
                if target is not None and target[0] == register:
                    return target[1]
        return "pred"

    def both_ways(self, place: Place) -> bool:
        """Whether a branch went both of its ways, or an atomic was done and was not."""
        return len(self.coverage.sides.get(self._key(place), ())) == 2

    # ---- where branches never went -----------------------------------------------------------

    def _mark(self, place: Place) -> Place | None:
        """What anybody sees first on the way that a branch never went."""
        ways = self.coverage.sides.get(self._key(place), set())
        step, block = self.step(place), self.blocks[place.block]
        if step.name != "bra" or len(ways) != 1:
            return None
        at_label = [step.sources[0].value[-1] in one.labels for one in block.successors]
        target = next(
            (b for b, label in zip(block.successors, at_label, strict=True) if label not in ways),
            None,
        )
        for _ in range(_FURTHER):
            number = self.numbers.get(id(target)) if target is not None else None
            if target is None or (number is None and len(target.successors) != 1):
                return None
            for at, one in enumerate(self.steps[number] if number is not None else ()):
                if number is not None and (one.guard is not None or one.name not in _UNSEEN):
                    return Place(number, at)
            target = target.successors[0] if len(target.successors) == 1 else None
        return None


def is_lossy(step: Step) -> bool:
    """Whether runs never tell enough of what a step is given."""
    return (
        step.name in _LOSSY
        or bool(step.name in ("atom", "red") and step.modifiers & _LOSSY_ATOMICS)
        or bool(step.name == "tex" and step.modifiers & _LEVELS)
    )


def is_logic(step: Step) -> bool:
    """Whether a step puts two predicates together."""
    return step.type == "pred" and step.name in _LOGIC and len(step.sources) == 2
