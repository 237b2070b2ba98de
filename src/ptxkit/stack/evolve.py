"""Random programs, and changes of programs, for searches.

Every sequence of items is a program, so nothing here has to look at what an item means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

from ptxkit.errors import UsageError, shown
from ptxkit.stack import words
from ptxkit.stack.isa import Isa
from ptxkit.stack.program import Items, Program, input_words
from ptxkit.stack.types import Stack

#: How often each kind of item comes, unless told.
WEIGHTS: Mapping[str, float] = {
    "input": 0.28,
    "constant": 0.12,
    "instruction": 0.48,
    "handling": 0.06,
    "slot": 0.03,
    "block": 0.03,
    "routine": 0.0,
}
#: The share of instructions and handlings that are guarded.
GUARDED = 0.03


class Source:
    """Where random items come from: an instruction set, inputs, and how often what comes.

    ``instructions`` are the names to choose from, all that are listed unless told;
    constants and handlings are of the stacks that those use.

    >>> source = Source(["x"], Isa.default(), instructions=["add.rn.f32", "mul.rn.f32"])
    >>> source.items(np.random.default_rng(1), (2, 5)).shape
    (2, 5, 2)
    """

    def __init__(
        self,
        inputs: Iterable[str],
        isa: Isa | None = None,
        *,
        instructions: Iterable[str] | None = None,
        weights: Mapping[str, float] | None = None,
        guarded: float = GUARDED,
    ) -> None:
        self.isa = isa or Isa.default()
        self.inputs = tuple(inputs)
        self.guarded = guarded
        given = {**WEIGHTS, **(weights or {})}
        unknown = set(given) - set(WEIGHTS)
        if unknown:
            raise UsageError(
                f"there is no weight '{min(unknown)}'; there are: {', '.join(WEIGHTS)}"
            )
        names = (
            [row.name for row in self.isa.instructions]
            if instructions is None
            else list(instructions)
        )
        pools = self._pools(names)
        chosen = [kind for kind in WEIGHTS if pools[kind] and given[kind] > 0]
        if not chosen:
            raise UsageError("nothing is left to make programs of")
        total = sum(given[kind] for kind in chosen)
        self._shares = np.cumsum([given[kind] / total for kind in chosen])
        sizes = [len(pools[kind]) for kind in chosen]
        self._sizes = np.array(sizes)
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._pool = np.frombuffer(
            b"".join(b"".join(pools[kind]) for kind in chosen), np.uint64
        ).reshape(-1, 2)
        self._immediates = np.zeros(len(self._pool), bool)
        self._guardable = np.ones(len(self._pool), bool)
        for number, (kind, _, _, index, _) in enumerate(words.unpack(self._pool.tobytes())):
            if kind == words.INSTRUCTION:
                self._immediates[number] = self.isa.row(index).immediate is not None
            if kind in (words.IF, words.ELSE, words.END, words.REPEAT, words.WHILE):
                self._guardable[number] = False

    def _pools(self, names: list[str]) -> dict[str, list[bytes]]:
        isa = self.isa
        rows = [isa[name] for name in names]
        used = {stack for row in rows for stack in (*row.arguments, *row.results)}
        numbers = {name: isa.stack_number(name) for name in sorted(used)}
        handling: list[bytes] = []
        slots: list[bytes] = []
        for name, number in numbers.items():
            for word, item in words.of_stack(name, number).items():
                slotted = item[0] in (words.TO_SLOT, words.FROM_SLOT)
                small = int(word.partition("#")[2] or 0) < 4
                if small and item[0] != words.CLEAR:
                    (slots if slotted else handling).append(item)
            handling.append(words.item(words.CLEAR, stack=number))
        blocks = [words.BLOCKS["if"], words.BLOCKS["else"], words.BLOCKS["end"],
                  words.BLOCKS["end"], words.item(words.REPEAT, index=2),
                  words.item(words.WHILE, index=2)]  # fmt: skip
        constants = [
            words.item(words.CONSTANT, stack=number, payload=bits)
            for name, number in numbers.items()
            for bits in _interesting(isa.stacks[number])
        ]
        return {
            "input": list(input_words(self.inputs).values()),
            "constant": constants,
            "instruction": [words.item(words.INSTRUCTION, index=isa.number(n)) for n in names],
            "handling": handling,
            "slot": slots,
            "block": blocks if "pred" in used else [],
            "routine": [words.item(words.CALL, index=n) for n in range(len(isa.routines))],
        }

    def items(self, generator: np.random.Generator, shape: tuple[int, ...]) -> Items:
        """Random items: an array of this shape with one more dimension of two words."""
        kinds = np.searchsorted(self._shares, generator.random(shape), side="right")
        kinds = np.minimum(kinds, len(self._sizes) - 1)
        places = self._starts[kinds] + (generator.random(shape) * self._sizes[kinds]).astype(int)
        made: Items = self._pool[places].copy()
        immediate = self._immediates[places]
        made[immediate, 1] = generator.integers(0, 256, int(immediate.sum()), np.uint64)
        if self.guarded:
            chance = generator.random(shape)
            guard = (chance < self.guarded) & self._guardable[places]
            negate = np.where(chance * 2 < self.guarded, words.NEGATED, 0).astype(np.uint64)
            bits = (np.uint64(words.GUARDED) | negate) << np.uint64(8)
            made[..., 0] |= np.where(guard, bits, np.uint64(0))
        return made


@lru_cache(maxsize=64)
def _interesting(stack: Stack) -> tuple[int, ...]:
    """Constants that programs of a stack are made with: limits, small ones, odd ones."""
    if stack.register == "pred":
        return (0, 1)
    if stack.number in ("float", "bfloat"):
        values = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -0.25, 10.0, 1e-3, 100.5, 1e4,
                  3.14159, 2.71828, float("inf"), float("nan"))  # fmt: skip
        return tuple(stack.bits(value) for value in values)
    top = 1 << (stack.width - 1)
    wide = (0, 1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 255, 256, 0x5A5A, 0x3C00, top - 1, top, top + 1,
            2 * top - 1, 2 * top - 2)  # fmt: skip
    return tuple(value % (2 * top) for value in wide)


def random(
    length: int,
    seed: int = 0,
    *,
    inputs: Iterable[str] = (),
    isa: Isa | None = None,
    source: Source | None = None,
) -> Program:
    """A random program of ``length`` items; the same seed gives the same program.

    >>> random(20, 7, inputs=["x"]) == random(20, 7, inputs=["x"])
    True
    """
    source = source or Source(inputs, isa)
    items = random_many(1, length, seed, source=source)[0]
    return Program.from_items(items, inputs=source.inputs, isa=source.isa)


def random_many(
    count: int,
    length: int,
    seed: int = 0,
    *,
    inputs: Iterable[str] = (),
    isa: Isa | None = None,
    source: Source | None = None,
) -> Items:
    """Many random programs as one packed array of the shape (count, length, 2)."""
    for what, number in (("count", count), ("length", length)):
        if not isinstance(number, int | np.integer) or number < 0:
            raise UsageError(f"the {what} is a number from 0 on, not {shown(number)}")
    return (source or Source(inputs, isa)).items(_generator(seed), (int(count), int(length)))


def _generator(seed: int) -> np.random.Generator:
    """The random numbers of a seed."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise UsageError(f"the seed is a number from 0 on, not {shown(seed)}")
    return np.random.default_rng(int(seed))


