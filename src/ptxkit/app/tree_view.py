"""A tree of CUDA C++ as a list that opens and closes, without any script."""

from __future__ import annotations

from dataclasses import fields

from ptxkit.app.markup import text
from ptxkit.cuda import Node, nodes
from ptxkit.cuda.printer import print_expression

_MOST, _OPEN = 1_500, 4


def tree(node: Node) -> str:
    """The tree; the first levels are open.

    >>> from ptxkit.cuda import read
    >>> tree(read("(= x (+ a 1))")).count("<li>")
    4
    """
    left = [_MOST]
    body = _item(node, "", 0, left)
    cut = "" if left[0] > 0 else f"<p class='pk-aside'>only {_MOST:,} nodes are shown</p>"
    return (
        "<div class='pk-pane pk-tree' tabindex='0' role='region' aria-label='syntax tree'>"
        f"{body}{cut}</div>"
    )


def _item(node: Node, place: str, depth: int, left: list[int]) -> str:
    left[0] -= 1
    if left[0] <= 0:
        return ""
    role = f"<i>{text(place)}</i> " if place else ""
    label = f"{role}<b>{type(node).__name__}</b> {text(' '.join(_words(node)))}"
    below = []
    for one in fields(node):  # type: ignore[arg-type]
        value = getattr(node, one.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Node):
                below.append(f"<li>{_item(part, one.name, depth + 1, left)}</li>")
    if not below:
        return f"<span>{label}</span>"
    state = " open" if depth < _OPEN else ""
    return f"<details{state}><summary>{label}</summary><ul>{''.join(below)}</ul></details>"


def _words(node: Node) -> list[str]:
    if isinstance(node, nodes.Literal):
        return [print_expression(node)]
    found = []
    for one in fields(node):  # type: ignore[arg-type]
        value = getattr(node, one.name)
        spelled = getattr(value, "spelling", value)
        if isinstance(spelled, str) and spelled:
            found.append(spelled)
    return found
