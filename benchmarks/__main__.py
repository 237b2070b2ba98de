"""``python -m benchmarks [names] [--json] [--out FILE]``.

A benchmark is a module of this package with a function ``benchmark(settings)`` that yields
rows; its name is the module's. Nothing is written but to the terminal, unless ``--out``
names a file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.report import Benchmark, Row, Settings, show


def available() -> dict[str, Benchmark]:
    """The benchmarks by name."""
    found: dict[str, Benchmark] = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if module.name != "__main__":
            run = getattr(importlib.import_module(f"benchmarks.{module.name}"), "benchmark", None)
            if run is not None:
                found[module.name] = run
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named, or all."""
    known = available()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("--json", action="store_true", help="print JSON, not tables")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON there as well")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run?")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no benchmark is called {unknown[0]}; there are: {', '.join(known)}")
    settings = Settings()
    if options.quick:
        settings = Settings(size=20_000, large_size=100_000, peer_size=3_000, repeat=1)
    results: dict[str, list[Row]] = {
        name: list(known[name](settings)) for name in options.names or known
    }
    text = json.dumps(
        {name: [r.as_dict() for r in rows] for name, rows in results.items()}, indent=2
    )
    if options.json:
        print(text)
    else:
        console = Console()
        show(Console(width=max(console.width, 120)), results)
    if options.out:
        options.out.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
