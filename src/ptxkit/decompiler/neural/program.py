"""A function as its effects, in order, over a graph of values.

Variables are gone but for those that loops change; ``if`` is left where it has effects, and
every loop is a ``while`` or a ``do``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.neural.values import Value


@dataclass(slots=True)
class Effect:
    """Something that happens; ``creates`` are the states that it ends."""

    word: str
    """The head: ``store.f32``, ``if``, ``while``, ``set.i32`` ..."""
    operands: tuple[Value, ...] = ()
    blocks: tuple[list[Effect], ...] = ()
    name: str = ""
    """The variable or array that is declared or set."""
    count: int = 0
    """Elements of an array."""
    ends: frozenset[tuple[str, int]] = frozenset()
    """The states of variables and arrays that are no more after it."""


@dataclass(slots=True)
class Program:
    """A function: its parameters' types and its body."""

    parameters: list[str]
    """``ptr.f32`` and such for arrays, ``f32`` and such for numbers."""
    body: list[Effect]
    returns: str = ""
    """Type of the result of a device function; empty for a kernel."""
    cached: frozenset[int] = field(default=frozenset())
    """Arrays that no store of the kernel can change: const and restrict."""
