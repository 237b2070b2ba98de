"""Branches, barriers, and what needs no simulation."""

from __future__ import annotations

from ptxkit._native import NO_SLOT
from ptxkit.run.lower import Lowering
from ptxkit.run.lowering.words import Lower, plain, words_of
from ptxkit.syntax import Instruction


def _bra(low: Lowering, node: Instruction) -> None:
    at = low.emit("bra", [])
    low.state.fixups.append((at, node.operands[0]))


def _brx(low: Lowering, node: Instruction) -> None:
    declaration = low.scopes.resolve(node.operands[1])
    table = declaration.node.next_sibling if declaration is not None else None
    if table is None or table.kind != "BranchTargets":
        raise ValueError("this table of targets")
    at = low.program.add_list(low.state.index, [0] * len(table.children))
    for number, name in enumerate(table.children):
        low.state.table_fixups.append((at + number, name))
    slot = low.source(node.operands[0], "u32")
    low.emit("brx.idx", [slot], list=at, list_size=len(table.children))


def _ret(low: Lowering, node: Instruction) -> None:
    low.leave()


def _bar(low: Lowering, node: Instruction) -> None:
    words = words_of(node)
    if "warp" in words:
        low.emit("bar.warp", [low.source(node.operands[0], "u32")])
        return
    if "cluster" in words:
        low.emit(f"barrier.cluster.{'arrive' if 'arrive' in words else 'wait'}", [])
        return
    operands = list(node.operands)
    destination = predicate = NO_SLOT
    kind = "s"
    if "red" in words:
        kind = "p" if "popc" in words else "n" if "and" in words else "o"
        destination = low.destination(operands.pop(0))
        predicate = low.predicate(operands.pop())
    elif "arrive" in words:
        kind = "a"
    slots = [low.source(operand, "u32") for operand in operands]
    slots += [NO_SLOT] * (2 - len(slots))
    low.emit("bar", [destination, *slots, predicate], immediate=ord(kind))


def _sleep(low: Lowering, node: Instruction) -> None:
    low.emit("nanosleep", [])


def _nothing(low: Lowering, node: Instruction) -> None:
    low.emit("nop", [])


LOWERINGS: dict[str, Lower] = {
    "bra": _bra,
    "brx": _brx,
    "ret": _ret,
    "exit": plain("exit"),
    "trap": plain("trap"),
    "bar": _bar,
    "barrier": _bar,
    "nanosleep": _sleep,
    **dict.fromkeys(
        "membar fence prefetch prefetchu discard applypriority pmevent brkpt "
        "griddepcontrol setmaxnreg".split(),
        _nothing,
    ),
}
