"""Structured control flow: branches and loops over the statements of a Python block.

Every construct is labels and guarded branches, nothing else. Labels are made up unless they
are given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.arithmetic import binary, emit, fresh
from ptxkit.dsl.builder import current
from ptxkit.dsl.errors import DslError, python_place
from ptxkit.dsl.operands import Label, Operand, inverted
from ptxkit.dsl.registers import Register
from ptxkit.dsl.statements import Statement

if TYPE_CHECKING:
    from ptxkit.dsl.tracing import FunctionBuilder

Condition = Any  # a predicate, ~predicate, or a function that computes one


def body() -> FunctionBuilder:
    """The function that is being traced."""
    return current()  # type: ignore[return-value]


class Open:
    """A block or construct that is to be closed; says what it is where it is not."""

    __slots__ = ("hint", "place", "what")

    def __init__(self, what: str, hint: str = "") -> None:
        self.what = what
        self.hint = hint
        self.place = python_place()


class Loop(Open):
    """A loop that is open: where ``break_`` and ``continue_`` lead."""

    __slots__ = ("_after", "_next", "after_used", "next_used")

    def __init__(self, what: str, after: Label, following: Label, hint: str = "") -> None:
        super().__init__(what, hint)
        self._after = after
        self._next = following
        self.after_used = self.next_used = False

    @property
    def after(self) -> Label:
        """Where the loop is left to."""
        self.after_used = True
        return self._after

    @property
    def following(self) -> Label:
        """Where the next round begins."""
        self.next_used = True
        return self._next


def opened(block: Open) -> Open:
    """Take note of a construct that is open now."""
    body().blocks.append(block)
    return block


def closed(block: Open) -> None:
    """Close a construct; those inside it must be closed."""
    blocks = body().blocks
    if not blocks or blocks[-1] is not block:
        inner = blocks[-1] if blocks else block
        raise DslError(f"{inner.what} is never closed", inner.hint, place=inner.place)
    blocks.pop()


def as_label(given: str | Label | None, name: str = "") -> Label:
    """A label that was given, or a new one."""
    if isinstance(given, Label):
        return given
    return body().new_label(name) if given is None else Label(given, python_place())


def branch(to: Label, when: Any = None, uniform: bool = False) -> Statement:
    """``bra`` to a label."""
    from ptxkit.dsl.namespace import ptx

    return (ptx.bra.uni if uniform else ptx.bra)(to, when=when)


def evaluated(condition: Condition) -> Operand:
    """A condition as a predicate; a function is called to compute it here."""
    made = condition() if callable(condition) and not isinstance(condition, Operand) else condition
    kind = getattr(made, "type", "pred")
    if isinstance(made, bool) or not isinstance(made, Operand) or kind != "pred":
        raise DslError(
            f"{made!r} is no predicate",
            "a condition is a comparison of registers such as 'i < n'; for what Python knows "
            "while tracing use a Python if",
        )
    return made


def opposite(predicate: Operand) -> Operand:
    """``~p`` for ``p``, and ``p`` for ``~p``."""
    if predicate.text.startswith("!"):
        return Operand(predicate.text[1:], body_predicate_number(), predicate.owner)
    return inverted(predicate)


def body_predicate_number() -> int:
    """The number of a predicate register."""
    from ptxkit.dsl.registers import register_number

    return register_number("pred")


@contextmanager
def if_(condition: Condition, label: str | Label | None = None) -> Iterator[None]:
    """The block runs where the condition holds; ``label`` names its end."""
    builder = body()
    after = as_label(label)
    branch(after, opposite(evaluated(condition)))
    block = opened(Open("a ptx.if_ block"))
    yield
    closed(block)
    builder.place_label(after.text)
    builder.last_if = (len(builder.statements), after)


@contextmanager
def else_(label: str | Label | None = None) -> Iterator[None]:
    """The block runs where the condition of the ``if_`` just before it does not hold."""
    builder = body()
    count, middle = builder.last_if or (0, None)
    if middle is None or count != len(builder.statements):
        raise DslError(
            "ptx.else_ does not follow a ptx.if_ block",
            "it stands right after 'with ptx.if_(...):', with no statement between",
        )
    placed = builder.statements.pop()
    builder.last_if = None
    after = as_label(label)
    branch(after, uniform=True)
    builder.statements.append(placed)
    block = opened(Open("a ptx.else_ block"))
    yield
    closed(block)
    builder.place_label(after.text)


def _loop(what: str, top: str | Label | None, after: str | Label | None) -> tuple[Label, Loop]:
    return as_label(top), Loop(what, as_label(after), body().new_label())


@contextmanager
def loop(top: str | Label | None = None, after: str | Label | None = None) -> Iterator[None]:
    """Run the block again and again, until ``ptx.break_()``."""
    builder = body()
    begin, made = _loop("a ptx.loop block", top, after)
    made._next = begin
    builder.place_label(begin.text)
    block = opened(made)
    yield
    closed(block)
    branch(begin, uniform=True)
    if made.after_used:
        builder.place_label(made._after.text)


@contextmanager
def while_(
    condition: Condition, top: str | Label | None = None, after: str | Label | None = None
) -> Iterator[None]:
    """Run the block as long as a condition holds, tested before each round.

    A function is called to compute the condition: ``ptx.while_(lambda: i < n)``; a predicate
    is tested as it stands, so the block has to set it.
    """
    builder = body()
    begin, made = _loop("a ptx.while_ block", top, after)
    made._next = begin
    builder.place_label(begin.text)
    branch(made.after, opposite(evaluated(condition)))
    block = opened(made)
    yield
    closed(block)
    branch(begin, uniform=True)
    builder.place_label(made._after.text)


@contextmanager
def do_while(
    condition: Condition, top: str | Label | None = None, after: str | Label | None = None
) -> Iterator[None]:
    """Run the block once, and again as long as a condition holds after it."""
    builder = body()
    begin, made = _loop("a ptx.do_while block", top, after)
    builder.place_label(begin.text)
    block = opened(made)
    yield
    closed(block)
    if made.next_used:
        builder.place_label(made._next.text)
    branch(begin, evaluated(condition))
    if made.after_used:
        builder.place_label(made._after.text)


def range_(*bounds: Any, type: str = "", unroll: bool | None = None) -> Iterator[Register]:
    """A loop of the GPU: ``for i in ptx.range(start, stop, step):``.

    The body is traced once; ``i`` is a register. Python's own ``range`` unrolls instead.
    """
    if not 1 <= len(bounds) <= 3:
        raise DslError("ptx.range takes a stop, a start and a stop, or these and a step")
    start, stop, step = (0, *bounds, 1)[-3:] if len(bounds) == 1 else (*bounds, 1)[:3]
    if isinstance(step, int) and step == 0:
        raise DslError("the step of ptx.range is zero")
    builder = body()
    registers = [one for one in (start, stop, step) if isinstance(one, Register)]
    chosen = type or (registers[0].type if registers else "s32")
    if chosen.startswith("b"):
        chosen = "s" + chosen[1:]
    index = fresh(chosen)
    emit(f"mov.{chosen}", index, start)
    begin, made = _loop("a loop over ptx.range", None, None)
    made.hint = "Python's break and return leave it untraced; write ptx.break_()"
    builder.place_label(begin.text)
    down = isinstance(step, int) and step < 0
    branch(made.after, binary("le" if down else "ge", index, stop))
    if unroll is False:
        from ptxkit.dsl.namespace import ptx

        ptx.pragma("nounroll")
    block = opened(made)
    yield index
    closed(block)
    if made.next_used:
        builder.place_label(made._next.text)
    emit(f"add.{chosen}", index, index, step)
    branch(begin, uniform=True)
    builder.place_label(made._after.text)


def _innermost(what: str) -> Loop:
    for block in reversed(body().blocks):
        if isinstance(block, Loop):
            return block
    raise DslError(f"ptx.{what} stands outside any loop")


def break_(when: Any = None) -> Statement:
    """Leave the innermost loop."""
    return branch(_innermost("break_").after, when)


def continue_(when: Any = None) -> Statement:
    """Go on with the next round of the innermost loop."""
    return branch(_innermost("continue_").following, when)


class Switch(Open):
    """``with ptx.switch(x) as s:``, and in it ``with s.case(1, 2):`` and ``with s.default():``."""

    __slots__ = ("_after", "_has_default", "_value")

    def __init__(self, value: Any) -> None:
        super().__init__("a ptx.switch block")
        self._value = value
        self._after = body().new_label()
        self._has_default = False

    @contextmanager
    def case(self, *values: Any) -> Iterator[None]:
        """The block runs where the value is one of these; nothing falls through."""
        if not values:
            raise DslError("a case needs a value")
        if self._has_default:
            raise DslError("a case stands after the default, where it is never reached")
        builder = body()
        next_case = builder.new_label()
        inside = builder.new_label()
        for value in values[:-1]:
            branch(inside, binary("eq", self._value, value))
        branch(next_case, binary("ne", self._value, values[-1]))
        if len(values) > 1:
            builder.place_label(inside.text)
        block = opened(Open("a case of ptx.switch"))
        yield
        closed(block)
        branch(self._after, uniform=True)
        builder.place_label(next_case.text)

    @contextmanager
    def default(self) -> Iterator[None]:
        """The block runs where no case did; it comes last."""
        self._has_default = True
        block = opened(Open("the default of ptx.switch"))
        yield
        closed(block)


@contextmanager
def switch(value: Callable[[], Any] | Any) -> Iterator[Switch]:
    """Choose a block by a value."""
    made = Switch(value() if callable(value) and not isinstance(value, Operand) else value)
    opened(made)
    yield made
    closed(made)
    body().place_label(made._after.text)
