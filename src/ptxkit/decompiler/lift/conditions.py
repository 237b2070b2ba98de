"""Conditions: negation as people write it, and branches joined by ``&&`` and ``||``."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.flow import Branch, Flow

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def negate(
    condition: n.Expression, is_float: Callable[[n.Expression], bool] = lambda e: False
) -> n.Expression:
    """What holds where the condition does not.

    ``is_float`` says whether operands of a comparison are floating point: with
    not-a-number, ``!(a < b)`` is not ``a >= b``.

    >>> negate(n.Binary("<", n.Name("i"), n.Name("n")))
    Binary(operator='>=', left=Name(name='i'), right=Name(name='n'))
    """
    match condition:
        case n.Unary(operator="!", operand=operand):
            return operand
        case n.Binary(operator=("==" | "!=") as operator, left=left, right=right):
            return n.Binary(_OPPOSITE[operator], left, right)
        case n.Binary(operator=operator, left=left, right=right) if operator in _OPPOSITE:
            if not is_float(left) and not is_float(right):
                return n.Binary(_OPPOSITE[operator], left, right)
        case n.Binary(operator=("&&" | "||") as operator, left=left, right=right):
            other = "||" if operator == "&&" else "&&"
            return n.Binary(other, negate(left, is_float), negate(right, is_float))
        case n.Literal(value=bool() as value, type=type):
            return n.Literal(not value, type)
    return n.Unary("!", condition)


def join_branches(flow: Flow, is_float: Callable[[n.Expression], bool] = lambda e: False) -> None:
    """Join a branch with a second one that does nothing but decide further.

    ``if (a) { if (b) goto T; else goto F; } else goto F;`` is ``if (a && b) goto T; else F``.
    """
    changed = False
    pending = flow.order[::-1]
    while pending:
        block = pending.pop()
        if block in flow.blocks and _join(flow, block, is_float):
            changed = True
            pending.append(block)
            before = flow.predecessors[block]
            # What was a branch to other places may now be the second one of a block before.
            if len(before) == 1 and flow.place[before[0]] < flow.place[block]:
                pending.append(before[0])
    if changed:
        flow.analyse()


def _join(flow: Flow, block: int, is_float: Callable[[n.Expression], bool]) -> bool:
    """Join a block's branch with the one after it; whether there is one to join."""
    first = flow.blocks[block].exit
    if not isinstance(first, Branch) or first.then == first.otherwise:
        return False
    for inner, direct, holds in (
        (first.then, first.otherwise, True),
        (first.otherwise, first.then, False),
    ):
        second = flow.blocks[inner].exit
        if (
            inner == block
            or not isinstance(second, Branch)
            or flow.blocks[inner].statements
            or len(flow.predecessors[inner]) != 1
            or direct not in (second.then, second.otherwise)
            or inner in (second.then, second.otherwise)
        ):
            continue
        # Written so that the inner branch is reached where `a` holds.
        a = first.condition if holds else negate(first.condition, is_float)
        b = second.condition
        if second.otherwise == direct:
            flow.blocks[block].exit = Branch(n.Binary("&&", a, b), second.then, direct)
        else:
            either = n.Binary("||", negate(a, is_float), b)
            flow.blocks[block].exit = Branch(either, direct, second.otherwise)
        del flow.blocks[inner]
        for target in {second.then, second.otherwise}:
            flow.predecessors[target].remove(inner)
            if block not in flow.predecessors[target]:
                flow.predecessors[target].append(block)
        return True
    return False
