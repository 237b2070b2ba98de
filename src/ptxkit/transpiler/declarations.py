"""Declarations and parameters as chains of words."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit._native import Node
from ptxkit.dsl.declarations import LINKAGES, SPACES, WORDS
from ptxkit.dsl.words import attribute_of
from ptxkit.syntax.constants import integer_value
from ptxkit.transpiler.operands import OperandReader
from ptxkit.transpiler.tree import Argument, Line, Symbol, quoted

_Token = tuple[str, str, int, int]
_METHODS = frozenset(("align", "attribute", "bank", "word", "nothing", "entry", "func"))
_BODY_ROOTS = {
    ".reg": "reg", ".shared": "shared", ".local": "local", ".const": "const",
    ".global": "global_", ".param": "param",
}  # fmt: skip


class Chain:
    """The words of a declaration: as Python, as PTX, and what they say."""

    def __init__(self, tokens: Sequence[_Token], root: str, reader: OperandReader) -> None:
        self.python = ""
        self.words: list[str] = []
        self.space = ""
        self.type = ""
        first = tokens[0][1]
        at = 0
        if root == "module" and (first in LINKAGES or first in SPACES):
            self.python = root
        elif root != "module" and first in _BODY_ROOTS and _next(tokens, 1) != "[":
            self.python = _BODY_ROOTS[first]
            self._add(first)
            at = 1
        else:
            self.python = f"{root}.ordered" if root == "module" else "ordered"
        while at < len(tokens):
            at = self._take(tokens, at, reader)

    def _take(self, tokens: Sequence[_Token], at: int, reader: OperandReader) -> int:
        word = tokens[at][1]
        if word == ".align":
            size = tokens[at + 1][1]
            # What no PTX may say is a spelling: the DSL refuses it as a number.
            odd = size.isdecimal() and int(size).bit_count() != 1
            argument = f"lit({quoted(size)})" if odd else reader.integer(size)[0]
            self.python += f".align({argument})"
            self.words += [word, tokens[at + 1][1]]
            return at + 2
        if word == ".attribute":
            end = at + 1
            depth = 0
            while True:
                depth += (tokens[end][1] == "(") - (tokens[end][1] == ")")
                end += 1
                if depth == 0:
                    break
            values = attribute_values(tokens[at + 2 : end - 1])
            self.python += f".attribute({', '.join(quoted(value) for value in values)})"
            self.words.append(f".attribute({', '.join(values)})")
            return end
        if word == "[":  # a constant bank
            argument, _ = reader.integer(tokens[at + 1][1])
            self.python += f".bank({argument})"
            self.words[-1] += f"[{tokens[at + 1][1]}]"
            return at + 3
        self._add(word)
        name = attribute_of(word[1:])
        plain = name is not None and name not in _METHODS and word in WORDS
        self.python += f".{name}" if plain else f".word({quoted(word[1:])})"
        return at + 1

    def _add(self, word: str) -> None:
        self.words.append(word)
        if word in SPACES:
            self.space = self.space or word
        elif word not in LINKAGES and word not in (".ptr", ".v2", ".v4", ".v8"):
            self.type = self.type or word[1:]

    @property
    def ptx(self) -> str:
        """The words as the writer gives them."""
        return " ".join(self.words)


def _next(tokens: Sequence[_Token], at: int) -> str:
    return tokens[at][1] if at < len(tokens) else ""


def attribute_values(tokens: Sequence[_Token]) -> list[str]:
    """The values between the parentheses of ``.attribute(...)``."""
    values: list[str] = []
    depth = 0
    for _, text, _, _ in tokens:
        depth += (text == "(") - (text == ")")
        if text == "," and depth == 0:
            continue
        if text.startswith(".") and depth == 0:
            values.append(text)
        else:
            values[-1] += ", " if text == "," else text
    return values


def parameter(node: Node, reader: OperandReader) -> tuple[Chain, str, str]:
    """A parameter's words, its name, and its name with the array size."""
    tokens = node.tokens()
    at = next(number for number, token in enumerate(tokens) if token[0] == "identifier")
    chain = Chain(tokens[:at], "", reader)
    return chain, tokens[at][1], "".join([token[1] for token in tokens[at:]])


def variable(node: Node, reader: OperandReader, *, is_body: bool) -> tuple[Line, str, str]:
    """A declaration as a line, and its PTX: the words, and what they declare."""
    declarators = [child for child in node.children if child.kind == "Declarator"]
    tokens = node.tokens() if not declarators else node.tokens(own=True)
    if declarators and any(child.kind == "Attribute" for child in node.children):
        tokens = node.tokens()
    limit = declarators[0].span[0] if declarators else node.span[1] - 1
    chain = Chain(
        [token for token in tokens if token[2] < limit], "" if is_body else "module", reader
    )
    kind = ("register" if chain.space == ".reg" else "declaration") if is_body else "variable"
    if not declarators:
        return Line(kind, f"{chain.python}.nothing", node=node), chain.ptx, ""
    arguments: list[Argument] = []
    keywords: list[tuple[str, Argument]] = []
    targets: list[str] = []
    texts: list[str] = []
    for number, declarator in enumerate(declarators):
        shape = "".join([token[1] for token in declarator.tokens(own=True) if token[1] != "="])
        init = declarator.children[0] if declarator.children else None
        if init is None:
            arguments.append(quoted(shape))
            texts.append(shape)
        else:
            argument, text = reader.read(init)
            texts.append(f"{shape} = {text}")
            if number == len(declarators) - 1:
                arguments.append(quoted(shape))
                keywords.append(("init", argument))
            else:
                arguments.append(_declared(shape, argument))
        targets.append(_declare(shape, chain, reader, is_body=is_body))
    reader.changed(reader.scope)
    line = Line(kind, chain.python, arguments, keywords, node=node, target=", ".join(targets))
    return line, chain.ptx, ", ".join(texts)


def _declared(shape: str, init: Argument) -> Argument:
    from ptxkit.transpiler.tree import Group

    return Group("declared(", [quoted(shape), init], ")")


def _declare(shape: str, chain: Chain, reader: OperandReader, *, is_body: bool) -> str:
    """Make the name known; gives the Python name."""
    scope = reader.scope
    name = shape.partition("[")[0]
    if chain.space == ".reg":
        if "<" in name:
            prefix, _, count = name.rstrip(">").partition("<")
            return scope.declare_range(prefix, integer_value(count), chain.type)
        return scope.declare(name, "register", chain.type).python
    if not is_body:
        known = scope.symbols.get(name)
        if isinstance(known, Symbol):
            return known.python
    return scope.declare(name, "variable", chain.type).python
