"""Which outputs of a stub have a value at its end, whatever way control takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ptxkit.diagnostics import Diagnostic
from ptxkit.inject.site import Operand
from ptxkit.isa import registers
from ptxkit.syntax import Function, Instruction, Name, Scopes
from ptxkit.syntax.graph import BasicBlock

# An output that is assigned, or assigned where a predicate is true (or false).
_Fact = str | tuple[str, str, bool]
_Facts = frozenset[_Fact]


def unassigned(
    function: Function, outputs: Mapping[str, Operand], scopes: Scopes
) -> Iterator[Diagnostic]:
    """What is wrong with the outputs of a stub, which is the body of a function but for its
    last instruction: never assigned, not on every path, or read before.
    """
    if not outputs:
        return
    flow = _Flow(function, outputs, scopes)
    yield from flow.early_reads()
    module = function.root
    end = function.instructions[-1]
    missing = flow.missing_at_end()
    for name in outputs:
        if name not in missing:
            continue
        last = flow.last_write(name)
        if last is None:
            message = f"the output '{name}' is never assigned"
            hint = f"'{outputs[name].name}' would be undefined after the site; write to {name}"
            span = end.span
        else:
            message = f"the output '{name}' is not assigned on every path"
            hint = "assign it before the branch, or where the paths meet"
            span = last.span
        yield module.diagnostic("error", "inject-unassigned", message, span, hint)


class _Effect:
    """What an instruction does to the outputs."""

    __slots__ = ("assigns", "changes", "guard", "node", "reads")

    def __init__(self, node: Instruction, outputs: Mapping[str, Operand], scopes: Scopes) -> None:
        found = registers(node, scopes)
        self.node = node
        self.guard = None if node.guard is None else (node.guard.predicate.text, node.guard.negated)
        self.changes = {name.text for name in found.defined}
        self.assigns = [name.text for name in found.defined if _is_output(name, outputs, scopes)]
        self.reads = [name for name in found.used if _is_output(name, outputs, scopes)]

    def after(self, facts: _Facts) -> _Facts:
        """What holds after it, where some facts hold before."""
        # A condition says nothing once its predicate has another value.
        made = {one for one in facts if isinstance(one, str) or one[1] not in self.changes}
        for output in self.assigns:
            if self.guard is None:
                made.add(output)
                continue
            condition, negated = self.guard
            made.add((output, condition, negated))
            if (output, condition, not negated) in made:
                made.add(output)
        return frozenset(made)

    def knows(self, output: str, facts: _Facts) -> bool:
        """Whether the output has a value when this is executed."""
        return output in facts or (self.guard is not None and (output, *self.guard) in facts)


def _is_output(name: Name, outputs: Mapping[str, Operand], scopes: Scopes) -> bool:
    """Whether a name is an output, and not one that an inner scope has for itself."""
    if name.text not in outputs:
        return False
    declaration = scopes.resolve(name)
    # The site's registers stand in the body of the function itself.
    return declaration is not None and declaration.node.parent.parent.parent.kind == "Function"


def _relevant(function: Function, outputs: Mapping[str, Operand]) -> Callable[[Instruction], bool]:
    """Which instructions may change what is known: those that name an output, or a predicate
    that an output is assigned under.
    """
    names = set(outputs)
    for node in function.instructions:
        text = node.text
        if text.startswith("@") and any(name in text for name in outputs):
            assert node.guard is not None
            names.add(node.guard.predicate.text)

    def mentions(node: Instruction) -> bool:
        text = node.text
        return any(name in text for name in names)

    return mentions


class _Flow:
    """Facts that hold on every path, forward through the graph of a function."""

    def __init__(self, function: Function, outputs: Mapping[str, Operand], scopes: Scopes) -> None:
        self._function = function
        self._outputs = outputs
        graph = function.cfg()
        mentions = _relevant(function, outputs)
        self._end = function.instructions[-1]
        self._effects = {
            block: [
                _Effect(node, outputs, scopes)
                for node in block.instructions
                if mentions(node) or node == self._end
            ]
            for block in graph.blocks
        }
        self._at_entry: dict[BasicBlock, _Facts] = {graph.entry: frozenset()}
        self._solve(graph.reachable())

    def _solve(self, order: list[BasicBlock]) -> None:
        changed = True
        while changed:
            changed = False
            for block in order:
                facts = self._at_entry.get(block)
                if facts is None:
                    continue
                for effect in self._effects[block]:
                    facts = effect.after(facts)
                for successor in block.successors:
                    known = self._at_entry.get(successor)
                    new = facts if known is None else known & facts
                    if new != known:
                        self._at_entry[successor] = new
                        changed = True

    def _walk(self) -> Iterator[tuple[_Effect, _Facts]]:
        """Every instruction that control reaches, with what holds before it."""
        for block, facts in self._at_entry.items():
            for effect in self._effects[block]:
                yield effect, facts
                facts = effect.after(facts)

    def early_reads(self) -> Iterator[Diagnostic]:
        """Reads of an output that has no value yet, the first of each."""
        seen = set()
        for effect, facts in self._walk():
            for name in effect.reads:
                if name.text in seen or effect.knows(name.text, facts):
                    continue
                seen.add(name.text)
                yield self._function.root.diagnostic(
                    "error", "inject-unassigned",
                    f"the output '{name.text}' is read before it is assigned", name.span,
                    "for a value that comes in and goes out, make the operand 'mod'",
                )  # fmt: skip

    def missing_at_end(self) -> set[str]:
        """Outputs without a value at the last instruction; where control never comes there,
        those that nothing on its way assigns.
        """
        assigned: set[str] = set()
        for effect, facts in self._walk():
            if effect.node == self._end:
                return {name for name in self._outputs if name not in facts}
            assigned.update(effect.assigns)
        return set(self._outputs) - assigned

    def last_write(self, output: str) -> Instruction | None:
        """The last instruction that may assign an output."""
        found = [
            effect.node
            for effects in self._effects.values()
            for effect in effects
            if output in effect.assigns
        ]
        return found[-1] if found else None
