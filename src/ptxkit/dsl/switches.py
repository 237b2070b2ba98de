"""A choice of blocks by a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ptxkit.dsl.arithmetic import binary
from ptxkit.dsl.control import Open, as_label, body, branch, closed, construct, opened
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import Operand


class Switch(Open):
    """``with ptx.switch(x) as s:``, and in it ``with s.case(1, 2):`` and ``with s.default():``."""

    __slots__ = ("_after", "_has_default", "_value")

    def __init__(self, value: Any) -> None:
        super().__init__("a ptx.switch block")
        self._value = value
        self._after = as_label(None)
        self._has_default = False

    @construct("a case of ptx.switch")
    def case(self, *values: Any) -> Iterator[None]:
        """The block runs where the value is one of these; nothing falls through."""
        if not values:
            raise DslError("a case needs a value")
        if self._has_default:
            raise DslError("a case stands after the default, where it is never reached")
        builder = body()
        next_case = as_label(None)
        inside = as_label(None)
        for value in values[:-1]:
            branch(inside, binary("eq", self._value, value))
        branch(next_case, binary("ne", self._value, values[-1]))
        if len(values) > 1:
            builder.place(inside)
        block = opened(Open("a case of ptx.switch"))
        yield
        closed(block)
        branch(self._after)
        builder.place(next_case)

    @construct("the default of ptx.switch")
    def default(self) -> Iterator[None]:
        """The block runs where no case did; it comes last."""
        self._has_default = True
        block = opened(Open("the default of ptx.switch"))
        yield
        closed(block)


@construct("a ptx.switch block")
def switch(value: Callable[[], Any] | Any) -> Iterator[Switch]:
    """Choose a block by a value."""
    made = Switch(value() if callable(value) and not isinstance(value, Operand) else value)
    opened(made)
    yield made
    closed(made)
    body().place(made._after)
