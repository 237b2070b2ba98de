"""Variables, parameters and functions."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from ptxkit._native import Node, NodeList
from ptxkit.syntax.constants import integer_value
from ptxkit.syntax.nodes import HAS_BODY, IS_ENTRY, RETURN_LIST, own_texts

if TYPE_CHECKING:
    from ptxkit.syntax.graph import ControlFlowGraph
    from ptxkit.syntax.nodes import Block, Instruction, Label

LINKAGES = frozenset((".extern", ".visible", ".weak", ".common"))
SPACES = frozenset(
    ".reg .sreg .const .global .local .param .shared .tex .shared::cta .shared::cluster".split()
)
VECTORS = frozenset((".v2", ".v4", ".v8"))


class _Typed(Node):
    """What variables and parameters share: space, alignment, type."""

    __slots__ = ()

    def _words(self) -> list[str]:
        return own_texts(self)

    @property
    def layout(self) -> tuple[str, int, str]:
        """``space``, ``vector`` and ``type`` in one go."""
        words = self._words()
        return _space(words), _vector(words), _type(words)

    @property
    def space(self) -> str:
        """The state space without its dot: ``"global"``."""
        return _space(self._words())

    @property
    def alignment(self) -> int | None:
        """The bytes of the first ``.align``, if any."""
        return _alignment(self._words())

    @property
    def vector(self) -> int:
        """2, 4 or 8 for ``.v2``, ``.v4``, ``.v8``; else 1."""
        return _vector(self._words())

    @property
    def type(self) -> str:
        """The scalar type without its dot: ``"f32"``."""
        return _type(self._words())


def _space(words: list[str]) -> str:
    for word in words:
        if word in SPACES:
            return word[1:]
    return ""


def _alignment(words: list[str]) -> int | None:
    return integer_value(words[words.index(".align") + 1]) if ".align" in words else None


def _vector(words: list[str]) -> int:
    for word in words:
        if word in VECTORS:
            return int(word[2:])
    return 1


def _type(words: list[str]) -> str:
    for word in words:
        known = word in SPACES or word in LINKAGES or word in VECTORS
        if word.startswith(".") and not known and word not in (".align", ".ptr"):
            return word[1:]
    return ""


class Variable(_Typed):
    """A declaration statement; one or several names.

    >>> import ptxkit
    >>> v = ptxkit.parse(".visible .global .align 8 .v2 .f32 a[4], b;").variables[0]
    >>> v.linkage, v.space, v.alignment, v.vector, v.type
    ('.visible', 'global', 8, 2, 'f32')
    >>> [(d.name, d.dimensions) for d in v.declarators]
    [('a', (4,)), ('b', ())]
    """

    __slots__ = ()

    @property
    def linkage(self) -> str:
        """``".extern"``, ``".visible"``, ``".weak"``, ``".common"`` or ``""``."""
        return next((word for word in self._words() if word in LINKAGES), "")

    @property
    def declarators(self) -> tuple[Declarator, ...]:
        """The declared names."""
        return tuple(child for child in self.children if isinstance(child, Declarator))

    @property
    def attributes(self) -> tuple[Node, ...]:
        """The ``.attribute`` nodes."""
        return tuple(child for child in self.children if child.kind == "Attribute")


class Declarator(Node):
    """One name of a declaration, with its range, sizes and initialiser."""

    __slots__ = ()

    def _words(self) -> list[str]:
        return own_texts(self)

    @property
    def name(self) -> str:
        """The declared name; for a range ``%r<4>`` its prefix ``%r``."""
        return self._words()[0]

    @property
    def count(self) -> int | None:
        """The size of a register range, None without one."""
        words = self._words()
        return integer_value(words[2]) if len(words) > 1 and words[1] == "<" else None

    @property
    def names(self) -> tuple[str, ...]:
        """All names declared: those of a range one by one.

        >>> import ptxkit
        >>> f = ptxkit.parse(".func f() { .reg .b32 %r<3>, x; }")["f"]
        >>> [d.names for d in f.find("Declarator")]
        [('%r0', '%r1', '%r2'), ('x',)]
        """
        count = self.count
        if count is None:
            return (self.name,)
        return tuple(f"{self.name}{number}" for number in range(count))

    @property
    def dimensions(self) -> tuple[int | None, ...]:
        """The array sizes; None for ``[]``."""
        words = self._words()
        found: list[int | None] = []
        for at, word in enumerate(words):
            if word == "[":
                found.append(None if words[at + 1] == "]" else integer_value(words[at + 1]))
        return tuple(found)

    @property
    def initializer(self) -> Node | None:
        """The initialiser, if any."""
        return self.children[0] if self.children else None

    @property
    def variable(self) -> Variable:
        """The declaration this name is part of."""
        found: Variable = self.parent
        return found


class InitializerList(Node):
    """``{ ... }`` of an initialiser."""

    __slots__ = ()

    @property
    def elements(self) -> tuple[Node, ...]:
        """The values, lists and fields, in order."""
        return self.children


class FieldInitializer(Node):
    """``name = value`` in a texture or sampler initialiser."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The field's name."""
        return own_texts(self)[0]

    @property
    def value(self) -> Node:
        """What the field is set to."""
        found: Node = self.children[0]
        return found


