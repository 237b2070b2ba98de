"""What code computes, as expressions that two programs have in common.

Registers have no names here. Where one is read that was set in one place, it is the expression that
is put there; where it may have been set in several, it is what all of these put there, and when.
Such values go in circles around loops: they start as unknown, and in every round each is made of
what the last round found, so that two are the same only where everything that leads to them is.
Blocks are known by the conditions on the ways to them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.decode import PURE, Decoder, Known, Operand, Register, Step
from ptxkit.decompiler.verify.dataflow.liveness import registers_in
from ptxkit.decompiler.verify.dataflow.opcodes import OF_ITS_TYPE, may_leave_out
from ptxkit.decompiler.verify.dataflow.pure import FLOAT_COMPARISONS
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.decompiler.verify.reaching import NOWHERE, filled, reaching
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Declarator, Module, Scopes
from ptxkit.syntax.graph import BasicBlock

#: Rounds at most; loops inside loops take some more than the depth of what they compute.
_ROUNDS = 24
_INTEGERS = frozenset(("u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64"))
_FLOATS = frozenset(("f16", "bf16", "f32", "f64"))
_COMMUTING = frozenset(("add", "mul", "fma", "mad", "min", "max", "and", "or", "xor"))
#: What symbols of parameters are written as.
_PARAMETER = "('parameter', "
JUMPS = frozenset(("bra", "brx", "ret", "exit"))
#: Orders by one of them: whether the operands change sides, and whether it is the opposite.
_ORDERS = {
    "lt": (False, False), "gt": (True, False), "le": (True, True), "ge": (False, True),
    "lo": (False, False), "hi": (True, False), "ls": (True, True), "hs": (False, True),
}  # fmt: skip


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

    def __init__(self, coverage: Coverage, terms: Terms, known: Known) -> None:
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
            self.steps.append([decoder.step(one) for one in block.instructions])
        self.numbers = {id(block): number for number, block in enumerate(self.blocks)}
        self.setters: dict[Register, list[int]] = defaultdict(list)
        self.readers: dict[Register, set[int]] = defaultdict(set)
        for number, steps in enumerate(self.steps):
            self._note(number, steps)
        several = {r for r, setters in self.setters.items() if len(setters) > 1}
        self.reaching = reaching(self.blocks, {r: self.setters[r] for r in several})
        """For each block, and those registers, in which blocks they may have been set before."""
        self.joined: set[Joined] = {
            (register, setters)
            for register in several
            for reader in self.readers[register]
            if len(setters := self.reaching[reader].get(register, NOWHERE)) > 1
        }
        unknown = terms.make("unknown")
        self.known: dict[Joined, Term] = dict.fromkeys(self.joined, unknown)
        self.contexts: list[Term] = [unknown] * len(self.blocks)
        self.values: list[dict[Register, Term] | None] = []
        self.effects: list[list[Term]] = []
        self.passed: list[list[tuple[str, range]]] = []
        """In each block, where the arguments of the call to come have been put."""

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
            jumps = last.name == "brx"
            return self.terms.make("table", target.index) if jumps else self.terms.make("always")
        taken = self._guard(place, last.guard)
        to_label = last.name == "bra" and last.sources[0].value[-1] in target.labels
        return taken if to_label else self._not(taken)

    def _ending(self, number: int) -> Term:
        last = self.steps[number][-1]
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
        row = self.terms.rows[value]
        return int(row[1]) if row[0] == "not" else self.terms.make("not", value)

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
        setters: Collection[int] = self.setters.get(register, ())
        if len(setters) > 1:
            setters = self.reaching[number].get(register, NOWHERE)
            if len(setters) > 1:
                known = self.known.get((register, setters))
                # Where no block reads it, it is asked for after the last round only.
                return self._joined(register, setters) if known is None else known
        if not setters:
            return self.terms.make("undefined")
        values = self._evaluate(next(iter(setters)))
        if register not in values:
            raise GiveUpError("a register that is read before it is set")
        return values[register]

    def value(self, number: int, register: Register) -> Term:
        """What a register is at the start of a block, in the last round."""
        return self._read(number, {}, register)

    def _step(self, number: int, step: Step, held: dict[Register, Term]) -> list[Term]:
        if step.name == "activemask":
            raise GiveUpError("a question which threads are there")
        make = self.terms.make
        operands = [self._operand(number, source, step, held) for source in step.sources]
        restless = any(source.kind == "restless" for source in step.sources)
        if step.name in PURE and not restless:
            made = self._pure(step, operands)
        elif step.name == "ld" and self._is_parameter(step, operands[0]):
            made = [
                make("argument", plain(step), place, *operands)
                for place in range(len(step.targets))
            ]
        else:
            # Loads have a place among the effects of their block, and depend on those before.
            passed = _passed(step)
            before = 0 if passed else len(self.effects[number]) - len(self.passed[number])
            whole = make("effect", plain(step), before, self.contexts[number], *operands)
            made = [make("part", whole, place) for place in range(len(step.targets))]
            if step.name != "ld" or step.modifiers & _ORDERED:
                guard = self._guarded(number, step, held)
                self.effects[number].append(make("does", whole, guard))
                self._arrange(number, passed)
        if step.guard is None:
            return made
        guard = self._guarded(number, step, held)
        return [
            make("select", guard, value, self._before(number, held, target))
            for value, target in zip(made, step.targets, strict=True)
        ]

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
        if len(step.targets) == 1 and ".cc" not in step.modifiers and step.targets[0] is not None:
            known = self._known(step, values, step.targets[0][1])
            if known is not None:
                return [known]
        if ".cc" in step.modifiers or step.name in ("addc", "subc", "madc"):
            raise GiveUpError("a carry")
        if step.name in _COMMUTING:
            values = [*sorted(values[:2]), *values[2:]]
        whole = self.terms.make("made", plain(step), *values)
        return [self.terms.make("part", whole, place) for place in range(len(step.targets))]

    def _known(self, step: Step, values: list[Term], register: str) -> Term | None:
        """What has a meaning of its own."""
        terms, name = self.terms, step.name
        if name == "mov" and len(values) == 1 and step.sources[0].kind != "vector":
            return values[0]
        if name == "cvta" and ".global" in step.modifiers:
            return values[0]
        if name == "setp" and len(values) == 2:
            return self._compared(step, values)
        if name == "not" and step.type == "pred":
            return self._not(values[0])
        if not set(step.types) <= _INTEGERS or step.modifiers & {".sat", ".hi"}:
            return None
        width = SCALAR_TYPES[step.type].width
        signed = step.type.startswith("s")
        if name in ("add", "sub"):
            return terms.add(width, values[0], values[1], 1 if name == "add" else -1)
        if name in ("mul", "mad"):
            if ".wide" in step.modifiers:
                values[:2] = [terms.extend(signed, width, 2 * width, v) for v in values[:2]]
                width *= 2
            product = terms.multiply(width, values[0], values[1])
            return product if name == "mul" else terms.add(width, product, values[2])
        if name == "selp":
            return self._chosen(width, values)
        if name == "neg":
            return terms.scale(width, values[0], -1)
        if name == "shl" and step.sources[1].kind == "number":
            by = step.sources[1].value
            return terms.scale(width, values[0], 1 << by) if 0 <= by < width else None
        if name == "cvt" and len(step.types) == 2 and step.sources[0].kind == "register":
            to = SCALAR_TYPES[step.types[0]].width
            held = SCALAR_TYPES[step.sources[0].parts[0].value].width
            if held == width and SCALAR_TYPES[register].width == to:
                if to < width:
                    return terms.truncate(width, to, values[0])
                return terms.extend(signed, width, to, values[0]) if to > width else values[0]
        return None

    def _chosen(self, width: int, values: list[Term]) -> Term | None:
        """One of two numbers: a sum with the truth of the condition, as 1 or 0."""
        yes, no = (self.terms.constant_of(value) for value in values[:2])
        if yes is None or no is None:
            return None
        row = self.terms.rows[values[2]]
        asked = values[2]
        if row[0] == "not":
            yes, no, asked = no, yes, int(row[1])
        truth = self.terms.scale(width, self.terms.make("bit", width, asked), yes - no)
        return self.terms.add(width, self.terms.constant(width, no), truth)

    def _compared(self, step: Step, values: list[Term]) -> Term | None:
        if step.type not in _INTEGERS:
            return self._ordered(step, values)
        terms, width = self.terms, SCALAR_TYPES[step.type].width
        condition = step.opcode.split(".")[1]
        if condition in ("eq", "ne"):
            asked, turned = terms.equal(width, *values)
            opposite = condition == "ne"
        elif condition in _ORDERS:
            swapped, opposite = _ORDERS[condition]
            signed = step.type.startswith("s") and condition not in ("lo", "hi", "ls", "hs")
            first, second = reversed(values) if swapped else values
            asked, turned = terms.less(signed, width, first, second)
        else:
            return None
        if asked is None:
            return terms.make("truth", turned != opposite)
        return self._not(asked) if turned != opposite else asked

    def _ordered(self, step: Step, values: list[Term]) -> Term | None:
        """A comparison of floating-point numbers: several are the opposite of another."""
        known = FLOAT_COMPARISONS.get(step.opcode.split(".")[1])
        if known is None or step.type not in _FLOATS:
            return None
        name, swapped, opposite = known
        if name not in ("lt", "le"):
            values = sorted(values)
        elif swapped:
            values = values[::-1]
        asked = self.terms.make("compare", name, step.type, ".ftz" in step.modifiers, *values)
        return self._not(asked) if opposite else asked


_ORDERED = frozenset((".volatile", ".relaxed", ".acquire", ".mmio"))


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


def plain(step: Step) -> str:
    """The opcode; a type as wide as its register has no sign where bits are only moved."""
    opcode = step.opcode.replace(".rn", "", 1) if may_leave_out(step) else step.opcode
    bits = step.name in ("and", "or", "xor", "not", "selp", "mov", "shl", "st")
    if step.name == "ld":
        width = SCALAR_TYPES[step.type].width
        bits = all(t is None or SCALAR_TYPES[t[1]].width == width for t in step.targets)
    if not bits:
        return opcode
    words = opcode.split(".")
    return ".".join("b" + w[1:] if w[1:].isdigit() and w[0] in "usf" else w for w in words)
