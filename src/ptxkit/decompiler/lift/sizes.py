"""How much code a loop becomes that is written out, and whether a compiler does that unasked.

One that left no loop was told to, where the copies are more than it makes of its own accord.
"""

from __future__ import annotations

from dataclasses import replace

from ptxkit.cuda import nodes as n

#: Operations in all copies that a compiler surely does not make unasked: it counts some 300, and
#: up to four times as many where copies know more than the loop does.
_MOST = 1000
_OPERATIONS = (n.Binary, n.Unary, n.Cast, n.Call, n.Conditional)


def asked_for(loop: n.For) -> n.For:
    """A loop that a compiler wrote out, with what tells it to, if that has to be said."""
    return replace(loop, unroll=0) if operations(loop) > _MOST else loop


def operations(node: n.Node) -> int:
    """Operations that a tree becomes, with loops written out whose number of turns it says.

    >>> from ptxkit.cuda import read
    >>> operations(read("(for (= i 0) (< i 10) (+= i 1) (+= s (* ([] x i) 2.0f)))"))
    40
    """
    match node:
        case n.For(
            n.Assign(_, n.Literal(value=int() as first)),
            n.Binary("<", _, n.Literal(value=int() as end)),
            n.Assign(_, n.Literal(value=int() as by), "+="),
        ) if end > first and by > 0:
            return -(-(end - first) // by) * sum(map(operations, node.body))
        case n.Assign(operator=operator):
            own = int(operator != "=")
        case n.Index():
            own = 2
        case _:
            own = int(isinstance(node, _OPERATIONS))
    return own + sum(map(operations, node.children()))
