"""A module as lists of statements: one line of text each, without comments.

What `compare` lines up. A statement knows where its registers and labels stand, so that two
of them can be compared whatever those are called.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ptxkit._native import Node
from ptxkit.syntax.declarations import Declarator, Function, Parameter, ParameterList, Variable
from ptxkit.syntax.module import Module
from ptxkit.syntax.nodes import Label
from ptxkit.syntax.scopes import Declaration, Scope, Scopes

_DEBUG = frozenset(("Loc", "File", "Section", "DwarfLine"))
_COMMENT = re.compile(r'("[^"\n]*")|/\*.*?\*/|//[^\n]*', re.DOTALL)
_Token = tuple[str, str, int, int]
_Symbols = dict[int, tuple[str, int]]
"""Offset of a register or label -> its type and its number."""


def without_comments(text: str) -> str:
    """A text of PTX with a space in the place of each comment.

    >>> without_comments("{1 // ,2\\n,3 }"), without_comments('"a//b" /* ,2 */,3')
    ('{1  \\n,3 }', '"a//b"  ,3')
    """
    return _COMMENT.sub(lambda found: found[1] or " ", text) if "/" in text else text


@dataclass(frozen=True, slots=True)
class Statement:
    """One instruction, label, declaration, directive or brace."""

    text: str
    """The statement in one line, without comments."""
    line: int
    """Line of its first character, counted from 1."""
    key: str = field(repr=False)
    """Its tokens: the same for two statements that differ in white space or comments."""
    shape: str = field(repr=False)
    """Its tokens with the type in the place of each register and label."""
    symbols: tuple[int, ...] = field(default=(), repr=False)
    """The registers and labels, in order; equal numbers are the same one."""


class StatementReader:
    """Cuts a module into statements.

    ``debug=False`` leaves out line tables and debug sections. With ``names=False`` the
    statements of a function know their registers and labels, and declarations of registers
    are left out: their types are part of the shapes.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f(.reg .u32 a) { .reg .u32 b;  add.u32 b, a,/* one */ 1; ret; }")
    >>> [s.text for s in StatementReader(m).of_function(m["f"])]
    ['.func f', '.reg .u32 a', '{', '.reg .u32 b;', 'add.u32 b, a, 1;', 'ret;', '}']
    >>> [(s.shape, s.symbols) for s in StatementReader(m, names=False).of_function(m["f"])][3]
    ('add .u32 <u32> , <u32> , 1 ;', (1, 0))
    """

    def __init__(self, module: Module, *, debug: bool = True, names: bool = True) -> None:
        self._module = module
        self._source = module.source()
        self._debug = debug
        self._names = names
        self._scopes: Scopes | None = None

    def of_module(self) -> list[Statement]:
        """Everything outside functions."""
        found: list[Statement] = []
        for child in self._module.children:
            if isinstance(child, Function) or (not self._debug and child.kind in _DEBUG):
                continue
            if child.kind == "Section":
                found += self._cut(child, {})
            else:
                found.append(self._statement(child.tokens(), {}))
        return found

    def of_function(self, function: Function) -> list[Statement]:
        """The header and the body of a function of the module."""
        symbols: _Symbols = {}
        if not self._names:
            self._scopes = self._scopes or Scopes(self._module)
            symbols = _symbols(function, self._scopes)
        found = list(self._header(function, symbols))
        if function.body is not None:
            found += self._cut(function.body, symbols)
        return found

    def _header(self, function: Function, symbols: _Symbols) -> Iterator[Statement]:
        words = [token for token in function.tokens(own=True) if token[0] != "punctuation"]
        name = " ".join(text for _, text, _, _ in words)
        yield Statement(name, function.line, name, name)
        for child in function.children:
            if isinstance(child, ParameterList):
                for parameter in child.children:
                    one = self._statement(parameter.tokens(), symbols)
                    yield _in_parentheses(one) if child.is_return else one
            elif child.kind != "Block":
                yield self._statement(child.tokens(), symbols)

    def _cut(self, block: Node, symbols: _Symbols) -> Iterator[Statement]:
        """The statements of a block; braces are statements too."""
        tokens = block.tokens()
        offsets = [token[2] for token in tokens]
        starts = list(_starts(block))
        begin = 0
        for number, (_, kind) in enumerate(starts):
            last = number + 1 == len(starts)
            end = len(tokens) if last else bisect_left(offsets, starts[number + 1][0], begin)
            part = tokens[begin:end]
            begin = end
            if kind in _DEBUG and not self._debug:
                continue
            if kind == "Variable" and not self._names and _declares_registers(part):
                continue
            yield self._statement(part, symbols)

    def _statement(self, tokens: Sequence[_Token], symbols: _Symbols) -> Statement:
        start, end = tokens[0][2], tokens[-1][3]
        text = self._source[start:end].decode("utf-8", "surrogateescape")
        text = without_comments(text)
        line = self._module.position(start)[0]
        words = [token[1] for token in tokens]
        key = shape = " ".join(words)
        numbers: list[int] = []
        if symbols:
            for at, token in enumerate(tokens):
                found = symbols.get(token[2])
                if found is not None:
                    words[at] = found[0]
                    numbers.append(found[1])
            shape = " ".join(words)
        return Statement(" ".join(text.split()), line, key, shape, tuple(numbers))


def _in_parentheses(one: Statement) -> Statement:
    return replace(one, text=f"({one.text})", key=f"( {one.key} )", shape=f"( {one.shape} )")


def _declares_registers(tokens: Sequence[_Token]) -> bool:
    return any(text == ".reg" for _, text, _, _ in tokens)


def _starts(block: Node) -> Iterator[tuple[int, str]]:
    """Where each statement of a block begins, and its kind."""
    yield block.span[0], "{"
    stack: list[tuple[Node, Iterator[Node]]] = [(block, iter(block.children))]
    while stack:
        owner, rest = stack[-1]
        for child in rest:
            if child.kind == "Block":
                yield child.span[0], "{"
                stack.append((child, iter(child.children)))
                break
            yield child.span[0], child.kind
        else:
            yield owner.span[1] - 1, "}"
            stack.pop()


def _symbols(function: Function, scopes: Scopes) -> _Symbols:
    """The registers and labels that a function declares itself, wherever they stand."""
    found: _Symbols = {}
    numbers: dict[tuple[int, str], int] = {}
    tags: dict[int, str] = {}
    first, last = function.span

    def add(name: str, offset: int, scope: Scope) -> None:
        declaration = scope.resolve(name, offset)
        if declaration is None or declaration.kind not in ("register", "label"):
            return
        node = declaration.node
        tag = tags.get(node.index)
        if tag is None:
            inside = first <= node.span[0] < last  # else its name is its identity
            tag = tags[node.index] = _tag(declaration) if inside else ""
        if tag:
            number = numbers.setdefault((node.index, name), len(numbers))
            found[offset] = tag, number

    for parameter in (*function.return_parameters, *function.parameters):
        offset = next(t[2] for t in parameter.tokens(own=True) if t[0] == "identifier")
        add(parameter.name, offset, scopes.scope_of(function))
    pending: list[Node] = [function.body] if function.body is not None else []
    while pending:
        block = pending.pop()
        scope = scopes.scope_of(block)
        for child in block.children:
            if child.kind == "Block":
                pending.append(child)
                continue
            if isinstance(child, Label):
                add(child.name, child.span[0], scope)
            for name in child.find("Name"):
                add(name.identifier, name.span[0], scope)
    return found


def _tag(declaration: Declaration) -> str:
    """What takes the place of a name in a shape."""
    if declaration.kind == "label":
        return "<label>"
    node = declaration.node
    owner = node.variable if isinstance(node, Declarator) else node
    vector = owner.vector if isinstance(owner, (Variable, Parameter)) else 1
    return f"<v{vector}.{declaration.type}>" if vector > 1 else f"<{declaration.type}>"
