"""What instructions are lifted with: variables for registers, operands as expressions.

Memory is not C++ yet at this point: a load is a call of ``@ld`` with its space and type
in the name and a 64-bit address as argument, a store likewise. ``memory.py`` turns them
into array accesses once the addresses are known in full.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.cuda import nodes as n
from ptxkit.cuda.infer import infer
from ptxkit.cuda.literals import from_bits
from ptxkit.cuda.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG_LONG,
    SCALARS,
    UINT,
    UNSIGNED_LONG_LONG,
    Scalar,
    Type,
)
from ptxkit.decompiler.lift.webs import Web, Webs
from ptxkit.errors import PtxkitError
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Function, Module, Name, Parameter, Scopes, evaluate

#: The C++ type that an instruction's type stands for.
C_TYPES: dict[str, Scalar] = {
    "pred": BOOL, "s8": SCALARS["schar"], "u8": SCALARS["uchar"], "b8": SCALARS["uchar"],
    "s16": SCALARS["short"], "u16": SCALARS["ushort"], "b16": SCALARS["ushort"],
    "s32": INT, "u32": UINT, "b32": UINT, "s64": LONG_LONG, "u64": UNSIGNED_LONG_LONG,
    "b64": UNSIGNED_LONG_LONG, "f32": FLOAT, "f64": DOUBLE,
}  # fmt: skip
_REINTERPRET = {
    (FLOAT, INT): "__float_as_int", (FLOAT, UINT): "__float_as_uint",
    (INT, FLOAT): "__int_as_float", (UINT, FLOAT): "__uint_as_float",
    (DOUBLE, LONG_LONG): "__double_as_longlong", (LONG_LONG, DOUBLE): "__longlong_as_double",
}  # fmt: skip
_BUILTINS = {
    f"%{short}.{axis}": n.builtin(f"{name}.{axis}")
    for short, name in (
        ("tid", "threadIdx"),
        ("ctaid", "blockIdx"),
        ("ntid", "blockDim"),
        ("nctaid", "gridDim"),
    )
    for axis in "xyz"
}


class NotLiftedError(PtxkitError):
    """Something the lifter has no C++ for; the caller writes inline assembly instead."""


@dataclass(slots=True)
class Lift:
    """One function while it is lifted."""

    module: Module
    function: Function
    scopes: Scopes
    webs: Webs
    votes: dict[int, Counter[str]] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    """Types of variables by name."""
    before: list[n.Statement] = field(default_factory=list)
    """Statements that must run before the one being made."""
    after: list[n.Statement] = field(default_factory=list)
    """Statements that must run after it."""
    fresh: int = 0
    open_slots: set[str] = field(default_factory=set)
    """Parameters whose type a later pass may still change."""
    slots: dict[int, str] = field(default_factory=dict)
    """Variables for parameters and for what calls pass, by the node that declares them."""

    def __post_init__(self) -> None:
        for space in ("global", "shared", "local", "const", "param", "function"):
            self.types[f"@address.{space}"] = UNSIGNED_LONG_LONG

    def slot(self, node: Node) -> str:
        """The variable of a ``.param`` symbol."""
        key = node.index
        if not isinstance(node, Parameter):
            declaration = self.scopes.resolve(node)
            if declaration is None:
                raise NotLiftedError(f"'{node.text}'")
            key = declaration.node.index
        if key not in self.slots:
            self.slots[key] = f"a{len(self.slots)}"
        return self.slots[key]

    # ---- variables -----------------------------------------------------------------------

    def name_of(self, web: Web) -> str:
        """The variable of a web."""
        return f"v{web.number}"

    def variable(self, node: Node) -> tuple[n.Name, Web]:
        """The variable that a register's name means."""
        if not isinstance(node, Name) or node.index not in self.webs.by_name:
            raise NotLiftedError(f"'{node.text}' is not a register")
        web = self.webs.of(node)
        return n.Name(self.name_of(web)), web

    def type_of_web(self, web: Web) -> Scalar:
        """The type a web's variable has."""
        found = self.types.get(self.name_of(web))
        return found if isinstance(found, Scalar) else C_TYPES[web.type]

    def temporary(self, type: Scalar) -> n.Name:
        """A variable of its own."""
        name = f"t{self.fresh}"
        self.fresh += 1
        self.types[name] = type
        return n.Name(name)

    def vote(self, web: Web, type: str) -> None:
        """Note that an instruction takes a variable for a type."""
        self.votes.setdefault(web.number, Counter())[type] += 1

    def decide(self) -> None:
        """Choose types from the votes; forget the votes."""
        for web in self.webs.all:
            self.types[self.name_of(web)] = _chosen(web.type, self.votes.get(web.number, Counter()))
        self.votes = {}

    # ---- operands ------------------------------------------------------------------------

    def read(self, node: Node, type: str) -> n.Expression:
        """An operand as a value of an instruction's type.

        Untyped bits (``b32``) come in whatever integer type the variable has.
        """
        wanted = C_TYPES[type]
        if isinstance(node, Name) and node.index in self.webs.by_name:
            name, web = self.variable(node)
            self.vote(web, type)
            have = self.type_of_web(web)
            if type[0] == "b" and have.is_integer and have.bits == wanted.bits:
                return name
            return self.reinterpreted(name, have, wanted)
        if type == "pred" and node.kind == "Unary":
            return n.Unary("!", self.read(node.children[0], "pred"))
        if isinstance(node, Name):
            return self._named(node, wanted)
        value = evaluate(node)
        if value is None:
            raise NotLiftedError(f"'{node.text}' as an operand")
        return self.constant(value, node.text, type)

    def constant(self, value: int | float, text: str, type: str) -> n.Expression:
        """A literal operand."""
        wanted = C_TYPES[type]
        if isinstance(value, float):
            exact = DOUBLE if text[:2].lower() == "0d" else FLOAT
            if text[:2].lower() in ("0f", "0d") and wanted.bits == exact.bits:
                bits = int(text[2:], 16)
                if wanted.is_float:
                    return from_bits(bits, wanted)
                return n.Literal(_wrapped(bits, wanted), wanted)
            if wanted.is_float:
                return n.Literal(float(value), wanted)
            raise NotLiftedError(f"'{text}' as {type}")
        if wanted.is_float:
            return from_bits(int(value) & ((1 << wanted.bits) - 1), wanted)
        if wanted == BOOL:
            return n.Literal(bool(value), BOOL)
        if type[0] == "b":
            wanted = {32: INT, 64: LONG_LONG}.get(wanted.bits, wanted)
        return n.Literal(_wrapped(int(value), wanted), wanted)

    def _named(self, node: Name, wanted: Scalar) -> n.Expression:
        text = node.text
        if text in _BUILTINS:
            return self.reinterpreted(_BUILTINS[text], UINT, wanted)
        if node.identifier in SPECIAL_REGISTERS:
            return self._special(text, wanted)
        if text == "WARP_SZ":
            return n.Literal(32, wanted)
        declaration = self.scopes.resolve(node)
        if declaration is None:
            raise NotLiftedError(f"'{text}' as an operand")
        return n.Call(f"@address.{declaration.space or 'function'}", (n.Name(declaration.name),))

    def _special(self, text: str, wanted: Scalar) -> n.Expression:
        """A special register without a name in C++: read by one instruction."""
        wide = "64" in text or text in ("%globaltimer",)
        type, letter, suffix = (UNSIGNED_LONG_LONG, "l", "u64") if wide else (UINT, "r", "u32")
        result = self.temporary(type)
        output = (n.AsmOperand("=" + letter, result),)
        self.before.append(n.Declare(type, result.name))
        self.before.append(n.Asm(f"mov.{suffix} %0, %{text};", output, volatile=text in _CHANGING))
        return self.reinterpreted(result, type, wanted)

    def reinterpreted(self, value: n.Expression, have: Scalar, wanted: Scalar) -> n.Expression:
        """The same bits as another type; wider or narrower integers are cut or extended."""
        if have == wanted:
            return value
        if have.is_float and wanted.is_float:
            raise NotLiftedError(f"the bits of {have.spelling} as {wanted.spelling}")
        if have.is_integer and wanted.is_integer:
            if isinstance(value, n.Literal):
                return n.Literal(_wrapped(int(value.value), wanted), wanted)
            return n.Cast(wanted, value)
        if have.bits != wanted.bits:
            raise NotLiftedError(f"the bits of {have.spelling} as {wanted.spelling}")
        function = _REINTERPRET.get((have, wanted))
        if function is not None:
            return n.Call(function, (value,))
        # By way of the signed integer of the same width.
        middle = {32: INT, 64: LONG_LONG}.get(have.bits)
        if middle is None or middle in (have, wanted):
            raise NotLiftedError(f"the bits of {have.spelling} as {wanted.spelling}")
        return self.reinterpreted(self.reinterpreted(value, have, middle), middle, wanted)

    # ---- results -------------------------------------------------------------------------

    def write(self, node: Node, type: str, value: n.Expression) -> list[n.Statement]:
        """Assign a value of an instruction's type to a destination."""
        if node.kind == "Sink":
            return []
        name, web = self.variable(node)
        self.vote(web, type)
        have = self.type_of_web(web)
        made = infer(value, self.types)
        wanted = made if type[0] == "b" and isinstance(made, Scalar) else C_TYPES[type]
        if not (wanted.is_integer and have.is_integer):
            value = self.reinterpreted(value, wanted, have)
        elif wanted.bits != have.bits and have.bits > wanted.bits:
            # A narrow result in a wide register is extended as its type says.
            value = n.Cast(wanted, value) if made != wanted else value
        return [n.Assign(name, value)]


_CHANGING = frozenset(
    "%clock %clock64 %clock_hi %globaltimer %globaltimer_lo %globaltimer_hi %smid %warpid".split()
)


def _wrapped(value: int, type: Scalar) -> int:
    value &= (1 << type.bits) - 1
    return value - (1 << type.bits) if type.signed and value >> (type.bits - 1) else value


def _chosen(declared: str, votes: Counter[str]) -> Scalar:
    """The type of a variable from how instructions take it."""
    if declared == "pred":
        return BOOL
    width = SCALAR_TYPES[declared].width
    floats = votes[f"f{width}"] + (1 if declared.startswith("f") else 0)
    signed, unsigned = votes[f"s{width}"], votes[f"u{width}"]
    if floats > signed + unsigned:
        return C_TYPES[f"f{width}"]
    if width == 16 and not signed and not unsigned:
        return SCALARS["ushort"]
    return C_TYPES[f"u{width}" if unsigned > signed else f"s{width}"]
