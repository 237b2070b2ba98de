"""Rows of the stack machine out of the one instruction table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ptxkit.isa import SCALAR_TYPES, SPECIAL_REGISTERS, InstructionSpec, Target, Version, table
from ptxkit.isa.forms import Form, OperandSpec
from ptxkit.isa.match import Match, match
from ptxkit.isa.types import BITS, SIGNED, UNSIGNED
from ptxkit.isa.variants import combinations, opcode_of
from ptxkit.stack.instructions import Effect, Instruction
from ptxkit.stack.types import STACKS, stack_name

#: The instructions of the ready-made sets, by the first word of their names.
ARITHMETIC = (
    "add sub mul mad fma mul24 mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi "
    "bmsk szext dp4a dp2a testp copysign rcp sqrt rsqrt sin cos lg2 ex2 tanh and or xor not cnot "
    "lop3 shl shr shf setp selp slct prmt cvt"
).split()
WARP = "vote match redux shfl elect".split()
MEMORY = "ld st atom red".split()

#: Special registers that stay the same while a thread runs.
FIXED_REGISTERS = (
    "%tid %ntid %ctaid %nctaid %laneid %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge "
    "%lanemask_gt"
).split()
CHANGING_REGISTERS = "%clock %clock64 %globaltimer %smid %warpid".split()

_FULL_WARP = "0xffffffff"
_COMMUTING = frozenset("add mul mad mul24 mad24 sad min max and or xor".split())
_INEXACT = frozenset("approx full".split())
#: Their carry flag would be lost among the other instructions.
_CARRY = frozenset("add addc sub subc mad madc".split())
_SPACES = ("", "global", "shared")


def from_table(
    target: Target, version: Version, *, warp: bool, memory: bool
) -> Iterator[Instruction]:
    """The rows of a ready-made set: what the target has, without optional modifiers.

    Where rounding is optional both the plain instruction and the one with ``.rn`` are
    there: ptxas may fuse plain ones, ``mul.f32`` with ``add.f32``, into an ``fma``.
    """
    wanted = {*ARITHMETIC, *(WARP if warp else ()), *(MEMORY if memory else ())}
    seen: set[str] = set()
    for spec in table().values():
        if spec.root.partition(".")[0] not in wanted:
            continue
        for form in spec.forms:
            for found in _plain(form, memory=spec.root.partition(".")[0] in MEMORY):
                name = opcode_of(found)
                if name in seen or not _is_met(found, target, version):
                    continue
                row = row_of(spec, found)
                if row is not None:
                    seen.add(name)
                    yield row
    yield from special_registers(target, version)
    yield from casts()


def _plain(form: Form, *, memory: bool) -> Iterator[Match]:
    if memory:
        # Plain ones, in the spaces a stub may reach.
        choices = {"space": _SPACES, "order": ("",), "scope": ("",)}
        names = {slot.name for slot in form.slots}
        needed = {slot.name for slot in form.slots if not slot.optional}
        if needed & {"vec", "volatile", "mmio", "nc"} or "order" in needed:
            return
        for found in combinations(_without(form, names - {*choices, "type", "op"} - needed)):
            if all(found.binding.get(k, "") in v for k, v in choices.items()):
                yield Match(form, found.binding, found.requirements, True)
        return
    kept = {"rnd", "rn", "class"}
    for found in combinations(_without(form, {slot.name for slot in form.slots} - kept)):
        rounding = found.binding.get("rnd", found.binding.get("rn", ""))
        free = any(slot.optional and slot.name in ("rnd", "rn") for slot in form.slots)
        if not (free and rounding not in ("", "rn")):
            yield Match(form, found.binding, found.requirements, True)


def _without(form: Form, names: set[str]) -> Form:
    """The form with these optional slots left empty."""
    kept = tuple(s for s in form.slots if not (s.optional and (s.name in names or s.group)))
    return replace(form, slots=kept)


def _is_met(found: Match, target: Target, version: Version) -> bool:
    return all(one.met_by(version, target) for one in found.requirements)


@lru_cache(maxsize=4096)
def from_opcode(opcode: str, target: Target, version: Version) -> Instruction | None:
    """The row of any opcode of the table, if its operands are scalars.

    >>> row = from_opcode("add.rz.ftz.f32", Target.parse("sm_90"), Version(8, 0))
    >>> row is not None and row.text
    'add.rz.ftz.f32 $0, $1, $2;'
    """
    name, *words = opcode.split(".")
    for found in match(name, tuple("." + word for word in words)):
        if _is_met(found, target, version):
            spec = table()[found.form.root]
            row = row_of(spec, found)
            if row is not None:
                return row
    return None


class _Operands:
    """Collects the operands of one row; ``broken`` when the stack machine has none such."""

    def __init__(self, found: Match) -> None:
        self.found = found
        self.results: list[str] = []
        self.arguments: list[str] = []
        self.literals: list[int] = []
        self.immediate: tuple[int, int] | None = None
        self.texts: list[tuple[str, str]] = []  # kind of reference and a format
        self.broken = False

    def add(self, spec: OperandSpec) -> None:
        reader = {"value": self._value, "immediate": self._immediate, "address": self._address,
                  "pair": self._pair}.get(spec.kind)  # fmt: skip
        if reader is None or (spec.access == "update" and spec.kind != "address"):
            self.broken = True
        else:
            reader(spec)

    def _value(self, spec: OperandSpec) -> None:
        scalar = self.found.operand_type(spec.type) or "b32"
        scalar = scalar if scalar in SCALAR_TYPES else "b32"
        stack = stack_name(scalar)
        if not stack or self.found.operand_count(spec.count) or spec.space:
            self.broken = True
        elif spec.access == "write":
            self.results.append(stack)
            self.texts.append(("result", "{}"))
        elif spec.name == "mask" and self.found.form.name in WARP:
            self.texts.append(("", _FULL_WARP))
        else:
            self.arguments.append(stack)
            self.literals.append(_largest(spec, scalar, stack))
            self.texts.append(("argument", "{}"))

    def _immediate(self, spec: OperandSpec) -> None:
        low, high = spec.bounds or (0, 255)
        if self.immediate is not None or low < 0 or spec.step != 1 or spec.powers:
            self.broken = True
        self.immediate = (max(low, 0), high)
        self.texts.append(("", "$#"))

    def _address(self, spec: OperandSpec) -> None:
        if any(not part.optional for part in spec.parts) or spec.type:
            self.broken = True
        self.arguments.append("b64")
        self.literals.append(0)
        self.texts.append(("argument", "[{}]"))

    def _pair(self, spec: OperandSpec) -> None:
        first, second = spec.parts
        self.add(first)
        if not second.optional:
            before = self.texts.pop()
            self.add(second)
            after = self.texts.pop()
            self.texts.append((f"{before[0]}|{after[0]}", f"{before[1]}|{after[1]}"))

    def text(self, opcode: str) -> str:
        """The instruction with ``$n`` for its operands."""
        results, arguments, parts = 0, len(self.results), []
        for kinds, layout in self.texts:
            numbers = []
            for kind in kinds.split("|"):
                if kind == "result":
                    numbers.append(f"${results}")
                    results += 1
                elif kind == "argument":
                    numbers.append(f"${arguments}")
                    arguments += 1
            parts.append(layout.format(*numbers))
        return f"{opcode} {', '.join(parts)}".rstrip() + ";"


def _largest(spec: OperandSpec, scalar: str, stack: str) -> int:
    """Up to which constant an operand takes literals."""
    kind = SCALAR_TYPES[scalar].kind
    if spec.register_only or stack in ("pred", "f16", "bf16", "f16x2", "bf16x2"):
        return 0
    if stack in ("f32", "f64"):
        return (1 << 64) - 1
    if kind not in (SIGNED, UNSIGNED, BITS) or SCALAR_TYPES[scalar].width == 8:
        return 0
    if spec.bounds is not None:
        return spec.bounds[1] if spec.bounds[0] == 0 else 0
    return (1 << STACKS[stack].width) - 1


def row_of(spec: InstructionSpec, found: Match) -> Instruction | None:
    """The row of one filled form; None where the stack machine can't have it."""
    if "control" in spec.effects or (found.form.name in _CARRY and "state" in spec.effects):
        return None
    if found.form.name == "testp" and "class" not in found.binding:
        return None  # ptxas takes it, but it means nothing
    operands = _Operands(found)
    for operand in found.form.operands:
        if operand.optional:
            continue
        if operand.present_with and operand.present_with not in found.binding:
            continue
        operands.add(operand)
    effect = _effect(spec)
    if operands.broken or (effect == "pure" and not operands.results):
        return None
    opcode = opcode_of(found)
    types = [word for word in opcode.split(".") if word in SCALAR_TYPES]
    kinds = {SCALAR_TYPES[one].kind for one in types}
    whole = not kinds - {SIGNED, UNSIGNED, BITS, "predicate"}
    name = found.form.name
    return Instruction(
        opcode,
        tuple(operands.arguments),
        tuple(operands.results),
        operands.text(opcode),
        effect,
        guardable=not spec.effects.isdisjoint({"reads", "writes"}),
        commutes=effect == "pure" and name in _COMMUTING and whole and _same_start(operands),
        literals=tuple(operands.literals),
        immediate=operands.immediate,
        summary=spec.summary,
        exact=effect == "pure" and _INEXACT.isdisjoint(opcode.split(".")) and name != "tanh",
    )


