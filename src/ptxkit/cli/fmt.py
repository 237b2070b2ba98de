"""`ptxkit fmt`: one layout for PTX files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from ptxkit.cli.files import (
    STDIN,
    Inputs,
    OutputError,
    Source,
    count,
    printable,
    write,
    write_stdout,
)
from ptxkit.errors import PtxSyntaxError, UsageError

EXIT_WOULD_CHANGE = 1
EXIT_TROUBLE = 2
_SPACE = b" \t\r\n\v\f"
_LINES = re.compile(rb"[^\n]*\n|[^\n]+")
_CONTEXT = 3
_HELP = (
    "PTX files; a folder stands for all *.ptx files below it (hidden folders are left out), "
    "- alone formats standard input to standard output."
)


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help=_HELP)],
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit with 1 where a file would change."),
    ] = False,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Write nothing; print what would change as a unified diff."),
    ] = False,
    width: Annotated[
        int,
        typer.Option(min=20, max=10_000, metavar="N", help="Break lines longer than this."),
    ] = 100,
) -> None:
    """Lay PTX files out anew, in place. Only white space changes.

    A file is rewritten in one step, or not at all. One that is no PTX does not stop the others.

    Exit code: 0 done, 1 a file would change (--check), 2 a file could not be formatted.
    """
    if STDIN in files and len(files) > 1:
        raise UsageError("'-' formats standard input to standard output; give it alone")
    inputs = Inputs(files)
    changed = unchanged = 0
    for source in inputs:
        try:
            new = _formatted(source, width)
            if not (check or diff):
                _write(source, new)
        except PtxSyntaxError as error:
            inputs.failed += 1
            typer.echo(str(error), err=True)
        except (OutputError, FormattingError) as error:
            inputs.fail(str(error))
        else:
            changed += new != source.data
            unchanged += new == source.data
            if new != source.data:
                _tell(source, new, check, diff)
    if not diff and (check or files != [STDIN]):
        typer.echo(_summary(changed, unchanged, inputs.failed, check))
    if inputs.failed:
        raise typer.Exit(EXIT_TROUBLE)
    if check and changed:
        raise typer.Exit(EXIT_WOULD_CHANGE)


class FormattingError(UsageError):
    """The new layout would have changed more than white space."""


def _formatted(source: Source, width: int) -> bytes:
    """The new text, proved to hold the same program and comments."""
    import ptxkit.syntax

    module = source.parse()
    new = ptxkit.syntax.format(module, width=width).encode("utf-8", "surrogateescape")
    same_bytes = new.translate(None, _SPACE) == source.data.translate(None, _SPACE)
    # Two tokens that grew together have the same bytes, and make another tree.
    again = ptxkit.syntax.parse(new, filename=source.name, recover=True)
    if not same_bytes or again.node_count != module.node_count or again.diagnostics_raw:
        raise FormattingError(
            f"formatting '{source.name}' would change more than white space, so it is left as it "
            "is; this is a bug of ptxkit, please report it with the file"
        )
    return new


def _write(source: Source, new: bytes) -> None:
    if source.path is None:
        write_stdout(new)
    elif new != source.data:
        if not source.path.is_file():
            raise OutputError(f"'{source.name}' is no regular file and can't be rewritten in place")
        write(source.path, new)


def _tell(source: Source, new: bytes, check: bool, diff: bool) -> None:
    if diff:
        write_stdout(b"".join(_unified(source, new)))
    elif source.path is not None or check:
        verb = "would reformat" if check else "reformatted"
        typer.echo(f"{verb} {printable(source.name)}")


def _summary(changed: int, unchanged: int, failed: int, check: bool) -> str:
    parts = (
        (changed, "would be reformatted" if check else "reformatted"),
        (unchanged, "unchanged"),
        (failed, "not formatted"),
    )
    return ", ".join(f"{count(number, 'file')} {what}" for number, what in parts if number)


def _unified(source: Source, new: bytes) -> Iterator[bytes]:
    """A unified diff that `patch` can read."""
    from ptxkit.syntax.alignment import align, edits, hunks

    before, after = _LINES.findall(source.data), _LINES.findall(new)
    name = source.name.encode("utf-8", "surrogateescape")
    yield b"--- %s\n+++ %s\n" % (name, name)
    everything = list(edits(align(before, after), len(before), len(after)))
    for hunk in hunks(everything, _CONTEXT):
        (_, low_a, _, low_b, _), (_, _, high_a, _, high_b) = hunk[0], hunk[-1]
        yield b"@@ -%s +%s @@\n" % (_range(low_a, high_a), _range(low_b, high_b))
        for equal, i, j, k, n in hunk:
            yield from _marked(b" " if equal else b"-", before[i:j])
            yield from _marked(b"+", after[k:n] if not equal else ())


def _range(low: int, high: int) -> bytes:
    """Lines as a unified diff counts them: first line and number of lines."""
    return b"%d,%d" % (low + 1 if high > low else low, high - low)


def _marked(mark: bytes, lines: Sequence[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"
