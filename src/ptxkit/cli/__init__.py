"""The command line. Each command is one file in this folder, listed in `COMMANDS`.

A command file has either a function `command`, whose docstring is its help, or, where
it has commands of its own, a typer application `app`. It imports the rooms it needs
inside the function, so that `ptxkit --help` stays fast.
"""

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ptxkit.cli.files import EXIT_INTERRUPTED, complain, syntax_message
from ptxkit.errors import PtxkitError, PtxSyntaxError

# The commands in the order of the help. `to-python` lives in `to_python.py`.
COMMANDS = (
    "check",
    "fmt",
    "stats",
    "diff",
    "to-python",
    "roundtrip",
    "run",
    "compile",
    "assemble",
    "disassemble",
    "extract",
    "inject",
    "stack",
    "synth",
    "dataset",
    "train",
    "decompile",
    "verify",
    "evaluate",
    "app",
    "lsp",
    "doctor",
    "version",
)

EXIT_ERROR = 2
EXIT_BROKEN_PIPE = 128 + 13  # and for SIGPIPE


class _Group(TyperGroup):
    """Ends every command the same way: an expected error is a message, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except PtxkitError as error:
            typer.echo(_message(error), err=True)
            raise typer.Exit(EXIT_ERROR) from None
        except KeyboardInterrupt:
            complain("interrupted", "note")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except MemoryError as error:
            # NumPy says how much it asked for.
            more = f": {error}" if str(error) else ""
            typer.echo(f"ptxkit: error: there is not enough memory for that{more}", err=True)
            raise typer.Exit(EXIT_ERROR) from None
        except BrokenPipeError:
            _discard_stdout()
            raise typer.Exit(EXIT_BROKEN_PIPE) from None
        except OSError as error:
            _discard_stdout()
            where = f"'{error.filename}': " if error.filename is not None else ""
            typer.echo(f"ptxkit: error: {where}{error.strerror or error}", err=True)
            raise typer.Exit(EXIT_ERROR) from None
        return result


def _message(error: PtxkitError) -> str:
    if isinstance(error, PtxSyntaxError):
        return syntax_message(error)
    # Diagnostics start with their own place and severity.
    return str(error) if hasattr(error, "diagnostics") else f"ptxkit: error: {error}"


def _discard_stdout() -> None:
    """Nobody reads any more: keep the interpreter's last flush from complaining."""
    if sys.stdout is None:
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(wanted: bool) -> None:
    if wanted:
        import ptxkit

        typer.echo(f"ptxkit {ptxkit.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Read, check, edit, run and write NVIDIA PTX."""


def build_app() -> typer.Typer:
    """The application with every command of `COMMANDS`."""
    app = typer.Typer(
        name="ptxkit",
        cls=_Group,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name in COMMANDS:
        module = importlib.import_module(f"ptxkit.cli.{name.replace('-', '_')}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(module.command)
    return app


def main() -> None:
    """Run the command line and exit: 0 for success, 2 for an error."""
    if sys.stderr is None:  # it was closed: nobody wants to know
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    build_app()(prog_name="ptxkit")
