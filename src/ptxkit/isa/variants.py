"""Enumerate the concrete instructions a row of the table stands for.

The tests give them to ptxas; the documentation counts them; the DSL's stubs list them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from ptxkit.isa.actuals import Actual
from ptxkit.isa.forms import Form, OperandSpec
from ptxkit.isa.match import Match, broken_rule, gates_of
from ptxkit.isa.operands import NAME_KINDS, requirements
from ptxkit.isa.targets import Requirement
from ptxkit.isa.types import REGISTER_CLASSES, SCALAR_TYPES

#: Register name prefix for each register type in :data:`PREAMBLE`.
PREFIXES = {
    "pred": "p", "b8": "by", "b16": "h", "u16": "uh", "s16": "sh", "f16": "fh",
    "b32": "r", "u32": "ur", "s32": "sr", "f32": "f", "f16x2": "fhh",
    "b64": "d", "u64": "ud", "s64": "sd", "f64": "fd", "b128": "q",
}  # fmt: skip

#: Declarations that every rendered variant may use.
MODULE_PREAMBLE = """\
.global .align 16 .b32 gv[64];
.const .align 16 .b32 cv[64];
.shared .align 16 .b32 sv[64];
.global .texref tx;
.global .surfref sf;
.func fn;
.func fn_a(.param .b32 a0);
.func (.param .b32 rv) fn_r;
.func (.param .b32 rv) fn_ra(.param .b32 a0);
"""
BODY_PREAMBLE = (
    "".join(f".reg .{name} {prefix}<300>;\n" for name, prefix in PREFIXES.items())
    + """\
.local .align 16 .b32 lv[64];
.param .align 16 .b32 pv[64];
tab: .branchtargets LAB;
prot: .callprototype _;
prot_a: .callprototype _ (.param .b32 _);
prot_r: .callprototype (.param .b32 _) _;
prot_ra: .callprototype (.param .b32 _) _ (.param .b32 _);
ctab: .calltargets fn_ra;
"""
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One concrete instruction: its opcode, its operand texts and what they are."""

    form: Form
    match: Match
    opcode: str
    texts: tuple[str, ...]
    actuals: tuple[Actual, ...]

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """Everything the variant needs of version and target."""
        return requirements(self.match, self.actuals)

    @property
    def text(self) -> str:
        """The instruction as PTX text."""
        return f"{self.opcode} {', '.join(self.texts)}".strip() + ";"


