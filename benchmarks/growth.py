"""``python -m benchmarks.growth PARSER SIZE``: memory a byte of text, in a fresh process."""

from __future__ import annotations

import gc
import importlib
import sys
from pathlib import Path

from benchmarks.generate import generate


def resident() -> int:
    """Bytes of this process that are in memory."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


def main(parser: str, size: int) -> None:
    """Parse a generated text and print the growth."""
    parse = importlib.import_module("pyptx.parser" if parser == "pyptx" else "ptxkit").parse
    text = generate(size)
    parse(generate(1000))  # what is loaded on first use is not counted
    gc.collect()
    before = resident()
    module = parse(text)
    gc.collect()
    print((resident() - before) / len(text))
    del module


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
