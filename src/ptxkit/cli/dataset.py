"""`ptxkit dataset`: look at a dataset of `ptxkit synth`, and prove it again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(no_args_is_help=True, help="Look at a dataset, or prove it again.")

_FAULTS_SHOWN = 20


@app.command("stats")
def stats(
    folder: Annotated[Path, typer.Argument(help="A folder that ptxkit synth has made.")],
    html: Annotated[
        Path | None, typer.Option(help="Where the report goes; DIR/report.html if left out.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Count what is in a dataset; write an HTML report with plots."""
    import json

    from rich.console import Console

    from ptxkit.cli.files import write
    from ptxkit.synth.dataset import Dataset
    from ptxkit.synth.report import html as report
    from ptxkit.synth.statistics import collect

    dataset = Dataset(folder)
    found = collect(dataset)
    path = html or folder / "report.html"
    write(path, report(dataset, found).encode())
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1))
        return
    console = Console()
    numbers = found.to_dict()
    console.print(
        f"{found.rows:,} rows, {found.bytes:,} bytes, {numbers['bytes_per_row']:,} bytes a row",
        highlight=False,
    )
    for title in ("splits", "verdicts", "rejected", "duplicates", "categories"):
        _print(console, title, numbers[title])
    _print(console, "opcodes", dict(found.opcodes.most_common(12)))
    for title in ("source_tokens", "instructions", "registers"):
        _print(console, title, numbers[title])
    console.print(f"report: {path}", highlight=False, markup=False, soft_wrap=True)


def _print(console: Any, title: str, numbers: dict[str, int]) -> None:
    from rich.table import Table

    if not numbers:
        return
    table = Table(title.replace("_", " "), "", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for name, value in numbers.items():
        table.add_row(name.replace("_", " "), f"{value:,}")
    console.print(table)


@app.command("validate")
def validate(
    folder: Annotated[Path, typer.Argument(help="A folder that ptxkit synth has made.")],
) -> None:
    """Prove every row again: it is what its plan says, assembles, and executes.

    Exits with 1 where anything is wrong.
    """
    from rich.console import Console
    from rich.progress import Progress

    from ptxkit.cli.files import count
    from ptxkit.synth.dataset import Dataset
    from ptxkit.synth.validation import validate as faults_of

    dataset = Dataset(folder)
    counts = dataset.manifest["counts"]
    rows = sum(value for name, value in counts.items() if name != "rejected")
    console = Console(stderr=True)
    shown = 0
    with Progress(console=console, transient=not console.is_terminal) as bar:
        task = bar.add_task("rows", total=rows)
        for fault in faults_of(dataset, lambda done: bar.update(task, completed=done)):
            shown += 1
            if shown <= _FAULTS_SHOWN:
                typer.echo(str(fault))
    if shown:
        typer.echo(f"{count(shown, 'fault')} in '{folder}'")
        raise typer.Exit(1)
    executed = dataset.plan.settings.views == "all"
    again = "assembled and executed again" if executed else "generated again"
    typer.echo(f"'{folder}' is sound: {count(rows, 'row')} {again}")
