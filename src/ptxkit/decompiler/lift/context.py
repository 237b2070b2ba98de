"""What instructions are lifted with: operands as values, results as steps."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

from ptxkit._native import Node
from ptxkit.decompiler.lift.algebra import make
from ptxkit.decompiler.lift.flags import Flags
from ptxkit.decompiler.lift.signatures import Signatures
from ptxkit.decompiler.lift.ssa import Versions
from ptxkit.decompiler.lift.values import Definition, Step, Value, Variable, const, raw, var
from ptxkit.errors import PtxkitError
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.syntax import Address, Function, Instruction, Module, Name, Scopes, evaluate
from ptxkit.syntax.constants import float_value


class NotLiftedError(PtxkitError):
    """Something the lifter has no C++ for; the caller writes inline assembly instead."""

    def at(self, filename: str, node: Node) -> NotLiftedError:
        """The same where no assembly will do either: a message to the user, with its place."""
        where = f"{filename}:{node.line}:{node.column}"
        return NotLiftedError(f"{where}: {self} is nothing that can be lifted")


@dataclass(frozen=True, slots=True)
class Pack:
    """A number that was put together of parts, and where that was."""

    block: int
    place: int
    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """How memory is read or written."""

    space: str
    type: str
    count: int = 1
    volatile: bool = False
    constant: bool = False
    """Read through a path that promises nobody writes it (``.nc``)."""
    hint: str = ""
    """A cache operator that has a function of its own, such as ``cs``."""
    serial: int = 0

    @property
    def width(self) -> int:
        """Bits of one element."""
        return SCALAR_TYPES[self.type].width

    @property
    def size(self) -> int:
        """Bytes of all of them."""
        return self.width // 8 * self.count


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A function of CUDA C++, or one that holds a single instruction.

    ``takes`` and ``gives`` are types of PTX, or "" for nothing given.
    """

    name: str
    takes: tuple[str, ...]
    gives: str
    assembly: str = ""
    """For one made here: the instruction, with ``%0`` for the result."""
    header: str = ""
    packs: int = 0
    """How many arguments are the parts of a vector, which is the first argument."""
    ends: tuple[str, ...] = ()
    """Names that are its last arguments."""


#: Special registers that C++ has a name for.
BUILTINS = {
    f"%{short}.{axis}": f"{name}.{axis}"
    for short, name in (
        ("tid", "threadIdx"), ("ctaid", "blockIdx"), ("ntid", "blockDim"), ("nctaid", "gridDim"),
    )
    for axis in "xyz"
}  # fmt: skip
#: Special registers that differ from one moment to the next.
CHANGING = frozenset(
    "%clock %clock64 %clock_hi %globaltimer %globaltimer_lo %globaltimer_hi %smid %warpid".split()
)


#: Special registers that a function of CUDA C++ reads.
_READ_BY = {"%clock64": "clock64"}
#: Operations that give the same wherever they are computed from the same.
_LASTING = frozenset(
    "const builtin add sub mul shl shr.u shr.s and or xor not neg sext zext trunc".split()
)


