"""What instructions compute, in terms: the one form that all with the same meaning have.

Predicates are terms here, as numbers are: a question, or what is not the answer to one. Of two that
are put together it is told when either holds; both hold where neither does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.decompiler.verify.dataflow.bits import packed, part
from ptxkit.decompiler.verify.dataflow.decode import Step
from ptxkit.decompiler.verify.dataflow.integers import INTEGERS, meaning
from ptxkit.decompiler.verify.dataflow.opcodes import may_leave_out
from ptxkit.decompiler.verify.dataflow.pure import FLOAT_COMPARISONS
from ptxkit.decompiler.verify.dataflow.terms import GiveUpError, Term, Terms
from ptxkit.isa.types import SCALAR_TYPES

_FLOATS = frozenset(("f16", "bf16", "f32", "f64"))
#: Orders by one of them: whether the operands change sides, and whether it is the opposite.
_ORDERS = {
    "lt": (False, False), "gt": (True, False), "le": (True, True), "ge": (False, True),
    "lo": (False, False), "hi": (True, False), "ls": (True, True), "hs": (False, True),
}  # fmt: skip
_UNSIGNED = frozenset(("lo", "hi", "ls", "hs"))
#: A comparison alone, and one whose answer is put together with a predicate.
_ALONE, _BESIDE = 2, 3
_BYTE = 8


def computed(terms: Terms, step: Step, values: Sequence[Term]) -> list[Term]:
    """What an instruction puts into its targets; as an operation, where nothing more is known."""
    if ".cc" in step.modifiers or step.name in ("addc", "subc", "madc"):
        raise GiveUpError("a carry")
    known = _moved(terms, step, values) if step.name == "mov" else _known(terms, step, values)
    if known is not None:
        return known
    opcode = plain(step)
    return [terms.operation(opcode, place, values) for place in range(len(step.targets))]


def negated(terms: Terms, value: Term) -> Term:
    """The opposite of a predicate."""
    row = terms.rows[value]
    if row[0] == "truth" and isinstance(row[1], bool):
        return terms.make("truth", not row[1])
    return int(row[1]) if row[0] == "not" else terms.make("not", value)


def plain(step: Step) -> str:
    """The opcode; a type as wide as its register has no sign where bits are only moved."""
    opcode = step.opcode.replace(".rn", "", 1) if may_leave_out(step) else step.opcode
    bits = step.name in ("and", "or", "xor", "not", "selp", "mov", "shl", "st")
    if step.name == "ld":
        width = SCALAR_TYPES[step.type].width
        bits = all(t is None or SCALAR_TYPES[t[1]].width == width for t in step.targets)
    if not bits:
        return opcode
    words = opcode.split(".")
    return ".".join("b" + w[1:] if w[1:].isdigit() and w[0] in "usf" else w for w in words)


def _moved(terms: Terms, step: Step, values: Sequence[Term]) -> list[Term] | None:
    """A move, and words that are put together of others or taken apart."""
    vector = step.sources[0].kind == "vector"
    if len(step.targets) == 1 and not vector:
        return [values[0]]
    if step.type not in SCALAR_TYPES:
        return None
    width = SCALAR_TYPES[step.type].width
    if not vector:
        count = len(step.targets)
        return [part(terms, width, values[0], place, count) for place in range(count)]
    row = terms.rows[values[0]]
    parts = row[2:] if row[0] == "tuple" else ()
    if len(step.targets) > 1 or not parts:
        return None
    return [packed(terms, width // len(parts), parts)]


def _known(terms: Terms, step: Step, values: Sequence[Term]) -> list[Term] | None:
    """What has a meaning of its own."""
    if step.name == "setp":
        return _answers(terms, step, values)
    if step.name == "selp":
        return [chosen(terms, SCALAR_TYPES[step.type].width, *values)]
    if step.type == "pred" and step.name in ("not", "and", "or", "xor") and len(step.targets) == 1:
        return [_together(terms, step.name, values)]
    known = meaning(terms, step, values)
    return None if known is None else [known]


def _together(terms: Terms, name: str, values: Sequence[Term]) -> Term:
    """Predicates put together.

    >>> t = Terms()
    >>> p, q = t.make("symbol", "p"), t.make("symbol", "q")
    >>> both = _together(t, "and", [p, q])
    >>> neither = _together(t, "or", [negated(t, p), negated(t, q)])
    >>> both == negated(t, neither), both == neither
    (True, False)
    >>> turned = _together(t, "xor", [p, negated(t, q)])
    >>> turned == negated(t, _together(t, "xor", [p, q]))
    True
    """
    if name == "not":
        return negated(terms, values[0])
    if name == "and":
        return negated(terms, _together(terms, "or", [negated(terms, one) for one in values]))
    first, second = sorted(values)
    if name == "xor":
        rows = [terms.rows[one] for one in (first, second)]
        odd = sum(row[0] == "not" for row in rows) % 2
        bare = (
            int(r[1]) if r[0] == "not" else v for r, v in zip(rows, (first, second), strict=True)
        )
        made = terms.make("xor", *sorted(bare))
        return negated(terms, made) if odd else made
    return first if first == second else terms.make("or", first, second)


def chosen(terms: Terms, width: int, yes: Term, no: Term, asked: Term) -> Term:
    """One of two; of two numbers a sum with the truth of the condition, as 1 or 0.

    >>> t = Terms()
    >>> p, x, y = (t.make("symbol", name) for name in "pxy")
    >>> chosen(t, 32, x, y, negated(t, p)) == chosen(t, 32, y, x, p) != chosen(t, 32, x, y, p)
    True
    """
    row = terms.rows[asked]
    if row[0] == "not":
        yes, no, asked = no, yes, int(row[1])
    numbers = [terms.constant_of(value) for value in (yes, no)]
    if None in numbers or width < _BYTE:
        return terms.operation(f"selp.b{width}", 0, (yes, no, asked))
    difference = terms.add(width, yes, no, -1)
    by = terms.constant_of(difference)
    assert by is not None
    return terms.add(width, no, terms.scale(width, terms.make("bit", width, asked), by))


def _answers(terms: Terms, step: Step, values: Sequence[Term]) -> list[Term] | None:
    """The answer to a comparison, and its opposite where somebody takes that, too."""
    made = compared(terms, step, values[:2])
    if made is None or len(values) not in (_ALONE, _BESIDE) or len(step.targets) > 2:
        return None
    answers = [made, negated(terms, made)][: len(step.targets)]
    if len(values) == _ALONE:
        return answers
    mixed = step.opcode.split(".")[2]
    return [_together(terms, mixed, [one, values[2]]) for one in answers]


def compared(terms: Terms, step: Step, values: Sequence[Term]) -> Term | None:
    if step.type not in INTEGERS:
        return _ordered(terms, step, values)
    width = SCALAR_TYPES[step.type].width
    condition = step.opcode.split(".")[1]
    if condition in ("eq", "ne"):
        asked, turned = terms.equal(width, *values)
        opposite = condition == "ne"
    elif condition in _ORDERS:
        swapped, opposite = _ORDERS[condition]
        signed = step.type.startswith("s") and condition not in _UNSIGNED
        first, second = reversed(values) if swapped else values
        asked, turned = terms.less(signed, width, first, second)
    else:
        return None
    if asked is None:
        return terms.make("truth", turned != opposite)
    return negated(terms, asked) if turned != opposite else asked


def _ordered(terms: Terms, step: Step, values: Sequence[Term]) -> Term | None:
    """A comparison of floating-point numbers: several are the opposite of another."""
    known = FLOAT_COMPARISONS.get(step.opcode.split(".")[1])
    if known is None or step.type not in _FLOATS:
        return None
    name, swapped, opposite = known
    if name not in ("lt", "le"):
        values = sorted(values)
    elif swapped:
        values = values[::-1]
    asked = terms.make("compare", name, step.type, ".ftz" in step.modifiers, *values)
    return negated(terms, asked) if opposite else asked
