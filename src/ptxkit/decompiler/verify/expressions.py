"""What code computes, as expressions that two programs have in common.

Registers have no names here. Where one is read that was set in one place, it is the expression that
is put there; where it may have been set in several, it is what all of these put there, and when.
Such values go in circles around loops: they start as unknown, and in every round each is made of
what the last round found, so that two are the same only where everything that leads to them is.
Blocks are known by the conditions on the ways to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

from ptxkit.decompiler.verify.computed import chosen, computed, negated, plain
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.accesses import Access, as_written
from ptxkit.decompiler.verify.dataflow.decode import PURE, Decoder, Known, Operand, Register, Step
from ptxkit.decompiler.verify.dataflow.liveness import registers_in
from ptxkit.decompiler.verify.dataflow.opcodes import OF_ITS_TYPE, ORDERED, plain_memory
from ptxkit.decompiler.verify.dataflow.pure import source_types
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.decompiler.verify.reaching import NOWHERE, dominating, filled, reaching
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Declarator, Module, Scopes
from ptxkit.syntax.graph import BasicBlock

#: Rounds at most; loops inside loops take some more than the depth of what they compute.
_ROUNDS = 24
_BYTE = 8
#: What symbols of parameters are written as.
_PARAMETER = "('parameter', "
JUMPS = frozenset(("bra", "brx", "ret", "exit"))


Joined = tuple[Register, frozenset[int]]
"""A register, and the blocks in which it may have been set."""


@dataclass(slots=True)
class Found:
    """What a block comes to in the last round."""

    context: Term
    effects: list[Term]
    """Everything that memory and other threads have a part in, in order, and how it ends."""
    leaves: list[Term]
    """What is left in registers that others read."""


class Expressions:
    """The expressions of one program; both programs share their terms."""

    def __init__(
        self, coverage: Coverage, terms: Terms, known: Known, access: Access = as_written
    ) -> None:
        self.terms = terms
        self.blocks = coverage.blocks
        # To find the name of a long function takes long, and it has many blocks.
        called = {one.index: one.name for one in {f.index: f for f in coverage.functions}.values()}
        self.names = [called[function.index] for function in coverage.functions]
        module = coverage.functions[0].root
        assert isinstance(module, Module)
        scopes, places = Scopes(module), _places(module)
        self.steps: list[list[Step]] = []
        for block, function in zip(self.blocks, coverage.functions, strict=True):
            decoder = Decoder(function, scopes, places, known)
            self.steps.append([access(decoder.step(one)) for one in block.instructions])
        self.numbers = {id(block): number for number, block in enumerate(self.blocks)}
        self.setters: dict[Register, list[int]] = defaultdict(list)
        self.readers: dict[Register, set[int]] = defaultdict(set)
        for number, steps in enumerate(self.steps):
            self._note(number, steps)
        several = {r for r, setters in self.setters.items() if len(setters) > 1}
        self.reaching = reaching(self.blocks, {r: self.setters[r] for r in several})
        """For each block, and those registers, in which blocks they may have been set before."""
        self._dominating = dominating(self.blocks)
        self.joined: set[Joined] = {
            (register, setters)
            for register, readers in self.readers.items()
            for reader in readers
            if not self._is_plain(reader, setters := self._set_before(reader, register))
        }
        unknown = terms.make("unknown")
        self.known: dict[Joined, Term] = dict.fromkeys(self.joined, unknown)
        self.contexts: list[Term] = [unknown] * len(self.blocks)
        self.values: list[dict[Register, Term] | None] = []
        self.effects: list[list[Term]] = []
        self.passed: list[list[tuple[str, range]]] = []
        """In each block, where the arguments of the call to come have been put."""

    def _set_before(self, number: int, register: Register) -> frozenset[int]:
        """The blocks in which a register may have been set before control comes to a block."""
        setters = self.setters.get(register, ())
        if len(setters) > 1:
            return self.reaching[number].get(register, NOWHERE)
        return frozenset(setters)

    def _is_plain(self, number: int, setters: frozenset[int]) -> bool:
        """Whether a register that was set there, if anywhere, has been so for certain."""
        return not setters or (
            len(setters) == 1 and bool(self._dominating[number] >> min(setters) & 1)
        )

    def _note(self, number: int, steps: list[Step]) -> None:
        own: set[Register] = set()
        for step in steps:
            read = [r for source in step.sources for r in registers_in(source)]
            if step.guard:
                read += [step.guard[0], *(t[0] for t in step.targets if t is not None)]
            for register in read:
                if register not in own:
                    self.readers[register].add(number)
            for target in step.targets:
                if target is not None:
                    own.add(target[0])
        for register in own:
            self.setters[register].append(number)

    @property
    def rounds(self) -> int:
        """How many rounds tell everything apart that can be."""
        return min(_ROUNDS, 3 + len(self.joined))

    def run(self, rounds: int) -> list[Found]:
        """What the blocks come to."""
        for _ in range(rounds):
            self._round()
        return [
            Found(
                self.contexts[number],
                [*self.effects[number], self._ending(number)],
                sorted(
                    self.terms.make("left", value, self._out(number, register))
                    for (register, places), value in self.known.items()
                    if number in places
                ),
            )
            for number in range(len(self.blocks))
        ]

    def _round(self) -> None:
        self.values = [None] * len(self.blocks)
        self.effects = [[] for _ in self.blocks]
        self.passed = [[] for _ in self.blocks]
        for number in range(len(self.blocks)):
            self._evaluate(number)
        self.known = {
            (register, places): self._joined(register, places) for register, places in self.joined
        }
        self.contexts = [self._context(number) for number in range(len(self.blocks))]

    def _joined(self, register: Register, places: Iterable[int]) -> Term:
        """A register that was set in one of some blocks."""
        ways = sorted((self.contexts[n], self._out(n, register)) for n in places)
        return self.terms.make("joined", *ways)

    def _out(self, number: int, register: Register) -> Term:
        values = self.values[number]
        assert values is not None
        return values[register]

    # ---- ways through blocks ---------------------------------------------------------------

    def _context(self, number: int) -> Term:
        """On what ways control comes to a block."""
        block = self.blocks[number]
        ways = []
        for before in filled(block):
            place = self.numbers.get(id(before))
            if place is None:
                continue  # control cannot come to it
            ways.append((self.contexts[place], len(self.effects[place]), self._way(place, block)))
        start = number == 0 or self.names[number - 1] != self.names[number]
        name = self.names[number] if start else ""
        return self.terms.make("context", name, *sorted(ways))

    def _way(self, place: int, target: BasicBlock) -> Term:
        """The condition on which control goes from one block to another."""
        last = self.steps[place][-1]
        if last.name not in JUMPS or last.guard is None:
            if last.name == "brx":
                return self._entries(place, target)
            return self.terms.make("always")
        taken = self._guard(place, last.guard)
        to_label = last.name == "bra" and last.sources[0].value[-1] in target.labels
        return taken if to_label else self._not(taken)

    def _entries(self, place: int, target: BasicBlock) -> Term:
        """By what number control goes to a block that a table names, and at which places of it."""
        places = [k for k, one in enumerate(self.blocks[place].targets) if one is target]
        return self.terms.make("table", self._selector(place), *places)

    def _selector(self, place: int) -> Term:
        values, source = self.values[place], self.steps[place][-1].sources[0]
        if values is None or source.kind != "register":
            return self.terms.make("opaque", id(self), place)
        return self._read(place, values, source.value)

    def _ending(self, number: int) -> Term:
        last = self.steps[number][-1]
        if last.name == "brx" and last.guard is None:
            size = len(self.blocks[number].targets)
            return self.terms.make("goes by table", self._selector(number), size)
        if last.name not in JUMPS or (last.name == "bra" and last.guard is None):
            return self.terms.make("goes on")
        condition = self._guard(number, last.guard) if last.guard else self.terms.make("always")
        if last.name in ("bra", "brx"):
            # To where is for the contexts of others to say; either way round is the same.
            other = self._not(condition)
            return self.terms.make("goes", *sorted((condition, other)))
        return self.terms.make("ends", last.name, condition)

    def _guard(self, number: int, guard: tuple[Register, bool]) -> Term:
        values = self.values[number]
        assert values is not None
        value = self._read(number, values, guard[0])
        return self._not(value) if guard[1] else value

    def _not(self, value: Term) -> Term:
        return negated(self.terms, value)

    # ---- values ----------------------------------------------------------------------------

    def _evaluate(self, number: int) -> dict[Register, Term]:
        held = self.values[number]
        if held is not None:
            return held
        held = self.values[number] = {}
        for step in self.steps[number]:
            if step.name in JUMPS:
                continue
            made = self._step(number, step, held)
            for target, value in zip(step.targets, made, strict=True):
                if target is not None:
                    held[target[0]] = value
        return held

    def _read(self, number: int, held: dict[Register, Term], register: Register) -> Term:
        if register in held:
            return held[register]
        setters = self._set_before(number, register)
        if not setters:
            return self.terms.make("undefined")
        if not self._is_plain(number, setters):
            known = self.known.get((register, setters))
            # Where no block reads it, it is asked for after the last round only.
            return self._joined(register, setters) if known is None else known
        return self._evaluate(min(setters))[register]

    def value(self, number: int, register: Register) -> Term:
        """What a register is at the start of a block, in the last round."""
        return self._read(number, {}, register)

    def _step(self, number: int, step: Step, held: dict[Register, Term]) -> list[Term]:
        if step.name == "activemask":
            raise GiveUpError("a question which threads are there")
        make = self.terms.make
        operands = self._operands(number, step, held)
        restless = any(source.kind == "restless" for source in step.sources)
        if step.name in PURE and not restless:
            made = self._pure(step, operands)
        elif step.name == "ld" and self._is_parameter(step, operands[0]):
            made = [
                self._filled(step, place, make("argument", plain_memory(step), place, *operands))
                for place in range(len(step.targets))
            ]
        else:
            passed = _passed(step)
            before = 0 if passed else self._effects_before(number, step)
            opcode = plain_memory(step) if step.name == "ld" else plain(step)
            whole = make("effect", opcode, before, self.contexts[number], *operands)
            made = [
                self._filled(step, place, make("part", whole, place))
                for place in range(len(step.targets))
            ]
            if step.name != "ld" or step.modifiers & _ORDERED:
                guard = self._guarded(number, step, held)
                self.effects[number].append(make("does", whole, guard))
                self._arrange(number, passed)
        if step.guard is None:
            return made
        guard = self._guarded(number, step, held)
        return [
            chosen(self.terms, _bits(target), value, self._before(number, held, target), guard)
            for value, target in zip(made, step.targets, strict=True)
        ]

    def _effects_before(self, number: int, step: Step) -> int:
        """The place of a step among the effects of its block.

        A load depends on those before it, but for what is stored to memory of another kind.
        """
        done = self.effects[number]
        space = _space(step.modifiers) if step.name == "ld" else ""
        if not space or step.modifiers & _ORDERED:
            return len(done) - len(self.passed[number])
        opcodes = (str(self.terms.rows[self.terms.rows[one][1]][1]) for one in done)
        return sum(not _is_apart(opcode, space) for opcode in opcodes)

    def _is_parameter(self, step: Step, address: Term) -> bool:
        """Whether a parameter is read, which nobody changes: by its name or through an address."""
        if ".param" not in step.modifiers:
            return False
        _, parts = self.terms.parts(64, address)
        symbols = [row for atom in parts if (row := self.terms.rows[atom])[0] == "symbol"]
        return len(symbols) == 1 and symbols[0][1].startswith(_PARAMETER)

    def _arrange(self, number: int, passed: tuple[str, range] | None) -> None:
        """Put arguments of a call in one order: each has a place of its own."""
        run = self.passed[number]
        if passed is None:
            # Who reads them comes next: what is counted from here on is counted from there.
            run.clear()
            return
        if any(name == passed[0] and _overlap(bytes, passed[1]) for name, bytes in run):
            raise GiveUpError("an argument that is put down twice")
        run.append(passed)
        made = self.effects[number]
        made[-len(run) :] = sorted(made[-len(run) :])

    def _before(
        self, number: int, held: dict[Register, Term], target: tuple[Register, str] | None
    ) -> Term:
        if target is None or (target[0] not in held and len(self.setters[target[0]]) < 2):
            return self.terms.make("undefined")
        return self._read(number, held, target[0])

    def _guarded(self, number: int, step: Step, held: dict[Register, Term]) -> Term:
        if step.guard is None:
            return self.terms.make("always")
        value = self._read(number, held, step.guard[0])
        return self._not(value) if step.guard[1] else value

    def _filled(self, step: Step, place: int, value: Term) -> Term:
        """What is loaded as it fills a register, which may have more bits."""
        target = step.targets[place]
        if step.name != "ld" or target is None or step.type not in SCALAR_TYPES:
            return value
        width, wide = SCALAR_TYPES[step.type].width, SCALAR_TYPES[target[1]].width
        signed = step.type.startswith("s")
        return self.terms.extend(signed, width, wide, value) if wide > width else value

    def _operands(self, number: int, step: Step, held: dict[Register, Term]) -> list[Term]:
        """What a step reads: of registers as many bits as it takes."""
        values = [self._operand(number, source, step, held) for source in step.sources]
        if step.name not in PURE and step.name != "st":
            return values
        types = source_types(step)
        return [
            self._cut(source, value, type)
            for source, value, type in zip(step.sources, values, types, strict=True)
        ]

    def _cut(self, source: Operand, value: Term, type: str) -> Term:
        if source.kind == "vector":
            row = self.terms.rows[value]
            parts = zip(source.parts, row[2:], strict=True)
            return self.terms.make(*row[:2], *(self._cut(one, part, type) for one, part in parts))
        if source.kind != "register" or type not in SCALAR_TYPES:
            return value
        wide, width = (SCALAR_TYPES[one].width for one in (source.parts[0].value, type))
        return self.terms.truncate(wide, width, value) if wide > width >= _BYTE else value

    def _operand(
        self, number: int, source: Operand, step: Step, held: dict[Register, Term]
    ) -> Term:
        terms = self.terms
        if source.kind == "register":
            return self._read(number, held, source.value)
        if source.kind == "number":
            return terms.constant(_width(step, source, step.sources), source.value)
        if source.kind == "float":
            form, bits = source.value
            return terms.constant({"f32": 32}.get(form, 64), bits)
        if source.kind == "address":
            base = source.parts[0]
            width = SCALAR_TYPES[base.parts[0].value].width if base.kind == "register" else 64
            rest = [self._operand(number, part, step, held) for part in source.parts]
            place = terms.add(width, rest[0], terms.constant(width, source.value))
            return terms.make("place", place, *rest[1:]) if len(rest) > 1 else place
        if source.parts or source.kind == "vector":
            parts = (self._operand(number, part, step, held) for part in source.parts)
            return terms.make("tuple", str(source.value), *parts)
        return terms.make(source.kind, str(source.value))

    def _pure(self, step: Step, values: list[Term]) -> list[Term]:
        return computed(self.terms, step, values)


_ORDERED = frozenset((".volatile", ".relaxed", ".acquire", ".mmio"))


#: Memory of which no byte is one of another kind.
_SPACES = frozenset(("global", "shared", "local", "param", "const"))


def _space(words: Iterable[str]) -> str:
    """The kind of memory that an opcode names; none for any kind."""
    found = {one.lstrip(".").partition("::")[0] for one in words} & _SPACES
    return found.pop() if len(found) == 1 else ""


def _is_apart(opcode: str, space: str) -> bool:
    """Whether an effect is nothing but a store to memory of another kind.

    >>> _is_apart("st.shared.b32", "global"), _is_apart("st.b32", "global")
    (True, False)
    >>> _is_apart("st.volatile.shared.b32", "global"), _is_apart("atom.shared.b32", "global")
    (False, False)
    """
    name, *words = opcode.split(".")
    if name != "st" or any(f".{word}" in ORDERED for word in words):
        return False
    return _space(words) not in ("", space)


def _places(module: Module) -> dict[int, int]:
    """Variables of a thread or block by size, and by name where that is not enough."""
    sizes: dict[tuple[object, ...], list[Declarator]] = defaultdict(list)
    for node in module.find("Declarator"):
        if isinstance(node, Declarator) and node.variable.space in ("shared", "local"):
            size = (node.variable.space, *variable_size(node.variable, node))
            sizes[size].append(node)
    return {
        one.index: crc32(one.name.encode()) if len(alike) > 1 else 0
        for alike in sizes.values()
        for one in alike
    }


def _passed(step: Step) -> tuple[str, range] | None:
    """Where a step puts an argument of a call: the variable, and its bytes."""
    if step.name != "st" or ".param" not in step.modifiers or step.guard is not None:
        return None
    base = step.sources[0].parts[0]
    if base.kind != "symbol" or base.value[0] != "slot":
        return None
    count = max(len(step.sources[1].parts), 1) if step.sources[1].kind == "vector" else 1
    start = step.sources[0].value
    return base.value[1], range(start, start + count * SCALAR_TYPES[step.type].width // 8)


def _bits(target: tuple[Register, str] | None) -> int:
    """How many bits a target has; 1 where it is a predicate or nothing."""
    return 1 if target is None else SCALAR_TYPES[target[1]].width


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _width(step: Step, source: Operand, sources: Sequence[Operand]) -> int:
    """The bits of a number among operands."""
    if step.name in ("shl", "shr") and source is sources[-1]:
        return 32
    if step.name not in PURE and step.name not in OF_ITS_TYPE:
        return 64  # a stride, a count of bytes or the like
    width = SCALAR_TYPES[step.type].width if step.type in SCALAR_TYPES else 32
    if step.name == "mad" and ".wide" in step.modifiers and source is sources[-1]:
        return 2 * width
    return max(width, 8)
