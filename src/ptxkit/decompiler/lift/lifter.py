"""A module of PTX as CUDA C++: the symbolic lifter from end to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from math import prod

from ptxkit.collection import no_collection
from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.printer import print_module
from ptxkit.cuda.types import BOOL, INT, SCALARS, VOID, Array, Pointer, Scalar, Struct, Type
from ptxkit.decompiler.lift.cascade import Cascades
from ptxkit.decompiler.lift.context import Intrinsic
from ptxkit.decompiler.lift.contraction import swallowed
from ptxkit.decompiler.lift.conversions import C_TYPES
from ptxkit.decompiler.lift.copies import Copies
from ptxkit.decompiler.lift.counting import Counting
from ptxkit.decompiler.lift.declare import Declarer
from ptxkit.decompiler.lift.declared import agreed
from ptxkit.decompiler.lift.emit import Emitter
from ptxkit.decompiler.lift.flags import Flags, shown_flags
from ptxkit.decompiler.lift.flow import Branch, Flow, FlowBlock, Select
from ptxkit.decompiler.lift.function import Program, lift_function
from ptxkit.decompiler.lift.guards import without_guards
from ptxkit.decompiler.lift.kinds import Kinds, vector_type
from ptxkit.decompiler.lift.mathlib.calls import restore_calls
from ptxkit.decompiler.lift.mathlib.miner import architecture
from ptxkit.decompiler.lift.mathlib.unused import still_used
from ptxkit.decompiler.lift.matrices import with_matrices
from ptxkit.decompiler.lift.names import Namer
from ptxkit.decompiler.lift.nesting import nested
from ptxkit.decompiler.lift.order import Order
from ptxkit.decompiler.lift.places import Places
from ptxkit.decompiler.lift.polish import Polisher
from ptxkit.decompiler.lift.prelude import (
    helper_functions,
    holds_addresses,
    initial_value,
    prototypes,
    table_of_addresses,
)
from ptxkit.decompiler.lift.printing import Texts, restore_printf
from ptxkit.decompiler.lift.rewrite import bottom_up, rebuilt
from ptxkit.decompiler.lift.roll import rolled
from ptxkit.decompiler.lift.signatures import KNOWN, Memory, Signatures
from ptxkit.decompiler.lift.statements import Statements
from ptxkit.decompiler.lift.structs import Layout
from ptxkit.decompiler.lift.structure import structured
from ptxkit.decompiler.lift.substitute import Substitution
from ptxkit.decompiler.lift.values import Value, Variable, forget, parts_of
from ptxkit.run.globals import ModuleMemory
from ptxkit.syntax import Function, Module, Scopes
from ptxkit.syntax.debug import debug_names
from ptxkit.syntax.nodes import FunctionDirective


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
    roll: bool = False
    """Propose unrolled loops as they were written; the verifier has to agree."""
    math: bool = True
    """Make calls of what a compiler made of functions of the math library."""
    keep_loops: bool = False
    """Tell the compiler to unroll no loop: what PTX still has as a loop stays one."""
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
        self.arrays: dict[str, Type] = {}
        self.helpers: dict[str, Intrinsic] = {}
        self.converts: set[str] = set()
        self.headers: set[str] = set()
        self.structs: list[n.StructDefinition] = []
        self.layouts: dict[tuple[str, str], Layout] = {}
        self.single: set[str] = set()
        """Variables that are declared as no array."""
        self.common: set[str] = set()
        """Shared variables of more than one function: declared outside of them."""
        self.tables: list[n.StructDefinition] = []
        """Structures of variables that hold addresses."""
        self.registers: dict[str, dict[str, str]] = {}
        """For each function the register that a variable stands for, by the variable's name."""

    # ---- one function --------------------------------------------------------------------

    @no_collection()
    def function(self, function: Function) -> n.Function:
        """One function."""
        program = lift_function(self.module, function, self.scopes, self.signatures, self.flags)
        if self.options.math:
            restore_calls(program, self.arch)
        Substitution(program, self.options.order, exact=self.options.exact).run()
        if "vprintf" in self.signatures.functions:
            restore_printf(program, self.texts)
        kinds = Kinds(program)
        kinds.survey()
        types, layouts = self._types(program, kinds)
        taken = {s.name for s in self.signatures.functions.values()} | set(self.signatures.by_name)
        Namer(program, types, taken, self.names.get(function.name)).run()
        self.registers[function.name] = {v.name: v.register for v in program.variables}
        careful, exact = self.options.careful, self.options.exact
        emitter = Emitter(program.lift, kinds, types, careful=careful, exact=exact)
        emitter.products, emitter.kept = _products(program)
        emitter.helpers = self.helpers
        if not KNOWN.keys().isdisjoint(self.signatures.functions):
            emitter.texts = self.texts
        emitter.converts, emitter.headers = self.converts, self.headers
        places = Places(emitter, self.arrays, layouts)
        emitter.places = places
        places.wide = self.options.order != "free"
        self._restrict(program, kinds, types, places)
        statements = Statements(program, emitter, places)
        flow = self._flow(program, emitter, statements)
        by_name = _Names({v.name: t for v, t in types.items()})

        def is_float(node: n.Expression) -> bool:
            found = infer(node, by_name)
            return isinstance(found, Scalar) and found.is_float

        flags: list[str] = []

        def fresh() -> str:
            flags.append(f"skip{len(flags) or ''}")
            by_name[flags[-1]] = BOOL
            return flags[-1]

        body = structured(flow, is_float, fresh=fresh)
        body = _without_last_return(body)
        body = Polisher(is_float).run(body)
        if self.options.roll:
            names = {*by_name, *taken}

            def index(wished: str = "") -> str:
                wish = next(w for w in chain([wished], _indices()) if w and w not in names)
                names.add(wish)
                return wish

            whole = Copies(by_name, index).run(rolled(body, Cascades(by_name, index)))
            counted = Counting(by_name, index).run(whole)
            if counted != body:
                body = Polisher(is_float).run(without_guards(counted, by_name))
        if self.options.order == "free":
            body = nested(body)
        known = {v.name for v in program.parameters} | taken
        body = Declarer(by_name, known).run(body)
        if self.options.keep_loops:
            body = tuple(bottom_up(statement, _kept_loop) for statement in body)
        own = [m for m in self.signatures.memory.values() if m.name in places.used]
        body = (*self._declarations(own, function), *body)
        if not self.options.careful:
            body = with_matrices(body)
        parameters = tuple(n.Parameter(types[v], v.name) for v in program.parameters)
        returns: Type = types[program.result] if program.result is not None else VOID
        # Nothing may be left that holds itself: it would have to be looked for among all there is.
        emitter.places = None
        forget()
        signature = self.signatures.functions[function.name]
        qualifiers = () if function.is_entry else ("__noinline__",)
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
            blocks[number] = FlowBlock(made, exit)
        return Flow(blocks)

    # ---- types ---------------------------------------------------------------------------

    def _types(
        self, program: Program, kinds: Kinds
    ) -> tuple[dict[Variable, Type], dict[Variable, Layout]]:
        types: dict[Variable, Type] = {}
        layouts: dict[Variable, Layout] = {}
        calls = _call_slots(program)
        function = program.lift.function
        signature = self.signatures.functions[function.name]
        for variable, node in zip(program.parameters, function.parameters, strict=True):
            if variable not in kinds.cells and node.is_pointer:
                kinds.cell(variable).pointer = True  # nobody reads it, but PTX says so
        for variable in program.variables:
            if variable.declared == "struct":
                layouts[variable] = self._layout(program, kinds, variable, calls)
                types[variable] = layouts[variable].type
            elif variable.declared == "vector":
                types[variable] = self._vector(kinds, variable)
            else:
                types[variable] = kinds.type_of(kinds.cell(variable), variable.width)
        for variable, declared in zip(program.parameters, kinds.declared, strict=False):
            used = kinds.cell(variable).used
            types[variable] = agreed(types[variable], declared, used=used)
        for variable, slot in zip(program.parameters, signature.parameters, strict=True):
            slot.c_type = types[variable]
        if program.result is not None:
            slot = signature.results[0]
            slot.c_type = types[program.result]
        for variable, (callee, place) in calls.items():
            if callee not in self.signatures.functions:
                continue
            other = self.signatures.functions[callee]
            slots = other.results if place < 0 else other.parameters
            if variable.declared == "struct":
                if max(place, 0) < len(slots) and slots[max(place, 0)].c_type is None:
                    # Of a function that is defined elsewhere.
                    slots[max(place, 0)].c_type = types[variable]
                continue
            chosen = slots[max(place, 0)].c_type if max(place, 0) < len(slots) else None
            if chosen is not None and not isinstance(chosen, Pointer):
                types[variable] = chosen
        return types, layouts

    def _vector(self, kinds: Kinds, variable: Variable) -> Type:
        count = 4 if variable.register else 0
        cell = kinds.cell(("component", variable))
        width, count = self._shape(kinds.program, variable)
        made = vector_type(kinds.type_of(cell, width), count)
        if made is None or not isinstance(kinds.type_of(cell, width), Scalar):
            made = vector_type(C_TYPES[f"u{width}"], count)
        assert made is not None
        return made

    def _shape(self, program: Program, variable: Variable) -> tuple[int, int]:
        for block in program.flow.blocks.values():
            for step in block.statements:
                if step.kind == "set" and step.targets[0].variable is variable:
                    value = step.args[0]
                    if value.op == "load":
                        return value.data.width, value.data.count
        return 32, 4

    def _layout(
        self,
        program: Program,
        kinds: Kinds,
        variable: Variable,
        calls: dict[Variable, tuple[str, int]],
    ) -> Layout:
        function = program.lift.function.name
        if variable in calls:
            callee, place = calls[variable]
            key = (callee, str(place))
        elif variable.role == "parameter":
            key = (function, str(program.parameters.index(variable)))
        elif variable.role == "result":
            key = (function, "-1")
        else:
            key = (function, variable.register + str(variable.number))
        known = self.layouts.get(key)
        if known is not None:
            return known
        name = self._struct_name(key)
        known = self.layouts[key] = Layout(name, variable.width // 8, variable.alignment)
        wanted: dict[int, Type] = {}
        if self.signatures.functions.get(key[0]) is None or self._is_kernel(key[0]):
            for cell_key, cell in kinds.cells.items():
                if isinstance(cell_key, tuple) and cell_key[:2] == ("field", variable):
                    _, _, offset, width = cell_key
                    if offset in wanted:
                        wanted = {}
                        break
                    wanted[offset] = kinds.type_of(cell, width)
        known.give_fields(wanted)
        self.structs.append(known.definition())
        return known

    def _is_kernel(self, name: str) -> bool:
        signature = self.signatures.functions.get(name)
        return signature is not None and signature.kernel

    def _struct_name(self, key: tuple[str, str]) -> str:
        number = len(self.layouts)
        return f"Struct{number}"

    def _restrict(
        self, program: Program, kinds: Kinds, types: dict[Variable, Type], places: Places
    ) -> None:
        """``const`` and ``__restrict__`` for pointers that are only read."""
        plain: set[Variable] = set()
        constant: set[Variable] = set()
        seen: set[Value] = set()
        for block in program.flow.blocks.values():
            for step in block.statements:
                for part in parts_of(step.args, seen):
                    if part.op == "load":
                        base = kinds.base(part.args[0])
                        if base is not None and base.op == "var":
                            variable = base.data.variable
                            (constant if part.data.constant else plain).add(variable)
        for variable in program.parameters:
            type = types[variable]
            if isinstance(type, Pointer) and type.const:
                restrict = variable in constant and variable not in plain
                if restrict:
                    places.restricted.add(variable)
                types[variable] = Pointer(type.target, const=True, restrict=restrict)

    # ---- variables of memory -------------------------------------------------------------

    def _declarations(self, own: list[Memory], function: Function) -> list[n.Statement]:
        made: list[n.Statement] = []
        for memory in own:
            if memory.name in self.common:
                continue
            if memory.space not in ("shared", "local"):
                continue
            made.append(self._declaration(memory))
        return made

    def _declaration(self, memory: Memory) -> n.Declare:
        type = self.arrays[memory.name]
        space = memory.space
        where = {"shared": "shared", "local": "", "global": "device", "const": "constant"}[space]
        if space == "shared" and not memory.size:
            where = "extern shared"
        assert isinstance(type, Array)
        natural = 8 if isinstance(type.element, Struct | Array) else type.element.size
        align = memory.alignment if memory.alignment > natural else 0
        value = None
        if memory.node.initializer is not None:
            value = initial_value(memory, type, self.contents, self.signatures)
        if memory.name in self.single:
            return n.Declare(type.element, memory.name, value, space=where, alignment=align)
        return n.Declare(type, memory.name, value, space=where, alignment=align)

    @cached_property
    def contents(self) -> ModuleMemory:
        """What variables hold at the start."""
        return ModuleMemory(self.module)

    @cached_property
    def texts(self) -> Texts:
        """The texts that stood in the source."""
        return Texts(self.contents, self.signatures)

    def _single_variables(self) -> set[str]:
        """Variables outside of functions that are no arrays; declared as such from now on."""
        found: set[str] = set()
        for memory in self.signatures.memory.values():
            type = self.arrays.get(memory.name)
            single = isinstance(type, Array) and type.shape == (1,)
            if single and memory.space in ("global", "const") and not memory.node.dimensions:
                assert isinstance(type, Array)
                if not isinstance(type.element, Struct | Array):
                    found.add(memory.name)
        self.single = found
        return found

    def _address_tables(self) -> None:
        """Variables that hold addresses are arrays of pointers, whatever reads them."""
        for memory in self.signatures.memory.values():
            if memory.node.initializer is None or not holds_addresses(memory, self.contents):
                continue
            table = table_of_addresses(memory, self.signatures)
            self.tables.append(table)
            self.arrays[memory.name] = Array(Struct(table.name), (1,))

    def _variables(self) -> list[n.Declare]:
        """The variables outside of functions that are used, what they point to before them."""
        by_symbol = {m.node.name: m for m in self.signatures.memory.values()}
        made: dict[str, n.Declare] = {}

        def declare(memory: Memory) -> None:
            if memory.name in made:
                return
            if memory.node.initializer is not None:
                for other in self.contents.references.get(memory.node.name, ()):
                    if other in by_symbol and other != memory.node.name:
                        declare(by_symbol[other])
            if memory.name not in self.arrays:
                self.arrays[memory.name] = Array(SCALARS["uchar"], (memory.size,))
            made[memory.name] = self._declaration(memory)

        for memory in self.signatures.memory.values():
            outside = memory.space in ("global", "const") or memory.name in self.common
            if memory.name in self.arrays and outside:
                declare(memory)
        return list(made.values())

    # ---- the module ----------------------------------------------------------------------

    def run(self) -> n.CudaModule:
        """Everything in the module that has a body."""
        functions = [f for f in self.module.functions if f.has_body]
        ordered = _callees_first(functions, self.scopes)
        self._address_tables()
        self.common = _shared_by_several(self.signatures, functions)
        made, unnamed = still_used([self.function(f) for f in ordered], ordered)
        if len(made) < len(ordered):
            text = print_module(n.CudaModule(tuple(made)))
            self.structs = [s for s in self.structs if s.name in text]
        alone = self._single_variables()
        made = [_with_single(f, alone) for f in made]
        items: list[n.StructDefinition | n.Declare | n.Function] = [*self.structs]
        early = bool(self.tables)
        first = prototypes(self.signatures, made, early)
        variables = [v for v in self._variables() if v.name not in unnamed]
        # Tables of functions name these; else variables come first.
        items += [*first, *self.tables, *variables] if early else [*variables, *first]
        items += helper_functions(self.helpers, self.converts)
        items += made
        return n.CudaModule(tuple(items), tuple(sorted(self.headers)), self.flags.options)


def _with_single(function: n.Function, names: set[str]) -> n.Function:
    """A function with variables that are no arrays used as what they are."""
    if not names:
        return function

    def change(node: n.Node) -> n.Node:
        match node:
            case n.Index(n.Name(name=name), n.Literal(value=0)) if name in names:
                return n.Name(name)
            case n.Name(name=name) if name in names:
                return n.Unary("&", node)
        return rebuilt(node, change)

    return rebuilt(function, change)


def _kept_loop(node: n.Node) -> n.Node:
    return replace(node, unroll=1) if isinstance(node, n.For | n.While | n.DoWhile) else node


def _indices() -> Iterator[str]:
    yield from ("k", "l", "m", "t", "q")
    for number in count(1):
        yield f"k{number}"


def _products(program: Program) -> tuple[set[Variable], set[Variable]]:
    """Variables that hold a product; and those of them that are added to something."""
    products: set[Variable] = set()
    added: set[Variable] = set()
    subtracted: set[Variable] = set()
    seen: set[Value] = set()
    sets: list[tuple[Variable, Value]] = []
    for block in program.flow.blocks.values():
        for step in block.statements:
            for part in parts_of(step.args, seen):
                if part.op in ("fadd", "fsub"):
                    for place in swallowed(part):
                        argument = part.args[place]
                        inner = argument.args[0] if argument.op == "fneg" else argument
                        if inner.op == "var":
                            (added if part.op == "fadd" else subtracted).add(inner.data.variable)
            if step.kind == "set":
                sets.append((step.targets[0].variable, step.args[0]))
    changed = True
    while changed:
        changed = False
        for variable, value in sets:
            if variable not in products and _is_product(value, products):
                products.add(variable)
                changed = True
    scaled = {v for v, value in sets if value.op == "fmul" and value.args[1].op == "const"}
    return products, products & (added | (subtracted & scaled))


def _is_product(value: Value, products: set[Variable]) -> bool:
    if value.op in ("fneg", "select"):
        return any(_is_product(a, products) for a in value.args)
    return value.op == "fmul" or (value.op == "var" and value.data.variable in products)


def _call_slots(program: Program) -> dict[Variable, tuple[str, int]]:
    """Variables passed to or given by a direct call: the function, and which parameter."""
    found: dict[Variable, tuple[str, int]] = {}
    for block in program.flow.blocks.values():
        for step in block.statements:
            for value in step.args:
                if value.op != "function" or value.data[0] != "direct":
                    continue
                for place, argument in enumerate(value.args):
                    if argument.op == "whole":
                        found[argument.data] = (value.data[1], place)
                    elif argument.op == "var":
                        variable = argument.data.variable
                        if variable.role == "argument":
                            found[variable] = (value.data[1], place)
                if value.data[2] is not None:
                    found[value.data[2]] = (value.data[1], -1)
    return found


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


def _shared_by_several(signatures: Signatures, functions: list[Function]) -> set[str]:
    known = {m.node.name: m for m in signatures.memory.values() if m.space == "shared"}
    users: dict[str, int] = {}
    if not known:
        return set()
    for function in functions:
        for name in {x.text for x in function.find("Name")} & set(known):
            users[name] = users.get(name, 0) + 1
    return {known[n].name for n, count in users.items() if count > 1 and known[n].size}


def launch_bounds(function: Function) -> tuple[int, ...]:
    """``__launch_bounds__`` from ``.maxntid`` or ``.reqntid``, and ``.minnctapersm``."""
    found = {d.name: d.values for d in function.directives if isinstance(d, FunctionDirective)}
    sizes = found.get(".maxntid") or found.get(".reqntid")
    if not sizes:
        return ()
    threads = prod(map(int, sizes))
    least = found.get(".minnctapersm")
    return (threads, int(least[0])) if least else (threads,)


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


def lift_module(module: Module, options: Options | None = None) -> n.CudaModule:
    """Everything in a module that has a body, as CUDA C++."""
    return ModuleLifter(module, options).run()
