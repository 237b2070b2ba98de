"""A function cut at its loop headers into regions without loops, each executed symbolically."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from copy import copy
from dataclasses import dataclass

from ptxkit.decompiler.verify.dataflow.accesses import (
    as_generic,
    as_global,
    changing,
    is_generic,
    unchanging,
)
from ptxkit.decompiler.verify.dataflow.arguments import arguments_read
from ptxkit.decompiler.verify.dataflow.bounds import launched
from ptxkit.decompiler.verify.dataflow.cuts import (
    JOINT,
    Block,
    Cuts,
    Parts,
    joint_functions,
    kind_of_effect,
    uncut,
)
from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import (
    PURE,
    Decoder,
    Known,
    Register,
    Step,
    called,
    calls_through,
    reads_of_parameters,
)
from ptxkit.decompiler.verify.dataflow.liveness import live_registers
from ptxkit.decompiler.verify.dataflow.lowest import keep_lowest
from ptxkit.decompiler.verify.dataflow.opcodes import contracted
from ptxkit.decompiler.verify.dataflow.semantics import Semantics
from ptxkit.decompiler.verify.dataflow.settled import settled
from ptxkit.decompiler.verify.dataflow.state import Slot, State, Touched
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Terms
from ptxkit.syntax import Function, Instruction, Module, Scopes
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph

#: Where control goes when it does not go to a header.
RETURN, TRAP, EXIT = -1, -2, -3
#: To end a thread is to return from a kernel, and more than that for a function it calls.
_ENDS = {"ret": RETURN, "trap": TRAP, "exit": EXIT}


class Code:
    """One function, decoded: what is the same wherever it is cut."""

    def __init__(
        self,
        module: Module,
        function: Function,
        places: dict[int, int],
        known: Known,
        unchanged: Set[int] = frozenset(),
    ) -> None:
        """Loads that are ``unchanged``, by their starts, give the same at any time."""
        self.module, self.function = module, function
        self.settled_calls = settled(module)
        self.graph = ControlFlowGraph.of(function)
        decoder = Decoder(function, Scopes(module), places, known)
        self._blocks = {
            block.index: _block(decoder, self.graph, block, unchanged)
            for block in self.graph.reachable()
        }
        self.types = decoder.types

    def blocks(self) -> dict[int, Block]:
        """Its blocks that control can come to, to be taken apart."""
        return {index: copy(block) for index, block in self._blocks.items()}


class Program:
    """One function, cut."""

    def __init__(
        self,
        code: Code,
        cuts: Cuts = uncut,
        all_global: bool = False,
        all_generic: bool = False,
        constant: bool = True,
        joins: Sequence[int] = (),
    ) -> None:
        """It is cut at the headers of loops, and where ``cuts`` says so of a step.

        It is also cut at ``joins``, which the other function has in the same order.
        With ``all_global``, addresses of any memory are taken for addresses of global memory;
        with ``all_generic``, it is the other way round.
        Without ``constant``, loads of memory that nobody changes are loads like any other.
        """
        graph, whole = code.graph, code.blocks()
        self.settled_calls = code.settled_calls
        if all_global:
            for one in whole.values():
                one.steps = [as_global(step) if is_generic(step) else step for step in one.steps]
        if not constant:
            for one in whole.values():
                one.steps = [changing(step) for step in one.steps]
        self.all_generic = all_generic
        if all_generic:
            for one in whole.values():
                one.steps = [as_generic(step) for step in one.steps]
        parts = Parts(cuts, 1 + max(b.index for b in graph.blocks))
        self.blocks: dict[int, Block] = {
            number: part for index in whole for number, part in parts.of(index, whole[index])
        }
        keep_lowest(self.blocks)
        self.order = list(self.blocks)
        self.entry = graph.entry.index
        loops = self._loops(parts.cut)
        cut = parts.cut.union(joins)
        self.headers = [index for index in self.order if index in loops or index in cut]
        self.otherwise = self._otherwise(loops)
        """For headers of loops that begin with a question whether to go on, the block behind it."""
        self.begins = {cut: kind_of_effect(self.blocks[cut].steps[0]) for cut in parts.cut}
        self.joins = {index: number for number, index in enumerate(joins)}
        """Where it is cut because ways come together, and the number of each such place."""
        self.begins |= {index: f"join {number}" for index, number in self.joins.items()}
        """For each cut that is no header of a loop, what it begins with."""
        self._together = joint_functions(code.module)
        self.live = live_registers(self.blocks)
        self.types = code.types
        self.special = launched(code.function)
        steps = self.steps()
        self.contracted = contracted(steps)
        self.arguments = frozenset(arguments_read(steps))

    def steps(self) -> list[Step]:
        """All steps, in the order of control."""
        return [step for block in self.blocks.values() for step in block.steps]

    def meets(self, step: Step) -> bool:
        """Whether threads have a part in what others do at a step, or in what it calls."""
        if step.name == "call":
            # Nobody knows what a function does of which there is only the address.
            return calls_through(step) or not self._together.isdisjoint(called(step))
        return step.name in JOINT

    def _loops(self, cut: set[int]) -> dict[int, set[int]]:
        """Blocks that retreating edges lead to, and where these come from.

        A loop that is cut anyway needs no cut at its header.
        """
        place = {index: number for number, index in enumerate(self.order)}
        found: dict[int, set[int]] = {}
        for index in self.order:
            for target in self.blocks[index].targets:
                retreats = target in place and place[target] <= place[index]
                if retreats and index in self._behind_without(target, cut):
                    found.setdefault(target, set()).add(index)
        return found

    def _behind_without(self, start: int, cut: set[int]) -> set[int]:
        """The blocks that control can come to from one on without a cut."""
        found: set[int] = set()
        pending = [start]
        while pending:
            one = pending.pop()
            if one in self.blocks and one not in found | cut:
                found.add(one)
                pending += self.blocks[one].targets
        return found

    def _otherwise(self, loops: dict[int, set[int]]) -> dict[int, int]:
        found = {head: self._behind(head, latches) for head, latches in loops.items()}
        return {
            head: behind
            for head, behind in found.items()
            if behind not in loops and list(found.values()).count(behind) == 1
        }

    def turned(self, header: int) -> Program:
        """The same, cut behind the question of a loop, or before it again.

        >>> import ptxkit
        >>> m = ptxkit.parse('''.version 8.0
        ... .target sm_80
        ... .entry k(.param .u32 n) {
        ...     .reg .pred %p; .reg .b32 %r<2>;
        ...     ld.param.u32 %r1, [n];
        ... L:  setp.eq.u32 %p, %r1, 0;
        ...     @%p bra E;
        ...     sub.u32 %r1, %r1, 1;
        ...     bra L;
        ... E:  ret;
        ... }''')
        >>> program = Program(Code(m, m["k"], {}, lambda name: (name,)))
        >>> turned = program.turned(program.headers[0])
        >>> program.headers, turned.headers, turned.turned(turned.headers[0]).headers
        ([1], [2], [1])
        """
        made = copy(self)
        behind = self.otherwise[header]
        made.headers = sorted(
            (behind if one == header else one for one in self.headers), key=self.order.index
        )
        made.otherwise = {
            **{head: other for head, other in self.otherwise.items() if head != header},
            behind: header,
        }
        return made

    def without_join(self, number: int) -> Program:
        """The same, not cut where ways come together for the time of that number."""
        made = copy(self)
        index = next(one for one, n in self.joins.items() if n == number)
        made.headers = [one for one in self.headers if one != index]
        made.begins = {one: kind for one, kind in self.begins.items() if one != index}
        made.joins = {one: n for one, n in self.joins.items() if one != index}
        return made

    def _behind(self, head: int, latches: set[int]) -> int:
        """The block that a loop goes on with if it does, where its first only asks for that."""
        before: dict[int, list[int]] = {}
        for index, block in self.blocks.items():
            for target in block.targets:
                before.setdefault(target, []).append(index)
        inside, pending = {head}, list(latches)
        while pending:
            one = pending.pop()
            if one not in inside:
                inside.add(one)
                pending += before.get(one, ())
        while head not in latches:
            block = self.blocks[head]
            on = [target for target in dict.fromkeys(block.targets) if target in inside]
            leaves = len(on) < len(set(block.targets)) or len(block.targets) == 1
            if not leaves or len(on) != 1 or not all(map(_only_asks, block.steps)):
                break
            asked = len(block.targets) > 1
            head = on[0]
            if asked:
                break
        return head


def _only_asks(step: Step) -> bool:
    return step.name in PURE or reads_of_parameters(step)


def _block(
    decoder: Decoder, graph: ControlFlowGraph, block: BasicBlock, unchanged: Set[int]
) -> Block:
    steps = [
        unchanging(decoder.step(one)) if one.span[0] in unchanged else decoder.step(one)
        for one in block.instructions
        if one.name not in _EXITS
    ]
    exits = [i for i in block.instructions if i.name in _EXITS]
    last = None
    following = None
    targets: list[int] = []
    if exits:
        node = exits[-1]
        guarded = node.guard is not None
        if node.name == "bra":
            label = node.operands[0].text
            last = _exit(decoder, node, "bra")
            target = next((s for s in block.successors if label in s.labels), None)
            if target is None:
                raise GiveUpError(f"there is no label '{label}'")
            targets.append(target.index)
        elif node.name == "brx":
            raise GiveUpError("a branch by a table")
        else:
            name = "ret" if node.name == "exit" and decoder.function.is_entry else node.name
            last = _exit(decoder, node, name)
        if not guarded:
            return Block(steps, last, targets, None)
    place = graph.blocks.index(block)
    if place + 1 < len(graph.blocks):
        following = graph.blocks[place + 1].index
        targets.append(following)
    return Block(steps, last, targets, following)


_EXITS = frozenset(("bra", "brx", "ret", "exit", "trap"))


def _exit(decoder: Decoder, node: Instruction, name: str) -> Step:
    guard = node.guard
    read = None if guard is None else (decoder.register(guard.predicate), guard.negated)
    return Step(name, name, frozenset(), (), (), (), read, node.line)


@dataclass(slots=True)
class Region:
    """What was found between one cut and the next ones."""

    edges: dict[int, State]
    """Where control can go, and with what."""
    visited: dict[int, Diagram]
    """The blocks that control can come to, and when."""
    touched: list[Touched]
    """Memory that is loaded from, or written to."""
    broken: Diagram
    """When memory is touched that nobody has, if that is told."""
    joint: list[tuple[str, Diagram]]
    """Where threads have a part in what others do, and which of them come there."""


class Executor:
    """Executes the regions of a program."""

    def __init__(
        self,
        program: Program,
        terms: Terms,
        decisions: Decisions,
        narrow: bool = False,
        original: bool = False,
    ) -> None:
        """With ``narrow``, values are told only for where control is: there are fewer cases.

        No control comes further than where the ``original`` goes through a null pointer: a launch
        that does so fails, whatever else it would do.
        """
        self.narrow = narrow
        self.original = original
        self.program = program
        self.terms = terms
        self.decisions = decisions
        self.calls: set[str] = set()

    def region(
        self,
        start: int,
        memory: Diagram,
        incoming: Callable[[Register], Diagram],
        condition: Diagram,
    ) -> Region:
        """Run from a block to the next cuts, where a condition holds."""
        program, decisions = self.program, self.decisions
        semantics = Semantics(
            self.terms, decisions, incoming, self.calls, program.contracted, self.narrow
        )
        semantics.settled_calls = program.settled_calls
        semantics.broken = decisions.false if self.original else None
        semantics.meets = program.meets
        arriving: dict[int, list[State]] = {
            start: [State(condition, {}, {}, memory, decisions.false)]
        }
        visited: dict[int, Diagram] = {}
        ends: dict[int, list[State]] = {}
        headers = set(program.headers)

        def go(target: int, state: State, condition: Diagram) -> None:
            if condition == decisions.false:
                return
            if target in headers and any(size for _, _, size in state.slots):
                # What a call returned has no size; reading that later gives up by itself.
                raise GiveUpError("a result or an argument that is set before a loop or a cut")
            table = ends if target < 0 or target in headers else arriving
            table.setdefault(target, []).append(state.copy(condition))

        for index in self._order(start):
            if index not in arriving:
                continue
            state = self._merged(arriving.pop(index), semantics, program.live[index])
            block = program.blocks[index]
            for step in block.steps:
                semantics.run(state, step)
            if state.condition == decisions.false:
                continue
            visited[index] = state.condition
            last = block.last
            if last is None:
                go(block.following if block.following is not None else RETURN, state,
                   state.condition)  # fmt: skip
                continue
            target = block.targets[0] if last.name == "bra" else _ENDS[last.name]
            if last.guard is None:
                go(target, state, state.condition)
                continue
            taken = semantics.predicate(state, last.guard)
            go(target, state, decisions.both(state.condition, taken))
            go(block.following if block.following is not None else RETURN, state,
               decisions.both(state.condition, decisions.negate(taken)))  # fmt: skip
        edges = {
            target: self._merged(states, semantics, program.live.get(target, frozenset()))
            for target, states in ends.items()
        }
        broken = decisions.false if semantics.broken is None else semantics.broken
        return Region(edges, visited, semantics.touched, broken, semantics.joint)

    def _order(self, start: int) -> list[int]:
        """The blocks between one cut and the next ones, each after all that lead to it."""
        blocks, headers = self.program.blocks, set(self.program.headers)
        done: dict[int, None] = {}
        way = {start}
        pending = [(start, iter(blocks[start].targets))]
        while pending:
            index, targets = pending[-1]
            target = next((t for t in targets if t in blocks and t not in headers), None)
            if target is None:
                pending.pop()
                way.discard(index)
                done[index] = None
            elif target in way:
                raise GiveUpError("a loop without a cut")
            elif target not in done:
                way.add(target)
                pending.append((target, iter(blocks[target].targets)))
        return list(done)[::-1]

    def _merged(
        self, states: list[State], semantics: Semantics, live: frozenset[Register]
    ) -> State:
        result = states[0]
        for other in states[1:]:
            if _arguments(result) != _arguments(other):
                raise GiveUpError("arguments of a call that are set on several ways")
            # What a call has returned is read behind it, on the same way.
            result.slots = {k: v for k, v in result.slots.items()
                            if _is_result(k) or other.slots.get(k) == v}  # fmt: skip
        result.registers = {r: held for r, held in result.registers.items() if r in live}
        decisions = self.decisions
        for other in states[1:]:
            condition = other.condition
            for register in {**result.registers, **other.registers}:
                if register not in live:
                    continue
                a = result.registers.get(register)
                b = other.registers.get(register)
                if a is None:
                    a = semantics.incoming(register)
                if b is None:
                    b = semantics.incoming(register)
                result.registers[register] = decisions.choose(condition, b, a)
            for slot in [s for s in (*result.slots, *other.slots) if _is_result(s)]:
                a, b = result.slots.get(slot), other.slots.get(slot)
                undefined = decisions.undefined
                result.slots[slot] = decisions.choose(
                    condition, undefined if b is None else b, undefined if a is None else a
                )
            result.memory = decisions.choose(condition, other.memory, result.memory)
            result.since = decisions.choose(condition, other.since, result.since)
            result.condition = decisions.either(result.condition, condition)
        for register, held in result.registers.items():
            type = self.program.types.get(register, "")
            result.registers[register] = semantics.told(result, held, type)
        result.memory = semantics.told(result, result.memory)
        return result


def _is_result(slot: Slot) -> bool:
    """Whether a slot is what the function itself returns."""
    return slot[0].startswith("('result'")


def _arguments(state: State) -> dict[Slot, Diagram]:
    """What was put there for a call that is still to come."""
    return {k: v for k, v in state.slots.items() if k[2] and not _is_result(k)}
