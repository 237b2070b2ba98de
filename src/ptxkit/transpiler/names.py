"""Python names for PTX names, scope by scope."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable

from ptxkit.dsl.declarations import LINKAGES
from ptxkit.isa.special_registers import SPECIAL_REGISTERS, find_special_register
from ptxkit.syntax.demangle import short_name
from ptxkit.transpiler.tree import Symbol, quoted

_ARGUMENTS = re.compile(r"<[^<>]*>")
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BAD = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


def dsl_names() -> frozenset[str]:
    """What a generated file may import."""
    import ptxkit.dsl

    return frozenset(ptxkit.dsl.__all__)


def reserved_names() -> set[str]:
    """Names that PTX names must not take."""
    return {*dsl_names(), "module", *dir(builtins), *keyword.kwlist, *LINKAGES}


def short_word(symbol: str) -> str:
    """What a symbol of C++ is called, without namespaces and parameters.

    >>> short_word("_ZN3cub6kernelINS_6PolicyEPfEEvT0_"), short_word("_ZZ4sumsIfEvvE6buffer")
    ('kernel', 'buffer')
    """
    name = short_name(symbol)
    while "<" in name:  # the innermost arguments first
        shorter = _ARGUMENTS.sub("", name)
        if shorter == name:
            break
        name = shorter
    word = re.sub(r"\([^()]*\)", "", name).rpartition("::")[2].strip()
    return word if _PLAIN.fullmatch(word) else symbol


class Scope:
    """The names of a module, a function or a block, and of what it stands in."""

    def __init__(
        self, outer: Scope | None, reserved: Iterable[str] = (), *, demangles: bool = False
    ) -> None:
        self.outer = outer
        self.demangles: bool = demangles if outer is None else outer.demangles
        """Whether names of C++ are called what they are called there."""
        self.symbols: dict[str, Symbol] = {}
        self.ranges: dict[str, tuple[str, int, str]] = {}  # prefix -> Python name, size, type
        self._own = set(reserved)  # Python names that are in use in this scope itself
        self._below: set[str] = set()  # and in the scopes inside it, also those that ended
        self._numbers: dict[tuple[str, bool], int] = {}  # the last one that a name was given
        self._resolved: dict[str, Symbol] = {}

    def inner(self) -> Scope:
        """A scope inside this one. Scopes beside each other may use the same Python names."""
        return Scope(self)

    def _is_taken(self, name: str) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._own:
                return True
            scope = scope.outer
        return keyword.iskeyword(name)

    def python_name(self, ptx: str) -> str:
        """A free Python name that is like a PTX name.

        >>> Scope(None, ["r"]).python_name("%r"), Scope(None).python_name("$L.x")
        ('r_2', '_L_x')
        """
        return self._take(ptx, set())

    def unused_name(self, ptx: str) -> str:
        """The same, and not in use in any scope inside this one: for what passes add."""
        return self._take(ptx, self._below)

    def _take(self, ptx: str, avoided: set[str]) -> str:
        if self.demangles and ptx.startswith("_Z"):
            ptx = short_word(ptx)
        base = _BAD.sub("_", ptx.removeprefix("%")) or "_"
        if base[0].isdigit():
            base = f"_{base}"
        if base.startswith("__") and base.endswith("__"):
            base += "x"
        # Names are never given back, so what was taken once need not be asked for again.
        key = (base, avoided is self._below)
        number = self._numbers.get(key, 1)
        name = base if number == 1 else f"{base}_{number}"
        while name in avoided or self._is_taken(name):
            number += 1
            name = f"{base}_{number}"
        self._numbers[key] = number
        self._own.add(name)
        scope = self.outer
        while scope is not None and scope.outer is not None:
            scope._below.add(name)
            scope = scope.outer
        return name

    def declare(self, ptx: str, kind: str, type: str = "", python: str | None = None) -> Symbol:
        """Declare a name; it hides what was known by it."""
        symbol = Symbol(ptx, python or self.python_name(ptx), kind, type)
        self.symbols[ptx] = symbol
        self._resolved.clear()
        return symbol

    def declare_range(self, prefix: str, count: int, type: str) -> str:
        """Declare a range of registers; gives its Python name."""
        name = self.python_name(prefix)
        self.ranges[prefix] = name, count, type
        self._resolved.clear()
        return name

    def resolve(self, ptx: str) -> Symbol:
        """The symbol of a name; one of kind "name" where nothing declares it."""
        found = self._resolved.get(ptx)
        if found is None:
            found = self._resolved[ptx] = self._look_up(ptx)
        return found

    def _look_up(self, ptx: str) -> Symbol:
        scope: Scope | None = self
        while scope is not None:
            if ptx in scope.symbols:
                return scope.symbols[ptx]
            for prefix, digits in _splits(ptx):
                known = scope.ranges.get(prefix)
                if known is not None and int(digits) < known[1]:
                    symbol = Symbol(ptx, f"{known[0]}[{digits}]", "register", known[2])
                    # One symbol for all uses, also from inner scopes.
                    scope.symbols[ptx] = symbol
                    return symbol
            scope = scope.outer
        if ptx in SPECIAL_REGISTERS:
            return Symbol(ptx, f"sreg.{ptx[1:]}", "special")
        return Symbol(ptx, quoted(ptx), "name")


def _splits(ptx: str) -> list[tuple[str, str]]:
    """The ways to read a name as a member of a range, shortest prefix last.

    >>> _splits("%r12"), _splits("%r07")
    ([('%r', '12'), ('%r1', '2')], [('%r0', '7')])
    """
    stem = ptx.rstrip("0123456789")
    digits = ptx[len(stem) :]
    return [
        (stem + digits[:at], digits[at:])
        for at in range(min(len(digits), 9))
        if len(digits) - at <= 9 and (digits[at] != "0" or at == len(digits) - 1)
    ]


def special(text: str) -> bool:
    """Say whether a name with its selector is a special register."""
    return find_special_register(text) is not None
