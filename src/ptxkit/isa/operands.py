"""Check the operands of one instruction against a matched row of the table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ptxkit.isa.actuals import Actual
from ptxkit.isa.addresses import HANDLES, check_base, check_handle
from ptxkit.isa.forms import OperandSpec
from ptxkit.isa.match import STATE_SPACES, Match
from ptxkit.isa.targets import Requirement
from ptxkit.isa.types import (
    BITS,
    FLOAT,
    OPAQUE,
    PACKED,
    PREDICATE,
    REGISTER_CLASSES,
    SCALAR_TYPES,
    SIGNED,
    UNSIGNED,
    register_fits,
)
from ptxkit.isa.vectors import LITERALS, element_type, element_width, settle


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an instruction does not fit: a code, a sentence, and the operand concerned."""

    code: str
    message: str
    operand: int | None = None
    hint: str = ""


def plan(match: Match, count: int) -> tuple[OperandSpec, ...] | None:
    """Choose which optional operands are present so that ``count`` operands fit."""
    return _choose(match, match.form.operands, count)


def _choose(
    match: Match, specs: tuple[OperandSpec, ...], count: int
) -> tuple[OperandSpec, ...] | None:
    must = [
        spec
        for spec in specs
        if not spec.optional and (not spec.present_with or spec.present_with in match.binding)
    ]
    room = count - len(must)
    if room < 0:
        return None
    chosen = []
    for spec in specs:
        if spec.optional:
            if room == 0:
                continue
            room -= 1
        elif spec.present_with and spec.present_with not in match.binding:
            continue
        chosen.append(spec)
    return tuple(chosen) if room == 0 else None


def counts(match: Match) -> tuple[int, int]:
    """The least and the most operands the matched form takes."""
    must = sum(
        1
        for spec in match.form.operands
        if not spec.optional and (not spec.present_with or spec.present_with in match.binding)
    )
    return must, must + sum(1 for spec in match.form.operands if spec.optional)


def requirements(match: Match, actuals: tuple[Actual, ...]) -> tuple[Requirement, ...]:
    """What the modifiers and the operands that are present need of version and target."""
    return match.requirements + _needs(match, plan(match, len(actuals)) or (), actuals)


def _needs(
    match: Match, specs: tuple[OperandSpec, ...], actuals: tuple[Actual, ...]
) -> tuple[Requirement, ...]:
    found: tuple[Requirement, ...] = ()
    for spec, actual in zip(specs, actuals, strict=False):
        found += (spec.needs,) if spec.needs else ()
        if spec.kind == "pair" and actual.kind == "pair":
            found += _needs(match, spec.parts, actual.elements)
        elif spec.kind == "address" and spec.parts and actual.kind == "address":
            rest = actual.elements[1:]
            found += _needs(match, _choose(match, spec.parts, len(rest)) or (), rest)
    return found


def short_addresses(match: Match, actuals: tuple[Actual, ...]) -> list[Problem]:
    """Addresses of 32 bits where a module with ``.address_size 64`` needs 64.

    ptxas says so only after everything else, as it once made 32-bit code of such modules.
    """
    found = []
    for index, (spec, actual) in enumerate(
        zip(plan(match, len(actuals)) or (), actuals, strict=False)
    ):
        if spec.type and spec.kind == "address":
            continue  # the row itself says what the address register may be
        if spec.kind == "address" and actual.kind == "address":
            base, space = actual.elements[0], _space_of(match, spec)
            short = base.kind == "register" and SCALAR_TYPES[base.type].width == 32
        else:
            space = actual.space if spec.symbols and actual.kind == "symbol" else "none"
            wanted = match.operand_type(spec.type)
            short = wanted in SCALAR_TYPES and SCALAR_TYPES[wanted].width == 32
        if short and space in ("", "global", "any"):
            message = f"operand '{spec.name}': an address here has 64 bits, not 32"
            found.append(Problem("address-size", message, index))
    return found


