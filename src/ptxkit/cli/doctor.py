"""`ptxkit doctor`: which NVIDIA tools are here, and what to install for the others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ptxkit.toolchain.inventory import Entry, Inventory

EXIT_LACKING = 1
_COMPILERS, _ASSEMBLERS = ("nvrtc", "nvcc"), ("nvjitlink", "ptxas")


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the CUDA compilers and tools found, their versions, the GPU, and what is missing.

    Exit code: 0 CUDA can be compiled and PTX assembled here, 1 not both.
    """
    from ptxkit.toolchain.inventory import survey

    found = survey()
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else _text(found))
    usable = {entry.name for entry in found.entries if entry.usable}
    if usable.isdisjoint(_COMPILERS) or usable.isdisjoint(_ASSEMBLERS):
        raise typer.Exit(EXIT_LACKING)


def _text(found: Inventory) -> str:
    lines = []
    for entry in found.entries:
        lines += _part(entry)
    lines += ["", *_driver(found), _cache(found)]
    if found.advice:
        lines += ["", *found.advice]
    return "\n".join(lines)


def _part(entry: Entry) -> list[str]:
    head = f"{entry.name:<10} "
    if entry.path is None:
        return [f"{head}missing  {entry.problem or entry.purpose}"]
    if entry.problem:
        return [f"{head}broken   {entry.problem}"]
    lines = [f"{head}{entry.release or '':<8} {entry.purpose}; from {entry.origin}: {entry.path}"]
    if entry.ptx:
        lines.append(f"{'':<19} PTX {entry.ptx}, {_range(entry.architectures)}")
    return lines


def _range(architectures: tuple[str, ...]) -> str:
    """Suffixed forms of an architecture are folded into it: ``sm_100[af]``."""
    suffixes: dict[str, str] = {}
    for name in architectures:
        plain = name.rstrip("af")
        suffixes[plain] = suffixes.get(plain, "") + name[len(plain) :]
    return " ".join(name + (f"[{more}]" if more else "") for name, more in suffixes.items())


def _driver(found: Inventory) -> list[str]:
    from ptxkit.toolchain.inventory import driver_ptx

    driver = found.driver
    ptx = driver_ptx(driver)
    lines = []
    if driver.release:
        takes = f", takes PTX up to {ptx}" if ptx else ""
        lines.append(f"{'driver':<10} {driver.release:<8} CUDA driver{takes}")
    if driver.problem:
        lines.append(f"{'GPU':<10} none     {driver.problem}")
    for gpu in driver.gpus:
        size = f"{gpu.memory / 2**30:.0f} GiB, {gpu.multiprocessors} multiprocessors"
        lines.append(f"{'GPU':<10} {gpu.arch:<8} {gpu.name}, {size}")
    return lines


def _cache(found: Inventory) -> str:
    if found.cache_folder is None:
        return f"{'cache':<10} off"
    return f"{'cache':<10} {found.cache_bytes / 2**20:<8.1f} MiB in {found.cache_folder}"
