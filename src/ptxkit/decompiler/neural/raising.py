"""From words of an answer to the tree of CUDA C++.

The words leave open what the compiler does not show: names, and `int` or `unsigned` where both
are the same. Here a type is chosen so that few conversions have to be written.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ptxkit.cuda import nodes as n
from ptxkit.cuda.literals import rounded
from ptxkit.cuda.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG_LONG,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    VOID,
    Array,
    Pointer,
    Scalar,
)
from ptxkit.decompiler.neural.grammar import PRODUCTIONS, Grammar
from ptxkit.decompiler.neural.operators import ATOMICS, OPERATORS

_FLOATS = {"f16": HALF, "f32": FLOAT, "f64": DOUBLE}
_NARROW = {"s8": SCALARS["char"], "u8": SCALARS["uchar"],
           "s16": SCALARS["short"], "u16": SCALARS["ushort"]}  # fmt: skip
_SIGNED = {"s32": INT, "u32": UINT, "s64": LONG_LONG, "u64": UNSIGNED_LONG_LONG}
_PLAIN = {"i32": INT, "i64": LONG_LONG, "b": BOOL, **_FLOATS}
_OPPOSITE = {INT: UINT, LONG_LONG: UNSIGNED_LONG_LONG}
_INFINITY = {"f16": 0x7C00, "f32": 0x7F800000, "f64": 0x7FF0000000000000}
_SAME_EITHER_WAY = ("+", "-", "*", "&", "|", "^", "==", "!=")
_INDEX_NAMES = {"x": "i", "y": "j", "z": "k"}


@dataclass(slots=True)
class _Tree:
    word: str
    parts: list[_Tree] = field(default_factory=list)
    blocks: list[list[_Tree]] = field(default_factory=list)
    name: str = ""


@dataclass(slots=True)
class Answer:
    """An answer taken apart: parameters' words, statements."""

    parameters: list[str]
    body: list[_Tree]


class _Parser:
    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.place = 0
        self.locals = 0
        self.shared = 0

    def next(self) -> str:
        self.place += 1
        return self.words[self.place - 1]

    def answer(self, count: int) -> Answer:
        return Answer([self.next() for _ in range(count)], self.block())

    def block(self) -> list[_Tree]:
        found = []
        while (word := self.next()) != "end":
            found.append(self.statement(word))
        return found

    def statement(self, word: str) -> _Tree:
        production = PRODUCTIONS["body.loop"][word]
        tree = _Tree(word)
        for part in production.parts:
            if part.startswith("body"):
                tree.blocks.append(self.block())
            else:
                tree.parts.append(self.value())
        if word.startswith("let."):
            tree.name = f"v{self.locals}"
            self.locals += 1
        elif production.group == "s":
            tree.name = f"s{self.shared}"
            self.shared += 1
        return tree

    def value(self) -> _Tree:
        word = self.next()
        if word.startswith("literal."):
            return _Tree(word, name=self.next())
        if word.startswith("load."):
            return _Tree(word, [self.value(), self.value()])
        count = len(OPERATORS[word][0]) if word in OPERATORS else 0
        return _Tree(word, [self.value() for _ in range(count)])


def parse(words: Iterable[str], parameters: int) -> Answer:
    """The parts of an answer, whose words the grammar has accepted."""
    return _Parser(list(words)).answer(parameters)


def check(words: Iterable[str], parameters: Iterable[str]) -> None:
    """Refuse words that are no program, with what was needed instead."""
    grammar = Grammar()
    state = grammar.begin(list(parameters))
    for word in words:
        grammar.advance(state, word)
    if not state.finished:
        raise ValueError(f"the words end where {state.stack[-1]} is needed")


def raise_function(
    answer: Answer,
    name: str = "kernel",
    cached: frozenset[int] = frozenset(),
    unsigned: frozenset[str] = frozenset(),
) -> n.CudaModule:
    """The kernel of an answer; `cached` are the parameters to declare const and restrict.

    `unsigned` are the indices of threads in the grid that PTX widens without a sign: answers leave
    that open, PTX does not.
    """
    return _Raising(answer, cached, unsigned).module(name)