@dataclass(slots=True)
class Lift:
    """One function while it is lifted."""

    module: Module
    function: Function
    scopes: Scopes
    versions: Versions
    signatures: Signatures
    flags: Flags
    """What plain arithmetic becomes, with the options that code is compiled with."""
    contracts: bool = False
    """Whether the compiler may contract sums: then ``add.rn`` is asked for by name."""
    in_order: bool = False
    """Whether the compiler leaves what it computes where it is written, loads too."""
    steps: list[Step] = field(default_factory=list)
    """Statements of the block being lifted."""
    variables: list[Variable] = field(default_factory=list)
    slots: dict[int, Variable] = field(default_factory=dict)
    """Variables for parameters and for what calls pass, by the node that declares them."""
    used_definitions: set[int] = field(default_factory=set)
    line: int = 0
    block: int = 0
    serial: int = 0
    slot_versions: dict[Variable, Definition] = field(default_factory=dict)
    """What variables of parameters hold now."""
    constants: dict[Definition, int] = field(default_factory=dict)
    """Numbers that variables were set to, once and for all."""
    computed: dict[Definition, Value] = field(default_factory=dict)
    """What variables were set to, once and for all, from what does not change either."""
    words: set[Definition] = field(default_factory=set)
    """Variables that bytes are taken of as of a vector."""
    packs: dict[Definition, Pack] = field(default_factory=dict)
    """Variables that were put together of parts."""
    pointers: dict[Value, None] = field(default_factory=dict)
    """Values that are addresses, since they were converted as such: in the order of the text,
    since what is loaded from one is known to be one only where that one is known."""

    # ---- variables -----------------------------------------------------------------------

    def fresh(self, width: int, declared: str, register: str = "") -> Definition:
        """A new variable with one definition, here."""
        variable = Variable(len(self.variables), width, declared, register, 1)
        self.variables.append(variable)
        return Definition(variable, self.block)

    def number(self) -> int:
        """A number for what must not be taken for anything else."""
        self.serial += 1
        return self.serial

    def slot(self, node: Node) -> Variable:
        """The variable of a ``.param`` symbol."""
        key = node.index
        if isinstance(node, Name):
            declaration = self.scopes.resolve(node)
            if declaration is None:
                raise NotLiftedError(f"'{node.text}'")
            key = declaration.node.index
        found = self.slots.get(key)
        if found is None:
            raise NotLiftedError(f"the parameter '{node.text}'")
        return found

    def is_read(self, node: Node) -> bool:
        """Whether anybody reads what an operand is set to."""
        definition = self.versions.writes.get(node.index)
        if definition is None:
            return False
        variable = definition.variable
        return variable.definitions > 1 or id(definition) in self.used_definitions

    # ---- operands ------------------------------------------------------------------------

    def read(self, node: Node, type: str) -> Value:
        """An operand as bits of an instruction's type."""
        width = SCALAR_TYPES[type].width
        definition = self.versions.reads.get(node.index)
        if definition is not None and isinstance(node, Name):
            value = var(definition)
            if node.selector_length:
                raise NotLiftedError("a part of a register")
            if value.width > width:
                return make("trunc", width, value)
            if value.width < width:
                return make("sext" if type[0] == "s" else "zext", width, value)
            return value
        kind = node.kind
        if kind == "Unary" and type == "pred" and node.text.startswith("!"):
            return make("not", 1, self.read(node.children[0], "pred"))
        if isinstance(node, Name):
            return self._named(node, width)
        if kind == "Float":
            return const(float_bits(node, type), width)
        number = evaluate(node)
        if number is None:
            return self._symbol_sum(node, width)
        if isinstance(number, float):
            raise NotLiftedError(f"'{node.text}' as an operand")
        return const(int(number), width)

    def _symbol_sum(self, node: Node, width: int) -> Value:
        """``variable + 8`` as an operand."""
        names = list(node.find("Name"))
        operators = getattr(node, "operators", ())
        if node.kind == "Expression" and len(names) == 1 and operators == ("+",):
            number = evaluate(node.children[1])
            if node.children[0].kind == "Name" and isinstance(number, int):
                return make("add", width, self._named(names[0], width), const(number, width))
        raise NotLiftedError(f"'{node.text}' as an operand")

    def _named(self, node: Name, width: int) -> Value:
        text = node.text
        if text in BUILTINS:
            value = raw("builtin", 32, (), BUILTINS[text])
            return value if width == 32 else make("zext" if width > 32 else "trunc", width, value)
        if node.identifier in SPECIAL_REGISTERS:
            return self._special(node, width)
        if text == "WARP_SZ":
            return make("zext", width, raw("builtin", 32, (), "warpSize"))
        declaration = self.scopes.resolve(node)
        if declaration is None or declaration.kind not in ("variable", "function", "parameter"):
            raise NotLiftedError(f"'{text}' as an operand")
        if declaration.kind == "function":
            return raw("symbol", width, (), ("function", declaration.name))
        if declaration.space == "param":
            return raw("slot", width, (), self.slot(node))
        return raw("symbol", width, (), (declaration.space, self.symbol_name(declaration.node)))

    def symbol_name(self, node: Node) -> str:
        """The name a variable of memory goes by; two of a name in one function differ."""
        return self.signatures.memory_name(node)

    def _special(self, node: Name, width: int) -> Value:
        """A special register without a name in C++: read by one instruction."""
        register = SPECIAL_REGISTERS[node.identifier]
        type = register.type if register.type in ("u32", "u64", "pred") else "u32"
        if type == "pred":
            type = "u32"
        bits = SCALAR_TYPES[type].width
        text = str(node.text)
        name = text.strip("%").replace(".", "_") + "_register"
        serial = self.number() if text in CHANGING else 0
        call = Intrinsic(name, (), type, f"mov.{type} %0, %{text};")
        if text in _READ_BY:
            call = Intrinsic(_READ_BY[text], (), type)
        if serial:
            value = raw("collective", bits, (), (call, serial))
            target = self.fresh(bits, type)
            self.steps.append(Step("set", [target], [value], line=self.line))
            value = var(target)
        else:
            value = raw("call", bits, (), call)
        if width == bits:
            return value
        return make("zext" if width > bits else "trunc", width, value)

    def address(self, node: Node, space: str) -> Value:
        """The address an operand stands for: 64 bits, or 32 where a register has these."""
        if not isinstance(node, Address) or node.rest:
            raise NotLiftedError("this address")
        offset = evaluate(node.offset) if node.offset is not None else 0
        if not isinstance(offset, int):
            raise NotLiftedError("this address")
        base = node.base
        definition = self.versions.reads.get(base.index)
        if definition is not None:
            value = var(definition)
        elif isinstance(base, Name):
            value = self._named(base, 64)
        else:
            number = evaluate(base)
            if not isinstance(number, int):
                raise NotLiftedError("this address")
            value = const(number, 64)
        return make("add", value.width, value, const(offset, value.width))

    # ---- results -------------------------------------------------------------------------

    def write(self, node: Node, type: str, value: Value, *, merged: bool = False) -> None:
        """Assign a value of an instruction's type to a destination.

        ``merged`` says that the instruction has put a part of it into the rest already.
        """
        if node.kind == "Sink":
            if value.op in ("atomic", "collective", "function"):
                self.steps.append(Step("effect", [], [value], line=self.line))
            return
        definition = self.versions.writes.get(node.index)
        if definition is None or (node.selector_length and not merged):
            raise NotLiftedError(f"'{node.text}' as a destination")
        width = definition.variable.width
        if width > value.width:
            value = make("sext" if type[0] == "s" else "zext", width, value)
        elif width < value.width:
            value = make("trunc", width, value)
        if value.op == "const" and definition.variable.definitions == 1:
            self.constants[definition] = value.data
        if definition.variable.definitions == 1 and _lasts(value):
            self.computed[definition] = value
        self.steps.append(Step("set", [definition], [value], line=self.line))

    def unpacked(self, value: Value, count: int) -> tuple[Value, ...] | None:
        """The parts that a number was put together of, if they are what they were then."""
        pack = self.packs.get(value.data) if value.op == "var" else None
        if pack is None or len(pack.parts) != count:
            return None
        steps = self.steps[pack.place :] if pack.block == self.block else None
        for part in pack.parts:
            if part.op == "const" or (part.op == "var" and part.data.variable.definitions == 1):
                continue
            if part.op != "var" or steps is None:
                return None
            if any(t.variable is part.data.variable for s in steps for t in s.targets):
                return None
        return pack.parts

    def behind(self, value: Value) -> Value:
        """What a variable was set to, where that is the same everywhere; any other as it is."""
        while value.op == "var" and value.data in self.computed:
            value = self.computed[value.data]
        return value

    def constant(self, node: Node) -> int | None:
        """The number that an operand is, if it is known to be one."""
        definition = self.versions.reads.get(node.index)
        if definition is not None:
            return self.constants.get(definition)
        value = getattr(node, "value", None)
        return value if isinstance(value, int) else None

    def pure(self, intrinsic: Intrinsic, *args: Value) -> Value:
        """A call that only computes."""
        return raw("call", SCALAR_TYPES[intrinsic.gives].width, args, intrinsic)

    def collective(self, intrinsic: Intrinsic, *args: Value) -> Value:
        """A call that must happen where it stands."""
        width = SCALAR_TYPES[intrinsic.gives].width if intrinsic.gives else 0
        return raw("collective", width, args, (intrinsic, self.number()))

    def effect(self, value: Value) -> None:
        """A statement that is a call."""
        self.steps.append(Step("effect", [], [value], line=self.line))


