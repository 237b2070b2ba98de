"""The one family of exceptions. Everything ptxkit raises on purpose is a `PtxkitError`.

>>> issubclass(PtxSyntaxError, PtxkitError)
True
"""

import importlib
import importlib.util
import os
from collections.abc import Iterable
from types import ModuleType

from ptxkit.diagnostics import Diagnostic

_SHOWN = 3  # diagnostics that a message shows at most
_THREADS = 65_535  # at most
_LONGEST = 200  # characters of a value that a message shows at most
_LISTED = 30  # names that a message lists at most


def shown(value: object) -> str:
    """A value as messages write it; of a long one the beginning.

    >>> shown("f"), shown(10**5000)
    ("'f'", 'an int of 16,610 bits')
    """
    # Python refuses to write very long numbers, also where they are in a list.
    try:
        text = repr(value)
    except ValueError:
        if isinstance(value, int):
            return f"an int of {value.bit_length():,} bits"
        return f"a {type(value).__name__} of very long numbers"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def thread_count(threads: object) -> int:
    """How many threads to work with; None is one for each processor.

    >>> thread_count(3)
    3
    """
    if threads is None:
        return os.cpu_count() or 1
    if isinstance(threads, int) and not isinstance(threads, bool) and 1 <= threads <= _THREADS:
        return threads
    raise UsageError(
        f"threads is a number from 1 to {_THREADS:,}, or None for one on every processor, "
        f"not {shown(threads)}"
    )


class PtxkitError(Exception):
    """Something went wrong that the caller can do something about."""


class PtxSyntaxError(PtxkitError):
    """The text is not PTX. The message is the rendered diagnostics.

    >>> error = PtxSyntaxError([Diagnostic("error", "syntax", "expected ';'", 2, 7,
    ...                                    filename="k.ptx", source_line="    ret }")])
    >>> print(error)
    k.ptx:2:7: error[syntax]: expected ';'
            ret }
              ^
    >>> error.line, error.column, error.filename
    (2, 7, 'k.ptx')
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        """What was found, in the order of the source; never empty."""
        if not self.diagnostics:
            raise ValueError("a syntax error needs at least one diagnostic")
        # The arguments of an exception are what pickle rebuilds it from.
        super().__init__(self.diagnostics)
        first = next((d for d in self.diagnostics if d.severity == "error"), self.diagnostics[0])
        self.line = first.line
        """Line of the first error, counted from 1."""
        self.column = first.column
        """Column of the first error, counted from 1."""
        self.filename = first.filename
        """Name of the source, where one was given."""

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


class CheckError(PtxkitError):
    """PTX that `ptxkit.check` finds errors in, and that was to be run nevertheless.

    >>> error = CheckError([Diagnostic("error", "guard", "'%r1' is no predicate", 2, 7,
    ...                                filename="k.ptx", source_line="@%r1 ret;")])
    >>> print(error)
    k.ptx:2:7: error[guard]: '%r1' is no predicate
        @%r1 ret;
              ^
    """

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(one for one in diagnostics if one.severity == "error")
        """The errors, in the order of the source; never empty."""
        if not self.diagnostics:
            raise ValueError("a check error needs at least one error")
        super().__init__(self.diagnostics)
        self.line = self.diagnostics[0].line
        """Line of the first error, counted from 1."""

    def __str__(self) -> str:
        shown = [one.render() for one in self.diagnostics[:_SHOWN]]
        more = len(self.diagnostics) - _SHOWN
        if more > 0:
            errors = "error" if more == 1 else "errors"
            shown.append(f"and {more} more {errors}; 'ptxkit check' lists them")
        return "\n".join(shown)


class EditError(PtxkitError):
    """Edits that can't be applied together, or not to this module."""


class UsageError(PtxkitError):
    """A call or a command line that makes no sense."""


class UnknownNameError(PtxkitError, KeyError):
    """A function, kernel or variable that is not there; the message lists those that are.

    >>> print(UnknownNameError("kernel", "saxpi", ["saxpy"]))
    no kernel is called 'saxpi'; there are: saxpy
    """

    def __init__(
        self, what: str, name: str, known: Iterable[str], shown: Iterable[str] = ()
    ) -> None:
        self.what, self.name, self.known = what, name, tuple(dict.fromkeys(known))
        self.shown = tuple(shown) or self.known
        """The known names as the message writes them."""
        super().__init__(what, name, self.known, self.shown)

    def _list(self) -> str:
        listed = ", ".join(self.shown[:_LISTED]) or "none"
        more = len(self.shown) - _LISTED
        return f"{listed} and {more:,} more" if more > 0 else listed

    def __str__(self) -> str:
        return f"no {self.what} is called '{self.name}'; there are: {self._list()}"


class AmbiguousNameError(UnknownNameError):
    """A C++ name that several functions have.

    >>> print(AmbiguousNameError("kernel", "map", ["_Z3mapi", "_Z3mapf"]))
    2 kernels are called 'map': _Z3mapi, _Z3mapf; write more of the name
    """

    def __str__(self) -> str:
        several = f"{len(self.known)} {self.what}s are called '{self.name}'"
        return f"{several}: {self._list()}; write more of the name"


class ToolchainError(PtxkitError):
    """An NVIDIA compiler or tool is missing, or refused its input."""


class ArchitectureError(ToolchainError):
    """An architecture that the installed compiler does not compile for."""


class MissingExtraError(PtxkitError, ImportError):
    """A package is not installed that comes with one of the extras.

    >>> print(MissingExtraError("torch", "neural"))
    torch is not installed; run: pip install 'ptxkit[neural]'
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(package, extra)
        self.package = package
        """What could not be imported."""
        self.extra = extra
        """The extra of ptxkit that installs it."""

    def __str__(self) -> str:
        return f"{self.package} is not installed; run: pip install 'ptxkit[{self.extra}]'"


def require_extra(package: str, extra: str) -> None:
    """Raise where a package is not installed; it is not imported, which may take long.

    >>> require_extra("no_such_package", extra="synth")
    Traceback (most recent call last):
    ptxkit.errors.MissingExtraError: no_such_package is not installed; run: pip install 'ptxkit[synth]'
    """  # noqa: E501
    try:
        found = importlib.util.find_spec(package)
    except ImportError:
        found = None
    if found is None:
        raise MissingExtraError(package, extra)


def import_extra(module: str, extra: str, package: str | None = None) -> ModuleType:
    """Import a module that is not part of the core install.

    `package` is what pip calls it, where that is not the first part of the module's name.

    >>> import_extra("no_such_package.part", extra="synth")
    Traceback (most recent call last):
    ptxkit.errors.MissingExtraError: no_such_package is not installed; run: pip install 'ptxkit[synth]'
    """  # noqa: E501
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        first = module.partition(".")[0]
        # A package that is there and broken deserves its own traceback.
        if error.name is None or error.name.partition(".")[0] != first:
            raise
        raise MissingExtraError(package or first, extra) from error
