"""Functions and kernels: a Python function whose body makes the statements."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.builder import Builder, reset_current, set_current
from ptxkit.dsl.declarations import CONVENTIONS, Words, parameter_text
from ptxkit.dsl.errors import DslError, python_place
from ptxkit.dsl.instructions import message_of
from ptxkit.dsl.operands import Label, Operand, Special
from ptxkit.dsl.registers import Register, register_number
from ptxkit.dsl.statements import Statement
from ptxkit.isa.actuals import Actual
from ptxkit.isa.reader import INTERNER

if TYPE_CHECKING:
    from ptxkit.dsl.module import Module

_FUNCTION_NUMBER = INTERNER.number(Actual("function"))
#: The order of declarations at the head of a body.
_REGISTER_ORDER = tuple(dict.fromkeys(CONVENTIONS))


class FunctionBuilder(Builder):
    """The statements of one function, while its Python body runs."""

    is_body = True

    def __init__(self, module: Module, function: Function) -> None:
        super().__init__(module)
        self.function = function
        self.good = module.good
        self.opcode_gap = self.style.opcode_gap
        self._fresh: dict[tuple[str, int], int] = {}  # registers nobody named, by type
        self._prefixes: dict[tuple[str, int], str] = {}
        self._declared: set[str] = set()
        self._labels: set[str] = set()
        self._used: dict[str, tuple[str, int]] = {}
        self._next_label = 0
        self.returns: list[Any] = []  # the parameters that carry results
        self.blocks: list[Any] = []  # open blocks and constructs, innermost last

    # -- registers ---------------------------------------------------------------------------

    def declare(self, name: str) -> None:
        """Take note of a name that the kernel declares itself."""
        if name in self._prefixes.values():
            raise DslError(
                f"'{name}' is what the registers without a name are called here",
                f"declare '{name}' before the first of those, or take another name",
            )
        self._declared.add(name)

    def fresh(self, type: str, width: int = 1) -> Register:
        """A new register that nobody named."""
        if type not in CONVENTIONS:
            raise DslError(f"there is no register type '.{type}'", "write reg.f32(), reg.b64() ...")
        key = (type, width)
        prefix = self._prefixes.get(key)
        if prefix is None:
            prefix = CONVENTIONS[type] if width == 1 else f"{CONVENTIONS[type]}v{width}_"
            while prefix in self._declared or prefix in self._prefixes.values():
                prefix += "_"
            self._prefixes[key] = prefix
        number = self._fresh[key] = self._fresh.get(key, 0) + 1
        return Register(f"{prefix}{number}", type, register_number(type, width), self, width)

    def fresh_declarations(self) -> list[Statement]:
        """The declarations of the registers nobody named."""
        gap = self.style.name_gaps.get(".reg", " ")
        found = []
        for key in sorted(self._fresh, key=lambda key: (_REGISTER_ORDER.index(key[0]), key[1])):
            type, width = key
            vector = f".v{width} " if width > 1 else ""
            name = f"{self._prefixes[key]}<{self._fresh[key] + 1}>"
            found.append(Statement("register", f".reg {vector}.{type}{gap}{name};"))
        return found

    # -- labels ------------------------------------------------------------------------------

    def use_labels(self, operands: Sequence[Any]) -> None:
        """Take note of the labels that a branch names."""
        for one in operands:
            label = one.text if isinstance(one, Label) else one
            if isinstance(label, str) and label not in self._used:
                self._used[label] = python_place()

    def new_label(self, hint: str = "") -> Label:
        """A label that is not placed yet."""
        self._next_label += 1
        number = self.module.number_of(self.function)
        return Label(f"$L__{hint or 'BB'}{number}_{self._next_label}", python_place())

    def place_label(self, name: str) -> Statement:
        """Put a label here."""
        self._labels.add(name)
        return self.add("label", f"{name}:")

    # -- checks ------------------------------------------------------------------------------

    def require(self, special: Special) -> None:
        """Check that the module may read a special register."""
        version, target = self.module.parsed_version, self.module.parsed_target
        if version is None or target is None:
            return
        if not special.requirement.met_by(version, target):
            self.refuse(
                f"'{special.text}' needs {special.requirement}; the module says "
                f"{self.module.says()}",
                "raise the module's version or target, or do without it",
            )

    def judge(self, key: tuple[Any, ...], operands: Sequence[Operand]) -> None:
        """Ask the table about an instruction: its opcode and the numbers of its operands."""
        opcode, *numbers = key
        verdict = self.module.judge.verdict(opcode, tuple(numbers))
        if verdict.problems or verdict.unmet or verdict.explanation is not None:
            texts = [one.text for one in operands]
            self.refuse(*message_of(opcode, verdict, texts, self.module.says()))
            return
        specials = [one for one in operands if isinstance(one, Special)]
        for one in specials:
            self.require(one)
        if not specials:
            self.good.add(key)

    def refuse(self, message: str, hint: str) -> None:
        """An instruction the table is against: an error, or a mark where those are collected."""
        if self.module.refused is None:
            raise DslError(message, hint)
        self.module.refused.append(python_place()[1])

    def finish(self) -> None:
        """Check what can only be said at the end of the body."""
        if self.blocks:
            block = self.blocks[-1]
            raise DslError(f"{block.what} is never closed", place=block.place)
        for name, place in self._used.items():
            if name not in self._labels:
                raise DslError(
                    f"no label '{name}' is placed in '{self.function.name}'",
                    f"place it with ptx.label('{name}')",
                    place=place,
                )


class Function(Operand):
    """An ``.entry`` or ``.func`` of a module; as an operand it is its name."""

    # An operand that is compared and hashed by identity, with a dictionary of its own.
    def __init__(
        self,
        module: Module,
        body: Callable[..., Any],
        words: Sequence[str],
        *,
        name: str | None = None,
        returns: Sequence[Any] | None = None,
        declare: bool = False,
        parentheses: bool = True,
        directives: Sequence[str] = (),
        spaced: Mapping[int, str] | None = None,
    ) -> None:
        self.name = name or body.__name__
        super().__init__(self.name, _FUNCTION_NUMBER)
        self.module = module
        self.body = body
        self.words = tuple(words)
        self.is_declaration = declare
        self.has_parentheses = parentheses
        self.returns = returns
        self.directives = tuple(directives)
        self.spacing = dict(spaced or {})
        self.before = module.take_pending()
        self.notes: list[tuple[str, str | None]] = []  # comments behind its last line
        self.__doc__ = body.__doc__
        self.__name__ = body.__name__
        self._statements: list[Statement] | None = None

    def statements(self) -> list[Statement]:
        """The function's statements; its Python body is run once."""
        if self._statements is None:
            self._statements = self._trace()
            for note in self.notes:
                self._statements[-1].note(*note)
        return self._statements

    def _trace(self) -> list[Statement]:
        builder = FunctionBuilder(self.module, self)
        header, arguments, loads = self._header(builder)
        builder.statements.append(header)
        if self.is_declaration:
            return builder.statements
        token = set_current(builder)
        try:
            arguments += [load(builder) for load in loads]
            self.body(*arguments)
            builder.finish()
        finally:
            reset_current(token)
        builder.add("body_close", "}")
        builder.statements[1:1] = builder.fresh_declarations()
        return builder.statements

    def _header(
        self, builder: FunctionBuilder
    ) -> tuple[Statement, list[Any], list[Callable[[FunctionBuilder], Any]]]:
        parameters: list[str] = []
        arguments: list[Any] = []
        for python_name, annotation in _annotations(self.body).items():
            words, ptx_name = _parameter(annotation, python_name, self.name)
            text, value = parameter_text(words, ptx_name, "input")
            parameters.append(text)
            arguments.append(value)
        returns = None
        if self.returns is not None:
            returns = []
            for index, one in enumerate(self.returns):
                words, ptx_name = _parameter(one, f"retval{index}", self.name)
                text, value = parameter_text(words, ptx_name, "output")
                returns.append(text)
                builder.returns.append(value)
        end = ";" if self.is_declaration else "{"
        text = self.module.style.header(
            " ".join(self.words),
            returns,
            self.name,
            parameters if self.has_parentheses else None,
            self.directives,
            end,
        )
        statement = Statement("prototype" if self.is_declaration else "header", text, self.before)
        if self.spacing:
            statement.spaced(self.spacing)
        return statement, arguments, []


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


