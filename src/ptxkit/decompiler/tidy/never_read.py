"""Variables that nobody reads: what a search leaves of what was needed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.lift.rewrite import without_declared

#: Calls that compute, and do nothing else.
_PLAIN = frozenset("min max fminf fmaxf fabsf abs".split())


def without_never_read(function: n.Function, take: Callable[[], bool]) -> n.Function:
    """The function without declarations of variables that are never read.

    >>> from ptxkit.cuda import print_function, read
    >>> kernel = read('''(kernel k (params (param (ptr int) x) (param int a))
    ...     (let int b (* a 2)) (let int c (+ b 1)) (= ([] x 0) a))''')
    >>> print(print_function(without_never_read(kernel, lambda: True)), end="")
    __global__ void k(int *x, int a) {
        x[0] = a;
    }
    """
    refused: set[str] = set()
    while function.body is not None:
        uses = Counter(p.name for s in function.body for p in s.walk() if isinstance(p, n.Name))
        gone: set[str] = set()
        for statement in function.body:
            for node in statement.walk():
                if (
                    isinstance(node, n.Declare)
                    and _is_idle(node, uses)
                    and node.name not in refused
                ):
                    (gone if take() else refused).add(node.name)
        if not gone:
            break
        function = without_declared(function, gone)
    return function


def _is_idle(node: n.Declare, uses: Counter[str]) -> bool:
    """Whether nothing is lost with a variable: no call that may do more than give a value."""
    if uses[node.name] or node.space or node.value is None:
        return False
    return not any(
        isinstance(part, n.Asm) or (isinstance(part, n.Call) and part.function not in _PLAIN)
        for part in node.value.walk()
    )
