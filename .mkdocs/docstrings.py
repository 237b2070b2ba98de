"""How docstrings become Markdown for the reference: sessions as blocks, roles as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|mod|meth|attr|data|exc):`~?([^`]+)`")
_PROMPT = re.compile(r"^( *)>>> ")


def markdown(text: str) -> str:
    """A docstring with its sessions fenced."""
    made: list[str] = []
    inside = False
    for line in text.splitlines():
        found = _PROMPT.match(line)
        if found and not inside:
            made += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            made.append("```")
            inside = False
        made.append(line if inside else _ROLE.sub(lambda role: f"`{role[1]}`", line))
    if inside:
        made.append("```")
    return "\n".join(made)


class Docstrings(griffe.Extension):
    """Rewrites every docstring that is read."""

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **_: Any) -> None:
        """Called once for each module, class, function and attribute."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
