"""Seed bugs and count what the verifier accepts: ``python -m tests.decompiler.seeded.campaign``.

A change that leaves the PTX as it was is no bug. Any other change is one as soon as a run shows
it: a difference that the verifier saw, or one on launches that the verifier has no part in (those
of `witness`). A change that nothing shows may be none; those that the verifier accepted are listed,
to be looked at. So are changes that do not compile counted, and what the compiler said of them.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from tests.decompiler.seeded import code, trees
from tests.decompiler.seeded.places import PLACES
from tests.decompiler.seeded.witness import Witness, suite_witness, tier_witness
from tests.kernels import suite

from ptxkit.cuda import print_module
from ptxkit.decompiler.verify import Verdict, certify, compiled
from ptxkit.syntax import Module
from ptxkit.synth.tiers.grammar import make

ARCH = "sm_90"
SOURCES = ("all", "trees", "code", "places")


@dataclass(slots=True)
class Result:
    """What became of the bugs."""

    bugs: int = 0
    accepted: list[str] = field(default_factory=list)
    """Bugs that a run shows and that the verifier accepted: there must be none."""
    unshown: list[str] = field(default_factory=list)
    """Changes that the verifier accepted and that no run shows."""
    rejected: Counter[str] = field(default_factory=Counter)
    silent: int = 0
    """Changes that were not accepted though no run shows them."""
    same: int = 0
    """Changes that the compiler undid."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Changes that gave no program, and why."""


def _same(a: Module, b: Module) -> bool:
    from ptxkit.decompiler.verify import same_ptx

    return all(same_ptx(a, b, f.name) for f in a.kernels)


def _tree_mutants(
    count: int, seed: int, skipped: Counter[str]
) -> Iterator[tuple[str, Module, Module, str, Witness]]:
    """Bugs in programs of the tiers."""
    draw = random.Random(seed)
    made = 0
    index = 0
    while made < count:
        sample = make(seed, index)
        index += 1
        original = compiled(sample.module, ARCH).module
        assert original is not None, print_module(sample.module)
        for _ in range(4):
            name, tree = trees.mutant(sample.module, draw)
            try:
                made_of = compiled(tree, ARCH)
            except Exception as error:
                skipped[f"{type(error).__name__}: {error}"[:60]] += 1
                continue
            if made_of.module is None:
                skipped[made_of.error.partition("error[")[2][:60] or made_of.error[:60]] += 1
                continue
            made += 1
            kernel = original.kernels[-1].name
            label = f"tier {sample.tier} index {index - 1}: {name}"
            yield label, original, made_of.module, kernel, tier_witness(sample)


def _code_mutants(
    count: int,
    seed: int,
    skipped: Counter[str],
    kinds: Sequence[tuple[str, code.Change]] = code.BUGS,
) -> Iterator[tuple[str, Module, Module, str, Witness]]:
    """Bugs in the PTX of the suite."""
    draw = random.Random(seed)
    kernels = draw.sample(suite(), len(suite()))
    made = 0
    while made < count:
        kernel = kernels[made % len(kernels)]
        original, entry = kernel.module(ARCH), kernel.entry(ARCH)
        found = code.mutant(original, entry, draw, kinds)
        if found is None:
            skipped["nothing to change"] += 1
            continue
        made += 1
        name, candidate = found
        yield (
            f"{kernel.name}: {name}", original, candidate, entry,
            suite_witness(kernel, entry),
        )  # fmt: skip


def run(count: int, seed: int, sources: str = "all", verbose: bool = False) -> Result:
    """Seed bugs until so many changes were judged."""
    result = Result()
    streams = {
        "trees": _tree_mutants,
        "code": _code_mutants,
        "places": partial(_code_mutants, kinds=PLACES),
    }
    chosen = [s for s in streams if sources in (s, "all")]
    for source in chosen:
        for label, original, candidate, kernel, witness in streams[source](
            count // len(chosen), seed, result.skipped
        ):
            _judge(result, label, original, candidate, kernel, witness, verbose)
    return result


def _judge(
    result: Result,
    label: str,
    original: Module,
    candidate: Module,
    kernel: str,
    witness: Witness,
    verbose: bool,
) -> None:
    if _same(original, candidate):
        result.same += 1
        return
    kernels = [f.name for f in original.kernels]
    parts: dict[str, Verdict] = {name: certify(original, candidate, name) for name in kernels}
    verdict = Verdict.of(parts)
    seen = any(p.execution is not None and p.execution.different for p in parts.values())
    if verdict.equivalent:
        if witness(original, candidate):
            result.bugs += 1
            result.accepted.append(f"{verdict.level} {label}")
        else:
            result.unshown.append(f"{verdict.level} {label}")
    elif seen or witness(original, candidate):
        result.bugs += 1
        result.rejected[label.split(": ")[1].split(" at line")[0]] += 1
    else:
        result.silent += 1
    if verbose:
        print(f"{verdict.level} {label}", flush=True)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1400, help="changes to make")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="sources", default="all", choices=SOURCES)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    result = run(options.count, options.seed, options.sources, options.verbose)
    print(f"{result.bugs:,} bugs seeded, {len(result.accepted)} accepted")
    for name, number in result.rejected.most_common():
        print(f"  {number:5,} {name}")
    print(f"{result.same:,} changes the compiler undid; {result.silent:,} not accepted, not shown")
    print(f"{result.skipped.total():,} changes gave no program")
    for why, number in result.skipped.most_common(5):
        print(f"  {number:5,} {why}")
    print(f"{len(result.unshown)} accepted that no run shows:")
    for label in (*result.accepted, *result.unshown):
        print("  ", label)
    return bool(result.accepted)


if __name__ == "__main__":
    sys.exit(main())
