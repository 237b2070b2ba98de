"""One run of a kernel on the simulator, and everything that it leaves behind."""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

import numpy as np

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dialect import Dialect
from ptxkit.decompiler.verify.inputs import Inputs
from ptxkit.decompiler.verify.ordering import Order, order_of
from ptxkit.decompiler.verify.products import products
from ptxkit.decompiler.verify.trials import Trial
from ptxkit.decompiler.verify.usage import stored_bytes
from ptxkit.decompiler.verify.widening import widenings
from ptxkit.run import RunReport, SimulationError, load
from ptxkit.run.watch import Point
from ptxkit.syntax import Instruction, Module, evaluate
from ptxkit.syntax.scopes import Scopes

_STEPS = 100_000
#: A candidate may take so many times as many steps: another order of blocks is no difference.
_SLOWER = 10
#: In another order the lanes of a warp go apart, and each takes its own steps.
_APART = 40
#: Seconds on a clock for a launch of the original, and of the candidate after it: a busy machine
#: must not make one of them fail alone.
_SECONDS, PATIENT = 1.0, 10.0

#: What a launch costs, in seconds as they are on most machines: for itself, for each instruction
#: of the kernel, for each that a warp runs, for each register that is looked at, and for each byte
#: of memory. Limits count in these and not in those of a clock, so that what is tried does not
#: depend on the machine.
_LAUNCH, _WRITTEN, _RUN, _LOOKED_AT, _BYTE = 0.3e-3, 0.8e-6, 50e-9, 4e-6, 1e-9
#: The same for each visit of a place that is looked at and each register there, summed up or kept.
_SUMMED, _KEPT = 0.5e-6, 5e-6

#: What must happen equally often, whatever it is called.
_COUNTED = {
    "bar": "barriers", "barrier": "barriers", "membar": "fences", "fence": "fences",
    "atom": "atomics", "red": "atomics", "shfl": "shuffles", "vote": "votes", "match": "votes",
    "redux": "votes", "trap": "traps", "nanosleep": "sleeps",
}  # fmt: skip
#: What the bits that are stored do not depend on the type of, if it is one of integers.
_SIGNLESS = frozenset((".add", ".and", ".or", ".xor", ".exch", ".cas"))
_ORDERED = frozenset((".min", ".max", ".inc", ".dec"))
_SIGNED = re.compile(r"[su](?=\d)")
_Kind = TypeVar("_Kind")
#: Stores that no other thread sees.
_PRIVATE = frozenset((".param", ".local", ".param::func", ".param::entry"))


@dataclass(slots=True)
class Outcome:
    """What one run left behind."""

    memory: list[bytes]
    variables: dict[str, bytes]
    surfaces: list[bytes]
    output: str
    events: Counter[str]
    loads: int
    trusting: int
    """Bytes loaded from memory that nobody is said to write to, but for those `Side.promised`."""
    stored: int
    """Bytes written to memory that others see, as often as they are."""
    orders: Counter[Order]
    products: Counter[str]
    """How often numbers were multiplied with all bits of the result, and with half of them."""
    widened: Counter[str]
    """How often numbers got more bits with their sign, and without."""
    report: RunReport


class Side:
    """One of two kernels that are compared, ready to run."""

    def __init__(self, module: Module, kernel: str, patient: bool = False) -> None:
        """With ``patient`` it may take longer, as a candidate may after its original."""
        self.module = module
        self.name = kernel
        self.loaded = load(module, "cpu")
        self.kernel = self.loaded[kernel]
        self.coverage = Coverage.of(module, module[kernel])
        self.products = products(self.coverage)
        self.widenings = widenings(self.coverage)
        self._signs = {start: one.kind for start, one in self.widenings.items()}
        self.load_sites = sum(map(_loads, self.coverage.instructions()))
        self.dialect = Dialect.of(self.coverage.instructions(), Scopes(module))
        self.promised: frozenset[int] = frozenset()
        """Loads, by their starts, through pointers with which the original loads nothing that
        somebody may write to: to do these more often asks for no other promise."""
        self.cost = 0.0
        """What all launches until now cost."""
        self._length = sum(len(block.instructions) for block in self.coverage.blocks)
        self._kinds: dict[int, _Kinds] = {}
        self._slower, self._seconds = (_SLOWER, PATIENT) if patient else (1, _SECONDS)
        self._initial: dict[str, Any] = {}

    def run(
        self,
        trial: Trial,
        inputs: Inputs,
        variables: Mapping[str, str],
        memory: list[Any] | None = None,
        seconds: float | None = None,
        most: float = inf,
        **options: Any,
    ) -> Outcome:
        """Launch it with memory and some variables as they were at first.

        It takes ``seconds`` on a clock, and never more than the ``most``.

        ``variables`` gives what is called so here for each name that both sides know.
        """
        for arena in inputs.arenas:
            arena.restore()
        textures = [s.array.copy() for s in inputs.surfaces]
        self._set_variables(variables, inputs)
        launcher = self.kernel[trial.grid, trial.block, trial.shared]
        if trial.cluster or trial.cooperative:
            launcher = launcher.with_options(
                cluster=(trial.cluster, 1, 1) if trial.cluster else None,
                cooperative=trial.cooperative,
            )
        slower = self._slower * (_APART if options.get("descending") else 1)
        printed = io.StringIO()
        patience = min(seconds or self._seconds, most)
        self.cost += _LAUNCH + self._length * _WRITTEN
        self.cost += sum(arena.whole.size for arena in inputs.arenas) * _BYTE
        points = options.get("points", ())
        looked_at = sum(2 + len(one.registers) for one in points)
        self.cost += looked_at * _LOOKED_AT
        each = self.each_run(points)
        try:
            with contextlib.redirect_stdout(printed):
                report = launcher(
                    *inputs.typed(self.kernel.parameters), memory=memory or inputs.memory,
                    threads=1, step_limit=_STEPS * (1 + trial.cooperative) * slower,
                    time_limit=patience, count=True, **options,
                )  # fmt: skip
        except SimulationError as error:
            late = error.kind == "time-limit"
            self.cost += patience if late else error.warp_instructions * each
            raise
        self.cost += report.warp_instructions * each
        surfaces = [s.array.tobytes() for s in inputs.surfaces]
        for surface, before in zip(inputs.surfaces, textures, strict=True):
            if surface.writable:
                surface.array[...] = before
        kept = {name: self.loaded.variable(own).tobytes() for name, own in variables.items()}
        memory = [arena.whole.tobytes() for arena in inputs.arenas]
        counted = self._kinds_of(report.counts.instructions).counted(report.counts.executed)
        return Outcome(memory, kept, surfaces, report.output, *counted, report)

    def each_run(self, points: Sequence[Point] = ()) -> float:
        """What an instruction costs that a warp runs, where some places are looked at.

        All instructions are taken to run equally often.
        """
        visits = sum(
            (1 + len(one.registers)) * (_KEPT if one.tuples else _SUMMED) for one in points
        )
        return _RUN + visits / max(1, self._length)

    def _kinds_of(self, instructions: tuple[Instruction, ...]) -> _Kinds:
        """What the operations of launches are counted as; they are the same each time."""
        if id(instructions) not in self._kinds:
            self._kinds[id(instructions)] = _Kinds(
                instructions, self.products, self._signs, self.promised
            )
        return self._kinds[id(instructions)]

    def _set_variables(self, variables: Mapping[str, str], inputs: Inputs) -> None:
        """Give every variable of the module its value again."""
        for name, own in variables.items():
            array = self.loaded.variable(own)
            start = self._initial.setdefault(name, array.copy())
            value = inputs.variables.get(name, start)
            if value.size == array.size:
                array[:] = value

    def before(self, name: str, inputs: Inputs) -> bytes:
        """What a variable held at the start of a run."""
        return bytes(inputs.variables.get(name, self._initial[name]).tobytes())


