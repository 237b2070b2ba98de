"""The instruction reference as a page, made from the table.

``python -m ptxkit.isa.page docs/isa.md`` writes it anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from ptxkit.isa.forms import Form, InstructionSpec
from ptxkit.isa.registry import table
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.isa.variants import combinations

_HEAD = """\
# Instructions

Every instruction of the table that `ptxkit check`, the DSL, the stack machine and the
simulator share. Made from it by `python -m ptxkit.isa.page docs/isa.md`: do not edit by hand.

How to read a form: `{.x}` is optional, a word that has a list of values under it stands for
one of them, `=d` is written, `+d` read and written, `#n` is a constant, `[a]` an address,
`d|p` a pair, `{, c}` an optional operand; `a:u32` gives a type where it is not the
instruction's own, `4*f32` a vector of four.
"""


def page(agreement: Mapping[str, object]) -> str:
    """The text of the page; ``agreement`` is what the comparison with ptxas found."""
    rows = table()
    forms = sum(len(row.forms) for row in rows.values())
    lines = [_HEAD, _agreement(len(rows), forms, agreement)]
    families: dict[str, list[InstructionSpec]] = {}
    for row in rows.values():
        families.setdefault(row.family, []).append(row)
    for family, members in families.items():
        lines.append(f"\n## {family}\n")
        for row in members:
            lines += _instruction(row)
    lines += _special_registers()
    return "\n".join(lines) + "\n"


def _agreement(instructions: int, forms: int, found: Mapping[str, object]) -> str:
    variants = sum(1 for row in table().values() for form in row.forms for _ in _some(form))
    lines = [
        f"The table holds {instructions} instructions in {forms} forms; "
        f"{variants:,} variants of them are enumerated by the tests.",
        "",
        "Compared with ptxas, variant by variant:",
        "",
        "| ptxas | variants asked | accepted | near misses asked | same verdict |",
        "| --- | --- | --- | --- | --- |",
    ]
    runs = found.get("runs", [])
    assert isinstance(runs, list)
    for run in runs:
        lines.append(
            f"| {run['ptxas']} | {run['variants']:,} | {run['accepted']:,} "
            f"({_percent(run['accepted'], run['variants'])}) | {run['misses']:,} | "
            f"{run['agreed']:,} ({_percent(run['agreed'], run['misses'])}) |"
        )
    lines += [
        "",
        f"Measured {found.get('date', 'never')} by `python -m tests.isa.agreement`. A near miss "
        "is a legal instruction with one thing changed: a modifier dropped, added, replaced or "
        "moved, an operand of another kind or type, one too many or too few, an older version "
        "or target. Calls whose arguments do not fit the callee are not counted: the table "
        "does not know signatures, `check` looks at them by itself.",
    ]
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / max(1, whole):.2f}%"


def _some(form: Form) -> list[object]:
    return list(combinations(form, 300))


def _instruction(row: InstructionSpec) -> list[str]:
    effects = f" *Effects: {', '.join(sorted(row.effects))}.*" if row.effects else ""
    lines = [f"### {row.root}\n", f"{row.summary}{effects}\n", "```text"]
    for form in row.forms:
        needs = str(form.requirement)
        note = "" if needs == "PTX 1.0" else f"    // {needs}"
        lines.append(f"{form.syntax}{note}")
        for slot in form.slots:
            if not slot.is_literal:
                words = [
                    value if str(needed) == "PTX 1.0" else f"{value} ({needed})"
                    for value, needed in slot.values.items()
                ]
                lines.append(f"    .{slot.name} = {{ {', '.join(words)} }}")
    return [*lines, "```\n"]


def _special_registers() -> list[str]:
    lines = ["\n## Special registers\n"]
    lines += ["| name | type | since | meaning |", "| --- | --- | --- | --- |"]
    for register in SPECIAL_REGISTERS.values():
        parts = "".join(f" .{part}" for part in register.components)
        lines.append(
            f"| `{register.name}`{parts} | .{register.type} | {register.requirement} | "
            f"{register.summary} |"
        )
    return lines


def main() -> None:
    """Write the page to the path given, with the agreement stored beside it."""
    path = Path(sys.argv[1])
    stored = path.with_name("isa-agreement.json")
    agreement = json.loads(stored.read_text()) if stored.exists() else {}
    path.write_text(page(agreement))


if __name__ == "__main__":
    main()
