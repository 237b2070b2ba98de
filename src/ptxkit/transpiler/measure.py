"""What the Python of a file looks like, in numbers."""

from __future__ import annotations

import ast
from dataclasses import dataclass

_JUMPS = frozenset(("bra", "brx", "label"))


@dataclass(frozen=True, slots=True)
class Measure:
    """Lines and functions of a Python file that :func:`ptxkit.to_python` made."""

    lines: int
    """Lines that are not blank."""
    body_lines: int
    """Those in functions, with their heads."""
    functions: int
    """Functions with a body."""
    raised: int
    """Those that have neither a label nor a branch."""


def measure(python: str) -> Measure:
    """Measure a file.

    >>> measure('''
    ... from ptxkit.dsl import ptx
    ... @module.kernel
    ... def k():
    ...     ptx.label("here")
    ...     ptx.ret()
    ... ''')
    Measure(lines=5, body_lines=4, functions=1, raised=0)
    """
    texts = python.splitlines()
    lines = sum(1 for text in texts if text.strip())
    body_lines = functions = raised = 0
    for node in ast.parse(python).body:
        if not isinstance(node, ast.FunctionDef) or _is_declaration(node):
            continue
        functions += 1
        raised += not any(_is_jump(inner) for inner in ast.walk(node))
        begin = min(one.lineno for one in [node, *node.decorator_list])
        body_lines += sum(1 for text in texts[begin - 1 : node.end_lineno] if text.strip())
    return Measure(lines, body_lines, functions, raised)


def _is_declaration(node: ast.FunctionDef) -> bool:
    return len(node.body) == 1 and isinstance(node.body[0], ast.Pass)


def _is_jump(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr in _JUMPS
        and isinstance(node.value, ast.Name)
        and node.value.id == "ptx"
    )
