"""Measure how far the instruction table and ptxas agree; write ``docs/isa-agreement.json``.

``python -m tests.isa.agreement [PTXAS ...]`` asks each ptxas given, or the one found.
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

OUT = Path(__file__).parents[2] / "docs" / "isa-agreement.json"
LIMIT = 100
SEEDS = 2


def measure() -> dict[str, object]:
    """One ptxas: variants accepted, near misses agreed on."""
    from ptxkit.isa.registry import table
    from tests.isa import oracle, ptxas

    rows = list(table())
    variants = oracle.ask(oracle.accepted_questions(rows, LIMIT))
    misses = [
        answer
        for seed in range(1, SEEDS + 1)
        for answer in oracle.ask(oracle.miss_questions(rows, 6, seed))
    ]
    return {
        "ptxas": ptxas.ptxas_release(),
        "variants": len(variants),
        "accepted": sum(not theirs and not question.ours for question, theirs in variants),
        "misses": len(misses),
        "agreed": sum(bool(question.ours) == bool(theirs) for question, theirs in misses),
    }


def main() -> None:
    """Ask every ptxas in a process of its own: each is found once a process."""
    if os.environ.get("PTXKIT_MEASURE"):
        print(json.dumps(measure()))
        return
    runs = []
    for path in sys.argv[1:] or [""]:
        environment = {**os.environ, "PTXKIT_MEASURE": "1"}
        if path:
            environment["PTXKIT_PTXAS"] = path
        process = subprocess.run(
            [sys.executable, "-m", "tests.isa.agreement"],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        runs.append(json.loads(process.stdout.splitlines()[-1]))
    OUT.write_text(
        json.dumps({"date": datetime.date.today().isoformat(), "runs": runs}, indent=2) + "\n"
    )
    for run in runs:
        print(run)


if __name__ == "__main__":
    main()
