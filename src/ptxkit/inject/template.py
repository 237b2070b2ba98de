"""Templates: PTX with named places for stubs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ptxkit import _native
from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxkitError, UsageError, thread_count
from ptxkit.inject import annotation, layout
from ptxkit.inject.checking import StubChecker, check_text
from ptxkit.inject.errors import AnnotationError
from ptxkit.inject.header import include_dir, refuse_annotations
from ptxkit.inject.marked import wrong_registers
from ptxkit.inject.site import Named, Occurrence, Operand, Site
from ptxkit.inject.types import Type, with_defaults
from ptxkit.inject.variants import Variant, VariantAssembler
from ptxkit.syntax import Module, parse

if TYPE_CHECKING:
    from ptxkit.inject.annotation import Annotation, Rewritten

#: A stub for each key; `ptxkit.inject.layout` says what keys mean.
Stubs = Mapping[Any, str | bytes]

_PURE, _MEMORY = 1, 2
_MOST_LAYOUTS = 256
_MOST_CHECKED = 1 << 16


class Template:
    """PTX with places for stubs, compiled once and rendered as often as one likes.

    A stub is PTX text. It uses the `register` of the site's operands, and may declare
    registers and labels of its own: every occurrence has a scope for itself. The values of
    ``in`` operands may be overwritten; the code around the site does not see it.
    """

    def __init__(
        self,
        native: _native.InjectTemplate,
        filename: str,
        annotations: Sequence[Annotation] = (),
        macro_names: Iterable[str] = (),
    ) -> None:
        """Use `from_cuda` or `from_ptx`."""
        self._native = native
        self._filename = filename
        self._annotations = tuple(annotations)
        self._macro_names = frozenset(macro_names)
        self._checker = StubChecker(native, filename)
        self._layouts: dict[tuple[Hashable, ...], layout.Layout] = {}
        self._checked: set[tuple[Hashable, str]] = set()
        self._registers_checked = bool(annotations)  # those of a compiler are right

    @staticmethod
    def from_ptx(source: str | bytes | Module, filename: str = "<ptx>") -> Template:
        """A template from PTX that was made elsewhere, by nvcc for instance.

        >>> t = Template.from_ptx('''.version 8.0
        ... .target sm_80
        ... .address_size 64
        ... .entry k() {
        ...     .reg .f32 %f<3>;
        ...     // PTX_INJECT func in:f32:f32:x out:f32:f32:z @3 volatile = %f2 %f1
        ...     ret;
        ... }''')
        >>> print(t.sites["func"])
        func(in f32 x, out f32 z)
        """
        data: str | bytes
        if isinstance(source, Module):
            data, filename = source.source(), source.filename
        elif isinstance(source, str):
            data = source if source.isascii() else source.encode("utf-8", "surrogateescape")
        elif isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
        else:
            raise UsageError(
                f"from_ptx needs PTX text or a Module, not {type(source).__name__}; "
                "for a file use Path('k.ptx').read_bytes()"
            )
        return _make(data, filename)

    @staticmethod
    def from_cuda(
        source: str | bytes,
        arch: str = "sm_90",
        *,
        name: str = "kernel.cu",
        types: Iterable[Type] = (),
        **options: Any,
    ) -> Template:
        """Compile annotated CUDA C++, and find its sites in the PTX.

        Takes the comment form and the macro form of ``<ptxkit_inject.cuh>``, side by side.
        `types` are further types of operands; the other keywords are those of
        `ptxkit.compile_cuda`.

        >>> t = Template.from_cuda('''
        ... __global__ void k(int *x) {
        ...     #pragma unroll
        ...     for (int i = 0; i < 3; i++) {
        ...         /* PTX_INJECT step
        ...             mod s32 value = x[i]
        ...         */
        ...     }
        ... }''')
        >>> [one.registers for one in t.sites["step"].occurrences]
        [{'value': '%r...'}, {'value': '%r...'}, {'value': '%r...'}]
        """
        from ptxkit.toolchain import compile_cuda

        if isinstance(source, (bytes, bytearray, memoryview)):
            source = bytes(source).decode("utf-8", "surrogateescape")
        if not isinstance(source, str):
            raise UsageError(
                f"from_cuda needs CUDA C++ as text, not {type(source).__name__}; "
                "for a file use Path('k.cu').read_text()"
            )
        own = tuple(types)
        made = annotation.rewrite(source, name, with_defaults(own))
        folders = [Path(folder) for folder in options.get("include_dirs", ())]
        refuse_annotations(source, [*folders, Path(name).absolute().parent])
        options["include_dirs"] = [*folders, include_dir()]
        if own:
            options["options"] = [*options.get("options", ()), *(_define(one) for one in own)]
        module = compile_cuda(made.text, arch, name=name, relocate=made.relocate, **options)
        return _make(module.source(), module.filename, made)

    @cached_property
    def sites(self) -> Named[Site]:
        """The sites by name, in the order of the PTX; then those the compiler dropped."""
        found: list[list[Occurrence]] = [[] for _ in self._native.sites]
        operands = [
            Named(
                "operand", {row[3]: Operand(row[3], row[0], row[1], row[2], row[4]) for row in rows}
            )
            for _, rows in self._native.sites
        ]
        starts = _line_starts(self._native.text)
        for place, row in enumerate(self._native.occurrences):
            number, function, start, _, source_line, flags, registers = row
            found[number].append(
                Occurrence(
                    len(found[number]), function, starts(start), source_line or None,
                    dict(zip(operands[number], registers, strict=True)), _flags(flags), place,
                )
            )  # fmt: skip
        sites = {
            name: Site(name, operands[number], tuple(found[number]), number)
            for number, (name, _) in enumerate(self._native.sites)
        }
        for one in self._annotations:
            sites.setdefault(one.name, _dropped(one))
        return Named("injection site", sites, self._macro_names)

    @property
    def functions(self) -> tuple[str, ...]:
        """The kernels and functions of the PTX that have a body."""
        return tuple(self._native.functions)

    @cached_property
    def text(self) -> str:
        """The PTX with its markers."""
        return self._native.text.decode("utf-8", "surrogateescape")

    @cached_property
    def module(self) -> Module:
        """The PTX with its markers, parsed."""
        return parse(self._native.text, self._filename)

    def render(self, stubs: Stubs, *, check: bool = True) -> str:
        """The PTX with a stub in the place of every site.

        The keys of `stubs` are names of sites; ``(kernel, name)``, ``(name, number)`` and
        ``(kernel, name, number)`` are for some occurrences only and go before the name.

        A stub is checked when it is seen first: it must parse, use declared registers of the
        right types, and assign every output on every path. `StubError` says where it does
        not. ``check=False`` leaves that to the assembler.

        >>> t = Template.from_ptx('''.version 8.0
        ... .target sm_80
        ... .address_size 64
        ... .entry k() {
        ...     .reg .f32 %f<3>;
        ...     // PTX_INJECT func in:f32:f32:x out:f32:f32:z @3 volatile = %f2 %f1
        ...     ret;
        ... }''')
        >>> print(t.render({"func": "neg.f32 %_z, %_x;"}).expandtabs(4))
        .version 8.0
        ...
            { // func
            .reg .f32 %_x, %_z;
            mov.b32 %_x, %f1;
        neg.f32 %_z, %_x;
            mov.b32 %f2, %_z;
            }
            ret;
        }
        >>> t.render({"func": "neg.f64 %_z, %_x;"})
        Traceback (most recent call last):
        ptxkit.inject.errors.StubError: <stub of func>:1:9: error[operand]: 'neg.f64': ...
        """
        if type(stubs) is dict:
            text = self._native.render(stubs, check)
            if text is not None:
                return text
        return self._render(stubs, check)

    def render_many(
        self, sets: Iterable[Stubs], *, check: bool = True, threads: int | None = None
    ) -> list[str]:
        """`render` for each of many stub sets, in their order."""
        everything = _listed(sets)
        texts = self._native.render_many(everything, check, thread_count(threads))
        return [
            self._render(stubs, check) if text is None else text
            for stubs, text in zip(everything, texts, strict=True)
        ]

    @overload
    def assemble_many(
        self,
        sets: Iterable[Stubs],
        arch: str | None = None,
        *,
        check: bool = True,
        batch: bool = True,
        errors: Literal["raise"] = "raise",
        **options: Any,
    ) -> list[Variant]: ...

    @overload
    def assemble_many(
        self,
        sets: Iterable[Stubs],
        arch: str | None = None,
        *,
        check: bool = True,
        batch: bool = True,
        errors: Literal["return"],
        **options: Any,
    ) -> list[Variant | PtxkitError]: ...

    def assemble_many(
        self,
        sets: Iterable[Stubs],
        arch: str | None = None,
        *,
        check: bool = True,
        batch: bool = True,
        errors: Literal["raise", "return"] = "raise",
        **options: Any,
    ) -> list[Variant] | list[Variant | PtxkitError]:
        """Render many stub sets and assemble them, in parallel and several as one module.

        Gives a cubin for each set, in order. With `batch`, small ones share their data, with
        other names for their kernels there: `Variant.symbols` has them. With
        ``errors="return"`` an error stands in the place of its cubin. Other keywords are
        those of `ptxkit.toolchain.assemble_many`.

        >>> t = Template.from_cuda('''
        ... extern "C" __global__ void k(int *x) {
        ...     /* PTX_INJECT f
        ...         mod s32 v = x[threadIdx.x]
        ...     */
        ... }''')
        >>> made = t.assemble_many({"f": f"add.s32 %_v, %_v, {n};"} for n in range(3))
        >>> [cubin.resources["k"].spills for cubin in made]
        [0, 0, 0]
        """
        made = self._assembler.run(_listed(sets), arch, check, batch, options)
        if errors == "raise":
            for one in made:
                if isinstance(one, PtxkitError):
                    raise one
        return made

    @cached_property
    def _assembler(self) -> VariantAssembler:
        return VariantAssembler(self)

    def check(self, stubs: Stubs, filenames: Mapping[Any, str] | None = None) -> None:
        """Raise what `render` would raise about a stub set.

        `filenames` says what messages call the stub of a key.
        """
        self._check_registers()
        chosen, texts = self._resolve(stubs, filenames or {})
        for key, target, text in zip(stubs, chosen.targets, texts, strict=True):
            if (key, text) in self._checked:
                continue
            name = (filenames or {}).get(key)
            self._checker.check(target.site, text, target.functions, name)
            self._remember(key, target, text)

    def _check_registers(self) -> None:
        """Raise for a marker whose registers can't be those of its operands, once."""
        if not self._registers_checked:
            found = list(wrong_registers(self.module, self.sites.values()))
            if found:
                raise AnnotationError(found)
            self._registers_checked = True

    def _render(self, stubs: Stubs, check: bool) -> str:
        if check:
            self.check(stubs)
        chosen, texts = self._resolve(stubs, {})
        line_end = "\r\n" if self._native.is_crlf else "\n"
        texts = [text.replace("\r\n", "\n").replace("\n", line_end) for text in texts]
        filled = self._native.fill(
            chosen.slots, [text if text.isascii() else text.encode() for text in texts]
        )
        return filled if isinstance(filled, str) else filled.decode("utf-8", "surrogateescape")

    def _resolve(
        self, stubs: Stubs, filenames: Mapping[Any, str]
    ) -> tuple[layout.Layout, list[str]]:
        if not isinstance(stubs, Mapping):
            raise UsageError(
                f"stubs are a dict such as {{'site': 'stub'}}, not {type(stubs).__name__}"
            )
        keys = tuple(stubs)
        chosen = self._layouts.get(keys)
        if chosen is None:
            chosen = layout.plan(keys, self.sites, self.functions)
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            self._layouts[keys] = chosen
        texts = []
        for (key, stub), target in zip(stubs.items(), chosen.targets, strict=True):
            try:
                texts.append(check_text(target.site, stub, filenames.get(key)))
            except TypeError:
                raise UsageError(
                    f"the stub for {key!r} is PTX text, not {type(stub).__name__}"
                ) from None
        return chosen, texts

    def _remember(self, key: Hashable, target: layout.Target, text: str) -> None:
        """A stub that was checked is not checked again."""
        if len(self._checked) >= _MOST_CHECKED:
            self._checked.clear()
        self._checked.add((key, text))
        plain = text.isascii() and "\r" not in text
        if target.rank == 0 and target.site.number is not None and plain:
            self._native.approve(target.site.number, text)

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self._annotations, self._macro_names)
        return _restore, (self._native.text, self._filename, *known)

    def __repr__(self) -> str:
        count = len(self._native.occurrences)
        names = ", ".join(self.sites) or "no site"
        return f"<Template {self._filename}: {names}; {count} occurrence{'s' * (count != 1)}>"


