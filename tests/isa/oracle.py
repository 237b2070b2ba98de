"""Compare the instruction table with ptxas.

``python -m tests.isa.oracle [FAMILY or ROOT ...] [--misses] [--limit N]`` prints every
disagreement: variants of the table that ptxas rejects, and (``--misses``) near misses
on which the two differ.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ptxkit.isa.actuals import Actual
from ptxkit.isa.forms import _split
from ptxkit.isa.match import match
from ptxkit.isa.operands import check_operands, requirements
from ptxkit.isa.registry import FAMILIES, specs_of, table
from ptxkit.isa.targets import TARGET_SINCE, Requirement, Target, Version
from ptxkit.isa.variants import PREFIXES, Variant, combinations, render
from tests.isa import ptxas

#: Targets to try for a variant, the plainest first.
TARGETS = (
    "sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_110a sm_120 sm_120a sm_100f sm_120f"
).split()


@dataclass(frozen=True, slots=True)
class Question:
    """One instruction to ask about, with what we think of it."""

    text: str
    version: str
    target: str
    ours: str  # '' when we accept it, else our reason
    kind: str
    root: str


def place_for(requirements: Iterable[Requirement], highest: Version) -> tuple[str, str] | None:
    """A version and target that meet all requirements, or None where this ptxas has none."""
    needs = list(requirements)
    for name in TARGETS:
        if all(need.met_by(highest, Target.parse(name)) for need in needs):
            return str(highest), name
    # What newer targets have lost.
    old = Version.parse("6.3"), Target.parse("sm_61")
    return ("6.3", "sm_61") if all(need.met_by(*old) for need in needs) else None


def opinion(
    name: str, modifiers: tuple[str, ...], actuals: tuple[Actual, ...], version: str, target: str
) -> str:
    """What our rules say of an instruction: '' or the reason to reject it."""
    found = match(name, modifiers)
    if not found:
        return "no form"
    best: list[str] = []
    for one in found:
        problems = [p.message for p in check_operands(one, actuals)]
        unmet = [
            str(r)
            for r in requirements(one, actuals)
            if not r.met_by(Version.parse(version), Target.parse(target))
        ]
        reasons = problems + [f"needs {r}" for r in unmet]
        if not reasons:
            return ""
        best = reasons if not best or len(reasons) < len(best) else best
    return "; ".join(best)


def variants_of(rows: Iterable[str], limit: int) -> Iterator[Variant]:
    """Variants of the named instructions, at most ``limit`` a form."""
    for root in rows:
        for form in table()[root].forms:
            for found in combinations(form, limit):
                yield render(found)
                if any(s.optional for s in form.operands) or any(
                    p.optional for s in form.operands for p in s.parts
                ):
                    yield render(found, all_optional=True)


def accepted_questions(rows: Iterable[str], limit: int) -> Iterator[Question]:
    """Variants that ptxas must accept."""
    highest = Version.parse(ptxas.highest_version())
    for variant in variants_of(rows, limit):
        place = place_for(variant.requirements, highest)
        if place is None:
            continue
        name, *words = variant.opcode.split(".")
        modifiers = tuple("." + word for word in words)
        ours = opinion(name, modifiers, variant.actuals, *place)
        yield Question(variant.text, *place, ours, "variant", variant.form.root)


#: Modifiers that near misses put in.
STRAY = (
    ".u8 .s8 .b8 .u16 .s16 .b16 .u32 .s32 .b32 .u64 .s64 .b64 .f16 .f16x2 .bf16 .bf16x2 .f32 .f64 "
    ".pred .b128 .rn .rz .rm .rp .rni .rzi .ftz .sat .approx .full .lo .hi .wide .cc .global "
    ".shared .local .const .param .v2 .v4 .sync .aligned .uni .eq .lt .and .relaxed .acquire "
    ".gpu .cta .sys .cluster .volatile .noftz .relu .satfinite .to .row .col .x2 .x4 .trans .all"
).split()


def miss_questions(rows: Iterable[str], limit: int, seed: int = 1) -> Iterator[Question]:
    """Near misses: one thing changed in a legal variant. Either verdict may be right."""
    highest = Version.parse(ptxas.highest_version())
    for variant in variants_of(rows, limit):
        place = place_for(variant.requirements, highest)
        if place is None:
            continue
        generator = random.Random(f"{seed}:{variant.text}")
        for kind, opcode, texts, actuals, where in _mutations(variant, place, generator):
            name, *words = opcode.split(".")
            ours = opinion(name, tuple("." + w for w in words), actuals, *where)
            text = f"{opcode} {', '.join(texts)}".strip() + ";"
            yield Question(text, *where, ours, kind, variant.form.root)


_Mutation = tuple[str, str, tuple[str, ...], tuple[Actual, ...], tuple[str, str]]


def _mutations(
    variant: Variant, place: tuple[str, str], generator: random.Random
) -> Iterator[_Mutation]:
    opcode, texts, actuals = variant.opcode, variant.texts, variant.actuals
    words = opcode.split(".")
    fixed = variant.form.fixed + 1
    # modifiers: one dropped, one replaced, one added, two exchanged
    if len(words) > fixed:
        at = generator.randrange(fixed, len(words))
        yield "drop", ".".join(words[:at] + words[at + 1 :]), texts, actuals, place
        other = generator.choice(STRAY)[1:]
        yield "replace", ".".join([*words[:at], other, *words[at + 1 :]]), texts, actuals, place
    at = generator.randrange(fixed, len(words) + 1)
    added = generator.choice(STRAY)[1:]
    yield "add", ".".join([*words[:at], added, *words[at:]]), texts, actuals, place
    if len(words) > fixed + 1:
        one, two = generator.sample(range(fixed, len(words)), 2)
        swapped = list(words)
        swapped[one], swapped[two] = swapped[two], swapped[one]
        yield "swap", ".".join(swapped), texts, actuals, place
    # a modifier of a sibling form in place of one, or besides
    siblings = sorted(
        {v for row in specs_of(words[0]) for f in row.forms for s in f.slots for v in s.values}
    )
    other = generator.choice(siblings or STRAY)[1:]
    yield "sibling", ".".join([*words[:at], other, *words[at:]]), texts, actuals, place
    if len(words) > fixed:
        at = generator.randrange(fixed, len(words))
        yield "sibling", ".".join([*words[:at], other, *words[at + 1 :]]), texts, actuals, place
    # operands: one dropped, one doubled, one of another kind or type
    if texts:
        at = generator.randrange(len(texts))
        yield "fewer", opcode, texts[:at] + texts[at + 1 :], actuals[:at] + actuals[at + 1 :], place
        yield "more", opcode, (*texts, "r250"), (*actuals, Actual("register", "b32")), place
        for text, actual in generator.sample(_strangers(texts[at], actuals[at]), 3):
            yield (
                "operand",
                opcode,
                (*texts[:at], text, *texts[at + 1 :]),
                (*actuals[:at], actual, *actuals[at + 1 :]),
                place,
            )
        text, actual = generator.choice(_ODD)
        yield (
            "odd",
            opcode,
            (*texts[:at], text, *texts[at + 1 :]),
            (*actuals[:at], actual, *actuals[at + 1 :]),
            place,
        )
        for kind, text, actual in _altered(texts[at], actuals[at], generator):
            yield (
                kind,
                opcode,
                (*texts[:at], text, *texts[at + 1 :]),
                (*actuals[:at], actual, *actuals[at + 1 :]),
                place,
            )
    # places: a version or target just too low
    unmet = _place_below(variant, generator)
    if unmet is not None:
        yield "gate", opcode, texts, actuals, unmet


#: Operands that stand in few places, for any operand.
_ODD = [
    ("-1", Actual("integer", value=-1)),
    ("300", Actual("integer", value=300)),
    ("70000", Actual("integer", value=70000)),
    ("0x123456789", Actual("integer", value=0x123456789)),
    ("0d3FF0000000000000", Actual("float", "f64", value=1.0)),
    ("gv", Actual("symbol", "b32", space="global")),
    ("gv+4", Actual("symbol", "b32", space="global", offset=True)),
    ("fn", Actual("function")),
    ("LAB", Actual("label")),
    ("r264+4", Actual("register", "b32", offset=True)),
    ("!p264", Actual("register", "pred", negated=True)),
    ("!r264", Actual("register", "b32", negated=True)),
    ("-r264", Actual("register", "b32", minus=True)),
    ("r264.b0", Actual("register", "b32", selector=".b0")),
    ("r264.x", Actual("register", "b32", selector=".x")),
    ("%clock64", Actual("special", "u64")),
    ("%laneid", Actual("special", "u32")),
    ("r264|p264", Actual("pair", elements=(Actual("register", "b32"), Actual("register", "pred")))),
]  # fmt: skip


def _strangers(text: str, actual: Actual) -> list[tuple[str, Actual]]:
    """Other operands to put in place of one."""
    found = [(f"{p}260", Actual("register", t)) for t, p in PREFIXES.items()]
    found += [
        ("7", Actual("integer", value=7)),
        ("0f3F800000", Actual("float", "f32", value=1.0)),
        ("1.5", Actual("decimal", value=1.5)),
        ("%tid.x", Actual("special", "u32", widths=(16,))),
        ("[d261]", Actual("address", elements=(Actual("register", "b64"),))),
        ("{r262, r263}", Actual("vector", elements=(Actual("register", "b32"),) * 2)),
        ("_", Actual("sink")),
    ]
    if actual.kind == "vector" and actual.elements:
        inner = text.strip("{}").split(", ")
        shorter = replace(actual, elements=actual.elements[:-1])
        found.append(("{" + ", ".join(inner[:-1]) + "}", shorter))
        longer = replace(actual, elements=(*actual.elements, actual.elements[-1]))
        found.append(("{" + ", ".join([*inner, inner[-1]]) + "}", longer))
    return [one for one in found if one[0] != text and one[0] != "{}"]


_SYMBOLS = [
    ("gv", Actual("symbol", "b32", space="global")),
    ("cv", Actual("symbol", "b32", space="const")),
    ("sv", Actual("symbol", "b32", space="shared")),
    ("lv", Actual("symbol", "b32", space="local")),
    ("pv", Actual("symbol", "b32", space="param")),
    ("kp", Actual("symbol", "u64", space="param", role="input")),
    ("tx", Actual("symbol", "texref", space="global")),
    ("sf", Actual("symbol", "surfref", space="global")),
    ("fn", Actual("function")),
    ("64", Actual("integer", value=64)),
]


def _altered(
    text: str, actual: Actual, generator: random.Random
) -> Iterator[tuple[str, str, Actual]]:
    """The operand with something in its brackets or braces changed."""
    registers = [(f"{p}264", Actual("register", t)) for t, p in PREFIXES.items()]
    if actual.kind == "address":
        parts = _split(text[1:-1], ",")
        for kind, choices in (("base", registers), ("base", _SYMBOLS)):
            name, base = generator.choice(choices)
            elements = (base, *actual.elements[1:])
            yield kind, f"[{', '.join([name, *parts[1:]])}]", replace(actual, elements=elements)
        if len(parts) == 1:
            yield "unified", text + ".unified", replace(actual, selector=".unified")
            name, base = generator.choice(_SYMBOLS[:6])
            yield "index", f"{name}[2]", Actual("element", elements=(base,))
        for index in range(1, len(parts)):
            for kind, one, changed in _altered(parts[index], actual.elements[index], generator):
                elements = (*actual.elements[:index], changed, *actual.elements[index + 1 :])
                joined = ", ".join([*parts[:index], one, *parts[index + 1 :]])
                yield kind, f"[{joined}]", replace(actual, elements=elements)
    elif actual.kind == "vector" and actual.elements:
        parts = _split(text[1:-1], ",")
        index = generator.randrange(len(parts))
        literals = [(t, a) for t, a in _strangers("", Actual("none")) if a.kind in _ELEMENTS]
        for choices in (registers, literals):
            name, element = generator.choice(choices)
            elements = (*actual.elements[:index], element, *actual.elements[index + 1 :])
            joined = ", ".join([*parts[:index], name, *parts[index + 1 :]])
            yield "element", f"{{{joined}}}", replace(actual, elements=elements)
    elif actual.kind == "register":
        yield "braces", f"{{{text}}}", Actual("vector", elements=(actual,))


_ELEMENTS = ("integer", "decimal", "float", "sink")


def _place_below(variant: Variant, generator: random.Random) -> tuple[str, str] | None:
    """A legal (version, target) pair that fails the variant's requirements."""
    pairs = []
    for target, since in TARGET_SINCE.items():
        number = Target.parse(target).number
        if number < 20 or number == 101 or number == 88:
            continue
        for version in (
            "3.2",
            "4.3",
            "5.0",
            "6.0",
            "6.4",
            "7.0",
            "7.8",
            "8.0",
            "8.6",
            "8.8",
            "9.0",
        ):
            if Version.parse(version) < Version.parse(since):
                continue
            if number < 75 and Version.parse(version) < Version.parse("6.0"):
                pass
            pairs.append((version, target))
    unmet = [
        pair
        for pair in pairs
        if not all(
            need.met_by(Version.parse(pair[0]), Target.parse(pair[1]))
            for need in variant.requirements
        )
    ]
    return generator.choice(unmet) if unmet else None


