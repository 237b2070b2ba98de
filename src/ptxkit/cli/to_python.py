"""`ptxkit to-python`: PTX as a Python file that prints it."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from ptxkit.cli.files import check_outputs, complain, read, write, write_stdout


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A PTX file; - for standard input.")],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; else standard output."),
    ] = None,
    sugar: Annotated[
        bool,
        typer.Option("--sugar/--plain", help="With or without the passes that shorten it."),
    ] = True,
) -> None:
    """Turn a PTX file into Python that makes it, byte for byte.

    The Python is run and compared with the file before it is written.
    """
    import ptxkit

    check_outputs([output], [file])
    source = read(file)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        text = ptxkit.to_python(source.parse(), sugar=sugar)
    for one in said:
        complain(str(one.message), "warning")
    if output is None:
        write_stdout(text.encode())
    else:
        write(output, text.encode())
