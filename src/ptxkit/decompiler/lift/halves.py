"""Half precision: the functions of ``cuda_fp16.h`` and ``cuda_bf16.h`` for instructions."""

from __future__ import annotations

from ptxkit.decompiler.lift.context import Intrinsic, Lift, NotLiftedError
from ptxkit.decompiler.lift.values import Value
from ptxkit.syntax import Instruction

#: The header of what works on a type.
HALF_HEADERS = {"f16": "cuda_fp16.h", "f16x2": "cuda_fp16.h",
            "bf16": "cuda_bf16.h", "bf16x2": "cuda_bf16.h"}  # fmt: skip
_STEMS = {"add": "__hadd", "sub": "__hsub", "mul": "__hmul", "fma": "__hfma", "neg": "__hneg",
          "abs": "__habs", "min": "__hmin", "max": "__hmax"}  # fmt: skip
_COMPARE = {"eq": "__heq", "neu": "__hneu", "lt": "__hlt", "le": "__hle", "gt": "__hgt",
            "ge": "__hge", "equ": "__hequ", "ne": "__hne", "ltu": "__hltu", "leu": "__hleu",
            "gtu": "__hgtu", "geu": "__hgeu"}  # fmt: skip


def is_half(type: str) -> bool:
    """Whether a type is one or two halves."""
    return type in HALF_HEADERS


def half_arithmetic(lift: Lift, node: Instruction, words: list[str], type: str) -> None:
    """add, sub, mul, fma, neg, abs, min, max."""
    for word in words:
        if word in ("ftz", "sat", "relu", "rz", "rm", "rp", "oob", "xorsign"):
            raise NotLiftedError(f"'.{word}'")
    name = _STEMS[node.name] + ("2" if type.endswith("x2") else "")
    if "NaN" in words:
        name += "_nan"
    if node.name in ("add", "sub", "mul") and "rn" in words:
        name += "_rn"
    operands = node.operands[1:]
    call = Intrinsic(name, (type,) * len(operands), type, header=HALF_HEADERS[type])
    lift.write(node.operands[0], type, lift.pure(call, *(lift.read(o, type) for o in operands)))


def half_compare(lift: Lift, words: list[str], type: str, a: Value, b: Value) -> Value:
    """setp of halves."""
    name = next((_COMPARE[w] for w in words if w in _COMPARE), None)
    if name is None or type.endswith("x2") or "ftz" in words:
        raise NotLiftedError("this comparison of halves")
    return lift.pure(Intrinsic(name, (type, type), "pred", header=HALF_HEADERS[type]), a, b)


def half_masks(lift: Lift, node: Instruction, words: list[str], target: str, type: str) -> None:
    """set of pairs: all bits of a half where it holds, or the number 1."""
    name = _COMPARE.get(words[0])
    wanted = {"u32": "_mask", "s32": "_mask", type: ""}.get(target)
    if name is None or wanted is None or not type.endswith("x2") or "ftz" in words:
        raise NotLiftedError("this comparison of halves")
    gives = type if target == type else "u32"
    call = Intrinsic(f"{name}2{wanted}", (type, type), gives, header=HALF_HEADERS[type])
    values = (lift.read(o, type) for o in node.operands[1:3])
    lift.write(node.operands[0], gives, lift.pure(call, *values))


_WORDS = {"f16": "half", "bf16": "bfloat16", "s16": "short", "u16": "ushort", "s32": "int",
          "u32": "uint", "s64": "ll", "u64": "ull", "f32": "float", "f64": "double"}  # fmt: skip
_ROUNDING = {"rn": "rn", "rz": "rz", "rm": "rd", "rp": "ru"}


def half_convert(lift: Lift, node: Instruction, words: list[str], target: str, source: str) -> None:
    """cvt from or to halves."""
    for word in words:
        if word in ("ftz", "sat"):
            raise NotLiftedError(f"'.{word}'")
    header = HALF_HEADERS[target if is_half(target) else source]
    rounding = next((w for w in words if w in _ROUNDING), "")
    if target.endswith("x2"):
        if source != "f32" or rounding != "rn" or len(node.operands) != 3:
            raise NotLiftedError(node.opcode)
        name = "__floats2half2_rn" if target == "f16x2" else "__floats2bfloat162_rn"
        high, low = (lift.read(o, "f32") for o in node.operands[1:3])
        call = Intrinsic(name, ("f32", "f32"), target, header=header)
        return lift.write(node.operands[0], target, lift.pure(call, low, high))
    if source not in _WORDS or target not in _WORDS:
        raise NotLiftedError(node.opcode)
    if is_half(source) and is_half(target):
        raise NotLiftedError(node.opcode)
    value = lift.read(node.operands[1], source)
    if is_half(source) and target == "f32":
        name = "__half2float" if source == "f16" else "__bfloat162float"
    elif is_half(target) and source in ("f32", "f64") and rounding == "rn":
        name = f"__{_WORDS[source]}2{_WORDS[target]}" + ("_rn" if source == "f32" else "")
    elif is_half(target) and source == "f32" and rounding == "rz":
        name = f"__float2{_WORDS[target]}_rz"
    elif is_half(target) and source[0] in "su" and rounding:
        name = f"__{_WORDS[source]}2{_WORDS[target]}_{_ROUNDING[rounding]}"
    elif is_half(source) and target[0] in "su":
        whole = next((w for w in words if w in ("rni", "rzi", "rmi", "rpi")), "")
        if not whole:
            raise NotLiftedError(node.opcode)
        suffix = {"rni": "rn", "rzi": "rz", "rmi": "rd", "rpi": "ru"}[whole]
        name = f"__{_WORDS[source]}2{_WORDS[target]}_{suffix}"
    else:
        raise NotLiftedError(node.opcode)
    call = Intrinsic(name, (source,), target, header=header)
    lift.write(node.operands[0], target, lift.pure(call, value))
    return None
