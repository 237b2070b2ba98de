"""Arithmetic, logic, comparisons and conversions as values."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError, Pack, types_of, words_of
from ptxkit.decompiler.lift.halves import (
    half_arithmetic,
    half_compare,
    half_convert,
    half_masks,
    is_half,
)
from ptxkit.decompiler.lift.values import Value, const
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Instruction

Lifter = Callable[[Lift, Instruction], None]

_PLAIN = frozenset(
    "pred s8 u8 b8 s16 u16 b16 s32 u32 b32 s64 u64 b64 f32 f64 f16 bf16 f16x2 bf16x2".split()
)


def _refuse(words: list[str], *unknown: str) -> None:
    for word in unknown:
        if word in words:
            raise NotLiftedError(f"'.{word}'")


def _flush(lift: Lift, words: list[str], type: str) -> None:
    """Refuse what handles subnormal numbers otherwise than plain C++ would."""
    if type == "f32" and ("ftz" in words) != lift.flags.flush:
        raise NotLiftedError("'.ftz'")


def plain_type(words: list[str]) -> str:
    """The instruction's one type."""
    found = types_of(words)
    if not found or found[-1] not in _PLAIN:
        raise NotLiftedError("this type")
    return found[-1]


_CUDA_ROUNDING = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}


def _directed(name: str, words: list[str], type: str, count: int) -> Intrinsic | None:
    """The intrinsic for a rounding other than the usual one."""
    rounding = next((w for w in words if w in ("rz", "rm", "rp")), None)
    if rounding is None:
        return None
    if name == "fma":
        stem = "__fmaf" if type == "f32" else "__fma"
    else:
        stem = f"__{'f' if type == 'f32' else 'd'}{name}"
    return Intrinsic(f"{stem}_{_CUDA_ROUNDING[rounding]}", (type,) * count, type)


def _saturated(lift: Lift, words: list[str], value: Value, type: str) -> Value:
    if "sat" not in words:
        return value
    if type != "f32":
        raise NotLiftedError("'.sat'")
    return lift.pure(Intrinsic("__saturatef", ("f32",), "f32"), value)


def _sum(lift: Lift, node: Instruction) -> None:
    """add, sub and mul."""
    words = words_of(node)
    type = plain_type(words)
    first, second = node.operands[1:3]
    if is_half(type):
        return half_arithmetic(lift, node, words, type)
    if type[0] == "f":
        _flush(lift, words, type)
        values = (lift.read(first, type), lift.read(second, type))
        directed = _directed(node.name, words, type, 2)
        if directed is not None:
            value = lift.pure(directed, *values)
        else:
            exact = "rn" in words
            if exact and lift.contracts:
                stem = "f" if type == "f32" else "d"
                call = Intrinsic(f"__{stem}{node.name}_rn", (type, type), type)
                value = lift.pure(call, *values)
            else:
                value = make(f"f{node.name}", values[0].width, *values, data=(type, exact))
        return lift.write(node.operands[0], type, _saturated(lift, words, value, type))
    _refuse(words, "cc", "sat")
    a, b = lift.read(first, type), lift.read(second, type)
    if "wide" in words:
        double = f"{type[0]}{2 * a.width}"
        return lift.write(node.operands[0], double, _wide(type, a, b))
    if "hi" in words:
        if a.width < 32:
            raise NotLiftedError(node.opcode)
        return lift.write(node.operands[0], type, make(f"mulhi.{type[0]}", a.width, a, b))
    return lift.write(node.operands[0], type, make(node.name, a.width, a, b))


def _wide(type: str, a: Value, b: Value) -> Value:
    extend = "sext" if type[0] == "s" else "zext"
    width = 2 * a.width
    return make("mul", width, make(extend, width, a), make(extend, width, b))


