"""`ptxkit assemble`: PTX to cubin, and what each kernel needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptxkit.cli import files
from ptxkit.errors import UsageError

if TYPE_CHECKING:
    from ptxkit.toolchain import Cubin, Resources

_ENGINES = ("auto", "nvjitlink", "ptxas")
_WIDEST = 500  # columns where no terminal sets a limit


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="PTX; - for standard input.")],
    arch: Annotated[
        str | None, typer.Option(metavar="SM", help="The architecture; the file's own unless told.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Where the cubin goes, if anywhere."),
    ] = None,
    block: Annotated[
        int | None,
        typer.Option(min=1, metavar="THREADS", help="Show the occupancy for blocks of this size."),
    ] = None,
    shared: Annotated[
        int, typer.Option(min=0, metavar="BYTES", help="Dynamic shared memory a block.")
    ] = 0,
    opt_level: Annotated[int, typer.Option("-O", min=0, max=3, help="Optimisation.")] = 3,
    max_registers: Annotated[
        int | None, typer.Option(metavar="N", help="Registers a thread at most.")
    ] = None,
    line_info: Annotated[bool, typer.Option(help="Keep line numbers.")] = False,
    debug: Annotated[bool, typer.Option(help="Assemble for a debugger.")] = False,
    option: Annotated[
        list[str] | None, typer.Option("-X", metavar="WORD", help="An option for ptxas itself.")
    ] = None,
    engine: Annotated[str, typer.Option(help="auto, nvjitlink or ptxas.")] = "auto",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with all numbers.")
    ] = False,
) -> None:
    """Assemble PTX and show registers, spills, memory and occupancy of each kernel.

    Needs no GPU. Exit code: 0 done, 2 the PTX has errors or could not be read.
    """
    from ptxkit.toolchain import assemble

    if engine not in _ENGINES:
        raise UsageError(f"--engine is one of {', '.join(_ENGINES)}, not '{engine}'")
    files.check_outputs([output], [file])
    module = files.read(file).parse(recover=True)
    cubin = assemble(
        module,
        arch,
        opt_level=opt_level,
        max_registers=max_registers,
        line_info=line_info,
        debug=debug,
        options=option or (),
        engine=engine,  # type: ignore[arg-type]
    )
    if output is not None:
        files.write(output, cubin.data)
    for diagnostic in cubin.diagnostics:
        typer.echo(diagnostic.render(), err=True)
    if output == files.STDIN:
        return
    if as_json:
        typer.echo(json.dumps(files.plain_data(_data(cubin, block, shared)), indent=2))
    else:
        _show(cubin, block, shared, output)


def _data(cubin: Cubin, block: int | None, shared: int) -> dict[str, Any]:
    kernels = {}
    for name, needs in cubin.resources.items():
        kernels[name] = needs.to_dict() | _occupancy(needs, cubin.arch, block, shared)
    return {
        "arch": cubin.arch,
        "engine": cubin.engine,
        "bytes": len(cubin.data),
        "kernels": kernels,
        "diagnostics": [diagnostic.to_dict() for diagnostic in cubin.diagnostics],
    }


def _occupancy(needs: Resources, arch: str, block: int | None, shared: int) -> dict[str, Any]:
    """The occupancy for a block, or for the best one where none was named."""
    from ptxkit.toolchain import best_block, occupancy

    try:
        threads = block or best_block(needs, arch, shared)
        found = occupancy(needs, threads, arch, shared)
    except UsageError:  # an architecture whose limits are not known
        return {"occupancy": None}
    return {
        "occupancy": {
            "block": threads,
            "blocks_per_sm": found.blocks_per_sm,
            "warps": found.warps,
            "fraction": found.fraction,
            "limiter": found.limiter,
        }
    }


def _show(cubin: Cubin, block: int | None, shared: int, output: str | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    written = f", written to {Path(output)}" if output else ""
    typer.echo(f"{cubin.arch} by {cubin.engine}: {len(cubin.data):,} bytes{written}")
    if not cubin.resources:
        typer.echo("there is no kernel in it")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("kernel", overflow="fold")
    numbers = "registers spills stack shared constant barriers local code".split()
    for name in (*numbers, "block", "occupancy"):
        table.add_column(name, justify="right")
    table.add_column("limited by")
    for name, needs in cubin.resources.items():
        values = ["?" if (v := getattr(needs, key)) is None else f"{v:,}" for key in numbers]
        found = _occupancy(needs, cubin.arch, block, shared)["occupancy"]
        tail = ["", "", ""]
        if found is not None:
            tail = [str(found["block"]), f"{found['fraction']:.0%}", found["limiter"]]
        table.add_row(Text(files.printable(name)), *values, *tail)
    console = Console(soft_wrap=False)
    if not console.is_terminal:
        console.width = _WIDEST
    console.print(table)
