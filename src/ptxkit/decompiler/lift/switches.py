"""Comparisons of one value with numbers, as the ``switch`` that a compiler made them of.

A compiler looks for a case by halves (``if (x > 3) if (x == 5) ...``), or asks one after the other,
or jumps by a table. All of these are a tree of questions about one value, in which each number ends
at one block: where all but a few numbers end at the same block it is a ``switch`` with these few as
its cases, whatever the order of the questions was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import UINT, Scalar, Type
from ptxkit.decompiler.lift.flow import Branch, Flow, Jump, Select
from ptxkit.decompiler.lift.intervals import (
    Numbers,
    among,
    beyond,
    count,
    equal,
    members,
    moved,
    without,
)

#: With fewer cases people write ``if``.
_LEAST = 3
#: So many numbers of one case at most; where there are more they are no cases.
_LABELS = 16
#: Of a tree that is larger and no switch, no part is taken for one.
_LARGE = 40
_BUILTINS = frozenset(
    n.builtin(f"{base}.{axis}")
    for base in ("threadIdx", "blockIdx", "blockDim", "gridDim")
    for axis in "xyz"
)


@dataclass(frozen=True, slots=True)
class _Question:
    """What a block asks: the value, its type, and the numbers that go to each block."""

    subject: n.Expression
    type: Scalar
    answers: tuple[tuple[Numbers, int], ...]
    single: int
    """How many numbers are asked for by themselves."""


@dataclass(slots=True)
class _Tree:
    """The questions below a block."""

    blocks: set[int] = field(default_factory=set)
    leaves: dict[int, Numbers] = field(default_factory=dict)
    passed: set[int] = field(default_factory=set)
    """Blocks on the way that do nothing."""
    single: int = 0


def find_switches(flow: Flow, types: Mapping[str, Type]) -> None:
    """Give the blocks that begin such a tree one exit with all of its cases."""
    changed = False
    refused: set[int] = set()
    for block in flow.order:
        if block in flow.blocks and block not in refused:
            found, inside = _switch(flow, block, types)
            if found is not None:
                flow.blocks[block].exit = found
                for other in inside - {block}:
                    del flow.blocks[other]
                changed = True
            elif len(inside) > _LARGE:
                # Not asked again from each of its blocks: that would take as long as it is large.
                refused |= inside
    if changed:
        flow.analyse()


def _switch(flow: Flow, root: int, types: Mapping[str, Type]) -> tuple[Select | None, set[int]]:
    """What a tree of questions that begins with a block is, if it is one, and its blocks."""
    first = _question(flow, root, types)
    if first is None or isinstance(flow.blocks[root].exit, Select):
        return None, set()
    tree = _Tree()
    pending: list[tuple[int, Numbers]] = [(root, without((), first.type.bits))]
    while pending:
        block, numbers = pending.pop()
        # Where a loop comes back to a block, that is a place to go to like others.
        asks = block not in tree.blocks and _only_asks(flow, root, block)
        asked = _question(flow, block, types) if asks else None
        if asked is None or (asked.subject, asked.type) != (first.subject, first.type):
            tree.leaves[block] = tuple(sorted((*tree.leaves.get(block, ()), *numbers)))
            continue
        tree.blocks.add(block)
        tree.single += asked.single
        for own, target in asked.answers:
            both = among(own, numbers)
            if both:
                pending.append((_onward(flow, target, tree), both))
    return _cases(flow, tree, first), tree.blocks


def _onward(flow: Flow, block: int, tree: _Tree) -> int:
    """Where control comes to from a block that may do nothing but go on."""
    while not flow.blocks[block].statements:
        exit = flow.blocks[block].exit
        if not isinstance(exit, Jump) or flow.is_back_edge(block, exit.target):
            break
        tree.passed.add(block)
        block = exit.target
    return block


def _only_asks(flow: Flow, root: int, block: int) -> bool:
    """Whether a block does nothing but ask, and is asked in one place."""
    alone = not flow.blocks[block].statements and flow.predecessors[block] != [block]
    return block == root or (alone and len(flow.predecessors[block]) == 1)


def _cases(flow: Flow, tree: _Tree, asked: _Question) -> Select | None:
    sizes = {block: count(numbers) for block, numbers in tree.leaves.items()}
    default = max(sizes, key=lambda block: sizes[block])
    cases: list[tuple[int, int]] = []
    for block, numbers in tree.leaves.items():
        if block == default:
            continue
        if sizes[block] > _LABELS:
            return None
        cases += [(_shown(number, asked.type), block) for number in members(numbers)]
    if tree.single < _LEAST or len(cases) < _LEAST:
        return None
    # Cases that others go on to as well: all of them but the end would need a goto.
    inside = tree.blocks | tree.passed
    shared = [
        block
        for block in tree.leaves
        if not inside.issuperset(flow.predecessors[block])
        and not any(flow.is_back_edge(one, block) for one in tree.blocks)
    ]
    if len(shared) > 1:
        return None
    cases.sort()
    return Select(
        asked.subject, tuple(b for _, b in cases), tuple(number for number, _ in cases), default
    )


# ---- questions -------------------------------------------------------------------------------


def _question(flow: Flow, block: int, types: Mapping[str, Type]) -> _Question | None:
    match flow.blocks[block].exit:
        case Branch(n.Binary(operator, left, n.Literal(value=int()) as number), then, otherwise):
            subject, offset = _moved(left)
            type = _type(subject, types)
            if type is None:
                return None
            signed = _is_signed(left, number, type, offset)
            if signed is None:
                return None
            yes = beyond(operator, int(number.value), type.bits, signed=signed)
            if yes is None:
                return None
            yes = moved(yes, offset, type.bits)
            no = without(yes, type.bits)
            single = int(operator in ("==", "!=") or count(yes) < _LEAST)
            return _Question(subject, type, ((yes, then), (no, otherwise)), single)
        case Select(value, targets, (), None):
            subject, offset = _moved(value)
            type = _type(subject, types)
            if type is None or (type.bits < 32 and offset):
                return None
            answers = tuple(
                (equal(place + offset, type.bits), target) for place, target in enumerate(targets)
            )
            # Beyond the table nothing is defined; the question before it has kept that away.
            return _Question(subject, type, answers, len(answers))
    return None


def _is_signed(left: n.Expression, number: n.Literal, type: Scalar, offset: int) -> bool | None:
    """Whether the bits of a value are compared with their sign; None where others are compared."""
    compared = left.type if isinstance(left, n.Cast) else type
    if not isinstance(compared, Scalar):
        return None
    if type.bits == 32:
        return compared.signed and number.type.signed if compared.bits == 32 else None
    # What is narrow becomes an int, with its sign or with the one of a cast.
    signed = compared.signed if compared.bits == type.bits else type.signed
    least = -(1 << (type.bits - 1)) if signed else 0
    fits = least <= int(number.value) < least + (1 << type.bits)
    wide = compared.bits == 32 and compared.signed
    plain = (compared.bits == type.bits or wide) and number.type.signed
    return signed if fits and plain and not offset else None


def _moved(node: n.Expression) -> tuple[n.Expression, int]:
    """What a number is subtracted from, and the number; 0 where there is none."""
    match _bare(node):
        case n.Binary("-", left, n.Literal(value=int() as value)):
            return _bare(left), int(value)
        case n.Binary("+", left, n.Literal(value=int() as value)):
            return _bare(left), -int(value)
        case other:
            return other, 0


def _bare(node: n.Expression) -> n.Expression:
    """A value without a cast to another whole number."""
    type = node.type if isinstance(node, n.Cast) else None
    whole = isinstance(type, Scalar) and type.is_integer
    return node.operand if isinstance(node, n.Cast) and whole else node


def _type(subject: n.Expression, types: Mapping[str, Type]) -> Scalar | None:
    """The type of what is asked about, where it is a variable or an index of threads."""
    type: Type | None = UINT if subject in _BUILTINS else None
    if isinstance(subject, n.Name):
        type = types.get(subject.name)
    whole = isinstance(type, Scalar) and type.is_integer and type.bits in (8, 16, 32)
    return type if whole else None  # type: ignore[return-value]


def _shown(number: int, type: Scalar) -> int:
    """A number without a sign as one of a type."""
    return number - (1 << type.bits) if type.signed and number >> (type.bits - 1) else number