def _mad(lift: Lift, node: Instruction) -> None:
    """mad and fma."""
    words = words_of(node)
    type = plain_type(words)
    a, b, c = node.operands[1:4]
    if is_half(type):
        return half_arithmetic(lift, node, words, type)
    if type[0] == "f":
        _flush(lift, words, type)
        values = (lift.read(a, type), lift.read(b, type), lift.read(c, type))
        directed = _directed("fma", words, type, 3)
        if directed is not None:
            value = lift.pure(directed, *values)
        else:
            value = make("fma", values[0].width, *values, data=(type, True))
        return lift.write(node.operands[0], type, _saturated(lift, words, value, type))
    _refuse(words, "cc", "sat")
    x, y = lift.read(a, type), lift.read(b, type)
    if "wide" in words:
        double = f"{type[0]}{2 * x.width}"
        total = make("add", 2 * x.width, _wide(type, x, y), lift.read(c, double))
        return lift.write(node.operands[0], double, total)
    if "hi" in words:
        if x.width < 32:
            raise NotLiftedError(node.opcode)
        product = make(f"mulhi.{type[0]}", x.width, x, y)
    else:
        product = make("mul", x.width, x, y)
    return lift.write(node.operands[0], type, make("add", x.width, product, lift.read(c, type)))


def _bits(lift: Lift, node: Instruction) -> None:
    type = plain_type(words_of(node))
    a, b = (lift.read(o, type) for o in node.operands[1:3])
    lift.write(node.operands[0], type, make(node.name, a.width, a, b))


def _not(lift: Lift, node: Instruction) -> None:
    type = plain_type(words_of(node))
    a = lift.read(node.operands[1], type)
    lift.write(node.operands[0], type, make("not", a.width, a))


#: Divisions that have names; of one of them, by the compiler's options, ``/`` is the name.
_DIVISIONS = {
    "approx": Intrinsic("__fdividef", ("f32", "f32"), "f32"),
    "rn": Intrinsic("__fdiv_rn", ("f32", "f32"), "f32"),
}


