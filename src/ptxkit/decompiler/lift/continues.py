"""``continue`` where a flag says that nothing of a turn is left to do.

Structuring knows no head of a loop that counts: a jump to the step of one is a jump over the rest
of its turn, which `gotos` makes a flag of. When the step stands in the head, ``continue`` goes
there.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import rebuilt_lists

Body = tuple[n.Statement, ...]
_LOOPS = (n.For, n.While, n.DoWhile)


def with_continues(body: Body, flags: Container[str]) -> Body:
    """The body with ``continue`` in the place of flags that skip the rest of a turn.

    >>> from ptxkit.cuda import print_module
    >>> from ptxkit.cuda.types import BOOL, VOID
    >>> skip, a, b = map(n.Name, ("skip", "a", "b"))
    >>> loop = n.While(a, (
    ...     n.Assign(skip, n.Literal(False, BOOL)),
    ...     n.If(b, (n.Assign(a, b), n.Assign(skip, n.Literal(True, BOOL)))),
    ...     n.If(n.Unary("!", skip), (n.Assign(b, a),)),
    ... ))
    >>> made = with_continues((loop,), {"skip"})
    >>> print(print_module(n.CudaModule((n.Function("f", (), made, VOID),))))
    __global__ void f() {
        while (a) {
            if (b) {
                a = b;
                continue;
            }
            b = a;
        }
    }
    <BLANKLINE>
    """
    made: list[n.Statement] = []
    for statement in body:
        statement = rebuilt_lists(statement, lambda inner: with_continues(inner, flags))
        if isinstance(statement, _LOOPS):
            statement = replace(statement, body=_turn(statement.body, flags))
        made.append(statement)
    return tuple(made)


def _turn(body: Body, flags: Container[str]) -> Body:
    """One turn of a loop; as it was where its flags say more than that it is over."""
    for place, statement in enumerate(body):
        match statement:
            case n.Assign(n.Name(name=flag), n.Literal(value=False), "=") if flag in flags:
                rest = _left(body[place + 1 :], flag)
                if rest is not None:
                    return _turn((*body[:place], *rest), flags)
    return body


def _left(body: Body, flag: str) -> Body | None:
    """Statements at the end of a turn that leave it where they set a flag.

    None where something else depends on the flag, or is done whether it is set or not.
    """
    for place, statement in enumerate(body):
        if flag not in statement.names():
            continue
        before, after = body[:place], body[place + 1 :]
        match statement:
            case n.Assign(n.Name(), n.Literal(value=True), "=") if not after:
                return (*before, n.Continue())
            case n.If(condition, then, otherwise) if flag not in condition.names():
                one, two = _left(then, flag), _left(otherwise, flag)
                following = _unasked(after, flag)
                if one is None or two is None or following is None:
                    return None
                return (*before, n.If(condition, one, two), *following)
        return None
    return body


def _unasked(body: Body, flag: str) -> Body | None:
    """What is done where a flag was not set, if that is all there is."""
    match body:
        case ():
            return ()
        case (n.If(n.Unary("!", n.Name(name=asked)), then, ()),) if asked == flag:
            return _left(then, flag)
    return None
