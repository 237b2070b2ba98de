"""A module of PTX as CUDA C++: the symbolic lifter from end to end."""

from __future__ import annotations

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import VOID, Array, Pointer, Type
from ptxkit.decompiler.lift.declare import Declarer
from ptxkit.decompiler.lift.flow import Branch, Select
from ptxkit.decompiler.lift.function import Lifted, lift_function
from ptxkit.decompiler.lift.memory import Memory
from ptxkit.decompiler.lift.simplify import Simplifier
from ptxkit.decompiler.lift.structure import structured
from ptxkit.decompiler.lift.substitute import Substitution
from ptxkit.run.layout import variable_size
from ptxkit.syntax import Function, Module, Scopes, Variable


class ModuleLifter:
    """Lifts the functions of one module."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.scopes = Scopes(module)
        self.variables: dict[str, Variable] = {}
        self.shared: dict[str, tuple[str, int, int]] = {}
        """Variables: state space, bytes, alignment."""
        for node in module.walk():
            if isinstance(node, Variable) and node.space in ("shared", "global", "const", "local"):
                for declarator in node.declarators:
                    size, alignment = variable_size(node, declarator)
                    self.shared[declarator.name] = (node.space, size, alignment)
        self.called = frozenset(f.name for f in module.functions)

    def function(self, function: Function) -> n.Function:
        """One function."""
        lifted = lift_function(self.module, function, self.scopes)
        types = lifted.types
        for callee in self.module.functions:
            types.setdefault(callee.name, VOID)
        Substitution(lifted.flow, types, self.called).run()
        simplifier = Simplifier(types)
        self._simplify(lifted, simplifier)
        memory = Memory(types, lifted.parameters, {k: v[0] for k, v in self.shared.items()})
        memory.survey(self._all(lifted))
        used = self._give_types(lifted, memory)
        self._write_memory(lifted, memory)
        self._simplify(lifted, simplifier)
        body = structured(lifted.flow, simplifier.is_float)
        body = _without_last_return(body)
        body = Declarer(types, {*lifted.parameters, *used, *self.called}).run(body)
        body = (*self._shared_declarations(used, types), *body)
        parameters = tuple(n.Parameter(types[name], name) for name in lifted.parameters)
        returns: Type = types[lifted.result] if lifted.result is not None else VOID
        return n.Function(
            function.name, parameters, body, returns, function.is_entry,
            () if function.is_entry else ("__noinline__",), linkage="C",
        )  # fmt: skip

    def _all(self, lifted: Lifted) -> list[n.Node]:
        found: list[n.Node] = []
        for block in lifted.flow.blocks.values():
            found += block.statements
            if isinstance(block.exit, Branch):
                found.append(block.exit.condition)
            elif isinstance(block.exit, Select):
                found.append(block.exit.value)
        return found

    def _simplify(self, lifted: Lifted, simplifier: Simplifier) -> None:
        for block in lifted.flow.blocks.values():
            block.statements = [simplifier.statement(s) for s in block.statements]
            if isinstance(block.exit, Branch):
                condition = simplifier.expression(block.exit.condition)
                block.exit = Branch(condition, block.exit.then, block.exit.otherwise)
            elif isinstance(block.exit, Select):
                block.exit = Select(simplifier.expression(block.exit.value), block.exit.targets)

    def _give_types(self, lifted: Lifted, memory: Memory) -> set[str]:
        """Types of the arrays that the function uses; their names."""
        used: set[str] = set()
        for name in lifted.parameters:
            element = memory.element(name)
            if element is not None:
                lifted.types[name] = Pointer(element, const=name not in memory.stored)
        for name, (_, size, _) in self.shared.items():
            element = memory.element(name)
            if element is not None:
                lifted.types[name] = Array(element, (size // element.size,))
                used.add(name)
        return used

    def _shared_declarations(self, used: set[str], types: dict[str, Type]) -> list[n.Statement]:
        made: list[n.Statement] = []
        for name in sorted(used):
            space, size, _ = self.shared[name]
            if space == "shared":
                where = "shared" if size else "extern shared"
                made.append(n.Declare(types[name], name, space=where))
            elif space == "local":
                made.append(n.Declare(types[name], name))
        return made

    def _write_memory(self, lifted: Lifted, memory: Memory) -> None:
        for block in lifted.flow.blocks.values():
            block.statements = [memory.statement(s) for s in block.statements]  # type: ignore[misc]
            if isinstance(block.exit, Branch):
                condition = memory.statement(block.exit.condition)
                block.exit = Branch(condition, block.exit.then, block.exit.otherwise)  # type: ignore[arg-type]
            elif isinstance(block.exit, Select):
                block.exit = Select(memory.statement(block.exit.value), block.exit.targets)  # type: ignore[arg-type]


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


def lift_module(module: Module) -> n.CudaModule:
    """Everything in a module that has a body."""
    lifter = ModuleLifter(module)
    functions = [f for f in module.functions if f.has_body]
    functions.sort(key=lambda f: f.is_entry)
    return n.CudaModule(tuple(lifter.function(f) for f in functions))
