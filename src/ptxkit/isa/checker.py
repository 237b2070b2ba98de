"""``check``: everything wrong with a PTX file, in one run."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import UsageError
from ptxkit.isa.rules.body import check_body, check_statements
from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.directives import check_directives
from ptxkit.isa.rules.functions import check_function_header, check_module_names
from ptxkit.isa.rules.header import check_address_size, check_header
from ptxkit.isa.rules.variables import check_variable
from ptxkit.isa.targets import TARGET_SINCE, Target, Version
from ptxkit.syntax import Function, Instruction, Module, Scopes, parse


def check(module: Module | str | bytes, target: str | None = None) -> list[Diagnostic]:
    """Check a module: syntax, names, types, operands, modifiers, version and target.

    ``target`` asks about another target than the file's own. Text that does not parse is
    checked as far as it goes; its syntax errors come with the others, in source order.

    >>> import ptxkit
    >>> for d in ptxkit.check('''.version 7.5
    ... .target sm_80
    ... .entry k() {
    ...     .reg .f32 a;
    ...     add.f32 a, a;
    ...     ret;
    ... }'''):
    ...     print(d.line, d.column, d.code, d.message)
    5 5 operand-count 'add.f32': takes 3 operands, not 2
    """
    if not isinstance(module, Module):
        if not isinstance(module, (str, bytes)):
            raise UsageError(f"check needs a Module or PTX text, not {type(module).__name__}")
        module = parse(module, recover=True)
    checker = Checker(module, target=target)
    checker.check_head()
    for function in module.functions:
        checker.check_function(function)
    return checker.take()


class Checker:
    """The checks of a module, piece by piece, for those who want only a part of it.

    >>> import ptxkit
    >>> m = ptxkit.parse(".version 8.0\\n.target sm_80\\n.func f() { ret; }\\n.func g() { foo; }")
    >>> checker = Checker(m)
    >>> checker.check_function(m["f"])
    >>> checker.take()
    []
    """

    def __init__(
        self, module: Module, *, target: str | None = None, scopes: Scopes | None = None
    ) -> None:
        self._context = Context(
            module, _version(module), _target(module, target), scopes or Scopes(module)
        )
        if target is not None:
            self._context.origin = "asked for"

    def check_head(self) -> None:
        """Check what stands outside of functions, and that names are declared once."""
        context = self._context
        context.found += context.module.diagnostics
        check_header(context)
        check_module_names(context)
        for variable in context.module.variables:
            check_variable(context, variable, in_body=False)

    def check_function(self, function: Function) -> None:
        """Check one function."""
        check_function_header(self._context, function)
        check_directives(self._context, function)
        check_body(self._context, function)

    def check_statements(self, function: Function, statements: Sequence[Instruction]) -> None:
        """Check some instructions of a function by themselves, as an editor does while one types.

        What only the whole function shows (code that is not reached) is not looked for.
        """
        check_statements(self._context, function, statements)

    def take(self) -> list[Diagnostic]:
        """What was found since the last time, in the order of the source."""
        context = self._context
        check_address_size(context)
        found = sorted(context.found, key=lambda one: (one.line, one.column))
        context.found, context.short_addresses = [], 0
        return found


def check_function(function: Function, scopes: Scopes | None = None) -> list[Diagnostic]:
    """What is wrong in one function alone, in source order; ``scopes`` are its module's.

    >>> import ptxkit
    >>> m = ptxkit.parse(".version 8.0\\n.target sm_80\\n.func f() { add.s32 a, 1, 2; ret; }")
    >>> [one.message for one in check_function(m["f"])]
    ["the name 'a' is not declared"]
    """
    module = function.root
    context = Context(module, _version(module), _target(module, None), scopes or Scopes(module))
    check_function_header(context, function)
    check_directives(context, function)
    check_body(context, function)
    return sorted(context.found, key=lambda one: (one.line, one.column))


def _version(module: Module) -> Version | None:
    text = module.version
    try:
        return Version.parse(text) if text is not None else None
    except UsageError:
        return None  # reported by check_header


def _target(module: Module, wanted: str | None) -> Target | None:
    if wanted is not None:
        target = Target.parse(wanted)
        if str(target) not in TARGET_SINCE:
            known = ", ".join(TARGET_SINCE)
            raise UsageError(f"there is no target '{wanted}'; there are: {known}")
        return target
    try:
        return Target.parse(module.target) if module.target is not None else None
    except UsageError:
        return None  # reported by check_header
