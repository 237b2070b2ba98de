"""Functions and kernels: a Python function whose body makes the statements."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ptxkit.dsl import pools
from ptxkit.dsl.builder import reset_current, set_current
from ptxkit.dsl.errors import DslError
from ptxkit.dsl.heads import check_name
from ptxkit.dsl.operands import Operand
from ptxkit.dsl.signatures import Signature, call, return_values, signature_of
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.tracing import FunctionBuilder
from ptxkit.isa.actuals import Actual
from ptxkit.isa.reader import INTERNER

if TYPE_CHECKING:
    from ptxkit.dsl.module import Module

_FUNCTION_NUMBER = INTERNER.number(Actual("function"))


def function_name(name: str | None, body: Callable[..., Any]) -> str:
    """The name that was given, else that of the Python function."""
    found = getattr(body, "__name__", "") if name is None else name
    return check_name(found, "a function", "make it with 'def', or say name='...'")


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
        constants: Mapping[str, Any] | None = None,
        registers: Sequence[str] = (),
    ) -> None:
        self.name = function_name(name, body)
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
        self.registers = tuple(registers)
        self.given = dict(constants or {})
        self.shared_bytes: int | None = None
        """What the body takes of the launch's shared memory; None where it takes none of it."""
        self._signature: Signature | None = None
        self._statements: list[Statement] | None = None

    def statements(self) -> list[Statement]:
        """The function's statements; its Python body is run once."""
        if self._statements is None:
            self._statements = self._trace()
            for note in self.notes:
                self._statements[-1].note(*note)
        return self._statements

    @property
    def signature(self) -> Signature:
        """Parameters, results and compile-time parameters."""
        if self._signature is None:
            self._signature = signature_of(self.body, self.name, self.returns)
        return self._signature

    def __call__(self, *arguments: Any) -> Any:
        """Call the function from another one that is being traced."""
        return call(self, self.signature, arguments)

    def __getitem__(self, shape: Any) -> Callable[..., Any]:
        """Launch a kernel: ``k[grid, block](x, y)``, on a GPU if there is one."""

        def launch(*arguments: Any, device: str = "auto") -> Any:
            return self.module.load(device)[self.name][shape](*arguments)

        return launch

    def _trace(self) -> list[Statement]:
        builder = FunctionBuilder(self.module, self)
        signature = self.signature
        builder.statements.append(self._header(signature))
        builder.returns = [one.operand for one in signature.results or ()]
        if self.is_declaration:
            return builder.statements
        constants = self._constants(signature)
        token = set_current(builder)
        try:
            if self.registers:
                pools.declare(builder, self.registers)
            arguments = [one.value() for one in signature.parameters]
            value = self.body(*arguments, **constants)
            code = self.body.__code__
            place = (code.co_filename, code.co_firstlineno)
            if signature.values is not None:
                return_values(signature, value, self.name, place)
            elif value is not None:
                raise DslError(
                    f"'{self.name}' returns {value!r} and its signature says nothing",
                    "say what it returns: 'def f(x: f32) -> f32:'",
                    place=place,
                )
            builder.finish()
        finally:
            reset_current(token)
        builder.add("body_close", "}")
        builder.statements[1:1] = builder.fresh_declarations()
        return builder.statements

    def _constants(self, signature: Signature) -> dict[str, Any]:
        """The compile-time parameters: those given, else as they are by default."""
        for name in self.given:
            if name not in signature.constants:
                known = ", ".join(signature.constants) or "none"
                raise DslError(
                    f"'{self.name}' has no compile-time parameter '{name}'; there are: {known}"
                )
        constants = {**signature.constants, **self.given}
        for name, value in constants.items():
            if value is inspect.Parameter.empty:
                raise DslError(f"the compile-time parameter '{name}' of '{self.name}' has no value")
        return constants

    def _header(self, signature: Signature) -> Statement:
        results = signature.results
        text = self.module.style.header(
            " ".join(self.words),
            None if results is None else [one.text for one in results],
            self.name,
            [one.text for one in signature.parameters] if self.has_parentheses else None,
            self.directives,
            ";" if self.is_declaration else "{",
        )
        statement = Statement("prototype" if self.is_declaration else "header", text, self.before)
        if self.spacing:
            statement.spaced(self.spacing)
        return statement
