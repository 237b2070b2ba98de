"""Names and where they are declared.

A scope is the module, a function's parameters with its body, or a ``{ }`` inside it. A
variable is visible from its declaration to the end of its scope and hides one of the same
name outside; a label is visible in the whole of its block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.errors import EditError
from ptxkit.syntax.declarations import Declarator, Function, Parameter, Variable
from ptxkit.syntax.module import Module
from ptxkit.syntax.nodes import Label, SectionLabel

_IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared name (for a range: its prefix) and the node that declares it."""

    name: str
    node: Node
    kind: str  # "register", "variable", "parameter", "label", "function"
    space: str
    type: str
    count: int | None  # registers in a range
    position: int  # offset from which the name is visible; -1: in the whole scope

    @property
    def name_span(self) -> tuple[int, int]:
        """Byte offsets of the name in its declaration."""
        if isinstance(self.node, Function):
            return self.node.name_span
        if isinstance(self.node, Parameter):
            token = next(t for t in self.node.tokens(own=True) if t[0] == "identifier")
            return token[2], token[3]
        start = self.node.span[0]
        return start, start + len(self.name.encode())


@dataclass(slots=True)
class Scope:
    """The names of one scope. ``names`` keeps every declaration, duplicates too."""

    node: Node
    parent: Scope | None
    names: dict[str, list[Declaration]] = field(default_factory=dict)
    ranges: dict[str, list[Declaration]] = field(default_factory=dict)

    def add(self, declaration: Declaration) -> None:
        """Declare a name."""
        table = self.names if declaration.count is None else self.ranges
        table.setdefault(declaration.name, []).append(declaration)

    def local(self, name: str, position: int) -> Declaration | None:
        """The declaration of a name in this very scope, visible at a position."""
        for declaration in reversed(self.names.get(name, ())):
            if declaration.position <= position:
                return declaration
        if self.ranges:
            # "%r12" may be member 12 of %r<..> or member 2 of %r1<..>.
            for split in range(len(name.rstrip("0123456789")), len(name)):
                for declaration in reversed(self.ranges.get(name[:split], ())):
                    known = declaration.position <= position
                    if known and int(name[split:]) < (declaration.count or 0):
                        return declaration
        return None

    def resolve(self, name: str, position: int) -> Declaration | None:
        """The declaration that a name means at a position."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.local(name, position)
            if found is not None:
                return found
            scope = scope.parent
        return None


def declarations_of(node: Node) -> Iterator[Declaration]:
    """What a statement declares in the scope it stands in."""
    if isinstance(node, Variable):
        space, scalar, position = node.space, node.type, node.span[1]
        for declarator in node.declarators:
            kind = "register" if space == "reg" else "variable"
            yield Declaration(
                declarator.name, declarator, kind, space, scalar, declarator.count, position
            )
    elif isinstance(node, (Label, SectionLabel)):
        yield Declaration(node.name, node, "label", "", "", None, -1)
    elif isinstance(node, Function):
        yield Declaration(node.name, node, "function", "", "", None, -1)
    elif isinstance(node, Parameter):
        kind = "register" if node.space == "reg" else "parameter"
        yield Declaration(node.name, node, kind, node.space, node.type, None, -1)


class Scopes:
    """All scopes of a module: where names are declared and used.

    >>> import ptxkit
    >>> m = ptxkit.parse(".func f() { .reg .b32 %r<3>; mov.b32 %r2, 1; }")
    >>> use = m["f"].instructions[0].operands[0]
    >>> ptxkit.syntax.Scopes(m).resolve(use).node.text
    '%r<3>'
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.root = Scope(module, None)
        self._by_block: dict[int, Scope] = {}
        for child in module.children:
            for declaration in declarations_of(child):
                self.root.add(declaration)
            if child.kind == "Section":
                for label in child.children:
                    for declaration in declarations_of(label):
                        self.root.add(declaration)
            elif isinstance(child, Function):
                self._function(child)

    def _function(self, function: Function) -> None:
        body = function.body
        header = Scope(function, self.root)
        self._by_block[function.index] = header
        for parameter in (*function.return_parameters, *function.parameters):
            for declaration in declarations_of(parameter):
                header.add(declaration)
        if body is None:
            return
        # Parameters and the body's own names share one scope.
        self._by_block[body.index] = header
        pending: list[tuple[Node, Scope]] = [(body, header)]
        while pending:
            block, scope = pending.pop()
            for child in block.children:
                if child.kind == "Block":
                    inner = Scope(child, scope)
                    self._by_block[child.index] = inner
                    pending.append((child, inner))
                elif child.kind != "Instruction":
                    for declaration in declarations_of(child):
                        scope.add(declaration)

    def scope_of(self, node: Node) -> Scope:
        """The innermost scope a node stands in."""
        for ancestor in (node, *node.ancestors):
            found = self._by_block.get(ancestor.index)
            if found is not None and ancestor.kind in ("Block", "Function"):
                return found
        return self.root

    def resolve(self, node: Node) -> Declaration | None:
        """What a name means; None for an undeclared or built-in one."""
        return self.scope_of(node).resolve(node.identifier, node.span[0])

    def declaration(self, node: Node) -> Declaration | None:
        """The declaration a node is or refers to."""
        if isinstance(node, (Declarator, Parameter, Label, SectionLabel, Function)):
            owner = node.parent if isinstance(node, Declarator) else node
            return next((d for d in declarations_of(owner) if d.node == node), None)
        if isinstance(node, Variable) and len(node.declarators) == 1:
            return next(declarations_of(node))
        return self.resolve(node) if node.kind == "Name" else None

    def references(self, declaration: Declaration) -> list[Node]:
        """All uses of a declared name, in source order."""
        return [
            node
            for node in self.module.find("Name")
            if node.identifier.startswith(declaration.name) and self.resolve(node) == declaration
        ]


