"""`ptxkit train`: train the neural decompiler."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer


def command(
    data: Annotated[
        Path, typer.Option(help="A dataset of ptxkit synth tiers, or a folder of prepared pairs.")
    ],
    out: Annotated[Path, typer.Option(help="The folder of the run: state, curve, weights.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    preset: Annotated[str, typer.Option(help="full, or tiny: for a CPU and for tests.")] = "full",
    minutes: Annotated[float | None, typer.Option(help="Train for so long.")] = None,
    steps: Annotated[int | None, typer.Option(help="Train for so many steps.")] = None,
    pause: Annotated[
        float | None, typer.Option(help="Stop for now after so many minutes; --resume goes on.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of weights and of the order of data.")] = None,
    rate: Annotated[float | None, typer.Option(help="The highest learning rate.")] = None,
    budget: Annotated[int | None, typer.Option(help="Words in a batch.")] = None,
    generate: Annotated[
        int, typer.Option(help="Make pairs of so many programs in --data first, unverified.")
    ] = 0,
    generate_minutes: Annotated[
        float | None, typer.Option(help="Stop making pairs after so long.")
    ] = None,
    generate_seed: Annotated[int, typer.Option(help="Of the programs that are made.")] = 1,
    workers: Annotated[int | None, typer.Option(help="Processes that prepare pairs.")] = None,
    start_from: Annotated[
        Path | None, typer.Option(help="A folder of weights to begin with.")
    ] = None,
    compile: Annotated[bool, typer.Option("--compile", help="Use torch.compile.")] = False,
    save_steps: Annotated[
        int | None, typer.Option(help="Save the state every so many steps, besides every minute.")
    ] = None,
    habits: Annotated[
        bool,
        typer.Option("--habits", help="Train what chooses names and forms; --data has .cu files."),
    ] = False,
) -> None:
    """Train the neural decompiler on PTX of the compiler.

    A run that was killed goes on with --resume and has the same losses as one that was not.
    On several GPUs: torchrun --nproc-per-node 4 -m ptxkit train ...

    Example: ptxkit train --data tiers --out run --minutes 10
    """
    from ptxkit.errors import UsageError, import_extra

    if habits:
        _train_habits(data, out, workers or 1)
        return
    import_extra("torch", extra="neural")
    import_extra("safetensors", extra="neural")
    from ptxkit.decompiler.neural import tokens, training

    if (steps is not None and steps <= 0) or (minutes is not None and minutes <= 0):
        raise UsageError("--steps and --minutes are above zero")
    settings = training.preset(
        preset, minutes=minutes, steps=steps, pause=pause, seed=seed, rate=rate, budget=budget,
        compile=compile or None, save_steps=save_steps,
        curriculum=False if start_from is not None else None,
    )  # fmt: skip
    if resume:
        training.refuse_nothing_to_resume(out)
    else:
        training.refuse_to_overwrite(out)
    if not data.exists() and not generate:
        raise UsageError(f"there is no folder '{data}'; make one: ptxkit synth tiers --out {data}")
    folder = data
    if generate and not tokens.complete_parts(data):
        tokens.prepare_generated(
            data, seed=generate_seed, count=generate, workers=workers, minutes=generate_minutes
        )
    elif not tokens.complete_parts(data):
        folder = data / "tokens"
        if not tokens.complete_parts(folder):
            tokens.prepare_dataset(data, folder, workers)
    prepared = tokens.Tokens(folder)
    for line in _told(prepared.about()):
        typer.echo(line)
    training.train(prepared, out, settings, resume=resume, start_from=start_from, say=typer.echo)
    typer.echo(f"weights in '{out}'")


def _told(about: dict[str, Any]) -> Iterator[str]:
    """What the pairs are, in lines that people read."""
    splits = ", ".join(f"{count:,} to {split}" for split, count in about["splits"].items())
    yield f"{about['pairs']:,} pairs: {splits}"
    tiers = ", ".join(f"{tier}: {count:,}" for tier, count in about["per_tier"].items())
    yield f"by tier: {tiers}"
    repeated, several = about["repeated"], about["sources_with_several_answers"]
    yield f"left out: {repeated:,} repeated, {several:,} with several answers"
    refused = ", ".join(f"{count:,} {why}" for why, count in about["refused"].items())
    if refused:
        yield f"refused: {refused}"


def _train_habits(data: Path, out: Path, workers: int) -> None:
    """Study sources, measure on those held out, write the weights of all."""
    from rich.console import Console
    from rich.table import Table

    from ptxkit.decompiler.learned import study, training

    report = training.run(study.study(data, workers=workers), out)
    console = Console(width=120)
    for what in ("names", "forms"):
        rows = report[what]
        columns = list(next(iter(rows.values()), {}))
        table = Table(what, *columns, box=None, pad_edge=False)
        for name, numbers in rows.items():
            table.add_row(name, *(f"{numbers.get(column, '')}" for column in columns))
        console.print(table)
    for why in report["left_out"]:
        typer.echo(f"left out: {why}", err=True)
    typer.echo(f"weights in '{out}'")
