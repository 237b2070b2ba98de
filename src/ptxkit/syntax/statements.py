"""A module as a list of statements: one line of text each, without comments.

What `compare` lines up. A statement knows where its registers and labels stand, so that two
of them can be compared whatever those are called.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.syntax.declarations import Declarator, Function, Parameter, ParameterList
from ptxkit.syntax.module import Module
from ptxkit.syntax.nodes import Label
from ptxkit.syntax.scopes import Declaration, Scope, Scopes

_DEBUG = frozenset(("Loc", "File", "Section", "DwarfLine"))
_Token = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True)
class Statement:
    """One instruction, label, declaration, directive or brace."""

    text: str
    """The statement in one line, without comments."""
    line: int
    """Line of its first character, counted from 1."""
    key: str = field(repr=False)
    """Its tokens: the same for two statements that differ in white space or comments."""
    shape: str = field(default="", repr=False)
    """Its tokens with a type in the place of each register and label."""
    symbols: tuple[int, ...] = field(default=(), repr=False)
    """The registers and labels, in order; equal numbers are the same one."""


def module_statements(module: Module, *, debug: bool = True) -> list[Statement]:
    """Everything outside functions; ``debug`` keeps line tables and debug sections."""
    found: list[Statement] = []
    for child in module.children:
        if isinstance(child, Function) or (not debug and child.kind in _DEBUG):
            continue
        if child.kind == "Section":
            found += _cut(child, _starts(child, debug))
        else:
            found.append(_statement(child.tokens(), child.line))
    return found


def function_statements(
    function: Function, *, debug: bool = True, scopes: Scopes | None = None
) -> list[Statement]:
    """The header and the body of a function.

    With ``scopes`` the statements know their registers and labels; then declarations of
    registers are left out, because their types are part of the shapes.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f(.reg .u32 a) { .reg .u32 b;  add.u32 b, a,/* one */ 1; ret; }")
    >>> [s.text for s in function_statements(m["f"])]
    ['.func f', '.reg .u32 a', '{', '.reg .u32 b;', 'add.u32 b, a, 1;', 'ret;', '}']
    >>> [(s.shape, s.symbols) for s in function_statements(m["f"], scopes=Scopes(m))][3]
    ('add .u32 <u32> , <u32> , 1 ;', (1, 0))
    """
    symbols = _Symbols(function, scopes) if scopes is not None else None
    found = list(_header(function, symbols))
    body = function.body
    if body is not None:
        found += _cut(body, _starts(body, debug), symbols)
    return found


class _Symbols:
    """The registers and labels of a function: where they stand, and what they are."""

    def __init__(self, function: Function, scopes: Scopes) -> None:
        self._span = function.span
        self._numbers: dict[tuple[int, str], int] = {}
        self._tags: dict[int, str] = {}
        self.at: dict[int, tuple[str, int]] = {}
        """Offset of a name -> its type and its number."""
        for parameter in (*function.return_parameters, *function.parameters):
            if parameter.space == "reg":
                self._add(parameter.name, _name_offset(parameter), scopes.scope_of(function))
        body = function.body
        if body is None:
            return
        pending: list[tuple[Node, Scope]] = [(body, scopes.scope_of(body))]
        while pending:
            block, scope = pending.pop()
            for child in block.children:
                if child.kind == "Block":
                    pending.append((child, scopes.scope_of(child)))
                    continue
                if isinstance(child, Label):
                    self._add(child.name, child.span[0], scope)
                for name in child.find("Name"):
                    self._add(name.identifier, name.span[0], scope)

    def _add(self, name: str, offset: int, scope: Scope) -> None:
        found = scope.resolve(name, offset)
        if found is None or found.kind not in ("register", "label"):
            return
        node = found.node
        if not self._span[0] <= node.span[0] < self._span[1]:
            return  # of the module: its name is its identity
        tag = self._tags.get(node.index)
        if tag is None:
            tag = self._tags[node.index] = _tag(found)
        number = self._numbers.setdefault((node.index, name), len(self._numbers))
        self.at[offset] = tag, number


def _tag(declaration: Declaration) -> str:
    if declaration.kind == "label":
        return "<label>"
    node = declaration.node
    owner = node.variable if isinstance(node, Declarator) else node
    vector = owner.vector
    return f"<v{vector}.{declaration.type}>" if vector > 1 else f"<{declaration.type}>"


def _name_offset(parameter: Parameter) -> int:
    return next(start for kind, _, start, _ in parameter.tokens(own=True) if kind == "identifier")


def _header(function: Function, symbols: _Symbols | None) -> Iterator[Statement]:
    words = [token for token in function.tokens(own=True) if token[0] != "punctuation"]
    yield _statement(words, function.line)
    for child in function.children:
        if isinstance(child, ParameterList):
            for parameter in child.children:
                statement = _statement(parameter.tokens(), parameter.line, symbols)
                yield _returned(statement) if child.is_return else statement
        elif child.kind != "Block":
            yield _statement(child.tokens(), child.line)


def _returned(parameter: Statement) -> Statement:
    shape = f"( {parameter.shape} )" if parameter.shape else ""
    return Statement(
        f"({parameter.text})", parameter.line, f"( {parameter.key} )", shape, parameter.symbols
    )


def _starts(block: Node, debug: bool) -> Iterator[tuple[int, str]]:
    """Where each statement of a block begins, and its kind; braces are statements."""
    stack: list[tuple[Node, Iterator[Node]]] = [(block, iter(block.children))]
    yield block.span[0], "{"
    while stack:
        owner, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            yield owner.span[1] - 1, "}"
            stack.pop()
        elif child.kind == "Block":
            yield child.span[0], "{"
            stack.append((child, iter(child.children)))
        elif debug or child.kind not in _DEBUG:
            yield child.span[0], child.kind
        else:
            yield child.span[0], ""


def _cut(
    block: Node, starts: Iterable[tuple[int, str]], symbols: _Symbols | None = None
) -> Iterator[Statement]:
    """Cut the tokens of a block into its statements."""
    places = list(starts)
    tokens = block.tokens()
    offsets = [token[2] for token in tokens]
    root = block.root
    for number, (start, kind) in enumerate(places):
        end = places[number + 1][0] if number + 1 < len(places) else block.span[1]
        part = tokens[bisect_right(offsets, start - 1) : bisect_right(offsets, end - 1)]
        is_register = kind == "Variable" and any(text == ".reg" for _, text, _, _ in part)
        if kind and not (symbols is not None and is_register):
            yield _statement(part, root.position(start)[0], symbols)


def _statement(
    tokens: Sequence[_Token], line: int, symbols: _Symbols | None = None
) -> Statement:
    pieces: list[str] = []
    end = -1
    for _, text, start, stop in tokens:
        if pieces and start != end:
            pieces.append(" ")
        pieces.append(text)
        end = stop
    key = " ".join(token[1] for token in tokens)
    if symbols is None:
        return Statement("".join(pieces), line, key)
    words: list[str] = []
    numbers: list[int] = []
    for _, text, start, _ in tokens:
        found = symbols.at.get(start)
        if found is not None:
            text = found[0]
            numbers.append(found[1])
        words.append(text)
    return Statement("".join(pieces), line, key, " ".join(words), tuple(numbers))
