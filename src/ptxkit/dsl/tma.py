"""Bulk and tensor copies: one thread starts them, an mbarrier says when they are done.

A tensor copy takes a box out of a tensor in global memory that a tensor map describes. The
kernel has the map as a parameter ``x: tensor_map``; :func:`ptxkit.run.tensor_map` makes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ptxkit.dsl.arithmetic import emit, fresh
from ptxkit.dsl.barriers import Barrier
from ptxkit.dsl.declarations import Words
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import Operand, addr
from ptxkit.dsl.registers import Register, Variable
from ptxkit.dsl.shared import SharedTile
from ptxkit.dsl.signatures import Named

#: A parameter that is a tensor map, as the driver makes it.
tensor_map = Named(Words((".param", ".align", "64", ".b8")), "[128]")


def map_address(map: Any) -> Register:
    """The generic address of a tensor map that is a parameter."""
    if isinstance(map, Register):
        return map
    if not isinstance(map, Variable) or map.space != "param":
        raise DslError(
            f"{map!r} is no tensor map", "write 'x: tensor_map' in the kernel's signature"
        )
    own, generic = fresh("u64"), fresh("u64")
    emit("mov.b64", own, map)
    emit("cvta.param.u64", generic, own)
    return generic


def _shared(place: Any) -> Register:
    return place.start() if isinstance(place, SharedTile) else place


def load(
    to: SharedTile | Register,
    map: Any,
    coordinates: Sequence[Any],
    barrier: Barrier,
    *,
    blocks: Any = None,
    hint: Any = None,
    when: Any = None,
) -> None:
    """Copy a box to shared memory; ``coordinates`` count from the innermost dimension.

    With ``blocks``, a mask, every block of the cluster in it gets the box, in the same place.
    """
    opcode = f"cp.async.bulk.tensor.{len(coordinates)}d.shared::cluster.global.tile"
    opcode += ".mbarrier::complete_tx::bytes"
    more = []
    if blocks is not None:
        opcode += ".multicast::cluster"
        more.append(blocks)
    if hint is not None:
        opcode += ".L2::cache_hint"
        more.append(hint)
    source = addr(map_address(map), None, list(coordinates))
    emit(opcode, addr(_shared(to)), source, barrier.at, *more, when=when)


def load_tile(
    tile: SharedTile,
    map: Any,
    row: Any,
    column: Any,
    barrier: Barrier,
    *,
    when: Any = None,
    **more: Any,
) -> None:
    """Copy a whole tile, one box for each of its panels."""
    for panel in range(tile.panels):
        place = tile.start(0, panel * tile.panel)
        inner = column + panel * tile.panel if panel else column
        load(place, map, (inner, row), barrier, when=when, **more)


def store(
    map: Any, coordinates: Sequence[Any], source: SharedTile | Register, *, when: Any = None
) -> None:
    """Copy a box from shared to global memory; what lies outside the tensor is not written."""
    opcode = f"cp.async.bulk.tensor.{len(coordinates)}d.global.shared::cta.tile.bulk_group"
    to = addr(map_address(map), None, list(coordinates))
    emit(opcode, to, addr(_shared(source)), when=when)


def store_tile(map: Any, row: Any, column: Any, tile: SharedTile, *, when: Any = None) -> None:
    """Copy a whole tile to global memory, one box for each of its panels."""
    for panel in range(tile.panels):
        inner = column + panel * tile.panel if panel else column
        store(map, (inner, row), tile.start(0, panel * tile.panel), when=when)


def prefetch(map: Any) -> None:
    """Fetch a tensor map before it is used."""
    emit("prefetch.tensormap", addr(map_address(map)))


def copy_in(to: Any, source: Any, count: Any, barrier: Barrier, *, when: Any = None) -> None:
    """Copy bytes that follow each other to shared memory: a multiple of 16, aligned so."""
    opcode = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    emit(opcode, _address(_shared(to)), _address(source), count, barrier.at, when=when)


def copy_out(to: Any, source: Any, count: Any, *, when: Any = None) -> None:
    """Copy bytes that follow each other from shared to global memory."""
    opcode = "cp.async.bulk.global.shared::cta.bulk_group"
    emit(opcode, _address(to), _address(_shared(source)), count, when=when)


def _address(place: Any) -> Operand:
    return place if isinstance(place, Operand) and place.text.startswith("[") else addr(place)


def commit() -> None:
    """End a group of copies to global memory."""
    emit("cp.async.bulk.commit_group")


def wait(pending: int = 0, *, read: bool = False) -> None:
    """Wait for all groups but the last ``pending``; with ``read``, until they have been read."""
    emit(f"cp.async.bulk.wait_group{'.read' if read else ''}", pending)
