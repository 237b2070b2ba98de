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
from ptxkit.dsl.operands import addr
from ptxkit.dsl.registers import Register
from ptxkit.dsl.types import Pointer, Spec, Type


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
        emit(f"ld.param.{self.type.access}", register, addr(self.operand))
        if isinstance(self.type, Pointer) and self.type.space:
            space = fresh(self.type.name)
            emit(f"cvta.to.{self.type.space}.{self.type.name}", space, register)
            return space
        return register


def _words_of(
    annotation: Any, place: tuple[str, int] | None
) -> tuple[Words, Type | Pointer | None]:
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
        place=place,
    )


def parameter(
    annotation: Any,
    python_name: str,
    function: str,
    role: str,
    place: tuple[str, int] | None = None,
) -> Parameter:
    """A parameter from its annotation.

    A Python name ``param_0`` stands for ``function_param_0``, as compilers call it.
    """
    name = default_parameter_name(python_name, function)
    if isinstance(annotation, Spec):
        annotation = annotation.annotation
    if isinstance(annotation, Named):
        given = annotation.name
        name = name + given if given.startswith("[") else given
        annotation = annotation.words
    words, type = _words_of(annotation, place)
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
    values: tuple[tuple[Type, int], ...] | None
    """What the Python function returns: types, and where in the result each stands."""


def signature_of(body: Callable[..., Any], name: str, returns: Sequence[Any] | None) -> Signature:
    """The signature of a Python function."""
    place = (body.__code__.co_filename, body.__code__.co_firstlineno)
    try:
        found = inspect.signature(body, eval_str=True)
    except NameError as error:
        raise DslError(
            f"a type in the signature of '{name}' is unknown: {error}",
            "types that are local to a function cannot be found under "
            "'from __future__ import annotations'; leave that out",
            place=place,
        ) from error
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
            parameters.append(parameter(one.annotation, one.name, name, "input", place))
    returned = found.return_annotation
    if returns is None and returned is not found.empty and returned is not None:
        types = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        results, values = _results(types, name, place)
        return Signature(tuple(parameters), results, constants, values)
    if returns is None:
        return Signature(tuple(parameters), None, constants, None)
    named = [
        parameter(one, f"func_retval{number}", name, "output", place)
        for number, one in enumerate(returns)
    ]
    return Signature(tuple(parameters), tuple(named), constants, None)


def _results(
    types: Sequence[Any], name: str, place: tuple[str, int]
) -> tuple[tuple[Parameter, ...], tuple[tuple[Type, int], ...]]:
    """The result of a function that returns values: one parameter, or a structure of several."""
    for one in types:
        if not isinstance(one, Type) or one.width < 8:
            raise DslError(f"'{name}' returns {one!r}, which is no type of a value", place=place)
    if len(types) == 1:
        return (parameter(types[0], "func_retval0", name, "output"),), ((types[0], 0),)
    values: list[tuple[Type, int]] = []
    end, alignment = 0, 1
    for one in types:
        size = one.width // 8
        begin = -(-end // size) * size
        values.append((one, begin))
        end, alignment = begin + size, max(alignment, size)
    size = -(-end // alignment) * alignment
    words = Words((".param", ".align", str(alignment), ".b8"))
    whole = Named(words, f"func_retval0[{size}]")
    return (parameter(whole, "func_retval0", name, "output"),), tuple(values)


def return_values(signature: Signature, value: Any, name: str, place: tuple[str, int]) -> None:
    """Store what a Python function returned into its result, and return."""
    from ptxkit.dsl.namespace import ptx

    places = signature.values or ()
    given = list(value) if isinstance(value, (tuple, list)) else [value]
    if value is None or len(given) != len(places):
        raise DslError(
            f"'{name}' returns {0 if value is None else len(given)} values, "
            f"and its signature says {len(places)}",
            place=place,
        )
    (result,) = signature.results or ()
    for (type, offset), one in zip(places, given, strict=True):
        emit(f"st.param.{type.access}", addr(result.operand, offset or None), one)
    ptx.ret()


def call(function: Any, signature: Signature, arguments: Sequence[Any]) -> Any:
    """The call of a device function with values: parameters stored, results loaded."""
    from ptxkit.dsl.namespace import ptx

    if len(arguments) != len(signature.parameters):
        raise DslError(
            f"'{function.name}' takes {len(signature.parameters)} arguments, not {len(arguments)}"
        )
    types = [one.type for one in signature.parameters]
    if None in types or (signature.results and signature.values is None):
        raise DslError(
            f"'{function.name}' says its parameters as PTX declarations",
            "call it with ptx.call, or give its parameters types such as u32",
        )
    values = [fresh(type.name) for type, _ in signature.values or ()]
    with ptx.block():
        slots = [_slot(f".param .{type.name} param{n}") for n, type in enumerate(types) if type]
        results = [
            _slot(one.text.replace("func_retval", "retval")) for one in signature.results or ()
        ]
        for number, (slot, type, argument) in enumerate(zip(slots, types, arguments, strict=True)):
            assert type is not None
            emit(f"st.param.{type.access}", addr(slot), _checked(argument, type, number))
        if results:
            ptx.call.uni(tuple(results), function, tuple(slots))
        else:
            ptx.call.uni(function, tuple(slots))
        for value, (type, offset) in zip(values, signature.values or (), strict=True):
            emit(f"ld.param.{type.access}", value, addr(results[0], offset or None))
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _slot(declaration: str) -> Any:
    """Declare a parameter of a call, written as a parameter of a function is."""
    words, _, name = declaration.rpartition(" ")
    return Words(tuple(words.split(" ")))(name)


def _checked(argument: Any, type: Type | Pointer, number: int) -> Any:
    if isinstance(argument, Register) and argument.type != type.name:
        fits = argument.type.startswith("b") or type.name.startswith("b")
        if not fits or argument.type.lstrip("busf") != type.name.lstrip("busf"):
            raise DslError(
                f"argument {number} is .{argument.type}, and the function takes .{type.name}",
                f"convert it: {argument.text}.to('{type.name}')",
            )
    return argument
