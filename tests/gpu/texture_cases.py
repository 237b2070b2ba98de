"""Fetches from textures and accesses to surfaces, as kernels that run on both devices."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

import ptxkit
from ptxkit.run import Surface, Texture

#: Fetches of a case.
COUNT = 256
_SIZES = {"1d": (13,), "2d": (7, 13), "3d": (5, 7, 13), "a1d": (3, 13), "a2d": (3, 7, 13)}
_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}
_REGISTERS = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4}
_HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"

Words = npt.NDArray[np.uint32]


def _raw(text: str, count: int) -> npt.NDArray[np.uint64]:
    """Random words that are the same on every machine."""
    seed = zlib.crc32(text.encode())
    return np.random.Philox(key=[seed, 7]).random_raw(count).astype(np.uint64)


def texels(name: str, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Random texels; floats lie between -1 and 1, some far smaller."""
    count = int(np.prod(shape))
    raw = _raw(name, count)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        values = (raw >> np.uint64(40)).astype(np.float64) / (1 << 23) - 1.0
        values *= np.exp2(
            -((raw & np.uint64(7)) * (raw >> np.uint64(3) & np.uint64(1))).astype(float)
        )
        return values.astype(kind).reshape(shape)
    low = (raw >> np.uint64(16)).view(np.uint8).reshape(count, 8)[:, : kind.itemsize]
    return np.ascontiguousarray(low).view(kind).reshape(shape)


@dataclass(frozen=True, slots=True)
class TextureCase:
    """A texture, and how it is fetched from."""

    geometry: str
    dtype: str
    channels: int
    filter: str
    address: str
    normalized: bool
    fractions: bool
    by_index: bool = False
    component: str = ""  # of tld4

    @property
    def name(self) -> str:
        """What tells the case from all others."""
        words = [self.geometry, self.dtype, self.channels, self.filter, self.address]
        words += ["normalized" if self.normalized else "texels"]
        words += ["fractions"] * self.fractions + ["index"] * self.by_index
        words += ["memory"] * (self.by_index and self.geometry == "1d")
        words += [f"tld4.{self.component}"] * bool(self.component)
        return " ".join(map(str, words))

    def texture(self) -> Texture:
        """The texture; the same for every case of a shape."""
        layered = self.geometry[0] == "a"
        shape = _SIZES[self.geometry] + ((self.channels,) if self.channels > 1 else ())
        array = texels(f"{self.geometry} {self.dtype} {self.channels}", self.dtype, shape)
        return Texture(
            array, filter=self.filter, address=self.address, normalized=self.normalized,
            fractions=self.fractions, channels=self.channels, layered=layered,
            memory=self.by_index and self.geometry == "1d",
        )  # fmt: skip

    def kernel(self) -> str:
        """A kernel that fetches once a thread."""
        kind = np.dtype(self.dtype).kind
        result = "f32" if kind == "f" or self.fractions else "s32" if kind == "i" else "u32"
        coordinate = "s32" if self.by_index else "f32"
        registers = ", ".join(f"%c{n}" for n in range(_REGISTERS[self.geometry]))
        opcode = f"tex.{self.geometry}.v4.{result}.{coordinate}"
        if self.component:
            opcode = f"tld4.{self.component}.{self.geometry}.v4.{result}.f32"
        return (
            f"{_HEAD}.visible .entry k(.param .u64 t, .param .u64 c, .param .u64 o) {{\n"
            ".reg .b64 %t, %p, %q, %x; .reg .b32 %i, %b; .reg .b32 %d<4>; .reg .b32 %c<4>;\n"
            "ld.param.u64 %t, [t]; ld.param.u64 %p, [c]; ld.param.u64 %q, [o];\n"
            "mov.u32 %i, %tid.x; mul.wide.u32 %x, %i, 16; add.u64 %p, %p, %x;\n"
            "add.u64 %q, %q, %x; ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%p];\n"
            f"{opcode} {{%d0, %d1, %d2, %d3}}, [%t, {{{registers}}}];\n"
            "st.global.v4.b32 [%q], {%d0, %d1, %d2, %d3}; ret; }\n"
        )

    def coordinates(self) -> Words:
        """Places inside and outside: any, 512ths and halves of texels, and odd numbers."""
        dimensions, layered = _DIMENSIONS[self.geometry], self.geometry[0] == "a"
        extents = np.array((*reversed(_SIZES[self.geometry]), 1, 1)[:3], np.float64)[:dimensions]
        raw = _raw(self.name, COUNT * 3).reshape(COUNT, 3)[:, :dimensions]
        out = np.zeros((COUNT, 4), np.uint32)
        if self.by_index:
            places = (raw >> np.uint64(20)) % np.uint64(20)
            words = (places.astype(np.int64) - 3).astype(np.int32).view(np.uint32)
        else:
            unit = (raw >> np.uint64(11)).astype(np.float64) / (1 << 53)
            at = (unit * 4 - 1.5) * extents
            kind = (np.arange(COUNT) % 4)[:, None]
            at = np.where(kind == 1, np.round(at * 512) / 512, at)
            at = np.where(kind == 2, np.round(at * 2) / 2, at)
            at = np.where(kind == 3, unit * extents, at)
            single = (at / extents if self.normalized else at).astype(np.float32)
            single[:8, 0] = [np.nan, np.inf, -np.inf, 1e30, -1e30, -0.0, 1e-40, 3e9]
            words = single.view(np.uint32)
        out[:, int(layered) : dimensions + int(layered)] = words
        if layered:
            out[:, 0] = np.arange(COUNT) % 5
        return out

    def run(self, device: str) -> Words:
        """What a device gives."""
        out = np.zeros((COUNT, 4), np.uint32)
        kernel = ptxkit.load(self.kernel(), device=device)["k"]
        kernel[1, COUNT](self.texture(), self.coordinates(), out)
        return out


