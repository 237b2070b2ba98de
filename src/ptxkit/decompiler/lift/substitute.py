"""Put expressions where their variables are used, and drop what nobody reads.

A variable with one definition may be replaced by its expression wherever nothing the
expression depends on can have changed: always, if it depends on such variables only and
reads no memory; else within a block, up to the next change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import Scalar, Type
from ptxkit.decompiler.lift.flow import Branch, Flow, FlowBlock, Select
from ptxkit.decompiler.lift.rewrite import (
    has_effect,
    is_load,
    read,
    rebuilt,
    size,
    written,
)

_LIMIT = 40


class Substitution:
    """One function's variables."""

    def __init__(
        self, flow: Flow, types: Mapping[str, Type], called: frozenset[str] = frozenset()
    ) -> None:
        self.flow = flow
        self.types = types
        self.called = called
        """Functions of the module: calling one may do anything."""

    def run(self) -> None:
        """Substitute until nothing changes."""
        for _ in range(50):
            self._count()
            if not (self._drop() | self._everywhere() | self._in_blocks()):
                return

    # ---- facts ---------------------------------------------------------------------------

    def _count(self) -> None:
        self.defined: Counter[str] = Counter()
        self.used: Counter[str] = Counter()
        for block in self.flow.blocks.values():
            for statement in block.statements:
                self.defined.update(written(statement))
                self.used.update(read(statement))
            if isinstance(block.exit, Branch):
                self.used.update(read(block.exit.condition))
            elif isinstance(block.exit, Select):
                self.used.update(read(block.exit.value))

    def _is_pure(self, value: n.Expression) -> bool:
        return not has_effect(value) and not any(
            isinstance(part, n.Call) and part.function in self.called for part in value.walk()
        )

    def _constant(self, name: str) -> bool:
        """Whether a variable keeps one value from its definition on."""
        return self.defined[name] <= 1

    # ---- passes --------------------------------------------------------------------------

    def _drop(self) -> bool:
        changed = False
        for block in self.flow.blocks.values():
            kept: list[n.Statement] = []
            for statement in block.statements:
                match statement:
                    case n.Assign(target=n.Name(name=name), value=value) if not self.used[name]:
                        changed = True
                        if not self._is_pure(value):
                            kept.append(n.Evaluate(value))
                    case n.Assign(target=n.Name() as target, value=value) if target == value:
                        changed = True
                    case n.Declare(name=name, value=None) if (
                        not self.used[name] and self.defined[name] <= 1
                    ):
                        changed = True
                    case n.If(then=()) if self._is_pure(statement.condition):
                        changed = True
                    case n.If():
                        then = tuple(
                            s for s in statement.then
                            if not (isinstance(s, n.Assign) and isinstance(s.target, n.Name)
                                    and not self.used[s.target.name] and self._is_pure(s.value))
                        )  # fmt: skip
                        changed |= len(then) != len(statement.then)
                        kept.append(replace(statement, then=then))
                    case _:
                        kept.append(statement)
            block.statements = kept
        return changed

    def _everywhere(self) -> bool:
        """Definitions that depend on nothing that changes."""
        chosen: dict[str, n.Expression] = {}
        for block in self.flow.blocks.values():
            for statement in block.statements:
                match statement:
                    case n.Assign(target=n.Name(name=name), value=value, operator="="):
                        if (
                            self._constant(name)
                            and self.used[name]
                            and self._is_pure(value)
                            and not any(is_load(part) for part in value.walk())
                            and all(self._constant(v) and v != name for v in read(value))
                            and self._worth(name, value)
                        ):
                            chosen[name] = value
        if not chosen:
            return False
        resolved: dict[str, n.Expression] = {}

        def resolve(name: str) -> n.Expression:
            if name not in resolved:
                resolved[name] = n.Name(name)  # a cycle cannot be, but must not hang
                resolved[name] = self._typed(name, self._replace(chosen[name], lookup))
            return resolved[name]

        def lookup(name: str) -> n.Expression | None:
            return resolve(name) if name in chosen else None

        changed = False
        for block in self.flow.blocks.values():
            kept: list[n.Statement] = []
            for statement in block.statements:
                if isinstance(statement, n.Assign) and isinstance(statement.target, n.Name) \
                        and statement.target.name in chosen:  # fmt: skip
                    changed = True
                    continue
                kept.append(self._replace(statement, lookup))
            block.statements = kept
            self._replace_exit(block, lookup)
        return changed

    def _in_blocks(self) -> bool:
        """Definitions used once, later in the same block, with nothing in between."""
        changed = False
        for block in self.flow.blocks.values():
            position = 0
            while position < len(block.statements):
                if self._move(block, position):
                    changed = True
                else:
                    position += 1
        return changed

    def _move(self, block: FlowBlock, position: int) -> bool:
        statements: list[n.Statement] = block.statements
        match statements[position]:
            case n.Assign(target=n.Name(name=name), value=value, operator="="):
                pass
            case _:
                return False
        if not self._constant(name) or self.used[name] != 1 or not self._is_pure(value):
            return False
        if size(value) > _LIMIT:
            return False
        depends = set(read(value))
        loads = any(is_load(part) for part in value.walk())
        typed = self._typed(name, value)

        def lookup(other: str) -> n.Expression | None:
            return typed if other == name else None

        for later in range(position + 1, len(statements)):
            statement = statements[later]
            if name in read(statement):
                # Inside a nested statement it would run later, or not at all: fine for values.
                if isinstance(statement, n.If) and name not in read(statement.condition) and loads:
                    return False
                statements[later] = self._replace(statement, lookup)
                del statements[position]
                return True
            if depends & set(written(statement)):
                return False
            if loads and (has_effect(statement) or self._calls(statement)):
                return False
        exit = block.exit
        condition = getattr(exit, "condition", None) or getattr(exit, "value", None)
        if condition is not None and name in read(condition):
            self._replace_exit(block, lookup)
            del statements[position]
            return True
        return False

    def _calls(self, statement: n.Statement) -> bool:
        return any(
            isinstance(part, n.Call) and part.function in self.called for part in statement.walk()
        )

    # ---- parts ---------------------------------------------------------------------------

    def _worth(self, name: str, value: n.Expression) -> bool:
        """Whether writing the expression at every use is better than a variable."""
        if self.used[name] == 1:
            return size(value) <= _LIMIT
        match value:
            case n.Name() | n.Literal() | n.Member():
                return True
            case n.Cast(operand=n.Name() | n.Member() | n.Literal()):
                return True
            case n.Call(function=function) if function.startswith("@address"):
                return True
        type = self.types.get(name)
        # Addresses are not written out: array accesses are.
        wide = isinstance(type, Scalar) and type.is_integer and type.bits == 64
        return wide and size(value) <= _LIMIT and all(
            isinstance(part, n.Name | n.Literal | n.Cast | n.Binary | n.Member)
            or (isinstance(part, n.Call) and part.function.startswith("@"))
            for part in value.walk()
        )  # fmt: skip

    def _typed(self, name: str, value: n.Expression) -> n.Expression:
        wanted = self.types[name]
        return value if infer(value, self.types) == wanted else n.Cast(wanted, value)

    def _replace(self, node: n.Node, lookup: Callable[[str], n.Expression | None]) -> Any:
        def change(part: n.Node) -> n.Node:
            if isinstance(part, n.Name):
                return lookup(part.name) or part
            if isinstance(part, n.Assign) and isinstance(part.target, n.Name):
                return rebuilt(part, lambda p: p if p is part.target else change(p))
            if isinstance(part, n.Asm):
                outputs = part.outputs
                made = rebuilt(part, lambda p: change(p))
                return replace(made, outputs=outputs)
            return rebuilt(part, change)

        return change(node)

    def _replace_exit(self, block: FlowBlock, lookup: Callable[[str], n.Expression | None]) -> None:
        exit = block.exit
        if isinstance(exit, Branch):
            block.exit = replace(exit, condition=self._replace(exit.condition, lookup))
        elif isinstance(exit, Select):
            block.exit = replace(exit, value=self._replace(exit.value, lookup))