def _divide(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    type = plain_type(words)
    values = tuple(lift.read(o, type) for o in node.operands[1:3])
    if type[0] == "f":
        _flush(lift, words, type)
        directed = _directed("div", words, type, 2)
        if type == "f32" and lift.flags.division not in words:
            directed = directed or _DIVISIONS.get(words[0])
            if directed is None:
                raise NotLiftedError(node.opcode)
        if directed is not None:
            return lift.write(node.operands[0], type, lift.pure(directed, *values))
        value = make("fdiv", values[0].width, *values, data=(type, True))
        return lift.write(node.operands[0], type, value)
    lift.write(node.operands[0], type, make(f"{node.name}.{type[0]}", values[0].width, *values))
    return None


def _shift(lift: Lift, node: Instruction) -> None:
    type = plain_type(words_of(node))
    value = lift.read(node.operands[1], type)
    count = lift.read(node.operands[2], "u32")
    op = "shl" if node.name == "shl" else "shr.s" if type[0] == "s" else "shr.u"
    lift.write(node.operands[0], type, make(op, value.width, value, count))


# ---- functions ---------------------------------------------------------------------------


def _extreme(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    _refuse(words, "xorsign", "relu")
    type = plain_type(words)
    if is_half(type):
        return half_arithmetic(lift, node, words, type)
    if len(node.operands) != 3:
        raise NotLiftedError("three operands")
    values = tuple(lift.read(o, type) for o in node.operands[1:3])
    if type[0] == "f":
        _refuse(words, "NaN")
        _flush(lift, words, type)
        if node.operands[2].kind == "Float" and _is_choice(node.name, values[1]):
            # A function keeps its numbers in registers: this was `a > 0 ? a : 0`.
            op = "fgt" if node.name == "max" else "flt"
            chosen = make(op, 1, *values, data=(type, True))
            value = make("select", values[0].width, chosen, *values)
            return lift.write(node.operands[0], type, value)
        name = f"f{node.name}{'f' if type == 'f32' else ''}"
        return lift.write(
            node.operands[0], type, lift.pure(Intrinsic(name, (type, type), type), *values)
        )
    lift.write(node.operands[0], type, make(f"{node.name}.{type[0]}", values[0].width, *values))
    return None


def _is_choice(name: str, limit: Value) -> bool:
    """Whether ``a > c ? a : c`` (or ``<``) is the larger (smaller) of both for all ``a``."""
    magnitude = limit.data & ((1 << (limit.width - 1)) - 1)
    return bool(magnitude) or (name == "max" and not limit.data)


def _absolute(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    type = plain_type(words)
    if is_half(type):
        return half_arithmetic(lift, node, words, type)
    if type == "f32":
        _flush(lift, words, type)
    name = {"f32": "fabsf", "f64": "fabs", "s32": "abs", "s64": "llabs"}.get(type)
    if name is None:
        raise NotLiftedError(f"abs.{type}")
    call = Intrinsic(name, (type,), type)
    lift.write(node.operands[0], type, lift.pure(call, lift.read(node.operands[1], type)))
    return None


def _negate(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    type = plain_type(words)
    if is_half(type):
        return half_arithmetic(lift, node, words, type)
    _flush(lift, words, type)
    a = lift.read(node.operands[1], type)
    if type[0] == "f":
        value = make("fneg", a.width, a, data=(type, True))
    else:
        value = make("neg", a.width, a)
    lift.write(node.operands[0], type, value)
    return None


#: Opcode without its .ftz: the function that nvcc compiles to exactly that.
_FUNCTIONS = {
    "sqrt.rn.f32": "__fsqrt_rn", "sqrt.rn.f64": "sqrt", "rsqrt.approx.f32": "rsqrtf",
    "rcp.rn.f32": "__frcp_rn",
    "rcp.rz.f32": "__frcp_rz", "rcp.rm.f32": "__frcp_rd", "rcp.rp.f32": "__frcp_ru",
    "sqrt.rz.f32": "__fsqrt_rz", "sqrt.rm.f32": "__fsqrt_rd", "sqrt.rp.f32": "__fsqrt_ru",
    "sqrt.rz.f64": "__dsqrt_rz", "sqrt.rm.f64": "__dsqrt_rd", "sqrt.rp.f64": "__dsqrt_ru",
    "sin.approx.f32": "__sinf", "cos.approx.f32": "__cosf", "lg2.approx.f32": "__log2f",
    "popc.b32": "__popc", "popc.b64": "__popcll", "clz.b32": "__clz", "clz.b64": "__clzll",
    "brev.b32": "__brev", "brev.b64": "__brevll",
}  # fmt: skip
_COUNTED = {"popc": ("u32", "u64", "s32"), "clz": ("s32", "s64", "s32"),
            "brev": ("u32", "u64", "")}  # fmt: skip


def _function(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    type = plain_type(words)
    _flush(lift, words, type)
    opcode = node.opcode.replace(".ftz", "")
    name = "sqrtf" if opcode == f"sqrt.{lift.flags.root}.f32" else _FUNCTIONS.get(opcode)
    if name is None:
        raise NotLiftedError(node.opcode)
    takes = gives = type
    if node.name in _COUNTED:
        narrow, wide, gives = _COUNTED[node.name]
        takes = narrow if type == "b32" else wide
        gives = gives or takes
    call = Intrinsic(name, (takes,), gives)
    lift.write(node.operands[0], gives, lift.pure(call, lift.read(node.operands[1], type)))


def _reciprocal(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    type = plain_type(words)
    if (type == "f32" and lift.flags.reciprocal not in words) or (
        type == "f64" and "rn" not in words
    ):
        return _function(lift, node)
    _flush(lift, words, type)
    value = lift.read(node.operands[1], type)
    one = const(0x3F800000 if type == "f32" else 0x3FF0000000000000, value.width)
    made = make("fdiv", value.width, one, value, data=(type, True))
    return lift.write(node.operands[0], type, made)


def _prmt(lift: Lift, node: Instruction) -> None:
    if words_of(node) != ["b32"]:
        raise NotLiftedError(node.opcode)
    call = Intrinsic("__byte_perm", ("u32", "u32", "u32"), "u32")
    values = [lift.read(o, "b32") for o in node.operands[1:4]]
    numbers = [lift.constant(o) for o in node.operands[1:4]]
    values = [v if k is None else const(k, 32) for v, k in zip(values, numbers, strict=True)]
    byte = _byte_taken(*values)
    if byte is not None:
        if values[0].op == "var":
            lift.words.add(values[0].data)
        return lift.write(node.operands[0], "b32", byte)
    # The function leaves out the bit that asks for a sign in place of a byte.
    masks = values[2].args if values[2].op == "and" else values[2:]
    if not any(one.op == "const" and not one.data & 0x8888 for one in masks):
        raise NotLiftedError("a selector with signs")
    lift.write(node.operands[0], "b32", lift.pure(call, *values))
    return None


#: Selectors of one byte, by the byte: the others are of a 0, or each the sign of that one.
_BYTES = {0x7770 + k: (k, False) for k in range(4)} | {
    0x8880 + 0x1111 * k: (k, True) for k in range(4)
}


def _byte_taken(word: Value, zero: Value, selector: Value) -> Value | None:
    """The byte of a word that newer compilers take as a part of a vector."""
    if zero.op != "const" or zero.data or selector.op != "const" or selector.data not in _BYTES:
        return None
    place, sign = _BYTES[selector.data]
    moved = make("shr.u", 32, word, const(8 * place, 32))
    if sign:
        return make("sext", 32, make("trunc", 8, moved))
    return make("and", 32, moved, const(255, 32))


def _funnel(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    name = f"__funnelshift_{words[0]}{'c' if 'clamp' in words else ''}"
    call = Intrinsic(name, ("u32", "u32", "u32"), "u32")
    values = [lift.read(o, "b32") for o in node.operands[1:4]]
    lift.write(node.operands[0], "b32", lift.pure(call, *values))


def _insert(lift: Lift, node: Instruction) -> None:
    """bfi.b64 of two halves: how newer compilers make a 64-bit number of two."""
    if words_of(node) == ["b64"] and [o.text for o in node.operands[3:]] == ["32", "32"]:
        high, low = (lift.read(o, "b64") for o in node.operands[1:3])
        low = make("zext", 64, make("trunc", 32, low))
        return lift.write(node.operands[0], "b64", _joined(low, high))
    raise NotLiftedError(node.opcode)


def _joined(low: Value, high: Value) -> Value:
    return make("or", 64, make("shl", 64, high, const(32, 32)), low)


def _dot(lift: Lift, node: Instruction) -> None:
    """dp4a: four products of bytes."""
    words = words_of(node)
    types = types_of(words)
    if node.name != "dp4a" or types[0] != types[1]:
        raise NotLiftedError(node.opcode)
    type = types[0]
    call = Intrinsic("__dp4a", (type, type, type), type)
    values = [lift.read(o, type) for o in node.operands[1:4]]
    lift.write(node.operands[0], type, lift.pure(call, *values))


def _sad(lift: Lift, node: Instruction) -> None:
    type = plain_type(words_of(node))
    name = {"s32": "__sad", "u32": "__usad"}.get(type)
    if name is None:
        raise NotLiftedError(node.opcode)
    taken = (type, type, "u32")
    values = [lift.read(o, t) for o, t in zip(node.operands[1:4], taken, strict=True)]
    lift.write(node.operands[0], "u32", lift.pure(Intrinsic(name, taken, "u32"), *values))


# ---- comparisons -------------------------------------------------------------------------

_SIGNLESS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_UNORDERED = {"ltu": "fge", "leu": "fgt", "gtu": "fle", "geu": "flt"}


def compared(words: list[str], type: str, a: Value, b: Value) -> Value:
    """A comparison; unordered ones by what they are the opposite of."""
    word = next((w for w in words if w in _COMPARISONS), "")
    if type[0] == "f":
        data = (type, True)
        if word == "num":
            return make("and", 1, make("feq", 1, a, a, data=data), make("feq", 1, b, b, data=data))
        if word == "nan":
            return make("or", 1, make("fne", 1, a, a, data=data), make("fne", 1, b, b, data=data))
        if word in ("ne", "equ"):
            # In PTX .ne is false for not-a-number; C++'s != is true.
            less, more = make("flt", 1, a, b, data=data), make("fgt", 1, a, b, data=data)
            either = make("or", 1, less, more)
            return either if word == "ne" else make("not", 1, either)
        if word == "neu":
            return make("fne", 1, a, b, data=data)
        if word in _UNORDERED:
            return make("not", 1, make(_UNORDERED[word], 1, a, b, data=data))
        if word in ("eq", "lt", "le", "gt", "ge"):
            return make(f"f{word}", 1, a, b, data=data)
    elif word in ("eq", "ne"):
        return make(word, 1, a, b)
    elif word in ("lt", "le", "gt", "ge"):
        return make(f"{word}.{'s' if type[0] == 's' else 'u'}", 1, a, b)
    elif word in _SIGNLESS:
        return make(f"{_SIGNLESS[word]}.u", 1, a, b)
    raise NotLiftedError("this comparison")


_COMPARISONS = frozenset("eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan".split())


def _setp(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    type = plain_type(words)
    target = node.operands[0]
    if target.kind == "Pair":
        raise NotLiftedError("two results")
    a, b = (lift.read(o, type) for o in node.operands[1:3])
    if is_half(type):
        value = half_compare(lift, words, type, a, b)
    else:
        _flush(lift, words, type)
        value = compared(words, type, a, b)
    if len(node.operands) > 3:
        other = lift.read(node.operands[3], "pred")
        combine = next(w for w in words if w in ("and", "or", "xor"))
        value = make(combine, 1, value, other)
    lift.write(target, "pred", value)


def _set(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    types = types_of(words)
    if len(types) != 2 or len(node.operands) != 3:
        raise NotLiftedError(node.opcode)
    if is_half(types[1]):
        return half_masks(lift, node, words, *types)
    if types[0] not in ("s32", "u32"):
        raise NotLiftedError(node.opcode)
    _flush(lift, words, types[1])
    if types[1] not in _PLAIN:
        raise NotLiftedError(node.opcode)
    a, b = (lift.read(o, types[1]) for o in node.operands[1:3])
    condition = compared(words[:1], types[1], a, b)
    chosen = make("select", 32, condition, const(-1, 32), const(0, 32))
    lift.write(node.operands[0], types[0], chosen)
    return None


def _selp(lift: Lift, node: Instruction) -> None:
    type = plain_type(words_of(node))
    then, otherwise = (lift.read(o, type) for o in node.operands[1:3])
    condition = lift.read(node.operands[3], "pred")
    lift.write(node.operands[0], type, make("select", then.width, condition, then, otherwise))


# ---- conversions -------------------------------------------------------------------------

_INTEGER_ROUNDING = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_NUMBER = {"s32": "int", "u32": "uint", "s64": "ll", "u64": "ull", "f32": "float", "f64": "double"}
_TO_INTEGER = {"rni": "rn", "rmi": "rd", "rpi": "ru", "rzi": "rz"}


#: What ``rintf`` and ``truncf`` do is the same for subnormal numbers: no option flushes these.
_UNFLUSHED = ("rni", "rzi")


def _cvt(lift: Lift, node: Instruction) -> None:
    words = words_of(node)
    _refuse(words, "relu", "satfinite", "rs")
    target, source = types_of(words)[-2:]
    if is_half(target) or is_half(source):
        return half_convert(lift, node, words, target, source)
    if target not in _PLAIN or source not in _PLAIN:
        raise NotLiftedError(node.opcode)
    value = lift.read(node.operands[1], source)
    lift.write(node.operands[0], target, _converted(lift, node, words, target, source, value))
    return None


def _converted(
    lift: Lift, node: Instruction, words: list[str], target: str, source: str, value: Value
) -> Value:
    width = SCALAR_TYPES[target].width
    rounding = next((w for w in words if w[0] == "r"), "")
    saturates = "sat" in words
    if target == source == "f32" and rounding in _UNFLUSHED:
        _refuse(words, "ftz")
    elif "f32" in (target, source) and (target[0] == source[0] or source == "f32"):
        _flush(lift, words, "f32")
    elif "ftz" in words:
        raise NotLiftedError("'.ftz'")
    if target[0] != "f" and source[0] != "f":
        if saturates:
            raise NotLiftedError("'.sat'")
        if width <= value.width:
            return make("trunc", width, value)
        return make("sext" if source[0] == "s" else "zext", width, value)
    if target == source:
        if saturates and not rounding:
            return _saturated(lift, words, value, target)
        name = _INTEGER_ROUNDING.get(rounding)
        if name is None or saturates:
            raise NotLiftedError(node.opcode)
        call = Intrinsic(name + "f" * (target == "f32"), (target,), target)
        return lift.pure(call, value)
    if saturates:
        raise NotLiftedError("'.sat'")
    if source[0] == "f" and target[0] != "f":
        if target not in _NUMBER:
            raise NotLiftedError(node.opcode)
        if rounding == "rzi":
            return make("cvt", width, value, data=(target, source))
        name = f"__{_NUMBER[source]}2{_NUMBER[target]}_{_TO_INTEGER[rounding]}"
        return lift.pure(Intrinsic(name, (source,), target), value)
    if rounding in ("rn", ""):
        return make("cvt", width, value, data=(target, source))
    if source not in _NUMBER:
        raise NotLiftedError(node.opcode)
    name = f"__{_NUMBER[source]}2{_NUMBER[target]}_{_CUDA_ROUNDING[rounding]}"
    return lift.pure(Intrinsic(name, (source,), target), value)


def _mov(lift: Lift, node: Instruction) -> None:
    type = plain_type(words_of(node))
    target, source = node.operands
    if target.kind == "Vector" or source.kind == "Vector":
        return _pack(lift, node, type)
    lift.write(target, type, lift.read(source, type))
    return None


def _pack(lift: Lift, node: Instruction, type: str) -> None:
    """mov between a number and its parts."""
    target, source = node.operands
    width = SCALAR_TYPES[type].width
    parts = (target if target.kind == "Vector" else source).children
    each = width // len(parts)
    part = f"b{each}"
    if source.kind == "Vector":
        total = const(0, width)
        values = tuple(lift.read(child, part) for child in parts)
        for place, one in enumerate(values):
            wide = make("zext", width, one)
            total = make("or", width, make("shl", width, wide, const(place * each, 32)), total)
        lift.write(target, type, total)
        definition = lift.versions.writes.get(target.index)
        if definition is not None and definition.variable.definitions == 1:
            lift.packs[definition] = Pack(lift.block, len(lift.steps), values)
        return
    value = lift.read(source, type)
    known = lift.unpacked(value, len(parts))
    if known is not None:
        for child, one in zip(parts, known, strict=True):
            lift.write(child, part, one)
        return
    for place, child in enumerate(parts):
        moved = make("shr.u", width, value, const(place * each, 32))
        lift.write(child, part, make("trunc", each, moved))


LIFTERS: dict[str, Lifter] = {
    **dict.fromkeys(("add", "sub", "mul"), _sum),
    **dict.fromkeys(("mad", "fma"), _mad),
    **dict.fromkeys(("and", "or", "xor"), _bits),
    **dict.fromkeys(("div", "rem"), _divide),
    **dict.fromkeys(("shl", "shr"), _shift),
    **dict.fromkeys(("min", "max"), _extreme),
    "rcp": _reciprocal,
    **dict.fromkeys("sqrt rsqrt sin cos lg2 popc clz brev".split(), _function),
    "not": _not,
    "abs": _absolute,
    "neg": _negate,
    "setp": _setp,
    "set": _set,
    "selp": _selp,
    "cvt": _cvt,
    "mov": _mov,
    "prmt": _prmt,
    "shf": _funnel,
    "bfi": _insert,
    "dp4a": _dot,
    "sad": _sad,
}
