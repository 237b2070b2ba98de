"""The one tree of CUDA C++: the grammar generates it, the lifter and the model produce
it, one printer writes it and one evaluator runs it.

Nodes are immutable and compare by value. Equal programs are equal trees: there is one
way to write each thing (``x += 1`` and ``x++`` are the same node).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ptxkit.cuda.types import FLOAT, INT, Pointer, Scalar, Type

if TYPE_CHECKING:
    from typing_extensions import Self


class Node:
    """A piece of the tree."""

    __slots__ = ()

    def children(self) -> Iterator[Node]:
        """The nodes directly below, in the order of the text."""
        return iter(self._below())

    def _below(self) -> list[Node]:
        kind: type = type(self)
        return _reader(kind)(self)

    def rebuilt(self, change: Callable[[Any], Any], **changes: Any) -> Self:
        """The same node with every child changed, and fields by name."""
        kind: type = type(self)
        for name in branches(kind):
            value = getattr(self, name)
            changes[name] = (
                tuple(_changed(item, change) for item in value)
                if isinstance(value, tuple)
                else value and change(value)
            )
        if not changes:
            return self
        made: Self = kind(*[changes.get(name, getattr(self, name)) for name in _fields(kind)])
        return made

    def walk(self) -> Iterator[Node]:
        """This node and everything below it, parents first."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            kind: type = type(node)
            for name in _branches_backwards(kind):
                value = getattr(node, name)
                if isinstance(value, tuple):
                    below: list[Node] = []
                    _gather(value, below)
                    stack += reversed(below)
                elif value is not None:
                    stack.append(value)

    def names(self) -> set[str]:
        """The names of variables in it, wherever they stand."""
        found: set[str] = set()
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            if type(node) is Name:
                found.add(node.name)
            else:
                stack += node._below()
        return found


# What is written in a field that holds no node.
_LEAVES = frozenset((
    "Type", "Scalar", "bool", "int", "int | None", "int | float | bool", "str", "str | None",
    "tuple[str, ...]", "tuple[int, ...]", "tuple[int, ...] | None",
))  # fmt: skip


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node, in the order in which it is made of them."""
    return tuple(field.name for field in fields(kind))


@cache
def branches(kind: type) -> tuple[str, ...]:
    """The fields that hold nodes."""
    return tuple(field.name for field in fields(kind) if field.type not in _LEAVES)


@cache
def _branches_backwards(kind: type) -> tuple[str, ...]:
    return branches(kind)[::-1]


@cache
def _reader(kind: type) -> Callable[[Node], list[Node]]:
    """What gives the nodes directly below one of a kind."""
    names = branches(kind)
    if not names:
        return lambda node: []
    read: Callable[[Node], Any] = attrgetter(*names)
    types = {field.name: field.type for field in fields(kind)}
    if all(types[name] == "Expression" for name in names):  # one each, as most have
        return (lambda node: [read(node)]) if len(names) == 1 else (lambda node: [*read(node)])

    def gathered(node: Node) -> list[Node]:
        found: list[Node] = []
        for value in (read(node),) if len(names) == 1 else read(node):
            if isinstance(value, tuple):
                _gather(value, found)
            elif value is not None:
                found.append(value)
        return found

    return gathered


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Node):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(item, change) for item in value)
    return value


def _gather(items: tuple[Any, ...], found: list[Node]) -> None:
    for item in items:
        if isinstance(item, Node):
            found.append(item)
        elif isinstance(item, tuple):
            _gather(item, found)


# ---- expressions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A number of a scalar type. Floats that have no decimal form carry their bits."""

    value: int | float | bool
    type: Scalar
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A variable, parameter, or built-in such as ``threadIdx``."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """``-x``, ``~x``, ``!x``, ``*p`` or ``&x``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic, comparison, logic, shifts and the comma."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """``condition ? then : otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """``(type)operand``."""

    type: Type
    operand: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A call of a function by its (possibly qualified) name."""

    function: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Index(Node):
    """``base[index]``."""

    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Member(Node):
    """``base.field``."""

    base: Expression
    field: str


Expression = Literal | Name | Unary | Binary | Conditional | Cast | Call | Index | Member


# ---- statements --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Declare(Node):
    """A variable; ``space`` is where it lives: "", "static", or one of CUDA's.

    Those are "shared", "constant", "device" and "managed", and, for what others define,
    "extern shared", "extern constant" and "extern device".
    """

    type: Type
    name: str
    value: Expression | None = None
    space: str = ""
    const: bool = False
    alignment: int = 0


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """``target = value`` or ``target op= value``; the operator has its ``=``."""

    target: Expression
    value: Expression
    operator: str = "="


@dataclass(frozen=True, slots=True)
class Evaluate(Node):
    """An expression for its effect: a call."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class If(Node):
    """``if`` with an optional ``else``."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class For(Node):
    """``for (start; condition; step)``; each of the three may be missing."""

    start: Statement | None
    condition: Expression | None
    step: Statement | None
    body: tuple[Statement, ...]
    unroll: int | None = None
    """``#pragma unroll n`` in front of it; 0 for one without a number."""


