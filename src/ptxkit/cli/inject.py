"""`ptxkit inject`: put stubs into annotated CUDA, or into PTX with markers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptxkit.cli import files
from ptxkit.errors import UsageError

if TYPE_CHECKING:
    from ptxkit.inject import Template

_STUB = re.compile(r"(?:(?P<kernel>[\w$]+):)?(?P<site>\w+)(?:#(?P<number>\d+))?=(?P<file>.+)")
_KEY_HELP = "SITE, KERNEL:SITE, SITE#NUMBER or KERNEL:SITE#NUMBER"
_PTX = re.compile(rb"\s*(?://[^\n]*\n\s*|/\*.*?\*/\s*)*\.version\b", re.DOTALL)


def command(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Annotated CUDA C++, or PTX; - for standard input."),
    ],
    stub: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=FILE", help=f"A file with the stub for a key, which is {_KEY_HELP}."
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where the PTX goes; - for standard output.")
    ] = files.STDIN,
    show: Annotated[
        bool, typer.Option("--list", help="Show the sites, and render nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Show the sites as JSON.")] = False,
    arch: Annotated[str, typer.Option(metavar="SM", help="The architecture.")] = "sm_90",
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
    check: Annotated[
        bool, typer.Option(help="Check the stubs before they are put into their places.")
    ] = True,
) -> None:
    """Put stubs of PTX into the injection sites of a kernel. Needs no GPU.

    Example: ptxkit inject k.cu --stub func=stub.ptx -o k.ptx

    Exit code: 0 done, 2 the source or a stub has errors, or could not be read.
    """
    files.check_outputs([output], [file, *(one.partition("=")[2] for one in stub or ())])
    template = _template(file, arch, include, define, option)
    if show or as_json:
        if stub:
            raise UsageError("--list and --json show the sites, and take no stubs")
        if as_json:
            typer.echo(json.dumps(files.plain_data(_data(template)), indent=2))
        else:
            _show(template)
        return
    names = {}
    texts = {}
    for one in stub or ():
        key, source = _read_stub(one)
        if key in texts:
            raise UsageError(f"there are two stubs for '{one.partition('=')[0]}'")
        names[key], texts[key] = source.name, source.data
    if check:
        template.check(texts, names)
    text = template.render(texts, check=False)
    files.write(output, text.encode("utf-8", "surrogateescape"))


def _template(
    file: str,
    arch: str,
    include: list[str] | None,
    define: list[str] | None,
    option: list[str] | None,
) -> Template:
    import warnings

    from ptxkit.inject import Template
    from ptxkit.toolchain import CompilerWarning

    source = files.read(file)
    if file.lower().endswith(".ptx") or _PTX.match(source.data):
        return Template.from_ptx(source.data, source.name)
    beside = [] if source.path is None else [source.path.absolute().parent]
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always", CompilerWarning)
        template = Template.from_cuda(
            source.data,
            arch,
            name=source.name,
            include_dirs=[*beside, *map(Path, include or ())],
            defines=define or (),
            options=option or (),
        )
    for remark in remarks:
        typer.echo(str(remark.message), err=True)
    return template


def _read_stub(text: str) -> tuple[Any, files.Source]:
    found = _STUB.fullmatch(text)
    if found is None:
        raise UsageError(f"'{text}' is not a stub; write --stub KEY=FILE, with {_KEY_HELP} as KEY")
    parts: list[Any] = [found["kernel"]] if found["kernel"] else []
    parts.append(found["site"])
    parts += [int(found["number"])] if found["number"] else []
    return parts[0] if len(parts) == 1 else tuple(parts), files.read(found["file"])


def _data(template: Template) -> list[dict[str, Any]]:
    return [
        {
            "name": site.name,
            "operands": [
                {
                    "name": one.name,
                    "direction": one.direction,
                    "type": one.type,
                    "register": one.register,
                    "register_type": one.register_type,
                }
                for one in site.args.values()
            ],
            "occurrences": [
                {
                    "function": one.function,
                    "line": one.line,
                    "source_line": one.source_line,
                    "flags": sorted(one.flags),
                    "registers": dict(one.registers),
                }
                for one in site.occurrences
            ],
        }
        for site in template.sites.values()
    ]


def _show(template: Template) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for column in ("site", "operand", "type", "register", "occurrences"):
        table.add_column(column, overflow="fold")
    for site in template.sites.values():
        places = [f"{name}: {sum(one.function == name for one in site.occurrences)}"
                  for name in site.functions] or ["dropped by the compiler"]  # fmt: skip
        operands = list(site.args.values())
        for row in range(max(len(places), len(operands), 1)):
            operand = operands[row] if row < len(operands) else None
            table.add_row(
                site.name if row == 0 else "",
                f"{operand.direction} {operand.name}" if operand else "",
                operand.type if operand else "",
                f"{operand.register} .{operand.register_type}" if operand else "",
                places[row] if row < len(places) else "",
                end_section=row + 1 == max(len(places), len(operands), 1),
            )
    Console().print(table if template.sites else "no injection sites", markup=False)
