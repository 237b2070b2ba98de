"""A module of PTX as CUDA C++: the symbolic lifter from end to end."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count

from ptxkit.collection import no_collection
from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.printer import print_module
from ptxkit.cuda.types import BFLOAT16, BOOL, HALF, INT, VOID, Pointer, Scalar, Type, Vector
from ptxkit.decompiler.lift.branch_starts import with_starts_in_branches
from ptxkit.decompiler.lift.byte_counters import count_elements
from ptxkit.decompiler.lift.byte_vectors import with_byte_vectors
from ptxkit.decompiler.lift.cascade import Cascades
from ptxkit.decompiler.lift.common_starts import with_common_starts
from ptxkit.decompiler.lift.context import Intrinsic
from ptxkit.decompiler.lift.continues import with_continues
from ptxkit.decompiler.lift.copies import Copies
from ptxkit.decompiler.lift.counting import Counting, without_unread
from ptxkit.decompiler.lift.declare import Declarer
from ptxkit.decompiler.lift.declared import declared_rows, declared_types
from ptxkit.decompiler.lift.emit import Emitter
from ptxkit.decompiler.lift.empty_loops import without_empty_loops
from ptxkit.decompiler.lift.first_remainders import with_first_remainders
from ptxkit.decompiler.lift.flags import WIDE, Flags, shown_flags
from ptxkit.decompiler.lift.flow import Branch, Flow, FlowBlock, Select
from ptxkit.decompiler.lift.frames import with_own_arrays
from ptxkit.decompiler.lift.function import Program, lift_function
from ptxkit.decompiler.lift.guards import without_guards
from ptxkit.decompiler.lift.half_pairs import with_half_pairs
from ptxkit.decompiler.lift.halves import HALF_HEADERS
from ptxkit.decompiler.lift.halving_nests import with_halving_loops
from ptxkit.decompiler.lift.kept_sums import with_kept_sums, with_promoted_sums
from ptxkit.decompiler.lift.kind_survey import surveyed
from ptxkit.decompiler.lift.known_turns import KnownTurns
from ptxkit.decompiler.lift.last_turns import with_last_turns
from ptxkit.decompiler.lift.late_steps import with_late_steps
from ptxkit.decompiler.lift.launches import launch_attributes, launch_bounds
from ptxkit.decompiler.lift.local_arrays import LocalArrays
from ptxkit.decompiler.lift.loop_starts import with_loop_starts
from ptxkit.decompiler.lift.mathlib.calls import restore_calls
from ptxkit.decompiler.lift.mathlib.miner import architecture
from ptxkit.decompiler.lift.mathlib.unused import still_used
from ptxkit.decompiler.lift.matrices import with_matrices
from ptxkit.decompiler.lift.module_variables import ModuleVariables, shared_by_several, with_single
from ptxkit.decompiler.lift.names import Namer
from ptxkit.decompiler.lift.nesting import nested
from ptxkit.decompiler.lift.objects import typed_objects, with_single_fetches
from ptxkit.decompiler.lift.odd_counts import with_odd_counts, with_odd_rests
from ptxkit.decompiler.lift.offsets import count_in_elements
from ptxkit.decompiler.lift.one_counter import with_one_counter
from ptxkit.decompiler.lift.order import Order
from ptxkit.decompiler.lift.packed_bytes import with_packed_bytes
from ptxkit.decompiler.lift.pipelines import HEADER as PIPELINES
from ptxkit.decompiler.lift.places import Places
from ptxkit.decompiler.lift.plain_parameters import half_structs, with_plain_halves
from ptxkit.decompiler.lift.plain_sums import with_plain_sums
from ptxkit.decompiler.lift.pointer_starts import with_pointer_starts
from ptxkit.decompiler.lift.polish import Polisher
from ptxkit.decompiler.lift.prelude import (
    helper_functions,
    prototypes,
)
from ptxkit.decompiler.lift.printing import restore_printf
from ptxkit.decompiler.lift.products import products
from ptxkit.decompiler.lift.reached_limits import with_reached_limits
from ptxkit.decompiler.lift.record_starts import with_record_starts
from ptxkit.decompiler.lift.rewrite import bottom_up
from ptxkit.decompiler.lift.roll import rolled
from ptxkit.decompiler.lift.row_pointers import with_row_pointers
from ptxkit.decompiler.lift.rows import with_rows
from ptxkit.decompiler.lift.same_turns import SameTurns
from ptxkit.decompiler.lift.shared_pointers import with_shared_pointers
from ptxkit.decompiler.lift.signatures import KNOWN, Signatures
from ptxkit.decompiler.lift.split_vectors import with_elements
from ptxkit.decompiler.lift.statements import Statements
from ptxkit.decompiler.lift.strides import with_strides
from ptxkit.decompiler.lift.structure import structured
from ptxkit.decompiler.lift.substitute import Substitution
from ptxkit.decompiler.lift.switches import find_switches
from ptxkit.decompiler.lift.truths import with_truths
from ptxkit.decompiler.lift.unsplit import with_whole_loops
from ptxkit.decompiler.lift.unswitched import with_one_loop
from ptxkit.decompiler.lift.usual_loops import with_usual_loops
from ptxkit.decompiler.lift.values import forget
from ptxkit.decompiler.lift.variable_types import VariableTypes, restrict
from ptxkit.decompiler.lift.volatile_pointers import (
    with_volatile_pointers,
    with_volatile_variables,
)
from ptxkit.decompiler.lift.whole_steps import over_indices
from ptxkit.decompiler.lift.wide_shuffles import join_shuffles
from ptxkit.decompiler.lift.wide_variables import with_wide_variables
from ptxkit.decompiler.lift.written_tables import with_written_tables
from ptxkit.deep import deeply
from ptxkit.syntax import Function, Module, Scopes
from ptxkit.syntax.debug import debug_names

_HALF_TYPES: dict[Type, str] = {HALF: "f16", BFLOAT16: "bf16"}


@dataclass(frozen=True, slots=True)
class Options:
    """How code is written.

    ``careful`` writes what no compiler may understand otherwise: unsigned arithmetic where
    PTX wraps around, ``fmaf`` for fused multiply-add.
    """

    careful: bool = False
    exact: bool = False
    """Keep what C++ leaves to the compiler, and PTX does not: which operand of a sum or a product
    comes first, which says which not-a-number it gives, and what a division by 0 gives."""
    open_sums: bool = False
    """Leave it to the compiler, as PTX does, whether a product and a sum are rounded once.

    One that sees what the first one saw makes the same of them; any other may not.
    """
    roll: bool = False
    """Propose unrolled loops as they were written; the verifier has to agree."""
    arrays: bool = False
    """Propose arrays of a thread's own where each element has become a variable."""
    math: bool = True
    """Make calls of what a compiler made of functions of the math library."""
    keep_loops: bool = False
    """Tell the compiler to unroll no loop that PTX still has: it stays one."""
    order: Order = "free"
    """Compute values in the blocks, or in the very order, in which PTX does.

    There are more variables then; more often it is the same PTX again.
    """
    flags: Flags | None = None
    """What code is to be compiled with; None for what the module shows."""


