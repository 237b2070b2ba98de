"""The Python to print: a small tree of lines and suites.

Every :class:`Line` is one Python statement, made for one PTX statement (or one comment, or
blank lines); its ``node`` is that statement in the parsed module. A :class:`Suite` is a line
with a body under it: a function, a block, a section. Passes rewrite these lists; printing
is the last thing that happens.

Arguments stay structured so that a pass can rename or regroup them: a :class:`Symbol` is
shared by all places that name the same register, variable or label, and prints as its
``python`` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from ptxkit._native import Node
from ptxkit.transpiler.sequences import summed

if TYPE_CHECKING:
    from ptxkit.dsl.styles import Style
    from ptxkit.transpiler.names import Scope


def quoted(text: str) -> str:
    """A Python string literal, in ASCII and double quotes.

    >>> print(quoted("a"), quoted('say "x"'))
    "a" "say \\"x\\""
    """
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'


class Symbol:
    """A PTX name and what stands for it in Python."""

    __slots__ = ("kind", "ptx", "python", "type")

    def __init__(self, ptx: str, python: str, kind: str, type: str = "") -> None:
        self.ptx = ptx
        self.python = python
        self.kind = kind  # "register", "variable", "parameter", "function", "special", "name"
        self.type = type

    def __repr__(self) -> str:
        return f"<{self.kind} {self.ptx} as {self.python}>"


class Group:
    """An argument made of others: ``addr(...)``, ``[...]``, ``(...)``."""

    __slots__ = ("closing", "opening", "parts")

    def __init__(self, opening: str, parts: Sequence[Argument], closing: str) -> None:
        self.opening = opening
        self.parts = list(parts)
        self.closing = closing

    @property
    def is_address(self) -> bool:
        """Whether it is ``addr(base)`` or ``addr(base, offset)``."""
        return self.opening == "addr(" and self.closing == ")" and len(self.parts) <= 2


class Formula:
    """A number that depends on the counters of loops: ``f[8 + 4 * i]`` or ``4 * i or None``.

    Also several registers that follow each other, ``f[8:12]``.
    """

    __slots__ = ("constant", "is_offset", "length", "name", "rest", "step")

    def __init__(
        self,
        constant: int,
        rest: str,
        name: str = "",
        is_offset: bool = False,
        length: int = 0,
        step: int = 1,
    ) -> None:
        self.constant = constant
        self.length = length
        """How many registers; 0 for one alone, which is no list."""
        self.step = step
        self.rest = rest
        """What is added to the constant."""
        self.name = name
        """The range of registers that it is an index of; empty for a number."""
        self.is_offset = is_offset
        """Whether 0 is no offset at all."""

    def text(self) -> str:
        """The Python."""
        said = summed(self.constant, self.rest)
        if self.is_offset:
            return f"{said} or None"
        if self.length:
            end = summed(self.constant + self.length * self.step, self.rest)
            step = f":{self.step}" if self.step != 1 else ""
            return f"{self.name}[{said}:{end}{step}]"
        if said[0] == "(" and said.find(")") == len(said) - 1:
            said = said[1:-1]
        return f"{self.name}[{said}]" if self.name else said

    def with_number(self, constant: int, rest: str) -> Formula:
        """The same with another number in it."""
        return Formula(constant, rest, self.name, self.is_offset, self.length, self.step)


Argument: TypeAlias = "str | Symbol | Group | Formula | Line"
"""Python text that is final, a symbol, a group of arguments, a number that varies, or a
statement that gives a value."""


Names: TypeAlias = "Mapping[Symbol, str]"
"""Python names that passes gave to symbols; the others print as they say themselves."""

NO_NAMES: Names = {}


def python_of(argument: Argument, names: Names = NO_NAMES) -> str:
    """The Python text of an argument.

    >>> python_of(Group("addr(", [Symbol("%r1", "r[1]", "register"), "8"], ")"))
    'addr(r[1], 8)'
    """
    if isinstance(argument, str):
        return argument
    if isinstance(argument, Symbol):
        return names.get(argument, argument.python) if names else argument.python
    if isinstance(argument, Line):
        if argument.is_named:
            return f"({python_of(argument.target, names)} := {argument.called(names)})"
        return argument.called(names)
    if isinstance(argument, Formula):
        return argument.text()
    opening = argument.opening
    inner = ", ".join([item_of(part, names) for part in argument.parts])
    if opening == "~":
        inner = atom_of(argument.parts[0], names)
    return f"{opening}{inner}{argument.closing}"


def item_of(argument: Argument, names: Names = NO_NAMES) -> str:
    """The text of an argument between commas: there a name is given without parentheses."""
    text = python_of(argument, names)
    return text[1:-1] if isinstance(argument, Line) and argument.is_named else text


def atom_of(argument: Argument, names: Names = NO_NAMES) -> str:
    """The same, in parentheses where an operator beside it would take it apart."""
    text = python_of(argument, names)
    infix = isinstance(argument, Line) and argument.is_infix and not argument.is_named
    loose = infix or text[0] == "-" or (isinstance(argument, Formula) and not argument.name)
    return f"({text})" if loose else text


#: Operators by the first word of an opcode, and those that change what stands before them.
OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "shl": "<<", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip
CHANGES = frozenset(f"{sign}=" for sign in OPERATORS.values())


def _is_row(left: Argument, sign: str) -> bool:
    """Whether an operator after another needs no parentheses: ``a + b + c``, ``a * b + c``."""
    if not isinstance(left, Line) or left.is_named or sign not in "+-*/":
        return False
    return left.call in ("*", "/") or (sign in "+-" and left.call in ("+", "-"))


class Line:
    """One Python statement: ``target = call(arguments, keywords).suffixes``.

    A ``call`` that begins with a dot is a method of the first argument, ``.element``; one
    without letters is an operator between two, ``+``, and with ``=`` one that changes the first.
    """

    __slots__ = (
        "arguments", "call", "is_named", "keywords", "kind", "node", "suffixes", "target",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        call: str,
        arguments: Sequence[Argument] = (),
        keywords: Sequence[tuple[str, Argument]] = (),
        *,
        node: Node | None = None,
        target: str = "",
    ) -> None:
        self.kind = kind
        """The statement's kind to the style; "comment" and "blank" for what is none."""
        self.call = call
        self.arguments = list(arguments)
        self.keywords = list(keywords)
        self.suffixes: list[str] = []
        """Further calls on the statement: ``.note("...")``, ``.spaced({...})``."""
        self.node = node
        self.target: Argument = target
        """What is assigned: text, or the registers that get a name."""
        self.is_named = False
        """For a value inside a statement that names it again: ``(r3 := a + b)``."""

    @property
    def is_infix(self) -> bool:
        """Whether it is an operator between two arguments."""
        return not self.call[-1:].isalnum() and self.call[-1:] not in ("", "_", ")")

    @property
    def is_change(self) -> bool:
        """Whether it is an operator that changes its first argument: ``+=``, but not ``==``."""
        return self.call in CHANGES

    def text(self, names: Names = NO_NAMES) -> str:
        """The Python statement."""
        text = self.called(names)
        return f"{python_of(self.target, names)} = {text}" if self.target else text

    def called(self, names: Names = NO_NAMES) -> str:
        """The statement without what is assigned."""
        if not self.call:  # several values at once
            return ", ".join([python_of(argument, names) for argument in self.arguments])
        if self.is_infix:
            left, right = self.arguments
            if self.is_change:
                return f"{python_of(left, names)} {self.call} {python_of(right, names)}"
            begin = python_of(left, names) if _is_row(left, self.call) else atom_of(left, names)
            return f"{begin} {self.call} {atom_of(right, names)}"
        if self.call[0] == ".":
            first, *rest = self.arguments
            inner = [item_of(argument, names) for argument in rest]
            inner += [f"{name}={python_of(value, names)}" for name, value in self.keywords]
            return f"{atom_of(first, names)}{self.call}({', '.join(inner)})"
        call, arguments = self.call, self.arguments
        if call[-4:] == ".new" and len(arguments) == 1:
            if call == "ptx.cvta.to.global_.u64.new" and not self.keywords:
                return f"{atom_of(arguments[0], names)}.to_global()"
            place = arguments[0]
            if call[:7] == "ptx.ld." and isinstance(place, Group) and place.is_address:
                call, arguments = f"{call[:-4]}.at", place.parts
        parts = [item_of(argument, names) for argument in arguments]
        parts += [f"{name}={python_of(value, names)}" for name, value in self.keywords]
        return f"{call}({', '.join(parts)}){''.join(self.suffixes)}"


