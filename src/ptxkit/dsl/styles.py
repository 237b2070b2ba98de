"""Layouts: how nvcc, LLVM, cuobjdump and our own formatter put statements into lines.

A style is data: the gap before a statement by what it is and what stands before it, and the
gaps inside a statement. The writer asks it for every gap, and the transpiler asks it what
the writer would do, so a file that follows its style needs no word about white space.

The tables were counted over real files of each kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from ptxkit.dsl.spacing import split
from ptxkit.errors import UsageError

#: Comments that a compiler puts at a place of their own: how the text begins -> their kind.
COMMENT_KINDS = (
    ("// .globl", "globl"),
    ("// .weak", "globl"),
    ("// begin inline asm", "asm_begin"),
    ("// end inline asm", "asm_end"),
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
    opcode_gaps: Mapping[str, str] = field(default_factory=dict)
    """The same for instructions that have another, by the first word."""
    local_branch_gap: str = ""
    """The same in ``bra.uni`` to the labels ``$L__tmp`` of debugging, where it is another."""
    call_break: str | None = None
    """What each part of a call begins with, where calls take several lines."""
    asm_gap: str = " "
    """The same between ``// begin inline asm`` and ``// end inline asm``."""
    asm_loose: bool = False
    """Whether brackets and braces have spaces inside them there."""
    name_gaps: Mapping[str, str] = field(default_factory=dict)
    """Between type and name of a declaration in a body, by its space."""
    nested_name_gaps: Mapping[str, str] = field(default_factory=dict)
    """The same in blocks inside a body."""
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
    blank_after_branch: bool = False
    """Whether a blank line stands between a branch that may not be taken and what follows."""
    numbers_blocks: bool = True
    """Whether labels are called after the number of their basic block, as compilers do."""
    width: int = 0
    """Longer lines are broken after a comma; 0 where they are not."""

    def gap(self, previous: str, kind: str, depth: int) -> str:
        """The white space between two statements."""
        return _gap(self, previous, kind, depth)

    def indent(self, kind: str, depth: int) -> str:
        """The white space at the begin of a statement's line."""
        if self.step:
            outside = kind in ("label", "block_label")
            return " " * (self.step * max(0, depth - outside))
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
        # The tab that begins the line is not counted.
        return " " * max(1, self.note_column - len(line.removeprefix("\t").expandtabs(8)))

    def instruction(
        self, name: str, opcode: str, operands: Sequence[str], is_asm: bool, guard: str = ""
    ) -> str:
        """An instruction with its guard."""
        if not operands:
            return f"{guard}{opcode};"
        if is_asm:
            joined = ", ".join(operands)
            inner = joined.translate(_LOOSE) if self.asm_loose else joined
            return f"{guard}{opcode}{self.asm_gap}{inner};"
        if name == "call" and self.call_break is not None:
            return guard + self._call(opcode, operands, self.call_break)
        gap = self.opcode_gaps.get(name, self.opcode_gap)
        if self.local_branch_gap and opcode == "bra.uni" and operands[0].startswith("$L__tmp"):
            gap = self.local_branch_gap
        return f"{guard}{opcode}{gap}{', '.join(operands)};"

    @staticmethod
    def _call(opcode: str, operands: Sequence[str], begin: str) -> str:
        """A call over several lines, a parameter each."""
        text = f"{opcode} "
        rest = list(operands)
        if rest[0].startswith("("):
            text += f"{rest.pop(0)}, "
        after = ""
        for number, part in enumerate(rest):
            if part.startswith("("):
                inner = part[1:-1].replace(", ", f", {begin}")
                text += f"{begin}({begin}{inner}{begin})" if inner else f"{begin}({begin})"
                after = begin
            else:
                text += f"{after}, {part}" if after else f"{begin}{part}"
                if not after and number < len(rest) - 1:
                    text += ", "
        return f"{text};"

    def wrapped(self, text: str, gap: str) -> str:
        """A statement with its lines broken; ``gap`` is what stands before it."""
        indent = len(gap) - gap.rfind("\n") - 1
        if not self.width or indent + len(text) <= self.width:
            return text
        tokens, gaps = split(text)
        length, comma = indent, 0
        for number, token in enumerate(tokens):
            before = gaps[number]
            if "\n" in before:
                indent = length = len(before) - before.rfind("\n") - 1
                comma = 0
            else:
                length += len(before)
                if number and tokens[number - 1] == "," and before:
                    comma = number
            length += len(token)
            if length > self.width and comma:
                gaps[comma] = "\n" + " " * (indent + 2 * self.step)
                rest = [*tokens[comma : number + 1], *gaps[comma + 1 : number + 1]]
                length = indent + 2 * self.step + sum(map(len, rest))
                comma = 0
        return "".join([piece for pair in zip(gaps, tokens, strict=True) for piece in pair])

    def declaration(self, words: str, space: str, *, is_asm: bool, is_nested: bool) -> str:
        """The words of a declaration in a body, up to the first name."""
        if is_asm:
            return f"{words} "
        return words + (self.nested_name_gaps if is_nested else self.name_gaps).get(space, " ")

    def label_kind(self, name: str) -> str:
        """The kind of a label: that of a basic block, or another."""
        return "block_label" if name.startswith("$L__BB") else "label"

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


