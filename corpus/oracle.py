"""Ask ptxas whether it accepts each file, and note the answer in the manifest."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from corpus.store import Entry, Store
from corpus.tools import Tool, run

TARGET = re.compile(rb"^[ \t]*\.target[ \t]+(sm_\w+)", re.MULTILINE)
SAVE_EVERY = 5
LARGE = 4 << 20  # bytes; above, ask without optimising, which takes a fraction of the time
MESSAGE_LIMIT = 500


def target_of(ptx: bytes) -> str:
    """The architecture a PTX file asks for.

    >>> target_of(b".version 9.0\\n.target sm_90a, debug\\n")
    'sm_90a'
    """
    found = TARGET.search(ptx)
    return found.group(1).decode() if found else "unknown"


def accepts(ptxas: Tool, file: Path, entry: Entry) -> tuple[bool, str]:
    """Assemble one file to nowhere: (accepted, what ptxas printed)."""
    command = [str(ptxas.path), f"-arch={entry.target}", str(file), "-o", os.devnull]
    if "-rdc=true" in entry.options:
        command.append("--compile-only")
    if entry.size > LARGE:
        command.append("-O0")
    result = run(command, timeout=1800)
    message = result.output.replace(str(file), file.name)
    return result.ok, message[:MESSAGE_LIMIT]


def check(store: Store, origin: str, choose: Callable[[Entry], Tool]) -> None:
    """Run ptxas over the files of `origin` where that is not done yet.

    `choose` gives the ptxas that belongs to the tool which made the file. An answer of
    another ptxas does not count.
    """
    chosen = [(entry, choose(entry)) for entry in store.of(origin)]
    due = [(entry, ptxas) for entry, ptxas in chosen if entry.ptxas_tool != str(ptxas)]
    for count, (entry, ptxas) in enumerate(due, start=1):
        ok, message = accepts(ptxas, store.root / entry.path, entry)
        store.entries[entry.path] = replace(
            entry, ptxas=ok, ptxas_tool=str(ptxas), ptxas_message=message
        )
        if not ok:
            print(f"  ptxas rejects {entry.path}: {message}", flush=True)
        if count % SAVE_EVERY == 0:
            store.save()
    store.save()
