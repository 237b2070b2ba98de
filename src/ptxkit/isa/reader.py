"""From the operands of a parsed instruction to what the rules of the table look at.

Every distinct :class:`Actual` gets a small number, so that a verdict can be kept by
(opcode, numbers) and each kind of instruction is judged once, however often it occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ptxkit._native import Node
from ptxkit.isa.actuals import Actual
from ptxkit.isa.special_registers import (
    SPECIAL_REGISTERS,
    SpecialRegister,
    find_special_register,
)
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Declarator, Function, Parameter, Scopes, evaluate
from ptxkit.syntax.scopes import Declaration, Scope

UNKNOWN = Actual("unknown")


def representative(value: int) -> int:
    """A value that every bound, step and power-of-two rule judges as it judges ``value``.

    Small values and powers of two stand for themselves; others keep their size in bits and
    their low four bits, so that a module's constants do not fill the table of operands.

    >>> representative(7), representative(4096), representative(70000), representative(-99999)
    (7, 4096, 131056, -131071)
    """
    size = abs(value)
    if size <= 1024 or size & (size - 1) == 0:
        return value
    large = ((1 << size.bit_length()) - 1) & ~15 | size & 15
    return large if value > 0 else -large


class Interner:
    """Numbers for actual operands, shared by all modules of a process."""

    def __init__(self) -> None:
        self._numbers: dict[Actual, int] = {}
        self._actuals: list[Actual] = []
        self._composed: dict[tuple[object, ...], int] = {}

    def number(self, actual: Actual) -> int:
        """The number of an actual operand."""
        found = self._numbers.get(actual)
        if found is None:
            found = self._numbers[actual] = len(self._actuals)
            self._actuals.append(actual)
        return found

    def composed(self, key: tuple[object, ...], make: Callable[[], Actual]) -> int:
        """The number of an operand made of others, by a key of their numbers."""
        found = self._composed.get(key)
        if found is None:
            found = self._composed[key] = self.number(make())
        return found

    def actual(self, number: int) -> Actual:
        """The actual operand of a number."""
        return self._actuals[number]


INTERNER = Interner()


def actual_of(declaration: Declaration) -> Actual:
    """What a declared name is as an operand."""
    kind = declaration.kind
    if declaration.type and declaration.type not in SCALAR_TYPES:
        return UNKNOWN  # an unknown type, reported as such
    if kind == "register":
        node = declaration.node
        owner = node.variable if isinstance(node, Declarator) else node
        width = owner.vector if hasattr(owner, "vector") else 1
        return Actual("register", declaration.type, width=width)
    if kind == "label":
        following = declaration.node.next_sibling
        table = ("BranchTargets", "CallTargets", "CallPrototype")
        return Actual("table" if following is not None and following.kind in table else "label")
    if kind == "function":
        return Actual("function")
    role = ""
    if isinstance(declaration.node, Parameter):
        role = "output" if declaration.node.parent.is_return else "input"
    return Actual("symbol", declaration.type, space=declaration.space, role=role)


class ScopeReader:
    """Follows the statements of one function and knows what each name means there."""

    def __init__(self, scopes: Scopes, function: Function) -> None:
        self._scopes = scopes
        self._stack: list[tuple[Scope, dict[str, int]]] = [(scopes.root, {})]
        self._numbers: dict[int, int] = {}  # by the declaring node
        self.enter(function)
        self.undeclared: list[Node] = []
        self.bad_selectors: list[Node] = []
        self.specials: list[tuple[Node, SpecialRegister]] = []  # since last looked at

    def enter(self, node: Node) -> None:
        """Go into a block (or a function's header and body)."""
        self._stack.append((self._scopes.scope_of(node), {}))

    def leave(self) -> None:
        """Go out of the innermost block."""
        self._stack.pop()

    def declared(self) -> None:
        """Pass a declaration: what was known of its names may have changed."""
        self._stack[-1][1].clear()

    # -- names ---------------------------------------------------------------------------

    def name(self, node: Node) -> int:
        """The number of a name without its selector."""
        identifier, known = node.identifier, self._stack[-1][1]
        found = known.get(identifier)
        if found is None:
            found = self._look_up(node, identifier)
            # Each use of an unknown name or of a special register is told, not the first only.
            if INTERNER.actual(found) is not UNKNOWN and identifier not in SPECIAL_REGISTERS:
                known[identifier] = found
        return found

    def _look_up(self, node: Node, identifier: str) -> int:
        declaration = self._stack[-1][0].resolve(identifier, node.span[0])
        if declaration is not None:
            place = declaration.node.index
            number = self._numbers.get(place)
            if number is None:
                number = self._numbers[place] = INTERNER.number(actual_of(declaration))
            return number
        special = SPECIAL_REGISTERS.get(identifier)
        if special is not None:
            self.specials.append((node, special))
            return INTERNER.number(special.actual())
        if identifier == "WARP_SZ":
            return INTERNER.number(Actual("integer", value=32))
        self.undeclared.append(node)
        return INTERNER.number(UNKNOWN)

    # -- operands ------------------------------------------------------------------------

    def read(self, node: Node) -> int:
        """The number of an operand."""
        return _READERS[node.kind](self, node)

    def _name(self, node: Node) -> int:
        number = self.name(node)
        if not node.selector_length:
            return number
        selector = "." + node.text.rpartition(".")[2]  # a comment may stand before it
        if INTERNER.actual(number).kind == "special":
            return self._special(node, node.identifier + selector)
        return INTERNER.composed((".", number, selector), lambda: self._select(number, selector))

    def _special(self, node: Node, text: str) -> int:
        found = find_special_register(text)
        if found is None:
            self.bad_selectors.append(node)
            return INTERNER.number(UNKNOWN)
        return INTERNER.number(found[0].actual(found[1]))

    @staticmethod
    def _select(number: int, selector: str) -> Actual:
        whole = INTERNER.actual(number)
        if whole.kind == "register" and whole.width > 1 and selector[1:] in "xyzwrgba":
            return replace(whole, width=1)
        return replace(whole, selector=selector)

    def _sink(self, node: Node) -> int:
        return INTERNER.number(Actual("sink"))

    def _integer(self, node: Node) -> int:
        value = evaluate(node)
        if isinstance(value, float):
            return INTERNER.number(Actual("decimal"))
        if value is None:
            return INTERNER.number(UNKNOWN)
        return INTERNER.number(Actual("integer", value=representative(int(value))))

    def _float(self, node: Node) -> int:
        prefix = node.text[:2].lower()
        if prefix in ("0f", "0d"):
            return INTERNER.number(Actual("float", "f32" if prefix == "0f" else "f64"))
        return INTERNER.number(Actual("decimal"))

    def _expression(self, node: Node) -> int:
        first = node.children[0]
        if first.kind != "Name" or first.text == "WARP_SZ":
            return self._integer(node)
        number = self._name(first)
        return INTERNER.composed(("+", number), lambda: self._with(number, offset=True))

    @staticmethod
    def _with(number: int, **changes: bool) -> Actual:
        return replace(INTERNER.actual(number), **changes)  # type: ignore[arg-type]

    def _unary(self, node: Node) -> int:
        inner = node.children[0]
        if inner.kind != "Name" or inner.text == "WARP_SZ":
            return self._integer(node)
        number = self._name(inner)
        field = "negated" if node.text.startswith("!") else "minus"
        return INTERNER.composed((field, number), lambda: self._with(number, **{field: True}))

    def _list(self, node: Node) -> int:
        kind = _LIST_KINDS[node.kind]
        numbers = tuple([self.read(child) for child in node.children])
        return INTERNER.composed(
            (kind, *numbers),
            lambda: Actual(kind, elements=tuple(INTERNER.actual(n) for n in numbers)),
        )

    def _address(self, node: Node) -> int:
        children = node.children
        has_offset = bool(node.flags & 2)
        numbers = tuple([self.read(c) for c in (children[0], *children[2 if has_offset else 1 :])])
        suffix = node.text[-node.selector_length :] if node.selector_length else ""
        return INTERNER.composed(
            ("[", has_offset, suffix, *numbers),
            lambda: Actual(
                "address",
                selector=suffix,
                offset=has_offset,
                elements=tuple(INTERNER.actual(n) for n in numbers),
            ),
        )

    def _subscript(self, node: Node) -> int:
        number = self.name(node.children[0])
        return INTERNER.composed(
            ("element", number), lambda: Actual("element", elements=(INTERNER.actual(number),))
        )

    def leaves(self, node: Node) -> Iterator[Node]:
        """The names under an operand."""
        return iter(node.find("Name")) if node.kind != "Name" else iter((node,))


_LIST_KINDS = {"Vector": "vector", "Pair": "pair", "ArgumentList": "list"}
_READERS: dict[str, Callable[[ScopeReader, Node], int]] = {
    "Name": ScopeReader._name,
    "Sink": ScopeReader._sink,
    "Integer": ScopeReader._integer,
    "Float": ScopeReader._float,
    "Expression": ScopeReader._expression,
    "Parenthesized": ScopeReader._integer,
    "Unary": ScopeReader._unary,
    "Vector": ScopeReader._list,
    "Pair": ScopeReader._list,
    "ArgumentList": ScopeReader._list,
    "Address": ScopeReader._address,
    "Subscript": ScopeReader._subscript,
}
