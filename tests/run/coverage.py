"""``python -m tests.run.coverage``: what of the instruction table is simulated.

A form is simulated when its variants can be lowered; why one cannot is what the user is told.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import ptxkit
from ptxkit.isa.registry import table
from ptxkit.isa.variants import BODY_PREAMBLE, MODULE_PREAMBLE, Variant, combinations, render
from ptxkit.run import CpuModule, UnsupportedError

#: The functions of the preamble, with bodies.
_FUNCTIONS = (
    MODULE_PREAMBLE.replace(".func fn;", ".func fn { ret; }")
    .replace("fn_a(.param .b32 a0);", "fn_a(.param .b32 a0) { ret; }")
    .replace("fn_r;", "fn_r { ret; }")
    .replace("fn_ra(.param .b32 a0);", "fn_ra(.param .b32 a0) { ret; }")
)
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Outcome:
    """A variant, and why it is not simulated; ``""`` where it is."""

    root: str
    variant: Variant
    reason: str


def variants(limit: int) -> Iterator[tuple[str, Variant]]:
    """Some variants of every form of the table, with and without their optional operands."""
    for root, row in table().items():
        for form in row.forms:
            seen = set()
            for match in combinations(form, limit):
                for all_optional in (False, True):
                    variant = render(match, all_optional=all_optional)
                    if variant.text not in seen:
                        seen.add(variant.text)
                        yield root, variant


def _load(batch: list[tuple[str, Variant]]) -> CpuModule:
    kernels = "".join(
        f".entry k{number}() {{\n{BODY_PREAMBLE}LAB:\n{variant.text}\nret;\n}}\n"
        for number, (_, variant) in enumerate(batch)
    )
    head = ".version 9.4\n.target sm_100a\n.address_size 64\n"
    # The variants are for all GPUs there are, and no target has them all.
    return ptxkit.load(head + _FUNCTIONS + kernels, device="cpu", check=False)


def outcomes(limit: int = 6) -> Iterator[Outcome]:
    """What becomes of the variants."""
    batch: list[tuple[str, Variant]] = []
    for one in (*variants(limit), None):
        if one is not None:
            batch.append(one)
        if batch and (one is None or len(batch) == _BATCH):
            module = _load(batch)
            for number, (root, variant) in enumerate(batch):
                yield Outcome(root, variant, _reason(module, f"k{number}"))
            batch = []


def _reason(module: CpuModule, name: str) -> str:
    try:
        module[name]
    except UnsupportedError as error:
        return error.diagnostic.message
    return ""


def main() -> None:
    """Print a line for every row, and one for every variant that is not simulated."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    by_root: dict[str, list[Outcome]] = {}
    for one in outcomes(limit):
        by_root.setdefault(one.root, []).append(one)
    for root, found in by_root.items():
        missing = [one for one in found if one.reason]
        print(f"{root}: {len(found) - len(missing)} of {len(found)} variants")
        for one in missing:
            print(f"    {one.variant.text}  # {one.reason}")


if __name__ == "__main__":
    main()
