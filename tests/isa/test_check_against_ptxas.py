"""``ptxkit.check`` on text, against ptxas on the same text, line by line."""

from __future__ import annotations

import random
from collections import defaultdict

import ptxkit
from ptxkit.isa.registry import table
from ptxkit.isa.variants import BODY_PREAMBLE
from tests.isa import oracle, ptxas


def check_lines(lines: list[str], version: str, target: str) -> list[str]:
    """For every line '' when ``check`` has nothing against it, else its first error."""
    head = (
        f".version {version}\n.target {target}\n.address_size 64\n{oracle.preamble(target)}"
        f".visible .entry k(.param .u64 kp, .param .align 16 .b8 kps[64])\n{{\n{BODY_PREAMBLE}"
    )
    offset = head.count("\n") + 1
    text = head + "\n".join(lines) + "\nLAB:\nret;\n}\n"
    found = [""] * len(lines)
    for one in ptxkit.check(text):
        if one.code == "address-size":
            continue  # ptxas says so only when it assembles, which a bad last line prevents
        if one.severity == "error" and 0 <= one.line - offset < len(lines):
            found[one.line - offset] = found[one.line - offset] or one.message
    return found


def test_near_misses_in_text() -> None:
    questions = list(oracle.miss_questions(list(table()), 1, seed=5))
    questions = random.Random(3).sample(questions, min(6000, len(questions)))
    batches: dict[tuple[str, str], list[str]] = defaultdict(list)
    for question in questions:
        batches[question.version, question.target].append(question.text)
    asked, wrong = 0, []
    for (version, target), lines in batches.items():
        ours = check_lines(lines, version, target)
        theirs = ptxas.verdicts(lines, version, target, oracle.preamble(target))
        for line, left, right in zip(lines, ours, theirs, strict=True):
            if any(text in right for text in oracle.BEYOND_THE_TABLE):
                continue
            asked += 1
            if bool(left) != bool(right):
                wrong.append(
                    f"{line} [{version} {target}] ours: {left or 'ok'} ptxas: {right or 'ok'}"
                )
    assert asked > 3000
    assert len(wrong) <= 0.01 * asked, f"{len(wrong)} of {asked}\n" + "\n".join(wrong[:40])
