"""Between which numbers an integer lies, where that is plain."""

from __future__ import annotations

from ptxkit.decompiler.neural.values import Value, is_literal


def base(value: Value) -> str:
    """``threadIdx`` of ``threadIdx.x``."""
    return str(value.payload).partition(".")[0]


def number(value: Value) -> float | int:
    """The number of a literal."""
    assert isinstance(value.payload, int | float)
    return value.payload


_LIMITS = {"threadIdx": (0, 1023), "blockDim": (1, 1024), "blockIdx": (0, 2**31 - 2),
           "gridDim": (1, 2**31 - 1)}  # fmt: skip


def _bounds(value: Value) -> tuple[int, int] | None:
    """The least and the most a 32-bit integer can be, where that is plain."""
    head, _, kind = value.operator.partition(".")
    if is_literal(value):
        return int(number(value)), int(number(value))
    if value.operator == "special":
        return _LIMITS.get(base(value))
    if head in ("ext", "load") and kind in ("u8", "u16", "s8", "s16"):
        top = 1 << int(kind[1:])
        return (0, top - 1) if kind[0] == "u" else (-top // 2, top // 2 - 1)
    parts = [_bounds(x) for x in value.operands]
    if head == "&" and any(p is not None and p[0] >= 0 for p in parts):
        return 0, min(p[1] for p in parts if p is not None and p[0] >= 0)
    if not parts or None in parts:
        return (0, 2**30) if head in (">>", "/") and kind[:1] == "u" and _shrinks(value) else None
    known = [p for p in parts if p is not None]
    result = None
    if head == "+" and len(known) == 2:
        result = known[0][0] + known[1][0], known[0][1] + known[1][1]
    elif head == "-" and len(known) == 2:
        result = known[0][0] - known[1][1], known[0][1] - known[1][0]
    elif head == ">>" and known[0][0] >= 0 and 0 <= known[1][0] == known[1][1] < 32:
        result = known[0][0] >> known[1][0], known[0][1] >> known[1][0]
    elif head == "?" and len(known) == 3:
        result = min(known[1][0], known[2][0]), max(known[1][1], known[2][1])
    if result is None or result[0] < -(2**31) or result[1] >= 2**31:
        return None
    return result


def _shrinks(value: Value) -> bool:
    if not is_literal(value.operands[1]):
        return False
    return number(value.operands[1]) > (0 if value.operator[0] == ">" else 1)


def not_negative(value: Value) -> bool:
    """Whether a 32-bit integer has its sign bit clear whatever happens."""
    bounds = _bounds(value) if value.type == "i32" else None
    return bounds is not None and bounds[0] >= 0
