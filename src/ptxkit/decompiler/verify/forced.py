"""Sides that never came, made to come in both of two programs alike.

That two instructions choose from the same numbers does not say that what they give is used alike:
``x + (t >> 20)`` is ``x - (t >> 20)`` in all launches that anybody has the time for. But both
programs can be changed: a selection takes its other value, a shift that always gave 0 gives 1, a
branch goes its other way, also to code that never ran. Two programs that do the same with the
result still do the same.

Numbers that never were equal are so for a quarter of all numbers where only their last bits are
compared. That needs no partner: all comparisons with a number are changed at once, in both.

| instruction | what it does instead |
| --- | --- |
| ``selp``, ``min``, ``max`` | the value that it never took |
| ``bra``, ``and`` and ``or`` of predicates | the condition is turned round |
| ``setp`` of two equal integers | the last two bits alone are compared |
| ``mad.hi``, ``dp4a``, ``dp2a`` | one is added where nothing ever was |
| others | a number: 1 where the result was always 0, else 0 |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.decompiler.verify.openings import Place
from ptxkit.decompiler.verify.results import Results
from ptxkit.decompiler.verify.trials import Trial
from ptxkit.errors import EditError
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Instruction, Module

if TYPE_CHECKING:
    from ptxkit.decompiler.verify.pair import Pair

#: Launches for each change that must say something, launches that are tried, and what all of that
#: costs at most, with what it costs to make a program of each instruction.
_WANTED, _TRIED, _COST, _MADE = 4, 12, 3.0, 0.2e-3
#: Sides of instructions that did not come where the result was always 0: see the simulator's.
_ALWAYS_ZERO = {
    "shr": 1, "and": 2, "div": 1, "rem": 2, "bfe": 2, "mul": 1, "prmt": 1, "shf": 1, "lop3": 1,
    "cvt": 4, "set": 1,
}  # fmt: skip
_NUMBERED = frozenset((*_ALWAYS_ZERO, "abs", "add", "sub", "fma"))
#: What ``set`` gives where the comparison holds, if not all ones.
_HOLDS = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
#: What adds to its last operand.
_ADDING = frozenset(("mad", "dp4a", "dp2a"))
_OTHER = {"min": "max", "max": "min"}
_EXCHANGED, _TURNED, _NUMBER, _RARE, _MORE = "exchanged", "turned", "number", "rare", "more"
_EQUAL = frozenset(("eq", "ne"))
_WIDTHS = {f"{kind}{width}": width for kind in "sub" for width in (16, 32, 64)}


_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Used:
    """An instruction of the original of which the two use another side otherwise."""

    instruction: Instruction
    why: str


@dataclass(frozen=True, slots=True)
class _Group:
    """Instructions of both that choose from the same, or compute the same."""

    ours: list[Place]
    theirs: list[Place]


def used_otherwise(pair: Pair, sides: Sequence[Results], trials: Iterable[Trial]) -> Used | None:
    """What the two do not do alike with sides that never came, if that shows.

    Launches on which the original then faults, or runs for too long, say nothing.
    """
    launches = list(islice(trials, _TRIED))
    groups = [one for one in _groups(sides) if _can_be_forced(sides, one)]
    length = sum(len(block.instructions) for one in sides for block in one.blocks)
    # One at a time, so that none hides another; several where that would take too long.
    apiece = max(1, math.ceil(len(groups) * length * _MADE / (_COST / 2)))
    pending = [groups[k : k + apiece] for k in range(0, len(groups), apiece)]
    cost = 0.0
    while pending and cost < _COST:
        pair.budget.check()
        bundle = pending.pop(0)
        cost += length * _MADE
        why = None
        try:
            forced = pair.forced(*(_forced(pair, sides, bundle, side) for side in (0, 1)))
            why = _difference(forced, launches, _COST - cost)
            cost += forced.cost
        except EditError:
            pass  # two of them are of one instruction
        if why:
            return Used(sides[0].instruction(bundle[0].ours[0]), why)
        if why is None and len(bundle) > 1:  # or the original faults because of some of them
            middle = len(bundle) // 2
            pending += [bundle[:middle], bundle[middle:]]
    return None


def _difference(forced: Pair, trials: Sequence[Trial], most: float) -> str | None:
    """How two programs differ, if they do; None where no launch says anything."""
    said = 0
    for trial in trials:
        if said == _WANTED or forced.cost > most:
            break
        why = forced.compared(trial)
        if why:
            return f"with {trial}, {why}"
        said += why is not None
    return "" if said else None


def _groups(sides: Sequence[Results]) -> Iterator[_Group]:
    done: list[set[Place]] = [set(), set()]
    # The last are those of loops that are unrolled otherwise: all that look alike at once.
    ways: tuple[Callable[[Results, Place], object], ...] = (Results.choice, Results.result, _shape)
    for way in ways:
        keys = [partial(way, one) for one in sides]
        left = ([p for p in one.open if p not in done[side]] for side, one in enumerate(sides))
        found = [_by(key, places) for key, places in zip(keys, left, strict=True)]
        for group in _shared(*found):
            done[0].update(group.ours)
            done[1].update(group.theirs)
            yield group
    yield from _shared(*(_by(one.asks, one.never) for one in sides))
    yield from _shared(*map(_never_equal, sides))


def _never_equal(sides: Results) -> dict[tuple[int, object], list[Place]]:
    """Comparisons with numbers, by these: those that all of a program's were never equal to."""
    found: dict[tuple[int, object], list[Place]] = {}
    equal: set[tuple[int, object]] = set()
    for place, step in sides.all():
        if _is_equality(step):
            width, other = _WIDTHS[step.type], step.sources[1]
            key = width, other.value % (1 << width) if other.kind == "number" else None
            never = 2 if step.opcode.split(".")[1] == "ne" else 1
            if sides.hidden(place) & never:
                found.setdefault(key, []).append(place)
            elif sides.ran(place):
                equal.add(key)
    return {key: places for key, places in found.items() if key not in equal}


