"""`ptxkit lsp`: the language server."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Speak over standard input and output (always so).")
    ] = True,
) -> None:
    """Serve an editor: diagnostics, hover, completion, names, formatting for PTX.

    An editor starts this; docs/lsp.md shows how for VS Code, Neovim and Helix.
    """
    del stdio
    from ptxkit.errors import import_extra

    import_extra("pygls", "lsp")
    from ptxkit.lsp.server import create_server

    create_server().start_io()
