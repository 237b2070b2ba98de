"""Reading PTX: speed, growth, memory, walking, formatting and checking.

What runs in this process is timed by its CPU time, against ptxas by the clock on the wall.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time

import ptxkit
from benchmarks import peers
from benchmarks.generate import generate
from benchmarks.report import Bar, Row, Settings
from benchmarks.timing import Sample, interleave, measure

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / ".cache" / "corpus"

Works = dict[str, Callable[[], object]]


def benchmark(settings: Settings) -> Iterator[Row]:
    """All rows."""
    text = generate(settings.size)
    yield from parsing("parse", text.encode(), settings, note=f"{len(text):,} bytes, generated")
    yield from against_ptxas(text, settings)
    real = real_text(settings.size)
    if real is not None:
        name, data = real
        note = f"{len(data):,} bytes, {name}"
        yield from parsing("parse a real file", data, settings, note=note)
    yield from growth_with_size(settings)
    yield from memory(text, settings)
    yield from walking(text, settings)
    yield from layout(text, settings)
    yield from checking(settings)


def real_text(size: int) -> tuple[str, bytes] | None:
    """The smallest file of the collected corpus of at least ``size`` bytes, with its name."""
    files = [path for path in CORPUS.rglob("*.ptx") if path.stat().st_size >= size]
    chosen = min(files, key=lambda path: (path.stat().st_size, path.name), default=None)
    return None if chosen is None else (chosen.name, chosen.read_bytes())


def megabytes(size: int, sample: Sample) -> float:
    """MB a second of the least disturbed run."""
    return size / sample.minimum / 1e6


def parsing(name: str, data: bytes, settings: Settings, note: str) -> Iterator[Row]:
    """A text, against pyptx on a smaller one in the same run: it takes a second for 0.5 MB."""
    peer_text = generate(settings.peer_size)
    works: Works = {"ours": lambda: ptxkit.parse(data)}
    peer_parse = peers.pyptx_parser(peer_text)
    if peer_parse is not None:
        works["pyptx"] = partial(peer_parse, peer_text)
    found = interleave(works, repeat=settings.repeat, clock=process_time)
    peer = megabytes(len(peer_text), found["pyptx"]) if "pyptx" in found else None
    ours = megabytes(len(data), found["ours"])
    yield Row(name, ours, "MB/s", "pyptx", peer, Bar(200), note=note)


def against_ptxas(text: str, settings: Settings) -> Iterator[Row]:
    """Parsing, against ptxas reading the same text."""
    found, peer = with_ptxas(text, {"ours": lambda: ptxkit.parse(text)}, settings)
    note = "ptxas checks and makes no code; its start-up is taken off"
    ours = megabytes(len(text), found["ours"])
    yield Row("parse", ours, "MB/s", "ptxas", peer, Bar(8), note=note)


def with_ptxas(
    text: str, works: Works, settings: Settings
) -> tuple[dict[str, Sample], float | None]:
    """Times of ``works``, and the MB a second of ptxas in turns with them."""
    try:
        ptxas = peers.Ptxas(text)
    except LookupError:
        return interleave(works, repeat=settings.repeat), None
    found = interleave(
        {**works, "ptxas": ptxas.check, "start-up": ptxas.start_up}, repeat=settings.repeat
    )
    seconds = max(found["ptxas"].minimum - found["start-up"].minimum, 1e-9)
    return found, len(text) / seconds / 1e6


def growth_with_size(settings: Settings) -> Iterator[Row]:
    """Time a byte of a large text over that of a small one: 1 where work is linear."""
    small = generate(settings.size).encode()
    large = generate(settings.large_size).encode()
    works: Works = {"small": lambda: ptxkit.parse(small), "large": lambda: ptxkit.parse(large)}
    found = interleave(works, repeat=settings.repeat, clock=process_time)
    ours = megabytes(len(small), found["small"]) / megabytes(len(large), found["large"])
    name = "time a byte, large over small"
    note = f"{len(large):,} and {len(small):,} bytes"
    yield Row(name, ours, "times", bar=Bar(1.2, on="ours"), higher_is_better=False, note=note)


def memory(text: str, settings: Settings) -> Iterator[Row]:
    """Bytes a parsed module takes for each byte of its text."""
    peer = None
    if peers.pyptx_parser(generate(settings.peer_size)) is not None:
        peer = memory_growth("pyptx", settings.peer_size)
    figures = {
        "module.memory, the text included": ptxkit.parse(text).memory / len(text),
        "growth of the process": memory_growth("ptxkit", settings.size),
    }
    for note, ours in figures.items():
        yield Row(
            "memory a byte of text", ours, "bytes", "pyptx", peer,
            Bar(10, on="ours"), higher_is_better=False, note=note,
        )  # fmt: skip


def memory_growth(parser: str, size: int) -> float:
    """Bytes a fresh process grows by for each byte it parses; in this one others live."""
    command = [sys.executable, "-m", "benchmarks.growth", parser, str(size)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return float(run.stdout)


def walk(module: ptxkit.Module) -> int:
    """Opcode and operand texts of every instruction, in Python."""
    count = 0
    for instruction in module.instructions:
        instruction.opcode  # noqa: B018
        [operand.text for operand in instruction.operands]
        count += 1
    return count


def walking(text: str, settings: Settings) -> Iterator[Row]:
    """Instructions a second, from a parsed module and from text."""
    module = ptxkit.parse(text)
    works: Works = {"ours": lambda: walk(module), "text": lambda: walk(ptxkit.parse(text))}
    peer_text = generate(settings.peer_size)
    peer_parse = peers.pyptx_parser(peer_text)
    peer_count = 0
    if peer_parse is not None:
        parsed = peer_parse(peer_text)
        peer_count = peers.pyptx_walk(parsed)
        works["pyptx"] = lambda: peers.pyptx_walk(parsed)
        works["pyptx text"] = lambda: peers.pyptx_walk(peer_parse(peer_text))
    found = interleave(works, repeat=settings.repeat, clock=process_time)
    count = walk(module)

    def row(name: str, ours: str, peer: str, bar: Bar, note: str) -> Row:
        rate = peer_count / found[peer].minimum if peer in found else None
        figure = count / found[ours].minimum
        return Row(name, figure, "instructions/s", "pyptx", rate, bar, note=note)

    note = "opcode and operand texts, after parsing"
    yield row("walk in Python", "ours", "pyptx", Bar(500_000, on="ours"), note)
    yield row("parse and walk in Python", "text", "pyptx text", Bar(10), "the same from text")


def layout(text: str, settings: Settings) -> Iterator[Row]:
    """Formatting a parsed module; no peer lays PTX out."""
    module = ptxkit.parse(text)
    sample = measure(lambda: ptxkit.format(module), repeat=settings.repeat, clock=process_time)
    yield Row("format", megabytes(len(text), sample), "MB/s", bar=Bar(10, on="ours"))


def checking(settings: Settings) -> Iterator[Row]:
    """The semantic check of a parsed module, against ptxas doing the same from text."""
    text = generate(settings.peer_size * 4)
    module = ptxkit.parse(text)
    found, peer = with_ptxas(text, {"ours": lambda: ptxkit.check(module)}, settings)
    ours = megabytes(len(text), found["ours"])
    yield Row("check", ours, "MB/s", "ptxas", peer, note=f"{len(text):,} bytes, parsed before")
