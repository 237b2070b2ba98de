"""Ranges of registers that new registers are taken from: ``ptx.registers("%p<2>", "%r<28>")``.

A compiler numbers the registers of a type as it goes along. So does a pool: a new register is
the next one of the range that its type belongs to. Where they come in another order, that is
said behind the range: ``"%r<28> 7 1-3 12"`` takes ``%r7``, ``%r1`` to ``%r3``, ``%r12`` and goes
on with ``%r13``. A single register can be asked for, too: ``to=5`` takes ``%r5`` and no more,
``next=5`` takes ``%r5`` and goes on with ``%r6``.
"""

from __future__ import annotations

import re
from builtins import next as following
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.declarations import CONVENTIONS, Words
from ptxkit.dsl.errors import DslError
from ptxkit.isa.types import SCALAR_TYPES

if TYPE_CHECKING:
    from ptxkit.dsl.registers import Register
    from ptxkit.dsl.tracing import FunctionBuilder

_RANGE = re.compile(
    r"(?:(?P<type>\w+) )?(?P<prefix>%?[A-Za-z_$][\w$]*)<(?P<count>\w+)>"
    r"(?P<order>(?: \d+(?:-\d+)?)*)",
    re.ASCII,
)
#: The type of the registers that nvcc calls so.
TYPES_BY_PREFIX = {
    "%p": "pred", "%rs": "b16", "%r": "b32", "%rd": "b64", "%f": "f32", "%fd": "f64",
    "%h": "f16", "%hh": "f16x2", "%rq": "b128",
}  # fmt: skip


class Pool:
    """A range and how far it has been used."""

    __slots__ = ("next", "registers", "rest")

    def __init__(self, registers: Any, order: str = "") -> None:
        self.registers = registers
        self.next = 1
        self.rest = iter(_numbers(order))
        """The numbers that come first."""

    def take(self, to: int | None, next: int | None) -> Register:
        """The next register, or the one that is asked for."""
        number = next if next is not None else to
        if number is None:
            number = following(self.rest, self.next)
        if not 0 <= number < len(self.registers):
            raise DslError(
                f"'{self.registers.prefix}<{len(self.registers)}>' has no register {number}",
                "declare more of them",
            )
        if to is None:
            self.next = number + 1
        found: Register = self.registers[number]
        return found


def _numbers(order: str) -> Iterator[int]:
    """The numbers of a text such as ``"7 1-3"``."""
    for part in order.split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def order_text(numbers: Sequence[int]) -> str:
    """The order of registers as a range's text has it; what follows the last goes without.

    >>> order_text([7, 1, 2, 3, 12, 13, 14]), order_text([1, 2, 3])
    (' 7 1-3 12', '')
    """
    parts = []
    start = 0
    for at in range(1, len(numbers) + 1):
        if at < len(numbers) and numbers[at] == numbers[at - 1] + 1:
            continue
        first, last = numbers[start], numbers[at - 1]
        ends = at == len(numbers)
        if not (ends and not start and first == 1):
            parts.append(f" {first}" if ends or first == last else f" {first}-{last}")
        start = at
    return "".join(parts)


def pool_type(type: str, known: Any) -> str | None:
    """The type of the pool that registers of a type are taken from.

    >>> pool_type("f32", {"b32", "f32"}), pool_type("s64", {"b64"}), pool_type("s64", {"b32"})
    ('f32', 'b64', None)
    """
    if type in known:
        return type
    scalar = SCALAR_TYPES.get(type)
    bits = f"b{max(16, scalar.width)}" if scalar is not None and type != "pred" else ""
    return bits if bits in known else None


def declare(builder: FunctionBuilder, ranges: tuple[str, ...]) -> Any:
    """Declare ranges of registers; new registers of their types are taken from them."""
    made = []
    for text in ranges:
        found = _RANGE.fullmatch(text)
        type = (found["type"] or TYPES_BY_PREFIX.get(found["prefix"], "")) if found else ""
        if found is None or type not in CONVENTIONS:
            raise DslError(
                f"{text!r} is no range of registers",
                "write '%r<28>' for names that nvcc gives to a type, else 'b32 x<28>'; "
                "an order of numbers may follow, '%r<28> 7 1-3'",
            )
        registers = Words((".reg", f".{type}"))(f"{found['prefix']}<{found['count']}>")
        builder.pools.setdefault(type, Pool(registers, found["order"]))
        made.append(registers)
    return made[0] if len(made) == 1 else tuple(made)
