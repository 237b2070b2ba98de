"""What the names of a function are used for, as words that a model can weigh.

>>> from ptxkit.cuda import read
>>> kernel = read('''(kernel copy (params (param (ptr float) p0) (param int n1))
...     (let int i (+ (* blockIdx.x blockDim.x) threadIdx.x))
...     (if (< i n1) (then (= ([] p0 i) 0.0f))))''')
>>> found = contexts(kernel)
>>> {name: context.kind for name, context in found.items()}
{'p0': 'pointer', 'n1': 'size', 'i': 'whole'}
>>> "pointer at globalIdx.x" in found["p0"].words, "size <r globalIdx.x" in found["n1"].words
(True, True)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import BOOL, Array, Pointer, Scalar, Type
from ptxkit.syntax.demangle import demangle

_BUILTIN = frozenset(("threadIdx", "blockIdx", "blockDim", "gridDim"))
_COMMUTES = frozenset(("+", "*", "&", "|", "^", "&&", "||", "==", "!="))
_COMPARES = frozenset(("<", ">", "<=", ">=", "==", "!="))
_LOOPS = (n.For, n.While, n.DoWhile)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
#: So far up a tree a use is described.
_HEIGHT = 3
#: So many things a value is made of: where each step of many asks the last one twice, there are
#: twice as many behind each.
_NATURES = 16


@dataclass(slots=True)
class Context:
    """A name: what sort of thing it is, and everything that was seen of its use."""

    name: str
    kind: str
    """"pointer", "size" and "number" are parameters; "whole", "real", "counter", "flag",
    "address" and "other" are variables."""
    type: Type
    words: Counter[str] = field(default_factory=Counter)

    def add(self, word: str) -> None:
        """Note something seen; the same thing means something else for another kind."""
        self.words[f"{self.kind} {word}"] += 1


def contexts(function: n.Function) -> dict[str, Context]:
    """Every parameter and variable of a function that may be renamed, in the order of the text.

    Variables of memory (shared arrays, local ones) have the names that they have in PTX.
    """
    return _Reader(function).run()


def kernel_words(name: str) -> list[str]:
    """The words in the name of a function.

    >>> kernel_words("_Z14blockReduceSumPfi"), kernel_words("gemm_nt_v2")
    (['block', 'reduce', 'sum'], ['gemm', 'nt', 'v', '2'])
    """
    return [word.lower() for word in _PART.findall(bare_name(name))]


def bare_name(symbol: str) -> str:
    """The name of a function as it was written.

    >>> bare_name("_Z4scanIfEvPKT_PS0_i"), bare_name("scan")
    ('scan', 'scan')
    """
    return re.split(r"[<(]", demangle(symbol))[0].rpartition("::")[2].rpartition(" ")[2]


class _Reader:
    """Reads one function."""

    def __init__(self, function: n.Function) -> None:
        self.function = function
        self.found: dict[str, Context] = {}
        self.given: dict[str, list[n.Expression]] = {}
        """What names are set to."""
        self.memory: set[str] = set()
        self.written: set[str] = set()
        self.loaded: set[str] = set()
        self.known: dict[str, frozenset[str]] = {}
        """What the value of a variable is made of."""
        self.depth = 0

    def run(self) -> dict[str, Context]:
        body = self.function.body or ()
        counters = self._survey(body)
        for parameter in self.function.parameters:
            kind = _parameter_kind(parameter.type)
            self.found[parameter.name] = Context(parameter.name, kind, parameter.type)
        for statement in body:
            for node in statement.walk():
                if isinstance(node, n.Declare) and node.name not in self.memory:
                    kind = "counter" if node.name in counters else _variable_kind(node.type)
                    self.found.setdefault(node.name, Context(node.name, kind, node.type))
        for statement in body:
            self._statement(statement)
        self._places()
        return self.found

    def _survey(self, body: tuple[n.Statement, ...]) -> set[str]:
        counters: set[str] = set()
        for statement in body:
            for node in statement.walk():
                match node:
                    case n.Declare(type=type, name=name, value=value, space=space):
                        if space or isinstance(type, Array):
                            self.memory.add(name)
                        elif value is not None:
                            self.given.setdefault(name, []).append(value)
                    case n.Assign(target=n.Name(name=name), value=value, operator=operator):
                        made = value if operator == "=" else n.Binary(
                            operator[:-1], n.Name(name), value)  # fmt: skip
                        self.given.setdefault(name, []).append(made)
                    case n.Assign(target=target):
                        self.written.add(base_name(target))
                    case n.Call(function=function, arguments=arguments) if arguments:
                        if function.startswith("atomic"):
                            self.written.add(base_name(arguments[0]))
                    case n.For(step=n.Assign(target=n.Name(name=name))):
                        counters.add(name)
        return counters

    # ---- what values are made of ---------------------------------------------------------

    def _natures(self, node: n.Expression, depth: int = 0) -> frozenset[str]:
        """What a value is made of: indices of threads, elements, counters, numbers."""
        match node:
            case n.Literal(value=value):
                return frozenset((str(value),)) if abs(value) <= 2 else frozenset(("number",))
            case n.Member(base=n.Name(name=name), field=axis) if name in _BUILTIN:
                return frozenset((f"{name}.{axis}",))
            case n.Name(name=name):
                return self._named(name, depth)
            case n.Index():
                return frozenset(("element",))
            case n.Binary(operator=operator, left=left, right=right):
                if operator in ("%", "/", "&", ">>") and isinstance(right, n.Literal):
                    inner = self._natures(left, depth + 1)
                    return frozenset(f"{one}{operator}{right.value}" for one in inner)
                both = self._natures(left, depth + 1) | self._natures(right, depth + 1)
                return _few(_with_global(both))
            case n.Call(function=function):
                return frozenset((f"{function}()",))
        found: frozenset[str] = frozenset()
        for child in node.children():
            found |= self._natures(child, depth + 1)  # type: ignore[arg-type]
        return _few(found)

    def _named(self, name: str, depth: int) -> frozenset[str]:
        if name in self.known:
            return self.known[name]
        context = self.found.get(name)
        kind = context.kind if context is not None else "memory"
        given = self.given.get(name, ())
        if len(given) != 1 or kind == "counter" or depth > 6:
            return frozenset((kind,))
        self.known[name] = frozenset((kind,))  # While it is looked at, and where it is of itself.
        self.known[name] = found = self._natures(given[0], depth + 1)
        return found

    # ---- uses ----------------------------------------------------------------------------

    def _statement(self, node: n.Node) -> None:
        match node:
            case n.Declare(name=name, value=value):
                if name in self.found:
                    self.found[name].add(f"declared at depth {min(self.depth, 3)}")
                if value is not None:
                    self._set(name, value, "=")
            case n.Assign(target=n.Name(name=name), value=value, operator=operator):
                self._set(name, value, operator)
            case n.Assign(target=target, value=value, operator=operator):
                base = base_name(target)
                if base in self.found:
                    self.found[base].add(f"becomes {operator}")
                    for nature in self._natures(value):
                        self.found[base].add(f"gets {nature}")
                self._expression(target, ("target",))
                self._expression(value, (f"stored {operator}",))
            case n.For(start=start, condition=condition, step=step, body=body):
                for part in (start, step):
                    if part is not None:
                        self._statement(part)
                if condition is not None:
                    self._expression(condition, ("loop",))
                self._loop(body)
            case (
                n.While(condition=condition, body=body) | n.DoWhile(condition=condition, body=body)
            ):
                self._expression(condition, ("loop",))
                self._loop(body)
            case n.If(condition=condition, then=then, otherwise=otherwise):
                self._expression(condition, ("if",))
                for statement in (*then, *otherwise):
                    self._statement(statement)
            case n.Block(body=body) | n.Case(body=body):
                for statement in body:
                    self._statement(statement)
            case n.Switch(value=value, cases=cases):
                self._expression(value, ("switch",))
                for case in cases:
                    self._statement(case)
            case n.Evaluate(expression=expression):
                self._expression(expression, ("effect",))
            case n.Return(value=value) if value is not None:
                self._expression(value, ("return",))
            case n.Asm():
                for operand in (*node.outputs, *node.inputs):
                    self._expression(operand.expression, ("asm",))

    def _loop(self, body: tuple[n.Statement, ...]) -> None:
        self.depth += 1
        for statement in body:
            self._statement(statement)
        self.depth -= 1

    def _set(self, name: str, value: n.Expression, operator: str) -> None:
        context = self.found.get(name)
        if context is not None:
            context.add(f"set {operator} at depth {min(self.depth, 3)}")
            context.add(f"set {operator} {_operation(value)}")
            for nature in self._natures(value):
                context.add(f"set {operator} {nature}")
            if any(isinstance(x, n.Name) and x.name == name for x in value.walk()):
                context.add(f"of itself {_operation(value)}")
        self._expression(value, (f"value {operator}",))

    def _expression(self, node: n.Node, path: tuple[str, ...]) -> None:
        match node:
            case n.Name(name=name):
                context = self.found.get(name)
                if context is not None:
                    for length in range(1, _HEIGHT + 1):
                        if len(path) >= length:
                            context.add(" in ".join(path[:length]))
            case n.Index(base=base, index=index):
                self._indexed(base, index)
                self._expression(base, ("base", *path))
                self._expression(index, ("index", *path))
                to = next((p for p in path if not p.startswith(".")), "")
                if to != "target" and isinstance(base, n.Name):
                    self.loaded.add(base.name)
            case n.Binary(operator=operator, left=left, right=right):
                for one, other, side in ((left, right, "l"), (right, left, "r")):
                    side = "" if operator in _COMMUTES else side
                    if isinstance(one, n.Name) and one.name in self.found:
                        for nature in self._natures(other):
                            self.found[one.name].add(f"{operator}{side} {nature}")
                    self._expression(one, (operator + side, *path))
            case n.Call(function=function, arguments=arguments):
                for place, argument in enumerate(arguments):
                    self._expression(argument, (f"{function}#{place}", *path))
            case n.Conditional(condition=condition, then=then, otherwise=otherwise):
                self._expression(condition, ("?", *path))
                self._expression(then, ("?:", *path))
                self._expression(otherwise, ("?:", *path))
            case n.Unary(operator=operator, operand=operand):
                self._expression(operand, (f"unary {operator}", *path))
            case n.Member(base=base, field=name):
                self._expression(base, (f".{name}", *path))
            case n.Cast(operand=operand):
                self._expression(operand, path)

    def _indexed(self, base: n.Expression, index: n.Expression) -> None:
        name = base_name(base)
        natures = self._natures(index)
        if name in self.found:
            for nature in natures:
                self.found[name].add(f"at {nature}")
        kind = self.found[name].kind if name in self.found else "memory"
        for part in index.walk():
            if isinstance(part, n.Name) and part.name in self.found:
                self.found[part.name].add(f"index of {kind}")

    # ---- the place among the others ------------------------------------------------------

    def _places(self) -> None:
        words = kernel_words(self.function.name)
        every = [self.found[p.name] for p in self.function.parameters]
        sorts = [self._sort(context) for context in every]
        totals = Counter(sorts)
        seen: Counter[str] = Counter()
        for context, sort in zip(every, sorts, strict=True):
            place = seen[sort]
            seen[sort] += 1
            context.add(f"is {sort}")
            context.add(f"{sort} {place} of {totals[sort]}")
            context.add(f"{sort} {place}")
            if place == totals[sort] - 1:
                context.add(f"last {sort} of {totals[sort]}")
            for word in words:
                context.add(f"{sort} {place} of kernel {word}")
        for context in self.found.values():
            stem = context.name.rstrip("0123456789")
            context.add(f"called {stem}")
            context.add(f"called {context.name}")
            context.add("")
            context.add(f"type {context.type.spelling}")
            context.add(f"set {min(len(self.given.get(context.name, ())), 3)} times")
            for word in words:
                context.add(f"kernel {word}")

    def _sort(self, context: Context) -> str:
        if context.kind != "pointer":
            return context.kind
        written, loaded = context.name in self.written, context.name in self.loaded
        return "changed" if written and loaded else "output" if written else "input"


def base_name(node: n.Node) -> str:
    """The variable that an address is in; nothing where there is no such one.

    >>> from ptxkit.cuda import read
    >>> base_name(read("([] ([] tile y) x)"))
    'tile'
    """
    while isinstance(node, n.Index | n.Member | n.Unary | n.Cast):
        node = node.base if isinstance(node, n.Index | n.Member) else node.operand
    if isinstance(node, n.Binary):
        return base_name(node.left)
    return node.name if isinstance(node, n.Name) else ""


def _operation(node: n.Expression) -> str:
    while isinstance(node, n.Cast):
        node = node.operand
    match node:
        case n.Binary(operator=operator):
            return operator
        case n.Call(function=function):
            return function
        case n.Index():
            return "element"
    return type(node).__name__


def _parameter_kind(type: Type) -> str:
    if isinstance(type, Pointer):
        return "pointer"
    return "size" if isinstance(type, Scalar) and type.is_integer else "number"


def _variable_kind(type: Type) -> str:
    if isinstance(type, Pointer):
        return "address"
    if type == BOOL:
        return "flag"
    if isinstance(type, Scalar):
        return "real" if type.is_float else "whole"
    return "other"


def _with_global(natures: frozenset[str]) -> frozenset[str]:
    """Three parts of the index in a grid as that index."""
    for axis in "xyz":
        block = {f"blockIdx.{axis}", f"threadIdx.{axis}"}
        if block <= natures:
            natures = natures - block - {f"blockDim.{axis}"} | {f"globalIdx.{axis}"}
    return natures


def _few(natures: frozenset[str]) -> frozenset[str]:
    """The plainest of what a value is made of."""
    if len(natures) <= _NATURES:
        return natures
    return frozenset(sorted(natures, key=lambda nature: (len(nature), nature))[:_NATURES])


def names_in(node: n.Node) -> Iterator[str]:
    """Every variable that is named in a tree, with repetitions."""
    for part in node.walk():
        if isinstance(part, n.Name):
            yield part.name
