"""Arithmetic, logic, comparisons and conversions as C++ expressions."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import FLOAT, INT, UINT, Scalar
from ptxkit.decompiler.lift.context import C_TYPES, Lift, NotLiftedError
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Instruction

Lifter = Callable[[Lift, Instruction], list[n.Statement]]


def words_of(node: Instruction) -> list[str]:
    """The modifiers without their dots."""
    return [modifier[1:] for modifier in node.modifiers]


def types_of(words: list[str]) -> list[str]:
    """The modifiers that are types."""
    return [word for word in words if word in SCALAR_TYPES]


def _refuse(words: list[str], *unknown: str) -> None:
    for word in unknown:
        if word in words:
            raise NotLiftedError(f"'.{word}'")


def _plain_type(words: list[str]) -> str:
    type = types_of(words)[-1]
    if type not in C_TYPES:
        raise NotLiftedError(f"'.{type}'")
    return type


def _neutral(type: str) -> str:
    """Signed and unsigned sums are the same bits: let the variables say which it is."""
    return f"b{type[1:]}" if type[0] in "su" and type[1:] in ("32", "64") else type


_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_DIRECTION = ("rz", "rm", "rp")
_CUDA_ROUNDING = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}


def _directed(name: str, words: list[str], type: str) -> str | None:
    """The intrinsic for a rounding other than the usual one."""
    rounding = next((w for w in words if w in _DIRECTION), None)
    if rounding is None:
        return None
    if name == "fma":
        stem = "__fmaf" if type == "f32" else "__fma"
    else:
        stem = f"__{'f' if type == 'f32' else 'd'}{name}"
    return f"{stem}_{_CUDA_ROUNDING[rounding]}"


def _sum(lift: Lift, node: Instruction) -> list[n.Statement]:
    """add, sub, mul and the bitwise operators."""
    words = words_of(node)
    _refuse(words, "cc", "sat", "ftz")
    type = _plain_type(words)
    if type == "pred":
        return _logic(lift, node)
    first, second = node.operands[1:3]
    if type[0] == "f":
        left, right = lift.read(first, type), lift.read(second, type)
        directed = _directed(node.name, words, type)
        if directed is not None:
            return lift.write(node.operands[0], type, n.Call(directed, (left, right)))
        return lift.write(node.operands[0], type, n.Binary(_OPERATORS[node.name], left, right))
    if "wide" in words:
        double = f"{type[0]}{2 * int(type[1:])}"
        wide = C_TYPES[double]
        left = n.Cast(wide, lift.read(first, type))
        product = n.Binary("*", left, _widened(lift.read(second, type), wide))
        return lift.write(node.operands[0], double, product)
    if "hi" in words:
        name = {"s32": "__mulhi", "u32": "__umulhi", "s64": "__mul64hi", "u64": "__umul64hi"}
        if type not in name:
            raise NotLiftedError(f"mul.hi.{type}")
        high = n.Call(name[type], (lift.read(first, type), lift.read(second, type)))
        return lift.write(node.operands[0], type, high)
    kind = _neutral(type)
    value = n.Binary(_OPERATORS[node.name], lift.read(first, kind), lift.read(second, kind))
    return lift.write(node.operands[0], kind, _trimmed(value, kind))


def _trimmed(value: n.Expression, type: str) -> n.Expression:
    """Sums of 16 bits are computed in int: cut them back."""
    return n.Cast(C_TYPES[type], value) if type[1:] == "16" else value


def _widened(value: n.Expression, type: Scalar) -> n.Expression:
    if isinstance(value, n.Literal):
        return n.Literal(int(value.value), INT if abs(int(value.value)) < 1 << 31 else type)
    return value


def _mad(lift: Lift, node: Instruction) -> list[n.Statement]:
    """mad and fma."""
    words = words_of(node)
    _refuse(words, "cc", "sat", "ftz", "hi", "relu", "oob")
    type = _plain_type(words)
    a, b, c = node.operands[1:4]
    if type[0] == "f":
        values = (lift.read(a, type), lift.read(b, type), lift.read(c, type))
        directed = _directed("fma", words, type)
        name = directed or ("fmaf" if type == "f32" else "fma")
        return lift.write(node.operands[0], type, n.Call(name, values))
    if "wide" in words:
        double = f"{type[0]}{2 * int(type[1:])}"
        wide = C_TYPES[double]
        left = n.Cast(wide, lift.read(a, type))
        product = n.Binary("*", left, _widened(lift.read(b, type), wide))
        addend = lift.read(c, _neutral(double))
        return lift.write(node.operands[0], _neutral(double), n.Binary("+", product, addend))
    kind = _neutral(type)
    product = n.Binary("*", lift.read(a, kind), lift.read(b, kind))
    value = _trimmed(n.Binary("+", product, lift.read(c, kind)), kind)
    return lift.write(node.operands[0], kind, value)


def _logic(lift: Lift, node: Instruction) -> list[n.Statement]:
    left, right = (lift.read(o, "pred") for o in node.operands[1:3])
    if node.name == "xor":
        value = n.Binary("!=", left, right)
    else:
        value = n.Binary({"and": "&&", "or": "||"}[node.name], left, right)
    return lift.write(node.operands[0], "pred", value)


def _bits(lift: Lift, node: Instruction) -> list[n.Statement]:
    type = _plain_type(words_of(node))
    if type == "pred":
        return _logic(lift, node)
    left, right = (lift.read(o, type) for o in node.operands[1:3])
    value = n.Binary(_OPERATORS[node.name], left, right)
    return lift.write(node.operands[0], type, _trimmed(value, type))


def _not(lift: Lift, node: Instruction) -> list[n.Statement]:
    type = _plain_type(words_of(node))
    operand = lift.read(node.operands[1], type)
    value = n.Unary("!" if type == "pred" else "~", operand)
    return lift.write(node.operands[0], type, _trimmed(value, type))


def _divide(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    _refuse(words, "ftz", "approx", "full")
    type = _plain_type(words)
    left, right = (lift.read(o, type) for o in node.operands[1:3])
    directed = _directed("div", words, type) if type[0] == "f" else None
    if directed is not None:
        value: n.Expression = n.Call(directed, (left, right))
    else:
        value = n.Binary("/" if node.name == "div" else "%", left, right)
    return lift.write(node.operands[0], type, _trimmed(value, type))


def _shift(lift: Lift, node: Instruction) -> list[n.Statement]:
    type = _plain_type(words_of(node))
    amount = node.operands[2]
    value = lift.read(node.operands[1], type)
    count = lift.read(amount, "b32")
    width = int(type[1:])
    if isinstance(count, n.Literal):
        number = int(count.value) & 0xFFFFFFFF
        if number >= width:
            raise NotLiftedError("a shift past the width")
        operator = "<<" if node.name == "shl" else ">>"
        shifted = n.Binary(operator, value, n.Literal(number, INT))
        return lift.write(node.operands[0], type, _trimmed(shifted, type))
    # C++ leaves shifts past the width open; PTX says what they give.
    if width != 32:
        raise NotLiftedError("a shift by a variable amount of 64 bits")
    if node.name == "shl":
        left = n.Call("__funnelshift_lc", (n.Literal(0, UINT), _as(lift, value, UINT), count))
        return lift.write(node.operands[0], type, left)
    if type[0] == "s":
        raise NotLiftedError("an arithmetic shift by a variable amount")
    right = n.Call("__funnelshift_rc", (_as(lift, value, UINT), n.Literal(0, UINT), count))
    return lift.write(node.operands[0], type, right)


def _as(lift: Lift, value: n.Expression, type: Scalar) -> n.Expression:
    from ptxkit.cuda.infer import infer

    have = infer(value, lift.types)
    return value if have == type else n.Cast(type, value)


# ---- functions ---------------------------------------------------------------------------


def _extreme(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    _refuse(words, "ftz", "NaN", "xorsign", "relu")
    type = _plain_type(words)
    if len(node.operands) != 3:
        raise NotLiftedError("three operands")
    left, right = (lift.read(o, type) for o in node.operands[1:3])
    name = node.name
    if type[0] == "f":
        name = f"f{node.name}{'f' if type == 'f32' else ''}"
    elif type[1:] == "16":
        raise NotLiftedError(f"{node.name}.{type}")
    return lift.write(node.operands[0], type, n.Call(name, (left, right)))


def _absolute(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    _refuse(words, "ftz")
    type = _plain_type(words)
    name = {"f32": "fabsf", "f64": "fabs", "s32": "abs", "s64": "llabs"}.get(type)
    if name is None:
        raise NotLiftedError(f"abs.{type}")
    value = n.Call(name, (lift.read(node.operands[1], type),))
    return lift.write(node.operands[0], type, value)


def _negate(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    _refuse(words, "ftz")
    type = _plain_type(words)
    value = _trimmed(n.Unary("-", lift.read(node.operands[1], type)), type)
    return lift.write(node.operands[0], type, value)


#: Opcode without its .ftz: the function that nvcc compiles to exactly that.
_FUNCTIONS = {
    "sqrt.rn.f32": "sqrtf", "sqrt.rn.f64": "sqrt", "rsqrt.approx.f32": "rsqrtf",
    "rcp.rn.f32": "__frcp_rn", "rcp.rn.f64": "__drcp_rn",
    "sin.approx.f32": "__sinf", "cos.approx.f32": "__cosf", "lg2.approx.f32": "__log2f",
    "popc.b32": "__popc", "popc.b64": "__popcll", "clz.b32": "__clz", "clz.b64": "__clzll",
    "brev.b32": "__brev", "brev.b64": "__brevll",
}  # fmt: skip


def _function(lift: Lift, node: Instruction) -> list[n.Statement]:
    name = _FUNCTIONS.get(node.opcode)
    if name is None:
        raise NotLiftedError(node.opcode)
    type = _plain_type(words_of(node))
    value = n.Call(name, (lift.read(node.operands[1], type),))
    return lift.write(node.operands[0], "u32" if node.name in ("popc", "clz") else type, value)


# ---- comparisons -------------------------------------------------------------------------

_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
            "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}  # fmt: skip
_UNORDERED = {"equ": "!=", "neu": "!=", "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}


def comparison(
    words: list[str], type: str, left: n.Expression, right: n.Expression
) -> n.Expression:
    """A comparison as C++; unordered ones by what they are the opposite of."""
    for word in words:
        if word == "num":
            return n.Binary("&&", n.Binary("==", left, left), n.Binary("==", right, right))
        if word == "nan":
            return n.Binary("||", n.Binary("!=", left, left), n.Binary("!=", right, right))
        if word == "ne" and type[0] == "f":
            # In PTX .ne is false for not-a-number; C++'s != is true.
            return n.Binary("||", n.Binary("<", left, right), n.Binary(">", left, right))
        if word == "neu":
            return n.Binary("!=", left, right)
        if word == "equ":
            ordered = n.Binary("||", n.Binary("<", left, right), n.Binary(">", left, right))
            return n.Unary("!", ordered)
        if word in _UNORDERED:
            return n.Unary("!", n.Binary(_UNORDERED[word], left, right))
        if word in _COMPARE:
            return n.Binary(_COMPARE[word], left, right)
    raise NotLiftedError("this comparison")


def _setp(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    _refuse(words, "ftz")
    type = _plain_type(words)
    left, right = (lift.read(o, type) for o in node.operands[1:3])
    value = comparison(words, type, left, right)
    target = node.operands[0]
    if target.kind == "Pair":
        raise NotLiftedError("two results")
    if len(node.operands) > 3:
        other = lift.read(node.operands[3], "pred")
        combine = next(w for w in words if w in ("and", "or", "xor"))
        value = n.Binary({"and": "&&", "or": "||", "xor": "!="}[combine], value, other)
    return lift.write(target, "pred", value)


def _selp(lift: Lift, node: Instruction) -> list[n.Statement]:
    type = _plain_type(words_of(node))
    if type[0] == "b" and type != "b16":
        # What is selected is of the kind of where it goes.
        _, web = lift.variable(node.operands[0])
        have = lift.type_of_web(web)
        if have.is_float:
            type = f"f{have.bits}"
    then, otherwise = (lift.read(o, type) for o in node.operands[1:3])
    value = n.Conditional(lift.read(node.operands[3], "pred"), then, otherwise)
    return lift.write(node.operands[0], type, value)


# ---- conversions -------------------------------------------------------------------------

_INTEGER_ROUNDING = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def _cvt(lift: Lift, node: Instruction) -> list[n.Statement]:
    words = words_of(node)
    _refuse(words, "ftz", "sat", "relu", "satfinite")
    target, source = types_of(words)[-2:]
    if target not in C_TYPES or source not in C_TYPES:
        raise NotLiftedError(node.opcode)
    value = lift.read(node.operands[1], source)
    to, was = C_TYPES[target], C_TYPES[source]
    rounding = next((w for w in words if w[0] == "r"), "")
    if to.is_float and was.is_float and to == was:
        name = _INTEGER_ROUNDING.get(rounding)
        if name is None:
            raise NotLiftedError(node.opcode)
        return lift.write(node.operands[0], target, n.Call(name + "f" * (to == FLOAT), (value,)))
    if was.is_float and to.is_integer:
        if rounding != "rzi":
            raise NotLiftedError(node.opcode)
        return lift.write(node.operands[0], target, n.Cast(to, value))
    if to.is_float and rounding not in ("rn", ""):
        raise NotLiftedError(node.opcode)
    if isinstance(value, n.Literal) and to.is_integer:
        return lift.write(node.operands[0], target, n.Cast(to, value))
    return lift.write(node.operands[0], target, n.Cast(to, value))


def _mov(lift: Lift, node: Instruction) -> list[n.Statement]:
    type = _plain_type(words_of(node))
    target, source = node.operands
    if target.kind == "Vector" or source.kind == "Vector":
        return _pack(lift, node, type)
    if type != "pred":
        # A copy says nothing about types: it has that of where it goes.
        _, web = lift.variable(target)
        have = lift.type_of_web(web)
        type = f"f{have.bits}" if have.is_float else f"b{type[1:]}"
    return lift.write(target, type, lift.read(source, type))


def _pack(lift: Lift, node: Instruction, type: str) -> list[n.Statement]:
    target, source = node.operands
    if type != "b64" or len((target if target.kind == "Vector" else source).children) != 2:
        raise NotLiftedError(node.opcode)
    if source.kind == "Vector":
        low, high = (_as(lift, lift.read(child, "b32"), UINT) for child in source.children)
        upper = n.Binary("<<", n.Cast(C_TYPES["u64"], high), n.Literal(32, INT))
        return lift.write(target, "b64", n.Binary("|", upper, low))
    value = lift.read(source, "u64")
    low_node, high_node = target.children
    made = lift.write(low_node, "u32", n.Cast(UINT, value)) if low_node.kind != "Sink" else []
    if high_node.kind != "Sink":
        top = n.Cast(UINT, n.Binary(">>", value, n.Literal(32, INT)))
        made += lift.write(high_node, "u32", top)
    return made


LIFTERS: dict[str, Lifter] = {
    **dict.fromkeys(("add", "sub", "mul"), _sum),
    **dict.fromkeys(("mad", "fma"), _mad),
    **dict.fromkeys(("and", "or", "xor"), _bits),
    **dict.fromkeys(("div", "rem"), _divide),
    **dict.fromkeys(("shl", "shr"), _shift),
    **dict.fromkeys(("min", "max"), _extreme),
    **dict.fromkeys("sqrt rsqrt rcp sin cos lg2 popc clz brev".split(), _function),
    "not": _not,
    "abs": _absolute,
    "neg": _negate,
    "setp": _setp,
    "selp": _selp,
    "cvt": _cvt,
    "mov": _mov,
}
