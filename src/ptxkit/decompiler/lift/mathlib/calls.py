"""Put calls in the place of what a compiler made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

from ptxkit.decompiler.lift.context import Intrinsic
from ptxkit.decompiler.lift.flow import Jump
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.halves import HALF_HEADERS, is_half
from ptxkit.decompiler.lift.mathlib.assumed import assumed
from ptxkit.decompiler.lift.mathlib.dead import Sweep
from ptxkit.decompiler.lift.mathlib.known_ways import take_known_ways
from ptxkit.decompiler.lift.mathlib.matcher import Library, Match
from ptxkit.decompiler.lift.mathlib.miner import INTEGERS, half_library, library, specialised
from ptxkit.decompiler.lift.mathlib.terms import Place, Terms
from ptxkit.decompiler.lift.reading import exit_values, set_exit
from ptxkit.decompiler.lift.values import Definition, FactTable, Step, Value, raw, replaced, var


def restore_calls(program: Program, arch: str) -> None:
    """Make calls of what is an instance of a template."""
    flags = program.lift.flags
    take_known_ways(program)
    if _has_halves(program):
        _restore(program, half_library(arch, flags))
    if not _computes(program):
        return
    known = library(arch, flags)
    _restore(program, known.long)
    for squares, usual in product((False, True), repeat=2):
        # A function with a number for an argument has that number in it, mostly.
        numbers = _numbers(program)
        suspects = known.long.suspects(numbers)
        calling = known.long.calling if _has_callees(program) else []
        suspects += calling
        if not suspects:
            break
        theirs = frozenset(number for t in suspects for number in t.numbers)
        tried = frozenset(filter(is_short, numbers & theirs)) if usual else numbers - theirs
        names = frozenset(t.call for t in suspects if len(t.takes) == 2 or not usual)
        alone = frozenset(t.call for t in calling)
        plain = frozenset(filter(is_plain, tried))
        integers = _converts(program)
        made = specialised(arch, flags, names, plain, alone, integers=integers, squares=squares)
        _restore(program, made)
    suspects = known.long.suspects(_numbers(program))
    some = (one for template in suspects for one in assumed(template, Terms(program)))
    _restore(program, Library([*some]))
    if _computes(program):
        _restore(program, known.short)


def _restore(program: Program, library: Library) -> None:
    if not library.templates:
        return
    terms = Terms(program, library.helpers).run()
    found = library.find_all(terms, (*terms.everything(), *terms.decided))
    # A module may have a function of its own under such a name.
    own = program.lift.signatures.functions
    found = {root: match for root, match in found.items() if match.template.call not in own}
    if found:
        _Rewriter(program, terms).run(found)


def is_plain(number: tuple[int, int]) -> bool:
    """Whether bits are a number that people write: neither an integer nor a tiny or huge one.

    >>> is_plain((32, 0x3fc00000)), is_plain((32, 23))
    (True, False)
    """
    width, bits = number
    exponent = (bits >> 23 & 255) - 127 if width == 32 else (bits >> 52 & 2047) - 1023
    return width in (32, 64) and -14 < exponent < 14


def is_short(number: tuple[int, int]) -> bool:
    """Whether it is a round one, such as may occur in a function of the library too."""
    width, bits = number
    return not bits & ((1 << width // 2 + 4) - 1)


def _values(program: Program) -> Iterator[Value]:
    for block in program.flow.blocks.values():
        for step in block.statements:
            for value in step.args:
                yield from value.walk()


def _computes(program: Program) -> bool:
    """Whether a function has anything that could be a part of the library."""
    fast = program.lift.flags.fast
    return any(
        (part.op[0] == "f" and part.data) or (part.op == "call" and (part.data.assembly or fast))
        for part in _values(program)
    )


def _has_halves(program: Program) -> bool:
    """Whether anything in a function is made of halves."""
    return any(
        part.op == "call"
        and ("f16" in part.data.assembly or any(map(is_half, (part.data.gives, *part.data.takes))))
        for part in _values(program)
    )


def _converts(program: Program) -> frozenset[str]:
    """The types of integers that are made floating point."""
    found = {part.data for part in _values(program) if part.op == "cvt"}
    return frozenset(of for to, of in found if of in INTEGERS and to not in INTEGERS)


def _has_callees(program: Program) -> bool:
    """Whether there are functions that a part of the library may be in, numbers and all."""
    return any(one.has_body and not one.is_entry for one in program.lift.module.functions)


def _numbers(program: Program) -> frozenset[tuple[int, int]]:
    """The numbers in a function, by width and bits."""
    return frozenset((part.width, part.data) for part in _values(program) if part.op == "const")


#: Variables of more than one number: no argument of a function.
_WHOLE = ("vector", "struct")


@dataclass(slots=True)
class _Rewriter:
    program: Program
    terms: Terms
    inserted: dict[tuple[int, int], list[Step]] = field(default_factory=dict)
    """Steps to put after others, by block and number; -1 is where a block begins."""
    changed: dict[Definition, Value] = field(default_factory=dict)
    copies: dict[Definition, Value] = field(default_factory=dict)
    spare: set[int] = field(default_factory=set)
    joint: set[Value] = field(default_factory=set)
    facts: FactTable = field(default_factory=FactTable)

    def run(self, found: dict[Value, Match]) -> bool:
        """Rewrite."""
        done: list[Match] = []
        later: list[Match] = []
        both = [m for m in found.values() if m.template.part >= 0]
        done += [m for pair in self._pairs(both) for m in pair if self._replace_both(pair)]
        for match in found.values():
            if match in both:
                continue
            if match.root in self.terms.places:
                done += [match] if self._replace(match) else []
            else:
                later.append(match)
        for match in done:
            self._spare(match)
        done += [match for match in later if self._shorten(match)]
        if not done:
            return False
        self._insert()
        self._substitute()
        self.program.flow.analyse()
        fresh = Terms(self.program)
        fresh.prepare()
        Sweep(fresh, self.spare).run()
        return True

    def _spare(self, match: Match) -> None:
        """Note which steps with effects a call stands for."""
        for value in match.covered:
            step = self.terms.stores.get(value)
            if step is not None:
                self.spare.add(id(step))
            if value.op == "function":
                for place in self.terms.places.get(value, ()):
                    self.spare.add(id(self._step(place)))

    def _step(self, place: Place) -> Step:
        step: Step = self.program.flow.blocks[place.block].statements[place.step]
        return step

    # ---- calls ---------------------------------------------------------------------------

    def _replace(self, match: Match) -> bool:
        places = sorted(self.terms.places.get(match.root, ()), key=self._order)
        first: tuple[Place, Value] | None = None
        for place in places:
            if first is not None and self._before(first[0], place):
                self._set(place, first[1])
                continue
            call = self._call(match, place)
            if call is None:
                continue
            held = self._set(place, call)
            if first is None:
                first = place, held
        return first is not None

    def _pairs(self, found: list[Match]) -> list[tuple[Match, Match]]:
        """Results of one call."""
        by_call: dict[tuple[object, ...], dict[int, Match]] = {}
        for match in found:
            key = (match.template.call, *match.arguments)
            by_call.setdefault(key, {})[match.template.part] = match
        return [(parts[0], parts[1]) for parts in by_call.values() if len(parts) > 1]

    def _replace_both(self, pair: tuple[Match, Match]) -> bool:
        """One call that gives two results."""
        if pair[0].root in self.joint:
            return True
        places = [sorted(self.terms.places.get(m.root, ()), key=self._order) for m in pair]
        if any(not p or p[0].step < 0 for p in places) or any(m.added or m.outer for m in pair):
            return False
        first = min((p[0] for p in places), key=self._order)
        if not all(p[0] is first or self._before(first, p[0]) for p in places):
            return False
        argument = self._argument(pair[0].arguments[0], first)
        if argument is None:
            return False
        lift = self.program.lift
        lift.block = first.block
        type = pair[0].template.gives
        made = [lift.fresh(pair[0].root.width, type) for _ in pair]
        step = Step("outputs", made, [argument], (pair[0].template.call, type), 0)
        self.inserted.setdefault((first.block, first.step - 1), []).append(step)
        for target, where in zip(made, places, strict=True):
            for place in where:
                self._set(place, var(target))
        self.joint.add(pair[0].root)
        return True

    def _order(self, place: Place) -> tuple[int, int]:
        return self.program.flow.place[place.block], place.step

    def _before(self, one: Place, other: Place) -> bool:
        """Whether what is set at one place is there at another."""
        if one.block == other.block:
            return one.step < other.step
        return self.program.flow.dominates(one.block, other.block)

    def _set(self, place: Place, value: Value) -> Value:
        """Let a variable hold a value from its place on; what to read it as."""
        if place.step >= 0:
            step = self._step(place)
            step.args = [value]
            variable = place.definition.variable
            if variable.definitions == 1:
                return var(place.definition)
            return self._copied(place)
        lift = self.program.lift
        lift.block = place.block
        made = lift.fresh(value.width, place.definition.variable.declared)
        self.inserted.setdefault((place.block, -1), []).append(Step("set", [made], [value]))
        self.changed[place.definition] = var(made)
        return var(made)

    def _call(self, match: Match, place: Place) -> Value | None:
        arguments = []
        for value in match.arguments:
            argument = self._argument(value, place)
            if argument is None:
                return None
            arguments.append(argument)
        template = match.template
        if template.negated:
            data = (template.gives, True)
            arguments = [raw("fneg", a.width, (a,), data) for a in arguments]
        takes = template.takes
        # Of doubles and integers there are other functions under the same name; and a short
        # number is no argument to tell whether it has a sign.
        explicit = INTEGERS if template.gives == "f64" else INTEGERS - {"s32"}
        if explicit & {*takes}:
            gives, width = template.gives, match.root.width
            rows = list(zip(arguments, takes, strict=True))
            arguments = [
                raw("cvt", width, (a,), (gives, t)) if t in explicit else a for a, t in rows
            ]
            takes = tuple(gives if t in explicit else t for t in takes)
        header = HALF_HEADERS.get(template.gives, "")
        call = Intrinsic(template.call, takes, template.gives, header=header)
        made = raw("call", match.root.width, tuple(arguments), call)
        for outer in match.outer:
            made = raw(outer.op, outer.width, (made, *outer.args[1:]), outer.data)
        return made if match.added is None else self._sum(match, made, place)

    def _sum(self, match: Match, call: Value, place: Place) -> Value | None:
        """A call and what is added to it, for the compiler to contract again."""
        added, width = match.added, match.root.width
        assert added is not None
        data = (match.template.gives, False)
        if not match.negative and added.op == "fneg":
            other = self._argument(added.args[0], place)
            if other is not None:
                return raw("fsub", width, (call, other), data)
        other = self._argument(added, place)
        if other is None:
            return None
        if match.negative:
            return raw("fsub", width, (other, call), data)
        return raw("fadd", width, (call, other), data)

    def _argument(self, value: Value, place: Place) -> Value | None:
        if value.op == "const":
            return value
        there = [
            p
            for p in self.terms.places.get(value, ())
            if self._before(p, place) and p.definition.variable.declared not in _WHOLE
        ]
        for one in there:
            if one.definition.variable.definitions == 1 and one.definition not in self.changed:
                return var(one.definition)
        return self._copied(there[0]) if there else None

    def _copied(self, place: Place) -> Value:
        """A variable that keeps what another one holds at a place."""
        known = self.copies.get(place.definition)
        if known is None:
            lift = self.program.lift
            lift.block = place.block
            variable = place.definition.variable
            made = lift.fresh(variable.width, variable.declared, variable.register)
            step = Step("set", [made], [var(place.definition)])
            self.inserted.setdefault((place.block, place.step), []).append(step)
            known = self.copies[place.definition] = var(made)
        return known

    # ---- ways that meet others -----------------------------------------------------------

    def _shorten(self, match: Match) -> bool:
        """Make a call of ways that meet, where others meet them that are no part of it.

        ``x > 0 ? sinf(x) : 0`` has one variable at the end, and the slow way of ``sinf`` goes
        straight to there: from where it is decided a call is made, and control goes on at the end.
        """
        flow = self.program.flow
        for top, join, definition in self.terms.decided[match.root]:
            inside = self._between(top, join)
            if inside is None:
                continue
            self._spare(match)
            if not self._is_quiet(top, join, definition, inside):
                continue
            place = Place(definition, top, len(flow.blocks[top].statements))
            call = self._call(match, place)
            if call is None:
                continue
            made = Definition(definition.variable, top)
            definition.variable.definitions += 1
            self.inserted.setdefault((top, place.step - 1), []).append(Step("set", [made], [call]))
            flow.blocks[top].exit = Jump(join)
            return True
        return False

    def _between(self, top: int, join: int) -> set[int] | None:
        """The blocks after one that lead to a join and nowhere else."""
        flow = self.program.flow
        inside: set[int] = set()
        pending = [s for s in flow.blocks[top].successors() if s != join]
        while pending:
            block = pending.pop()
            if block in inside:
                continue
            following = flow.blocks[block].successors()
            if not following or block == top or not flow.dominates(top, block):
                return None
            inside.add(block)
            pending += [s for s in following if s != join]
        return inside

    def _is_quiet(self, top: int, join: int, own: Definition, inside: set[int]) -> bool:
        """Whether all that blocks do is to give a variable its value."""
        flow = self.program.flow
        for block in inside:
            for step in flow.blocks[block].statements:
                facts = self.facts.of(step.args[0]) if step.kind == "set" else None
                if (facts is None or facts.effect) and id(step) not in self.spare:
                    return False
        for definition in self.program.meeting.get(join, ()):
            if definition is own or definition not in self.terms.terms:
                continue
            held = self.terms.at_end(definition.variable, top)
            for block in flow.predecessors[join]:
                if block in inside and self.terms.at_end(definition.variable, block) is not held:
                    return False
        return True

    # ---- the program ---------------------------------------------------------------------

    def _insert(self) -> None:
        for number in {block for block, _ in self.inserted}:
            block = self.program.flow.blocks[number]
            made: list[Step] = list(self.inserted.get((number, -1), ()))
            for place, step in enumerate(block.statements):
                made.append(step)
                made += self.inserted.get((number, place), ())
            block.statements = made

    def _substitute(self) -> None:
        if not self.changed:
            return

        def lookup(value: Value) -> Value | None:
            return self.changed.get(value.data)

        for block in self.program.flow.blocks.values():
            for step in block.statements:
                step.args = [replaced(value, lookup) for value in step.args]
            for value in exit_values(block):
                set_exit(block, replaced(value, lookup))
