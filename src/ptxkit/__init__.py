"""A toolkit for NVIDIA PTX.

Importing this package is light: nothing but this file is loaded. A public name loads
its module on first use, and so does a room:

>>> import ptxkit
>>> ptxkit.Diagnostic("error", "demo", "something is wrong", 1, 1).code
'demo'
"""

import importlib

# Type checkers know this name. typing, and importlib.util below, are not imported here
# because together they make `import ptxkit` about five times slower.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptxkit.decompiler import decompile
    from ptxkit.diagnostics import Diagnostic
    from ptxkit.errors import (
        CheckError,
        EditError,
        MissingExtraError,
        PtxkitError,
        PtxSyntaxError,
        ToolchainError,
        UnknownNameError,
        UsageError,
    )
    from ptxkit.isa import check
    from ptxkit.run import load
    from ptxkit.syntax import Module, format, parse
    from ptxkit.toolchain import assemble, compile_cuda, disassemble, extract
    from ptxkit.transpiler import to_python

    __version__: str

# Public name -> the module that defines it. A new public name is one row here, one
# import in the TYPE_CHECKING block above and one entry in __all__.
_EXPORTS = {
    "CheckError": "ptxkit.errors",
    "Diagnostic": "ptxkit.diagnostics",
    "EditError": "ptxkit.errors",
    "MissingExtraError": "ptxkit.errors",
    "PtxSyntaxError": "ptxkit.errors",
    "PtxkitError": "ptxkit.errors",
    "ToolchainError": "ptxkit.errors",
    "Module": "ptxkit.syntax",
    "UnknownNameError": "ptxkit.errors",
    "UsageError": "ptxkit.errors",
    "assemble": "ptxkit.toolchain",
    "check": "ptxkit.isa",
    "compile_cuda": "ptxkit.toolchain",
    "decompile": "ptxkit.decompiler",
    "disassemble": "ptxkit.toolchain",
    "extract": "ptxkit.toolchain",
    "format": "ptxkit.syntax",
    "load": "ptxkit.run",
    "parse": "ptxkit.syntax",
    "to_python": "ptxkit.transpiler",
}

__all__ = [
    "CheckError",
    "Diagnostic",
    "EditError",
    "MissingExtraError",
    "Module",
    "PtxSyntaxError",
    "PtxkitError",
    "ToolchainError",
    "UnknownNameError",
    "UsageError",
    "__version__",
    "assemble",
    "check",
    "compile_cuda",
    "decompile",
    "disassemble",
    "extract",
    "format",
    "load",
    "parse",
    "to_python",
]


def __getattr__(name: str) -> "Any":
    """Load a public name, or a room (`ptxkit.inject`), on first use."""
    from importlib.util import find_spec

    value: Any
    if name in _EXPORTS:
        value = getattr(importlib.import_module(_EXPORTS[name]), name)
    elif name == "__version__":
        from importlib.metadata import version

        value = version("ptxkit")
    elif not name.startswith("_") and find_spec(f"ptxkit.{name}"):
        value = importlib.import_module(f"ptxkit.{name}")
    else:
        raise AttributeError(f"module 'ptxkit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "inject", "isa", "run", "stack", "syntax", "toolchain"})