class _Names(dict[str, Type]):
    """Types by name; what is not known is a number."""

    def __missing__(self, key: str) -> Type:
        return INT


class ModuleLifter:
    """Lifts the functions of one module."""

    def __init__(self, module: Module, options: Options | None = None) -> None:
        self.module = module
        self.options = options or Options()
        self.arch = architecture(module)
        self.flags = self.options.flags or compile_flags(module)
        self.scopes = Scopes(module)
        self.names = debug_names(module)
        self.signatures = Signatures(module)
        self.types = VariableTypes(self.signatures)
        self.variables = ModuleVariables(module, self.signatures)
        self.helpers: dict[str, Intrinsic] = {}
        self.converts: set[str] = set()
        self.headers: set[str] = set()
        self.wide = False
        """Whether there are numbers of 128 bits, which NVRTC must be told."""
        self.registers: dict[str, dict[str, str]] = {}
        """For each function the register that a variable stands for, by the variable's name."""

    # ---- one function --------------------------------------------------------------------

    @no_collection()
    def function(self, function: Function) -> n.Function:
        """One function."""
        program = lift_function(self.module, function, self.scopes, self.signatures, self.flags)
        self.wide = self.wide or any(v.declared == "b128" for v in program.variables)
        if not (self.options.careful or self.options.open_sums):
            # What is to be proved step by step has its two halves, as PTX does.
            join_shuffles(program.flow.blocks)
        if self.options.math:
            restore_calls(program, self.arch)
        if not self.options.careful:
            with_packed_bytes(program)
            with_byte_vectors(program)
        if not self.options.exact:
            count_elements(program)
            count_in_elements(program)
            with_pointer_starts(program)
        with_truths(program, () if self.options.careful else declared_types(function.name))
        Substitution(program, self.options.order, exact=self.options.exact).run()
        if not self.options.exact:
            with_record_starts(program)
        if "vprintf" in self.signatures.functions:
            restore_printf(program, self.variables.texts)
        kinds = surveyed(program, structures=not self.options.careful)
        types, layouts = self.types.find(program, kinds)
        taken = {s.name for s in self.signatures.functions.values()} | set(self.signatures.by_name)
        taken |= {s.name for s in self.types.structs}
        Namer(program, types, taken, self.names.get(function.name)).run()
        self.registers[function.name] = {v.name: v.register for v in program.variables}
        careful, exact = self.options.careful, self.options.exact
        emitter = Emitter(program.lift, kinds, types, careful=careful, exact=exact)
        emitter.products, emitter.kept = products(program)
        emitter.open_sums = self.options.open_sums
        if emitter.open_sums or not self.flags.fuse:
            emitter.kept = set()
        emitter.helpers = self.helpers
        if not KNOWN.keys().isdisjoint(self.signatures.functions):
            emitter.texts = self.variables.texts
        emitter.converts, emitter.headers = self.converts, self.headers
        places = Places(emitter, self.variables.arrays, layouts)
        emitter.places = places
        places.wide = self.options.order != "free"
        restrict(program, kinds, types, places)
        statements = Statements(program, emitter, places)
        flow = self._flow(program, emitter, statements)
        by_name = _Names({v.name: t for v, t in types.items()})
        for layout in layouts.values():
            by_name |= {f"{layout.name}.{name}": type for name, type in layout.fields.values()}

        arrays = (*self.variables.inside(places.used), *self.variables.outside())
        known_names = ChainMap({one.name: one.type for one in arrays}, by_name)

        def is_float(node: n.Expression) -> bool:
            found = infer(node, known_names)
            return isinstance(found, Scalar) and found.is_float

        flags: list[str] = []

        def fresh() -> str:
            flags.append(f"skip{len(flags) or ''}")
            by_name[flags[-1]] = BOOL
            return flags[-1]

        if not self.options.careful and self.options.order != "line":
            find_switches(flow, by_name)
        # What is to be proved step by step stays as it was jumped to: where little is rearranged,
        # a compiler comes to the same jumps.
        in_order = not (careful or self.options.open_sums)
        body = structured(flow, is_float, fresh=fresh, in_order=in_order)
        body = _without_last_return(body)
        body = Polisher(is_float).run(body)
        indices: set[str] = set()
        if self.options.roll:
            names = {*by_name, *taken}

            def index(wished: str = "") -> str:
                wish = next(w for w in chain([wished], _indices()) if w and w not in names)
                names.add(wish)
                indices.add(wish)
                return wish

            def named(wished: str) -> str:
                name = next(w for w in _numbered(wished) if w not in names)
                names.add(name)
                return name

            uses = Counter(p.name for s in body for p in s.walk() if isinstance(p, n.Name))
            often = {name for name, times in uses.items() if times > 2}
            cascades = Cascades(by_name, index)
            turns = KnownTurns(by_name)
            body = with_halving_loops(body, by_name, index)
            if self.options.order == "free":
                body = with_usual_loops(body)
            body = with_one_loop(with_late_steps(body))
            body = with_reached_limits(body, by_name, places.steps)
            body = with_common_starts(with_elements(body, by_name))
            body = with_odd_counts(with_odd_rests(body))
            body = rolled(body, cascades)
            own = LocalArrays(by_name, named, frozenset(v.name for v in program.parameters))
            whole = turns.with_one_mover(with_starts_in_branches(body))
            if self.options.arrays:
                whole = own.run(whole)
            whole = Copies(by_name, index, known_names, own.names).run(whole)
            whole = own.restored(whole)
            whole = with_last_turns(turns.with_single_turns(whole))
            same = SameTurns(by_name, index)
            whole = same.run(whole)
            indices |= cascades.peeled | turns.counters | same.counters
            counted = Counting(by_name, index, cascades.begun).run(whole)
            counted = with_promoted_sums(without_empty_loops(counted))
            counted = without_guards(counted, by_name, often)
            body = Polisher(is_float).run(without_unread(counted))
            body = with_one_counter(with_whole_loops(body), by_name)
            body = with_kept_sums(without_unread(body))
            if not program.lift.in_order:
                body = with_strides(body, set(indices), by_name, index)
        if not self.options.careful:
            body = with_continues(body, set(flags))
        if self.options.order == "free":
            body = nested(body)
        body = with_half_pairs(with_single_fetches(body, by_name))
        if PIPELINES in self.headers:
            body = without_unread(body)  # what addresses were computed by
        known = {v.name for v in program.parameters} | taken
        body = Declarer(by_name, known).run(body)
        if not self.options.careful:
            body = with_wide_variables(with_plain_sums(body, by_name), by_name)
            body = with_loop_starts(with_first_remainders(body))
            body = over_indices(body) if self.options.roll else body
            each = self.options.order != "free"
            body = with_row_pointers(body, places.steps, by_name, known, each=each)
        if self.options.keep_loops:
            body = tuple(bottom_up(statement, _keeping(indices)) for statement in body)
        body = (*self.variables.inside(places.used), *body)
        if not self.options.careful:
            body = with_matrices(with_shared_pointers(body, by_name.keys() | taken))
        parameters = tuple(n.Parameter(types[v], v.name) for v in program.parameters)
        parameters, body = typed_objects(parameters, body, by_name.keys() | taken)
        if not self.options.careful:
            rows = zip(parameters, declared_rows(function.name), strict=False)
            shapes = {p.name: shape for p, shape in rows if shape}
            body, parameters = with_rows(body, parameters, shapes, by_name)
        returns: Type = types[program.result] if program.result is not None else VOID
        # Nothing may be left that holds itself: it would have to be looked for among all there is.
        emitter.places = None
        forget()
        signature = self.signatures.functions[function.name]
        qualifiers = launch_attributes(function) if function.is_entry else ("__noinline__",)
        return n.Function(
            signature.name, parameters, body, returns, function.is_entry, qualifiers, linkage="C",
            launch_bounds=launch_bounds(function),
        )  # fmt: skip

    def _flow(self, program: Program, emitter: Emitter, statements: Statements) -> Flow:
        blocks: dict[int, FlowBlock] = {}
        for number, block in program.flow.blocks.items():
            made: list[n.Statement] = []
            for step in block.statements:
                made += statements.write(step)
            exit = block.exit
            if isinstance(exit, Branch):
                exit = Branch(emitter.condition(exit.condition), exit.then, exit.otherwise)
            elif isinstance(exit, Select):
                exit = Select(emitter.typed(exit.value, INT), exit.targets)
            blocks[number] = FlowBlock(made, exit, block.line)
        return Flow(blocks)

    # ---- the module ----------------------------------------------------------------------

    def run(self) -> n.CudaModule:
        """Everything in the module that has a body."""
        functions = [f for f in self.module.functions if f.has_body]
        ordered = _callees_first(functions, self.scopes)
        self.variables.find_tables()
        self.variables.common = shared_by_several(self.signatures, functions)
        made, unnamed = still_used([self.function(f) for f in ordered], ordered)
        structs = self.types.structs
        halves = half_structs(structs)
        made = [with_volatile_pointers(with_plain_halves(f, halves)) for f in made]
        if not self.options.careful:
            made = [with_volatile_variables(f) for f in made]
        alone = self.variables.alone()
        made = [with_single(f, alone) for f in made]
        early = bool(self.variables.tables)
        first = prototypes(self.signatures, made, early)
        if halves or len(made) < len(ordered):
            text = print_module(n.CudaModule((*first, *made)))
            structs = [s for s in structs if s.name in text]
        items: list[n.StructDefinition | n.Declare | n.Function] = [*structs]
        variables = [v for v in self.variables.outside() if v.name not in unnamed]
        # Tables of functions name these; else variables come first.
        items += [*first, *self.variables.tables, *variables] if early else [*variables, *first]
        called = {x.function for f in made for s in f.body or () for x in s.walk()
                  if isinstance(x, n.Call)}  # fmt: skip
        used = {name: one for name, one in self.helpers.items() if name in called}
        items += helper_functions(used, self.converts & called)
        items += made
        options = (*self.flags.options, *([WIDE] if self.wide else []))
        headers = self.headers | _headers_of(made)
        return n.CudaModule(tuple(items), tuple(sorted(headers)), options)