@dataclass(frozen=True, slots=True)
class While(Node):
    """``while (condition)``."""

    condition: Expression
    body: tuple[Statement, ...]
    unroll: int | None = None
    """``#pragma unroll n`` in front of it; 0 for one without a number."""


@dataclass(frozen=True, slots=True)
class DoWhile(Node):
    """``do ... while (condition);``."""

    body: tuple[Statement, ...]
    condition: Expression
    unroll: int | None = None
    """``#pragma unroll n`` in front of it; 0 for one without a number."""


@dataclass(frozen=True, slots=True)
class Case(Node):
    """The values of one case (none: ``default``) and what it does.

    Control does not fall into the next case unless ``falls`` says so.
    """

    values: tuple[int, ...]
    body: tuple[Statement, ...]
    falls: bool = False


@dataclass(frozen=True, slots=True)
class Switch(Node):
    """``switch``."""

    value: Expression
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Break(Node):
    """``break;``."""


@dataclass(frozen=True, slots=True)
class Continue(Node):
    """``continue;``."""


@dataclass(frozen=True, slots=True)
class Return(Node):
    """``return;`` or ``return value;``."""

    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Block(Node):
    """``{ ... }`` on its own."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Goto(Node):
    """``goto label;``."""

    label: str


@dataclass(frozen=True, slots=True)
class Label(Node):
    """``label:``."""

    name: str


@dataclass(frozen=True, slots=True)
class AsmOperand(Node):
    """A constraint such as ``"=r"`` and the C++ it is bound to."""

    constraint: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Asm(Node):
    """An inline assembly statement."""

    text: str
    outputs: tuple[AsmOperand, ...] = ()
    inputs: tuple[AsmOperand, ...] = ()
    clobbers: tuple[str, ...] = ()
    volatile: bool = True


@dataclass(frozen=True, slots=True)
class Comment(Node):
    """A line ``// text``."""

    text: str


Statement = (
    Declare | Assign | Evaluate | If | For | While | DoWhile | Switch | Break | Continue
    | Return | Block | Goto | Label | Asm | Comment
)  # fmt: skip


# ---- functions and modules ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A function's parameter."""

    type: Type
    name: str
    const: bool = False


@dataclass(frozen=True, slots=True)
class Function(Node):
    """A kernel (``kernel=True``) or device function; ``body=None`` only declares it."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...] | None
    returns: Type
    kernel: bool = True
    qualifiers: tuple[str, ...] = ()
    """Such as ``__noinline__`` or ``static``."""
    launch_bounds: tuple[int, ...] = ()
    linkage: str = ""
    """``"C"`` for names that are not mangled."""
    options: tuple[str, ...] = ()
    """What the compiler has to be told for this function alone: noted in the line above it."""


@dataclass(frozen=True, slots=True)
class StructDefinition(Node):
    """``struct name { ... };``."""

    name: str
    fields: tuple[Parameter, ...]
    alignment: int = 0


@dataclass(frozen=True, slots=True)
class CudaModule(Node):
    """A source file."""

    items: tuple[StructDefinition | Declare | Function, ...]
    includes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """What the compiler has to be told, such as ``-ftz=true``: noted in the first line."""

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The kernels, in order."""
        return tuple(i for i in self.items if isinstance(i, Function) and i.kernel)


# ---- short forms -------------------------------------------------------------------------


def integer(value: int, type: Scalar = INT) -> Literal:
    """An integer literal.

    >>> integer(3)
    Literal(value=3, type=Scalar(word='int', spelling='int', kind='int', bits=32, signed=True, rank=3), bits=None)
    """  # noqa: E501
    return Literal(value, type)


def real(value: float, type: Scalar = FLOAT) -> Literal:
    """A floating-point literal."""
    return Literal(float(value), type)


def pointer_parameter(element: Type, name: str, *, const: bool = False) -> Parameter:
    """A parameter ``[const] element *name``."""
    return Parameter(Pointer(element, const=const), name)


def builtin(name: str) -> Member:
    """``threadIdx.x`` and its kin, by their dotted name.

    >>> builtin("blockDim.y")
    Member(base=Name(name='blockDim'), field='y')
    """
    base, _, field = name.partition(".")
    return Member(Name(base), field)
