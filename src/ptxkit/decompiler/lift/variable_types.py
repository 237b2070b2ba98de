"""The types of the variables of a function, and the structures among them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Pointer, Type, Vector
from ptxkit.cuda.words import is_free
from ptxkit.decompiler.lift.cells import is_number, vector_type
from ptxkit.decompiler.lift.conversions import C_TYPES
from ptxkit.decompiler.lift.declared import agreed, declared_classes, declared_types
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.kinds import Kinds
from ptxkit.decompiler.lift.passed import call_slots
from ptxkit.decompiler.lift.places import Places
from ptxkit.decompiler.lift.records import Holder, Record
from ptxkit.decompiler.lift.signatures import Signatures
from ptxkit.decompiler.lift.structs import Layout, alike, united, vector_of
from ptxkit.decompiler.lift.values import Value, Variable, parts_of

T = TypeVar("T")


@dataclass(slots=True)
class VariableTypes:
    """Finds types; structures are the same ones wherever they are passed in a module."""

    signatures: Signatures
    structs: list[n.StructDefinition] = field(default_factory=list)
    layouts: dict[tuple[str, str], Layout] = field(default_factory=dict)
    fields: dict[str, tuple[int, int, dict[int, Type]]] = field(default_factory=dict)
    """The structures by their names: bytes, alignment, and fields by offset."""

    def find(
        self, program: Program, kinds: Kinds
    ) -> tuple[dict[Variable, Type], dict[Holder, Layout]]:
        """The types of all variables, and the layouts of those that are structures."""
        types: dict[Variable, Type] = {}
        layouts: dict[Holder, Layout] = {}
        calls = call_slots(program)
        function = program.lift.function
        signature = self.signatures.functions[function.name]
        for variable in program.variables:
            if variable.declared == "struct":
                layouts[variable] = self._layout(program, kinds, variable, calls)
                types[variable] = layouts[variable].type
            elif variable.declared == "vector":
                types[variable] = self._vector(kinds, variable)
            else:
                types[variable] = kinds.type_of(kinds.cell(variable), variable.width)
        made: dict[Record, Layout] = {}
        for holder, record in kinds.records.items():
            if record not in made:
                made[record] = self._record_layout(record, kinds)
            layouts[holder] = made[record]
            if isinstance(holder, Variable):
                const = not kinds.cell(holder).stored
                types[holder] = Pointer(made[record].type, const=const)
        for variable, declared in zip(program.parameters, kinds.declared, strict=False):
            used = kinds.cell(variable).used
            types[variable] = agreed(types[variable], declared, used=used)
        for variable, slot in zip(program.parameters, signature.parameters, strict=True):
            slot.c_type = types[variable]
        if program.result is not None:
            slot = signature.results[0]
            slot.c_type = types[program.result]
        for variable, (callee, place) in calls.items():
            if callee not in self.signatures.functions:
                continue
            other = self.signatures.functions[callee]
            slots = other.results if place < 0 else other.parameters
            if variable.declared == "struct":
                if max(place, 0) < len(slots) and slots[max(place, 0)].c_type is None:
                    # Of a function that is defined elsewhere.
                    slots[max(place, 0)].c_type = types[variable]
                continue
            chosen = slots[max(place, 0)].c_type if max(place, 0) < len(slots) else None
            if chosen is not None and not isinstance(chosen, Pointer):
                types[variable] = chosen
        return types, layouts

    def _vector(self, kinds: Kinds, variable: Variable) -> Type:
        width, count, fetched = self._shape(kinds.program, variable)
        cells = [kinds.component(variable, place) for place in range(count)]
        element = kinds.vector_element(cells, width)
        if width < 32 and fetched:
            element = C_TYPES[f"u{width}"]  # surfaces know no halves
        made = vector_type(element, count)
        if made is None:
            made = vector_type(C_TYPES[f"u{width}"], count)
        assert made is not None
        return made

    def _shape(self, program: Program, variable: Variable) -> tuple[int, int, bool]:
        """Bits of a part, how many there are, and whether a texture or surface gives it."""
        for block in program.flow.blocks.values():
            for step in block.statements:
                if step.kind == "set" and step.targets[0].variable is variable:
                    value = step.args[0]
                    if value.op == "load":
                        return value.data.width, value.data.count, False
                    if value.op == "texture":
                        return *value.data[2], True
        return 32, 4, False

    def _layout(
        self,
        program: Program,
        kinds: Kinds,
        variable: Variable,
        calls: dict[Variable, tuple[str, int]],
    ) -> Layout:
        function = program.lift.function.name
        if variable in calls:
            callee, place = calls[variable]
            key = (callee, str(place))
        elif variable.role == "parameter":
            key = (function, str(program.parameters.index(variable)))
        elif variable.role == "result":
            key = (function, "-1")
        else:
            key = (function, variable.register + str(variable.number))
        known = self.layouts.get(key)
        if known is not None:
            return known
        wanted: dict[int, Type] = {}
        for cell_key, cell in kinds.cells.items():
            if isinstance(cell_key, tuple) and cell_key[:2] == ("field", kinds.like(variable)):
                _, _, offset, width = cell_key
                if offset in wanted:
                    wanted = {}
                    break
                wanted[offset] = kinds.type_of(cell, width)
        size = variable.width // 8
        declared = declared_types(key[0])
        vector = _at(declared, key[1])
        if not declared or key[1] == "-1":  # names do not tell what is given back
            vector = vector_of(size, variable.alignment, wanted)
        if isinstance(vector, Vector) and vector.size == size and all(
            alike(type, vector.element) and at % vector.element.size == 0
            for at, type in wanted.items()
        ):  # fmt: skip
            known = Layout(vector.spelling, size, size)
            known.give_parts(vector)
        else:
            wish = _at(declared_classes(key[0]), key[1]) or ""
            known = self._named(wish, wanted, size, variable.alignment)
        self.layouts[key] = known
        return known

    def _record_layout(self, record: Record, kinds: Kinds) -> Layout:
        """The layout of what a parameter points to; one of the same fields may be there already."""
        vector = record.vector
        if record.lanes is not None:
            width, count = record.lanes
            cells = [kinds.part(record, k * width // 8, width) for k in range(count)]
            vector = vector_type(kinds.vector_element(cells, width), count)
            vector = vector or vector_type(C_TYPES[f"u{width}"], count)
        if vector is not None:
            layout = Layout(vector.spelling, record.size, vector.size)
            layout.give_parts(vector)
            return layout
        wanted: dict[int, Type] = {}
        before: dict[int, Type] = {}
        for at, width, count in sorted(record.parts):
            lanes = [kinds.part(record, at + k * width // 8, width) for k in range(count)]
            if len({is_number(c) for c in lanes} - {None}) > 1:
                # A vector of nothing that is one type: its parts are fields.
                wanted |= {
                    at + k * width // 8: kinds.type_of(c, width) for k, c in enumerate(lanes)
                }
                continue
            cell = max((c.find() for c in lanes), key=lambda c: any(c.votes.values()))
            type = kinds.type_of(cell, width)
            if width in before and not cell.pointer and not any(cell.votes.values()):
                type = before[width]  # read together with that, and used by nobody
            wanted[at] = before[width] = type
            if count > 1:
                whole = vector_type(type, count) or vector_type(C_TYPES[f"u{width}"], count)
                assert whole is not None
                wanted[at] = whole
        return self._named(record.wish, wanted, record.size, record.alignment)

    def _named(self, wish: str, wanted: dict[int, Type], size: int, alignment: int) -> Layout:
        """A layout that has a name; that of the same class, if their fields go together."""
        known = [one.name for one in self.structs]
        wish, first = (wish, 1) if wish and is_free(wish) else ("Struct", 0)
        names = (f"{wish}{number}" for number in itertools.count(first))
        taken = self.signatures.by_name.keys() | {
            f.name for f in self.signatures.functions.values()
        }
        for name in itertools.chain([wish] if first else [], names):
            layout = Layout(name, size, alignment)
            if name not in known and name not in taken:
                layout.give_fields(wanted)
                self.structs.append(layout.definition())
                self.fields[name] = size, alignment, wanted
                return layout
            if first and name in self.fields and self.fields[name][:2] == (size, alignment):
                both = united(self.fields[name][2], wanted)
                layout.give_fields(both or {})
                if both is not None and len(layout.fields) == len(both):
                    self.structs[known.index(name)] = layout.definition()
                    self.fields[name] = size, alignment, both
                    return layout
        raise AssertionError("names do not end")


def _at(types: Sequence[T], place: str) -> T | None:
    """What a name tells of a parameter, by its number."""
    return types[int(place)] if place.isdigit() and int(place) < len(types) else None


def restrict(program: Program, kinds: Kinds, types: dict[Variable, Type], places: Places) -> None:
    """``const`` and ``__restrict__`` for pointers that are only read.

    What a pointer reads that moves on from a parameter is read by that parameter.
    """
    origins = _Origins(program, kinds)
    plain: set[Variable | None] = set()
    constant: set[Variable | None] = set()
    seen: set[Value] = set()
    for block in program.flow.blocks.values():
        for step in block.statements:
            if step.kind == "store":
                plain.update(_origins_of(step.args[0], kinds, origins))
            for part in parts_of(step.args, seen):
                if part.op in ("load", "atomic"):
                    found = _origins_of(part.args[0], kinds, origins)
                    only_read = part.op == "load" and part.data.constant
                    (constant if only_read else plain).update(found)
    restricted: set[Variable | None] = set()
    for variable in program.parameters:
        type = types[variable]
        if not isinstance(type, Pointer):
            continue
        restrict = variable in constant and variable not in plain
        # What nobody writes may be read as constants are, though its type does not say so.
        if type.const or restrict:
            if restrict:
                restricted.add(variable)
            types[variable] = Pointer(type.target, const=type.const, restrict=restrict)
    places.restricted |= {v for v in program.variables if origins.of(v) <= restricted}
    places.restricted |= {v for v in program.parameters if v in restricted}


def _origins_of(address: Value, kinds: Kinds, origins: _Origins) -> set[Variable | None]:
    base = kinds.base(address)
    return origins.of(base.data.variable) if base is not None and base.op == "var" else set()


class _Origins:
    """Which parameters the pointers of a function were set from; None is anything else."""

    def __init__(self, program: Program, kinds: Kinds) -> None:
        self.sources: dict[Variable, set[Variable | None]] = {}
        for variable in program.parameters:
            self.sources[variable] = {variable}
        for block in program.flow.blocks.values():
            for step in block.statements:
                for target in step.targets:
                    if target.variable.width != 64:
                        continue
                    base = kinds.base(step.args[0]) if step.kind == "set" else None
                    known = base.data.variable if base is not None and base.op == "var" else None
                    self.sources.setdefault(target.variable, set()).add(known)

    def of(self, variable: Variable) -> set[Variable | None]:
        """The parameters that a pointer was set from."""
        found: set[Variable | None] = set()
        pending: list[Variable | None] = [variable]
        seen: set[Variable | None] = set()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            sources = {None} if one is None else self.sources.get(one, {None})
            if sources == {one}:
                found.add(one)
            else:
                pending += sources
        return found
