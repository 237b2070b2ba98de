"""One run of a kernel on the simulator, and everything that it leaves behind."""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dialect import Dialect
from ptxkit.decompiler.verify.inputs import Inputs
from ptxkit.decompiler.verify.ordering import Order, order_of
from ptxkit.decompiler.verify.products import products
from ptxkit.decompiler.verify.trials import Trial
from ptxkit.decompiler.verify.usage import stored_bytes
from ptxkit.decompiler.verify.widening import widenings
from ptxkit.run import RunReport, load
from ptxkit.syntax import Instruction, Module
from ptxkit.syntax.scopes import Scopes

_STEPS = 100_000
#: A candidate may take so many times as many steps: another order of blocks is no difference.
_SLOWER = 10
#: In another order the lanes of a warp go apart, and each takes its own steps.
_APART = 40
#: Seconds on a clock for a launch of the original, and of the candidate after it: a busy machine
#: must not make one of them fail alone.
_SECONDS, PATIENT = 1.0, 10.0

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
    """Loads from memory that nobody else is said to write to."""
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
        self.products = products(self.coverage.instructions())
        self.widenings = widenings(self.coverage)
        self._signs = {start: one.kind for start, one in self.widenings.items()}
        self.load_sites = sum(map(_loads, self.coverage.instructions()))
        self.dialect = Dialect.of(self.coverage.instructions(), Scopes(module))
        self._slower, self._seconds = (_SLOWER, PATIENT) if patient else (1, _SECONDS)
        self._initial: dict[str, Any] = {}

    def run(
        self,
        trial: Trial,
        inputs: Inputs,
        variables: Mapping[str, str],
        memory: list[Any] | None = None,
        seconds: float | None = None,
        **options: Any,
    ) -> Outcome:
        """Launch it with memory and some variables as they were at first.

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
        with contextlib.redirect_stdout(printed):
            report = launcher(
                *inputs.typed(self.kernel.parameters), memory=memory or inputs.memory, threads=1,
                step_limit=_STEPS * (1 + trial.cooperative) * slower,
                time_limit=seconds or self._seconds, count=True, **options,
            )  # fmt: skip
        surfaces = [s.array.tobytes() for s in inputs.surfaces]
        for surface, before in zip(inputs.surfaces, textures, strict=True):
            if surface.writable:
                surface.array[...] = before
        kept = {name: self.loaded.variable(own).tobytes() for name, own in variables.items()}
        memory = [arena.whole.tobytes() for arena in inputs.arenas]
        return _outcome(report, (self.products, self._signs), memory, kept, surfaces)

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


def _outcome(
    report: RunReport,
    kinds: tuple[dict[int, str], dict[int, str]],
    memory: list[bytes],
    variables: dict[str, bytes],
    surfaces: list[bytes],
) -> Outcome:
    """What a report counts, beside what is in memory."""
    events: Counter[str] = Counter()
    orders: Counter[Order] = Counter()
    multiplied: Counter[str] = Counter()
    widened: Counter[str] = Counter()
    loads = trusting = stored = 0
    for node, count in report.counts:
        order = order_of(node) if count else None
        if order is not None:
            orders[order] += count
        for counted, kind in zip((multiplied, widened), kinds, strict=True):
            if node.span[0] in kind:
                counted[kind[node.span[0]]] += count
        if node.name in _COUNTED:
            events[_event(node)] += count
        elif _loads(node):
            loads += count
            trusting += count * (".nc" in node.modifiers)
        elif node.name == "st" and not _PRIVATE.intersection(node.modifiers):
            stored += count * stored_bytes(node)
    return Outcome(
        memory, variables, surfaces, report.output, +events, loads, trusting, stored, orders,
        multiplied, widened, report,
    )  # fmt: skip


def _event(node: Instruction) -> str:
    """What is counted: of atomics each operation by itself, as one may undo another's work.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { red.global.add.s32 [a], b; atom.global.add.u32 c, [a], b; }")
    >>> [_event(i) for i in m["f"].instructions]
    ['atomics (add.b32)', 'atomics (add.b32)']
    """
    what = _COUNTED[node.name]
    if what != "atomics":
        return what
    operation = next((m for m in node.modifiers if m in _SIGNLESS or m in _ORDERED), "")
    type = node.modifiers[-1][1:]
    if operation in _SIGNLESS:
        type = _SIGNED.sub("b", type)
    return f"{what} ({operation[1:]}.{type})"


def _loads(node: Instruction) -> bool:
    return node.name == "ld" and ".global" in node.modifiers
