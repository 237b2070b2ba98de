"""Operands and constant expressions."""

from __future__ import annotations

from ptxkit._native import Node
from ptxkit.syntax.constants import evaluate, float_value, integer_value
from ptxkit.syntax.nodes import HAS_OFFSET, own_texts


class Name(Node):
    """A register, variable, function or label, with its selector if any.

    >>> import ptxkit
    >>> n = ptxkit.parse(".func f() { mov.u32 a, %tid.x; }")["f"].instructions[0].operands[1]
    >>> n.identifier, n.selector
    ('%tid', '.x')
    """

    __slots__ = ()

    @property
    def selector(self) -> str:
        """``".x"``, ``".b0"``, ... or ``""``."""
        return own_texts(self)[-1] if self.selector_length else ""


class Sink(Node):
    """The operand ``_``."""

    __slots__ = ()


class Integer(Node):
    """An integer literal."""

    __slots__ = ()

    @property
    def value(self) -> int:
        """Its value."""
        return integer_value(self.text)


class Float(Node):
    """A float literal: ``1.5``, ``0f3F800000``, ``0d3FF0000000000000``."""

    __slots__ = ()

    @property
    def value(self) -> float:
        """Its value; ``0f`` and ``0d`` literals are read bit by bit."""
        return float_value(self.text)

    @property
    def is_exact(self) -> bool:
        """True for ``0f`` and ``0d`` literals."""
        return self.text[:2].lower() in ("0f", "0d")


class SectionName(Node):
    """A section named in section data."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The section's name with its dot."""
        return own_texts(self)[0]


class _Constant(Node):
    __slots__ = ()

    @property
    def value(self) -> int | float | None:
        """The value of the constant expression; None where it names a symbol.

        >>> import ptxkit
        >>> m = ptxkit.parse(".func f() { mov.u32 a, (3+4)*2 << 1; }")
        >>> m["f"].instructions[0].operands[1].value
        28
        """
        return evaluate(self)


class Expression(_Constant):
    """Operands joined by binary operators, flat, in source order."""

    __slots__ = ()

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators between the children."""
        return tuple(own_texts(self))


class Parenthesized(_Constant):
    """``( ... )`` inside an expression."""

    __slots__ = ()

    @property
    def operand(self) -> Node:
        """What stands inside the parentheses."""
        found: Node = self.children[0]
        return found


class Unary(_Constant):
    """``!x``, ``-x``, ``~x``, ``+x`` or a cast ``(.s64)x``."""

    __slots__ = ()

    @property
    def operator(self) -> str:
        """``"!"``, ``"-"``, ``"~"``, ``"+"``, ``"(.s64)"`` or ``"(.u64)"``."""
        return "".join(own_texts(self))

    @property
    def operand(self) -> Node:
        """What the operator applies to."""
        found: Node = self.children[0]
        return found


class Application(Node):
    """``generic(x)`` or ``0xff(x)`` in an initialiser."""

    __slots__ = ()

    @property
    def operator(self) -> str:
        """``"generic"``, or the mask as written."""
        return str(self.children[0].text)

    @property
    def operand(self) -> Node:
        """What stands inside the parentheses: a symbol, with an offset if any."""
        found: Node = self.children[1]
        return found


class Subscript(Node):
    """``x[3]`` as an operand."""

    __slots__ = ()

    @property
    def base(self) -> Name:
        """The array."""
        found: Name = self.children[0]
        return found

    @property
    def index_operand(self) -> Node:
        """What stands inside the brackets."""
        found: Node = self.children[1]
        return found


class _List(Node):
    __slots__ = ()

    @property
    def elements(self) -> tuple[Node, ...]:
        """The elements, in order."""
        return self.children


class Vector(_List):
    """``{a, b, c, d}``."""

    __slots__ = ()


class Pair(_List):
    """``p|q``."""

    __slots__ = ()


class ArgumentList(_List):
    """``( ... )`` of a call."""

    __slots__ = ()


class Address(Node):
    """``[base+offset]``, ``[texture, {x, y}]``.

    >>> import ptxkit
    >>> a = ptxkit.parse(".func f() { ld.u32 r, [p+-8]; }")["f"].instructions[0].operands[1]
    >>> a.base.text, a.offset.text, a.rest
    ('p', '-8', ())
    """

    __slots__ = ()

    @property
    def suffix(self) -> str:
        """``".unified"`` after the brackets, or ``""``."""
        length = self.selector_length
        return self.text[-length:] if length else ""

    @property
    def base(self) -> Node:
        """A name or a constant."""
        found: Node = self.children[0]
        return found

    @property
    def offset(self) -> Node | None:
        """What is added to the base."""
        return self.children[1] if self.flags & HAS_OFFSET else None

    @property
    def rest(self) -> tuple[Node, ...]:
        """What stands after commas: sampler, coordinates."""
        return self.children[2 if self.flags & HAS_OFFSET else 1 :]
