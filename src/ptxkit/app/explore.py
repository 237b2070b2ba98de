"""Everything about one input, pane by pane."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ptxkit
from ptxkit.app import graph_view, markup, verdicts
from ptxkit.app.inputs import Given, own_words, read
from ptxkit.app.limits import ARCHITECTURES
from ptxkit.app.markup import Row, message, pane, plain_rows, table, text
from ptxkit.app.ptx_view import PtxView
from ptxkit.decompiler.links import links
from ptxkit.decompiler.verify import architecture
from ptxkit.diagnostics import Diagnostic
from ptxkit.errors import PtxkitError
from ptxkit.syntax import Module, parse
from ptxkit.syntax.demangle import demangle
from ptxkit.toolchain import Cubin, assemble, compile_cuda, occupancy, sass
from ptxkit.transpiler import to_linked_python

Panes = Iterator[tuple[str, Any]]

#: Threads of a block that occupancy is said for.
_BLOCK = 256
#: From so many instructions or functions on, nothing is decompiled unasked.
_MOST_DECOMPILED, _MOST_FUNCTIONS = 6_000, 100
#: Messages of a compiler that stand in the place of PTX; all stand in the source.
_MOST_REFUSALS = 20


def explore(text: str, kind: str = "auto", arch: str = "sm_90") -> Panes:
    """The panes of an input; those that need longer are begun beside them."""
    given = read(text, kind, arch)
    if given.diagnostics:
        yield "source", cuda_source(given, given.diagnostics)
        yield "ptx", refusal(given.diagnostics)
        for other in ("graph", "python", "sass", "resources", "cuda"):
            yield other, message("there is no PTX")
        words = f"✗ {_count(given.diagnostics, 'error')} in the CUDA source"
        yield "summary", markup.badge(words, "bad")
        yield "status", markup.badge("✗ not compiled", "bad")
        return
    module = given.module
    found = ptxkit.check(module)
    errors = [one for one in found if one.severity == "error"]
    # Other workers go on with the PTX, while this one draws it.
    ptx = {"ptx": module.emit(), "arch": arch}
    machine_given = {**ptx, "cuda": given.cuda}
    yield "then", [("machine", machine_given), ("decompiled", {**ptx, "errors": len(errors)})]
    view = PtxView(module.emit(), module.filename)
    yield "ptx", view.html(found)
    yield "summary", summary(given, found)
    if not _bodies(module):
        for other in ("graph", "python"):
            yield other, message("no function here has a body")
        return
    yield "graph", graph_view.control_flow(module)
    if given.kind == "CUDA C++":
        yield "source", cuda_source(given)
    else:
        yield "source", message("the input is PTX; CUDA C++ is shown here with linked lines")
    yield "python", python(module)


def machine(ptx: str, arch: str, cuda: str = "") -> Panes:
    """The panes that the assembler makes."""
    module = parse(ptx, recover=True)
    if not _bodies(module):
        for other in ("sass", "resources"):
            yield other, message("there is nothing to assemble")
        return
    yield "sass", machine_code(module, arch)
    yield "resources", resources(module, cuda)


def _bodies(module: Module) -> bool:
    return any(one.has_body for one in module.functions)


def decompiled(ptx: str, arch: str, errors: int = 0) -> Panes:
    """The pane with CUDA C++, by the lifter: the neural engine has a tab of its own."""
    del arch  # what is compiled and compared is for the module's own target
    module = parse(ptx, recover=True)
    if errors:
        yield "cuda", message("PTX with errors is not decompiled; they stand in the PTX", "error")
        return
    if not _bodies(module):
        yield "cuda", message("there is nothing to decompile")
        return
    count = sum(len(one.instructions) for one in module.functions)
    functions = sum(one.has_body for one in module.functions)
    if count > _MOST_DECOMPILED or functions > _MOST_FUNCTIONS:
        size = f"{functions:,} functions with {count:,} instructions"
        yield (
            "cuda",
            message(f"{size} are too many for here; the command takes them: ptxkit decompile"),
        )
        return
    try:
        made = ptxkit.decompile(module, "symbolic")
        found = links(module, made.cuda, architecture(module))
    except PtxkitError as error:
        yield "cuda", message(str(error), "error")
        return
    head = verdicts.badges(made.verdict, made.engine)
    notes = "".join(f"<p class='pk-aside'>{markup.text(note)}</p>" for note in made.notes[:6])
    rows = plain_rows(made.cuda, found)
    body = pane(rows, "decompiled CUDA C++", link="explore", wrap=True)
    yield "cuda", f"<div class='pk-head'>{head}</div>{notes}{body}"


def refusal(found: tuple[Diagnostic, ...]) -> str:
    """What a compiler has against a source, in place of the PTX that there is not."""
    said = [one.render() for one in found[:_MOST_REFUSALS]]
    if len(found) > len(said):
        said.append(f"and {_count(found[len(said) :], 'more message')}")
    return message(
        "\n\n".join(["there is no PTX: the compiler refused the source", *said]), "error"
    )


def cuda_source(given: Given, found: tuple[Diagnostic, ...] = ()) -> str:
    """The CUDA C++ that was pasted, its lines linked to the PTX it became."""
    linked = {} if found else links(given.module, given.cuda, given.module.target or "sm_90")
    notes = markup.by_line(found)
    rows = plain_rows(given.cuda, linked)
    for row in rows:
        row.notes = notes.get(int(row.number), [])
    return pane(rows, "CUDA C++ source", link="explore", wrap=True)


def machine_code(module: Module, arch: str, link: str = "explore") -> str:
    """SASS with links to the PTX."""
    try:
        code = sass(_assembled(module, arch, line_info=True))
    except PtxkitError as error:
        return message(str(error), "error")
    rows: list[Row] = []
    for function, instructions in code.items():
        rows.append(Row("", f"<span class='pk-comment'>// {text(demangle(function))}</span>"))
        for one in instructions:
            rows += [
                Row("", f"<span class='pk-label'>{text(label)}:</span>") for label in one.labels
            ]
            guard = f"<span class='pk-variable'>{text(one.guard)}</span> " if one.guard else ""
            operands = text(", ".join(one.operands))
            body = f"{guard}<span class='pk-function'>{text(one.opcode)}</span> {operands}"
            places = (one.ptx_line,) if one.ptx_line else ()
            rows.append(Row(f"{one.address:04x}", body, places))
    return pane(rows, f"SASS for {arch}", link=link)


def _assembled(module: Module, arch: str, line_info: bool = False) -> Cubin:
    """A cubin for an architecture; a module for one alone is assembled for that."""
    own = module.target or ""
    return assemble(module, own if own[-1:] in ("a", "f") else arch, line_info=line_info)


def python(module: Module) -> str:
    """The module in the Python DSL."""
    if module.diagnostics:
        return message("text that is not PTX cannot be said in Python; its errors stand in the PTX")
    try:
        source, found = to_linked_python(module)
    except PtxkitError as error:
        return message(str(error), "error")
    rows = [
        Row(number, _python_line(line), found.get(number, ()))
        for number, line in enumerate(source.splitlines(), 1)
    ]
    return pane(rows, "Python DSL", link="explore")


_WORDS = ("from", "import", "def", "with", "as", "for", "in", "if", "return", "while", "else")


def _python_line(line: str) -> str:
    words = text(line).split(" ")
    return " ".join(f"<span class='pk-keyword'>{w}</span>" if w in _WORDS else w for w in words)


def resources(module: Module, cuda: str = "") -> str:
    """Registers, spills, memory and occupancy of every kernel for every architecture.

    PTX runs on its target and on later ones; for earlier ones ``cuda`` is compiled anew.
    """
    rows: list[list[str]] = []
    refused: dict[str, list[str]] = {}  # why -> the architectures
    own = module.target or ""
    archs = (own,) if own[-1:] in ("a", "f") else ARCHITECTURES
    with ThreadPoolExecutor(2) as threads:  # each waits for a process of the assembler
        made = list(threads.map(lambda arch: _cubin_or_reason(module, arch, cuda), archs))
    for arch, cubin in zip(archs, made, strict=True):
        if isinstance(cubin, str):
            refused.setdefault(cubin.replace(f"run on {arch}", "run there"), []).append(arch)
            continue
        for kernel, needs in cubin.resources.items():
            block = min(_BLOCK, needs.max_threads or _BLOCK)
            fill = occupancy(needs, block, arch)
            rows.append([
                arch, f"<code>{text(_short(kernel))}</code>", str(needs.registers),
                str(needs.spills if needs.spills is not None else "?"), f"{needs.shared:,}",
                f"{needs.stack:,}", f"{needs.code:,}",
                f"<meter min='0' max='1' value='{fill.fraction:.3f}' "
                f"aria-label='occupancy {fill.fraction:.0%}'></meter> {fill.fraction:.0%} "
                f"<span class='pk-aside'>at {block}, {text(fill.limiter)}</span>",
            ])  # fmt: skip
    head = ("arch", "kernel", "registers", "spills", "shared", "stack", "code", "occupancy")
    asides = "".join(
        f"<p class='pk-aside'>{text(', '.join(archs))}: {text(why)}</p>"
        for why, archs in refused.items()
    )
    return (table(head, rows, "resources by architecture") if rows else "") + asides


def _cubin_or_reason(module: Module, arch: str, cuda: str) -> Cubin | str:
    try:
        if cuda and ARCHITECTURES.index(arch) < ARCHITECTURES.index(str(module.target)):
            with own_words(cuda, "input.cu"):
                module = compile_cuda(cuda, arch, name="input.cu")
        return assemble(module, arch)
    except PtxkitError as error:
        return str(error).splitlines()[0].rpartition("]: ")[2]


def _short(name: str) -> str:
    plain = demangle(name)
    return plain if len(plain) <= 60 else plain[:57] + "..."


def summary(given: Given, found: list[Diagnostic]) -> str:
    """The module in a line: version, target, functions, instructions, findings."""
    module = given.module
    count = sum(len(one.instructions) for one in module.functions)
    errors = [one for one in found if one.severity == "error"]
    warnings = [one for one in found if one.severity == "warning"]
    words = [
        markup.badge(given.kind, "plain"),
        markup.badge(f"PTX {module.version or '?'}", "plain"),
        markup.badge(str(module.target or "no target"), "plain"),
        markup.badge(_count(module.functions, "function"), "plain"),
        markup.badge(f"{count:,} instruction{'s' if count != 1 else ''}", "plain"),
        markup.badge(_count(errors, "error"), "bad")
        if errors
        else markup.badge("✓ no errors", "good"),
    ]
    if warnings:
        words.append(markup.badge(_count(warnings, "warning"), "fair"))
    return f"<span class='pk-badges'>{''.join(words)}</span>"


def _count(items: Any, thing: str) -> str:
    number = len(list(items))
    return f"{number:,} {thing}{'s' if number != 1 else ''}"