class _Raising:
    def __init__(self, answer: Answer, cached: frozenset[int], unsigned: frozenset[str]) -> None:
        self.answer = answer
        self.cached = cached
        self.unsigned = unsigned
        self.types: dict[str, Scalar] = {}
        self.arrays: dict[str, Scalar] = {}
        self.names: dict[str, str] = {}
        self.halves = False
        self.stored: set[str] = set()
        self.signs: dict[str, Counter[bool]] = {}
        self.uses: Counter[str] = Counter()

    def module(self, name: str) -> n.CudaModule:
        self._survey(self.answer.body)
        parameters = []
        for number, word in enumerate(self.answer.parameters):
            own = f"p{number}"
            self.names[own] = own
            if word.startswith("ptr."):
                element = self._element(word[4:], own)
                self.arrays[own] = element
                const = own not in self.stored
                restrict = number in self.cached and const
                parameters.append(n.Parameter(Pointer(element, const, restrict=restrict), own))
            else:
                self.types[own] = self._type(word, own)
                parameters.append(n.Parameter(self.types[own], own))
        body: list[n.Statement] = []
        for axis, short in _INDEX_NAMES.items():
            if self.uses[f"globalIdx.{axis}"]:
                own = f"globalIdx.{axis}"
                self.types[own], self.names[own] = self._type("i32", own), short
                body.append(n.Declare(self.types[own], short, _global_index(axis)))
        body += self._block(self.answer.body)
        if any(word.endswith("f16") for word in self.answer.parameters):
            self.halves = True
        function = n.Function(name, tuple(parameters), tuple(body), VOID, linkage="C")
        return n.CudaModule((function,), ("cuda_fp16.h",) if self.halves else ())

    # ---- which type a name gets ----------------------------------------------------------

    def _survey(self, block: list[_Tree]) -> None:
        """Count where names are used with a sign, without one, and stored to."""
        for tree in block:
            head = tree.word.partition(".")[0]
            if head == "store" or head in ATOMICS:
                self.stored.add(tree.parts[0].word)
            for part in tree.parts:
                self._survey_value(part)
            if head == "store" or head in ATOMICS:
                self._vote(tree.parts[1], unsigned=False)
            if tree.word.endswith((".s32", ".u32")):
                # The type of the array decides which minimum is meant.
                signs = self.signs.setdefault(tree.parts[0].word, Counter())
                signs[tree.word.endswith(".u32")] += 1000
            for inner in tree.blocks:
                self._survey(inner)

    def _survey_value(self, tree: _Tree) -> None:
        self.uses[tree.word] += 1
        head, _, kind = tree.word.partition(".")
        if head == "load":
            self._vote(tree.parts[1], unsigned=False)
        if head == "zext":
            self._vote(tree.parts[0], unsigned=True)
        elif head == "sext":
            self._vote(tree.parts[0], unsigned=False)
        elif kind in _SIGNED and head not in ("cast", "?"):
            for part in tree.parts[: 1 if head == ">>" else 2]:
                self._vote(part, unsigned=kind[0] == "u")
        elif head == "cast":
            source = kind.rpartition(".")[2]
            if source in _SIGNED:
                self._vote(tree.parts[0], unsigned=source[0] == "u")
        for part in tree.parts:
            self._survey_value(part)

    def _vote(self, tree: _Tree, *, unsigned: bool) -> None:
        """Whoever the value comes from would better have this sign."""
        head = tree.word.partition(".")[0]
        if head in ("+", "-", "*", "&", "|", "^", "<<", "neg", "~"):
            for part in tree.parts:
                self._vote(part, unsigned=unsigned)
        elif head == "load":
            self._vote(tree.parts[0], unsigned=unsigned)
        elif not tree.parts:
            self.signs.setdefault(tree.word, Counter())[unsigned] += 1

    def _type(self, word: str, name: str) -> Scalar:
        plain = _PLAIN[word]
        if name in self.unsigned:
            return _OPPOSITE[plain]
        votes = self.signs.get(name, Counter())
        return _OPPOSITE[plain] if plain in _OPPOSITE and votes[True] > votes[False] else plain

    def _element(self, word: str, name: str) -> Scalar:
        return _NARROW[word] if word in _NARROW else self._type(word, name)

    # ---- statements ----------------------------------------------------------------------

    def _block(self, block: list[_Tree]) -> list[n.Statement]:
        return [statement for tree in block for statement in self._statement(tree)]

    def _statement(self, tree: _Tree) -> list[n.Statement]:
        head, _, kind = tree.word.partition(".")
        if head in ("shared", "dynamic"):
            element = self._element(kind, tree.name)
            self.arrays[tree.name] = element
            self.names[tree.name] = tree.name
            count = int(tree.parts[0].word) if tree.parts else 0
            space = "shared" if head == "shared" else "extern shared"
            return [n.Declare(Array(element, (count,)), tree.name, space=space)]
        if head == "let":
            type = self._type(kind, tree.name)
            value = self._want(tree.parts[0], type)
            self.types[tree.name], self.names[tree.name] = type, tree.name
            return [n.Declare(type, tree.name, value)]
        if head == "set":
            name = tree.parts[0].word
            return [n.Assign(n.Name(self.names[name]), self._want(tree.parts[1], self.types[name]))]
        if head == "store":
            array = tree.parts[0].word
            target = self._at(tree.parts[0], tree.parts[1])
            return [n.Assign(target, self._stored(tree.parts[2], self.arrays[array]))]
        if head in ATOMICS:
            place = n.Unary("&", self._at(tree.parts[0], tree.parts[1]))
            element = self.arrays[tree.parts[0].word]
            amount = self._want(tree.parts[2], element)
            return [n.Evaluate(n.Call(head, (place, amount)))]
        if head in ("sync", "syncwarp"):
            return [n.Evaluate(n.Call("__syncthreads" if head == "sync" else "__syncwarp"))]
        if head == "break":
            return [n.Break()]
        blocks = [tuple(self._block(inner)) for inner in tree.blocks]
        condition = self._value(tree.parts[0])[0]
        if head == "while":
            return [n.While(condition, blocks[0])]
        if head == "do":
            return [n.DoWhile(blocks[0], condition)]
        return [n.If(condition, blocks[0], blocks[1] if len(blocks) > 1 else ())]

    def _stored(self, tree: _Tree, type: Scalar) -> n.Expression:
        """A value on its way into an array: narrow integers are cut by the store itself."""
        if type.is_integer and type.bits < 32:
            node, found = self._value(tree)
            return node if found.is_integer else n.Cast(type, node)
        node, found = self._value(tree)
        if found.is_integer and type.is_integer and found.bits == type.bits:
            return node
        return self._converted(node, found, type)

    def _at(self, array: _Tree, index: _Tree) -> n.Index:
        if index.word == "zext":
            place = self._want(index.parts[0], UINT)
        else:
            node, type = self._value(index)
            as_it_is = isinstance(node, n.Member) or index.word in self.unsigned
            unsigned = type == UINT and not as_it_is
            place = n.Cast(INT, node) if unsigned else node
        return n.Index(n.Name(self.names[array.word]), place)

    # ---- values --------------------------------------------------------------------------

    def _want(self, tree: _Tree, type: Scalar) -> n.Expression:
        """A value with a C++ type."""
        return self._converted(*self._value(tree), type)

    def _converted(self, node: n.Expression, found: Scalar, type: Scalar) -> n.Expression:
        if found == type:
            return node
        if isinstance(node, n.Literal) and found.is_integer and type.is_integer:
            value = int(node.value)
            if value >= 0 or type.signed:
                return n.Literal(value, type)
        return n.Cast(type, node)

    def _value(self, tree: _Tree) -> tuple[n.Expression, Scalar]:
        """A value and its C++ type."""
        word = tree.word
        head, _, kind = word.partition(".")
        if word in self.types:
            return n.Name(self.names[word]), self.types[word]
        if head == "literal":
            return _literal(tree.name, kind)
        if head == "load":
            element = self.arrays[tree.parts[0].word]
            node = self._at(tree.parts[0], tree.parts[1])
            return node, INT if element.is_integer and element.bits < 32 else element
        if not tree.parts and word not in OPERATORS:
            return n.builtin(word), UINT
        if head in ("+", "-") and len(tree.parts) == 2:
            return self._sum(tree, head)
        if head in _SAME_EITHER_WAY:
            return self._alike(tree, head)
        if head == "?":
            return self._choice(tree)
        return self._typed(tree, head, kind)

    def _sum(self, tree: _Tree, head: str) -> tuple[n.Expression, Scalar]:
        """`a + -2` is written as `a - 2`."""
        right = tree.parts[1]
        if head == "+" and right.word.startswith("literal") and right.name.startswith("-"):
            positive = _Tree(right.word, name=right.name[1:])
            if right.name not in ("-0.0", "-2147483648", "-9223372036854775808"):
                return self._alike(_Tree(tree.word, [tree.parts[0], positive]), "-")
        return self._alike(tree, head)

    def _alike(self, tree: _Tree, operator: str) -> tuple[n.Expression, Scalar]:
        """An operator that does not care for signs: operands go as they are."""
        (left, one), (right, two) = (self._value(x) for x in tree.parts)
        if one != two and one.is_integer:
            if isinstance(right, n.Literal) and (int(right.value) >= 0 or one.signed):
                right, two = n.Literal(int(right.value), one), one
            elif isinstance(left, n.Literal) and (int(left.value) >= 0 or two.signed):
                left, one = n.Literal(int(left.value), two), two
        if operator in ("==", "!="):
            return n.Binary(operator, left, right), BOOL
        type = one if one == two or two.signed else two
        self.halves = self.halves or type == HALF
        return n.Binary(operator, left, right), type

    def _choice(self, tree: _Tree) -> tuple[n.Expression, Scalar]:
        condition = self._value(tree.parts[0])[0]
        (left, one), (right, two) = (self._value(x) for x in tree.parts[1:])
        type = two if isinstance(left, n.Literal) else one
        then, otherwise = self._converted(left, one, type), self._converted(right, two, type)
        return n.Conditional(condition, then, otherwise), type

    def _typed(self, tree: _Tree, head: str, kind: str) -> tuple[n.Expression, Scalar]:
        """An operator with types of its own."""
        if head in ("<", "<=", ">", ">=", "/", "%", "min", "max", ">>"):
            type = _SIGNED.get(kind) or _FLOATS[kind]
            if head == ">>":
                shift = self._want(tree.parts[1], INT)
                return n.Binary(">>", self._want(tree.parts[0], type), shift), type
            left, right = (self._want(x, type) for x in tree.parts)
            if head in ("min", "max"):
                return n.Call(head, (left, right)), type
            return n.Binary(head, left, right), type if head in ("/", "%") else BOOL
        if head == "<<":
            left, type = self._value(tree.parts[0])
            return n.Binary("<<", left, self._want(tree.parts[1], INT)), type
        if head in ("neg", "~", "!"):
            operand, type = self._value(tree.parts[0])
            return n.Unary("-" if head == "neg" else head, operand), type
        if head in ("&&", "||"):
            return n.Binary(head, *(self._value(x)[0] for x in tree.parts)), BOOL
        if head in ("sext", "zext"):
            source = INT if head == "sext" else UINT
            return n.Cast(LONG_LONG, self._want(tree.parts[0], source)), LONG_LONG
        if head == "low32":
            return n.Cast(INT, self._value(tree.parts[0])[0]), INT
        if head == "ext":
            return n.Cast(_NARROW[kind], self._value(tree.parts[0])[0]), INT
        if head == "cast":
            return self._cast(tree, *kind.split("."))
        if head == "abs":
            return n.Call("abs", (self._want(tree.parts[0], _PLAIN[kind]),)), _PLAIN[kind]
        return self._call(tree, head, kind)

    def _cast(self, tree: _Tree, to: str, source: str) -> tuple[n.Expression, Scalar]:
        type = _SIGNED.get(to) or _FLOATS[to]
        self.halves = self.halves or "f16" in (to, source)
        if source in _SIGNED:
            return n.Cast(type, self._want(tree.parts[0], _SIGNED[source])), type
        return n.Cast(type, self._value(tree.parts[0])[0]), type

    def _call(self, tree: _Tree, head: str, kind: str) -> tuple[n.Expression, Scalar]:
        operands, result = OPERATORS[tree.word]
        arguments: list[n.Expression] = []
        for number, (part, word) in enumerate(zip(tree.parts, operands, strict=True)):
            mask = number == 0 and head.endswith("_sync")
            arguments.append(_mask(part) if mask else self._want(part, _PLAIN[word]))
        type = UINT if head == "__ballot_sync" else _PLAIN[result]
        return n.Call(head, tuple(arguments)), type


def _mask(tree: _Tree) -> n.Expression:
    """Which threads of a warp take part: written as bits."""
    value = int(tree.name) if tree.word.startswith("literal") else -1
    return n.Literal(value & 0xFFFFFFFF, UINT)


def _literal(word: str, kind: str) -> tuple[n.Expression, Scalar]:
    type = _PLAIN[kind]
    if kind == "b":
        return n.Literal(word != "0", BOOL), BOOL
    if type.is_float:
        with np.errstate(over="ignore"):
            value = rounded(float(word), type)
        if math.isfinite(value):
            return n.Literal(value, type), type
        return n.Literal(0.0, type, _INFINITY[kind] | ((value < 0) << (type.bits - 1))), type
    return n.Literal(int(word), type), type


def _global_index(axis: str) -> n.Expression:
    product = n.Binary("*", n.builtin(f"blockIdx.{axis}"), n.builtin(f"blockDim.{axis}"))
    return n.Binary("+", product, n.builtin(f"threadIdx.{axis}"))
