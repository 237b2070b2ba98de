"""Functions: headers as decorators and signatures, bodies as statements."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit._native import Node
from ptxkit.dsl.signatures import default_parameter_name
from ptxkit.dsl.words import attribute_of
from ptxkit.isa.registry import known_names
from ptxkit.syntax import Function
from ptxkit.syntax.nodes import RETURN_LIST
from ptxkit.transpiler.declarations import attribute_values, parameter
from ptxkit.transpiler.layout import Layout, spacing_argument
from ptxkit.transpiler.operands import OperandReader
from ptxkit.transpiler.tree import FunctionSuite, Names, Symbol, quoted

_KEYWORDS = frozenset(
    "name returns declare parentheses spaced constants directives body registers globl".split()
)
#: Bodies nest Python blocks up to this depth; Python itself allows twenty.
DEEPEST_BLOCK = 12


class FunctionHeader:
    """A function's header: its Python decorator and signature, and its PTX as written."""

    def __init__(
        self, node: Function, symbol: Symbol, layout: Layout, module: OperandReader
    ) -> None:
        self.node = node
        self.symbol = symbol
        self.style = layout.style
        self.has_body = node.has_body
        outer = module.scope
        self.scope = outer.inner()
        self.reader = OperandReader(self.scope)
        self.end = node.body.span[0] + 1 if node.body is not None else node.span[1]
        self._signature: list[tuple[Symbol, str, str, str]] = []  # symbol, type, name, with size
        self._keywords: list[str] = []
        self._read(layout)

    def _read(self, layout: Layout) -> None:
        words: list[str] = []
        chain = "module"
        returns: list[str] | None = None
        parameters: list[str] | None = None
        directives: list[tuple[str, str, str]] = []
        for _, text, _, _ in self.node.tokens(own=True):
            if not text.startswith("."):
                break
            words.append(text)
        for child in self.node.children:
            if child.kind == "Attribute":
                values = attribute_values(child.tokens()[2:-1])
                words.append(f".attribute({', '.join(values)})")
            elif child.kind == "ParameterList":
                if child.flags & RETURN_LIST:
                    returns = self._returns(child)
                else:
                    parameters = self._parameters(child)
            elif child.kind in ("FunctionDirective", "Pragma"):
                directives.append(directive(child, self.reader))
        for word in words:
            if word.startswith(".attribute("):
                values = [quoted(value) for value in _split_values(word)]
                chain += f".attribute({', '.join(values)})"
            else:
                chain += "." + str(attribute_of(word[1:]))
        chain = chain.replace("module.visible.entry", "module.kernel")
        if not self.has_body:
            self._keywords.append("declare=True")
        if parameters is None:
            self._keywords.append("parentheses=False")
        self._keywords += directive_keywords(directives)
        predicted = layout.style.header(
            " ".join(words),
            returns,
            self.node.name,
            parameters,
            [text for _, _, text in directives],
            "{" if self.has_body else ";",
        )
        spacing = layout.departures(predicted, self.node.span[0], self.end)
        if spacing:
            self._keywords.append(f"spaced={spacing_argument(spacing)}")
        self.chain = chain

    def _returns(self, node: Node) -> list[str]:
        shown: list[str] = []
        texts: list[str] = []
        for number, child in enumerate(node.children):
            chain, name, whole = parameter(child, self.reader)
            shown.append(f"named({chain.python}, {quoted(whole)})")
            texts.append(f"{chain.ptx} {whole}")
            kind = "register" if chain.space == ".reg" else "parameter"
            self.scope.declare(name, kind, chain.type, python=f"ptx.returns[{number}]")
        self._keywords.append(f"returns=[{', '.join(shown)}]")
        return texts

    def _parameters(self, node: Node) -> list[str]:
        texts: list[str] = []
        function = self.node.name
        for child in node.children:
            chain, name, whole = parameter(child, self.reader)
            texts.append(f"{chain.ptx} {whole}")
            kind = "register" if chain.space == ".reg" else "parameter"
            short = name.removeprefix(f"{function}_")
            plain = short if default_parameter_name(short, function) == name else name
            python = self.scope.python_name(plain)
            symbol = self.scope.declare(name, kind, chain.type, python=python)
            self._signature.append((symbol, chain.python, name, whole))
        return texts

    @property
    def parameters(self) -> list[Symbol]:
        """The parameters, in order."""
        return [symbol for symbol, _, _, _ in self._signature]

    def lines(self, names: Names) -> list[str]:
        """Decorator and ``def``, under the names that passes gave."""
        python = names.get(self.symbol, self.symbol.python)
        keywords = list(self._keywords)
        if python != self.node.name:
            keywords.insert(0, f"name={quoted(self.node.name)}")
        decorator = f"@{self.chain}"
        if keywords:
            decorator += _wrapped("(", keywords, ")", len(decorator))
        definition = f"def {python}"
        parameters = [self._parameter(*row, names) for row in self._signature]
        definition += _wrapped("(", parameters, "):", len(definition))
        return [*decorator.split("\n"), *definition.split("\n")]

    def _parameter(self, symbol: Symbol, type: str, name: str, whole: str, names: Names) -> str:
        python = names.get(symbol, symbol.python)
        expected = default_parameter_name(python, self.node.name)
        if whole == expected:
            return f"{python}: {type}"
        given = whole.removeprefix(expected) if name == expected else whole
        return f"{python}: named({type}, {quoted(given)})"

    def mark(self, how: str = "True") -> None:
        """Put the comment before the function that compilers put there."""
        self._keywords.append(f"globl={how}")

    def declare_registers(self, ranges: Sequence[str], names: Names) -> bool:
        """Declare ranges of registers in the decorator, if it has room for them in its line."""
        closing = ",)" if len(ranges) == 1 else ")"
        self._keywords.append(f"registers=({', '.join(ranges)}{closing}")
        if self.lines(names)[0].endswith(")"):
            return True
        self._keywords.pop()
        return False

    def suite(self, number: int) -> FunctionSuite:
        """The Python function, without its body; its number among those that have one."""
        return FunctionSuite(self, self.scope, self.node, number)


