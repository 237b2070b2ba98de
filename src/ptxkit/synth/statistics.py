"""What is in a dataset, counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ptxkit.synth.dataset import Dataset
from ptxkit.synth.schema import tokens
from ptxkit.synth.source import find

_OPCODE = re.compile(r"^    (?:@!?%\w+ )?([a-z][\w.:]*)", re.MULTILINE)


@dataclass(slots=True)
class Statistics:
    """Counts over all rows."""

    rows: int = 0
    splits: Counter[str] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    opcodes: Counter[str] = field(default_factory=Counter)
    source_tokens: list[int] = field(default_factory=list)
    instructions: list[int] = field(default_factory=list)
    registers: list[int] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    """By stage."""
    duplicates: dict[str, int] = field(default_factory=dict)
    bytes: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data, lists as a few quantiles."""
        return {
            "rows": self.rows,
            "bytes": self.bytes,
            "bytes_per_row": round(self.bytes / self.rows, 1) if self.rows else 0,
            "splits": dict(self.splits),
            "categories": dict(self.categories),
            "verdicts": dict(self.verdicts),
            "checks": dict(self.checks),
            "rejected": dict(self.rejected),
            "duplicates": self.duplicates,
            "opcodes": dict(self.opcodes.most_common()),
            "source_tokens": quantiles(self.source_tokens),
            "instructions": quantiles(self.instructions),
            "registers": quantiles(self.registers),
        }


def collect(dataset: Dataset) -> Statistics:
    """Read every row once."""
    found = Statistics(duplicates=dict(dataset.manifest["duplicates"]))
    text_view = find(dataset.plan.source).text_view
    for row in dataset.rows():
        found.rows += 1
        found.splits[row["split"]] += 1
        found.categories[_category(row)] += 1
        found.verdicts[row["verification"]["verdict"]] += 1
        found.checks.update(row["verification"]["checks"])
        found.source_tokens.append(len(tokens(row[text_view])))
        for target in row["targets"]:
            opcodes = opcodes_of(target["ptx_forward"])
            found.opcodes.update(opcodes)
            found.instructions.append(len(opcodes))
            if target["registers"] is not None:
                found.registers.append(target["registers"])
    for row in dataset.rejected():
        found.rejected[row["stage"]] += 1
    found.bytes = sum(about["bytes"] for about in dataset.files.values())
    return found


def _category(row: dict[str, Any]) -> str:
    return str(row["category"] if "category" in row else row["metadata"]["category"])


def opcodes_of(ptx: str) -> list[str]:
    """The opcodes of canonical PTX, one an instruction.

    >>> opcodes_of("{\\n    .reg .b32 %r<2>;\\n    @%p1 add.s32 %r1, %r1, 1;\\n    ret;\\n}")
    ['add.s32', 'ret']
    """
    return _OPCODE.findall(ptx)


def quantiles(values: Iterable[int]) -> dict[str, int]:
    """Least, middle and most.

    >>> quantiles([3, 1, 2])
    {'min': 1, 'p10': 1, 'median': 2, 'p90': 3, 'max': 3}
    """
    ordered = sorted(values)
    if not ordered:
        return {}
    last = len(ordered) - 1
    places = {"min": 0.0, "p10": 0.1, "median": 0.5, "p90": 0.9, "max": 1.0}
    return {name: ordered[round(part * last)] for name, part in places.items()}
