"""What is known of cells before any instruction votes: what is declared, and what is a pointer."""

from __future__ import annotations

from ptxkit.cuda.types import BOOL, Pointer, Type, Vector
from ptxkit.decompiler.lift.cells import Cell
from ptxkit.decompiler.lift.declared import votes_of
from ptxkit.decompiler.lift.kinds import Kinds
from ptxkit.decompiler.lift.passed import passed_pointers
from ptxkit.decompiler.lift.sums import sum_of
from ptxkit.decompiler.lift.values import Value, Variable, parts_of

#: More votes than a function has instructions.
_CERTAIN = 1 << 20


def count_declared(kinds: Kinds, careful: bool) -> None:
    """What is declared counts more than any use: pointers, and what a mangled name tells."""
    for value in kinds.program.lift.pointers:
        terms = [t for t, k in sum_of(value).terms.items() if k == 1 and t.width == 64]
        if len(terms) == 1 and terms[0].op in ("var", "load", "component"):
            kinds.base_cell(terms[0]).pointer += 1
    parameters = kinds.program.parameters
    for variable, node in zip(parameters, kinds.program.lift.function.parameters, strict=True):
        if node.is_pointer and variable.width == 64:
            kinds.cell(variable).pointer += 1
        if variable.declared in ("f32", "f64"):
            # Compilers write this for numbers that are declared so, and bits for others.
            kinds.cell(variable).votes[variable.declared] += _CERTAIN
    for variable, type in zip(parameters, kinds.declared, strict=False):
        if isinstance(type, Pointer) and variable.width == 64:
            _count_pointer(kinds.cell(variable), type, careful)
        elif type is not None and variable.declared == "struct":
            width, kind = votes_of(type)
            for at in range(0, variable.width if kind else 0, width or 1):
                kinds.cell(("field", kinds.like(variable), at // 8, width)).votes[kind] += _CERTAIN
        elif type is not None and variable.declared != "vector":
            width, kind = _votes_of(type, careful)
            if kind and width == variable.width:
                kinds.cell(variable).votes[kind] += _CERTAIN


def _count_pointer(cell: Cell, type: Pointer, careful: bool = False) -> None:
    """What holds a pointer of a type that is known."""
    cell.pointer += 1
    cell.stored = cell.stored or not type.const
    width, kind = _votes_of(type.target, careful)
    if kind:
        cell.element(width).votes[kind] += _CERTAIN


def _votes_of(type: Type, careful: bool) -> tuple[int, str]:
    """What a declared type says; a byte is a ``bool`` only where nobody has to be careful."""
    return (8, "bool") if type == BOOL and not careful else votes_of(type)


def count_vector_parts(kinds: Kinds) -> None:
    """The parts of structures that are vectors are what these are of."""
    for record in set(kinds.records.values()):
        if record.vector is not None:
            width, kind = votes_of(record.vector)
            for at in range(0, record.size, record.vector.element.size):
                kinds.part(record, at, width).votes[kind] += _CERTAIN


def find_pointers(kinds: Kinds) -> None:
    """Variables set to an address plus something are addresses too."""
    sets: list[tuple[Variable, Value]] = []
    seen: set[Value] = set()
    for block in kinds.program.flow.blocks.values():
        for step in block.statements:
            if step.kind == "set" and step.targets[0].variable.width == 64:
                sets.append((step.targets[0].variable, step.args[0]))
            for part in parts_of(step.args, seen):
                if part.op in ("load", "atomic"):
                    _claim(kinds, part.args[0])
            if step.kind == "store":
                _claim(kinds, step.args[0])
    for value, type in passed_pointers(kinds.program):
        width, kind = votes_of(type.target)
        if not kind:
            continue
        _claim(kinds, value)
        base = kinds.base(value)
        if base is not None:
            cell = kinds.base_cell(base)
            _count_pointer(cell, type)
            # It is accessed, elsewhere.
            count = type.target.count if isinstance(type.target, Vector) else 1
            cell.find().accesses[width, count] += 1
    changed = True
    while changed:
        changed = False
        for variable, value in sets:
            target = kinds.cell(variable)
            base = kinds.base(value)
            if base is None:
                continue
            source = kinds.base_cell(base)
            known = target.pointer or base.op in ("symbol", "slot", "generic")
            if (known or source.pointer) and target is not source:
                target.pointer += 1
                target.join(source)
                kinds.cell(variable).pointer += 1
                changed = True


def _claim(kinds: Kinds, address: Value) -> None:
    """An access: one of the terms of its address is where the array begins."""
    if address.width != 64:
        return
    base = kinds.base(address)
    if base is None:
        terms = sum_of(address).terms
        found = [t for t, k in terms.items() if k == 1 and t.op in ("var", "load", "component")]
        if len(found) == 1:
            kinds.base_cell(found[0]).pointer += 1
