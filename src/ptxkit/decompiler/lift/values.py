"""Values: what instructions compute, before anything has a C++ type.

A value is bits of a width; operations say how they take them (``lt.s``, ``fadd``), as PTX
does. Equal values are one object, so that comparing and remembering them is cheap. What
reads memory or has an effect carries a number of its own and equals only itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ptxkit.cuda.types import Type


@dataclass(eq=False, slots=True)
class Variable:
    """A variable of the function: a web of a register, a parameter, or one made on the way."""

    number: int
    width: int
    declared: str
    """The PTX type it was declared with; ``""`` for one that has a C++ type already."""
    register: str = ""
    definitions: int = 0
    type: Type | None = None
    """Its C++ type, once chosen."""
    name: str = ""
    alignment: int = 0
    role: str = ""
    """"parameter" for what has a value from the start."""

    def __repr__(self) -> str:
        return self.name or f"v{self.number}"


class Definition:
    """One version of a variable: from an assignment (or a meeting of some) to the next."""

    __slots__ = ("block", "uses", "variable")

    def __init__(self, variable: Variable, block: int) -> None:
        self.variable = variable
        self.block = block
        self.uses = 0


class Value:
    """An operation on values."""

    __slots__ = ("args", "data", "op", "total", "width")

    def __init__(self, op: str, width: int, args: tuple[Value, ...], data: Any) -> None:
        self.op = op
        self.width = width
        self.args = args
        self.data = data
        self.total: Any = None
        """The value as a sum, once somebody asked for it: long addresses share their parts."""

    def __repr__(self) -> str:
        parts = [repr(a) for a in self.args]
        if self.op == "const":
            return f"{self.data}"
        if self.op == "var":
            return repr(self.data.variable)
        data = "" if self.data is None else f"[{self.data}]"
        return f"{self.op}{self.width}{data}({', '.join(parts)})"

    def walk(self) -> Iterator[Value]:
        """This value and all it is made of, with repetitions."""
        stack = [self]
        while stack:
            value = stack.pop()
            yield value
            stack.extend(reversed(value.args))


def parts_of(values: Iterable[Value], seen: set[Value]) -> Iterator[Value]:
    """Values and all they are made of, each once: what ``seen`` holds is left out."""
    for value in values:
        stack = [value]
        while stack:
            one = stack.pop()
            if one not in seen:
                seen.add(one)
                yield one
                stack.extend(reversed(one.args))


@dataclass(slots=True)
class Step:
    """A statement: what it sets, what it takes, and which it is.

    ``kind`` is "set", "store", "effect", "asm", "outputs" (a call with results) or "return".
    """

    kind: str
    targets: list[Definition]
    args: list[Value]
    data: Any = None
    line: int = 0


_TABLE: dict[tuple[Any, ...], Value] = {}


def forget() -> None:
    """Drop the table of values: those of different functions never meet."""
    _TABLE.clear()


@contextmanager
def apart() -> Iterator[None]:
    """Lift other functions in between: the values of this one stay the ones they are."""
    saved = dict(_TABLE)
    try:
        yield
    finally:
        _TABLE.clear()
        _TABLE.update(saved)


def raw(op: str, width: int, args: tuple[Value, ...] = (), data: Any = None) -> Value:
    """The one value with these parts."""
    key = (op, width, args, data)
    found = _TABLE.get(key)
    if found is None:
        found = _TABLE[key] = Value(op, width, args, data)
    return found


def const(value: int, width: int) -> Value:
    """A number, as its bits without a sign."""
    return raw("const", width, (), value & ((1 << width) - 1))


def var(definition: Definition) -> Value:
    """What a variable holds from a definition on."""
    return raw("var", definition.variable.width, (), definition)


def signed(value: Value) -> int:
    """A constant with a sign."""
    bits: int = value.data
    return bits - (1 << value.width) if bits >> (value.width - 1) else bits


#: Operations that must neither be repeated, moved nor dropped.
EFFECTS = frozenset(("atomic", "collective", "function", "printf", "sync"))


def is_effect(value: Value) -> bool:
    """Whether an operation does more than give a value (its arguments apart)."""
    return value.op in EFFECTS


@dataclass(slots=True)
class Facts:
    """What a tree is made of, remembered for each value."""

    size: int
    fragile: frozenset[Definition]
    """Versions of variables that have more than one."""
    loads: frozenset[str]
    """Spaces of the memory that is read and may change."""
    effect: bool


_NOTHING: frozenset[Any] = frozenset()
#: What an address has in it that an element of an array is written without.
_SCALING = 4


@dataclass(slots=True)
class FactTable:
    """Facts about values, computed once."""

    known: dict[Value, Facts] = field(default_factory=dict)

    def of(self, value: Value) -> Facts:
        """The facts about a value."""
        found = self.known.get(value)
        if found is not None:
            return found
        size, fragile, loads, effect = 1, _NOTHING, _NOTHING, value.op in EFFECTS
        for part in value.args:
            facts = self.of(part)
            size += facts.size
            if facts.fragile:
                fragile = fragile | facts.fragile if fragile else facts.fragile
            if facts.loads:
                loads = loads | facts.loads if loads else facts.loads
            effect = effect or facts.effect
        if value.op == "var":
            if value.data.variable.definitions > 1:
                fragile = frozenset((value.data,))
        elif value.op == "load":
            space = value.data.space
            if not value.data.hint:
                size = max(size - _SCALING, 2)
            if value.data.volatile:
                loads |= {"volatile"}
            elif space not in ("const", "param") and not value.data.constant:
                loads |= {space}
        found = Facts(size, fragile, loads, effect)
        self.known[value] = found
        return found


def replaced(value: Value, lookup: Callable[[Value], Value | None]) -> Value:
    """A value with variables replaced, and simplified again where something changed."""
    from ptxkit.decompiler.lift.algebra import make

    return _replaced(value, lookup, make, {})


def _replaced(
    value: Value,
    lookup: Callable[[Value], Value | None],
    make: Callable[..., Value],
    done: dict[Value, Value],
) -> Value:
    if value.op == "var":
        return lookup(value) or value
    if not value.args:
        return value
    made = done.get(value)
    if made is None:
        args = tuple([_replaced(a, lookup, make, done) for a in value.args])
        same = all(a is b for a, b in zip(args, value.args, strict=True))
        made = done[value] = value if same else make(value.op, value.width, *args, data=value.data)
    return made


def whole_vector(values: Sequence[Value]) -> Variable | None:
    """The vector of which these are all the components, in order."""
    if not all(v.op == "component" and v.data == k for k, v in enumerate(values)):
        return None
    found = {v.args[0].data.variable for v in values}
    return found.pop() if len(found) == 1 else None
