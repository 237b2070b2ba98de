"""`ptxkit dataset`: look at a dataset of `ptxkit synth`, and prove it again."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="Look at a dataset, or prove it again.")
