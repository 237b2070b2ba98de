"""Occupancy: how many blocks of a kernel a multiprocessor holds at once.

The rules are those of ``cuda_occupancy.h``, the limits those of CCCL's ``arch_traits.h``;
the tests compare with both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ptxkit.errors import UsageError
from ptxkit.toolchain.cubin import Resources
from ptxkit.toolchain.versions import parse_arch

Limiter = Literal["threads", "warps", "blocks", "registers", "shared", "barriers"]

# Where several stand in the way, the one a programmer can do something about comes first.
_ORDER: tuple[Limiter, ...] = ("threads", "registers", "shared", "barriers", "warps", "blocks")
_NO_LIMIT = 2**31 - 1

WARP = 32
_MAX_BLOCK_THREADS = 1024
_REGISTERS = 65536
_MAX_REGISTERS = 256
_REGISTER_UNIT = 256  # registers are given to a warp in units of this many
_PARTITIONS = 4  # of a multiprocessor; each has its share of the registers
_DEFAULT_SHARED = 48 * 1024  # what a block may have without asking for more


@dataclass(frozen=True, slots=True)
class Limits:
    """What a multiprocessor of one architecture has."""

    threads: int
    """Threads at once."""
    blocks: int
    """Blocks at once."""
    shared: int
    """Bytes of shared memory."""
    reserved: int
    """Bytes of shared memory that the system takes from each block."""
    shared_unit: int
    """Shared memory is given to a block in units of this many bytes."""
    barriers: int | None
    """Barriers; None where they do not limit."""

    @property
    def shared_per_block(self) -> int:
        """The most shared memory a block may ask for."""
        return self.shared - self.reserved

    @property
    def warps(self) -> int:
        """Warps at once."""
        return self.threads // WARP


def _row(
    threads: int, blocks: int, kilobytes: int, barriers: int | None, old: bool = False
) -> Limits:
    return Limits(
        threads, blocks, kilobytes * 1024, 0 if old else 1024, 256 if old else 128, barriers
    )


#: Architecture number -> its limits.
LIMITS: dict[int, Limits] = {
    75: _row(1024, 16, 64, None, old=True),
    80: _row(2048, 32, 164, None),
    86: _row(1536, 16, 100, None),
    87: _row(1536, 16, 164, None),
    88: _row(1536, 16, 100, None),
    89: _row(1536, 24, 100, None),
    90: _row(2048, 32, 228, 64),
    100: _row(2048, 32, 228, 64),
    103: _row(2048, 32, 228, 32),
    110: _row(1536, 24, 228, 24),
    120: _row(1536, 24, 100, 24),
    121: _row(1536, 24, 100, 24),
}


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full one multiprocessor gets."""

    blocks_per_sm: int
    """Blocks at once; 0 means the kernel cannot be launched like this."""
    warps: int
    """Warps at once."""
    fraction: float
    """Of the warps that the multiprocessor could hold."""
    limiter: Limiter
    """What stands in the way of more."""
    limits: Mapping[Limiter, int]
    """Blocks that each resource alone would allow."""


def limits_of(arch: str) -> Limits:
    """The limits of an architecture.

    >>> limits_of("sm_90a").shared // 1024
    228
    """
    target = parse_arch(arch)
    if target.number not in LIMITS:
        known = ", ".join(f"sm_{number}" for number in LIMITS)
        raise UsageError(f"the limits of {target} are not known; they are for {known}")
    return LIMITS[target.number]


def occupancy(
    resources: Resources, block_threads: int, arch: str, dynamic_shared: int = 0
) -> Occupancy:
    """How many blocks of a kernel run on a multiprocessor at once, and what limits them.

    >>> from ptxkit.toolchain import Resources
    >>> needs = Resources(registers=64, shared=0, stack=0, barriers=1, constant=0, local=0, code=0)
    >>> found = occupancy(needs, block_threads=256, arch="sm_90")
    >>> found.blocks_per_sm, found.warps, found.fraction, found.limiter
    (4, 32, 0.5, 'registers')
    """
    if block_threads < 1:
        raise UsageError(f"a block has at least one thread, not {block_threads}")
    if dynamic_shared < 0:
        raise UsageError(f"dynamic_shared counts bytes from 0, not {dynamic_shared}")
    has = limits_of(arch)
    block_warps = -(-block_threads // WARP)
    largest = min(_MAX_BLOCK_THREADS, resources.max_threads or _MAX_BLOCK_THREADS)
    found: dict[Limiter, int] = {
        "threads": _NO_LIMIT if block_threads <= largest else 0,
        "registers": _by_registers(resources.registers, block_warps, has),
        "shared": _by_shared(resources.shared + dynamic_shared, has),
        "warps": has.warps // block_warps,
        "blocks": has.blocks,
    }
    if has.barriers is not None and resources.barriers:
        found["barriers"] = has.barriers // resources.barriers
    blocks = min(found.values())
    limiter = next(name for name in _ORDER if found.get(name) == blocks)
    warps = blocks * block_warps
    return Occupancy(blocks, warps, warps / has.warps, limiter, MappingProxyType(found))


def best_block(resources: Resources, arch: str, dynamic_shared: int = 0) -> int:
    """The number of threads a block, a multiple of 32, that fills a multiprocessor most.

    >>> from ptxkit.toolchain import Resources
    >>> needs = Resources(registers=40, shared=0, stack=0, barriers=1, constant=0, local=0, code=0)
    >>> best_block(needs, "sm_90")
    768
    """
    largest = min(_MAX_BLOCK_THREADS, resources.max_threads or _MAX_BLOCK_THREADS)
    sizes = range(WARP, max(largest, WARP) + 1, WARP)
    # Of equals the largest, as the driver's own calculator does it.
    return max(sizes, key=lambda n: (occupancy(resources, n, arch, dynamic_shared).warps, n))


def _by_registers(registers: int, block_warps: int, has: Limits) -> int:
    per_warp = -(-registers * WARP // _REGISTER_UNIT) * _REGISTER_UNIT
    if per_warp == 0:
        return _NO_LIMIT
    # The check at launch counts the warps of a block in whole rounds of the partitions.
    rounded = -(-block_warps // _PARTITIONS) * _PARTITIONS
    if registers > _MAX_REGISTERS or per_warp * rounded > _REGISTERS:
        return 0
    warps = _REGISTERS // _PARTITIONS // per_warp * _PARTITIONS
    return warps // block_warps


def _by_shared(wanted: int, has: Limits) -> int:
    if wanted > max(has.shared_per_block, _DEFAULT_SHARED):
        return 0
    taken = -(-(wanted + has.reserved) // has.shared_unit) * has.shared_unit
    return has.shared // taken if taken else _NO_LIMIT
