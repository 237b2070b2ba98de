"""How often the variables of a body are read and set, while its statements are replaced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import INT, Type
from ptxkit.decompiler.lift.rewrite import read, written
from ptxkit.decompiler.lift.unify import Counted


@dataclass(slots=True)
class Uses:
    """The variables of a body: their types, how often each is used, and names for more of them.

    >>> from ptxkit.cuda import read
    >>> uses, body = Uses({}, lambda wish: wish or "k"), [read("(= a (+ b b))")]
    >>> uses.replace([], 0, 0, body)
    >>> uses.reads["b"], uses.writes["a"]
    (2, 1)
    >>> uses.replace(body, 0, 1, [])
    >>> body, uses.reads["b"]
    ([], 0)
    """

    types: dict[str, Type]
    fresh: Callable[[str], str]
    """Makes the name of an index, if it can the one that is wished for."""
    reads: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)

    def replace(
        self, body: list[n.Statement], start: int, count: int, made: list[n.Statement]
    ) -> None:
        """Put statements in the place of so many from a start on."""
        for statements, sign in ((body[start : start + count], -1), (made, 1)):
            for statement in statements:
                for name in read(statement):
                    self.reads[name] += sign
                for name in written(statement):
                    self.writes[name] += sign
        body[start : start + count] = made

    def counter(self, wish: str) -> str:
        """A new variable that counts."""
        name = self.fresh(wish)
        self.types[name] = INT
        return name

    def index(self, counted: Counted) -> str:
        """A new variable that counts the turns of a loop."""
        return self.counter("" if counted.step[0] == "+=" else "stride")

    def is_used_once(self, name: str) -> bool:
        """Whether a variable is set in one place and read in one."""
        return self.reads[name] == 1 and self.writes[name] == 1
