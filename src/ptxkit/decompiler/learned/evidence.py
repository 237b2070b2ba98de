"""Names that the code itself tells, and those that it speaks against.

The model has seen what people call things; where a definition says what something is, that is no
question of habit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL, Scalar, Type
from ptxkit.decompiler.learned.contexts import Context

#: Where a thread is in a grid of several dimensions, and in its block.
_IN_GRID = {"x": "col", "y": "row", "z": "depth"}
_IN_BLOCK = {"x": "tx", "y": "ty", "z": "tz"}
#: How far a place is from the middle of a window.
_AROUND = frozenset(("dx", "dy"))
#: What grows by what is added to it, by the largest and by the smallest.
_GROWN = {"fmaxf": "largest", "fmax": "largest", "max": "largest",
          "fminf": "smallest", "fmin": "smallest", "min": "smallest"}  # fmt: skip
#: Names of results: no index into memory is called so.
_RESULTS = frozenset("sum acc total count result max min mean val value temp tmp".split())
_PLACES = {"row": "y", "col": "x", "column": "x", "lane": "", "lane_id": "", "warp": "",
           "warp_id": "", "tid": ""}  # fmt: skip
#: What people call that of which nothing is stored, and that of which nothing is read.
_SOURCES = frozenset("x a b u in input src from idata g_idata image text".split())
_TARGETS = frozenset("out dst to odata g_odata result".split())
#: What a condition may be called.
_FLAGS = frozenset("active done flag found inside keep first".split())
#: Names that say something which nobody but their author knew.
_PRIVATE = frozenset(("me",))
_NUMBERED = re.compile(r"n\d*")
_DISTANCES = frozenset(("dx",))
_WARPS = frozenset(("threadIdx.x/32", "threadIdx.x>>5"))
#: Longer values are not put in the place of names.
_LARGEST = 40


def evident_names(function: n.Function) -> dict[str, str]:
    """What variables are, where their definition or what becomes of them leaves no doubt.

    >>> from ptxkit.cuda import read
    >>> kernel = read('''(kernel add (params (param (ptr float) x) (param int n))
    ...     (let int a (+ (* blockIdx.x 16) threadIdx.x)) (let int b threadIdx.y)
    ...     (let int c (+ (* blockIdx.y 16) b)) (let float f 0.0f) (let int l (& threadIdx.x 31))
    ...     (for (let int i 0) (< i n) (+= i 1) (+= f ([] x (+ (* c n) i))))
    ...     (= ([] x (+ a l)) f))''')
    >>> evident_names(kernel)
    {'a': 'col', 'c': 'row', 'f': 'sum', 'l': 'lane'}
    """
    reader = _Reader(function)
    for statement in function.body or ():
        reader.statement(statement)
    return reader.names()


def spoken_against(
    context: Context, names: Iterable[str], others: Iterable[Context] = ()
) -> frozenset[str]:
    """Those of some names that a variable cannot have, by how it is set and used.

    ``others`` are all variables: of several distances nobody knows which is along which axis.
    """
    words = {word.removeprefix(f"{context.kind} ") for word in context.words}
    found: set[str] = set()
    if context.kind in ("whole", "counter") and any(w.startswith("index of ") for w in words):
        found |= _RESULTS
    if "is output" in words:
        found |= _SOURCES
    elif "is input" in words:
        found |= _TARGETS
    if context.kind == "flag":
        found |= set(names) - _FLAGS
    found |= _PRIVATE
    sets = {w.rpartition(" ")[2] for w in words if w.startswith("set = ")}
    if sets & _WARPS and not any(s.startswith(("blockIdx", "globalIdx")) for s in sets):
        found |= {"row", "col"}
    if "set = -" not in words or sum("real set = -" in one.words for one in others) > 1:
        found |= _DISTANCES
    for name, axis in _PLACES.items():
        if name == "tid":
            moved = "set 2 times" in words or "set 3 times" in words
            if context.kind not in ("pointer", "size", "number") and moved:
                found.add(name)
        elif axis:
            across = {f"{kind}.{a}" for kind in ("globalIdx", "threadIdx", "blockIdx")
                      for a in "xyz" if a != axis}  # fmt: skip
            mine = {f"{kind}.{axis}" for kind in ("globalIdx", "threadIdx", "blockIdx")}
            # Rows by blocks along x are rows all the same.
            if sets & (across - {"blockIdx.x"}) and not sets & mine:
                found.add(name)
        elif context.kind == "whole" and not any(
            any(s.endswith(f"{sign}{number}") for sign, number in
                (("%", 32), ("&", 31), ("/", 32), (">>", 5))) for s in sets
        ):  # fmt: skip
            found.add(name)
    return frozenset(found.intersection(names))


class _Reader:
    """Reads a function in the order of its text, with what variables hold where that is sure."""

    def __init__(self, function: n.Function) -> None:
        self.function = function
        self.holds: dict[str, n.Expression] = {}
        self.types: dict[str, Type] = {}
        self.given: dict[str, list[n.Expression]] = {}
        """What variables are set to; what they begin with has other variables' values in it."""
        self.sets: Counter[str] = Counter()
        self.indices: set[str] = set()
        for statement in function.body or ():
            self.sets.update(_changed(statement))
            for node in statement.walk():
                if isinstance(node, n.Index):
                    self.indices.update(x.name for x in node.index.walk() if isinstance(x, n.Name))

    # ---- reading ---------------------------------------------------------------------------

    def statement(self, node: n.Node) -> None:
        """Note what a statement does."""
        match node:
            case n.Declare(name=name, type=type, value=value):
                self.types[name] = type
                if value is not None:
                    self._set(name, value)
            case n.Assign(target=n.Name(name=name), value=value, operator="="):
                self._set(name, value)
            case n.Assign(target=n.Name(name=name), value=value, operator=operator):
                self._set(name, n.Binary(operator[:-1], n.Name(name), value))
            case _:
                inside = list(_statements(node))
                changed = {name for one in inside for name in _changed(one)}
                # What a loop changes is not what it was, when its text is read for the first time.
                self._forget(changed)
                for one in inside:
                    self.statement(one)
                self._forget(changed)

    def _forget(self, names: Iterable[str]) -> None:
        for name in names:
            self.holds.pop(name, None)

    def _set(self, name: str, value: n.Expression) -> None:
        known = self._resolved(value)
        self.given.setdefault(name, []).append(known)
        size = sum(1 for _ in known.walk())
        own = any(isinstance(x, n.Name) and x.name == name for x in known.walk())
        if size <= _LARGEST and not own:
            self.holds[name] = known
        else:
            self.holds.pop(name, None)

    def _resolved(self, node: n.Expression) -> n.Expression:
        if isinstance(node, n.Name):
            return self.holds.get(node.name, node)
        if isinstance(node, n.Cast) and isinstance(node.type, Scalar) and node.type.is_integer:
            return self._resolved(node.operand)
        made: n.Expression = node.rebuilt(self._resolved)
        return made

    # ---- what it tells ---------------------------------------------------------------------

    def names(self) -> dict[str, str]:
        """A name for each variable that has one for sure, in the order of the text."""
        axes = {name: _axis(given[0]) for name, given in self.given.items()}
        inner = {name: _thread(given[0]) for name, given in self.given.items()}
        plane = {"x", "y"} <= set(axes.values()) | set(inner.values())
        distances = self._distances()
        found: dict[str, str] = {}
        for name, given in self.given.items():
            once = self.sets[name] == 1
            if once and plane and axes[name]:
                found[name] = _IN_GRID[axes[name]]
            elif once and plane and inner[name] and "y" in inner.values():
                if "x" in inner.values():
                    found[name] = _IN_BLOCK[inner[name]]
            elif name in _AROUND and isinstance(given[0], n.Literal) and given[0].value < 0:
                found[name] = name
            elif once and (part := _warp_part(given[0])):
                found[name] = part
            elif once and name in distances:
                found[name] = distances[name]
            elif self.types.get(name) == BOOL and _NUMBERED.fullmatch(name):
                found[name] = "cond"
            elif len(given) > 1 and (grown := self._grown(name, given)):
                found[name] = grown
            elif name in self.indices and name.rstrip("0123456789") in _RESULTS:
                found[name] = "offset"
        return found

    def _distances(self) -> dict[str, str]:
        """How far two places are from each other along each axis, where all axes are there."""
        found: dict[str, str] = {}
        for name, given in self.given.items():
            match given[0]:
                case n.Binary("-", left, right) if self.sets[name] == 1:
                    axes = [part.field for part in (left, right)
                            if isinstance(part, n.Member) and part.field in "xyz"]  # fmt: skip
                    if axes and len(set(axes)) == 1 and not isinstance(left, n.Literal):
                        found[name] = f"d{axes[0]}"
        return found if {"dx", "dy"} <= set(found.values()) else {}

    def _grown(self, name: str, given: list[n.Expression]) -> str:
        """What a variable that becomes more and more is called."""
        type = self.types.get(name)
        real = isinstance(type, Scalar) and type.is_float
        if not isinstance(type, Scalar) or name in self.indices:
            return ""
        ways = {_way(name, value) for value in given[1:]} - {""}
        if len(ways) != 1 or _way(name, given[0]):
            return ""
        (way,) = ways
        if way in ("+", "fma"):
            zero = isinstance(given[0], n.Literal) and given[0].value == 0
            return "sum" if zero and real else ""
        return _GROWN.get(way, "")


