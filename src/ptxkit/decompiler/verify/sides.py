"""Sides of instructions that no launch has shown.

A ``selp`` that always took its first value, a ``min`` whose bound was never met, a mask that never
cut anything off: such an instruction ran, but nobody saw all that it does. A candidate without it,
or with another number on the side that never came, leaves the same behind.

A comparison that never came near to where it turns round is one of them: other numbers than those
that were compared may have given the same. And what keeps little of what it is given (an atomic
that compares, a vote, a match, a lane to read from) never shows enough.

What is there on that side was computed all the same: both values of a selection are in registers.
So each such instruction is told by what it chooses from, and on which condition: by registers that
held the same numbers in all launches that are looked at, and where they held few, by how these are
made. What one of two programs tells of itself the other must, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ptxkit.decompiler.verify.computed import plain
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.accesses import Access, as_written
from ptxkit.decompiler.verify.dataflow.bounds import as_signed, launched
from ptxkit.decompiler.verify.dataflow.decode import PURE, Known, Register, Step
from ptxkit.decompiler.verify.dataflow.liveness import registers_in
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.decompiler.verify.expressions import Expressions
from ptxkit.decompiler.verify.outcome import event
from ptxkit.decompiler.verify.possible import Possible
from ptxkit.decompiler.verify.region import Seen
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.watch import Point
from ptxkit.syntax import Instruction

#: Steps from an instruction back to what held many numbers.
DEPTH = 6
#: And back to numbers that something is made of.
_DEEP = 12
#: Who asks for a predicate tells of the comparison, too.
_ASKS = frozenset(("selp", "bra", "and", "or", "xor", "not", "mov"))
#: Parts of terms that are numbers, and not other terms.
_NUMBERS = {
    "sum": (1, 2), "multiply": (1,), "signed": (1, 2), "unsigned": (1, 2), "truncate": (1, 2),
    "eq": (1,), "lt": (1, 2), "part": (2,), "bit": (1,), "opaque": (1, 2, 3),
    "op": (2,),
}  # fmt: skip
_WIDTHS = frozenset((("eq", 1), ("lt", 2)))
_LOGIC = frozenset(("and", "or", "xor"))
#: Sides of a comparison: it held, and did not, for two numbers that are next to each other.
NEAR = 12
#: What keeps so little of its operands that runs never tell enough.
_LOSSY = frozenset(("vote", "match", "redux", "shfl"))
_LOSSY_ATOMICS = frozenset((".cas", ".inc", ".dec", ".min", ".max"))
_ROUNDED = frozenset(("add", "sub", "mul", "fma"))
_LEAVES = frozenset(("ret", "exit"))
#: What moves an address, and the types of registers that hold one.
_MOVING = frozenset(("add", "sub", "mov", "cvta", "mad", "selp"))
_ADDRESSES = frozenset(("b64", "u64", "s64"))
#: What nobody sees, and blocks without anything else that are passed.
_UNSEEN, _FURTHER = PURE | {"ld", "bra"}, 8
BEFORE, _LEAF = "before", "leaf"


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction, by its block and its place there."""

    block: int
    at: int
    operand: int | None = None
    """Of predicates that are put together the one that never decided alone."""


@dataclass(frozen=True, slots=True)
class Form:
    """What an instruction does, and the registers that it does it with."""

    shape: object
    leaves: tuple[Register, ...]
    fixed: tuple[bool, ...]
    """For each whether it is made of numbers alone, and is always the same."""
    goes: str = ""
    """What comes next on the way that a branch never went."""