class Suite:
    """A Python statement with a body: ``with ptx.block():``, ``with module.section(...):``.

    The head is text, or a line for what has arguments: ``with ptx.if_(p[1]) as branch:``.
    """

    __slots__ = ("body", "head", "kind", "node")

    def __init__(
        self,
        kind: str,
        head: Sequence[str | Line],
        node: Node | None = None,
        body: Sequence[Entry] = (),
    ) -> None:
        self.kind = kind  # "block", "section", and what passes add
        self.head = list(head)
        self.body: list[Entry] = list(body)
        self.node = node

    def heading(self, names: Names) -> list[tuple[str, Line | None]]:
        """The lines before the body, each with what it was printed from."""
        return [
            (one, None) if isinstance(one, str) else (_with(one, names), one) for one in self.head
        ]

    def with_body(self, body: Sequence[Entry]) -> Suite:
        """The same head over another body."""
        return Suite(self.kind, self.head, self.node, body)


def _with(line: Line, names: Names) -> str:
    text = line.called(names)
    return f"with {text} as {python_of(line.target, names)}:" if line.target else f"with {text}:"


class ForSuite(Suite):
    """``for i in range(4):``, or over a table of what varies."""

    __slots__ = ("columns", "count", "counter", "rows")

    def __init__(
        self,
        counter: str,
        count: int,
        columns: Sequence[str],
        rows: Sequence[Sequence[Argument]],
        node: Node | None,
        body: Sequence[Entry],
    ) -> None:
        super().__init__("for", (), node, body)
        self.counter = counter
        """The name of the counter; empty where nothing uses it."""
        self.count = count
        self.columns = list(columns)
        """Names of what the table gives."""
        self.rows = [list(row) for row in rows]

    def heading(self, names: Names) -> list[tuple[str, Line | None]]:
        """The ``for`` line; a long table takes several."""
        if not self.columns:
            return [(f"for {self.counter or '_'} in range({self.count}):", None)]
        items = [[python_of(one, names) for one in row] for row in self.rows]
        texts = [row[0] if len(row) == 1 else f"({', '.join(row)})" for row in items]
        target = ", ".join(self.columns)
        opening, closing = "(", "):"
        if self.counter:
            target = f"{self.counter}, {target if len(self.columns) == 1 else f'({target})'}"
            opening, closing = "enumerate((", ")):"
        head = f"for {target} in {opening}"
        one = f"{head}{', '.join(texts)}{closing}"
        if len(one) <= 80:
            return [(one, None)]
        lines = [head]
        for text in texts:
            if len(lines) == 1 or len(lines[-1]) + len(text) > 76:
                lines.append(f"    {text},")
            else:
                lines[-1] += f" {text},"
        return [(line, None) for line in [*lines, closing]]

    def with_body(self, body: Sequence[Entry]) -> ForSuite:
        """The same loop over another body."""
        return ForSuite(self.counter, self.count, self.columns, self.rows, self.node, body)


