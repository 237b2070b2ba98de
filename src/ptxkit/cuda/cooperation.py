"""What threads do together, in the evaluator: barriers, warp exchanges and atomics.

Threads run in step, so a barrier has nothing to wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.cuda.storage import EvaluationError, PointerValue, Value
from ptxkit.cuda.types import INT, UINT, Scalar, Vector

if TYPE_CHECKING:
    from ptxkit.cuda.expressions import Expressions

Array = Any
_Operation = Callable[["Expressions", list[Any], Array, bool], Value | PointerValue]


def _barrier(machine: Expressions, arguments: list[Any], mask: Array, unused: bool) -> Value:
    return machine.nothing()


# ---- the warp ----------------------------------------------------------------------------


def _lanes(machine: Expressions) -> tuple[Array, Array]:
    """The first thread of each thread's warp, and its lane."""
    lane = machine.local % 32
    return machine.threads - lane, lane


def _width(machine: Expressions, arguments: list[Any], place: int) -> Array:
    if len(arguments) > place:
        return machine.scalar(arguments[place]).data.astype(np.int64)
    return np.full(machine.count, 32, np.int64)


def _shuffle(source: Callable[[Array, Array, Array], Array]) -> _Operation:
    """A shuffle; `source` gives the lane within the segment to read, and stays when outside."""

    def run(machine: Expressions, arguments: list[Any], mask: Array, unused: bool) -> Value:
        value = machine.scalar(arguments[1])
        operand = machine.scalar(arguments[2]).data.astype(np.int64)
        width = _width(machine, arguments, 3)
        first, lane = _lanes(machine)
        segment = lane // width * width
        wanted = source(lane - segment, operand, width)
        inside = (wanted >= 0) & (wanted < width)
        lane_read = np.where(inside, segment + wanted, lane)
        thread = first + lane_read
        # The last warp may have fewer threads than lanes.
        last = machine.threads - machine.local + machine.block_size
        thread = np.where(thread < last, thread, machine.threads)
        return Value(value.data[thread], value.type)

    return run


def _vote(combine: Callable[[Array], Array], type: Scalar) -> _Operation:
    """A vote; `combine` reduces the lanes of warps, laid out as rows of 32."""

    def run(machine: Expressions, arguments: list[Any], mask: Array, unused: bool) -> Value:
        member = machine.scalar(arguments[0]).data.astype(np.uint64)
        lane = machine.local % 32
        asked = machine.scalar(arguments[1]).data != 0 if len(arguments) > 1 else mask
        taking = mask & ((member >> lane.astype(np.uint64)) & np.uint64(1)).astype(bool)
        per_block = -(-machine.block_size // 32)
        warp = machine.blocks * per_block + machine.local // 32
        rows = int(warp.max(initial=0)) + 1
        # 2: no such lane, or not taking part; such lanes count neither as true nor as false.
        table = np.full((rows, 32), 2, np.int8)
        table[warp[taking], lane[taking]] = asked[taking]
        return Value(combine(table)[warp], type)

    return run


def _ballot(table: Array) -> Array:
    bits = (table == 1).astype(np.uint64) << np.arange(32, dtype=np.uint64)
    return bits.sum(axis=1).astype(np.uint32)


def _active(machine: Expressions, arguments: list[Any], mask: Array, unused: bool) -> Value:
    full = Value(np.full(machine.count, 0xFFFFFFFF, np.uint32), UINT)
    vote = _vote(_ballot, UINT)(machine, [full], mask, unused)
    assert isinstance(vote, Value)
    return vote


def _reduce(function: Any) -> _Operation:
    def run(machine: Expressions, arguments: list[Any], mask: Array, unused: bool) -> Value:
        value = machine.scalar(arguments[1])
        first, _ = _lanes(machine)
        result = value.data.copy()
        for start in np.unique(first[mask]):
            members = mask & (first == start)
            result[members] = function.reduce(value.data[members])
        return Value(result, value.type)

    return run


# ---- atomics -----------------------------------------------------------------------------


def _increment(old: Any, limit: Any) -> Any:
    return 0 if old >= limit else old + 1


def _decrement(old: Any, limit: Any) -> Any:
    return limit if old == 0 or old > limit else old - 1


_UPDATES: dict[str, tuple[Callable[..., Any], Any]] = {
    # One step at a time, and as a numpy operation where the order does not matter.
    "Add": (lambda old, value: old + value, np.add),
    "Sub": (lambda old, value: old - value, np.subtract),
    "Min": (min, np.minimum),
    "Max": (max, np.maximum),
    "And": (lambda old, value: old & value, np.bitwise_and),
    "Or": (lambda old, value: old | value, np.bitwise_or),
    "Xor": (lambda old, value: old ^ value, np.bitwise_xor),
    "Exch": (lambda old, value: value, None),
    "Inc": (_increment, None),
    "Dec": (_decrement, None),
    "CAS": (lambda old, compare, value: value if old == compare else old, None),
}


def _atomic(name: str) -> _Operation:
    step, at_once = _UPDATES[name]

    def run(machine: Expressions, arguments: list[Any], mask: Array, unused: bool) -> Value:
        pointer = arguments[0]
        if not isinstance(pointer, PointerValue) or isinstance(pointer.target, Vector):
            raise EvaluationError(f"atomic{name} needs a pointer to a number")
        target = pointer.target
        assert isinstance(target, Scalar)
        operands = [machine.converted(a, target).data for a in arguments[1:]]  # type: ignore[union-attr]
        offset = np.broadcast_to(pointer.offset, mask.shape)
        data, rows = pointer.buffer.data, pointer.buffer.rows
        outside = mask & ((offset < 0) | (offset >= data.shape[1]))
        if outside.any():
            raise EvaluationError(
                f"atomic{name} uses element {int(offset[np.argmax(outside)])} of "
                f"'{pointer.buffer.name}', which has {data.shape[1]}"
            )
        places = (rows[mask], offset[mask])
        old = np.zeros(machine.count, data.dtype)
        if unused and at_once is not None:
            at_once.at(data, places, operands[0][mask])
        else:
            taking = np.flatnonzero(mask)
            for thread, row, column in zip(taking, *places, strict=True):
                old[thread] = data[row, column]
                data[row, column] = step(data[row, column], *(o[thread] for o in operands))
        return Value(old, target)

    return run


COOPERATION: dict[str, _Operation] = {
    **dict.fromkeys(
        ("__syncthreads", "__syncwarp", "__threadfence", "__threadfence_block"), _barrier
    ),
    "__shfl_sync": _shuffle(lambda lane, operand, width: operand % width),
    "__shfl_up_sync": _shuffle(lambda lane, operand, width: lane - operand),
    "__shfl_down_sync": _shuffle(lambda lane, operand, width: lane + operand),
    "__shfl_xor_sync": _shuffle(lambda lane, operand, width: lane ^ operand),
    "__ballot_sync": _vote(_ballot, UINT),
    "__any_sync": _vote(lambda table: (table == 1).any(axis=1).astype(np.int32), INT),
    "__all_sync": _vote(lambda table: (table != 0).all(axis=1).astype(np.int32), INT),
    "__activemask": _active,
    "__reduce_add_sync": _reduce(np.add),
    "__reduce_min_sync": _reduce(np.minimum),
    "__reduce_max_sync": _reduce(np.maximum),
    "__reduce_and_sync": _reduce(np.bitwise_and),
    "__reduce_or_sync": _reduce(np.bitwise_or),
    "__reduce_xor_sync": _reduce(np.bitwise_xor),
    **{f"atomic{name}": _atomic(name) for name in _UPDATES},
}  # fmt: skip
"""Functions by name."""
