"""What a template knows of its sites: names, operands, and every place in the PTX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Generic, TypeVar

from ptxkit.errors import UnknownNameError

_T = TypeVar("_T")


class UnknownSiteError(UnknownNameError):
    """A site, operand or function that the template does not have.

    >>> print(UnknownSiteError("injection site", "fnc", ["func", "other"]))
    no injection site is called 'fnc'; did you mean 'func'? there are: func, other
    """

    def __str__(self) -> str:
        near = get_close_matches(str(self.name), self.known, 1)
        said = f"no {self.what} is called '{self.name}'; "
        if near:
            said += f"did you mean '{near[0]}'? "
        return said + f"there are: {', '.join(self.known) or 'none'}"


class DroppedSiteError(UnknownSiteError):
    """A site that is in the source and not in the PTX.

    >>> print(DroppedSiteError("injection site", "f", []))
    the injection site 'f' is in the source, but the compiler kept no occurrence of it: its code \
is never called, or it is pure and nobody uses its outputs; there are: none
    """

    def __str__(self) -> str:
        return (
            f"the {self.what} '{self.name}' is in the source, but the compiler kept no occurrence "
            "of it: its code is never called, or it is pure and nobody uses its outputs; "
            f"there are: {', '.join(self.known) or 'none'}"
        )


class Named(Mapping[str, _T], Generic[_T]):
    """Things by name, in order; a name that is not there is an error that lists those that are."""

    def __init__(self, what: str, items: Mapping[str, _T], dropped: Iterable[str] = ()) -> None:
        self._what = what
        self._items = dict(items)
        self._dropped = frozenset(dropped)

    def __getitem__(self, name: str) -> _T:
        try:
            return self._items[name]
        except (KeyError, TypeError):
            kind = DroppedSiteError if name in self._dropped else UnknownSiteError
            raise kind(self._what, name, self._items) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __repr__(self) -> str:
        return repr(self._items)


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of a site."""

    name: str
    direction: str
    """``"in"``, ``"mod"`` or ``"out"``."""
    type: str
    """As the annotation names it, such as ``"f16"``."""
    register_type: str
    """The PTX type of the register, such as ``"b16"``."""
    register: str
    """The name a stub uses, the same at every occurrence of the site."""

    def __str__(self) -> str:
        return f"{self.direction} {self.type} {self.name}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place in the PTX where a stub goes. Inlining and unrolling make many of a site."""

    index: int
    """Its number among those of its site, from 0."""
    function: str
    """The kernel or function it is in, as the PTX names it."""
    line: int
    """Line of the marker in the template's PTX, from 1."""
    source_line: int | None
    """Line of the annotation in the CUDA source, where the marker says so."""
    registers: Mapping[str, str]
    """The compiler's register for each operand."""
    flags: frozenset[str]
    """Of ``"pure"``, ``"volatile"``, ``"memory"``."""
    place: int = field(repr=False)
    """Its number among all occurrences of the template."""


@dataclass(frozen=True, slots=True)
class Site:
    """A named place for stubs."""

    name: str
    args: Named[Operand]
    """The operands by name, in the order of the annotation."""
    occurrences: tuple[Occurrence, ...]
    """Where the compiler put it; none where it dropped the code."""
    number: int | None = field(default=None, repr=False)
    """Its number in the native template; None for one that was dropped."""

    @property
    def functions(self) -> tuple[str, ...]:
        """The kernels and functions it occurs in."""
        return tuple(dict.fromkeys(one.function for one in self.occurrences))

    @property
    def signature(self) -> str:
        """The operands in one line."""
        return ", ".join(map(str, self.args.values()))

    def __str__(self) -> str:
        return f"{self.name}({self.signature})"
