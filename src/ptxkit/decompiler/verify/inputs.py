"""Arguments for a launch, and the memory that they point to, with guard zones around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from ptxkit.decompiler.verify.pointing import Origin
from ptxkit.decompiler.verify.rooms import Rooms
from ptxkit.decompiler.verify.trials import EXTREME, FEW_BLOCKS, LARGE, MIXED, Exchange, Trial
from ptxkit.decompiler.verify.usage import Usage
from ptxkit.decompiler.verify.values import KINDS, Bytes, filled, integers, places, shifted
from ptxkit.isa.types import FLOAT, SCALAR_TYPES
from ptxkit.run import Surface, Texture
from ptxkit.run.layout import Item, scalar_bytes

#: Bytes behind a pointer, and those before and after them that a kernel should leave alone.
DATA, GUARD = 96 << 10, 32 << 10
_ALIGNMENT = 256
_FLOATS = {2: np.float16, 4: np.float32, 8: np.float64}
#: What there may be behind each pointer at most, and behind all of them, where an array of fixed
#: dimensions is as large: its rows alone are larger than what other kernels need.
_MORE, _ALL = (8 << 20, 48 << 20), 256 << 20
#: Elements after which large memory is the same again: no stride of an array.
_PERIOD = 65_537
#: Bytes of a field of a record.
_FIELD = 8
#: One launch of so many has numbers for indices of which the code takes a part.
_WHOLE = 4
#: One launch of so many has any numbers in records, as in other memory.
_WILD = 8
#: One launch of so many has other numbers in variables than these begin with.
_CHANGED = 4
NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(slots=True)
class Arena:
    """Memory behind a pointer, with a guard zone before and after."""

    origin: Origin
    whole: Bytes
    start: int
    before: Bytes
    base: int
    """Where a kernel finds the first byte: here, or on a GPU."""

    @property
    def address(self) -> int:
        """Where the pointer points to."""
        return self.base + self.start

    def restore(self) -> None:
        """Make it as it was before the first run."""
        self.whole[:] = self.before


@dataclass(slots=True)
class Inputs:
    """Arguments, and the memory that they point to."""

    arguments: list[Any]
    """Bytes, but for textures: see :meth:`typed`."""
    arenas: list[Arena] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    variables: dict[str, Bytes] = field(default_factory=dict)

    def typed(self, items: list[Item]) -> list[Any]:
        """The arguments as a kernel declares them: two that are equal may do it otherwise."""
        return [
            _typed(item, argument) if isinstance(argument, bytes) else argument
            for item, argument in zip(items, self.arguments, strict=True)
        ]

    @property
    def memory(self) -> list[Bytes]:
        """What the simulator must know of."""
        return [arena.whole for arena in self.arenas]


class InputMaker:
    """Makes the arguments of a kernel for trials."""

    def __init__(
        self,
        items: list[Item],
        usage: Usage,
        variables: dict[str, int],
        reserve: Callable[[int], int] | None = None,
        changed: Mapping[str, int] = NOTHING,
    ) -> None:
        """``reserve`` gives the address of so many bytes elsewhere, as on a GPU.

        ``changed`` are variables, and their bytes, that begin with numbers which a host may change.
        """
        self._changed = changed
        self._reserve = reserve
        self.items = items
        self.usage = usage
        self.variables = variables
        """Variables of the module that nothing initialises, and their bytes."""
        self.data = DATA
        """Bytes behind a pointer."""
        self._held: dict[tuple[Origin, int], Arena] = {}
        self._rooms = Rooms()
        known = {*usage.sizes, *usage.pointers, *usage.textures}
        self._numbers = [origin for origin in usage.slots if origin not in known]

    def grow(self) -> bool:
        """Put more memory behind pointers from now on; whether there may be more."""
        count = max(len(self.usage.pointers), 1)
        more = next((size for size in _MORE if size > self.data and size * count <= _ALL), 0)
        self.data = more or self.data
        return bool(more)

    def make(self, trial: Trial) -> Inputs:
        """Arguments for a trial."""
        generator = np.random.default_rng([trial.number, 0xA11])
        arenas: dict[Origin, Arena] = {}
        # From the far end of chains of pointers: what points needs the address of its target.
        sizes = dict(zip(self.usage.sizes, trial.sizes, strict=True))
        for origin in sorted(self.usage.pointers, key=lambda o: -len(o.through)):
            arenas[origin] = self._arena(origin, trial, generator, arenas)
            self._put_fields(arenas[origin], trial, arenas, sizes)
        inputs = Inputs([], list(arenas.values()))
        for item in self.items:
            inputs.arguments.append(self._argument(item, trial, generator, arenas, sizes, inputs))
        others = self._changed if trial.number % _CHANGED == _CHANGED - 1 else NOTHING
        for name, size in (*self.variables.items(), *others.items()):
            origin = Origin(name, kind="variable")
            inputs.variables[name] = self._contents(origin, size, trial, generator)
        return inputs

    def _contents(self, origin: Origin, size: int, trial: Trial, generator: Any) -> Bytes:
        access = self.usage.accesses.get(origin)
        type = self.usage.element(origin)
        width = scalar_bytes(type)
        if trial.cleared and (
            access is None or access.atomic or (access.stored and not access.read)
        ):
            return np.zeros(size, np.uint8)
        if trial.kind == MIXED:
            return self._mixed(origin, size, trial, generator)
        count = -(-size // width)
        if count > 2 * _PERIOD:
            part = self._contents(origin, _PERIOD * width, trial, generator)
            return np.resize(part, size)
        if self._must_be_small(origin, trial) and SCALAR_TYPES[type].kind != FLOAT:
            limit = max((abs(s) for s in trial.sizes), default=16) or 1
            indices = places(
                width, count, min(limit, 64), trial.ascending, trial.number % 3 == 2, generator
            )
            if trial.multiple > 1:
                indices = (indices.view(f"i{width}") * trial.multiple).view(np.uint8)
            return indices[:size]
        if trial.kind == "alike":
            shift = int(generator.integers(0, 3))
            return shifted(type, count, shift, trial.number, generator)[:size]
        marks = (*self.usage.marks, *trial.sizes)
        return filled(type, count, trial.kind, generator, marks)[:size]

    def _must_be_small(self, origin: Origin, trial: Trial) -> bool:
        """Whether what lies behind a pointer is to be indices.

        Those of which the code takes a part before are any numbers in some launches.
        """
        if origin.loaded() not in self.usage.indices:
            return False
        return trial.number % _WHOLE != 1 or origin.loaded() not in self.usage.narrowed

    def _mixed(self, origin: Origin, size: int, trial: Trial, generator: Any) -> Bytes:
        """Records whose fields are each filled in a way of their own, as keys and values are."""
        access = self.usage.accesses.get(origin)
        types = {self.usage.element(origin), *(access.types if access is not None else ())}
        types |= self.usage.floats.get(origin.loaded(), set())
        known = sorted(t for t in types if scalar_bytes(t) <= _FIELD)
        fields = int(generator.integers(1, 5))
        count = -(-size // (_FIELD * fields))
        marks = (*self.usage.marks, *trial.sizes)
        limit = min(max((abs(s) for s in trial.sizes), default=16), 64)
        indices = origin.loaded() in self.usage.indices
        columns = []
        for _ in range(fields):
            type, kind = (str(generator.choice(names)) for names in (known, KINDS))
            width = scalar_bytes(type)
            number = count * _FIELD // width
            if indices and generator.random() < 0.6:
                column = places(width, number, limit, False, False, generator)
            else:
                kind = "small" if kind == "alike" else kind
                column = filled(type, number, kind, generator, marks)
            columns.append(column.reshape(count, _FIELD))
        mixed: Bytes = np.concatenate(columns, axis=1).reshape(-1)
        return mixed[:size]

    def _arena(
        self, origin: Origin, trial: Trial, generator: Any, known: dict[Origin, Arena]
    ) -> Arena:
        data = self.data if math.prod(trial.grid) <= FEW_BLOCKS else self.data + LARGE * 16
        if (origin, data) not in self._held:
            size = GUARD + data + GUARD
            if self._reserve is None:
                whole = self._rooms.take(size, _ALIGNMENT)
                base = int(whole.ctypes.data)
            else:
                whole = np.empty(size, np.uint8)
                base = self._reserve(size)
            start = GUARD + -(base + GUARD) % _ALIGNMENT
            self._held[origin, data] = Arena(origin, whole, start, whole.copy(), base)
        arena = self._held[origin, data]
        target = known.get(origin.loaded())
        if target is not None:
            spread = generator.integers(0, 16, arena.whole.size // 8) * _ALIGNMENT
            words = (spread + target.address).astype(np.uint64)
            shift = arena.start % 8
            arena.before[:] = 0
            arena.before[shift : shift + words.nbytes - 8] = words[:-1].view(np.uint8)
        else:
            arena.before[:] = self._contents(origin, arena.whole.size, trial, generator)
        return arena

    def _put_fields(
        self,
        arena: Arena,
        trial: Trial,
        known: dict[Origin, Arena],
        sizes: dict[Origin, int],
    ) -> None:
        """Put pointers and sizes into the places of a record where the kernel looks for them."""
        instead = {one.pointer: one for one in trial.instead}
        for one in self.usage.behind(arena.origin)[1:]:
            start = arena.start + (one.through[-1] or 0)
            width = scalar_bytes(self.usage.fields[one])
            if one in known:
                other = instead.get(one, Exchange(one, one))
                value = known[one if other.other is None else other.other].address + other.shift
            elif one in sizes and trial.number % _WILD:
                value = sizes[one] & ((1 << 8 * width) - 1)
            else:
                continue
            data = np.frombuffer(value.to_bytes(width, "little"), np.uint8)
            if 0 <= start <= arena.before.size - width:
                arena.before[start : start + width] = data

    def _argument(
        self,
        item: Item,
        trial: Trial,
        generator: Any,
        arenas: dict[Origin, Arena],
        sizes: dict[Origin, int],
        inputs: Inputs,
    ) -> Any:
        kind = "unit" if trial.kind == MIXED else trial.kind
        data = bytearray(integers(1, item.size, kind, generator).tobytes())
        instead = {one.pointer: one for one in trial.instead}
        slots = [(o, type) for o, type in self.usage.slots.items() if o.name == item.name]
        # Pointers and sizes last: others may be parts of the same bytes.
        for origin, type in sorted(slots, key=lambda slot: slot[0] in arenas or slot[0] in sizes):
            width = scalar_bytes(type)
            if origin in self.usage.textures and not item.is_array:
                texture = _texture(self.usage.textures[origin], generator)
                inputs.surfaces.append(texture)
                return texture
            if origin in arenas:
                known = instead.get(origin, Exchange(origin, origin))
                address = 0 if known.other is None else arenas[known.other].address + known.shift
                value = address.to_bytes(8, "little")
            elif origin in sizes:
                value = (sizes[origin] & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            else:
                floats = self.usage.floats.get(origin, ())
                float_type = next((f for f in sorted(floats) if scalar_bytes(f) == width), type)
                kind = "special" if trial.kind == MIXED else trial.kind
                value = filled(float_type, 1, kind, generator, self.usage.marks).tobytes()
                if kind == EXTREME and SCALAR_TYPES[float_type].kind != FLOAT:
                    end = _end(8 * width, trial.number, self._numbers.index(origin))
                    value = value if end is None else end.to_bytes(width, "little")
            data[origin.offset : origin.offset + width] = value[:width]
        return bytes(data[: item.size])


def _end(bits: int, number: int, place: int) -> int | None:
    """The greatest and the least integers of a type, in turn; other ones in other places.

    Later launches have one such number each, and others beside it.

    >>> [hex(_end(8, number, 0)) for number in range(4)], hex(_end(8, 0, 1))
    (['0x7f', '0x80', '0x7e', '0xff'], '0x80')
    >>> hex(_end(8, 9, 0)), _end(8, 9, 1), hex(_end(8, 12, 1))
    ('0x80', None, '0x7f')
    """
    half = 1 << bits - 1
    ends = half - 1, half, half - 2, 2 * half - 1
    turn, which = divmod(number, len(ends))
    if turn < 2:
        return ends[(which + place * (1 + turn)) % len(ends)]
    return ends[which] if turn - 2 == place else None


def _typed(item: Item, data: bytes) -> Any:
    if item.is_array:
        return data
    if SCALAR_TYPES[item.type].kind == FLOAT:
        return np.frombuffer(data, _FLOATS[item.size])[0]
    return int.from_bytes(data, "little")


def _texture(opcode: str, generator: Any) -> Surface:
    """A texture or surface such as an instruction takes."""
    words = opcode.split(".")
    shape: tuple[int, ...] = (37,)
    for word in words:
        if word in ("2d", "a2d", "2dms"):
            shape = (13, 21)
        elif word == "3d":
            shape = (5, 6, 7)
    layered = any(w in ("a1d", "a2d") for w in words)
    if layered:
        shape = (3, *shape)
    surface = words[0] in ("suld", "sust", "sured", "suq")
    types = [w for w in words if w in SCALAR_TYPES]
    type = types[-1 if surface else -2] if len(types) >= (1 if surface else 2) else "u32"
    width = scalar_bytes(type)
    if type == "f32":
        array: Any = generator.standard_normal(shape).astype(np.float32)
    else:
        array = generator.integers(0, 100, shape).astype(np.dtype(f"u{min(width, 4)}"))
        if type == "s32":
            array = array.astype(np.int32)
    if surface:
        return Surface(array, layered=layered)
    fetched = "1d" in words and words[-1] == "s32"
    if fetched or words[-1] != "f32":
        return Texture(array, layered=layered, memory=fetched)
    # A host says how it is sampled: between texels, and beyond the edges.
    filter = str(generator.choice(("point", "linear"))) if type == "f32" else "point"
    address = str(generator.choice(("clamp", "border")))
    return Texture(array, layered=layered, filter=filter, address=address)
