"""The notation of the instruction table, and the rows it becomes.

A row is one line in the manner of the PTX manual::

    form("add{.rnd}{.ftz}{.sat}.f32 =d, a, b", rnd="rn rz rm@1.4/13 rp@1.4/13")

*Modifiers.* ``.word`` is a literal modifier unless ``word`` is a keyword argument: then
it is a slot that takes one of the listed values. ``{.word}`` is optional. ``{.a.b}`` is a
group: all of it or none. A value may carry a requirement of its own: ``rm@1.4/13`` (see
:class:`ptxkit.isa.targets.Requirement`; several targets are joined by ``+``).

*Operands.* ``=d`` is written, ``+d`` read and written, ``a`` only read. After a colon
stands the type: a scalar type, a slot name, ``N*type`` for a vector (N a number or a
slot such as ``vec``), ``table[slot]`` for a look-up in a dict keyword argument, and a
trailing ``~`` lets registers be wider than the type (loads, stores, conversions).
Without a colon the type is the slot ``type``, or else the form's last literal type.
``%`` after the name: a register only. ``$`` after the name: special registers are welcome
too, ``&``: addresses of symbols (``&/space``: of that space or that slot's), ``_``: the
sink ``_``. ``-a`` may be negated; ``a.part`` may carry a selector of the dict keyword
``part`` (``r1.h0``). ``=_`` is the sink alone.
``#n:u32`` is an immediate, ``#n:u32(0..255)`` one in that range, ``(0..64/32)`` one
that is also a multiple of 32, ``(1..64*2)`` one that is a power of two; a range on any other
operand is for its immediates.
``[a]`` is a generic address, ``[a:global]`` one in that space (or in that slot's space),
``[a:any]`` one in any, ``[a:tmem/b32]`` one whose register has that type; ``[a[]]`` may
also be the element ``a[i]`` of an array, and ``[a].unified`` may carry that attribute;
``[a!:shared]`` takes no handle of a texture or surface either, and in ``[a:shared]~`` ptxas
does not insist on the brackets, nor before further parts on the register's type;
``[t, c]`` has further parts. The spaces ``texref``, ``samplerref`` and ``surfref`` stand
for such symbols and for registers with their handles. ``(a:b16, b:b16)`` is a vector with
elements of their own types and ranges, ``N+*type`` one of N or more elements, or a scalar
(texture coordinates); a count such as ``i2`` means that the first element is an integer,
the index of a layer.
``@label``, ``@function``, ``@targets``, ``@arguments`` are names and lists.
``d|p`` is a pair; ``d{|p}`` an optional one. ``{, c}`` is an optional operand;
``{?slot, c}`` stands there exactly when the slot is filled, ``{!4.3/30, c}`` and
``d{!7.1/60|p}`` have a requirement of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from ptxkit.isa.targets import ALWAYS, Requirement
from ptxkit.isa.types import SCALAR_TYPES


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in the modifier sequence: its name, its values, and whether it may be empty."""

    name: str
    values: Mapping[str, Requirement]
    optional: bool
    group: int

    @property
    def is_literal(self) -> bool:
        """True where the slot takes one fixed modifier only."""
        return len(self.values) == 1


@dataclass(frozen=True, slots=True)
class OperandSpec:
    """What one operand must be. ``kind`` names the shape, ``type`` the type notation."""

    name: str
    kind: str  # value, immediate, address, name, pair, sink
    access: str = "read"  # read, write, update
    type: str = ""
    count: str = ""  # vector length notation, '' for a scalar
    relaxed: bool = False
    register_only: bool = False
    specials: bool = False
    symbols: bool = False
    signed: bool = False  # '-' may stand before a register
    selectors: str = ""  # the table of the selectors a register may carry
    sink: bool = False
    space: str = ""
    bounds: tuple[int, int] | None = None
    powers: bool = False  # immediates are powers of two
    step: int = 1  # immediates count from the lower bound in steps of it
    at_least: bool = False  # the vector may be longer, or a scalar
    indexable: bool = False  # an address may also be 'a[i]'
    unified: bool = False  # an address may carry '.unified'
    strict: bool = False  # an address takes no symbol of another space, not even a handle
    bare: bool = False  # ptxas takes a register, whatever its type, without the brackets
    needs: Requirement | None = None  # what its presence needs
    parts: tuple[OperandSpec, ...] = ()
    optional: bool = False
    present_with: str = ""  # slot whose presence decides; '' when free


