"""What threads do before a fence stays before it, in both of two kernels.

The simulator runs threads in one order, so that a store on the wrong side of a fence does no harm
there. Instead single threads are followed: from one fence, barrier, acquire or release to the next
each must touch the same memory in both. What is volatile or atomic keeps its order as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ptxkit.decompiler.verify.ordering import Order, order_of
from ptxkit.run.trace import Trace, TraceRecord
from ptxkit.syntax import Instruction

#: What orders the memory around it, whatever its own semantics are.
_ALWAYS = frozenset(("fences", "barriers"))
#: Accesses to memory that others may see, or change, meanwhile.
_STRONG = frozenset(("ordered loads", "ordered stores"))
_Bytes = set[int]


@dataclass(slots=True)
class Stretch:
    """What a thread does from one place that orders memory to the next."""

    loads: _Bytes = field(default_factory=set)
    stores: _Bytes = field(default_factory=set)
    strong: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    """Volatile and atomic accesses, in order: their kinds and places."""
    end: Order | None = None
    place: tuple[int, ...] = ()
    """Where the access is that ends it, if that is one."""


def ordered(instructions: Iterable[Instruction]) -> bool:
    """Whether there is something among instructions that orders memory, but barriers.

    With barriers, what is volatile is enough: that it races is no fault, so none is seen.

    >>> import ptxkit
    >>> text = ".func f() {{ bar.warp.sync -1; {} st.volatile.shared.u32 [a], b; }}"
    >>> waits = ptxkit.parse(text.format(""))["f"].instructions
    >>> ordered(waits), ordered(waits[:1]), ordered(waits[1:])
    (True, False, False)
    """
    orders = [order for one in instructions if (order := order_of(one)) is not None]
    kinds = {one.kind for one in orders}
    if "barriers" in kinds and not _STRONG.isdisjoint(kinds):
        return True
    return any(one.kind != "barriers" and (_separates(one) or one.semantics) for one in orders)


def _separates(order: Order) -> bool:
    return order.kind in _ALWAYS or bool(order.semantics)


def stretches(trace: Trace, memory: list[range]) -> list[Stretch]:
    """What a thread did to some memory, in parts; what it does again at once counts once."""
    found = [Stretch()]
    for record in trace:
        node = record.instruction
        if node is None or not record.active:
            continue
        order = order_of(node)
        loads, stores = _touched(record, memory)
        last = found[-1]
        if order is not None and _separates(order):
            last.end, last.place = order, _place(loads | stores)
            if len(found) > 1 and found[-2] == last:
                found.pop()  # a thread that waits for another looks again and again
            found.append(Stretch())
            continue
        if order is not None:
            again = order.kind, _place(loads | stores)
            if not last.strong or last.strong[-1] != again:
                last.strong.append(again)
        elif ".nc" not in node.modifiers:
            last.loads |= loads
        last.stores |= stores
    return found


def _touched(record: TraceRecord, memory: list[range]) -> tuple[_Bytes, _Bytes]:
    touched: tuple[_Bytes, _Bytes] = set(), set()
    for access in record.accesses:
        if access.space == "global" and any(access.address in one for one in memory):
            touched[access.write].update(range(access.address, access.address + access.size))
    return touched


def _place(touched: _Bytes) -> tuple[int, ...]:
    return tuple(sorted(touched))


def misordered(first: list[Stretch], second: list[Stretch]) -> str:
    """What a thread does elsewhere in the second of two kernels; empty where nothing is."""
    if len(first) != len(second):
        return f"a thread orders memory {len(second) - 1:,} times for {len(first) - 1:,}"
    for mine, theirs in zip(first, second, strict=True):
        where = f" before {mine.end}" if mine.end is not None else " after all that orders memory"
        if mine.end is not None and theirs.end is not None and not theirs.end.covers(mine.end):
            return f"there is {theirs.end} for {mine.end}"
        if mine.place != theirs.place:
            return f"other memory is ordered by {mine.end}"
        if mine.stores != theirs.stores:
            return f"a thread writes other memory{where}"
        # What was written in the same stretch need not be read again.
        if theirs.loads - mine.loads - mine.stores or mine.loads - theirs.loads - theirs.stores:
            return f"a thread reads other memory{where}"
        if mine.strong != theirs.strong:
            return f"volatile or atomic accesses are in another order{where}"
    return ""
