"""The proof itself: a kernel against a kernel, then all functions that they call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, prod

from ptxkit.decompiler.budget import UNLIMITED, Budget, OverdueError
from ptxkit.decompiler.verify.coverage import Coverage
from ptxkit.decompiler.verify.dataflow.accesses import differ_in_kind, is_generic
from ptxkit.decompiler.verify.dataflow.cuts import CUTS, CUTS_OF_LONG, Cuts, uncut
from ptxkit.decompiler.verify.dataflow.decisions import TOO_LONG, TooManyCasesError
from ptxkit.decompiler.verify.dataflow.decode import Register, calls_through
from ptxkit.decompiler.verify.dataflow.fusing import open_products
from ptxkit.decompiler.verify.dataflow.joins import paired
from ptxkit.decompiler.verify.dataflow.product import Product
from ptxkit.decompiler.verify.dataflow.regions import Code, Program
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError
from ptxkit.decompiler.verify.promises import constant_loads
from ptxkit.decompiler.verify.resources import needs, too_much
from ptxkit.decompiler.verify.variables import Variables, behind_variables, other_names
from ptxkit.run.layout import parameter_layout
from ptxkit.syntax import Function, Instruction, Module
from ptxkit.syntax.nodes import FunctionDirective

_MOST_INSTRUCTIONS = 20_000
_WORD = re.compile(r"[\w$]+", re.ASCII)
_FEW_CASES = 24
#: Instructions of functions that are cut into pieces in any case.
_SHORT = 400
#: Work for that, and where nothing but a proof is wanted, as `Decisions` counts it: some seconds.
_PIECES, _THOROUGH = 350_000, 1_300_000
#: How often pieces are compared: up to how many cases values are told apart, whether they are also
#: cut where ways come together, and the share of the work for that. Values of many cases are
#: compared as a whole first, which is quick, then in full. There are many places where ways come
#: together, which are tried one by one.
_PASSES = (
    (_FEW_CASES, False, 1.0), (None, False, 0.25), (_FEW_CASES, True, 1.0), (None, False, 1.0),
)  # fmt: skip
#: And for a first look at long functions as a whole.
_FIRST = 150_000


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether two functions were proved equal, and if not, what was missing."""

    equal: bool
    reason: str = ""


def same_dataflow(
    original: Module,
    candidate: Module,
    kernel: str,
    other: str | None = None,
    *,
    thorough: bool = False,
    budget: Budget = UNLIMITED,
) -> Proof:
    """Prove that a kernel of one module does what one of another module does.

    With ``thorough`` long functions are cut into pieces, too, as short ones are: that takes longer.
    It ends unproved when the time of the ``budget`` is over.

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
    more = too_much(*(needs(f.root, Coverage.of(f.root, f).functions) for f in pending[0]))
    if more:
        return Proof(False, more)
    done: set[tuple[str, str]] = set()
    places: tuple[dict[int, int], dict[int, int]] = ({}, {})
    try:
        variables = Variables(original, candidate)
        others = other_names(original) | other_names(candidate)
        while pending:
            a, b = pending.pop()
            if (a.name, b.name) in done:
                continue
            done.add((a.name, b.name))
            # Compilers leave out what has no effect, and read nothing that was not read before.
            if _parameters_read(b) - _parameters_read(a):
                return Proof(False, "it reads a parameter that the original does not read")
            moved = list(map(_guarded, a.instructions)) != list(map(_guarded, b.instructions))
            if moved and (any(map(_is_beyond, (a, b))) or _asks_inside(original, a)):
                return Proof(False, "which threads are there is not followed")
            if open_products(a) != open_products(b):
                return Proof(False, "products may be put together with other sums")
            pair = _Pair(original, candidate, a, b, places, variables, budget)
            reason = pair.prove(thorough)
            if reason:
                return Proof(False, reason)
            reached = pair.calls()
            if pair.calls_through():
                # Any function of the module may be behind the address: one that it begins a
                # variable with, or that another one of its kernels, or of its callers, has put
                # there. So each has to be the same on both sides.
                reached |= {f.name for f in original.functions if not f.is_entry}
            else:  # so it is for who comes later and calls what this one has put somewhere
                reached |= behind_variables(original, a)
            for name in sorted(reached):
                if name in others:
                    return Proof(False, f"'{name}' is another name of a function")
                inside = [name in m and m[name].has_body for m in (original, candidate)]
                if inside[0] != inside[1]:
                    return Proof(False, f"only one side has the function '{name}'")
                if inside[0]:
                    pending.append((original[name], candidate[name]))
    except (GiveUpError, OverdueError) as error:
        return Proof(False, str(error))
    except RecursionError:
        return Proof(False, "the conditions are nested too deeply")
    if _in_order(places[0]) != _in_order(places[1]):
        return Proof(False, "its shared or local arrays stand in another order")
    return Proof(True)


def _in_order(places: dict[int, int]) -> list[int]:
    """The arrays that code names, by number, in the order in which they are declared.

    So they lie in memory: one may begin where the other one ends.
    """
    return [number for _, number in sorted(places.items())]


def _guarded(one: Instruction) -> tuple[str, str]:
    """The opcode, and whether it has a guard."""
    return one.opcode, one.text[:2] if one.text.startswith("@") else ""


def _is_beyond(function: Function) -> bool:
    """Whether a function asks who else is there, or ends a thread on behalf of its caller."""
    names = {one.name for one in function.instructions}
    if any(one.name == "activemask" and one.text.startswith("@") for one in function.instructions):
        return True
    return ("activemask" in names and "bra" in names) or ("exit" in names and not function.is_entry)


def _asks_inside(module: Module, function: Function) -> bool:
    """Whether a function calls one of a module that asks who else is there, or ends its thread."""
    calls = any(one.name == "call" for one in function.instructions)
    return calls and any(
        one.name == "activemask" or (one.name == "exit" and not f.is_entry)
        for f in module.functions
        for one in f.instructions
    )


def _parameters_read(function: Function) -> set[int]:
    """The places of the parameters that occur in a function's body."""
    places = {p.name: place for place, p in enumerate(function.parameters)}
    return {
        places[word]
        for one in function.instructions
        if ".param" in one.modifiers or one.name == "mov"
        for word in _WORD.findall(one.text)
        if word in places
    }


