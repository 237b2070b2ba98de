"""Write the tree as S-expressions; :mod:`ptxkit.cuda.reader` reads them.

>>> from ptxkit.cuda.nodes import Binary, Name, integer
>>> write(Binary("+", Name("a"), integer(1)))
'(+ a 1)'
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.forms import SPACES, UNARY, WORD
from ptxkit.cuda.lists import quote
from ptxkit.cuda.literals import SUFFIXES, digits
from ptxkit.cuda.types import BOOL, VECTORS, Array, Pointer, Scalar, Struct, Type, Vector

_UNARY_HEADS = {operator: head for head, operator in UNARY.items()}
_SPACE_HEADS = {space: head for head, space in SPACES.items()}
_VECTOR_WORDS = {vector: word for word, vector in VECTORS.items()}


@lru_cache(maxsize=4096)
def _word(text: str) -> str:
    return text if WORD.match(text) else quote(text)


@lru_cache(maxsize=4096)
def _used(name: str) -> str:
    plain = WORD.match(name) and "." not in name and name not in ("true", "false")
    return name if plain else f"(name {quote(name)})"


def write_type(type: Type) -> str:
    """The S-expression of a type."""
    match type:
        case Scalar():
            return type.word
        case Vector():
            return _VECTOR_WORDS[type]
        case Struct():
            return f"(struct {_word(type.name)})"
        case Pointer():
            flags = "".join(f" {w}" for w in ("const", "volatile", "restrict") if getattr(type, w))
            return f"(ptr {write_type(type.target)}{flags})"
        case Array():
            return f"(array {write_type(type.element)} {' '.join(map(str, type.shape))})"


def _write_literal(e: n.Literal) -> str:
    if e.bits is not None:
        return f"(bits {e.type.word} 0x{e.bits:x})"
    if e.type == BOOL:
        return "true" if e.value else "false"
    if e.type not in SUFFIXES:
        return f"(lit {e.type.word} {int(e.value)})"
    if e.type.is_float:
        return digits(float(e.value), e.type) + SUFFIXES[e.type]
    return f"{int(e.value)}{SUFFIXES[e.type]}"


class Names:
    """How names are written: as they are. `canonical` numbers them."""

    def name(self, old: str) -> str:
        """What a name becomes where it is declared or used."""
        return old

    def called(self, old: str) -> str:
        """What the name of a function becomes where it is called."""
        return old


class _Writer:
    """Writes nodes; the order is that of the fields, so that names are met as others meet them."""

    def __init__(self, names: Names) -> None:
        self._name, self._called = names.name, names.called

    def word(self, name: str) -> str:
        """A name that is declared."""
        return _word(self._name(name))

    def expression(self, e: n.Expression) -> str:
        """The S-expression of an expression."""
        return _EXPRESSIONS[type(e)](self, e)

    def _variable(self, e: n.Name) -> str:
        return _used(self._name(e.name))

    def _member(self, e: n.Member) -> str:
        base = self.expression(e.base)
        dotted = isinstance(e.base, n.Name | n.Member) and base[0] != "("
        return f"{base}.{e.field}" if dotted else f"(. {base} {e.field})"

    def _unary(self, e: n.Unary) -> str:
        return f"({_UNARY_HEADS[e.operator]} {self.expression(e.operand)})"

    def _binary(self, e: n.Binary) -> str:
        head = "comma" if e.operator == "," else e.operator
        return f"({head} {self.expression(e.left)} {self.expression(e.right)})"

    def _conditional(self, e: n.Conditional) -> str:
        x = self.expression
        return f"(? {x(e.condition)} {x(e.then)} {x(e.otherwise)})"

    def _cast(self, e: n.Cast) -> str:
        return f"(cast {write_type(e.type)} {self.expression(e.operand)})"

    def _call(self, e: n.Call) -> str:
        name = _word(self._called(e.function))
        return f"(call {' '.join([name, *map(self.expression, e.arguments)])})"

    def _index(self, e: n.Index) -> str:
        return f"([] {self.expression(e.base)} {self.expression(e.index)})"

    def many(self, statements: tuple[n.Statement, ...]) -> str:
        """Statements, each after a space."""
        return "".join([f" {self.statement(s)}" for s in statements])

    def statement(self, s: n.Statement) -> str:
        """The S-expression of a statement."""
        w, x = self.statement, self.expression
        match s:
            case n.Declare():
                head = f"({_SPACE_HEADS[s.space]} {write_type(s.type)} {self.word(s.name)}"
                value = "" if s.value is None else " " + x(s.value)
                flags = " :const" * s.const + (f" :align {s.alignment}" if s.alignment else "")
                return f"{head}{value}{flags})"
            case n.Assign():
                return f"({s.operator} {x(s.target)} {x(s.value)})"
            case n.Evaluate():
                text = x(s.expression)
                return text if isinstance(s.expression, n.Call) else f"(eval {text})"
            case n.If():
                head = f"(if {x(s.condition)} (then{self.many(s.then)})"
                return head + (f" (else{self.many(s.otherwise)})" if s.otherwise else "") + ")"
            case n.For():
                start = "_" if s.start is None else w(s.start)
                condition = "_" if s.condition is None else x(s.condition)
                step = "_" if s.step is None else w(s.step)
                return f"(for {start} {condition} {step}{self.many(s.body)}{_unroll(s)})"
            case n.While():
                return f"(while {x(s.condition)}{self.many(s.body)}{_unroll(s)})"
            case n.DoWhile():
                return f"(do {x(s.condition)}{self.many(s.body)}{_unroll(s)})"
            case n.Switch():
                return f"(switch {x(s.value)}{''.join(map(self._case, s.cases))})"
            case n.Break():
                return "(break)"
            case n.Continue():
                return "(continue)"
            case n.Return():
                return "(return)" if s.value is None else f"(return {x(s.value)})"
            case n.Block():
                return f"(block{self.many(s.body)})"
            case n.Goto():
                return f"(goto {self.word(s.label)})"
            case n.Label():
                return f"(label {self.word(s.name)})"
            case n.Comment():
                return f"(comment {quote(s.text)})"
            case n.Asm():
                groups = [f"(out {quote(o.constraint)} {x(o.expression)})" for o in s.outputs]
                groups += [f"(in {quote(o.constraint)} {x(o.expression)})" for o in s.inputs]
                groups += [f"(clobber {quote(c)})" for c in s.clobbers]
                groups += [":pure"] * (not s.volatile)
                return f"(asm {' '.join([quote(s.text), *groups])})"

    def _case(self, case: n.Case) -> str:
        head = f"case ({' '.join(map(str, case.values))})" if case.values else "default"
        return f" ({head}{self.many(case.body)}{' :falls' * case.falls})"

    def parameter(self, p: n.Parameter) -> str:
        """The S-expression of a parameter or field."""
        return f"(param {write_type(p.type)} {self.word(p.name)}{' :const' * p.const})"

    def _function(self, f: n.Function) -> str:
        head = "kernel" if f.kernel else f"function {write_type(f.returns)}"
        text = f"({head} {self.word(f.name)} (params"
        text += "".join([f" {self.parameter(p)}" for p in f.parameters]) + ")"
        text += " :declares" if f.body is None else self.many(f.body)
        if f.launch_bounds:
            text += f" :bounds ({' '.join(map(str, f.launch_bounds))})"
        if f.qualifiers:
            text += f" :qualifiers ({' '.join(map(_word, f.qualifiers))})"
        if f.options:
            text += f" :options ({' '.join(map(quote, f.options))})"
        return text + (f" :linkage {quote(f.linkage)}" if f.linkage else "") + ")"

    def node(self, node: n.Node) -> str:
        """The S-expression of any node."""
        match node:
            case n.CudaModule():
                words = [f"(option {quote(o)})" for o in node.options]
                words += [f"(include {quote(i)})" for i in node.includes]
                return f"(module {' '.join([*words, *map(self.node, node.items)])})"
            case n.Function():
                return self._function(node)
            case n.StructDefinition():
                align = f" :align {node.alignment}" if node.alignment else ""
                head = f"(struct-definition {self.word(node.name)}"
                fields = "".join([f" {self.parameter(f)}" for f in node.fields])
                return f"{head}{fields}{align})"
            case n.Parameter():
                return self.parameter(node)
        if isinstance(node, n.Expression):
            return self.expression(node)
        return self.statement(node)  # type: ignore[arg-type]


_EXPRESSIONS: dict[type, Callable[[_Writer, Any], str]] = {
    n.Literal: lambda writer, e: _write_literal(e),
    n.Name: _Writer._variable,
    n.Member: _Writer._member,
    n.Unary: _Writer._unary,
    n.Binary: _Writer._binary,
    n.Conditional: _Writer._conditional,
    n.Cast: _Writer._cast,
    n.Call: _Writer._call,
    n.Index: _Writer._index,
}


def _unroll(loop: n.For | n.While | n.DoWhile) -> str:
    return "" if loop.unroll is None else f" :unroll {loop.unroll}"


def write(node: n.Node, names: Names | None = None) -> str:
    """The S-expression of any node of the tree, on one line; `names` says how to write names."""
    return _Writer(names or Names()).node(node)
