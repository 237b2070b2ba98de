"""Modules: a PTX text and the tree over it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from ptxkit import _native
from ptxkit._native import Node, NodeList
from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxSyntaxError, UsageError
from ptxkit.syntax import declarations, nodes, operands
from ptxkit.syntax.declarations import Declarator, Function, Variable, matching
from ptxkit.syntax.nodes import Instruction
from ptxkit.syntax.spelling import find, pick

if TYPE_CHECKING:
    from ptxkit.syntax.edit import Editor

#: What only C++ has at the beginning of a line, or CUDA anywhere.
_CUDA = re.compile(
    rb"^[ \t]*#[ \t]*(?:include|pragma|define)\b|\b__(?:global|device)__\b", re.MULTILINE
)


class Module(Node):
    """A parsed PTX file. Immutable: an edit gives a new module.

    >>> import ptxkit
    >>> m = ptxkit.parse(".version 9.0\\n.target sm_90\\n.visible .entry k() { ret; }\\n")
    >>> m.version, m.target, [f.name for f in m.functions]
    ('9.0', 'sm_90', ['k'])
    >>> m["k"].instructions[0].opcode
    'ret'
    """

    __slots__ = ()

    def emit(self) -> str:
        """The text, exactly as parsed; bytes that are not UTF-8 come as surrogates."""
        return self.emit_bytes().decode("utf-8", "surrogateescape")

    def emit_bytes(self) -> bytes:
        """The text, exactly as parsed, written out of the tree."""
        return self.emit_tree()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the parser found; empty unless parsed with ``recover=True``."""
        raw = self.diagnostics_raw
        cuda = _CUDA.search(self.source()) if raw and self.version is None else None
        if cuda is not None:
            # Dozens of errors would not say it as well.
            return (
                self.diagnostic(
                    "error", "cuda", "this is CUDA C++, not PTX", cuda.span(),
                    "compile it: 'ptxkit compile FILE', or ptxkit.compile_cuda(text)",
                ),
            )  # fmt: skip
        return tuple(
            self.diagnostic("error", code, message, (start, end), hint or None)
            for code, message, hint, start, end in raw
        )

    def diagnostic(
        self,
        severity: str,
        code: str,
        message: str,
        span: tuple[int, int],
        hint: str | None = None,
    ) -> Diagnostic:
        """A diagnostic at a place of this module."""
        line, column = self.position(span[0])
        return Diagnostic(
            severity,  # type: ignore[arg-type]
            code,
            message,
            line,
            column,
            hint,
            filename=self.filename,
            span=span,
            source_line=self.line_text(line),
        )

    def _directive(self, kind: str) -> Node | None:
        return next((child for child in self.children if child.kind == kind), None)

    @property
    def version(self) -> str | None:
        """The PTX version, such as ``"9.0"``."""
        found = self._directive("Version")
        return found.value if isinstance(found, nodes.Version) else None

    @property
    def target(self) -> str | None:
        """The first word of ``.target``, such as ``"sm_90a"``."""
        found = self._directive("Target")
        return found.values[0] if isinstance(found, nodes.Target) else None

    @property
    def target_options(self) -> tuple[str, ...]:
        """The further words of ``.target``, such as ``"debug"``."""
        found = self._directive("Target")
        return found.values[1:] if isinstance(found, nodes.Target) else ()

    @property
    def address_size(self) -> int:
        """32 or 64; 32 where the module does not say."""
        found = self._directive("AddressSize")
        return found.value if isinstance(found, nodes.AddressSize) else 32

    @property
    def functions(self) -> tuple[Function, ...]:
        """All functions, kernels and declarations, in order."""
        return tuple(child for child in self.children if isinstance(child, Function))

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The functions that are entries and have a body."""
        return tuple(f for f in self.functions if f.is_entry and f.has_body)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The declarations at module level, in order."""
        return tuple(child for child in self.children if isinstance(child, Variable))

    def __getitem__(self, name: str) -> Function:
        """The function of that name; its definition where there is one.

        A mangled function is found by its C++ name too, where only one has it.

        >>> import ptxkit
        >>> ptxkit.parse(".func _Z5saxpyPfS_fi() { ret; }")["saxpy"].name
        '_Z5saxpyPfS_fi'
        """
        if not isinstance(name, str):
            raise UsageError(f"a module is indexed by a function's name, not {name!r}")
        functions = functions_by_name(self)
        return functions.get(name) or functions[pick("function", name, functions)]

    def __contains__(self, name: object) -> bool:
        functions = functions_by_name(self)
        return isinstance(name, str) and (name in functions or len(find(name, functions)) == 1)

    @property
    def instructions(self) -> NodeList[Instruction]:
        """All instructions of all functions, in order."""
        return self.find("Instruction")

    def find_instructions(self, pattern: str) -> Iterator[Instruction]:
        """Instructions whose opcode matches a glob such as ``"ld.global.*"``.

        A pattern without a dot is for the name alone: ``"ld"`` finds every load.
        """
        return matching(self.instructions, pattern)

    def comments(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """All comments with their spans."""
        return (
            (text, (start, end))
            for kind, text, start, end in self.tokens(trivia=True)
            if kind == "comment"
        )

    def edit(self) -> Editor:
        """An editor that collects changes and gives a new module."""
        from ptxkit.syntax.edit import Editor

        return Editor(self)

    def rename(self, node: Node, name: str) -> Module:
        """Rename a register, label, variable, parameter or function in its scope.

        >>> import ptxkit
        >>> m = ptxkit.parse(".func f() { .reg .b32 a; mov.b32 a, 1; { .reg .b32 a; } }")
        >>> m.rename(m["f"].instructions[0].operands[0], "b").emit()
        '.func f() { .reg .b32 b; mov.b32 b, 1; { .reg .b32 a; } }'
        """
        from ptxkit.syntax.scopes import rename

        return rename(self, node, name)


def to_bytes(text: str) -> bytes:
    """The bytes of a text; surrogates stand for bytes that are not UTF-8."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise UsageError(f"the text cannot be written as bytes: {error}") from error


@lru_cache(maxsize=4)
def functions_by_name(module: Module) -> dict[str, Function]:
    """The functions of the modules asked about last; a definition wins over declarations."""
    found: dict[str, Function] = {}
    for function in module.functions:
        if function.name not in found or function.has_body:
            found[function.name] = function
    return found


def parse(source: str | bytes, filename: str = "<ptx>", *, recover: bool = False) -> Module:
    """Parse PTX text.

    Raises :class:`ptxkit.PtxSyntaxError` with all errors of the text. With ``recover`` the
    module is given anyway: statements that are not PTX are ``Error`` nodes and
    ``module.diagnostics`` holds what was found.

    >>> import ptxkit
    >>> ptxkit.parse(".func f() { add.f32 a b; }", filename="k.ptx")
    Traceback (most recent call last):
    ptxkit.errors.PtxSyntaxError: k.ptx:1:23: error[syntax]: expected ',' or ';' after ...
    """
    if isinstance(source, str):
        data = to_bytes(source)
    elif isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
    else:
        raise UsageError(
            f"parse needs PTX text as str or bytes, not {type(source).__name__}; "
            "for a file use Path('k.ptx').read_bytes()"
        )
    try:
        module: Module = _native.parse(data, os.fsencode(str(filename)))
    except ValueError as error:
        raise UsageError(str(error)) from error
    if module.diagnostics_raw and not recover:
        if len(data) < 4096 and data.endswith(b".ptx") and b"\n" not in data:
            raise UsageError(
                f"{data.decode(errors='replace')!r} looks like a path; parse takes PTX text: "
                "use Path(...).read_bytes()"
            )
        raise PtxSyntaxError(module.diagnostics)
    return module


def _kind_classes() -> dict[str, type]:
    found: dict[str, type] = {"Module": Module}
    for room in (nodes, declarations, operands):
        found |= {
            name: value
            for name, value in vars(room).items()
            if isinstance(value, type) and issubclass(value, Node)
        }
    return found


_native.register_kinds({name: _kind_classes()[name] for name in _native.node_kinds})

__all__ = ["Declarator", "Module", "parse"]
