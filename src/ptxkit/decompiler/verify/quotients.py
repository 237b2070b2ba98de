"""Divisions of 64 bits without the shorter way that compilers put beside them.

Where both numbers have no more than 32 bits, a division of these is quicker: compilers ask for
that, and go one way or the other. Both ways give the same, so the longer one is always right; and
without the question there is less to prove, and nothing that few launches come to.

>>> import ptxkit
>>> m = ptxkit.parse('''.entry k(.param .u64 a, .param .u64 b, .param .u64 o) {
...     .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<7>;
...     ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [o];
...     or.b64 %d4, %d1, %d2; and.b64 %d5, %d4, -4294967296; setp.ne.s64 %p, %d5, 0;
...     @%p bra LONG;
...     cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d2; div.u32 %r3, %r1, %r2; cvt.u64.u32 %d6, %r3;
...     bra DONE;
... LONG: div.u64 %d6, %d1, %d2;
... DONE: st.global.u64 [%d3], %d6; ret;
... }''')
>>> [one.text for one in with_long_divisions(m)["k"].instructions if one.name == "bra"]
[]
>>> other = ptxkit.parse(m.emit().replace("div.u32 %r3, %r1, %r2", "div.u32 %r3, %r2, %r1"))
>>> with_long_divisions(other) is other
True

What a division by zero gives is not said, and may be another number on either way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from ptxkit.decompiler.verify.computed import compared
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.bounds import bounds
from ptxkit.decompiler.verify.dataflow.decode import PURE, Decoder, Operand, Register, Step
from ptxkit.decompiler.verify.dataflow.integers import INTEGERS, meaning
from ptxkit.decompiler.verify.dataflow.liveness import live_registers
from ptxkit.decompiler.verify.dataflow.opcodes import plain_opcode
from ptxkit.decompiler.verify.dataflow.pure import source_types
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.decompiler.verify.reaching import dominating, filled
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Function, Instruction, Label, Module, Node
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph
from ptxkit.syntax.scopes import Scopes

_LONG = frozenset(("div.u64", "div.s64", "rem.u64", "rem.s64"))
_SHORT = frozenset(("div.u32", "rem.u32"))
_WORD, _WIDE = 32, 64
_NAMES = re.compile(r"[\w$]+", re.ASCII)
#: How far back it is looked for what registers are made of.
_DEPTH = 24


@lru_cache(maxsize=8)
def with_long_divisions(module: Module) -> Module:
    """A module that does the same, and never takes the shorter way; the same where it has none."""
    edit, found = module.edit(), False
    scopes = Scopes(module)
    for function in module.functions:
        # What is left in a register that a function returns is read by nobody here.
        returns = any(one.text.lstrip().startswith(".reg") for one in function.return_parameters)
        if function.has_body and not returns and _divides(function):
            for node, text in _without(function, list(_Ways(function, scopes).needless())):
                found = True
                edit.replace_span(node.span, text)  # all lines stay where they were
    return edit.apply() if found else module


@dataclass(frozen=True, slots=True)
class _Needless:
    """A branch to a shorter way, and the blocks on both ways up to where they meet."""

    branch: Instruction
    label: str
    """That of the longer way; none where it follows the branch."""
    short: BasicBlock
    long: BasicBlock
    end: BasicBlock


def _without(function: Function, ways: list[_Needless]) -> Iterator[tuple[Node, str]]:
    """What to write in place of which nodes to go the longer way, and to leave out the other."""
    texts: dict[Node, str] = {}
    for way in ways:
        texts[way.branch] = f"bra {way.label};" if way.label else ""
        texts |= dict.fromkeys(way.short.instructions, "")
    assert function.body is not None
    nodes = [n for n in function.body.walk() if isinstance(n, Label | Instruction)]
    last = {way.long.instructions[-1] for way in ways}
    for place, node in enumerate(nodes):
        text = texts.get(node, node.text)
        jumps = text and isinstance(node, Instruction) and node.name == "bra"
        if jumps and (node in texts or node in last):
            left = (n for n in nodes[place + 1 :] if texts.get(n, n.text))
            following = {one.name for one in takewhile(lambda n: isinstance(n, Label), left)
                         if isinstance(one, Label)}  # fmt: skip
            if text.split()[-1].rstrip("; ") in following:
                texts[node] = ""
    labels = {name for way in ways for b in (way.short, way.long, way.end) for name in b.labels}
    words = {
        word
        for node in nodes
        if isinstance(node, Instruction)
        for word in _NAMES.findall(texts.get(node, node.text))
    }
    words.update(name for table in function.body.find("BranchTargets") for name in
                 _NAMES.findall(table.text))  # fmt: skip
    for node in nodes:
        if isinstance(node, Label) and ways and node.name in labels - words:
            texts[node] = ""
    yield from texts.items()


def short_divisions(module: Module, kernel: str) -> Counter[str]:
    """The divisions of 32 bits that a kernel can come to.

    Where two programs have others, one of them may have been left with a shorter way; what both
    give for a division by zero is not to be compared then.
    """
    found = Coverage.of(module, module[kernel]).instructions()
    return Counter(one.opcode for one in found if one.opcode in _SHORT)


def _divides(function: Function) -> bool:
    """Whether there is a division of each kind."""
    opcodes = {one.opcode for one in function.instructions}
    return not opcodes.isdisjoint(_LONG) and not opcodes.isdisjoint(_SHORT)


@dataclass(slots=True)
class _Node:
    """A block, as liveness takes it."""

    steps: list[Step]
    last: Step | None
    targets: list[int]


def _carries(step: Step) -> bool:
    """Whether it leaves something beside its registers, or reads that."""
    return ".cc" in step.modifiers or step.name in ("addc", "subc", "madc")


class _Ways:
    """The blocks of a function, and what registers hold in these."""

    def __init__(self, function: Function, scopes: Scopes) -> None:
        self.blocks = [b for b in ControlFlowGraph.of(function).reachable() if b.instructions]
        numbers = {id(block): number for number, block in enumerate(self.blocks)}
        decoder = Decoder(function, scopes, {}, lambda name: (name,))
        self.steps: list[list[Step]] = []
        try:
            self.steps = [[decoder.step(one) for one in b.instructions] for b in self.blocks]
        except GiveUpError:
            self.blocks = []
        self.before = [
            [numbers[id(b)] for b in filled(one) if id(b) in numbers] for one in self.blocks
        ]
        self.after: list[list[int]] = [[] for _ in self.blocks]
        for number, sources in enumerate(self.before):
            for source in sources:
                self.after[source].append(number)
        self.dominating = dominating(self.blocks)
        self._skip_jumps()
        self.setters: dict[Register, list[tuple[int, int]]] = defaultdict(list)
        for number, steps in enumerate(self.steps):
            for place, step in enumerate(steps):
                for target in step.targets:
                    if target is not None:
                        self.setters[target[0]].append((number, place))
        self.terms = Terms()
        self._made: dict[tuple[int, int, Register], Term] = {}

    def _skip_jumps(self) -> None:
        """Leave blocks out of all ways that do nothing but jump."""
        jumps = {
            number: self.after[number][0]
            for number, steps in enumerate(self.steps)
            if len(steps) == len(self.after[number]) == 1
            and steps[0].name == "bra"
            and steps[0].guard is None
        }
        self.leads = list(range(len(self.blocks)))
        """For each block, the first from there on that does more than jump."""
        for number in jumps:
            end, met = number, {number}
            while end in jumps and jumps[end] not in met:
                end = jumps[end]
                met.add(end)
            self.leads[number] = end
        self.after = [[self.leads[one] for one in ways] for ways in self.after]
        self.before = [[] for _ in self.blocks]
        for number, ways in enumerate(self.after):
            for one in ways if self.leads[number] == number else ():
                self.before[one].append(number)

    def _is_taken_to(self, number: int, target: int) -> bool:
        """Whether the branch at the end of a block goes to another one, if it is taken."""
        label = self.steps[number][-1].sources[0].value[-1]
        return any(
            label in block.labels and self.leads[place] == target
            for place, block in enumerate(self.blocks)
        )

    def needless(self) -> Iterator[_Needless]:
        """The branches to ways that need not be there."""
        live = live_registers(
            {n: _Node(steps, None, self.after[n]) for n, steps in enumerate(self.steps)}
        )
        for number, steps in enumerate(self.steps):
            ways, last = self.after[number], steps[-1]
            if last.name != "bra" or last.guard is None or len(ways) != 2:
                continue
            for short, long in (ways, ways[::-1]):
                if self._is_way(short, number, _SHORT) and self._is_way(long, number, _LONG):
                    (end,) = self.after[short]
                    small = self._small(number, short)
                    if self.after[long] != [end] or not small:
                        continue
                    if self._is_taken_to(number, short) == self._is_taken_to(number, long):
                        continue  # there is no telling which of the two it is
                    if self._agree(short, long, live[end], small):
                        label = last.sources[0].value[-1]
                        there = self._is_taken_to(number, long)
                        yield _Needless(
                            self.blocks[number].instructions[-1], label if there else "",
                            *(self.blocks[one] for one in (short, long, end)),
                        )  # fmt: skip

    def _is_way(self, number: int, start: int, divisions: frozenset[str]) -> bool:
        """Whether a block from there to one other only computes, with some divisions."""
        *steps, last = self.steps[number]
        if last.name != "bra" or last.guard is not None:
            steps.append(last)
        return (
            self.before[number] == [start]
            and len(self.after[number]) == 1
            and self.after[number] != [number]
            and all(one.name in PURE and one.guard is None and not _carries(one) for one in steps)
            and any(one.opcode in divisions for one in steps)
        )

    def _agree(
        self, short: int, long: int, live: frozenset[Register], small: frozenset[Term]
    ) -> bool:
        """Whether both ways leave the same in all registers that somebody reads."""
        left = self._divided(long, small)
        for register in live:
            places = self.setters[register]
            if any(block in (short, long) for block, _ in places):
                here = self._register(short, len(self.steps[short]), register, _DEPTH)
                there = left.get(register)
                if there is None:
                    there = self._register(long, len(self.steps[long]), register, _DEPTH)
                if here != there:
                    return False
        return True

    def _divided(self, number: int, small: frozenset[Term]) -> dict[Register, Term]:
        """What the longer way computes, where the numbers are small."""
        terms = self.terms
        held: dict[Register, Term] = {}
        rests: dict[Term, Term] = {}
        for place, step in enumerate(self.steps[number]):
            if step.name == "bra" or len(step.targets) != 1 or step.targets[0] is None:
                for target in step.targets:
                    if target is not None:
                        held[target[0]] = self._unknown(number, place, target[0])
                continue
            values = self._operands(number, place, step, _DEPTH, held)
            made = None if values is None else self._value(step, values)
            if values is not None and step.opcode in _LONG and self._are_small(values, small):
                a, b = (terms.truncate(_WIDE, _WORD, one) for one in values)
                word = terms.operation(f"{step.name}.u32", 0, (a, b))
                made = terms.extend(False, _WORD, _WIDE, word)
                if step.name == "div":
                    # What is left is less than the divisor: it has no more bits, either.
                    rest = terms.add(_WIDE, values[0], terms.multiply(_WIDE, made, values[1]), -1)
                    less = terms.add(_WORD, a, terms.multiply(_WORD, word, b), -1)
                    rests[rest] = terms.extend(False, _WORD, _WIDE, less)
            if made is None:
                made = self._unknown(number, place, step.targets[0][0])
            held[step.targets[0][0]] = rests.get(made, made)
        return held

    def _are_small(self, values: list[Term], small: frozenset[Term]) -> bool:
        return all(
            one in small or bounds(self.terms, one, _WIDE, False)[1] >> _WORD == 0 for one in values
        )

    def _small(self, number: int, target: int) -> frozenset[Term]:
        """The numbers of no more than 32 bits where control goes from one block to another."""
        last = self.steps[number][-1]
        assert last.guard is not None
        asked = self._asked(number, len(self.steps[number]), last.guard[0])
        if asked is None:
            return frozenset()
        taken = self._is_taken_to(number, target)
        row = self.terms.rows[asked]
        turned = row[0] == "not"
        if turned:
            row = self.terms.rows[row[1]]
        if (taken != last.guard[1]) == turned:
            return frozenset()  # it is so on the other way
        if row[:3] == ("lt", False, _WIDE) and self.terms.constant_of(row[4]) == 1 << _WORD:
            return frozenset((row[3],))
        if row[0] != "eq":
            return frozenset()
        upper = self.terms.rows[row[2]]
        if upper[:2] != ("op", "shr.u64") or self.terms.constant_of(upper[4]) != _WORD:
            return frozenset()
        found: set[Term] = set()
        pending = [upper[3]]
        while pending:
            one = pending.pop()
            found.add(one)
            united = self.terms.rows[one]
            pending += united[3:] if united[:2] == ("op", "or.b64") else ()
        return frozenset(found)

    def _asked(self, number: int, end: int, predicate: Register) -> Term | None:
        """The question whose answer a predicate is before a step of a block."""
        setters = self.setters[predicate]
        places = [(block, at) for block, at in setters if block == number and at < end]
        if not places and len(setters) == 1 and setters[0][0] != number:
            ((block, _),) = places = setters
            if not self.dominating[number] >> block & 1:
                return None
        if not places:
            return None
        block, place = places[-1]
        step = self.steps[block][place]
        if step.guard is not None:
            return None
        if step.name in ("mov", "not") and step.type == "pred":
            (source,) = step.sources
            if source.kind != "register":
                return None
            asked = self._asked(block, place, source.value)
            return asked if asked is None or step.name == "mov" else self._not(asked)
        if step.name != "setp" or len(step.sources) != 2:
            return None
        values = self._operands(block, place, step, _DEPTH, {})
        return (
            None
            if values is None or step.type not in INTEGERS
            else compared(self.terms, step, values)
        )

    def _not(self, asked: Term) -> Term:
        row = self.terms.rows[asked]
        return row[1] if row[0] == "not" else self.terms.make("not", asked)

    # ---- what registers hold ---------------------------------------------------------------

    def _register(self, number: int, place: int, register: Register, depth: int) -> Term:
        """What a register holds before a step, told by what was last known of it for certain."""
        here = [at for block, at in self.setters[register] if block == number and at < place]
        if here:
            return self._result(number, here[-1], register, depth)
        others = self.setters[register]
        if len(others) == 1 and self.dominating[number] >> others[0][0] & 1:
            return self._result(*others[0], register, depth)
        before = self.before[number]
        if len(before) == 1 and depth and self.dominating[number] >> before[0] & 1:
            return self._register(before[0], len(self.steps[before[0]]), register, depth - 1)
        return self.terms.make("start", number, str(register))

    def _result(self, number: int, place: int, register: Register, depth: int) -> Term:
        key = number, place, register
        if key not in self._made:
            step = self.steps[number][place]
            alone = step.guard is None and len(step.targets) == 1
            values = (
                self._operands(number, place, step, depth - 1, {})
                if alone and depth and step.name in PURE
                else None
            )
            made = None if values is None else self._value(step, values)
            if made is None:
                made = self._unknown(number, place, register)
            elif depth < _DEPTH // 2:
                return made  # it may be told in more words elsewhere
            self._made[key] = made
        return self._made[key]

    def _unknown(self, number: int, place: int, register: Register) -> Term:
        """What an instruction puts into a register, whatever that is."""
        step = self.steps[number][place]
        made = self.terms.make("made", number, place, str(register))
        wide = next(SCALAR_TYPES[t[1]].width for t in step.targets if t and t[0] == register)
        width = SCALAR_TYPES[step.type].width if step.type in SCALAR_TYPES else wide
        if step.name != "ld" or step.guard is not None or width >= wide:
            return made
        return self.terms.extend(step.type.startswith("s"), width, wide, made)

    def _value(self, step: Step, values: list[Term]) -> Term | None:
        if step.name == "mov" and step.type in INTEGERS:
            return values[0]
        if not set(step.types) <= INTEGERS | {"u8", "s8"}:
            return None
        known = meaning(self.terms, step, values)
        if known is None and step.name != "cvt" and not step.modifiers & {".cc"}:
            return self.terms.operation(plain_opcode(step), 0, values)
        return known

    def _operands(
        self, number: int, place: int, step: Step, depth: int, held: dict[Register, Term]
    ) -> list[Term] | None:
        """What a step reads; None where some of that is no number."""
        found: list[Term] = []
        for source, type in zip(step.sources, source_types(step), strict=True):
            value = self._operand(number, place, source, type, depth, held)
            if value is None:
                return None
            found.append(value)
        return found

    def _operand(
        self, number: int, place: int, source: Operand, type: str, depth: int,
        held: dict[Register, Term],
    ) -> Term | None:  # fmt: skip
        if type not in SCALAR_TYPES or type == "pred":
            return None
        width = SCALAR_TYPES[type].width
        if source.kind == "number":
            return self.terms.constant(width, source.value)
        if source.kind == "special":
            special = self.terms.make("special", source.value)
            return special if width >= _WORD else self.terms.truncate(_WORD, width, special)
        if source.kind != "register" or source.parts[0].value == "pred":
            return None
        value = held.get(source.value)
        if value is None:
            value = self._register(number, place, source.value, depth)
        wide = SCALAR_TYPES[source.parts[0].value].width
        return self.terms.truncate(wide, width, value) if wide > width else value
