"""A function of PTX as a graph of blocks of C++ statements."""

from __future__ import annotations

from dataclasses import dataclass

from ptxkit.cuda import nodes as n
from ptxkit.cuda.types import Type
from ptxkit.decompiler.lift.context import C_TYPES, Lift, NotLiftedError
from ptxkit.decompiler.lift.flow import Branch, Exit, Flow, FlowBlock, Jump, Leave, Select
from ptxkit.decompiler.lift.instructions import lift_instruction
from ptxkit.decompiler.lift.webs import find_webs
from ptxkit.syntax import Function, Instruction, Module, Scopes
from ptxkit.syntax.graph import BasicBlock, ControlFlowGraph


@dataclass(slots=True)
class Lifted:
    """A function's graph, and the types of its variables."""

    flow: Flow
    types: dict[str, Type]
    parameters: list[str]
    result: str | None
    lift: Lift


def lift_function(module: Module, function: Function, scopes: Scopes) -> Lifted:
    """Lift one function, twice: the first time only to see how variables are used."""
    graph = ControlFlowGraph.of(function)
    webs = find_webs(graph, scopes)
    lift = Lift(module, function, scopes, webs)
    parameters = [lift.slot(p) for p in function.parameters]
    results = [lift.slot(p) for p in function.return_parameters]
    if len(results) > 1:
        raise NotLiftedError("more than one result")
    for _ in range(2):
        for web in webs.all:
            lift.types.setdefault(lift.name_of(web), C_TYPES.get(web.type, C_TYPES["b32"]))
        flow = _flow(lift, graph, results[0] if results else None)
        lift.decide()
    # Types are settled: lift for good.
    flow = _flow(lift, graph, results[0] if results else None)
    for name, parameter in zip(parameters, function.parameters, strict=True):
        lift.types.setdefault(name, C_TYPES.get(parameter.type, C_TYPES["b64"]))
    return Lifted(flow, lift.types, parameters, results[0] if results else None, lift)


def _flow(lift: Lift, graph: ControlFlowGraph, result: str | None) -> Flow:
    lift.open_slots.clear()
    lift.fresh = 0
    blocks = {block.index: _block(lift, graph, block, result) for block in graph.reachable()}
    entry = graph.entry.index
    if entry != 0:
        blocks[0] = FlowBlock([], Jump(entry))
    return Flow(blocks)


def _block(lift: Lift, graph: ControlFlowGraph, block: BasicBlock, result: str | None) -> FlowBlock:
    statements: list[n.Statement] = []
    exit: Exit | None = None
    for instruction in block.instructions:
        if instruction.name in ("bra", "brx", "ret", "exit"):
            exit = _exit(lift, graph, block, instruction, statements, result)
        else:
            statements += lift_instruction(lift, instruction)
            if instruction.name == "trap" and instruction.guard is None:
                exit = Leave()
    if exit is None:
        following = block.successors
        exit = Jump(following[0].index) if following else Leave()
        if not following and result is not None:
            statements.append(n.Return(n.Name(result)))
    return FlowBlock(statements, exit)


def _exit(
    lift: Lift,
    graph: ControlFlowGraph,
    block: BasicBlock,
    node: Instruction,
    statements: list[n.Statement],
    result: str | None,
) -> Exit:
    """Where control goes after a block's last instruction."""
    if node.name in ("ret", "exit"):
        leave = n.Return(n.Name(result) if result is not None else None)
        if node.name == "exit" and not lift.function.is_entry:
            statements.append(n.Asm("exit;"))
        if node.guard is None:
            statements.append(leave)
            return Leave()
        statements.append(n.If(_guard(lift, node), (leave,)))
        return Jump(block.successors[-1].index) if block.successors else Leave()
    if node.name == "brx":
        targets = tuple(s.index for s in _table(lift, graph, node))
        return Select(lift.read(node.operands[0], "u32"), targets)
    target = _target(graph, block, node)
    if node.guard is None:
        return Jump(target.index)
    other = next((s for s in block.successors if s is not target), target)
    return Branch(_guard(lift, node), target.index, other.index)


def _guard(lift: Lift, node: Instruction) -> n.Expression:
    assert node.guard is not None
    condition = lift.read(node.guard.predicate, "pred")
    return n.Unary("!", condition) if node.guard.negated else condition


def _target(graph: ControlFlowGraph, block: BasicBlock, node: Instruction) -> BasicBlock:
    label = node.operands[0].text
    for successor in block.successors:
        if label in successor.labels:
            return successor
    raise NotLiftedError(f"the label '{label}'")


def _table(lift: Lift, graph: ControlFlowGraph, node: Instruction) -> list[BasicBlock]:
    declaration = lift.scopes.resolve(node.operands[1])
    table = declaration.node.next_sibling if declaration is not None else None
    if table is None or table.kind != "BranchTargets":
        raise NotLiftedError("this table of targets")
    by_label = {label: block for block in graph.blocks for label in block.labels}
    return [by_label[name.text] for name in table.children]
