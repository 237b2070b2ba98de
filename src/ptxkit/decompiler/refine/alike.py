"""One change made wherever the text looks the same.

Who writes a sum in one way in one line does so in the next: a change that brings one line nearer
often brings all nearer that look like it, and that takes one compilation.
"""

from __future__ import annotations

from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.refine.edits import edits
from ptxkit.decompiler.refine.places import Edit, applied

#: How deep two expressions are compared.
_DEPTH = 3


def made_alike(function: n.Function, edit: Edit) -> n.Function:
    """The function with a change, and with those of its kind to all that look like the same.

    >>> from ptxkit.cuda import print_function
    >>> from ptxkit.cuda.types import VOID
    >>> a, b, c = map(n.Name, "abc")
    >>> body = [n.Assign(one, n.Binary("*", n.Call("f", (one,)), one)) for one in (a, b, c)]
    >>> function = n.Function("f", (), (*body, n.Assign(a, n.Binary("*", b, c))), VOID)
    >>> first = next(edit for edit in edits(function) if edit.kind == "swap")
    >>> print(print_function(made_alike(function, first)))
    __global__ void f() {
        a = a * f(a);
        b = b * f(b);
        c = c * f(c);
        a = b * c;
    }
    <BLANKLINE>
    """
    own = _looks(edit)
    # The last ones first: statements that come or go move those behind them.
    for other in reversed([one for one in edits(function) if _looks(one) == own]):
        function = applied(function, other) or function
    return function


def _looks(edit: Edit) -> tuple[Any, ...]:
    """What a change is; of one to statements, to the first of them."""
    sides = (one[:1] if isinstance(one, tuple) else (one,) for one in (edit.old, edit.new))
    return edit.kind, *(_shape(side, _DEPTH) for side in sides)


def _shape(node: Any, depth: int) -> Any:
    """What something is made of: not which variables and numbers these are."""
    if isinstance(node, tuple):
        return tuple(_shape(one, depth) for one in node)
    if not isinstance(node, n.Node) or not depth:
        return None
    kind: type = type(node)
    parts = tuple(_shape(getattr(node, name), depth - 1) for name in n.branches(kind))
    return kind.__name__, getattr(node, "operator", ""), getattr(node, "function", ""), parts