class Sides(Expressions):
    """The instructions of a program of which a side never came, and what they choose from."""

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
            elif _is_logic(step):
                # Where one alone was never true, it never made a sum true, nor the other one a
                # product false.
                missing = {n ^ (step.name == "and") for n in (0, 1) if hidden >> n & 1}
                self.open += [
                    replace(place, operand=n) for n in sorted(missing) if self._varies(step, n)
                ]
            elif self._key(place) not in coverage.ran:
                continue
            elif _is_lossy(step) or self._tells(step, hidden):
                self.open.append(place)
            elif step.name == "setp":
                self.offered.append(place)
        self.never = self._never()
        """Branches that never went where code is that never ran."""
        self._leaves: list[Register] | None = None
        """What was read, while that is collected."""
        self._here: Place | None = None
        self._left = DEPTH
        self._asking: set[Register] = set()

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

    def asks(self, place: Place) -> Term:
        """The condition of a branch, or that it does not hold."""
        guard = self.step(place).guard
        assert guard is not None
        self._left, self._asking = DEPTH, set()
        return self._asks(guard[0])

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
        return step.guard is not None and _is_lossy(step) and self.both_ways(place)

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

    # ---- what they choose from -------------------------------------------------------------

    def choices(self) -> dict[Term, Place]:
        """What each of the instructions does, and one that does it."""
        return {self.choice(place): place for place in self.open}

    def offers(self) -> set[Term]:
        """What the others do."""
        return {self.choice(place) for place in self.offered}

    def choice(self, place: Place) -> Term:
        """What an instruction chooses from, and on which condition."""
        step = self.step(place)
        self._left = DEPTH
        self._asking = set()
        if place.operand is not None:
            return self._decides(step, place.operand)
        try:
            whole = self._whole(place, step)
        except GiveUpError:
            whole = self.terms.make("opaque", id(self), place.block, place.at)
        if step.name == "setp":
            whole = self.terms.make("compares", *sorted((whole, self._not(whole))))
        if step.guard is None:
            return whole
        if _is_lossy(step):
            if self._is_guarded(place):
                return whole
            return self.terms.make("under", whole, self._asks(step.guard[0]))
        # What is done on the other side, code that ran shows: a jump, or nothing.
        asked = self._asks(step.guard[0])
        mark = self._mark(place) if self._leaves is None else None
        return asked if mark is None else self.terms.make("goes to", asked, self._marked(mark))

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

    def _marked(self, place: Place) -> Term:
        step = self.step(place)
        if step.guard is not None and step.name == "bra":
            return self._asks(step.guard[0])
        if step.name in _LEAVES:
            return self.terms.make("ends")
        try:
            return self._whole(place, step)
        except GiveUpError:
            return self.terms.make("does", plain(step))

    def _decides(self, step: Step, number: int) -> Term:
        """One of two predicates: when it decides alone, and what it makes of the other one."""
        found = []
        for source in (step.sources[number], step.sources[1 - number]):
            asked = self._known_or_not(source.value)
            row = self.terms.rows[asked]
            negated = row[0] == "not"
            found.append((int(row[1]) if negated else asked, (step.name == "or") != negated))
        if step.name == "xor":
            return self.terms.make("turns", found[0][0])
        return self.terms.make("decides", *found[0], found[1][1])

    def _known_or_not(self, register: Register) -> Term:
        try:
            return self._predicate(register)
        except GiveUpError:
            return self.terms.make("opaque", id(self), *register)

    def _asks(self, register: Register) -> Term:
        asked = self._known_or_not(register)
        return self.terms.make("asks", *sorted((asked, self._not(asked))))

    def _whole(self, place: Place, step: Step) -> Term:
        """An instruction, made of what it reads."""
        before, self._here = self._here, place
        try:
            operands = self._operands(place.block, step, {})
            if step.name == "selp":
                return self._select(operands[2], operands[0], operands[1])
            if step.name in ("min", "max") and step.type[0] in "us" and len(operands) == 2:
                return self._extreme(step, operands)
            if step.name == "bra":
                return self.terms.make("goes")
            if _is_logic(step):
                return self._logic(step, operands)
            if ".sat" in step.modifiers:
                return self._saturated(step, operands)
            if step.name == "setp" and (truth := self._truth(step)) is not None:
                return truth
            if step.name in PURE and not any(s.kind == "restless" for s in step.sources):
                return self._pure(step, operands)[0]
            return self.terms.make("does", self._named(place, step), *operands)
        finally:
            self._here = before

    def _named(self, place: Place, step: Step) -> str:
        """What it is that an instruction does; who sees it when is compared elsewhere."""
        if step.name in ("atom", "red"):
            return event(self.instruction(place))
        return plain(step)

    def _select(self, condition: Term, yes: Term, no: Term) -> Term:
        row = self.terms.rows[condition]
        if row[0] == "not":
            condition, yes, no = int(row[1]), no, yes
        return self.terms.make("choice", condition, yes, no)

    def _extreme(self, step: Step, operands: list[Term]) -> Term:
        """The lesser or greater of two, as a selection."""
        first, second = sorted(operands)
        width, signed = SCALAR_TYPES[step.type].width, step.type.startswith("s")
        asked, turned = self.terms.less(signed, width, first, second)
        if asked is None:
            asked, turned = self.terms.make("truth", turned), False
        least, most = (second, first) if turned else (first, second)
        if step.name == "max":
            least, most = most, least
        return self.terms.make("choice", asked, least, most)

    def _saturated(self, step: Step, operands: list[Term]) -> Term:
        """What is taken back into a range, by the instruction that makes it or by a further one."""
        if step.name != "cvt":
            opcode, modifiers = step.opcode.replace(".sat", ""), step.modifiers - {".sat"}
            free = replace(step, opcode=opcode, modifiers=modifiers)
            return self.terms.make("sat", self._pure(free, operands)[0])
        made = [self.step(one) for one in self.made_at.get(step.sources[0].value, ())]
        if len(made) == 1 and made[0].name in _ROUNDED:
            return self.terms.make(
                "sat", self._whole(self.made_at[step.sources[0].value][0], made[0])
            )
        return self.terms.make("sat", *operands)

    def _logic(self, step: Step, operands: list[Term]) -> Term:
        """Predicates put together, but with none that is always the same."""
        known = {self.terms.make("truth", value): value for value in (False, True)}
        first, second = operands
        if first in known:
            first, second = second, first
        if second not in known:
            return self.terms.make(step.name, *sorted((first, second)))
        value = known[second]
        if step.name == "xor":
            return self._not(first) if value else first
        return first if value == (step.name == "and") else second

    def _truth(self, step: Step) -> Term | None:
        """A comparison with zero of what is 1 where a predicate holds, and 0 elsewhere."""
        kind = step.opcode.split(".")[1]
        if kind not in ("eq", "ne") or len(step.sources) != 2 or step.sources[1].value != 0:
            return None
        makers = self.made_at.get(step.sources[0].value, []) if self._is_register(step) else []
        chosen = self.step(makers[0]) if len(makers) == 1 else None
        if chosen is None or chosen.name != "selp" or chosen.guard is not None:
            return None
        yes, no = (one.value if one.kind == "number" else None for one in chosen.sources[:2])
        if yes is None or no is None or (yes == 0) == (no == 0):
            return None
        asked = self._predicate(chosen.sources[2].value)
        return self._not(asked) if (no == 0) == (kind == "eq") else asked

    def _is_register(self, step: Step) -> bool:
        return step.sources[0].kind == "register" and step.sources[1].kind == "number"

    def _predicate(self, register: Register) -> Term:
        """What a predicate says: the comparisons that it is made of."""
        makers = self.made_at.get(register, [])
        if not makers:
            return self.terms.make("undefined")
        if register in self._asking:
            return self.terms.make("again")
        self._asking.add(register)
        try:
            made = []
            for place in makers:
                step = self.step(place)
                if step.name == "mov" and step.sources[0].kind == "number":
                    made.append(self.terms.make("truth", bool(step.sources[0].value)))
                    continue
                whole = self._whole(place, step)
                part = next(
                    n for n, t in enumerate(step.targets) if t is not None and t[0] == register
                )
                made.append(self._not(whole) if part and step.name == "setp" else whole)
        finally:
            self._asking.discard(register)
        return made[0] if len(made) == 1 else self.terms.make("one of", *sorted(made))

    def _read(self, number: int, held: dict[Register, Term], register: Register) -> Term:
        if self._type(register) == "pred":
            return self._predicate(register)
        assert self._here is not None
        makers = self.made_at.get(register, [])
        only = makers[0] if len(makers) == 1 else None
        if self._leaves is not None:
            fixed = self._number(only) if only is not None else None
            if fixed is not None:
                return fixed
            if only is not None and _is_argument(self.step(only)):
                return self._whole(only, self.step(only))
            self._leaves.append(register)
            return self.terms.make(_LEAF, len(self._leaves) - 1)
        if only is not None and (known := self._number(only)) is not None:
            return known
        if only is not None and _is_argument(self.step(only)):
            # All threads have it, wherever they are.
            return self._whole(only, self.step(only))
        key = (self._key(self._here), BEFORE)
        rich = self.seen.value(key, register)
        if rich is not None:
            return self.terms.make("seen", rich)
        if only is not None and self._left > 0 and self._is_function(self.step(only)):
            self._left -= 1
            try:
                return self._whole(only, self.step(only))
            finally:
                self._left += 1
        total, _ = self.seen.values.get(key, {}).get(register, (0, 0))
        return self.terms.make("held", total)

    def _number(self, place: Place) -> Term | None:
        """The number that an instruction puts into its register, if it is always the same."""
        step = self.step(place)
        if step.name != "mov" or step.guard is not None or len(step.sources) != 1:
            return None
        source = step.sources[0]
        if source.kind not in ("number", "float"):
            return None
        return self._operand(place.block, source, step, {})

    def _is_function(self, step: Step) -> bool:
        if step.guard is not None or any(s.kind == "restless" for s in step.sources):
            return False
        return step.name in PURE or _is_argument(step)

    def both_ways(self, place: Place) -> bool:
        """Whether a branch went both of its ways, or an atomic was done and was not."""
        return len(self.coverage.sides.get(self._key(place), ())) == 2

    # ---- what they choose from, value by value ---------------------------------------------

    def forms(self) -> Iterator[tuple[Place, Form]]:
        """The forms of all instructions that ran and may choose something."""
        shown = {start for start, _ in self.coverage.shown}
        for place, step in self.all():
            start = self._key(place)
            asks = step.name == "bra" and step.guard is not None and start in self.coverage.sides
            if _is_logic(step):
                for number in (0, 1):
                    if start in shown and self._varies(step, number):
                        one = replace(place, operand=number)
                        yield one, self.form(one)
            elif (start in shown and step.name != "bra") or asks or _is_lossy(step):
                yield place, self.form(place)

    def form(self, place: Place) -> Form:
        """What an instruction does with what it reads, whatever that is."""
        self._leaves = []
        try:
            term = self.choice(place)
            order: list[int] = []
            shape = self._shape(term, order)
            leaves = tuple(self._leaves[number] for number in order)
            fixed = tuple(self._is_fixed(one, _DEEP) for one in leaves)
            mark = self._mark(place)
            goes = "" if mark is None else self.step(mark).name
            return Form(shape, leaves, fixed, "ret" if goes in _LEAVES else goes)
        finally:
            self._leaves = None

    def _is_fixed(self, register: Register, depth: int) -> bool:
        """Whether a register holds what some instructions make of numbers."""
        makers = self.made_at.get(register, [])
        step = self.step(makers[0]) if len(makers) == 1 and depth else None
        if step is None or step.name not in PURE or not self._is_function(step):
            return False
        return all(
            one.kind in ("number", "float")
            or (one.kind == "register" and self._is_fixed(one.value, depth - 1))
            for one in step.sources
        )

    def _shape(self, term: object, order: list[int]) -> object:
        """A term with its leaves in the order in which they come."""
        if isinstance(term, tuple):
            return tuple(self._shape(one, order) for one in term)
        if not isinstance(term, int) or isinstance(term, bool):
            return term
        row = self.terms.rows[term]
        if row[0] == _LEAF:
            if row[1] not in order:
                order.append(row[1])
            return _LEAF, order.index(row[1])
        number = self.terms.constant_of(term)
        if number is not None:
            return "number", as_signed(row[1], number)
        # Numbers in rows are terms only where a rule puts them.
        return tuple(self._part(row, place, order) for place in range(len(row)))

    def _part(self, row: tuple[object, ...], place: int, order: list[int]) -> object:
        part = row[place]
        numbers = _NUMBERS.get(str(row[0]), ())
        if (row[0], place) in _WIDTHS:
            return None  # the same numbers compare alike, however many bits they have
        if place == 0 or place in numbers:
            return part
        if row[0] == "sum" and place == 3:
            return tuple((self._shape(atom, order), by) for atom, by in part)  # type: ignore[attr-defined]
        return self._shape(part, order)


def _is_argument(step: Step) -> bool:
    return step.name == "ld" and ".param" in step.modifiers and step.guard is None


def _is_lossy(step: Step) -> bool:
    return step.name in _LOSSY or bool(
        step.name in ("atom", "red") and step.modifiers & _LOSSY_ATOMICS
    )


def _is_logic(step: Step) -> bool:
    return step.type == "pred" and step.name in _LOGIC and len(step.sources) == 2
