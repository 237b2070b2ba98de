"""`ptxkit app`: the workbench in a browser."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    host: Annotated[
        str, typer.Option(help="The address to listen on; only this machine unless told otherwise.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="The port; a free one from 7860 on if left out."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Explore, decompile, run and generate PTX on a local web page.

    Nothing leaves this machine, and nothing is loaded from elsewhere. Ends with Ctrl-C.
    """
    from ptxkit.app.server import LOOPBACK, serve
    from ptxkit.cli.files import complain
    from ptxkit.errors import UsageError

    try:
        server = serve(host, port, browser)
    except OSError as error:
        raise UsageError(
            f"the page cannot be served on {host}, port {port or 7860}: {error}"
        ) from error
    if host not in (LOOPBACK, "localhost", "::1"):
        complain("others can reach this page, compile and run kernels on it", "warning")
    with server:
        typer.echo(f"ptxkit app: {server.url} (Ctrl-C ends it)")
        server.wait()
