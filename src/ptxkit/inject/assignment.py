"""Which outputs of a stub have a value at its end, whatever way control takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptxkit.diagnostics import Diagnostic
from ptxkit.inject.site import Operand
from ptxkit.isa import registers
from ptxkit.syntax import Function, Instruction, Scopes
from ptxkit.syntax.graph import BasicBlock

# An output that is assigned, or assigned where a predicate is true (or false).
_Fact = str | tuple[str, str, bool]
_Facts = frozenset[_Fact]


def unassigned(function: Function, outputs: Mapping[str, Operand]) -> Iterator[Diagnostic]:
    """What is wrong with the outputs of a stub, which is the body of a function but for its
    last instruction: never assigned, not on every path, or read before.
    """
    if not outputs:
        return
    flow = _Flow(function, outputs)
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


class _Flow:
    """Facts that hold on every path, forward through the graph of a function."""

    def __init__(self, function: Function, outputs: Mapping[str, Operand]) -> None:
        self._function = function
        self._outputs = outputs
        self._scopes = Scopes(function.root)
        self._graph = function.cfg()
        self._at_entry: dict[BasicBlock, _Facts] = {self._graph.entry: frozenset()}
        self._solve()

    def _solve(self) -> None:
        order = self._graph.reachable()
        changed = True
        while changed:
            changed = False
            for block in order:
                facts = self._at_entry.get(block)
                if facts is None:
                    continue
                for instruction in block.instructions:
                    facts = self._after(instruction, facts)
                for successor in block.successors:
                    known = self._at_entry.get(successor)
                    new = facts if known is None else known & facts
                    if new != known:
                        self._at_entry[successor] = new
                        changed = True

    def _output(self, name: object) -> str | None:
        """The output that a name means, unless an inner scope has one of its own."""
        text = str(getattr(name, "identifier", ""))
        if text not in self._outputs:
            return None
        declaration = self._scopes.resolve(name)  # type: ignore[arg-type]
        scope = None if declaration is None else declaration.node.parent.parent
        return text if scope == self._function.body else None

    def _after(self, instruction: Instruction, facts: _Facts) -> _Facts:
        guard = instruction.guard
        made: set[_Fact] = set(facts)
        for name in registers(instruction).defined:
            # A condition says nothing once its predicate has another value.
            made -= {one for one in made if isinstance(one, tuple) and one[1] == name.text}
            output = self._output(name)
            if output is None:
                continue
            if guard is None:
                made.add(output)
                continue
            condition = guard.predicate.text
            made.add((output, condition, guard.negated))
            if (output, condition, not guard.negated) in made:
                made.add(output)
        return frozenset(made)

    def _holds(self, output: str, instruction: Instruction, facts: _Facts) -> bool:
        guard = instruction.guard
        if output in facts:
            return True
        return guard is not None and (output, guard.predicate.text, guard.negated) in facts

    def early_reads(self) -> Iterator[Diagnostic]:
        """Reads of an output that has no value yet."""
        seen = set()
        for block, start in self._at_entry.items():
            facts = start
            for instruction in block.instructions:
                for name in registers(instruction).used:
                    output = self._output(name)
                    if output is None or self._holds(output, instruction, facts):
                        continue
                    if output not in seen:
                        seen.add(output)
                        yield self._function.root.diagnostic(
                            "error", "inject-unassigned",
                            f"the output '{output}' is read before it is assigned", name.span,
                            "for a value that comes in and goes out, make the operand 'mod'",
                        )  # fmt: skip
                facts = self._after(instruction, facts)

    def missing_at_end(self) -> set[str]:
        """Outputs without a value at the last instruction; none where control never comes."""
        end = self._function.instructions[-1]
        for block, start in self._at_entry.items():
            facts = start
            for instruction in block.instructions:
                if instruction == end:
                    return {name for name in self._outputs if name not in facts}
                facts = self._after(instruction, facts)
        return set()

    def last_write(self, output: str) -> Instruction | None:
        """The last instruction that may assign an output."""
        found = None
        for instruction in self._function.instructions:
            if any(self._output(name) == output for name in registers(instruction).defined):
                found = instruction
        return found
