"""Write the tree as S-expressions; :mod:`ptxkit.cuda.reader` reads them.

>>> from ptxkit.cuda.nodes import Binary, Name, integer
>>> write(Binary("+", Name("a"), integer(1)))
'(+ a 1)'
"""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.forms import SPACES, UNARY, WORD
from ptxkit.cuda.lists import quote
from ptxkit.cuda.literals import SUFFIXES, digits
from ptxkit.cuda.types import BOOL, VECTORS, Array, Pointer, Scalar, Struct, Type, Vector

_UNARY_HEADS = {operator: head for head, operator in UNARY.items()}
_SPACE_HEADS = {space: head for head, space in SPACES.items()}
_VECTOR_WORDS = {vector: word for word, vector in VECTORS.items()}


def _word(text: str) -> str:
    return text if WORD.match(text) else quote(text)


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


def write_expression(e: n.Expression) -> str:
    """The S-expression of an expression."""
    x = write_expression
    match e:
        case n.Literal():
            return _write_literal(e)
        case n.Name():
            plain = WORD.match(e.name) and "." not in e.name and e.name not in ("true", "false")
            return e.name if plain else f"(name {quote(e.name)})"
        case n.Member():
            base = x(e.base)
            dotted = isinstance(e.base, n.Name | n.Member) and base[0] != "("
            return f"{base}.{e.field}" if dotted else f"(. {base} {e.field})"
        case n.Unary():
            return f"({_UNARY_HEADS[e.operator]} {x(e.operand)})"
        case n.Binary():
            head = "comma" if e.operator == "," else e.operator
            return f"({head} {x(e.left)} {x(e.right)})"
        case n.Conditional():
            return f"(? {x(e.condition)} {x(e.then)} {x(e.otherwise)})"
        case n.Cast():
            return f"(cast {write_type(e.type)} {x(e.operand)})"
        case n.Call():
            return f"(call {' '.join([_word(e.function), *map(x, e.arguments)])})"
        case n.Index():
            return f"([] {x(e.base)} {x(e.index)})"


def _many(statements: tuple[n.Statement, ...]) -> str:
    return "".join(" " + write_statement(s) for s in statements)


def write_statement(s: n.Statement) -> str:
    """The S-expression of a statement."""
    w, x = write_statement, write_expression
    match s:
        case n.Declare():
            value = "" if s.value is None else " " + x(s.value)
            flags = " :const" * s.const + (f" :align {s.alignment}" if s.alignment else "")
            return f"({_SPACE_HEADS[s.space]} {write_type(s.type)} {_word(s.name)}{value}{flags})"
        case n.Assign():
            return f"({s.operator} {x(s.target)} {x(s.value)})"
        case n.Evaluate():
            text = x(s.expression)
            return text if isinstance(s.expression, n.Call) else f"(eval {text})"
        case n.If():
            tail = f" (else{_many(s.otherwise)})" if s.otherwise else ""
            return f"(if {x(s.condition)} (then{_many(s.then)}){tail})"
        case n.For():
            start, step = ("_" if p is None else w(p) for p in (s.start, s.step))
            condition = "_" if s.condition is None else x(s.condition)
            return f"(for {start} {condition} {step}{_many(s.body)}{_unroll(s)})"
        case n.While():
            return f"(while {x(s.condition)}{_many(s.body)}{_unroll(s)})"
        case n.DoWhile():
            return f"(do {x(s.condition)}{_many(s.body)}{_unroll(s)})"
        case n.Switch():
            return f"(switch {x(s.value)}{''.join(map(_write_case, s.cases))})"
        case n.Break():
            return "(break)"
        case n.Continue():
            return "(continue)"
        case n.Return():
            return "(return)" if s.value is None else f"(return {x(s.value)})"
        case n.Block():
            return f"(block{_many(s.body)})"
        case n.Goto():
            return f"(goto {_word(s.label)})"
        case n.Label():
            return f"(label {_word(s.name)})"
        case n.Comment():
            return f"(comment {quote(s.text)})"
        case n.Asm():
            groups = [f"(out {quote(o.constraint)} {x(o.expression)})" for o in s.outputs]
            groups += [f"(in {quote(o.constraint)} {x(o.expression)})" for o in s.inputs]
            groups += [f"(clobber {quote(c)})" for c in s.clobbers] + [":pure"] * (not s.volatile)
            return f"(asm {' '.join([quote(s.text), *groups])})"


def _unroll(loop: n.For | n.While | n.DoWhile) -> str:
    return "" if loop.unroll is None else f" :unroll {loop.unroll}"


def _write_case(case: n.Case) -> str:
    head = f"case ({' '.join(map(str, case.values))})" if case.values else "default"
    return f" ({head}{_many(case.body)}{' :falls' * case.falls})"


def _write_parameter(p: n.Parameter) -> str:
    return f"(param {write_type(p.type)} {_word(p.name)}{' :const' * p.const})"


def _write_function(f: n.Function) -> str:
    head = "kernel" if f.kernel else f"function {write_type(f.returns)}"
    parameters = "".join(" " + _write_parameter(p) for p in f.parameters)
    text = f"({head} {_word(f.name)} (params{parameters})"
    text += " :declares" if f.body is None else _many(f.body)
    if f.launch_bounds:
        text += f" :bounds ({' '.join(map(str, f.launch_bounds))})"
    if f.qualifiers:
        text += f" :qualifiers ({' '.join(map(_word, f.qualifiers))})"
    return text + (f" :linkage {quote(f.linkage)}" if f.linkage else "") + ")"


def write(node: n.Node) -> str:
    """The S-expression of any node of the tree, on one line."""
    match node:
        case n.CudaModule():
            head = [f"(option {quote(o)})" for o in node.options]
            head += [f"(include {quote(i)})" for i in node.includes]
            return f"(module {' '.join([*head, *map(write, node.items)])})"
        case n.Function():
            return _write_function(node)
        case n.StructDefinition():
            align = f" :align {node.alignment}" if node.alignment else ""
            fields = "".join(" " + _write_parameter(f) for f in node.fields)
            return f"(struct-definition {_word(node.name)}{fields}{align})"
        case n.Parameter():
            return _write_parameter(node)
    if isinstance(node, n.Expression):
        return write_expression(node)
    return write_statement(node)  # type: ignore[arg-type]