_LOOSE = str.maketrans({"[": "[ ", "]": " ]", "{": "{ ", "}": " }", "+": " + "})

_COMPILER_INDENTS = {
    "label": "",
    "block_label": "",
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

#: Instructions that the back ends print with a space alone.
_SPACED = dict.fromkeys(
    "call mma ldmatrix stmatrix wgmma tcgen05 tensormap multimem red fence prefetch suld madc "
    "createpolicy bmsk".split(),
    " ",
)
_HEAD_BLANKS = {
    ("address_size", "*"): 1,
    ("comment", "version"): 1,
    ("variable", "header"): 1,
    ("prototype", "header"): 1,
}
_TABBED = {".reg": " \t", ".param": " \t", ".local": " \t"}

# nvcc for sm_100 and newer ("Based on NVVM 23"), and NVRTC.
NVCC = Style(
    "nvcc",
    body_indent="\t",
    indents={**_COMPILER_INDENTS, "far": "\t"},
    blanks={
        **_HEAD_BLANKS,
        ("comment", "header"): 1,
        ("register", "first_instruction"): 1,
        ("loc", "first_instruction"): 1,
        ("header", "first_instruction"): 2,
        ("*", "body_close"): 1,
    },
    same_line={("label", "callprototype"): " "},
    opcode_gap=" \t",
    opcode_gaps=_SPACED,
    local_branch_gap="\t",
    name_gaps=_TABBED,
    nested_name_gaps=_TABBED,
    directive_gap="\t",
    section_brace="\n\t",
    returns_gap="  ",
    prototype_gap="\n",
)

# nvcc for sm_75 to sm_90 ("Based on NVVM 7").
NVCC_7 = replace(
    NVCC,
    name="nvcc-7",
    blanks={
        **NVCC.blanks,
        ("*", "block_label"): 1,
        ("register", "first_instruction"): 2,
        ("loc", "first_instruction"): 2,
        ("declaration", "first_instruction"): 1,
    },
    opcode_gaps={**_SPACED, "and": "  \t", "or": "  \t", "xor": "  \t", "redux": " "},
    call_break="\n\t",
    nested_name_gaps={},
    blank_after_branch=True,
)

# nvcc 12 for sm_100 and newer.
NVCC_12 = replace(NVCC, name="nvcc-12", call_break="\n\t", nested_name_gaps={})

# LLVM's own back end, which Triton uses.
LLVM = replace(
    NVCC,
    name="llvm",
    indents={**_COMPILER_INDENTS, "far": " " * 40},
    blanks={
        **_HEAD_BLANKS,
        ("variable", "header"): 0,
        ("prototype", "header"): 0,
        ("loc", "basic_block"): 1,
        ("instruction", "asm_end"): 1,
        ("block_close", "asm_end"): 1,
    },
    asm_loose=True,
    note_column=40,
)

# What cuobjdump gives of the two: without tabs, and with blank lines for comments.
CUOBJDUMP = replace(
    NVCC,
    name="cuobjdump",
    body_indent="",
    indents={},
    blanks={
        **NVCC.blanks,
        ("address_size", "*"): 2,
        ("comment", "header"): 0,
    },
    opcode_gap=" ",
    opcode_gaps={},
    local_branch_gap="",
    name_gaps={},
    nested_name_gaps={},
    directive_gap=" ",
    section_brace="\n",
    returns_gap=" ",
    parameter_indent="",
)
CUOBJDUMP_7 = replace(
    CUOBJDUMP,
    name="cuobjdump-7",
    blanks={
        **NVCC_7.blanks,
        ("address_size", "*"): 2,
        ("comment", "header"): 0,
    },
    call_break="\n",
    blank_after_branch=True,
)

CUOBJDUMP_12 = replace(CUOBJDUMP, name="cuobjdump-12", call_break="\n")

PTXKIT = Style(
    "ptxkit",
    body_indent="    ",
    indents={},
    blanks={
        ("body_close", "*"): 1,
        ("body_close", "end"): 0,
        ("comment", "version"): 1,
        ("address_size", "*"): 1,
        ("register", "first_instruction"): 1,
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
    numbers_blocks=False,
    width=100,
)

STYLES = {
    style.name: style
    for style in (NVCC, NVCC_12, NVCC_7, LLVM, CUOBJDUMP, CUOBJDUMP_12, CUOBJDUMP_7, PTXKIT)
}


def find_style(name: str) -> Style:
    """The style of a name; ``"hand"`` is :mod:`ptxkit.dsl.layouts`, its measures are given.

    >>> find_style("nvcc").gap("register", "first_instruction", 1)
    '\\n\\n\\t'
    """
    if name not in STYLES:
        raise UsageError(f"no style is called '{name}'; there are: {', '.join(STYLES)}")
    return STYLES[name]
