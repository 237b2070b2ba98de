"""Variables that are set to what they hold already, or to another name of a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Scalar
from ptxkit.decompiler.lift.rewrite import bodies_of, rebuilt_lists, written

Body = tuple[n.Statement, ...]
Known = dict[str, n.Literal | n.Name]
"""What variables hold: a number, or the same as another one."""


def without_known_values(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that sets nothing twice, and writes numbers where it means these.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr float) x) (param int n))
    ...     (let float sum 0.0f) (let float other sum)
    ...     (if (> n 0) (then (= sum 0.0f) (+= sum ([] x 0))))
    ...     (= ([] x 1) (+ sum other)))''')
    >>> print(print_function(without_known_values(kernel, lambda: True)), end="")
    __global__ void k(float *x, int n) {
        float sum = 0.0f;
        float other = 0.0f;
        if (n > 0) sum += x[0];
        x[1] = sum + other;
    }
    """
    body = function.body or ()
    if any(isinstance(p, n.Goto | n.Label) for s in body for p in s.walk()):
        return function
    types = {
        p.name: p.type for s in body for p in s.walk()
        if isinstance(p, n.Declare) and not p.space and isinstance(p.type, Scalar)
    }  # fmt: skip
    return replace(function, body=_Values(types, take).run(body, {}))


class _Values:
    def __init__(self, types: dict[str, Scalar], take: Callable[[], bool]) -> None:
        self.types, self.take = types, take

    def run(self, body: Body, known: Known) -> Body:
        """Statements after which the same is known, and changed in place to that."""
        made: list[n.Statement] = []
        for statement in body:
            one = self._changed(statement, known)
            if one is not None:
                made.append(one)
        return tuple(made)

    def _changed(self, statement: n.Statement, known: Known) -> n.Statement | None:
        match statement:
            case n.Declare(name=name, value=n.Name() | n.Literal() as value, space=""):
                value = self._number(name, value, known)
                self._set(name, value, known)
                return replace(statement, value=value)
            case n.Assign(n.Name(name=name), n.Name() | n.Literal() as value, "="):
                value = self._number(name, value, known)
                if name in self.types and known.get(name) == value and self.take():
                    return None
                self._set(name, value, known)
                return replace(statement, value=value)
        changes = set(written(statement))
        if bodies_of(statement):
            inside = dict(known)
            if not isinstance(statement, n.If):
                _forget(changes, inside)  # it may be another turn, or another case before
            statement = rebuilt_lists(statement, lambda inner: self.run(inner, dict(inside)))
        _forget(changes, known)
        return statement

    def _number(self, name: str, value: n.Name | n.Literal, known: Known) -> n.Name | n.Literal:
        """The number that a name stands for, in the place of that name."""
        if not isinstance(value, n.Name) or self.types.get(name) != self.types.get(value.name):
            return value
        held = known.get(value.name)
        return held if isinstance(held, n.Literal) and self.take() else value

    def _set(self, name: str, value: n.Name | n.Literal, known: Known) -> None:
        _forget({name}, known)
        same = isinstance(value, n.Literal) or self.types.get(value.name) == self.types.get(name)
        if name in self.types and same and value != n.Name(name):
            known[name] = value


def _forget(names: set[str], known: Known) -> None:
    for name, value in list(known.items()):
        if name in names or (isinstance(value, n.Name) and value.name in names):
            del known[name]
