"""What the variables of a function hold, as expressions over what comes from outside.

A variable that was set is replaced by what it was set to. Where branches meet, a variable
holds a selection between what it held at their ends, by the conditions that led there. So
the order of instructions, the layout of blocks, and whether the compiler took a branch or a
selection, cannot be told from the result. What a loop carries is a leaf (``mu``) whose
first and next values are kept beside it.

Memory of the function itself (``.local``) is a value too: the chain of the stores to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit.decompiler.lift.algebra import OPPOSITE, make, negated
from ptxkit.decompiler.lift.flow import Branch, Flow, Jump
from ptxkit.decompiler.lift.function import Program
from ptxkit.decompiler.lift.mathlib.numbers import folded
from ptxkit.decompiler.lift.reading import exit_values, leaves
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, const, raw

#: Joins of more blocks than this are not looked through: no function of a library has them.
_MOST_BLOCKS = 80
#: Of a comparison and its opposite, the one that selections ask.
_ASKED = frozenset("eq lt.s gt.s lt.u gt.u feq".split())


@dataclass(slots=True)
class Loop:
    """What a loop makes of a variable: the value before, the next one, and whether it goes on."""

    first: Value
    following: Value
    again: Value


@dataclass(slots=True)
class Place:
    """Where a value is set: the block, and before which of its steps it is there."""

    definition: Definition
    block: int
    step: int
    """-1 for what begins where blocks meet."""


def choose(condition: Value, then: Value, otherwise: Value) -> Value:
    """A selection in its one form: what is asked was not asked before."""
    while True:
        if condition.op == "not":
            condition, then, otherwise = condition.args[0], otherwise, then
        elif condition.op in OPPOSITE and condition.op not in _ASKED:
            condition, then, otherwise = negated(condition), otherwise, then
        elif (below := _below(condition)) is not None:
            condition, then, otherwise = below, otherwise, then
        elif condition.op == "or":
            both = make("and", 1, *map(negated, condition.args))
            condition, then, otherwise = both, otherwise, then
        else:
            break
    if condition.op == "and" and otherwise.op == "select":
        # What was answered with yes before is asked first.
        for one, rest in (condition.args, condition.args[::-1]):
            if one is negated(otherwise.args[0]):
                asked, answer, left = otherwise.args
                return choose(asked, answer, choose(rest, then, left))
    if then.op == "select" and then.args[0] is condition:
        then = then.args[1]
    if otherwise.op == "select" and otherwise.args[0] is condition:
        otherwise = otherwise.args[2]
    return make("select", then.width, condition, then, otherwise)


def _below(condition: Value) -> Value | None:
    """Whether something is less than the next number, for whether it is greater than one."""
    if condition.op not in ("gt.s", "gt.u") or condition.args[1].op != "const":
        return None
    tested, limit = condition.args
    most = (1 << limit.width - (condition.op == "gt.s")) - 1
    if limit.data == most:
        return None
    return raw(condition.op.replace("gt", "lt"), 1, (tested, const(limit.data + 1, limit.width)))


def total(op: str, width: int, one: Value, two: Value) -> Value:
    """A sum or difference in its one form: the constant part is added last."""
    offset = 0
    if one.op == "add" and one.args[1].op == "const":
        one, offset = one.args[0], one.args[1].data
    if two.op == "add" and two.args[1].op == "const":
        sign = 1 if op == "add" else -1
        two, offset = two.args[0], offset + sign * two.args[1].data
    made = make(op, width, one, two)
    return make("add", width, made, const(offset, width)) if offset else made


def masked(width: int, one: Value, two: Value) -> Value:
    """A conjunction in its one form: what is added above the bits that are kept goes."""
    if two.op == "const" and one.op == "add" and one.args[1].op == "const":
        kept = two.data + 1
        if kept & two.data == 0 and one.args[1].data % kept == 0:
            one = one.args[0]
    return make("and", width, one, two)


def place_of(address: Value) -> Value:
    """An address in the function's own memory: what is added to where that begins."""
    offset = 0
    if address.op == "add" and address.args[1].op == "const":
        address, offset = address.args[0], address.args[1].data
    if address.op in ("add", "sub"):
        for base, rest in (address.args, address.args[::-1]):
            if base.op == "symbol":
                rest, more = _counted_from(rest)
                return raw("place", 64, (rest,), (address.op, (offset + more) % (1 << 64)))
    if address.op == "symbol":
        return raw("place", 64, (), ("", offset))
    return address


