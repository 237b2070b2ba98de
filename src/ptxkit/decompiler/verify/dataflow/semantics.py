"""What instructions do to a symbolic state.

Registers hold diagrams of terms. Memory is one term: a chain of everything that was done to it,
in order. A load is a function of the chain so far; a store, a barrier, an atomic or anything this
file does not know lengthens it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ptxkit.decompiler.verify.dataflow.accesses import space_of
from ptxkit.decompiler.verify.dataflow.bits import part
from ptxkit.decompiler.verify.dataflow.bounds import bounds
from ptxkit.decompiler.verify.dataflow.calls import run_call, run_parameter
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import (
    PURE,
    Operand,
    Register,
    Step,
    called,
    reads_of_parameters,
)
from ptxkit.decompiler.verify.dataflow.liveness import CARRY
from ptxkit.decompiler.verify.dataflow.loads import WORD, Load, address_width, extension_of
from ptxkit.decompiler.verify.dataflow.opcodes import (
    CONTRACTED,
    OF_ITS_TYPE,
    ORDERED,
    is_silent,
    may_leave_out,
    plain_memory,
    plain_opcode,
)
from ptxkit.decompiler.verify.dataflow.products import (
    OPEN,
    keeps_open,
    may_be_product,
    settled,
    takes_rounded,
)
from ptxkit.decompiler.verify.dataflow.pure import SPECIAL, source_types
from ptxkit.decompiler.verify.dataflow.state import State, Touched
from ptxkit.decompiler.verify.dataflow.terms import IN_ORDER, GiveUpError, Term, Terms
from ptxkit.isa.types import SCALAR_TYPES


def _never_meets(step: Step) -> bool:
    return False


@dataclass(slots=True)
class Semantics:
    """Executes steps; ``incoming`` gives what a register held before."""

    terms: Terms
    decisions: Decisions
    incoming: Callable[[Register], Diagram]
    calls: set[str] = field(default_factory=set)
    contracted: frozenset[str] = frozenset()
    """Types in which a sum may be put together with a product: see :func:`contracted`."""
    narrow: bool = False
    """Whether values are told only for where control is."""
    settled_calls: frozenset[str] = frozenset()
    """Functions behind which there is all that was there before."""
    touched: list[Touched] = field(default_factory=list)
    broken: Diagram | None = None
    """Where memory is touched that nobody has, if that is asked for: such a launch fails."""
    meets: Callable[[Step], bool] = _never_meets
    """Whether threads come together at a step."""
    joint: list[tuple[str, Diagram]] = field(default_factory=list)
    """Where they do, and which of them come there."""

    def told(self, state: State, value: Diagram, type: str = "") -> Diagram:
        """A value as it is kept: for where control is, since nobody asks for it elsewhere.

        Only then is it the same for two functions in which it has many cases, and is one term.
        """
        if self.narrow:
            value = self.decisions.within(state.condition, value)
        if type == "pred":
            return value
        closed = self.decisions.closed(value)
        return closed if closed == value else self._as_flag(closed, type)

    def _as_flag(self, closed: Diagram, type: str) -> Diagram:
        """A value of many cases that is 0 or 1, as the one or the other.

        Where it is not 0, nobody has to find then that it is 1, in however many bits.
        """
        terms, decisions = self.terms, self.decisions
        width = SCALAR_TYPES[type].width if type in SCALAR_TYPES else 0
        term = decisions.term(closed)
        if term is None or width not in _FLAGS or bounds(terms, term, width, False) != (0, 1):
            return closed
        cut = partial(terms.truncate, width, _FEW)
        few = decisions.case_by_case(("truncate", width, _FEW), cut, closed)
        zero, one = (decisions.leaf(terms.constant(width, number)) for number in (0, 1))

        def is_zero(a: Term) -> Diagram:
            asked, turned = terms.equal(_FEW, a, terms.constant(_FEW, 0))
            answer = decisions.true if asked is None else decisions.ask(asked)
            return answer if turned == (asked is None) else decisions.negate(answer)

        return decisions.choose(decisions.apply("is zero", is_zero, (few,)), zero, one)

    # ---- operands --------------------------------------------------------------------------

    def read(self, state: State, register: Register) -> Diagram:
        """What a register holds."""
        held = state.registers.get(register)
        if held is None:
            held = state.registers[register] = self.incoming(register)
        return held

    def predicate(self, state: State, guard: tuple[Register, bool]) -> Diagram:
        """The truth of a guard."""
        value = self.read(state, guard[0])
        return self.decisions.negate(value) if guard[1] else value

    def value(self, state: State, operand: Operand, type: str) -> Diagram:
        """What an operand is, as bits of a type."""
        terms, decisions = self.terms, self.decisions
        width = SCALAR_TYPES[type].width if type in SCALAR_TYPES else 32
        kind = operand.kind
        if kind == "register":
            own = operand.parts[0].value
            held = self.read(state, operand.value)
            wide = SCALAR_TYPES[own].width
            if wide > width and own != "pred" and width >= 8:
                cut = partial(terms.truncate, wide, width)
                return decisions.case_by_case(("truncate", wide, width), cut, held)
            return held
        if kind == "not":
            return decisions.negate(self.value(state, operand.parts[0], "pred"))
        if kind == "number":
            if type == "pred":
                return decisions.true if operand.value else decisions.false
            return decisions.leaf(terms.constant(width, operand.value))
        if kind == "float":
            form, bits = operand.value
            if form == type or (form == "f32" and width == 32) or (form == "f64" and width == 64):
                return decisions.leaf(terms.constant(width, bits))
            return decisions.leaf(terms.make("float", form, bits, type))
        if kind == "symbol":
            if operand.value[0] == "function":
                raise GiveUpError("the address of a function")
            return decisions.leaf(terms.make("symbol", *operand.value))
        if kind == "special":
            least, most = terms.special.get(operand.value, (0, 1))
            if least == most and width >= WORD:
                return decisions.leaf(terms.constant(width, least))
            special = terms.make("special", operand.value)
            # An instruction of fewer bits reads the lower ones: there may be 100,000 blocks.
            return decisions.leaf(
                special if width >= WORD else terms.truncate(WORD, width, special)
            )
        if kind == "address":
            return self.address(state, operand)
        if kind == "vector":
            return self.together(state, operand, type)
        raise GiveUpError(f"an operand of kind {kind}")

    def together(self, state: State, operand: Operand, type: str) -> Diagram:
        """Several values as one."""
        parts = tuple(self.value(state, p, type) for p in operand.parts)
        make, leaf = self.terms.make, self.decisions.leaf
        if len(parts) == 1:
            return parts[0]
        return self.decisions.apply("tuple", lambda *a: leaf(make("tuple", *a)), parts)

    def address(self, state: State, operand: Operand) -> Diagram:
        """An address: base plus offset, and the coordinates of a texture."""
        terms, decisions = self.terms, self.decisions
        width = address_width(operand)
        found = self.value(state, operand.parts[0], "b64" if width == 64 else "b32")
        found = self._moved(operand, found, operand.value)
        if len(operand.parts) > 1:
            rest = tuple(self.value(state, p, "b32") for p in operand.parts[1:])
            found = decisions.apply(
                "place", lambda *a: decisions.leaf(terms.make("place", *a)), (found, *rest)
            )
        return found

    def _moved(self, operand: Operand, address: Diagram, by: int) -> Diagram:
        """An address some bytes on."""
        width = address_width(operand)
        offset = self.terms.constant(width, by)
        return self.decisions.apply(
            ("offset", width, by),
            lambda a: self.decisions.leaf(self.terms.add(width, a, offset)),
            (address,),
        )

    # ---- steps -----------------------------------------------------------------------------

    def run(self, state: State, step: Step) -> None:
        """Execute one step."""
        guard = self.predicate(state, step.guard) if step.guard is not None else None
        if self.meets(step):
            come = state.condition
            come = come if guard is None else self.decisions.both(come, guard)
            what = step.opcode if step.name != "call" else " ".join(("call", *called(step)))
            self.joint.append((what, come))
        if reads_of_parameters(step):
            run_parameter(self, state, step, guard)
        elif step.name == "call":
            run_call(self, state, step, guard)
        elif step.name in PURE and not any(s.kind == "restless" for s in step.sources):
            self._pure(state, step, guard)
        elif step.name == "ld" and not step.modifiers & ORDERED:
            self._load(state, step, guard)
        else:
            self._effect(state, step, guard)

    def write(
        self,
        state: State,
        target: tuple[Register, str] | None,
        value: Diagram,
        guard: Diagram | None,
    ) -> None:
        """Set a register, where the guard holds."""
        if target is None:
            return
        register = target[0]
        if guard is not None:
            value = self.decisions.choose(guard, value, self.read(state, register))
        state.registers[register] = self.told(state, value, target[1])

    def _pure(self, state: State, step: Step, guard: Diagram | None) -> None:
        special = SPECIAL.get(step.name)
        if special is not None and special(self, state, step, guard):
            return
        if step.name in _SUMS and len(step.types) > 1:
            raise GiveUpError("numbers of two precisions in one sum")
        types = source_types(step)
        values = tuple(self.value(state, s, t) for s, t in zip(step.sources, types, strict=True))
        carries = step.name in ("addc", "subc", "madc") or ".cc" in step.modifiers
        if carries:
            values = (*values, self.read(state, CARRY))
        opcode = self._opcode(step)
        for number, target in enumerate(step.targets):
            key = "op", opcode, number
            value = self.decisions.apply(key, self._operation(step, number), values)
            if target is not None and target[1] == "pred":
                value = self._as_condition(value)
            self.write(state, target, value, guard)
        if ".cc" in step.modifiers:
            key = "op", opcode, -1
            value = self.decisions.apply(key, self._operation(step, -1), values)
            self.write(state, (CARRY, "b32"), value, guard)

    def _as_condition(self, value: Diagram) -> Diagram:
        """The truth of a term that an unknown instruction has made."""
        return self.decisions.apply(
            "ask", lambda a: self.decisions.ask(self.terms.make("truth", a)), (value,)
        )

    def _opcode(self, step: Step) -> str:
        """The opcode, without a rounding that it has anyway."""
        opcode = plain_opcode(step)
        if self._may_be_contracted(step):
            return opcode + OPEN
        return opcode.replace(".rn", "", 1) if may_leave_out(step) else opcode

    def _may_be_contracted(self, step: Step) -> bool:
        return is_silent(step) and step.type in self.contracted

    def _operation(self, step: Step, number: int) -> Callable[..., Diagram]:
        opcode = self._opcode(step)
        open_sum = self._may_be_contracted(step) and step.name != "mul"

        def make(*values: Term) -> Diagram:
            called = opcode
            if not open_sum:
                if takes_rounded(self.terms, opcode, values):
                    values = tuple(map(self.settled, values))
            else:
                products = [may_be_product(self.terms, one) for one in values]
                if not any(products):
                    called = opcode.removesuffix(OPEN)
                elif all(products):
                    called += IN_ORDER
            return self.decisions.leaf(self.terms.operation(called, number, values))

        return make

    def settled(self, term: Term) -> Term:
        """A product in the eyes of what is no sum."""
        return settled(self.terms, term)

    def _load(self, state: State, step: Step, guard: Diagram | None) -> None:
        address = self.value(state, step.sources[0], "b64")
        self.touch(state, step, address, guard)
        others = tuple(self.value(state, s, "b64") for s in step.sources[1:])
        arguments = (state.memory, address, *others)
        load = Load(step)
        for number, target in enumerate(step.targets):
            if target is None:
                continue
            value = self.decisions.apply(
                ("ld", load, number),
                lambda *a, n=number: self.decisions.leaf(load.value(self.terms, n, *a)),
                arguments,
            )
            # The register may be wider than what is loaded.
            width, signed, wide = extension_of(step, target[1])
            if wide > width:
                value = self.decisions.apply(
                    ("extend", signed, width, wide),
                    lambda a, f=signed, n=width, w=wide: self.decisions.leaf(
                        self.terms.extend(f, n, w, a)
                    ),
                    (value,),
                )
            self.write(state, target, value, guard)

    def touch(self, state: State, step: Step, address: Diagram, guard: Diagram | None) -> None:
        """Note that there must be memory at an address.

        What only names it, as a prefetch does and a copy of as many bytes as a register says, may
        do without.
        """
        if step.name not in _ACCESSES or step.type not in SCALAR_TYPES:
            return
        condition = state.condition
        if guard is not None:
            condition = self.decisions.both(condition, guard)
        if self.broken is not None and _may_be_global(step):
            nowhere = self.decisions.both(condition, self._is_nowhere(address))
            self.broken = self.decisions.either(self.broken, nowhere)
            state.condition = self.decisions.both(state.condition, self.decisions.negate(nowhere))
        width = SCALAR_TYPES[step.type].width
        count = max(1, len(step.targets))
        if step.name == "st" and step.sources[-1].kind == "vector":
            count *= len(step.sources[-1].parts)
        loaded, kind = step.name == "ld", (".global" in step.modifiers, space_of(step))
        where = (*kind, state.since)
        self.touched.append(Touched(address, width * count, condition, loaded, *where))
        piece = min(width, WORD)
        for place in range(piece, width * count, piece) if width * count > piece else ():
            there = self._moved(step.sources[0], address, place // 8)
            # What is wide is aligned, and so are its halves and their halves.
            self.touched.append(Touched(there, place & -place, condition, False, *where))

    def _is_nowhere(self, address: Diagram) -> Diagram:
        """Whether an address is a null pointer, or one to a member of what it points to."""
        decisions = self.decisions

        def nowhere(one: Term) -> Diagram:
            number = self.terms.constant_of(one)
            return decisions.true if number is not None and number < _PAGE else decisions.false

        return decisions.apply("nowhere", nowhere, (address,))

    def _effect(self, state: State, step: Step, guard: Diagram | None) -> None:
        """Anything that memory, other threads or the clock have a part in."""
        types = [step.type if step.type != "pred" else "b32"] * len(step.sources)
        values = []
        for source, type in zip(step.sources, types, strict=True):
            if source.kind == "restless":
                values.append(self.decisions.leaf(self.terms.make("special", source.value)))
            elif source.kind == "sink":
                values.append(self.decisions.leaf(self.terms.make("sink")))
            elif source.kind == "not":
                values.append(self._as_term(self.value(state, source, "pred")))
            elif source.kind == "register" and source.parts[0].value == "pred":
                values.append(self._as_term(self.read(state, source.value)))
            elif step.name in _WHOLE and source.kind in ("vector", "register"):
                values.append(self.value(state, source, "b64"))
            elif source.kind in ("vector", "address"):
                values.append(self.value(state, source, _narrow(type)))
                if source.kind == "address":
                    self.touch(state, step, values[-1], guard)
            else:
                values.append(self.value(state, source, self._width(step, source, type)))
        opcode = plain_memory(step)
        if step.name == "st" and not step.modifiers & ORDERED and len(values) == 2:
            opcode, values[1] = self._words(step, values[1])
        arguments = (state.memory, *values)
        taken = (lambda one: one) if keeps_open(opcode) else self.settled
        for number, target in enumerate(step.targets):
            value = self.decisions.apply(
                ("result", opcode, number),
                lambda *a, n=number: self.decisions.leaf(
                    self.terms.make("result", opcode, n, *map(taken, a))
                ),
                arguments,
            )
            if target is not None and target[1] == "pred":
                value = self._as_condition(value)
            self.write(state, target, value, guard)
        after = self.decisions.apply(
            ("after", opcode),
            lambda *a: self.decisions.leaf(self.terms.make("after", opcode, *map(taken, a))),
            arguments,
        )
        if guard is not None:
            after = self.decisions.choose(guard, after, state.memory)
        state.memory = self.told(state, after)

    def _words(self, step: Step, stored: Diagram) -> tuple[str, Diagram]:
        """What is stored as words: two, or one of twice as many bits, are the same."""
        terms, width = self.terms, SCALAR_TYPES[step.type].width
        words = [w for w in plain_memory(step).split(".")[:-1] if w not in ("v2", "v4", "v8")]
        several = step.sources[1].kind == "vector"
        count = len(step.sources[1].parts) if several else 1
        bits = width * count
        if width not in (WORD, 2 * WORD) or bits == WORD:
            return plain_memory(step), stored

        def apart(value: Term) -> Diagram:
            row = terms.rows[value]
            parts = row[1:] if several and row[0] == "tuple" else (value,)
            if width == 2 * WORD:
                parts = tuple(part(terms, width, one, k, 2) for one in parts for k in (0, 1))
            return self.decisions.leaf(terms.make("tuple", *parts))

        return (
            ".".join((*words, f"b{bits}")),
            self.decisions.apply(("words", width, several), apart, (stored,)),
        )

    def _width(self, step: Step, source: Operand, type: str) -> str:
        """The type that an operand is read as: a store takes its own, others all of it."""
        own = source.parts[0].value if source.kind == "register" else type
        if source.kind == "number" and step.name not in OF_ITS_TYPE:
            return "b64"  # a stride, a count of bytes or the like
        if step.name == "st" or SCALAR_TYPES[own].width <= SCALAR_TYPES[type].width:
            return type
        return str(own)

    def _as_term(self, condition: Diagram) -> Diagram:
        one = self.decisions.leaf(self.terms.constant(32, 1))
        return self.decisions.choose(
            condition, one, self.decisions.leaf(self.terms.constant(32, 0))
        )


#: What may add a number of another type than those that it is made of.
_SUMS = CONTRACTED | {"fma"}
#: How many bits registers have that flags are kept in, and how many are enough for one.
_FLAGS, _FEW = (16, 32), 8
#: Memory that is there for every thread, at places that are no numbers of the program.
_ACCESSES = frozenset(("ld", "st", "atom", "red"))
#: Bytes from a null pointer on that no memory of a device lies in.
_PAGE = 4096
#: Memory that may begin at 0.
_FROM_ZERO = ("shared", "local", "const", "param")


def _may_be_global(step: Step) -> bool:
    return not any(modifier[1:].startswith(_FROM_ZERO) for modifier in step.modifiers)


#: Instructions that take registers as they are, whatever the type of what is in them.
_WHOLE = frozenset("mma wmma wgmma stmatrix movmatrix tcgen05 isspacep".split())


def _narrow(type: str) -> str:
    return type if type in SCALAR_TYPES else "b32"
