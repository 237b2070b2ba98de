"""Drop values that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ptxkit.decompiler.lift.flow import Flow
from ptxkit.decompiler.lift.reading import exit_values, leaves
from ptxkit.decompiler.lift.values import (
    Definition,
    FactTable,
    Step,
    Value,
    Variable,
)


@dataclass(frozen=True, slots=True)
class Reads:
    """What a function reads."""

    uses: dict[Definition, int]
    """How often each definition is read."""
    pinned: set[Variable]
    """Variables that are read though nothing writes them."""


def drop_unread(flow: Flow, facts: FactTable) -> Reads:
    """Drop what nobody reads and has no effect; tell what is read after that."""
    where: dict[Variable, list[Step]] = {}
    reads: dict[Variable, int] = {}
    uses: dict[Definition, int] = {}

    def count(value: Value, by: int) -> None:
        for definition in leaves(value):
            variable = definition.variable
            reads[variable] = reads.get(variable, 0) + by
            uses[definition] = uses.get(definition, 0) + by
        for variable in _in_memory(value):
            reads[variable] = reads.get(variable, 0) + by

    written: set[Definition] = set()
    for block in flow.blocks.values():
        for step in block.statements:
            for value in step.args:
                count(value, 1)
            if step.kind == "set":
                where.setdefault(step.targets[0].variable, []).append(step)
            written.update(step.targets)
        for value in exit_values(block):
            count(value, 1)
    dead: set[int] = set()
    pending = [v for v in where if not reads.get(v)]
    while pending:
        variable = pending.pop()
        for step in where[variable]:
            value = step.args[0]
            if id(step) in dead or facts.of(value).effect or variable.role == "result":
                continue
            if "volatile" in facts.of(value).loads:
                continue
            dead.add(id(step))
            count(value, -1)
            for definition in leaves(value):
                other = definition.variable
                if not reads.get(other) and other in where:
                    pending.append(other)
    for block in flow.blocks.values():
        kept = []
        for step in block.statements:
            if id(step) in dead:
                continue
            unread = step.kind == "set" and not reads.get(step.targets[0].variable)
            if unread and step.args[0].op in ("atomic", "collective", "function"):
                # Its effect is wanted, its result is not.
                step = Step("effect", [], step.args, step.data, step.line)
            kept.append(step)
        block.statements = kept
    pinned = {d.variable for d in uses if d not in written and d.variable.definitions == 1}
    return Reads(uses, pinned)


def _in_memory(value: Value) -> Iterator[Variable]:
    """Structures that a value is, or a part of: they are read by their addresses."""
    stack = [value]
    while stack:
        one = stack.pop()
        if one.op in ("slot", "whole"):
            yield one.data
        stack.extend(one.args)