def _way(name: str, value: n.Expression) -> str:
    """How a value is made of what a variable was."""
    match value:
        case n.Binary("+", left, right) if n.Name(name) in (left, right):
            return "+" if not isinstance(right, n.Literal) else "step"
        case n.Call(function="fmaf" | "fma", arguments=(_, _, n.Name(name=last))) if last == name:
            return "fma"
        case n.Call(function=function, arguments=arguments) if n.Name(name) in arguments:
            return function
    return "other" if any(isinstance(x, n.Name) and x.name == name for x in value.walk()) else ""


def _terms(node: n.Expression) -> Iterator[n.Expression]:
    if isinstance(node, n.Binary) and node.operator == "+":
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _axis(value: n.Expression) -> str:
    """The axis along which a value is the place of a thread in the grid."""
    terms = list(_terms(value))
    if len(terms) != 2:
        return ""
    for one, two in (terms, terms[::-1]):
        axis = _thread(two)
        match one:
            case n.Binary("*" | "<<", left, right) if axis:
                parts = (left, right)
                size = n.builtin(f"blockDim.{axis}")
                if n.builtin(f"blockIdx.{axis}") in parts and any(
                    isinstance(p, n.Literal) or p == size for p in parts
                ):
                    return axis
    return ""


def _thread(value: n.Expression) -> str:
    """The axis of which a value is the index of a thread."""
    return next((a for a in "xyz" if value == n.builtin(f"threadIdx.{a}")), "")


