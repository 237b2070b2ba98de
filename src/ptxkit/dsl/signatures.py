"""Signatures: how the parameters of a Python function become those of a PTX function.

Two ways to say a parameter's type. ``x: param.u64.ptr.global_.align(4)`` is the PTX
declaration itself, and the body gets the parameter to load from. ``n: u32`` and ``x: ptr``
are values: the body gets a register that holds it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ptxkit.dsl.arithmetic import emit, fresh
from ptxkit.dsl.declarations import Words, parameter_text
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.operands import Operand, addr
from ptxkit.dsl.registers import Register
from ptxkit.dsl.types import Pointer, Type


class Named:
    """A parameter with its PTX name; ``"[16]"`` adds a size to the name it has anyway.

    >>> from ptxkit.dsl import param
    >>> Named(param.align(8).b8, "[16]").name
    '[16]'
    """

    __slots__ = ("name", "words")

    def __init__(self, words: Words, name: str) -> None:
        self.words = words
        self.name = name


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: its PTX, what it is as an operand, and its type where it is a value."""

    text: str
    operand: Any
    type: Type | Pointer | None

    def value(self) -> Any:
        """What the body gets: the parameter, or a register with its value."""
        if self.type is None:
            return self.operand
        register = fresh(self.type.name)
        emit(f"ld.param.{self.type.name}", register, addr(self.operand))
        if isinstance(self.type, Pointer) and self.type.space:
            space = fresh(self.type.name)
            emit(f"cvta.to.{self.type.space}.{self.type.name}", space, register)
            return space
        return register


def _words_of(annotation: Any) -> tuple[Words, Type | Pointer | None]:
    if isinstance(annotation, Words):
        return annotation, None
    words = Words((".param",))
    if isinstance(annotation, Pointer):
        words = Words((*words._words, ".u64", ".ptr"))
        if annotation.space:
            words = Words((*words._words, f".{annotation.space}"))
        return words.align(annotation.alignment), annotation
    if isinstance(annotation, Type):
        return Words((*words._words, f".{annotation.name}")), annotation
    raise DslError(
        f"{annotation!r} is not a parameter's type",
        "write 'n: u32' or 'x: ptr' for a value, 'x: param.u64' for the parameter itself",
    )


def parameter(annotation: Any, python_name: str, function: str, role: str) -> Parameter:
    """A parameter from its annotation.

    A Python name ``param_0`` stands for ``function_param_0``, as compilers call it.
    """
    name = default_parameter_name(python_name, function)
    if isinstance(annotation, Named):
        given = annotation.name
        name = name + given if given.startswith("[") else given
        annotation = annotation.words
    words, type = _words_of(annotation)
    text, operand = parameter_text(words, name, role)
    return Parameter(text, operand, type)


def default_parameter_name(python_name: str, function: str) -> str:
    """What a parameter is called in PTX where nothing else is said.

    >>> default_parameter_name("param_0", "k"), default_parameter_name("count", "k")
    ('k_param_0', 'count')
    """
    head, _, digits = python_name.rpartition("_")
    return f"{function}_{python_name}" if head == "param" and digits.isdigit() else python_name


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters and results of a function, and its compile-time parameters."""

    parameters: tuple[Parameter, ...]
    results: tuple[Parameter, ...] | None
    constants: dict[str, Any]
    """Keyword-only parameters and what they are by default."""
    returns_value: bool
    """Whether the results are what the Python function returns."""


def signature_of(body: Callable[..., Any], name: str, returns: Sequence[Any] | None) -> Signature:
    """The signature of a Python function."""
    place = (body.__code__.co_filename, body.__code__.co_firstlineno)
    found = inspect.signature(body, eval_str=True)
    parameters: list[Parameter] = []
    constants: dict[str, Any] = {}
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY:
            constants[one.name] = one.default
        elif one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise DslError(f"'{name}' takes a varying number of parameters", place=place)
        elif one.annotation is one.empty:
            raise DslError(
                f"the parameter '{one.name}' of '{name}' has no type",
                f"write '{one.name}: u32', or '{one.name}: param.u32' for the parameter itself",
                place=place,
            )
        else:
            parameters.append(parameter(one.annotation, one.name, name, "input"))
    returned = found.return_annotation
    by_value = returns is None and returned is not found.empty and returned is not None
    if by_value:
        returns = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    results = None
    if returns is not None:
        results = tuple(
            parameter(one, f"func_retval{number}", name, "output")
            for number, one in enumerate(returns)
        )
    return Signature(tuple(parameters), results, constants, by_value)


def return_values(signature: Signature, value: Any, name: str) -> None:
    """Store what a Python function returned into its results, and return."""
    from ptxkit.dsl.namespace import ptx

    results = signature.results or ()
    values = list(value) if isinstance(value, (tuple, list)) else [value]
    if value is None or len(values) != len(results):
        raise DslError(
            f"'{name}' returns {0 if value is None else len(values)} values, "
            f"and its signature says {len(results)}"
        )
    for result, one in zip(results, values, strict=True):
        assert result.type is not None
        emit(f"st.param.{result.type.name}", addr(result.operand), one)
    ptx.ret()


def call(function: Any, signature: Signature, arguments: Sequence[Any]) -> Any:
    """The call of a device function with values: parameters stored, results loaded."""
    from ptxkit.dsl.namespace import ptx

    results = signature.results or ()
    if len(arguments) != len(signature.parameters):
        raise DslError(
            f"'{function.name}' takes {len(signature.parameters)} arguments, not {len(arguments)}"
        )
    types = [one.type for one in (*signature.parameters, *results)]
    if None in types:
        raise DslError(
            f"'{function.name}' says its parameters as PTX declarations",
            "call it with ptx.call, or give its parameters types such as u32",
        )
    values = [fresh(one.type.name) for one in results if one.type is not None]
    with ptx.block():
        stores: list[Operand] = []
        for number, (one, argument) in enumerate(zip(signature.parameters, arguments, strict=True)):
            assert one.type is not None
            slot = Words((".param", f".{one.type.name}"))(f"param{number}")
            emit(f"st.param.{one.type.name}", addr(slot), _checked(argument, one.type, number))
            stores.append(slot)
        loads = [
            Words((".param", f".{one.type.name}"))(f"retval{number}")
            for number, one in enumerate(results)
            if one.type is not None
        ]
        if loads:
            ptx.call.uni(tuple(loads), function, tuple(stores))
        else:
            ptx.call.uni(function, tuple(stores))
        for value, slot in zip(values, loads, strict=True):
            emit(f"ld.param.{value.type}", value, addr(slot))
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _checked(argument: Any, type: Type | Pointer, number: int) -> Any:
    if isinstance(argument, Register) and argument.type != type.name:
        fits = argument.type.startswith("b") or type.name.startswith("b")
        if not fits or argument.type.lstrip("busf") != type.name.lstrip("busf"):
            raise DslError(
                f"argument {number} is .{argument.type}, and the function takes .{type.name}",
                f"convert it: {argument.text}.to('{type.name}')",
            )
    return argument
