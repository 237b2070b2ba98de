"""The first and the last turn of a loop that was written out, where less is left of them.

A compiler leaves nothing of ``x + 0 * w`` or of ``x - (t & 0)``: the turn that counts 0, or the
last one of those that halve, is no copy of the others. What it would be is known from these, and
where the same is left of that, it is a turn, too. As in `copies` nothing is proved here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Scalar
from ptxkit.decompiler.lift.rewrite import bottom_up
from ptxkit.decompiler.lift.unify import Counted, DifferentError, Holes

Body = tuple[n.Statement, ...]


def further_turn(
    text: Body,
    counted: Counted,
    value: int,
    names: Mapping[str, str],
    found: Sequence[n.Statement],
) -> Body | None:
    """One more copy of a text with holes, if that is what some statements are; with all it has.

    ``value`` is what the counter is then, ``names`` are those of the copy next to it.

    >>> from ptxkit.cuda import print_statements, read
    >>> text = (read("(= ([] x (+ i (* w hole))) 1)"),)
    >>> counted = Counted(1, ("<", 4), ("+=", 1), {"hole": (1, 0)})
    >>> made = further_turn(text, counted, 0, {}, [read("(= ([] x i) 1)")])
    >>> print(print_statements(made), end="")
    x[i + w * 0] = 1;
    """
    wanted = tuple(bottom_up(s, partial(_filled, counted, value, names)) for s in text)
    holes = Holes()
    try:
        holes.unify([_left(wanted), _left(tuple(found))])
    except DifferentError:
        return None
    pairs: dict[str, str] = dict(holes.names.values())  # type: ignore[arg-type]
    own = set(names.values())
    if holes.numbers or len(pairs) < len(holes.names) or not pairs.keys() <= own:
        return None
    if len(set(pairs.values())) < len(pairs):
        return None
    return tuple(bottom_up(s, partial(_renamed, pairs)) for s in wanted)


def _filled(counted: Counted, value: int, names: Mapping[str, str], node: n.Node) -> n.Node:
    match node:
        case n.Name(name=name) if name in counted.holes:
            times, added = counted.holes[name]
            return n.Literal(value * times + added, INT)
        case n.Name(name=name) if name in names:
            return n.Name(names[name])
    return node


def _renamed(pairs: Mapping[str, str], node: n.Node) -> n.Node:
    if isinstance(node, n.Name):
        return n.Name(pairs.get(node.name, node.name))
    return node


def _left(body: Body) -> Body:
    """What a compiler leaves of statements, as far as numbers tell."""
    return tuple(bottom_up(s, _folded) for s in body)


def _folded(node: n.Node) -> n.Node:
    match node:
        case n.Binary(operator, left, n.Literal(value=int() as number, type=Scalar() as type)) if (
            type.is_integer
        ):
            if number == 0 and operator in ("*", "&"):
                return n.Literal(0, INT)
            if number == 0 and operator in ("+", "-", "<<", ">>", "|", "^"):
                return left
            if number == 1 and operator == "*":
                return left
        case n.Binary("+", n.Literal(value=0, type=Scalar() as type), right) if type.is_integer:
            return right
        case n.Cast(type=Scalar() as type, operand=n.Literal(value=0)) if type.is_integer:
            return n.Literal(0, INT)
        case n.Index(base, n.Cast(type=Scalar(bits=64), operand=index)):
            return n.Index(base, index)
    return node
