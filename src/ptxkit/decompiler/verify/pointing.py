"""Where values come from, and which registers hold a pointer, or one a known way on.

What is loaded through such a register is a field of a record: the pointer of an array of its own,
a number of dimensions. Memory must be made with such fields in their places.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit._native import Node
from ptxkit.isa.dataflow import registers
from ptxkit.syntax import Function, Instruction, Name, evaluate

#: Loads on the way to a value, at most.
DEPTH = 3
#: Pointers and distances that one register may hold; with more it goes through an array.
_MOST = 24
_KEPT = frozenset(("mov", "cvta", "selp"))


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: a parameter or variable, or memory that such a value points to."""

    name: str
    offset: int = 0
    through: tuple[int | None, ...] = ()
    """For each load on the way the bytes from where the pointer points to; None for anywhere."""
    kind: str = "param"

    def loaded(self, offset: int | None = None) -> Origin:
        """What lies in the memory that this points to: anywhere, or in one place."""
        return Origin(self.name, self.offset, (*self.through, offset), self.kind)

    @property
    def pointer(self) -> Origin:
        """What it was loaded through."""
        return Origin(self.name, self.offset, self.through[:-1], self.kind)

    def __str__(self) -> str:
        text = self.name if not self.offset else f"{self.name}+{self.offset}"
        for offset in self.through:
            text = f"*({text}+{offset})" if offset else f"*{text}"
        return text


#: What a register may hold: something, and the bytes that were added to it.
Held = frozenset[tuple[Origin, int]]
#: What is no such pointer.
ELSEWHERE: Held = frozenset()
_PLACE = "place"


class Pointing:
    """For the registers of a kernel the pointers that they hold, and the bytes added to them.

    >>> import ptxkit
    >>> m = ptxkit.parse('''.version 8.0
    ... .target sm_80
    ... .address_size 64
    ... .visible .entry k(.param .u64 x) {
    ...     .reg .b64 %rd<4>;
    ...     ld.param.u64 %rd1, [x];
    ...     add.s64 %rd2, %rd1, 8;
    ...     ld.global.u64 %rd3, [%rd2+16];
    ...     ret;
    ... }''')
    >>> [(str(o), at) for o, at in Pointing(m["k"]).held["%rd3"]]
    [('*(x+24)', 0)]
    """

    def __init__(self, kernel: Function) -> None:
        self._parameters = {p.name for p in kernel.parameters}
        self.held: dict[str, Held] = {}
        instructions = [one for one in kernel.instructions if one.operands]
        defined = [(one, registers(one).defined) for one in instructions]
        while sum(self._sets(one, names) for one, names in defined):
            pass

    def _sets(self, one: Instruction, names: tuple[Name, ...] | list[Name]) -> bool:
        """Whether registers hold something new after an instruction."""
        made = self._made(one) if names else None
        changed = False
        for name in names:
            before = self.held.get(name.identifier)
            if made is None or before == ELSEWHERE:
                continue
            after = made | (before or ELSEWHERE) if made and len(names) == 1 else ELSEWHERE
            if len(after) > _MOST:
                after = ELSEWHERE
            changed |= after != before
            self.held[name.identifier] = after
        return changed

    def _made(self, one: Instruction) -> Held | None:
        """What an instruction puts into its register; None where that is not known yet."""
        if one.name == "ld":
            places = self.places(one)
            if places is None:
                return None
            if any(len(origin.through) >= DEPTH for origin, _ in places):
                return ELSEWHERE
            return frozenset((_loaded(origin, at), 0) for origin, at in places)
        if one.name in _KEPT:
            held = [self._operand(o) for o in one.operands[1 : 3 if one.name == "selp" else 2]]
            known = [h for h in held if h is not None]
            if not known:
                return None
            return ELSEWHERE if ELSEWHERE in known else frozenset().union(*known)
        by = evaluate(one.operands[2]) if one.name in ("add", "sub") else None
        if isinstance(by, int):
            start = self._operand(one.operands[1])
            by = by if one.name == "add" else -by
            return None if start is None else frozenset((o, at + by) for o, at in start)
        return ELSEWHERE

    def _operand(self, node: Node) -> Held | None:
        if not isinstance(node, Name):
            return ELSEWHERE
        if node.identifier in self._parameters:
            return frozenset(((Origin(node.identifier, kind=_PLACE), 0),))
        return self.held.get(node.identifier) if node.text.startswith("%") else ELSEWHERE

    def places(self, one: Instruction) -> Held | None:
        """Where an instruction loads from or stores to; None where that is not known yet."""
        address = next((o for o in one.operands if o.kind == "Address"), None)
        if address is None:
            return ELSEWHERE
        start = self._operand(address.children[0])
        by = next((n for n in map(evaluate, address.children[1:]) if isinstance(n, int)), 0)
        return None if start is None else frozenset((o, at + by) for o, at in start)


def _loaded(origin: Origin, at: int) -> Origin:
    return Origin(origin.name, at) if origin.kind == _PLACE else origin.loaded(at)