def _make(data: str | bytes, filename: str, source: Rewritten | None = None) -> Template:
    made = _native.inject_template(data)
    if made is None:
        parse(data, filename)  # says what is not PTX
        raise AssertionError("the parser was of another opinion before")
    if not isinstance(made, tuple):
        if source is not None:
            return Template(made, filename, source.annotations, source.macro_names)
        if not made.functions:
            raise AnnotationError([_nothing(parse(data, filename))])
        return Template(made, filename)
    code, message, hint, start, end = made
    module = parse(data, filename, recover=True)
    found = None
    if code == "inject-signature" and source is not None:
        found = source.clash(module.source()[start:end].decode())
    if found is None:
        text = message.decode("utf-8", "surrogateescape")
        found = module.diagnostic("error", code, text, (start, end), hint)
    raise AnnotationError([found])


def _listed(sets: Iterable[Stubs]) -> list[Stubs]:
    if isinstance(sets, str | bytes | Mapping) or not isinstance(sets, Iterable):
        raise UsageError(
            f"the sets of stubs are a list such as [{{'site': 'stub'}}], not {type(sets).__name__}"
        )
    return list(sets)


def _nothing(module: Module) -> Diagnostic:
    message = "there is no kernel or function with a body in this text"
    hint = "a template is a whole PTX module; its sites are statements of functions"
    return module.diagnostic("error", "inject-empty", message, (0, 0), hint)


def _restore(data: bytes, filename: str, *known: Any) -> Template:
    """What pickle calls."""
    return Template(_make(data, filename)._native, filename, *known)


def _define(one: Type) -> str:
    """The option that makes a type known to the macros; nvcc cuts options at commas."""
    name, _, row = one.define().removeprefix("#define ").partition(" ")
    return f"-D{name}=PTXKIT_ROW" + "".join(f"({field})" for field in row.split(", "))


def _flags(bits: int) -> frozenset[str]:
    found = {"pure" if bits & _PURE else "volatile"}
    return frozenset(found | {"memory"} if bits & _MEMORY else found)


def _dropped(one: Annotation) -> Site:
    operands = {
        o.name: Operand(o.name, o.direction, o.type.name, o.type.register, f"%_{o.name}")
        for o in one.operands
    }
    return Site(one.name, Named("operand", operands), ())


def _line_starts(text: bytes) -> Any:
    """A function that gives the line of an offset; offsets must not go down."""
    at, line = 0, 1

    def line_of(offset: int) -> int:
        nonlocal at, line
        line += text.count(b"\n", at, offset)
        at = offset
        return line

    return line_of
