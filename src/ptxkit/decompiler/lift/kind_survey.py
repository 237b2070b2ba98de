"""How the instructions of a function take bits: the votes for what its cells hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field
from math import gcd

from ptxkit.decompiler.lift.cells import FLOATS, Cell, is_float, is_number
from ptxkit.decompiler.lift.context import copied_bytes
from ptxkit.decompiler.lift.declared import declared_classes
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.joining import halves_of, join_copies, join_lanes
from ptxkit.decompiler.lift.kind_starts import count_declared, count_vector_parts, find_pointers
from ptxkit.decompiler.lift.kinds import Kinds
from ptxkit.decompiler.lift.looks import looks_like_float
from ptxkit.decompiler.lift.reading import exit_values
from ptxkit.decompiler.lift.records import Holder, find_records
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.taking import gives, kind_of, takes
from ptxkit.decompiler.lift.truths import truth_of
from ptxkit.decompiler.lift.values import Step, Value, Variable

_SUMS = ("add", "sub")
_ARITHMETIC = frozenset("add sub mul and or xor not neg shl shr.s shr.u sext zext trunc".split())
_COMPARED = frozenset("eq ne lt.u le.u gt.u ge.u".split())
_PASS_ON = frozenset("function call collective texture generic specific cvt".split())


_PAIRS = {"f16": "f16x2", "bf16": "bf16x2"}
_HALVES = {pair: half for half, pair in _PAIRS.items()}


#: What holds what another one does, so that both are of one type.
_READ = ("var", "load", "component", "select")
#: Vectors have no more parts than this.
_MOST_PARTS = 4


def surveyed(program: Program, *, structures: bool) -> Kinds:
    """The cells of a function; of ``structures`` too, where it tells that there are some."""
    survey = _Survey(program, () if structures else None)
    survey.run()
    doubtful = survey.doubtful()
    if doubtful:
        survey = _Survey(program, doubtful)
        survey.run()
    return survey.kinds


@dataclass
class _Survey:
    """Looks at every step of one function."""

    program: Program
    plain: Container[Holder] | None = None
    """Parameters that point to numbers; None where all that point to anything do."""
    weak: list[tuple[Cell, ...]] = field(default_factory=list)
    copies: list[tuple[Cell, Cell]] = field(default_factory=list)
    """What is loaded from memory, or stored there, and where: of one type, unless uses differ."""
    pairs: list[tuple[Value, Cell]] = field(default_factory=list)
    """Two halves of bits put together, and where they go."""
    compared: list[tuple[Value, Value]] = field(default_factory=list)
    """Numbers of 64 bits that are compared: two addresses are those of one array."""
    votes: dict[Value, Counter[tuple[Variable, str]] | None] = field(default_factory=dict)
    """How sums take the variables in them: an address may be the one before plus something."""

    def __post_init__(self) -> None:
        self.kinds = Kinds(self.program)

    def run(self) -> None:
        """Look at every step."""
        count_declared(self.kinds, careful=self.plain is None)
        find_pointers(self.kinds)
        if self.plain is not None:
            classes = declared_classes(self.program.lift.function.name)
            found = find_records(self.program, self.kinds.base, self.kinds.declared, classes)
            self.kinds.records = {v: record for v, record in found.items() if v not in self.plain}
            count_vector_parts(self.kinds)
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                self._step(step)
            for value in exit_values(block):
                self._visit(value, "b")
        self._join_pairs()
        self._join_compared()
        join_copies(self.copies)
        join_lanes(self.kinds.cells.values())
        self._spread_signs()

    def doubtful(self) -> set[Holder]:
        """What may hold numbers of one type alone, and no structures of these."""
        found: set[Holder] = set()
        for holder, record in self.kinds.records.items():
            cells = [(self.kinds.part(record, at, width), width) for at, width, _ in record.parts]
            types: set[object] = {self.kinds.type_of(cell, width) for cell, width in cells}
            if isinstance(holder, str):
                # Nobody says that an array holds more than numbers, but that they are both kinds.
                types = {is_number(cell.find()) for cell, _ in cells}
                types.discard(None)
            if not record.certain and len(types) < 2:
                found.add(holder)
        return found

    def _step(self, step: Step) -> None:
        if step.kind == "set":
            variable, value = step.targets[0].variable, step.args[0]
            if variable.declared == "vector":
                if value.op == "load":
                    self._vector_load(value, variable)
                else:
                    for place in range(_MOST_PARTS):
                        self.kinds.component(variable, place).votes[kind_of(variable.register)] += 1
                    self._visit(value, "")
                return
            self._flows(value, self.kinds.cell(variable), variable.width)
            if variable.width == 64:
                self._stride(value)
        elif step.kind == "store":
            address, *values = step.args
            self._visit_address(address)
            access = step.data
            whole = self.kinds.accessed(address, access.width, access.count, stored=True)
            cells: list[Cell | None] = [whole]
            if access.count > 1:
                cells = [*self.kinds.lanes(address, access.width, access.count)] or [None] * len(
                    values
                )
            for value, cell in zip(values, cells, strict=True):
                if kind_of(access.type) and cell is not None:
                    cell.votes[kind_of(access.type)] += 1 if access.type[0] != "u" else 0
                self._flows(value, cell, access.width, memory=True)
                if value.op == "const" and value.data and cell is not None:
                    cell.votes["looks" if looks_like_float(value.data, access.width) else "no"] += 1
                if access.width == 64:
                    self._escapes(value)
        elif step.kind == "asm":
            copied = self._copied(step)
            for value in step.args:
                if value.width == 64 and not copied:
                    self._escapes(value)
                    self._stride(value)
            for value, type in zip(step.args[step.data[3] :], step.data[2], strict=True):
                self._visit(value, kind_of(type))
            for value in step.args[: step.data[3]]:
                self._visit(value, "")
            updates = iter(step.args[: step.data[3]])
            for made, (type, both) in zip(step.targets, step.data[1], strict=True):
                if kind_of(type):
                    self.kinds.cell(made.variable).votes[kind_of(type)] += 1
                source = self.kinds.cell_of(next(updates)) if both else None
                if source is not None:
                    self.kinds.cell(made.variable).join(source)
        elif step.kind == "outputs":
            for value in step.args:
                self._visit(value, kind_of(step.data[1]))
            for made in step.targets:
                self.kinds.cell(made.variable).votes[kind_of(step.data[1])] += 1
        else:
            for value in step.args:
                self._visit(value, "")
                if step.kind == "return" and value.width == 64:
                    self._escapes(value)

    def _copied(self, step: Step) -> bool:
        """A copy beside the program reads and writes numbers of one type."""
        size = copied_bytes(step.data[0])
        if size:
            target, source = step.args[:2]
            one = self.kinds.accessed(target, 32, size // 4, stored=True)
            two = self.kinds.accessed(source, 32, size // 4)
            if one is not None and two is not None:
                one.join(two)
        return bool(size)

    def _access(self, value: Value, target: Cell | None) -> None:
        self._visit_address(value.args[0])
        access = value.data
        cell = self.kinds.accessed(value.args[0], access.width, access.count)
        kind = kind_of(access.type)
        if cell is not None:
            if kind and (access.type[0] != "u" or access.width < 32):
                cell.votes[kind] += 1
            elif kind and access.count == 1:
                cell.votes["word"] += 3  # a number, with a sign or without, or two halves
            if target is not None:
                self._copy(cell, target)
        elif target is not None and kind and access.type[0] != "u":
            target.votes[kind] += 1

    def _vector_load(self, value: Value, variable: Variable) -> None:
        self._visit_address(value.args[0])
        access = value.data
        self.kinds.accessed(value.args[0], access.width, access.count)
        kind = kind_of(access.type) if access.type[0] != "u" or access.width < 32 else ""
        cells = self.kinds.lanes(value.args[0], access.width, access.count)
        for place in range(access.count):
            component = self.kinds.component(variable, place)
            if kind and (place == 0 or kind in FLOATS):
                (cells[place] if cells else component).votes[kind] += 1
            if cells:
                self._copy(cells[place], component)

    def _copy(self, one: Cell, two: Cell) -> None:
        """Bits in memory and in a variable: of one type, but for what uses of both say."""
        if one.find().pointer or two.find().pointer:
            one.join(two)
        else:
            self.copies.append((one, two))

    def _join_pairs(self) -> None:
        """What two halves are put together in is a pair of them, if anybody takes it for one."""
        for value, target in self.pairs:
            kind = next((k for k in _HALVES if target.find().votes[k]), "b")
            target.find().votes[kind] += 1
            self._visit(value, kind)

    def _join_compared(self) -> None:
        """What nobody reads or writes through points to what it is compared with."""
        for pair in self.compared:
            bases = [self.kinds.base(value) for value in pair]
            cells = [self.kinds.base_cell(base) for base in bases if base is not None]
            if len(cells) == 2 and all(c.pointer for c in cells):
                one, two = (c.find() for c in cells)
                if one is not two and bool(one.accesses) != bool(two.accesses):
                    one.join(two)

    def _flows(
        self, value: Value, target: Cell | None, width: int, *, memory: bool = False
    ) -> None:
        """A value goes where a cell says what it is, or is said what it is by it.

        What goes to ``memory`` may be something else there.
        """
        op = value.op
        if target is not None and width == 8 and op not in _READ and truth_of(value) is None:
            target.find().votes["wide"] += 1  # more than 0 and 1: no bool holds it
        if op == "select":
            self._visit(value.args[0], "b")
            self._flows(value.args[1], target, width, memory=memory)
            self._flows(value.args[2], target, width, memory=memory)
            return None
        if op == "load":
            return self._access(value, target)
        if op == "collective" and value.data[0].gives in ("b32", "b64"):
            # A shuffle gives what it takes.
            for position, argument in enumerate(value.args):
                if value.data[0].takes[position] == value.data[0].gives:
                    self._flows(argument, target, value.width, memory=memory)
                else:
                    self._visit(argument, kind_of(value.data[0].takes[position]))
            return None
        if op == "or" and target is not None and halves_of(value) is not None:
            self.pairs.append((value, target))
            return None
        cell = self.kinds.cell_of(value)
        if cell is not None and target is not None:
            if memory:
                self._copy(cell, target)
            else:
                cell.join(target)
            return None
        given = gives(value)
        if target is not None and given:
            target.find().votes[given] += 1
        self._visit(value, given)
        if given == "b" and target is not None:
            parts = [self.kinds.cell_of(a) for a in value.args if a.width == width]
            known = tuple(c for c in parts if c is not None)
            if known:
                self.weak.append((target, *known))
        return None

    def _visit(self, value: Value, kind: str) -> None:
        """Note how a value is taken."""
        op = value.op
        if op == "const":
            return
        if op == "var":
            if kind:
                self.kinds.cell(value.data.variable).votes[kind] += 1
            return
        if op == "load":
            self._access(value, None)
            cell = self.kinds.cell_of(value)
            if cell is not None and kind:
                cell.votes[kind] += 1
            return
        if op == "component":
            if kind:
                self.kinds.component(value.args[0].data.variable, value.data).votes[kind] += 1
            return
        if op == "select":
            self._visit(value.args[0], "b")
            self._visit(value.args[1], kind)
            self._visit(value.args[2], kind)
            self._same(value.args[1], value.args[2])
            return
        if op == "atomic":
            self._atomic(value)
            return
        if op == "trunc" and kind in _PAIRS and value.args[0].width == 32:
            # Half of a pair.
            whole = value.args[0]
            up = whole.op == "shr.u" and whole.args[1].op == "const" and whole.args[1].data == 16
            self._visit(whole.args[0] if up else whole, _PAIRS[kind])
            return
        if op == "or" and kind in _HALVES and (halves := halves_of(value)) is not None:
            for half in halves:
                self._visit(half, _HALVES[kind])
            return
        if op in _SUMS and value.args[0].op in _SUMS and (votes := self._votes(value)) is not None:
            for (variable, taken), times in votes.items():
                self.kinds.cell(variable).votes[taken] += times
            return
        for argument, taken in zip(
            value.args, takes(value, self.program.lift.signatures), strict=True
        ):
            self._visit(argument, taken)
            if argument.width == 64 and op in _PASS_ON:
                self._escapes(argument)
        if op in ("eq", "ne"):
            self._same(*value.args)
        if op in _COMPARED and value.args[0].width == 64:
            self.compared.append((value.args[0], value.args[1]))

    def _votes(self, value: Value) -> Counter[tuple[Variable, str]] | None:
        """How an operation takes the variables in it, if it is arithmetic of nothing else."""
        if value in self.votes:
            return self.votes[value]
        found: Counter[tuple[Variable, str]] = Counter()
        self.votes[value] = None
        for argument, taken in zip(
            value.args, takes(value, self.program.lift.signatures), strict=True
        ):
            if argument.op == "var":
                found[argument.data.variable, taken] += 1
            elif argument.op in _ARITHMETIC:
                inner = self._votes(argument)
                if inner is None:
                    return None
                for key, times in inner.items():
                    found[key] += times
            elif argument.args:
                return None
        self.votes[value] = found
        return found

    def _escapes(self, value: Value) -> None:
        """A pointer that goes somewhere else may be written through there."""
        base = self.kinds.base(value)
        if base is not None:
            self.kinds.base_cell(base).stored = True

    def _stride(self, address: Value) -> None:
        """Note how far from its base an address may be, where no access tells what is there."""
        base = self.kinds.base(address)
        if base is not None and base.op not in ("symbol", "slot"):
            total = sum_of(address).without(base)
            cell = self.kinds.base_cell(base)
            cell.stride = gcd(cell.stride, total.constant, *total.terms.values())

    def _same(self, one: Value, two: Value) -> None:
        first, second = self.kinds.cell_of(one), self.kinds.cell_of(two)
        if first is not None and second is not None:
            self.weak.append((first, second))

    def _atomic(self, value: Value) -> None:
        name, access = value.data
        self._visit_address(value.args[0])
        cell = self.kinds.accessed(value.args[0], access.width, 1, stored=True)
        kind = kind_of(access.type)
        for argument in value.args[1:]:
            self._visit(argument, kind)
        # Sums are the same with and without a sign; those of 64 bits have none in C++.
        either = name.startswith("atomicAdd") and kind == "u" and access.width < 64
        if cell is not None and kind and not either:
            cell.votes[kind] += 2

    def _visit_address(self, address: Value) -> None:
        """Note how the parts of an address are taken: its terms are indices."""
        base = self.kinds.base(address)
        for term in sum_of(address).terms:
            if term is base:
                if term.op == "load":
                    self._access(term, None)
                elif term.op == "select":
                    self._visit(term, "")
                continue
            self._visit(term, "b")

    def _spread_signs(self) -> None:
        """Variables that nothing gives a sign take that of what they are computed from."""
        for _ in range(2):
            for group in self.weak:
                cells = [c.find() for c in group]
                signs = Counter[str]()
                for cell in cells:
                    if cell.votes["s"] != cell.votes["u"]:
                        signs["s" if cell.votes["s"] > cell.votes["u"] else "u"] += 1
                if not signs:
                    continue
                sign = "s" if signs["s"] >= signs["u"] else "u"
                for cell in cells:
                    if not cell.votes["s"] and not cell.votes["u"] and not is_float(cell):
                        cell.votes[sign] += 1