def _lasts(value: Value) -> bool:
    """Whether a value is the same wherever it is computed: no memory, no variable that changes."""
    if value.op == "var":
        return bool(value.data.variable.definitions <= 1)
    return value.op in _LASTING and all(_lasts(part) for part in value.args)


def float_bits(node: Node, type: str) -> int:
    """The bits of a floating-point literal as a type."""
    text = str(node.text)
    prefix = text[:2].lower()
    width = SCALAR_TYPES[type].width
    if prefix in ("0f", "0d") and len(text) == (10 if prefix == "0f" else 18):
        bits = int(text[2:], 16)
        if width == (32 if prefix == "0f" else 64):
            return bits
    value = float_value(text)
    if width == 64:
        return int.from_bytes(struct.pack("<d", value), "little")
    if width == 32:
        return int.from_bytes(struct.pack("<f", value), "little")
    if type == "f16":
        return int.from_bytes(struct.pack("<e", value), "little")
    raise NotLiftedError(f"'{text}' as {type}")


def words_of(node: Instruction) -> list[str]:
    """The modifiers without their dots."""
    return [modifier[1:] for modifier in node.modifiers]


def types_of(words: list[str]) -> list[str]:
    """The modifiers that are types."""
    return [word for word in words if word in SCALAR_TYPES]


_COPY = re.compile(r"cp\.async\.(c[ag])\.shared\.global \[%0\], \[%1\], (\d+), (\d+);")
_COPIED = {"ca": (4, 8), "cg": (16,)}


def copied_bytes(text: str) -> int:
    """How many bytes an assembly statement copies beside the program, all of them; 0 for none.

    >>> copied_bytes("cp.async.ca.shared.global [%0], [%1], 4, 4;")
    4
    >>> copied_bytes("cp.async.cg.shared.global [%0], [%1], 16, %2;")
    0
    """
    found = _COPY.fullmatch(text)
    size = int(found[2]) if found is not None and found[2] == found[3] else 0
    return size if found is not None and size in _COPIED[found[1]] else 0
