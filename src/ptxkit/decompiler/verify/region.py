"""What code does that no launch has reached, told from where it leaves the code that ran.

Expressions down to parameters are the same in two programs only where everything before is written
alike. But what comes before has run: two registers that held the same numbers in all launches, in
all threads, at all times that control was in two places, stand for the same. So code that has not
run is told by what it does with such registers, on which conditions, and what it leaves in which.
Registers that held few different numbers say nothing; these are told by how they were made, or by
what is made of them.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ptxkit.decompiler.verify.computed import plain
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.accesses import Access, as_written
from ptxkit.decompiler.verify.dataflow.decode import Known, Register, Step
from ptxkit.decompiler.verify.dataflow.liveness import live_registers, registers_in
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.decompiler.verify.expressions import JUMPS, Expressions
from ptxkit.decompiler.verify.reaching import filled
from ptxkit.run.watch import Digest, Point

#: Of 64 bits that values set, those that must be: with fewer, others may be the same by chance.
RICH = 12
#: And where it is known by what it held at another place, at all times, those here.
_SOME = 2
#: Steps from a register to something that held many numbers, by which it is known.
_USES = 4
#: The sums of launches are put together modulo this.
_MODULUS, _BASE = (1 << 127) - 1, 1_000_003

START, END = "start", "end"
_USED = "used"
Place = tuple[int, str]
"""The number of a block, and which end of it."""
Work = tuple[object, ...]


@dataclass(slots=True)
class _Node:
    """A block, as liveness takes it."""

    steps: list[Step]
    last: Step | None
    targets: list[int]


class Seen:
    """What registers of a program held at the ends of its blocks, over several launches."""

    def __init__(self) -> None:
        self.visits: dict[Place, int] = {}
        self.values: dict[Place, dict[Register, tuple[int, int]]] = {}

    def add(self, keys: Sequence[Place], points: Sequence[Point],
            digests: Sequence[Digest]) -> None:  # fmt: skip
        """Take in what one launch has shown."""
        for key, point, digest in zip(keys, points, digests, strict=True):
            self.visits[key] = _joined(self.visits.get(key, 0), digest.visits)
            held = self.values.setdefault(key, {})
            for register, (total, spread) in zip(point.registers, digest.values, strict=True):
                before = held.get(register, (0, 0))
                held[register] = _joined(before[0], total), before[1] | spread

    def value(self, key: Place, register: Register) -> int | None:
        """The sum of a register's values in one place, if they were many."""
        return self._value(key, register, RICH)

    def since(self, key: Place, origin: Place, register: Register) -> tuple[int, int] | None:
        """The same of a register that holds in one place what it last held in another.

        It may have held few numbers here, as long as these agree, and many there.
        """
        many, some = self._value(origin, register, RICH), self._value(key, register, _SOME)
        return None if many is None or some is None else (many, some)

    def _value(self, key: Place, register: Register, least: int) -> int | None:
        total, spread = self.values.get(key, {}).get(register, (0, 0))
        return total if spread.bit_count() >= least else None


def _read_by(step: Step) -> set[Register]:
    """What a step reads; under a guard also what it would set."""
    found = {register for source in step.sources for register in registers_in(source)}
    if step.guard is not None:
        found |= {step.guard[0], *(target[0] for target in step.targets if target is not None)}
    return found


def _joined(before: int, more: int) -> int:
    return (before * _BASE + more + 1) % _MODULUS