@dataclass(frozen=True, slots=True)
class Form:
    """One row of the table: a modifier pattern with the operands it takes."""

    root: str
    syntax: str
    slots: tuple[Slot, ...]
    operands: tuple[OperandSpec, ...]
    requirement: Requirement
    default_type: str
    tables: Mapping[str, Mapping[str, str]] = field(repr=False)
    rules: tuple[tuple[str, str], ...] = ()
    fixed: int = 0  # leading slots that belong to the name and keep their place
    gates: tuple[tuple[str, Requirement], ...] = ()  # requirements of combinations of slots
    ignored: frozenset[str] = frozenset()  # modifiers that ptxas passes over here

    @property
    def name(self) -> str:
        """The first word of the opcode: what ``Instruction.name`` gives."""
        return self.root.partition(".")[0]


@dataclass(frozen=True, slots=True)
class InstructionSpec:
    """All forms of one instruction, with its meaning in one line.

    ``effects`` holds any of: ``reads`` and ``writes`` (memory), ``control`` (changes the
    flow), ``sync`` (orders or waits for other threads), ``warp`` (its result depends on
    other lanes), ``state`` (reads or changes hidden state such as the carry flag or a
    clock). Empty: a pure function of its operands.
    """

    root: str
    summary: str
    family: str
    forms: tuple[Form, ...]
    effects: frozenset[str]
    fixed: int = 0  # words of the name after the first that keep their place
    ignored: frozenset[str] = frozenset()  # modifiers that ptxas reads over

    def begins(self, modifiers: tuple[str, ...]) -> bool:
        """Say whether an opcode with these modifiers is of this name."""
        words = tuple("." + word for word in self.root.split(".")[1:])
        return modifiers[: self.fixed] == words[: self.fixed] and all(
            word in modifiers for word in words[self.fixed :]
        )

    @property
    def is_pure(self) -> bool:
        """True where the result depends on the operands alone and nothing else changes."""
        return not self.effects


def values(text: str) -> dict[str, Requirement]:
    """Read a list of modifier values: ``"rn rz rm@1.4/13"``."""
    found: dict[str, Requirement] = {}
    for word in text.split():
        value, _, needs = word.partition("@")
        found["." + value.removeprefix(".")] = (
            Requirement.parse(needs.replace("+", " ")) if needs else ALWAYS
        )
    return found


_MODIFIERS = re.compile(r"\{((?:\.[\w:]+)+)\}|\.([\w:]+)")


def _read_slots(head: str, sets: Mapping[str, str]) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    groups = count(1)
    position = 0
    while position < len(head):
        found = _MODIFIERS.match(head, position)
        if found is None:
            raise ValueError(f"cannot read the modifiers {head[position:]!r} of {head!r}")
        position = found.end()
        optional = found[1] is not None
        words = found[1].strip(".").split(".") if optional else [found[2]]
        group = next(groups) if len(words) > 1 else 0
        for word in words:
            choices = values(sets[word]) if word in sets else {"." + word: ALWAYS}
            slots.append(Slot(word, choices, optional, group))
    return tuple(slots)


_OPERAND = re.compile(
    r"(?P<access>[=+]?)(?P<kind>[#@]?)(?P<signed>-?)(?P<name>\w*?[A-Za-z0-9])"
    r"(?P<flags>[%$&_]*)(?:/(?P<space>\w+))?(?:\.(?P<selectors>\w+))?"
    r"(?::(?:(?P<count>\d+|\w+(?:\[[\w,]+\])?)(?P<more>\+?)\*)?(?P<type>\w+(?:\[[\w,]+\])?)(?P<relaxed>~?))?"
    r"(?:\((?P<low>-?\d+)\.\.(?P<high>-?\d+)(?:/(?P<step>\d+))?(?P<powers>\*2)?\))?$"
)
_ADDRESS = re.compile(
    r"(?P<name>\w+)(?P<indexable>\[\])?(?P<strict>!?)(?::(?P<space>[\w:]+))?"
    r"(?:/(?P<type>\w+))?"
)
_ACCESS = {"": "read", "=": "write", "+": "update"}


