"""The names of C++ functions as people write them.

>>> demangle("_Z5saxpyPfS_fi")
'saxpy(float*, float*, float, int)'
>>> demangle("saxpy")
'saxpy'
>>> short_name("_ZN3cub6kernelINS_6PolicyEPfEEvT0_")
'cub::kernel'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from ptxkit.syntax.mangled import DEEPEST, NotMangledError, Reader, Tree

#: Names say a type once and refer to it after, so few characters can stand for very many.
_LONGEST = 1 << 16
_SUFFIXES = {"unsigned int": "u", "long": "l", "unsigned long": "ul", "long long": "ll",
             "unsigned long long": "ull", "int": ""}  # fmt: skip


def demangle(name: str) -> str:
    """A mangled name as C++; any other name as it is.

    >>> demangle("_Z11reduce_scanIdLi64EEvPKT_")
    'void reduce_scan<double, 64>(double const*)'
    """
    tree = read(name)
    return name if tree is None else write(tree) or name


def short_name(name: str) -> str:
    """The function's name alone, with its namespaces: no result, arguments or parameters."""
    tree = read(name)
    if tree is None:
        return name
    while tree[0] in ("function", "method", "template"):
        tree = tree[1]
    return write(tree) or name


@lru_cache(maxsize=4096)
def read(name: str) -> Tree | None:
    """The tree of a mangled name; None for other names."""
    if not name.startswith("_Z"):
        return None
    try:
        return Reader(name).whole()
    except (NotMangledError, RecursionError):
        return None


def write(tree: Tree) -> str:
    """A tree as C++; nothing where that cannot be, or would be longer than anyone reads."""
    try:
        return _Writer().text(tree)
    except (NotMangledError, RecursionError):
        return ""


class _Writer:
    """Writes a tree as C++, the way c++filt does."""

    def __init__(self) -> None:
        self.member: int | None = None  # the place in the packs that are being written out
        self.arguments: tuple[Tree, ...] = ()  # of the innermost function, what T_ stands for
        self.inside_lambda = False
        self.written = 0
        self.depth = 0

    def text(self, tree: Tree) -> str:
        return self.declare(tree, "")

    def declare(self, tree: Tree, inner: str) -> str:
        """A type with what is declared of it: ``float`` and ``*`` give ``float*``."""
        self.depth += 1
        if self.depth > 2 * DEEPEST:
            raise NotMangledError
        found = _WRITERS[tree[0]](self, tree, inner)
        self.depth -= 1
        self.written += len(found)
        if self.written > 16 * _LONGEST or len(found) > _LONGEST:
            raise NotMangledError
        return found

    def plain(self, tree: Tree, inner: str) -> str:
        return str(_PLAIN[tree[0]](self, tree)) + inner

    def commas(self, trees: Iterable[Tree]) -> str:
        shown = (self.text(one) for one in trees)
        return ", ".join(one for one in shown if one)

    # -- names

    def function(self, tree: Tree) -> str:
        _, name, result, parameters = tree
        inner = name
        while inner[0] == "scoped":
            inner = inner[2]
        suffix = inner[2] if inner[0] == "method" else ""
        outer = self.arguments, self.inside_lambda
        self.arguments, self.inside_lambda = _template_arguments(name), False
        declared = f"{self.text(name)}({self.commas(parameters)}){suffix}"
        found = declared if result is None else self.declare(result, f" {declared}")
        self.arguments, self.inside_lambda = outer
        return found

    def scoped(self, tree: Tree) -> str:
        owner = tree[1]
        if owner[0] == "function":
            owner = (*owner[:2], None, owner[3])  # the result is not part of a scope
        return f"{self.text(owner)}::{self.text(tree[2])}"

    def template(self, tree: Tree) -> str:
        name = self.text(tree[1])
        shown = self.commas(tree[2])
        gap = " " if name.endswith("<") else ""
        return f"{name}{gap}<{shown}{' ' if shown.endswith('>') else ''}>"

    def last_word(self, tree: Tree) -> str:
        while tree[0] in ("scoped", "template", "tagged"):
            tree = tree[2] if tree[0] == "scoped" else tree[1]
        return self.text(tree)

    def unnamed(self, tree: Tree) -> str:
        outer, self.inside_lambda = self.inside_lambda, True
        found = f"{{lambda({self.commas(tree[1])})#{tree[2]}}}"
        self.inside_lambda = outer
        return found

    # -- templates

    def resolve(self, tree: Tree) -> Tree:
        """What a parameter of a template stands for here."""
        seen = 0
        while tree[0] == "parameter" and not self.inside_lambda:
            if tree[1] >= len(self.arguments) or seen > DEEPEST:
                raise NotMangledError
            tree = self.arguments[tree[1]]
            seen += 1
            if tree[0] == "pack" and self.member is not None:
                if self.member >= len(tree[1]):
                    raise NotMangledError
                tree = tree[1][self.member]
        return tree

    def parameter(self, tree: Tree, inner: str) -> str:
        if self.inside_lambda:
            return f"auto:{tree[1] + 1}{inner}"
        return self.declare(self.resolve(tree), inner)

    def expansion(self, tree: Tree) -> str:
        length = self.pack_length(tree[1])
        if length is None or self.inside_lambda:
            return f"{self.text(tree[1])}..."
        outer = self.member
        shown = []
        for self.member in range(length):
            shown.append(self.text(tree[1]))
        self.member = outer
        return ", ".join(shown)

    def pack_length(self, tree: object) -> int | None:
        """How many members the packs in a pattern have; None without one."""
        if not isinstance(tree, tuple) or not tree:
            return None
        if tree[0] == "parameter":
            found = self.arguments[tree[1]] if tree[1] < len(self.arguments) else ("word", "")
            return len(found[1]) if found[0] == "pack" else None
        for part in tree[1:] if isinstance(tree[0], str) else tree:
            length = self.pack_length(part)
            if length is not None:
                return length
        return None

    def count(self, tree: Tree) -> str:
        length = self.pack_length(tree[1])
        if length is None:
            raise NotMangledError
        return str(length)

    # -- types

    def qualified(self, tree: Tree, inner: str) -> str:
        of = self.resolve(tree[1])
        already = of[2].split() if of[0] == "qualified" else ()
        words = "".join(f" {word}" for word in tree[2].split() if word not in already)
        if of[0] == "callable":
            return self.declare((*of[:3], words + of[3]), inner)
        if of[0] == "array":  # what is constant is its elements
            return self.declare(("array", ("qualified", of[1], words), of[2]), inner)
        return self.declare(of, words + inner)

    def pointer(self, tree: Tree, inner: str) -> str:
        of, sign = self.resolve(tree[1]), tree[2]
        if sign != "*" and of[0] == "pointer" and of[2] != "*":
            sign = "&" if "&" in (sign, of[2]) else "&&"
            of = of[1]
        return self.declare(of, sign + inner)

    def callable(self, tree: Tree, inner: str) -> str:
        _, result, parameters, suffix = tree
        around = f"({inner})" if inner else ""
        return self.declare(result, f" {around}({self.commas(parameters)}){suffix}")

    def array(self, tree: Tree, inner: str) -> str:
        extent = f"[{self.text(tree[2])}]"
        if inner.endswith("]"):
            return self.declare(tree[1], inner + extent)
        around = f" ({inner.lstrip()})" if inner else ""
        return self.declare(tree[1], f"{around} {extent}")

    def member_pointer(self, tree: Tree, inner: str) -> str:
        owner = self.text(tree[2])
        gap = "" if self.resolve(tree[1])[0] == "callable" else " "
        return self.declare(tree[1], f"{gap}{owner}::*{inner}")

    # -- expressions

    def literal(self, tree: Tree) -> str:
        kind, value = self.text(tree[1]), tree[2]
        value = f"-{value[1:]}" if value.startswith("n") else value
        if kind == "bool" and value in ("0", "1"):
            return "true" if value == "1" else "false"
        if kind in _SUFFIXES:
            return value + _SUFFIXES[kind]
        return f"({kind}){value}"

    def operand(self, tree: Tree) -> str:
        shown = self.text(tree)
        return shown if tree[0] in ("word", "scoped", "braces") else f"({shown})"

    def application(self, tree: Tree) -> str:
        _, symbol, operands = tree
        shown = [self.operand(one) for one in operands]
        if symbol == "[]":
            return f"{shown[0]}[{self.text(operands[1])}]"
        if len(shown) == 3:
            return f"{shown[0]}?{shown[1]} : {shown[2]}"
        if len(shown) == 1:
            return f"{symbol}{shown[0]}"
        whole = f"{shown[0]}{symbol}{shown[1]}"
        return f"({whole})" if symbol == ">" else whole


