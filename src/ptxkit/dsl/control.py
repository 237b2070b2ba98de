"""Structured control flow: branches over the statements of a Python block.

Every construct is labels and guarded branches, nothing else, in the order they are written.
Labels are made up unless they are given. A construct is a *region*: ``with`` enters it, and
what it gives can be left (``r.break_()``) or begun again (``r.continue_()``) from anywhere
inside. Loops are in :mod:`ptxkit.dsl.loops`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec

from ptxkit.dsl.builder import current
from ptxkit.dsl.errors import DslError, python_place
from ptxkit.dsl.heads import check_name
from ptxkit.dsl.operands import Label, Operand, inverted
from ptxkit.dsl.statements import Statement

if TYPE_CHECKING:
    from typing_extensions import Self

    from ptxkit.dsl.tracing import FunctionBuilder

P = ParamSpec("P")
Condition = Any  # a predicate, ~predicate, or a function that computes one
SCOPE = "a block"


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


def opened(block: Open) -> Open:
    """Take note of a construct that is open now."""
    builder = body()
    builder.blocks.append(block)
    if block.what == SCOPE:
        builder.scopes.append(block)
    return block


def closed(block: Open) -> None:
    """Close a construct; those inside it must be closed."""
    blocks = body().blocks
    if not blocks or blocks[-1] is not block:
        inner = blocks[-1] if blocks else block
        raise DslError(f"{inner.what} is never closed", inner.hint, place=inner.place)
    blocks.pop()
    if block.what == SCOPE:
        body().scopes.pop()


GivenLabel = Any
"""How a label is given: its name, a basic block's number, a label, a region for its end."""


def as_label(given: GivenLabel) -> Label:
    """A label that was given, or a new one."""
    if given is None:
        return body().deferred_label()
    if isinstance(given, Label):
        return given
    if isinstance(given, Region):
        return given.end
    if given.__class__ is int:
        return body().block_label(given)
    return Label(check_name(given, "a label"), python_place())


def branch(to: Label, when: Any = None, uniform: bool | None = None) -> Statement:
    """``bra`` to a label, ``bra.uni`` where nothing guards it and nothing else is said."""
    from ptxkit.dsl.namespace import ptx

    builder = body()
    if when is None and builder.is_apart:
        builder.pending = None  # both ways are branches: they stand together
    chosen = when is None if uniform is None else uniform
    made = (ptx.bra.uni if chosen else ptx.bra)(to, when=when)
    if to.waiting is not None:
        to.waiting.append(made)
    if when is not None and builder.style.blank_after_branch:
        builder.pending = 1
        builder.branched = len(builder.statements)
    return made


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


class Region(Open):
    """A part of a body with a label at its end; a ``with`` block, or ``open()`` and ``close()``."""

    __slots__ = ("_end", "_is_given")

    def __init__(self, what: str, end: GivenLabel, hint: str = "") -> None:
        super().__init__(what, hint)
        body().unentered[self] = None
        self._is_given = end is not None
        self._end = as_label(end)

    @property
    def end(self) -> Label:
        """The label at the end; one that nobody asks for is not written."""
        self._is_given = True
        return self._end

    def break_(self, when: Any = None, uniform: bool | None = None) -> Statement:
        """Branch to the end."""
        return branch(self.end, when, uniform)

    def open(self) -> Self:
        """Begin the region, where ``with`` would nest too deep for Python."""
        body().unentered.pop(self, None)
        self._begin()
        opened(self)
        return self

    def close(self) -> None:
        """End the region that ``open()`` began."""
        closed(self)
        self._finish()

    def _begin(self) -> None:
        """Write what stands before the block."""

    def _finish(self) -> None:
        """Write what stands after the block."""
        if self._is_given:
            body().place(self._end)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()


class Pending(Open):
    """What a ``with`` block is to enter; one that it never does is a mistake."""

    __slots__ = ("_inner",)

    def __init__(self, what: str, inner: AbstractContextManager[Any]) -> None:
        super().__init__(what)
        self._inner = inner
        body().unentered[self] = None

    def __enter__(self) -> Any:
        body().unentered.pop(self, None)
        return self._inner.__enter__()

    def __exit__(self, *details: Any) -> bool | None:
        return self._inner.__exit__(*details)


def construct(what: str) -> Callable[[Callable[P, Iterator[Any]]], Callable[P, Pending]]:
    """A generator as a construct for ``with``, as :func:`contextlib.contextmanager` makes it."""

    def decorate(function: Callable[P, Iterator[Any]]) -> Callable[P, Pending]:
        made = contextmanager(function)

        @wraps(made)
        def call(*arguments: P.args, **options: P.kwargs) -> Pending:
            return Pending(what, made(*arguments, **options))

        return call

    return decorate


class If(Region):
    """``with ptx.if_(condition):``: a branch over the block, or one into it and one over it."""

    __slots__ = ("_condition", "_inside", "_uniform")

    def __init__(
        self, condition: Condition, label: GivenLabel, inside: GivenLabel | bool, uniform: bool
    ) -> None:
        super().__init__("a ptx.if_ block", label)
        self._condition = condition
        self._inside = inside
        self._uniform = uniform

    def _begin(self) -> None:
        if self._inside is False:
            self.break_(opposite(evaluated(self._condition)), self._uniform)
            return
        inside = as_label(None if self._inside is True else self._inside)
        branch(inside, evaluated(self._condition), self._uniform)
        self.break_()
        body().place(inside)

    def _finish(self) -> None:
        super()._finish()
        builder = body()
        builder.last_if = (len(builder.statements), self)


class Else(Region):
    """``with ptx.else_():``, right after an ``if_``."""

    __slots__ = ()

    def __init__(self, label: GivenLabel) -> None:
        builder = body()
        count, before = builder.last_if or (0, None)
        if before is None or count != len(builder.statements):
            raise DslError(
                "ptx.else_ does not follow a ptx.if_ block",
                "it stands right after 'with ptx.if_(...):', with no statement between",
            )
        super().__init__("a ptx.else_ block", label)

    def _begin(self) -> None:
        builder = body()
        assert builder.last_if is not None
        middle = builder.last_if[1]._end
        builder.last_if = None
        # The label of the `if_` stands behind the branch that ends its block.
        pending = builder.unplace(middle)
        if builder.branched != len(builder.statements):
            builder.pending = pending  # said at the end of the block: before the branch
        self.break_()
        builder.place(middle)


def if_(
    condition: Condition,
    label: GivenLabel = None,
    *,
    inside: GivenLabel | bool = False,
    uniform: bool = False,
) -> If:
    """The block runs where the condition holds; ``label`` names its end.

    ``inside=True``, or a label, branches into the block and over it: ``@p bra inside; bra end;``.
    """
    return If(condition, label, inside, uniform)


def else_(label: GivenLabel = None) -> Else:
    """The block runs where the condition of the ``if_`` just before it does not hold."""
    return Else(label)


def once(label: GivenLabel = None) -> Region:
    """The block runs once, and can be left from inside: ``with ptx.once() as search:``."""
    return Region("a ptx.once block", label)


def next_block(label: GivenLabel = None) -> Label:
    """A branch to right behind itself, as compilers leave it where they do not optimise."""
    made = as_label(label)
    branch(made)
    body().place(made)
    return made
