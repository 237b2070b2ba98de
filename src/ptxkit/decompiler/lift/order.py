"""Where values stand: which of them must stay where they are to come out there again.

A compiler computes a value in the block where it is written: one that moves to its only use
beyond a branch comes out beyond that branch. Within a block it keeps more or less to the order
in which it first met what it computes, but for loads, which it puts off until they are needed.
Their addresses stay, and tell where the loads stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

from ptxkit.decompiler.lift.flow import Flow
from ptxkit.decompiler.lift.values import Definition, Step, Value

#: What is kept: nothing, the block of a value, or its place in there too.
Order = Literal["free", "block", "line"]

#: What takes no instruction of its own, or is put where it is needed by the compiler itself.
_PLACELESS = frozenset("const var symbol slot component sext zext trunc generic specific".split())
#: People write these where they need them.
_SIZES = ("blockDim", "gridDim", "warpSize")
_LOGIC = frozenset(
    "eq ne lt.s le.s gt.s ge.s lt.u le.u gt.u ge.u feq fne flt fle fgt fge not and or xor".split()
)


class Substitutable(Protocol):
    """What is known about values that may move."""

    addresses: set[Definition]
    depths: dict[int, int]
    """In how many loops a block is."""

    @property
    def flow(self) -> Flow:
        """The graph."""

    @property
    def in_order(self) -> bool:
        """Whether the compiler leaves what it computes where it is written, loads too."""

    def moving(self, definition: Definition) -> Value | None:
        """The value of a definition that goes to its uses."""

    def exits(self, block: int) -> Iterable[Value]:
        """What decides where control goes."""


def moved_away(values: Substitutable) -> set[Definition]:
    """The definitions that would be computed in other blocks alone than the one they stand in."""
    defined: dict[Definition, int] = {}
    used: dict[Definition, set[int]] = {}
    for number in values.flow.order:
        block = values.flow.blocks[number]
        roots: list[Value] = [*values.exits(number)]
        for step in block.statements:
            moving = step.kind == "set" and values.moving(step.targets[0]) is not None
            if moving:
                defined[step.targets[0]] = number
            else:
                roots += step.args
        _note(values, roots, number, used)
    return {
        definition
        for definition, number in defined.items()
        if number not in used.get(definition, {number})
        and not _placeless(values, definition)
        and not _hoisted(values, definition, number, used[definition])
    }


def _hoisted(values: Substitutable, definition: Definition, block: int, used: set[int]) -> bool:
    """Whether a compiler took a short value out of the loops that it was written in."""
    value = values.moving(definition)
    assert value is not None
    depth = values.depths[block]
    return len(value.args) < 3 and all(values.depths[b] > depth for b in used)


def _note(
    values: Substitutable, roots: list[Value], block: int, used: dict[Definition, set[int]]
) -> None:
    """Note what is computed in a block."""
    while roots:
        value = roots.pop()
        if value.op != "var":
            roots.extend(value.args)
            continue
        inner = values.moving(value.data)
        if inner is None:
            continue
        places = used.setdefault(value.data, set())
        if block not in places:
            places.add(block)
            roots.append(inner)


def _placeless(values: Substitutable, definition: Definition) -> bool:
    value = values.moving(definition)
    assert value is not None
    if definition in values.addresses or value.op in _PLACELESS:
        return True
    if value.width == 1 and value.op in _LOGIC:
        return True
    if value.op == "builtin" and value.data.startswith(_SIZES):
        return True
    return value.op == "load" and bool(value.data.space == "param")


_INDEX_OPS = frozenset("and shl shr.u shr.s add sub mul rem.u rem.s div.u div.s or".split())


def indices_first(flow: Flow) -> None:
    """Put what is computed from the indices of threads alone to the end of the first block.

    People write ``int lane = threadIdx.x & 31;`` at the top; a compiler puts it off.
    """
    first = flow.blocks[flow.order[0]]
    known: set[Definition] = set()
    for number in flow.order:
        kept: list[Step] = []
        for step in flow.blocks[number].statements:
            if _is_of_indices(step, known):
                known.add(step.targets[0])
                if number != flow.order[0]:
                    first.statements.append(step)
                    continue
            kept.append(step)
        if number != flow.order[0]:
            flow.blocks[number].statements = kept


def _is_of_indices(step: Step, known: set[Definition]) -> bool:
    if step.kind != "set" or step.targets[0].variable.definitions != 1:
        return False
    value = step.args[0]
    if value.op == "builtin":
        return True
    return value.width == 32 and value.op in _INDEX_OPS and all(
        a.op == "const" or (a.op == "var" and a.data in known) for a in value.args
    )  # fmt: skip


# ---- lines -------------------------------------------------------------------------------

_WRITES = frozenset(("store", "effect", "asm", "return"))


def as_written(flow: Flow, in_order: bool) -> None:
    """Put steps back to where they stood before the compiler moved them about.

    Loads go to where their addresses are computed, if nothing is written between and they are not
    ``in_order`` anyway; numbers that variables start with are turned round.
    """
    for block in flow.blocks.values():
        if in_order:
            block.statements = _starts_reversed(block.statements)
            continue
        places: dict[Definition, int] = {}
        barrier = -1
        order: list[tuple[float, int]] = []
        for place, step in enumerate(block.statements):
            at: float = place
            if _may_write(step):
                barrier = place
            elif step.kind == "set" and step.args[0].op == "load":
                address = step.args[0].args[0]
                plain = address.op == "var" and not step.args[0].data.volatile
                known = places.get(address.data, -1) if plain else -1
                fixed = step.targets[0].variable.definitions == 1
                if known > barrier and fixed:
                    at = known + 0.5
            for target in step.targets:
                places[target] = place
            order.append((at, place))
        block.statements = _starts_reversed([block.statements[p] for _, p in sorted(order)])


def _starts_reversed(steps: list[Step]) -> list[Step]:
    made: list[Step] = []
    run: list[Step] = []
    for step in (*steps, None):
        if step is not None and _is_start(step):
            run.append(step)
            continue
        made += run[::-1]
        run = []
        if step is not None:
            made.append(step)
    return made


def _is_start(step: Step) -> bool:
    """Whether a step gives a variable, which changes later, a number."""
    number = step.kind == "set" and step.args[0].op == "const"
    return number and step.targets[0].variable.definitions > 1


def _may_write(step: Step) -> bool:
    if step.kind in _WRITES:
        return True
    return any(a.op in ("atomic", "collective", "function", "texture") for a in step.args)


def out_of_line(values: Substitutable) -> set[Definition]:
    """The definitions that would be computed after something that stands behind them."""
    found: set[Definition] = set()
    seen: set[Definition] = set()
    for number in values.flow.order:
        places: dict[Definition, int] = {}
        last = -1
        for place, step in enumerate(values.flow.blocks[number].statements):
            for target in step.targets:
                places[target] = place
            if step.kind == "set" and values.moving(step.targets[0]) is not None:
                continue
            found.update(_overtaken(values, step.args, places, last, seen))
            if not (step.kind == "set" and step.args[0].op in ("const", "var", "builtin")):
                last = place
        found.update(_overtaken(values, values.exits(number), places, last, seen))
    return found


def _overtaken(
    values: Substitutable,
    args: Iterable[Value],
    places: dict[Definition, int],
    last: int,
    seen: set[Definition],
) -> Iterator[Definition]:
    least = last
    for value in args:
        for definition in _computed(values, value):
            place = places.get(definition)
            if place is None or definition in seen:
                continue
            moved = values.moving(definition)
            loads = moved is not None and moved.op == "load" and not values.in_order
            if place < (least if loads else last):
                yield definition
            elif not loads:
                last = place
            if values.in_order:
                seen.add(definition)  # where it is read again it is not computed again


def _computed(values: Substitutable, value: Value) -> Iterator[Definition]:
    """The moving definitions in a value, in the order in which they are computed."""
    if value.op == "var":
        inner = values.moving(value.data)
        if inner is None:
            return
        yield from _computed(values, inner)
        if inner.op != "builtin" and _has_line(values, value.data, inner):
            yield value.data
        return
    for part in value.args:
        yield from _computed(values, part)


def _has_line(values: Substitutable, definition: Definition, value: Value) -> bool:
    """Whether a value is computed where it stands, rather than where somebody needs it."""
    if not values.in_order:
        return not _placeless(values, definition)
    parameter = value.op == "load" and value.data.space == "param"
    return value.op not in _PLACELESS and not parameter
