"""How a kernel uses what it is given: which numbers are pointers, to what, which are sizes.

Inputs must be such that a kernel really works on them: a pointer needs memory behind it, a number
that bounds an index must fit that memory, an array that is read for indices must hold small ones.
This follows values from parameters through registers, and notes what becomes of them.

>>> import ptxkit
>>> m = ptxkit.parse('''.version 8.0
... .target sm_80
... .address_size 64
... .visible .entry k(.param .u64 x, .param .u32 n) {
...     .reg .pred %p<2>;
...     .reg .b32 %r<4>;
...     .reg .b64 %rd<4>;
...     ld.param.u64 %rd1, [x];
...     ld.param.u32 %r1, [n];
...     mov.u32 %r2, %tid.x;
...     setp.ge.s32 %p1, %r2, %r1;
...     @%p1 ret;
...     mul.wide.s32 %rd2, %r2, 4;
...     add.s64 %rd3, %rd1, %rd2;
...     st.global.f32 [%rd3], 0f3F800000;
...     ret;
... }''')
>>> usage = usage_of(m, m["k"])
>>> [str(o) for o in usage.pointers], [str(o) for o in usage.sizes]
(['x'], ['n'])
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ptxkit._native import Node
from ptxkit.decompiler.verify.pointing import DEPTH, Origin, Pointing
from ptxkit.isa.dataflow import registers
from ptxkit.isa.special_registers import SPECIAL_REGISTERS
from ptxkit.isa.types import SCALAR_TYPES
from ptxkit.run.layout import kernel_layout, scalar_bytes
from ptxkit.syntax import Function, Instruction, Module, Name, evaluate

#: How much of a value is left: it was computed with, it was moved by, it is the same.
COMPUTED, MOVED, SAME = 0, 1, 2

_SHIFTS = 1 << 16
#: Masks of the bits that an address of a vector does not have.
_LAST_BITS = frozenset((1, 3, 7, 15, 31, 63, 127))
#: Places in parameters that are noted for one register, at most.
_PARTS = 256
#: Bytes of a pointer.
_POINTER = 8
#: What takes a part of a number, which may lie in fewer places than the number itself.
_NARROWING = frozenset(("and", "shr", "bfe", "rem", "prmt"))
_FLOATS = frozenset(("f16", "f16x2", "bf16", "bf16x2", "f32", "f64"))
_MEMORY = frozenset(("ld", "ldu", "st", "atom", "red", "prefetch", "cp", "ldmatrix", "stmatrix"))
_TEXTURES = frozenset(("tex", "tld4", "suld", "sust", "sured", "txq", "suq"))


Taint = dict[Origin, int]


#: Pairs of numbers that may be the two ends of a range.
_RANGES = 48


@dataclass(slots=True)
class Access:
    """What is done with the memory behind a pointer."""

    types: dict[str, int] = field(default_factory=dict)
    widest: int = 1
    stored: bool = False
    read: bool = False
    atomic: bool = False
    constant: bool = False
    """Whether it is read as what nobody writes to: the programmer has promised it."""
    plain: bool = False
    """Whether it is read as what somebody may write to."""
    trusting: set[int] = field(default_factory=set)
    """The loads that take it for constant, by their starts."""

    @property
    def promised(self) -> bool:
        """Whether all that is read there is said to be constant, and nothing is written."""
        return self.constant and not (self.plain or self.stored)


@dataclass(slots=True)
class Usage:
    """What was found out about a kernel."""

    slots: dict[Origin, str] = field(default_factory=dict)
    """Parameters, and parts of them, as they are loaded: their types."""
    fields: dict[Origin, str] = field(default_factory=dict)
    """What is loaded from one place behind a pointer: its type."""
    accesses: dict[Origin, Access] = field(default_factory=dict)
    pointers: list[Origin] = field(default_factory=list)
    sizes: list[Origin] = field(default_factory=list)
    """Numbers that bound, scale or are part of an index."""
    indices: set[Origin] = field(default_factory=set)
    """What lies behind pointers and becomes part of an address."""
    narrowed: set[Origin] = field(default_factory=set)
    """Of these the code takes some bits, or a remainder: the rest of them need not be small."""
    floats: dict[Origin, set[str]] = field(default_factory=dict)
    """Values that floating-point instructions take, by type."""
    textures: dict[Origin, str] = field(default_factory=dict)
    """Handles, and the first instruction that uses each."""
    special: set[str] = field(default_factory=set)
    """Special registers that are read."""
    names: set[str] = field(default_factory=set)
    """Instructions by name, over all functions that can be called."""
    variables: set[str] = field(default_factory=set)
    """Variables of the module that the code names."""
    constants: set[int] = field(default_factory=set)
    """Numbers that the code compares with."""
    shifts: set[int] = field(default_factory=set)
    """Numbers that sums become zero with, as in ``c - 'a' < 26``."""
    offsets: set[int] = field(default_factory=set)
    """Bytes between an address and where the code looks, as in ``x[i + 17]``."""
    thresholds: set[float] = field(default_factory=set)
    """Floating-point numbers that the code compares with."""
    optional: list[Origin] = field(default_factory=list)
    """Pointers that the code compares with something, as those that may be missing."""
    aligned: list[Origin] = field(default_factory=list)
    """Pointers whose last bits the code looks at, as they may be for vectors or not."""
    dynamic_shared: bool = False

    @property
    def marks(self) -> tuple[int | float, ...]:
        """All numbers that the code compares with, and both ends of ranges."""
        ends: set[int] = set()
        if len(self.shifts) * len(self.constants) <= _RANGES:
            ends = {shift + size for shift in self.shifts for size in self.constants}
        return (*sorted(self.constants | self.shifts | ends), *sorted(self.thresholds))

    def element(self, pointer: Origin) -> str:
        """The type of what a pointer points to."""
        loaded = set().union(*(self.floats.get(one, ()) for one in self.behind(pointer)))
        access = self.accesses.get(pointer)
        if access is None or not access.types:
            return "b32"
        type = max(access.types, key=lambda t: (access.types[t], t))
        width = SCALAR_TYPES[type].width
        for name in sorted(loaded):
            if SCALAR_TYPES[name].width == width:
                return name
        return type

    def type(self, origin: Origin) -> str:
        """The type that a number is loaded as."""
        return self.slots.get(origin) or self.fields[origin]

    def behind(self, pointer: Origin) -> list[Origin]:
        """What is loaded through a pointer: anywhere, and in single places."""
        return [pointer.loaded(), *(one for one in self.fields if one.pointer == pointer)]


class _Tracker:
    def __init__(self, module: Module, kernel: Function) -> None:
        self.module = module
        self.kernel = kernel
        self.usage = Usage()
        self.taint: dict[str, Taint] = defaultdict(dict)
        self.compared: set[Origin] = set()
        self.converted: set[Origin] = set()
        """What is made an address of a state space."""
        self.places: dict[str, set[tuple[str, int]]] = defaultdict(set)
        """Registers that hold the address of a parameter of the kernel, and of which bytes."""
        self.changed = False
        self.variables = {
            d.name
            for v in module.variables
            for d in v.declarators
            if v.space in ("global", "const")
        }
        self.sizes_of_parameters = {item.name: item.size for item in kernel_layout(kernel)[0]}
        self.functions = self._reached()
        self._called = {one.index: one.name for one in self.functions}
        """The names of functions: to find that of a long one takes long."""
        self.pointing = Pointing(kernel)
        self.pieces: dict[str, tuple[str, int, int]] = {}
        """Registers with some bytes of a parameter: its name, the first, how many."""
        self.masked: set[Origin] = set()
        """What the last bits are taken of."""

    def _reached(self) -> list[Function]:
        """The kernel and the functions that it may call."""
        by_name = {f.name: f for f in self.module.functions if f.has_body}
        found, pending = [], [self.kernel]
        while pending:
            function = pending.pop()
            if function in found:
                continue
            found.append(function)
            self.usage.names.update(i.name for i in function.instructions)
            for instruction in function.instructions:
                if instruction.name in ("call", "mov"):
                    names = instruction.find("Name")
                    pending += [by_name[n.text] for n in names if n.text in by_name]
        return found

    def run(self) -> Usage:
        while True:
            self.changed = False
            for function in self.functions:
                for instruction in function.instructions:
                    self._instruction(function, instruction)
            if not self.changed:
                break
        self._decide()
        return self.usage

    # ---- values ----------------------------------------------------------------------------

    def _key(self, function: Function, name: str) -> str:
        return f"{self._called[function.index]}\n{name}"

    def _give(self, key: str, taint: Taint, strength: int) -> None:
        held = self.taint[key]
        for origin, level in taint.items():
            level = min(level, strength)
            if held.get(origin, -1) < level:
                held[origin] = level
                self.changed = True

    def _value(self, function: Function, node: Node) -> Taint:
        """What the registers of an operand hold."""
        names: list[Name] = [node] if isinstance(node, Name) else list(node.find("Name"))
        if len(names) == 1:
            return self._one(function, names[0])
        found: Taint = {}
        for name in names:
            for origin, level in self._one(function, name).items():
                found[origin] = max(level, found.get(origin, -1))
        return found

    def _one(self, function: Function, name: Name) -> Taint:
        text = name.identifier
        if text in self.variables:
            self.usage.variables.add(text)
            return {Origin(text, kind="variable"): MOVED}
        if text in SPECIAL_REGISTERS or name.text in SPECIAL_REGISTERS:
            self.usage.special.add(name.text)
        return self.taint[self._key(function, text)]

    # ---- instructions ----------------------------------------------------------------------

    def _instruction(self, function: Function, node: Instruction) -> None:
        name, operands = node.name, node.operands
        if name == "call":
            self._call(function, node)
            return
        if name in _TEXTURES:
            self._texture(function, node)
            return
        if self._put_together(function, node):
            return
        type = _source_type(node)
        if name in _MEMORY:
            self._memory(function, node, type)
            return
        found = registers(node)
        targets = [self._key(function, n.identifier) for n in found.defined]
        if function == self.kernel and name in ("mov", "add", "cvta"):
            self._place(targets, operands[1:])
        if name == "cvta":
            held = self._value(function, operands[1])
            self.converted.update(origin for origin, level in held.items() if level == SAME)
        if type in _FLOATS:
            for operand in operands[len(found.defined) > 0 :]:
                self._note_float(self._value(function, operand), type)
        if name in ("setp", "set", "min", "max", "slct"):
            for operand in operands:
                self.compared.update(self._value(function, operand))
                number = evaluate(operand)
                if isinstance(number, int):
                    self.usage.constants.add(number)
                elif isinstance(number, float) and math.isfinite(number):
                    self.usage.thresholds.add(number)
        if name in ("add", "sub") and type[1:] in ("16", "32") and len(operands) == 3:
            number = evaluate(operands[2])
            if isinstance(number, int) and 1 < abs(number) < _SHIFTS:
                self.usage.shifts.add(-number if name == "add" else number)
        if name == "and" and type[1:] == "64" and evaluate(operands[2]) in _LAST_BITS:
            held = self._value(function, operands[1])
            self.masked.update(origin for origin, level in held.items() if level != COMPUTED)
        if name == "and" and isinstance(mask := evaluate(operands[2]), int):
            held = self._value(function, operands[1])
            if any(level == SAME and not origin.through for origin, level in held.items()):
                self.usage.constants |= _flags(mask)
        if name in _NARROWING and isinstance(evaluate(operands[-1]), int):
            self.usage.narrowed.update(self._value(function, operands[1]))
        for position, operand in enumerate(operands[1:], 1):
            strength = _strength(node, position)
            taint = self._value(function, operand)
            for target in targets:
                self._give(target, taint, strength)

    def _note_float(self, taint: Taint, type: str) -> None:
        for origin, level in taint.items():
            if level == SAME:
                self.usage.floats.setdefault(origin, set()).add(type)

    def _memory(self, function: Function, node: Instruction, type: str) -> None:
        addresses = [o for o in node.operands if o.kind == "Address"]
        values = [o for o in node.operands if o.kind != "Address"]
        space = next(
            (m[1:].split("::")[0] for m in node.modifiers if m[1:].split("::")[0] in _SPACES), ""
        )
        found = registers(node)
        targets = [self._key(function, n.identifier) for n in found.defined]
        if space == "param":
            self._parameter(function, node, addresses[0], values, type, targets)
            return
        stores = node.name in ("st", "atom", "red", "cp")
        if node.name in ("atom", "red"):
            # What memory is compared with, as by `cas`, and where it begins again, as by `inc`.
            numbers = (evaluate(value) for value in values)
            self.usage.constants |= {number for number in numbers if isinstance(number, int)}
        for number, address in enumerate(addresses):
            taint = self._value(function, address)
            self.usage.offsets.add(_offset(address) if space in ("", "global") else 0)
            if space in ("shared", "local"):
                if number == 0:
                    cell = f"memory\n{space}"
                    if node.name == "ld":
                        for target in targets:
                            self._give(target, self.taint[cell], SAME)
                    elif node.name in ("st", "cp"):
                        for value in values:
                            self._give(cell, self._value(function, value), SAME)
                for origin in taint:
                    self.usage.indices.add(origin)
                continue
            # What is added to a pointer as it is may be an index of bytes; which of two is the
            # pointer shows where an address is made of it.
            made = space == "global" and not self.converted.isdisjoint(taint)
            # A register may be loaded through its own address: what it holds grows meanwhile.
            for origin, level in list(taint.items()):
                if level == COMPUTED or (made and origin not in self.converted):
                    self.usage.indices.add(origin)
                    continue
                access = self.usage.accesses.setdefault(origin, Access())
                access.types.setdefault(type, 0)
                access.types[type] += 1
                access.widest = max(access.widest, stored_bytes(node))
                access.stored |= stores and number == 0
                access.atomic |= node.name in ("atom", "red")
                reads = node.name not in ("st", "prefetch")
                trusts = node.name == "ldu" or ".nc" in node.modifiers
                access.read |= reads
                access.constant |= trusts
                access.plain |= reads and not trusts
                if trusts:
                    access.trusting.add(node.span[0])
                if len(origin.through) < DEPTH:
                    for target, loaded in zip(
                        targets, self._fields(function, node, origin, type, targets), strict=True
                    ):
                        self._give(target, {loaded: SAME}, SAME)

    def _fields(
        self, function: Function, node: Instruction, origin: Origin, type: str, targets: list[str]
    ) -> list[Origin]:
        """What lies where an instruction loads from: single fields, where places are known."""
        places = self.pointing.places(node) if function == self.kernel else None
        known = {at for held, at in places or () if held == origin}
        if len(known) != 1 or len(places or ()) != 1 or len(node.operands) != 2:
            return [origin.loaded()] * len(targets)
        (start,) = known
        parts = [k for k, part in enumerate(_parts([node.operands[0]])) if isinstance(part, Name)]
        found = [origin.loaded(start + k * scalar_bytes(type)) for k in parts]
        for one in found:
            self.usage.fields.setdefault(one, type)
        return found

    def _parameter(
        self,
        function: Function,
        node: Instruction,
        address: Node,
        values: list[Node],
        type: str,
        targets: list[str],
    ) -> None:
        names = list(address.find("Name"))
        if not names:
            return
        symbol = names[0].identifier
        offset = _offset(address)
        held = self.places.get(self._key(function, symbol))
        if held and node.name == "ld":
            for name, start in sorted(held):
                self._loaded_parameter(name, start + offset, type, targets)
            return
        if node.name == "st":
            for number, value in enumerate(_parts(values)):
                place = offset + number * scalar_bytes(type)
                key = self._key(function, f"{symbol}+{place}")
                self._give(key, self._value(function, value), SAME)
            return
        mine = symbol in {p.name for p in self.kernel.parameters} and function == self.kernel
        if mine:
            self._loaded_parameter(symbol, offset, type, targets)
            return
        for number, target in enumerate(targets):
            place = offset + number * scalar_bytes(type)
            self._give(target, self.taint[self._key(function, f"{symbol}+{place}")], SAME)

    def _loaded_parameter(self, name: str, offset: int, type: str, targets: list[str]) -> None:
        """Some bytes of a parameter of the kernel come into registers."""
        for number, target in enumerate(targets):
            origin = Origin(name, offset + number * scalar_bytes(type))
            self.usage.slots.setdefault(origin, type)
            self._give(target, {origin: SAME}, SAME)
            self.pieces[target] = name, origin.offset, scalar_bytes(type)

    def _put_together(self, function: Function, node: Instruction) -> bool:
        """Whether two pieces of a parameter become one, as where it is loaded byte by byte."""
        operands = node.operands
        if node.name != "bfi" or not all(isinstance(one, Name) for one in operands[:3]):
            return False
        target, high, low = (self._key(function, one.text) for one in operands[:3])
        if high not in self.pieces or low not in self.pieces:
            return False
        (name, start, few), (other, further, more) = self.pieces[low], self.pieces[high]
        begin, count = map(evaluate, operands[3:5])
        if (name, start + few, 8 * few, 8 * more) != (other, further, begin, count):
            return False
        self.pieces[target] = name, start, few + more
        if few + more == 8:
            self.usage.slots[Origin(name, start)] = "u64"
            self._loaded_parameter(name, start, "u64", [target])
        return True

    def _place(self, targets: list[str], sources: Sequence[Node]) -> None:
        """Note that registers hold the address of a parameter, or of a part of it."""
        first = sources[0]
        if len(targets) != 1 or not isinstance(first, Name):
            return
        by = evaluate(sources[1]) if len(sources) > 1 else 0
        if not isinstance(by, int):
            return
        known = self.sizes_of_parameters
        held = self.places.get(self._key(self.kernel, first.identifier), set())
        start = {(first.identifier, 0)} if first.identifier in known else held
        moved = {(name, at + by) for name, at in start if 0 <= at + by < known[name]}
        if not moved <= self.places[targets[0]] and len(self.places[targets[0]]) < _PARTS:
            self.places[targets[0]] |= moved
            self.changed = True

    def _call(self, function: Function, node: Instruction) -> None:
        by_name = {f.name: f for f in self.functions}
        lists = [o for o in node.operands if o.kind == "ArgumentList"]
        callee = next((by_name[n.text] for n in node.find("Name") if n.text in by_name), None)
        if callee is None:
            return
        returned = lists[0] if len(lists) == 2 or (callee.return_parameters and lists) else None
        passed = lists[-1] if lists and (len(lists) == 2 or returned is None) else None
        if passed is not None:
            for name, parameter in zip(passed.find("Name"), callee.parameters, strict=False):
                self._link(function, name.text, callee, parameter.name)
        if returned is not None:
            for name, parameter in zip(
                returned.find("Name"), callee.return_parameters, strict=False
            ):
                self._link(callee, parameter.name, function, name.text)

    def _link(self, source: Function, old: str, target: Function, new: str) -> None:
        """Everything in one ``.param`` variable goes to another one."""
        prefix = self._key(source, old)
        for key in [k for k in self.taint if k == prefix or k.startswith(prefix + "+")]:
            self._give(self._key(target, new) + key[len(prefix) :], self.taint[key], SAME)

    def _texture(self, function: Function, node: Instruction) -> None:
        address = next((o for o in node.operands if o.kind == "Address"), None)
        if address is None:
            return
        # What follows the handle are coordinates, which may be parameters as well.
        for origin, level in self._value(function, address.children[0]).items():
            if level == SAME:
                self.usage.textures.setdefault(origin, node.opcode)

    # ---- what it means ---------------------------------------------------------------------

    def _decide(self) -> None:
        usage = self.usage
        marked = {p.name for p in self.kernel.parameters if p.is_pointer}
        accessed = {o for o, a in usage.accesses.items() if a.types}
        wide = [o for o in usage.slots if scalar_bytes(usage.slots[o]) == 8]
        for origin in wide:
            if origin in usage.textures:
                continue
            taken = origin in accessed and (not marked or origin in self.converted)
            if origin.name in marked or taken:
                usage.pointers.append(origin)
            elif origin in accessed:
                # Added to a pointer as it is: an index of bytes, or a pointer inside a struct.
                parameter = next(p for p in self.kernel.parameters if p.name == origin.name)
                (usage.pointers if parameter.dimensions else usage.sizes).append(origin)
        usage.indices |= {o for o in accessed if o.through and not self._may_point(o)}
        known_names = {p.name for p in usage.pointers}
        usage.pointers += sorted(
            (o for o in accessed if o.through and o.name in known_names and self._may_point(o)),
            key=lambda o: (o.name, o.offset, len(o.through)),
        )
        usage.optional = [o for o in usage.pointers if o in self.compared and not o.through]
        usage.aligned = [o for o in usage.pointers if o in self.masked and not o.through]
        known = {*usage.pointers, *usage.textures}
        for origin, type in (usage.slots | usage.fields).items():
            if origin in known or origin in usage.sizes or origin in usage.floats:
                continue
            # Of data, only what is part of an index must be small.
            bounds = origin in self.compared and not origin.through
            if type not in _FLOATS and (origin in usage.indices or bounds):
                usage.sizes.append(origin)
        usage.dynamic_shared = any(
            v.space.startswith("shared") and d.dimensions and d.dimensions[0] is None
            for v in self.module.variables
            for d in v.declarators
        )

    def _may_point(self, origin: Origin) -> bool:
        """Whether what is loaded through a pointer has the bits of another one."""
        access = self.usage.accesses.get(origin.pointer)
        types = [self.usage.fields[origin]] if origin in self.usage.fields else []
        types += access.types if access is not None else ()
        return any(scalar_bytes(type) == _POINTER for type in types)


#: Bits of a mask at most that each stand for something.
_FLAGS = 4
_SPACES = frozenset(("param", "global", "shared", "local", "const"))


def _source_type(node: Instruction) -> str:
    types = [m[1:] for m in node.modifiers if m[1:] in SCALAR_TYPES]
    return types[-1] if types else "b32"


def _vector(node: Instruction) -> int:
    for modifier in node.modifiers:
        if modifier in (".v2", ".v4", ".v8"):
            return int(modifier[2:])
    return 1


def stored_bytes(node: Instruction) -> int:
    """How many bytes a thread loads or stores with an instruction."""
    return _vector(node) * scalar_bytes(_source_type(node))


def _flags(mask: int) -> set[int]:
    """The bits of a mask that takes few of them, as where each stands for something.

    >>> sorted(_flags(3 << 20)), _flags(0xFF)
    ([1048576, 2097152], set())
    """
    few = mask > 0 and mask.bit_count() <= _FLAGS
    return {1 << bit for bit in range(mask.bit_length()) if mask >> bit & 1} if few else set()


def _parts(values: list[Node]) -> list[Node]:
    return [p for v in values for p in (v.children if v.kind == "Vector" else [v])]


def _offset(address: Node) -> int:
    for child in address.children[1:]:
        value = evaluate(child)
        if isinstance(value, int):
            return value
    return 0


def _strength(node: Instruction, position: int) -> int:
    """How much of an operand is left in the result."""
    name, wide = node.name, _source_type(node) in ("s64", "u64", "b64")
    if name == "mov" or (name == "selp" and position < 3):
        return SAME
    if name == "cvta" or (name in ("add", "sub", "and", "or") and wide):
        return MOVED
    if name == "mad" and position == 3 and (wide or ".wide" in node.modifiers):
        return MOVED
    return COMPUTED


@lru_cache(maxsize=4)
def usage_of(module: Module, kernel: Function) -> Usage:
    """Follow what a kernel is given through its instructions, and those of what it calls.

    Nobody may change what is found: it is the same for all candidates for a kernel.
    """
    return _Tracker(module, kernel).run()
