"""`ptxkit synth`: make a dataset of verified kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def command(
    source: Annotated[
        str,
        typer.Argument(help="What kind: warp, tiers, ... or your own as module:Class."),
    ],
    out: Annotated[Path, typer.Option(help="The folder of the dataset.")],
    count: Annotated[int, typer.Option(help="Samples to make.")] = 1000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores if left out.")] = None,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    address: Annotated[str | None, typer.Option(help="An existing Ray cluster to join.")] = None,
    archs: Annotated[str, typer.Option(help="Architectures of the PTX: sm_80,sm_90.")] = "sm_90",
    categories: Annotated[str, typer.Option(help="Only these categories.")] = "",
    views: Annotated[
        str, typer.Option(help="all, or source: nothing is compiled or executed.")
    ] = "all",
    backward: Annotated[
        bool, typer.Option("--backward/--no-backward", help="Differentiate the kernels too.")
    ] = True,
    sass: Annotated[bool, typer.Option("--sass", help="Machine code as a view.")] = False,
    assemble: Annotated[
        bool,
        typer.Option(
            "--assemble/--no-assemble",
            help="Make machine code of all PTX, or have the assembler check it only: faster.",
        ),
    ] = True,
    raw: Annotated[
        bool, typer.Option("--raw/--no-raw", help="Keep PTX as the compiler wrote it, too.")
    ] = True,
    format: Annotated[str, typer.Option(help="parquet or jsonl.")] = "parquet",
    level: Annotated[int, typer.Option(help="Compression, 1 to 22.")] = 12,
    decontaminate: Annotated[
        list[Path] | None, typer.Option(help="A file or folder whose texts no row may repeat.")
    ] = None,
    shard_size: Annotated[
        int, typer.Option(help="Samples that are compiled together; 0: as the source likes.")
    ] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run in the folder, as always.")
    ] = False,
) -> None:
    """Make a dataset of kernels: generated, compiled, executed, compared.

    A run that was interrupted goes on where it stood when the same command is given again,
    and ends with the same bytes.

    Example: ptxkit synth warp --count 1000 --seed 7 --out kernels
    """
    from ptxkit.cli.progress import shown
    from ptxkit.errors import UsageError
    from ptxkit.synth import Plan, Settings, generate
    from ptxkit.synth.decontamination import read_texts

    if views not in ("all", "source"):
        raise UsageError(f"--views is all or source, not '{views}'")
    if resume and not out.exists():
        raise UsageError(f"there is no run to resume in '{out}'")
    settings = Settings(_words(archs), _words(categories), views, backward, sass, assemble, raw)
    plan = Plan(
        source,
        seed,
        count,
        settings,
        shard_size,
        format=format,
        level=level,
        avoid=read_texts(decontaminate or []),
    )
    with shown(f"{source} kernels", count) as progress:
        manifest = generate(
            plan, out, workers=workers, engine=engine, address=address, progress=progress
        )
    counts = manifest["counts"]
    made = sum(counts[split] for split in ("train", "validation", "test"))
    typer.echo(
        f"{made:,} rows in '{out}' (train {counts['train']:,}, validation "
        f"{counts['validation']:,}, test {counts['test']:,}), {counts['rejected']:,} rejected"
    )
