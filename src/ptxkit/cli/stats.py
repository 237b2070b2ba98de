"""`ptxkit stats`: what PTX files are made of, in numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptxkit.cli.files import INPUTS_HELP, Inputs, count, plain_data, printable
from ptxkit.errors import PtxSyntaxError, UsageError

if TYPE_CHECKING:
    from rich.table import Table

    from ptxkit.syntax.statistics import FunctionStatistics, Statistics

EXIT_TROUBLE = 2
_TOP = 20  # rows of a table unless told
_WIDEST = 500  # columns where no terminal sets a limit


class By(str, Enum):
    """What instructions are counted by."""

    OPCODE = "opcode"
    FAMILY = "family"
    FUNCTION = "function"


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help=INPUTS_HELP)],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with all numbers.")
    ] = False,
    by: Annotated[
        By | None, typer.Option(help="What to count instructions by; family unless told.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help=f"Rows of each table; {_TOP} unless told."),
    ] = None,
) -> None:
    """Count instructions, registers, memory, kernels, blocks and loops of PTX files.

    Exit code: 0 done, 2 a file could not be read or parsed; the others are still counted.
    """
    from ptxkit.syntax.statistics import Statistics

    if as_json and (by is not None or top is not None):
        raise UsageError("--json prints all numbers; --by and --top are for the tables")
    inputs = Inputs(files)
    found: list[Statistics] = []
    for source in inputs:
        try:
            found.append(Statistics.of(source.parse()))
        except PtxSyntaxError as error:
            inputs.failed += 1
            typer.echo(str(error), err=True)
    if as_json:
        typer.echo(json.dumps(plain_data(_data(found)), indent=2))
    elif found:
        _show(found, by or By.FAMILY, top or _TOP)
    if inputs.failed:
        raise typer.Exit(EXIT_TROUBLE)


def _data(found: Sequence[Statistics]) -> dict[str, Any]:
    from ptxkit.isa.families import by_family
    from ptxkit.syntax.statistics import Statistics

    def one(statistics: Statistics) -> dict[str, Any]:
        return {**statistics.to_dict(), "families": by_family(statistics.opcodes)}

    return {
        "files": [
            {**one(s), "by_function": [function.to_dict() for function in s.functions]}
            for s in found
        ],
        "total": one(Statistics.total(found)),
    }


def _show(found: Sequence[Statistics], by: By, top: int) -> None:
    from ptxkit.syntax.statistics import Statistics

    total = found[0] if len(found) == 1 else Statistics.total(found)
    typer.echo(_headline(total))
    tables = [
        _instructions(total, found, by, top),
        _counts("Registers", "type", total.registers, top),
        _spaces(total),
    ]
    if by is not By.FUNCTION:
        tables.append(_functions("Kernels", (f for f in total.functions if f.is_entry), top, found))
    tables.append(_architectures(found))
    for table in tables:
        if table.row_count:
            _print(table)


def _headline(total: Statistics) -> str:
    parts = [
        count(total.lines, "line"),
        count(total.kernels, "kernel"),
        count(len(total.functions) - total.kernels, "other function"),
        count(total.instructions, "instruction"),
    ]
    return f"{printable(total.name)}: {', '.join(parts)}"


def _instructions(total: Statistics, found: Sequence[Statistics], by: By, top: int) -> Table:
    if by is By.FUNCTION:
        return _functions("Instructions by function", total.functions, top, found)
    if by is By.OPCODE:
        return _counts("Instructions by opcode", "opcode", total.opcodes, top)
    from ptxkit.isa.families import by_family

    return _counts("Instructions by family", "family", Counter(by_family(total.opcodes)), top)


def _table(title: str, *columns: str) -> Table:
    """A table whose first column is text and whose others are numbers."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    for number, column in enumerate(columns):
        table.add_column(
            column, justify="right" if number and column != "file" else "left", overflow="fold"
        )
    return table


def _counts(title: str, column: str, counts: Mapping[str, int], top: int) -> Table:
    table = _table(title, column, "count", "share")
    total = sum(counts.values())
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    for name, number in rows[:top]:
        table.add_row(name, f"{number:,}", f"{number / total:.1%}")
    if rest := rows[top:]:
        number = sum(n for _, n in rest)
        table.add_row(f"{len(rest)} more", f"{number:,}", f"{number / total:.1%}", style="dim")
    return table


def _spaces(total: Statistics) -> Table:
    table = _table("Memory", "space", "variables", "bytes")
    for name, space in total.spaces.items():
        table.add_row(name, f"{space.variables:,}", f"{space.bytes:,}")
    return table


def _functions(
    title: str,
    functions: Iterable[FunctionStatistics],
    top: int,
    files: Sequence[Statistics],
) -> Table:
    columns = ["name", "parameters", "(bytes)", "instructions", "blocks", "loops", "registers"]
    table = _table(title, *columns, "shared bytes", *(["file"] if len(files) > 1 else []))
    rows = sorted(functions, key=lambda f: -f.instructions)
    for f in rows[:top]:
        numbers = (f.parameters, f.parameter_bytes, f.instructions, f.blocks, f.loops)
        more = (f.registers.total(), f.shared_bytes)
        file = [printable(f.filename)] if len(files) > 1 else []
        table.add_row(f.name, *(f"{n:,}" for n in (*numbers, *more)), *file)
    if rest := rows[top:]:
        number = sum(f.instructions for f in rest)
        table.add_row(f"{len(rest):,} more", "", "", f"{number:,}", style="dim")
    return table


def _architectures(found: Sequence[Statistics]) -> Table:
    table = _table("Architectures", "target", "PTX", "files", "instructions")
    pairs = sorted({(s.target or "none", s.version or "none") for s in found})
    for target, version in pairs:
        same = [s for s in found if (s.target or "none", s.version or "none") == (target, version)]
        instructions = sum(s.instructions for s in same)
        table.add_row(target, version, f"{len(same):,}", f"{instructions:,}")
    return table


def _print(table: Table) -> None:
    """Print a table, as wide as it wants to be where no terminal sets a limit."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDEST)
    with console.capture() as captured:
        console.print(table)
    lines = (line.rstrip() for line in captured.get().rstrip("\n").split("\n"))
    typer.echo("\n" + "\n".join(lines))