#: What ptxas says where an instruction is at odds with a declaration: not the table's matter.
BEYOND_THE_TABLE = ("Call has wrong number of parameters",)


_SAMPLED = re.compile(r"\[\w+, \w+, \{|\[sm\]")


def ask(questions: Iterable[Question]) -> list[tuple[Question, str]]:
    """Put all questions to ptxas; gives each with its verdict ('' is yes)."""
    batches: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for question in questions:
        # Samplers have names of their own in this mode only.
        mode = ", texmode_independent" if _SAMPLED.search(question.text) else ""
        batches[question.version, question.target + mode].append(question)
    answers: list[tuple[Question, str]] = []
    for (version, target), batch in batches.items():
        for start in range(0, len(batch), 4000):
            chunk = batch[start : start + 4000]
            replies = ptxas.verdicts([q.text for q in chunk], version, target, preamble(target))
            answers += [
                (question, reply)
                for question, reply in zip(chunk, replies, strict=True)
                if not any(text in reply for text in BEYOND_THE_TABLE)
            ]
    return answers


def preamble(target: str) -> str:
    """The module declarations a target can have."""
    samplers = ".global .samplerref sm;\n" if "texmode_independent" in target else ""
    return ptxas.MODULE_PREAMBLE + samplers


def main() -> None:
    """Print disagreements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=40, help="disagreements shown a group")
    arguments = parser.parse_args()
    titles = {FAMILIES[n] for n in arguments.names if n in FAMILIES}
    rows = [
        root
        for root, spec in table().items()
        if not arguments.names or root in arguments.names or spec.family in titles
    ]
    questions = (
        miss_questions(rows, arguments.limit, arguments.seed)
        if arguments.misses
        else accepted_questions(rows, arguments.limit)
    )
    answers = ask(questions)
    agreed = sum(bool(q.ours) == bool(theirs) for q, theirs in answers)
    groups: dict[str, list[str]] = defaultdict(list)
    for question, theirs in answers:
        if bool(question.ours) != bool(theirs):
            groups[f"{question.root} {question.kind}"].append(
                f"  {question.text}  [{question.version} {question.target}]\n"
                f"      ours: {question.ours or 'ok'} | ptxas: {theirs or 'ok'}"
            )
    for title, lines in groups.items():
        print(f"{title}: {len(lines)}")
        print("\n".join(lines[: arguments.show]))
    total = max(1, len(answers))
    print(f"ptxas {ptxas.ptxas_release()}: {len(answers)} asked, {agreed} agreed "
          f"({100 * agreed / total:.2f}%)")  # fmt: skip


if __name__ == "__main__":
    main()
