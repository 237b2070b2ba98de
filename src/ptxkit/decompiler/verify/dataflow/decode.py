"""Instructions of a function, decoded once for symbolic execution."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ptxkit._native import Node
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError
from ptxkit.isa.dataflow import registers
from ptxkit.isa.special_registers import find_special_register
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import variable_size
from ptxkit.syntax import (
    Declarator,
    Function,
    Instruction,
    Module,
    Name,
    Scopes,
    Variable,
    evaluate,
)

Register = tuple[int, str]
"""The node that declares it, and its name."""
Known = Callable[[str], tuple[str, ...]]
"""What a variable of the module is, by its name: equal for the same one of two modules."""

#: Instructions that give a function of their operands, and nothing else.
PURE = frozenset(
    "add sub mul mad mul24 mad24 sad div rem abs neg min max fma rcp sqrt rsqrt sin cos lg2 ex2 "
    "tanh and or xor not cnot lop3 shf shl shr bfe bfi bfind bmsk brev clz popc prmt cvt cvta setp "
    "set selp slct mov copysign testp dp4a dp2a szext addc subc madc".split()
)
#: Special registers that may differ from one moment to the next.
_RESTLESS = ("%clock", "%globaltimer", "%pm", "%smid", "%nsmid", "%warpid", "%gridid")


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand: its kind, and what there is to know."""

    kind: str
    """ "register", "number", "float", "symbol", "special", "address", "vector", "sink", or the
    "prototype" of a function that is called by its address."""
    value: Any = None
    parts: tuple[Operand, ...] = ()


