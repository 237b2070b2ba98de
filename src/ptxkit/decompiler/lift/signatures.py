"""What a module declares, as C++ will know it: functions, their parameters, variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.types import INT, SCALARS, UINT, UNSIGNED_LONG_LONG, VOID, Pointer, Type
from ptxkit.cuda.words import RESERVED, is_free
from ptxkit.decompiler.lift.frames import FRAME
from ptxkit.errors import PtxkitError
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Declarator, Function, Module, Parameter, Variable


def identifier(text: str) -> str:
    """A name that C++ takes.

    >>> identifier("$str$1"), identifier("_ZZ6matmulE4left"), identifier("register")
    ('str_1', 'left', 'register_')
    """
    inner = _static_name(text)
    if inner:
        text = inner
    text = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "v"
    if text[0].isdigit():
        text = f"v{text}"
    return text + "_" if text in RESERVED else text


def _static_name(text: str) -> str:
    """The name of a variable inside a function, from its mangled one."""
    if not text.startswith("_ZZ"):
        return ""
    # ...E4left or ...E4left_0: the last length that fits to the end; _$_0 is a part of it.
    text = re.sub(r"(_\$_\d+)+$", "", text)
    for match in reversed(list(re.finditer(r"E(\d+)", text))):
        length = int(match[1])
        rest = text[match.end() :]
        if len(rest) >= length and re.fullmatch(r"(_\d+_?)?", rest[length:]):
            return rest[:length]
    return ""


class SameNameError(PtxkitError):
    """Two things of a module that have one name."""


@dataclass(slots=True)
class Slot:
    """A parameter or result: a number, or bytes that are a structure."""

    name: str
    type: str
    size: int
    """Bytes of a structure; 0 for a number."""
    alignment: int
    c_type: Type | None = None
    pointer: bool = False
    """Whether the PTX says that it is an address."""


@dataclass(slots=True)
class Signature:
    """A function: its C++ name, its parameters, its results."""

    name: str
    parameters: list[Slot]
    results: list[Slot]
    function: Function | None
    kernel: bool = False
    has_body: bool = False


def slot_of(node: Parameter | Declarator) -> Slot:
    """What a ``.param`` declaration declares."""
    if isinstance(node, Parameter):
        array = node.dimensions if hasattr(node, "dimensions") else ()
        type, vector, align = node.type, node.vector, node.alignment
        name = node.name
    else:
        variable = node.variable
        array = node.dimensions
        type, vector, align = variable.type, variable.vector, variable.alignment
        name = node.name
    width = SCALAR_TYPES[type].width if type in SCALAR_TYPES else 64
    if not array and vector == 1:
        return Slot(name, type, 0, width // 8)
    count = vector
    for one in array:
        count *= one or 0
    return Slot(name, type, count * width // 8, align or width // 8)


_TEXT, _ANY = Pointer(SCALARS["char"], const=True), Pointer(VOID)
_SIZE = UNSIGNED_LONG_LONG
#: Functions that CUDA itself declares: what they take and give.
KNOWN: dict[str, tuple[tuple[Type, ...], Type]] = {
    "malloc": ((_SIZE,), _ANY),
    "free": ((_ANY,), VOID),
    "vprintf": ((_TEXT, _ANY), INT),
    "__assertfail": ((_TEXT, _TEXT, UINT, _TEXT, _SIZE), VOID),
}


@dataclass(slots=True)
class Memory:
    """A variable of memory: its place, size and what it holds at the start."""

    name: str
    space: str
    size: int
    alignment: int
    node: Declarator
    function: str = ""
    """The function it is declared in, if any."""


@dataclass(slots=True)
class Signatures:
    """The names of a module."""

    module: Module
    functions: dict[str, Signature] = field(default_factory=dict)
    memory: dict[int, Memory] = field(default_factory=dict)
    by_name: dict[str, Memory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        taken: set[str] = set()
        for function in self.module.functions:
            taken.add(function.name)
        for function in self.module.functions:
            known = self.functions.get(function.name)
            if known is not None and (known.has_body or not function.has_body):
                continue
            name = function.name
            # What is only declared may be a function of CUDA, and is called as that.
            foreign = not (is_free(name) if function.has_body else name.isidentifier())
            if foreign or (name.startswith("__") and function.has_body and not function.is_entry):
                name = self._free(identifier(name), taken | BUILTINS.keys())
                taken.add(name)
            self.functions[function.name] = Signature(
                name,
                [slot_of(p) for p in function.parameters],
                [slot_of(p) for p in function.return_parameters],
                function,
                function.is_entry,
                function.has_body,
            )
            if name in KNOWN and not function.has_body:
                takes, gives = KNOWN[name]
                signature = self.functions[name]
                for slot, type in zip(signature.parameters, takes, strict=False):
                    slot.c_type = type
                for slot in signature.results:
                    slot.c_type = gives
        for variable in self.module.find("Variable"):
            if not isinstance(variable, Variable):
                continue
            space = variable.space.partition("::")[0]
            if space not in ("shared", "global", "const", "local"):
                continue
            inside = next((a for a in _ancestors(variable) if isinstance(a, Function)), None)
            for declarator in variable.declarators:
                size, alignment = variable_size(variable, declarator)
                if inside is None and declarator.name in self.functions:
                    raise SameNameError(
                        f"'{declarator.name}' is a variable and a function; rename one of them"
                    )
                # Others may know it by its name.
                shared = bool(variable.linkage) and is_free(declarator.name)
                wished = declarator.name if shared else identifier(declarator.name)
                if declarator.name.startswith(FRAME):
                    wished = "local"
                name = self._free(wished, taken | BUILTINS.keys())
                taken.add(name)
                memory = Memory(
                    name, space, size, alignment, declarator, inside.name if inside else ""
                )
                self.memory[declarator.index] = memory
                self.by_name[name] = memory

    def _free(self, name: str, taken: set[str]) -> str:
        made, number = name, 1
        while made in taken:
            number += 1
            made = f"{name}_{number}"
        return made

    def memory_name(self, node: Node) -> str:
        """The C++ name of a variable of memory."""
        return self.memory[node.index].name


def _ancestors(node: Node) -> list[Node]:
    found = []
    at = node.parent
    while at is not None:
        found.append(at)
        at = at.parent
    return found
