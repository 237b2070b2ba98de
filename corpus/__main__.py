"""`python -m corpus build | list`: make the corpus of real PTX, or say what is in it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from corpus import nvcc, triton_build, wheels
from corpus.store import Store
from corpus.tools import MissingToolError

BUILDERS: dict[str, Callable[[Store], None]] = {
    "nvcc": nvcc.build,
    "triton": triton_build.build,
    "wheels": wheels.build,
}


def build(store: Store, origins: list[str]) -> int:
    """Build the given origins; what lacks its tools is reported and the others go on."""
    missing = 0
    for origin in origins:
        start = time.monotonic()
        try:
            BUILDERS[origin](store)
        except MissingToolError as problem:
            missing += 1
            print(f"{origin}: not built. {problem}", file=sys.stderr)
            continue
        print(f"{origin}: done in {time.monotonic() - start:.0f} s", flush=True)
    summarise(store)
    return 1 if missing else 0


def summarise(store: Store) -> None:
    """Print one line per origin, and what could not be had."""
    for origin in BUILDERS:
        entries = list(store.of(origin))
        size = sum(e.size for e in entries) / 1e6
        accepted = sum(e.ptxas is True for e in entries)
        asked = sum(e.ptxas is not None for e in entries)
        print(
            f"{origin:7} {len(entries):5} files {size:8.1f} MB, "
            f"ptxas accepts {accepted} of {asked} asked"
        )
    for what, why in store.failures.items():
        print(f"missing {what}: {why.splitlines()[0]}")


def listing(store: Store) -> None:
    """Print one line per file: size, target, ptxas's answer, path."""
    answers = {True: "ok", False: "rejected", None: "-"}
    for path in sorted(store.entries):
        entry = store.entries[path]
        print(f"{entry.size:>9} {entry.target:8} {answers[entry.ptxas]:8} {path}")
    summarise(store)


def main() -> int:
    """Read the command line and do what it asks."""
    parser = argparse.ArgumentParser(prog="python -m corpus", description=__doc__)
    parser.add_argument("command", choices=["build", "list"])
    parser.add_argument("--only", choices=sorted(BUILDERS), help="build this origin alone")
    parser.add_argument("--out", type=Path, default=Path(".cache/corpus"))
    options = parser.parse_args()
    store = Store.open(options.out.resolve())
    if options.command == "list":
        listing(store)
        return 0
    try:
        with store.locked():
            return build(store, [options.only] if options.only else list(BUILDERS))
    except BlockingIOError:
        print(f"another build is writing to {store.root}; wait for it", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