class FunctionSuite(Suite):
    """A function: its header prints decorator and signature under the names passes gave."""

    __slots__ = ("_free", "header", "names", "number", "scope", "sites", "style")

    def __init__(self, header: Header, scope: Scope, node: Node, number: int = 0) -> None:
        super().__init__("function", (), node)
        self.header = header
        self.style = header.style
        """The layout of the file."""
        self._free: dict[object, str] = {}
        self.number = number
        """Its place among the functions that have a body: labels are called after it."""
        self.scope = scope
        """What is known in the function, and the Python names that are taken."""
        self.names: dict[Symbol, str] = {}
        """What passes renamed in this function."""
        self.sites: list[Site] = []
        """What the last pass rewrote, see `rewriting`."""

    def heading(self, names: Names) -> list[tuple[str, Line | None]]:
        """Decorator and ``def``."""
        return [(line, None) for line in self.header.lines(names)]

    def free_name(self, word: str, key: object = None) -> str:
        """A Python name that nothing in the function has; the same for the same key."""
        key = word if key is None else key
        if key not in self._free:
            self._free[key] = self.scope.unused_name(word)
        return self._free[key]

    def rewritten(
        self,
        body: list[Entry],
        sites: Sequence[Site] = (),
        names: Names = NO_NAMES,
    ) -> FunctionSuite:
        """The function with another body; this one stays as it is."""
        assert self.node is not None
        made = FunctionSuite(self.header, self.scope, self.node, self.number)
        made.body = body
        made._free = self._free
        made.names = {**self.names, **names}
        made.sites = list(sites)
        return made


class Header(Protocol):
    """What a function's suite asks for its first lines."""

    style: Style

    def lines(self, names: Names) -> list[str]:
        """Decorator and ``def``."""
        ...


Entry: TypeAlias = "Line | Suite"


class Site(NamedTuple):
    """One rewrite: the numbers of the first and the last PTX node it covers, and its own."""

    first: int
    last: int
    key: int


