"""What a module is made of, in numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ptxkit._native import Node
from ptxkit.syntax.declarations import Declarator, Function, InitializerList, Parameter, Variable
from ptxkit.syntax.module import Module

_WIDTH = re.compile(r"[a-z]+(\d+)(?:x(\d+))?")


@dataclass(slots=True)
class Space:
    """The variables of one state space: how many, and their bytes."""

    variables: int = 0
    bytes: int = 0

    def add(self, variables: int, size: int) -> None:
        """Count further variables."""
        self.variables += variables
        self.bytes += size

    def to_dict(self) -> dict[str, int]:
        """Plain data, ready for `json.dumps`."""
        return {"variables": self.variables, "bytes": self.bytes}


@dataclass(frozen=True, slots=True)
class FunctionStatistics:
    """One function with a body, in numbers."""

    name: str
    is_entry: bool
    line: int
    filename: str
    parameters: int
    parameter_bytes: int
    opcodes: Counter[str]
    """How often each opcode stands in the function, such as ``ld.global.f32``."""
    registers: Counter[str]
    """How many registers are declared of each type."""
    spaces: dict[str, Space]
    """The variables declared in the function, by state space."""
    blocks: int
    """Basic blocks with instructions."""
    loops: int
    """Natural loops."""

    @property
    def instructions(self) -> int:
        """How many instructions there are."""
        return self.opcodes.total()

    @property
    def shared_bytes(self) -> int:
        """Bytes of the shared memory the function declares itself."""
        return sum(s.bytes for name, s in self.spaces.items() if name.startswith("shared"))

    @staticmethod
    def of(function: Function) -> FunctionStatistics:
        """Count one function."""
        registers: Counter[str] = Counter()
        spaces: dict[str, Space] = {}
        for variable in function.find("Variable"):
            _count_variable(variable, registers, spaces)
        graph = function.cfg()
        return FunctionStatistics(
            function.name,
            function.is_entry,
            function.line,
            function.filename,
            len(function.parameters),
            sum(_bytes(p, p) for p in function.parameters),
            Counter(instruction.opcode for instruction in function.instructions),
            registers,
            spaces,
            sum(1 for block in graph.blocks if block.instructions),
            len(graph.loops()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`."""
        return {
            "name": self.name,
            "entry": self.is_entry,
            "file": self.filename,
            "line": self.line,
            "parameters": self.parameters,
            "parameter_bytes": self.parameter_bytes,
            "instructions": self.instructions,
            "blocks": self.blocks,
            "loops": self.loops,
            "registers": dict(self.registers.most_common()),
            "spaces": {name: space.to_dict() for name, space in self.spaces.items()},
            "opcodes": dict(self.opcodes.most_common()),
        }


