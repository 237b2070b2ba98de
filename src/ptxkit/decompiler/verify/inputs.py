"""Launches to try a kernel with: shapes, sizes, and memory with guard zones around it.

A trial is made from its number alone, so that a result can be had again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ptxkit.decompiler.verify.usage import Origin, Usage
from ptxkit.decompiler.verify.values import KINDS, Bytes, filled, integers, places, shifted
from ptxkit.isa.types import FLOAT, SCALAR_TYPES
from ptxkit.run import Surface, Texture
from ptxkit.run.layout import Item, scalar_bytes
from ptxkit.run.shape import Dimensions, LaunchRules

#: More elements than 16 bits can count.
_LARGE = 66_000
#: Bytes behind a pointer, and those before and after them that a kernel should leave alone.
DATA, GUARD = 96 << 10, 32 << 10
_ALIGNMENT = 256
_DYNAMIC_SHARED = 40 << 10
#: More than that have a launch of :func:`large_trials`.
_FEW_BLOCKS = 64

# Those that people use, then some that nobody does.
_LINES = (
    *((64, 1, 1), (128, 1, 1), (32, 1, 1), (256, 1, 1), (96, 1, 1), (512, 1, 1)),
    # A rest of all lengths for loops that take four, eight or sixteen at once.
    *((47, 1, 1), (33, 1, 1), (50, 1, 1), (7, 1, 1), (1, 1, 1)),
)
_PLANES = (
    *((16, 16, 1), (32, 8, 1), (8, 8, 1), (32, 4, 1), (16, 8, 1), (32, 32, 1)),
    *((5, 7, 1), (13, 3, 1), (1, 1, 1)),
)
#: Blocks of sizes that code compares with, at most.
_NEAR = 4
#: Numbers up to the first are tried as sizes anyway, those from the second on are none; so many
#: between them are tried, in so many places.
_SMALL, _WORD = 198, 1 << 31
_MARKED, _PLACES = 6, 3
_CLUSTERED = ("%cluster", "%nclusterid", "%is_explicit")
#: A way to fill memory beside those of `values`: each field of a record has its own.
MIXED = "mixed"
_FIELD = 8
_ROOMS = ((8, 4, 4), (4, 4, 4), (16, 4, 2), (1, 1, 1))


@dataclass(frozen=True, slots=True)
class Trial:
    """One launch, without the memory."""

    number: int
    kind: str
    grid: Dimensions
    block: Dimensions
    sizes: tuple[int, ...]
    shared: int = 0
    cluster: int = 0
    cooperative: bool = False
    ascending: bool = False
    cleared: bool = False
    """Whether memory that is only written to, or by atomics, starts as zeros."""
    instead: frozenset[tuple[Origin, Origin | None]] = frozenset()
    """Pointers that point to the memory of another one, or to nothing."""

    def __str__(self) -> str:
        sizes = f", sizes {', '.join(map(str, self.sizes))}" if self.sizes else ""
        others = "".join(
            sorted(f", {one} as {other}" if other else f", no {one}" for one, other in self.instead)
        )
        return f"{self.kind} numbers, grid {self.grid}, block {self.block}{sizes}{others}"


def trials(usage: Usage, rules: LaunchRules, count: int, first: int = 0) -> Iterator[Trial]:
    """Launches that are worth trying, the most promising first; others from another first one."""
    blocks = block_shapes(usage, rules)
    axes = 3 if "%ctaid.z" in usage.special else 2 if "%ctaid.y" in usage.special else 1
    clustered = "mapa" in usage.names or any(s.startswith(_CLUSTERED) for s in usage.special)
    cluster = 2 if clustered and rules.required_cluster is None else 0
    cooperative = any(s.startswith("%envreg") for s in usage.special)
    shared = _shared(usage, rules)
    for number in range(first, first + count):
        generator = np.random.default_rng([number, 0x507])
        block = blocks[number % len(blocks)] if number % 3 else blocks[number // 3 % len(blocks)]
        extent = (2, 3, 1, 4)[number % 4]
        grid = (extent, *(2,) * (axes - 1), *(1,) * (3 - axes))
        if cluster or rules.required_cluster:
            along = rules.required_cluster or (cluster, 1, 1)
            grid = tuple(g * c for g, c in zip(grid, along, strict=True))
        yield Trial(
            number,
            # Counted so that every kind meets every pattern of sizes.
            KINDS[(number + number // 8) % len(KINDS)],
            (grid[0], grid[1], grid[2]),
            block,
            _sizes(number, len(usage.sizes), block, usage.constants, generator),
            shared,
            cluster,
            cooperative,
            ascending=number % 2 == 0,
            cleared=number % 3 == 1,
        )


def _shared(usage: Usage, rules: LaunchRules) -> int:
    """Bytes of dynamic shared memory: much where the kernel is made for one shape of blocks."""
    if not usage.dynamic_shared:
        return 0
    return _DYNAMIC_SHARED if rules.required_block is None else 4 * _DYNAMIC_SHARED


def block_shapes(usage: Usage, rules: LaunchRules) -> list[Dimensions]:
    """Blocks that a kernel may be meant for."""
    if rules.required_block is not None:
        return [rules.required_block]
    blocks: list[Dimensions] = []
    if "%tid.z" in usage.special and "%ctaid.z" in usage.special:
        blocks += _ROOMS
    if "%tid.y" in usage.special and "%ctaid.y" in usage.special:
        blocks += _PLANES
    elif "%tid.y" in usage.special:
        blocks += (*_LINES[:4], *_PLANES)
    if not blocks:
        blocks += _LINES
        if "%ntid.x" in usage.special:
            # Loops over the threads of a block change their ways around such numbers, too.
            near = sorted({c + d for c in usage.constants for d in (1, 0, 2) if 2 <= c + d <= 9})
            blocks += [(n, 1, 1) for n in near[:_NEAR] if (n, 1, 1) not in blocks]
    most = rules.most_threads or 1024
    fitting = [b for b in blocks if math.prod(b) <= most]
    if rules.most_threads is not None and not any(math.prod(b) == most for b in fitting):
        fitting.append((most, 1, 1))  # what it was compiled for
    return fitting


def _sizes(
    number: int, count: int, block: Dimensions, constants: set[int], generator: Any
) -> tuple[int, ...]:
    """Values for the numbers that bound or scale indices.

    Loops change their ways around the numbers that the code compares with.
    """
    if count == 0:
        return ()
    near = sorted({c + d for c in constants for d in (-1, 0, 1, 2) if -3 <= c + d <= 200})
    if count == 1:
        few = [100, 33, -1, block[0], 0, 2 * block[0], 1, 257, 5, block[0] + 1, 300, 64, 2, 37, -3]
        few += [16, 3, *near]
        return (few[number % len(few)],)
    most = 40 if count == 2 else 14
    few = [1, 2, 3, 4, 5, 7, 8, 9, *(v for v in near if 0 < v <= most), 13, most]
    values = [int(v) for v in generator.integers(1, most, count)]
    place = number // 8 % count
    # Where code has still not run, larger things with smaller parts are more likely to reach it.
    pattern = number % 8 if number < 40 else (6, 0, 6, 5)[number % 4]
    if pattern == 1:
        values = [values[0]] * count
    elif pattern == 2:
        values = [int(v) for v in generator.choice((1, 2, 4, 8, 16), count)]
    elif pattern == 3:
        values = [int(v) for v in generator.integers(1, 7, count)]
        values[int(generator.integers(0, count))] = int(generator.integers(60, 300))
    elif pattern == 4:
        values[place] = int(generator.integers(-3, 0))
    elif pattern == 5:
        values = [int(v) for v in generator.choice(few, count)]
    elif pattern == 6:
        # The largest first, as people write the size of a thing before that of its parts.
        values = sorted((int(v) for v in generator.integers(8, 40, count)), reverse=True)
    elif pattern == 7:
        values[place] = 0
    return tuple(values)


def large_trials(usage: Usage, rules: LaunchRules, blocks: list[Dimensions]) -> Iterator[Trial]:
    """Launches with so many elements that a 16-bit number cannot count them."""
    shared = _shared(usage, rules)
    count = len(usage.sizes)
    block = next((b for b in blocks if math.prod(b) >= 64), blocks[0])
    wide = "%ctaid.y" in usage.special
    for place in range(min(max(count, 1), 2)):
        if wide:
            sizes = (300,) * count if count <= 2 else (300, *(3,) * (count - 1))
            grid = (-(-300 // block[0]), -(-300 // block[1]), 1)
        else:
            sizes = tuple(_LARGE if k == place else 2 for k in range(count))
            grid = (-(-_LARGE // block[0]), 1, 1)
        yield Trial(1000 + place, "random", grid, block, sizes, shared, cleared=True)
        if wide:
            return


def marked_trials(
    usage: Usage, rules: LaunchRules, blocks: list[Dimensions]
) -> Iterator[list[Trial]]:
    """Few threads with sizes around each large number that the code compares with."""
    shared = _shared(usage, rules)
    block = next((b for b in blocks if math.prod(b) >= 64), blocks[0])
    count = len(usage.sizes)
    marks = sorted((c for c in usage.constants if _SMALL < abs(c) < _WORD), key=abs)[:_MARKED]
    number = 2000
    for place in range(min(count, _PLACES)):
        for mark in marks:
            group = []
            for size in (mark + 1, mark, mark - 1):
                sizes = tuple(size if k == place else 2 for k in range(count))
                number += 1
                group.append(Trial(number, "random", (2, 1, 1), block, sizes, shared, cleared=True))
            yield group


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
    arenas: list[Arena] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    variables: dict[str, Bytes] = field(default_factory=dict)

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
    ) -> None:
        """``reserve`` gives the address of so many bytes elsewhere, as on a GPU."""
        self._reserve = reserve
        self.items = items
        self.usage = usage
        self.variables = variables
        """Variables of the module that nothing initialises, and their bytes."""
        self._held: dict[tuple[Origin, int], Arena] = {}

    def make(self, trial: Trial) -> Inputs:
        """Arguments for a trial."""
        generator = np.random.default_rng([trial.number, 0xA11])
        arenas: dict[Origin, Arena] = {}
        # From the far end of chains of pointers: what points needs the address of its target.
        for origin in sorted(self.usage.pointers, key=lambda o: -len(o.through)):
            arenas[origin] = self._arena(origin, trial, generator, arenas)
        inputs = Inputs([], list(arenas.values()))
        sizes = dict(zip(self.usage.sizes, trial.sizes, strict=True))
        for item in self.items:
            inputs.arguments.append(self._argument(item, trial, generator, arenas, sizes, inputs))
        for name, size in self.variables.items():
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
        if origin.loaded() in self.usage.indices and SCALAR_TYPES[type].kind != FLOAT:
            limit = max((abs(s) for s in trial.sizes), default=16) or 1
            return places(
                width, count, min(limit, 64), trial.ascending, trial.number % 3 == 2, generator
            )[:size]
        if trial.kind == "alike":
            shift = int(generator.integers(0, 3))
            return shifted(type, count, shift, trial.number, generator)[:size]
        marks = (*self.usage.marks, *trial.sizes)
        return filled(type, count, trial.kind, generator, marks)[:size]

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
        data = DATA if math.prod(trial.grid) <= _FEW_BLOCKS else DATA + _LARGE * 16
        if (origin, data) not in self._held:
            size = GUARD + data + GUARD
            if self._reserve is None:
                # Aligned as a whole, so that a pointer finds the same numbers in every process.
                room = np.empty(size + _ALIGNMENT, np.uint8)
                skip = -int(room.ctypes.data) % _ALIGNMENT
                whole = room[skip : skip + size]
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
        instead = dict(trial.instead)
        slots = [(o, type) for o, type in self.usage.slots.items() if o.name == item.name]
        # Pointers and sizes last: others may be parts of the same bytes.
        for origin, type in sorted(slots, key=lambda slot: slot[0] in arenas or slot[0] in sizes):
            width = scalar_bytes(type)
            if origin in self.usage.textures and not item.is_array:
                texture = _texture(self.usage.textures[origin], generator)
                inputs.surfaces.append(texture)
                return texture
            if origin in arenas:
                target = instead.get(origin, origin)
                address = 0 if target is None else arenas[target].address
                value = address.to_bytes(8, "little")
            elif origin in sizes:
                value = (sizes[origin] & ((1 << 8 * width) - 1)).to_bytes(width, "little")
            else:
                known = self.usage.floats.get(origin, ())
                float_type = next((f for f in sorted(known) if scalar_bytes(f) == width), type)
                kind = "special" if trial.kind == MIXED else trial.kind
                value = filled(float_type, 1, kind, generator, self.usage.marks).tobytes()
            data[origin.offset : origin.offset + width] = value[:width]
        if item.is_array:
            return bytes(data[: item.size])
        if SCALAR_TYPES[item.type].kind == FLOAT:
            code = {2: np.float16, 4: np.float32, 8: np.float64}[item.size]
            return np.frombuffer(bytes(data), code)[0]
        return int.from_bytes(data[: item.size], "little")


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
    return Texture(array, layered=layered, memory=fetched)