def _same_start(operands: _Operands) -> bool:
    first = operands.arguments[:2]
    return len(first) == 2 and first[0] == first[1]


def _effect(spec: InstructionSpec) -> Effect:
    if not spec.effects:
        return "pure"
    if "writes" in spec.effects or ("sync" in spec.effects and "warp" not in spec.effects):
        return "kept"
    return "ordered"


def special_registers(target: Target, version: Version) -> Iterator[Instruction]:
    """``%tid.x`` and its kin as instructions without arguments."""
    for name in (*FIXED_REGISTERS, *CHANGING_REGISTERS):
        register = SPECIAL_REGISTERS[name]
        if not register.requirement.met_by(version, target):
            continue
        for component in register.components[:3] or ("",):
            full = f"{name}.{component}" if component else name
            yield Instruction(
                full,
                (),
                (stack_name(register.type),),
                f"mov.{register.type} $0, {full};",
                "pure" if name in FIXED_REGISTERS else "ordered",
                summary=register.summary,
            )


def casts() -> Iterator[Instruction]:
    """Bits of one stack as a value of another, and pairs packed and unpacked."""
    for one in STACKS.values():
        for two in STACKS.values():
            if one is not two and one.width == two.width and one.name != "pred":
                bits = f"b{one.width}"
                yield Instruction(
                    f"cast.{one.name}.{two.name}", (two.name,), (one.name,),
                    f"mov.{bits} $0, $1;", summary=f"The bits of a {two.name} as a {one.name}.",
                    exact=True,
                )  # fmt: skip
    halves = {"b32": "b16", "b64": "b32", "f16x2": "f16", "bf16x2": "bf16"}
    for whole, half in halves.items():
        bits = f"b{STACKS[whole].width}"
        yield Instruction(
            f"pack.{whole}", (half, half), (whole,), f"mov.{bits} $0, {{$1, $2}};",
            summary=f"Two {half} as one {whole}, the first one in the low half.", exact=True,
        )  # fmt: skip
        yield Instruction(
            f"unpack.{whole}", (whole,), (half, half), f"mov.{bits} {{$0, $1}}, $2;",
            summary=f"The two {half} of a {whole}, the low one first.", exact=True,
        )  # fmt: skip
