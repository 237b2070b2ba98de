"""How far numbers get: what says that a row has too few columns for an index.

This is what a reader expects, not what is proved: it decides between forms of the same access.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

from ptxkit.cuda import nodes as n

#: The last thread of a block in any direction, at the least: nobody starts fewer for a tile.
_LAST_THREAD = 7
_MOST_THREADS = 1024
_LOOPS = (n.For, n.While, n.DoWhile)


def is_thread(node: n.Expression) -> bool:
    """Whether something is the number of a thread in its block, in one direction."""
    match node:
        case n.Name(name=name):
            return name.startswith("threadIdx.")
        case n.Member(n.Name(name="threadIdx")):
            return True
    return False


@dataclass(slots=True)
class Known:
    """What a variable is set to."""

    values: list[n.Expression | None] = field(default_factory=list)
    """None for what nobody can say."""
    steps: list[int] = field(default_factory=list)
    """What is added to it."""
    limits: list[tuple[str, int]] = field(default_factory=list)
    """What loops compare it with, and how."""


class Reach:
    """What is known about the variables of some statements."""

    def __init__(self, body: Iterable[n.Statement]) -> None:
        self.known: dict[str, Known] = defaultdict(Known)
        self._open: set[str] = set()
        self._last_thread = _LAST_THREAD
        for statement in body:
            for node in statement.walk():
                self._see(node)

    def _see(self, node: n.Node) -> None:
        match node:
            case n.Declare(name=name, value=value) if value is not None:
                self.known[name].values.append(value)
            case n.Assign(n.Name(name=name), value, "="):
                self.known[name].values.append(value)
            case n.Assign(n.Name(name=name), n.Literal(value=int(by)), "+="):
                self.known[name].steps.append(by)
            case n.Assign(n.Name(name=name), n.Literal(value=int(by)), "-="):
                self.known[name].steps.append(-by)
            case n.Assign(n.Name(name=name)):
                self.known[name].values.append(None)
            case n.Unary("&", n.Name(name=name)) | n.AsmOperand(expression=n.Name(name=name)):
                self.known[name].values.append(None)
        if isinstance(node, _LOOPS) and node.condition is not None:
            for part in node.condition.walk():
                match part:
                    case n.Binary(operator, n.Name(name=name), n.Literal(value=int(limit))):
                        self.known[name].limits.append((operator, limit))

    def of(self, node: n.Expression) -> int:
        """The largest number that an expression is expected to get to; 0 where nothing says so.

        >>> from ptxkit.cuda import read
        >>> kernel = read("(kernel k (params) (for (let int i 0) (< i 64) (+= i 16)))")
        >>> reach = Reach(kernel.body)
        >>> i, thread = n.Name("i"), n.Name("threadIdx.x")
        >>> reach.of(i), reach.of(thread), reach.of(n.Binary("&", thread, n.integer(63)))
        (48, 7, 63)
        """
        match node:
            case n.Literal(value=int(value)):
                return value
            case n.Name() | n.Member() if is_thread(node):
                return self._last_thread
            case n.Name(name=name):
                return self._variable(name)
            case n.Binary("&", left, n.Literal(value=int(mask))):
                # What is larger than any block only says that nothing is lost.
                return max(mask, 0) if mask <= _MOST_THREADS else self.of(left)
            case n.Binary("%", _, n.Literal(value=int(number))):
                return max(number - 1, 0)
            case n.Binary("+", left, right):
                return self.of(left) + self.of(right)
            case n.Binary("*", left, n.Literal(value=int(times))):
                return self.of(left) * times
            case n.Binary("<<", left, n.Literal(value=int(bits))):
                return self.of(left) << bits
            case n.Binary("/", left, n.Literal(value=int(number))) if number > 0:
                return self._part(left, number)
            case n.Binary(">>", left, n.Literal(value=int(bits))):
                return self._part(left, 1 << bits)
            case n.Cast(operand=operand):
                return self.of(operand)
        return 0

    def without_threads(self, node: n.Expression) -> int:
        """The same where threads count for nothing: what is read beside them may ask which it is.

        >>> thread = n.Name("threadIdx.x")
        >>> Reach(()).without_threads(n.Binary("+", thread, n.integer(5)))
        5
        """
        self._last_thread = 0
        try:
            return self.of(node)
        finally:
            self._last_thread = _LAST_THREAD

    def _part(self, node: n.Expression, number: int) -> int:
        """A number that is divided: who asks for the row of a thread has more than one row."""
        whole = self.of(node)
        return whole // number or min(whole, _LAST_THREAD)

    def _variable(self, name: str) -> int:
        found = self.known.get(name)
        if found is None or None in found.values or name in self._open:
            return 0
        self._open.add(name)
        reached = [self.of(value) for value in found.values if value is not None]
        self._open.discard(name)
        step = max((abs(by) for by in found.steps), default=0)
        if any(by > 0 for by in found.steps):
            reached += [limit - step for operator, limit in found.limits if operator in ("<", "!=")]
            reached += [limit for operator, limit in found.limits if operator == "<="]
        return max(reached, default=0)

    def common_factor(self, name: str) -> int:
        """What all values of a counter are multiples of; 1 for what is no counter.

        A counter starts at a number, and is moved on by numbers to others.
        """
        found = self.known.get(name)
        if found is None or not found.steps or not found.limits:
            return 1
        starts = [v.value for v in found.values if isinstance(v, n.Literal)]
        if len(starts) < len(found.values):
            return 1
        return gcd(*(int(s) for s in starts), *found.steps, *(limit for _, limit in found.limits))
