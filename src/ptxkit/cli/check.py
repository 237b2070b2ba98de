"""`ptxkit check`: everything wrong with PTX files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptxkit.cli.files import INPUTS_HELP, Inputs, Source, count, plain_data

if TYPE_CHECKING:
    from rich.text import Text

    from ptxkit.diagnostics import Diagnostic

EXIT_FOUND = 1
EXIT_TROUBLE = 2
_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help=INPUTS_HELP)],
    target: Annotated[
        str | None,
        typer.Option(metavar="SM", help="Check for this target instead of the file's own: sm_90."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON array with one object per diagnostic.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show errors only, and no summary.")
    ] = False,
    warnings_as_errors: Annotated[
        bool, typer.Option("--warnings-as-errors", help="Treat every warning as an error.")
    ] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Report only diagnostics with this code, such as unknown-target, and syntax "
            "errors. May be repeated, or list several codes with commas.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help="Report no diagnostics with this code; syntax errors are always reported. May "
            "be repeated, or list several codes with commas.",
        ),
    ] = None,
    notes: Annotated[bool, typer.Option("--notes", help="Report notes too.")] = False,
) -> None:
    """Check PTX: syntax, names, types, operands, modifiers, version and target.

    Exit code: 0 no errors (warnings are allowed), 1 errors, 2 a file could not be read.
    """
    from ptxkit.isa import Target

    if target is not None:
        Target.parse(target)  # a wrong one is an error before any file is read
    selected, ignored = _codes(select), _codes(ignore)
    severities = {"error"} if quiet else {"error", "warning"} | ({"note"} if notes else set())
    inputs = Inputs(files)
    show = _printer()
    counts: Counter[str] = Counter()
    rows: list[dict[str, Any]] = []
    for source in inputs:
        for found in _check(source, target, selected, ignored):
            if warnings_as_errors and found.severity == "warning":
                found = replace(found, severity="error")
            counts[found.severity] += 1
            if found.severity not in severities:
                continue
            if as_json:
                rows.append(found.to_dict())
            else:
                show(found)
    if as_json:
        typer.echo(json.dumps(plain_data(rows), indent=2))
    elif not quiet:
        typer.echo(_summary(inputs, counts, notes))
    if inputs.failed:
        raise typer.Exit(EXIT_TROUBLE)
    if counts["error"]:
        raise typer.Exit(EXIT_FOUND)


def _codes(options: Sequence[str] | None) -> frozenset[str]:
    """The codes of an option that may be repeated and may hold commas."""
    words = (word.strip() for option in options or () for word in option.split(","))
    return frozenset(word for word in words if word)


def _check(
    source: Source, target: str | None, selected: frozenset[str], ignored: frozenset[str]
) -> list[Diagnostic]:
    from ptxkit.isa import check

    module = source.parse(recover=True)
    syntax_errors = set(module.diagnostics)
    return [
        found
        for found in check(module, target)
        if found in syntax_errors
        or ((not selected or found.code in selected) and found.code not in ignored)
    ]


def _summary(inputs: Inputs, counts: Counter[str], notes: bool) -> str:
    parts = [count(inputs.given, "file")]
    parts += [count(counts[kind], kind) for kind in ("error", "warning")]
    if notes:
        parts.append(count(counts["note"], "note"))
    if inputs.failed:
        parts.append(f"{inputs.failed} not read")
    return ", ".join(parts)


def _printer() -> Callable[[Diagnostic], None]:
    """How to print a diagnostic: in colour where a terminal shows it."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    if console.is_terminal:
        return lambda found: console.print(_coloured(found))
    return lambda found: typer.echo(found.render())


def _coloured(found: Diagnostic) -> Text:
    from rich.text import Text

    style = _STYLES[found.severity]
    lines = found.render().split("\n")
    head = Text(lines[0])
    label = f"{found.severity}[{found.code}]"
    at = lines[0].find(f": {label}: ") + 2
    head.stylize("bold", 0, at)
    head.stylize(style, at, at + len(label))
    parts = [head]
    for line in lines[1:]:
        caret = bool(line.strip()) and not line.strip().strip("^")
        parts.append(Text(line, style=style if caret else "cyan" if line[0] == "h" else ""))
    return Text("\n").join(parts)
