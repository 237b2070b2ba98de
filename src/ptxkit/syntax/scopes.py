"""Names and where they are declared.

A scope is the module, a function's parameters with its body, or a ``{ }`` inside it. A
variable or function is visible from its declaration to the end of its scope and hides one of
the same name outside; a label is visible in the whole of its block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ptxkit._native import Node
from ptxkit.errors import EditError
from ptxkit.syntax.declarations import Declarator, Function, Parameter, Variable
from ptxkit.syntax.module import Module
from ptxkit.syntax.nodes import Label, SectionLabel

_WORD = re.compile(rb"[\w$]", re.ASCII)
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
    settled: int = -1
    """From this offset on nothing is declared here any more, nor around."""
    _settled_here: int = -1
    """The same for this very scope: what it declares hides all around it."""
    _known: dict[str, Declaration | None] = field(default_factory=dict)
    _own: dict[str, Declaration | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.settled = self.parent.settled

    def add(self, declaration: Declaration) -> None:
        """Declare a name."""
        table = self.names if declaration.count is None else self.ranges
        table.setdefault(declaration.name, []).append(declaration)
        self.settled = max(self.settled, declaration.position)
        self._settled_here = max(self._settled_here, declaration.position)

    def local(self, name: str, position: int) -> Declaration | None:
        """The declaration of a name in this very scope, visible at a position."""
        for declaration in reversed(self.names.get(name, ())):
            if declaration.position <= position:
                return declaration
        return self.range_of(name, position) if self.ranges else None

    def range_of(self, name: str, position: int = 1 << 62) -> Declaration | None:
        """The range of this very scope that a name is a member of."""
        # "%r12" may be member 12 of %r<..> or member 2 of %r1<..>; the shorter prefix wins.
        for split in range(len(name.rstrip("0123456789")), len(name)):
            for declaration in reversed(self.ranges.get(name[:split], ())):
                known = declaration.position <= position
                if known and int(name[split : split + 20]) < (declaration.count or 0):
                    return declaration
        return None

    def resolve(self, name: str, position: int) -> Declaration | None:
        """The declaration that a name means at a position."""
        if position >= self.settled:
            if name not in self._known:
                self._known[name] = self._resolve(name, position)
            return self._known[name]
        if position < self._settled_here:
            return self._resolve(name, position)
        # Functions follow, but no names of this one: most names are its own registers.
        if name not in self._own:
            self._own[name] = self.local(name, position)
        own = self._own[name]
        return own if own is not None or not self.parent else self.parent._resolve(name, position)

    def _resolve(self, name: str, position: int) -> Declaration | None:
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
        space, _, scalar = node.layout
        kind = "register" if space == "reg" else "variable"
        for declarator in node.declarators:
            position = declarator.span[0]  # its own initialiser may name it
            yield Declaration(
                declarator.name, declarator, kind, space, scalar, declarator.count, position
            )
    elif isinstance(node, (Label, SectionLabel)):
        yield Declaration(node.name, node, "label", "", "", None, -1)
    elif isinstance(node, Function):
        yield Declaration(node.name, node, "function", "", "", None, node.span[0])
    elif isinstance(node, Parameter):
        found = node.details
        kind = "register" if found.space == "reg" else "parameter"
        yield Declaration(found.name, node, kind, found.space, found.type, None, -1)


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
            for child in block.find("Block", "Variable", "Label", direct=True):
                if child.kind == "Block":
                    inner = Scope(child, scope)
                    self._by_block[child.index] = inner
                    pending.append((child, inner))
                else:
                    for declaration in declarations_of(child):
                        scope.add(declaration)

    def scope_of(self, node: Node) -> Scope:
        """The innermost scope a node stands in."""
        found = self._by_block.get(node.home_index)
        if found is not None:
            return found
        home = node.home
        if home is None:
            return self.root
        # A function's scopes are made when they are asked for: of a large module most callers
        # want one function.
        self._function(_function_of(home))
        return self._by_block[home.index]

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
        home = self.scope_of(declaration.node.parent).node
        return [
            node
            for node in home.find("Name")
            if node.identifier.startswith(declaration.name) and self.resolve(node) == declaration
        ]


def _function_of(node: Node) -> Function:
    while not isinstance(node, Function):
        node = node.parent
    return node


def rename(module: Module, node: Node, name: str) -> Module:
    """Rename what a node declares or refers to, in its scope; gives the new module.

    Raises :class:`ptxkit.EditError` where any name of the module would then mean something else.
    """
    if not isinstance(node, Node) or not node.same_tree(module):
        raise EditError("rename needs a node of this very module")
    if not isinstance(name, str) or _IDENTIFIER.fullmatch(name) is None or name == "WARP_SZ":
        raise EditError(f"{name!r} is not a PTX identifier; write letters, digits, _ and $")
    scopes = Scopes(module)
    declaration = scopes.declaration(node)
    if declaration is None or declaration.name == "_":
        raise EditError(f"'{node.text[:60]}' at line {node.line} is not a declared name")
    if declaration.count is not None and node.kind == "Name":
        raise EditError(
            f"'{node.identifier}' is one register of the range '{declaration.node.text}'; "
            "rename the range's declarator, or declare the register by itself first"
        )
    targets = [declaration]
    if declaration.kind == "function":  # prototypes and the definition go together
        targets = [d for d in scopes.root.names[declaration.name] if d.kind == "function"]
    places: list[int] = []
    for target in targets:
        _refuse_conflict(scopes, target, name)
        places.append(target.name_span[0])
        places += [reference.span[0] for reference in scopes.references(target)]
    editor, source = module.edit(), module.source()
    for start in places:
        # In ".b32%r" the '%' keeps the words apart, which another name may not do.
        joins = name[0] != "%" and _WORD.match(source, start - 1) is not None
        editor.replace_span(
            (start, start + len(declaration.name.encode())), f" {name}" if joins else name
        )
    renamed = editor.apply()
    _prove_same_meaning(scopes, renamed)
    return renamed


def _refuse_conflict(scopes: Scopes, declaration: Declaration, name: str) -> None:
    """Refuse a new name that meets another declaration of the same scope."""
    home = scopes.scope_of(declaration.node.parent)
    others = [d for table in (home.names, home.ranges) for found in table.values() for d in found]
    new = replace(declaration, name=name)
    for other in others:
        same = other.name == declaration.name and other.kind == declaration.kind
        if not same and _overlap(new, other):
            raise EditError(
                f"'{other.node.text.split()[0] if other.count else other.name}' is declared at "
                f"line {other.node.line} already; choose another name"
            )


def _overlap(a: Declaration, b: Declaration) -> bool:
    """Say whether two declarations have a name in common."""
    if a.count is None or b.count is None:
        if a.count is None and b.count is None:
            return a.name == b.name
        single, several = (a, b) if a.count is None else (b, a)
        number = single.name.removeprefix(several.name)
        is_member = single.name != number and number.isdecimal() and number.isascii()
        return is_member and int(number) < (several.count or 0)
    if len(a.name) > len(b.name):
        a, b = b, a
    # %r<20> and %r1<5> meet in %r10 to %r14.
    digits = b.name.removeprefix(a.name) if b.name.startswith(a.name) else "none"
    return not digits or (digits.isdecimal() and int(digits) * 10 < (a.count or 0))


def _prove_same_meaning(before: Scopes, renamed: Module) -> None:
    """Compare what every name means before and after; the two trees have the same shape."""
    after = Scopes(renamed)
    if renamed.node_count != before.module.node_count:
        raise EditError("the new name would be read as something else; choose another name")
    for old, new in zip(before.module.find("Name"), renamed.find("Name"), strict=True):
        meant, means = before.resolve(old), after.resolve(new)
        if (meant and meant.node.index) != (means and means.node.index):
            raise EditError(
                f"'{new.identifier}' at line {new.line} would change its meaning; "
                "choose another name"
            )
