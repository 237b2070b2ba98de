"""Many renderings of one template, assembled together.

The kernels of all renderings have the same names. So that several can be one module, every
name that the PTX defines gets an ending of its own in each of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ptxkit.errors import PtxkitError
from ptxkit.syntax import Function, Module, Scopes, Variable
from ptxkit.toolchain import Cubin, assemble_many

if TYPE_CHECKING:
    from ptxkit.inject.template import Stubs, Template

# A name may have these characters, and none has them by chance.
_MARK = "$ptxkit$"
# Nodes that name functions where no rule of scopes looks.
_NOT_JOINED = ("Section", "DwarfLine", "File", "Alias")
_SHARED = (".extern", ".weak", ".common")
_AT_ONCE = 1024
_MOST_KEPT = 4096


@dataclass(frozen=True, slots=True)
class Variant(Cubin):
    """The cubin of one rendering. Several may share their data: `symbols` tells them apart."""

    symbols: Mapping[str, str] = field(default_factory=dict)
    """The name in the data of every kernel, by its name in the template."""

    def __post_init__(self) -> None:
        super(Variant, self).__post_init__()
        object.__setattr__(self, "symbols", MappingProxyType(dict(self.symbols)))

    def __reduce__(self) -> tuple[Any, ...]:
        rest = (self.log, self.diagnostics, self.engine, dict(self.symbols))
        return Variant, (self.data, self.arch, dict(self.resources), *rest)

    @staticmethod
    def of(cubin: Cubin, ending: str) -> Variant:
        """The part of a cubin whose names have an ending, under the names without it."""
        symbols = {name.removesuffix(ending): name for name in cubin.resources}
        return Variant(
            cubin.data,
            cubin.arch,
            {name: cubin.resources[symbol] for name, symbol in symbols.items()},
            cubin.log,
            cubin.diagnostics,
            cubin.engine,
            symbols,
        )


@dataclass(frozen=True, slots=True)
class Renamable:
    """PTX in which every name that it defines carries a mark."""

    text: bytes
    names: frozenset[str]

    @staticmethod
    def of(module: Module) -> Renamable | None:
        """None where names are used in ways that a renaming would miss."""
        if any(child.kind in _NOT_JOINED for child in module.children):
            return None
        scopes = Scopes(module)
        own = {
            name: declarations
            for name, declarations in scopes.root.names.items()
            if all(_is_defined(one.node) for one in declarations)
        }
        ends = {one.name_span[1] for declarations in own.values() for one in declarations}
        for node in module.find("Name"):
            if node.identifier in own:
                declaration = scopes.resolve(node)
                if declaration is not None and declaration in own[declaration.name]:
                    ends.add(node.span[0] + len(node.identifier.encode()))
        source = module.source()
        pieces = []
        at = 0
        for end in sorted(ends):
            pieces += [source[at:end], _MARK.encode()]
            at = end
        return Renamable(b"".join([*pieces, source[at:]]), frozenset(own))

    def is_named_in(self, stub: str) -> bool:
        """Whether a stub uses a name of the module, which the mark would miss."""
        return any(name in stub and re.search(rf"(?<![\w$%]){re.escape(name)}(?![\w$])", stub)
                   for name in self.names)  # fmt: skip


class VariantAssembler:
    """Assembles renderings of one template, and remembers what it made."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._kept: dict[Hashable, Variant] = {}
        self._marked: tuple[Template, Renamable] | None = None
        renamable = Renamable.of(template.module)
        if renamable is not None:
            self._marked = (template.from_ptx(renamable.text), renamable)

    def run(
        self, sets: Sequence[Stubs], arch: str | None, check: bool, batch: bool, options: Any
    ) -> list[Variant | PtxkitError]:
        """A cubin or an error for each set, in order."""
        found: dict[Hashable, Variant | PtxkitError] = {}
        names = [_name(stubs, arch, batch, options) for stubs in sets]
        waiting: dict[Hashable, Stubs] = {}
        for name, stubs in zip(names, sets, strict=True):
            kept = self._kept.get(name)
            if kept is not None:
                found[name] = kept
            else:
                waiting[name] = stubs
        queue = list(waiting.items())
        # Not all texts at once: a large population would not fit in memory.
        for start in range(0, len(queue), _AT_ONCE):
            part = dict(queue[start : start + _AT_ONCE])
            found |= self._assemble(part, arch, check, batch, options)
        return [found[name] for name in names]

    def _assemble(
        self, sets: Mapping[Hashable, Stubs], arch: str | None, check: bool, batch: bool,
        options: Any,
    ) -> dict[Hashable, Variant | PtxkitError]:  # fmt: skip
        found: dict[Hashable, Variant | PtxkitError] = {}
        texts: dict[Hashable, tuple[str, str]] = {}
        for name, stubs in sets.items():
            try:
                texts[name] = self._text(stubs, check, batch)
            except PtxkitError as error:
                found[name] = error
        cubins = assemble_many(
            [text for text, _ in texts.values()], arch, batch=batch, errors="return", **options
        )
        for (name, (_, ending)), cubin in zip(texts.items(), cubins, strict=True):
            if isinstance(cubin, PtxkitError):
                found[name] = cubin
                continue
            variant = found[name] = Variant.of(cubin, ending)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[name] = variant
        return found

    def _text(self, stubs: Stubs, check: bool, batch: bool) -> tuple[str, str]:
        """A rendering, and the ending that its names have."""
        plain = self._template.render(stubs, check=check)
        if not batch or self._marked is None:
            return plain, ""
        marked, renamable = self._marked
        if any(renamable.is_named_in(str(stub)) for stub in stubs.values()):
            return plain, ""
        # The same rendering has the same names in every batch, so that caches find it.
        ending = f"$v{hashlib.blake2b(plain.encode(), digest_size=6).hexdigest()}"
        text = marked.render(_marked_keys(stubs, renamable), check=False)
        return text.replace(_MARK, ending), ending


def _marked_keys(stubs: Stubs, renamable: Renamable) -> Stubs:
    """The stubs with the names that kernels have in marked PTX."""

    def marked(key: Any) -> Any:
        if isinstance(key, tuple) and isinstance(key[1], str) and key[0] in renamable.names:
            return (key[0] + _MARK, *key[1:])
        return key

    return {marked(key): stub for key, stub in stubs.items()}


def _name(stubs: Stubs, arch: str | None, batch: bool, options: Mapping[str, Any]) -> Hashable:
    """What a result depends on; an object of its own where that can't be compared."""
    try:
        given = tuple(sorted((key, _frozen(value)) for key, value in options.items()))
        name = (tuple(stubs.items()), arch, batch, given)
        hash(name)
    except (AttributeError, TypeError):
        return object()
    return name


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_defined(node: Any) -> bool:
    owner = node if isinstance(node, Function) else node.parent
    if isinstance(owner, Variable):
        return owner.linkage not in _SHARED
    return isinstance(owner, Function) and owner.has_body and owner.linkage not in _SHARED
