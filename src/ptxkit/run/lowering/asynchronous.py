"""Asynchronous copies, mbarriers, and control over the launch of clusters."""

from __future__ import annotations

from ptxkit._native import NO_SLOT
from ptxkit.run.layout import scalar_bytes
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.atomics import reduction_of, update_of
from ptxkit.run.lowering.memory import SPACES, address_slot, elements, space_of
from ptxkit.run.lowering.words import Lower, types_of, words_of
from ptxkit.syntax import Address, Instruction, evaluate


def _cp(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    if "tensor" in words:
        raise ValueError("copies through tensor maps")
    if "mbarrier" in words:
        place, space = address_slot(low, node.operands[0], space_of(words))
        low.emit("cp.async.mbarrier.arrive", [place], target=space, immediate="noinc" in words)
    elif not {"commit_group", "wait_group", "wait_all", "prefetch"}.isdisjoint(words):
        low.emit("nop", [])  # copies are done when they are started
    elif "bulk" in words:
        _bulk(low, node, words)
    else:
        _small(low, node)


def _small(low: Lowering, node: Instruction) -> None:
    """cp.async: 4, 8 or 16 bytes, some of them zeros instead."""
    to, source, size, *rest = node.operands
    read = ignore = NO_SLOT
    if rest and "L2::cache_hint" in words_of(node):
        rest.pop()
    if rest:
        if low.is_predicate(rest[0]):
            ignore = low.predicate(rest[0])
        else:
            read = low.source(rest[0], "u32")
    place, _ = address_slot(low, to, "shared")
    origin, _ = address_slot(low, source, "global")
    width = int(evaluate(size) or 0)
    if width not in (4, 8, 16):
        raise ValueError(f"a copy of {width} bytes; it has 4, 8 or 16")
    low.emit(
        "cp.async", [place, origin, read, ignore],
        target=SPACES["shared"] | SPACES["global"] << 4, width=width,
    )  # fmt: skip


def _bulk(low: Lowering, node: Instruction, words: list[str]) -> None:
    """cp.async.bulk and cp.reduce.async.bulk; the first two spaces are those of the addresses."""
    to_space, from_space = [word for word in words if word in SPACES][:2]
    addresses = [operand for operand in node.operands if isinstance(operand, Address)]
    others = [operand for operand in node.operands if not isinstance(operand, Address)]
    to, to_number = address_slot(low, addresses[0], to_space)
    source, from_number = address_slot(low, addresses[1], from_space)
    target = to_number | from_number << 4
    barrier = NO_SLOT
    if len(addresses) > 2:
        barrier, number = address_slot(low, addresses[2], to_space)
        target |= number << 8
    slots = [to, source, low.source(others[0], "u32"), barrier]
    if "reduce" in words:
        fields = {"count": update_of(words), "width": reduction_of(words)}
        low.emit("cp.reduce.async.bulk", slots, target=target, **fields)
        return
    mode = 0
    if "multicast::cluster" in words:
        mode = ord("m")
        slots.append(low.source(others[1], "u16"))
    elif "cp_mask" in words:
        mode = ord("b")
        slots.append(low.source(others[-1], "u16"))
    elif "ignore_oob" in words:
        mode = ord("i")
        slots += [low.source(operand, "u32") for operand in others[1:3]]
    low.emit("cp.async.bulk", slots, target=target, immediate=mode)


def store(low: Lowering, node: Instruction) -> None:
    """st.async and st.bulk."""
    words = words_of(node)
    space = space_of(words)
    place, where = address_slot(low, node.operands[0], space)
    if "bulk" in words:
        size = low.new_register("b64").slot
        narrow = low.operand_bytes(node.operands[1]) == 4
        value = low.source(node.operands[1], "u32" if narrow else "u64")
        if narrow:  # u32 to u64, as in native/sim/convert.hpp
            low.emit("cvt", [size, value], target=4 | 6 << 8, width=8, count=4)
        else:
            low.emit("mov.b64", [size, value])
        low.emit("st.bulk", [place, size], target=where)
        return
    scalar = types_of(words)[-1]
    values = [low.source(value, scalar) for value in elements(node.operands[1])]
    barrier, number = NO_SLOT, 0
    if len(node.operands) > 2:
        barrier, number = address_slot(low, node.operands[2], space)
    at = low.program.add_list(low.state.index, values)
    low.emit(
        "st.async", [place, barrier], target=where | number << 8,
        list=at, list_size=len(values), width=scalar_bytes(scalar),
    )  # fmt: skip


def _mbarrier(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    if words[0] == "pending_count":
        first, second = node.operands
        low.emit("mbarrier.pending_count.b64", [low.destination(first), low.source(second, "b64")])
        return
    at = next(n for n, operand in enumerate(node.operands) if isinstance(operand, Address))
    place, space = address_slot(low, node.operands[at], space_of(words))
    rest = node.operands[at + 1 :]
    if words[0] in ("init", "inval"):
        slots = [place, *(low.source(operand, "u32") for operand in rest)]
        low.emit(f"mbarrier.{words[0]}", slots, target=space)
    elif words[0] in ("expect_tx", "complete_tx"):
        sign = 1 if words[0] == "expect_tx" else -1
        slots = [place, low.source(rest[0], "u32")]
        low.emit("mbarrier.transfer", slots, target=space, immediate=sign)
    elif words[0] in ("arrive", "arrive_drop"):
        state = low.destination(node.operands[0]) if at else NO_SLOT
        value = low.source(rest[0], "u32") if rest else NO_SLOT
        counts = [NO_SLOT, value] if "expect_tx" in words else [value, NO_SLOT]
        flags = (words[0] == "arrive_drop") | ("noComplete" in words) << 1
        low.emit("mbarrier.arrive", [place, state, *counts], target=space, immediate=flags)
    else:
        parity = "parity" in words
        value = low.source(rest[0], "u32" if parity else "b64")
        awaited = [NO_SLOT, value] if parity else [value, NO_SLOT]
        result = low.destination(node.operands[0])
        waits = words[0] == "try_wait"
        low.emit("mbarrier.wait", [result, place, *awaited], target=space, immediate=waits)


def _launch_control(low: Lowering, node: Instruction) -> None:
    """clusterlaunchcontrol: take over the work of a cluster that has not begun."""
    words = words_of(node)
    if words[0] == "try_cancel":
        answer, space = address_slot(low, node.operands[0], space_of(words))
        barrier, number = address_slot(low, node.operands[1], space_of(words))
        everywhere = "multicast::cluster::all" in words
        low.emit(
            "cluster.try_cancel", [answer, barrier], target=space | number << 8,
            immediate=everywhere,
        )  # fmt: skip
        return
    target, answer_operand = node.operands
    value = low.source(answer_operand, "b128")
    if words[1] == "is_canceled":
        low.emit("cluster.is_canceled", [low.destination(target), value])
        return
    axes = ["xyz".index(words[1][-1])] if "::" in words[1] else range(4)
    for axis, element in zip(axes, elements(target), strict=False):
        if element.kind != "Sink":
            low.emit("cluster.first_block", [low.destination(element), value], immediate=axis)


LOWERINGS: dict[str, Lower] = {
    "cp": _cp,
    "mbarrier": _mbarrier,
    "clusterlaunchcontrol": _launch_control,
}
