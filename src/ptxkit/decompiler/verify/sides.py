"""What instructions choose from of which no launch has shown a side: see `openings`.

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
from ptxkit.decompiler.verify.dataflow.bounds import as_signed
from ptxkit.decompiler.verify.dataflow.decode import PURE, Known, Register, Step
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.decompiler.verify.openings import BEFORE, DEPTH, Openings, Place, is_logic, is_lossy
from ptxkit.decompiler.verify.outcome import event
from ptxkit.isa.types import SCALAR_TYPES

#: And back to numbers that something is made of.
_DEEP = 12
#: Parts of terms that are numbers, and not other terms.
_NUMBERS = {
    "sum": (1, 2), "multiply": (1,), "signed": (1, 2), "unsigned": (1, 2), "truncate": (1, 2),
    "eq": (1,), "lt": (1, 2), "part": (2,), "bit": (1,), "opaque": (1, 2, 3),
    "op": (2,),
}  # fmt: skip
_WIDTHS = frozenset((("eq", 1), ("lt", 2)))
_ROUNDED = frozenset(("add", "sub", "mul", "fma"))
_LEAVES = frozenset(("ret", "exit"))
_LEAF = "leaf"


@dataclass(frozen=True, slots=True)
class Form:
    """What an instruction does, and the registers that it does it with."""

    shape: object
    leaves: tuple[Register, ...]
    fixed: tuple[bool, ...]
    """For each whether it is made of numbers alone, and is always the same."""
    goes: str = ""
    """What comes next on the way that a branch never went."""


class Sides(Openings):
    """The instructions of a program of which a side never came, and what they choose from."""

    def __init__(
        self, coverage: Coverage, terms: Terms, known: Known, access: Access = as_written
    ) -> None:
        super().__init__(coverage, terms, known, access)
        self._leaves: list[Register] | None = None
        """What was read, while that is collected."""
        self._here: Place | None = None
        self._left = DEPTH
        self._asking: set[Register] = set()

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
        if is_lossy(step):
            if self._is_guarded(place):
                return whole
            return self.terms.make("under", whole, self._asks(step.guard[0]))
        # What is done on the other side, code that ran shows: a jump, or nothing.
        asked = self._asks(step.guard[0])
        mark = self._mark(place) if self._leaves is None else None
        return asked if mark is None else self.terms.make("goes to", asked, self._marked(mark))

    def asks(self, place: Place) -> Term:
        """The condition of a branch, or that it does not hold."""
        guard = self.step(place).guard
        assert guard is not None
        self._left, self._asking = DEPTH, set()
        return self._asks(guard[0])

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
            if is_logic(step):
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

    # ---- what they choose from, value by value ---------------------------------------------

    def forms(self) -> Iterator[tuple[Place, Form]]:
        """The forms of all instructions that ran and may choose something."""
        shown = {start for start, _ in self.coverage.shown}
        for place, step in self.all():
            start = self._key(place)
            asks = step.name == "bra" and step.guard is not None and start in self.coverage.sides
            if is_logic(step):
                for number in (0, 1):
                    if start in shown and self._varies(step, number):
                        one = replace(place, operand=number)
                        yield one, self.form(one)
            elif (start in shown and step.name != "bra") or asks or is_lossy(step):
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
