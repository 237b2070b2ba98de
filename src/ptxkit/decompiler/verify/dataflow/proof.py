"""The proof itself: classes of equal registers at loop headers, refined until they hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from math import prod

from ptxkit.decompiler.verify.dataflow.decisions import Decisions, Diagram
from ptxkit.decompiler.verify.dataflow.decode import Register
from ptxkit.decompiler.verify.dataflow.regions import RETURN, Edge, Executor, Program
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Terms
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import parameter_layout
from ptxkit.syntax import Function, Module
from ptxkit.syntax.nodes import FunctionDirective

_ROUNDS = 40
_MOST_INSTRUCTIONS = 2500
_ENTRY = -1


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether two functions were proved equal, and if not, what was missing."""

    equal: bool
    reason: str = ""


def same_dataflow(
    original: Module, candidate: Module, kernel: str, other: str | None = None
) -> Proof:
    """Prove that a kernel of one module does what one of another module does.

    >>> import ptxkit
    >>> text = '''.version 8.0
    ... .target sm_80
    ... .visible .entry k(.param .u64 x, .param .u32 n) {
    ...     .reg .pred %p<2>; .reg .b32 %r<5>; .reg .b64 %rd<5>;
    ...     ld.param.u64 %rd1, [x];
    ...     ld.param.u32 %r1, [n];
    ...     mov.u32 %r2, 0;
    ... L:  mul.wide.s32 %rd2, %r2, 4;
    ...     add.s64 %rd3, %rd1, %rd2;
    ...     st.global.u32 [%rd3], %r2;
    ...     add.s32 %r2, %r2, 1;
    ...     setp.lt.s32 %p1, %r2, %r1;
    ...     @%p1 bra L;
    ...     ret;
    ... }'''
    >>> m = ptxkit.parse(text)
    >>> swapped = ptxkit.parse(text.replace("%rd3, %rd1, %rd2", "%rd3, %rd2, %rd1"))
    >>> wrong = ptxkit.parse(text.replace("%r2, %r2, 1", "%r2, %r2, 2"))
    >>> same_dataflow(m, swapped, "k").equal, same_dataflow(m, wrong, "k").equal
    (True, False)
    """
    pending = [(original[kernel], candidate[other or kernel])]
    done: set[tuple[str, str]] = set()
    places: tuple[dict[int, int], dict[int, int]] = ({}, {})
    try:
        while pending:
            a, b = pending.pop()
            if (a.name, b.name) in done:
                continue
            done.add((a.name, b.name))
            pair = _Pair(original, candidate, a, b, places)
            reason = pair.prove()
            if reason:
                return Proof(False, reason)
            for name in pair.calls():
                inside = [name in m and m[name].has_body for m in (original, candidate)]
                if inside[0] != inside[1]:
                    return Proof(False, f"only one side has the function '{name}'")
                if inside[0]:
                    pending.append((original[name], candidate[name]))
    except GiveUpError as error:
        return Proof(False, str(error))
    except RecursionError:
        return Proof(False, "the conditions are nested too deeply")
    return Proof(True)


