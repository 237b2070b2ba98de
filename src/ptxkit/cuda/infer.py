"""The type of an expression, by the rules of C++.

>>> from ptxkit.cuda.reader import read_expression
>>> from ptxkit.cuda.types import SCALARS
>>> types = {"i": SCALARS["int"], "x": Pointer(SCALARS["float"])}
>>> infer(read_expression("(+ ([] x i) 1)"), types).word
'float'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.functions import BUILTINS
from ptxkit.cuda.types import (
    BFLOAT16,
    BOOL,
    FLOAT,
    HALF,
    INT,
    LONG_LONG,
    UINT,
    VECTORS,
    VOID,
    Array,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    common,
    promoted,
)

_SPECIAL = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "&&", "||"))
# Functions that are no arithmetic: what they give, where it does not depend on arguments.
_RESULTS: dict[str, Type] = {
    "__ballot_sync": UINT, "__any_sync": INT, "__all_sync": INT, "__activemask": UINT,
    "__syncthreads": VOID, "__syncwarp": VOID, "__syncthreads_count": INT,
    "__syncthreads_and": INT, "__syncthreads_or": INT,
    "clock": LONG_LONG, "clock64": LONG_LONG,
    "__match_any_sync": UINT,
    **dict.fromkeys(("__float2half_rn", "__float2half_rz", "__double2half", "__low2half",
                     "__high2half", "__ushort_as_half"), HALF),
    **dict.fromkeys(("__float2bfloat16_rn", "__float2bfloat16_rz", "__double2bfloat16",
                     "__low2bfloat16", "__high2bfloat16", "__ushort_as_bfloat16"), BFLOAT16),
    **dict.fromkeys(("__float2half2_rn", "__floats2half2_rn", "__half2half2", "__halves2half2"),
                    VECTORS["half2"]),
    **dict.fromkeys(("__float2bfloat162_rn", "__floats2bfloat162_rn", "__bfloat162bfloat162",
                     "__halves2bfloat162"), VECTORS["bfloat162"]),
    **dict.fromkeys(("__bfloat162float", "__low2float", "__high2float"), FLOAT),
}  # fmt: skip
#: Functions of halves and of pairs of them, which give what they are given.
_OF_HALVES = re.compile(
    r"__h(add|sub|mul|fma|neg|abs|min|max|div)2?(_rn|_nan|_sat)?|__h2div|h2?exp"
)


def infer(node: n.Expression, types: Mapping[str, Type]) -> Type:
    """The type of an expression; ``types`` has those of variables and functions.

    Of fields of structures it may have them too, by names such as ``Particle.mass``.
    """
    return _INFER[type(node)](node, types)


def known_types(module: n.CudaModule) -> dict[str, Type]:
    """What all functions of a file know: types of results, of variables, and of fields.

    >>> from ptxkit.cuda.reader import read
    >>> file = read("(module (struct-definition P (param float mass)) (kernel k (params)))")
    >>> {name: type.spelling for name, type in known_types(file).items()}
    {'P.mass': 'float', 'k': 'void'}
    """
    found: dict[str, Type] = {}
    for item in module.items:
        if isinstance(item, n.Function):
            found[item.name] = item.returns
        elif isinstance(item, n.Declare):
            found[item.name] = item.type
        else:
            found |= {f"{item.name}.{field.name}": field.type for field in item.fields}
    return found


def _scalar(node: n.Expression, types: Mapping[str, Type]) -> Scalar:
    found = infer(node, types)
    return found if isinstance(found, Scalar) else INT


def _name(node: n.Name, types: Mapping[str, Type]) -> Type:
    if node.name == "warpSize":
        return INT
    return types[node.name]


def _unary(node: n.Unary, types: Mapping[str, Type]) -> Type:
    operand = infer(node.operand, types)
    if node.operator == "*":
        return _element(operand)
    if node.operator == "&":
        return Pointer(operand)
    if node.operator == "!":
        return BOOL
    return promoted(operand) if isinstance(operand, Scalar) else operand


def _element(type: Type) -> Type:
    if isinstance(type, Pointer):
        return type.target
    if isinstance(type, Array):
        return Array(type.element, type.shape[1:]) if len(type.shape) > 1 else type.element
    return type


def _binary(node: n.Binary, types: Mapping[str, Type]) -> Type:
    if node.operator in _COMPARISONS:
        return BOOL
    if node.operator == ",":
        return infer(node.right, types)
    left = infer(node.left, types)
    if node.operator in ("<<", ">>"):
        return promoted(left) if isinstance(left, Scalar) else left
    right = infer(node.right, types)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Pointer | Array):
            if isinstance(other, Pointer | Array):
                return LONG_LONG
            return Pointer(_element(one)) if isinstance(one, Array) else one
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return common(left, right)
    return left


def _conditional(node: n.Conditional, types: Mapping[str, Type]) -> Type:
    then, otherwise = infer(node.then, types), infer(node.otherwise, types)
    if isinstance(then, Scalar) and isinstance(otherwise, Scalar):
        return then if then == otherwise else common(then, otherwise)
    return then


def _call(node: n.Call, types: Mapping[str, Type]) -> Type:
    name = node.function
    if name in types:
        return types[name]
    if name in _RESULTS:
        return _RESULTS[name]
    if name.startswith("make_") and name[5:] in VECTORS:
        return VECTORS[name[5:]]
    builtin = BUILTINS.get(name)
    if builtin is not None and builtin.result is not None:
        return builtin.result
    arguments = [infer(a, types) for a in node.arguments]
    if _OF_HALVES.fullmatch(name) and arguments:
        return arguments[0]
    if builtin is not None:
        scalars = [a for a in arguments if isinstance(a, Scalar)]
        result = promoted(scalars[0])
        for other in scalars[1:]:
            result = common(result, other)
        return result
    if name.startswith("atomic"):
        return _element(arguments[0])
    if name.startswith(("__shfl", "__reduce")) and len(arguments) > 1:
        return arguments[1]
    if name.startswith("__ld") and arguments:
        return _element(arguments[0])
    return INT


def _member(node: n.Member, types: Mapping[str, Type]) -> Type:
    if isinstance(node.base, n.Name) and node.base.name in _SPECIAL:
        return UINT
    base = infer(node.base, types)
    if isinstance(base, Struct):
        return types.get(f"{base.name}.{node.field}", INT)
    return base.element if isinstance(base, Vector) else INT


_INFER: dict[type, Callable[[Any, Mapping[str, Type]], Type]] = {
    n.Literal: lambda node, types: node.type,
    n.Name: _name,
    n.Unary: _unary,
    n.Binary: _binary,
    n.Conditional: _conditional,
    n.Cast: lambda node, types: node.type,
    n.Call: _call,
    n.Index: lambda node, types: _element(infer(node.base, types)),
    n.Member: _member,
}
