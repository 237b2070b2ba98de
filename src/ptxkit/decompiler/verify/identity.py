"""E1: the same PTX, up to the names of registers and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxkit.decompiler.verify.variables import Variables, other_names
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Function, Module, Variable
from ptxkit.syntax.renaming import equal_up_to_renaming
from ptxkit.syntax.statements import Statement, StatementReader, without_comments

_UNINITIALISED = ("shared", "local")
_IN_MEMORY = (*_UNINITIALISED, "global", "const")
_DECLARATIONS = (".shared ", ".local ")
_WORD = re.compile(r"(?<![.\w$%])[A-Za-z_$][\w$]*", re.ASCII)


def same_ptx(original: Module, candidate: Module, kernel: str, other: str | None = None) -> bool:
    """Whether a kernel, and all that it uses, is the same PTX in two modules.

    Names of registers, labels, parameters and of what is private to the module do not count,
    nor does what a debugger reads, nor what only a linker reads: instances of templates are
    ``.weak``, other kernels ``.visible``.

    >>> import ptxkit
    >>> text = ".version 8.0 .target sm_80 .entry k(.param .u32 k_n) {{ .reg .b32 %{0}<2>; " \\
    ...        "ld.param.u32 %{0}1, [k_n]; add.s32 %{0}1, %{0}1, {1}; ret; }}"
    >>> a, b, c = (ptxkit.parse(text.format(*x)) for x in (("r", 1), ("x", 1), ("r", 2)))
    >>> same_ptx(a, b, "k"), same_ptx(a, c, "k")
    (True, False)
    """
    other = other or kernel
    if other not in candidate:
        return False  # a compiler leaves out what nobody can call
    return _Pairing(original, candidate).same(original[kernel], candidate[other])


_FOUND_BY_NAME = frozenset(("global", "const"))


class _Pairing:
    """Which symbol of one module is which of the other, as far as has been seen."""

    def __init__(self, a: Module, b: Module) -> None:
        self.modules = a, b
        self.readers = tuple(StatementReader(m, debug=False, names=False) for m in (a, b))
        self.symbols = tuple(_symbols(m) for m in (a, b))
        self.variables = Variables(a, b)
        self.forward: dict[str, str] = {}
        self.backward: dict[str, str] = {}
        self.pending: list[tuple[str, str]] = []

    def same(self, a: Function, b: Function) -> bool:
        """Compare two functions, then whatever their statements name."""
        if not self._pair(a.name, b.name):
            return False
        while self.pending:
            first, second = self.pending.pop()
            one, two = self.symbols[0].get(first), self.symbols[1].get(second)
            if one is None or two is None or not self._same_symbol(one, two):
                return False
        return self._in_order()

    def _in_order(self) -> bool:
        """Whether shared and local arrays are declared in the same order, in which they lie."""
        first, second = (
            [name for name, one in known.items()
             if isinstance(one, Variable) and one.space in _UNINITIALISED]
            for known in self.symbols
        )  # fmt: skip
        partners = [self.forward[name] for name in first if name in self.forward]
        return partners == [name for name in second if name in self.backward]

    def _pair(self, a: str, b: str) -> bool:
        known = self.forward.get(a)
        if known is not None or b in self.backward:
            return known == b
        self.forward[a], self.backward[b] = b, a
        self.pending.append((a, b))
        return True

    def _same_symbol(self, a: Function | Variable, b: Function | Variable) -> bool:
        if isinstance(a, Function) and isinstance(b, Function):
            if not (a.has_body and b.has_body) and a.name != b.name:
                return False  # who has no body here is found by name
            if [i.opcode for i in a.instructions] != [i.opcode for i in b.instructions]:
                return False  # as most are that differ: no need to read the rest
            first = _statements(self.readers[0], a)
            second = _statements(self.readers[1], b)
            shapes = [s.shape for s in first], [s.shape for s in second]
            if not self._same_words(*shapes, (a.name, b.name)):
                return False
            return equal_up_to_renaming(
                [_reshaped(s) for s in first], [_reshaped(s) for s in second]
            )
        if isinstance(a, Variable) and isinstance(b, Variable):
            names = [[one.name for one in x.declarators] for x in (a, b)]
            if not _may_be_linked(a, b):
                return False
            if a.space in _FOUND_BY_NAME and names[1] != list(map(self._partner, names[0])):
                return False
            if a.space in _UNINITIALISED and b.space in _UNINITIALISED:
                return _room(a) == _room(b)
            return self._same_words([_plain(a.text)], [_plain(b.text)])
        return False

    def _partner(self, name: str) -> str | None:
        return self.variables.partners.get(name)

    def _symbol(self, side: int, function: str, word: str) -> str | None:
        """The symbol that a word means inside of a function, if it means any."""
        own = _inside(function, word)
        known = self.symbols[side]
        return own if own in known else word if word in known else None

    def _same_words(self, a: list[str], b: list[str], inside: tuple[str, str] = ("", "")) -> bool:
        """Whether texts in two functions differ only in symbols, and pair those."""
        if len(a) != len(b):
            return False
        for left, right in zip(a, b, strict=True):
            if _WORD.sub("@", left) != _WORD.sub("@", right):
                return False
            for one, two in zip(_WORD.findall(left), _WORD.findall(right), strict=True):
                first = self._symbol(0, inside[0], one)
                second = self._symbol(1, inside[1], two)
                if first is not None and second is not None:
                    if not self._pair(first, second):
                        return False
                elif first is not second or one != two:
                    return False
        return True


def _symbols(module: Module) -> dict[str, Function | Variable | None]:
    """Functions and variables by name; None for what a function declares twice, and for another
    name of a function."""
    found: dict[str, Function | Variable | None] = {}
    for name, node in _named(module):
        found[name] = node if name not in found or "\n" not in name else None
    return found | dict.fromkeys(other_names(module))


def _inside(function: str, name: str) -> str:
    """What a variable is called that a function declares: others may have one of that name."""
    return f"{function}\n{name}"


def _named(module: Module) -> Iterator[tuple[str, Function | Variable]]:
    # Compilers put the shared memory of a lone kernel inside of it, of several before them.
    for variable in module.variables:
        if variable.space in _IN_MEMORY:
            for one in variable.declarators:
                yield one.name, variable
    for function in sorted(module.functions, key=lambda f: f.has_body):
        yield function.name, function
        for variable in function.find("Variable"):
            if isinstance(variable, Variable) and variable.space in _IN_MEMORY:
                for one in variable.declarators:
                    yield _inside(function.name, one.name), variable


def _statements(reader: StatementReader, function: Function) -> list[Statement]:
    """The statements of a function with its parameters numbered, without its own variables."""
    # In a form that no name has: a variable of the function may be called anything.
    own = {p.name: f"<{i}>" for i, p in enumerate(function.parameters)}
    own |= {p.name: f"<-{i}>" for i, p in enumerate(function.return_parameters)}
    return [
        Statement(
            "", s.line, "", _WORD.sub(lambda m: own.get(m[0], m[0]), _plain(s.shape)), s.symbols
        )
        for s in reader.of_function(function)
        if not s.shape.startswith(_DECLARATIONS)
    ]


def _room(variable: Variable) -> tuple[str, list[tuple[int, int]]]:
    """The space, the bytes and the alignment of what has no initial value."""
    return variable.space, [variable_size(variable, one) for one in variable.declarators]


def _may_be_linked(a: Variable, b: Variable) -> bool:
    """Whether neither is one of another module, or both are, or one is where nobody finds it.

    A compiler that is not told of other modules makes a private one of what they would have.
    """
    elsewhere = [".extern" in one.linkage for one in (a, b)]
    if elsewhere[0] == elsewhere[1]:
        return True
    here = b if elsewhere[0] else a
    return not here.linkage and all(one.initializer is None for one in here.declarators)


def _plain(text: str) -> str:
    """A declaration without comments, white space that does not count, and its linkage."""
    words = re.sub(r"\s+", " ", without_comments(text)).strip()
    return re.sub(r"^(?:\.visible |\.extern |\.weak |\.common )*", "", words)


def _reshaped(statement: Statement) -> Statement:
    """The statement with every word of the module left out: those were compared before."""
    return Statement("", 0, "", _WORD.sub("@", statement.shape), statement.symbols)
