"""Declarations as chains of words: ``reg.b32("%r<28>")``, ``shared.align(16).b8("tile[1024]")``.

The chain says the words of the PTX declaration in their order; the call names what is
declared and gives registers or variables back. Words that Python keeps for itself have a
trailing underscore: ``global_``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.builder import current
from ptxkit.dsl.errors import DslError, UnknownWordError
from ptxkit.dsl.operands import Operand, operand
from ptxkit.dsl.registers import Register, Variable, register_number, register_range
from ptxkit.dsl.words import word_of
from ptxkit.isa.types import SCALAR_TYPES

if TYPE_CHECKING:
    from typing_extensions import Self

    from ptxkit.dsl.builder import Builder

LINKAGES = frozenset((".extern", ".visible", ".weak", ".common"))
SPACES = frozenset(
    (".reg", ".sreg", ".const", ".global", ".local", ".param", ".shared", ".tex",
     ".shared::cta", ".shared::cluster")
)  # fmt: skip
_VECTORS = {".v2": 2, ".v4": 4, ".v8": 8}
#: What a declaration is made of; any other word is said with ``word("...")``.
WORDS = frozenset((*SPACES, *LINKAGES, *_VECTORS, ".ptr", *(f".{name}" for name in SCALAR_TYPES)))
_DECLARATOR = re.compile(
    r"(?P<name>[A-Za-z_$%][\w$]*)(?:<(?P<count>\w+)>)?(?P<sizes>(?:\[\w*\])*)", re.ASCII
)
#: What nvcc calls the registers of a type.
CONVENTIONS = {
    "pred": "%p", "b16": "%rs", "b32": "%r", "b64": "%rd", "f32": "%f", "f64": "%fd",
    "u16": "%rs", "u32": "%r", "u64": "%rd", "s16": "%rs", "s32": "%r", "s64": "%rd",
    "f16": "%h", "f16x2": "%hh", "b128": "%rq", "b8": "%rc", "u8": "%rc", "s8": "%rc",
}  # fmt: skip


class Field:
    """A field of a texture's or sampler's initialiser."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value


class Declared:
    """A name with its own initialiser, where a declaration has several names."""

    __slots__ = ("declarator", "init")

    def __init__(self, declarator: str, init: Any = None) -> None:
        self.declarator = declarator
        self.init = init


def initializer_text(value: Any) -> str:
    """An initialiser as PTX: numbers, names, lists of them and fields.

    >>> initializer_text([1, [2, "x"], Field("width", 4)])
    '{1, {2, x}, width = 4}'
    """
    if isinstance(value, (list, tuple)):
        if all(one.__class__ is int and one.bit_length() <= 64 for one in value):
            return "{" + ", ".join(map(str, value)) + "}"
        return "{" + ", ".join([initializer_text(one) for one in value]) + "}"
    if isinstance(value, (bytes, bytearray)):
        return "{" + ", ".join(map(str, value)) + "}"
    if isinstance(value, Field):
        return f"{value.name} = {initializer_text(value.value)}"
    return operand(value).text