def _counted_from(rest: Value) -> tuple[Value, int]:
    """``4 * (6 - n)`` as ``4 * -n`` and 24: what is in memory is not beyond any number."""
    if rest.op not in ("mul", "shl") or rest.args[1].op != "const" or rest.args[0].op != "sext":
        return rest, 0
    inner = rest.args[0].args[0]
    if inner.op != "sub" or inner.args[0].op != "const":
        return rest, 0
    first, second = inner.args
    times = rest.args[1].data if rest.op == "mul" else 1 << rest.args[1].data
    minus = make("sext", rest.args[0].width, raw("neg", inner.width, (second,)))
    return raw(rest.op, rest.width, (minus, rest.args[1])), first.data * times


@dataclass(slots=True)
class Terms:
    """The terms of one function."""

    program: Program
    helpers: frozenset[str] | None = None
    """What the library calls and the tables that it reads, by their content; None for all."""
    terms: dict[Definition, Value] = field(default_factory=dict)
    places: dict[Value, list[Place]] = field(default_factory=dict)
    """Where a term is held by a variable."""
    loops: dict[Value, Loop] = field(default_factory=dict)
    stores: dict[Value, Step] = field(default_factory=dict)
    """The step of each term that is a store."""
    decided: dict[Value, list[tuple[int, int, Definition]]] = field(default_factory=dict)
    """Terms that are a part of a selection: the block where it is decided, the block where
    ways meet, and the version that begins there."""
    _joined: dict[Definition, int] = field(default_factory=dict)
    _last: dict[int, dict[Variable, Definition]] = field(default_factory=dict)
    _ends: dict[tuple[Variable, int], Definition | None] = field(default_factory=dict)
    _memory: dict[int, Value] = field(default_factory=dict)
    _calls: dict[Variable, Value] = field(default_factory=dict)
    _contents: dict[str, str | None] = field(default_factory=dict)
    _tabled: dict[Value, bool] = field(default_factory=dict)
    _first: dict[Definition, Value | None] = field(default_factory=dict)
    """What loops begin with."""

    @property
    def flow(self) -> Flow:
        """The graph."""
        return self.program.flow

    def prepare(self) -> Terms:
        """Find out which version of a variable is which where."""
        for number, met in self.program.meeting.items():
            for definition in met:
                self._joined[definition] = number
        for number in self.flow.order:
            last = self._last[number] = {}
            for step in self.flow.blocks[number].statements:
                for target in step.targets:
                    last[target.variable] = target
        return self

    def run(self) -> Terms:
        """Compute all terms."""
        self.prepare()
        wanted = self._wanted()
        carried: list[tuple[Value, Definition, int]] = []
        for number in self.flow.order:
            for definition in self.program.meeting.get(number, ()):
                if definition not in wanted:
                    continue
                if any(self.flow.is_back_edge(p, number) for p in self.flow.predecessors[number]):
                    term = raw("mu", definition.variable.width, (), definition)
                    first = self._first[definition] = self._before(definition, number)
                    # What walks through a table is one that reads it.
                    self._tabled[term] = first is not None and self._holds_table(first)
                    carried.append((term, definition, number))
                else:
                    term = self._selected(definition, number)
                self._hold(definition, term, number, -1)
            self._block(number)
        for term, definition, head in carried:
            self.loops[term] = self._loop(definition, head)
        return self

    # ---- blocks --------------------------------------------------------------------------

    def _wanted(self) -> set[Definition]:
        """The versions beginning at meetings that are read, there or through other meetings."""
        pending: list[Definition] = []
        for block in self.flow.blocks.values():
            for value in (*(v for s in block.statements for v in s.args), *exit_values(block)):
                pending += [leaf for leaf in leaves(value) if leaf in self._joined]
        found: set[Definition] = set()
        while pending:
            definition = pending.pop()
            if definition in found:
                continue
            found.add(definition)
            for before in self.flow.predecessors[self._joined[definition]]:
                end = self.at_end(definition.variable, before)
                if end is not None and end in self._joined:
                    pending.append(end)
        return found

    def at_end(self, variable: Variable, block: int) -> Definition | None:
        """The version that a variable has at the end of a block, if that is known."""
        path: list[tuple[Variable, int]] = []
        while True:
            key = (variable, block)
            if key in self._ends:
                found = self._ends[key]
                break
            path.append(key)
            own = self._last[block].get(variable)
            if own is None:
                own = next((d for d in self.program.meeting.get(block, ())
                            if d.variable is variable), None)  # fmt: skip
            if own is not None or block == 0:
                found = own
                break
            block = self.flow.above[block]
        for key in path:
            self._ends[key] = found
        return found

    def _hold(self, definition: Definition, term: Value, block: int, step: int) -> None:
        self.terms[definition] = term
        self.places.setdefault(term, []).append(Place(definition, block, step))

    def _block(self, number: int) -> None:
        memory = self._memory_at(number)
        for place, step in enumerate(self.flow.blocks[number].statements):
            if step.kind == "set":
                target = step.targets[0]
                if step.args[0].op == "function":
                    self._calls[target.variable] = self.of(step.args[0], memory)
                self._hold(target, self.of(step.args[0], memory), number, place)
            elif step.kind == "store" and step.data.space == "local":
                address, *stored = (self.of(a, memory) for a in step.args)
                args = (memory, place_of(address), *stored)
                memory = raw("store", 0, args, (step.data.type, step.data.count))
                self.stores[memory] = step
            else:
                for target in step.targets:
                    self._hold(target, raw("leaf", target.variable.width, (), target), number,
                               place)  # fmt: skip
        self._memory[number] = memory

    def _memory_at(self, number: int) -> Value:
        """The function's own memory where a block begins."""
        before = self.flow.predecessors[number]
        known = {self._memory.get(p) for p in before}
        if len(known) == 1 and (only := known.pop()) is not None:
            return only
        return raw("memory", 0, (), number)

    # ---- terms ---------------------------------------------------------------------------

    def of(self, value: Value, memory: Value | None = None) -> Value:
        """The term of a value; ``memory`` is the function's own where it is computed."""
        op = value.op
        if op == "var":
            known = self.terms.get(value.data)
            return known if known is not None else raw("leaf", value.width, (), value.data)
        if op == "symbol":
            return self._table(value)
        if not value.args and op not in ("load", "function"):
            return value
        args = tuple([self.of(a, memory) for a in value.args])
        if op == "load":
            return self._loaded(value, args[0], memory)
        if op == "function":
            how, callee, _, serial = value.data
            content = self._content(callee) if how == "direct" else None
            return raw(op, value.width, args, content or (callee, serial))
        if op == "select":
            return choose(*args)
        if op in ("add", "sub"):
            return total(op, value.width, *args)
        if op == "and":
            return masked(value.width, *args)
        return folded(op, value.width, *args, data=value.data)

    def _loaded(self, value: Value, address: Value, memory: Value | None) -> Value:
        access = value.data
        base = address.args[0] if address.op == "add" else address
        if base.op == "slot" and base.data in self._calls:
            offset = address.args[1].data if address.op == "add" else 0
            return raw("field", value.width, (self._calls[base.data],), offset)
        if access.space == "local" and memory is not None:
            return raw("load", value.width, (memory, place_of(address)), ("local", access.type))
        if self._holds_table(address):
            return raw("load", value.width, (address,), ("table", access.type, access.count))
        return raw("load", value.width, (address,), access)

    def _holds_table(self, value: Value) -> bool:
        """Whether a term is made of a table; parts that terms share are looked at once."""
        stack = [value]
        while stack:
            one = stack[-1]
            left = [a for a in one.args if a not in self._tabled]
            if left and one not in self._tabled:
                stack += left
                continue
            stack.pop()
            if one in self._tabled:
                continue
            self._tabled[one] = one.op == "table" or any(self._tabled[a] for a in one.args)
        return self._tabled[value]

    def _table(self, value: Value) -> Value:
        """A variable of the module, as what it holds if it is a table of the library."""
        space, name = value.data
        if space == "local":
            return raw("symbol", value.width, (), (space, ""))  # each function has its own
        if space not in ("global", "const"):
            return value
        if name not in self._contents:
            memory = next((m for m in self.program.lift.signatures.memory.values()
                           if m.name == name), None)  # fmt: skip
            held = memory.node.initializer if memory is not None else None
            self._remember(name, "".join(held.text.split()) if held is not None else "")
        content = self._contents[name]
        return value if content is None else raw("table", value.width, (), content)

    def _content(self, callee: str) -> str | None:
        """A function of the library, by what is in it: its name may have been changed."""
        if callee not in self._contents:
            functions = [f for f in self.program.lift.module.functions
                         if f.name == callee and f.has_body]  # fmt: skip
            words = [f"{i.opcode} {len(i.operands)}" for f in functions for i in f.instructions]
            self._remember(callee, " ".join(words))
        return self._contents[callee]

    def _remember(self, name: str, text: str) -> None:
        digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        known = bool(text) and (self.helpers is None or digest in self.helpers)
        self._contents[name] = digest if known else None

    # ---- meetings ------------------------------------------------------------------------

    def _selected(self, definition: Definition, join: int) -> Value:
        """What a variable holds where ways meet that do not come back."""
        made = self._decided(definition, join, self.flow.above[join], self.flow.predecessors[join])
        return made if made is not None else raw("leaf", definition.variable.width, (), definition)

    def _loop(self, definition: Definition, head: int) -> Loop:
        back = [p for p in self.flow.predecessors[head] if self.flow.is_back_edge(p, head)]
        leaf = raw("leaf", definition.variable.width, (), definition)
        following = self._decided(definition, head, head, back)
        again = self._again(head, back)
        return Loop(self._first[definition] or leaf, following or leaf, again or leaf)

    def _before(self, definition: Definition, head: int) -> Value | None:
        """What a variable holds where a loop begins."""
        entries = [p for p in self.flow.predecessors[head] if not self.flow.is_back_edge(p, head)]
        if not entries or not head:
            return None
        return self._decided(definition, head, self.flow.above[head], entries)

    def _region(self, join: int, top: int, ends: list[int]) -> list[int] | None:
        """The blocks between a block and where ways from it meet, the last first."""
        inside = {top}
        pending = list(ends)
        while pending:
            block = pending.pop()
            if block in inside:
                continue
            inside.add(block)
            if len(inside) > _MOST_BLOCKS:
                return None
            pending.extend(self.flow.predecessors[block])
        return sorted(inside, key=self.flow.place.__getitem__, reverse=True)

    def _decided(
        self, definition: Definition, join: int, top: int, ends: list[int]
    ) -> Value | None:
        region = self._region(join, top, ends)
        if region is None:
            return None
        at_ends: dict[int, Value] = {}
        for block in ends:
            version = self.at_end(definition.variable, block)
            if version is None:
                continue  # not set on this way: whatever the others hold will do
            term = self.terms.get(version)
            if term is None:
                return None
            at_ends[block] = term
        made = self._walked(region, join, at_ends)
        for block, term in made.items():
            if block != top and term.op == "select":
                self.decided.setdefault(term, []).append((block, join, definition))
        return made.get(top)

    def _again(self, head: int, back: list[int]) -> Value | None:
        region = self._region(head, head, back)
        if region is None:
            return None
        inside = set(region)
        yes, no = const(1, 1), const(0, 1)
        made: dict[int, Value] = {}
        for block in region:
            targets = [
                yes if t == head else made.get(t, no) if t in inside else no
                for t in self.flow.blocks[block].successors()
            ]
            exit = self.flow.blocks[block].exit
            if isinstance(exit, Branch) and len(targets) == 2:
                made[block] = choose(self.of(exit.condition), *targets)
            elif targets:
                made[block] = targets[0]
        return made.get(head)

    def _walked(self, region: list[int], join: int, at_ends: dict[int, Value]) -> dict[int, Value]:
        """For every block of a region what is held where control gets to the join from it."""
        made: dict[int, Value] = {}
        for block in region:
            exit = self.flow.blocks[block].exit

            def arrived(target: int, block: int = block) -> Value | None:
                if target == join and block in at_ends:
                    return at_ends[block]
                back = self.flow.is_back_edge(block, target)
                return None if back else made.get(target)

            term: Value | None = None
            if isinstance(exit, Jump):
                term = arrived(exit.target)
            elif isinstance(exit, Branch):
                then, otherwise = arrived(exit.then), arrived(exit.otherwise)
                if then is None or otherwise is None or then is otherwise:
                    term = otherwise if then is None else then
                else:
                    term = choose(self.of(exit.condition), then, otherwise)
            if term is not None:
                made[block] = term
        return made

    def everything(self) -> Iterator[Value]:
        """All terms that are held, the last first."""
        for number in reversed(self.flow.order):
            for step in reversed(self.flow.blocks[number].statements):
                for target in step.targets:
                    if target in self.terms:
                        yield self.terms[target]
            for definition in self.program.meeting.get(number, ()):
                if definition in self.terms:
                    yield self.terms[definition]