#: What may say whose shared memory it means, and how.
_ACCESSES, _OWN = frozenset(("ld", "st", "atom", "red")), ".shared::cta"


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction."""

    name: str
    opcode: str
    modifiers: frozenset[str]
    types: tuple[str, ...]
    targets: tuple[tuple[Register, str] | None, ...]
    """The registers written, with their types; None for a sink."""
    sources: tuple[Operand, ...]
    guard: tuple[Register, bool] | None
    """The predicate, and whether it is negated."""
    line: int

    @property
    def type(self) -> str:
        """The type of the operands."""
        return self.types[-1] if self.types else "b32"


class Decoder:
    """Decodes the instructions of one function."""

    def __init__(
        self, function: Function, scopes: Scopes, places: dict[int, int], known: Known
    ) -> None:
        self.function = function
        self.known = known
        self.scopes = scopes
        self.parameters = {p.name: i for i, p in enumerate(function.parameters)}
        self.results = {p.name: i for i, p in enumerate(function.return_parameters)}
        self.places = places
        """Variables without initial values in the order they are named, over all functions."""
        self.types: dict[Register, str] = {}

    def step(self, node: Instruction) -> Step:
        """One instruction."""
        found = registers(node)
        written = {name.index for name in found.defined}
        types = tuple(m[1:] for m in node.modifiers if m[1:] in SCALAR_TYPES)
        targets: list[tuple[Register, str] | None] = []
        sources: list[Operand] = []
        for position, operand in enumerate(node.operands):
            names = [operand] if isinstance(operand, Name) else list(operand.find("Name"))
            inside = [n for n in names if n.index in written]
            if inside and operand.kind in ("Name", "Vector", "Pair"):
                parts = [operand] if operand.kind == "Name" else list(operand.children)
                for part in parts:
                    targets.append(self._target(part) if isinstance(part, Name) else None)
                again = self._read_again(node, position)
                if again:
                    sources.append(self._operand(operand))
            elif operand.kind == "Sink" and position == 0:
                targets.append(None)
            else:
                sources.append(self._operand(operand))
        guard = None
        if node.guard is not None:
            guard = self.register(node.guard.predicate), node.guard.negated
        opcode, modifiers = node.opcode, frozenset(node.modifiers)
        if node.name in _ACCESSES and _OWN in modifiers:
            # Where nothing is said, it is the shared memory of one's own block.
            opcode = opcode.replace(_OWN, ".shared")
            modifiers = modifiers - {_OWN} | {".shared"}
        return Step(
            node.name, opcode, modifiers, types, tuple(targets), tuple(sources), guard, node.line
        )

    def _read_again(self, node: Instruction, position: int) -> bool:
        names = registers(node)
        operand = node.operands[position]
        inside = [operand] if isinstance(operand, Name) else list(operand.find("Name"))
        return any(n.index == u.index for n in inside for u in names.used)

    def _target(self, name: Name) -> tuple[Register, str] | None:
        if name.selector:
            raise GiveUpError("a part of a vector register")
        register = self.register(name)
        return register, self.types[register]

    def register(self, name: Name) -> Register:
        """A register, which is noted with its type."""
        declaration = self.scopes.resolve(name)
        if declaration is None or declaration.kind != "register":
            raise GiveUpError(f"'{name.text}' is no register")
        register = declaration.node.index, name.identifier
        self.types[register] = declaration.type
        return register

    def _operand(self, node: Node) -> Operand:
        if isinstance(node, Name):
            return self._name(node)
        if node.kind == "Sink":
            return Operand("sink")
        if node.kind in ("Vector", "Pair", "ArgumentList"):
            return Operand("vector", parts=tuple(self._operand(c) for c in node.children))
        if node.kind == "Address":
            return self._address(node)
        if node.kind == "Application":
            return Operand("vector", node.text.split()[0], (self._operand(node.children[-1]),))
        if node.kind == "Unary" and node.text.startswith("!"):
            asked = self._operand(node.children[0])
            if asked.kind == "register" and asked.parts[0].value == "pred":
                return Operand("not", parts=(asked,))
        value = evaluate(node)
        if isinstance(value, int):
            return Operand("number", value)
        if isinstance(value, float):
            exact = node.text[:2].lower()
            if exact == "0f":
                return Operand("float", ("f32", int(node.text[2:], 16)))
            if exact == "0d":
                return Operand("float", ("f64", int(node.text[2:], 16)))
            bits = struct.unpack("<Q", struct.pack("<d", value))[0]
            return Operand("float", ("decimal", bits))
        raise GiveUpError(f"the operand '{node.text}'")

    def _address(self, node: Node) -> Operand:
        parts = list(node.children)
        base = self._operand(parts[0])
        rest: list[Operand] = []
        offset = 0
        for part in parts[1:]:
            value = evaluate(part)
            if isinstance(value, int):
                offset += value
            else:
                rest.append(self._operand(part))
        return Operand("address", offset, (base, *rest))

    def _name(self, name: Name) -> Operand:
        special = find_special_register(name.text)
        declaration = self.scopes.resolve(name)
        if declaration is None:
            if special is not None:
                kind = "restless" if name.text.startswith(_RESTLESS) else "special"
                return Operand(kind, name.text)
            return Operand("symbol", ("name", name.text))
        if declaration.kind == "register":
            if name.selector:
                raise GiveUpError("a part of a vector register")
            return Operand("register", self.register(name), (Operand("type", declaration.type),))
        if declaration.kind == "label":
            prototype = declaration.node.next_sibling
            if prototype is not None and prototype.kind == "CallPrototype":
                return Operand("prototype", " ".join(prototype.text.split()))
        if declaration.kind == "parameter":
            text = name.text
            if text in self.parameters:
                return Operand("symbol", ("parameter", self.parameters[text]))
            return Operand("symbol", ("result", self.results[text]))
        return Operand("symbol", self._variable(name.text, declaration.node))

    def _variable(self, text: str, node: Node) -> tuple[Any, ...]:
        if isinstance(node, Function):
            return "function", text
        if not isinstance(node, Declarator):
            return "name", text
        variable: Variable = node.variable
        space = variable.space
        if space in ("shared", "local"):
            number = self.places.setdefault(node.index, len(self.places))
            return space, number, *variable_size(variable, node)
        if space == "param":
            return "slot", text, node.index  # there may be another one in another scope
        if isinstance(variable.parent, Module):
            return "variable", *self.known(text), *variable_size(variable, node)
        raise GiveUpError(f"a variable of .{space} memory inside of a function")


def reads_of_parameters(step: Step) -> bool:
    """Whether a step only moves between registers and ``.param`` memory."""
    return step.name in ("ld", "st") and any(m.startswith(".param") for m in step.modifiers)


def calls_through(step: Step) -> bool:
    """Whether a step calls a function by its address, which is in a register."""
    return step.name == "call" and any(one.kind == "register" for one in step.sources)


def called(step: Step) -> list[str]:
    """The functions that a call names."""
    symbols = (one.value for one in step.sources if one.kind == "symbol")
    return [value[1] for value in symbols if value[0] in ("function", "name")]