class _Pair:
    """Two functions that may be equal."""

    def __init__(
        self,
        m: Module,
        n: Module,
        a: Function,
        b: Function,
        places: tuple[dict[int, int], dict[int, int]],
    ) -> None:
        for function in (a, b):
            if not function.has_body:
                raise GiveUpError(f"'{function.name}' has no body")
            if len(function.instructions) > _MOST_INSTRUCTIONS:
                raise GiveUpError(f"more than {_MOST_INSTRUCTIONS:,} instructions")
        self.functions = a, b
        self.terms = Terms()
        self.decisions = Decisions(self.terms)
        self.programs = Program(m, a, places[0]), Program(n, b, places[1])
        self.executors = tuple(Executor(p, self.terms, self.decisions) for p in self.programs)
        self.classes: list[dict[tuple[int, Register], int]] = []
        """For each header: the class of every register of either side; 0 at first."""

    def calls(self) -> set[str]:
        """The functions that either side calls."""
        return self.executors[0].calls | self.executors[1].calls

    def prove(self) -> str:
        """An empty text where they are equal, else what is missing."""
        a, b = self.programs
        if len(a.headers) != len(b.headers):
            return f"{len(a.headers)} loops against {len(b.headers)}"
        if not self._same_signature():
            return "the parameters differ"
        if _joint(self.functions[0]) != _joint(self.functions[1]):
            return "threads come together in other places"
        self.classes = [{} for _ in a.headers]
        for _ in range(_ROUNDS):
            edges = self._execute()
            why = self._shape(edges)
            if why:
                return why
            if not self._refine(edges):
                return self._compare(edges)
        return "the loops did not settle"

    def _same_signature(self) -> bool:
        a, b = self.functions
        layouts = [
            [(i.offset, i.size) for i in parameter_layout(f.parameters)[0]]
            + [(i.offset, i.size) for i in parameter_layout(f.return_parameters)[0]]
            for f in (a, b)
        ]
        return layouts[0] == layouts[1] and _takes_blocks_of(b, a)

    # ---- executing -------------------------------------------------------------------------

    def _execute(self) -> list[list[dict[int, Edge]]]:
        """For each side and cut: the edges, with headers by their number."""
        found = []
        for side in (0, 1):
            program = self.programs[side]
            number = {header: n for n, header in enumerate(program.headers)}
            regions = []
            for cut, start in ((_ENTRY, program.entry), *enumerate(program.headers)):
                incoming = partial(self._incoming, side, cut)
                edges = self.executors[side].region(start, cut, incoming)
                regions.append({number.get(t, t - 1000): e for t, e in edges.items()})
            found.append(regions)
        return found

    def _incoming(self, side: int, cut: int, register: Register) -> Diagram:
        """What a register holds at a cut."""
        type = self.programs[side].types.get(register, "b32")
        if cut == _ENTRY:
            term = self.terms.make("nothing", side, register)
        else:
            known = self.classes[cut].get((side, register), 0)
            term = self.terms.make("carried", cut, known, SCALAR_TYPES[type].width)
        return self.decisions.ask(term) if type == "pred" else self.decisions.leaf(term)

    # ---- comparing -------------------------------------------------------------------------

    def _shape(self, edges: list[list[dict[int, Edge]]]) -> str:
        """Why the two cannot be compared: control goes to different places."""
        for first, second in zip(*edges, strict=True):
            if set(first) != set(second):
                return "control goes to different places"
        return ""

    def _refine(self, edges: list[list[dict[int, Edge]]]) -> bool:
        """Tell apart what did not stay equal; whether anything changed."""
        changed = False
        for header in range(len(self.classes)):
            names = {
                (side, register)
                for side in (0, 1)
                for regions in edges[side]
                for edge in regions.values()
                for register in edge.state.registers
            }
            before = self.classes[header]
            groups: dict[tuple[object, ...], int] = {}
            after: dict[tuple[int, Register], int] = {}
            for side, register in sorted(names):
                signature: list[object] = [
                    before.get((side, register), 0),
                    SCALAR_TYPES[self.programs[side].types.get(register, "b32")].width,
                ]
                for cut, regions in enumerate(edges[side], _ENTRY):
                    edge = regions.get(header)
                    if edge is not None:
                        signature.append(self._held(edge, side, cut, register))
                key = tuple(signature)
                after[side, register] = groups.setdefault(key, len(groups) + 1)
            old = len({before.get(name, 0) for name in names})
            changed |= len(groups) != old
            self.classes[header] = after
        return changed

    def _held(self, edge: Edge, side: int, cut: int, register: Register) -> Diagram:
        held = edge.state.registers.get(register)
        if held is None:
            held = self._incoming(side, cut, register)
        return self._under(edge.condition, held)

    def _under(self, condition: Diagram, value: Diagram) -> Diagram:
        """A value where a condition holds, and nothing elsewhere."""
        return self.decisions.choose(condition, value, self.decisions.undefined)

    def _compare(self, edges: list[list[dict[int, Edge]]]) -> str:
        for cut, (first, second) in enumerate(zip(*edges, strict=True), _ENTRY):
            where = "at the entry" if cut == _ENTRY else f"in loop {cut + 1}"
            for target, edge in first.items():
                other = second[target]
                if edge.condition != other.condition:
                    return f"a condition differs {where}"
                a, b = (self._under(e.condition, e.state.memory) for e in (edge, other))
                if a != b:
                    return f"what happens to memory differs {where}"
                if target == RETURN - 1000 and not self._same_results(edge, other):
                    return f"what is returned differs {where}"
        return ""

    def _same_results(self, a: Edge, b: Edge) -> bool:
        results = [
            {k: self._under(e.condition, v) for k, v in e.state.slots.items()
             if k[0].startswith("('result'")}
            for e in (a, b)
        ]  # fmt: skip
        return results[0] == results[1]


#: What depends on which threads are there with this one.
_JOINT = frozenset("activemask elect vote match shfl redux bar barrier".split())


def _joint(function: Function) -> Counter[str]:
    """The instructions that several threads have a part in.

    A proof follows one thread. To it the two arms of a branch that ask which threads are active do
    the same as one question before the branch, and the answers are different.
    """
    return Counter(one.opcode for one in function.instructions if one.name in _JOINT)


def _takes_blocks_of(candidate: Function, original: Function) -> bool:
    """Whether a function says the same about launches, or takes more blocks than the other."""
    mine, theirs = (
        {d.name: d.values for d in f.directives if isinstance(d, FunctionDirective)}
        for f in (candidate, original)
    )
    sizes = [{k: found.pop(k, None) for k in (".reqntid", ".maxntid")} for found in (mine, theirs)]
    if mine != theirs or sizes[0][".reqntid"] not in (None, sizes[1][".reqntid"]):
        return False
    most = [prod(map(int, s[".reqntid"] or s[".maxntid"] or (1024,))) for s in sizes]
    return most[1] <= most[0]
