"""From the tree of CUDA C++ to effects over values: what a compiler does first.

Names vanish into the values they stand for, helper functions into their callers, and `if`
without effects into `?:`. What is left is as close to PTX as a tree can be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.types import (
    BOOL,
    INT,
    LONG_LONG,
    UINT,
    VECTOR_FIELDS,
    VECTORS,
    VOID,
    Scalar,
    Type,
    common,
    promoted,
)
from ptxkit.decompiler.neural.operators import OPERATORS
from ptxkit.decompiler.neural.program import Effect
from ptxkit.decompiler.neural.simplify import Simplifier
from ptxkit.decompiler.neural.unsupported import UnsupportedError
from ptxkit.decompiler.neural.values import Value, is_literal

_SPECIAL = ("threadIdx", "blockIdx", "blockDim", "gridDim")


def value_type(type: Type) -> str:
    """The type of values of a C++ type: narrow integers are promoted.

    >>> from ptxkit.cuda.types import SCALARS
    >>> value_type(SCALARS["ushort"]), value_type(SCALARS["ulonglong"])
    ('i32', 'i64')
    """
    if not isinstance(type, Scalar) or type.word in ("void", "bfloat16"):
        raise UnsupportedError(f"values of type {type.spelling}")
    if type.kind == "bool":
        return "b"
    if type.is_float:
        return f"f{type.bits}"
    return "i64" if type.bits == 64 else "i32"


def element_type(type: Type) -> str:
    """The word of what an array holds."""
    if not isinstance(type, Scalar) or type.kind in ("bool", "void") or type.word == "bfloat16":
        raise UnsupportedError(f"arrays of {type.spelling}")
    if type.is_float:
        return f"f{type.bits}"
    if type.bits >= 32:
        return f"i{type.bits}"
    return ("s" if type.signed else "u") + str(type.bits)


def _sign(type: Scalar) -> str:
    """The word of an integer type where its sign matters."""
    wide = promoted(type)
    return ("s" if wide.signed else "u") + str(wide.bits)


@dataclass(slots=True)
class Typed:
    value: Value
    type: Scalar


@dataclass(slots=True)
class Place:
    """A variable: its type, what it holds, and its name where loops change it."""

    type: Scalar
    value: Value | None
    name: str = ""
    version: int = 0
    dirty: bool = False


@dataclass(slots=True)
class Storage:
    """An array: its symbol, element and how often it has changed."""

    symbol: Value
    type: Scalar
    shared: bool = False
    restrict: bool = False
    written: bool = False
    version: int = 0
    lanes: int = 1
    """Numbers in each element of an array of vectors."""
    row: int = 0
    """Elements in a row of an array with two dimensions."""

    @property
    def state(self) -> tuple[str, int]:
        """What it holds now."""
        return f"[{self.symbol.payload}]", self.version


class Expressions(ABC):
    """The expressions of one function; statements are in `statements.py`."""

    def __init__(self, functions: dict[str, n.Function]) -> None:
        self.make = Simplifier()
        self.functions = functions
        self.places: dict[str, Place] = {}
        self.arrays: dict[str, Storage] = {}
        self.vectors: dict[str, list[Typed]] = {}
        self.block: list[Effect] = []
        self.counter = 0
        self.depth = 0
        self.result: Place | None = None
        self.result_type: Scalar = VOID

    # ---- types ---------------------------------------------------------------------------

    def convert(self, typed: Typed, to: Scalar) -> Value:
        """A value as another type, by the rules of C++."""
        source, value = typed.type, typed.value
        if source == to:
            return value
        m = self.make.make
        if to.kind == "bool":
            if source.kind == "bool":
                return value
            zero = self.make.literal(0, value.type)
            return m(f"!=.{value.type}", value, zero)
        if source.kind == "bool":
            one, zero = (self.make.literal(k, value_type(to)) for k in (1, 0))
            return m(f"?.{one.type}", value, one, zero)
        if source.is_float and to.is_float:
            return value if source.bits == to.bits else m(f"cast.f{to.bits}.f{source.bits}", value)
        if source.is_float:
            if to.bits >= 32:
                return m(f"cast.{'s' if to.signed else 'u'}{to.bits}.f{source.bits}", value)
            return self.narrow(m(f"cast.s32.f{source.bits}", value), to)
        if to.is_float:
            return m(f"cast.f{to.bits}.{_sign(source)}", value)
        if to.bits == 64:
            if value.type == "i64":
                return value
            return m("sext" if promoted(source).signed else "zext", value)
        if value.type == "i64":
            value = m("low32", value)
        return value if to.bits == 32 else self.narrow(value, to)

    def narrow(self, value: Value, to: Scalar) -> Value:
        """An integer cut to 8 or 16 bits and widened again."""
        return self.make.make(f"ext.{'s' if to.signed else 'u'}{to.bits}", value)

    # ---- expressions ---------------------------------------------------------------------

    def expression(self, node: n.Expression) -> Typed:
        """The value of an expression."""
        return _EXPRESSIONS[type(node)](self, node)

    def truth(self, node: n.Expression) -> Value:
        """An expression as a condition."""
        return self.convert(self.expression(node), BOOL)

    def literal(self, node: n.Literal) -> Typed:
        """A number."""
        if node.bits is not None:
            raise UnsupportedError("a number given by its bits")
        return Typed(self.make.literal(node.value, value_type(node.type)), node.type)

    def name(self, node: n.Name) -> Typed:
        """What a variable holds."""
        if node.name == "warpSize":
            return Typed(self.make.literal(32, "i32"), INT)
        place = self.places.get(node.name)
        if place is None or place.value is None:
            raise UnsupportedError(f"the name '{node.name}' as a value")
        return Typed(place.value, place.type)

    def member(self, node: n.Member) -> Typed:
        """An index of a thread or block."""
        if isinstance(node.base, n.Name) and node.base.name in _SPECIAL:
            return Typed(self.make.graph.special(f"{node.base.name}.{node.field}"), UINT)
        if node.field not in VECTOR_FIELDS:
            raise UnsupportedError("members of structures")
        parts = self.vector(node.base)
        return parts[VECTOR_FIELDS.index(node.field)]

    def vector(self, node: n.Expression) -> list[Typed]:
        """The numbers of a vector."""
        if isinstance(node, n.Name) and node.name in self.vectors:
            return self.vectors[node.name]
        if isinstance(node, n.Call) and node.function.startswith("make_"):
            type = VECTORS.get(node.function[5:])
            if type is not None and len(node.arguments) == type.count:
                values = [self.convert(self.expression(a), type.element) for a in node.arguments]
                return [Typed(value, type.element) for value in values]
        if isinstance(node, n.Index):
            storage = self.storage(node.base)
            if storage.lanes > 1:
                places = self.lanes(storage, node.index)
                return [self.loaded(storage, place) for place in places]
        raise UnsupportedError("vectors other than variables and elements of arrays")

    def lanes(self, storage: Storage, index: n.Expression) -> list[Value]:
        """Where the numbers of a vector lie, in an array seen as one of numbers."""
        place = self.place_in(index)
        m, t = self.make.make, place.type
        scaled = m(f"*.{t}", place, self.make.literal(storage.lanes, t))
        return [m(f"+.{t}", scaled, self.make.literal(k, t)) for k in range(storage.lanes)]

    def unary(self, node: n.Unary) -> Typed:
        """`-x`, `~x`, `!x`."""
        if node.operator == "!":
            return Typed(self.make.make("!", self.truth(node.operand)), BOOL)
        operand = self.expression(node.operand)
        if node.operator not in ("-", "~"):
            raise UnsupportedError(f"the operator '{node.operator}'")
        wide = promoted(operand.type)
        value = self.convert(operand, wide)
        head = "neg" if node.operator == "-" else "~"
        return Typed(self.make.make(f"{head}.{value.type}", value), wide)

    def binary(self, node: n.Binary) -> Typed:
        """Arithmetic, comparison, logic."""
        if node.operator in ("&&", "||"):
            pair = self.truth(node.left), self.truth(node.right)
            return Typed(self.make.make(node.operator, *pair), BOOL)
        left, right = self.expression(node.left), self.expression(node.right)
        return self.combine(node.operator, left, right)

    def combine(self, operator: str, left: Typed, right: Typed) -> Typed:
        """The value of an operator on two values."""
        m = self.make.make
        if operator in ("<<", ">>"):
            wide = promoted(left.type)
            value = self.convert(left, wide)
            count = self.convert(right, INT)
            word = value.type if operator == "<<" else _sign(wide)
            return Typed(m(f"{operator}.{word}", value, count), wide)
        shared = common(left.type, right.type)
        a, b = self.convert(left, shared), self.convert(right, shared)
        if operator in ("<", "<=", ">", ">="):
            word = a.type if shared.is_float else _sign(shared)
            return Typed(m(f"{operator}.{word}", a, b), BOOL)
        if operator in ("==", "!="):
            return Typed(m(f"{operator}.{a.type}", a, b), BOOL)
        word = _sign(shared) if operator in ("/", "%") and shared.is_integer else a.type
        if f"{operator}.{word}" not in OPERATORS:
            raise UnsupportedError(f"'{operator}' of {shared.spelling}")
        return Typed(m(f"{operator}.{word}", a, b), shared)

    def conditional(self, node: n.Conditional) -> Typed:
        """`c ? a : b`."""
        condition = self.truth(node.condition)
        then, otherwise = self.expression(node.then), self.expression(node.otherwise)
        type = then.type if then.type == otherwise.type else common(then.type, otherwise.type)
        a, b = self.convert(then, type), self.convert(otherwise, type)
        return Typed(self.choose(condition, a, b), type)

    def choose(self, condition: Value, a: Value, b: Value) -> Value:
        """One of two values; of truths by logic."""
        m = self.make.make
        if a.type != "b":
            return m(f"?.{a.type}", condition, a, b)
        return m("||", m("&&", condition, a), m("&&", m("!", condition), b))

    def cast(self, node: n.Cast) -> Typed:
        """`(type)x`."""
        if not isinstance(node.type, Scalar):
            raise UnsupportedError(f"a conversion to {node.type.spelling}")
        value = self.convert(self.expression(node.operand), node.type)
        return Typed(value, node.type)

    def index(self, node: n.Index) -> Typed:
        """An element that is read."""
        return self.loaded(*self.element(node))

    def element(self, node: n.Index) -> tuple[Storage, Value]:
        """An array and a place in it; arrays with two dimensions are seen as one row."""
        if isinstance(node.base, n.Index):
            storage = self.storage(node.base.base)
            if not storage.row:
                raise UnsupportedError("an array of arrays that is not shared memory")
            first, second = self.place_in(node.base.index), self.place_in(node.index)
            if first.type != "i32" or second.type != "i32":
                raise UnsupportedError("wide indices into an array with two dimensions")
            row = self.make.make("*.i32", first, self.make.literal(storage.row, "i32"))
            return storage, self.make.make("+.i32", row, second)
        storage = self.storage(node.base)
        if storage.lanes > 1 or storage.row:
            raise UnsupportedError("a vector or row as a value")
        return storage, self.place_in(node.index)

    def loaded(self, storage: Storage, place: Value) -> Typed:
        """What an array holds at a place."""
        element = element_type(storage.type)
        value = self.make.graph.load(element, storage.symbol, place, storage.version)
        return Typed(value, storage.type)

    def storage(self, node: n.Expression) -> Storage:
        """The array that an expression names."""
        if isinstance(node, n.Name) and node.name in self.arrays:
            return self.arrays[node.name]
        raise UnsupportedError("pointers that are not a parameter or an array by name")

    def place_in(self, node: n.Expression) -> Value:
        """An index: 32 bits where it is signed, 64 otherwise."""
        typed = self.expression(node)
        if not typed.type.is_integer:
            raise UnsupportedError("an index that is no integer")
        if typed.type.bits < 64 and promoted(typed.type).signed:
            return self.convert(typed, INT)
        value = self.convert(typed, LONG_LONG)
        # An index that can't be negative is the same with either extension.
        if value.operator == "sext":
            return value.operands[0]
        if value.operator == "zext" and _small(value.operands[0]):
            return value.operands[0]
        return value

    def call(self, node: n.Call) -> Typed:
        """A function: of the library, of warps, or one of this file."""
        name = node.function
        if name in self.functions:
            return self.inlined(self.functions[name], node)
        if name.startswith("__shfl") and len(node.arguments) == 3:
            mask, value, lane = (self.expression(a) for a in node.arguments)
            wide = promoted(value.type)
            moved = self.convert(value, wide)
            operands = [self.convert(mask, INT), moved, self.convert(lane, INT)]
            return Typed(self.make.make(f"{name}.{moved.type}", *operands), wide)
        if name in ("__ballot_sync", "__any_sync", "__all_sync"):
            mask = self.expression(node.arguments[0])
            operands = [self.convert(mask, INT), self.truth(node.arguments[1])]
            result = UINT if name == "__ballot_sync" else BOOL
            found = Typed(self.make.make(name, *operands), result)
            return found if result == UINT else Typed(self.convert(found, INT), INT)
        if name.startswith("__reduce_") and name in OPERATORS:
            mask, value = (self.expression(a) for a in node.arguments)
            operands = [self.convert(mask, INT), self.convert(value, promoted(value.type))]
            if name in ("__reduce_min_sync", "__reduce_max_sync") and not value.type.signed:
                raise UnsupportedError(f"'{name}' of unsigned numbers")
            return Typed(self.make.make(name, *operands), promoted(value.type))
        builtin = BUILTINS.get(name)
        arguments = [self.expression(a) for a in node.arguments]
        if name in ("min", "max", "abs"):
            return self.extreme(name, arguments)
        if builtin is None or name not in OPERATORS or builtin.result is None:
            raise UnsupportedError(f"the function '{name}'")
        if len(arguments) != len(builtin.arguments):
            raise UnsupportedError(f"'{name}' with {len(arguments)} arguments")
        values = [
            self.convert(a, t or a.type) for a, t in zip(arguments, builtin.arguments, strict=True)
        ]
        return Typed(self.make.make(name, *values), builtin.result)

    def extreme(self, name: str, arguments: list[Typed]) -> Typed:
        """`min`, `max` and `abs`, which C++ has for every type."""
        type = promoted(arguments[0].type)
        for other in arguments[1:]:
            type = common(type, other.type)
        values = [self.convert(a, type) for a in arguments]
        if type.is_float:
            suffix = {32: "f", 64: ""}.get(type.bits)
            if suffix is None:
                raise UnsupportedError(f"'{name}' of {type.spelling}")
            return Typed(self.make.make(f"f{name}{suffix}", *values), type)
        word = values[0].type if name == "abs" else _sign(type)
        return Typed(self.make.make(f"{name}.{word}", *values), type)

    def inlined(self, function: n.Function, node: n.Call) -> Typed:
        """A device function as the value it returns."""
        if function.body is None or "__noinline__" in function.qualifiers or self.depth > 8:
            raise UnsupportedError("a call of a function that is not inlined")
        if not isinstance(function.returns, Scalar) or function.returns == VOID:
            raise UnsupportedError("device functions that return nothing")
        inner: dict[str, Place] = {}
        for parameter, argument in zip(function.parameters, node.arguments, strict=True):
            if not isinstance(parameter.type, Scalar):
                raise UnsupportedError("device functions over arrays")
            typed = self.expression(argument)
            inner[parameter.name] = Place(parameter.type, self.convert(typed, parameter.type))
        saved = self.places, self.result, self.result_type, self.block
        self.places, self.result_type = inner, function.returns
        self.block, self.depth = [], self.depth + 1
        value = self.returned(function.body)
        if self.block:
            raise UnsupportedError("device functions with effects")
        self.places, self.result, self.result_type, self.block = saved
        self.depth -= 1
        return Typed(value, function.returns)

    @abstractmethod
    def statement(self, node: n.Statement) -> None:
        """Carry out a statement."""

    def returned(self, body: tuple[n.Statement, ...]) -> Value:
        """What a body without effects returns."""
        for number, statement in enumerate(body):
            if isinstance(statement, n.Return) and statement.value is not None:
                return self.convert(self.expression(statement.value), self.result_type)
            if isinstance(statement, n.If) and _returns(statement):
                rest = body[number + 1 :]
                condition = self.truth(statement.condition)
                kept = {k: _copy(p) for k, p in self.places.items()}
                then = self.returned((*statement.then, *rest))
                self.places = kept
                return self.choose(condition, then, self.returned((*statement.otherwise, *rest)))
            self.statement(statement)
        raise UnsupportedError("a function that may end without a result")


def _copy(place: Place) -> Place:
    return Place(place.type, place.value, place.name, place.version, place.dirty)


def _returns(statement: n.If) -> bool:
    return any(isinstance(x, n.Return) for x in statement.walk())


def _small(value: Value) -> bool:
    """Whether a 32-bit value has its sign bit clear whatever happens."""
    if is_literal(value):
        return int(value.payload or 0) >= 0
    return value.operator == "special"


_EXPRESSIONS: dict[type, Callable[[Expressions, Any], Typed]] = {
    n.Literal: Expressions.literal, n.Name: Expressions.name, n.Member: Expressions.member,
    n.Unary: Expressions.unary, n.Binary: Expressions.binary,
    n.Conditional: Expressions.conditional, n.Cast: Expressions.cast,
    n.Index: Expressions.index, n.Call: Expressions.call,
}  # fmt: skip
