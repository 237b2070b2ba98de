"""Layouts: how nvcc, LLVM, cuobjdump and our own formatter put statements into lines.

A style is data: the gap before a statement by what it is and what stands before it, and the
gaps inside a statement. The writer asks it for every gap, and the transpiler asks it what
the writer would do, so a file that follows its style needs no word about white space.

The tables were counted over real files of each kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ptxkit.errors import UsageError

#: Comments that a compiler puts at a place of their own: how the text begins -> their kind.
COMMENT_KINDS = (
    ("// .globl", "globl"),
    ("// -- End function", "far"),
    ("// @", "far"),
    ("// =>", "far"),
    ("// %bb.", "basic_block"),
    ("// $L__BB", "basic_block"),
)


@dataclass(frozen=True)
class Style:
    """One layout. Kinds of statements are those of :class:`ptxkit.dsl.statements.Statement`."""

    name: str
    body_indent: str
    """Before a statement of a body."""
    indents: Mapping[str, str]
    """Before statements of other kinds, wherever they stand."""
    blanks: Mapping[tuple[str, str], int]
    """Blank lines between a kind and the next; ``"*"`` stands for any."""
    same_line: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Kinds that go on in the line of what stands before them, and the gap between."""
    opcode_gap: str = " "
    """Between opcode and operands."""
    call_gap: str = " "
    """The same in calls."""
    asm_gap: str = " "
    """The same between ``// begin inline asm`` and ``// end inline asm``."""
    asm_loose: bool = False
    """Whether brackets and braces have spaces inside them there."""
    name_gaps: Mapping[str, str] = field(default_factory=dict)
    """Between type and name of a declaration in a body, by its space."""
    directive_gap: str = " "
    """After ``.loc``, ``.file`` and ``.section``."""
    section_brace: str = " "
    data_comma: str = ","
    """Between the numbers of a section."""
    returns_gap: str = " "
    """Before the ``(`` of what a function returns."""
    prototype_gap: str = ""
    """Before the ``(`` of a declaration's parameters."""
    parameter_indent: str = "\t"
    inline_parameters: int = 0
    """Up to so many parameters stand in the line of the name."""
    directives_gap: str = "\n"
    header_end: str = "\n"
    """Before ``{``, or before the ``;`` of a declaration."""
    prototype_end: str = "\n"
    note_gap: str = " "
    note_column: int = 0
    """The column that comments behind statements begin at, where they do."""
    step: int = 0
    """Columns that each block goes further in; 0 where blocks do not."""

    def gap(self, previous: str, kind: str, depth: int) -> str:
        """The white space between two statements."""
        return _gap(self, previous, kind, depth)

    def indent(self, kind: str, depth: int) -> str:
        """The white space at the begin of a statement's line."""
        if self.step:
            return " " * (self.step * max(0, depth - (kind == "label")))
        found = self.indents.get(kind)
        if found is None:
            found = self.body_indent if depth else ""
        return found

    def note(self, line: str, *, further: bool) -> str:
        """The gap before a comment behind a line; ``further``: after another comment."""
        if not self.note_column:
            return self.note_gap
        if further:
            return "\n" + " " * self.note_column
        return " " * max(1, self.note_column - len(line.expandtabs(8)))

    def comment_kind(self, text: str) -> str:
        """The kind of a comment that stands in a line of its own."""
        for begin, kind in COMMENT_KINDS:
            if text.startswith(begin):
                return kind
        return "comment"

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
            text += f"{self.returns_gap}({', '.join(returns)})"
        text += f" {name}"
        if parameters is not None:
            if end == ";":
                text += self.prototype_gap
            if len(parameters) <= self.inline_parameters:
                text += f"({', '.join(parameters)})"
            else:
                inner = f",\n{self.parameter_indent}".join(parameters)
                text += f"(\n{self.parameter_indent}{inner}\n)"
        for directive in directives:
            text += self.directives_gap + directive
        return text + (self.prototype_end if end == ";" else self.header_end) + end

    def __reduce__(self) -> tuple[object, ...]:
        return find_style, (self.name,)

    def __hash__(self) -> int:
        return hash(self.name)


