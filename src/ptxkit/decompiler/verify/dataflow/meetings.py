"""Places at which two functions are at the same time, and the ways between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.verify.dataflow.decisions import Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.decompiler.verify.dataflow.regions import Region
from ptxkit.decompiler.verify.dataflow.state import State
from ptxkit.decompiler.verify.dataflow.terms import Term

Name = tuple[int, Register]
"""A register of one of the two sides."""


@dataclass(frozen=True, slots=True)
class Compared:
    """That a number is less than another one, or is not."""

    signed: bool
    width: int
    operands: tuple[Name | Term, Name | Term]
    """Registers, or what is the same at any time."""
    holds: bool


@dataclass(slots=True, eq=False)
class Meeting:
    """Two blocks at which both functions are at the same time."""

    number: int
    blocks: tuple[int, int]
    known: Diagram
    """What holds whenever they meet here."""
    timeless: dict[Name, Diagram] = field(default_factory=dict)
    """Registers that hold what they held before the loop."""
    classes: dict[Name, int] = field(default_factory=dict)
    """The others; those of a class are equal."""
    derived: dict[Name, Diagram] = field(default_factory=dict)
    """Of those that are equal to none of the other side, what they are made of."""
    steps: dict[Name, int] = field(default_factory=dict)
    """What a turn of the loop adds to them."""
    limits: dict[int, tuple[int] | tuple[()]] = field(default_factory=dict)
    """What those of a class are never above, where something is known of that."""
    zeros: dict[int, int] = field(default_factory=dict)
    """How many of the lowest bits of those of a class are never set."""
    no_products: set[int] = field(default_factory=set)
    """Classes of which none is a product on any way: see `products`."""
    products: set[int] = field(default_factory=set)
    """The others, as far as that was asked."""
    grown: set[int] = field(default_factory=set)
    """Classes that were found to be above what was noted first."""
    opaque: set[Name] = field(default_factory=set)
    """Those of which that cannot be told."""
    compared: list[Compared] = field(default_factory=list)
    """What else holds whenever they meet here."""
    regions: tuple[Region, Region] | None = None
    stale: bool = True
    """Whether less holds by now than the regions were executed with."""
    turns: int = 0
    """How often the regions were executed."""
    before: Meeting | None = None
    """The meeting that it was first come to from."""

    def forget(self) -> None:
        """Give up all that was found about registers."""
        for found in (self.timeless, self.classes, self.derived, self.steps, self.limits,
                      self.zeros, self.no_products, self.products, self.grown, self.opaque,
                      self.compared):  # fmt: skip
            found.clear()


@dataclass(frozen=True, slots=True)
class Way:
    """What leads from one meeting to the next, or to an end."""

    source: Meeting
    targets: tuple[int, int]
    states: tuple[State, State]
    condition: Diagram


def fresh(ways: list[Way]) -> list[Way]:
    """Those that were found with all that holds by now where they begin."""
    return [way for way in ways if not way.source.stale]