def check_operands(match: Match, actuals: tuple[Actual, ...]) -> list[Problem]:
    """All problems of these operands under the matched row; empty when they fit."""
    specs = plan(match, len(actuals))
    if specs is None:
        low, high = counts(match)
        wanted = str(low) if low == high else f"{low} to {high}"
        return [
            Problem(
                "operand-count",
                f"takes {wanted} operand{'' if wanted == '1' else 's'}, not {len(actuals)}",
                hint=f"the form is: {match.form.syntax}",
            )
        ]
    problems: list[Problem] = []
    for index, (spec, actual) in enumerate(zip(specs, actuals, strict=True)):
        message = _CHECKS[spec.kind](match, spec, actual)
        if message:
            problems.append(Problem("operand", message, index))
    return problems


def _check_value(match: Match, spec: OperandSpec, actual: Actual) -> str:
    wanted = match.operand_type(spec.type)
    count = match.operand_count(spec.count)
    if actual.kind == "unknown":
        return ""
    if (
        actual.selector
        and spec.selectors
        and actual.selector[1:] not in match.form.tables[spec.selectors]
    ):
        return f"operand '{spec.name}': '{actual.selector}' is no selector here"
    if wanted in HANDLES:
        # Where texture and sampler are one, ptxas takes either name for the sampler.
        return check_handle(actual, (wanted, "texref"), spec.name)
    loose = spec.at_least and spec.access == "read" and actual.kind != "vector"
    if loose and (actual.width == 1 or actual.width >= count):
        return _check_scalar(spec, replace(actual, width=1), wanted)
    if count or (spec.count and actual.kind == "vector"):
        return _check_vector(match, spec, actual, wanted, count or 1)
    loose = wanted == "loose32" or (wanted == "any32" and spec.access == "read")
    if loose and actual.kind == "vector":
        # Where ptxas looks at the width alone, it does not ask for a scalar either.
        length = 1 if wanted == "loose32" else len(actual.elements)
        return _check_vector(match, spec, actual, wanted, length)
    if spec.space and actual.kind in ("symbol", "function"):
        return check_base(actual, _space_of(match, spec), "address")
    return _check_scalar(spec, actual, wanted)


def _check_vector(match: Match, spec: OperandSpec, actual: Actual, wanted: str, count: int) -> str:
    if actual.kind == "register" and 1 < actual.width == count and not actual.selector:
        return _check_register(spec, actual, wanted)
    if actual.kind == "sink" and spec.sink and spec.access != "read":
        return ""
    if actual.kind == "special" and actual.width == count:
        return _check_special(spec, actual, wanted, match_vector=True)
    if actual.kind != "vector":
        return f"operand '{spec.name}' must be a vector of {count} {_dotted(wanted)} registers"
    if len(actual.elements) != count and not (
        spec.at_least and len(actual.elements) >= count and len(actual.elements) in (1, 2, 4)
    ):
        return f"operand '{spec.name}' must have {count} elements, not {len(actual.elements)}"
    if any(element.kind == "unknown" for element in actual.elements):
        return ""  # an undeclared name, reported as such
    layered = match.resolve(spec.count).startswith("i")
    return _check_elements(spec, actual.elements, wanted, layered)


def _check_elements(
    spec: OperandSpec, elements: tuple[Actual, ...], wanted: str, layered: bool
) -> str:
    """Check a vector as ptxas does: its elements settle on a type, and that one must fit."""
    for element in elements:
        free = element.kind in ("special", *LITERALS) and spec.access == "read"
        if (free and not spec.register_only) or (
            element.kind == "sink"
            and (spec.sink or (spec.access == "write" and not spec.register_only))
        ):
            continue
        message = _check_scalar(spec, element, "" if element.kind == "register" else wanted)
        if message:
            return message
    if layered:
        return _check_layered(spec, elements)
    settled, reason = settle(elements)
    if reason:
        return f"operand '{spec.name}' has elements of {reason}"
    if wanted in REGISTER_CLASSES:
        others = [one for one in elements if one.kind not in ("sink", *LITERALS)]
        if others and settled.startswith("b"):
            settled = f"b{element_width(others[0])}"
        if wanted == "word32" and any(one.type == "pred" for one in others):
            settled = "pred"
        return _check_register(spec, Actual("register", settled), wanted)
    if all(one.kind in LITERALS for one in elements):
        return next(filter(None, (check_constant(spec, one, wanted) for one in elements)), "")
    if wanted not in SCALAR_TYPES:
        return _check_register(spec, Actual("register", settled), wanted)
    kind, width = SCALAR_TYPES[wanted].kind, SCALAR_TYPES[wanted].width
    if elements[0].kind in ("decimal", "float") and kind in (FLOAT, BITS):
        same = SCALAR_TYPES[settled].width == width
        return "" if kind == FLOAT or same else f"operand '{spec.name}' needs {width}-bit elements"
    if elements[0].kind == "integer" and settled == "b64":
        return ""
    if SCALAR_TYPES[settled].is_integer and kind == FLOAT and _follows(spec):
        return "" if width == SCALAR_TYPES[settled].width else _misfit(spec, settled, wanted)
    return _check_register(spec, Actual("register", settled), wanted)


