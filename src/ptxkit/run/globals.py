"""The module's own variables: memory for them, and their initial values."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from ptxkit._native import Node
from ptxkit.errors import UsageError
from ptxkit.run.layout import align, scalar_bytes, variable_size
from ptxkit.syntax import Module, evaluate


class ModuleMemory:
    """The ``.global`` and ``.const`` variables of a loaded module, and its shared layout."""

    def __init__(self, module: Module) -> None:
        self.arrays: dict[str, npt.NDArray[np.uint8]] = {}
        self.read_only: set[str] = set()
        self.shared: dict[str, int] = {}
        self.shared_bytes = 0
        pending: list[tuple[str, str, int, tuple[int | None, ...], Node]] = []
        dynamic: list[tuple[str, int]] = []
        for variable in module.variables:
            for one in variable.declarators:
                size, alignment = variable_size(variable, one)
                if variable.space in ("global", "const"):
                    self._allocate(one.name, size, max(alignment, 16))
                    if variable.space == "const":
                        self.read_only.add(one.name)
                    if one.initializer is not None:
                        sizes = one.dimensions
                        if variable.vector > 1:
                            sizes = (*sizes, variable.vector)
                        pending.append((one.name, variable.type, 0, sizes, one.initializer))
                elif variable.space == "shared" and size == 0:
                    dynamic.append((one.name, alignment))
                elif variable.space == "shared":
                    self.shared_bytes = align(self.shared_bytes, alignment)
                    self.shared[one.name] = self.shared_bytes
                    self.shared_bytes += size
        self.dynamic = dynamic
        for name, scalar, offset, sizes, value in pending:
            self._fill(name, scalar, offset, sizes, value)

    def _allocate(self, name: str, size: int, alignment: int) -> None:
        raw = np.zeros(max(size, 1) + alignment, dtype=np.uint8)
        start = -raw.ctypes.data % alignment
        self.arrays[name] = raw[start : start + max(size, 1)]

    def addresses(self) -> dict[str, int]:
        """The address of each variable."""
        return {name: array.ctypes.data for name, array in self.arrays.items()}

    def _fill(
        self, name: str, scalar: str, offset: int, sizes: tuple[int | None, ...], value: Node
    ) -> int:
        size = scalar_bytes(scalar)
        if value.kind == "InitializerList":
            inner = size
            for extent in sizes[1:]:
                inner *= extent or 1
            for child in value.children:
                self._fill(name, scalar, offset, sizes[1:], child)
                offset += inner
            return offset
        self._store(name, offset, self._bits(scalar, value), size)
        return offset + size

    def _store(self, name: str, offset: int, bits: int, size: int) -> None:
        data = (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        self.arrays[name][offset : offset + size] = np.frombuffer(data, dtype=np.uint8)

    def _bits(self, scalar: str, value: Node) -> int:
        number = evaluate(value)
        if isinstance(number, float):
            if scalar in ("f64", "b64"):
                return int.from_bytes(struct.pack("<d", number), "little")
            if scalar in ("f16", "b16"):
                return int.from_bytes(struct.pack("<e", number), "little")
            return int.from_bytes(struct.pack("<f", number), "little")
        if number is not None:
            return int(number)
        return self._symbol(value)

    def _symbol(self, value: Node) -> int:
        """The address an initialiser names: ``x``, ``x+4``, ``generic(x)``, ``0xff(x)``."""
        if value.kind == "Expression":
            first, *rest = value.children
            return self._symbol(first) + sum(int(evaluate(one) or 0) for one in rest)
        if value.kind == "Application":
            if len(value.children) == 2 and value.children[0].kind == "Integer":
                mask = int(evaluate(value.children[0]) or 0)
                shift = (mask & -mask).bit_length() - 1
                return (self._symbol(value.children[1]) & mask) >> shift
            return self._symbol(value.children[-1])
        if value.text in self.arrays:
            return int(self.arrays[value.text].ctypes.data)
        raise UsageError(
            f"line {value.line}: the initial value '{value.text}' is not simulated; "
            "only addresses of variables are"
        )
