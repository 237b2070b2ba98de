"""Reading PTX: speed, memory, walking, growth, formatting and checking."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import ptxkit
from benchmarks import peers
from benchmarks.generate import generate
from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import Sample, interleave, measure

CORPUS = Path(__file__).parents[1] / ".cache" / "corpus"


def real_text(size: int) -> tuple[str, bytes] | None:
    """The smallest collected file of at least ``size`` bytes, with its name."""
    files = [path for path in CORPUS.rglob("*.ptx") if path.stat().st_size >= size]
    chosen = min(files, key=lambda path: (path.stat().st_size, path.name), default=None)
    return None if chosen is None else (chosen.name, chosen.read_bytes())


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows."""
    text = generate(settings.size)
    yield from parse_speed(text, settings)
    yield from real_speed(settings)
    yield from growth_with_size(settings)
    yield from memory(text, settings)
    yield from walking(text, settings)
    yield from layout(text, settings)
    yield from checking(settings)


def megabytes(size: int, sample: Sample) -> float:
    """MB a second of the least disturbed run."""
    return size / sample.minimum / 1e6


def parse_speed(text: str, settings: Settings) -> Iterator[Row]:
    """Generated text, against pyptx on a slice of it and ptxas on all of it."""
    slice_ = generate(settings.peer_size)
    data = text.encode()
    works = {"ours": lambda: ptxkit.parse(data)}
    if peers.pyptx_reads(slice_):
        works["pyptx"] = partial(peers.pyptx_parser() or str, slice_)
    try:
        ptxas = peers.Ptxas(text)
        works["ptxas"] = ptxas.check
        start_up = ptxas.start_up(settings.repeat)
    except LookupError:
        start_up = 0.0
    found = interleave(works, repeat=settings.repeat)
    ours = megabytes(len(data), found["ours"])
    pyptx = megabytes(len(slice_), found["pyptx"]) if "pyptx" in found else None
    yield Row("parse", ours, "MB/s", "pyptx", pyptx, Bar(50), note=f"{len(data):,} bytes")
    checked = None
    if "ptxas" in found:
        checked = len(data) / max(found["ptxas"].minimum - start_up, 1e-9) / 1e6
    note = "ptxas checks and makes no code; its start-up is taken off"
    yield Row("parse", ours, "MB/s", "ptxas", checked, Bar(3), note=note)


def real_speed(settings: Settings) -> Iterator[Row]:
    """A collected file, if there is one; pyptx reads a generated slice in the same run."""
    real = real_text(settings.size)
    if real is None:
        return
    name, data = real
    slice_ = generate(settings.peer_size)
    works = {"ours": lambda: ptxkit.parse(data)}
    if peers.pyptx_reads(slice_):
        works["pyptx"] = partial(peers.pyptx_parser() or str, slice_)
    found = interleave(works, repeat=settings.repeat)
    pyptx = megabytes(len(slice_), found["pyptx"]) if "pyptx" in found else None
    note = f"{name}, {len(data):,} bytes"
    ours = megabytes(len(data), found["ours"])
    yield Row("parse a real file", ours, "MB/s", "pyptx", pyptx, Bar(50), note=note)


def growth_with_size(settings: Settings) -> Iterator[Row]:
    """Time a byte of a large text over that of a small one: 1 where work is linear."""
    small = generate(settings.size).encode()
    large = generate(settings.large_size).encode()
    found = interleave(
        {"small": lambda: ptxkit.parse(small), "large": lambda: ptxkit.parse(large)},
        repeat=max(3, settings.repeat // 2),
    )
    ratio = (found["large"].minimum / len(large)) / (found["small"].minimum / len(small))
    note = f"{len(small):,} and {len(large):,} bytes"
    bar = Bar(1.5, on="ours")
    measure_ = "time a byte, large over small"
    yield Row(measure_, ratio, "times", bar=bar, higher_is_better=False, note=note)


def memory(text: str, settings: Settings) -> Iterator[Row]:
    """Bytes a parsed module takes for each byte of its text."""
    module = ptxkit.parse(text)
    ours = module.memory / len(text)
    peer = None
    if peers.pyptx_reads(generate(1000)):
        peer = memory_growth("pyptx", settings.peer_size)
    bar = Bar(6, on="ours")
    note = "module.memory, the text itself included"
    yield Row(
        "memory a byte of text", ours, "bytes", "pyptx", peer, bar, higher_is_better=False, note=note
    )
    grown = memory_growth("ptxkit", settings.size)
    note = "growth of the process"
    yield Row(
        "memory a byte of text", grown, "bytes", "pyptx", peer, bar, higher_is_better=False, note=note
    )


def memory_growth(parser: str, size: int) -> float:
    """Bytes a fresh process grows by for each byte it parses; in this one others live."""
    command = [sys.executable, "-m", "benchmarks.growth", parser, str(size)]
    root = Path(__file__).parents[1]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
    return float(run.stdout)


def walking(text: str, settings: Settings) -> Iterator[Row]:
    """Opcode and operand texts of every instruction, in Python."""
    module = ptxkit.parse(text)
    slice_ = generate(settings.peer_size)
    peer_parse = peers.pyptx_parser() if peers.pyptx_reads(slice_) else None

    def walk() -> None:
        for instruction in module.instructions:
            instruction.opcode  # noqa: B018
            [operand.text for operand in instruction.operands]

    works = {"ours": walk}
    peer_count = 0
    if peer_parse is not None:
        parsed = peer_parse(slice_)
        peer_count = sum(1 for _ in peers.pyptx_instructions(parsed))
        works["pyptx"] = lambda: list(peers.pyptx_instructions(parsed)).clear()
        works["pyptx from text"] = lambda: list(
            peers.pyptx_instructions(peer_parse(slice_))
        ).clear()
    works["from text"] = lambda: (ptxkit.parse(text), walk()) and None
    found = interleave(works, repeat=settings.repeat)
    count = len(module.instructions)
    unit = "instructions/s"

    def peer(name: str) -> float | None:
        return peer_count / found[name].minimum if name in found else None

    ours = count / found["ours"].minimum
    bar = Bar(500_000, on="ours")
    yield Row("walk in Python", ours, unit, "pyptx", peer("pyptx"), bar, note="after parsing")
    ours = count / found["from text"].minimum
    yield Row("parse and walk in Python", ours, unit, "pyptx", peer("pyptx from text"), Bar(10))


def layout(text: str, settings: Settings) -> Iterator[Row]:
    """Formatting a parsed module; no peer lays PTX out."""
    module = ptxkit.parse(text)
    sample = measure(lambda: ptxkit.format(module), repeat=settings.repeat)
    yield Row("format", megabytes(len(text), sample), "MB/s", bar=Bar(10, on="ours"))


def checking(settings: Settings) -> Iterator[Row]:
    """The semantic check, against ptxas doing the same."""
    text = generate(settings.peer_size * 4)
    module = ptxkit.parse(text)
    works = {"ours": lambda: ptxkit.check(module) and None}
    start_up = 0.0
    try:
        ptxas = peers.Ptxas(text)
        works["ptxas"] = ptxas.check
        start_up = ptxas.start_up(settings.repeat)
    except LookupError:
        pass
    found = interleave(works, repeat=min(settings.repeat, 3))
    checked = None
    if "ptxas" in found:
        checked = len(text) / max(found["ptxas"].minimum - start_up, 1e-9) / 1e6
    ours = megabytes(len(text), found["ours"])
    yield Row("check", ours, "MB/s", "ptxas", checked, note=f"{len(text):,} bytes, parsed before")
