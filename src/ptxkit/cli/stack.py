"""`ptxkit stack`: compile a stack program to a stub, or run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptxkit.cli import files
from ptxkit.errors import UsageError

if TYPE_CHECKING:
    from ptxkit.stack import Interface, Isa


def command(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROGRAM]",
            help="A file with a text of words, or JSON: a list of words and numbers; - for "
            "standard input. Several words in quotes are taken as they are, and one word that is "
            "an input or an instruction.",
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", "-i", metavar="NAME:TYPE[=REGISTER]", help="An input, such as x:f32=%f1."
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output", "-o", metavar="NAME:TYPE[=REGISTER][#SLOT]", help="An output, in order."
        ),
    ] = None,
    missing: Annotated[
        str, typer.Option(help="For outputs without a value: error, zero or keep.")
    ] = "error",
    steps: Annotated[int, typer.Option(help="Items the program may execute.")] = 65536,
    target: Annotated[str, typer.Option(metavar="SM", help="The architecture.")] = "sm_90",
    memory: Annotated[bool, typer.Option("--memory", help="Allow loads and stores.")] = False,
    run: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="Evaluate on the simulator instead: numbers for an input, such as x=1,2.5,3.",
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Tell on standard error what became of the program.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--list", help="Show the instruction set, and compile nothing.")
    ] = False,
) -> None:
    """Compile a program of the stack machine to a stub of PTX. Needs no GPU.

    Example: echo 'x x mul.rn.f32 1.0 add.rn.f32' | ptxkit stack - -i x:f32 -o y:f32

    Exit code: 0 done, 2 the program has errors, or could not be read.
    """
    from ptxkit import stack

    isa = stack.Isa.default(target, memory=memory)
    if show:
        if file is not None:
            raise UsageError("--list shows the instruction set, and takes no program")
        _show(isa)
        return
    if file is None:
        raise UsageError("name a file with a program, or - for standard input; or use --list")
    interface = stack.Interface(inputs, outputs, isa, missing=missing, steps=steps)  # type: ignore[arg-type]
    program = _read(file, interface)
    stub, told = stack.report(program, interface)
    if run:
        _run(program, interface, run)
    else:
        typer.echo(stub, nl=False)
    if report:
        typer.echo(
            f"{told.steps} steps, {told.executed} instructions executed, {told.idle} items idle, "
            f"{told.reused} reused, {told.folded} folded, {told.dropped} dropped, "
            f"{told.emitted} emitted, {told.registers} registers",
            err=True,
        )


def _read(name: str, interface: Interface) -> Any:
    words = name.split()
    if name != files.STDIN and words and not Path(name).exists():
        known = {one.name for one in interface.inputs}
        known |= {one.name for one in interface.isa.instructions}
        if len(words) > 1 or words[0] in known:
            return name  # the words themselves
        raise UsageError(
            f"'{name}' is neither a file, nor an input (-i), nor an instruction (--list shows "
            "them); a program is a file, - for standard input, or words in quotes"
        )
    source = files.read(name)
    try:
        text = source.data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{source.name}: the program is not UTF-8 (byte {error.start})") from None
    if not text.lstrip().startswith("["):
        return text
    try:
        program = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{source.name}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}"
        ) from None
    # A pair of JSON is a list: [7, "u64"].
    return [tuple(one) if isinstance(one, list) else one for one in program]


def _run(program: Any, interface: Any, given: list[str]) -> None:
    import numpy as np

    from ptxkit import stack
    from ptxkit.stack.evaluate import DTYPES

    kinds = {one.name: one.type for one in interface.inputs}
    arrays = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not equals or name not in kinds:
            known = ", ".join(kinds) or "none"
            raise UsageError(f"'{text}' gives no input its values; the inputs are: {known}")
        bits = [interface.isa.stack(kinds[name]).bits(one.strip()) for one in values.split(",")]
        kind = np.dtype(DTYPES.get(kinds[name], np.uint32))
        words = np.array(bits, np.uint64)
        arrays[name] = words.astype(f"u{kind.itemsize}").view(kind)
    left = [name for name in kinds if name not in arrays]
    if left:
        raise UsageError(f"the input '{left[0]}' has no values; give them with --run {left[0]}=...")
    for name, value in stack.evaluate(program, arrays, interface).items():
        typer.echo(f"{name}: {np.array2string(value, threshold=64)}")


def _show(isa: Isa) -> None:
    for row in isa.instructions:
        taken, given = " ".join(row.arguments) or "-", " ".join(row.results) or "-"
        mark = {"pure": "", "ordered": " (ordered)", "kept": " (kept)"}[row.effect]
        typer.echo(f"{row.name:28} {taken} -> {given}{mark}")
