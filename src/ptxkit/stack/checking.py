"""Instructions that users define, checked as PTX before a program can use them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptxkit.errors import UsageError
from ptxkit.isa import registers
from ptxkit.isa.checker import check_function
from ptxkit.stack.instructions import Instruction
from ptxkit.syntax import Function, Scopes, parse

if TYPE_CHECKING:
    from ptxkit.diagnostics import Diagnostic
    from ptxkit.stack.isa import Isa

_STAND_IN = re.compile(r"%operand(\d+)")


def check_rows(rows: Sequence[Instruction], isa: Isa) -> None:
    """Raise for the first instruction whose text is no PTX, or not what the row says."""
    for row in rows:
        if row.guardable and row.separate:
            raise UsageError(
                f"'{row.name}' is guardable, so its text is one instruction: a guard stands "
                "before the first only"
            )
        _check(row, isa)


def _check(row: Instruction, isa: Isa) -> None:
    stacks = (*row.results, *row.arguments)
    head = f".version {isa.version}\n.target {isa.target}\n.address_size 64\n.entry k()\n{{\n"
    head += "".join(
        f".reg .{isa.stack(stack).register} %operand{number};\n"
        for number, stack in enumerate(stacks)
    )
    text = row.written([f"%operand{number}" for number in range(len(stacks))])
    _check_braces(row, text)
    module = parse(f"{head}{{\n{text}\n}}\nret;\n}}\n", recover=True)
    function, scopes = module.functions[0], Scopes(module)
    for one in (*module.diagnostics, *check_function(function, scopes)):
        if one.severity == "error":
            raise UsageError(_said(row, one))
    _check_operands(row, function, scopes)


def _check_braces(row: Instruction, text: str) -> None:
    """What the text opens it closes, and nothing else."""
    depth = 0
    for kind, token, _, _ in parse(text, recover=True).tokens():
        if kind == "punctuation":
            depth += (token == "{") - (token == "}")
        if depth < 0:
            raise UsageError(f"the text of '{row.name}' has a '}}' that closes nothing of its own")
    if depth:
        raise UsageError(f"the text of '{row.name}' has a '{{' that is never closed")


def _check_operands(row: Instruction, function: Function, scopes: Scopes) -> None:
    """Results must be written; arguments must not, for others may still need their values."""
    written = {
        name.text for node in function.instructions for name in registers(node, scopes).defined
    }
    for number in range(len(row.results) + len(row.arguments)):
        is_result = number < len(row.results)
        if is_result and f"%operand{number}" not in written:
            raise UsageError(f"the text of '{row.name}' never writes its result ${number}")
        if not is_result and f"%operand{number}" in written:
            raise UsageError(
                f"the text of '{row.name}' writes its argument ${number}, which others may still "
                "need; copy it to a register of its own"
            )


def _said(row: Instruction, one: Diagnostic) -> str:
    """The diagnostic in the words of the row's text."""
    line = (one.source_line or "").strip()
    where = f" in '{line}'" if line else ""
    hint = f" ({one.hint})" if one.hint else ""
    said = f"the text of '{row.name}' is not right{where}: {one.message}{hint}"
    return _STAND_IN.sub(r"$\1", said)
