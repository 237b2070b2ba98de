"""Names that nothing declares: there is nothing to write for them."""

from __future__ import annotations

from ptxkit.errors import PtxkitError
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.syntax import Function, Scopes


class UndeclaredError(PtxkitError):
    """A name that a function uses and that nothing declares."""


def refuse_undeclared(function: Function, scopes: Scopes) -> None:
    """Raise at the first name that means nothing.

    >>> import ptxkit
    >>> m = ptxkit.parse(".entry k() { bra nowhere; }", "k.ptx")
    >>> refuse_undeclared(m["k"], Scopes(m))
    Traceback (most recent call last):
    ptxkit.decompiler.lift.undeclared.UndeclaredError: k.ptx:1:18: 'nowhere' is not declared...
    """
    seen: set[tuple[int, str]] = set()
    for node in function.find("Name"):
        name = node.identifier
        key = node.home_index, name
        if key in seen:
            continue
        seen.add(key)
        if name in SPECIAL_REGISTERS or name == "WARP_SZ" or scopes.resolve(node) is not None:
            continue
        raise UndeclaredError(
            f"{scopes.module.filename}:{node.line}:{node.column}: '{name}' is not declared; "
            "ptxkit check says more"
        )
