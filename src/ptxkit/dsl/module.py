"""A PTX module written in Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ptxkit.dsl.builder import Builder
from ptxkit.dsl.declarations import LINKAGES, SPACES, WORDS, Words
from ptxkit.dsl.errors import DslError, UnknownWordError
from ptxkit.dsl.functions import Function
from ptxkit.dsl.heads import (
    check_address_size,
    check_name,
    check_targets,
    check_version,
    nvcc_comments,
)
from ptxkit.dsl.layouts import hand_style
from ptxkit.dsl.operands import Operand, operand
from ptxkit.dsl.registers import Variable
from ptxkit.dsl.statements import Statement
from ptxkit.dsl.styles import Style, find_style
from ptxkit.dsl.words import word_of
from ptxkit.dsl.writer import write
from ptxkit.isa.rules.instructions import Judge, judge_for

if TYPE_CHECKING:
    import ptxkit.syntax
    from ptxkit.diagnostics import Diagnostic


class Module(Builder):
    """Statements at module level and functions, in order; ``ptx()`` is the text.

    >>> module = Module(version="8.0", target="sm_80")
    >>> @module.kernel
    ... def nothing():
    ...     pass
    >>> print(module.ptx())
    .version 8.0
    .target sm_80
    .address_size 64
    <BLANKLINE>
    .visible .entry nothing()
    {
    }
    <BLANKLINE>
    """

    def __init__(
        self,
        *,
        version: str | None = "8.0",
        target: str | Sequence[str] | None = "sm_75",
        address_size: int | None = 64,
        style: str | Style = "ptxkit",
        layout: Mapping[str, Any] | None = None,
        newline: str = "\n",
        blank_end: bool = False,
        unchecked: bool = False,
    ) -> None:
        if newline not in ("\n", "\r\n"):
            raise DslError(f"{newline!r} is no line break", r"it is '\n' or '\r\n'")
        self.is_unchecked = unchecked
        """Whether odd versions and targets, and functions defined twice, are taken as they are."""
        self.style: Style = _style(style, layout)
        super().__init__(self)
        self._items: list[Statement | Function] = []
        self.newline = newline
        self.blank_end = blank_end
        """Whether a blank line stands at the end, as NVRTC has it."""
        self.refused: list[int] | None = None
        """Python lines of instructions that the table is against; None: those are errors."""
        self.name_count = 0
        self._numbers: dict[Function, int] = {}
        self._defined: set[str] = set()
        self._version = version
        self._target = (target,) if isinstance(target, str) else tuple(target or ())
        self._address_size = address_size
        self.parsed_version = (
            None if version is None else check_version(version, unchecked=unchecked)
        )
        self.parsed_target = check_targets(self._target, unchecked=unchecked)
        if address_size is not None:
            check_address_size(address_size, unchecked=unchecked)
        self.judge: Judge = judge_for(self.parsed_version, self.parsed_target, address_size == 64)
        self.good: set[tuple[Any, ...]] = set()
        """What the table has been asked about and has nothing against."""
        self._head_given = False
        self._dynamic: Variable | None = None
        self._loaded: dict[str, Any] = {}

    # -- builder -----------------------------------------------------------------------------

    def add(self, kind: str, text: str) -> Statement:
        """Add a statement that is laid out already."""
        statement = super().add(kind, text)
        self._items.append(statement)
        return statement

    def note(self, text: str, before: str | None = None) -> None:
        """Put a comment behind the last statement, or behind the end of the last function."""
        if self._items and isinstance(self._items[-1], Function):
            self._items[-1].notes.append((text, before))
        else:
            self.last().note(text, before)

    def comments(self, *texts: str) -> None:
        """Comments in lines of their own."""
        for text in texts:
            self.comment(text)

    def take_pending(self) -> int | str | None:
        """What was said about the next statement."""
        found, self.pending = self.pending, None
        return found

    def number_of(self, function: Function) -> int:
        """The place of a function among the functions that have a body."""
        return self._numbers.setdefault(function, len(self._numbers))

    def says(self) -> str:
        """Version and target, for messages."""
        return f"{self._version or '(no version)'} / {', '.join(self._target) or '(no target)'}"

    def like(self) -> Module:
        """An empty module of the same version, target and style."""
        return Module(
            version=self._version,
            target=self._target,
            address_size=self._address_size,
            style=self.style,
            unchecked=self.is_unchecked,
        )

    def last_function(self) -> Function | None:
        """The function made last."""
        found = [item for item in self._items if isinstance(item, Function)]
        return found[-1] if found else None

    def number_like(self, function: Function, other: Module) -> None:
        """Give a function the place that the one of its name has in another module."""
        for known, number in other._numbers.items():
            if known.name == function.name:
                self._numbers[function] = number

    # -- directives --------------------------------------------------------------------------

    def head(self, nvcc: tuple[str, str, str] | None = None) -> None:
        """Put ``.version``, ``.target`` and ``.address_size`` here; else they come first.

        ``nvcc`` puts its comment before them: the build, the release, and the NVVM it is based on.
        """
        self._head_given = True
        if nvcc is not None:
            self.comments(*nvcc_comments(*nvcc))
        if self._version is not None:
            self.add("version", f".version {self._version}")
        if self._target:
            self.add("target", f".target {', '.join(self._target)}")
        if self._address_size is not None:
            self.add("address_size", f".address_size {self._address_size}")

    def version_line(self, version: str) -> Statement:
        """A ``.version`` line of its own."""
        check_version(version, unchecked=self.is_unchecked)
        self._head_given = True
        return self.add("version", f".version {version}")

    def target_line(self, *targets: str) -> Statement:
        """A ``.target`` line of its own."""
        check_targets(targets, unchecked=self.is_unchecked)
        self._head_given = True
        return self.add("target", f".target {', '.join(targets)}")

    def address_size_line(self, size: Any) -> Statement:
        """An ``.address_size`` line of its own."""
        self._head_given = True
        return self.add("address_size", f".address_size {operand(size)}")

    def file(self, number: Any, path: str, *rest: Any) -> Statement:
        """``.file 1 "k.cu"``, with time and size."""
        text = f'.file{self.style.directive_gap}{operand(number)} "{path}"'
        return self.add("file", ", ".join([text, *[operand(one).text for one in rest]]))

    def pragma(self, *values: str) -> Statement:
        """``.pragma "nounroll";``."""
        return self.add("pragma", f".pragma {', '.join(quoted(values))};")

    def alias(self, name: Any, of: Any) -> Statement:
        """``.alias name, of;``."""
        return self.add("alias", f".alias {operand(name)}, {operand(of)};")

    def dwarf(self, *words: str, keyword: str = "DWARF") -> Statement:
        """An ``@@DWARF`` line of PTX 1.x."""
        return self.add("dwarf", " ".join([f"@@{keyword}", *words]))

    @contextmanager
    def section(self, name: str, spaced: Mapping[int, str] | None = None) -> Iterator[Module]:
        """``.section .debug_info { ... }``."""
        style = self.style
        statement = self.add(
            "section", f".section{style.directive_gap}{name}{style.section_brace}{{"
        )
        if spaced:
            statement.spaced(spaced)
        yield self
        self.add("section_close", "}")

    def label(self, name: str) -> Statement:
        """A label in a section."""
        check_name(name, "a label")
        return self.add("section_label", f"{name}:")

    def data(self, type: str, *values: Any) -> Statement:
        """One line of numbers, labels or sections: ``data("b8", 1, 2)``."""
        items = [value if value.__class__ is str else operand(value).text for value in values]
        return self.add("section_data", f".{type} {self.style.data_comma.join(items)}")

    def lines(self, type: str, *values: Any) -> None:
        """Lines of one number each."""
        for value in values:
            self.data(type, value)

    def rows(self, type: str, *values: Any) -> None:
        """Lines of one number each; one in a tuple has a comment behind it."""
        for value in values:
            if isinstance(value, tuple):
                number, note = value
                self.data(type, number).note(note)
            else:
                self.data(type, value)

    # -- declarations and functions --------------------------------------------------------------

    def __getattr__(self, name: str) -> ModuleWords:
        word = "." + word_of(name)
        if word in LINKAGES or word in SPACES:
            return ModuleWords((word,), self)
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownWordError(
            f"a module has no '{name}'",
            "a declaration begins with a state space or a linkage: module.global_, module.const, "
            "module.visible; a kernel with @module.kernel, a function with @module.func",
        )

    @property
    def ordered(self) -> ModuleWords:
        """The begin of a declaration in an unusual order: ``module.ordered.align(8).global_``."""
        return ModuleWords((), self)

    @property
    def entry(self) -> FunctionWords:
        """A kernel without ``.visible``."""
        return FunctionWords((".entry",), self)

    @property
    def func(self) -> FunctionWords:
        """A function."""
        return FunctionWords((".func",), self)

    @property
    def kernel(self) -> FunctionWords:
        """A kernel that can be launched: ``.visible .entry``."""
        return FunctionWords((".visible", ".entry"), self)

    def add_function(self, function: Function) -> Function:
        """Put a function after what stands there."""
        if not function.is_declaration:
            if function.name in self._defined and not self.is_unchecked:
                raise DslError(
                    f"the module has a function '{function.name}' already",
                    "give one of them another name: @module.kernel(name='...')",
                )
            self._defined.add(function.name)
            self.number_of(function)
        self._items.append(function)
        return function

    def dynamic_shared(self, function: Function, align: int) -> Variable:
        """The shared memory of a launch, declared before the function that takes of it."""
        if self._dynamic is None:
            self._dynamic = Variable("$dynamic_shared", "b8", "shared", None)
            text = f".extern .shared .align {align} .b8 {self._dynamic.text}[];"
            self._items.insert(self._items.index(function), Statement("variable", text))
        return self._dynamic

    # -- text ------------------------------------------------------------------------------------

    def all_statements(self) -> list[Statement]:
        """All statements, those of functions included."""
        if not self._head_given:
            items, self._items = self._items, []
            self.head()
            self._items += items
        for item in list(self._items):
            if isinstance(item, Function):
                item.statements()  # may declare variables of the module
        found: list[Statement] = []
        for item in self._items:
            if isinstance(item, Function):
                found += item.statements()
            else:
                found.append(item)
        pending = 1 if self.pending is None and self.blank_end else self.pending
        found.append(Statement("end", "", pending))
        return found

    def ptx(self) -> str:
        """The PTX text."""
        text = write(self.all_statements(), self.style)
        return text if self.newline == "\n" else text.replace("\n", self.newline)

    def print(self) -> None:
        """Write the PTX to standard output, bytes that are not UTF-8 as they were."""
        sys.stdout.flush()
        sys.stdout.buffer.write(self.ptx().encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()

    def parse(self) -> ptxkit.syntax.Module:
        """The text as a parsed module, to check, assemble or run."""
        import ptxkit.syntax

        return ptxkit.syntax.parse(self.ptx())

    def check(self) -> list[Diagnostic]:
        """What the checker says about the text."""
        from ptxkit.isa import check

        return check(self.parse())

    def load(self, device: str = "auto") -> Any:
        """The module on a device: ``module.load("cpu")["kernel"][grid, block](...)``."""
        from ptxkit.run import load

        if device not in self._loaded:
            self._loaded[device] = load(self.parse(), device)
        return self._loaded[device]

    def __repr__(self) -> str:
        names = [item.name for item in self._items if isinstance(item, Function)]
        return f"<module {self.says()}: {', '.join(names)}>"


def _style(style: str | Style, layout: Mapping[str, Any] | None) -> Style:
    if style == "hand":
        return hand_style(layout or {})
    if layout is not None:
        raise DslError(f"the style {style!r} has its own layout", "layout goes with style='hand'")
    return style if isinstance(style, Style) else find_style(style)


def quoted(values: Sequence[str]) -> list[str]:
    """Strings as PTX writes them."""
    for value in values:
        if '"' in value:
            raise DslError(f"a string of PTX cannot hold a quote: {value!r}")
    return [f'"{value}"' for value in values]


class ModuleWords(Words):
    """Words of a declaration at module level; ``.entry`` and ``.func`` make functions."""

    __slots__ = ()
    _known = WORDS | {".entry", ".func"}

    def __getattr__(self, name: str) -> Any:
        made = super().__getattr__(name)
        return FunctionWords(made._words, self._builder) if name in ("entry", "func") else made


class FunctionWords:
    """``@module.kernel``, ``@module.visible.func(...)``: makes a function of what it decorates."""

    __slots__ = ("_module", "_words")

    def __init__(self, words: tuple[str, ...], module: Any) -> None:
        self._words = words
        self._module: Module = module

    def attribute(self, *values: str) -> FunctionWords:
        """``.attribute(...)`` before the name."""
        return FunctionWords((*self._words, f".attribute({', '.join(values)})"), self._module)

    def __call__(
        self,
        body: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        returns: Sequence[Any] | None = None,
        declare: bool = False,
        parentheses: bool = True,
        spaced: Mapping[int, str] | None = None,
        constants: Mapping[str, Any] | None = None,
        registers: Sequence[str] = (),
        globl: bool | str = False,
        **directives: Any,
    ) -> Any:
        """Make a function.

        ``registers`` are ranges to declare at the head, as ``ptx.registers`` does.
        ``globl`` puts the comment before it that compilers put there, ``"apart"`` with a blank
        line after it.
        """

        def decorate(body: Callable[..., Any]) -> Function:
            if globl:
                word = ".weak" if ".weak" in self._words else ".globl"
                self._module.comment(f"{word}\t{name or body.__name__}")
                if globl == "apart":
                    self._module.blank()
            made = Function(
                self._module,
                body,
                self._words,
                name=name,
                returns=returns,
                declare=declare,
                parentheses=parentheses,
                directives=directive_texts(directives),
                spaced=spaced,
                constants=constants,
                registers=registers,
            )
            return self._module.add_function(made)

        return decorate if body is None else decorate(body)


def directive_texts(directives: Mapping[str, Any]) -> list[str]:
    """``maxntid=(128, 1, 1)`` as ``.maxntid 128, 1, 1``; ``noreturn=True`` as ``.noreturn``.

    ``directives=[("maxntid", 32), ("maxntid", 64)]`` says any, in any order.
    """
    found = []
    for name, value in directives.items():
        rows = value if name == "directives" else [(name, value)]
        for word, values in rows:
            if word == "pragma":
                strings = [values] if isinstance(values, str) else list(values)
                found.append(f".pragma {', '.join(quoted(strings))};")
            elif values is True:
                found.append(f".{word_of(word)}")
            else:
                numbers = values if isinstance(values, (list, tuple)) else [values]
                texts = [operand(one).text for one in numbers]
                found.append(f".{word_of(word)} {', '.join(texts)}")
    return found


__all__ = ["Function", "Module", "Operand"]
