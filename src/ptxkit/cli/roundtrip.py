"""`ptxkit roundtrip`: PTX to Python and back, compared byte for byte."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ptxkit.cli.files import INPUTS_HELP, Inputs, Source, count, printable
from ptxkit.errors import PtxkitError, PtxSyntaxError

if TYPE_CHECKING:
    from rich.table import Table

EXIT_DIFFERENT = 1
EXIT_TROUBLE = 2
_WIDEST = 500  # columns where no terminal sets a limit


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one file."""

    name: str
    instructions: int
    lines: int
    functions: int
    raised: int
    """Functions whose Python has neither a label nor a branch."""
    seconds: float
    reason: str
    """Why it did not come back; empty where it did."""


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help=INPUTS_HELP)],
    sugar: Annotated[
        bool,
        typer.Option("--sugar/--plain", help="With or without the passes that shorten it."),
    ] = True,
) -> None:
    """Turn PTX files into Python, run that, and compare the bytes.

    Exit code: 0 all came back, 1 one did not, 2 a file could not be read or parsed.
    """
    inputs = Inputs(files)
    rows: list[Row] = []
    for source in inputs:
        try:
            rows.append(_round(source, sugar))
        except PtxSyntaxError as error:
            inputs.failed += 1
            typer.echo(str(error), err=True)
    if rows:
        _show(rows, inputs.failed)
    if inputs.failed:
        raise typer.Exit(EXIT_TROUBLE)
    if any(row.reason for row in rows):
        raise typer.Exit(EXIT_DIFFERENT)


def _round(source: Source, sugar: bool) -> Row:
    """Transpile, run in a fresh namespace, compare."""
    import ptxkit
    from ptxkit.transpiler.measure import measure
    from ptxkit.transpiler.verify import first_difference, run_python, to_bytes

    module = source.parse()
    begin = time.perf_counter()
    lines = functions = raised = 0
    reason = ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = ptxkit.to_python(module, sugar=sugar)
        found_measure = measure(text)
        lines, functions = found_measure.lines, found_measure.functions
        raised = found_measure.raised
        found = to_bytes(run_python(text, f"{source.name}.py").ptx())
        if found != source.data:
            reason = first_difference(source.data, found)
    except PtxkitError as error:
        reason = str(error)
    seconds = time.perf_counter() - begin
    return Row(source.name, len(module.instructions), lines, functions, raised, seconds, reason)


def _show(rows: list[Row], failed: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("file", box=None, pad_edge=False, header_style="bold")
    columns = ("instructions", "Python lines", "lines each", "functions", "no labels", "seconds")
    for name in columns:
        table.add_column(name, justify="right")
    table.add_column("bytes")
    for row in rows:
        _add(table, row)
    console = Console(soft_wrap=True)
    if not console.is_terminal:
        console.width = _WIDEST
    console.print(table)
    good = sum(1 for row in rows if not row.reason)
    typer.echo(f"{good} of {count(len(rows) + failed, 'file')} came back byte for byte")
    functions = sum(row.functions for row in rows)
    raised = sum(row.raised for row in rows)
    if functions:
        typer.echo(f"{raised} of {count(functions, 'function')} without a label or branch")


def _add(table: Table, row: Row) -> None:
    from rich.markup import escape

    each = f"{row.lines / row.instructions:.2f}" if row.instructions else ""
    verdict = "[green]same[/]" if not row.reason else f"[red]{escape(printable(row.reason))}[/]"
    table.add_row(
        escape(printable(row.name)),
        f"{row.instructions:,}",
        f"{row.lines:,}",
        each,
        f"{row.functions:,}",
        f"{row.raised:,}",
        f"{row.seconds:.2f}",
        verdict,
    )
