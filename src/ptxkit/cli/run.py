"""`ptxkit run`: run a kernel on the simulator or a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ptxkit.errors import UsageError


def _dimensions(text: str, what: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.replace("x", ",").split(","))
    except ValueError as error:
        raise UsageError(f"the {what} '{text}' is not a number or numbers such as 4,2") from error


def command(
    file: Annotated[Path, typer.Argument(help="The PTX file.")],
    kernel: Annotated[
        str | None, typer.Option(help="The kernel; the only one if left out.")
    ] = None,
    grid: Annotated[str, typer.Option(help="Blocks: 4 or 4,2 or 4,2,1.")] = "1",
    block: Annotated[str, typer.Option(help="Threads of a block.")] = "32",
    shared: Annotated[int, typer.Option(help="Bytes of dynamic shared memory.")] = 0,
    arg: Annotated[
        list[str] | None,
        typer.Option(help="An argument: 7, 2.5, f32[1024]=randn, s32[4,4]=arange, @x.npy."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda or auto.")] = "cpu",
    seed: Annotated[int, typer.Option(help="Seed of rand and randn.")] = 0,
    save: Annotated[
        Path | None, typer.Option(help="A folder for the arrays as .npy after the run.")
    ] = None,
    step_limit: Annotated[int, typer.Option(help="Warp instructions a block may take.")] = 0,
    profile: Annotated[
        bool, typer.Option("--profile", help="Show how often each instruction ran.")
    ] = False,
) -> None:
    """Run a kernel and print what its arrays hold then.

    Example: ptxkit run k.ptx --kernel saxpy --grid 4 --block 256 --arg f32[1024]=randn
    --arg f32[1024]=ones --arg 2.0 --arg 1024
    """
    import numpy as np
    from rich.console import Console

    import ptxkit
    from ptxkit.cli.files import read
    from ptxkit.run.textual import read_argument

    module = read(str(file)).parse()
    loaded = ptxkit.load(module, device=device)
    name = kernel or _only_kernel(loaded.kernels)
    generator = np.random.default_rng(seed)
    values = [read_argument(text, generator) for text in arg or []]
    launcher: Any = loaded[name][_dimensions(grid, "grid"), _dimensions(block, "block"), shared]
    options: dict[str, Any] = {}
    if step_limit:
        options["step_limit"] = step_limit
    if profile:
        options["count"] = True
    report = launcher(*values, **options)
    console = Console()
    for item, value in zip(loaded[name].parameters, values, strict=True):
        if isinstance(value, np.ndarray):
            text = np.array2string(value, threshold=16)
            console.print(f"{item.name}: {text}", highlight=False, markup=False)
            if save is not None:
                save.mkdir(parents=True, exist_ok=True)
                np.save(save / f"{item.name}.npy", value)
    if profile and report is not None:
        _print_profile(console, report)


def _only_kernel(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    known = ", ".join(names) or "none"
    raise UsageError(f"choose a kernel with --kernel; there are: {known}")


def _print_profile(console: Any, report: Any) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table("line", "executions", "instruction", title="executions by thread")
    for node, count in report.counts:
        table.add_row(str(node.line), f"{count:,}", escape(" ".join(node.text.split())))
    console.print(table)
