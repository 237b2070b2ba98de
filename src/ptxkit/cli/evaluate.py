"""`ptxkit evaluate`: how good engines are, in numbers."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from ptxkit.cli.files import (
    EXIT_INTERRUPTED,
    InputError,
    check_outputs,
    complain,
    made,
    plain_data,
    write,
)
from ptxkit.cli.progress import shown
from ptxkit.errors import UsageError

#: So long a file is as it was, though there are more rows.
_SECONDS_BETWEEN_FILES = 1.0
_COLUMNS = {
    "count": "n", "compiles": "compiles", "E1": "E1", "E2": "E2", "E3": "E3",
    "equivalent": "equal", "differs": "differs", "overdue": "overdue", "exact": "exact",
    "similarity": "tree", "without_goto": "no goto",
    "assembly": "asm", "lines_ratio": "lines", "seconds": "s",
}  # fmt: skip
_PLAIN = ("count", "lines_ratio", "seconds")


def command(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="INPUT...", help="A tiers dataset, or folders of .ptx and .cu."),
    ],
    engine: Annotated[
        list[str] | None,
        typer.Option(help="symbolic, neural, auto (combined); several times for several."),
    ] = None,
    split: Annotated[str, typer.Option(help="The split of a dataset.")] = "test",
    arch: Annotated[str, typer.Option(help="What .cu files are compiled for.")] = "sm_90",
    beams: Annotated[int, typer.Option(help="How many programs an engine may propose.")] = 1,
    weights: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of ptxkit train, for the neural engine."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many programs.")] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="So many kernels of folders, of all sizes, drawn with --seed."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    most: Annotated[int, typer.Option(help="Leave out longer kernels (instructions).")] = 2000,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    seconds: Annotated[
        float | None, typer.Option(min=1, help="Give up a program that takes longer, and say so.")
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="Show a line for every program.")] = False,
    out: Annotated[Path | None, typer.Option("--json", help="Write everything as JSON.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it: a .png, .svg or .pdf file.")] = None,
    failures: Annotated[int, typer.Option(help="Show so many programs that failed.")] = 10,
) -> None:
    """Measure engines: compile rate, proofs, exact match, tree distance, readability."""
    from rich.console import Console

    from ptxkit.decompiler import evaluate as measuring
    from ptxkit.synth.plan import MANIFEST

    if weights is not None and not {"auto", "neural"} & {*(engine or ())}:
        raise UsageError("--weights are those of the neural engine: add --engine neural, or auto")
    if plot is not None:
        measuring.check_picture(plot)
    check_outputs([out, plot], inputs)
    left_out: list[str] = []
    sets = [path for path in inputs if (path / MANIFEST).exists()]
    others = [path for path in inputs if path not in sets]
    items = chain(
        *(measuring.dataset_items(path, split) for path in sets),
        measuring.folder_items(others, arch, most, sample=sample, seed=seed, left_out=left_out)
        if others
        else (),
    )
    kept = _Kept(out)
    with shown("programs", limit, waiting="measuring the {} program") as report:

        def progress(rows: list[Any], total: int) -> None:
            kept.take(rows, total)
            report(len(rows), total)

        with suppress(KeyboardInterrupt):
            measuring.evaluate(
                items, engine or ["symbolic"], beams=beams, limit=limit, workers=workers,
                seconds=seconds, weights=weights, progress=progress,
            )  # fmt: skip
    rows = kept.rows
    for why in left_out:
        complain(f"left out: {why}", "note")
    if not rows and not kept.interrupted:
        raise InputError(
            "there is nothing to measure: no program could be read, or all have more than "
            f"{most:,} instructions (--most)"
        )
    for name, groups in measuring.summary(rows).items():
        _print(Console(width=200), name, groups)
    if each:
        _print_each(Console(width=200), rows)
    for row in [row for row in rows if not row.equivalent][:failures]:
        typer.echo(f"{row.engine} {row.name}: [{row.level}] {row.reason}")
    if rows:
        kept.write()
    if plot is not None and rows:
        with made(plot) as path:
            measuring.plot(rows, path)
    if kept.interrupted:
        total = "all" if kept.total is None else f"{kept.total:,}"
        complain(f"interrupted: this is {len(rows):,} of {total} programs", "note")
        raise typer.Exit(EXIT_INTERRUPTED)


class _Kept:
    """What was measured so far, also in a file: a run that is killed leaves it behind."""

    def __init__(self, out: Path | None) -> None:
        self.out = out
        self.rows: list[Any] = []
        self.total: int | None = None
        """How many rows there will be, once that is known."""
        self.written = 0.0

    @property
    def interrupted(self) -> bool:
        """Whether the run ended before its last row."""
        return self.total is None or len(self.rows) < self.total

    def take(self, rows: list[Any], total: int) -> None:
        """Keep the rows there are; written now and then, since all of them are each time."""
        self.rows, self.total = rows, total
        if rows and time.monotonic() - self.written > _SECONDS_BETWEEN_FILES:
            self.write()

    def write(self) -> None:
        from ptxkit.decompiler.evaluate import as_json

        if self.out is not None:
            data = json.dumps(plain_data(as_json(self.rows)), indent=1)
            write(self.out, data.encode() + b"\n")
            self.written = time.monotonic()


def _print(console: Any, engine: str, groups: dict[str, dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(engine, *_COLUMNS.values(), box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, numbers in groups.items():
        table.add_row(name, *(_shown(key, numbers[key]) for key in _COLUMNS))
    console.print(table)


def _print_each(console: Any, rows: list[Any]) -> None:
    from rich.table import Table

    columns = ("engine", "instructions", "level", "ran", "lines", "goto", "asm", "s", "program")
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        level = "differs" if row.differs else "overdue" if row.overdue else row.level
        ran = "-" if row.coverage is None else f"{100 * row.coverage:.0f}%"
        numbers = (row.lines, row.gotos, row.assembly)
        table.add_row(row.engine, f"{row.instructions:,}", level, ran, *map(str, numbers),
                      f"{row.seconds:.1f}", f"{row.group}/{row.name}")  # fmt: skip
    for column in table.columns[1:-1]:
        column.justify = "right"
    console.print(table)


def _shown(key: str, value: float | None) -> str:
    if value is None:
        return "-"
    if key in _PLAIN:
        return f"{value:,.0f}" if key == "count" else f"{value:.2f}"
    return f"{100 * value:.1f}%"
