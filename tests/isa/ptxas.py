"""ptxas as an oracle: thousands of instructions a call, a verdict for each line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ptxkit.isa.targets import Target
from ptxkit.isa.variants import BODY_PREAMBLE, MODULE_PREAMBLE

_MESSAGE = re.compile(r"line (\d+); (\w+)\s*: (.*)")


@lru_cache(maxsize=1)
def find_ptxas() -> str | None:
    """The ptxas to ask: ``PTXKIT_PTXAS``, then the pip wheel's, then the system's."""
    if os.environ.get("PTXKIT_PTXAS"):
        return os.environ["PTXKIT_PTXAS"]
    for folder in sys.path:
        for found in sorted(Path(folder or ".").glob("nvidia/*/bin/ptxas")):
            return str(found)
    return shutil.which("ptxas")


@lru_cache(maxsize=1)
def highest_version() -> str:
    """The highest ``.version`` this ptxas takes."""
    for minor in range(9, -1, -1):
        source = f".version 9.{minor}\n.target sm_90\n.address_size 64\n"
        if _run(source, "sm_90").returncode == 0:
            return f"9.{minor}"
    return "8.8"


def _run(source: str, target: str) -> subprocess.CompletedProcess[str]:
    ptxas = find_ptxas()
    assert ptxas is not None
    # Old targets are still checked as such when assembled for the oldest known arch.
    target = target.partition(",")[0]  # without its texture mode
    number = Target.parse(target).number
    arch = target if number >= 75 else "sm_75"
    if number == 101 and "13" in ptxas_release():
        arch = target.replace("101", "110")
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", delete=False) as file:
        file.write(source)
    try:
        return subprocess.run(
            [ptxas, "-arch", arch, file.name, "-o", "/dev/null"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        Path(file.name).unlink()


def module_verdict(body: str, version: str, target: str) -> str:
    """'' when ptxas accepts a module with this body, else its first error message."""
    size = ".address_size 64\n" if float(version) >= 2.3 else ""
    process = _run(f".version {version}\n.target {target}\n{size}{body}\n", target)
    if process.returncode == 0:
        return ""
    return next(
        (
            f"{found[2]}: {found[3]}"
            for found in map(_MESSAGE.search, (process.stdout + process.stderr).splitlines())
            if found is not None and found[2] in ("error", "fatal")
        ),
        process.stderr or f"ptxas ended with {process.returncode}",
    )


@lru_cache(maxsize=1)
def ptxas_release() -> str:
    """The release, such as ``13.4``."""
    ptxas = find_ptxas()
    assert ptxas is not None
    text = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"release (\d+\.\d+)", text)
    return found[1] if found else "?"


def verdicts(
    lines: Sequence[str], version: str, target: str, module_preamble: str = MODULE_PREAMBLE
) -> list[str]:
    """For every line '' when ptxas accepts it, else its first error message.

    ptxas expands its macros (matrix instructions are some) up to the first error only,
    so what it did not reject is given to it again, until a pass is clean.
    """
    found = _reported(lines, version, target, module_preamble)
    good = [index for index, message in enumerate(found) if not message]
    while good:
        some, good = good[:50], good[50:]
        again = _reported([lines[index] for index in some], version, target, module_preamble)
        bad = next((index for index, message in enumerate(again) if message), None)
        if bad is not None:
            found[some[bad]] = again[bad]
            good = some[bad + 1 :] + good
    return found


def _reported(lines: Sequence[str], version: str, target: str, module_preamble: str) -> list[str]:
    """What ptxas says of every line in one go.

    A bad last instruction keeps ptxas from generating code. A grammar error stops
    ptxas, so what stands after it is given to it again.
    """
    head = (
        f".version {version}\n.target {target}\n.address_size 64\n{module_preamble}"
        f".visible .entry k(.param .u64 kp, .param .align 16 .b8 kps[64])\n{{\n{BODY_PREAMBLE}"
    )
    offset = head.count("\n") + 1
    found = [""] * len(lines)
    start = 0
    while start < len(lines):
        body = "\n".join(lines[start:])
        process = _run(f"{head}{body}\nLAB:\nret;\nadd.u32 f1, f1, f1;\n}}\n", target)
        # Some operands crash ptxas, or break its own macros: find the line by halving.
        if process.returncode < 0 or "ptxas <builtin>" in process.stderr:
            rest = lines[start:]
            if len(rest) == 1:
                found[start] = f"crash: ptxas ended with {process.returncode} {process.stderr}"
                break
            halves = rest[: len(rest) // 2], rest[len(rest) // 2 :]
            found[start:] = [
                one for half in halves for one in _reported(half, version, target, module_preamble)
            ]
            break
        resume = len(lines)
        for message in (process.stdout + process.stderr).splitlines():
            place = _MESSAGE.search(message)
            if place is None or place[2] == "warning" or place[2] == "info":
                continue
            index = int(place[1]) - offset + start
            if index < start and place[2] != "fatal":
                continue  # a register type of the preamble that this version lacks
            if index < start:
                raise AssertionError(f"ptxas rejects the preamble for {target}: {message}")
            if index < len(lines):
                found[index] = found[index] or f"{place[2]}: {place[3]}"
                if place[2] == "fatal":
                    resume = index + 1
        if "fatal" in process.stderr and not _MESSAGE.search(process.stderr):
            raise AssertionError(f"ptxas failed for {version} {target}: {process.stderr}")
        start = resume
    return found
