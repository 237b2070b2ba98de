"""Many modules at once: threads, and small modules assembled together.

Starting the assembler costs more than a small kernel does. Modules with the same header
and no name in common are therefore joined into one; if the assembler refuses the joined
text, each is assembled alone, so that every error names its own module.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal, overload

from ptxkit.errors import PtxkitError
from ptxkit.syntax import Module, parse
from ptxkit.toolchain.assembler import assemble
from ptxkit.toolchain.cubin import Cubin

Source = Module | str | bytes

_MOST_KERNELS = 64
_MOST_OF_ONE_WORKER = 256  # of several each gets something to do
_BYTES_PER_KERNEL = 4096
_MOST_BYTES = _MOST_KERNELS * _BYTES_PER_KERNEL
_SHARED_LINKAGE = (".common", ".weak")
_EXTERN = ".extern"
_ALIGN = re.compile(r"\.align\s+(\d+)")
_HEADER = ("Version", "Target", "AddressSize")


@overload
def assemble_many(
    sources: Iterable[Source],
    arch: str | None = None,
    *,
    workers: int | None = None,
    batch: bool = False,
    errors: Literal["raise"] = "raise",
    **options: Any,
) -> list[Cubin]: ...


@overload
def assemble_many(
    sources: Iterable[Source],
    arch: str | None = None,
    *,
    workers: int | None = None,
    batch: bool = False,
    errors: Literal["return"],
    **options: Any,
) -> list[Cubin | PtxkitError]: ...


def assemble_many(
    sources: Iterable[Source],
    arch: str | None = None,
    *,
    workers: int | None = None,
    batch: bool = False,
    errors: Literal["raise", "return"] = "raise",
    **options: Any,
) -> list[Cubin] | list[Cubin | PtxkitError]:
    """Assemble many modules; results come in the order of the sources.

    `workers` threads work at once, as many as there are processors unless told. With
    `batch`, small modules whose names do not clash are assembled as one: the cubins of
    such a group share their data, and each lists its own kernels. With
    ``errors="return"`` an error stands in the place of its cubin. Other keywords are
    those of `assemble`.

    >>> from ptxkit.toolchain import assemble_many
    >>> head = ".version 8.0\\n.target sm_80\\n.address_size 64\\n"
    >>> texts = [head + f".visible .entry k{i}() {{ ret; }}" for i in range(3)]
    >>> [list(cubin.resources) for cubin in assemble_many(texts, "sm_90", batch=True)]
    [['k0'], ['k1'], ['k2']]
    """
    everything = list(sources)
    found: list[Cubin | PtxkitError | None] = [None] * len(everything)

    def one(index: int) -> None:
        try:
            found[index] = assemble(everything[index], arch, **options)
        except PtxkitError as error:
            found[index] = error

    def group(members: _Group) -> None:
        try:
            whole = assemble(members.text(), arch, **options)
        except PtxkitError:
            for part in members.parts:
                one(part.index)
            return
        for part in members.parts:
            own = {name: needs for name, needs in whole.resources.items() if name in part.names}
            found[part.index] = replace(whole, resources=own)

    most = _MOST_OF_ONE_WORKER if workers == 1 else _MOST_KERNELS
    groups, alone = join(everything, most) if batch else ([], list(range(len(everything))))
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        tasks = [pool.submit(group, members) for members in groups]
        tasks += [pool.submit(one, index) for index in alone]
        for task in tasks:
            task.result()
    results: list[Cubin | PtxkitError] = [result for result in found if result is not None]
    if errors == "raise":
        for result in results:
            if isinstance(result, PtxkitError):
                raise result
    return results


@dataclass(frozen=True, slots=True)
class _Part:
    """A module that can be joined with others."""

    index: int
    header: bytes
    body: bytes
    names: frozenset[str]
    """What it defines."""
    externs: frozenset[str]
    """What it declares only; the assembler takes the same declaration twice."""
    kernels: int
    alignment: int
    """Of shared memory that the launch brings: the assembler rounds the shared memory of every
    kernel of a module up to it, so only modules of one alignment are joined."""


@dataclass(slots=True)
class _Group:
    header: bytes
    parts: list[_Part] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    externs: set[str] = field(default_factory=set)
    most: int = _MOST_KERNELS
    kernels: int = 0
    size: int = 0

    def takes(self, part: _Part) -> bool:
        return (
            self.names.isdisjoint(part.names | part.externs)
            and self.externs.isdisjoint(part.names)
            and self.kernels + part.kernels <= self.most
            and self.size + len(part.body) <= self.most * _BYTES_PER_KERNEL
        )

    def add(self, part: _Part) -> None:
        self.parts.append(part)
        self.names |= part.names
        self.externs |= part.externs
        self.kernels += part.kernels
        self.size += len(part.body)

    def text(self) -> bytes:
        return self.header + b"\n".join(part.body for part in self.parts)


def join(sources: Sequence[Source], most: int = _MOST_KERNELS) -> tuple[list[_Group], list[int]]:
    """Groups to join, of so many kernels at most, and what stays alone."""
    open_groups: dict[tuple[bytes, int], list[_Group]] = {}
    alone = []
    for index, source in enumerate(sources):
        part = _part(index, source)
        if part is None:
            alone.append(index)
            continue
        groups = open_groups.setdefault((part.header, part.alignment), [])
        # Only the latest few are tried: what clashes with those clashes with most.
        chosen = next((one for one in reversed(groups[-4:]) if one.takes(part)), None)
        if chosen is None:
            chosen = _Group(part.header, most=most)
            groups.append(chosen)
        chosen.add(part)
    made = [one for groups in open_groups.values() for one in groups]
    alone += [one.parts[0].index for one in made if len(one.parts) == 1]
    return [one for one in made if len(one.parts) > 1], sorted(alone)


def _part(index: int, source: Source) -> _Part | None:
    """The module as a part, or None if it has anything but kernels, functions and variables."""
    module = source if isinstance(source, Module) else parse(source, recover=True)
    if module.diagnostics_raw or len(module.source()) > _MOST_BYTES:
        return None
    children = module.children
    if tuple(child.kind for child in children[:3]) != _HEADER:
        return None
    names: list[str] = []
    externs: list[str] = []
    alignment = 0
    for child in children[3:]:
        if child.kind == "Function":
            (names if child.has_body else externs).append(child.name)
        elif child.kind == "Variable" and child.linkage == _EXTERN:
            externs += [declarator.name for declarator in child.declarators]
            if child.space == "shared":
                alignment = max(alignment, *map(int, _ALIGN.findall(child.text)), 1)
        elif child.kind == "Variable" and child.linkage not in _SHARED_LINKAGE:
            names += [declarator.name for declarator in child.declarators]
        else:
            return None
    if len(set(names)) != len(names) or next(iter(module.find("Loc")), None) is not None:
        return None
    text = module.source().rstrip(b"\0")
    header = b"".join(b"%s\n" % b" ".join(child.text.encode().split()) for child in children[:3])
    body = text[children[2].span[1] :]
    # A function may be declared first and defined then.
    own = frozenset(names)
    others = frozenset(externs) - own
    return _Part(index, header, body, own, others, len(module.kernels), alignment)