def _wrapped(opening: str, parts: Sequence[str], closing: str, used: int) -> str:
    inner = ", ".join(parts)
    if used + len(inner) + 4 <= 100:
        return f"{opening}{inner}{closing}"
    rows: list[str] = []
    for part in parts:
        if rows and len(rows[-1]) + len(part) <= 92:
            rows[-1] += f" {part},"
        else:
            rows.append(f"    {part},")
    return "\n".join([opening, *rows, closing])


def _split_values(word: str) -> list[str]:
    inner = word.removeprefix(".attribute(").removesuffix(")")
    return ["." + part.removesuffix(", ") for part in inner.split(".") if part]


def directive(node: Node, reader: OperandReader) -> tuple[str, str, str]:
    """A function's directive: its name, its value in Python, its PTX as written."""
    tokens = node.tokens()
    if node.kind == "Pragma":
        strings = [text[1:-1] for kind, text, _, _ in tokens if kind == "string"]
        shown = quoted(strings[0]) if len(strings) == 1 else str(strings)
        inner = ", ".join([f'"{one}"' for one in strings])
        return "pragma", shown, f".pragma {inner};"
    name = tokens[0][1]
    numbers = [text for kind, text, _, _ in tokens if kind == "integer"]
    if not numbers:
        return name[1:], "True", name
    shown_numbers = [str(reader.integer(text)[0]) for text in numbers]
    shown = shown_numbers[0] if len(numbers) == 1 else f"({', '.join(shown_numbers)})"
    return name[1:], shown, f"{name} {', '.join(numbers)}"


def directive_keywords(directives: Sequence[tuple[str, str, str]]) -> list[str]:
    """Directives as keyword arguments, or as one list where they can't be."""
    names = [attribute_of(name) for name, _, _ in directives]
    plain = len(set(names)) == len(names) and not _KEYWORDS.intersection(map(str, names))
    if plain and None not in names:
        rows = zip(names, directives, strict=True)
        return [f"{name}={value}" for name, (_, value, _) in rows]
    rows_shown = [f"({quoted(name)}, {value})" for name, value, _ in directives]
    return [f"directives=[{', '.join(rows_shown)}]"]


_OPCODES: dict[str, str | None] = {}


def opcode_chain(opcode: str) -> str | None:
    """``ptx.ld.global_.f32`` for ``ld.global.f32``; None where the table does not know it."""
    if opcode in _OPCODES:
        return _OPCODES[opcode]
    name, *words = opcode.split(".")
    attributes = [attribute_of(word) for word in (name, *words)]
    known = name in known_names() and None not in attributes
    found = ".".join(["ptx", *[str(one) for one in attributes]]) if known else None
    _OPCODES[opcode] = found
    return found
