"""Operands of PTX to arguments of Python, with the text the writer would give them."""

from __future__ import annotations

from collections.abc import Callable

from ptxkit._native import Node
from ptxkit.dsl.operands import float_constant, shortest_f32
from ptxkit.dsl.registers import SELECTORS
from ptxkit.dsl.spacing import split
from ptxkit.errors import UsageError
from ptxkit.syntax.nodes import HAS_OFFSET
from ptxkit.transpiler.names import Scope, special
from ptxkit.transpiler.tree import Argument, Group, Symbol, quoted

#: Python's own parser takes up to a hundred nested lists.
_DEEPEST_LIST = 60

Spelled = tuple[Argument, str]
"""An argument, and its PTX text as the writer spells it."""


def collapsed(text: str) -> str:
    """A text with every gap a single space.

    >>> collapsed("1 +/* two */ 2")
    '1 + 2'
    """
    tokens, gaps = split(text)
    return "".join([(" " if gap else "") + token for token, gap in zip(tokens, gaps, strict=True)])


class OperandReader:
    """Reads the operands of one scope; what was read once is known by its text."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._known: dict[str, Spelled] = {}
        self.ready: set[str] | None = None
        """At module level: what has been declared so far, as Python runs in order."""

    def changed(self, scope: Scope) -> None:
        """Go on in another scope, or in the same with more names."""
        self.scope = scope
        self._known.clear()

    def read(self, node: Node) -> Spelled:
        """An operand."""
        text = node.text
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = _READERS[node.kind](self, node, text)
        return found

    def name(self, ptx: str) -> Symbol:
        """The symbol of a name."""
        symbol = self.scope.resolve(ptx)
        if self.ready is not None and ptx not in self.ready:
            return Symbol(ptx, quoted(ptx), "name")
        return symbol

    # -- readers -------------------------------------------------------------------------------

    def _name(self, node: Node, text: str) -> Spelled:
        if text == "WARP_SZ":
            return self._literal(text)
        if not node.selector_length:
            return self.name(text), text
        identifier = node.identifier
        selector = text.rpartition(".")[2]
        whole = f"{identifier}.{selector}"
        symbol = self.name(identifier)
        if symbol.kind == "special" and special(whole) and selector in "xyzw":
            return Symbol(whole, f"{symbol.python}.{selector}", "special"), whole
        if symbol.kind == "register" and selector in SELECTORS:
            return Symbol(whole, f"{symbol.python}.{selector}", "element"), whole
        return quoted(whole), whole

    def _sink(self, node: Node, text: str) -> Spelled:
        return '"_"', "_"

    def _literal(self, text: str) -> Spelled:
        text = collapsed(text)
        return f"lit({quoted(text)})", text

    def _integer(self, node: Node, text: str) -> Spelled:
        return self.integer(text)

    def integer(self, text: str) -> Spelled:
        """An integer as it is spelled."""
        # "10" is 10; "010", "0x10" and "10U" keep their spelling
        if text.isdecimal() and (text[0] != "0" or text == "0"):
            return text, text
        return self._literal(text)

    def _float(self, node: Node, text: str) -> Spelled:
        if text[:2] == "0f" and len(text) == 10:
            value = shortest_f32(int(text[2:], 16))
            if value is not None and float_constant(_number(value), "f32").text == text:
                return f"f32({value})", text
        elif text[:2] == "0d" and len(text) == 18:
            value = _f64(text)
            if value is not None and float_constant(_number(value), "f64").text == text:
                return f"f64({value})", text
        return self._literal(text)

    def _unary(self, node: Node, text: str) -> Spelled:
        inner = node.children[0]
        if inner.kind == "Integer" and text[0] == "-":
            python, spelled = self.read(inner)
            if python == spelled and spelled != "0":
                return f"-{spelled}", f"-{spelled}"
        if inner.kind != "Name" or inner.text == "WARP_SZ":
            return self._literal(text)
        argument, spelled = self.read(inner)
        if text[0] == "-":
            return Group("minus(", [argument], ")"), f"-{spelled}"
        return self.inverted(argument), f"!{spelled}"

    def inverted(self, argument: Argument) -> Argument:
        """A predicate with ``!`` before it."""
        if isinstance(argument, Symbol) and argument.kind == "register" and argument.type == "pred":
            return Group("~", [argument], "")
        return Group("inverted(", [argument], ")")

    def _expression(self, node: Node, text: str) -> Spelled:
        first, second = node.children[:2]
        named = first.kind == "Application" or (first.kind == "Name" and first.text != "WARP_SZ")
        if not named:
            return self._literal(text)
        base, base_text = self.read(first)
        rest = self._rest(node, second)
        return Group("offset(", [base, rest[0]], ")"), f"{base_text}+{rest[1]}"

    def _rest(self, node: Node, first: Node) -> Spelled:
        """What stands from a child to the end of its parent."""
        if first.span[1] == node.span[1]:
            return self.read(first)
        text = node.text.encode("utf-8", "surrogateescape")[first.span[0] - node.span[0] :]
        return self._literal(text.decode("utf-8", "surrogateescape"))

    def _parenthesized(self, node: Node, text: str) -> Spelled:
        return self._literal(text)

    def _application(self, node: Node, text: str) -> Spelled:
        function, inner = node.children
        argument, spelled = self.read(inner)
        return (
            Group("applied(", [quoted(function.text), argument], ")"),
            f"{function.text}({spelled})",
        )

    def _subscript(self, node: Node, text: str) -> Spelled:
        (base, base_text), (index, index_text) = (self.read(child) for child in node.children)
        return Group("element(", [base, index], ")"), f"{base_text}[{index_text}]"

    def _vector(self, node: Node, text: str) -> Spelled:
        parts = [self.read(child) for child in node.children]
        inner = ", ".join([spelled for _, spelled in parts])
        return Group("[", [argument for argument, _ in parts], "]"), f"{{{inner}}}"

    def _arguments(self, node: Node, text: str) -> Spelled:
        parts = [self.read(child) for child in node.children]
        inner = ", ".join([spelled for _, spelled in parts])
        closing = ",)" if len(parts) == 1 else ")"
        return Group("(", [argument for argument, _ in parts], closing), f"({inner})"

    def _pair(self, node: Node, text: str) -> Spelled:
        (first, first_text), (second, second_text) = (self.read(child) for child in node.children)
        return Group("pair(", [first, second], ")"), f"{first_text}|{second_text}"

    def _address(self, node: Node, text: str) -> Spelled:
        children = node.children
        base, spelled = self.read(children[0])
        parts: list[Argument] = [base]
        at = 1
        if node.flags & HAS_OFFSET:
            offset, offset_text = self.read(children[1])
            parts.append(offset)
            spelled = f"{spelled}+{offset_text}"
            at = 2
        rest = [self.read(child) for child in children[at:]]
        if rest:
            if at == 1:
                parts.append("None")
            parts += [argument for argument, _ in rest]
            spelled = ", ".join([spelled, *[one for _, one in rest]])
        length = node.selector_length
        suffix = text[-length:] if length else ""
        closing = f", suffix={quoted(suffix)})" if suffix else ")"
        return Group("addr(", parts, closing), f"[{spelled}]{suffix}"

    def _initializer_list(self, node: Node, text: str) -> Spelled:
        depth = len(text) - len(text.lstrip("{ \t\r\n"))
        if depth > _DEEPEST_LIST and text.count("{", 0, depth) > _DEEPEST_LIST:
            raise UsageError(
                f"line {node.line}: an initialiser is nested more than {_DEEPEST_LIST} deep, "
                "which Python cannot say; write it flat, as PTX allows"
            )
        parts = [self.read(child) for child in node.children]
        inner = ", ".join([spelled for _, spelled in parts])
        return Group("[", [argument for argument, _ in parts], "]"), f"{{{inner}}}"

    def _field(self, node: Node, text: str) -> Spelled:
        argument, spelled = self.read(node.children[0])
        name = node.tokens(own=True)[0][1]
        return Group("field(", [quoted(name), argument], ")"), f"{name} = {spelled}"


def _number(python: str) -> float:
    return float(python.removeprefix('float("').removesuffix('")'))


def _f64(text: str) -> str | None:
    import struct

    (value,) = struct.unpack(">d", bytes.fromhex(text[2:]))
    if value != value:
        return None
    return f'float("{value}")' if value in (float("inf"), float("-inf")) else repr(value)


_READERS: dict[str, Callable[[OperandReader, Node, str], Spelled]] = {
    "Name": OperandReader._name,
    "Sink": OperandReader._sink,
    "Integer": OperandReader._integer,
    "Float": OperandReader._float,
    "Unary": OperandReader._unary,
    "Expression": OperandReader._expression,
    "Parenthesized": OperandReader._parenthesized,
    "Application": OperandReader._application,
    "Subscript": OperandReader._subscript,
    "Vector": OperandReader._vector,
    "ArgumentList": OperandReader._arguments,
    "Pair": OperandReader._pair,
    "Address": OperandReader._address,
    "InitializerList": OperandReader._initializer_list,
    "FieldInitializer": OperandReader._field,
}
