"""``check``: everything wrong with a PTX file, in one run."""

from __future__ import annotations

from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import UsageError
from ptxkit.isa.rules.body import check_body
from ptxkit.isa.rules.context import Context
from ptxkit.isa.rules.directives import check_directives
from ptxkit.isa.rules.functions import check_function_header, check_module_names
from ptxkit.isa.rules.header import check_address_size, check_header
from ptxkit.isa.rules.variables import check_variable
from ptxkit.isa.targets import TARGET_SINCE, Target, Version
from ptxkit.syntax import Function, Module, Scopes, Variable, parse


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
    context = Context(module, _version(module), _target(module, target), Scopes(module))
    if target is not None:
        context.origin = "asked for"
    context.found += module.diagnostics
    check_header(context)
    check_module_names(context)
    for child in module.children:
        if isinstance(child, Function):
            check_function_header(context, child)
            check_directives(context, child)
            check_body(context, child)
        elif isinstance(child, Variable):
            check_variable(context, child, in_body=False)
    check_address_size(context)
    return sorted(context.found, key=lambda one: (one.line, one.column))


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
