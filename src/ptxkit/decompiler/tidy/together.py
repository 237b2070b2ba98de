"""Variables that one condition changes, or leaves as they are: one ``if`` for all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import rebuilt_lists

Body = tuple[n.Statement, ...]


def changed_together(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """A function that asks once.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int a) (param int b))
    ...     (let bool more (> a 0)) (= a (? more b a)) (= b (? more 1 b)) (= ([] x a) b))''')
    >>> print(print_function(changed_together(kernel, lambda: True)), end="")
    __global__ void k(int *x, int a, int b) {
        if (a > 0) {
            a = b;
            b = 1;
        }
        x[a] = b;
    }

    The question may stand in each of them, as long as none changes what it is about:

    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int i) (param int n))
    ...     (let int v ([] x i)) (let int w 0)
    ...     (= w (? (> v n) i w)) (= n (? (> v n) v n)) (= ([] x 0) (+ w n)))''')
    >>> print(print_function(changed_together(kernel, lambda: True)), end="")
    __global__ void k(int *x, int i, int n) {
        int v = x[i];
        int w = 0;
        if (v > n) {
            w = i;
            n = v;
        }
        x[0] = w + n;
    }
    """

    names = [p.name for s in function.body or () for p in s.walk() if isinstance(p, n.Name)]
    uses = Counter(names)

    def asked(body: Body) -> Body:
        return _asked_once(tuple(rebuilt_lists(s, asked) for s in body), uses, take)

    return replace(function, body=asked(function.body or ()))


def asked_once(body: Body) -> Body:
    """Statements that nobody else reads the conditions of, each with one question."""
    uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
    return _asked_once(body, uses, lambda: True)


def _asked_once(body: Body, uses: Counter[str], take: Callable[[], bool]) -> Body:
    made: list[n.Statement] = []
    rest = list(body)
    while rest:
        condition = _question(rest[0])
        same = _first(rest, condition) if condition is not None else []
        if condition is None or len(same) < 2 or not take():
            made.append(rest.pop(0))
            continue
        match made[-1:]:
            case [n.Declare(name=name, value=n.Node() as value)] if condition == n.Name(
                name
            ) and uses[name] == len(same):
                made.pop()
                condition = value
        made.append(n.If(condition, tuple(same)))
        rest = rest[len(same) :]
    return tuple(made)


def _question(statement: n.Statement) -> n.Expression | None:
    """What decides whether a statement changes a variable, if something does."""
    match statement:
        case n.Assign(n.Name() as target, n.Conditional(asked, _, kept), "=") if kept == target:
            return asked
    return None


def _first(body: list[n.Statement], asked: n.Expression) -> list[n.Statement]:
    """The statements from the first on that one question decides about, for when it is true."""
    found: list[n.Statement] = []
    read = set(asked.names())
    for statement in body:
        if _question(statement) != asked:
            break
        assert isinstance(statement, n.Assign) and isinstance(statement.value, n.Conditional)
        target = statement.target
        assert isinstance(target, n.Name)
        found.append(replace(statement, value=statement.value.then))
        if target.name in read:
            break  # from here on it is another question
    return found