class _Kinds:
    """What the operations of a kernel are counted as, by their place in the counts of a launch."""

    def __init__(
        self,
        instructions: tuple[Instruction, ...],
        products: Mapping[int, str],
        signs: Mapping[int, str],
        promised: frozenset[int],
    ) -> None:
        self.instructions = instructions
        """Kept, as it is known by its identity."""
        self.orders: list[tuple[int, Order]] = []
        self.products: list[tuple[int, str]] = []
        self.signs: list[tuple[int, str]] = []
        self.events: list[tuple[int, str]] = []
        loads = []
        trusting, widths = np.zeros((2, len(instructions)), np.int64)
        for place, node in enumerate(instructions):
            order = order_of(node)
            if order is not None:
                self.orders.append((place, order))
            for found, kinds in ((self.products, products), (self.signs, signs)):
                if node.span[0] in kinds:
                    found.append((place, kinds[node.span[0]]))
            if node.name in _COUNTED:
                self.events.append((place, event(node)))
            elif _loads(node):
                loads.append(place)
                # Two loads are one of twice as many bytes.
                trusts = ".nc" in node.modifiers and node.span[0] not in promised
                trusting[place] = stored_bytes(node) * trusts
            elif node.name == "st" and not _PRIVATE.intersection(node.modifiers):
                widths[place] = stored_bytes(node)
        self._loads, self._trusting, self._widths = np.array(loads, np.int64), trusting, widths

    def counted(
        self, executed: np.ndarray[Any, np.dtype[np.int64]]
    ) -> tuple[Counter[str], int, int, int, Counter[Order], Counter[str], Counter[str]]:
        """The counts of an outcome, in the order of its fields."""
        return (
            _sums(self.events, executed),
            int(executed[self._loads].sum()),
            int(executed @ self._trusting),
            int(executed @ self._widths),
            _sums(self.orders, executed),
            _sums(self.products, executed),
            _sums(self.signs, executed),
        )


def _sums(kinds: Sequence[tuple[int, _Kind]], executed: Any) -> Counter[_Kind]:
    """How often operations of each kind ran, of kinds that did."""
    found: Counter[_Kind] = Counter()
    for place, kind in kinds:
        if executed[place]:
            found[kind] += int(executed[place])
    return found


def event(node: Instruction) -> str:
    """What is counted: of atomics each operation by itself, as one may undo another's work.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { red.global.add.s32 [a], b; atom.global.add.u32 c, [a], b; }")
    >>> [event(i) for i in m["f"].instructions]
    ['atomics (add.b32)', 'atomics (add.b32)']
    """
    what = _COUNTED[node.name]
    if what == "barriers" and node.operands:
        # Which one it is decides who waits for whom.
        number = evaluate(node.operands[int(".red" in node.modifiers)])
        return what if number == 0 else f"{what} {number}"
    if what != "atomics":
        return what
    operation = next((m for m in node.modifiers if m in _SIGNLESS or m in _ORDERED), "")
    type = node.modifiers[-1][1:]
    if operation in _SIGNLESS:
        type = _SIGNED.sub("b", type)
    return f"{what} ({operation[1:]}.{type})"


def _loads(node: Instruction) -> bool:
    return node.name == "ld" and ".global" in node.modifiers