def _template_arguments(name: Tree) -> tuple[Tree, ...]:
    """The arguments of the last template in a name."""
    if name[0] == "template":
        found: tuple[Tree, ...] = name[2]
        return found
    if name[0] == "scoped" and name[2][0] in ("method", "template", "scoped"):
        return _template_arguments(name[2])
    return _template_arguments(name[1]) if name[0] in ("scoped", "method", "function") else ()


_PLAIN: dict[str, Callable[[_Writer, Tree], str]] = {
    "word": lambda w, t: t[1],
    "special": lambda w, t: t[1] + w.text(t[2]),
    "function": _Writer.function,
    "method": lambda w, t: w.text(t[1]),
    "scoped": _Writer.scoped,
    "template": _Writer.template,
    "constructor": lambda w, t: w.last_word(t[1]),
    "destructor": lambda w, t: f"~{w.last_word(t[1])}",
    "conversion": lambda w, t: f"operator {w.text(t[1])}",
    "tagged": lambda w, t: f"{w.text(t[1])}[abi:{t[2]}]",
    "lambda": _Writer.unnamed,
    "pack": lambda w, t: w.commas(t[1]),
    "expansion": _Writer.expansion,
    "count": _Writer.count,
    "decltype": lambda w, t: f"decltype ({w.text(t[1])})",
    "vector": lambda w, t: f"{w.text(t[1])} __vector({t[2]})",
    "literal": _Writer.literal,
    "application": _Writer.application,
    "call": lambda w, t: f"{w.operand(t[1])}({w.commas(t[2])})",
    "cast": lambda w, t: f"({w.text(t[1])})({w.commas(t[2])})",
    "braces": lambda w, t: f"{w.text(t[1])}{{{w.commas(t[2])}}}",
    "named cast": lambda w, t: f"{t[1]}<{w.text(t[2])}>({w.text(t[3])})",
    "access": lambda w, t: f"{w.operand(t[1])}{t[2]}{w.text(t[3])}",
}
_WRITERS: dict[str, Callable[[_Writer, Tree, str], str]] = {
    **dict.fromkeys(_PLAIN, _Writer.plain),
    "parameter": _Writer.parameter,
    "qualified": _Writer.qualified,
    "pointer": _Writer.pointer,
    "callable": _Writer.callable,
    "array": _Writer.array,
    "member": _Writer.member_pointer,
}
