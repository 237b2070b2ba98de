"""What the lowerings share: reading an opcode's modifiers."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.lower import Lowering
from ptxkit.syntax import Instruction

Lower = Callable[[Lowering, Instruction], None]

ROUNDING = {"rn": 0, "rz": 1, "rm": 2, "rp": 3, "rni": 0, "rzi": 1, "rmi": 2, "rpi": 3}
#: The bits of a float mode above the rounding; see native/sim/float_mode.hpp.
_MODE_FLAGS = {
    "ftz": 4, "sat": 8, "NaN": 16, "xorsign": 32, "relu": 64, "oob": 128,
    "rni": 256, "rzi": 256, "rmi": 256, "rpi": 256, "satfinite": 512,
}  # fmt: skip


def words_of(node: Instruction) -> list[str]:
    """The modifiers without their dots."""
    return [modifier[1:] for modifier in node.modifiers]


def types_of(words: list[str]) -> list[str]:
    """The modifiers that are types."""
    return [word for word in words if word in SCALAR_TYPES]


def float_mode(words: list[str]) -> int:
    """How a float instruction rounds, flushes, saturates ..., as bits."""
    bits = next((ROUNDING[word] for word in words if word in ROUNDING), 0)
    return bits | sum(bit for word, bit in _MODE_FLAGS.items() if word in words)


def bits_type(scalar: str) -> str:
    """The untyped bits as wide as a type: ``b32`` for ``f32``."""
    return f"b{SCALAR_TYPES[scalar].width}"


def plain(operation: str) -> Lower:
    """Operands that are all destinations, for an operation without modifiers."""

    def lowered(low: Lowering, node: Instruction) -> None:
        low.emit(operation, [low.destination(operand) for operand in node.operands])

    return lowered
