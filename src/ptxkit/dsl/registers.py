"""Registers and variables as Python objects, with operators on registers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.errors import DslError, DslIndexError
from ptxkit.dsl.operands import (
    UNKNOWN_NUMBER,
    Operand,
    addr,
    element,
    inverted,
    offset,
    selected,
)
from ptxkit.isa.actuals import Actual
from ptxkit.isa.reader import INTERNER
from ptxkit.isa.types import SCALAR_TYPES

if TYPE_CHECKING:
    from ptxkit.dsl.builder import Builder

SELECTORS = frozenset("x y z w r g b a b0 b1 b2 b3 h0 h1".split())
MOST_AT_ONCE = 1 << 16


@lru_cache(maxsize=256)
def register_number(type: str, width: int = 1) -> int:
    """The number of a register of a type."""
    if type not in SCALAR_TYPES:
        return UNKNOWN_NUMBER
    return INTERNER.number(Actual("register", type, width=width))


class Register(Operand):
    """A register. Operators make instructions: ``c = a + b`` is an ``add`` into a new one."""

    __slots__ = ("type", "width")

    def __init__(self, text: str, type: str, number: int, owner: object, width: int = 1) -> None:
        self.text = text
        self.type = type
        self.number = number
        self.owner = owner
        self.width = width

    def __getattr__(self, name: str) -> Operand:
        if name in SELECTORS:
            return selected(self, name)
        raise AttributeError(f"a register has no {name!r}")

    def __invert__(self) -> Any:
        if self.type == "pred":
            return inverted(self)
        return _arithmetic().unary("not", self)

    def __neg__(self) -> Any:
        return _arithmetic().unary("neg", self)

    def __abs__(self) -> Any:
        return _arithmetic().unary("abs", self)

    def set(self, value: Any) -> Register:
        """Give the register another value: a ``mov``."""
        _arithmetic().move(self, value)
        return self

    def to(self, type: Any, modifiers: str = "") -> Any:
        """Convert into a new register: ``n.to("f32")``, ``x.to(u32, "rni.sat")``."""
        return _arithmetic().convert(self, str(type), modifiers)

    def element(self, index: Any, size: int, sign: str = "s") -> Any:
        """The address of an element: this plus ``index`` times ``size`` bytes, 64 bits wide."""
        from ptxkit.dsl.instructions import Opcode

        distance = Opcode(f"mul.wide.{sign}32").new(index, size)
        return Opcode("add.s64").new(self, distance)

    def to_global(self) -> Any:
        """A generic address as one of global memory: ``cvta.to.global.u64``."""
        from ptxkit.dsl.instructions import Opcode

        return Opcode("cvta.to.global.u64").new(self)

    # Comparisons give predicates, so equality of Python objects is by identity.
    __hash__ = object.__hash__

    if TYPE_CHECKING:  # set below, all alike

        def __add__(self, other: Any) -> Register: ...
        def __radd__(self, other: Any) -> Register: ...
        def __iadd__(self, other: Any) -> Register: ...
        def __sub__(self, other: Any) -> Register: ...
        def __rsub__(self, other: Any) -> Register: ...
        def __isub__(self, other: Any) -> Register: ...
        def __mul__(self, other: Any) -> Register: ...
        def __rmul__(self, other: Any) -> Register: ...
        def __imul__(self, other: Any) -> Register: ...
        def __truediv__(self, other: Any) -> Register: ...
        def __rtruediv__(self, other: Any) -> Register: ...
        def __itruediv__(self, other: Any) -> Register: ...
        def __floordiv__(self, other: Any) -> Register: ...
        def __rfloordiv__(self, other: Any) -> Register: ...
        def __ifloordiv__(self, other: Any) -> Register: ...
        def __mod__(self, other: Any) -> Register: ...
        def __rmod__(self, other: Any) -> Register: ...
        def __imod__(self, other: Any) -> Register: ...
        def __and__(self, other: Any) -> Register: ...
        def __rand__(self, other: Any) -> Register: ...
        def __iand__(self, other: Any) -> Register: ...
        def __or__(self, other: Any) -> Register: ...
        def __ror__(self, other: Any) -> Register: ...
        def __ior__(self, other: Any) -> Register: ...
        def __xor__(self, other: Any) -> Register: ...
        def __rxor__(self, other: Any) -> Register: ...
        def __ixor__(self, other: Any) -> Register: ...
        def __lshift__(self, other: Any) -> Register: ...
        def __rlshift__(self, other: Any) -> Register: ...
        def __ilshift__(self, other: Any) -> Register: ...
        def __rshift__(self, other: Any) -> Register: ...
        def __rrshift__(self, other: Any) -> Register: ...
        def __irshift__(self, other: Any) -> Register: ...
        def __lt__(self, other: Any) -> Register: ...
        def __le__(self, other: Any) -> Register: ...
        def __gt__(self, other: Any) -> Register: ...
        def __ge__(self, other: Any) -> Register: ...
        def __eq__(self, other: Any) -> Register: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Register: ...  # type: ignore[override]


@cache
def _arithmetic() -> Any:
    from ptxkit.dsl import arithmetic

    return arithmetic


def _operator(name: str, swapped: bool) -> Any:
    def method(self: Register, other: Any) -> Any:
        left, right = (other, self) if swapped else (self, other)
        return _arithmetic().binary(name, left, right)

    return method


def _in_place(name: str) -> Any:
    # ``total += x`` changes the register: a loop could not sum otherwise.
    def method(self: Register, other: Any) -> Register:
        _arithmetic().binary(name, self, other, self)
        return self

    return method


for _python, _name in {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv",
    "mod": "rem", "and": "and", "or": "or", "xor": "xor", "lshift": "shl", "rshift": "shr",
}.items():  # fmt: skip
    setattr(Register, f"__{_python}__", _operator(_name, swapped=False))
    setattr(Register, f"__r{_python}__", _operator(_name, swapped=True))
    setattr(Register, f"__i{_python}__", _in_place(_name))
for _python in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Register, f"__{_python}__", _operator(_python, swapped=False))


_item = list.__getitem__  # half the time of super()


class RegisterRange(list[Register]):
    """The registers of a range such as ``%r<28>``: ``r[5]`` is ``%r5``, slices are lists."""

    __slots__ = ("prefix",)

    def __init__(self, prefix: str, count: int, type: str, owner: object, width: int) -> None:
        number = register_number(type, width)
        self.prefix = prefix
        super().__init__(
            [Register(f"{prefix}{index}", type, number, owner, width) for index in range(count)]
        )

    def __getitem__(self, index: Any) -> Any:
        try:
            return _item(self, index)
        except IndexError:
            raise _no_register(self.prefix, len(self), index) from None

    def __setitem__(self, index: Any, value: Any) -> None:
        """``r[3] = r[1] + 4``, where the new register is ``r[3]``: says which one it is."""
        _check_same(self[index], value)


def _no_register(prefix: str, count: int, index: int) -> DslIndexError:
    hint = f"they are counted from 0 to {count - 1}" if count else "it is empty"
    return DslIndexError(f"'{prefix}<{count}>' has no register {index}", hint)


def _check_same(place: Any, value: Any) -> None:
    if value is not place:
        raise DslError(
            f"'{getattr(place, 'text', place)}' is a register of its own, not a place for another",
            "give the result a name: 'x = a + b', or copy it into the register: 'r[3].set(x)'",
        )


class LongRegisterRange(Sequence[Register]):
    """A range too long to make all its registers at once."""

    __slots__ = ("_count", "_first", "_made", "_values", "prefix")

    def __init__(
        self, prefix: str, count: int, type: str, owner: object, width: int, first: int = 0
    ) -> None:
        number = register_number(type, width)
        self.prefix = prefix
        self._count = count
        self._first = first
        self._made: dict[int, Register] = {}
        self._values = (type, number, owner, width)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise _no_register(self.prefix, self._count, index)
        index %= self._count
        if index not in self._made:
            self._made[index] = Register(f"{self.prefix}{self._first + index}", *self._values)
        return self._made[index]

    def __setitem__(self, index: int, value: Any) -> None:
        """The same as for shorter ranges."""
        _check_same(self[index], value)


def register_range(
    prefix: str, count: int, type: str, owner: object, width: int
) -> RegisterRange | LongRegisterRange:
    """The registers of a range."""
    if count <= MOST_AT_ONCE:
        return RegisterRange(prefix, count, type, owner, width)
    return LongRegisterRange(prefix, count, type, owner, width)


class Variable(Operand):
    """A variable or a parameter. ``table + 8`` and ``table[3]`` are operands."""

    __slots__ = ("space", "type")

    def __init__(
        self, text: str, type: str, space: str, owner: Builder | None, role: str = ""
    ) -> None:
        known = type in SCALAR_TYPES
        actual = Actual("symbol", type, space=space, role=role)
        super().__init__(text, INTERNER.number(actual) if known else UNKNOWN_NUMBER, owner)
        self.type = type
        self.space = space

    def __add__(self, by: Any) -> Operand:
        return offset(self, by)

    def __getitem__(self, index: Any) -> Operand:
        return element(self, index)

    def load(
        self, type: str = "", offset: Any = None, *, to: int | None = None, next: int | None = None
    ) -> Any:
        """What it holds, in a new register: ``ld.param.u32`` for ``n: param.u32``."""
        from ptxkit.dsl.instructions import Opcode

        return Opcode(f"ld.{self.space}.{type or self.type}").new(
            addr(self, offset), to=to, next=next
        )

    def __iter__(self) -> Any:
        raise DslError(f"'{self.text}' is in the GPU's memory and cannot be iterated over")
