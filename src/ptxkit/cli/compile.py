"""`ptxkit compile`: CUDA C++ to PTX."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ptxkit.cli import files
from ptxkit.errors import UsageError

if TYPE_CHECKING:
    from ptxkit.syntax import Module

_COMPILERS = ("nvrtc", "nvcc")
#: Files without these words ask for nothing, and need no more than a compiler.
_ASKS = "// compile "


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

    What `ptxkit decompile` wrote may ask for options in a comment: functions get what they ask for.

    Exit code: 0 done, 2 the source has errors or could not be read.
    """
    from ptxkit.toolchain import CompilerWarning, compile_cuda

    if compiler is not None and compiler not in _COMPILERS:
        raise UsageError(f"--compiler is nvrtc or nvcc, not '{compiler}'")
    files.check_outputs([output], [file])
    source = files.read(file)
    beside = [] if source.path is None else [source.path.absolute().parent]

    def compiled(asked: tuple[str, ...]) -> Module:
        return compile_cuda(
            source.data,
            arch,
            name=source.name,
            include_dirs=[*beside, *map(Path, include or ())],
            defines=define or (),
            options=(*(option or ()), *(word for word in asked if word not in (option or ()))),
            line_info=line_info,
            debug=debug,
            fast_math=fast_math,
            compiler=compiler,  # type: ignore[arg-type]
        )

    text = source.data.decode("utf-8", "replace")
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always", CompilerWarning)
        module = _as_asked(text, source.name, compiled) if _ASKS in text else compiled(())
    for remark in dict.fromkeys(str(one.message) for one in remarks):
        typer.echo(remark, err=True)
    files.write(output, module.emit_bytes())


def _as_asked(text: str, name: str, compile: Callable[[tuple[str, ...]], Module]) -> Module:
    """A file compiled as its comments ask, and notes of what was done and what was not."""
    from ptxkit.decompiler.verify import asked

    given = {"": asked.asked_options(text), **asked.functions_options(text)}
    for function, options in given.items():
        if options:
            what = f"'{function}'" if function else "it"
            words = " ".join(options)
            files.complain(f"{name}: {what} is compiled with {words}, as a comment asks", "note")
    for line, word in asked.refused_options(text):
        files.complain(
            f"{name}:{line}: '{word}' is not used: a comment may ask for "
            f"{', '.join(asked.OPTIONS)}; -X {word} gives it to the compiler",
            "note",
        )
    return asked.compiled_as_asked(text, compile)
