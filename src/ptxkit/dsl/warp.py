"""What the lanes of a warp do together: reductions, sums so far, one lane's value for all.

>>> from ptxkit.dsl import addr, f32, kernel, ptr, ptx, warp
>>> @kernel(target="sm_80")
... def total(x: ptr[f32]):
...     value = ptx.ld.global_.f32.new(addr(x))
...     ptx.st.global_.f32(addr(x), warp.reduce("add", value))
...     ptx.ret()
>>> total.ptx().count("shfl.sync.bfly")
5
"""

from __future__ import annotations

from typing import Any

from ptxkit.dsl.arithmetic import emit, fresh
from ptxkit.dsl.builder import current
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import pair, sreg
from ptxkit.dsl.registers import Register
from ptxkit.isa.types import BITS, FLOAT, SCALAR_TYPES

FULL = 0xFFFFFFFF
_OPERATIONS = frozenset("add mul min max and or xor".split())
_BITWISE = frozenset(("and", "or", "xor"))


def lane() -> Register:
    """The number of this lane in its warp."""
    return fresh("u32").set(sreg.laneid)


def shuffle(kind: str, value: Register, by: Any, *, width: int = 32, mask: Any = FULL) -> Register:
    """Another lane's value: ``kind`` is ``bfly``, ``down``, ``up`` or ``idx``.

    Groups of ``width`` lanes are on their own; values of 64 bits go in two halves.
    """
    if kind not in ("bfly", "down", "up", "idx"):
        raise DslError(f"there is no shuffle '{kind}'", "it is 'bfly', 'down', 'up' or 'idx'")
    if width not in (1, 2, 4, 8, 16, 32):
        raise DslError(f"a group of {width} lanes", "it has 1, 2, 4, 8, 16 or 32")
    bound = (32 - width) << 8 | (0 if kind == "up" else 31)
    bits = SCALAR_TYPES[value.type].width
    result = fresh(value.type)
    if bits == 32:
        emit(f"shfl.sync.{kind}.b32", result, value, by, bound, mask)
    elif bits == 64:
        halves, moved = [fresh("b32"), fresh("b32")], [fresh("b32"), fresh("b32")]
        emit("mov.b64", halves, value)
        for half, to in zip(halves, moved, strict=True):
            emit(f"shfl.sync.{kind}.b32", to, half, by, bound, mask)
        emit("mov.b64", result, moved)
    else:
        raise DslError(f"a shuffle moves 32 or 64 bits, not .{value.type}", "convert it first")
    return result


def combine(operation: str, left: Register, right: Register) -> Register:
    """Two values as one."""
    if operation not in _OPERATIONS:
        known = ", ".join(sorted(_OPERATIONS))
        raise DslError(f"values are not combined by '{operation}'", f"it is one of {known}")
    scalar = SCALAR_TYPES[left.type]
    if operation in _BITWISE:
        opcode = f"{operation}.b{scalar.width}"
    elif scalar.kind == BITS:
        raise DslError(
            f"'{operation}' needs to know what the bits of .{left.type} mean",
            "declare the register as u, s or f",
        )
    elif operation == "mul":
        opcode = f"mul.{'rn' if scalar.kind == FLOAT else 'lo'}.{left.type}"
    elif operation == "add" and scalar.kind == FLOAT:
        opcode = f"add.rn.{left.type}"
    else:
        opcode = f"{operation}.{left.type}"
    result = fresh(left.type)
    emit(opcode, result, left, right)
    return result


def reduce(operation: str, value: Register, *, width: int = 32, mask: Any = FULL) -> Register:
    """The values of all lanes as one, the same in every lane: ``add``, ``max``, ``and`` ...

    Whole warps of 32-bit integers take ``redux.sync`` where the target has it; everything else
    is a butterfly of shuffles, so that floats are added in one order.
    """
    if width == 32 and _has_redux() and value.type in ("u32", "s32") and operation != "mul":
        type = "b32" if operation in _BITWISE else value.type
        result = fresh(value.type)
        emit(f"redux.sync.{operation}.{type}", result, value, mask)
        return result
    distance = width // 2
    while distance:
        other = shuffle("bfly", value, distance, width=width, mask=mask)
        value = combine(operation, value, other)
        distance //= 2
    return value


def _has_redux() -> bool:
    target = current().module.parsed_target
    return target is not None and target.number >= 80


def scan(operation: str, value: Register, *, width: int = 32, mask: Any = FULL) -> Register:
    """The values of the lanes up to this one, itself included, as one."""
    result = fresh(value.type).set(value)
    distance = 1
    while distance < width:
        other, inside = fresh(value.type), fresh("pred")
        emit("shfl.sync.up.b32", pair(other, inside), result, distance, (32 - width) << 8, mask)
        combined = combine(operation, other, result)
        emit(f"mov.{value.type}", result, combined, when=inside)
        distance *= 2
    return result


def broadcast(value: Register, source: Any = 0, *, width: int = 32, mask: Any = FULL) -> Register:
    """One lane's value, in every lane."""
    return shuffle("idx", value, source, width=width, mask=mask)


def elect() -> Register:
    """A predicate that holds in one lane of the warp, the same each time."""
    chosen = fresh("pred")
    emit("elect.sync", pair("_", chosen), FULL)
    return chosen
