"""`ptxkit run`: run a kernel on the simulator or a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ptxkit.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from ptxkit.run import CpuModule, ProfileRow

EXIT_FOUND = 1
#: Options that only the simulator has, as they are written.
_SIMULATOR_ONLY = (
    "--sanitize",
    "--trace",
    "--profile",
    "--step-limit",
    "--time-limit",
    "--stack-bytes",
    "--variable",
)


def command(
    file: Annotated[Path, typer.Argument(help="The PTX file; - for standard input.")],
    kernel: Annotated[
        str | None, typer.Option(help="The kernel; the only one if left out.")
    ] = None,
    grid: Annotated[str, typer.Option(help="Blocks: 4 or 4,2 or 4,2,1.")] = "1",
    block: Annotated[str, typer.Option(help="Threads of a block.")] = "32",
    cluster: Annotated[str | None, typer.Option(help="Blocks of a cluster: 2 or 2,1,1.")] = None,
    cooperative: Annotated[
        bool,
        typer.Option("--cooperative", help="All blocks run at once, and may wait for each other."),
    ] = False,
    shared: Annotated[int, typer.Option(help="Bytes of dynamic shared memory.")] = 0,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            help="An argument: 7, 2.5, bf16=1.5, f32[1024]=randn, s32[4,4]=arange, bf16[8]=ones, "
            "@x.npy, null. Types: f16 bf16 f32 f64, u8 to u64, s8 to s64, b8 to b64."
        ),
    ] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option(help="A module variable's value before the run: NAME=ARG; or NAME, to show."),
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1 or auto.")] = "cpu",
    seed: Annotated[int, typer.Option(min=0, help="Seed of rand and randn.")] = 0,
    save: Annotated[
        Path | None, typer.Option(help="A folder for the arrays as .npy after the run.")
    ] = None,
    step_limit: Annotated[
        int,
        typer.Option(min=0, max=2**63 - 1, help="Warp instructions a block may take; 0: no limit."),
    ] = 0,
    time_limit: Annotated[
        float, typer.Option(min=0, help="Seconds the run may take; 0: no limit.")
    ] = 0,
    stack_bytes: Annotated[
        int | None, typer.Option(min=0, max=512 << 10, help="Bytes of a thread's call stack.")
    ] = None,
    sanitize: Annotated[
        bool,
        typer.Option(
            "--sanitize",
            help="Look for races on shared memory (not on global memory), reads of shared or local "
            "memory or of registers that nobody wrote, barriers and warp operations that not all "
            "of their threads reach, accesses between shared variables, leaks of malloc.",
        ),
    ] = False,
    trace: Annotated[
        str | None, typer.Option(help="Print what a thread does: its place, such as 0,0,0.")
    ] = None,
    trace_block: Annotated[str, typer.Option(help="The block of that thread.")] = "0,0,0",
    trace_limit: Annotated[
        int,
        typer.Option(min=1, max=2**31 - 1, help="Instructions of the thread to print at most."),
    ] = 10_000,
    trace_last: Annotated[
        bool, typer.Option("--trace-last", help="Print the last ones, not the first.")
    ] = False,
    profile: Annotated[
        bool,
        typer.Option(
            "--profile",
            help="Show executions, divergence, memory sectors and bank conflicts by instruction.",
        ),
    ] = False,
) -> None:
    """Run a kernel and print what its arrays hold then.

    Ends with 0; with 1 if the sanitizer found something; with 2 for an error.

    Example: ptxkit run k.ptx --kernel saxpy --grid 4 --block 256 --arg 2.0
    --arg f32[1024]=randn --arg f32[1024]=ones --arg 1024
    """
    import numpy as np
    from rich.console import Console

    import ptxkit
    from ptxkit.cli.files import complain, read
    from ptxkit.run import SimulationError
    from ptxkit.run.textual import read_argument, readable
    from ptxkit.run.watch import TraceRequest

    source = read(str(file))
    wanted = (sanitize, trace, profile, step_limit, time_limit, stack_bytes, variable)
    asked = [option for option, value in zip(_SIMULATOR_ONLY, wanted, strict=True) if value]
    if asked and device.startswith("cuda"):
        raise UsageError(f"{', '.join(asked)}: only the simulator has this; use --device cpu")
    loaded: Any = ptxkit.load(source.parse(), device="cpu" if asked else device)
    name = kernel or _only_kernel(source.name, loaded.kernels)
    generator = np.random.default_rng(seed)
    values = [read_argument(text, generator) for text in arg or []]
    launcher = loaded[name][_numbers(grid, "grid"), _numbers(block, "block"), shared]
    if cluster is not None or cooperative:
        extents = None if cluster is None else _numbers(cluster, "cluster")
        launcher = launcher.with_options(cluster=extents, cooperative=cooperative)
    variables = _set_variables(loaded, variable or [], generator)

    options: dict[str, Any] = {}
    if isinstance(loaded, ptxkit.run.CpuModule):
        options = {"step_limit": step_limit, "time_limit": time_limit, "profile": profile}
        if stack_bytes is not None:
            options["stack_bytes"] = stack_bytes
        options["sanitize"] = "report" if sanitize else False
        if trace is not None:
            places = _numbers(trace, "thread"), _numbers(trace_block, "block of the thread")
            request = TraceRequest.of(*places, limit=trace_limit, last=trace_last)
            options["trace"] = request
    console = Console(highlight=False, markup=False, soft_wrap=True)
    try:
        report = launcher(*values, **options)
    except SimulationError as error:
        if error.trace is not None:
            _print_lines(console, error.trace.lines())
        raise
    except MemoryError as error:
        raise UsageError("the run needs more memory than there is") from error
    if trace is not None:
        _print_lines(console, report.trace.lines())
    arrays = [
        (item.name, value, text)
        for item, value, text in zip(loaded[name].parameters, values, arg or [], strict=True)
        if isinstance(value, np.ndarray) and not item.is_array
    ]
    arrays += [(one.name, one.array, one.text) for one in variables]
    labels = _labels(console, loaded[name]) if arrays else {}
    for label, value, text in arrays:
        shown = np.array2string(readable(value, text), threshold=16)
        console.print(f"{labels.get(label, label)}: {shown}")
        if save is not None:
            _save(save, label, value)
    if profile:
        _print_profile(console, report.profile)
    if sanitize:
        for finding in report.findings:
            typer.echo(str(finding), err=True)
        grave = sum(finding.severity != "note" for finding in report.findings)
        if grave:
            complain(f"the sanitizer has {_count(grave, 'finding')} in '{name}'")
            raise typer.Exit(EXIT_FOUND)


def _numbers(text: str, what: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.lower().replace("x", ",").split(","))
    except ValueError as error:
        raise UsageError(f"the {what} '{text}' is not a number or numbers such as 4,2") from error


def _only_kernel(file: str, names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"'{file}' has no kernel: nothing in it is a .entry with a body")
    from ptxkit.syntax.spelling import both

    listed = ", ".join(both(name) for name in names)
    raise UsageError(f"choose a kernel with --kernel; there are: {listed}")


def _labels(console: Console, kernel: Any) -> dict[str, str]:
    """Short names of parameters that only repeat a C++ name, which is printed above them."""
    from ptxkit.syntax.demangle import demangle

    readable_name = demangle(kernel.name)
    if readable_name == kernel.name:
        return {}
    made = {f"{kernel.name}_param_{number}": f"param {number}"
            for number in range(len(kernel.parameters))}  # fmt: skip
    labels = {item.name: made[item.name] for item in kernel.parameters if item.name in made}
    if labels:
        console.print(f"in {readable_name}:")
    return labels


@dataclass(frozen=True, slots=True)
class _Variable:
    """A module variable to show after the run."""

    name: str
    array: Any
    """A view of what the kernels see."""
    text: str
    """The value it was given, as it was written."""


def _set_variables(loaded: CpuModule, texts: list[str], generator: Any) -> list[_Variable]:
    """Give module variables their values; those that are then to be shown."""
    import numpy as np

    from ptxkit.run.textual import read_argument

    shown = []
    for text in texts:
        name, equals, value = text.partition("=")
        target = loaded.variable_array(name)
        if equals and not value:
            raise UsageError(
                f"'--variable {text}' has no value; write {name}=7, or only {name} to show it"
            )
        if equals:
            data = read_argument(value, generator)
            if isinstance(data, np.ndarray):
                target = _fill(loaded, name, data)
            else:
                _set_number(loaded, name, target, data)
        shown.append(_Variable(name, target, value))
    return shown


def _fill(loaded: CpuModule, name: str, data: Any) -> Any:
    """Give a variable the bytes of an array; the variable as an array of that type."""
    import numpy as np

    place = loaded.variable(name)
    if data.nbytes != place.nbytes:
        raise UsageError(
            f"the variable '{name}' has {place.nbytes:,} bytes, its value {data.nbytes:,}"
        )
    place[:] = np.frombuffer(data.tobytes(), np.uint8)
    return place.view(data.dtype).reshape(data.shape)


def _set_number(loaded: CpuModule, name: str, target: Any, value: Any) -> None:
    """Give a variable of one number its value."""
    import numpy as np

    from ptxkit.run.arguments import pack_value
    from ptxkit.run.layout import Item

    if target.ndim:
        raise UsageError(
            f"the variable '{name}' is an array of {target.nbytes:,} bytes, its value one number; "
            f"write an array of as many bytes, such as {name}=u8[{target.nbytes}]=ones"
        )
    kind = next(
        variable.type
        for variable in loaded.module.variables
        if any(one.name == name for one in variable.declarators)
    )
    item = Item(name, kind, 0, target.nbytes, target.nbytes, False)
    packed = pack_value(f"the variable '{name}'", item, value)
    loaded.variable(name)[:] = np.frombuffer(packed, np.uint8)


def _save(folder: Path, name: str, value: Any) -> None:
    import io

    import numpy as np

    from ptxkit.cli.files import OutputError, write

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"'{folder}' cannot be made: {error.strerror}") from error
    data = io.BytesIO()
    np.save(data, value)
    write(folder / f"{name}.npy", data.getvalue())


def _count(number: int, thing: str) -> str:
    from ptxkit.cli.files import count

    return count(number, thing)


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line)


def _narrow(heading: str) -> str:
    """A heading in several lines: numbers need few columns."""
    return heading.replace(" ", "\n").replace("/", "/\n")


def _print_profile(console: Console, rows: Iterable[ProfileRow]) -> None:
    from rich.table import Table
    from rich.text import Text

    from ptxkit.run.profile import table

    heading, *body = table(rows)
    shown = Table(
        title="profile (a sector is 32 bytes)", title_justify="left", box=None, pad_edge=False
    )
    for name in heading:
        left = name in ("instruction", "source")
        shown.add_column(_narrow(name), justify="left" if left else "right", no_wrap=True)
    for row in body:
        shown.add_row(*(Text(cell) for cell in row))
    # A line too long for the terminal is better than columns cut to a letter.
    cells = zip(map(_narrow, heading), *body, strict=True)
    widths = [
        max(len(line) for cell in column for line in cell.split("\n")) + 1 for column in cells
    ]
    console.width = max(console.width, sum(widths) + len(widths))
    console.print(shown)
