"""`ptxkit diff`: what differs between two PTX files, by function and by instruction."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ptxkit.cli.files import STDIN, plain_data, printable, read
from ptxkit.errors import UsageError

EXIT_DIFFERENT = 1
_STYLES = {"- ": "red", "+ ": "green", "@@": "cyan", "--": "bold", "++": "bold"}


def command(
    a: Annotated[str, typer.Argument(help="The first PTX file; - for standard input.")],
    b: Annotated[str, typer.Argument(help="The second PTX file; - for standard input.")],
    alpha: Annotated[
        bool,
        typer.Option(
            "--alpha",
            help="Let registers and labels have other names, as long as one renaming that keeps "
            "the declared types explains them all. Registers that are never used do not count.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object with all differences.")
    ] = False,
    functions: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB",
            help="Compare only functions whose names match, such as '*reduce*', and no "
            "declarations.",
        ),
    ] = None,
    context: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Show this many equal statements around each difference."
        ),
    ] = 3,
    ignore_debug: Annotated[
        bool,
        typer.Option("--ignore-debug", help="Leave out .loc, .file and debug sections."),
    ] = False,
) -> None:
    """Compare two PTX files by structure: white space and comments do not count.

    Functions are paired by name, and their statements lined up.

    Exit code: 0 the same, 1 different, 2 a file could not be read or parsed.
    """
    from ptxkit.syntax import compare

    if a == b == STDIN:
        raise UsageError("only one of the two files can be '-'")
    first, second = read(a).parse(), read(b).parse()
    found = compare.diff(first, second, alpha, functions=functions, debug=not ignore_debug)
    if as_json:
        typer.echo(json.dumps(plain_data(found.to_dict()), indent=2))
    else:
        _show(printable(found.render(context)))
    if not found.equal:
        raise typer.Exit(EXIT_DIFFERENT)


def _show(text: str) -> None:
    """Print the differences; in colour where a terminal shows them."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        typer.echo(text)
        return
    for line in text.split("\n"):
        console.print(Text(line, style=_STYLES.get(line[:2], "")))
