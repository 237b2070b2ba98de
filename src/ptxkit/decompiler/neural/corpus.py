"""Pairs to learn from: words of PTX and words of the answer, straight from grammar and compiler.

A pair is a kernel of `ptxkit synth tiers` as the compiler translates it. Pairs come from a
dataset that was made and verified before, or are made here: many kernels in one compilation,
on all cores, without being executed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from ptxkit import cuda
from ptxkit.cuda import nodes as n
from ptxkit.decompiler.neural.ptxwords import PtxWords, read_function
from ptxkit.decompiler.neural.schedule import words_of
from ptxkit.decompiler.neural.statements import lower
from ptxkit.decompiler.neural.unsupported import UnsupportedError
from ptxkit.errors import PtxkitError, UsageError, import_extra
from ptxkit.synth import schema

Job = TypeVar("Job")
Result = TypeVar("Result")
Found = tuple["list[Pair]", "Counter[str]"]
_JOBS_PER_PROCESS = 100
BATCH = 96
"""Kernels that are compiled together."""
_BRACE = re.compile(r"[{}]")
_NUMBER = re.compile(r"^[-+]?\d")


@dataclass(slots=True)
class Pair:
    """What the compiler wrote, and the program that it came from."""

    source: PtxWords
    answer: list[str]
    tier: int
    split: str
    """``train``, ``validation``, ``test``; or ``unused``: a shape that datasets keep for tests,
    though the compiler makes it the same as one of training."""


def shape_of(answer: Iterable[str]) -> str:
    """A digest of an answer without its numbers."""
    text = " ".join("#" if _NUMBER.match(word) else word for word in answer)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def split_of(kernel: n.Function, module: n.CudaModule) -> str:
    """Where a program belongs: the same for every run, so that no two runs disagree.

    No shape of an answer is in two splits, and none of training is one that a dataset of
    `ptxkit synth tiers` keeps for validation or test.
    """
    place = int(shape_of(words_of(lower(kernel, _functions(module)), ordered=True)), 16) % 1000
    mine = "train" if place < 960 else "validation" if place < 970 else "test"
    shape = cuda.write(cuda.canonical(module, constants=False))
    stored = schema.split_of(schema.shape_hash(shape))
    return "unused" if mine == "train" != stored else mine


def answer_of(
    kernel: n.Function, module: n.CudaModule, source: PtxWords | None = None
) -> list[str]:
    """The words for a kernel of a module, in the one form.

    With the PTX that was made of it, operands that may change places are in the order that it
    shows.
    """
    program = lower(kernel, _functions(module))
    return words_of(program, orders=source.orders if source else None)


def _functions(module: n.CudaModule) -> dict[str, n.Function]:
    return {i.name: i for i in module.items if isinstance(i, n.Function) and not i.kernel}


# ---- made here ---------------------------------------------------------------------------


def _programs(seed: int, first: int, count: int, tiers: tuple[int, ...]) -> list[Any]:
    from ptxkit.synth.tiers.grammar import make

    return [make(seed, index, tiers) for index in range(first, first + count)]


def make_pairs(
    seed: int, first: int, count: int, tiers: tuple[int, ...], arch: str
) -> tuple[list[Pair], Counter[str]]:
    """The pairs of some programs of the grammar, and what could not become one."""
    programs = _programs(seed, first, count, tiers)
    found: list[Pair] = []
    refused: Counter[str] = Counter()
    texts = _compiled(programs, arch, refused)
    for number, program in enumerate(programs):
        for kernel in program.module.kernels:
            text = texts.get(f"k{number}_{kernel.name}")
            if text is None:
                continue
            try:
                source = read_function(text)
                answer = answer_of(kernel, program.module, source)
            except UnsupportedError as error:
                refused[str(error)] += 1
                continue
            found.append(Pair(source, answer, program.tier, split_of(kernel, program.module)))
    return found, refused


def _compiled(programs: list[Any], arch: str, refused: Counter[str]) -> dict[str, str]:
    """The PTX of each kernel by name; halves of the programs where they do not compile together."""
    from ptxkit.toolchain import compile_cuda
    from ptxkit.toolchain.messages import CompilerError

    def attempt(chosen: list[int]) -> dict[str, str]:
        renamed = [programs[k].renamed(f"k{k}_") for k in chosen]
        includes = dict.fromkeys(i for p in renamed for i in p.module.includes)
        items = tuple(item for p in renamed for item in p.module.items)
        text = cuda.print_module(n.CudaModule(items, tuple(includes)))
        try:
            module = compile_cuda(text, arch, options=("-w",), cache=False)
        except CompilerError as error:
            if len(chosen) == 1:
                refused[f"compile: {str(error).splitlines()[0]}"] += 1
                return {}
            middle = len(chosen) // 2
            return {**attempt(chosen[:middle]), **attempt(chosen[middle:])}
        return kernels_of(module.emit())

    # Two arrays of unknown size share a name but not always a type: one file can't have both.
    dynamic = [k for k, p in enumerate(programs) if _has_dynamic(p.module)]
    plain = [k for k in range(len(programs)) if k not in set(dynamic)]
    found = attempt(plain) if plain else {}
    for group in _by_type(programs, dynamic):
        found.update(attempt(group))
    return found


def _has_dynamic(module: n.CudaModule) -> bool:
    return any(isinstance(x, n.Declare) and x.space == "extern shared" for x in module.walk())


def _by_type(programs: list[Any], chosen: list[int]) -> list[list[int]]:
    groups: dict[str, list[int]] = {}
    for number in chosen:
        types = {
            x.type.spelling
            for x in programs[number].module.walk()
            if isinstance(x, n.Declare) and x.space == "extern shared"
        }
        groups.setdefault(" ".join(sorted(types)), []).append(number)
    return list(groups.values())


def kernels_of(text: str) -> dict[str, str]:
    """The text of every kernel of a module, each with the shared memory declared before it."""
    shared = "\n".join(re.findall(r"^(?:\.extern )?\.shared[^;]*;", text, re.MULTILINE))
    names = {m[1] for m in re.finditer(r"([\w$]+)(?:\[\d*\])?;", shared)}
    found: dict[str, str] = {}
    starts = [(m.start(), m[1]) for m in re.finditer(r"\.visible \.entry ([\w$]+)\(", text)]
    for start, name in starts:
        body = text[start : _closing(text, start)]
        used = {w for w in names if re.search(rf"\b{re.escape(w)}\b", body)} if names else set()
        before = [
            line for line in shared.splitlines() if any(re.search(rf"\b{re.escape(w)}\b", line)
                                                         for w in used)
        ]  # fmt: skip
        found[name] = "\n".join([*before, body])
    return found


def _closing(text: str, start: int) -> int:
    """Where a function ends: other functions may follow, and blocks may be inside."""
    depth = 0
    for brace in _BRACE.finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(text)


# ---- from a dataset ----------------------------------------------------------------------


def read_pairs(files: list[str], arch: str | None = None) -> tuple[list[Pair], Counter[str]]:
    """The pairs of files of a dataset of `ptxkit synth tiers`."""
    parquet = import_extra("pyarrow.parquet", extra="synth", package="pyarrow")
    from ptxkit.synth.tiers.grammar import TIERS

    numbers = {name: number for number, (name, _) in TIERS.items()}
    found: list[Pair] = []
    refused: Counter[str] = Counter()
    for file in files:
        if "ast" not in parquet.read_schema(file).names:
            raise UsageError(
                f"'{file}' has no trees to learn from: it is not of a dataset of ptxkit synth tiers"
            )
        table = parquet.read_table(file, columns=["category", "ast", "targets"])
        for row in table.to_pylist():
            module = cuda.read(row["ast"])
            targets = [t for t in row["targets"] if arch in (None, t["arch"])]
            texts = list(kernels_of(targets[0]["ptx_forward"]).values()) if targets else []
            for kernel, text in zip(module.kernels, texts, strict=False):
                try:
                    source = read_function(text)
                    answer = answer_of(kernel, module, source)
                except UnsupportedError as error:
                    refused[str(error)] += 1
                    continue
                tier = numbers.get(row["category"], 0)
                found.append(Pair(source, answer, tier, split_of(kernel, module)))
    return found, refused


def dataset_files(folder: Path) -> list[str]:
    """The Parquet files of a dataset."""
    files = sorted(str(path) for path in folder.glob("data/**/*.parquet"))
    if not files:
        raise UsageError(
            f"'{folder}' is no dataset: it has no data/*.parquet. Make one with: "
            f"ptxkit synth tiers --count 10000 --out {folder}"
        )
    return files


# ---- on all cores ------------------------------------------------------------------------


def on_all_cores(
    jobs: Sequence[Job], work: Callable[[Job], Result], workers: int | None = None
) -> Iterator[Result]:
    """The results of jobs, in order, on several processes; who stops asking stops the work."""
    count = max(1, min(workers or os.cpu_count() or 1, len(jobs)))
    if count == 1:
        yield from map(work, jobs)
        return
    waiting = deque(jobs)
    while waiting:
        # A compiler that runs for long takes ever more memory, and sometimes ends its process.
        # What was under way is lost then; the rest goes on in new processes.
        pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
        ahead: deque[Future[Result]] = deque()
        try:
            for _ in range(min(len(waiting), _JOBS_PER_PROCESS * count)):
                ahead.append(pool.submit(work, waiting.popleft()))
                if len(ahead) > 3 * count:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        except BrokenProcessPool:
            continue
        finally:
            _end(pool)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, whose work is done or not wanted.

    One that has used the compiler for long may hang when it ends by itself, so none is waited for.
    """
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()


def _made_job(seed: int, tiers: tuple[int, ...], arch: str, job: tuple[int, int]) -> Found:
    """One job of `make_pairs`."""
    return make_pairs(seed, job[0], job[1], tiers, arch)


def generate(
    seed: int,
    count: int,
    tiers: tuple[int, ...],
    *,
    arch: str = "sm_90",
    workers: int | None = None,
) -> Iterator[tuple[list[Pair], Counter[str]]]:
    """Pairs of so many programs of the grammar."""
    if not tiers or count <= 0:
        raise PtxkitError("there is nothing to make: give tiers and a count above zero")
    jobs = [(first, min(BATCH, count - first)) for first in range(0, count, BATCH)]
    yield from on_all_cores(jobs, partial(_made_job, seed, tiers, arch), workers)
