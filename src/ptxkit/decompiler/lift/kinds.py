"""Types from use: what each variable, parameter and array holds.

Instructions say how they take bits: ``lt.s`` a signed number, ``fadd`` a float, an
address a pointer to what is accessed. Copies, selections, loads and stores pass that on.
Votes decide where uses disagree; casts make up for the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd

from ptxkit.cuda.types import SCALARS, Pointer, Scalar, Type
from ptxkit.decompiler.lift.cells import (
    FLOATS,
    Cell,
    is_float,
    is_number,
    scalar_type,
    vector_type,
)
from ptxkit.decompiler.lift.context import copied_bytes
from ptxkit.decompiler.lift.declared import declared_classes, declared_types, votes_of
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.joining import halves_of, join_copies, join_lanes
from ptxkit.decompiler.lift.looks import looks_like_float
from ptxkit.decompiler.lift.reading import exit_values
from ptxkit.decompiler.lift.records import Holder, Record, find_records, holder_of
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.taking import gives, kind_of, takes
from ptxkit.decompiler.lift.values import Step, Value, Variable, parts_of

_SUMS = ("add", "sub")
_ARITHMETIC = frozenset("add sub mul and or xor not neg shl shr.s shr.u sext zext trunc".split())
#: The sizes of elements that there are types for.
_ELEMENTS = (2, 4, 8)
_COMPARED = frozenset("eq ne lt.u le.u gt.u ge.u".split())
_PASS_ON = frozenset("function call collective texture generic specific cvt".split())


_PAIRS = {"f16": "f16x2", "bf16": "bf16x2"}
_HALVES = {pair: half for half, pair in _PAIRS.items()}


#: Vectors have no more parts than this.
_MOST_PARTS = 4
#: More votes than a function has instructions.
_CERTAIN = 1 << 20


@dataclass
class Kinds:
    """The cells of one function."""

    program: Program
    plain: Container[Holder] | None = None
    """Parameters that point to numbers; None where all that point to anything do."""
    records: dict[Holder, Record] = field(default_factory=dict)
    """The parameters that point to structures, and the arrays of them."""
    cells: dict[object, Cell] = field(default_factory=dict)
    bases: dict[Value, Value | None] = field(default_factory=dict)
    weak: list[tuple[Cell, ...]] = field(default_factory=list)
    copies: list[tuple[Cell, Cell]] = field(default_factory=list)
    """What is loaded from memory, or stored there, and where: of one type, unless uses differ."""
    pairs: list[tuple[Value, Cell]] = field(default_factory=list)
    """Two halves of bits put together, and where they go."""
    compared: list[tuple[Value, Value]] = field(default_factory=list)
    """Numbers of 64 bits that are compared: two addresses are those of one array."""
    votes: dict[Value, Counter[tuple[Variable, str]] | None] = field(default_factory=dict)
    """How sums take the variables in them: an address may be the one before plus something."""

    def cell(self, key: object) -> Cell:
        """The cell of a variable (or of a symbol, by its name)."""
        found = self.cells.get(key)
        if found is None:
            found = self.cells[key] = Cell()
        return found.find()

    # ---- survey --------------------------------------------------------------------------

    def survey(self) -> None:
        """Look at every step."""
        for value in self.program.lift.pointers:
            terms = [t for t, k in sum_of(value).terms.items() if k == 1 and t.width == 64]
            if len(terms) == 1 and terms[0].op in ("var", "load", "component"):
                self._base_cell(terms[0]).pointer += 1
        self._declared()
        self._find_pointers()
        if self.plain is not None:
            classes = declared_classes(self.program.lift.function.name)
            found = find_records(self.program, self.base, self.declared, classes)
            self.records = {v: record for v, record in found.items() if v not in self.plain}
            self._vector_parts()
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                self._step(step)
            for value in exit_values(block):
                self.visit(value, "b")
        self._join_pairs()
        self._join_compared()
        join_copies(self.copies)
        join_lanes(self.cells.values())
        self._spread_signs()

    def _declared(self) -> None:
        """What is declared counts more than any use: pointers, and what a mangled name tells."""
        parameters = self.program.parameters
        for variable, node in zip(parameters, self.program.lift.function.parameters, strict=True):
            if node.is_pointer and variable.width == 64:
                self.cell(variable).pointer += 1
            if variable.declared in ("f32", "f64"):
                # Compilers write this for numbers that are declared so, and bits for others.
                self.cell(variable).votes[variable.declared] += _CERTAIN
        for variable, type in zip(parameters, self.declared, strict=False):
            if isinstance(type, Pointer) and variable.width == 64:
                cell = self.cell(variable)
                cell.pointer += 1
                cell.stored = cell.stored or not type.const
                width, kind = votes_of(type.target)
                if kind:
                    cell.element(width).votes[kind] += _CERTAIN
            elif type is not None and variable.declared == "struct":
                width, kind = votes_of(type)
                for at in range(0, variable.width if kind else 0, width or 1):
                    self.cell(("field", self.like(variable), at // 8, width)).votes[kind] += (
                        _CERTAIN
                    )
            elif type is not None and variable.declared != "vector":
                width, kind = votes_of(type)
                if kind and width == variable.width:
                    self.cell(variable).votes[kind] += _CERTAIN

    def _vector_parts(self) -> None:
        for record in set(self.records.values()):
            if record.vector is not None:
                width, kind = votes_of(record.vector)
                for at in range(0, record.size, record.vector.element.size):
                    self.part(record, at, width).votes[kind] += _CERTAIN

    def doubtful(self) -> set[Holder]:
        """What may hold numbers of one type alone, and no structures of these."""
        found: set[Holder] = set()
        for holder, record in self.records.items():
            cells = [(self.part(record, at, width), width) for at, width, _ in record.parts]
            types: set[object] = {self.type_of(cell, width) for cell, width in cells}
            if isinstance(holder, str):
                # Nobody says that an array holds more than numbers, but that they are both kinds.
                types = {is_number(cell.find()) for cell, _ in cells}
                types.discard(None)
            if not record.certain and len(types) < 2:
                found.add(holder)
        return found

    def record_of(self, base: Value | None) -> Record | None:
        """The structures in what an address begins with."""
        holder = holder_of(base) if base is not None else None
        return self.records.get(holder) if holder is not None else None

    def like(self, variable: Variable) -> Variable:
        """The first of the parameters that are structures of the same class."""
        return self._classes.get(variable, variable)

    @cached_property
    def _classes(self) -> dict[Variable, Variable]:
        first: dict[tuple[str, int, int], Variable] = {}
        found: dict[Variable, Variable] = {}
        names = declared_classes(self.program.lift.function.name)
        for variable, name in zip(self.program.parameters, names, strict=False):
            if name and variable.declared == "struct":
                key = name, variable.width, variable.alignment
                found[variable] = first.setdefault(key, variable)
        return found

    def part(self, record: Record, at: int, width: int) -> Cell:
        """The cell of a part of a structure."""
        return self.cell(("part", record, at, width))

    @cached_property
    def declared(self) -> tuple[Type | None, ...]:
        """The types of parameters, as far as the function's name tells."""
        return declared_types(self.program.lift.function.name)

    def _find_pointers(self) -> None:
        """Variables set to an address plus something are addresses too."""
        sets: list[tuple[Variable, Value]] = []
        seen: set[Value] = set()
        for block in self.program.flow.blocks.values():
            for step in block.statements:
                if step.kind == "set" and step.targets[0].variable.width == 64:
                    sets.append((step.targets[0].variable, step.args[0]))
                for part in parts_of(step.args, seen):
                    if part.op in ("load", "atomic"):
                        self._claim(part.args[0])
                if step.kind == "store":
                    self._claim(step.args[0])
        changed = True
        while changed:
            changed = False
            for variable, value in sets:
                target = self.cell(variable)
                base = self.base(value)
                if base is None:
                    continue
                source = self._base_cell(base)
                known = target.pointer or base.op in ("symbol", "slot", "generic")
                if (known or source.pointer) and target is not source:
                    target.pointer += 1
                    target.join(source)
                    self.cell(variable).pointer += 1
                    changed = True

    def _claim(self, address: Value) -> None:
        """An access: one of the terms of its address is where the array begins."""
        if address.width != 64:
            return
        base = self.base(address)
        if base is None:
            terms = sum_of(address).terms
            found = [t for t, k in terms.items() if k == 1 and t.op in ("var", "load", "component")]
            if len(found) == 1:
                self._base_cell(found[0]).pointer += 1

    def base(self, address: Value) -> Value | None:
        """The term of an address that is an array or a pointer, if just one is."""
        total = sum_of(address)
        found = [t for t, k in total.terms.items() if k == 1 and t.op in ("symbol", "slot")]
        pointers = [
            t
            for t, k in total.terms.items()
            if k in (1, -1)
            and t.op in ("var", "load", "component", "select")
            and t.width == 64
            and self._base_cell(t).pointer
        ]
        if any(total.terms[t] == -1 for t in pointers):
            return None  # how far two places are apart
        found = found or pointers
        return found[0] if len(found) == 1 else None

    def _base_cell(self, base: Value) -> Cell:
        if base.op == "var":
            return self.cell(base.data.variable)
        if base.op == "symbol":
            return self.cell(("array", base.data[1]))
        if base.op == "slot":
            return self.cell(("array", base.data))
        cell = self.cell_of(base)
        return cell if cell is not None else Cell()

    # ---- cells of values -----------------------------------------------------------------

    def cell_of(self, value: Value) -> Cell | None:
        """The cell of a value that is a copy of something."""
        op = value.op
        if op == "var":
            return self.cell(value.data.variable)
        if op == "load":
            return self.accessed(value.args[0], value.data.width, value.data.count, count_it=False)
        if op == "component":
            return self.component(value.args[0].data.variable, value.data)
        return None

    def component(self, vector: Variable, place: int) -> Cell:
        """The cell of a part of a vector."""
        return self.cell(("component", vector, place))

    def lanes(self, address: Value, width: int, count: int) -> list[Cell]:
        """The cells of the parts of a vector that is accessed; none where nobody knows."""
        base = self.base(address)
        if base is None:
            return []
        record = self.record_of(base)
        if record is not None:
            _, inside = record.place(sum_of(address).without(base))
            return [self.part(record, inside + k * width // 8, width) for k in range(count)]
        cell = self._base_cell(base)
        return [cell.element((width, count, k)) for k in range(count)]

    def accessed(self, address: Value, width: int, count: int, *, count_it: bool = True,
                 stored: bool = False) -> Cell | None:  # fmt: skip
        """The cell of what an access accesses."""
        base = self.base(address)
        if base is None:
            return None
        if base.op == "slot":
            at = sum_of(address).without(base)
            if not at.terms:
                return self.cell(("field", self.like(base.data), at.constant, width))
        cell = self._base_cell(base)
        if count_it:
            cell.accesses[(width, count)] += 1
            cell.stored = cell.stored or stored
        record = self.record_of(base)
        if record is not None:
            _, inside = record.place(sum_of(address).without(base))
            return self.part(record, inside, width)
        return cell.element(width)

    # ---- steps ---------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if step.kind == "set":
            variable, value = step.targets[0].variable, step.args[0]
            if variable.declared == "vector":
                if value.op == "load":
                    self._vector_load(value, variable)
                else:
                    for place in range(_MOST_PARTS):
                        self.component(variable, place).votes[kind_of(variable.register)] += 1
                    self.visit(value, "")
                return
            self._flows(value, self.cell(variable), variable.width)
            if variable.width == 64:
                self._stride(value)
        elif step.kind == "store":
            address, *values = step.args
            self.visit_address(address)
            access = step.data
            whole = self.accessed(address, access.width, access.count, stored=True)
            cells: list[Cell | None] = [whole]
            if access.count > 1:
                cells = [*self.lanes(address, access.width, access.count)] or [None] * len(values)
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
                self.visit(value, kind_of(type))
            for value in step.args[: step.data[3]]:
                self.visit(value, "")
            updates = iter(step.args[: step.data[3]])
            for made, (type, both) in zip(step.targets, step.data[1], strict=True):
                if kind_of(type):
                    self.cell(made.variable).votes[kind_of(type)] += 1
                source = self.cell_of(next(updates)) if both else None
                if source is not None:
                    self.cell(made.variable).join(source)
        elif step.kind == "outputs":
            for value in step.args:
                self.visit(value, kind_of(step.data[1]))
            for made in step.targets:
                self.cell(made.variable).votes[kind_of(step.data[1])] += 1
        else:
            for value in step.args:
                self.visit(value, "")
                if step.kind == "return" and value.width == 64:
                    self._escapes(value)

    def _copied(self, step: Step) -> bool:
        """A copy beside the program reads and writes numbers of one type."""
        size = copied_bytes(step.data[0])
        if size:
            target, source = step.args[:2]
            one = self.accessed(target, 32, size // 4, stored=True)
            two = self.accessed(source, 32, size // 4)
            if one is not None and two is not None:
                one.join(two)
        return bool(size)

    def _access(self, value: Value, target: Cell | None) -> None:
        self.visit_address(value.args[0])
        access = value.data
        cell = self.accessed(value.args[0], access.width, access.count)
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
        self.visit_address(value.args[0])
        access = value.data
        self.accessed(value.args[0], access.width, access.count)
        kind = kind_of(access.type) if access.type[0] != "u" or access.width < 32 else ""
        cells = self.lanes(value.args[0], access.width, access.count)
        for place in range(access.count):
            component = self.component(variable, place)
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
            self.visit(value, kind)

    def _join_compared(self) -> None:
        """What nobody reads or writes through points to what it is compared with."""
        for pair in self.compared:
            bases = [self.base(value) for value in pair]
            cells = [self._base_cell(base) for base in bases if base is not None]
            if len(cells) == 2 and all(c.pointer for c in cells):
                one, two = (c.find() for c in cells)
                if one is not two and bool(one.accesses) != bool(two.accesses):
                    one.join(two)

    def vector_element(self, cells: Sequence[Cell], width: int) -> Type:
        """What most parts of a vector are."""
        known = [c for c in (c.find() for c in cells) if c.pointer or any(c.votes.values())]
        types = Counter(self.type_of(c, width) for c in known or cells)
        return max(types, key=lambda t: (types[t], isinstance(t, Scalar) and t.is_float))

    def _flows(
        self, value: Value, target: Cell | None, width: int, *, memory: bool = False
    ) -> None:
        """A value goes where a cell says what it is, or is said what it is by it.

        What goes to ``memory`` may be something else there.
        """
        op = value.op
        if op == "select":
            self.visit(value.args[0], "b")
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
                    self.visit(argument, kind_of(value.data[0].takes[position]))
            return None
        if op == "or" and target is not None and halves_of(value) is not None:
            self.pairs.append((value, target))
            return None
        cell = self.cell_of(value)
        if cell is not None and target is not None:
            if memory:
                self._copy(cell, target)
            else:
                cell.join(target)
            return None
        given = gives(value)
        if target is not None and given:
            target.find().votes[given] += 1
        self.visit(value, given)
        if given == "b" and target is not None:
            parts = [self.cell_of(a) for a in value.args if a.width == width]
            known = tuple(c for c in parts if c is not None)
            if known:
                self.weak.append((target, *known))
        return None

    def visit(self, value: Value, kind: str) -> None:
        """Note how a value is taken."""
        op = value.op
        if op == "const":
            return
        if op == "var":
            if kind:
                self.cell(value.data.variable).votes[kind] += 1
            return
        if op == "load":
            self._access(value, None)
            cell = self.cell_of(value)
            if cell is not None and kind:
                cell.votes[kind] += 1
            return
        if op == "component":
            if kind:
                self.component(value.args[0].data.variable, value.data).votes[kind] += 1
            return
        if op == "select":
            self.visit(value.args[0], "b")
            self.visit(value.args[1], kind)
            self.visit(value.args[2], kind)
            self._same(value.args[1], value.args[2])
            return
        if op == "atomic":
            self._atomic(value)
            return
        if op == "trunc" and kind in _PAIRS and value.args[0].width == 32:
            # Half of a pair.
            whole = value.args[0]
            up = whole.op == "shr.u" and whole.args[1].op == "const" and whole.args[1].data == 16
            self.visit(whole.args[0] if up else whole, _PAIRS[kind])
            return
        if op == "or" and kind in _HALVES and (halves := halves_of(value)) is not None:
            for half in halves:
                self.visit(half, _HALVES[kind])
            return
        if op in _SUMS and value.args[0].op in _SUMS and (votes := self._votes(value)) is not None:
            for (variable, taken), times in votes.items():
                self.cell(variable).votes[taken] += times
            return
        for argument, taken in zip(
            value.args, takes(value, self.program.lift.signatures), strict=True
        ):
            self.visit(argument, taken)
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
        base = self.base(value)
        if base is not None:
            self._base_cell(base).stored = True

    def _stride(self, address: Value) -> None:
        """Note how far from its base an address may be, where no access tells what is there."""
        base = self.base(address)
        if base is not None and base.op not in ("symbol", "slot"):
            total = sum_of(address).without(base)
            cell = self._base_cell(base)
            cell.stride = gcd(cell.stride, total.constant, *total.terms.values())

    def _same(self, one: Value, two: Value) -> None:
        first, second = self.cell_of(one), self.cell_of(two)
        if first is not None and second is not None:
            self.weak.append((first, second))

    def _atomic(self, value: Value) -> None:
        name, access = value.data
        self.visit_address(value.args[0])
        cell = self.accessed(value.args[0], access.width, 1, stored=True)
        kind = kind_of(access.type)
        for argument in value.args[1:]:
            self.visit(argument, kind)
        # Sums are the same with and without a sign; those of 64 bits have none in C++.
        either = name.startswith("atomicAdd") and kind == "u" and access.width < 64
        if cell is not None and kind and not either:
            cell.votes[kind] += 2

    def visit_address(self, address: Value) -> None:
        """Note how the parts of an address are taken: its terms are indices."""
        base = self.base(address)
        for term in sum_of(address).terms:
            if term is base:
                if term.op == "load":
                    self._access(term, None)
                elif term.op == "select":
                    self.visit(term, "")
                continue
            self.visit(term, "b")

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

    # ---- types ---------------------------------------------------------------------------

    def type_of(self, cell: Cell, width: int, depth: int = 0) -> Type:
        """The C++ type of a cell of a width."""
        cell = cell.find()
        if width == 64 and cell.pointer and depth < 4:
            return Pointer(self.element_type(cell, depth + 1), const=not cell.stored)
        return scalar_type(cell.votes, width)

    def pointer_type(self, base: Value) -> Type:
        """The type of what an address begins with."""
        return self.type_of(self._base_cell(base), 64)

    def element_type(self, cell: Cell, depth: int = 0) -> Type:
        """What a pointer or array holds: what it is accessed as most."""
        cell = cell.find()
        if not cell.accesses:
            bits = 8 * cell.stride if cell.stride in _ELEMENTS else 8
            return SCALARS["char"] if bits == 8 else self.type_of(cell.element(bits), bits, depth)
        scalars = Counter[int]()
        for (width, count), times in cell.accesses.items():
            if count == 1:
                scalars[width] += times
        if not scalars:
            (width, count), _ = max(cell.accesses.items(), key=lambda item: (item[1], item[0]))
            if len(cell.accesses) > 1:
                return self.type_of(cell.element(width), width, depth)
            made = vector_type(self.type_of(cell.element(width), width, depth), count)
            return made or self.type_of(cell.element(width), width, depth)
        width = max(scalars, key=lambda w: (scalars[w], -w))
        return self.type_of(cell.element(width), width, depth)


def surveyed(program: Program, *, structures: bool) -> Kinds:
    """The cells of a function; of ``structures`` too, where it tells that there are some."""
    kinds = Kinds(program, () if structures else None)
    kinds.survey()
    doubtful = kinds.doubtful()
    if doubtful:
        kinds = Kinds(program, doubtful)
        kinds.survey()
    return kinds
