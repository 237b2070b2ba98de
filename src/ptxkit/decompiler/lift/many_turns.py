"""What loops of many turns at once, and the turns that are left over, have in common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT
from ptxkit.decompiler.lift.rewrite import bottom_up
from ptxkit.decompiler.lift.terms import multiples, sums, taken_apart

_LOOPS = (n.DoWhile, n.While, n.For)


@dataclass(frozen=True, slots=True)
class Rest:
    """A variable that holds how many turns are left over: ``turns & mask``."""

    turns: n.Expression
    mask: int


def loop_of(node: n.Statement) -> n.Statement | None:
    """The loop that a statement is, or asks for before it does it."""
    match node:
        case n.If(then=then, otherwise=()):
            last = next((s for s in reversed(then) if not _is_copy(s)), None)
            return last if isinstance(last, _LOOPS) else None
    return node if isinstance(node, _LOOPS) else None


def _is_copy(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), n.Name(), "="):
            return True
    return False


def target_of(node: n.Statement) -> str:
    """The variable that a statement sets; empty where it sets none."""
    if isinstance(node, n.Assign) and isinstance(node.target, n.Name):
        return node.target.name
    return ""


def with_instead(node: n.Node, old: n.Expression, new: n.Expression) -> n.Node:
    """One node in the place of another one."""
    return new if node == old else node


def index_from(start: n.Expression, first: n.Expression, index: str) -> n.Expression | None:
    """A number that moves with an index, by the index."""
    start = _with_negative(start, first)
    if sum(p == first for p in start.walk()) != 1 or not _is_term(start, first):
        return None
    return bottom_up(start, lambda part: n.Name(index) if part == first else part)  # type: ignore[no-any-return]


def _with_negative(total: n.Expression, first: n.Expression) -> n.Expression:
    """A difference as a sum, where what is taken away is where an index begins."""
    match total, first:
        case n.Binary("-", left, right), n.Unary("-", operand) if right == operand:
            return n.Binary("+", left, first)
        case n.Binary("+", left, right), _:
            made = n.Binary("+", _with_negative(left, first), _with_negative(right, first))
            return made if made != total else total
        case n.Cast(operand=inner), _:
            return replace(total, operand=_with_negative(inner, first))
    return total


def _is_term(total: n.Expression, term: n.Expression) -> bool:
    """Whether something is added into a sum, as it is."""
    match total:
        case n.Binary("+", left, right):
            return _is_term(left, term) or _is_term(right, term)
        case n.Cast(operand=inner):
            return _is_term(inner, term)
    return total == term


def steps_by(many: n.Statement, index: str, by: n.Expression, times: int) -> bool:
    """Whether a loop moves its index on by as much as so many turns do."""
    if isinstance(by, n.Literal):
        step = n.Assign(n.Name(index), n.Literal(by.value * times, INT), "+=")
        return any(p == step for p in many.walk())
    wanted = Counter({n.Name(index): 1, by: times})
    moves = [p for p in many.walk() if isinstance(p, n.Assign) and p.target == n.Name(index)]
    return len(moves) == 1 and _terms(moves[0].value, moves[0].operator, index) == wanted


def _terms(value: n.Expression, operator: str, index: str) -> Counter[n.Expression]:
    """What is added up for the next value of an index, and how often."""
    found: Counter[n.Expression] = Counter({n.Name(index): 1} if operator == "+=" else {})
    for term, times in taken_apart(value, (sums, multiples)):
        found[term] += times
    return found