class Words:
    """A chain of words that a declaration begins with."""

    __slots__ = ("_builder", "_words")
    _known = WORDS

    def __init__(self, words: tuple[str, ...] = (), builder: Builder | None = None) -> None:
        self._words = words
        self._builder = builder

    def __getattr__(self, name: str) -> Words:
        if name.startswith("__"):
            raise AttributeError(name)
        word = "." + word_of(name)
        if word not in self._known:
            near = difflib.get_close_matches(word, self._known, 1)
            raise UnknownWordError(
                f"'{word}' is no word of a declaration",
                (f"did you mean '{near[0]}'? " if near else "")
                + f"what ptxkit does not know is written .word({word[1:]!r})",
            )
        return type(self)((*self._words, word), self._builder)

    def align(self, size: Any) -> Self:
        """``.align 8``: a power of two."""
        if isinstance(size, int) and (size < 1 or size & (size - 1)):
            raise DslError(f"an alignment of {size}", "it is a power of two")
        return type(self)((*self._words, ".align", operand(size).text), self._builder)

    def attribute(self, *values: str) -> Self:
        """``.attribute(.managed)``."""
        return type(self)((*self._words, f".attribute({', '.join(values)})"), self._builder)

    def bank(self, number: Any) -> Self:
        """A constant bank of PTX 1.x: ``.const[2]``."""
        *before, last = self._words
        return type(self)((*before, f"{last}[{operand(number).text}]"), self._builder)

    def word(self, text: str) -> Self:
        """Any word: ``word("odd$type")`` is ``.odd$type``."""
        return type(self)((*self._words, f".{text}"), self._builder)

    def nothing(self) -> None:
        """A declaration without names: ``.reg .b32;``."""
        builder = self._builder or current()
        kind = "register" if self._space == ".reg" else "declaration"
        builder.add(kind if builder.is_body else "variable", f"{' '.join(self._words)};")

    # -- what the words say ----------------------------------------------------------------

    @property
    def _space(self) -> str:
        return next((w.partition("[")[0] for w in self._words if w.partition("[")[0] in SPACES), "")

    @property
    def _type(self) -> str:
        for word in self._words:
            plain = word.partition("[")[0].partition("(")[0]
            other = plain in SPACES or plain in LINKAGES or plain in _VECTORS
            if word.startswith(".") and not other and plain not in _OTHER_WORDS:
                return word[1:]
        return ""

    @property
    def _width(self) -> int:
        return next((_VECTORS[word] for word in self._words if word in _VECTORS), 1)

    def __call__(
        self, *names: str | Declared, init: Any = None, comment: str | None = None
    ) -> Any:  # Registers, ranges, variables, or a tuple of them
        """Declare names: ``"x"``, ``"%r<28>"``, ``"table[4]"``; a comment stands before them."""
        space = self._space
        builder = self._builder or current()
        if comment is not None:
            builder.comment(comment)
        if not names and space == ".reg":
            made_one = builder.fresh(self._type, self._width)
            return made_one if init is None else made_one.set(init)
        parts = [one if isinstance(one, Declared) else Declared(one) for one in names]
        if init is not None:
            parts[-1].init = init
        made = [self._declare(part.declarator, space, builder) for part in parts]
        in_body = builder.is_body
        text = " ".join(self._words)
        if parts:
            if in_body:
                text = builder.style.declaration(
                    text, space, is_asm=builder.is_asm, is_nested=builder.is_nested
                )
            else:
                text += " "
            text += ", ".join([_declarator_text(part) for part in parts])
        kind = "register" if space == ".reg" else "declaration"
        builder.add(kind if in_body else "variable", f"{text};")
        return made[0] if len(made) == 1 else tuple(made)

    def _declare(self, declarator: str, space: str, builder: Builder) -> Any:
        found = _DECLARATOR.fullmatch(declarator)
        if found is None:
            raise DslError(
                f"{declarator!r} is not a name to declare", "write 'x', '%r<28>' or 'table[4]'"
            )
        name = found["name"]
        owner = builder if builder.is_body else None
        if space == ".reg":
            type, width = self._type, self._width
            if found["count"] is not None:
                from ptxkit.syntax.constants import integer_value

                count = integer_value(found["count"])
                builder.declare(name)
                return register_range(name, count, type, owner, width)
            builder.declare(name)
            return Register(name, type, register_number(type, width), owner, width)
        return Variable(name, self._type, space[1:], owner)

    def __getitem__(self, sizes: int | tuple[int, ...]) -> Any:
        """New registers, ``reg.f32[8]``, or an array nobody named, ``smem.f32[32, 33]``."""
        shape = sizes if isinstance(sizes, tuple) else (sizes,)
        if any(size.__class__ is not int or size < 0 for size in shape):
            raise DslError(f"{sizes!r} is no size of an array")
        builder = self._builder or current()
        if self._space == ".reg":
            if len(shape) > 1:
                inner = shape[1:] if len(shape) > 2 else shape[1]
                return [self[inner] for _ in range(shape[0])]
            return builder.fresh_several(self._type, shape[0], self._width)
        name = builder.new_name(self._space[1:])
        return self(name + "".join(f"[{size}]" for size in shape))

    def __repr__(self) -> str:
        return f"<declaration {' '.join(self._words)}>"


_OTHER_WORDS = frozenset((".align", ".ptr", ".attribute"))


def _declarator_text(part: Declared) -> str:
    if part.init is None:
        return part.declarator
    return f"{part.declarator} = {initializer_text(part.init)}"


def parameter_text(words: Words, name: str, role: str = "") -> tuple[str, Variable | Register]:
    """A parameter's PTX, and what it is in the body."""
    found = _DECLARATOR.fullmatch(name)
    if found is None:
        raise DslError(f"{name!r} is not a name of a parameter")
    text = f"{' '.join(words._words)} {name}"
    plain, type, space = found["name"], words._type, words._space
    if space == ".reg":
        return text, Register(plain, type, register_number(type, words._width), None, words._width)
    return text, Variable(plain, type, space[1:], None, role)


def texts(values: Sequence[Any]) -> str:
    """Operands joined by commas."""
    return ", ".join([value.text if isinstance(value, Operand) else str(value) for value in values])