@lru_cache(maxsize=1)
def texture_cases() -> tuple[TextureCase, ...]:
    """Every shape, type, filter and address mode that makes sense."""
    return tuple(_texture_cases())


def _texture_cases() -> Iterator[TextureCase]:
    types = ("f4", "f2", "u1", "i1", "u2", "i2", "u4", "i4")
    for geometry, dtype, channels in itertools.product(_SIZES, types, (1, 2, 4)):
        if channels > 1 and (geometry != "2d" or dtype not in ("f4", "f2", "u1")):
            continue
        small = dtype in ("u1", "i1", "u2", "i2")
        for fractions in (False, True) if small else (False,):
            filters = ("point", "linear") if dtype[0] == "f" or fractions else ("point",)
            for chosen, normalized in itertools.product(filters, (False, True)):
                modes = ("clamp", "border", "wrap", "mirror")
                for address in modes if normalized or geometry == "2d" else modes[:2]:
                    case = TextureCase(
                        geometry, dtype, channels, chosen, address, normalized, fractions
                    )
                    yield case
                    if chosen == "point" and not normalized and not fractions:
                        yield TextureCase(
                            geometry, dtype, channels, chosen, address, normalized, fractions, True
                        )
                    if geometry == "2d" and chosen == "linear" and dtype in ("f4", "u1"):
                        for component in "ra" if channels > 1 else "r":
                            yield TextureCase(
                                geometry, dtype, channels, chosen, address, normalized, fractions,
                                component=component,
                            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SurfaceCase:
    """An access to a surface, once a thread."""

    operation: str  # such as "suld.b" or "sured.b.add"
    geometry: str
    type: str  # such as "v2.b32"
    bounds: str

    @property
    def name(self) -> str:
        """The opcode."""
        return f"{self.operation}.{self.geometry}.{self.type}.{self.bounds}"

    @property
    def registers(self) -> int:
        """Registers of the value."""
        return int(self.type[1]) if self.type[0] == "v" else 1

    @property
    def bytes(self) -> int:
        """Bytes of one of them in memory."""
        return int(self.type.rpartition(".")[2][1:]) // 8

    def kernel(self) -> str:
        """A kernel with this one access."""
        kind = {1: "b16", 2: "b16", 4: "b32", 8: "b64"}[self.bytes]
        registers = ", ".join(f"%c{n}" for n in range(_REGISTERS[self.geometry]))
        values = ", ".join(f"%v{n}" for n in range(self.registers))
        value = f"{{{values}}}" if "sured" not in self.operation else "%v0"
        place = f"[%s, {{{registers}}}]"
        first, second = (value, place) if self.operation.startswith("suld") else (place, value)
        moves = range(self.registers)
        return (
            f"{_HEAD}.visible .entry k(.param .u64 s, .param .u64 c, .param .u64 v) {{\n"
            ".reg .b64 %s, %p, %q, %x; .reg .b32 %i; .reg .b32 %c<4>;"
            f" .reg .{kind} %v<4>;\n"
            "ld.param.u64 %s, [s]; ld.param.u64 %p, [c]; ld.param.u64 %q, [v];\n"
            "mov.u32 %i, %tid.x; mul.wide.u32 %x, %i, 16; add.u64 %p, %p, %x;\n"
            "mul.wide.u32 %x, %i, 32; add.u64 %q, %q, %x;\n"
            "ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%p];\n"
            + "".join(f"ld.global.{kind} %v{n}, [%q+{8 * n}];\n" for n in moves)
            + f"{self.name} {first}, {second};\n"
            + "".join(f"st.global.{kind} [%q+{8 * n}], %v{n};\n" for n in moves)
            + "ret; }\n"
        )

    def _places(self) -> Words:
        layered = self.geometry[0] == "a"
        dimensions = _DIMENSIONS[self.geometry]
        extents = list((*reversed(_SIZES[self.geometry]), 1, 1)[:3])
        formatted = ".p" in self.operation
        size = self.bytes * self.registers
        beyond = 0 if self.bounds == "trap" else 2
        raw = (_raw(self.name, COUNT * 3) >> np.uint64(20)).reshape(COUNT, 3).astype(np.int64)
        out = np.zeros((COUNT, 4), np.int32)
        for axis in range(dimensions):
            # Rows are 16 texels of 4 bytes; x counts bytes but for formatted stores.
            units = 16 if formatted else 64 // size
            count = units if axis == 0 else extents[axis]
            at = raw[:, axis] % (count + 2 * beyond) - beyond
            out[:, axis + layered] = at * (size if axis == 0 and not formatted else 1)
        if layered:
            out[:, 0] = raw[:, 2] % 3
        if self.bounds == "clamp" and not self.operation.startswith("suld"):
            out[1:] = out[0]  # several places become one: let a single one be written
        return out.view(np.uint32)

    def run(self, device: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint64]]:
        """The surface and the values after the access."""
        layered = self.geometry[0] == "a"
        formatted = ".p" in self.operation
        shape = (*_SIZES[self.geometry][:-1], 16) + ((4,) if formatted else ())
        array = texels(self.name, "f4" if formatted else "u4", shape)
        surface = Surface(array, channels=4 if formatted else 1, layered=layered)
        places = self._places()
        # The value is a function of the place: the order of threads does not matter.
        key = places.astype(np.uint64) @ np.array([3, 5, 7, 0], np.uint64)
        columns = np.arange(4, dtype=np.uint64) + key[:, None]
        values = (columns * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(3)
        if formatted:
            values = (values & np.uint64(0xFFFFFF)).astype(np.float32).view(np.uint32)
            values = values.astype(np.uint64)
        values = np.ascontiguousarray(values)
        ptxkit.load(self.kernel(), device=device)["k"][1, COUNT](surface, places, values)
        return array, values


@lru_cache(maxsize=1)
def surface_cases() -> tuple[SurfaceCase, ...]:
    """Every access."""
    found = []
    for geometry, bounds in itertools.product(_SIZES, ("trap", "clamp", "zero")):
        for kind in ("b8", "b16", "b32", "b64", "v2.b32", "v4.b32", "v2.b16"):
            found.append(SurfaceCase("suld.b", geometry, kind, bounds))
            found.append(SurfaceCase("sust.b", geometry, kind, bounds))
        found.append(SurfaceCase("sust.p", geometry, "v4.b32", bounds))
        if geometry[0] != "a":
            for operation, kind in (
                ("add", "u32"), ("add", "u64"), ("min", "s32"), ("max", "u32"), ("and", "b32"),
                ("or", "b32"),
            ):  # fmt: skip
                found.append(SurfaceCase(f"sured.b.{operation}", geometry, kind, bounds))
    return tuple(found)
