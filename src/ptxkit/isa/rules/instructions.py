"""One instruction: its opcode against the table, its operands, its version and target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ptxkit.isa.actuals import Actual
from ptxkit.isa.match import Match, match
from ptxkit.isa.operands import Problem, check_operands, requirements, short_addresses
from ptxkit.isa.reader import INTERNER, ScopeReader
from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.explain import Explanation, explain, plain_form
from ptxkit.isa.targets import Requirement, Target, Version
from ptxkit.syntax import Instruction


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with an instruction; all empty for a good one."""

    problems: tuple[Problem, ...] = ()
    unmet: tuple[Requirement, ...] = ()
    explanation: Explanation | None = None
    in_order: bool = True

    @property
    def is_good(self) -> bool:
        """True when nothing is to be said."""
        return not self.problems and not self.unmet and not self.explanation and self.in_order


GOOD = Verdict()
_MOST_KEPT = 200_000


class Judge:
    """Verdicts for one version and target, each kept for the next instruction like it."""

    def __init__(self, version: Version | None, target: Target | None, wide: bool) -> None:
        self._version = version
        self._target = target
        self._wide = wide  # .address_size 64
        self._kept: dict[tuple[str, tuple[int, ...]], Verdict] = {}

    def verdict(self, opcode: str, operands: tuple[int, ...]) -> Verdict:
        """The verdict on an opcode with numbered operands."""
        key = opcode, operands
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            found = self._kept[key] = _judge(
                opcode, operands, self._version, self._target, self._wide
            )
        return found


@lru_cache(maxsize=64)
def judge_for(version: Version | None, target: Target | None, wide: bool) -> Judge:
    """The judge of a version and target; its verdicts outlive a single run."""
    return Judge(version, target, wide)


def _judge(
    opcode: str,
    operands: tuple[int, ...],
    version: Version | None,
    target: Target | None,
    wide: bool,
) -> Verdict:
    name, *words = opcode.split(".")
    modifiers = tuple("." + word for word in words)
    actuals = tuple(INTERNER.actual(number) for number in operands)
    matches = match(name, modifiers)
    if not matches:
        return Verdict(explanation=explain(name, modifiers))
    best: Verdict | None = None
    for one in matches:
        problems = tuple(check_operands(one, actuals))
        if wide and not problems:
            problems = tuple(short_addresses(one, actuals))
        unmet = _unmet(one, actuals, version, target)
        if not problems and not unmet:
            return GOOD if one.in_order else Verdict(in_order=False)
        verdict = Verdict(problems, unmet, in_order=one.in_order)
        if best is None or _weight(verdict) < _weight(best):
            best = verdict
    assert best is not None
    return best


def _unmet(
    one: Match, actuals: tuple[Actual, ...], version: Version | None, target: Target | None
) -> tuple[Requirement, ...]:
    if version is None or target is None:
        return ()
    needs = requirements(one, actuals)
    return tuple(dict.fromkeys(need for need in needs if not need.met_by(version, target)))


def _weight(verdict: Verdict) -> tuple[int, int]:
    counts = any(problem.code == "operand-count" for problem in verdict.problems)
    return (2 * len(verdict.problems) + 3 * counts, len(verdict.unmet))


def check_instruction(
    context: Context, judge: Judge, reader: ScopeReader, node: Instruction
) -> None:
    """Report what is wrong with one instruction."""
    operands = tuple([reader.read(operand) for operand in node.operands])
    verdict = judge.verdict(node.opcode, operands)
    if verdict is not GOOD and not verdict.is_good:
        _report(context, node, verdict)


def _report(context: Context, node: Instruction, verdict: Verdict) -> None:
    if verdict.explanation is not None:
        one = verdict.explanation
        context.error(_modifier_span(node, one.modifier), one.code, one.message, one.hint)
        return
    opcode = node.opcode
    for problem in verdict.problems:
        place = node if problem.operand is None else node.operands[problem.operand]
        where = node.opcode_node if problem.operand is None else place
        hint = _plain(problem.hint)
        if problem.code == "address-size":
            # As ptxas does: a warning at each place, and one error for the file.
            context.warning(where, problem.code, f"'{opcode}': {problem.message}", hint)
            context.short_addresses += 1
            continue
        context.error(where, problem.code, f"'{opcode}': {problem.message}", hint)
    for need in verdict.unmet:
        context.require(node.opcode_node, f"'{opcode}'", need)
    if not verdict.problems and not verdict.unmet and not verdict.in_order:
        context.note(
            node.opcode_node,
            "modifier-order",
            f"the modifiers of '{opcode}' are not in the manual's order",
        )


def _plain(hint: str) -> str | None:
    """A hint for readers who do not know the notation of the table."""
    said, found, syntax = hint.partition("the form is: ")
    return f"{said}{found}{plain_form(syntax)}" if found else hint or None


def _modifier_span(node: Instruction, number: int | None) -> tuple[int, int]:
    """The bytes of one modifier, or of the name."""
    tokens = node.opcode_node.tokens()
    known = number is not None and number + 1 < len(tokens)
    token = tokens[number + 1] if known and number is not None else tokens[0]
    return token[2], token[3]