@dataclass(frozen=True, slots=True)
class Statistics:
    """A module, or several together, in numbers.

    >>> import ptxkit
    >>> s = Statistics.of(ptxkit.parse('''.version 8.0
    ... .target sm_90
    ... .shared .align 4 .f32 tile[16][8];
    ... .entry k(.param .u64 p)
    ... {
    ...     .reg .b32 %r<4>;
    ...     mov.u32 %r1, %tid.x;
    ...     ret;
    ... }
    ... '''))
    >>> s.instructions, dict(s.registers), s.spaces["shared"].bytes, s.kernels, s.lines
    (2, {'b32': 4}, 512, 1, 9)
    >>> s.functions[0].parameter_bytes, s.opcodes["mov.u32"]
    (8, 1)
    """

    name: str
    """The file's name, or how many files there are."""
    version: str | None
    """The PTX version; None where there is none, or several."""
    target: str | None
    """The target; None where there is none, or several."""
    lines: int
    bytes: int
    functions: tuple[FunctionStatistics, ...]
    """The functions with a body."""
    prototypes: int
    """Functions that are declared and not defined."""
    opcodes: Counter[str] = field(repr=False)
    registers: Counter[str] = field(repr=False)
    spaces: dict[str, Space] = field(repr=False)

    @property
    def instructions(self) -> int:
        """How many instructions there are."""
        return self.opcodes.total()

    @property
    def kernels(self) -> int:
        """How many functions are entries."""
        return sum(function.is_entry for function in self.functions)

    @staticmethod
    def of(module: Module) -> Statistics:
        """Count a module."""
        source = module.source()
        registers: Counter[str] = Counter()
        spaces: dict[str, Space] = {}
        for variable in module.variables:
            _count_variable(variable, registers, spaces)
        functions = tuple(FunctionStatistics.of(f) for f in module.functions if f.has_body)
        return Statistics(
            module.filename,
            module.version,
            module.target,
            source.count(b"\n") + (not source.endswith(b"\n") and source != b""),
            len(source),
            functions,
            sum(not f.has_body for f in module.functions),
            _sum(function.opcodes for function in functions),
            registers + _sum(function.registers for function in functions),
            _merged([spaces, *(function.spaces for function in functions)]),
        )

    @staticmethod
    def total(parts: Iterable[Statistics]) -> Statistics:
        """Several modules together.

        >>> import ptxkit
        >>> one = Statistics.of(ptxkit.parse(".version 8.0\\n.target sm_90\\n.func f() { ret; }"))
        >>> both = Statistics.total([one, one])
        >>> both.name, both.instructions, both.target
        ('2 files', 2, 'sm_90')
        """
        given = list(parts)
        versions = {one.version for one in given}
        targets = {one.target for one in given}
        return Statistics(
            f"{len(given)} files",
            versions.pop() if len(versions) == 1 else None,
            targets.pop() if len(targets) == 1 else None,
            sum(one.lines for one in given),
            sum(one.bytes for one in given),
            tuple(function for one in given for function in one.functions),
            sum(one.prototypes for one in given),
            _sum(one.opcodes for one in given),
            _sum(one.registers for one in given),
            _merged(one.spaces for one in given),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`; the functions are not in it."""
        return {
            "name": self.name,
            "version": self.version,
            "target": self.target,
            "lines": self.lines,
            "bytes": self.bytes,
            "kernels": self.kernels,
            "functions": len(self.functions),
            "prototypes": self.prototypes,
            "instructions": self.instructions,
            "opcodes": dict(self.opcodes.most_common()),
            "registers": dict(self.registers.most_common()),
            "spaces": {name: space.to_dict() for name, space in self.spaces.items()},
        }


def _sum(counters: Iterable[Counter[str]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for counter in counters:
        found.update(counter)
    return found


def _merged(parts: Iterable[dict[str, Space]]) -> dict[str, Space]:
    found: dict[str, Space] = {}
    for spaces in parts:
        for name, space in spaces.items():
            found.setdefault(name, Space()).add(space.variables, space.bytes)
    return dict(sorted(found.items()))


def _count_variable(variable: Variable, registers: Counter[str], spaces: dict[str, Space]) -> None:
    space, vector = variable.space, variable.vector
    for declarator in variable.declarators:
        number = 1 if declarator.count is None else declarator.count
        if space == "reg":
            prefix = f"v{vector}." if vector > 1 else ""
            registers[prefix + variable.type] += number
        else:
            size = _bytes(variable, declarator)
            spaces.setdefault(space, Space()).add(number, number * size)


def _bytes(typed: Variable | Parameter, shape: Declarator | Parameter) -> int:
    """The size of one variable; 0 where the file does not say (``[]``, ``.texref``)."""
    width = _WIDTH.fullmatch(typed.type)
    if width is None:
        return 0
    element = int(width[1]) * int(width[2] or 1) // 8 * typed.vector
    sizes = list(shape.dimensions)
    if sizes and sizes[0] is None:
        sizes[0] = _elements(shape.initializer) if isinstance(shape, Declarator) else 0
    return element * prod(size or 0 for size in sizes)


def _elements(initializer: Node | None) -> int:
    """How many elements an initialiser gives to an array without a size."""
    return len(initializer.children) if isinstance(initializer, InitializerList) else 0
