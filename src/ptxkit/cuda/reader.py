"""Read the tree from S-expressions; the inverse of :func:`ptxkit.cuda.writer.write`.

>>> kernel = read('''(kernel scale (params (param (ptr float) x) (param int n))
...     (let int i (+ (* blockIdx.x blockDim.x) threadIdx.x))
...     (if (< i n) (then (*= ([] x i) 2.0f))))''')
>>> from ptxkit.cuda.printer import print_function
>>> print(print_function(kernel), end="")
__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
>>> from ptxkit.cuda.writer import write
>>> read(write(kernel)) == kernel
True
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.forms import ASSIGN, BINARY, SPACES, UNARY, WORD
from ptxkit.cuda.lists import Items, Quoted, SExpressionError, read_lists
from ptxkit.cuda.literals import SUFFIXES, rounded
from ptxkit.cuda.types import BOOL, SCALARS, VECTORS, VOID, Array, Pointer, Scalar, Struct, Type

_BY_SUFFIX = {("float" if t.is_float else "int", s): t for t, s in SUFFIXES.items()}
_NUMBER = re.compile(
    r"(-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+))(f|h|bf|)$|(-?\d+)(u|ull|ul|ll|l|)$"
)
Item = Items | str


def _many(items: list[Item], near: Items) -> tuple[n.Statement, ...]:
    return tuple(_statement(x, near) for x in items)


def _integer(item: Item, near: Items) -> int:
    if isinstance(item, str) and re.fullmatch(r"-?(\d{1,40}|0x[0-9a-fA-F]{1,32})", item):
        return int(item, 0 if "x" in item else 10)
    raise near.error("an integer is needed here")


def _text(item: Item, near: Items) -> str:
    if isinstance(item, str):
        return str(item)
    raise near.error("a word or a string is needed here, not a list")


def _exactly(rest: list[Item], least: int, most: int, item: Items) -> list[Item]:
    if not least <= len(rest) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise item.error(f"'{item.head}' has {len(rest)} parts; it takes {wanted}")
    return rest


def _options(item: Items, known: dict[str, int]) -> tuple[list[Item], dict[str, Item]]:
    """What is left of a list after its ``:option value`` pairs, and those."""
    rest: list[Item] = []
    options: dict[str, Item] = {}
    items = iter(item.items[1:])
    for part in items:
        if isinstance(part, Quoted) or not isinstance(part, str) or not part.startswith(":"):
            rest.append(part)
            continue
        if part not in known:
            raise item.error(f"'{item.head}' has no option '{part}'")
        options[part] = ""
        if known[part]:
            value = next(items, None)
            if value is None:
                raise item.error(f"the option '{part}' needs a value")
            options[part] = value
    return rest, options


# ---- types -------------------------------------------------------------------------------


def _type(item: Item, near: Items) -> Type:
    if isinstance(item, str):
        known = SCALARS.get(item) or VECTORS.get(item)
        if known is None:
            raise near.error(
                f"'{item}' is no type; types are {', '.join(SCALARS)}, vectors such as float4, "
                "(ptr T), (array T n), (struct name)"
            )
        return known
    if item.head == "struct":
        return Struct(_text(_exactly(item.items[1:], 1, 1, item)[0], item))
    if item.head == "ptr":
        target, *flags = _exactly(item.items[1:], 1, 4, item)
        words = [_text(flag, item) for flag in flags]
        if not set(words) <= {"const", "volatile", "restrict"}:
            raise item.error("a pointer is const, volatile or restrict, nothing else")
        return Pointer(_type(target, item), **dict.fromkeys(words, True))
    if item.head == "array":
        element, *shape = _exactly(item.items[1:], 2, 9, item)
        return Array(_type(element, item), tuple(_integer(x, item) for x in shape))
    raise item.error("no type; write a word such as float, (ptr T), (array T n) or (struct name)")


def _scalar(item: Item, near: Items) -> Scalar:
    type = _type(item, near)
    if not isinstance(type, Scalar):
        raise near.error("a scalar type is needed here")
    return type


# ---- expressions -------------------------------------------------------------------------


def _atom(word: str, near: Items) -> n.Expression:
    if word in ("true", "false"):
        return n.Literal(word == "true", BOOL)
    match = _NUMBER.match(word)
    if match:
        if match[1] is not None:
            type = _BY_SUFFIX["float", match[2]]
            value = rounded(float(match[1]), type)
            if not math.isfinite(value):
                raise near.error(f"'{word}' is too large for {type.spelling}")
            return n.Literal(value, type)
        if len(match[3]) > 40:
            raise near.error("this number has too many digits for any type")
        return n.Literal(int(match[3]), _BY_SUFFIX["int", match[4]])
    if not WORD.match(word):
        raise near.error(f"'{word}' is neither a number nor a name")
    name, *members = word.split(".")
    result: n.Expression = n.Name(name)
    for field in members:
        result = n.Member(result, field)
    return result


def _expression(item: Item, near: Items) -> n.Expression:
    if isinstance(item, str):
        if isinstance(item, Quoted):
            raise near.error("a string stands where an expression is needed")
        return _atom(item, near)
    reader = _EXPRESSIONS.get(item.head)
    if reader is None:
        raise item.error(f"'{item.head or '()'}' is no expression")
    arity, make = reader
    if arity is not None and len(item.items) != arity + 1:
        raise item.error(f"'{item.head}' takes {arity} operands, not {len(item.items) - 1}")
    return make(item, item.items[1:])


def _read_call(item: Items, rest: list[Item]) -> n.Expression:
    if not rest:
        raise item.error("'call' needs the name of a function")
    return n.Call(_text(rest[0], item), tuple(_expression(x, item) for x in rest[1:]))


def _unary(operator: str) -> Callable[[Items, list[Item]], n.Expression]:
    return lambda item, rest: n.Unary(operator, _expression(rest[0], item))


def _binary(operator: str) -> Callable[[Items, list[Item]], n.Expression]:
    return lambda item, rest: n.Binary(
        operator, _expression(rest[0], item), _expression(rest[1], item)
    )


_EXPRESSIONS: dict[str, tuple[int | None, Callable[[Items, list[Item]], n.Expression]]] = {
    **{head: (1, _unary(operator)) for head, operator in UNARY.items()},
    **{operator: (2, _binary(operator)) for operator in BINARY},
    "comma": (2, _binary(",")),
    "?": (3, lambda i, r: n.Conditional(*(_expression(x, i) for x in r))),
    "cast": (2, lambda i, r: n.Cast(_type(r[0], i), _expression(r[1], i))),
    "call": (None, _read_call),
    "[]": (2, lambda i, r: n.Index(*(_expression(x, i) for x in r))),
    ".": (2, lambda i, r: n.Member(_expression(r[0], i), _text(r[1], i))),
    "name": (1, lambda i, r: n.Name(_text(r[0], i))),
    "lit": (2, lambda i, r: n.Literal(_integer(r[1], i), _scalar(r[0], i))),
    "bits": (2, lambda i, r: n.Literal(0.0, _scalar(r[0], i), _integer(r[1], i))),
}


# ---- statements --------------------------------------------------------------------------


def _part(item: Item, head: str, near: Items) -> list[Item]:
    if not isinstance(item, Items) or item.head != head:
        raise near.error(f"({head} ...) is needed here")
    return item.items[1:]


def _statement(item: Item, near: Items) -> n.Statement:
    if isinstance(item, str):
        raise near.error(f"'{item}' stands where a statement is needed")
    if item.head == "call":
        return n.Evaluate(_expression(item, item))
    reader = _STATEMENTS.get(item.head)
    if reader is None:
        raise item.error(f"'{item.head or '()'}' is no statement")
    return reader(item)


def _read_declare(item: Items) -> n.Declare:
    rest, options = _options(item, {":const": 0, ":align": 1})
    _exactly(rest, 2, 3, item)
    return n.Declare(
        _type(rest[0], item),
        _text(rest[1], item),
        _expression(rest[2], item) if len(rest) > 2 else None,
        SPACES[item.head],
        ":const" in options,
        _integer(options.get(":align", "0"), item),
    )


def _read_assign(item: Items) -> n.Assign:
    target, value = _exactly(item.items[1:], 2, 2, item)
    return n.Assign(_expression(target, item), _expression(value, item), item.head)


def _read_if(item: Items) -> n.If:
    condition, then, *otherwise = _exactly(item.items[1:], 2, 3, item)
    return n.If(
        _expression(condition, item),
        _many(_part(then, "then", item), item),
        _many(_part(otherwise[0], "else", item), item) if otherwise else (),
    )


def _read_for(item: Items) -> n.For:
    rest, options = _options(item, {":unroll": 1})
    if len(rest) < 3:
        raise item.error("'for' needs a start, a condition and a step; '_' stands for none")
    start, step = (None if x == "_" else _statement(x, item) for x in (rest[0], rest[2]))
    condition = None if rest[1] == "_" else _expression(rest[1], item)
    unroll = _integer(options[":unroll"], item) if options else None
    return n.For(start, condition, step, _many(rest[3:], item), unroll)


def _governed(item: Items) -> tuple[n.Expression, tuple[n.Statement, ...], int | None]:
    rest, options = _options(item, {":unroll": 1})
    if not rest:
        raise item.error(f"'{item.head}' needs its condition")
    unroll = _integer(options[":unroll"], item) if options else None
    return _expression(rest[0], item), _many(rest[1:], item), unroll


def _read_do(item: Items) -> n.DoWhile:
    condition, body, unroll = _governed(item)
    return n.DoWhile(body, condition, unroll)


def _read_switch(item: Items) -> n.Switch:
    if len(item.items) < 2:
        raise item.error("'switch' needs its value")
    cases = tuple(_read_case(x, item) for x in item.items[2:])
    return n.Switch(_expression(item.items[1], item), cases)


def _read_case(item: Item, near: Items) -> n.Case:
    if not isinstance(item, Items) or item.head not in ("case", "default"):
        raise near.error("a switch holds (case (values) ...) and (default ...)")
    rest, options = _options(item, {":falls": 0})
    values: tuple[int, ...] = ()
    if item.head == "case":
        listed = rest.pop(0) if rest else None
        if not isinstance(listed, Items) or not listed.items:
            raise item.error("a case begins with the list of its values")
        values = tuple(_integer(x, item) for x in listed.items)
    return n.Case(values, _many(rest, item), bool(options))


def _read_asm(item: Items) -> n.Asm:
    rest, options = _options(item, {":pure": 0})
    if not rest:
        raise item.error("'asm' needs its text")
    operands: dict[str, list[n.AsmOperand]] = {"out": [], "in": []}
    clobbers: list[str] = []
    for part in rest[1:]:
        head = part.head if isinstance(part, Items) else ""
        if isinstance(part, Items) and head in operands:
            constraint, expression = _exactly(part.items[1:], 2, 2, part)
            operands[head].append(
                n.AsmOperand(_text(constraint, part), _expression(expression, part))
            )
        elif isinstance(part, Items) and head == "clobber":
            clobbers.append(_text(_exactly(part.items[1:], 1, 1, part)[0], part))
        else:
            raise item.error("asm holds (out c e), (in c e) and (clobber c)")
    return n.Asm(
        _text(rest[0], item),
        tuple(operands["out"]),
        tuple(operands["in"]),
        tuple(clobbers),
        volatile=not options,
    )


def _read_return(item: Items) -> n.Return:
    rest = _exactly(item.items[1:], 0, 1, item)
    return n.Return(_expression(rest[0], item) if rest else None)


def _worded(kind: type[Any]) -> Callable[[Items], Any]:
    return lambda item: kind(_text(_exactly(item.items[1:], 1, 1, item)[0], item))


def _alone(kind: type[Any]) -> Callable[[Items], Any]:
    return lambda item: kind(*_exactly(item.items[1:], 0, 0, item))


_STATEMENTS: dict[str, Callable[[Items], n.Statement]] = {
    **dict.fromkeys(SPACES, _read_declare),
    **dict.fromkeys(ASSIGN, _read_assign),
    "eval": lambda i: n.Evaluate(_expression(_exactly(i.items[1:], 1, 1, i)[0], i)),
    "if": _read_if,
    "for": _read_for,
    "while": lambda i: n.While(*_governed(i)),
    "do": _read_do,
    "switch": _read_switch,
    "break": _alone(n.Break),
    "continue": _alone(n.Continue),
    "return": _read_return,
    "block": lambda i: n.Block(_many(i.items[1:], i)),
    "goto": _worded(n.Goto),
    "label": _worded(n.Label),
    "comment": _worded(n.Comment),
    "asm": _read_asm,
}


# ---- functions and modules ---------------------------------------------------------------


def _read_parameter(item: Item, near: Items) -> n.Parameter:
    if not isinstance(item, Items) or item.head != "param":
        raise near.error("(param type name) is needed here")
    rest, options = _options(item, {":const": 0})
    _exactly(rest, 2, 2, item)
    return n.Parameter(_type(rest[0], item), _text(rest[1], item), bool(options))


_FUNCTION_OPTIONS = {":bounds": 1, ":linkage": 1, ":qualifiers": 1, ":options": 1, ":declares": 0}


def _read_function(item: Items) -> n.Function:
    rest, options = _options(item, _FUNCTION_OPTIONS)
    kernel = item.head == "kernel"
    if len(rest) < (2 if kernel else 3):
        raise item.error(f"'{item.head}' needs its name and (params ...)")
    returns = VOID if kernel else _type(rest.pop(0), item)
    bounds = options.get(":bounds")
    words = {
        key: tuple(_text(x, item) for x in found.items) if isinstance(found, Items) else ()
        for key in (":qualifiers", ":options")
        for found in (options.get(key),)
    }
    return n.Function(
        _text(rest[0], item),
        tuple(_read_parameter(x, item) for x in _part(rest[1], "params", item)),
        None if ":declares" in options else _many(rest[2:], item),
        returns,
        kernel,
        words[":qualifiers"],
        tuple(_integer(x, item) for x in bounds.items) if isinstance(bounds, Items) else (),
        _text(options.get(":linkage", ""), item),
        words[":options"],
    )


def _read_struct(item: Items) -> n.StructDefinition:
    rest, options = _options(item, {":align": 1})
    if not rest:
        raise item.error("'struct-definition' needs its name")
    fields = tuple(_read_parameter(x, item) for x in rest[1:])
    alignment = _integer(options.get(":align", "0"), item)
    return n.StructDefinition(_text(rest[0], item), fields, alignment)


def _read_module(item: Items) -> n.CudaModule:
    items = []
    heads: dict[str, list[str]] = {"include": [], "option": []}
    for part in item.items[1:]:
        if isinstance(part, Items) and part.head in heads:
            heads[part.head].append(_text(_exactly(part.items[1:], 1, 1, part)[0], part))
        elif isinstance(part, Items) and part.head in _TOP:
            items.append(_TOP[part.head](part))
        else:
            raise item.error(
                "a module holds (kernel ...), (function ...), (struct-definition ...) and variables"
            )
    return n.CudaModule(tuple(items), tuple(heads["include"]), tuple(heads["option"]))


_TOP: dict[str, Callable[[Items], Any]] = {
    **dict.fromkeys(SPACES, _read_declare),
    "kernel": _read_function,
    "function": _read_function,
    "struct-definition": _read_struct,
}


def read(text: str) -> Any:
    """A kernel, function, module, statement or expression from its S-expression.

    A text that holds anything else, or more than one of them, is an
    :class:`SExpressionError` with line and column.
    """
    found = read_lists(text)
    if len(found) != 1:
        what = "nothing" if not found else f"{len(found)} expressions one after another"
        raise SExpressionError(f"the text holds {what}; one expression is needed", 1, 1)
    item = found[0]
    if isinstance(item, str):
        return _expression(item, Items([], 1, 1))
    if item.head == "module":
        return _read_module(item)
    if item.head in _TOP and item.head not in SPACES:
        return _TOP[item.head](item)
    return (_statement if item.head in _STATEMENTS else _expression)(item, item)


def read_expression(text: str) -> n.Expression:
    """An expression from its S-expression."""
    found = read(text)
    if not isinstance(found, n.Expression):
        raise SExpressionError("an expression is needed here", 1, 1)
    return found
