"""Instruction sets: which stacks, instructions and routines programs may use."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from ptxkit import _native
from ptxkit.errors import UsageError
from ptxkit.isa import Target, Version
from ptxkit.isa.targets import TARGET_SINCE
from ptxkit.stack import derive, words
from ptxkit.stack.checking import check_rows
from ptxkit.stack.errors import StackError
from ptxkit.stack.folding import set_folds
from ptxkit.stack.instructions import EFFECTS, Instruction
from ptxkit.stack.routines import Routine
from ptxkit.stack.types import STACKS, Stack, stack_name


class Isa:
    """An instruction set. It does not change: methods such as :meth:`extended` give new ones.

    Where ``open`` is set, every opcode of the PTX table with scalar operands can be used
    by its name, though it is not listed; ``memory`` lets that include loads and stores.

    >>> isa = Isa.default()
    >>> "fma.rn.f32" in isa, len(isa.instructions) > 500
    (True, True)
    >>> isa["fma.rn.f32"].arguments
    ('f32', 'f32', 'f32')
    """

    def __init__(
        self,
        instructions: Iterable[Instruction],
        *,
        stacks: Iterable[Stack] = tuple(STACKS.values()),
        routines: Iterable[Routine] = (),
        target: str = "sm_90",
        version: str | None = None,
        memory: bool = False,
        open: bool = False,
    ) -> None:
        rows = tuple(instructions)
        self._fill(rows, stacks, routines, target, version, memory, open)
        check_rows(rows, self)

    def _fill(
        self,
        instructions: Iterable[Instruction],
        stacks: Iterable[Stack],
        routines: Iterable[Routine],
        target: str,
        version: str | None,
        memory: bool,
        open: bool,
    ) -> None:
        """What the constructor does, but for checking the instructions."""
        self.target = Target.parse(target)
        self.version = Version.parse(version or max_version(str(self.target)))
        self.memory, self.open = memory, open
        self.stacks: tuple[Stack, ...] = tuple(stacks)
        self._stack_numbers = {stack.name: n for n, stack in enumerate(self.stacks)}
        self._check_stacks()
        self._rows: list[Instruction] = []
        self._numbers: dict[str, int] = {}
        for row in instructions:
            self._append(row)
        #: How many instructions are listed; numbers from there on are met in programs.
        self.listed = len(self._rows)
        #: What becomes of each word of a program that needs no inputs: 16 bytes.
        self.words: dict[str, bytes] = {}
        for name, number in self._numbers.items():
            self.words[name] = words.item(words.INSTRUCTION, index=number)
        for stack_number, stack in enumerate(self.stacks):
            self.words.update(words.of_stack(stack.name, stack_number))
        self.words.update(words.BLOCKS)
        self.routines: tuple[Routine, ...] = ()
        self._routine_items: list[bytes] = []
        self._routine_numbers: dict[str, int] = {}
        self._add_routines(tuple(routines))
        self._native: _native.StackTable | None = None
        #: How `default` was asked for it, where that made it.
        self._asked: tuple[str, str | None, bool, bool] | None = None
        self.register_types: list[str] = []
        self.folded: frozenset[str] = frozenset()

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    def default(
        target: str = "sm_90",
        version: str | None = None,
        *,
        warp: bool = True,
        memory: bool = False,
    ) -> Isa:
        """The ready-made instruction set of a target: arithmetic, comparison, logic, conversion.

        ``warp`` adds the operations between the lanes of a warp; stubs must then run in
        full warps. ``memory`` adds loads and stores: a program may then read and write
        wherever it computes an address.
        """
        return _default(target, version, warp, memory)

    def _copy(
        self,
        instructions: Iterable[Instruction],
        stacks: Iterable[Stack],
        routines: Iterable[Routine],
        open: bool,
    ) -> Isa:
        made = Isa.__new__(Isa)
        made._fill(
            instructions, stacks, routines, str(self.target), str(self.version), self.memory, open
        )
        return made

    def extended(
        self,
        instructions: Iterable[Instruction] = (),
        *,
        stacks: Iterable[Stack] = (),
        routines: Iterable[Routine] = (),
        replace: bool = False,
    ) -> Isa:
        """This set with more. With ``replace`` an instruction may have the name of a known one.

        >>> square = Routine("square", "f32.dup mul.rn.f32", ("f32",), ("f32",))
        >>> Isa.default().extended(routines=[square]).routines[0].name
        'square'
        """
        new = tuple(instructions)
        rows = {row.name: row for row in self.instructions}
        for row in new:
            if row.name in rows and not replace:
                raise UsageError(
                    f"there is an instruction '{row.name}' already; give the new one another "
                    "name, or take replace=True if that is meant"
                )
            rows[row.name] = row
        made = self._copy(
            rows.values(), (*self.stacks, *stacks), (*self.routines, *routines), self.open
        )
        check_rows(new, made)
        return made

    def only(self, names: Iterable[str]) -> Isa:
        """A closed set with these instructions alone, in their order.

        >>> [row.name for row in Isa.default().only(["add.rn.f32", "sin.approx.f32"]).instructions]
        ['add.rn.f32', 'sin.approx.f32']
        """
        return self._copy([self[name] for name in names], self.stacks, self.routines, False)

    def _check_stacks(self) -> None:
        if len(self._stack_numbers) != len(self.stacks):
            raise UsageError("two stacks have one name")
        if not 0 < len(self.stacks) <= 32:
            raise UsageError(f"an instruction set has 1 to 32 stacks, not {len(self.stacks)}")
        if sum(stack.register == "pred" for stack in self.stacks) != 1:
            raise UsageError("an instruction set needs one stack of predicates, and no other")

    def _append(self, row: Instruction) -> int:
        for stack in (*row.arguments, *row.results):
            if stack not in self._stack_numbers:
                known = ", ".join(self._stack_numbers)
                raise UsageError(f"'{row.name}' uses the stack '{stack}'; there are: {known}")
        if row.name in self._numbers:
            raise UsageError(f"two instructions are called '{row.name}'")
        self._numbers[row.name] = len(self._rows)
        self._rows.append(row)
        return len(self._rows) - 1

    def _add_routines(self, routines: tuple[Routine, ...]) -> None:
        from ptxkit.stack.program import encode, refuse_block_word

        for number, routine in enumerate(routines):
            if routine.name in self.words or not words.NAME.fullmatch(routine.name):
                why = "is taken" if routine.name in self.words else "is not a name"
                raise UsageError(f"the routine can't be called '{routine.name}': that {why}")
            self.words[routine.name] = words.item(words.CALL, index=number)
            self._routine_numbers[routine.name] = number
        for routine in routines:
            for name, kind in routine.parameters:
                refuse_block_word(name, "argument")
                self.stack_number(kind)
            arguments = {
                name: words.item(words.ARGUMENT, index=number)
                for number, (name, _) in enumerate(routine.parameters)
                if name
            }
            try:
                self._routine_items.append(encode(routine.program, self, arguments))
            except StackError as error:
                raise error.within(routine=routine.name) from None
        self.routines = routines
        self._refuse_recursion()

    def _refuse_recursion(self) -> None:
        calls = [
            [index for kind, _, _, index, _ in words.unpack(items) if kind == words.CALL]
            for items in self._routine_items
        ]
        finished: set[int] = set()

        def visit(number: int, path: list[int]) -> None:
            if number in path:
                ring = [self.routines[n].name for n in [*path[path.index(number) :], number]]
                raise StackError(
                    f"the routine '{ring[0]}' calls itself: {' -> '.join(ring)}",
                    hint="use 'repeat#N ... end' or 'while#N ... end' for what runs many times",
                )
            if number not in finished:
                for callee in calls[number]:
                    visit(callee, [*path, number])
                finished.add(number)

        for number in range(len(calls)):
            visit(number, [])

    # -- looking up ------------------------------------------------------------------------

    @property
    def instructions(self) -> tuple[Instruction, ...]:
        """The instructions that are listed; an open set has more."""
        return tuple(self._rows[: self.listed])

    def row(self, number: int) -> Instruction:
        """The instruction of a number, as packed programs hold it."""
        return self._rows[number]

    def number(self, name: str) -> int:
        """The number of an instruction; an error if there is none of the name."""
        found = self._numbers.get(name)
        if found is not None:
            return found
        row = derive.from_opcode(name, self.target, self.version) if self.open else None
        if row is None or (row.guardable and not self.memory):
            raise StackError(*self._unknown(name, row))
        number = self._append(row)
        self.words[name] = words.item(words.INSTRUCTION, index=number)
        self._native = None  # with the new row it is another table
        return number

    def _unknown(self, name: str, row: Instruction | None) -> tuple[str]:
        if row is not None:
            return (f"'{name}' reaches memory, which this instruction set does not allow "
                    "(Isa.default(memory=True) does)",)  # fmt: skip
        near = difflib.get_close_matches(name, [*self._numbers, *self._routine_numbers], 3)
        guess = f"; did you mean {' or '.join(near)}?" if near else ""
        return (f"there is no input, instruction or routine '{name}'{guess}",)

    def __getitem__(self, name: str) -> Instruction:
        return self._rows[self.number(name)]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self.number(name) >= 0
        except StackError:
            return False

    def __repr__(self) -> str:
        return (
            f"<Isa of {self.target}: {self.listed} instructions, {len(self.stacks)} stacks, "
            f"{len(self.routines)} routines>"
        )

    def _content(self) -> tuple[Any, ...]:
        kept = (str(self.target), str(self.version), self.memory, self.open)
        return (self.instructions, self.stacks, self.routines, *kept)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_default, self._asked) if self._asked else (_restore, self._content())

    def is_like(self, other: Isa) -> bool:
        """Whether two sets have the same instructions, stacks, routines and rules.

        >>> isa = Isa.default()
        >>> isa.only(["add.rn.f32"]).is_like(isa.only(["add.rn.f32"])), isa.is_like(isa.only([]))
        (True, False)
        """
        return self is other or self._content() == other._content()

    def unlisted(self, items: bytes) -> dict[int, str]:
        """The opcodes of packed items that the set does not list, by their numbers here."""
        if len(self._rows) == self.listed:
            return {}
        return {
            index: self._rows[index].name
            for kind, _, _, index, _ in words.unpack(items)
            if kind == words.INSTRUCTION and self.listed <= index < len(self._rows)
        }

    def stack_number(self, name: str) -> int:
        """The number of a stack, by its name or by a PTX type of its values."""
        found = self._stack_numbers.get(name)
        if found is None:
            found = self._stack_numbers.get(stack_name(name))
        if found is None:
            known = ", ".join(self._stack_numbers)
            raise UsageError(f"there is no stack for the type '{name}'; there are: {known}")
        return found

    def stack(self, name: str) -> Stack:
        """The stack of a name or a PTX type."""
        return self.stacks[self.stack_number(name)]

    # -- the native table ------------------------------------------------------------------

    @property
    def native(self) -> _native.StackTable:
        """The table that the native compiler works with."""
        if self._native is None:
            self._native = self._build()
        return self._native

    def _build(self) -> _native.StackTable:
        table = _native.StackTable()
        for stack in self.stacks:
            table.add_stack(stack.name, stack.register, stack.move, stack.literal, stack.width)
        rows = list(self._rows)
        predicates = next(n for n, s in enumerate(self.stacks) if s.register == "pred")
        extra = _merging_rows(self.stacks, self.stacks[predicates].name)
        for row in (*rows, *extra.values()):
            table.add_row(**self._arguments_of(row))
        first = len(rows)
        places = {name: first + n for n, name in enumerate(extra)}
        for number, stack in enumerate(self.stacks):
            if stack.register != "pred":
                table.set_select(number, places[f"select.{stack.name}"])
        table.set_logic(predicates, places["and"], places["or"], places["not"])
        for routine, items in zip(self.routines, self._routine_items, strict=True):
            table.add_routine(
                routine.name,
                items,
                routine.arguments is not None,
                [self.stack_number(kind) for _, kind in routine.parameters],
                routine.results is None,
                [self.stack_number(kind) for kind in routine.results or ()],
            )
        self.folded = set_folds(table, self, [*rows, *extra.values()])
        self.register_types = table.finish()
        return table

    def _arguments_of(self, row: Instruction) -> Mapping[str, Any]:
        low, high = row.immediate or (0, -1)
        return {
            "name": row.name,
            "pieces": row.pieces,
            "arguments": [
                (self._stack_numbers[stack], row.literal(n) > 0, row.literal(n))
                for n, stack in enumerate(row.arguments)
            ],
            "results": [self._stack_numbers[stack] for stack in row.results],
            "effect": EFFECTS[row.effect],
            "guardable": row.guardable,
            "commutes": row.commutes,
            "separate": row.separate,
            "lowest": low,
            "span": high - low + 1,
        }


def _merging_rows(stacks: tuple[Stack, ...], predicate: str) -> dict[str, Instruction]:
    """What the two sides of an ``if`` are joined with."""
    made: dict[str, Instruction] = {}
    for stack in stacks:
        if stack.register != "pred":
            # Halves and floats of their own stacks need no literal here.
            largest = (1 << 64) - 1 if stack.literal < 3 else 0
            made[f"select.{stack.name}"] = Instruction(
                f"select.{stack.name}", (stack.name, stack.name, predicate), (stack.name,),
                f"selp.{stack.register} $0, $1, $2, $3;", literals=(largest, largest, 0),
                exact=True,
            )  # fmt: skip
    for name, text in (("and", "$1, $2"), ("or", "$1, $2"), ("not", "$1")):
        arguments = (predicate,) * (text.count("$"))
        made[name] = Instruction(
            name, arguments, (predicate,), f"{name}.pred $0, {text};",
            commutes=name != "not", exact=True,
        )  # fmt: skip
    return made


@lru_cache(maxsize=16)
def _default(target: str, version: str | None, warp: bool, memory: bool) -> Isa:
    """One object for each ready-made set, however it was asked for."""
    wanted = Target.parse(target)
    since = Version.parse(version or max_version(str(wanted)))
    rows = derive.from_table(wanted, since, warp=warp, memory=memory)
    made = Isa.__new__(Isa)
    made._fill(rows, tuple(STACKS.values()), (), target, str(since), memory, True)
    made._asked = target, version, warp, memory
    return made


def _restore(
    instructions: tuple[Instruction, ...],
    stacks: tuple[Stack, ...],
    routines: tuple[Routine, ...],
    target: str,
    version: str,
    memory: bool,
    open: bool,
) -> Isa:
    """What pickle calls; the instructions were checked when the set was made."""
    made = Isa.__new__(Isa)
    made._fill(instructions, stacks, routines, target, version, memory, open)
    return made


def max_version(target: str) -> str:
    """The PTX version a stub of a target is written for unless told: 8.0, or the target's."""
    since = Version.parse(TARGET_SINCE.get(target, "8.0"))
    return str(max(since, Version(8, 0)))
