"""The layout of what people write: a style with its measures given, ``style="hand"``.

Compilers always write the same way, so their styles have names. A person indents by two
spaces or by a tab, puts the brace behind the name or under it, and lines operands up. That is
said once, with the module, in the words of :class:`HandStyle`:

>>> from ptxkit.dsl import Module, ptx
>>> module = Module(version="8.0", target="sm_80", style="hand", layout={"indent": "  "})
>>> @module.kernel
... def nothing():
...     ptx.ret()
>>> print(module.ptx().partition("64")[2].strip())
.visible .entry nothing()
{
  ret;
}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ptxkit.dsl.errors import DslError
from ptxkit.dsl.statements import white_space
from ptxkit.dsl.styles import PTXKIT, Style

#: Fields of a layout that are numbers; the others but ``parameters`` and ``blanks`` are gaps.
NUMBERS = frozenset(("operand_column", "name_column", "note_column", "inline_parameters"))


@dataclass(frozen=True)
class HandStyle(Style):
    """A layout by its measures; every field is what our formatter does where it is not given."""

    name: str = "hand"
    body_indent: str = ""
    indents: Mapping[str, str] = field(default_factory=dict)
    blanks: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Blank lines between kinds of statements, where they are others than the formatter's."""
    data_comma: str = ", "
    numbers_blocks: bool = False
    indent_text: str = "    "
    """Before a statement of a body."""
    block_indent: str = "    "
    """How much further in the statements of a block stand."""
    label_indent: str = ""
    after_label: str = ""
    """Between a label and what goes on in its line; empty where nothing does."""
    separator: str = ""
    """Between statements, where they all stand in one line."""
    opcode_gap: str = " "
    operand_column: int = 0
    """Where operands begin in their statement, if they are lined up."""
    comma: str = " "
    """After a comma between operands."""
    brackets: str = ""
    """Inside ``[ ]``."""
    plus: str = ""
    """Around the ``+`` of an address."""
    braces: str = ""
    """Inside the ``{ }`` of a vector."""
    word_gap: str = " "
    """Between the words of a declaration."""
    name_space: str = " "
    """Between type and name of registers."""
    name_column: int = 0
    """Where the names of registers begin in their declaration, if they are lined up."""
    parenthesis: str = ""
    """Before the ``(`` of the parameters."""
    parameters: tuple[str, str, str] = ("\n    ", "\n    ", "\n")
    """Before the first parameter, before each other one, before the ``)``."""
    inline_parameters: int = 1
    """Up to so many parameters stand in the line of the name all the same."""
    brace: str = "\n"
    """Before the ``{`` of a body."""
    note_gap: str = "  "

    def gap(self, previous: str, kind: str, depth: int) -> str:
        """The white space between two statements."""
        if previous == "start":
            return ""
        if kind == "end":
            return "\n"
        if self.separator:
            return self.separator
        if self.after_label and previous == "label" and kind in _INSTRUCTIONS:
            return self.after_label
        lines = self._blanks(previous, kind)
        return "\n" * (lines + 1) + self.indent(kind, depth)

    def _blanks(self, previous: str, kind: str) -> int:
        for table in (self.blanks, PTXKIT.blanks):
            for key in ((previous, kind), ("*", kind), (previous, "*")):
                if key in table:
                    return table[key]
        return 0

    def indent(self, kind: str, depth: int) -> str:
        """The white space at the begin of a statement's line."""
        if kind in ("label", "block_label"):
            return self.label_indent + self.block_indent * max(0, depth - 1)
        return self.indent_text + self.block_indent * (depth - 1) if depth > 0 else ""

    def instruction(
        self, name: str, opcode: str, operands: Sequence[str], is_asm: bool, guard: str = ""
    ) -> str:
        """An instruction with its guard."""
        begin = guard + opcode
        if not operands:
            return f"{begin};"
        inner = ", ".join(operands)
        if self.plus:
            inner = inner.replace("+", f"{self.plus}+{self.plus}")
        for opening, closing, inside in (("[", "]", self.brackets), ("{", "}", self.braces)):
            if inside:
                inner = inner.replace(opening, opening + inside)
                inner = inner.replace(closing, inside + closing)
        if self.comma != " ":
            inner = inner.replace(", ", f",{self.comma}")
        gap = self.opcode_gap
        if self.operand_column:
            gap = " " * max(1, self.operand_column - len(begin))
        return f"{begin}{gap}{inner};"

    def declaration(self, words: str, space: str, *, is_asm: bool, is_nested: bool) -> str:
        """The words of a declaration in a body, up to the first name."""
        text = words.replace(" ", self.word_gap) if self.word_gap != " " else words
        if space != ".reg":
            return text + self.word_gap
        if self.name_column:
            return text + " " * max(1, self.name_column - len(text))
        return text + self.name_space

    def header(
        self,
        words: str,
        returns: Sequence[str] | None,
        name: str,
        parameters: Sequence[str] | None,
        directives: Sequence[str],
        end: str,
    ) -> str:
        """The header of a function up to its ``{``, or a declaration up to its ``;``."""
        text = words
        if returns is not None:
            text += f" ({', '.join(returns)})"
        text += f" {name}"
        if parameters is not None:
            text += f"{self.parenthesis}("
            if parameters:
                if self.word_gap != " ":
                    parameters = [one.replace(" ", self.word_gap) for one in parameters]
                few = len(parameters) <= self.inline_parameters
                first, other, last = ("", " ", "") if few else self.parameters
                text += first + f",{other}".join(parameters) + last
            text += ")"
        for directive in directives:
            text += self.directives_gap + directive
        return text + ("" if end == ";" else self.brace) + end

    def __reduce__(self) -> tuple[object, ...]:
        return hand_style, (self.options(),)

    def options(self) -> dict[str, Any]:
        """The measures that are not the formatter's, as ``Module(layout=...)`` takes them."""
        found = {}
        for one in fields(self):
            word = _WORDS.get(one.name)
            value = getattr(self, one.name)
            if word is not None and value != getattr(HAND, one.name):
                found[word] = value
        return found

    __hash__ = Style.__hash__


_INSTRUCTIONS = ("instruction", "first_instruction")
#: Fields -> the words that a module's ``layout`` has for them.
_WORDS = {
    "indent_text": "indent",
    "name_space": "name_gap",
    **{
        name: name
        for name in "block_indent label_indent after_label separator opcode_gap operand_column "
        "comma brackets plus braces word_gap name_column parenthesis parameters "
        "inline_parameters brace note_gap note_column blanks".split()
    },
}
_FIELDS = {word: name for name, word in _WORDS.items()}
HAND = HandStyle()


def hand_style(options: Mapping[str, Any]) -> HandStyle:
    """The style that measures make.

    >>> hand_style({"indent": "  ", "comma": ""}).instruction("add", "add.s32", ["a", "b"], False)
    'add.s32 a,b;'
    """
    given: dict[str, Any] = {}
    for word, value in options.items():
        if word not in _FIELDS:
            raise DslError(f"a layout has no '{word}'", f"it has: {', '.join(sorted(_FIELDS))}")
        if word in NUMBERS:
            if value.__class__ is not int or not 0 <= value <= 1000:
                raise DslError(f"'{word}' is a number, not {value!r}")
        elif word == "parameters":
            value = tuple(map(white_space, value))
            if len(value) != 3:
                raise DslError(f"'{word}' are three gaps, not {len(value)}")
        elif word == "blanks":
            value = dict(value)
        else:
            white_space(value)
        given[_FIELDS[word]] = value
    # Styles are known by their name.
    return HandStyle(name=f"hand {sorted(given.items())}", **given)