class _Pair:
    """Two functions that may be equal."""

    def __init__(
        self,
        m: Module,
        n: Module,
        a: Function,
        b: Function,
        places: tuple[dict[int, int], dict[int, int]],
        variables: Variables,
        budget: Budget,
    ) -> None:
        self.budget = budget
        for function in (a, b):
            if not function.has_body:
                raise GiveUpError(f"'{function.name}' has no body")
            if any(one.space == "reg" for one in function.return_parameters):
                raise GiveUpError("a result that is given back in a register")
            if len(function.instructions) > _MOST_INSTRUCTIONS:
                raise GiveUpError(f"more than {_MOST_INSTRUCTIONS:,} instructions")
        self.functions = a, b
        unchanged = constant_loads((m, n), (a, b))
        first, second = (
            Code(module, function, places[side], partial(variables.known, side), unchanged[side])
            for side, (module, function) in enumerate(((m, a), (n, b)))
        )
        self._make = partial(_programs, (first, second))
        self.programs = self._make()
        self.product = Product(self.programs, budget=budget)
        self._work = 0
        self._too_long = False
        self._unset: dict[Register, Register] = {}
        """Registers of the candidate that are read unset, and which of the original they are."""

    def calls(self) -> set[str]:
        """The functions that either side calls."""
        return set().union(*(executor.calls for executor in self.product.executors))

    def calls_through(self) -> bool:
        """Whether either side calls a function by its address."""
        return any(calls_through(step) for program in self.programs for step in program.steps())

    def prove(self, thorough: bool = False) -> str:
        """An empty text where they are equal, else what is missing."""
        if reason := self._other_signature():
            return reason
        # What is long is seldom proved as a whole; it is for long if pieces do not do.
        brief = thorough and not self._is_short()
        reason = self._whole(_FIRST if brief else inf)
        work = _THOROUGH if thorough else _PIECES
        if reason and (thorough or self._is_short()) and self._in_pieces(work):
            return ""
        return self._whole(inf) if brief and reason == TOO_LONG else reason

    def _in_pieces(self, work: float) -> bool:
        """Cut both where they must be at the same time: in few places, then in more."""
        wanted = CUTS if self._is_short() else CUTS_OF_LONG
        joins = paired(*self.programs)
        made: dict[tuple[Cuts, bool], tuple[Program, Program]] = {}
        # What failed, but not for want of work, and what was known of unset registers after it.
        failed: dict[tuple[Cuts, bool, int | None], int] = {}
        for number, (cases, joined, share) in enumerate(_PASSES):
            left = share * work
            done: list[list[list[int]]] = []
            for cuts in wanted if joins or not joined else ():
                key = cuts, joined
                programs = made[key] = made.get(key) or self._make(cuts, joins if joined else ())
                heads = [program.headers for program in programs]
                if heads in done:
                    continue  # there is nothing else to cut at
                done.append(heads)
                if failed.get((cuts, joined, cases)) == len(self._unset):
                    continue
                if self._with_turns(programs, cases, left):
                    return True
                if not self._too_long:
                    failed[cuts, joined, cases] = len(self._unset)
                left -= self._work if share == 1.0 else 0.0
            work = work if number else left
        return False

    def _with_turns(
        self, programs: tuple[Program, Program], cases: int | None, work: float
    ) -> bool:
        """Whether they are equal in pieces, with loops cut at one end or the other.

        Where they part at a place that ways come together at, they are not cut there.
        """
        turned: set[tuple[int, int]] = set()
        self._work = 0
        self._too_long = False
        again: tuple[Program, Program] | None = programs
        while again is not None:
            left = work - self._work
            self.product = Product(again, cases, True, left, self.budget, self._unset)
            try:
                if not (self.product.settle() or self.product.difference()):
                    return True
            except GiveUpError as error:
                self._too_long |= str(error) == TOO_LONG
            self._work += self.product.decisions.work
            unset = self.product.unset()
            if len(unset) > len(self._unset):
                self._unset = unset
            else:
                again = self.product.elsewhere(turned)
        return False

    def _is_short(self) -> bool:
        return len(self.functions[0].instructions) <= _SHORT

    def _whole(self, work: float) -> str:
        """What is missing without cuts; with less to tell cases apart by, there are fewer."""
        for cases in (None, _FEW_CASES):
            self.product = Product(self.programs, cases, work=work, budget=self.budget)
            try:
                return self.product.settle() or self.product.difference()
            except TooManyCasesError as error:
                reason = str(error)
            except GiveUpError as error:
                return str(error)
        return reason

    def _other_signature(self) -> str:
        """What differs in how they are called; an empty text where nothing does."""
        a, b = self.functions
        layouts = [
            [(i.offset, i.size) for i in parameter_layout(f.parameters)[0]]
            + [(i.offset, i.size) for i in parameter_layout(f.return_parameters)[0]]
            for f in (a, b)
        ]
        return _other_launches(b, a) if layouts[0] == layouts[1] else "the parameters differ"