def combinations(form: Form, limit: int = 0) -> Iterator[Match]:
    """Every legal filling of the form's slots, evenly thinned to ``limit`` when given."""
    choices: list[list[str]] = [
        ([""] if slot.optional else []) + list(slot.values) for slot in form.slots
    ]
    total = 1
    for choice in choices:
        total *= len(choice)
    # Thinning by a stride prime to every radix visits all values of every slot.
    stride = max(1, total // limit) if limit else 1
    if stride > 1:
        stride |= 1
        while any(stride % len(choice) == 0 for choice in choices if len(choice) > 1):
            stride += 2
    for index in range(0, total, stride) if stride > 1 else range(total):
        picked, rest = [], index
        for choice in reversed(choices):
            rest, position = divmod(rest, len(choice))
            picked.append(choice[position])
        found = _as_match(form, list(reversed(picked)))
        if found is not None:
            yield found


def _as_match(form: Form, picked: list[str]) -> Match | None:
    groups: dict[int, set[bool]] = {}
    binding: dict[str, str] = {}
    needs = [form.requirement]
    for slot, modifier in zip(form.slots, picked, strict=True):
        if slot.group:
            groups.setdefault(slot.group, set()).add(bool(modifier))
        if modifier:
            binding[slot.name] = modifier[1:]
            needs.append(slot.values[modifier])
    if any(len(states) > 1 for states in groups.values()) or broken_rule(form, binding):
        return None
    return Match(form, binding, (*needs, *gates_of(form, binding)), True)


def opcode_of(found: Match) -> str:
    """The opcode text of a match, modifiers in the manual's order."""
    words = [found.binding[s.name] for s in found.form.slots if s.name in found.binding]
    return ".".join([found.form.name, *words])


class _Namer:
    """Hands out fresh registers of each type."""

    def __init__(self) -> None:
        self._next = itertools.count(1)

    def register(self, wanted: str, *, relaxed: bool = False) -> tuple[str, Actual]:
        """A register for a type; loads and stores of bytes use 16-bit ones, as compilers do."""
        if wanted in REGISTER_CLASSES:
            wanted = "b64" if "b64" in REGISTER_CLASSES[wanted] else "b32"
        kind = wanted if wanted in PREFIXES else f"b{SCALAR_TYPES[wanted].width}"
        if kind == "b8" and relaxed:
            kind = "b16"
        return f"{PREFIXES[kind]}{next(self._next)}", Actual("register", kind)


def render(found: Match, *, all_optional: bool = False) -> Variant:
    """Write one instruction for a filled form, with registers for all its operands."""
    namer = _Namer()
    texts: list[str] = []
    actuals: list[Actual] = []
    for spec in found.form.operands:
        if spec.optional and not all_optional:
            continue
        if spec.present_with and spec.present_with not in found.binding:
            continue
        text, actual = _RENDERERS[spec.kind](found, spec, namer, all_optional)
        texts.append(text)
        actuals.append(actual)
    return Variant(found.form, found, opcode_of(found), tuple(texts), tuple(actuals))


def _render_value(
    found: Match, spec: OperandSpec, namer: _Namer, all_optional: bool
) -> tuple[str, Actual]:
    wanted = found.operand_type(spec.type) or "b32"
    if wanted in _HANDLES:
        return _HANDLES[wanted], Actual("symbol", wanted, space="global")
    count = found.operand_count(spec.count)
    if not count:
        return namer.register(wanted, relaxed=spec.relaxed)
    layered = found.resolve(spec.count).startswith("i")
    parts = [namer.register("u32" if layered and not n else wanted) for n in range(count)]
    text = "{" + ", ".join(text for text, _ in parts) + "}"
    return text, Actual("vector", elements=tuple(actual for _, actual in parts))


def _render_immediate(
    found: Match, spec: OperandSpec, namer: _Namer, all_optional: bool
) -> tuple[str, Actual]:
    wanted = found.operand_type(spec.type)
    if wanted in ("f32", "f64"):
        return "0f3F800000", Actual("float")
    low = spec.bounds[0] if spec.bounds else 1
    return str(low), Actual("integer", value=low)


_HANDLES = {"texref": "tx", "samplerref": "sm", "surfref": "sf"}


def _render_address(
    found: Match, spec: OperandSpec, namer: _Namer, all_optional: bool
) -> tuple[str, Actual]:
    base, actual = namer.register(found.operand_type(spec.type) if spec.type else "b64")
    if spec.space in _HANDLES:
        base, actual = _HANDLES[spec.space], Actual("symbol", spec.space, space="global")
    elif found.binding.get(spec.space) == "param::func":
        base, actual = "pv", Actual("symbol", "b32", space="param")
    texts, actuals = [base], [actual]
    for part in spec.parts:
        if part.optional and not all_optional:
            continue
        text, one = _RENDERERS[part.kind](found, part, namer, all_optional)
        texts.append(text)
        actuals.append(one)
    return f"[{', '.join(texts)}]", Actual("address", elements=tuple(actuals))


_NAMES = {
    "label": ("LAB", "label"),
    "function": ("fn", "function"),
    "targets": ("tab", "table"),
    "prototype": ("prot", "table"),
    "arguments": ("(r1)", "list"),
    "results": ("(r2)", "list"),
}


def _render_name(
    found: Match, spec: OperandSpec, namer: _Namer, all_optional: bool
) -> tuple[str, Actual]:
    text, kind = _NAMES[spec.name]
    if spec.name in ("function", "prototype"):
        # The preamble has one of each for a call with results, arguments, or neither.
        signature = [s.name[0] for s in found.form.operands if s.name in ("results", "arguments")]
        text = "_".join([text, "".join(signature)]).rstrip("_")
    assert kind in NAME_KINDS[spec.name]
    return text, Actual(kind)


def _render_pair(
    found: Match, spec: OperandSpec, namer: _Namer, all_optional: bool
) -> tuple[str, Actual]:
    first, second = spec.parts
    left = _RENDERERS[first.kind](found, first, namer, all_optional)
    if second.optional and not all_optional:
        return left
    right = _RENDERERS[second.kind](found, second, namer, all_optional)
    return f"{left[0]}|{right[0]}", Actual("pair", elements=(left[1], right[1]))


def _render_sink(
    found: Match, spec: OperandSpec, namer: _Namer, all_optional: bool
) -> tuple[str, Actual]:
    return "_", Actual("sink")


def _render_tuple(
    found: Match, spec: OperandSpec, namer: _Namer, all_optional: bool
) -> tuple[str, Actual]:
    parts = [_RENDERERS[part.kind](found, part, namer, all_optional) for part in spec.parts]
    text = "{" + ", ".join(text for text, _ in parts) + "}"
    return text, Actual("vector", elements=tuple(actual for _, actual in parts))


_RENDERERS = {
    "sink": _render_sink,
    "value": _render_value,
    "immediate": _render_immediate,
    "address": _render_address,
    "name": _render_name,
    "pair": _render_pair,
    "tuple": _render_tuple,
}
