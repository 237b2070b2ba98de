"""Loops of the GPU. Those of Python unroll."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxkit.dsl.arithmetic import binary, emit, fresh
from ptxkit.dsl.control import (
    Condition,
    GivenLabel,
    Region,
    as_label,
    body,
    branch,
    closed,
    evaluated,
    opened,
    opposite,
)
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import Label
from ptxkit.dsl.registers import Register
from ptxkit.dsl.statements import Statement
from ptxkit.isa.types import SCALAR_TYPES


class Loop(Region):
    """A loop: where it begins, where ``continue_`` leads, where ``break_`` does."""

    __slots__ = ("_first", "_is_continued", "_next", "_top")

    def __init__(
        self,
        what: str,
        top: GivenLabel,
        after: GivenLabel,
        hint: str = "",
        inside: GivenLabel | bool = False,
    ) -> None:
        self._top = as_label(top)
        super().__init__(what, after, hint)
        self._next = self._top
        self._is_continued = False
        self._first = None if inside is False else as_label(None if inside is True else inside)

    def start_here(self) -> None:
        """Let the first round begin here, where the loop was made with ``inside=True``."""
        if self._first is None or self._first.is_placed:
            raise DslError(
                f"{self.what} does not begin in its middle, or does so already",
                "say it once, in a loop that is made with inside=True",
            )
        body().place(self._first)

    def continue_(self, when: Any = None, uniform: bool | None = None) -> Statement:
        """Branch to the next round."""
        self._is_continued = True
        return branch(self._next, when, uniform)

    def _begin(self) -> None:
        if self._first is not None:
            branch(self._first)
        if not self._top.is_placed:
            body().place(self._top)

    def _finish(self) -> None:
        self._check_start()
        branch(self._top)
        super()._finish()

    def _check_start(self) -> None:
        if self._first is not None and not self._first.is_placed:
            raise DslError(
                "the first round of the loop begins nowhere",
                "say where with 'loop.start_here()' in 'with ptx.loop(inside=True) as loop:'",
                place=self.place,
            )


class Repeat(Loop):
    """A loop that ends where its block does, unless ``continue_`` begins it again."""

    __slots__ = ()

    def _finish(self) -> None:
        self._check_start()
        Region._finish(self)


class While(Loop):
    """A loop with its condition before each round."""

    __slots__ = ("_condition",)

    def __init__(self, condition: Condition, top: GivenLabel, after: GivenLabel) -> None:
        super().__init__("a ptx.while_ block", top, after)
        self._condition = condition

    def _begin(self) -> None:
        super()._begin()
        self.break_(opposite(evaluated(self._condition)))


class DoWhile(Loop):
    """A loop with its condition after each round."""

    __slots__ = ("_condition",)

    def __init__(self, condition: Condition, top: GivenLabel, after: GivenLabel) -> None:
        super().__init__("a ptx.do_while block", top, after)
        self._condition = condition
        self._next = as_label(None)

    def _finish(self) -> None:
        if self._is_continued:
            body().place(self._next)
        branch(self._top, evaluated(self._condition))
        Region._finish(self)


def loop(
    top: GivenLabel = None, after: GivenLabel = None, *, inside: GivenLabel | bool = False
) -> Loop:
    """Run the block again and again, until ``ptx.break_()``.

    With ``inside=True`` the first round begins where ``start_here()`` says, in the middle.
    """
    return Loop("a ptx.loop block", top, after, inside=inside)


def repeat(
    top: GivenLabel = None, after: GivenLabel = None, *, inside: GivenLabel | bool = False
) -> Repeat:
    """Run the block once, and again where ``ptx.continue_(when=...)`` says so.

    With ``inside=True`` the first round begins where ``start_here()`` says, in the middle.
    """
    return Repeat("a ptx.repeat block", top, after, inside=inside)


def while_(condition: Condition, top: GivenLabel = None, after: GivenLabel = None) -> While:
    """Run the block as long as a condition holds, tested before each round.

    A function is called to compute the condition: ``ptx.while_(lambda: i < n)``; a predicate
    is tested as it stands, so the block has to set it.
    """
    return While(condition, top, after)


def do_while(condition: Condition, top: GivenLabel = None, after: GivenLabel = None) -> DoWhile:
    """Run the block once, and again as long as a condition holds after it."""
    return DoWhile(condition, top, after)


def range_(*bounds: Any, type: str = "", unroll: bool | None = None) -> Iterator[Register]:
    """A loop of the GPU: ``for i in ptx.range(start, stop, step):``.

    The body is traced once; ``i`` is a register. Python's own ``range`` unrolls instead. Where
    the last sum could pass the end of the type, the loop tests for that, too. A step in a
    register counts upwards.
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
    _check_bounds(chosen, start, stop)
    index = fresh(chosen)
    emit(f"mov.{chosen}", index, start)
    made = Loop("a loop over ptx.range", None, None)
    builder.unentered.pop(made, None)
    following: Label = as_label(None)
    made._next = following
    made.hint = "Python's break and return leave it untraced; write ptx.break_()"
    made._begin()
    down = isinstance(step, int) and step < 0
    made.break_(binary("le" if down else "ge", index, stop))
    if unroll is False:
        from ptxkit.dsl.namespace import ptx

        ptx.pragma("nounroll")
    block = opened(made)
    yield index
    closed(block)
    if made._is_continued:
        builder.place(following)
    if not _could_wrap(chosen, start, stop, step):
        emit(f"add.{chosen}", index, index, step)
        made._finish()
        return
    before = fresh(chosen).set(index)
    emit(f"add.{chosen}", index, index, step)
    branch(made._top, binary("lt" if down else "gt", index, before))
    Region._finish(made)


def _limits(type: str) -> tuple[int, int]:
    """The least and the largest number of an integer type.

    >>> _limits("s16"), _limits("u8")
    ((-32768, 32767), (0, 255))
    """
    width = SCALAR_TYPES[type].width
    return (
        (-(1 << (width - 1)), (1 << (width - 1)) - 1) if type[0] == "s" else (0, (1 << width) - 1)
    )


def _check_bounds(type: str, start: Any, stop: Any) -> None:
    if type[0] not in "su":
        raise DslError(f"ptx.range counts whole numbers, not .{type}")
    low, high = _limits(type)
    for bound in (start, stop):
        if isinstance(bound, int) and not low <= bound <= high:
            raise DslError(
                f"ptx.range counts in .{type}, from {low} to {high}; {bound} is beyond that",
                "say another type: ptx.range(..., type='s64')",
            )


def _could_wrap(type: str, start: Any, stop: Any, step: Any) -> bool:
    """Whether the sum after the last round may be beyond the type's end."""
    if isinstance(step, int) and abs(step) == 1:
        return False  # it is the stop
    if not all(isinstance(one, int) for one in (start, stop, step)):
        return True
    low, high = _limits(type)
    rounds = range(start, stop, step)
    return bool(rounds) and not low <= rounds[-1] + step <= high


def _innermost(what: str) -> Loop:
    for block in reversed(body().blocks):
        if isinstance(block, Loop):
            return block
    raise DslError(f"ptx.{what} stands outside any loop")


def break_(when: Any = None, uniform: bool | None = None) -> Statement:
    """Leave the innermost loop."""
    return _innermost("break_").break_(when, uniform)


def continue_(when: Any = None, uniform: bool | None = None) -> Statement:
    """Go on with the next round of the innermost loop."""
    return _innermost("continue_").continue_(when, uniform)
