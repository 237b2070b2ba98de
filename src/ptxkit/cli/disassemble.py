"""`ptxkit disassemble`: the machine code of PTX or of a cubin."""

from __future__ import annotations

from typing import Annotated

import typer

from ptxkit.cli import files
from ptxkit.errors import UsageError

_ELF = b"\x7fELF"


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A cubin, or PTX to assemble first.")],
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="Only this kernel.")] = None,
    arch: Annotated[
        str | None, typer.Option(metavar="SM", help="For PTX: the architecture.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where the text goes; - for standard output.")
    ] = files.STDIN,
    line_info: Annotated[bool, typer.Option(help="Name the lines of CUDA and PTX.")] = False,
    encoding: Annotated[bool, typer.Option(help="Show the bytes of instructions.")] = False,
    live_registers: Annotated[bool, typer.Option(help="Show which registers are in use.")] = False,
) -> None:
    """Show the SASS of a cubin, or of PTX after assembling it.

    Exit code: 0 done, 2 the file has errors or could not be read.
    """
    from pathlib import Path

    from ptxkit.toolchain import Cubin, assemble, disassemble

    files.check_outputs([output], [file])
    data = b""
    if file != files.STDIN:
        try:
            data = Path(file).read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise UsageError(f"'{file}' cannot be read: {reason}") from error
    if data.startswith(_ELF):
        if arch is not None:
            raise UsageError("--arch is for PTX; a cubin has its own")
        cubin = Cubin.from_bytes(data)
    else:
        module = files.read(file).parse(recover=True)
        cubin = assemble(module, arch, line_info=line_info)
    text = disassemble(
        cubin, kernel, line_info=line_info, encoding=encoding, live_registers=live_registers
    )
    files.write(output, text.encode("utf-8", "surrogateescape"))
