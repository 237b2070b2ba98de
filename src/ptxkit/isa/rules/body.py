"""Function bodies: names, guards, labels, and every statement in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from ptxkit._native import Node
from ptxkit.isa.reader import INTERNER, ScopeReader
from ptxkit.isa.rules.calls import check_call
from ptxkit.isa.rules.constants import check_constants
from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.instructions import Judge, check_instruction, judge_for
from ptxkit.isa.rules.variables import check_variable
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.syntax import Declaration, Function, Instruction, Label, Name, Variable
from ptxkit.syntax.graph import TERMINATORS
from ptxkit.syntax.scopes import Scope

#: Instructions a compiler puts where control cannot come, to be safe.
_SAFETY = frozenset(("ret", "exit", "trap", "brkpt"))


def check_body(context: Context, function: Function) -> None:
    """Report everything wrong inside one function."""
    body = function.body
    if body is None:
        return
    reader = ScopeReader(context.scopes, function)
    explained: dict[str, tuple[str, str]] = {}
    state = _Flow()
    judge = judge_for(context.version, context.target, context.wide)
    _check_duplicates(context, context.scopes.scope_of(function))
    # Blocks are followed with a list, so that deep nesting needs no deep stack.
    pending: list[tuple[Node, tuple[Node, ...], int]] = [(body, body.children, 0)]
    while pending:
        block, children, at = pending.pop()
        while at < len(children):
            child = children[at]
            at += 1
            if isinstance(child, Instruction):
                _check_one(context, judge, reader, child, state, explained)
            elif child.kind == "Block":
                pending.append((block, children, at))
                pending.append((child, child.children, 0))
                reader.enter(child)
                _check_duplicates(context, context.scopes.scope_of(child))
                break
            elif child.kind == "Label":
                state.labelled = True
            elif isinstance(child, Variable):
                reader.declared()
                check_variable(context, child, in_body=True)
            elif child.kind in ("BranchTargets", "CallTargets"):
                _check_table(context, child)
        else:
            if block is not body:
                reader.leave()
    check_constants(context, body)
    if state.reachable and state.last is not None:
        context.warning(
            state.last, "missing-ret", f"control runs off the end of '{function.name}'",
            "end it with 'ret;'",
        )  # fmt: skip


def check_statements(
    context: Context, function: Function, statements: Sequence[Instruction]
) -> None:
    """Report what is wrong with some instructions, each taken as reachable."""
    explained: dict[str, tuple[str, str]] = {}
    judge = judge_for(context.version, context.target, context.module.address_size == 64)
    for node in statements:
        reader = ScopeReader(context.scopes, function)
        blocks = [one for one in node.ancestors if one.kind == "Block" and one != function.body]
        for block in reversed(blocks):
            reader.enter(block)
        _check_one(context, judge, reader, node, _Flow(), explained)
        check_constants(context, node)


def _check_one(
    context: Context,
    judge: Judge,
    reader: ScopeReader,
    node: Instruction,
    state: _Flow,
    explained: dict[str, tuple[str, str]],
) -> None:
    _check_statement(context, judge, reader, node, state)
    if reader.undeclared:
        _report_undeclared(context, reader, explained)
    if reader.specials:
        _check_specials(context, reader)
    if reader.bad_selectors:
        _report_selectors(context, reader)


class _Flow:
    """Where control is while the statements go by."""

    __slots__ = ("labelled", "last", "reachable", "warned")

    def __init__(self) -> None:
        self.reachable = True
        self.labelled = False  # a label stands before the next instruction
        self.warned = False
        self.last: Instruction | None = None


def _check_statement(
    context: Context, judge: Judge, reader: ScopeReader, node: Instruction, state: _Flow
) -> None:
    name = node.name
    state.reachable = state.reachable or state.labelled
    state.labelled = False
    if not state.reachable and name not in _SAFETY and not state.warned:
        context.warning(node, "unreachable", "control cannot reach this instruction")
        state.warned = True
    guard = node.guard
    if guard is not None:
        _check_guard(context, reader, guard.children[0])
    check_instruction(context, judge, reader, node)
    if name == "call":
        check_call(context, node)
    if name in TERMINATORS and guard is None:
        state.warned = state.warned and not state.reachable
        state.reachable = False
    state.last = node


def _check_guard(context: Context, reader: ScopeReader, predicate: Name) -> None:
    actual = INTERNER.actual(reader.name(predicate))
    if actual.kind == "unknown" or (actual.kind == "register" and actual.type == "pred"):
        return
    what = f"a .{actual.type} register" if actual.kind == "register" else _KINDS[actual.kind]
    context.error(
        predicate, "guard", f"the guard '{predicate.text}' is {what}, not a predicate",
        "compare it with setp, which gives a .pred register",
    )  # fmt: skip


_KINDS = {
    "symbol": "a variable",
    "special": "a special register",
    "integer": "a constant",
    "function": "a function",
    "label": "a label",
    "table": "a list of targets",
}


def _check_table(context: Context, table: Node) -> None:
    wanted = "label" if table.kind == "BranchTargets" else "function"
    for name in table.children:
        declaration = context.scopes.resolve(name)
        if declaration is None:
            context.error(name, "undeclared", f"the {wanted} '{name.text}' is not declared")
        elif declaration.kind != wanted:
            context.error(name, "label", f"'{name.text}' is not a {wanted}")


def _check_duplicates(context: Context, scope: Scope) -> None:
    for name, declarations in scope.names.items():
        if len(declarations) > 1:
            one, two = declarations[0], declarations[1]
            what = "the label" if two.kind == "label" and one.kind == "label" else "the name"
            context.error(
                two.name_span, "duplicate",
                f"{what} '{name}' is declared at line {one.node.line} already",
            )  # fmt: skip
    for prefix, ranges in scope.ranges.items():
        if len(ranges) > 1:
            context.error(
                ranges[1].name_span, "duplicate",
                f"the range '{prefix}<...>' is declared at line {ranges[0].node.line} already",
            )  # fmt: skip
    for name, declarations in scope.names.items() if scope.ranges else ():
        member = scope.range_of(name)
        if member is not None:
            context.error(
                declarations[0].name_span, "duplicate",
                f"'{name}' is one of '{member.node.text}' at line {member.node.line} already",
            )  # fmt: skip


def _report_undeclared(
    context: Context, reader: ScopeReader, explained: dict[str, tuple[str, str]]
) -> None:
    """Report every use, as ptxas does; what to do about a name is looked for once."""
    for node in reader.undeclared:
        name = node.identifier
        if name not in explained:
            explained[name] = _explain_undeclared(context, node)
        what, hint = explained[name]
        context.error(node, "undeclared", f"{what} '{name}' is not declared", hint)
    reader.undeclared.clear()


def _explain_undeclared(context: Context, node: Node) -> tuple[str, str]:
    """What an undeclared name should have been, and what to do about it."""
    name, scope, what = node.identifier, context.scopes.scope_of(node), _role(node)
    later = scope.resolve(name, 1 << 62)
    if later is not None:
        return what, f"it is declared at line {later.node.line}, after its use; move that up"
    inner = next((label for label in _labels(node) if label.name == name), None)
    if inner is not None:
        return what, f"the label at line {inner.line} is seen inside its own {{ }} only"
    prefix = name.rstrip("0123456789")
    ranges = _all_ranges(scope)
    if prefix != name and prefix in ranges:
        last = f"{prefix}{(ranges[prefix].count or 1) - 1}"
        return what, f"'{ranges[prefix].node.text}' declares {prefix}0 to {last}; raise its number"
    known = [*_all_names(scope), *(label.name for label in _labels(node))]
    specials = SPECIAL_REGISTERS if name.startswith("%") else ()
    near = get_close_matches(name[:80], [*known, *specials], 1, 0.75)
    if near:
        return what, f"did you mean '{near[0]}'?"
    return what, _TO_DO.get(what, "declare it, such as '.reg .b32 name;', or fix its name")


#: What a name is for, by its instruction and its place among the operands that are names.
_ROLES = {
    ("bra", 0): "the label",
    ("brx", 1): "the list of labels",
    ("call", 0): "the function",
    ("call", 1): "the prototype",
}
_TO_DO = {
    "the label": "write 'name:' before the instruction to go to",
    "the list of labels": "write 'name: .branchtargets A, B;' before it",
    "the function": "declare it with .func before this function",
    "the prototype": "write 'name: .callprototype ...;' before it",
}


def _role(node: Node) -> str:
    statement = node.parent
    if not isinstance(statement, Instruction):
        return "the name"
    names = [operand for operand in statement.operands if operand.kind == "Name"]
    return _ROLES.get((statement.name, names.index(node)), "the name")


def _labels(node: Node) -> Iterator[Label]:
    while node.kind != "Function":
        node = node.parent
    return iter(node.find("Label"))


def _all_names(scope: Scope) -> Iterator[str]:
    at: Scope | None = scope
    while at is not None:
        yield from at.names
        at = at.parent


def _all_ranges(scope: Scope) -> dict[str, Declaration]:
    found: dict[str, Declaration] = {}
    at: Scope | None = scope
    while at is not None:
        for prefix, ranges in at.ranges.items():
            found.setdefault(prefix, ranges[-1])
        at = at.parent
    return found


def _check_specials(context: Context, reader: ScopeReader) -> None:
    for node, special in reader.specials:
        if not context.meets(special.requirement):
            context.require(node, f"'{node.identifier}'", special.requirement)
    reader.specials.clear()


def _report_selectors(context: Context, reader: ScopeReader) -> None:
    for node in reader.bad_selectors:
        parts = SPECIAL_REGISTERS[node.identifier].components
        hint = f"it has {' '.join('.' + part for part in parts)}" if parts else "it has no parts"
        context.error(node, "operand", f"'{node.text}' is no part of '{node.identifier}'", hint)
    reader.bad_selectors.clear()
