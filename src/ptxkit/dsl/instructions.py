"""Instructions by name: ``ptx.ld.global_.f32(f[1], addr(rd[4], 8), when=p[1])``.

A chain of attributes is an opcode. Each is made once and kept, so that tracing a kernel
costs little more than joining texts. What an instruction may be is asked of the table: its
operands by their kinds and types, the PTX version, the target. A verdict holds for every
instruction of the same opcode and operand kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.builder import Builder, current, get_current
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import Constant, Label, Operand, addr, operand, pair
from ptxkit.dsl.registers import Register, Variable
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.words import word_of
from ptxkit.isa.match import match
from ptxkit.isa.registry import known_names
from ptxkit.isa.rules.explain import explain, plain_form
from ptxkit.isa.rules.instructions import Verdict
from ptxkit.isa.types import REGISTER_TYPES, SCALAR_TYPES

if TYPE_CHECKING:
    from ptxkit.dsl.tracing import FunctionBuilder

#: What needs no conversion; others that don't either are looked at once more.
_READY = frozenset((Register, Operand, Variable, Constant, Label))
#: Instructions whose operands may be labels.
_BRANCHES = frozenset(("bra", "brx"))


class Opcode:
    """An opcode with its modifiers; a call makes the instruction."""

    # Attributes are modifiers, so all that is not one begins with an underscore.
    def __init__(self, text: str, is_checked: bool = True) -> None:
        self._text = text
        self._name = text.partition(".")[0]
        self._is_branch = self._name in _BRANCHES
        self._is_checked = is_checked
        words = text.split(".")[1:]
        self._type = next((word for word in reversed(words) if word in SCALAR_TYPES), "")

    def __getattr__(self, name: str) -> Opcode:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Opcode(f"{self._text}.{word_of(name)}", self._is_checked)
        self.__dict__[name] = made
        return made

    def __call__(self, *operands: Any, when: Any = None) -> Statement:
        builder: FunctionBuilder | None = get_current()  # type: ignore[assignment]
        if builder is None:
            raise DslError(
                "no kernel is being traced",
                "instructions are made in the body of a function under @kernel or @module.func",
            )
        if self._is_branch:
            builder.use_labels(operands)
        text = self._text
        texts: list[str] = []
        key: list[Any] = [text]
        for one in operands:  # the hottest loop of tracing
            if one.__class__ not in _READY:
                one = operand(one, self._type)
            owner = one.owner
            if owner is not builder and owner is not None:
                _foreign(one)
            texts.append(one.text)
            key.append(one.number)
        if self._is_checked:
            found = tuple(key)
            if found not in builder.good:
                ready: list[Any] = [
                    one if one.__class__ in _READY else operand(one, self._type) for one in operands
                ]
                builder.judge(found, ready)
        guard = "" if when is None else guard_text(when, builder, self._is_checked)
        text = builder.style.instruction(self._name, text, texts, builder.is_asm, guard)
        statement = Statement("instruction", text, builder.pending)
        builder.pending = None
        builder.statements.append(statement)
        return statement

    def new(
        self,
        *operands: Any,
        when: Any = None,
        to: int | None = None,
        next: int | None = None,
        type: str = "",
    ) -> Any:
        """Make the instruction with a new register for its result, and give that.

        ``value = ptx.ld.global_.f32.new(addr(p))``; a vector gives a list of registers.
        ``to`` and ``next`` say which register it is, see :mod:`ptxkit.dsl.pools`; ``type`` of
        what type, where that is another than the instruction says.
        """
        builder = get_current()
        if builder is None:
            return self(*operands, when=when)  # says what is wrong
        found, count = result_of(self._text)
        made = _fresh(builder, type or found, count or 1, to, next)
        result = made if count else made[0]
        self(result, *operands, when=when)
        return result

    def at(self, base: Any, offset: Any = None, **options: Any) -> Any:
        """The same from an address: ``ptx.ld.global_.f32.at(p, 8)``; options are those of `new`."""
        return self.new(addr(base, offset), **options)

    def paired(
        self,
        *operands: Any,
        when: Any = None,
        to: int | None = None,
        next: int | None = None,
        predicate: int | None = None,
    ) -> Any:
        """The same for an instruction with a result and a predicate, ``a|p``; gives the result.

        ``predicate`` is the number of that register, where it is not the next one.
        """
        builder = current()
        type, _ = result_of(self._text)
        made = _fresh(builder, type, 1, to, next)[0]
        self(pair(made, builder.fresh("pred", next=predicate)), *operands, when=when)
        return made

    def halves(
        self, value: Any, *, to: int | None = None, next: int | None = None, type: str = ""
    ) -> Any:
        """Take a value apart: ``low, high = ptx.mov.b64.halves(x)``."""
        width = int(self._text.rpartition(".b")[2])
        made = _fresh(current(), type or f"b{width // 2}", 2, to, next)
        self(made, value)
        return made

    def __repr__(self) -> str:
        return f"<instruction {self._text}>"


def _fresh(
    builder: Builder, type: str, count: int, to: int | None, next: int | None
) -> list[Register]:
    """New registers, from a number on where one is given."""
    if to is None and next is None:
        return [builder.fresh(type) for _ in range(count)]
    return [
        builder.fresh(
            type,
            to=None if to is None else to + number,
            next=None if next is None else next + number,
        )
        for number in range(count)
    ]


def guard_text(when: Any, builder: FunctionBuilder, is_checked: bool) -> str:
    """``@p`` or ``@!p`` and the space after it."""
    guard: Any = when if when.__class__ in _READY else operand(when)
    if guard.owner is not None and guard.owner is not builder:
        _foreign(guard)
    kind = guard.type if guard.__class__ is Register else "pred"
    if is_checked and (kind != "pred" or guard.text[0] in "[{(0123456789"):
        builder.refuse(f"a guard is a predicate, not '{guard.text}'", "compare first: p = a < b")
    return f"@{guard.text} "


def _foreign(one: Operand) -> None:
    raise DslError(
        f"'{one.text}' belongs to another function",
        "declare registers in the body of the kernel that uses them",
    )


def opcode(name: str) -> Opcode:
    """The opcode that begins with a name of the table."""
    word = word_of(name)
    if word not in known_names():
        one = explain(word, ())
        raise DslError(
            one.message,
            f"{one.hint + '; ' if one.hint else ''}an instruction that the table does not know "
            f"is written ptx.unchecked('{word}...')(...)",
        )
    return Opcode(word)


@lru_cache(maxsize=4096)
def result_of(opcode: str) -> tuple[str, int]:
    """The register type of an opcode's result, and how many of them, 0 for a scalar.

    >>> result_of("ld.global.v2.u8"), result_of("setp.lt.s32")
    (('u32', 2), ('pred', 0))
    """
    name, *words = opcode.split(".")
    for found in match(name, tuple(f".{word}" for word in words)):
        first = found.form.operands[0] if found.form.operands else None
        while first is not None and first.kind == "pair":
            first = first.parts[0]
        if first is not None and first.access == "write" and first.kind == "value":
            type = found.operand_type(first.type)
            scalar = SCALAR_TYPES.get(type)
            if scalar is not None and scalar.width == 8:
                type = f"{type[0]}32"  # loads and conversions widen
            if type in REGISTER_TYPES:
                return type, found.operand_count(first.count)
            if scalar is not None:
                return f"b{max(16, scalar.width)}", found.operand_count(first.count)
    raise DslError(
        f"'{opcode}' does not say what register its result needs",
        "make the register, and give it as the first operand",
    )


def message_of(opcode: str, verdict: Verdict, texts: Sequence[str], says: str) -> tuple[str, str]:
    """What a verdict says, and what to do."""
    if verdict.explanation is not None:
        return verdict.explanation.message, verdict.explanation.hint
    if verdict.problems:
        first = verdict.problems[0]
        said, found, syntax = first.hint.partition("the form is: ")
        hint = f"{said}{found}{plain_form(syntax)}" if found else first.hint
        shown = "" if first.operand is None else f" (here {texts[first.operand]})"
        return f"'{opcode}': {first.message}{shown}", hint
    need = verdict.unmet[0]
    return (
        f"'{opcode}' needs {need}; the module says {says}",
        "raise the module's version or target, or do without it",
    )
