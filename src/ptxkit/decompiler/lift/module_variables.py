"""Variables of memory: how they are declared, and what they hold at the start."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import SCALARS, Array, Pointer, Scalar, Struct, Type
from ptxkit.decompiler.lift.frames import natural_alignment
from ptxkit.decompiler.lift.prelude import (
    holds_addresses,
    initial_value,
    table_of_addresses,
)
from ptxkit.decompiler.lift.printing import Texts
from ptxkit.decompiler.lift.rewrite import rebuilt
from ptxkit.decompiler.lift.signatures import Memory, Signatures
from ptxkit.run.globals import ModuleMemory
from ptxkit.syntax import Function, Module


@dataclass
class ModuleVariables:
    """The variables of one module."""

    module: Module
    signatures: Signatures
    arrays: dict[str, Type] = field(default_factory=dict)
    """What each variable is an array of, as far as somebody uses it."""
    single: set[str] = field(default_factory=set)
    """Variables that are declared as no array."""
    common: set[str] = field(default_factory=set)
    """Shared variables of more than one function: declared outside of them."""
    tables: list[n.StructDefinition] = field(default_factory=list)
    """Structures of variables that hold addresses."""

    def inside(self, names: set[str]) -> list[n.Declare]:
        """The declarations in a function that uses variables of these names."""
        made: list[n.Declare] = []
        for memory in self.signatures.memory.values():
            if memory.name not in names or memory.name in self.common:
                continue
            if memory.space not in ("shared", "local"):
                continue
            made.append(self._declaration(memory))
        return made

    def _declaration(self, memory: Memory) -> n.Declare:
        type = self.arrays[memory.name]
        space = memory.space
        where = {"shared": "shared", "local": "", "global": "device", "const": "constant"}[space]
        variable = memory.node.variable
        if space == "shared" and not memory.size:
            where = "extern shared"
        elif variable.linkage == ".extern" and where in ("device", "constant"):
            where = f"extern {where}"
        elif any(".managed" in one.text for one in variable.attributes):
            where = "managed"
        assert isinstance(type, Array)
        natural = 8 if isinstance(type.element, Struct | Array) else type.element.size
        if space == "local":
            natural = max(natural, natural_alignment(memory.size))
        align = memory.alignment if memory.alignment > natural else 0
        value = None
        if memory.node.initializer is not None:
            value = initial_value(memory, type, self.contents, self.signatures)
        if memory.name in self.single:
            if isinstance(value, n.Name) and isinstance(type.element, Scalar | Pointer):
                value = n.Name(value.name[1:-1])  # a number needs no braces
            return n.Declare(type.element, memory.name, value, space=where, alignment=align)
        return n.Declare(type, memory.name, value, space=where, alignment=align)

    @cached_property
    def contents(self) -> ModuleMemory:
        """What variables hold at the start."""
        return ModuleMemory(self.module)

    @cached_property
    def texts(self) -> Texts:
        """The texts that stood in the source."""
        return Texts(self.contents, self.signatures)

    def alone(self) -> set[str]:
        """Variables outside of functions that are no arrays; declared as such from now on."""
        found: set[str] = set()
        for memory in self.signatures.memory.values():
            type = self.arrays.get(memory.name)
            single = isinstance(type, Array) and type.shape == (1,)
            if single and memory.space in ("global", "const") and not memory.node.dimensions:
                assert isinstance(type, Array)
                if not isinstance(type.element, Struct | Array):
                    found.add(memory.name)
        self.single = found
        return found

    def find_tables(self) -> None:
        """Variables that hold addresses are arrays of pointers, whatever reads them."""
        for memory in self.signatures.memory.values():
            if memory.node.initializer is None or not holds_addresses(memory, self.contents):
                continue
            table = table_of_addresses(memory, self.signatures)
            self.tables.append(table)
            self.arrays[memory.name] = Array(Struct(table.name), (1,))

    def outside(self) -> list[n.Declare]:
        """The variables outside of functions that are used, what they point to before them."""
        by_symbol = {m.node.name: m for m in self.signatures.memory.values()}
        made: dict[str, n.Declare] = {}

        def declare(memory: Memory) -> None:
            if memory.name in made:
                return
            if memory.node.initializer is not None:
                for other in self.contents.references.get(memory.node.name, ()):
                    if other in by_symbol and other != memory.node.name:
                        declare(by_symbol[other])
            if memory.name not in self.arrays:
                self.arrays[memory.name] = Array(SCALARS["uchar"], (memory.size,))
            made[memory.name] = self._declaration(memory)

        for memory in self.signatures.memory.values():
            outside = memory.space in ("global", "const") or memory.name in self.common
            if memory.name in self.arrays and outside:
                declare(memory)
        return list(made.values())


def with_single(function: n.Function, names: set[str]) -> n.Function:
    """A function with variables that are no arrays used as what they are."""
    if not names:
        return function

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Index(n.Name(name=name), n.Literal(value=0)) if name in names:
                return n.Name(name)
            case n.Name(name=name) if name in names:
                return n.Unary("&", node)
        return rebuilt(node, change)

    return rebuilt(function, change)


def shared_by_several(signatures: Signatures, functions: list[Function]) -> set[str]:
    """The shared variables that more than one function names."""
    known = {m.node.name: m for m in signatures.memory.values() if m.space == "shared"}
    users: dict[str, int] = {}
    if not known:
        return set()
    for function in functions:
        for name in {x.text for x in function.find("Name")} & set(known):
            users[name] = users.get(name, 0) + 1
    return {known[n].name for n, count in users.items() if count > 1 and known[n].size}
