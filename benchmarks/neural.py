"""The neural decompiler on shapes that it has not seen, and how fast it answers.

``python -m benchmarks.neural --programs 50000`` draws programs of the grammar with a seed
of its own, keeps those whose shape no training ever has (the split depends on the shape alone),
and asks for them on the GPU if there is one. An answer is exact if it is the program in the one
form; it is equal if the verifier proves it. ``python -m benchmarks neural`` is a part of that.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ptxkit
from benchmarks.report import Bar, Row, Settings
from ptxkit.cuda import print_module
from ptxkit.toolchain import nvrtc

if TYPE_CHECKING:
    from ptxkit.decompiler.neural.corpus import Pair
    from ptxkit.decompiler.neural.decoding import Decoder

ARCH = "sm_90"
SEED = 95_001
TIERS = tuple(range(1, 11))
MEASURES = ("asked", "exact_greedy", "exact_first", "exact_among", "equal_first", "equal_among")
_JOB = 100


@dataclass(frozen=True, slots=True)
class Question:
    """A kernel whose shape is kept for tests: its PTX, its name, and the pair."""

    ptx: str
    name: str
    pair: Pair


def _drawn(seed: int, tiers: tuple[int, ...], unseen: bool, job: tuple[int, int]) -> list[Question]:
    """The questions among some programs of the grammar."""
    from ptxkit.decompiler.neural.corpus import Pair, answer_of, split_of
    from ptxkit.decompiler.neural.engine import words_of_function
    from ptxkit.decompiler.neural.unsupported import UnsupportedError
    from ptxkit.synth.tiers.grammar import make

    found: list[Question] = []
    for index in range(job[0], job[0] + job[1]):
        program = make(seed, index, tiers)
        for kernel in program.module.kernels:
            try:
                split = split_of(kernel, program.module)
                if unseen and split != "test":
                    continue
                module = ptxkit.compile_cuda(print_module(program.module), ARCH, options=("-w",))
                name = next(f.name for f in module.kernels if kernel.name in f.name)
                source = words_of_function(module, module[name])
                answer = answer_of(kernel, program.module, source)
            except UnsupportedError:
                continue
            found.append(Question(module.emit(), name, Pair(source, answer, program.tier, split)))
    return found


def questions(
    seed: int, programs: int, *, unseen: bool = True, workers: int | None = None
) -> list[Question]:
    """Those programs whose shape is kept for tests (or all), each PTX once."""
    from ptxkit.decompiler.neural.corpus import on_all_cores

    jobs = [(first, min(_JOB, programs - first)) for first in range(0, programs, _JOB)]
    found: dict[tuple[str, ...], Question] = {}
    for some in on_all_cores(jobs, partial(_drawn, seed, TIERS, unseen), workers):
        for question in some:
            found.setdefault(tuple(question.pair.source.texts), question)
    return list(found.values())


def _proved(job: tuple[Question, list[list[str]]]) -> int | None:
    """The place of the first answer that is proved equal."""
    from ptxkit.decompiler.engines import isolated
    from ptxkit.decompiler.neural.engine import tree_of
    from ptxkit.decompiler.verify import verify

    question, answers = job
    module = ptxkit.parse(question.ptx)
    part = isolated(module, module[question.name])
    for place, words in enumerate(answers):
        tree = tree_of(words, question.pair.source)
        if verify(part, tree, question.name, arch=ARCH).equivalent:
            return place
    return None


class Accuracy:
    """Exact and equal answers by tier, greedy and with beams."""

    def __init__(self, decoder: Decoder, asked: Sequence[Question], beams: int) -> None:
        from ptxkit.decompiler.neural.evaluation import evaluate, is_exact

        self.asked = asked
        self.tiers: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(MEASURES, 0))
        pairs = [question.pair for question in asked]
        greedy = evaluate(decoder, pairs)
        several = evaluate(decoder, pairs, beams=beams)
        self.seconds = {1: greedy.seconds, beams: several.seconds}
        self.answers = [[one.words for one in found] for found in several.answers]
        for pair, first, found in zip(pairs, greedy.answers, self.answers, strict=True):
            counts = self.tiers[pair.tier]
            right = [is_exact(words, pair) for words in found]
            counts["asked"] += 1
            counts["exact_greedy"] += bool(first) and is_exact(first[0].words, pair)
            counts["exact_first"] += bool(right and right[0])
            counts["exact_among"] += any(right)

    def prove(self, workers: int | None = None) -> None:
        """Ask the verifier about every answer until one is equal: this takes the longest."""
        from ptxkit.decompiler.neural.corpus import on_all_cores

        jobs = list(zip(self.asked, self.answers, strict=True))
        for question, place in zip(self.asked, on_all_cores(jobs, _proved, workers), strict=True):
            self.tiers[question.pair.tier]["equal_first"] += place == 0
            self.tiers[question.pair.tier]["equal_among"] += place is not None

    def share(self, what: str, tiers: Sequence[int] = range(1, 8)) -> float:
        """The part of the questions of some tiers, in percent."""
        chosen = [self.tiers[tier] for tier in tiers if tier in self.tiers]
        return 100 * sum(c[what] for c in chosen) / max(1, sum(c["asked"] for c in chosen))

    def lines(self) -> Iterator[str]:
        """A table."""
        yield " ".join(("tier", *MEASURES))
        for tier in sorted(self.tiers):
            counts = self.tiers[tier]
            shares = (f"{self.share(what, [tier]):.1f}" for what in MEASURES[1:])
            yield " ".join((str(tier), str(counts["asked"]), *shares))
        for name, tiers in (("1-7", range(1, 8)), ("1-10", range(1, 11))):
            asked = sum(self.tiers[t]["asked"] for t in tiers if t in self.tiers)
            shares = (f"{self.share(what, tiers):.1f}" for what in MEASURES[1:])
            yield " ".join((name, str(asked), *shares))


def rate(decoder: Decoder, asked: Sequence[Question]) -> float:
    """Answers a second of a whole batch, greedily; the first time is to warm up."""
    sources = [question.pair.source for question in asked]
    decoder.answers(sources[:64])
    begun = time.perf_counter()
    decoder.answers(sources)
    return len(sources) / (time.perf_counter() - begun)


def one_on_a_processor(weights: Path, asked: Sequence[Question], repeat: int = 3) -> float:
    """Seconds for one kernel on the CPU: the median over kernels, each the best of some tries."""
    from ptxkit.decompiler.neural.decoding import Decoder

    decoder = Decoder.load(weights, "cpu")
    seconds = []
    for question in asked:
        times = []
        for _ in range(repeat):
            begun = time.perf_counter()
            decoder.answers([question.pair.source])
            times.append(time.perf_counter() - begun)
        seconds.append(min(times))
    return sorted(seconds)[len(seconds) // 2]


def _weights() -> Path:
    from ptxkit.decompiler.neural.engine import TRAINED

    return TRAINED


def benchmark(settings: Settings) -> Iterator[Row]:
    """Nothing without PyTorch and NVRTC; the whole measurement is a command of its own."""
    if any(find_spec(name) is None for name in ("torch", "safetensors", "nvidia")):
        return
    from ptxkit.decompiler.neural.decoding import Decoder

    asked = questions(SEED, 4000 if settings.repeat > 1 else 100, workers=2)
    if not asked:
        return
    device = _device()
    found = Accuracy(Decoder.load(_weights(), device), asked, 4)
    found.prove(workers=2)
    for what, limit in (("exact_first", 85), ("equal_among", 95)):
        yield Row(f"tiers 1 to 7, {what.replace('_', ', ')} of 4", found.share(what), "%",
                  bar=Bar(limit, on="ours"), note=f"{len(asked)} unseen shapes")  # fmt: skip
    yield Row("one kernel on a CPU, greedy", one_on_a_processor(_weights(), asked[:20]), "s",
              bar=Bar(0.5, on="ours"), higher_is_better=False)  # fmt: skip


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def main() -> None:
    """The whole measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=50_000, help="drawn from the grammar")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--beams", type=int, default=16)
    parser.add_argument("--batch", type=int, default=8192, help="kernels at once, for the rate")
    parser.add_argument("--exact-only", action="store_true", help="prove nothing")
    parser.add_argument("--weights", type=Path, default=None)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, default=None, help="write everything there")
    options = parser.parse_args()
    from ptxkit.decompiler.neural.decoding import Decoder

    weights, device = options.weights or _weights(), _device()
    decoder = Decoder.load(weights, device)
    about: dict[str, Any] = {"seed": options.seed, "beams": options.beams, "device": device}
    about["nvrtc"] = nvrtc.load().release
    print(f"compiled by NVRTC {about['nvrtc']}")
    if options.batch:
        many = questions(options.seed + 1, options.batch, unseen=False, workers=options.workers)
        about["batch"], about["answers_a_second"] = len(many), rate(decoder, many)
        print(f"{about['answers_a_second']:.0f} answers/s, {len(many)} at once, {device}")
    asked = questions(options.seed, options.programs, workers=options.workers)
    print(f"{len(asked)} unseen shapes of {options.programs} programs, seed {options.seed}")
    found = Accuracy(decoder, asked, options.beams)
    about["one_on_a_processor"] = one_on_a_processor(weights, asked[:20])
    print(f"one kernel on a CPU: {about['one_on_a_processor']:.2f} s", flush=True)
    for proved in (False, True):
        if proved and not options.exact_only:
            found.prove(options.workers)
        print(*found.lines(), sep="\n", flush=True)
        about["tiers"], about["seconds"] = found.tiers, found.seconds
        if options.json is not None:
            options.json.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        if options.exact_only:
            return


if __name__ == "__main__":
    main()