class ParameterList(Node):
    """``( ... )`` of a function or prototype."""

    __slots__ = ()

    @property
    def is_return(self) -> bool:
        """True for the list before the function's name."""
        return bool(self.flags & RETURN_LIST)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, in order."""
        return self.children


class ParameterDetails(NamedTuple):
    """Everything about a parameter, read in one go."""

    name: str
    space: str
    type: str
    vector: int
    alignment: int | None
    dimensions: tuple[int | None, ...]
    is_pointer: bool
    pointer_space: str


class Parameter(_Typed):
    """``.param .u64 .ptr .global .align 8 p``.

    >>> import ptxkit
    >>> p = ptxkit.parse(".entry k(.param .u64 .ptr .global .align 8 p);")["k"].parameters[0]
    >>> p.name, p.space, p.type, p.pointer_space, p.alignment
    ('p', 'param', 'u64', 'global', 8)
    """

    __slots__ = ()

    @property
    def details(self) -> ParameterDetails:
        """All of it at once, which is faster than one by one."""
        tokens = self.tokens(own=True)
        words = [text for _, text, _, _ in tokens]
        dimensions = tuple(
            [
                None if words[at + 1] == "]" else integer_value(words[at + 1])
                for at, word in enumerate(words)
                if word == "["
            ]
        )
        is_pointer = ".ptr" in words
        return ParameterDetails(
            next(text for kind, text, _, _ in tokens if kind == "identifier"),
            _space(words),
            _type(words),
            _vector(words),
            _alignment(words),
            dimensions,
            is_pointer,
            _space(words[words.index(".ptr") + 1 :]) if is_pointer else "",
        )

    @property
    def name(self) -> str:
        """The parameter's name."""
        return own_texts(self, "identifier")[0]

    @property
    def dimensions(self) -> tuple[int | None, ...]:
        """The array sizes; None for ``[]``."""
        return self.details.dimensions

    @property
    def is_pointer(self) -> bool:
        """True where ``.ptr`` says what the parameter points to."""
        return self.details.is_pointer

    @property
    def pointer_space(self) -> str:
        """The space ``.ptr`` names; ``""`` for generic or no pointer."""
        return self.details.pointer_space


class CallPrototype(Node):
    """``.callprototype (.param .b32 _) _ (.param .b32 _);``."""

    __slots__ = ()

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the call."""
        return _parameters(self, False)

    @property
    def return_parameters(self) -> tuple[Parameter, ...]:
        """What the call returns."""
        return _parameters(self, True)

    @property
    def directives(self) -> tuple[Node, ...]:
        """What stands after the parameters: ``.noreturn`` and the like."""
        return tuple(child for child in self.children if child.kind == "FunctionDirective")


def matching(instructions: NodeList[Instruction], pattern: str) -> Iterator[Instruction]:
    """Instructions whose opcode, or whose name for a pattern without a dot, matches a glob."""
    if "." in pattern:
        return (i for i in instructions if fnmatchcase(i.opcode, pattern))
    return (i for i in instructions if fnmatchcase(i.name, pattern) or i.opcode == pattern)


def _parameters(node: Node, returned: bool) -> tuple[Parameter, ...]:
    for child in node.children:
        if isinstance(child, ParameterList) and child.is_return == returned:
            return child.children
    return ()


class Function(Node):
    """An ``.entry`` or ``.func``, with or without a body."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The function's name."""
        return own_texts(self, "identifier")[0]

    @property
    def name_span(self) -> tuple[int, int]:
        """Byte offsets of the name in the header."""
        token = next(t for t in self.tokens(own=True) if t[0] == "identifier")
        return token[2], token[3]

    @property
    def is_entry(self) -> bool:
        """True for a kernel."""
        return bool(self.flags & IS_ENTRY)

    @property
    def has_body(self) -> bool:
        """False for a declaration that ends in ``;``."""
        return bool(self.flags & HAS_BODY)

    @property
    def linkage(self) -> str:
        """``".extern"``, ``".visible"``, ``".weak"``, ``".common"`` or ``""``."""
        first = own_texts(self)[0]
        return first if first in LINKAGES else ""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters, in order."""
        return _parameters(self, False)

    @property
    def return_parameters(self) -> tuple[Parameter, ...]:
        """The return parameters, in order."""
        return _parameters(self, True)

    @property
    def directives(self) -> tuple[Node, ...]:
        """What stands between header and body: ``.maxntid`` and the like, pragmas."""
        kinds = ("FunctionDirective", "Pragma")
        return tuple(child for child in self.children if child.kind in kinds)

    @property
    def attributes(self) -> tuple[Node, ...]:
        """The ``.attribute`` before its name."""
        return tuple(child for child in self.children if child.kind == "Attribute")

    @property
    def body(self) -> Block | None:
        """The outermost block."""
        last = self.children[-1] if self.children else None
        return last if last is not None and last.kind == "Block" else None

    @property
    def instructions(self) -> NodeList[Instruction]:
        """All instructions of the body, nested blocks included, in order."""
        return self.find("Instruction")

    @property
    def labels(self) -> NodeList[Label]:
        """All labels of the body, nested blocks included, in order."""
        return self.find("Label")

    def find_instructions(self, pattern: str) -> Iterator[Instruction]:
        """Instructions whose opcode matches a glob.

        >>> import ptxkit
        >>> m = ptxkit.parse(".func f() { ld.global.u32 a, [b]; ld.shared.u32 a, [b]; ret; }")
        >>> [i.line for i in m["f"].find_instructions("ld.*.u32")]
        [1, 1]
        """
        return matching(self.instructions, pattern)

    def cfg(self) -> ControlFlowGraph:
        """The control-flow graph: basic blocks, successors, dominators, loops."""
        from ptxkit.syntax.graph import ControlFlowGraph

        return ControlFlowGraph.of(self)
