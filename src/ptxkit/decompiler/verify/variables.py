"""Which variable of one module is which of another, and what they begin with.

A host, another module and the other kernels of the same one find a variable by its name. One that
nobody outside knows may be called otherwise in a candidate, but then it is one and the same for all
kernels.
"""

from __future__ import annotations

import re
from collections import defaultdict

from ptxkit._native import Node
from ptxkit.syntax import Alias, Declarator, Function, Module, Name
from ptxkit.syntax.statements import without_comments

_WORD = re.compile(r"[\w$%]+")
_NAMED = re.compile(r"(?<![\w.$])[A-Za-z_$%]")
_IN_MEMORY = ("global", "const")


class Variables:
    """The variables of two modules that stand outside of functions.

    >>> import ptxkit
    >>> a = ptxkit.parse(".global .u32 x = 1; .global .u64 p = generic(x);")
    >>> b = ptxkit.parse(".global .u32 y = 1; .global .u64 p = generic(y);")
    >>> c = ptxkit.parse(".global .u32 x = 2; .global .u64 p = generic(x);")
    >>> both = Variables(a, b)
    >>> both.partners
    {'p': 'p', 'x': 'y'}
    >>> both.known(0, "p") == both.known(1, "p")
    True
    >>> other = Variables(a, c)
    >>> other.known(0, "p") == other.known(1, "p")
    False
    """

    def __init__(self, original: Module, candidate: Module) -> None:
        self._declared = _declared(original), _declared(candidate)
        first, second = self._declared
        self._open: list[str] = []
        """The variables that are being described, each pointed to by the one before."""
        self._cut = 0
        """The first of these that what is described by now points back to."""
        self._described: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self._names: tuple[dict[str, str], dict[str, str]] = ({}, {})
        self.partners: dict[str, str] = {
            name: name for name in first if name in second and self._same(name)
        }
        """For each variable of the original that of the candidate which it is, if there is one."""
        alike: dict[str, list[str]] = defaultdict(list)
        for name in second:
            if name not in self.partners and not second[name].variable.linkage:
                alike[self._description(1, name)].append(name)
        for name in first:
            if name not in self.partners and not first[name].variable.linkage:
                # Compilers keep them in the order in which they were declared.
                others = alike[self._description(0, name)]
                if others:
                    self.partners[name] = others.pop(0)
        self._names[1].update({b: a for a, b in self.partners.items()})
        for described in self._described:
            described.clear()  # now with the names that both sides have in common

    def known(self, side: int, name: str) -> tuple[str, ...]:
        """What a variable of the original, or of the candidate, is; equal for the same one."""
        declared = self._declared[side].get(name)
        if declared is None:
            return "", name
        linkage = declared.variable.linkage
        return self._common(side, name), linkage, self._description(side, name)

    def _same(self, name: str) -> bool:
        """Whether a name means the same variable: compilers number texts through each file."""
        both = [declared[name] for declared in self._declared]
        public = any(one.variable.linkage for one in both)
        if public or all(one.initializer is None for one in both):
            return True
        return self._description(0, name) == self._description(1, name)

    def _common(self, side: int, name: str) -> str:
        """What both sides call it; with a mark where only the candidate has it."""
        if side == 0:
            return name
        return self._names[1].get(name, f"+{name}")

    def _description(self, side: int, name: str) -> str:
        """Everything about a variable but its name, and about those that it begins with."""
        known = self._described[side]
        if name in self._open:
            # One that points to itself, or is pointed to by what it points to: as it was come to.
            self._cut = min(self._cut, self._open.index(name))
            return f"... {len(self._open) - self._open.index(name)}"
        if name not in known:
            own, outer, self._cut = len(self._open), self._cut, len(self._open)
            self._open.append(name)
            declared = self._declared[side][name]
            variable = declared.variable
            words: list[object] = [variable.space, variable.alignment, variable.vector]
            words += [
                variable.type,
                declared.dimensions,
                *(one.text for one in variable.attributes),
            ]
            first = declared.initializer
            begins = ""
            if first is not None:
                named = names_others(first)
                text = without_comments(first.text)
                begins = self._begins(side, first) if named else "".join(text.split())
            made = f"{' '.join(map(str, words))} = {begins}"
            self._open.pop()
            whole, self._cut = self._cut >= own, min(self._cut, outer)
            if not whole:
                return made  # part of a circle, told from where that was begun
            known[name] = made
        return known[name]

    def _begins(self, side: int, node: Node) -> str:
        """An initial value, with what it points to in the place of names."""
        if isinstance(node, Name):
            if node.text not in self._declared[side]:
                return node.text
            common = self._common(side, node.text) if self._names[1] else ""
            return f"{common} <{self._description(side, node.text)}>"
        parts = [self._begins(side, child) for child in node.children]
        own = " ".join(text for _, text, _, _ in node.tokens(own=True))
        return f"{node.kind} {own} ({', '.join(parts)})"


def other_names(module: Module) -> set[str]:
    """What functions of a module are called by `.alias`, too."""
    return {str(one.name) for one in module.find("Alias") if isinstance(one, Alias)}


def behind_variables(module: Module, function: Function) -> set[str]:
    """The functions whose addresses variables begin with, where a function names any variable."""
    functions = {f.name for f in module.functions if not f.is_entry}
    variables = [v for v in module.variables if v.space in _IN_MEMORY] if functions else []
    named: set[str] = set()
    for variable in variables:
        for one in variable.declarators:
            first = one.initializer
            if first is not None and names_others(first):
                named |= functions.intersection(_WORD.findall(first.text))
    if named and any(one.name in function.text for v in variables for one in v.declarators):
        return named
    return set()


def names_others(initializer: Node) -> bool:
    """Whether an initial value has names in it; large tables are of numbers alone."""
    return _NAMED.search(initializer.text) is not None


def _declared(module: Module) -> dict[str, Declarator]:
    """The variables in memory by name; where one is declared again, the one with a value."""
    found: dict[str, Declarator] = {}
    for variable in module.variables:
        for one in variable.declarators if variable.space in _IN_MEMORY else ():
            if one.name not in found or one.initializer is not None:
                found[one.name] = one
    return found