def _programs(
    codes: tuple[Code, Code],
    cuts: Cuts = uncut,
    joins: Sequence[tuple[int, int]] = (),
) -> tuple[Program, Program]:
    functions = codes[0].function, codes[1].function
    # What the original does to global memory may be done to memory of any kind: it is the same
    # there. But what it does to memory of any kind may not be global.
    all_global = not any(map(is_generic, functions[0].instructions))
    # Where it does both, one that does less of it to global memory alone is compared as if all were
    # memory of any kind; what the candidate takes for global must then be so in the original.
    mixed = differ_in_kind(*(function.instructions for function in functions))
    # What the original takes for memory that nobody changes may be loaded like any other; what the
    # candidate takes for that must be it.
    constant = any(".nc" in one.modifiers for one in functions[1].instructions)
    first, second = (
        Program(
            codes[side],
            cuts,
            all_global=all_global and side == 1,
            all_generic=mixed,
            constant=constant,
            joins=[pair[side] for pair in joins],
        )
        for side in (0, 1)
    )
    return first, second


def _other_launches(candidate: Function, original: Function) -> str:
    """What a function says otherwise about launches, if it does not just take more blocks."""
    mine, theirs = (_launches(f) for f in (candidate, original))
    sizes = [{k: found.pop(k, None) for k in (".reqntid", ".maxntid")} for found in (mine, theirs)]
    most = [prod(map(int, s[".reqntid"] or s[".maxntid"] or (1024,))) for s in sizes]
    different = [k for k in dict.fromkeys((*theirs, *mine)) if theirs.get(k) != mine.get(k)]
    if sizes[0][".reqntid"] not in (None, sizes[1][".reqntid"]) or most[1] > most[0]:
        different += [k for k in sizes[0] if sizes[0][k] != sizes[1][k]]
        mine, theirs = mine | sizes[0], theirs | sizes[1]
    if not different:
        return ""
    said = (f"{k} {_said(theirs.get(k))} against {_said(mine.get(k))}" for k in different)
    return f"the launches differ: {', '.join(said)}"


def _launches(function: Function) -> dict[str, tuple[int, ...] | None]:
    """The directives of a function."""
    return {d.name: d.values for d in function.directives if isinstance(d, FunctionDirective)}


def _said(values: tuple[int, ...] | None) -> str:
    """The numbers of a directive, or that it is not there."""
    return "none" if values is None else f"({', '.join(map(str, values))})"
