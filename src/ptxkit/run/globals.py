"""The module's own variables: memory for them, and their initial values."""

from __future__ import annotations

import struct
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ptxkit._native import Node
from ptxkit.errors import UnknownNameError, UsageError
from ptxkit.run.layout import scalar_bytes, variable_size
from ptxkit.run.textures import Surface
from ptxkit.syntax import Module, evaluate

#: Addresses of functions: this, plus 16 for each function of the module before it.
FUNCTION_WINDOW = 0x4000000000000000

#: A buffer as the simulator takes it: address, bytes, writable, what to call it, constant.
BufferRow = tuple[int, int, bool, str, bool]


class ModuleMemory:
    """The ``.global`` and ``.const`` variables of a loaded module, and what is shared.

    >>> import ptxkit
    >>> m = ptxkit.parse(".global .u32 x[2] = {1, 2}; .shared .b8 s[12]; .func f() { ret; }")
    >>> memory = ModuleMemory(m)
    >>> memory.arrays["x"].tolist(), memory.shared["s"], hex(memory.functions["f"])
    ([1, 0, 0, 0, 2, 0, 0, 0], (12, 1), '0x4000000000000000')
    """

    def __init__(self, module: Module) -> None:
        self.arrays: dict[str, npt.NDArray[np.uint8]] = {}
        self.read_only: set[str] = set()
        #: Variables of .texref and .surfref, and what they stand for.
        self.textures: dict[str, Surface | None] = {}
        #: Bytes and alignment of the shared variables outside of functions; 0 bytes: dynamic.
        self.shared: dict[str, tuple[int, int]] = {}
        self.functions: dict[str, int] = {}
        #: The names of functions and variables in a variable's initial value.
        self.references: dict[str, set[str]] = {}
        for function in module.functions:
            self.functions.setdefault(function.name, FUNCTION_WINDOW + 16 * len(self.functions))
        pending: list[tuple[str, str, tuple[int | None, ...], Node]] = []
        for variable in module.variables:
            for one in variable.declarators:
                size, alignment = variable_size(variable, one)
                if variable.space in ("global", "const"):
                    if one.name in self.arrays and one.initializer is None:
                        continue  # declared again, as .extern
                    self._allocate(one.name, size, max(alignment, 16))
                    if variable.type in ("texref", "surfref"):
                        self.textures[one.name] = None
                    if variable.space == "const":
                        self.read_only.add(one.name)
                    if one.initializer is not None:
                        sizes = one.dimensions
                        if variable.vector > 1:
                            sizes = (*sizes, variable.vector)
                        pending.append((one.name, variable.type, sizes, one.initializer))
                elif variable.space.startswith("shared"):
                    self.shared[one.name] = size, alignment
        self.addresses = {name: array.ctypes.data for name, array in self.arrays.items()}
        for name, scalar, sizes, value in pending:
            self._fill(name, scalar, 0, sizes, value)

    @cached_property
    def buffers(self) -> list[BufferRow]:
        """The variables, and what textures among them stand for, as buffers of the simulator."""
        variables = [
            (self.addresses[name], array.nbytes, name not in self.read_only, f"variable '{name}'",
             name in self.read_only)
            for name, array in self.arrays.items()
        ]  # fmt: skip
        bound = [one.buffer(f"'{name}'") for name, one in self.textures.items() if one is not None]
        return variables + bound

    def bind(self, name: str, texture: Surface) -> None:
        """Make a ``.texref`` or ``.surfref`` stand for a texture or surface."""
        if name not in self.textures:
            raise UnknownNameError("texture or surface reference", name, self.textures)
        self.textures[name] = texture
        self._store(name, 0, texture.handle, 8)
        self.__dict__.pop("buffers", None)  # made anew for the next launch

    def reached_functions(self, variable: str) -> set[str]:
        """The functions whose addresses a variable holds, or variables that it points to."""
        seen: set[str] = set()
        pending = [variable]
        while pending:
            for name in self.references.get(pending.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    pending.append(name)
        return seen & self.functions.keys()

    def _allocate(self, name: str, size: int, alignment: int) -> None:
        try:
            raw = np.zeros(max(size, 1) + alignment, dtype=np.uint8)
        except (MemoryError, ValueError) as error:  # numpy's word for more than an address can hold
            raise UsageError(
                f"the variable '{name}' takes {size:,} bytes, more than there is memory for"
            ) from error
        start = -raw.ctypes.data % alignment
        self.arrays[name] = raw[start : start + max(size, 1)]

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
        self._store(name, offset, self._bits(name, scalar, value), size)
        return offset + size

    def _store(self, name: str, offset: int, bits: int, size: int) -> None:
        if offset + size > len(self.arrays[name]):
            raise UsageError(f"the variable '{name}' has more initial values than room for them")
        data = (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        self.arrays[name][offset : offset + size] = np.frombuffer(data, dtype=np.uint8)

    def _bits(self, owner: str, scalar: str, value: Node) -> int:
        number = evaluate(value)
        if isinstance(number, float):
            if scalar in ("f64", "b64"):
                return int.from_bytes(struct.pack("<d", number), "little")
            if scalar in ("f16", "b16"):
                return int.from_bytes(struct.pack("<e", number), "little")
            return int.from_bytes(struct.pack("<f", number), "little")
        if number is not None:
            return int(number)
        return self._symbol(owner, value)

    def _symbol(self, owner: str, value: Node) -> int:
        """The address an initialiser names: ``x``, ``x+4``, ``generic(x)``, ``0xff(x)``."""
        if value.kind == "Expression":
            first, *rest = value.children
            return self._symbol(owner, first) + sum(int(evaluate(one) or 0) for one in rest)
        if value.kind == "Application":
            if len(value.children) == 2 and value.children[0].kind == "Integer":
                mask = int(evaluate(value.children[0]) or 0)
                shift = (mask & -mask).bit_length() - 1
                return (self._symbol(owner, value.children[1]) & mask) >> shift
            return self._symbol(owner, value.children[-1])
        found = self.addresses.get(value.text, self.functions.get(value.text))
        if found is None:
            raise UsageError(
                f"line {value.line}: the initial value '{value.text}' is not simulated; "
                "only addresses of variables and functions are"
            )
        self.references.setdefault(owner, set()).add(value.text)
        return found
