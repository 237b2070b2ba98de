"""Write the tree as C++ a person would have written.

>>> from ptxkit.cuda.reader import read_expression
>>> print_expression(read_expression("(* (+ a b) (neg c))"))
'(a + b) * -c'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from ptxkit.cuda.literals import SUFFIXES, WORDS, is_word, spell
from ptxkit.cuda.mangling import explained, plain_name
from ptxkit.cuda.nodes import (
    Asm,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Case,
    Cast,
    Comment,
    Conditional,
    Continue,
    CudaModule,
    Declare,
    DoWhile,
    Evaluate,
    Expression,
    For,
    Function,
    Goto,
    If,
    Index,
    Label,
    Literal,
    Member,
    Name,
    Parameter,
    Return,
    Statement,
    StructDefinition,
    Switch,
    Unary,
    While,
)
from ptxkit.cuda.types import DOUBLE, Array, Pointer, Type
from ptxkit.cuda.wrapping import wrapped
from ptxkit.deep import deeply

_WIDTH = 100
_INDENT = "    "
#: Further in nobody counts: a file stays as long as its statements are many.
_DEEPEST = 40

PRECEDENCE: dict[str, int] = {
    ",": 1, "?:": 3, "||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9,
    "<": 10, "<=": 10, ">": 10, ">=": 10, "<<": 11, ">>": 11, "+": 12, "-": 12,
    "*": 13, "/": 13, "%": 13, "unary": 15, "postfix": 16,
}  # fmt: skip
# Operators whose place in the order people do not trust themselves to remember.
_UNCLEAR = {"|", "^", "&", "<<", ">>"}
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


def _binary_operand(operator: str, operand: Expression, *, right: bool) -> str:
    text, level = _expression(operand)
    own = PRECEDENCE[operator]
    inside = operand.operator if isinstance(operand, Binary) else None
    doubtful = inside is not None and inside != operator and (
        operator in _UNCLEAR or (operator == "||" and inside == "&&")
    )  # fmt: skip
    doubtful |= operator in _COMPARISONS and inside in _COMPARISONS
    return f"({text})" if level < own or (right and level == own) or doubtful else text


def _prefix(operator: str, operand: Expression) -> str:
    text, level = _expression(operand)
    if level < PRECEDENCE["unary"]:
        return f"{operator}({text})"
    # "- -x" must not become "--x".
    return f"{operator} {text}" if text[0] == operator and operator in "-&" else operator + text


def _postfix(base: Expression) -> str:
    text, level = _expression(base)
    return text if level >= PRECEDENCE["postfix"] else f"({text})"


def _print_conditional(node: Conditional) -> tuple[str, int]:
    condition, level = _expression(node.condition)
    if level <= PRECEDENCE["?:"]:
        condition = f"({condition})"
    return (
        f"{condition} ? {_expression(node.then)[0]} : {_expression(node.otherwise)[0]}",
        PRECEDENCE["?:"],
    )


def _print_literal(node: Literal) -> tuple[str, int]:
    text = spell(node)
    return text, PRECEDENCE["unary"] if text[0] in "-(" and text[-1] != ")" else 17


#: A number to mask with that people write by its bits.
_MASK = 256


def _mask(operator: str, operand: Expression) -> str:
    """The number of a mask in hexadecimal; nothing for any other operand."""
    if operator not in ("&", "&=") or not isinstance(operand, Literal):
        return ""
    if not operand.type.is_integer or operand.type not in SUFFIXES or operand.value < _MASK:
        return ""
    return f"{int(operand.value):#x}{SUFFIXES[operand.type]}"


def _print_binary(node: Binary) -> tuple[str, int]:
    left = _binary_operand(node.operator, node.left, right=False)
    right = _mask(node.operator, node.right) or _binary_operand(
        node.operator, node.right, right=True
    )
    gap = "" if node.operator == "," else " "
    return f"{left}{gap}{node.operator} {right}", PRECEDENCE[node.operator]


_EXPRESSIONS: dict[type, Callable[..., tuple[str, int]]] = {
    Literal: _print_literal,
    Name: lambda n: (n.name, 17),
    Unary: lambda n: (_prefix(n.operator, n.operand), PRECEDENCE["unary"]),
    Binary: _print_binary,
    Conditional: _print_conditional,
    Cast: lambda n: (_prefix(f"({n.type.spelling})", n.operand), PRECEDENCE["unary"]),
    Call: lambda n: (f"{n.function}({_arguments(n)})", 16),
    Index: lambda n: (f"{_postfix(n.base)}[{_expression(n.index)[0]}]", 16),
    Member: lambda n: (
        f"{_postfix(n.base.operand)}->{n.field}"
        if isinstance(n.base, Unary) and n.base.operator == "*"
        else f"{_postfix(n.base)}.{n.field}",
        16,
    ),
}


def _expression(node: Expression) -> tuple[str, int]:
    return _EXPRESSIONS[type(node)](node)


def print_argument(node: Expression) -> str:
    """An expression as an argument: a comma operator needs parentheses there."""
    text, level = _expression(node)
    return f"({text})" if level == PRECEDENCE[","] else text


#: Functions of one name for several types, of which a compiler takes no two types at once.
_ONE_TYPE = frozenset(
    "fmax fmin fma pow atan2 fmod hypot remainder copysign fdim nextafter".split()
)


def _arguments(node: Call) -> str:
    """The arguments of a call.

    What is infinite is so by a word that means a float: among doubles it has to become one.

    >>> from ptxkit.cuda.literals import from_bits
    >>> print_expression(Call("fmax", (Name("x"), from_bits(0xFFF << 52, DOUBLE))))
    'fmax(x, (double)-INFINITY)'
    """
    if node.function not in _ONE_TYPE:
        return ", ".join(map(print_argument, node.arguments))
    return ", ".join(
        f"({DOUBLE.spelling}){print_argument(one)}"
        if isinstance(one, Literal) and one.type == DOUBLE and is_word(one)
        else print_argument(one)
        for one in node.arguments
    )  # fmt: skip


def print_expression(node: Expression) -> str:
    """The C++ of an expression."""
    return _expression(node)[0]


def declarator(type: Type, name: str) -> str:
    """A type around a name.

    >>> from ptxkit.cuda.types import FLOAT
    >>> declarator(Array(FLOAT, (16, 17)), "tile"), declarator(Pointer(FLOAT), "p")
    ('float tile[16][17]', 'float *p')
    """
    suffix = ""
    while isinstance(type, Array):
        suffix += "".join(f"[{n or ''}]" for n in type.shape)
        type = type.element
    if isinstance(type, Pointer):
        if isinstance(type.target, Array):
            return declarator(type.target, f"(*{name}{suffix})")
        gap = " " if type.restrict else ""
        return f"{type.spelling}{gap}{name}{suffix}"
    return f"{type.spelling} {name}{suffix}"


# ---- statements --------------------------------------------------------------------------

_SPACES = {
    "": "", "shared": "__shared__ ", "extern shared": "extern __shared__ ",
    "constant": "__constant__ ", "device": "__device__ ", "static": "static ",
    "managed": "__managed__ ", "extern device": "extern __device__ ",
    "extern constant": "extern __constant__ ",
}  # fmt: skip


def _declare(node: Declare) -> str:
    text = _SPACES[node.space]
    if node.alignment:
        text += f"__align__({node.alignment}) "
    if node.const:
        text += "const "
    text += declarator(node.type, node.name)
    return text if node.value is None else f"{text} = {print_argument(node.value)}"


def _assign(node: Assign) -> str:
    target = print_expression(node.target)
    one = Literal(1, node.value.type) if isinstance(node.value, Literal) else None
    if (
        node.operator in ("+=", "-=")
        and node.value == one
        and isinstance(node.value, Literal)
        and node.value.type.kind == "int"
    ):
        return f"{target}{node.operator[0] * 2}"
    value = _mask(node.operator, node.value) or print_expression(node.value)
    return f"{target} {node.operator} {value}"


def _quoted(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(c, c) for c in text) + '"'


def _asm(node: Asm) -> str:
    def group(operands: Iterable[object]) -> str:
        return ", ".join(
            f'"{o.constraint}"({print_expression(o.expression)})'  # type: ignore[attr-defined]
            for o in operands
        )

    text = f"asm{' volatile' if node.volatile else ''}({_quoted(node.text)}"
    groups = [group(node.outputs), group(node.inputs), ", ".join(map(_quoted, node.clobbers))]
    while groups and not groups[-1]:
        groups.pop()
    return text + "".join(f" : {g}".rstrip() for g in groups) + ")"


_SIMPLE: dict[type, Callable[..., str]] = {
    Declare: _declare,
    Assign: _assign,
    Evaluate: lambda n: print_expression(n.expression),
    Break: lambda n: "break",
    Continue: lambda n: "continue",
    Return: lambda n: "return" if n.value is None else f"return {print_expression(n.value)}",
    Goto: lambda n: f"goto {n.label}",
    Asm: _asm,
}


def _simple(node: Statement | None) -> str:
    return "" if node is None else _SIMPLE[type(node)](node)


class _Writer:
    def __init__(self, symbols: Container[str] = ()) -> None:
        self.lines: list[str] = []
        self.symbols = symbols
        """Kernels that keep their mangled names, since code refers to them by these."""

    def line(self, depth: int, text: str) -> None:
        self.lines += wrapped(_INDENT * min(depth, _DEEPEST), text) if text else [""]

    def body(self, depth: int, head: str, body: tuple[Statement, ...], tail: str = "") -> None:
        """A head and what it governs; on one line where that is how people write it."""
        if len(body) == 1 and isinstance(body[0], Assign | Evaluate | Break | Continue | Return) \
                and not tail:  # fmt: skip
            text = f"{head} {_simple(body[0])};"
            if len(text) + 4 * depth <= _WIDTH:
                self.line(depth, text)
                return
        self.line(depth, f"{head} {{")
        self.statements(depth + 1, body)
        self.line(depth, "}" + tail)

    def statements(self, depth: int, body: Iterable[Statement]) -> None:
        for statement in body:
            writer = _STATEMENTS.get(type(statement))
            if writer is None:
                self.line(depth, _simple(statement) + ";")
            else:
                writer(self, depth, statement)

    def _if(self, depth: int, node: If) -> None:
        head = f"if ({print_expression(node.condition)})"
        if not node.otherwise:
            self.body(depth, head, node.then)
            return
        self.line(depth, head + " {")
        self.statements(depth + 1, node.then)
        while len(node.otherwise) == 1 and isinstance(node.otherwise[0], If):
            node = node.otherwise[0]
            self.line(depth, f"}} else if ({print_expression(node.condition)}) {{")
            self.statements(depth + 1, node.then)
        if node.otherwise:
            self.line(depth, "} else {")
            self.statements(depth + 1, node.otherwise)
        self.line(depth, "}")

    def _pragma(self, depth: int, unroll: int | None) -> None:
        if unroll is not None:
            self.line(depth, f"#pragma unroll {unroll or ''}".rstrip())

    def _for(self, depth: int, node: For) -> None:
        self._pragma(depth, node.unroll)
        condition = "" if node.condition is None else " " + print_expression(node.condition)
        step = "" if node.step is None else " " + _simple(node.step)
        self.body(depth, f"for ({_simple(node.start)};{condition};{step})", node.body)

    def _while(self, depth: int, node: While) -> None:
        self._pragma(depth, node.unroll)
        head = f"while ({print_expression(node.condition)})"
        if node.body:
            self.body(depth, head, node.body)
        else:
            self.line(depth, head + ";")

    def _do(self, depth: int, node: DoWhile) -> None:
        self._pragma(depth, node.unroll)
        self.body(depth, "do", node.body, f" while ({print_expression(node.condition)});")

    def _switch(self, depth: int, node: Switch) -> None:
        self.line(depth, f"switch ({print_expression(node.value)}) {{")
        for case in node.cases:
            self._case(depth, case)
        self.line(depth, "}")

    def _case(self, depth: int, case: Case) -> None:
        for value in case.values:
            self.line(depth, f"case {value}:")
        if not case.values:
            self.line(depth, "default:")
        scoped = any(isinstance(s, Declare) for s in case.body)
        if scoped:
            self.lines[-1] += " {"
        self.statements(depth + 1, case.body)
        leaves = case.body and isinstance(case.body[-1], Return | Continue | Break | Goto)
        if not case.falls and not leaves:
            self.line(depth + 1, "break;")
        if scoped:
            self.line(depth, "}")

    def _block(self, depth: int, node: Block) -> None:
        self.line(depth, "{")
        self.statements(depth + 1, node.body)
        self.line(depth, "}")

    def function(self, node: Function) -> None:
        name = plain_name(node) if node.name not in self.symbols else ""
        if name:
            node = replace(node, name=name, linkage="")
        elif node.body is not None and explained(node):
            self.line(0, f"// {explained(node)}")
        if node.options:
            self.line(0, f"{COMPILE_THIS_WITH} {' '.join(node.options)}")
        head = f'extern "{node.linkage}" ' if node.linkage else ""
        head += " ".join((*node.qualifiers, "")) + ("__global__ " if node.kernel else "__device__ ")
        if node.launch_bounds:
            bounds = ", ".join(map(str, node.launch_bounds))
            head += f"{node.returns.spelling} __launch_bounds__({bounds}) {node.name}"
        else:
            head += declarator(node.returns, node.name)
        parameters = [_parameter(p) for p in node.parameters]
        text = f"{head}({', '.join(parameters)})"
        tail = ";" if node.body is None else " {"
        if len(text) + 2 > _WIDTH and parameters:
            column = len(head) + 1
            if column > _WIDTH // 2:
                # After a long name parameters have lines of their own.
                head, column = f"{head}(\n{' ' * 8}", 8
                text = f"{head}{_wrapped(parameters, column)})"
            else:
                text = f"{head}({_wrapped(parameters, column)})"
        self.lines.extend((text + tail).split("\n"))
        if node.body is not None:
            self.statements(1, node.body)
            self.line(0, "}")

    def struct(self, node: StructDefinition) -> None:
        alignment = f"__align__({node.alignment}) " if node.alignment else ""
        self.line(0, f"struct {alignment}{node.name} {{")
        for field in node.fields:
            self.line(1, _parameter(field) + ";")
        self.line(0, "};")


def _wrapped(items: list[str], column: int) -> str:
    """Items separated by commas over as many lines as they need, aligned at a column."""
    lines, width = [""], column
    for number, item in enumerate(items):
        text = item + (", " if number + 1 < len(items) else "")
        if lines[-1] and width + len(text.rstrip()) + 2 > _WIDTH:
            lines.append("")
            width = column
        lines[-1] += text
        width += len(text)
    return ("\n" + " " * column).join(line.rstrip() for line in lines)


def _parameter(node: Parameter) -> str:
    return ("const " if node.const else "") + declarator(node.type, node.name)


_STATEMENTS: dict[type, Callable[..., None]] = {
    If: _Writer._if,
    For: _Writer._for,
    While: _Writer._while,
    DoWhile: _Writer._do,
    Switch: _Writer._switch,
    Block: _Writer._block,
    Label: lambda w, d, n: w.line(max(d - 1, 0), f"{n.name}:;"),
    Comment: lambda w, d, n: w.line(d, f"// {n.text}"),
}


def print_statements(body: Iterable[Statement], depth: int = 0) -> str:
    """The C++ of statements, one string with line ends."""
    writer = _Writer()
    writer.statements(depth, body)
    return "\n".join(writer.lines) + "\n"


def print_function(node: Function) -> str:
    """The C++ of a function."""
    writer = _Writer()
    writer.function(node)
    return "\n".join(writer.lines) + "\n"


#: How a file begins that says which options it wants to be compiled with, and the line above a
#: function that wants others, too.
COMPILE_WITH, COMPILE_THIS_WITH = "// compile with:", "// compile this function with:"


@deeply
def print_module(node: CudaModule) -> str:
    """The C++ of a file, ready for a compiler."""
    text = _module_text(node, ())
    named = {one.name for one in node.kernels if plain_name(one) and one.name in text}
    return _module_text(node, named) if named else text


def _module_text(node: CudaModule, symbols: Container[str]) -> str:
    writer = _Writer(symbols)
    if node.options:
        writer.line(0, f"{COMPILE_WITH} {' '.join(node.options)}")
    for include in node.includes:
        writer.line(0, f"#include <{include}>")
    head = len(writer.lines)
    previous: object = None
    for item in node.items:
        first = previous is None and not node.includes
        if not first and not (isinstance(item, Declare) and isinstance(previous, Declare)):
            writer.line(0, "")
        if isinstance(item, Function):
            writer.function(item)
        elif isinstance(item, StructDefinition):
            writer.struct(item)
        else:
            writer.line(0, _declare(item) + ";")
        previous = item
    body = "\n".join(writer.lines[head:]) + "\n"
    defined = [line for word, value in WORDS.items() if re.search(rf"\b{word}\b", body)
               for line in (f"#ifndef {word}", f"#define {word} {value}", "#endif")]  # fmt: skip
    if defined and not node.includes:
        defined.append("")
    return "".join(f"{line}\n" for line in writer.lines[:head] + defined) + body
