"""The value of an expression for all threads at once; see :mod:`ptxkit.cuda.evaluator`."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ptxkit.cuda import nodes as n
from ptxkit.cuda.arithmetic import COMPARISONS, convert, dtype_of, operate, round_to_bfloat16
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.literals import value_of_bits
from ptxkit.cuda.storage import (
    EvaluationError,
    PointerValue,
    Scope,
    Value,
    cast_pointer,
    load,
    spread,
    store,
)
from ptxkit.cuda.types import (
    BFLOAT16,
    BOOL,
    INT,
    LONG_LONG,
    UINT,
    VECTOR_FIELDS,
    VECTORS,
    VOID,
    Pointer,
    Scalar,
    Type,
    Vector,
    common,
    promoted,
)

Array = Any
_SPECIAL = ("threadIdx", "blockIdx", "blockDim", "gridDim")


@lru_cache(maxsize=16)
def _special(grid: tuple[int, int, int], block: tuple[int, int, int]) -> dict[tuple[str, str], Any]:
    """What is the same in all launches of a shape; nobody writes to these arrays."""
    size = math.prod(block)
    count = size * math.prod(grid)
    threads = np.arange(count, dtype=np.int64)
    blocks, local = threads // size, threads % size
    found = {("thread", ""): threads, ("block", ""): blocks, ("local", ""): local}
    for name, index, (x, y, _) in (("threadIdx", local, block), ("blockIdx", blocks, grid)):
        parts = (index % x, index // x % y, index // x // y)
        for field, part in zip("xyz", parts, strict=True):
            found[name, field] = part.astype(np.uint32)
    for name, shape in (("blockDim", block), ("gridDim", grid)):
        for field, extent in zip("xyz", shape, strict=True):
            found[name, field] = np.full(count, extent, np.uint32)
    for array in found.values():
        array.flags.writeable = False
    return found


class Expressions(ABC):
    """Evaluates expressions; statements are in the class built on this one."""

    functions: dict[str, n.Function]

    def __init__(
        self, grid: tuple[int, int, int], block: tuple[int, int, int], *, wide: bool
    ) -> None:
        self.wide = wide
        self.scope = Scope()
        self.returns: Type = VOID
        self.depth = 0
        size = block[0] * block[1] * block[2]
        self.block_size = size
        self.count = size * grid[0] * grid[1] * grid[2]
        self.special = _special(grid, block)
        self.threads, self.blocks, self.local = (
            self.special[name, ""] for name in ("thread", "block", "local")
        )
        # With their nodes, so that no other node gets the same id.
        self._literals: dict[int, tuple[n.Literal, Value]] = {}

    # ---- values --------------------------------------------------------------------------

    def zero(self, type: Scalar | Vector) -> Value:
        """A value of zeros."""
        if isinstance(type, Vector):
            element = dtype_of(type.element, wide=self.wide)
            return Value([np.zeros(self.count, element) for _ in range(type.count)], type)
        return Value(np.zeros(self.count, dtype_of(type, wide=self.wide)), type)

    def nothing(self) -> Value:
        """What a call without a result gives."""
        return Value(np.zeros(self.count, np.int32), INT)

    def scalar(self, value: Value | PointerValue) -> Value:
        """A value that must be a number."""
        if isinstance(value, Value) and isinstance(value.type, Scalar):
            return value
        raise EvaluationError("a number is needed where a pointer or a vector stands")

    def converted(self, value: Value | PointerValue, type: Type) -> Value | PointerValue:
        """A value brought to a type, as an assignment does it."""
        if isinstance(value, PointerValue):
            if not isinstance(type, Pointer):
                raise EvaluationError(f"a pointer cannot become '{type.spelling}'")
            if value.shape:
                value = PointerValue(value.buffer, value.offset, value.target, value.shape[1:])
            same = value.target == type.target
            return value if same else cast_pointer(value, type)
        if isinstance(type, Vector) and value.type == type:
            return value
        number = self.scalar(value)
        assert isinstance(number.type, Scalar)
        if not isinstance(type, Scalar):
            raise EvaluationError(f"a number cannot become '{type.spelling}'")
        return Value(convert(number.data, number.type, type, wide=self.wide), type)

    def merged(
        self, old: Value | PointerValue | None, new: Value | PointerValue, mask: Array
    ) -> Value | PointerValue:
        """New for the active threads, old for the others."""
        if old is None or mask.all():
            return new
        if isinstance(old, PointerValue) and isinstance(new, PointerValue):
            if old.buffer is not new.buffer:
                raise EvaluationError("threads of one pointer variable point into two arrays")
            offset = np.where(mask, new.offset, old.offset)
            return PointerValue(new.buffer, offset, new.target, new.shape)
        assert isinstance(old, Value)
        assert isinstance(new, Value)
        if isinstance(new.data, list):
            parts = [np.where(mask, a, b) for a, b in zip(new.data, old.data, strict=True)]
            return Value(parts, new.type)
        return Value(np.where(mask, new.data, old.data), new.type)

    # ---- expressions ---------------------------------------------------------------------

    def evaluate(
        self, node: n.Expression, mask: Array, *, unused: bool = False
    ) -> Value | PointerValue:
        """The value of an expression for the active threads; others hold anything."""
        if isinstance(node, n.Call):
            return self.call(node, mask, unused=unused)
        return _EXPRESSIONS[type(node)](self, node, mask)

    def truth(self, node: n.Expression, mask: Array) -> Array:
        """Where an expression is not zero."""
        found = self.scalar(self.evaluate(node, mask))
        return spread(found.data if found.type is BOOL else found.data != 0, mask)

    def _literal(self, node: n.Literal, mask: Array) -> Value:
        known = self._literals.get(id(node))
        if known is not None:
            return known[1]
        value = node.value if node.bits is None else value_of_bits(node.bits, node.type)
        data = np.full(self.count, value, dtype_of(node.type, wide=self.wide))
        if node.type == BFLOAT16 and not self.wide:
            data = round_to_bfloat16(data)
        found = Value(data, node.type)
        self._literals[id(node)] = node, found
        return found

    def _name(self, node: n.Name, mask: Array) -> Value | PointerValue:
        if node.name == "warpSize":
            return Value(np.full(self.count, 32, np.int32), INT)
        variable = self.scope.find(node.name)
        if variable is None or variable.value is None:
            raise EvaluationError(f"'{node.name}' is not known here or has no value")
        return variable.value

    def _unary(self, node: n.Unary, mask: Array) -> Value | PointerValue:
        if node.operator == "&":
            return self.address(node.operand, mask)
        operand = self.evaluate(node.operand, mask)
        if node.operator == "*":
            if not isinstance(operand, PointerValue):
                raise EvaluationError("'*' needs a pointer")
            return self._element(operand.first() if operand.shape else operand, mask)
        number = self.scalar(operand)
        assert isinstance(number.type, Scalar)
        if node.operator == "!":
            return Value(number.data == 0, BOOL)
        type = promoted(number.type)
        data = convert(number.data, number.type, type, wide=self.wide)
        return Value(-data if node.operator == "-" else ~data, type)

    def _binary(self, node: n.Binary, mask: Array) -> Value | PointerValue:
        if node.operator in ("&&", "||"):
            left = self.truth(node.left, mask)
            right = self.truth(node.right, mask & (left if node.operator == "&&" else ~left))
            return Value(left & right if node.operator == "&&" else left | right, BOOL)
        left_value = self.evaluate(node.left, mask)
        right_value = self.evaluate(node.right, mask)
        if node.operator == ",":
            return right_value
        return self.binary(node.operator, left_value, right_value)

    def binary(
        self, operator: str, left: Value | PointerValue, right: Value | PointerValue
    ) -> Value | PointerValue:
        """An operator on two values, with C++'s conversions."""
        if isinstance(left, PointerValue) and isinstance(right, PointerValue):
            if left.buffer is not right.buffer:
                raise EvaluationError("two pointers into different arrays cannot be combined")
            if operator == "-":
                return Value((left.offset - right.offset) // left.stride, LONG_LONG)
            return Value(operate(operator, left.offset, right.offset, LONG_LONG, wide=False), BOOL)
        if isinstance(right, PointerValue):
            left, right = right, left
        if isinstance(left, PointerValue):
            if operator not in ("+", "-"):
                raise EvaluationError(f"'{operator}' is not for pointers")
            index = self.scalar(right).data.astype(np.int64)
            moved = left.moved(-index if operator == "-" else index)
            # An array becomes a pointer to its first element.
            shape = (0, *left.shape[1:]) if left.shape else ()
            return PointerValue(moved.buffer, moved.offset, left.target, shape)
        a, b = self.scalar(left), self.scalar(right)
        assert isinstance(a.type, Scalar)
        assert isinstance(b.type, Scalar)
        if operator in ("<<", ">>"):
            # The count keeps its own type: the result has the promoted type of the left.
            type = promoted(a.type)
            data = operate(operator, convert(a.data, a.type, type), b.data, type, wide=self.wide)
            return Value(data, type)
        type = common(a.type, b.type)
        data = operate(
            operator,
            convert(a.data, a.type, type, wide=self.wide),
            convert(b.data, b.type, type, wide=self.wide),
            type,
            wide=self.wide,
        )
        return Value(data, BOOL if operator in COMPARISONS else type)

    def _conditional(self, node: n.Conditional, mask: Array) -> Value | PointerValue:
        condition = self.truth(node.condition, mask)
        then = self.evaluate(node.then, mask & condition)
        otherwise = self.evaluate(node.otherwise, mask & ~condition)
        if isinstance(then, Value) and isinstance(otherwise, Value) and then.type != otherwise.type:
            a, b = self.scalar(then).type, self.scalar(otherwise).type
            assert isinstance(a, Scalar)
            assert isinstance(b, Scalar)
            type = common(a, b)
            then, otherwise = self.converted(then, type), self.converted(otherwise, type)
        return self.merged(otherwise, then, condition)

    def _cast(self, node: n.Cast, mask: Array) -> Value | PointerValue:
        return self.converted(self.evaluate(node.operand, mask), node.type)

    def _index(self, node: n.Index, mask: Array) -> Value | PointerValue:
        return self._element(self._at(node, mask), mask)

    def _at(self, node: n.Index, mask: Array) -> PointerValue:
        base = self.evaluate(node.base, mask)
        if not isinstance(base, PointerValue):
            raise EvaluationError("only arrays and pointers can be indexed")
        index = self.scalar(self.evaluate(node.index, mask)).data
        moved = base.moved(np.asarray(index))
        return moved.first() if moved.shape else moved

    def _element(self, pointer: PointerValue, mask: Array) -> Value | PointerValue:
        # What is still an array stays a place; anything else is read.
        return pointer if pointer.shape else load(pointer, mask)

    def _member(self, node: n.Member, mask: Array) -> Value | PointerValue:
        name = node.base.name if isinstance(node.base, n.Name) else ""
        if name in _SPECIAL and self.scope.find(name) is None:
            return Value(self.special[name, node.field], UINT)
        base = self.evaluate(node.base, mask)
        if isinstance(base, Value) and isinstance(base.type, Vector):
            return Value(base.data[VECTOR_FIELDS.index(node.field)], base.type.element)
        raise EvaluationError(f"nothing here has a field '{node.field}'")

    # ---- places --------------------------------------------------------------------------

    def address(self, node: n.Expression, mask: Array) -> PointerValue:
        """Where an expression's value lies."""
        if isinstance(node, n.Index):
            return self._at(node, mask)
        if isinstance(node, n.Unary) and node.operator == "*":
            value = self.evaluate(node.operand, mask)
            if isinstance(value, PointerValue):
                return value.first() if value.shape else value
        if isinstance(node, n.Name):
            value = self._name(node, mask)
            if isinstance(value, PointerValue) and value.shape:
                return value
        raise EvaluationError("the address of this expression cannot be taken")

    def assign(self, target: n.Expression, value: Value | PointerValue, mask: Array) -> None:
        """Store a value where an expression says, for the active threads."""
        if isinstance(target, n.Name):
            variable = self.scope.find(target.name)
            if variable is None:
                raise EvaluationError(f"'{target.name}' is not known here")
            new = self.converted(value, variable.type)
            variable.value = self.merged(variable.value, new, mask)
        elif isinstance(target, n.Member):
            self._assign_field(target, value, mask)
        else:
            pointer = self.address(target, mask)
            if not isinstance(pointer.target, Scalar | Vector):
                raise EvaluationError("this cannot be assigned to")
            converted = self.converted(value, pointer.target)
            assert isinstance(converted, Value)
            store(pointer, converted.data, mask)

    def _assign_field(self, target: n.Member, value: Value | PointerValue, mask: Array) -> None:
        base = self.evaluate(target.base, mask)
        if not isinstance(base, Value) or not isinstance(base.type, Vector):
            raise EvaluationError(f"nothing here has a field '{target.field}'")
        number = self.converted(value, base.type.element)
        assert isinstance(number, Value)
        parts = list(base.data)
        index = VECTOR_FIELDS.index(target.field)
        parts[index] = np.where(mask, number.data, parts[index])
        self.assign(target.base, Value(parts, base.type), mask)

    # ---- calls ---------------------------------------------------------------------------

    def call(self, node: n.Call, mask: Array, *, unused: bool) -> Value | PointerValue:
        """A built-in function, one of the warp's or memory's, or the module's own."""
        from ptxkit.cuda.cooperation import COOPERATION

        arguments = [self.evaluate(a, mask) for a in node.arguments]
        function = self.functions.get(node.function)
        if function is not None:
            return self.call_function(function, arguments, mask)
        if node.function in COOPERATION:
            return COOPERATION[node.function](self, arguments, mask, unused)
        if node.function.startswith("make_") and node.function[5:] in VECTORS:
            return self._make_vector(VECTORS[node.function[5:]], arguments)
        builtin = BUILTINS.get(node.function)
        if builtin is None:
            raise EvaluationError(f"the evaluator does not know the function '{node.function}'")
        if len(builtin.arguments) != len(arguments):
            raise EvaluationError(
                f"'{node.function}' takes {len(builtin.arguments)} arguments, not {len(arguments)}"
            )
        numbers = [self.scalar(a) for a in arguments]
        shared = promoted(numbers[0].type)  # type: ignore[arg-type]
        for number in numbers[1:]:
            shared = common(shared, number.type)  # type: ignore[arg-type]
        data = [
            self.converted(number, wanted or shared)
            for number, wanted in zip(numbers, builtin.arguments, strict=True)
        ]
        result = builtin.compute(*(d.data for d in data))  # type: ignore[union-attr]
        type = builtin.result or shared
        return Value(self._held(result, type), type)

    def _held(self, data: Array, type: Scalar) -> Array:
        held = data.astype(dtype_of(type, wide=self.wide))
        return round_to_bfloat16(held) if type == BFLOAT16 and not self.wide else held

    def _make_vector(self, type: Vector, arguments: list[Any]) -> Value:
        if len(arguments) != type.count:
            raise EvaluationError(f"'make_{type.word}' takes {type.count} arguments")
        parts = [self.converted(a, type.element) for a in arguments]
        return Value([p.data for p in parts], type)  # type: ignore[union-attr]

    @abstractmethod
    def call_function(
        self, function: n.Function, arguments: list[Any], mask: Array
    ) -> Value | PointerValue:
        """A function of the module; the class with the statements runs it."""


_EXPRESSIONS: dict[type, Callable[..., Value | PointerValue]] = {
    n.Literal: Expressions._literal,
    n.Name: Expressions._name,
    n.Unary: Expressions._unary,
    n.Binary: Expressions._binary,
    n.Conditional: Expressions._conditional,
    n.Cast: Expressions._cast,
    n.Index: Expressions._index,
    n.Member: Expressions._member,
}
