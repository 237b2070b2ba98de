"""Let the native compiler compute with constants, by the operations of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptxkit import _native
from ptxkit.isa.targets import TARGET_SINCE
from ptxkit.run import lower_pieces
from ptxkit.stack.instructions import Instruction
from ptxkit.syntax import parse

if TYPE_CHECKING:
    from ptxkit.stack.isa import Isa

#: Division of integers by zero gives no defined value.
_DIVISIONS = frozenset("div rem".split())


def set_folds(table: _native.StackTable, isa: Isa, rows: Sequence[Instruction]) -> frozenset[str]:
    """Tell the table how the simulator executes each row; gives the names it knows."""
    chosen = [n for n, row in enumerate(rows) if row.arguments and _is_plain(row)]
    registers: dict[str, str] = {}
    lines = []
    for n in chosen:
        row = rows[n]
        texts = [_name(registers, isa, stack, "d", k) for k, stack in enumerate(row.results)]
        texts += [_name(registers, isa, stack, "a", k) for k, stack in enumerate(row.arguments)]
        text = row.text
        for k in range(len(texts) - 1, -1, -1):
            text = text.replace(f"${k}", texts[k])
        lines.append(text)
    declarations = "".join(f".reg .{kind} {name};\n" for name, kind in registers.items())
    target = str(isa.target)
    version = max(str(isa.version), TARGET_SINCE.get(target, "8.0"))
    module = parse(
        f".version {version}\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n"
        f"{declarations}{chr(10).join(lines)}\n}}\n"
    )
    pieces = lower_pieces(module, module["k"])
    table.set_folds(pieces.program)
    known = set()

    def place(name: str) -> tuple[int, int]:
        register = pieces.registers[name]
        return register.slot, 0 if register.type == "pred" else register.bytes

    for n, found in zip(chosen, pieces.ranges, strict=True):
        row = rows[n]
        if found is None or found[0] == found[1]:
            continue
        known.add(row.name)
        sources = [
            place(_name(registers, isa, stack, "a", k)) for k, stack in enumerate(row.arguments)
        ]
        destinations = [
            place(_name(registers, isa, stack, "d", k)) for k, stack in enumerate(row.results)
        ]
        divides = row.name.partition(".")[0] in _DIVISIONS and row.results[0].startswith("b")
        exact = row.exact and row.effect == "pure"
        table.set_fold(n, *found, sources, destinations, exact, divides)
    return frozenset(known)


def _is_plain(row: Instruction) -> bool:
    """One instruction of PTX on registers alone."""
    return not row.guardable and row.immediate is None and not row.separate and "[" not in row.text


def _name(registers: dict[str, str], isa: Isa, stack: str, what: str, number: int) -> str:
    name = f"{what}{number}_{stack}"
    registers.setdefault(name, isa.stack(stack).register)
    return name