def _headers_of(functions: list[n.Function]) -> set[str]:
    """The headers that declare the types of parameters, which may be used for nothing else."""
    found: set[str] = set()
    for function in functions:
        for parameter in function.parameters:
            type = parameter.type
            while isinstance(type, Pointer):
                type = type.target
            element = type.element if isinstance(type, Vector) else type
            if element in _HALF_TYPES:
                found.add(HALF_HEADERS[_HALF_TYPES[element]])
    return found


def _keeping(rolled: set[str]) -> Callable[[n.Node], n.Node]:
    """What tells the compiler to leave loops alone, but those that count with some indices."""

    def kept(node: n.Node) -> n.Node:
        match node:
            case n.For(step=n.Assign(n.Name(name=index))) if index in rolled:
                return node
            case n.For() | n.While() | n.DoWhile():
                return replace(node, unroll=1)
        return node

    return kept


def _indices() -> Iterator[str]:
    yield from ("k", "l", "m", "t", "q")
    for number in count(1):
        yield f"k{number}"


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in count(1):
        yield f"{name}{number}"


def _callees_first(functions: list[Function], scopes: Scopes) -> list[Function]:
    by_name = {f.name: f for f in functions}
    order: list[Function] = []
    state: dict[str, int] = {}

    def visit(function: Function) -> None:
        state[function.name] = 1
        for instruction in function.instructions:
            if instruction.name == "call":
                for operand in instruction.operands:
                    known = operand.kind == "Name" and operand.text in by_name
                    if known and operand.text not in state:
                        visit(by_name[operand.text])
        order.append(function)

    for function in functions:
        if function.name not in state:
            visit(function)
    return order


