"""PTX of our own CUDA C++: every file in `corpus/cuda`, in a few of many ways to compile it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from corpus import oracle
from corpus.store import Entry, Store, fingerprint
from corpus.tools import Tool, find, run

SOURCES = Path(__file__).parent / "cuda"
MODES = {
    "plain": (),
    "lineinfo": ("-lineinfo",),
    "debug": ("-G",),
    "rdc": ("-rdc=true",),
}
ARCHITECTURES = [
    *("sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a"),
    *("sm_100", "sm_100a", "sm_100f", "sm_103", "sm_103a", "sm_110", "sm_110a"),
    *("sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a"),
]
COMBINATIONS = 6  # per file: one in each mode, then more of the modes least used so far


@dataclass(frozen=True)
class Source:
    """A CUDA file and what its `//!` header lines ask for.

    `//! since: sm_80` is the oldest architecture, `//! archs: sm_90a sm_100a` the only
    ones, `//! modes: plain rdc` the only modes, `//! flags: -std=c++20` further options.
    """

    name: str
    text: str
    architectures: tuple[str, ...]
    modes: tuple[str, ...]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Job:
    """One nvcc run."""

    source: Source
    architecture: str
    mode: str

    @property
    def path(self) -> str:
        """Where the PTX goes, below the corpus folder."""
        return f"nvcc/{self.source.name}.{self.architecture}.{self.mode}.ptx"

    @property
    def options(self) -> tuple[str, ...]:
        """The options nvcc gets besides `-ptx`."""
        return (f"-arch={self.architecture}", *MODES[self.mode], *self.source.flags)


def read_source(path: Path, known: list[str]) -> Source:
    """Read a CUDA file and its header; `known` are the architectures this nvcc compiles for."""
    text = path.read_text()
    header: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line.startswith("//!"):
            break
        key, colon, values = line.removeprefix("//!").partition(":")
        if not colon or key.strip() not in {"since", "archs", "modes", "flags"}:
            raise ValueError(f"{path.name}: header line not understood: {line}")
        header[key.strip()] = values.split()
    wanted = header.get("archs", ARCHITECTURES)
    oldest = number(header.get("since", ["sm_75"])[0])
    architectures = tuple(a for a in known if a in wanted and number(a) >= oldest)
    modes = tuple(header.get("modes", MODES))
    return Source(path.stem, text, architectures, modes, tuple(header.get("flags", ())))


def number(architecture: str) -> int:
    """The number in an architecture's name.

    >>> number("sm_100a")
    100
    """
    return int(architecture.removeprefix("sm_").rstrip("abcdefghijklmnopqrstuvwxyz"))


def known_architectures(nvcc: Tool) -> list[str]:
    """Those of `ARCHITECTURES` that this nvcc lists."""
    listed = run([str(nvcc.path), "--list-gpu-code"]).output.split()
    return [a for a in ARCHITECTURES if a in listed or a.rstrip("af") in listed]


def plan(sources: list[Source]) -> Iterator[Job]:
    """A few jobs for each source, chosen so that together they cover modes x architectures.

    Each pick is the combination used least so far, so the choice depends on the sources
    alone. Every source is compiled once in each of its modes before a mode repeats.
    """
    used: Counter[tuple[str, str]] = Counter()
    for source in sources:
        mine: Counter[str] = Counter()
        pairs = {(m, a) for m in source.modes for a in source.architectures}
        for _ in range(min(COMBINATIONS, len(pairs))):
            pair = min(
                pairs,
                key=lambda p: (
                    mine[p[0]],
                    mine[p[1]],
                    used[p],
                    source.modes.index(p[0]),
                    fingerprint(source.name, *p),
                ),
            )
            pairs.remove(pair)
            used[pair] += 1
            mine.update(pair)
            yield Job(source, architecture=pair[1], mode=pair[0])


def build(store: Store) -> None:
    """Compile what is missing, drop what no recipe makes any more, ask ptxas about the rest."""
    nvcc, ptxas = find("nvcc"), find("ptxas")
    known = known_architectures(nvcc)
    jobs = list(plan([read_source(p, known) for p in sorted(SOURCES.glob("*.cu"))]))
    print(f"nvcc: {len(jobs)} jobs with {nvcc}", flush=True)
    store.forget_failures("nvcc")
    for job in jobs:
        recipe = fingerprint(job.source.text, *job.options, nvcc.version)
        if not store.has(job.path, recipe):
            compile_one(store, nvcc, job, recipe)
    store.prune("nvcc", {job.path for job in jobs})
    oracle.check(store, "nvcc", lambda entry: ptxas)


def compile_one(store: Store, nvcc: Tool, job: Job, recipe: str) -> None:
    """Run one job; a failure is recorded and does not stop the build."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.ptx"
        file = f"{job.source.name}.cu"
        command = [str(nvcc.path), "-ptx", "-w", *job.options, file, "-o", str(output)]
        result = run(command, cwd=SOURCES)
        if not result.ok:
            store.fail(job.path, result.output)
            store.save()
            return
        data = output.read_bytes()
    entry = Entry(
        path=job.path,
        origin="nvcc",
        source=f"corpus/cuda/{job.source.name}.cu",
        target=oracle.target_of(data),
        options=" ".join(job.options),
        tools={"nvcc": nvcc.version},
        recipe=recipe,
        sha256="",
        size=0,
    )
    store.put(data, entry)
    store.save()
