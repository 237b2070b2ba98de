"""What Warp generates, as clean targets: each kernel's own C++ or CUDA, without comments.

Warp writes one file for a module and puts every Python line into it as a comment. Here the
file is taken apart into its definitions; each goes to the kernel whose name it carries, to
the forward or the backward view.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_COMMENT = re.compile(r"[ \t]*//[^\n]*")
_DIRECTIVE = re.compile(r"^#.*(?:\\\n.*)*$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_PREFIXES = ("adj_", "wp_args_")
_BACKWARD = re.compile(r"\badj_\w+\(|_backward\b")


@dataclass(slots=True)
class Views:
    """The code of one kernel."""

    forward: list[str] = field(default_factory=list)
    backward: list[str] = field(default_factory=list)

    def texts(self) -> tuple[str, str]:
        """Both views as text."""
        return "\n".join(self.forward), "\n".join(self.backward)


def split(source: str, owners: dict[str, str]) -> dict[str, Views]:
    """Give every definition of a generated file to its kernel.

    `owners` says to which kernel a name belongs that Python code defines: its own, those of
    its functions and structs. Warp numbers functions by how often a process has seen their
    name; that number is removed.

    >>> code = "int f_1_4() {\\n  // return x\\n  return 1;\\n}\\nvoid k_1_forward() {\\n}\\n"
    >>> split(code, {"f_1": "k_1", "k_1": "k_1"})["k_1"].forward
    ['int f_1() {\\n  return 1;\\n}', 'void k_1_forward() {\\n}']
    """
    text = _DIRECTIVE.sub("", _COMMENT.sub("", source))
    numbered = _numbered(owners)
    found: dict[str, Views] = {kernel: Views() for kernel in owners.values()}
    for definition in _definitions(text.splitlines()):
        owner = _owner(definition, owners)
        if owner is None:
            continue
        if owner in numbered:
            definition = numbered[owner].sub(r"\1", definition)
        head = definition.partition("{")[0]
        views = found[owner]
        if _BACKWARD.search(head if "extern" not in head else definition.partition("(")[0]):
            views.backward.append(definition)
        else:
            views.forward.append(definition)
    return found


def _numbered(owners: dict[str, str]) -> dict[str, re.Pattern[str]]:
    """By kernel: the functions of its own, with numbers behind their names."""
    names: dict[str, list[str]] = {}
    for name, owner in owners.items():
        if name != owner:
            names.setdefault(owner, []).append(re.escape(name))
    return {
        owner: re.compile(rf"\b((?:adj_)?(?:{'|'.join(own)}))_\d+(?=\()")
        for owner, own in names.items()
    }


def _definitions(lines: Iterable[str]) -> Iterator[str]:
    """The pieces that end where all braces are closed, without empty lines."""
    piece: list[str] = []
    depth = 0
    for line in lines:
        line = line.rstrip()
        if not line:
            continue
        piece.append(line)
        opened = depth > 0 or "{" in line
        depth += line.count("{") - line.count("}")
        if depth == 0 and (opened or line.endswith(";")):
            yield "\n".join(piece)
            piece = []


def _owner(definition: str, owners: dict[str, str]) -> str | None:
    """The kernel whose name, or that of its function or struct, comes first."""
    for match in _WORD.finditer(definition):
        word = match[0]
        for prefix in _PREFIXES:
            word = word.removeprefix(prefix)
        while word:
            if word in owners:
                return owners[word]
            word = word.rpartition("_")[0]
    return None