@lru_cache(maxsize=4096)
def _gap(style: Style, previous: str, kind: str, depth: int) -> str:
    if previous == "start":
        return ""
    same = style.same_line.get((previous, kind))
    if same is not None:
        return same
    lines = 0
    for key in ((previous, kind), ("*", kind), (previous, "*")):
        if key in style.blanks:
            lines = style.blanks[key]
            break
    return "\n" * (lines + 1) + style.indent(kind, depth)


_COMPILER_INDENTS = {
    "label": "",
    "body_close": "",
    "section_label": "",
    "section_data": "",
    "basic_block": "",
    "file": "\t",
    "section": "\t",
    "section_close": "\t",
    "globl": "\t",
    "end": "",
}

NVCC = Style(
    "nvcc",
    body_indent="\t",
    indents={**_COMPILER_INDENTS, "far": "\t"},
    blanks={
        ("address_size", "*"): 1,
        ("comment", "version"): 1,
        ("comment", "header"): 1,
        ("variable", "header"): 1,
        ("prototype", "header"): 1,
        ("register", "instruction"): 1,
        ("header", "instruction"): 2,
        ("*", "body_close"): 1,
    },
    same_line={("label", "callprototype"): " "},
    opcode_gap=" \t",
    name_gaps={".reg": " \t", ".param": " \t", ".local": " \t"},
    directive_gap="\t",
    section_brace="\n\t",
    returns_gap="  ",
    prototype_gap="\n",
)

LLVM = Style(
    "llvm",
    body_indent="\t",
    indents={**_COMPILER_INDENTS, "far": " " * 40},
    blanks={
        ("address_size", "*"): 1,
        ("comment", "version"): 1,
        ("loc", "basic_block"): 1,
    },
    same_line={("label", "callprototype"): " "},
    opcode_gap=" \t",
    asm_loose=True,
    name_gaps={".reg": " \t", ".param": " \t", ".local": " \t"},
    directive_gap="\t",
    section_brace="\n\t",
    returns_gap="  ",
    prototype_gap="\n",
    note_column=40,
)

CUOBJDUMP = Style(
    "cuobjdump",
    body_indent="",
    indents={},
    blanks={
        ("address_size", "*"): 2,
        ("comment", "version"): 1,
        ("comment", "header"): 0,
        ("variable", "header"): 1,
        ("prototype", "header"): 1,
        ("register", "instruction"): 1,
        ("header", "instruction"): 2,
        ("instruction", "block"): 1,
        ("block_close", "instruction"): 2,
        ("*", "body_close"): 1,
    },
    same_line={("label", "callprototype"): " "},
    call_gap=" \n",
    prototype_gap="\n",
    parameter_indent="",
)

PTXKIT = Style(
    "ptxkit",
    body_indent="    ",
    indents={},
    blanks={
        ("body_close", "*"): 1,
        ("body_close", "end"): 0,
        ("comment", "version"): 1,
        ("address_size", "*"): 1,
        ("register", "instruction"): 1,
        ("variable", "header"): 1,
        ("prototype", "header"): 1,
    },
    data_comma=", ",
    parameter_indent="    ",
    inline_parameters=1,
    section_brace=" ",
    prototype_end="",
    note_gap="  ",
    step=4,
)

STYLES = {style.name: style for style in (NVCC, LLVM, CUOBJDUMP, PTXKIT)}


def find_style(name: str) -> Style:
    """The style of a name.

    >>> find_style("nvcc").gap("register", "instruction", 1)
    '\\n\\n\\t'
    """
    if name not in STYLES:
        raise UsageError(f"no style is called '{name}'; there are: {', '.join(STYLES)}")
    return STYLES[name]
