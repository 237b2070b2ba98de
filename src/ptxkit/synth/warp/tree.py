"""Generated kernels as trees: what the grammar makes, the printer writes, numpy evaluates."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.synth.warp.types import Type


@dataclass(frozen=True, slots=True)
class Expression:
    """A value. ``bound`` is an upper limit of its magnitude, so that nothing overflows."""

    type: Type
    bound: float


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A number."""

    value: float | int


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable, a scalar parameter, or a field as ``p.gain``."""

    name: str


@dataclass(frozen=True, slots=True)
class Load(Expression):
    """An element of an array."""

    array: str
    index: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Extent(Expression):
    """``array.shape[dimension]``."""

    array: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """An operator or builtin of the table in `operations`."""

    operator: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A call of a function of the program."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class TileLoad(Expression):
    """A piece of an array, held by the block."""

    array: str
    offset: Expression
    storage: str


@dataclass(frozen=True, slots=True)
class Statement:
    """Something that is done."""


Body = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """``name = value``, or ``name += value`` with an operator."""

    name: str
    value: Expression
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Store(Statement):
    """``array[index] = value``."""

    array: str
    index: tuple[Expression, ...]
    value: Expression


@dataclass(frozen=True, slots=True)
class Atomic(Statement):
    """``wp.atomic_add(array, index, value)`` and its like."""

    operator: str
    array: str
    index: tuple[Expression, ...]
    value: Expression


@dataclass(frozen=True, slots=True)
class If(Statement):
    """A choice; an ``If`` alone in ``otherwise`` is written ``elif``."""

    test: Expression
    body: Body
    otherwise: Body = ()


@dataclass(frozen=True, slots=True)
class For(Statement):
    """A loop over a range."""

    name: str
    start: Expression
    stop: Expression
    step: int
    body: Body


@dataclass(frozen=True, slots=True)
class While(Statement):
    """A loop while a test holds."""

    test: Expression
    body: Body


@dataclass(frozen=True, slots=True)
class Break(Statement):
    """Leave the loop."""


@dataclass(frozen=True, slots=True)
class Continue(Statement):
    """Go on with the next iteration."""


@dataclass(frozen=True, slots=True)
class Return(Statement):
    """The result of a function."""

    value: Expression


@dataclass(frozen=True, slots=True)
class Draw(Statement):
    """``name = wp.randf(state)``: the state moves on."""

    name: str
    operator: str
    state: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class NewStruct(Statement):
    """``name = Struct()``: all fields are zero."""

    name: str
    struct: str


@dataclass(frozen=True, slots=True)
class TileStore(Statement):
    """Write a tile to an array, or add it there atomically."""

    array: str
    value: Expression
    offset: Expression
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a kernel: an array where ``shape`` is given, else a number or struct.

    ``role`` says what is put there before a launch: ``"input"`` random values between the
    limits, ``"output"`` zeros, ``"permutation"`` every index once.
    """

    name: str
    type: Type
    shape: tuple[int, ...] = ()
    role: str = "input"
    low: float = -1.0
    high: float = 1.0
    struct: str = ""

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return bool(self.shape)


@dataclass(frozen=True, slots=True)
class Struct:
    """A struct type with its fields."""

    name: str
    fields: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A ``wp.func``."""

    name: str
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    body: Body


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel with what it needs, and the launch it is verified with."""

    name: str
    category: str
    parameters: tuple[Parameter, ...]
    indices: tuple[str, ...]
    """The names that ``wp.tid()`` is given to."""
    launch: tuple[int, ...]
    """The size of the launch in every dimension."""
    body: Body
    functions: tuple[Function, ...] = ()
    structs: tuple[Struct, ...] = ()
    tiled: bool = False
    """Launched with `wp.launch_tiled`: the launch counts blocks."""
    features: tuple[str, ...] = field(default=())
    """What is in it beyond its category, for the row's metadata."""
