"""`ptxkit version`: what is installed, for bug reports."""

import platform

import typer


def command() -> None:
    """Show the version of ptxkit, of Python and how the native core was built."""
    import ptxkit
    from ptxkit import _native

    typer.echo(f"ptxkit {ptxkit.__version__}")
    typer.echo(f"python {platform.python_version()} on {platform.platform()}")
    for name, value in _native.build_info().items():
        typer.echo(f"{name.replace('_', ' ')}: {value}")
