"""Functions of a file written otherwise: which of them the compiler makes the same PTX of.

What was proved about a function is proved about every text that compiles to the same PTX.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ptxkit.cuda import nodes as n
from ptxkit.decompiler.learned.contexts import bare_name
from ptxkit.decompiler.verify.certificates import compiled
from ptxkit.decompiler.verify.identity import same_ptx
from ptxkit.syntax import Module


def with_functions(
    tree: n.CudaModule,
    changed: Mapping[str, n.Function],
    base: Module,
    arch: str,
    *,
    separate: bool,
) -> tuple[n.CudaModule, set[str]]:
    """A file with functions changed, and those that are not the same in ``base`` any more.

    ``base`` is what the compiler makes of the file, ``separate`` is as for `compiled`.
    """
    made = changed_file(tree, changed)
    other = compiled(made, arch, separate=separate).module
    return made, different(base, other, changed)


def changed_file(tree: n.CudaModule, changed: Mapping[str, n.Function]) -> n.CudaModule:
    """A file with the bodies of some functions changed."""
    items = (changed.get(i.name, i) if isinstance(i, n.Function) and i.body is not None else i
             for i in tree.items)  # fmt: skip
    return replace(tree, items=tuple(items))


def different(base: Module, other: Module | None, changed: Collection[str]) -> set[str]:
    """The functions that are another PTX now; all that were changed where nobody can say.

    They are called as in PTX, and as in C++.
    """
    if other is None:
        return set(changed)
    names = [f.name for f in base.functions if f.has_body]
    if {f.name for f in other.functions if f.has_body} != set(names):
        return set(changed)
    wrong = {name for name in names if not same_ptx(base, other, name)}
    if not wrong:
        return set()
    # What the PTX has under no name of its own may be what made the difference.
    own = {part for name in names for part in (name, bare_name(name))}
    bare = {part for name in wrong for part in (name, bare_name(name))}
    return bare | (set(changed) - own)