def _check_layered(spec: OperandSpec, elements: tuple[Actual, ...]) -> str:
    """Check coordinates that begin with the index of a layer; the rest is 32 bits of any type."""
    if elements[0].kind != "integer" and element_type(elements[0]) not in ("b32", "u32", "s32"):
        return f"operand '{spec.name}' must begin with an integer, the index of the layer"
    settled, reason = settle(elements[1:])
    if not reason and elements[1].kind not in LITERALS and SCALAR_TYPES[settled].width != 32:
        reason = "different widths"
    return f"operand '{spec.name}' has elements of {reason}" if reason else ""


def _dotted(wanted: str) -> str:
    return f".{wanted}" if wanted else "any"


def _follows(spec: OperandSpec) -> bool:
    """True where the operand's type is the instruction's, False where it is its own."""
    return spec.type not in SCALAR_TYPES


def _check_register(spec: OperandSpec, actual: Actual, wanted: str) -> str:
    if not wanted:
        return ""
    fits = register_fits(wanted, actual.type, relaxed=spec.relaxed)
    kind = SCALAR_TYPES[wanted].kind if wanted in SCALAR_TYPES else BITS
    if actual.type == "f16x2" and kind in (SIGNED, UNSIGNED, PREDICATE):
        # ptxas lets .f16x2 registers through where the operand follows the instruction's
        # type, even a predicate, but not where the operand's own type is fixed.
        fits = fits and _follows(spec)
    return "" if fits else _misfit(spec, actual.type, wanted)


def _misfit(spec: OperandSpec, found: str, wanted: str) -> str:
    return f"operand '{spec.name}' is a .{found} register where .{wanted} is needed"


def _check_scalar(spec: OperandSpec, actual: Actual, wanted: str) -> str:
    kind = actual.kind
    if kind == "unknown":
        return ""
    if spec.access != "read" and (kind not in ("register", "sink") or actual.negated):
        return f"operand '{spec.name}' is written, so it must be a register"
    if actual.negated and wanted != "pred" and kind == "register":
        return f"operand '{spec.name}': '!' stands before predicates only"
    if actual.minus and kind == "register" and not spec.signed:
        return f"operand '{spec.name}': a register cannot be negated here"
    if kind == "register":
        if actual.width > 1 and not actual.selector:
            return f"operand '{spec.name}' is a vector register; choose an element such as '.x'"
        if spec.selectors and actual.selector and actual.width == 1:
            return _check_register(spec, actual, wanted)
        if actual.selector and actual.width == 1:
            return f"operand '{spec.name}': '{actual.selector}' selects from a scalar register"
        if actual.offset and spec.access != "read":
            return f"operand '{spec.name}' is written, so it must be a register"
        if actual.offset:
            # ptxas takes 'r+4' as an address, and an address for any scalar but these.
            if wanted != "pred" and not (spec.register_only or spec.selectors):
                return "" if _follows(spec) else _check_register(spec, actual, wanted)
            return f"operand '{spec.name}': an offset stands in addresses only"
        return _check_register(spec, actual, wanted)
    if kind == "sink":
        return "" if spec.sink else f"operand '{spec.name}' may not be '_' here"
    if spec.register_only:
        return f"operand '{spec.name}' must be a register"
    if kind == "special":
        return _check_special(spec, actual, wanted)
    if kind == "element" and spec.symbols:
        return _check_symbol(spec, actual.elements[0], wanted)  # 'name[2]' is an address too
    if kind in ("symbol", "function"):
        return _check_symbol(spec, actual, wanted)
    if kind in ("integer", "decimal", "float"):
        return check_constant(spec, actual, wanted)
    return f"operand '{spec.name}' may not be a {kind} here"


