"""Types from use: what each variable, parameter and array holds.

Instructions say how they take bits: ``lt.s`` a signed number, ``fadd`` a float, an
address a pointer to what is accessed. Copies, selections, loads and stores pass that on.
Votes decide where uses disagree; casts make up for the rest. `kind_survey` collects them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ptxkit.cuda.types import SCALARS, Pointer, Scalar, Type
from ptxkit.decompiler.lift.cells import Cell, scalar_type, vector_type
from ptxkit.decompiler.lift.declared import declared_classes, declared_types
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.records import Holder, Record, holder_of
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.values import Value, Variable

#: The sizes of elements that there are types for.
_ELEMENTS = (2, 4, 8)


@dataclass
class Kinds:
    """The cells of one function."""

    program: Program
    records: dict[Holder, Record] = field(default_factory=dict)
    """The parameters that point to structures, and the arrays of them."""
    cells: dict[object, Cell] = field(default_factory=dict)

    def cell(self, key: object) -> Cell:
        """The cell of a variable (or of a symbol, by its name)."""
        found = self.cells.get(key)
        if found is None:
            found = self.cells[key] = Cell()
        return found.find()

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

    # ---- cells of values -------------------------------------------------------------------

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
            and self.base_cell(t).pointer
        ]
        if any(total.terms[t] == -1 for t in pointers):
            return None  # how far two places are apart
        found = found or pointers
        return found[0] if len(found) == 1 else None

    def base_cell(self, base: Value) -> Cell:
        """The cell of what an address begins with."""
        if base.op == "var":
            return self.cell(base.data.variable)
        if base.op == "symbol":
            return self.cell(("array", base.data[1]))
        if base.op == "slot":
            return self.cell(("array", base.data))
        cell = self.cell_of(base)
        return cell if cell is not None else Cell()

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
        cell = self.base_cell(base)
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
        cell = self.base_cell(base)
        if count_it:
            cell.accesses[(width, count)] += 1
            cell.stored = cell.stored or stored
        record = self.record_of(base)
        if record is not None:
            _, inside = record.place(sum_of(address).without(base))
            return self.part(record, inside, width)
        return cell.element(width)

    # ---- types -----------------------------------------------------------------------------

    def type_of(self, cell: Cell, width: int, depth: int = 0) -> Type:
        """The C++ type of a cell of a width."""
        cell = cell.find()
        if width == 64 and cell.pointer and depth < 4:
            return Pointer(self.element_type(cell, depth + 1), const=not cell.stored)
        return scalar_type(cell.votes, width)

    def pointer_type(self, base: Value) -> Type:
        """The type of what an address begins with."""
        return self.type_of(self.base_cell(base), 64)

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

    def vector_element(self, cells: Sequence[Cell], width: int) -> Type:
        """What most parts of a vector are."""
        known = [c for c in (c.find() for c in cells) if c.pointer or any(c.votes.values())]
        types = Counter(self.type_of(c, width) for c in known or cells)
        return max(types, key=lambda t: (types[t], isinstance(t, Scalar) and t.is_float))