def mutate(
    program: Program, seed: int = 0, *, changes: int = 1, source: Source | None = None
) -> Program:
    """The program with some changes: items replaced, inserted, removed, moved or repeated.

    >>> p = Program("x x add.rn.f32", inputs=["x"])
    >>> mutate(p, seed=3) != p
    True
    """
    source = source or Source(program.inputs, program.isa)
    generator = _generator(seed)
    items = program.items
    for _ in range(changes):
        items = _change(items, generator, source)
    return Program.from_items(items, inputs=program.inputs, isa=program.isa)


def _change(items: Items, generator: np.random.Generator, source: Source) -> Items:
    size = len(items)
    at = int(generator.integers(0, size + 1))
    length = int(generator.integers(1, 4))
    what = int(generator.integers(0, 5)) if size else 1
    piece = items[at : at + length]
    if what == 0 and at < size:  # replace
        fresh = source.items(generator, (len(piece),))
        return np.concatenate([items[:at], fresh, items[at + length :]])
    if what == 2 and at < size:  # remove
        return np.concatenate([items[:at], items[at + length :]])
    if what in (3, 4) and at < size:  # move, repeat
        rest = items if what == 4 else np.concatenate([items[:at], items[at + length :]])
        to = int(generator.integers(0, len(rest) + 1))
        return np.concatenate([rest[:to], piece, rest[to:]])
    return np.concatenate([items[:at], source.items(generator, (length,)), items[at:]])


def mutate_many(programs: Items, seed: int = 0, *, rate: float = 0.02, source: Source) -> Items:
    """Packed programs in which a share ``rate`` of all items is replaced."""
    generator = _generator(seed)
    changed = generator.random(programs.shape[:-1]) < rate
    made: Items = programs.copy()
    made[changed] = source.items(generator, (int(changed.sum()),))
    return made


def crossover(one: Program, two: Program, seed: int = 0) -> Program:
    """The first program with a piece of it replaced by a piece of the second.

    >>> x = Program("x x x x", inputs=["x"])
    >>> y = Program("1.0 2.0 3.0", inputs=["x"])
    >>> len(crossover(x, y, seed=5)) <= 7
    True
    """
    if one.inputs != two.inputs or not one.isa.is_like(two.isa):
        raise UsageError("programs of different instruction sets or inputs can't be crossed")
    generator = _generator(seed)
    first, second = one.items, two.within(one.isa).items
    a, b = sorted(int(n) for n in generator.integers(0, len(first) + 1, 2))
    c, d = sorted(int(n) for n in generator.integers(0, len(second) + 1, 2))
    items = np.concatenate([first[:a], second[c:d], first[b:]])
    return Program.from_items(items, inputs=one.inputs, isa=one.isa)
