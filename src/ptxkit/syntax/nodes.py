"""Directives, statements and blocks: the views of everything but declarations and operands.

Every view is a :class:`Node`: ``kind``, ``text``, ``span``, ``line``, ``column``,
``parent``, ``children``, ``next_sibling``, ``previous_sibling``, ``walk()``, ``find(kind)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit._native import InstructionNode, Node
from ptxkit.syntax.constants import integer_value

if TYPE_CHECKING:
    from ptxkit.syntax.operands import Name

#: Flags of nodes, as the native tree sets them.
NEGATED, HAS_OFFSET, RETURN_LIST, IS_ENTRY, HAS_BODY = 1, 2, 4, 8, 16


def own_texts(node: Node, kind: str | None = None) -> list[str]:
    """Texts of the tokens that belong to the node itself, not to its children."""
    if kind is None:
        return node.own_texts()
    return [text for token, text, _, _ in node.tokens(own=True) if token == kind]


class Version(Node):
    """``.version 9.0``."""

    __slots__ = ()

    @property
    def value(self) -> str:
        """The version number as written, such as ``"9.0"``."""
        return own_texts(self)[1]


class Target(Node):
    """``.target sm_90a, debug``."""

    __slots__ = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The target and its options, in order."""
        return tuple(own_texts(self, "identifier"))


class AddressSize(Node):
    """``.address_size 64``."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """32 or 64."""
        return integer_value(own_texts(self, "integer")[0])


class File(Node):
    """``.file 1 "k.cu"``."""

    __slots__ = ()

    @property
    def number(self) -> int:
        """The number ``.loc`` refers to."""
        return integer_value(own_texts(self, "integer")[0])

    @property
    def path(self) -> str:
        """The file's name, without quotes."""
        return own_texts(self, "string")[0][1:-1]


class Section(Node):
    """``.section .debug_info { ... }``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The section's name with its dot."""
        return own_texts(self, "dotword")[1]


class SectionLabel(Node):
    """A label inside a section."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The label without its colon."""
        return own_texts(self)[0]


class SectionData(Node):
    """``.b8 1, 2`` or ``.b32 $end-$start`` inside a section."""

    __slots__ = ()

    @property
    def type(self) -> str:
        """``".b8"``, ``".b16"``, ``".b32"`` or ``".b64"``."""
        return own_texts(self)[0]

    @property
    def items(self) -> tuple[str, ...]:
        """The listed items as text, white space removed."""
        words = [text for _, text, _, _ in self.tokens()][1:]
        return tuple("".join(words).split(","))


class DwarfLine(Node):
    """An ``@@DWARF`` line of PTX 1.x."""

    __slots__ = ()


class Loc(Node):
    """``.loc 1 2 3`` with its optional ``function_name`` and ``inlined_at``."""

    __slots__ = ()

    @property
    def place(self) -> tuple[int, int, int]:
        """(file number, line, column)."""
        numbers = [integer_value(text) for text in own_texts(self, "integer")]
        return numbers[0], numbers[1], numbers[2]

    @property
    def function_name(self) -> Name | None:
        """The label that names the inlined function."""
        return self.children[0] if self.children else None

    @property
    def inlined_at(self) -> tuple[int, int, int] | None:
        """(file number, line, column) of the call site."""
        words = own_texts(self)
        if "inlined_at" not in words:
            return None
        at = words.index("inlined_at") + 1
        file, line, column = (integer_value(word) for word in words[at : at + 3])
        return file, line, column


class Pragma(Node):
    """``.pragma "nounroll";``."""

    __slots__ = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The strings, without quotes."""
        return tuple(text[1:-1] for text in own_texts(self, "string"))


class Alias(Node):
    """``.alias new, old;``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The new name."""
        return str(self.children[0].text)

    @property
    def aliased(self) -> str:
        """The function it stands for."""
        return str(self.children[1].text)


class Attribute(Node):
    """``.attribute(.managed)``."""

    __slots__ = ()

    @property
    def values(self) -> tuple[str, ...]:
        """The attributes with their arguments, such as ``".unified(1,2)"``."""
        inner = "".join(own_texts(self)[2:-1])
        return tuple("." + part.rstrip(",") for part in inner.split(".") if part)


class Block(Node):
    """``{ ... }``: a function's body or a scope inside it."""

    __slots__ = ()

    @property
    def statements(self) -> tuple[Node, ...]:
        """The statements directly in the block."""
        return self.children


class Label(Node):
    """``name:``."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The label without its colon."""
        return own_texts(self)[0]


class _NameTable(Node):
    __slots__ = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The listed names."""
        return tuple(child.text for child in self.children)


class BranchTargets(_NameTable):
    """``.branchtargets a, b;``."""

    __slots__ = ()


class CallTargets(_NameTable):
    """``.calltargets f, g;``."""

    __slots__ = ()


class FunctionDirective(Node):
    """``.maxntid 32, 1, 1`` between a function's header and its body."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The directive with its dot."""
        return own_texts(self)[0]

    @property
    def values(self) -> tuple[int, ...]:
        """Its numbers."""
        return tuple(integer_value(text) for text in own_texts(self, "integer"))


class Guard(Node):
    """``@p`` or ``@!p``."""

    __slots__ = ()

    @property
    def negated(self) -> bool:
        """True for ``@!p``."""
        return bool(self.flags & NEGATED)

    @property
    def predicate(self) -> Name:
        """The predicate register."""
        name: Name = self.children[0]
        return name


class Opcode(Node):
    """The opcode of an instruction: ``ld.global.f32``."""

    __slots__ = ()


class Instruction(InstructionNode):
    """Guard, opcode, operands and semicolon.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .f32 a; @p add.f32 a, a, 0f3F800000; }")
    >>> i = m["f"].instructions[0]
    >>> i.opcode, i.name, i.modifiers, i.guard.text, [o.text for o in i.operands]
    ('add.f32', 'add', ('.f32',), '@p', ['a', 'a', '0f3F800000'])
    """

    __slots__ = ()


class Error(Node):
    """Text that is not PTX; only in modules parsed with ``recover=True``."""

    __slots__ = ()