def _split(text: str, separator: str) -> list[str]:
    """Split at separators that stand outside brackets and braces."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "[{(") - (character in "]})")
        if character == separator and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts]


def _read_operand(text: str, optional: bool = False, present_with: str = "") -> OperandSpec:
    text = text.strip()
    if text.startswith(("[", "=[", "+[")):
        bare = text.endswith("]~")
        text = text.removesuffix("~")
        unified = text.endswith("].unified")
        inner = text[text.index("[") + 1 : -1 - len(".unified") * unified]
        found = _ADDRESS.match(inner)
        assert found is not None, text
        return OperandSpec(
            found["name"],
            "address",
            _ACCESS[text[0] if text[0] in "=+" else ""],
            type=found["type"] or "",
            space=found["space"] or "",
            parts=_read_operands(inner[found.end() :]),
            indexable=bool(found["indexable"]),
            unified=unified,
            bare=bare,
            strict=bool(found["strict"]),
            optional=optional,
            present_with=present_with,
        )
    if text.startswith("("):
        parts = tuple(_read_operand(part) for part in _split(text[1:-1], ","))
        name = "_".join(part.name for part in parts)
        return OperandSpec(name, "tuple", parts=parts, optional=optional, present_with=present_with)
    pieces = _split(re.sub(r"\{(?:!([\w./+]+))?\|", r"|{\1:", text), "|")
    if len(pieces) == 2:
        second_optional = pieces[1].startswith("{")
        needs, _, second = pieces[1].strip("{}").partition(":" if second_optional else "\0")
        first_spec = _read_operand(pieces[0])
        second_spec = _read_operand(second or needs, optional=second_optional)
        if second_optional and needs:
            second_spec = replace(second_spec, needs=_requirement(needs))
        return OperandSpec(
            first_spec.name, "pair", first_spec.access, parts=(first_spec, second_spec),
            optional=optional, present_with=present_with,
        )  # fmt: skip
    if text == "=_":
        return OperandSpec("_", "sink", "write", optional=optional, present_with=present_with)
    found = _OPERAND.match(text)
    if found is None:
        raise ValueError(f"cannot read the operand {text!r}")
    bounds = (int(found["low"]), int(found["high"])) if found["low"] else None
    return OperandSpec(
        found["name"],
        {"": "value", "#": "immediate", "@": "name"}[found["kind"]],
        _ACCESS[found["access"]],
        type=found["type"] or "",
        count=found["count"] or "",
        relaxed=bool(found["relaxed"]),
        register_only="%" in found["flags"],
        specials="$" in found["flags"],
        symbols="&" in found["flags"],
        signed=bool(found["signed"]),
        selectors=found["selectors"] or "",
        sink="_" in found["flags"],
        space=found["space"] or "",
        bounds=bounds,
        step=int(found["step"] or 1),
        powers=bool(found["powers"]),
        at_least=bool(found["more"]),
        optional=optional,
        present_with=present_with,
    )


def _read_operands(text: str) -> tuple[OperandSpec, ...]:
    """Read the operand list; optional tails stand in braces that begin with a comma."""
    specs: list[OperandSpec] = []
    position, start, brackets = 0, 0, 0
    text = text.strip()

    def flush(end: int) -> None:
        for part in _split(text[start:end], ","):
            if part:
                specs.append(_read_operand(part))

    while position < len(text):
        opening = re.compile(r"\{(?:\?(\w+))?(?:!([\w./+]+))?\s*,").match(text, position)
        if opening is None:
            # A tail that may follow an empty list: "{b}" without a comma before it.
            opening = re.compile(r"\{(?:\?(\w+))?(?:!([\w./+]+) )?\s*(?=[\w#@=+\[])").match(
                text, position
            )
            if opening is not None and position > 0 and text[position - 1] in "|":
                opening = None
        brackets += (text[position] == "[") - (text[position] == "]")
        if opening is None or brackets:  # the tails inside an address are its own
            position += 1
            continue
        flush(position)
        depth, close = 1, opening.end()
        while depth:
            depth += (text[close] == "{") - (text[close] == "}")
            close += 1
        slot = opening[1] or ""
        needs = _requirement(opening[2]) if opening[2] else None
        for part in _read_operands(text[opening.end() : close - 1]):
            specs.append(_as_optional(part, slot, needs))
        position = start = close
    flush(len(text))
    return tuple(specs)


def _requirement(needs: str) -> Requirement:
    return Requirement.parse(needs.replace("+", " "))


def _as_optional(spec: OperandSpec, slot: str, needs: Requirement | None) -> OperandSpec:
    if spec.optional or spec.present_with:
        return spec
    return replace(spec, optional=not slot, present_with=slot, needs=needs)


def form(
    syntax: str,
    *,
    needs: Any = "1.0",
    rules: Any = None,
    gates: Any = None,
    ignores: Any = "",
    **sets: Any,  # rows share dicts of keywords, which no narrower type would let pass
) -> tuple[str, dict[str, object]]:
    """Write one row; :func:`instruction` turns it into a :class:`Form`.

    ``needs`` is the requirement of the whole row. ``rules`` maps a condition on slots to
    one that must then hold: ``{"ftz": "type=f32"}``; conditions are ``slot``, ``!slot``,
    ``slot=a|b`` or ``slot!=a|b``. ``gates`` maps a condition to a requirement that then
    comes on top: ``{"type=b128 & scope=sys": "8.4"}``. ``ignores`` lists modifiers that
    mean nothing here, but that ptxas lets stand.
    """
    return syntax, {
        "needs": needs, "rules": dict(rules or {}), "gates": dict(gates or {}),
        "ignores": ignores, "sets": sets,
    }  # fmt: skip


def _build(root: str, syntax: str, options: Mapping[str, object]) -> Form:
    sets = options["sets"]
    rules = options["rules"]
    gates = options["gates"]
    assert isinstance(sets, dict) and isinstance(rules, dict) and isinstance(gates, dict)
    head, _, operands = syntax.partition(" ")
    first = root.partition(".")[0]
    if not head.startswith(root):
        raise ValueError(f"the form {syntax!r} does not begin with {root!r}")
    choices = {key: value for key, value in sets.items() if isinstance(value, str)}
    tables = {key: value for key, value in sets.items() if not isinstance(value, str)}
    slots = _read_slots(head[len(first) :], choices)
    default = "type" if "type" in choices else ""
    for slot in slots:
        word = slot.name.lstrip(".")
        if not default and slot.is_literal and word in SCALAR_TYPES:
            default = word
    if not default or default in SCALAR_TYPES:
        literal = [s.name for s in slots if s.is_literal and s.name in SCALAR_TYPES]
        default = literal[-1] if literal else default
    return Form(
        root,
        syntax,
        slots,
        _read_operands(operands),
        Requirement.parse(str(options["needs"])),
        default,
        tables,
        tuple(rules.items()),
        root.count("."),
        tuple((condition, Requirement.parse(needs)) for condition, needs in gates.items()),
        frozenset(values(str(options["ignores"]))),
    )


def instruction(
    root: str,
    summary: str,
    *forms: tuple[str, dict[str, object]],
    effects: str = "",
    fixed: int | None = None,
    ignores: str = "",
) -> InstructionSpec:
    """Write one instruction of the table: its fixed name, its meaning, its forms.

    ``fixed`` is how many words after the first keep their place: all of the name's unless
    told (``add.cc`` is also ``add.u32.cc`` to ptxas). ``ignores`` are modifiers that mean
    nothing but that ptxas reads over without a word.
    """
    place = root.count(".") if fixed is None else fixed
    return InstructionSpec(
        root,
        summary,
        "",
        tuple(replace(_build(root, syntax, options), fixed=place) for syntax, options in forms),
        frozenset(effects.split()),
        place,
        frozenset(values(ignores)),
    )