class Region(Expressions):
    """The blocks of a program that have not run, in terms of what was seen in those that did."""

    def __init__(
        self, coverage: Coverage, terms: Terms, known: Known, access: Access = as_written
    ) -> None:
        super().__init__(coverage, terms, known, access)
        self.seen = Seen()
        self.base = Expressions(coverage, terms, known, access)
        """All of it by how it is made, for registers that held too few numbers."""
        self.ran = coverage.ran
        self.missing = [self.numbers[id(block)] for block, _ in coverage.missing()]
        self.visited = {
            number
            for number, block in enumerate(self.blocks)
            if any(one.span[0] in coverage.ran for one in block.instructions)
        }
        self.before = [
            [self.numbers[id(b)] for b in filled(block) if id(b) in self.numbers]
            for block in self.blocks
        ]
        self.after: list[list[int]] = [[] for _ in self.blocks]
        for number, sources in enumerate(self.before):
            for source in sources:
                self.after[source].append(number)
        self.live = live_registers(
            {
                number: _Node(steps, None, self.after[number])
                for number, steps in enumerate(self.steps)
            }
        )
        self.types = {
            target[0]: target[1]
            for steps in self.steps
            for step in steps
            for target in step.targets
            if target is not None
        }
        self.entries: dict[tuple[int, Register], Term] = {}
        """What registers hold where control comes to a block that has not run."""
        self.hidden: list[list[Term]] = []
        """In each block, the effects that no launch has shown."""
        self._based = False
        self._origins: dict[tuple[int, Register], Place | None] = {}
        self._ways: dict[tuple[int, int], set[int]] = {}
        self._uses: dict[tuple[Register, int], Term | None] = {}

    # ---- what to look at -------------------------------------------------------------------

    def points(self) -> list[tuple[Place, Point]]:
        """Where to look in a run: beside what has not run, and at what is made of registers."""
        wanted: dict[Place, set[Register]] = defaultdict(set)
        for number in self.missing:
            if number in self.visited:
                wanted[number, START] |= self.live[number]
            for after in self.visited.intersection(self.after[number]):
                wanted[after, START] |= self.live[after]
                for register in self.live[after]:
                    for reader in self.readers[register] & self.visited:
                        wanted[reader, END] |= self._set_in(reader) | self.live[reader]
            for before in self.visited.intersection(self.before[number]):
                wanted[before, START] |= self.live[before]
                wanted[before, END] |= self.live[number] | self._set_in(before)
        for (number, end), registers in list(wanted.items()):
            for register in self._numbers(registers) if end == START else ():
                origin = self._origin(number, register)
                if origin is not None:
                    wanted[origin].add(register)
        return [
            (place, self._point(*place, self._numbers(registers)))
            for place, registers in sorted(wanted.items())
        ]

    def _origin(self, number: int, register: Register) -> Place | None:
        """Where a register got what it holds at the start of a block, or is first known to.

        Control comes from there in any case, and nothing sets the register on the way.
        """
        key = number, register
        if key not in self._origins:
            found: Place | None = None
            setters = set(self.setters.get(register, ()))
            masks = self._dominating
            above = [one for one in range(len(masks)) if masks[number] >> one & 1]
            for one in sorted(above, key=lambda block: masks[block].bit_count(), reverse=True):
                if not setters.isdisjoint(self._since(one, number)):
                    break
                found = (one, END) if one in setters else (one, START)
                if one in setters:
                    break
            self._origins[key] = found if found is not None and found[0] in self.visited else None
        return self._origins[key]

    def _since(self, start: int, number: int) -> set[int]:
        """The blocks on ways from one to another, without the first."""
        key = start, number
        if key not in self._ways:
            onward = _reached({start}, self.after, {start})
            self._ways[key] = onward & _reached({number}, self.before, {start})
        return self._ways[key]

    def _point(self, number: int, end: str, registers: tuple[Register, ...]) -> Point:
        instructions = self.blocks[number].instructions
        if end == START:
            return Point(instructions[0], False, registers)
        # A jump runs as part of what is before it.
        last = next((i for i in reversed(instructions) if i.name != "bra"), instructions[-1])
        return Point(last, last.name not in JUMPS and last.name != "setp", registers)

    def _set_in(self, number: int) -> set[Register]:
        return {t[0] for step in self.steps[number] for t in step.targets if t is not None}

    def _numbers(self, wanted: Iterable[Register]) -> tuple[Register, ...]:
        return tuple(sorted(r for r in wanted if self.types.get(r, "pred") != "pred"))

    # ---- works -----------------------------------------------------------------------------

    def works(self, rounds: int) -> Counter[Work]:
        """What each block comes to that has not run, or not as a whole."""
        with contextlib.suppress(GiveUpError):
            self.base.run(self.base.rounds)
            self._based = True
        self.values = [None] * len(self.blocks)
        self.effects = [[] for _ in self.blocks]
        self.passed = [[] for _ in self.blocks]
        self.hidden = [[] for _ in self.blocks]
        for number in self.visited:
            self.contexts[number] = self._ran(number, END)
        for _ in range(rounds):
            self._again()
        return Counter(self._work(number) for number in self.missing)

    def _again(self) -> None:
        """One more round through the blocks that have not run."""
        unknown = self.terms.make("unknown")
        region = [number for number in range(len(self.blocks)) if number not in self.visited]
        for number in region:
            self.values[number] = None
            self.effects[number] = []
            self.passed[number] = []
            self.hidden[number] = []
        for number in region:
            self._evaluate(number)
        entries = {}
        contexts = {}
        for number in region:
            contexts[number] = self._context(number)
            for register in self.live[number]:
                ways = {
                    (self.contexts[place], self._way(place, self.blocks[number])): self._left(
                        place, register
                    )
                    for place in self.before[number]
                }
                values = set(ways.values()) - {unknown}
                entries[number, register] = (
                    values.pop()
                    if len(values) == 1
                    else self.terms.make("enters", *sorted(ways.items()))
                )
        self.entries = entries
        for number, context in contexts.items():
            self.contexts[number] = context

    def _ran(self, number: int, end: str) -> Term:
        visits = self.seen.visits.get((number, end))
        return self._opaque(number) if visits is None else self.terms.make("ran", visits)

    def _left(self, number: int, register: Register) -> Term:
        """What a register holds at the end of a block."""
        return self._read(number, self._evaluate(number), register)

    def _evaluate(self, number: int) -> dict[Register, Term]:
        held = self.values[number]
        if held is not None:
            return held
        held = self.values[number] = {}
        steps = list(zip(self.steps[number], self.blocks[number].instructions, strict=True))
        last = {
            t[0]: step
            for step, node in steps
            for t in step.targets
            if t is not None and node.span[0] in self.ran
        }
        unseen: set[Register] = set()
        for step, node in steps:
            if step.name in JUMPS:
                continue
            # What has not run has not changed what was seen, nor shown what others make of it.
            hidden = node.span[0] not in self.ran or not unseen.isdisjoint(_read_by(step))
            before = len(self.effects[number])
            made = self._steps(number, step, held, hidden)
            if hidden:
                self.hidden[number] += self.effects[number][before:]
            for target, value in zip(step.targets, made, strict=True):
                if target is None:
                    continue
                known = None
                if last.get(target[0]) is step and not hidden:
                    known = self.seen.value((number, END), target[0])
                held[target[0]] = value if known is None else self.terms.make("seen", known)
                (unseen.add if hidden else unseen.discard)(target[0])
        return held

    def _steps(
        self, number: int, step: Step, held: dict[Register, Term], hidden: bool
    ) -> list[Term]:
        """What a step gives; what is too hard to tell is like nothing else where it was seen."""
        try:
            return self._step(number, step, held)
        except GiveUpError:
            if hidden:
                raise
            return [self._opaque(number, step.line, place) for place in range(len(step.targets))]

    def _opaque(self, *what: object) -> Term:
        return self.terms.make("opaque", id(self), *what)

    def _guard(self, number: int, guard: tuple[Register, bool]) -> Term:
        self._evaluate(number)
        return super()._guard(number, guard)

    def _context(self, number: int) -> Term:
        ways = [
            (
                self.contexts[place],
                0 if place in self.visited else len(self.effects[place]),
                self._way(place, self.blocks[number]),
            )
            for place in self.before[number]
        ]
        return self.terms.make("context", *sorted(ways))

    def _read(self, number: int, held: dict[Register, Term], register: Register) -> Term:
        if register in held:
            return held[register]
        if number not in self.visited:
            return self.entries.get((number, register), self.terms.make("unknown"))
        known = self.seen.value((number, START), register)
        if known is not None:
            return self.terms.make("seen", known)
        origin = self._origin(number, register)
        since = None if origin is None else self.seen.since((number, START), origin, register)
        if since is not None:
            return self.terms.make("seen", *since)
        if not self._based:
            return self._opaque(number, register)
        try:
            return self.base.value(number, register)
        except GiveUpError:
            return self._opaque(number, register)

    def _before(
        self, number: int, held: dict[Register, Term], target: tuple[Register, str] | None
    ) -> Term:
        if target is None:
            return self.terms.make("undefined")
        return self._read(number, held, target[0])

    def _work(self, number: int) -> Work:
        """What a block does, where it goes, and what it leaves in registers that have a name."""
        visited = number in self.visited
        self._evaluate(number)
        leaves = []
        for after in self.after[number]:
            if after not in self.visited:
                continue
            way = self._way(number, self.blocks[after])
            there = self._ran(after, START)
            leaves.append(self.terms.make("goes to", way, there))
            beside = not visited and all(after in self.after[one] for one in self._from(number))
            between = None if visited else self._between(number, after)
            names: set[Term] = set()
            for register in sorted(self.live[after]):
                setters = self.setters[register]
                if len(setters) == 1 and setters[0] not in self.missing:
                    continue  # the same on all ways
                if beside and self.visited.issuperset(setters):
                    continue  # the other way to there does not set it, either
                if between is not None and between.isdisjoint(setters):
                    continue  # nothing does on any way to there
                name, value = self._name(after, register), self._left(number, register)
                if self.terms.rows[name][0] == _USED:
                    if name in names:
                        raise GiveUpError("registers that are known by the same")
                    names.add(name)
                if name != value:  # else it is as on the ways that were taken
                    leaves.append(self.terms.make("leaves", there, name, value))
        return (
            self._ran(number, START) if visited else self.contexts[number],
            (*self.hidden[number], self._ending(number)),
            tuple(sorted(leaves)),
        )

    def _from(self, number: int) -> set[int]:
        """The blocks that ran from which control could come to one that did not."""
        found: set[int] = set()
        pending, met = [number], {number}
        while pending:
            for before in self.before[pending.pop()]:
                if before in self.visited:
                    found.add(before)
                elif before not in met:
                    met.add(before)
                    pending.append(before)
        return found

    def _between(self, number: int, after: int) -> set[int]:
        """All blocks on ways to one from those that ran before another, which did not."""
        from_there = _reached(self._from(number), self.after, {after})
        return from_there & _reached({after}, self.before, set())

    def _name(self, number: int, register: Register) -> Term:
        """What a register is known by at the start of a block: its values, or its uses."""
        known = self.seen.value((number, START), register)
        if known is not None:
            return self.terms.make("seen", known)
        name = self._used(register, _USES)
        if name is None:
            raise GiveUpError("a register that is known by nothing")
        return name

    def _used(self, register: Register, depth: int) -> Term | None:
        """A name for a register by what is made of it, or of that; None where nothing is."""
        key = register, depth
        if key not in self._uses:
            self._uses[key] = None
            uses: set[tuple[Any, ...]] = set()
            for reader in self.readers[register] & self.visited:
                for step in self.steps[reader]:
                    uses.update(self._uses_in(reader, step, register, depth))
            best = min((use[0] for use in uses), default=0)
            if uses:
                self._uses[key] = self.terms.make(_USED, *sorted(u for u in uses if u[0] == best))
        return self._uses[key]

    def _uses_in(
        self, reader: int, step: Step, register: Register, depth: int
    ) -> Iterator[tuple[Any, ...]]:
        """What a step makes of a register; first how much that tells, the less the better."""
        read = [registers_in(source) for source in step.sources]
        places = tuple(k for k, registers in enumerate(read) if register in registers)
        guards = step.guard is not None and step.guard[0] == register
        if not places and not guards:
            return
        numbers = tuple(s.value for s in step.sources if s.kind in ("number", "address"))
        use = plain(step), places, guards, numbers
        # What is made of it; where nothing is, as by a store, what it is put together with.
        others = [r for r in chain(*read) if r != register]
        for known in [t[0] for t in step.targets if t is not None] or others:
            made = self.seen.value((reader, END), known)
            if made is not None:
                yield 0, *use, made
            elif depth and step.targets:
                further = self._used(known, depth - 1)
                if further is not None:
                    yield 1, *use, (further,)
        beside = [self.seen.value((reader, END), other) for other in others]
        if others and None not in beside:
            yield 1, *use, tuple(beside)
        elif self._based:
            with contextlib.suppress(GiveUpError):
                terms = tuple(self.base.value(reader, r) for r in others)
                yield 2, *use, terms


def _reached(starts: set[int], ways: list[list[int]], ends: set[int]) -> set[int]:
    """What can be reached from somewhere, without what is there itself and behind some ends."""
    found: set[int] = set()
    pending = [one for start in starts for one in ways[start]]
    while pending:
        one = pending.pop()
        if one not in found and one not in ends:
            found.add(one)
            pending += ways[one]
    return found
