"""The shape of a program: what is left when names and constants are taken away.

>>> from ptxkit.cuda.reader import read
>>> one = read("(= x (+ (* a 2.0f) b))")
>>> two = read("(= out (+ (* p 7.5f) q))")
>>> structure_hash(one) == structure_hash(two)
True
>>> structure_hash(one) == structure_hash(read("(= out (+ (* p p) q))"))
False
"""

from __future__ import annotations

import hashlib
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.writer import Names, write

_KEPT = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"}
# Fields that hold a name of the program's own.
_NAMED = {n.Name: "name", n.Declare: "name", n.Parameter: "name", n.Function: "name",
          n.Goto: "label", n.Label: "name", n.StructDefinition: "name"}  # fmt: skip


class _Renaming(Names):
    def __init__(self, node: n.Node, *, constants: bool = True) -> None:
        self.names: dict[str, str] = {}
        self.constants = constants
        if isinstance(node, n.CudaModule):
            # A call may stand before the function that it calls.
            for item in node.items:
                if isinstance(item, n.Function) and item.name not in BUILTINS:
                    self.name(item.name)

    def name(self, old: str) -> str:
        if old in _KEPT:
            return old
        return self.names.setdefault(old, f"v{len(self.names)}")

    def called(self, old: str) -> str:
        return self.names.get(old, old)

    def node(self, node: n.Node) -> n.Node:
        if isinstance(node, n.Literal):
            same = self.constants or node.type.kind == "bool"
            return node if same else n.Literal(0, node.type)
        changes: dict[str, Any] = {}
        field = _NAMED.get(type(node))
        if field is not None:
            changes[field] = self.name(getattr(node, field))
        if isinstance(node, n.Call):
            changes["function"] = self.called(node.function)
        return node.rebuilt(self.node, **changes)


def canonical(node: n.Node, *, constants: bool = True) -> n.Node:
    """The same program with its names numbered in the order they appear.

    ``constants=False`` also puts 0 for every number.
    """
    return _Renaming(node, constants=constants).node(node)


def write_canonical(node: n.Node) -> str:
    """The S-expression of ``canonical(node)``, without making that tree.

    >>> from ptxkit.cuda import read
    >>> write_canonical(read("(= out (+ p p))"))
    '(= v0 (+ v1 v1))'
    """
    return write(node, _Renaming(node))


def structure_hash(node: n.Node) -> str:
    """A digest of the shape, the same on every machine: 32 hexadecimal digits."""
    text = write(canonical(node, constants=False))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
