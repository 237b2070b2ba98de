"""`ptxkit compile`: CUDA C++ to PTX."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from ptxkit.cli import files
from ptxkit.errors import UsageError

_COMPILERS = ("nvrtc", "nvcc")


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="CUDA C++; - for standard input.")],
    arch: Annotated[str, typer.Option(metavar="SM", help="The architecture.")] = "sm_90",
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where the PTX goes; - for standard output.")
    ] = files.STDIN,
    include: Annotated[
        list[str] | None, typer.Option("-I", metavar="DIR", help="A folder of headers.")
    ] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="A macro.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("-X", metavar="WORD", help="An option for the compiler itself."),
    ] = None,
    line_info: Annotated[bool, typer.Option(help="Keep line numbers.")] = False,
    debug: Annotated[bool, typer.Option(help="Compile for a debugger.")] = False,
    fast_math: Annotated[bool, typer.Option(help="Trade accuracy of floats for speed.")] = False,
    compiler: Annotated[
        str | None, typer.Option(help="nvrtc or nvcc; nvrtc unless only nvcc is there.")
    ] = None,
) -> None:
    """Compile CUDA C++ to PTX. Needs no GPU.

    Exit code: 0 done, 2 the source has errors or could not be read.
    """
    from ptxkit.toolchain import CompilerWarning, compile_cuda

    if compiler is not None and compiler not in _COMPILERS:
        raise UsageError(f"--compiler is nvrtc or nvcc, not '{compiler}'")
    source = files.read(file)
    beside = [] if source.path is None else [source.path.absolute().parent]
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always", CompilerWarning)
        module = compile_cuda(
            source.data,
            arch,
            name=source.name,
            include_dirs=[*beside, *map(Path, include or ())],
            defines=define or (),
            options=option or (),
            line_info=line_info,
            debug=debug,
            fast_math=fast_math,
            compiler=compiler,  # type: ignore[arg-type]
        )
    for remark in remarks:
        typer.echo(str(remark.message), err=True)
    files.write(output, module.emit_bytes())