class File:
    """A whole Python file."""

    __slots__ = ("body", "names", "notices", "opening")

    def __init__(self) -> None:
        self.notices: list[str] = []
        """Comments at the head of the file."""
        self.opening: list[str] = []
        """The lines that make ``module``."""
        self.body: list[Entry] = []
        self.names: dict[Symbol, str] = {}
        """What passes renamed at module level."""

    def functions(self) -> list[FunctionSuite]:
        """The functions, in order."""
        return [entry for entry in self.body if isinstance(entry, FunctionSuite)]

    def text(self) -> str:
        """The Python source."""
        return "\n".join([text for text, _ in self._printed()])

    def lines(self) -> dict[int, Line]:
        """The lines by their number in the text, counted from 1."""
        return {
            number: line for number, (_, line) in enumerate(self._printed(), 1) if line is not None
        }

    def _printed(self) -> list[tuple[str, Line | None]]:
        lines: _Printed = []
        _print(self.body, "", lines, self.names)
        head = [f"# {notice}" for notice in self.notices]
        head += [*_import_lines(_used_names(lines)), "", *self.opening]
        while lines and not lines[-1][0]:
            lines.pop()
        tail = ["", "", 'if __name__ == "__main__":', "    module.print()", ""]
        return [*[(text, None) for text in head], *lines, *[(text, None) for text in tail]]


def _used_names(lines: _Printed) -> list[str]:
    """What the lines use of ptxkit.dsl."""
    import ptxkit.dsl

    used = set(_NAME.findall("\n".join([text for text, _ in lines])))
    return sorted({"Module", "ptx", *used.intersection(ptxkit.dsl.__all__)})


def _import_lines(names: Sequence[str]) -> list[str]:
    one = f"from ptxkit.dsl import {', '.join(names)}"
    if len(one) <= 100:
        return [one]
    rows: list[str] = []
    for name in names:
        if rows and len(rows[-1]) + len(name) <= 96:
            rows[-1] += f" {name},"
        else:
            rows.append(f"    {name},")
    return ["from ptxkit.dsl import (", *rows, ")"]


# A name that is neither in a string, an attribute nor a keyword.
_NAME = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?<![\w.])([A-Za-z_]\w*)(?!\w|=[^=])')
_Printed: TypeAlias = "list[tuple[str, Line | None]]"


def printed_function(function: FunctionSuite, names: Names = NO_NAMES) -> _Printed:
    """The Python lines of one function, each with what it was printed from."""
    lines: _Printed = []
    _print([function], "", lines, names)
    return lines


def _print(body: Sequence[Entry], indent: str, lines: _Printed, names: Names) -> None:
    for entry in body:
        if isinstance(entry, Line):
            lines += [(indent + text, entry) for text in entry.text(names).split("\n")]
            continue
        is_function = isinstance(entry, FunctionSuite)
        around: _Printed = [("", None), ("", None)] if is_function else []
        inner = names
        if isinstance(entry, FunctionSuite) and entry.names:
            inner = {**names, **entry.names}
        if lines[-2:] != around:
            lines += around
        lines += [(indent + head, line) for head, line in entry.heading(inner)]
        if entry.body:
            _print(entry.body, indent + "    ", lines, inner)
        else:
            lines.append((f"{indent}    pass", None))
        lines += around


def walk(body: Sequence[Entry]) -> Iterator[Line]:
    """All lines of a body, in the order their statements are made."""
    for entry in body:
        if isinstance(entry, Line):
            yield entry
        else:
            for head in entry.head:
                if isinstance(head, Line):
                    yield head
            yield from walk(entry.body)


def symbols_of(argument: Argument) -> Iterator[Symbol]:
    """The symbols in an argument, in the order Python comes to them."""
    if isinstance(argument, Symbol):
        yield argument
    elif isinstance(argument, Group):
        for part in argument.parts:
            yield from symbols_of(part)
    elif isinstance(argument, Line):
        yield from used_symbols(argument)


def used_symbols(line: Line) -> Iterator[Symbol]:
    """The symbols that a line names, but for those it assigns."""
    for argument in line.arguments:
        if not isinstance(argument, str):
            yield from symbols_of(argument)
    for _, value in line.keywords:
        if not isinstance(value, str):
            yield from symbols_of(value)


def mapped(body: Sequence[Entry], change: Callable[[Line], Sequence[Entry]]) -> list[Entry]:
    """A body with every line that is no head replaced by what a function makes of it."""
    made: list[Entry] = []
    for entry in body:
        if isinstance(entry, Line):
            made += change(entry)
        else:
            made.append(entry.with_body(mapped(entry.body, change)))
    return made
