"""Copies into shared memory that go on beside the program, by the functions of ``cuda_pipeline.h``.

Their instructions are known by the text that the lifter writes for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import SCALARS, Array, Pointer
from ptxkit.decompiler.lift.context import copied_bytes
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.places import Places
from ptxkit.decompiler.lift.values import Step, Value, Variable, parts_of, replaced

HEADER = "cuda_pipeline.h"
#: What is not the same when it is done again, or elsewhere.
_ONCE = frozenset("load atomic collective function call printf texture".split())
_WAIT = re.compile(r"cp\.async\.wait_group (\d+);")


@dataclass(slots=True)
class Pipelines:
    """Writes the asynchronous copies of one function."""

    program: Program
    places: Places

    def written(self, step: Step) -> n.Expression | None:
        """The call that an instruction is; None for any other one."""
        text, outputs, _, _ = step.data
        if outputs or not text.startswith("cp.async."):
            return None
        if text == "cp.async.commit_group;":
            return n.Call("__pipeline_commit", ())
        wait = _WAIT.fullmatch(text)
        if wait:
            return n.Call("__pipeline_wait_prior", (n.integer(int(wait[1])),))
        size = copied_bytes(text)
        target = self._address(step.args[0]) if size else None
        if target is None:
            return None
        source = self._pointer(step.args[1])
        return n.Call("__pipeline_memcpy_async", (target, source, n.integer(size)))

    def _address(self, value: Value) -> n.Expression | None:
        """A place in an array of shared memory."""
        value = self._resolved(value)
        base = self.places.emitter.kinds.base(value)
        return self._pointer(value) if base is not None and base.op == "symbol" else None

    def _pointer(self, value: Value) -> n.Expression:
        base = self.places.emitter.kinds.base(value)
        array = self.places.base_expression(base).type if base is not None else None
        element = array.target if isinstance(array, Pointer) else (
            array.element if isinstance(array, Array) else SCALARS["char"])  # fmt: skip
        return self.places.pointer(value, Pointer(element), "global")

    def _resolved(self, value: Value) -> Value:
        """A value with what variables always hold: its array may only be seen behind them."""
        for _ in range(4):
            known = {t.data.variable for t in parts_of([value], set()) if t.op == "var"}
            held = {v: made for v in known if (made := self._held(v)) is not None}
            if not held:
                break
            value = replaced(value, lambda one, held=held: held.get(one.data.variable))  # type: ignore[misc]
        return value

    def _held(self, variable: Variable) -> Value | None:
        """What a variable is set to, once and of things that do not change."""
        if variable.definitions != 1:
            return None
        steps = [s for block in self.program.flow.blocks.values() for s in block.statements
                 if any(t.variable is variable for t in s.targets)]  # fmt: skip
        if len(steps) != 1 or steps[0].kind != "set":
            return None
        value = steps[0].args[0]
        steady = all(
            part.data.variable.definitions <= 1 if part.op == "var" else part.op not in _ONCE
            for part in parts_of([value], set())
        )
        return value if steady else None
