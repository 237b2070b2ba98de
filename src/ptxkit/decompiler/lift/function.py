"""A function of PTX as a graph of blocks of steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from ptxkit.decompiler.lift.algebra import negated
from ptxkit.decompiler.lift.context import Lift, NotLiftedError
from ptxkit.decompiler.lift.divisions import undo_short_divisions
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.lift.flow import Branch, Exit, Flow, FlowBlock, Jump, Leave, Select
from ptxkit.decompiler.lift.instructions import lift_instruction
from ptxkit.decompiler.lift.pieces import Piece, pieces_of
from ptxkit.decompiler.lift.signatures import Signatures, slot_of
from ptxkit.decompiler.lift.ssa import VersionFinder
from ptxkit.decompiler.lift.undeclared import refuse_undeclared
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, forget, raw, var
from ptxkit.errors import PtxkitError
from ptxkit.isa.targets import Target
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Declarator, Function, Instruction, Module, Scopes
from ptxkit.syntax import Variable as Declaration
from ptxkit.syntax.graph import ControlFlowGraph

#: From this architecture on NVIDIA's compilers are built on a newer LLVM.
_NEWER = 100


@dataclass(slots=True)
class Program:
    """A function's graph of steps, its variables and parameters."""

    lift: Lift
    flow: Flow
    variables: list[Variable]
    parameters: list[Variable]
    result: Variable | None
    meeting: dict[int, list[Definition]] = field(default_factory=dict)
    pragmas: set[int] = field(default_factory=set)
    """Heads of loops that the compiler was told not to unroll."""


def lift_function(
    module: Module, function: Function, scopes: Scopes, signatures: Signatures, flags: Flags
) -> Program:
    """Lift one function to steps."""
    refuse_undeclared(function, scopes)
    for parameter in (*function.parameters, *function.return_parameters):
        if parameter.space == "reg":
            reason = NotLiftedError(f"a function with a register '{parameter.name}' as parameter")
            raise reason.at(module.filename, parameter)
    forget()
    graph = ControlFlowGraph.of(function)
    pieces, labels = pieces_of(graph)
    finder = VersionFinder(pieces, scopes)
    versions = finder.run()
    lift = Lift(module, function, scopes, versions, signatures, flags)
    lift.variables = versions.variables
    lift.contracts = flags.fuse
    lift.in_order = _is_newer(module)
    parameters = [_slot(lift, p, "parameter") for p in function.parameters]
    results = [_slot(lift, p, "result") for p in function.return_parameters]
    for variable in function.find("Variable"):
        if isinstance(variable, Declaration) and variable.space == "param":
            for declarator in variable.declarators:
                _slot(lift, declarator, "argument")
    if len(results) > 1:
        raise NotLiftedError("more than one result")
    result = results[0] if results else None
    if result is not None:
        result.definitions = 2
    lift.used_definitions = {id(d) for d in versions.reads.values()}
    reached = set(finder.tree.order)
    blocks = {
        p.index: _block(lift, pieces, p, labels, result) for p in pieces if p.index in reached
    }
    undo_short_divisions(blocks, lift.pointers)
    return Program(lift, Flow(blocks), lift.variables, parameters, result, versions.meeting)


def _is_newer(module: Module) -> bool:
    """Whether a module is of the newer of the two compilers that there are, by architecture."""
    try:
        return Target.parse(module.target or "").number >= _NEWER
    except PtxkitError:
        return False


def _slot(lift: Lift, node: object, role: str) -> Variable:
    assert isinstance(node, Declarator) or hasattr(node, "space")
    slot = slot_of(node)  # type: ignore[arg-type]
    if slot.size:
        variable = Variable(len(lift.variables), slot.size * 8, "struct", slot.name)
    else:
        width = SCALAR_TYPES[slot.type].width if slot.type in SCALAR_TYPES else 64
        variable = Variable(len(lift.variables), width, slot.type, slot.name)
    variable.role, variable.alignment = role, slot.alignment
    lift.variables.append(variable)
    lift.slots[node.index] = variable  # type: ignore[attr-defined]
    return variable


def _block(
    lift: Lift, pieces: list[Piece], piece: Piece, labels: dict[str, int], result: Variable | None
) -> FlowBlock:
    lift.steps = []
    lift.block = piece.index
    for slot in [s for s in lift.slot_versions if s.role != "parameter"]:
        del lift.slot_versions[slot]
    for instruction in piece.instructions:
        lift_instruction(lift, instruction)
    exit = _exit(lift, piece, labels, result)
    first = next(iter(piece.instructions), piece.last)
    return FlowBlock(lift.steps, exit, first.line if first is not None else 0)


def _exit(lift: Lift, piece: Piece, labels: dict[str, int], result: Variable | None) -> Exit:
    node, following = piece.last, piece.successors
    if node is None:
        if following:
            return Jump(following[0])
        if not (piece.instructions and piece.instructions[-1].name == "trap"):
            _leave(lift, result)
        return Leave()
    lift.line = node.line
    if node.name == "bra":
        if len(following) < 2:
            return Jump(following[0])
        return Branch(_guard(lift, node), following[0], following[1])
    if node.name in ("ret", "exit"):
        if len(following) >= 1 and node.guard is not None:
            if len(following) == 1:
                _leave(lift, result)
                return Leave()
            return Branch(_guard(lift, node), following[0], following[1])
        if node.name == "exit" and not lift.function.is_entry:
            lift.steps.append(Step("asm", [], [], ("exit;", [], [], 0), lift.line))
        _leave(lift, result)
        return Leave()
    if node.name == "brx":
        targets = tuple(labels[name] for name in _table(lift, node))
        return Select(lift.read(node.operands[0], "u32"), targets)
    return Branch(_guard(lift, node), following[0], following[1])


def _leave(lift: Lift, result: Variable | None) -> None:
    value: list[Value] = []
    if result is not None:
        if result.declared == "struct":
            value = [raw("whole", result.width, (), result)]
        else:
            known = lift.slot_versions.get(result)
            value = [var(known if known is not None else Definition(result, lift.block))]
    lift.steps.append(Step("return", [], value, line=lift.line))


def _guard(lift: Lift, node: Instruction) -> Value:
    assert node.guard is not None
    condition = lift.read(node.guard.predicate, "pred")
    return negated(condition) if node.guard.negated else condition


def _table(lift: Lift, node: Instruction) -> list[str]:
    declaration = lift.scopes.resolve(node.operands[1])
    table = declaration.node.next_sibling if declaration is not None else None
    if table is None or table.kind != "BranchTargets":
        raise NotLiftedError("this table of targets")
    return [name.text for name in table.children]
