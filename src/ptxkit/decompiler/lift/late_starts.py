"""Numbers that variables begin with, moved to where those are used."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import statements_of

_JUMPS = n.Break, n.Continue, n.Goto, n.Label


def with_late_starts(body: list[n.Statement]) -> list[n.Statement]:
    """Numbers that variables begin with, moved to where those are used.

    A compiler sets them all together, far from the copies that they belong to.

    >>> from ptxkit.cuda import print_statements, read
    >>> body = [read(text) for text in ("(= a 0)", "(= b x)", "(= c b)", "(= d (+ a c))")]
    >>> print(print_statements(tuple(with_late_starts(body))), end="")
    b = x;
    c = b;
    a = 0;
    d = a + c;
    """
    moved: dict[int, list[n.Statement]] = {}
    begun = [k for k, s in enumerate(body) if _begins(s)]
    if not begun:
        return body
    uses = _uses(body, {body[k].target.name for k in begun})  # type: ignore[union-attr]
    first, gone = set(begun), set[int]()
    for place in begun:
        statement = body[place]
        assert isinstance(statement, n.Assign) and isinstance(statement.target, n.Name)
        later = next((k for k in uses[statement.target.name] if k > place), None)
        if later is None or isinstance(body[later], n.For):
            continue
        between = [k for k in range(place + 1, later) if k not in first]
        if between and not any(_leaves(body[k]) for k in between):
            moved.setdefault(later, []).append(statement)
            gone.add(place)
    return [
        one
        for k, s in enumerate(body)
        for one in (*moved.get(k, ()), s)
        if k not in gone or one is not s
    ]


def _leaves(node: n.Statement) -> bool:
    """Whether a statement may go on elsewhere, where a variable may be asked for."""
    return any(isinstance(s, _JUMPS) for s in statements_of((node,)))


def _begins(node: n.Statement) -> bool:
    match node:
        case n.Assign(n.Name(), n.Literal(), "="):
            return True
    return False


def _uses(body: list[n.Statement], names: set[str]) -> dict[str, list[int]]:
    """The statements that have a name anywhere in them."""
    found: dict[str, list[int]] = {name: [] for name in names}
    for place, statement in enumerate(body):
        for name in {p.name for p in statement.walk() if isinstance(p, n.Name)} & names:
            found[name].append(place)
    return found
