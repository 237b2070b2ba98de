"""`ptxkit decompile`: PTX as CUDA C++, with a badge that says what was proved."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ptxkit.cli.files import (
    STDIN,
    check_outputs,
    complain,
    made,
    plain_data,
    read,
    write,
)

if TYPE_CHECKING:
    from ptxkit.cli.progress import Report


@contextmanager
def _progress() -> Iterator[Report | None]:
    """A bar where somebody watches; a log has the badge at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    from ptxkit.cli.progress import shown

    with shown("decompiling", None, waiting="working on the {} function", stays=False) as report:
        yield report


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A PTX file; - for standard input.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; - for standard output."),
    ] = STDIN,
    engine: Annotated[str, typer.Option(help="auto, or the name of one engine.")] = "auto",
    kernel: Annotated[
        str | None, typer.Option(help="One function, by its PTX or C++ name; else all.")
    ] = None,
    arch: Annotated[
        str | None, typer.Option(help="What candidates are compiled for; else the file's target.")
    ] = None,
    beams: Annotated[int, typer.Option(help="How many programs an engine may propose.")] = 4,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Compile and compare what is proposed.")
    ] = True,
    weights: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of ptxkit train, for the neural engine."),
    ] = None,
    names: Annotated[
        str, typer.Option(help="learned: as people would call things; plain: p0, n1, f2.")
    ] = "learned",
    forms: Annotated[
        str, typer.Option(help="learned: as people would write it; plain: as lifted.")
    ] = "learned",
    effort: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Instructions to compile in search of identical PTX; 0: no search."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="S", min=0.1, help="Of computing, for each function; else 60."),
    ] = None,
    comments: Annotated[
        bool, typer.Option("--comments", help="Note at statements which lines of PTX they are.")
    ] = False,
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write PTX and C++ side by side, lines linked."),
    ] = None,
    tree: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also draw the tree: .dot, .svg, .png or .pdf."),
    ] = None,
    attention: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Also draw what the neural engine looks at: .png, .svg, .pdf or .json.",
        ),
    ] = None,
    verdict: Annotated[
        str | None, typer.Option("--verdict", metavar="FILE", help="Also write it as JSON.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with 1 where equality was not proved.")
    ] = False,
) -> None:
    """Turn a PTX file back into CUDA C++, and say what is proved about it.

    The badge goes to standard error: E1 identical PTX, E2 equal dataflow, E3 equal in execution,
    E0 compiles. Ends with 0; with 1 where --strict is given
    and equality was not proved; with 2 for an error.
    """
    import ptxkit
    from ptxkit.decompiler import look
    from ptxkit.decompiler.budget import SECONDS
    from ptxkit.decompiler.refine.search import EFFORT
    from ptxkit.decompiler.verify import architecture

    check_outputs([output, html, tree, attention, verdict], [file])
    if tree is not None:
        look.check_tree(Path(tree))
    module = read(file).parse()
    if attention is not None:
        look.check_attention(module, Path(attention), kernel)
    with _progress() as report:
        found = ptxkit.decompile(
            module, engine, kernel=kernel, arch=arch, beams=beams, verify=verify, names=names,
            forms=forms, effort=EFFORT if effort is None else effort,
            seconds=SECONDS if seconds is None else seconds, comments=comments, weights=weights,
            report=report,
        )  # fmt: skip
    write(output, found.cuda.encode())
    if html is not None:
        page = look.side_by_side(module, found.cuda, arch or architecture(module), found.badge)
        write(html, page.encode())
    if verdict is not None:
        data = {"engine": found.engine, "notes": list(found.notes), **found.verdict.to_dict()}
        write(verdict, json.dumps(plain_data(data), indent=1).encode() + b"\n")
    for note in found.notes:
        complain(note, "note")
    typer.echo(found.badge, err=True)
    parts = found.verdict.parts
    for name, part in parts.items() if len(parts) > 1 else ():
        typer.echo(f"  {part.badge} {name}", err=True)
    if tree is not None:
        with made(tree) as path:
            look.draw(found.ast, path)
    if attention is not None:
        with made(attention) as path:
            look.attention(module, path, kernel, weights)
    if strict and not found.verdict.equivalent:
        raise typer.Exit(1)
