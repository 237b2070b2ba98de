"""Memory at the same addresses in every process.

A kernel sees where its memory lies: it may compare pointers, or hash them. With memory wherever the
system puts it, a launch could say one thing today and another tomorrow.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import weakref
from typing import Any, ClassVar

import numpy as np

#: Where nothing else is, how much of it one owner has, and how many may have some at once.
_START, _SPAN, _OWNERS = 0x2000_0000_0000, 1 << 36, 64
#: Between two pieces, so that what goes beyond one never gets to the next.
_GAP = 1 << 20
#: To fail where something is already, and not to replace it.
_FIXED = 0x100000
_FAILED = ctypes.c_void_p(-1).value


class Rooms:
    """Gives out memory; the first one that is alive does so always at the same addresses.

    >>> rooms = Rooms()
    >>> first, second = rooms.take(100, 256), rooms.take(100, 256)
    >>> first.ctypes.data % 256, second.ctypes.data > first.ctypes.data
    (0, True)
    """

    _taken: ClassVar[set[int]] = set()

    def __init__(self) -> None:
        free = [number for number in range(_OWNERS) if number not in self._taken]
        self._next = _START + free[0] * _SPAN if free and sys.platform == "linux" else 0
        if self._next:
            self._taken.add(free[0])
            weakref.finalize(self, self._taken.discard, free[0])

    def take(self, size: int, alignment: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """So many bytes of zeros, where they are to lie; anywhere if that is not to be had."""
        if self._next:
            found = _mapped(self._next, size)
            self._next += -(-(size + _GAP) // _GAP) * _GAP
            if found is not None:
                return found
        room = np.zeros(size + alignment, np.uint8)
        skip = -int(room.ctypes.data) % alignment
        return room[skip : skip + size]


def _mapped(address: int, size: int) -> np.ndarray[Any, np.dtype[np.uint8]] | None:
    """Fresh memory at an address, if there is none yet; given back with the last of its users."""
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    access = mmap.PROT_READ | mmap.PROT_WRITE
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED
    found = library.mmap(address, size, access, kind, -1, 0)
    if found in (None, _FAILED):
        return None
    if found != address:  # an old system, which takes the address for a wish
        library.munmap(found, size)
        return None
    owner = (ctypes.c_uint8 * size).from_address(address)
    weakref.finalize(owner, library.munmap, address, size)
    return np.ctypeslib.as_array(owner)
