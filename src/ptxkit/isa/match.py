"""Find the rows of the table that a sequence of modifiers selects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from ptxkit.isa.forms import Form
from ptxkit.isa.targets import Requirement
from ptxkit.isa.types import REGISTER_CLASSES, SCALAR_TYPES


@dataclass(frozen=True, slots=True)
class Match:
    """A form with the modifier in each of its filled slots."""

    form: Form
    binding: Mapping[str, str]  # slot name -> modifier without the dot
    requirements: tuple[Requirement, ...]
    in_order: bool
    ignored: tuple[str, ...] = ()  # modifiers without a meaning here that ptxas lets stand

    def resolve(self, notation: str) -> str:
        """Turn a type or count notation (slot, ``table[slot]``, literal) into its value."""
        if notation.endswith("]"):
            table, _, keys = notation[:-1].partition("[")
            words = [self.binding.get(key, "") for key in keys.split(",")]
            return self.form.tables[table].get(",".join(words), "")
        if notation in self.binding:
            return self.binding[notation]
        return notation

    def operand_type(self, notation: str) -> str:
        """The scalar type an operand's type notation stands for here; '' when unknown."""
        found = self.resolve(notation or self.form.default_type)
        return found if found in SCALAR_TYPES or found in REGISTER_CLASSES else ""

    def operand_count(self, notation: str) -> int:
        """The vector length of a count notation: 0 for a scalar, as when the slot is empty."""
        found = self.resolve(notation) if notation else ""
        digits = found.lstrip("vxi")
        return int(digits) if digits.isdigit() else 0


def holds(condition: str, binding: Mapping[str, str]) -> bool:
    """Evaluate a rule's condition (``slot``, ``!slot``, ``slot=a|b``, ``slot!=a|b``).

    >>> holds("ftz", {"type": "f32"}), holds("type=f16|f32", {"type": "f32"})
    (False, True)
    """
    for part in condition.split("&"):
        slot, equals, choices = part.strip().partition("=")
        unlike = slot.endswith("!")
        slot = slot.removesuffix("!")
        if equals:
            if (binding.get(slot, "") in choices.split("|")) == unlike:
                return False
        elif slot.startswith("!"):
            if slot[1:] in binding:
                return False
        elif slot not in binding:
            return False
    return True


def broken_rule(form: Form, binding: Mapping[str, str]) -> tuple[str, str] | None:
    """The first rule of the form that the binding breaks."""
    for condition, consequence in form.rules:
        if holds(condition, binding) and not holds(consequence, binding):
            return condition, consequence
    return None


def gates_of(form: Form, binding: Mapping[str, str]) -> list[Requirement]:
    """The requirements that the combination of these modifiers adds."""
    return [needs for condition, needs in form.gates if holds(condition, binding)]


#: State spaces; where an instruction has two (source and destination), their order counts.
STATE_SPACES = frozenset(".global .shared .local .param .const".split())


def assignments(form: Form, modifiers: tuple[str, ...]) -> Iterator[tuple[int, ...]]:
    """Yield every way to put the modifiers into slots, those in the manual's order first.

    ptxas takes modifiers in any order, but for the words of the name itself and the
    order of types among themselves and of state spaces; so do we, and ``check`` warns.
    """
    slots = form.slots
    if len(modifiers) < form.fixed:
        return
    candidates = [
        [index for index, slot in enumerate(slots) if modifier in slot.values]
        for modifier in modifiers
    ]
    if not all(candidates):
        return
    chosen: list[int] = []
    used: set[int] = set()

    def complete() -> bool:
        filled_groups = {slots[index].group for index in used if slots[index].group}
        return all(
            index in used or (slot.optional and slot.group not in filled_groups)
            for index, slot in enumerate(slots)
        )

    def extend(position: int, last: Mapping[str, int]) -> Iterator[tuple[int, ...]]:
        if position == len(modifiers):
            if complete():
                yield tuple(chosen)
            return
        group = _order_group(modifiers[position], candidates[position])
        for index in candidates[position]:
            if index in used or (position < form.fixed) != (index < form.fixed):
                continue
            if index < form.fixed and index != position:
                continue
            if group and index < last.get(group, -1):
                continue
            used.add(index)
            chosen.append(index)
            yield from extend(position + 1, {**last, group: index} if group else last)
            chosen.pop()
            used.remove(index)

    yield from extend(0, {})


