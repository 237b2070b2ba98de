"""A second implementation of the stack machine, written to be obvious.

It runs a program item by item on values of 32 lanes: no graph, no sharing, no folding, no
registers. What an instruction computes comes from the simulator; everything else that
the compiler does is done here in another way, by Python lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ptxkit.stack import Interface, words

Lanes = npt.NDArray[np.uint64]  # 32 values
ALL = 0xFFFFFFFF
SLOT_COUNT = 16


@dataclass
class State:
    """The stacks of the running routine, and the slots."""

    stacks: list[list[Lanes]]
    slots: dict[tuple[int, int], Lanes] = field(default_factory=dict)

    def copy(self) -> State:
        return State([list(stack) for stack in self.stacks], dict(self.slots))


class Naive:
    """Runs programs of an interface on inputs of 32 lanes."""

    def __init__(self, interface: Interface) -> None:
        self.interface, self.isa = interface, interface.isa
        self.native = interface.isa.native
        self.predicates = interface.isa.stack_number("pred")
        self.inputs: list[Lanes] = []

    def run(self, data: bytes, inputs: dict[str, Lanes]) -> list[Lanes]:
        """The outputs of a program; zeros where it has none."""
        self.inputs = [inputs[one.name] for one in self.interface.inputs]
        state = State([[] for _ in self.isa.stacks])
        self._block(list(words.unpack(data)), state, [])
        made = []
        depths = [0] * len(self.isa.stacks)
        for output in reversed(self.interface.outputs):
            stack = self.isa.stack_number(output.stack)
            if output.slot is not None:
                value = state.slots.get((stack, output.slot))
            else:
                depths[stack] += 1
                found = state.stacks[stack]
                value = found[-depths[stack]] if depths[stack] <= len(found) else None
            made.append(np.zeros(32, np.uint64) if value is None else value)
        return made[::-1]

    def _block(self, items: list[tuple[int, ...]], state: State, arguments: list[Lanes]) -> None:
        at = 0
        while at < len(items):
            kind, guard, stack, index, payload = items[at]
            at += 1
            if kind in (words.IF, words.REPEAT, words.WHILE):
                first, second, at = _sides(items, at, kind)
                self._open(kind, index, first, second, state, arguments)
            elif guard & words.GUARDED and kind not in (words.ELSE, words.END):
                if state.stacks[self.predicates]:
                    condition = state.stacks[self.predicates].pop()
                    if guard & words.NEGATED:
                        condition = condition ^ np.uint64(1)
                    bare = [(kind, 0, stack, index, payload)]
                    self._either(condition, bare, [], state, arguments)
            else:
                self._one(kind, stack, index, payload, state, arguments)

    def _open(
        self,
        kind: int,
        index: int,
        first: list[tuple[int, ...]],
        second: list[tuple[int, ...]],
        state: State,
        arguments: list[Lanes],
    ) -> None:
        predicates = self.predicates
        if kind == words.REPEAT:
            for _ in range(index):
                self._block(first, state, arguments)
        elif kind == words.IF:
            if state.stacks[predicates]:
                self._either(state.stacks[predicates].pop(), first, second, state, arguments)
        else:
            active = np.ones(32, np.uint64)
            for _ in range(index):
                if not state.stacks[predicates]:
                    break
                active = active & state.stacks[predicates].pop()
                self._either(active, first, [], state, arguments)

    def _either(
        self,
        condition: Lanes,
        first: list[tuple[int, ...]],
        second: list[tuple[int, ...]],
        state: State,
        arguments: list[Lanes],
    ) -> None:
        other = state.copy()
        self._block(first, state, arguments)
        self._block(second, other, arguments)
        holds = condition != 0
        for number, (a, b) in enumerate(zip(state.stacks, other.stacks, strict=True)):
            state.stacks[number] = [np.where(holds, x, y) for x, y in zip(a, b, strict=False)]
        both = state.slots.keys() & other.slots.keys()
        state.slots = {k: np.where(holds, state.slots[k], other.slots[k]) for k in both}

    def _one(
        self, kind: int, stack: int, index: int, payload: int, state: State, arguments: list[Lanes]
    ) -> None:
        stacks = state.stacks
        if kind == words.INSTRUCTION:
            self._instruction(index, payload, state)
        elif kind == words.CONSTANT:
            stacks[stack].append(np.full(32, payload, np.uint64))
        elif kind == words.INPUT:
            number = self.isa.stack_number(self.interface.inputs[index].stack)
            stacks[number].append(self.inputs[index])
        elif kind == words.ARGUMENT:
            raise NotImplementedError("arguments are pushed by _call's caller")
        elif kind == words.CALL:
            raise NotImplementedError("routines have tests of their own")
        elif kind not in (words.NOTHING, words.ELSE, words.END):
            self._handle(kind, stack, index, state)

    def _handle(self, kind: int, stack: int, index: int, state: State) -> None:
        values = state.stacks[stack]
        depth = len(values)
        if kind == words.FROM_SLOT:
            if (stack, index) in state.slots:
                values.append(state.slots[stack, index])
        elif kind == words.CLEAR:
            values.clear()
        elif depth == 0:
            return
        elif kind == words.DUP and index < depth:
            values.append(values[-1 - index])
        elif kind == words.SWAP and index + 1 < depth:
            values[-1], values[-2 - index] = values[-2 - index], values[-1]
        elif kind == words.DROP:
            values.pop()
        elif kind == words.YANK and index < depth:
            values.append(values.pop(-1 - index))
        elif kind == words.ROTATE and index < depth:
            values.insert(depth - 1 - index, values.pop())
        elif kind == words.REVERSE:
            values.reverse()
        elif kind == words.REPLACE and index + 1 < depth:
            top = values.pop()
            values[-1 - index] = top
        elif kind == words.TO_SLOT:
            state.slots[stack, index] = values.pop()

    def _instruction(self, index: int, payload: int, state: State) -> None:
        row = self.isa.row(index)
        numbers = [self.isa.stack_number(name) for name in row.arguments]
        for number in set(numbers):
            if len(state.stacks[number]) < numbers.count(number):
                return
        taken = [state.stacks[number].pop() for number in reversed(numbers)][::-1]
        results = self.compute(row.name, index, payload, taken)
        for name, value in zip(row.results, results, strict=True):
            state.stacks[self.isa.stack_number(name)].append(value)

    def compute(self, name: str, index: int, payload: int, taken: list[Lanes]) -> list[Lanes]:
        """The results of one instruction."""
        if name in SPECIAL:
            return [SPECIAL[name]]
        if name == "lop3.b32":
            return [_truth_table(payload % 256, *taken)]
        given = np.ascontiguousarray(taken, np.uint64).tobytes()
        made = np.frombuffer(self.native.apply(index, given, ALL), np.uint64)
        return list(made.reshape(-1, 32))


_LANE = np.arange(32, dtype=np.uint64)
_ONE = np.uint64(1)
#: Special registers in a grid of one block of one warp.
SPECIAL: dict[str, Lanes] = {
    "%tid.x": _LANE,
    "%laneid": _LANE,
    "%lanemask_eq": _ONE << _LANE,
    "%lanemask_lt": (_ONE << _LANE) - _ONE,
    "%lanemask_le": (_ONE << (_LANE + _ONE)) - _ONE,
    "%lanemask_gt": np.uint64(ALL) ^ ((_ONE << (_LANE + _ONE)) - _ONE),
    "%lanemask_ge": np.uint64(ALL) ^ ((_ONE << _LANE) - _ONE),
    "%ntid.x": np.full(32, 32, np.uint64),
    **{f"%{name}.{axis}": np.zeros(32, np.uint64) for name in ("tid", "ctaid") for axis in "yz"},
    **{f"%{name}.{axis}": np.ones(32, np.uint64) for name in ("ntid", "nctaid") for axis in "yz"},
    "%ctaid.x": np.zeros(32, np.uint64),
    "%nctaid.x": np.ones(32, np.uint64),
}


def _truth_table(table: int, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """What lop3 computes: each bit of the table for one combination of bits."""
    made = np.zeros(32, np.uint64)
    for case in range(8):
        if table >> case & 1:
            made |= (
                (a if case & 4 else ~a) & (b if case & 2 else ~b) & (c if case & 1 else ~c)
            )  # fmt: skip
    return made & np.uint64(ALL)


def _sides(
    items: list[tuple[int, ...]], at: int, kind: int
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], int]:
    """What stands before and after ``else``, and where the block ends."""
    depth, begin, middle = 0, at, None
    while at < len(items):
        one = items[at][0]
        if one in (words.IF, words.REPEAT, words.WHILE):
            depth += 1
        elif one == words.END:
            if depth == 0:
                break
            depth -= 1
        elif one == words.ELSE and depth == 0 and middle is None and kind == words.IF:
            middle = at
        at += 1
    if middle is None:
        return items[begin:at], [], at + 1
    return items[begin:middle], items[middle + 1 : at], at + 1