def rename(module: Module, node: Node, name: str) -> Module:
    """Rename what a node declares or refers to, in its scope; gives the new module."""
    if not isinstance(node, Node) or not node.same_tree(module):
        raise EditError("rename needs a node of this very module")
    if not isinstance(name, str) or _IDENTIFIER.fullmatch(name) is None:
        raise EditError(f"{name!r} is not a PTX identifier")
    scopes = Scopes(module)
    declaration = scopes.declaration(node)
    if declaration is None:
        raise EditError(f"'{node.text}' at line {node.line} is not a declared name")
    if declaration.count is not None and node.kind == "Name":
        raise EditError(
            f"'{node.identifier}' is one register of the range '{declaration.node.text}'; "
            "rename the range's declarator, or declare the register by itself first"
        )
    references = scopes.references(declaration)
    targets = [declaration]
    if declaration.kind == "function":  # prototypes and the definition go together
        targets = scopes.root.names[declaration.name]
        references = [n for one in targets for n in scopes.references(one)]
    _refuse_conflict(scopes, declaration, references, name)
    editor = module.edit()
    for target in targets:
        editor.replace_span(target.name_span, name)
    for reference in dict.fromkeys(references):
        start = reference.span[0]
        editor.replace_span((start, start + len(declaration.name.encode())), name)
    return editor.apply()


def _refuse_conflict(
    scopes: Scopes, declaration: Declaration, references: list[Node], name: str
) -> None:
    """Refuse a new name that would meet another declaration or hide one in use."""
    names = [name]
    if declaration.count is not None:
        names = [f"{name}{number}" for number in range(declaration.count)]
    home = scopes.scope_of(declaration.node.parent or declaration.node)
    end = home.node.span[1]
    for one in names:
        known = home.local(one, end)
        if known is not None and known != declaration:
            raise EditError(f"'{one}' is declared at line {known.node.line} already")
    wanted = set(names)
    for node in scopes.module.find("Name"):
        inside = home.node.span[0] <= node.span[0] < end
        if inside and node.identifier in wanted and scopes.resolve(node) != declaration:
            raise EditError(
                f"'{node.identifier}' at line {node.line} would change its meaning; "
                "choose another name"
            )
    for node in references:
        suffix = node.identifier[len(declaration.name) :]
        hidden = scopes.scope_of(node).resolve(name + suffix, node.span[0])
        depth_known = hidden is not None and hidden.node.span[0] >= home.node.span[0]
        if depth_known and hidden is not None and hidden.kind != "function":
            raise EditError(
                f"'{name + suffix}' at line {hidden.node.line} would hide the renamed one; "
                "choose another name"
            )
