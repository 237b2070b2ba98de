"""Why no row of the table fits an opcode, in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from ptxkit.isa.directives import DIRECTIVES
from ptxkit.isa.forms import Form
from ptxkit.isa.match import broken_rule
from ptxkit.isa.registry import known_names, specs_of
from ptxkit.isa.types import SCALAR_TYPES


@dataclass(frozen=True, slots=True)
class Explanation:
    """A message, a hint, and the number of the modifier concerned (None: the name)."""

    code: str
    message: str
    hint: str
    modifier: int | None = None


def explain(name: str, modifiers: tuple[str, ...]) -> Explanation:
    """Say what is wrong with an opcode that no row of the table matches."""
    if name not in known_names():
        return Explanation(
            "unknown-instruction", f"there is no instruction '{name}'", _near_instruction(name)
        )
    forms = tuple(form for row in specs_of(name) if row.begins(modifiers) for form in row.forms)
    if not forms:
        roots = sorted(row.root for row in specs_of(name))
        return Explanation(
            "modifier",
            f"'{name}{''.join(modifiers)}' is no form of '{name}'",
            "the instructions are: " + _some(roots),
            0 if modifiers else None,
        )
    doubled = next((n for n, m in enumerate(modifiers) if m in modifiers[:n]), None)
    stray = _stray(forms, modifiers)
    if stray is not None:
        word = modifiers[stray]
        values = _all_values(forms)
        near = get_close_matches(word[:80], values, 1, 0.6)
        hint = f"did you mean '{near[0]}'?" if near else _forms_hint(forms)
        if word.lower() in values:
            hint = f"PTX is written in lower case: '{word.lower()}'"
        return Explanation("modifier", f"'{word}' is not a modifier of '{name}'", hint, stray)
    best = min((_distance(form, modifiers) for form in forms), key=lambda one: one.score)
    if doubled is not None and modifiers[doubled] not in SCALAR_TYPES:
        return Explanation(
            "modifier", f"'{modifiers[doubled]}' stands twice", _forms_hint(forms), doubled
        )
    if best.extra:
        at = best.extra[0]
        others = [m for n, m in enumerate(modifiers) if n != at]
        return Explanation(
            "modifier",
            f"'{modifiers[at]}' cannot stand with '{''.join(others)}' in '{name}'",
            f"the nearest form is: {best.form.syntax.split(' ')[0]}",
            at,
        )
    if best.missing:
        slot = best.form.slots[best.missing[0]]
        return Explanation(
            "modifier",
            f"'{name}{''.join(modifiers)}' lacks a modifier: one of {_some(list(slot.values))}",
            f"the nearest form is: {best.form.syntax.split(' ')[0]}",
        )
    rule = best.rule
    text = f"; {rule[0]} goes with {rule[1]} only" if rule else ""
    return Explanation(
        "modifier",
        f"these modifiers do not go together in '{name}'",
        f"the nearest form is: {best.form.syntax.split(' ')[0]}{text}",
    )


def _near_instruction(name: str) -> str:
    if name.lower() in known_names():
        return f"PTX is written in lower case: '{name.lower()}'"
    if name in DIRECTIVES:
        return f"did you mean the directive '.{name}'?"
    near = get_close_matches(name[:80], known_names(), 1, 0.6)
    return f"did you mean '{near[0]}'?" if near else "see docs/isa.md for all instructions"


#: What stands in the notation of the table for types, ranges and needs (see forms.py).
_NOTATION = re.compile(
    r":(?:\w+\[\w+\]|[\w*+/.~])+(?:\([\d./*-]*\))?|(?<=\{)[!?][\w./+]+|&/\w+|\[\]"
    r"|[=@#%$&~!]|(?<=\w)_(?!\w)|(?<![\w\]])[+-]"
)


def plain_form(syntax: str) -> str:
    """A form of the table as a reader of PTX would write it.

    >>> plain_form("ld.space.type =d:type~, [a:space]{, c:b64}")
    'ld.space.type d, [a]{, c}'
    """
    head, _, operands = syntax.partition(" ")
    return f"{head} {_NOTATION.sub('', operands)}".rstrip()


@dataclass(frozen=True, slots=True)
class _Distance:
    form: Form
    extra: tuple[int, ...]
    missing: tuple[int, ...]
    rule: tuple[str, str] | None

    @property
    def score(self) -> tuple[int, int]:
        return (len(self.extra) * 2 + len(self.missing), len(self.extra))


def _distance(form: Form, modifiers: tuple[str, ...]) -> _Distance:
    """How far a form is: modifiers it has no place for, and slots it needs filled."""
    used: set[int] = set()
    extra: list[int] = []
    binding: dict[str, str] = {}
    for number, modifier in enumerate(modifiers):
        place = next(
            (i for i, s in enumerate(form.slots) if i not in used and modifier in s.values), None
        )
        if place is None:
            extra.append(number)
        else:
            used.add(place)
            binding[form.slots[place].name] = modifier[1:]
    missing = tuple(
        index for index, slot in enumerate(form.slots) if not slot.optional and index not in used
    )
    rule = broken_rule(form, binding) if not extra and not missing else None
    return _Distance(form, tuple(extra), missing, rule)


def _all_values(forms: Sequence[Form]) -> list[str]:
    return sorted({value for form in forms for slot in form.slots for value in slot.values})


def _stray(forms: Sequence[Form], modifiers: tuple[str, ...]) -> int | None:
    """The first modifier that no form of the instruction knows at all."""
    known = set(_all_values(forms))
    return next((n for n, m in enumerate(modifiers) if m not in known), None)


def _some(words: list[str], most: int = 12) -> str:
    return " ".join(words[:most]) + (" ..." if len(words) > most else "")


def _forms_hint(forms: Sequence[Form]) -> str:
    heads = list(dict.fromkeys(form.syntax.split(" ")[0] for form in forms))
    return "forms are: " + ", ".join(heads[:4]) + (" ..." if len(heads) > 4 else "")