#: Words besides types and spaces that keep their order among themselves.
ORDERED_WORDS = {
    "row": "layout", "col": "layout", "xor": "bits", "and": "bits", "popc": "bits",
    "b8x16": "type", "b6x16_p32": "type", "b4x16_p64": "type",
}  # fmt: skip


def _order_group(modifier: str, candidates: list[int]) -> str:
    """Modifiers of one group keep their order; those of group '' stand anywhere."""
    word = modifier[1:]
    if word in SCALAR_TYPES:
        return "type"
    if modifier.partition("::")[0] in STATE_SPACES:
        return "space"
    # What several slots could take has its meaning from its place.
    return ORDERED_WORDS.get(word, str(candidates) if len(candidates) > 1 else "")


def match_form(form: Form, modifiers: tuple[str, ...]) -> Match | None:
    """Match one form; the assignment nearest the manual's order wins."""
    fallback: Match | None = None
    modifiers, ignored = without_ignored(form, modifiers)
    for chosen in assignments(form, modifiers):
        binding: dict[str, str] = {}
        needs = [form.requirement]
        for modifier, index in zip(modifiers, chosen, strict=True):
            slot = form.slots[index]
            binding[slot.name] = modifier[1:]
            needs.append(slot.values[modifier])
        if broken_rule(form, binding) is not None:
            continue
        needs += gates_of(form, binding)
        in_order = all(a < b for a, b in pairwise(chosen))
        found = Match(form, binding, tuple(needs), in_order, ignored)
        if in_order:
            return found
        fallback = fallback or found
    return fallback


#: Modifiers that ptxas passes over in silence on instructions that take none of their kind.
IGNORED = {
    word: kind
    for kind in (
        frozenset(".finite .infinite .normal .notanumber .number .subnormal".split()),
        frozenset(
            ".box_dim .element_stride .elemtype .fill_mode .global_address .global_dim "
            ".global_stride .interleave_layout .rank .swizzle_atomicity .swizzle_mode".split()
        ),
        frozenset(".acc::f16 .acc::f32".split()),
        frozenset(".b8x16 .b6x16_p32 .b4x16_p64".split()),
    )
    for word in kind
}


@cache
def _taken(root: str) -> frozenset[str]:
    """Every modifier that some form of the instruction takes."""
    from ptxkit.isa.registry import table

    return frozenset(
        value for form in table()[root].forms for slot in form.slots for value in slot.values
    )


def without_ignored(
    form: Form, modifiers: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split off the modifiers that mean nothing to a form, but that ptxas lets stand."""
    suspects = {m for m in modifiers if m in IGNORED or m in form.ignored}
    if not suspects:
        return modifiers, ()
    own = {value for slot in form.slots for value in slot.values}
    ignored = {
        m
        for m in suspects
        if (m in form.ignored and m not in own)
        or (m in IGNORED and _taken(form.root).isdisjoint(IGNORED[m]))
    }
    return (
        tuple(modifier for modifier in modifiers if modifier not in ignored),
        tuple(modifier for modifier in modifiers if modifier in ignored),
    )


#: Modifiers that ptxas lets stand more than once.
REPEATABLE = frozenset(".sat .uni .sync .NaN .approx .cc .relu .satfinite .shiftamt".split())


def without_repeats(modifiers: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the second and later ones of modifiers that may be repeated.

    >>> without_repeats((".uni", ".uni"))
    ('.uni',)
    """
    return tuple(
        modifier
        for index, modifier in enumerate(modifiers)
        if modifier not in REPEATABLE or modifier not in modifiers[:index]
    )


@lru_cache(maxsize=65536)
def match(name: str, modifiers: tuple[str, ...]) -> tuple[Match, ...]:
    """All rows that ``name`` with these modifiers selects.

    >>> [m.form.syntax.split()[0] for m in match("add", (".s32",))]
    ['add.type']
    """
    from ptxkit.isa.registry import specs_of

    modifiers = without_repeats(modifiers)
    found: list[Match] = []
    for spec in specs_of(name):
        if spec.begins(modifiers):
            kept = tuple(word for word in modifiers if word not in spec.ignored)
            found += (one for form in spec.forms if (one := match_form(form, kept)) is not None)
    return tuple(found)
