"""Operands: constants, names, addresses, vectors and pairs, each with its PTX text.

An operand also has a number, the one :mod:`ptxkit.isa.reader` gives to what it is to the
rules of the table, so that a kind of instruction is judged once however often it occurs.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NoReturn

from ptxkit.dsl.errors import DslError
from ptxkit.isa.actuals import Actual
from ptxkit.isa.reader import INTERNER, UNKNOWN, representative
from ptxkit.isa.special_registers import SPECIAL_REGISTERS, SpecialRegister
from ptxkit.isa.targets import Requirement

UNKNOWN_NUMBER = INTERNER.number(UNKNOWN)
SINK_NUMBER = INTERNER.number(Actual("sink"))
LABEL_NUMBER = INTERNER.number(Actual("label"))
_NAME = re.compile(r"[A-Za-z_$%][\w$]*(?:\.\w+)?", re.ASCII)


class Operand:
    """Anything that can stand in an instruction."""

    __slots__ = ("number", "owner", "text")

    def __init__(self, text: str, number: int, owner: object = None) -> None:
        self.text = text
        self.number = number
        self.owner = owner
        """The function whose body declares it; None for what is known everywhere."""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.text}>"

    def __bool__(self) -> bool:
        raise DslError(
            f"'{self.text}' has no value while the kernel is traced, so Python cannot test it",
            "write 'with ptx.if_(condition):' or 'with ptx.while_(condition):', "
            "or guard one instruction with 'when='; and, or, not are &, |, ~",
        )

    def __index__(self) -> int:
        raise DslError(
            f"'{self.text}' has no value while the kernel is traced, so Python cannot count to it "
            "or look up an element by it",
            "write 'for i in ptx.range(n):' for a loop of the GPU; an element of memory is "
            "addr(base + i * size)",
        )


class Constant(Operand):
    """A number or a constant expression, with its spelling."""

    __slots__ = ()


class Special(Operand):
    """A special register such as ``%tid.x``."""

    __slots__ = ("requirement", "type")

    def __init__(self, register: SpecialRegister, component: str = "") -> None:
        text = f"{register.name}.{component}" if component else register.name
        super().__init__(text, INTERNER.number(register.actual(component)))
        self.requirement: Requirement = register.requirement
        self.type = register.type

    def new(self, type: str = "", *, to: int | None = None, next: int | None = None) -> Any:
        """Its value in a new register: ``sreg.tid.x.new()`` is a ``mov.u32``."""
        from ptxkit.dsl.namespace import ptx

        opcode = getattr(ptx.mov, type or self.type)
        return opcode.new(self, to=to, next=next)


class SpecialVector(Special):
    """A special register with elements: ``sreg.tid.x``."""

    __slots__ = ("w", "x", "y", "z")

    def __init__(self, register: SpecialRegister) -> None:
        super().__init__(register)
        for component in register.components:
            setattr(self, component, Special(register, component))


class SpecialRegisters:
    """The special registers by name: ``sreg.tid.x`` is ``%tid.x``.

    >>> SpecialRegisters().laneid.text
    '%laneid'
    """

    def __getattr__(self, name: str) -> Any:
        register = SPECIAL_REGISTERS.get(f"%{name}")
        if register is None:
            if name.startswith("__"):
                raise AttributeError(name)
            raise DslError(f"there is no special register '%{name}'", "see docs/isa.md")
        found = SpecialVector(register) if register.is_vector else Special(register)
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        return [name[1:] for name in SPECIAL_REGISTERS]


sreg = SpecialRegisters()


# -- constants -------------------------------------------------------------------------------


#: Numbers of vectors, lists and addresses by the numbers of their parts.
_COMPOSED: dict[tuple[Any, ...], int] = {}


@lru_cache(maxsize=65536)
def integer_constant(value: int) -> Constant:
    """An integer operand."""
    if value.bit_length() > 64:
        raise DslError(
            f"{shown_integer(value)} is no constant of PTX", "integer constants have 64 bits"
        )
    return Constant(str(value), INTERNER.number(Actual("integer", value=representative(value))))


def shown_integer(value: int) -> str:
    """An integer for a message; Python itself refuses to spell out a very long one.

    >>> shown_integer(-7), shown_integer(10**5000)
    ('-7', 'a number of 16610 bits')
    """
    bits = value.bit_length()
    return str(value) if bits <= 256 else f"a number of {bits} bits"


@lru_cache(maxsize=4096)
def lit(text: str) -> Constant:
    """A constant as it is spelled: ``lit("0x10")``, ``lit("(1+2)*3")``, ``lit("WARP_SZ")``.

    >>> lit("0x10").text
    '0x10'
    """
    from ptxkit.errors import PtxSyntaxError
    from ptxkit.isa.reader import ScopeReader
    from ptxkit.syntax import Scopes, parse

    try:
        module = parse(f".func f() {{ mov.b32 a, {text}; }}")
        (instruction,) = module["f"].instructions
        _, operand = instruction.operands
    except (PtxSyntaxError, ValueError):
        raise DslError(f"'{text}' is not a PTX constant") from None
    if any(node.text != "WARP_SZ" for node in (operand, *operand.walk()) if node.kind == "Name"):
        raise DslError(f"'{text}' names something; only constants are literals")
    return Constant(text, ScopeReader(Scopes(module), module["f"]).read(operand))


#: Bits of the exponent and of the fraction of the floats that have no constants of their own.
_HALVES = {"f16": (5, 10), "bf16": (8, 7)}


def as_float(value: float, type: str) -> float:
    """A number as a Python float, if there is one for it."""
    try:
        return float(value)
    except OverflowError:
        _too_large(shown_integer(int(value)), type)


def _too_large(value: object, type: str) -> NoReturn:
    raise DslError(
        f"{value} is too large for .{type}", "infinity is float('inf'), or choose a wider type"
    )


def half_bits(value: float, type: str) -> int:
    """The bits of a float of 16 bits, rounded to the nearest, ties to even.

    >>> hex(half_bits(0.1, "f16")), hex(half_bits(0.1, "bf16")), hex(half_bits(-6e-8, "f16"))
    ('0x2e66', '0x3dcd', '0x8001')
    """
    exponent_bits, fraction_bits = _HALVES[type]
    number = as_float(value, type)
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    sign = 0x8000 if math.copysign(1.0, number) < 0 else 0
    if math.isnan(number):
        return infinity | 1 << (fraction_bits - 1)
    if math.isinf(number) or number == 0:
        return sign | (infinity if number else 0)
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = max(math.frexp(number)[1] - 1, 1 - bias)
    units = round(math.ldexp(abs(number), fraction_bits - exponent))
    bits = ((exponent + bias - 1) << fraction_bits) + units  # a carry makes the exponent larger
    if bits >= infinity:
        _too_large(value, type)
    return sign | bits


_F32_NUMBER = INTERNER.number(Actual("float", "f32"))
_F64_NUMBER = INTERNER.number(Actual("float", "f64"))


def float_constant(value: float, type: str) -> Constant:
    """A float bit by bit: ``0f3F800000`` or ``0d3FF0000000000000``.

    >>> float_constant(1.0, "f32").text, float_constant(1.0, "f64").text
    ('0f3F800000', '0d3FF0000000000000')
    """
    value = as_float(value, type or "f32")
    if type == "f64":
        bits = int.from_bytes(struct.pack(">d", value), "big")
        return Constant(f"0d{bits:016X}", _F64_NUMBER)
    try:
        bits = int.from_bytes(struct.pack(">f", value), "big")
    except OverflowError:
        _too_large(value, "f32")
    return Constant(f"0f{bits:08X}", _F32_NUMBER)


def shortest_f32(bits: int) -> str | None:
    """The shortest Python spelling of the value that has these 32 bits; None for NaN.

    >>> shortest_f32(0x3DCCCCCD), shortest_f32(0x7FC00000)
    ('0.1', None)
    """
    packed = bits.to_bytes(4, "big")
    (value,) = struct.unpack(">f", packed)
    if math.isnan(value):
        return None
    if math.isinf(value):
        return f'float("{value}")'
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        try:
            if struct.pack(">f", float(text)) == packed:
                return repr(float(text))
        except OverflowError:  # rounded up beyond the largest
            continue
    return None


# -- compositions ----------------------------------------------------------------------------


def operand(value: Any, type: str = "") -> Operand:
    """Turn what a kernel's Python passes into an operand.

    Integers, floats (spelled by ``type``), names as text, lists (vectors ``{a, b}``) and
    tuples (argument lists ``(a, b)``).
    """
    cls = value.__class__
    if cls is int:
        return integer_constant(value)
    if isinstance(value, Operand):
        return value
    if cls is list:
        return _composed(value, "vector", "{", "}", type)
    if cls is str:
        return name(value)
    if cls is tuple:
        return _composed(value, "list", "(", ")", type)
    if cls is float:
        return float_constant(value, type)
    if hasattr(value, "__index__") and cls is not bool:
        return operand(int(value))
    if hasattr(value, "__float__") and cls is not bool:
        return operand(float(value), type)
    if hasattr(value, "__ptx_operand__"):
        made: Operand = value.__ptx_operand__()
        return made
    raise DslError(
        f"{value!r} cannot be an operand",
        "operands are registers, variables, numbers, addr(...), lists for vectors",
    )


def _composed(values: Sequence[Any], kind: str, opening: str, closing: str, type: str) -> Operand:
    parts = [one if isinstance(one, Operand) else operand(one, type) for one in values]
    if kind == "vector" and not parts:
        raise DslError("a vector has at least one element")
    numbers = (kind, *[part.number for part in parts])
    number = _COMPOSED.get(numbers)
    if number is None:
        elements = tuple(INTERNER.actual(part.number) for part in parts)
        number = INTERNER.composed(numbers, lambda: Actual(kind, elements=elements))
        _COMPOSED[numbers] = number
    owner = None
    for part in parts:
        if part.owner is not None:
            owner = part.owner
            break
    return Operand(opening + ", ".join([part.text for part in parts]) + closing, number, owner)


def name(text: str) -> Operand:
    """A name as it is spelled, whatever it stands for: a label, or something undeclared."""
    if text == "_":
        return Operand("_", SINK_NUMBER)
    if _NAME.fullmatch(text) is None:
        raise DslError(f"{text!r} is not a name of PTX")
    return Operand(text, UNKNOWN_NUMBER)


def addr(base: Any, offset: Any = None, *parts: Any, suffix: str = "") -> Operand:
    """An address: ``addr(p)``, ``addr(p, 8)`` for ``[p+8]``, ``addr(t, None, [x, y])``.

    >>> addr("p", -8).text, addr("t", None, ["x", "y"]).text
    ('[p+-8]', '[t, {x, y}]')
    """
    first = base if isinstance(base, Operand) else operand(base)
    text = first.text
    if offset is not None:
        text = f"{text}+{operand(offset).text}"
    if not parts and not suffix:
        key = ("[", offset is not None, suffix, first.number)
        known = _COMPOSED.get(key)
        if known is not None:
            return Operand(f"[{text}]", known, first.owner)
    rest = [operand(part) for part in parts]
    if rest:
        text = ", ".join([text, *[part.text for part in rest]])
    numbers = (first.number, *[part.number for part in rest])
    has_offset = offset is not None
    number = INTERNER.composed(
        ("[", has_offset, suffix, *numbers),
        lambda: Actual(
            "address",
            selector=suffix,
            offset=has_offset,
            elements=tuple(INTERNER.actual(n) for n in numbers),
        ),
    )
    _COMPOSED.update({("[", has_offset, suffix, *numbers): number})
    return Operand(f"[{text}]{suffix}", number, first.owner)


def pair(first: Any, second: Any) -> Operand:
    """Two results of one instruction: ``p|q``."""
    left, right = operand(first), operand(second)
    number = INTERNER.composed(
        ("pair", left.number, right.number),
        lambda: Actual(
            "pair", elements=(INTERNER.actual(left.number), INTERNER.actual(right.number))
        ),
    )
    return Operand(f"{left.text}|{right.text}", number, left.owner or right.owner)


def _changed(of: Operand, field: str, text: str) -> Operand:
    number = INTERNER.composed(
        ("+" if field == "offset" else field, of.number),
        lambda: replace(INTERNER.actual(of.number), **{field: True}),  # type: ignore[arg-type]
    )
    return Operand(text, number, of.owner)


def offset(base: Any, by: Any) -> Operand:
    """A name with an offset outside brackets: ``table+8``."""
    first = operand(base)
    return _changed(first, "offset", f"{first.text}+{operand(by).text}")


def minus(register: Any) -> Operand:
    """A register with a minus before it, where an instruction takes that: ``-a``."""
    of = operand(register)
    return _changed(of, "minus", f"-{of.text}")


def inverted(predicate: Any) -> Operand:
    """A predicate with ``!`` before it; ``~p`` says the same."""
    of = operand(predicate)
    if of.text.startswith("!"):
        raise DslError(f"'{of.text}' is inverted already")
    return _changed(of, "negated", f"!{of.text}")


def element(base: Any, index: Any) -> Operand:
    """An element of an array as an operand: ``table[3]``."""
    first = operand(base)
    number = INTERNER.composed(
        ("element", first.number),
        lambda: Actual("element", elements=(INTERNER.actual(first.number),)),
    )
    return Operand(f"{first.text}[{operand(index).text}]", number, first.owner)


def applied(function: str, to: Any) -> Operand:
    """``generic(x)``, or the bytes of an address ``0xFF(x)``, in an initialiser."""
    return Operand(f"{function}({operand(to).text})", UNKNOWN_NUMBER)


def selected(base: Operand, selector: str) -> Operand:
    """A part of a register: ``v.x``, ``r.b0``."""

    def select() -> Actual:
        whole = INTERNER.actual(base.number)
        if whole.kind == "register" and whole.width > 1 and selector in "xyzwrgba":
            return replace(whole, width=1)
        return replace(whole, selector=f".{selector}")

    number = INTERNER.composed((".", base.number, f".{selector}"), select)
    return Operand(f"{base.text}.{selector}", number, base.owner)


class Label(Operand):
    """A place in a function's body; ``ptx.label()`` makes and places one."""

    __slots__ = ("is_placed", "place", "waiting")

    def __init__(self, name: str, place: tuple[str, int]) -> None:
        super().__init__(name, LABEL_NUMBER)
        self.place = place
        self.is_placed = False
        self.waiting: list[Any] | None = None
        """Statements that name it, until it is named itself; None: it is."""
