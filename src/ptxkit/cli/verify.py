"""`ptxkit verify`: is this CUDA C++ the same as that PTX?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from ptxkit.cli.files import STDIN, InputError, complain, plain_data, read

#: How a text begins that is PTX.
_PTX = re.compile(r"\A(?:\s|//[^\n]*\n|/\*.*?\*/)*\.version\s", re.DOTALL)
_TREES = (".sexp", ".lisp", ".ast")


def command(
    original: Annotated[str, typer.Argument(metavar="PTX", help="The PTX; - for standard input.")],
    candidate: Annotated[
        str, typer.Argument(metavar="CUDA", help="CUDA C++ (.cu), or a tree (.sexp).")
    ],
    kernel: Annotated[str | None, typer.Option(help="One kernel; else all of the PTX.")] = None,
    arch: Annotated[str | None, typer.Option(help="What to compile for; else the target.")] = None,
    device: Annotated[
        str, typer.Option(help="cpu: the simulator runs both; cuda: a GPU runs them, too.")
    ] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Compile CUDA C++ and compare it with PTX: identical, equal by proof, equal in execution.

    Ends with 0 where they are equal, with 1 where that is not proved, with 2 for an error.
    """
    from ptxkit.cuda import CudaModule, Function, SExpressionError
    from ptxkit.cuda import read as read_tree
    from ptxkit.decompiler.unsaid import not_compared
    from ptxkit.decompiler.verify import architecture, verify

    if original == candidate == STDIN:
        raise InputError("only one of the two files can be '-'")
    module = read(original).parse()
    source = read(candidate)
    text = source.data.decode("utf-8", "replace")
    if _PTX.search(text):
        raise InputError(
            f"'{candidate}' is PTX, and CUDA C++ is compared with PTX here; "
            "two PTX files are compared by: ptxkit diff"
        )
    program: CudaModule | str = text
    name = source.name
    if Path(candidate).suffix in _TREES:
        try:
            tree = read_tree(text)
        except SExpressionError as error:
            raise InputError(f"{source.name}:{error}") from error
        if isinstance(tree, Function):
            tree = CudaModule((tree,))
        if not isinstance(tree, CudaModule):
            raise InputError(f"'{candidate}' holds no kernel or module")
        program = tree
        # Lines of what is compiled are not those of the tree.
        name = f"{source.name}, as CUDA C++"
    verdict = verify(module, program, kernel, arch=arch, device=device, name=name)
    if as_json:
        typer.echo(json.dumps(plain_data(verdict.to_dict()), indent=1))
    else:
        typer.echo(verdict.badge)
        for name, part in verdict.parts.items() if len(verdict.parts) > 1 else ():
            typer.echo(f"  {part.badge} {name}")
        for reason in verdict.reasons if not verdict.equivalent else ():
            complain(reason, "note")
        compared = verdict.parts if verdict.compiles else ()
        for line in not_compared(module, list(compared), arch or architecture(module)):
            complain(line, "note")
    raise typer.Exit(0 if verdict.equivalent else 1)
