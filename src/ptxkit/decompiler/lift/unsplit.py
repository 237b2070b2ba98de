"""Loops that a compiler split where their index is something else: one loop again.

``for (j = 0; j < n; j++) if (j != i) ...`` asks the same in every turn, and the answer changes but
once: NVVM makes a loop up to ``i`` of it, one turn that asks, and a loop of what follows. That turn
is there as it was written. As in `roll` nothing is proved here: the verifier decides.
"""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import accesses, rebuilt_lists, statements_of

Body = tuple[n.Statement, ...]
_LOOPS = (n.DoWhile, n.While, n.For)
_ZERO, _ONE = n.Literal(0, INT), n.Literal(1, INT)


def with_whole_loops(body: Body) -> Body:
    """The body with the parts of such loops put together."""
    made = [rebuilt_lists(statement, with_whole_loops) for statement in body]
    place = 0
    while place < len(made):
        place = place + 1 if not _join(made, place) else 0
    return tuple(made)


def _join(body: list[n.Statement], place: int) -> bool:
    """Put together the loop whose one turn that asks is at a place; whether it is one."""
    match body[place]:
        case n.If(
            n.Binary("<", n.Name(name=index) as counter, limit),
            (n.If(n.Binary("!=", one, other), _, ()) as asked, step),
            (),
        ) if step == n.Assign(counter, _ONE, "+=") and counter in (one, other):
            pass
        case _:
            return False
    start = next((k for k in range(place) if body[k] == n.Assign(counter, _ZERO)), None)
    before = next((k for k in range(place - 1, -1, -1) if _counts(body[k], index)), None)
    after = next((k for k in range(place + 1, len(body)) if _loop(body[k]) is not None), None)
    if start is None or before is None or after is None or not start < before:
        return False
    loops = _loop(body[before]), _loop(body[after])
    if any(loop is None or _turn(loop) != accesses(asked) for loop in loops):
        return False
    # Nothing else may depend on where the loop is.
    others = (s for k, s in enumerate(body) if k > start and k not in (before, place, after))
    if any(index in s.names() for s in others):
        return False
    whole = n.For(body[start], n.Binary("<", counter, limit), step, (asked,))
    body[place] = whole
    for gone in sorted((start, before, after), reverse=True):
        del body[gone]
    return True


def _counts(node: n.Statement, index: str) -> bool:
    """Whether a loop counts with an index by ones."""
    step = n.Assign(n.Name(index), _ONE, "+=")
    return _loop(node) is not None and any(s == step for s in statements_of((node,)))


def _loop(node: n.Statement) -> n.DoWhile | n.While | n.For | None:
    """The only loop in a statement that does nothing else."""
    if isinstance(node, _LOOPS):
        return node
    if not isinstance(node, n.If) or node.otherwise:
        return None
    *setup, last = node.then
    plain = all(isinstance(s, n.Assign) and isinstance(s.target, n.Name) for s in setup)
    return last if plain and isinstance(last, _LOOPS) else None


def _turn(loop: n.DoWhile | n.While | n.For | None) -> int:
    return 0 if loop is None else sum(map(accesses, loop.body))