def _check_symbol(spec: OperandSpec, actual: Actual, wanted: str) -> str:
    kind = SCALAR_TYPES[wanted].kind if wanted in SCALAR_TYPES else BITS
    if actual.kind == "function":
        # ptxas takes a function's name wherever the operand follows the instruction's type.
        fits = spec.symbols or _follows(spec)
    else:
        fits = spec.symbols or (actual.offset and not spec.selectors)
        fits = fits and kind in (BITS, SIGNED, UNSIGNED)
        if not spec.symbols and not _follows(spec) and actual.type in SCALAR_TYPES:
            fits = fits and register_fits(wanted, actual.type)
    if fits:
        return ""
    return f"operand '{spec.name}' must be a register or a constant, not a symbol"


def _check_special(
    spec: OperandSpec, actual: Actual, wanted: str, *, match_vector: bool = False
) -> str:
    if not spec.specials:
        return f"operand '{spec.name}' may not be a special register; copy it with mov first"
    if actual.width > 1 and not match_vector:
        return f"operand '{spec.name}' is a vector of {actual.width}; choose a part such as '.x'"
    if wanted and actual.type and not _special_fits(spec, wanted, actual):
        return f"operand '{spec.name}' is a .{actual.type} special register, not .{wanted}"
    return ""


def _special_fits(spec: OperandSpec, wanted: str, actual: Actual) -> bool:
    if register_fits(wanted, actual.type, relaxed=spec.relaxed):
        return True
    scalar = SCALAR_TYPES[wanted]
    return scalar.width in actual.widths and (scalar.is_integer or scalar.kind == BITS)


def check_constant(spec: OperandSpec, actual: Actual, wanted: str) -> str:
    """Say what is wrong with a literal where type ``wanted`` is needed."""
    if wanted in REGISTER_CLASSES:
        fits = register_fits(wanted, element_type(actual))
        return "" if fits else f"operand '{spec.name}' may not be such a constant"
    kind = SCALAR_TYPES[wanted].kind if wanted in SCALAR_TYPES else ""
    is_integer = actual.kind == "integer"
    if kind in (FLOAT, OPAQUE, PACKED):
        if wanted not in ("f32", "f64"):
            return f"operand '{spec.name}' may not be a constant; .{wanted} ones need a register"
        if is_integer:
            return f"operand '{spec.name}' needs a float constant such as 0f3F800000 or 1.0"
        if spec.bounds is None or actual.value is None:
            return ""
        low, high = spec.bounds  # the lower end of a range of floats does not belong to it
        inside = low < actual.value <= high
        return "" if inside else f"operand '{spec.name}' must be above {low} and up to {high}"
    if kind == BITS and not is_integer:
        # A decimal constant is a double, as is one that begins with 0d.
        literal = actual.type or ("f64" if actual.kind == "decimal" else "")
        if not literal or (literal, wanted) in (("f32", "b32"), ("f64", "b64")):
            return ""
    if not is_integer:
        return f"operand '{spec.name}' needs an integer constant"
    if spec.bounds is not None and actual.value is not None:
        low, high = spec.bounds
        value = actual.value % (1 << 64) if kind == UNSIGNED else actual.value
        if not low <= value <= high:
            return f"operand '{spec.name}' must be from {low} to {high}, not {actual.value}"
        if spec.powers and int(value) & (int(value) - 1):
            return f"operand '{spec.name}' must be a power of two, not {actual.value}"
        if (value - low) % spec.step:
            choices = range(low, high + 1, spec.step)
            some = ", ".join(str(one) for one in choices[:8]) + (" ..." if choices[8:] else "")
            return f"operand '{spec.name}' must be one of {some}, not {actual.value}"
    return ""


def _check_immediate(match: Match, spec: OperandSpec, actual: Actual) -> str:
    if actual.kind not in ("integer", "decimal", "float"):
        return f"operand '{spec.name}' must be a constant"
    return check_constant(spec, actual, match.operand_type(spec.type))


