"""`ptxkit extract`: PTX out of libraries, object files, fat binaries and programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptxkit.cli import files
from ptxkit.errors import UsageError

if TYPE_CHECKING:
    from ptxkit.toolchain import ExtractedCubin, ExtractedPtx

EXIT_NOTHING = 1


def command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A .so, .a, .o, .fatbin, .cubin or program.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="The folder for the files.")
    ] = None,
    list_only: Annotated[bool, typer.Option("--list", help="Write nothing, list them.")] = False,
    cubins: Annotated[bool, typer.Option("--cubins", help="Machine code instead of PTX.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON array with one object for each.")
    ] = False,
) -> None:
    """Take the PTX out of a file that the CUDA compilers or a linker made.

    Exit code: 0 done, 1 there was none, 2 the file is damaged or could not be read.
    """
    from ptxkit.toolchain import extract, extract_cubins

    if output is None and not list_only:
        raise UsageError("say where to: --output DIR, or --list to look only")
    if output is not None and list_only:
        raise UsageError("--list writes nothing; leave out --output")
    found: list[tuple[ExtractedPtx | ExtractedCubin, bytes]] = (
        [(one, one.data) for one in extract_cubins(file)]
        if cubins
        else [(one, one.text.encode("utf-8", "surrogateescape")) for one in extract(file)]
    )
    if output is not None and found:
        _write(Path(output), found)
    if as_json:
        rows = [_row(one, data) for one, data in found]
        typer.echo(json.dumps(files.plain_data(rows), indent=2))
    else:
        for one, data in found:
            source = f"  {files.printable(one.identifier)}" if one.identifier else ""
            typer.echo(f"{one.arch:<8} {len(data):>10,}  {files.printable(one.name)}{source}")
    if not found:
        what = "machine code" if cubins else "PTX"
        others = 0 if cubins else len(extract_cubins(file))
        advice = f", but machine code ({files.count(others, 'cubin')}): --cubins takes it out"
        files.complain(f"'{file}' holds no {what}{advice if others else ''}")
        raise typer.Exit(EXIT_NOTHING)


def _row(one: ExtractedPtx | ExtractedCubin, data: bytes) -> dict[str, Any]:
    return {
        "name": one.name,
        "arch": one.arch,
        "bytes": len(data),
        "identifier": one.identifier,
        "member": one.member,
    }


def _write(folder: Path, found: list[tuple[ExtractedPtx | ExtractedCubin, bytes]]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"'{folder}' cannot be made: {reason}") from error
    for one, data in found:
        files.write(folder / one.name, data)
