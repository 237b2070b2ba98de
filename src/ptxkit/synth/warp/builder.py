"""The state of a kernel while the grammar makes it: parameters, variables in sight, bounds.

Every expression knows an upper bound of its magnitude. What would grow too large is damped
where it arises, so that no kernel overflows, and rounding stays far below the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ptxkit.synth.streams import Stream
from ptxkit.synth.warp import tree
from ptxkit.synth.warp.types import FLOAT16, FLOAT32, FLOAT64, INT, Scalar, Type

#: The largest magnitude an expression may have.
LIMITS = {FLOAT16: 16.0, FLOAT32: 256.0, FLOAT64: 4096.0}
INTEGER_LIMIT = float(1 << 20)
_BUDGET = (6, 16)
#: Operations that compilers write out in a hundred instructions, and what each takes of the budget.
_LENGTHS = {"sin": 4, "cos": 4, "tan": 4}
_LENGTHS_IN_DOUBLE = {**_LENGTHS, "exp": 4, "log": 4, "tanh": 4}
#: Rounds of a loop that compilers write out one after another.
_ROUNDS = 4

_INPUTS = "a b c d u v w p q src lhs rhs field data mass weight signal grid".split()
_SCALARS = "alpha beta gamma scale shift gain bias rate dt eps omega cutoff".split()
_COUNTS = "n m steps count order depth rounds".split()
_OUTPUTS = "out result dst res".split()
_LOCALS = (
    "x y z t s r acc tmp val total value state force dist ratio delta cur best part mix "
    "left right lo hi sum prod base energy"
).split()
_FUNCTIONS = "blend response kernel_weight falloff mix_values transfer shape_fn evaluate".split()
_INDICES = ("i", "j", "k", "l")
_LOOPS = ("it", "jt", "kt", "step", "lap", "turn")
_LAUNCHES = {1: (24, 72), 2: (5, 9), 3: (3, 5), 4: (2, 4)}


@dataclass(slots=True)
class Palette:
    """How likely each operation is in the expressions of a kernel."""

    real: dict[str, int]
    integer: dict[str, int] = field(default_factory=dict)


class Builder:
    """Makes one kernel. ``scalar`` is the type of its real numbers."""

    def __init__(
        self,
        stream: Stream,
        palette: Palette,
        scalar: Scalar = FLOAT32,
        rank: int = 1,
        budget: tuple[int, int] = _BUDGET,
    ) -> None:
        self.stream = stream
        self.palette = palette
        self.budget = stream.between(*budget)
        """How many operations compilers may still write out. They write out calls and the rounds
        of loops: without a limit, half of all PTX would be copies of the same few kernels' code."""
        self._lengths = _LENGTHS_IN_DOUBLE if scalar == FLOAT64 else _LENGTHS
        self.scalar = scalar
        self.real_type = Type(scalar)
        self.limit = LIMITS[scalar]
        low, high = _LAUNCHES[rank]
        self.launch = tuple(stream.between(low, high) for _ in range(rank))
        self.indices = tuple(
            tree.Name(INT, size - 1, name)
            for name, size in zip(_INDICES, self.launch, strict=False)
        )
        self.parameters: list[tree.Parameter] = []
        self.functions: list[tuple[tree.Function, int]] = []
        """Each with what a call takes of the budget."""
        self.structs: list[tree.Struct] = []
        self.features: set[str] = set()
        self.used: set[str] = set()
        self.excluded: set[str] = set()
        """Variables that expressions may not read at the moment."""
        self._names = {*_INDICES, "wp"}
        self._scopes: list[list[tree.Name]] = [[]]
        self._bodies: list[list[tree.Statement]] = [[]]
        self.trips = 1
        """How often the statement that is made now is executed, at most."""

    # Names

    def fresh(self, words: tuple[str, ...] | list[str]) -> str:
        """A name nobody has yet."""
        word = self.stream.choice(words)
        name, number = word, 1
        while name in self._names:
            number += 1
            name = f"{word}{number}"
        self._names.add(name)
        return name

    def function_name(self) -> str:
        """A name for a function."""
        return self.fresh(_FUNCTIONS)

    # Parameters

    def input(
        self,
        type: Type | None = None,
        low: float = -2.0,
        high: float = 2.0,
        shape: tuple[int, ...] | None = None,
        role: str = "input",
    ) -> tree.Parameter:
        """An array to read."""
        return self._add(
            tree.Parameter(
                self.fresh(_INPUTS), type or self.real_type, shape or self.launch, role, low, high
            )
        )

    def output(
        self, type: Type | None = None, shape: tuple[int, ...] | None = None
    ) -> tree.Parameter:
        """An array to write."""
        item = tree.Parameter(
            self.fresh(_OUTPUTS), type or self.real_type, shape or self.launch, "output"
        )
        self.used.add(item.name)
        return self._add(item)

    def number(self, type: Type | None = None, low: float = 0.25, high: float = 2.0) -> tree.Name:
        """A number as parameter."""
        type = type or self.real_type
        name = self.fresh(_SCALARS if type.is_real else _COUNTS)
        self._add(tree.Parameter(name, type, (), "input", low, high))
        self.declare(found := tree.Name(type, max(abs(low), abs(high)), name))
        return found

    def _add(self, item: tree.Parameter) -> tree.Parameter:
        self.parameters.append(item)
        return item

    def arrays(self, type: Type) -> list[tree.Parameter]:
        """The arrays with an element of a type for every thread."""
        return [
            item
            for item in self.parameters
            if item.type == type and item.shape == self.launch and item.role == "input"
        ]

    def own(self, item: tree.Parameter) -> tree.Load:
        """The element of an array that is this thread's."""
        self.used.add(item.name)
        return self.load(item, self.indices)

    def load(self, item: tree.Parameter, index: tuple[tree.Expression, ...]) -> tree.Load:
        """An element of an array."""
        self.used.add(item.name)
        return tree.Load(item.type, max(abs(item.low), abs(item.high)), item.name, index)

    # Variables

    def declare(self, name: tree.Name) -> None:
        """Put a variable in sight."""
        self._scopes[-1].append(name)

    def visible(self, type: Type) -> list[tree.Name]:
        """The variables of a type that may be read here."""
        return [
            name
            for scope in self._scopes
            for name in scope
            if name.type == type and name.name not in self.excluded
        ]

    def read(self, name: tree.Name) -> tree.Name:
        """Use a variable."""
        self.used.add(name.name.partition(".")[0])
        return name

    def local(self, value: tree.Expression) -> tree.Name:
        """A new variable that keeps its value."""
        name = tree.Name(value.type, value.bound, self.fresh(_LOCALS))
        self.emit(tree.Assign(name.name, value))
        self.declare(name)
        return name

    def mutable(self, value: tree.Expression, bound: float) -> tree.Name:
        """A new variable that is assigned again; its magnitude stays below the bound."""
        if isinstance(value, tree.Constant):
            # Warp takes a bare literal for a constant, which no loop may change.
            value = tree.Operation(value.type, value.bound, "cast", (value,))
        name = tree.Name(value.type, bound, self.fresh(_LOCALS))
        self.emit(tree.Assign(name.name, value))
        self.declare(name)
        return name

    # Statements

    def emit(self, statement: tree.Statement) -> None:
        """Add a statement to the innermost body."""
        self._bodies[-1].append(statement)

    @contextmanager
    def block(self, trips: int = 1) -> Iterator[list[tree.Statement]]:
        """A body with its own scope, which runs so many times more often."""
        self._bodies.append([])
        self._scopes.append([])
        self.trips *= trips
        yield self._bodies[-1]
        self.trips //= trips
        self._scopes.pop()
        self._bodies.pop()

    def store(self, item: tree.Parameter, value: tree.Expression) -> None:
        """Write this thread's element."""
        self.emit(tree.Store(item.name, self.indices, value))

    def loop_name(self, bound: float) -> tree.Name:
        """The variable of a loop."""
        name = tree.Name(INT, bound, self.fresh(_LOOPS))
        self.declare(name)
        return name

    def program(self, name: str, category: str, *, tiled: bool = False) -> tree.Program:
        """The finished kernel, without parameters nobody uses."""
        return tree.Program(
            name,
            category,
            tuple(item for item in self.parameters if item.name in self.used),
            tuple(index.name for index in self.indices),
            self.launch,
            tuple(self._bodies[0]),
            tuple(function for function, _ in self.functions),
            tuple(self.structs),
            tiled,
            tuple(sorted(self.features)),
        )

    # Operations

    def operation(self, weights: dict[str, int]) -> str | None:
        """One of the operations, as likely as its weight says; None where the budget is spent."""
        costs = {name: self._cost(self._lengths.get(name, 1)) for name in weights}
        known = {name: weights[name] for name in weights if costs[name] <= self.budget}
        if not known:
            return None
        chosen = self.stream.weighted(known)
        self.budget -= costs[chosen]
        return chosen

    def callable(self) -> tree.Function | None:
        """One of the functions that the budget has room for."""
        known = [item for item in self.functions if self._cost(item[1]) <= self.budget]
        if not known:
            return None
        function, length = self.stream.choice(known)
        self.budget -= self._cost(length)
        return function

    def _cost(self, length: int) -> int:
        return length * min(self.trips, _ROUNDS)

    # Constants

    def constant(self, low: float = 0.1, high: float = 3.0, sign: bool = True) -> tree.Constant:
        """A real constant with a few digits."""
        value = round(self.stream.uniform(low, high), self.stream.between(1, 3)) or low
        if sign and self.stream.chance(0.25):
            value = -value
        return tree.Constant(self.real_type, abs(value), value)

    def exactly(self, value: float) -> tree.Constant:
        """A real constant of this value."""
        return tree.Constant(self.real_type, abs(value), float(value))

    def whole(self, first: int, last: int, type: Type = INT) -> tree.Constant:
        """An integer constant."""
        value = self.stream.between(first, last)
        return tree.Constant(type, abs(value), value)


def apply(operator: str, type: Type, bound: float, *arguments: tree.Expression) -> tree.Operation:
    """An operation with its type and bound."""
    return tree.Operation(type, bound, operator, arguments)


def whole(value: int, type: Type = INT) -> tree.Constant:
    """An integer constant of this value."""
    return tree.Constant(type, abs(value), value)