def _without_last_return(body: tuple[n.Statement, ...]) -> tuple[n.Statement, ...]:
    while body and body[-1] == n.Return():
        body = body[:-1]
    if body and isinstance(body[-1], n.If):
        last = body[-1]
        then = _without_last_return(last.then)
        otherwise = _without_last_return(last.otherwise)
        if (then, otherwise) != (last.then, last.otherwise) and (then or otherwise):
            return (*body[:-1], n.If(last.condition, then, otherwise)) if then else body
    return body


def compile_flags(module: Module) -> Flags:
    """The options to compile a module with; of two that it allows, those that say it shorter.

    >>> import ptxkit
    >>> source = "__global__ void k(float *x) { x[0] = %s(x[0]); }"
    >>> for function in ("expf", "__expf"):
    ...     m = ptxkit.compile_cuda(source % function, options=("-ftz=true",))
    ...     print(*compile_flags(m).options)
    -ftz=true
    -use_fast_math
    """
    found = shown_flags(module)
    if len(found) == 1:
        return found[0]

    def length(flags: Flags) -> int:
        tree = lift_module(module, Options(flags=flags))
        return len(print_module(replace(tree, options=())))

    return min(found, key=length)


@deeply
def lift_module(module: Module, options: Options | None = None) -> n.CudaModule:
    """Everything in a module that has a body, as CUDA C++."""
    if options is None or not options.careful:
        module = with_written_tables(with_own_arrays(module))
    return ModuleLifter(module, options).run()
