"""The comment form: finds annotations in CUDA source and puts asm statements in their place.

    /* PTX_INJECT name flags
        in  type name
        mod type name = expression
        out type name
    */

The statement stands on the first line of its annotation, and as many lines follow as the
annotation has, so that all other code keeps its lines and columns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import NoReturn

from ptxkit.diagnostics import Diagnostic
from ptxkit.inject.errors import AnnotationError
from ptxkit.inject.marker import DIRECTIONS, FLAGS, AnnotatedOperand, Statement, statement
from ptxkit.inject.types import Type

# What may hold the characters of a comment without being one, and comments. A number may
# hold a quote (1'000), and a name may end like the prefix of a raw string.
_TOKEN = re.compile(
    r"""
      (?P<line>//(?:\\\r?\n|[^\n])*)
    | (?P<block>/\*)
    | (?:u8|[uUL])?R"(?P<mark>[^\s()\\"]{0,16})\((?:.|\n)*?\)(?P=mark)"
    | "(?:\\(?:.|\n)|[^"\\\n])*"
    | [A-Za-z_]\w*
    | \.?\d(?:'?[\w.])*
    | '(?:\\.|[^'\\\n])*'
    """,
    re.VERBOSE,
)
BEGIN = re.compile(r"/\*\s*PTX_INJECT(?!\w)")
_MACRO = re.compile(r"\bPTX_INJECT(?:_PURE|_MEMORY)?\s*\(\s*\"([^\"\n]*)\"")
_WORD = re.compile(r"[^\s]+")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
#: Words of other notations for the directions.
_ALSO = {"inout": "mod", "rw": "mod", "modify": "mod", "input": "in", "output": "out"}
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_OPERAND_FORM = "an operand is 'in|mod|out type name' or 'in|mod|out type name = expression'"
# What NVRTC and nvcc take for one asm statement.
MOST_OPERANDS = 128


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation, read."""

    name: str
    flags: tuple[str, ...]
    operands: tuple[AnnotatedOperand, ...]
    span: tuple[int, int]
    """Offsets of the comment, in characters."""
    place: tuple[int, int]
    """Line and column of the name."""

    @property
    def signature(self) -> tuple[tuple[str, str, str], ...]:
        """Direction, type and name of every operand."""
        return tuple((one.direction, one.type.name, one.name) for one in self.operands)


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where a statement stands in the new source, and what it stands for."""

    line: int
    start: int
    """Column, from 1."""
    end: int
    shift: int
    """How much further right the rest of its line stands than before."""
    annotation: Annotation
    statement: Statement


@dataclass(slots=True)
class Rewritten:
    """CUDA source with statements in the place of annotations."""

    text: str
    filename: str
    annotations: list[Annotation]
    macro_names: frozenset[str]
    """Names that macros give to sites, as far as they are written out."""
    _lines: list[str]
    _placed: list[_Placed] = field(default_factory=list)

    def clash(self, name: str) -> Diagnostic | None:
        """Two annotations of one name with other operands; None where macros made the sites."""
        same = [one for one in self.annotations if one.name == name]
        other = next((one for one in same if one.signature != same[0].signature), None)
        if other is None:
            return None
        line, column = other.place
        return Diagnostic(
            "error", "inject-signature",
            f"the site '{name}' has other operands here than at line {same[0].place[0]}",
            line, column, "a name stands for one list of operands: give one of the two another "
            "name", filename=self.filename, span=(0, len(name)), source_line=self._lines[line - 1],
        )  # fmt: skip

    def relocate(self, found: Diagnostic) -> Diagnostic:
        """What a compiler said of the new source, at its place in the old one."""
        if found.filename != self.filename or not 1 <= found.line <= len(self._lines):
            return found
        line, column = found.line, found.column
        for one in self._placed:
            if one.line != line:
                continue
            if one.start <= found.column < one.end:
                line, column = one.annotation.place
                at = found.column - one.start
                for start, end, operand in one.statement.places:
                    # The constraint before the value belongs to the operand as well.
                    if start - 5 <= at <= end:
                        line, column = operand.place
                break
            if found.column >= one.end:
                column -= one.shift
        source = self._lines[line - 1]
        return replace(found, line=line, column=max(1, column), source_line=source, span=None)


def rewrite(source: str, filename: str, types: Mapping[str, Type]) -> Rewritten:
    """Put an asm statement in the place of every annotation.

    >>> from ptxkit.inject.types import TYPES
    >>> made = rewrite("int i; /* PTX_INJECT f\\n  in s32 i */ i++;", "k.cu", TYPES)
    >>> print(made.text)
    int i; asm volatile("// PTX_INJECT f in:s32:s32:i @1 volatile = %0" : : "r"(i));
                  i++;
    """
    named = frozenset(found[1] for found in _MACRO.finditer(source))
    made = Rewritten(source, filename, [], named, source.split("\n"))
    if "PTX_INJECT" not in source:
        return made
    reader = _Reader(source, filename, types)
    pieces: list[str] = []
    at = 0
    line, column = 1, 1  # in the new source
    for annotation in reader.annotations():
        start, end = annotation.span
        before = source[at:start]
        pieces.append(before)
        line, column = _advance(line, column, before)
        own = statement(
            annotation.name, annotation.operands, annotation.flags, reader.position(start)[0]
        )
        new_column = column
        pieces.append(own.text)
        column += len(own.text)
        breaks = source.count("\n", start, end)
        shift = len(own.text) - (end - start)
        made._placed.append(
            _Placed(line, new_column, column, 0 if breaks else shift, annotation, own)
        )
        if breaks:
            ending = " \\\n" if reader.is_directive(start) else "\n"
            last = end - source.rindex("\n", start, end) - 1
            pieces.append(ending * breaks + " " * last)
            line, column = line + breaks, last + 1
        at = end
        made.annotations.append(annotation)
    pieces.append(source[at:])
    made.text = "".join(pieces)
    return made


def _advance(line: int, column: int, text: str) -> tuple[int, int]:
    breaks = text.count("\n")
    return (line + breaks, len(text) - text.rindex("\n")) if breaks else (line, column + len(text))


class _Reader:
    """Reads the annotations of one source."""

    def __init__(self, source: str, filename: str, types: Mapping[str, Type]) -> None:
        self._source = source
        self._filename = filename
        self._types = types
        self._starts = [0, *(found.end() for found in re.finditer("\n", source))]

    def annotations(self) -> Iterator[Annotation]:
        """The annotations in order."""
        at = 0
        while (token := _TOKEN.search(self._source, at)) is not None:
            at = token.end()
            if token["block"] is None:
                continue
            begin = BEGIN.match(self._source, token.start())
            close = self._source.find("*/", at)
            if begin is not None:
                yield self._annotation(begin, close)
            if close < 0:
                return  # a compiler says it better
            at = close + 2

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def is_directive(self, offset: int) -> bool:
        """Whether a place is part of a preprocessor directive."""
        start = self._source.rfind("\n", 0, offset)
        while start > 0 and self._source[:start].rstrip("\r").endswith("\\"):
            start = self._source.rfind("\n", 0, start)
        return self._source[start + 1 : offset].lstrip().startswith("#")

    def _annotation(self, begin: re.Match[str], close: int) -> Annotation:
        source = self._source
        start = begin.start()
        if close < 0:
            self._fail(
                "inject-annotation", "this annotation is never closed", start, begin.end(),
                "write '*/' after its last operand",
            )  # fmt: skip
        inner = source.find("/*", begin.end(), close)
        if inner >= 0:
            self._fail(
                "inject-annotation", "a comment begins inside an annotation", inner, inner + 2,
                f"comments do not nest; is the annotation of line {self.position(start)[0]} "
                "closed by '*/'?",
            )  # fmt: skip
        lines = list(self._lines(begin.end(), close))
        words = self._words(*lines[0])
        if not words:
            self._fail(
                "inject-annotation", "the annotation has no site name", start, begin.end(),
                "write '/* PTX_INJECT name', then one operand a line",
            )  # fmt: skip
        (name, at), *rest = words
        if _IDENTIFIER.fullmatch(name) is None:
            self._fail(
                "inject-annotation", f"'{name}' is not the name of a site", at, at + len(name),
                "write letters, digits and '_'",
            )  # fmt: skip
        flags: list[str] = []
        self._flags(rest, flags)
        operands: list[AnnotatedOperand] = []
        for first, last in lines[1:]:
            words = self._words(first, last)
            if words and words[0][0] in FLAGS:
                self._flags(words, flags)
            elif words:
                self._operand(words, last, operands)
        return Annotation(
            name, tuple(flags), tuple(operands), (start, close + 2), self.position(at)
        )

    def _lines(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The lines of an annotation, without // comments and a star at the front."""
        source = self._source
        while True:
            stop = source.find("\n", start, end)
            last = end if stop < 0 else stop
            comment = source.find("//", start, last)
            cut = comment if comment >= 0 else last
            while start < cut and source[start] in " \t\r":
                start += 1
            if start < cut and source[start] == "*":
                start += 1
            yield start, cut
            if stop < 0:
                return
            start = stop + 1

    def _words(self, start: int, end: int) -> list[tuple[str, int]]:
        return [(word[0], word.start()) for word in _WORD.finditer(self._source, start, end)]

    def _flags(self, words: list[tuple[str, int]], flags: list[str]) -> None:
        for word, at in words:
            if word not in FLAGS:
                near = get_close_matches(word.lower(), FLAGS, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(FLAGS)}"
                if word in DIRECTIONS:
                    hint = "operands stand on lines of their own, below the name"
                self._fail(
                    "inject-flag", f"'{word}' is no flag of a site", at, at + len(word), hint
                )
            other = {"pure": ("volatile", "memory"), "volatile": ("pure",), "memory": ("pure",)}
            clash = next((one for one in other[word] if one in flags), None)
            if clash is not None:
                self._fail(
                    "inject-flag", f"a site can't be '{clash}' and '{word}'", at, at + len(word),
                    "a pure site may be moved and dropped, the others may not",
                )  # fmt: skip
            flags.append(word)

    def _operand(
        self, words: list[tuple[str, int]], end: int, operands: list[AnnotatedOperand]
    ) -> None:
        direction, at = words[0]
        if direction not in DIRECTIONS:
            word = direction.lower()
            meant = [_ALSO[word]] if word in _ALSO else get_close_matches(word, DIRECTIONS, 1)
            hint = f"did you mean '{meant[0]}'?" if meant else _OPERAND_FORM
            self._fail(
                "inject-direction", f"'{direction}' is no direction of an operand", at,
                at + len(direction), hint,
            )  # fmt: skip
        if len(words) < 2:
            self._incomplete("type", words[0])
        word, at = words[1]
        kind = self._types.get(word)
        if kind is None:
            near = get_close_matches(word.lower(), self._types, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(self._types)}"
            self._fail("inject-type", f"there is no type '{word}'", at, at + len(word), hint)
        start = at + len(word)
        left, equals, _ = self._source[start:end].partition("=")
        name = left.strip()
        if not name:
            self._incomplete("name", words[1])
        name_at = start + left.index(name)
        if _IDENTIFIER.fullmatch(name) is None:
            self._fail(
                "inject-operand", f"'{name}' is not the name of an operand", name_at,
                name_at + len(name), f"for an expression: '{direction} {kind.name} name = {name}'",
            )  # fmt: skip
        if any(one.name == name for one in operands):
            self._fail(
                "inject-operand", f"the site has an operand '{name}' already", name_at,
                name_at + len(name), "give each operand its own name; the expression after '=' "
                "may be the same",
            )  # fmt: skip
        if len(operands) == MOST_OPERANDS:
            self._fail(
                "inject-limit", f"the site has more than {MOST_OPERANDS} operands", name_at,
                name_at + len(name), "pass an array in memory",
            )  # fmt: skip
        expression, place = name, name_at
        if equals:
            value = start + len(left) + 1
            expression = self._source[value:end].strip()
            if not expression:
                self._fail(
                    "inject-operand", f"the operand '{name}' has no expression after '='",
                    value - 1, value, "write the expression on the same line",
                )  # fmt: skip
            place = self._source.index(expression, value)
            self._balanced(expression, place)
        operands.append(
            AnnotatedOperand(direction, kind, name, expression, self.position(place))
        )  # fmt: skip

    def _incomplete(self, what: str, after: tuple[str, int]) -> NoReturn:
        word, at = after
        self._fail(
            "inject-operand", f"the operand has no {what}", at, at + len(word), _OPERAND_FORM
        )  # fmt: skip

    def _balanced(self, expression: str, at: int) -> None:
        """An expression must not end the asm statement it is put into."""
        opened: list[tuple[str, int]] = []
        for token in re.finditer(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[()\[\]{}]", expression):
            place = at + token.start()
            if token[0] in _BRACKETS.values():
                opened.append((token[0], place))
            elif token[0] in _BRACKETS and (not opened or opened.pop()[0] != _BRACKETS[token[0]]):
                self._fail(
                    "inject-operand", f"this '{token[0]}' closes nothing", place, place + 1,
                    "an expression stands on one line, whole",
                )  # fmt: skip
        if opened:
            bracket, place = opened[-1]
            self._fail(
                "inject-operand", f"this '{bracket}' is never closed", place, place + 1,
                "an expression stands on one line, whole",
            )  # fmt: skip

    def _fail(self, code: str, message: str, start: int, end: int, hint: str) -> NoReturn:
        line, column = self.position(start)
        before = len(self._source[:start].encode("utf-8", "surrogateescape"))
        length = len(self._source[start:end].encode("utf-8", "surrogateescape"))
        raise AnnotationError(
            [
                Diagnostic(
                    "error", code, message, line, column, hint,
                    filename=self._filename, span=(before, before + length),
                    source_line=self._source.split("\n")[line - 1],
                )
            ]
        )  # fmt: skip
