"""Names that say what a register holds: ``tid``, ``arg0``, ``row``, ``total``.

A register is named after how it is first written, by rules that look at that one statement and
at how the register is changed later. Where no rule speaks it keeps its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptxkit.syntax import Instruction
from ptxkit.transpiler.tree import (
    Argument,
    FunctionSuite,
    Group,
    Line,
    Site,
    Symbol,
    walk,
)

_SPECIAL = {"tid": "tid", "ntid": "ntid", "ctaid": "ctaid", "nctaid": "nctaid", "laneid": "lane"}
_FLOATS = (".f16", ".bf16", ".f32", ".f64", ".f16x2", ".bf16x2", ".f32x2")


class RegisterNames:
    """The pass."""

    name = "register names"

    def __call__(self, function: FunctionSuite, skip: frozenset[int]) -> FunctionSuite:
        """Name registers by what they hold, but for those made at nodes to skip."""
        namer = _Namer(function)
        names: dict[Symbol, str] = {}
        sites: list[Site] = []
        lines = [value for line in walk(function.body) for value in _values(line)]
        for line in lines:
            target, node = line.target, line.node
            if not isinstance(target, Symbol) or node is None or node.index in skip:
                continue
            word = namer.word(target, line)
            namer.words[target] = word or ""
            if word:
                names[target] = function.free_name(word, ("name", target))
                sites.append(Site(node.index, node.index + 99, node.index))
        return function.rewritten(function.body, sites, names) if names else function


class _Namer:
    def __init__(self, function: FunctionSuite) -> None:
        self.words: dict[Symbol, str] = {}
        self._changed: dict[Symbol, Line] = {}
        self._is_flat = True
        for line in walk(function.body):
            for one in _values(line):
                if one.call == ".new" and ".y" in _special(one):
                    self._is_flat = False
            if not line.target and line.arguments and isinstance(line.arguments[0], Symbol):
                first = line.arguments[0]
                if line.is_change or first in line.arguments[1:]:
                    self._changed.setdefault(first, line)

    def word(self, target: Symbol, line: Line) -> str | None:
        """What a register is called after the statement that makes it."""
        rule = _RULES.get(line.call)
        found = rule(self, line) if rule is not None else None
        if found is None and target in self._changed:
            return self._change(target, self._changed[target])
        return found

    def _change(self, target: Symbol, line: Line) -> str | None:
        """What is changed again and again: a sum, a counter, a pointer that moves."""
        node = line.node
        if not isinstance(node, Instruction):
            return None
        if any(word in node.modifiers for word in _FLOATS):
            return _TOTALS.get(node.name)
        if line.call in ("+=", "-="):
            return "place" if target.type.endswith("64") else "count"
        return None

    def special(self, line: Line) -> str | None:
        """``sreg.tid.x.new()``."""
        name, _, component = _special(line).partition(".")
        word = _SPECIAL.get(name)
        if word is None:
            return name if name.isidentifier() else None
        return word if component in ("", "x") else f"{word}_{component}"

    def load(self, line: Line) -> str | None:
        """``param_0.load()``."""
        parameter = line.arguments[0]
        if not isinstance(parameter, Symbol) or len(line.arguments) > 2:
            return None
        name = parameter.python
        return name.replace("param_", "arg") if name.startswith("param_") else f"{name}_value"

    def pointer(self, line: Line) -> str | None:
        """``ptx.cvta.to.global_.u64.new(arg0)``."""
        source = self._source(line.arguments[0])
        return f"{source}_global" if source.startswith("arg") else None

    def index(self, line: Line) -> str | None:
        """``ctaid * ntid + tid``."""
        sources = [self._source(argument) for argument in line.arguments]
        for component, word in (("", "index"), ("_y", "row"), ("_z", "layer")):
            expected = {f"ctaid{component}", f"ntid{component}"}
            if expected == set(sources[:2]) and sources[2] == f"tid{component}":
                return word if component or self._is_flat else "column"
        return None

    def address(self, line: Line) -> str | None:
        """The address of a shared variable."""
        source = line.arguments[0] if len(line.arguments) == 1 else None
        if isinstance(source, Symbol) and source.kind == "variable":
            return f"{source.python.rpartition('E')[2].lstrip('0123456789') or 'shared'}_address"
        return None

    def _source(self, argument: Argument) -> str:
        """What an argument would be called."""
        if isinstance(argument, Symbol):
            return self.words.get(argument, "")
        if isinstance(argument, Line):
            rule = _RULES.get(argument.call)
            return (rule(self, argument) if rule is not None else None) or ""
        return ""


def _special(line: Line) -> str:
    source = line.arguments[0]
    return source.ptx[1:] if isinstance(source, Symbol) and source.kind == "special" else ""


def _values(line: Line) -> Iterator[Line]:
    """A line and the values inside it."""
    yield line
    stack: list[Argument] = [*line.arguments, *[value for _, value in line.keywords]]
    while stack:
        one = stack.pop()
        if isinstance(one, Line):
            yield one
            stack += one.arguments
        elif isinstance(one, Group):
            stack += one.parts


_TOTALS = {"fma": "total", "add": "total", "max": "most", "min": "least", "mul": "product"}
_RULES: dict[str, Callable[[_Namer, Line], str | None]] = {
    ".new": _Namer.special,
    ".load": _Namer.load,
    "ptx.cvta.to.global_.u64.new": _Namer.pointer,
    "ptx.mad.lo.s32.new": _Namer.index,
    "ptx.mad.lo.u32.new": _Namer.index,
    "ptx.mov.u32.new": _Namer.address,
    "ptx.mov.b32.new": _Namer.address,
    "ptx.mov.u64.new": _Namer.address,
}
