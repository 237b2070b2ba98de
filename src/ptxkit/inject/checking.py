"""A stub is checked where it will stand, before an assembler sees it.

It is put into a function of its own, with the site's registers declared before it, and that
function is checked as `ptxkit.check` does it. Names of the module and of the functions around
the site are brought in where the stub uses them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from ptxkit._native import InjectTemplate
from ptxkit.diagnostics import Diagnostic
from ptxkit.inject.assignment import unassigned
from ptxkit.inject.errors import StubError
from ptxkit.inject.site import Operand, Site
from ptxkit.isa.checker import check_function
from ptxkit.syntax import Function, Module, Scopes, Variable, parse

_FUNCTION = ".entry ptxkit_stub()\n"
_END = "\nret;\n}\n"


class StubChecker:
    """Checks stubs for the sites of one PTX text."""

    def __init__(self, native: InjectTemplate, filename: str) -> None:
        self._native = native
        self._filename = filename

    @cached_property
    def _module(self) -> Module:
        return parse(self._native.text, self._filename, recover=True)

    @cached_property
    def _head(self) -> str:
        kept = ("Version", "Target", "AddressSize")
        return "".join(f"{c.text}\n" for c in self._module.children if c.kind in kept)

    @cached_property
    def _declarations(self) -> str:
        """The variables of the module, and its functions without their bodies."""
        lines = []
        for child in self._module.children:
            if isinstance(child, Variable):
                lines.append(child.text)
            elif isinstance(child, Function) and not child.is_entry:
                lines.append(_header(child).rstrip().removesuffix(";") + ";")
        return "\n".join(lines) + "\n"

    def check(
        self, site: Site, stub: str, functions: Sequence[str], filename: str | None = None
    ) -> None:
        """Raise `StubError` for what is wrong with a stub in these functions."""
        found = _unbalanced(stub)
        if not found:
            registers = _declare(site.args.values())
            found = _judge(self._head + _FUNCTION, registers, stub, site)
        if any(one.code == "undeclared" for one in found):
            found = self._check_inside(site, stub, functions, found)
        if found:
            name = filename or stub_name(site)
            raise StubError(replace(one, filename=name) for one in found)

    def _check_inside(
        self, site: Site, stub: str, functions: Sequence[str], outside: list[Diagnostic]
    ) -> list[Diagnostic]:
        """The errors where names of the module and parameters of the kernel are known too."""
        registers = _declare(site.args.values())
        found: dict[str, list[Diagnostic]] = {}
        for name in functions:
            header = self._head + self._declarations + _header(self._module[name])
            found[name] = _judge(header, registers, stub, site)
        wrong = [name for name, errors in found.items() if errors]
        if functions and not wrong:
            return []
        said = found[wrong[0]] if functions else outside
        if len(wrong) == len(functions):
            return [_with_operands(one, site) for one in said]
        hint = f"that is so in '{wrong[0]}', not in every kernel; give it a stub of its own"
        return [replace(one, hint=hint) for one in said]


def check_text(site: Site, stub: object, filename: str | None = None) -> str:
    """The stub as text; raises for what is no text at all."""
    name = filename or stub_name(site)
    if isinstance(stub, (bytes, bytearray, memoryview)):
        data = bytes(stub)
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise _bad_text(name, data.decode("utf-8", "surrogateescape"),
                            len(data[: error.start].decode("utf-8", "surrogateescape")),
                            "a byte that is not UTF-8") from None  # fmt: skip
    elif isinstance(stub, str):
        text = stub
        if not text.isascii():
            at = next((n for n, c in enumerate(text) if "\ud800" <= c <= "\udfff"), None)
            if at is not None:
                raise _bad_text(name, text, at, "a byte that is not UTF-8")
    else:
        raise TypeError
    if "\0" in text:
        raise _bad_text(name, text, text.index("\0"), "a NUL byte")
    return text


def _bad_text(name: str, text: str, at: int, what: str) -> StubError:
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return StubError(
        [
            Diagnostic(
                "error", "inject-text", f"the stub has {what} in it", line, column,
                "a stub is PTX, which is ASCII text", filename=name,
                source_line=text.split("\n")[line - 1],
            )
        ]
    )  # fmt: skip


def stub_name(site: Site) -> str:
    """How messages call the stub of a site."""
    return f"<stub of {site.name}>"


def _header(function: Function) -> str:
    body = function.body
    if body is None:
        return function.text
    source = function.text.encode("utf-8", "surrogateescape")
    return source[: body.span[0] - function.span[0]].decode("utf-8", "surrogateescape")


def _declare(operands: Iterable[Operand]) -> str:
    return "".join(f".reg .{one.register_type} {one.register};\n" for one in operands)


def _judge(header: str, registers: str, stub: str, site: Site) -> list[Diagnostic]:
    """The errors of a stub, placed in the stub itself."""
    before = f"{header}{{\n{registers}"
    module = parse(before + stub + _END, recover=True)
    start = len(before.encode("utf-8", "surrogateescape"))
    end = start + len(stub.encode())
    place = _Place(stub, before.count("\n"), start, end)
    function, scopes = module.functions[-1], Scopes(module)
    errors = [*module.diagnostics, *check_function(function, scopes)]
    found = list(place.move(one for one in errors if one.severity == "error"))
    if found:
        return sorted(found, key=lambda one: (one.line, one.column))
    operands = {one.register: one for one in site.args.values() if one.direction == "out"}
    return list(place.move(unassigned(function, operands, scopes)))


def _with_operands(one: Diagnostic, site: Site) -> Diagnostic:
    """An undeclared name with the names that there are, unless there is better advice."""
    if one.code != "undeclared" or not (one.hint or "").startswith("declare it"):
        return one
    names = ", ".join(operand.register for operand in site.args.values()) or "none"
    return replace(one, hint=f"declare it, or use an operand of the site; there are: {names}")


def _unbalanced(stub: str) -> list[Diagnostic]:
    """Braces that would close the scope around the stub, or leave it open."""
    if "{" not in stub and "}" not in stub:
        return []
    module = parse(stub, recover=True)
    opened: list[tuple[int, int]] = []
    for kind, text, start, end in module.tokens():
        if text not in "{}" or kind != "punctuation":
            continue
        if text == "{":
            opened.append((start, end))
        elif opened:
            opened.pop()
        else:
            return [
                module.diagnostic(
                    "error", "inject-scope", "this '}' closes the scope around the stub",
                    (start, end), "a stub may close only what it opened",
                )
            ]  # fmt: skip
    if not opened:
        return []
    hint = "add the closing '}'"
    return [
        module.diagnostic("error", "inject-scope", "this '{' is never closed", opened[-1], hint)
    ]


class _Place:
    """Where a stub stands in the text that was checked."""

    def __init__(self, stub: str, lines: int, start: int, end: int) -> None:
        self._stub = stub
        self._lines = lines
        self._start, self._end = start, end

    def move(self, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """The diagnostics as places in the stub; those before it are not its own."""
        seen = set()
        for one in found:
            assert one.span is not None
            if one.span[0] < self._start:
                continue
            moved = self._moved(one)
            if (moved.line, moved.column, moved.message) not in seen:
                seen.add((moved.line, moved.column, moved.message))
                yield moved

    def _moved(self, one: Diagnostic) -> Diagnostic:
        assert one.span is not None
        if one.span[0] < self._end:
            span = (one.span[0] - self._start, min(one.span[1], self._end) - self._start)
            return replace(
                one, line=one.line - self._lines, span=span,
                message=self._lines_of(one.message),
                hint=one.hint and self._lines_of(one.hint),
            )  # fmt: skip
        # What comes after the stub was met too early: its end is the place.
        text = self._stub.rstrip()
        last = text.rfind("\n") + 1
        lines = text.count("\n") + 1
        return replace(
            one, line=lines, column=len(text) - last + 1,
            span=None, source_line=text[last:],
        )  # fmt: skip

    def _lines_of(self, text: str) -> str:
        """A message with the numbers of lines as they are in the stub."""

        def number(found: re.Match[str]) -> str:
            line = int(found[1]) - self._lines
            return f"at line {line}" if line > 0 else "by the site"

        return re.sub(r"\bat line (\d+)", number, text)
