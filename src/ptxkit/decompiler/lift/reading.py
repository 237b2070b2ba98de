"""Which values and variables a value or a block reads."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.decompiler.lift.flow import Branch, FlowBlock, Select
from ptxkit.decompiler.lift.values import (
    Definition,
    Value,
)


def exit_values(block: FlowBlock) -> tuple[Value, ...]:
    """The values that decide where control goes after a block."""
    exit = block.exit
    if isinstance(exit, Branch):
        return (exit.condition,)
    if isinstance(exit, Select):
        return (exit.value,)
    return ()


def set_exit(block: FlowBlock, value: Value) -> None:
    """Change the value that decides where control goes."""
    exit = block.exit
    if isinstance(exit, Branch):
        block.exit = Branch(value, exit.then, exit.otherwise)
    elif isinstance(exit, Select):
        block.exit = Select(value, exit.targets)


def leaves(value: Value) -> Iterator[Definition]:
    """The versions of variables in a value, as often as they occur."""
    stack = [value]
    while stack:
        one = stack.pop()
        if one.op == "var":
            yield one.data
        else:
            stack.extend(one.args)


def leaves_here(value: Value) -> list[Definition]:
    """The variables directly under an operation."""
    return [arg.data for arg in value.args if arg.op == "var"]
