"""How large values can get: what a launch allows, masks, shifts."""

from __future__ import annotations

from ptxkit.decompiler.lift.values import Value

_LIMITS = {
    "threadIdx.x": 1023, "threadIdx.y": 1023, "threadIdx.z": 63,
    "blockDim.x": 1024, "blockDim.y": 1024, "blockDim.z": 64,
    "blockIdx.x": (1 << 31) - 2, "blockIdx.y": 65534, "blockIdx.z": 65534,
    "warpSize": 32, "gridDim.x": (1 << 31) - 1, "gridDim.y": 65535, "gridDim.z": 65535,
}  # fmt: skip


def largest(value: Value) -> int:
    """The largest value that bits without a sign can have."""
    op, full = value.op, (1 << value.width) - 1
    if op == "const":
        return int(value.data)
    if op == "builtin":
        return _LIMITS[value.data]
    if op == "and" and value.width > 1:
        return min(largest(value.args[0]), largest(value.args[1]))
    if op == "zext":
        return largest(value.args[0])
    if op == "load" and value.data.count == 1:
        return full
    if op == "add":
        total = largest(value.args[0]) + largest(value.args[1])
        return total if total <= full else full
    if op == "mul":
        product = largest(value.args[0]) * largest(value.args[1])
        return product if product <= full else full
    if op == "shl" and value.args[1].op == "const":
        moved = largest(value.args[0]) << value.args[1].data
        return moved if moved <= full else full
    if op == "shr.u" and value.args[1].op == "const":
        return largest(value.args[0]) >> int(value.args[1].data)
    if op == "select":
        return max(largest(value.args[1]), largest(value.args[2]))
    return full


def fits(parts: list[tuple[Value, int, bool]], number: int) -> bool:
    """Whether a sum of terms times factors stays within 31 bits and never below 0."""
    if number < 0 or any(times < 0 for _, times, _ in parts):
        return False
    return sum(largest(term) * times for term, times, _ in parts) + number < 1 << 31