def _is_equality(step: Step) -> bool:
    """Whether a step compares two integers, and does nothing else."""
    return (
        step.name == "setp"
        and step.guard is None
        and step.opcode.split(".")[1] in _EQUAL
        and step.type in _WIDTHS
        and (len(step.sources), len(step.targets)) == (2, 1)
    )


def _shape(sides: Results, place: Place) -> object:
    return sides.form(place).shape


def _by(key: Callable[[Place], object], places: Iterable[Place]) -> dict[object, list[Place]]:
    found: dict[object, list[Place]] = {}
    for place in dict.fromkeys(places):
        term = key(place)
        if term is not None:
            found.setdefault(term, []).append(place)
    return found


def _shared(ours: dict[_Key, list[Place]], theirs: dict[_Key, list[Place]]) -> Iterator[_Group]:
    return (_Group(places, theirs[key]) for key, places in ours.items() if key in theirs)


def _can_be_forced(sides: Sequence[Results], group: _Group) -> bool:
    """Whether all of its instructions can be made to do the same instead."""
    ways = {_way(sides[0], place) for place in group.ours}
    ways |= {_way(sides[1], place) for place in group.theirs}
    return len(ways) == 1 and None not in ways


def _way(sides: Results, place: Place) -> str | None:
    """How an instruction is made to take another side; None where it cannot be."""
    step = sides.step(place)
    if step.name == "bra":
        return None if sides.leads_nowhere(place) else _TURNED
    if place.operand is not None:
        return _TURNED
    if step.name == "selp" or step.name in _OTHER:
        return _EXCHANGED
    if step.name == "setp":
        return _RARE if _is_equality(step) else None
    if step.name in _ADDING:
        return _MORE
    return _NUMBER if step.name in _NUMBERED and step.targets[0] is not None else None


def _number(sides: Results, place: Place) -> int:
    """What an instruction gives instead, where that is a number."""
    step = sides.step(place)
    if not sides.hidden(place) & _ALWAYS_ZERO.get(step.name, 0):
        return 0
    if step.name == "set":
        return _HOLDS.get(step.opcode.split(".")[-2], -1) % (1 << _width(step))
    mask = step.sources[1].value if step.name == "and" else None
    return mask & -mask if isinstance(mask, int) and mask else 1


def _width(step: Step) -> int:
    """The bits of the register that a step sets."""
    target = step.targets[0]
    assert target is not None
    return SCALAR_TYPES[target[1]].width


def _forced(pair: Pair, sides: Sequence[Results], bundle: Sequence[_Group], side: int) -> Module:
    """One of the two with some of its instructions doing something else."""
    editor = pair.sides[side].module.edit()
    for group in bundle:
        number = _number(sides[0], group.ours[0])
        for place in group.theirs if side else group.ours:
            node = sides[side].instruction(place)
            editor.replace(node, _instead(node, place, sides[side].step(place), number))
    return editor.apply()


def _instead(node: Instruction, place: Place, step: Step, number: int) -> str:
    guard = node.guard
    asked = f"@{'!' * guard.negated}{guard.predicate.text} " if guard else ""
    operands = [one.text for one in node.operands]
    if node.name == "bra":
        assert guard is not None
        return f"@{'!' * (not guard.negated)}{guard.predicate.text} {node.opcode} {operands[0]};"
    if place.operand is not None:
        turned, at = "%forced_side", 1 + place.operand
        before = f"not.pred {turned}, {operands[at]};"
        operands[at] = turned
        now = f"{asked}{node.opcode} {', '.join(operands)};"
        return f"{{ .reg .pred {turned}; {before} {now} }}"
    if node.name == "setp":
        kind, bits, rest = (
            node.opcode.split(".")[1],
            _WIDTHS[node.modifiers[-1][1:]],
            "%forced_side",
        )
        target, first, second = operands
        return (
            f"{{ .reg .b{bits} {rest}; sub.s{bits} {rest}, {first}, {second}; "
            f"and.b{bits} {rest}, {rest}, 3; setp.{kind}.s{bits} {target}, {rest}, 0; }}"
        )
    if node.name == "selp":
        operands[1], operands[2] = operands[2], operands[1]
        return f"{asked}{node.opcode} {', '.join(operands)};"
    if node.name in _OTHER:
        opcode = _OTHER[node.name] + node.opcode[len(node.name) :]
        return f"{asked}{opcode} {', '.join(operands)};"
    width = _width(step)
    if node.name in _ADDING:
        return f"{asked}add.s{width} {operands[0]}, {operands[3]}, 1;"
    return f"{asked}mov.b{width} {operands[0]}, {number};"