def _warp_part(value: n.Expression) -> str:
    thread = n.builtin("threadIdx.x")
    match value:
        case n.Binary("%", left, n.Literal(value=32)) | n.Binary("&", left, n.Literal(value=31)):
            return "lane" if left == thread else ""
        case n.Binary("/", left, n.Literal(value=32)) | n.Binary(">>", left, n.Literal(value=5)):
            return "warp" if left == thread else ""
    return ""


def _statements(node: n.Node) -> Iterator[n.Node]:
    """The statements in one, in the order of the text."""
    match node:
        case n.For(start=start, step=step, body=body):
            yield from (part for part in (start, *body, step) if part is not None)
        case n.While(body=body) | n.DoWhile(body=body) | n.Block(body=body) | n.Case(body=body):
            yield from body
        case n.If(then=then, otherwise=otherwise):
            yield from (*then, *otherwise)
        case n.Switch(cases=cases):
            yield from cases


def _changed(node: n.Node) -> Iterator[str]:
    """The variables that are set somewhere in a statement."""
    for part in node.walk():
        match part:
            case n.Declare(name=name, value=value) if value is not None:
                yield name
            case n.Assign(target=n.Name(name=name)):
                yield name
            case n.Unary(operator="&", operand=n.Name(name=name)):
                yield name
            case n.Asm(outputs=outputs):
                yield from (x.name for o in outputs for x in o.walk() if isinstance(x, n.Name))