def _annotations(body: Callable[..., Any]) -> dict[str, Any]:
    found = {}
    for parameter in inspect.signature(body, eval_str=True).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if parameter.annotation is parameter.empty:
            raise DslError(
                f"the parameter '{parameter.name}' of '{body.__name__}' has no type",
                f"write '{parameter.name}: param.u64' or '{parameter.name}: u32'",
                place=(body.__code__.co_filename, body.__code__.co_firstlineno),
            )
        found[parameter.name] = parameter.annotation
    return found


def _parameter(annotation: Any, python_name: str, function: str) -> tuple[Words, str]:
    """The words and the PTX name of a parameter.

    A Python name ``param_0`` stands for ``function_param_0``, as compilers call it.
    """
    if isinstance(annotation, Named):
        words, given = annotation.words, annotation.name
        if given.startswith("["):
            return words, default_parameter_name(python_name, function) + given
        return words, given
    if isinstance(annotation, Words):
        return annotation, default_parameter_name(python_name, function)
    raise DslError(
        f"'{annotation!r}' is not a parameter's type",
        "write 'x: param.u64.ptr.global_.align(4)' or 'n: param.u32'",
    )


def default_parameter_name(python_name: str, function: str) -> str:
    """What a parameter is called in PTX where nothing else is said.

    >>> default_parameter_name("param_0", "k"), default_parameter_name("count", "k")
    ('k_param_0', 'count')
    """
    head, _, digits = python_name.rpartition("_")
    return f"{function}_{python_name}" if head == "param" and digits.isdigit() else python_name