def _check_address(match: Match, spec: OperandSpec, actual: Actual) -> str:
    space = _space_of(match, spec)
    if actual.kind == "element" and (spec.indexable or spec.bare):
        return check_base(actual.elements[0], space, spec.access)
    bare = spec.bare and not spec.parts and actual.kind in ("register", "float", "decimal")
    plain = not (actual.minus or actual.negated or actual.selector)
    if bare and plain and actual.type != "pred":  # a predicate crashes ptxas
        return ""
    if actual.kind != "address":
        return f"operand '{spec.name}' must be an address in brackets"
    base, rest = actual.elements[0], actual.elements[1:]
    parts = _choose(match, spec.parts, len(rest))
    if parts is None:
        return f"address '{spec.name}' has {len(rest) + 1} parts, not {len(spec.parts) + 1}"
    if len(rest) > 1 and rest[-1].kind == "register":
        return "after a second name in the brackets, coordinates stand in braces"
    for part, element in zip(parts, rest, strict=True):
        message = _CHECKS[part.kind](match, part, element)
        if message:
            return message
    if actual.selector and not (
        spec.unified and base.kind == "register" and _first_space(match) in ("", "global")
    ):
        return f"'{actual.selector}' may not stand after this address"
    if space in HANDLES:
        return check_handle(base, (space,), spec.name)
    if base.type in HANDLES:
        reached = not (spec.indexable or spec.type or spec.strict)
        return "" if reached else f"a .{base.type} has no bytes to reach"
    if base.kind == "register" and spec.bare and spec.parts and base.type != "pred":
        return ""
    if base.kind == "register" and spec.type:
        return _check_register(spec, base, match.operand_type(spec.type))
    return check_base(base, space, spec.access)


def _first_space(match: Match) -> str:
    """The state space that stands first among the modifiers: '' when there is none."""
    words = (match.binding.get(slot.name, "") for slot in match.form.slots)
    return next((word for word in words if f".{word.partition('::')[0]}" in STATE_SPACES), "")


def _space_of(match: Match, spec: OperandSpec) -> str:
    """The state space of an address: '' for a generic one."""
    if any(slot.name == spec.space for slot in match.form.slots):
        return match.binding.get(spec.space, "")
    return spec.space


def _check_name(match: Match, spec: OperandSpec, actual: Actual) -> str:
    wanted = NAME_KINDS.get(spec.name, (spec.name,))
    if actual.kind in wanted or actual.kind == "unknown":
        return ""
    return f"a {spec.name} is needed here, not a {actual.kind}"


#: What ``@label``, ``@function`` ... of the notation accept.
NAME_KINDS: dict[str, tuple[str, ...]] = {
    "label": ("label",),
    "function": ("function",),
    "targets": ("table",),
    "prototype": ("table",),
    "arguments": ("list",),
    "results": ("list",),
}


def _check_pair(match: Match, spec: OperandSpec, actual: Actual) -> str:
    first, second = spec.parts
    if actual.kind != "pair":
        if not second.optional:
            return f"operand '{first.name}' must be a pair '{first.name}|{second.name}'"
        return _CHECKS[first.kind](match, first, actual)
    left, right = actual.elements
    return _CHECKS[first.kind](match, first, left) or _CHECKS[second.kind](match, second, right)


def _check_sink(match: Match, spec: OperandSpec, actual: Actual) -> str:
    return "" if actual.kind in ("sink", "unknown") else "the result must be '_' here"


def _check_tuple(match: Match, spec: OperandSpec, actual: Actual) -> str:
    if actual.kind != "vector" or len(actual.elements) != len(spec.parts):
        return f"operand '{spec.name}' must be a vector of {len(spec.parts)} elements"
    for part, element in zip(spec.parts, actual.elements, strict=True):
        message = _CHECKS[part.kind](match, part, element)
        if message:
            return message
    return ""


_CHECKS = {
    "sink": _check_sink,
    "value": _check_value,
    "immediate": _check_immediate,
    "address": _check_address,
    "name": _check_name,
    "pair": _check_pair,
    "tuple": _check_tuple,
}
