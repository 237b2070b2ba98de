"""One canonical layout: the same tokens and comments, other white space."""

from __future__ import annotations

from ptxkit.errors import PtxSyntaxError, UsageError
from ptxkit.syntax.module import Module, parse


def format(module: Module | str | bytes, *, width: int = 100) -> str:
    """Lay a module out anew. Lines longer than ``width`` are broken at commas.

    >>> import ptxkit
    >>> print(ptxkit.format(".func f(){add.f32 a , b,c;L:bra L;}"), end="")
    .func f()
    {
        add.f32 a, b, c;
    L:
        bra L;
    }
    """
    if not isinstance(module, Module):
        module = parse(module)
    if module.diagnostics_raw:
        raise PtxSyntaxError(module.diagnostics)
    if not 20 <= width <= 10_000:
        raise UsageError(f"the width must be from 20 to 10000 columns, not {width}")
    return module.format_text(width).decode("utf-8", "surrogateescape")
