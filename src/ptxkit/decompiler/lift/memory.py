"""Accesses of memory as array accesses.

An address is a sum: a base (a parameter, a variable of the module) plus terms times
numbers plus a number. Divided by the size of what is accessed it is an index.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.types import (
    INT,
    LONG_LONG,
    SCALARS,
    UNSIGNED_LONG_LONG,
    Pointer,
    Scalar,
    Type,
)
from ptxkit.decompiler.lift.context import C_TYPES
from ptxkit.decompiler.lift.rewrite import bottom_up
from ptxkit.decompiler.lift.simplify import Simplifier

_CHAR = SCALARS["char"]


@dataclass(slots=True)
class Sum:
    """An address taken apart: terms with their factors, and a number."""

    terms: dict[n.Expression, int] = field(default_factory=dict)
    constant: int = 0

    def add(self, other: Sum, factor: int = 1) -> None:
        """Add another sum, times a number."""
        self.constant += other.constant * factor
        for term, times in other.terms.items():
            self.terms[term] = self.terms.get(term, 0) + times * factor
            if not self.terms[term]:
                del self.terms[term]


class Memory:
    """Turns the accesses of one function into C++."""

    def __init__(
        self, types: dict[str, Type], parameters: list[str], variables: dict[str, str]
    ) -> None:
        self.types = types
        self.parameters = set(parameters)
        self.variables = variables
        """Variables of the module and function by name: their state spaces."""
        self.votes: dict[str, Counter[str]] = {}
        self.stored: set[str] = set()
        self.raw: set[str] = set()
        """Parameters that are used other than as a base."""

    # ---- sums ----------------------------------------------------------------------------

    def sum_of(self, node: n.Expression) -> Sum:
        """A 64-bit address as a sum."""
        match node:
            case n.Literal(value=value):
                return Sum(constant=int(value))
            case n.Binary(operator=("+" | "-") as operator, left=left, right=right) if self._wide(
                node
            ):
                total = self.sum_of(left)
                total.add(self.sum_of(right), 1 if operator == "+" else -1)
                return total
            case n.Binary(operator="*", left=left, right=n.Literal(value=value)) if self._wide(
                node
            ):
                total = Sum()
                total.add(self.sum_of(left), int(value))
                return total
            case n.Binary(operator="<<", left=left, right=n.Literal(value=value)) if self._wide(
                node
            ):
                total = Sum()
                total.add(self.sum_of(left), 1 << int(value))
                return total
            case n.Cast(type=Scalar() as to, operand=operand) if to.bits == 64:
                have = infer(operand, self.types)
                if isinstance(have, Scalar) and have.is_integer and have.bits == 64:
                    return self.sum_of(operand)
                if isinstance(operand, n.Call) and operand.function.startswith("@address"):
                    return Sum({operand: 1})
                if self._is_shared(operand):
                    # Shared addresses are small: sums of 32 bits do not wrap around.
                    return self._narrow_sum(operand)
        return Sum({node: 1})

    def _is_shared(self, node: n.Expression) -> bool:
        return any(isinstance(p, n.Call) and p.function.startswith("@address") for p in node.walk())

    def _narrow_sum(self, node: n.Expression) -> Sum:
        match node:
            case n.Literal(value=value):
                return Sum(constant=int(value))
            case n.Binary(operator=("+" | "-") as operator, left=left, right=right):
                total = self._narrow_sum(left)
                total.add(self._narrow_sum(right), 1 if operator == "+" else -1)
                return total
            case n.Binary(operator="*", left=left, right=n.Literal(value=value)):
                total = Sum()
                total.add(self._narrow_sum(left), int(value))
                return total
            case n.Binary(operator="<<", left=left, right=n.Literal(value=value)):
                total = Sum()
                total.add(self._narrow_sum(left), 1 << int(value))
                return total
            case n.Cast(type=Scalar() as to, operand=operand) if to.kind == "int" and to.bits == 32:
                have = infer(operand, self.types)
                if isinstance(have, Scalar) and have.kind == "int" and have.bits == 32:
                    return self._narrow_sum(operand)
        return Sum({node: 1})

    def _wide(self, node: n.Expression) -> bool:
        found = infer(node, self.types)
        return isinstance(found, Scalar) and found.is_integer and found.bits == 64

    def base_of(self, total: Sum) -> n.Expression | None:
        """The term that is an array, if there is just one."""
        found = [term for term, times in total.terms.items() if times == 1 and self._is_base(term)]
        return found[0] if len(found) == 1 else None

    def _is_base(self, term: n.Expression) -> bool:
        match term:
            case n.Name(name=name):
                return name in self.parameters
            case n.Call(function=function):
                return function.startswith("@address") and function != "@address.function"
            case n.Cast(operand=operand):
                return self._is_base(operand)
        return False

    # ---- what arrays hold ----------------------------------------------------------------

    def survey(self, statements: list[n.Node]) -> None:
        """Note what every base is accessed as."""
        for statement in statements:
            for node in statement.walk():
                if isinstance(node, n.Call) and node.function.startswith(("@ld", "@st", "@atomic")):
                    total = self.sum_of(node.arguments[0])
                    base = self.base_of(total)
                    if base is not None:
                        name = _name(base)
                        type = node.function.rpartition(".")[2]
                        self.votes.setdefault(name, Counter())[type] += 1
                        if not node.function.startswith("@ld"):
                            self.stored.add(name)

    def element(self, name: str) -> Scalar | None:
        """The type of an array's elements: what it is accessed as most."""
        votes = self.votes.get(name)
        if not votes:
            return None
        best = max(votes.values())
        return C_TYPES[min(t for t in votes if votes[t] == best)]

    # ---- writing -------------------------------------------------------------------------

    def statement(self, node: n.Node) -> n.Node:
        """A statement with its accesses written as C++."""
        return bottom_up(node, self._node)  # type: ignore[no-any-return]

    def _node(self, node: n.Node) -> n.Node:
        match node:
            case n.Evaluate(expression=n.Call(function=function, arguments=(address, value))) if (
                function.startswith("@st")
            ):
                return n.Assign(self.place(function, address), value)
            case n.Call(function=function, arguments=(address,)) if function.startswith("@ld"):
                return self.place(function, address)
            case n.Call(function=function, arguments=(address, *values)) if function.startswith(
                "@atomic"
            ):
                name = function[1:].partition(".")[0]
                return n.Call(name, (self.pointer(function, address), *values))
        return node

    def place(self, function: str, address: n.Expression) -> n.Expression:
        """What an access accesses."""
        words = function.split(".")
        type = C_TYPES[words[-1]]
        volatile = "volatile" in words
        total = self.sum_of(address)
        base = self.base_of(total)
        if base is not None:
            name = _name(base)
            rest = Sum({t: k for t, k in total.terms.items() if t is not base}, total.constant)
            array: n.Expression = n.Name(name)
            if self.element(name) != type or volatile:
                array = n.Cast(Pointer(type, volatile=volatile), array)
            index = self.index(rest, type.size)
            if index is not None:
                return n.Index(array, index)
            bytes_ = n.Cast(Pointer(_CHAR), n.Name(name))
            whole = self.index(rest, 1)
            assert whole is not None
            place = n.Binary("+", bytes_, whole)
            return n.Unary("*", n.Cast(Pointer(type, volatile=volatile), place))
        number = self._raw(address)
        if words[1] in ("shared", "local", "const"):
            # An address inside its space, as a pointer: by way of the conversion.
            number = n.Call(f"__cvta_{words[1]}_to_generic", (number,))
        return n.Unary("*", n.Cast(Pointer(type, volatile=volatile), number))

    def pointer(self, function: str, address: n.Expression) -> n.Expression:
        """The address of an access, as a pointer."""
        place = self.place(function, address)
        if isinstance(place, n.Unary) and place.operator == "*":
            return place.operand
        return n.Unary("&", place)

    def index(self, total: Sum, size: int) -> n.Expression | None:
        """A sum of bytes as a number of elements; None where it is not whole."""
        if total.constant % size or any(times % size for times in total.terms.values()):
            return None
        parts: list[tuple[n.Expression, int]] = []
        for term, times in total.terms.items():
            parts.append((self._term(term), times // size))
        parts.sort(key=lambda part: part[1] < 0)
        result: n.Expression | None = None
        for term, times in parts:
            scaled = term if abs(times) == 1 else n.Binary("*", term, n.Literal(abs(times), INT))
            if result is None:
                result = scaled if times > 0 else n.Unary("-", scaled)
            else:
                result = n.Binary("+" if times > 0 else "-", result, scaled)
        number = total.constant // size
        if result is None:
            return n.Literal(number, INT if abs(number) < 1 << 31 else LONG_LONG)
        if number:
            type = infer(result, self.types)
            if number < 0 and isinstance(type, Scalar) and not type.signed and type.bits == 32:
                result = n.Cast(LONG_LONG, result)
            amount = n.Literal(abs(number), INT if abs(number) < 1 << 31 else LONG_LONG)
            result = n.Binary("+" if number > 0 else "-", result, amount)
        return Simplifier(self.types).expression(result)

    def _term(self, term: n.Expression) -> n.Expression:
        """A term as an index: C++ widens by itself."""
        match term:
            case n.Cast(type=Scalar() as to, operand=operand) if to.bits == 64:
                have = infer(operand, self.types)
                signs = isinstance(have, Scalar) and have.kind == "int" and have.bits == 32
                if signs and have.signed == to.signed:  # type: ignore[union-attr]
                    return operand
                if signs and isinstance(have, Scalar) and not have.signed:
                    return operand
                if signs and isinstance(have, Scalar) and have.signed and to == UNSIGNED_LONG_LONG:
                    return operand
        return term

    def _raw(self, address: n.Expression) -> n.Expression:
        for part in address.walk():
            if isinstance(part, n.Name) and part.name in self.parameters:
                self.raw.add(part.name)
        return address


def _name(base: n.Expression) -> str:
    match base:
        case n.Name(name=name):
            return name
        case n.Call(arguments=(n.Name(name=name),)):
            return name
        case n.Cast(operand=operand):
            return _name(operand)
    raise AssertionError(base)
